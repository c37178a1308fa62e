//! The record and the objects in it whose fields are declared, too: what belongs to one object.

use crate::plan::{Field, Reader, Type};
use crate::relations::Relation;

/// An object: its fields, and what is asked of them together.
#[derive(Default)]
pub struct Scope {
    /// Its fields, by their numbers.
    pub fields: Vec<usize>,
    /// A bit for each of them, by its place, that must be there.
    pub required: u64,
    /// The same for each whose codes are wanted; only of the record itself.
    pub keys: u64,
    /// A bit for each of them, by its number.
    pub given: u128,
    /// Whether it is written as a list of the values.
    pub row: bool,
    /// Whether further fields are not proved, unless their names begin with these bytes and go on with a letter.
    pub closed: bool,
    /// How names of further fields may begin.
    pub free: Vec<u8>,
    /// What a rule may want to see of the values together.
    pub relations: Vec<Relation>,
    /// Keys that are made of several texts.
    pub joined: Vec<Joined>,
}

/// A key that is made of the texts of several fields, with others between them.
pub struct Joined {
    /// The field that stands for it.
    pub target: usize,
    /// The fields, of which those that are there count; of a list all its texts.
    pub parts: Vec<usize>,
    /// What is between the first text and the others, and between those.
    pub between: Vec<u8>,
    /// What is between the texts of one list.
    pub within: Vec<u8>,
    /// Whether it is the text of the first one that is there, or the digits of its integer.
    pub first: bool,
}

const MOST_FIELDS: usize = 64;

impl Scope {
    /// All of them, the record first; each field gets its place.
    pub(crate) fn parse_all(reader: &mut Reader, fields: &mut [Field]) -> Option<Vec<Self>> {
        let mut scopes = Vec::new();
        let mut first = 0;
        for number in 0..reader.u8()? {
            let (owner, count) = (reader.u16()?, reader.u16()?);
            let scope = Self::parse(reader, fields, first..first.checked_add(count)?)?;
            first += count;
            if number > 0 {
                let (kind, below) = (fields.get(owner)?.kind, fields[owner].below);
                let in_list = kind == Type::Array;
                let fits = matches!((kind, below), (Type::Object | Type::Any | Type::Array, Type::Any | Type::Object));
                if !fits || owner >= scope.fields[0] {
                    return None;
                }
                if in_list {
                    fields[owner].below = Type::Object;
                }
                for &field in &scope.fields {
                    fields[field].listed = in_list || fields[owner].listed;
                    fields[field].member = fields[owner].member;
                }
                if fields[owner].scope.replace(usize::from(number)).is_some() || fields[owner].key {
                    return None;
                }
            }
            for (place, &field) in scope.fields.iter().enumerate().filter(|_| number == 0) {
                fields[field].member = 1 << place;
            }
            scopes.push(scope);
        }
        let is_object = scopes.first().is_some_and(|record| !record.row);
        (first == fields.len() && is_object).then_some(scopes)
    }

    fn parse(reader: &mut Reader, fields: &[Field], range: std::ops::Range<usize>) -> Option<Self> {
        let closed = reader.u8()? == 1;
        let row = reader.u8()? == 1;
        let free = reader.text()?;
        let count = range.len();
        let own = fields.get(range.clone())?;
        if count == 0 || count > MOST_FIELDS {
            return None;
        }
        Some(Self {
            required: own.iter().enumerate().fold(0, |bits, (place, f)| bits | u64::from(f.required) << place),
            given: range.clone().fold(0, |bits, field| bits | 1 << field),
            fields: range.collect(),
            row,
            closed,
            free,
            ..Self::default()
        })
    }

    /// Whether a field that is not declared may be passed over.
    #[inline(always)]
    pub fn is_free(&self, name: &[u8]) -> bool {
        !self.closed
            || (!self.free.is_empty()
                && name
                    .strip_prefix(&self.free[..])
                    .is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_alphanumeric)))
    }
}

impl Joined {
    /// What a plan says of one.
    pub(crate) fn parse(reader: &mut Reader, fields: &mut [Field], first: bool) -> Option<Self> {
        let target = reader.u16()?;
        let parts =
            (0..reader.u8()?).map(|_| reader.u16().filter(|&part| part < fields.len())).collect::<Option<Vec<_>>>()?;
        let (between, within) = (reader.text()?, reader.text()?);
        for &part in &parts {
            fields[part].held = true;
            fields[part].simple |= first;
            fields[part].nullable &= !first;
            if first && (fields[part].listed || !matches!(fields[part].kind, Type::Any | Type::Text)) {
                return None;
            }
        }
        let field = fields.get_mut(target).filter(|field| field.key && field.kind == Type::Text)?;
        field.name = vec![0xFF]; // no member is called so
        field.pattern = None;
        field.joined = true;
        Some(Self { target, parts, between, within, first })
    }
}
