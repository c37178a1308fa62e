//! What a kind of record is and which of its values a rule may want to see, as Python declares it.
//!
//! The declaration comes as one blob, little endian, made by `ragdatakit/scanner/plan.py`. It is parsed with checked
//! slices into values of our own; whatever is not understood means that there is no plan, and Python reads the files.

use crate::cells::Cells;
use crate::hash::Seeds;
use crate::keys::Table;
use crate::members::Members;
use crate::predicates::{Characters, Predicate, Questions};
use crate::relations::Relation;
use crate::scopes::{Joined, Scope};
use crate::spelling::Spelling;

/// The number of the interface: Python compares it when it loads the library.
pub const ABI: u32 = 42;

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Integer,
    Number,
    Text,
    Boolean,
    Object,
    Array,
    Any,
}

impl Type {
    fn of(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Integer,
            2 => Self::Number,
            3 => Self::Text,
            4 => Self::Boolean,
            5 => Self::Object,
            6 => Self::Array,
            7 => Self::Any,
            _ => return None,
        })
    }
}

/// One declared field.
#[allow(clippy::struct_excessive_bools)]
pub struct Field {
    pub name: Vec<u8>,
    pub kind: Type,
    /// What the items of a list, or the values of an object, are.
    pub below: Type,
    pub required: bool,
    pub nullable: bool,
    pub non_empty: bool,
    /// Whether the codes of its values are wanted: those of a value of any kind are of its text, or of its digits.
    pub key: bool,
    pub least: Option<f64>,
    pub greatest: Option<f64>,
    pub allowed: Vec<Vec<u8>>,
    pub predicates: Questions,
    /// Whether `Given` is one of them.
    pub given: bool,
    /// Texts for which one of these says yes are not proved.
    pub refusals: Questions,
    /// Whether a value that is neither a text nor null is not proved.
    pub only_text: bool,
    /// What is asked of the members of an object.
    pub members: Option<Members>,
    /// The lists that the names of an object's members are put in, which are integers, and their values, numbers.
    pub numbered: Option<(usize, usize)>,
    /// How often a value that is not null is there is counted under this number.
    pub tally: Option<u32>,
    /// Whether codes of what spelling does not change in its texts are wanted, too.
    pub spelling: Option<Spelling>,
    /// The characters without which, at the ends of its texts, its codes are made.
    pub stripped: Option<Characters>,
    /// The first 16 bytes of `"name":`, and which bits of them count; none for a longer name.
    pub pattern: Option<(u128, u128)>,
    /// What the objects in it are: the value itself, or the items of the list.
    pub scope: Option<usize>,
    /// Whether it is a field of objects in a list.
    pub listed: bool,
    /// The bit of the member of the record that it is, or is in.
    pub member: u64,
    /// Whether its values are compared with others of the record.
    pub held: bool,
    /// Whether it is a text, or a list of texts that is not empty, where any value may be there.
    pub texts: bool,
    /// Whether it is a text or an integer, where any value may be there.
    pub simple: bool,
    /// Whether it stands for a key that is made of others.
    pub joined: bool,
    /// Codes that its values are looked up in: others make the record a candidate.
    pub known: Option<Table<Vec<u64>, Vec<u64>>>,
    /// Where its values are kept, if they are: among those of the other fields that are.
    pub kept: Option<usize>,
    /// Which of the lists it is whose objects are records of a plan of their own, if it is one.
    pub list: Option<u64>,
    /// Whether it is a text or an integer, and nothing is asked of it but what is asked of most: not where it stands, not
    /// whether it is there.
    pub bare: bool,
    /// What is made of a value of another plain type; none where the record is refused.
    pub mistyped: Option<Mistyped>,
}

/// How records are counted of which nothing is wrong but the type of one value: under one number if it is null, under
/// another one if it is not; those that come first in a block are shown, so many of each.
#[derive(Clone, Copy)]
pub struct Mistyped {
    pub other: u32,
    pub null: u32,
    pub shown: u64,
}

