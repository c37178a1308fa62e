//! What is asked of the members of a free object: which keys and values a rule may want to see, which are counted.

use crate::hash::hash;
use crate::isa::Isa;
use crate::json::{has_twice, peek, skip_blanks, string};
use crate::plan::{Plan, Type};

/// The questions about the members of one field.
#[derive(Default)]
pub struct Members {
    /// Whether a list, an object or null among the values makes the record a candidate.
    pub flat: bool,
    /// Names that make it one.
    pub shown: Vec<Vec<u8>>,
    /// The first byte of names that make it one.
    pub shown_prefix: Option<u8>,
    /// Names that are counted.
    pub counted: Vec<(Vec<u8>, u32)>,
    /// The member with the name of this field is counted unless it has its text or, where there is none, this one.
    pub like: Option<(usize, Vec<u8>, u32)>,
}

/// What was found in an object.
#[derive(Default)]
pub struct Found {
    /// The place behind it.
    pub behind: usize,
    pub candidate: bool,
    /// A bit for each count.
    pub counted: u64,
    /// Where the value of the member is that is compared with a field.
    pub like: Option<(usize, usize)>,
}

/// The members of the object that begins at `from`; none where it is not proved.
#[inline(always)]
pub fn members<I: Isa>(
    plan: &Plan,
    asked: &Members,
    data: &[u8],
    from: usize,
    names: &mut Vec<u64>,
    below: &mut Vec<u64>,
) -> Option<Found> {
    names.clear();
    let mut found = Found { behind: skip_blanks::<I>(data, from + 1), ..Found::default() };
    if peek(data, from) != b'{' {
        return None;
    }
    if peek(data, found.behind) == b'}' {
        found.behind += 1;
        return Some(found);
    }
    loop {
        if peek(data, found.behind) != b'"' {
            return None;
        }
        let begin = found.behind + 1;
        let (end, escaped) = string::<I>(data, begin)?;
        let colon = skip_blanks::<I>(data, end + 1);
        if escaped || peek(data, colon) != b':' {
            return None;
        }
        let name = &data[begin..end];
        names.push(hash(&plan.seeds, name));
        found.candidate |= asked.shown_prefix.is_some() && name.first().copied() == asked.shown_prefix;
        found.candidate |= asked.shown.iter().any(|shown| shown == name);
        for (counted, tally) in &asked.counted {
            found.counted |= u64::from(counted == name) << tally;
        }
        let at = skip_blanks::<I>(data, colon + 1);
        found.candidate |= asked.flat && matches!(peek(data, at), b'{' | b'[' | b'n');
        let behind = I::skip(data, at, Type::Any, &plan.seeds, below)?;
        if asked.like.as_ref().is_some_and(|(field, _, _)| plan.fields[*field].name == name) {
            found.like = Some((at, behind));
        }
        let at = skip_blanks::<I>(data, behind);
        match peek(data, at) {
            b',' => found.behind = skip_blanks::<I>(data, at + 1),
            b'}' => {
                found.behind = at + 1;
                return (!has_twice(names)).then_some(found);
            }
            _ => return None,
        }
    }
}

/// Whether the member at `place` surely has the text of the field at `field`, or (where that is not there, null or
/// empty) this one; none where that cannot be told from the bytes.
pub fn is_like(data: &[u8], place: (usize, usize), field: Option<(usize, usize)>, otherwise: &[u8]) -> Option<bool> {
    let value = data.get(place.0..place.1)?;
    let given = field.and_then(|(start, end)| data.get(start..end)).filter(|text| *text != b"null" && *text != b"\"\"");
    let is_text = value.first() == Some(&b'"');
    if value.contains(&b'\\') || given.is_some_and(|text| text.contains(&b'\\')) {
        return None;
    }
    let wanted = given.map_or(Some(otherwise), |text| text.strip_prefix(b"\"")?.strip_suffix(b"\""))?;
    Some(is_text && value.get(1..value.len() - 1) == Some(wanted))
}
