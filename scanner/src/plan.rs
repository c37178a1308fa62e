//! What a kind of record is and which of its values a rule may want to see, as Python declares it.
//!
//! The declaration comes as one blob, little endian, made by `ragdatakit/scanner/plan.py`. It is parsed with checked
//! slices into values of our own; whatever is not understood means that there is no plan, and Python reads the files.

use crate::hash::Seeds;
use crate::predicates::Predicate;

/// The number of the interface: Python compares it when it loads the library.
pub const ABI: u32 = 1;

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
pub struct Field {
    pub name: Vec<u8>,
    pub kind: Type,
    /// What the items of a list, or the values of an object, are.
    pub below: Type,
    pub nullable: bool,
    pub non_empty: bool,
    /// Whether the codes of its values are wanted: those of a value of any kind are of its text, or of its digits.
    pub key: bool,
    pub least: Option<f64>,
    pub greatest: Option<f64>,
    pub allowed: Vec<Vec<u8>>,
    pub predicates: Vec<Predicate>,
    /// The first 16 bytes of `"name":`, and which bits of them count; none for a longer name.
    pub pattern: Option<(u128, u128)>,
}

/// A compiled declaration.
pub struct Plan {
    /// The declared fields.
    pub fields: Vec<Field>,
    /// Whether further fields are a fault.
    pub closed: bool,
    /// A bit for each field that must be there.
    pub required: u64,
    /// A bit for each field.
    pub all: u64,
    /// The field that must come first, where a rule looks at the order.
    pub first: Option<usize>,
    /// The text field of which one value in each block must be shown that is not a number.
    pub unlike_number: Option<usize>,
    /// Pairs of text fields of which a rule may want to see that they are equal.
    pub equal: Vec<(usize, usize)>,
    /// What codes of texts are made with.
    pub seeds: Seeds,
}

const MOST_FIELDS: usize = 64;

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<usize> {
        self.array().map(|bytes| usize::from(u16::from_le_bytes(bytes)))
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    fn text(&mut self) -> Option<Vec<u8>> {
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
        let seeds = Seeds::of(reader.u64()?);
        let closed = reader.u8()? == 1;
        let count = reader.u16()?;
        if count == 0 || count > MOST_FIELDS {
            return None;
        }
        let mut required = 0;
        let mut fields = Vec::with_capacity(count);
        for number in 0..count {
            let field = Field::parse(&mut reader, &mut required, number)?;
            fields.push(field);
        }
        let all = u64::MAX >> (64 - count);
        let mut plan =
            Self { fields, closed, required, all, first: None, unlike_number: None, equal: Vec::new(), seeds };
        for _ in 0..reader.u16()? {
            plan.add_predicate(&mut reader)?;
        }
        reader.0.is_empty().then_some(plan)
    }

    fn add_predicate(&mut self, reader: &mut Reader) -> Option<()> {
        let kind = reader.u8()?;
        let number = reader.u16()?;
        let limit = usize::try_from(reader.u64()?).ok()?;
        let characters = reader.text()?;
        let field = self.fields.get_mut(number)?;
        match kind {
            1..=4 if field.kind == Type::Text => {
                let characters = std::str::from_utf8(&characters).ok()?;
                field.predicates.push(match kind {
                    1 => Predicate::blank(characters),
                    2 => Predicate::Longer(limit),
                    3 => Predicate::edged(characters),
                    _ => Predicate::holds(characters)?,
                });
            }
            5 if field.kind == Type::Array && field.below == Type::Integer && field.key => {
                field.predicates.push(Predicate::ItemTwice);
            }
            8 => field.predicates.push(Predicate::Given),
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
    fn parse(reader: &mut Reader, required: &mut u64, number: usize) -> Option<Self> {
        let name = reader.text()?;
        let kind = Type::of(reader.u8()?)?;
        let below = Type::of(reader.u8()?)?;
        let flags = reader.u8()?;
        let (least, greatest) = (reader.f64()?, reader.f64()?);
        let allowed = (0..reader.u16()?).map(|_| reader.text()).collect::<Option<Vec<_>>>()?;
        if matches!(below, Type::Array) || (flags & 8 != 0 && !has_codes(kind, below)) {
            return None;
        }
        *required |= u64::from(flags & 1) << number;
        let pattern = pattern_of(&name);
        Some(Self {
            name,
            kind,
            below,
            nullable: flags & 2 != 0,
            non_empty: flags & 4 != 0,
            key: flags & 8 != 0,
            least: (flags & 16 != 0).then_some(least),
            greatest: (flags & 32 != 0).then_some(greatest),
            allowed,
            predicates: Vec::new(),
            pattern,
        })
    }
}

fn has_codes(kind: Type, below: Type) -> bool {
    let simple = |kind| matches!(kind, Type::Integer | Type::Text);
    simple(kind) || kind == Type::Any || (kind == Type::Array && simple(below))
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