/// A compiled declaration.
pub struct Plan {
    /// The declared fields, those of the record first, then those of objects in it.
    pub fields: Vec<Field>,
    /// The record itself, and the objects in it.
    pub scopes: Vec<Scope>,
    /// The fields whose values are compared with others of the record.
    pub held: Vec<usize>,
    /// Key fields of objects in the record, not in a list of it.
    pub below: Vec<usize>,
    /// The field that must come first, where a rule looks at the order.
    pub first: Option<usize>,
    /// The text field of which one value in each block must be shown that is not a number.
    pub unlike_number: Option<usize>,
    /// Pairs of text fields of which a rule may want to see that they are equal.
    pub equal: Vec<(usize, usize)>,
    /// How a line is cut into cells; none where it is JSON.
    pub cells: Option<Cells>,
    /// The names of elements between tags, which are the records; none where they are something else.
    pub tags: Vec<Vec<u8>>,
    /// The byte at which a record that is a text is cut into the first field and the second; the first is a number, too,
    /// where there is a third field.
    pub cut: Option<u8>,
    /// Key fields of cells of which the first line is shown of those one behind the other that have the same.
    pub changed: Vec<usize>,
    /// What codes of texts are made with.
    pub seeds: Seeds,
    /// The field with which a member of another one is compared.
    pub liked: Option<usize>,
    /// How many counts there are.
    pub tallies: usize,
    /// How many fields there are whose values are kept.
    pub kept: usize,
    /// The field of whose texts there are facts.
    pub facts: Option<usize>,
    /// Where the parts of an element, or the members of a record, are kept that are not declared, if they are.
    pub rest: Option<usize>,
    /// What the objects in some lists of the record are.
    pub items: Option<Box<Plan>>,
    /// How many such lists there are.
    pub lists: u64,
    /// Whether a record is looked at to its end, so that Python need not see all members of those that are noted.
    pub by_member: bool,
    /// A bit for each member that a key is, is in, or is made of.
    pub keyed: u64,
}

const MOST_FIELDS: usize = 127;
/// The field that takes those: no part has that name.
const REST: &[u8] = b"<rest>";

pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<usize> {
        self.array().map(|bytes| usize::from(u16::from_le_bytes(bytes)))
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    pub(crate) fn text(&mut self) -> Option<Vec<u8>> {
        let length = self.u16()?;
        self.bytes(length).map(<[u8]>::to_vec)
    }
}

impl Plan {
    /// The plan that a blob describes; none where it is not understood to its last byte.
    #[must_use]
    pub fn parse(blob: &[u8]) -> Option<Self> {
        let mut reader = Reader(blob);
        if reader.u32()? != ABI {
            return None;
        }
        let seeds = Seeds::of(reader.u64()?, reader.u64()?);
        let count = reader.u16()?;
        if count == 0 || count > MOST_FIELDS {
            return None;
        }
        let mut fields = (0..count).map(|_| Field::parse(&mut reader)).collect::<Option<Vec<_>>>()?;
        let scopes = Scope::parse_all(&mut reader, &mut fields)?;
        let mut plan = Self {
            fields,
            scopes,
            held: Vec::new(),
            below: Vec::new(),
            first: None,
            unlike_number: None,
            equal: Vec::new(),
            cells: None,
            tags: Vec::new(),
            cut: None,
            changed: Vec::new(),
            seeds,
            liked: None,
            tallies: 0,
            kept: 0,
            facts: None,
            rest: None,
            items: None,
            lists: 0,
            by_member: false,
            keyed: 0,
        };
        for _ in 0..reader.u16()? {
            plan.add_predicate(&mut reader)?;
        }
        for _ in 0..reader.u16()? {
            plan.add_relation(&mut reader)?;
        }
        plan.cut = Some(reader.u8()?).filter(|&byte| byte != 0);
        if plan.cut.is_some() && !plan.is_cut_well() {
            return None;
        }
        if reader.u8()? != 0 {
            plan.cells = Some(Cells::parse(&mut reader, &plan.fields)?);
        }
        plan.tags = (0..reader.u8()?).map(|_| reader.text()).collect::<Option<Vec<_>>>()?;
        plan.by_member = reader.u8()? != 0;
        plan.keyed = plan.keyed_members();
        plan.held = (0..count).filter(|&number| plan.fields[number].held).collect();
        plan.find_bare();
        let top = plan.scopes[0].fields.len();
        let has_codes = |number: &usize| plan.fields[*number].key && !plan.fields[*number].joined;
        plan.scopes[0].keys = (0..top).filter(has_codes).fold(0, |bits, number| bits | 1 << number);
        plan.below = (top..count).filter(|&n| plan.fields[n].key && !plan.fields[n].listed).collect();
        let has_numbers = plan.fields.iter().any(|field| field.key && field.kind == Type::Number);
        let of_cells = has_numbers || !plan.changed.is_empty();
        let of_json =
            plan.scopes.len() > 1 || !plan.held.is_empty() || plan.fields.iter().any(|f| f.stripped.is_some());
        let fits = if plan.cells.is_some() { !of_json } else { !of_cells };
        // of a record itself Python takes true for 1
        let fits = fits && !plan.fields.iter().any(|field| field.key && field.kind == Type::Boolean && !field.listed);
        let is_done = reader.0.is_empty() && fits;
        (is_done && plan.is_tagged_well() && plan.is_mistyped_well() && plan.is_by_member_well()).then_some(plan)
    }

    /// Find the fields of which little is asked.
    fn find_bare(&mut self) {
        let (liked, facts, unlike_number) = (self.liked, self.facts, self.unlike_number);
        for (number, field) in self.fields.iter_mut().enumerate() {
            let is_plain = matches!(field.kind, Type::Text | Type::Integer) && field.allowed.is_empty();
            let is_counted = field.given || field.tally.is_some() || self.by_member;
            let is_kept = field.held || field.kept.is_some() || [liked, facts, unlike_number].contains(&Some(number));
            field.bare = is_plain && !is_counted && !is_kept;
        }
    }

    /// Whether values of other types make no record a refused one.
    fn is_strict(&self) -> bool {
        !self.by_member && self.fields.iter().all(|field| field.mistyped.is_none())
    }

    /// Keep the values of a field of the record itself, or of an object in it that is in no list; whether that is possible.
    pub fn keep(&mut self, number: usize) -> bool {
        let (is_strict, is_json) = (self.is_strict(), self.tags.is_empty());
        let field = self.fields.get_mut(number).filter(|field| is_strict && !field.listed && field.kept.is_none());
        let Some(field) = field else { return false };
        field.kept = Some(self.kept);
        if field.name == REST {
            self.rest = field.kept;
            if is_json {
                field.name = vec![0xFF]; // no member is called so
                field.pattern = None;
            }
        }
        self.kept += 1;
        self.find_bare();
        true
    }

    /// Make facts of the texts in a field of the record itself; whether that is possible.
    pub fn make_facts(&mut self, number: usize) -> bool {
        let is_own = number < self.scopes[0].fields.len() && self.is_strict();
        let is_possible = is_own && self.cells.is_none() && self.fields[number].kind == Type::Text;
        self.facts = Some(number).filter(|_| is_possible);
        self.find_bare();
        is_possible
    }

    /// Take the objects in some lists of the record for records of another plan, which is returned; none where that is
    /// not possible.
    pub fn take_items(&mut self, items: Self) -> Option<&mut Self> {
        let is_json = |plan: &Self| plan.cells.is_none() && plan.cut.is_none() && plan.tags.is_empty();
        let is_plain =
            items.is_strict() && items.tallies == 0 && items.unlike_number.is_none() && items.items.is_none();
        if !is_plain || !is_json(&items) || !is_json(self) || self.items.is_some() {
            return None;
        }
        self.items = Some(Box::new(items));
        self.items.as_deref_mut()
    }

    /// The objects in this list of the record are those records; whether that is possible.
    pub fn take_list(&mut self, number: usize) -> bool {
        let (has_items, is_own) = (self.items.is_some(), number < self.scopes[0].fields.len());
        let is_free = |field: &&mut Field| {
            let is_list = field.kind == Type::Array && field.below == Type::Object && field.scope.is_none();
            has_items && is_own && is_list && field.list.is_none() && !field.held
        };
        let Some(field) = self.fields.get_mut(number).filter(is_free) else { return false };
        field.list = Some(self.lists);
        self.lists += 1;
        true
    }

    /// Whether all that is asked of elements between tags is about single texts.
    fn is_tagged_well(&self) -> bool {
        let plain = |field: &Field| {
            let is_any = field.allowed.is_empty() && field.refusals.each().is_empty() && !field.non_empty;
            let is_whole = field.spelling.is_none() && field.stripped.is_none();
            field.kind == Type::Text && is_any && is_whole && field.tally.is_none()
        };
        let of_texts = self.fields.iter().all(plain) && self.scopes[0].relations.is_empty();
        let alone = self.scopes.len() == 1 && self.held.is_empty() && self.cells.is_none() && self.cut.is_none();
        let of_rows = self.equal.is_empty() && self.changed.is_empty();
        let of_order = self.first.is_none() && self.unlike_number.is_none();
        self.tags.is_empty() || (of_texts && alone && of_rows && of_order)
    }

    /// Whether nothing else is asked of the fields that may be mistyped, and nothing else is counted.
    fn is_mistyped_well(&self) -> bool {
        let plain = |field: &Field| {
            // Python reads an integer also of what is none
            let is_read = field.key && field.kind == Type::Integer;
            let is_asked = is_read || field.given || field.spelling.is_some();
            field.tally.is_none() && field.members.is_none() && !(field.mistyped.is_some() && is_asked)
        };
        let alone = self.scopes.len() == 1 && self.cells.is_none() && self.cut.is_none() && self.tags.is_empty();
        let of_records = self.scopes[0].relations.is_empty() && self.scopes[0].joined.is_empty();
        !self.fields.iter().any(|field| field.mistyped.is_some())
            || (alone && of_records && self.fields.iter().all(plain))
    }

    fn keyed_members(&self) -> u64 {
        let joined = self.scopes.iter().flat_map(|scope| &scope.joined).flat_map(|joined| &joined.parts);
        let keys = (0..self.fields.len()).filter(|&number| self.fields[number].key);
        keys.chain(joined.copied()).fold(0, |bits, number| bits | self.fields[number].member)
    }

    /// Whether what is asked is asked of members of the record, where it is said which of them Python must see.
    fn is_by_member_well(&self) -> bool {
        let is_of_record = self.first.is_some() || self.unlike_number.is_some();
        let is_summed = self.scopes.iter().flat_map(|scope| &scope.relations).any(|asked| asked.counted.is_some());
        !self.by_member
            || !(is_of_record || is_summed || self.cells.is_some() || self.cut.is_some() || !self.tags.is_empty())
    }

    /// Whether the fields are those of a text that is cut: two texts, and the number that the first one is.
    fn is_cut_well(&self) -> bool {
        let kinds: Vec<_> = self.fields.iter().map(|field| field.kind).collect();
        let is_whole = |field: &Field| field.spelling.is_none() && field.stripped.is_none();
        let plain = |field: &Field| field.tally.is_none() && is_whole(field) && field.allowed.is_empty();
        self.scopes.len() == 1
            && self.scopes[0].relations.is_empty()
            && self.scopes[0].joined.is_empty()
            && self.fields.iter().all(plain)
            && matches!(kinds[..], [Type::Text, Type::Text] | [Type::Text, Type::Text, Type::Integer])
            && self.unlike_number.is_none()
            && self.equal.is_empty()
    }

    fn add_relation(&mut self, reader: &mut Reader) -> Option<()> {
        let scope = usize::from(reader.u8()?);
        let kind = reader.u8()?;
        if kind >= u8::MAX - 1 {
            let joined = Joined::parse(reader, &mut self.fields, kind < u8::MAX)?;
            self.scopes.get_mut(scope)?.joined.push(joined);
            return Some(());
        }
        let relation = Relation::parse(kind, reader, &self.fields)?;
        for &number in relation.held() {
            let field = &mut self.fields[number];
            let simple = |kind| matches!(kind, Type::Text | Type::Integer | Type::Number | Type::Boolean);
            let is_list = field.kind == Type::Array && (simple(field.below) || field.scope.is_some());
            if !simple(field.kind) && !is_list && field.kind != Type::Any {
                return None;
            }
            field.held = true;
        }
        self.tallies = self.tallies.max(relation.tallies());
        self.scopes.get_mut(scope)?.relations.push(relation);
        Some(())
    }

    /// The names and the values of an object are lists of the record.
    fn add_numbered(&mut self, number: usize, (names, values): (usize, usize)) -> Option<()> {
        for (list, below) in [(names, Type::Integer), (values, Type::Number)] {
            let field = self.fields.get_mut(list).filter(|f| f.key && f.kind == Type::Array && f.below == below)?;
            field.name = vec![0xFF]; // no member is called so
            field.pattern = None;
            field.joined = true;
        }
        let is_known = |field: &&mut Field| field.kind == Type::Object && field.below == Type::Number;
        self.fields.get_mut(number).filter(is_known)?.numbered = Some((names, values));
        Some(())
    }

    fn add_predicate(&mut self, reader: &mut Reader) -> Option<()> {
        let kind = reader.u8()?;
        let number = reader.u16()?;
        let limit = usize::try_from(reader.u64()?).ok()?;
        let characters = reader.text()?;
        let text = || std::str::from_utf8(&characters).ok();
        let places = self.fields.len();
        if kind == 29 {
            return self.add_numbered(number, (limit & 0xFFFF, limit >> 16));
        }
        let field = self.fields.get_mut(number)?;
        match kind {
            // what is compared by place in a row is for fields of the record alone
            6 | 7 | 9 | 15..=20 if number >= self.scopes[0].fields.len() => return None,
            23 if field.is_of_texts() => field.predicates.push(Predicate::lacks(text()?)?),
            24 if field.kind == Type::Any => {
                field.texts = true;
                field.nullable = false;
            }
            26 if field.is_of_texts() => field.predicates.push(Predicate::NoSentence(limit)),
            27 if field.is_of_texts() => field.predicates.push(Predicate::begins(text()?)),
            28 if field.kind == Type::Text => field.refusals.push(Predicate::blank(text()?)),
            25 => {
                let scope = self.scopes.iter_mut().find(|scope| scope.fields.contains(&number))?;
                let place = scope.fields.iter().position(|&field| field == number)?;
                scope.required |= 1 << place;
            }
            1..=4 | 12 if field.is_of_texts() => {
                field.predicates.push(match kind {
                    1 => Predicate::blank(text()?),
                    2 => Predicate::Longer(limit),
                    3 => Predicate::edged(text()?),
                    4 => Predicate::holds(text()?)?,
                    _ => Predicate::Shorter(limit),
                });
            }
            10 if field.kind == Type::Text => field.refusals.push(Predicate::edged(text()?)),
            11 if matches!(field.kind, Type::Any | Type::Text) => field.only_text = true,
            13 if field.kind == Type::Text => field.predicates.push(Predicate::Unequal(characters)),
            22 if field.key && field.kind == Type::Text => self.changed.push(number),
            14 => {
                field.tally = Some(tally_number(limit)?);
                self.tallies = self.tallies.max(limit + 1);
            }
            15..=19 if field.kind == Type::Object && field.below == Type::Any => {
                let members = field.members.get_or_insert_with(Members::default);
                let (tally, other) = (limit & 0xFFFF, limit >> 16);
                match kind {
                    15 => members.flat = true,
                    16 => members.shown.push(characters),
                    17 => members.shown_prefix = Some(*characters.first()?),
                    18 => members.counted.push((characters, tally_number(tally)?)),
                    _ if other < places && self.liked.is_none() => {
                        members.like = Some((other, characters, tally_number(tally)?));
                        self.liked = Some(other);
                    }
                    _ => return None,
                }
                if kind >= 18 {
                    self.tallies = self.tallies.max(tally + 1);
                }
            }
            20 if field.key && field.kind == Type::Text => {
                field.spelling = Some(Spelling::of(text()?));
            }
            35 if field.key && field.kind == Type::Text => {
                field.stripped = Some(Characters::of(text()?));
            }
            21 if field.kind == Type::Text => field.predicates.push(Predicate::FewLetters),
            31 if field.is_of_texts() => field.predicates.push(Predicate::MarkInside),
            32 if field.is_of_texts() => field.predicates.push(Predicate::Vacuous),
            33 if field.is_of_texts() => field.predicates.push(Predicate::Starts(characters, limit == 0)),
            34 if matches!(field.kind, Type::Text | Type::Integer) => {
                let (other, null) = (limit & 0xFFFF, limit >> 16 & 0xFFFF);
                let (of_other, of_null) = (tally_number(other)?, tally_number(null)?);
                field.mistyped = Some(Mistyped { other: of_other, null: of_null, shown: limit as u64 >> 32 });
                self.tallies = self.tallies.max(other.max(null) + 1);
            }
            30 if field.is_of_texts() => field.predicates.push(Predicate::NotVisible),
            5 if field.kind == Type::Array && field.below == Type::Integer && field.key => {
                field.predicates.push(Predicate::ItemTwice);
            }
            8 => {
                field.predicates.push(Predicate::Given);
                field.given = true;
            }
            9 if field.key && field.kind == Type::Text => {
                self.fields.get(limit).filter(|other| other.key && other.kind == Type::Text)?;
                self.equal.push((number, limit));
            }
            6 => self.first = Some(number),
            7 if field.kind == Type::Text && self.unlike_number.is_none() => self.unlike_number = Some(number),
            _ => return None,
        }
        Some(())
    }
}

impl Field {
    fn parse(reader: &mut Reader) -> Option<Self> {
        let name = reader.text()?;
        let kind = Type::of(reader.u8()?)?;
        let below = Type::of(reader.u8()?)?;
        let flags = reader.u8()?;
        let (least, greatest) = (reader.f64()?, reader.f64()?);
        let allowed = (0..reader.u16()?).map(|_| reader.text()).collect::<Option<Vec<_>>>()?;
        if matches!(below, Type::Array) || (flags & 8 != 0 && !has_codes(kind, below)) {
            return None;
        }
        let pattern = pattern_of(&name);
        Some(Self {
            name,
            kind,
            below,
            required: flags & 1 != 0,
            nullable: flags & 2 != 0,
            non_empty: flags & 4 != 0,
            key: flags & 8 != 0,
            least: (flags & 16 != 0).then_some(least),
            greatest: (flags & 32 != 0).then_some(greatest),
            allowed,
            predicates: Questions::default(),
            given: false,
            refusals: Questions::default(),
            only_text: false,
            members: None,
            numbered: None,
            tally: None,
            spelling: None,
            stripped: None,
            pattern,
            scope: None,
            listed: false,
            member: 0,
            held: false,
            texts: false,
            simple: false,
            joined: false,
            known: None,
            kept: None,
            list: None,
            bare: false,
            mistyped: None,
        })
    }

    /// Whether its values, or the items of its lists, are texts.
    fn is_of_texts(&self) -> bool {
        self.kind == Type::Text || (self.kind == Type::Array && self.below == Type::Text) || self.texts
    }

    /// Numbers of 64 bits in a code of it: one of a number or of a boolean, two of a text.
    pub fn code_width(&self) -> usize {
        let of_items = if self.kind == Type::Array { self.below } else { self.kind };
        if matches!(of_items, Type::Integer | Type::Number | Type::Boolean) {
            1
        } else {
            2
        }
    }

    /// Whether it may have several codes in a row.
    pub fn is_list(&self) -> bool {
        self.kind == Type::Array || self.listed || self.texts
    }
}

/// The number of a count: there is a bit for each of them.
fn tally_number(number: usize) -> Option<u32> {
    u32::try_from(number).ok().filter(|&number| number < u64::BITS)
}

fn has_codes(kind: Type, below: Type) -> bool {
    let simple = |kind| matches!(kind, Type::Integer | Type::Text);
    simple(kind)
        || matches!(kind, Type::Any | Type::Number | Type::Boolean)
        || (kind == Type::Array && (simple(below) || below == Type::Number))
}

fn pattern_of(name: &[u8]) -> Option<(u128, u128)> {
    let mut bytes = [0; 16];
    let mut mask = [0; 16];
    let whole = [b"\"", name, b"\":"].concat();
    if whole.len() > 16 {
        return None;
    }
    for (place, byte) in whole.into_iter().enumerate() {
        bytes[place] = byte;
        mask[place] = 0xFF;
    }
    Some((u128::from_le_bytes(bytes), u128::from_le_bytes(mask)))
}
