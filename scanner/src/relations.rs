//! What the values of a record, or of an object in it, say about each other: what a rule may want to see of them.
//!
//! Whatever is compared is compared as it stands in the file: what is equal there means the same. Where two values are
//! another text in the file, they may still mean the same, and Python looks at them.

use crate::columns::Scanned;
use crate::isa::{Isa, Portable};
use crate::json::unescape;
use crate::md5;
use crate::plan::{Field, Reader};

/// A value of a field whose values are kept while its record is looked at.
#[derive(Clone, Copy)]
pub struct Held {
    /// Its first byte; of a text that behind the quote mark.
    pub start: usize,
    /// The byte behind its last one.
    pub end: usize,
    /// Whether it is a text with escapes.
    pub escaped: bool,
    /// The code of a text, or an integer itself.
    pub code: u64,
}

impl Held {
    #[inline(always)]
    fn of<'a>(&self, data: &'a [u8]) -> &'a [u8] {
        &data[self.start..self.end]
    }

    fn number(&self, data: &[u8]) -> Option<f64> {
        std::str::from_utf8(self.of(data)).ok()?.parse().ok()
    }
}

/// One question about several fields; where the answer is yes, the record is a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Some of the fields are there, others are not.
    Apart,
    /// The first field is there, and none of the others.
    Without,
    /// None of the fields is there.
    Lacking,
    /// More than one of the fields is there.
    Several,
    /// Two lists of texts, or texts, are there and differ.
    Unlike,
    /// A value of the first list is none of the second one, or there are more of them.
    Beyond,
    /// An integer of the first list is none of the second one of which the third, a list of booleans, says true.
    Unmarked,
    /// A text is in the list twice.
    Twice,
    /// A text is in both lists.
    Shared,
    /// There are more values in the first list than in the second one.
    More,
    /// There is one value in the first list, and more than one in the second one.
    OneOfMany,
    /// The list is there, and empty.
    Empty,
    /// The first field is there, and its text does not hold the first text of the first other list that has any.
    Outside,
    /// A number of the list is greater than the one before.
    Ascending,
    /// The first number divided by the second one is not the third, up to a tolerance; or it is greater than the second.
    NoQuotient,
    /// The number is how many characters or words the text has.
    Measure,
    /// A number is greater than this.
    Above,
    /// None of the booleans is true.
    NoneTrue,
    /// The value is there, and another one than true.
    Untrue,
    /// The text begins with digits, which are not the number of values in the list.
    Miscounted,
    /// The first text is not this one with the MD5 of the second one behind it.
    Undigested,
    /// Of two texts the same ASCII letters and digits remain, in lower case and with blanks for all else.
    Alike,
    /// Two objects of a list have the same texts.
    TwiceTogether,
    /// A text of the first list is not in the third one; or the number beside it, in the second one, is none of a text
    /// of those that are in the fourth list, beside that of the third one.
    OutOfRange,
    /// Nothing is shown: of the texts, each once, of all but the last field it is counted how many there are, and how
    /// many are not in the list of the last field.
    CountedBeyond,
    /// A text of the list is not surely in the first text.
    NotWithin,
    /// The integers of the list are not 0, 1, 2 and so on.
    Unnumbered,
    /// A text of the list is not the second field's with a text and the integer beside it, in the third one, behind it.
    Misnamed,
}

const KINDS: [Kind; 28] = [
    Kind::Apart,
    Kind::Without,
    Kind::Lacking,
    Kind::Several,
    Kind::Unlike,
    Kind::Beyond,
    Kind::Unmarked,
    Kind::Twice,
    Kind::Shared,
    Kind::More,
    Kind::OneOfMany,
    Kind::Empty,
    Kind::Outside,
    Kind::Ascending,
    Kind::NoQuotient,
    Kind::Measure,
    Kind::Above,
    Kind::NoneTrue,
    Kind::Untrue,
    Kind::Miscounted,
    Kind::Undigested,
    Kind::Alike,
    Kind::TwiceTogether,
    Kind::OutOfRange,
    Kind::CountedBeyond,
    Kind::NotWithin,
    Kind::Unnumbered,
    Kind::Misnamed,
];

/// A question, and the fields that it is about.
pub struct Relation {
    kind: Kind,
    /// Of a block one record is shown for it; the others are counted under this number.
    pub once: Option<u32>,
    /// The first of the two numbers under which values are counted.
    pub(crate) counted: Option<u32>,
    number: f64,
    text: Vec<u8>,
    fields: Vec<usize>,
    /// A bit for the field with which nothing is asked.
    unless: u128,
    /// A bit for each of the fields, and for each but the first.
    all: u128,
    others: u128,
    /// A bit for each member of the record that they are, or are in.
    pub members: u64,
}

impl Relation {
    /// What a plan says of one, where these fields are declared.
    pub(crate) fn parse(kind: u8, reader: &mut Reader, declared: &[Field]) -> Option<Self> {
        let count = declared.len();
        let kind = *KINDS.get(usize::from(kind))?;
        let once = reader.u8()?.checked_sub(1).map(u32::from);
        if once.is_some_and(|tally| tally >= u64::BITS) {
            return None;
        }
        let number = reader.f64()?;
        let fields =
            (0..reader.u8()?).map(|_| reader.u16().filter(|&field| field < count)).collect::<Option<Vec<_>>>()?;
        let text = reader.text()?;
        let unless = match reader.u16()? {
            0xFFFF => 0,
            field if field < count => 1 << field,
            _ => return None,
        };
        let enough = match kind {
            Kind::Unmarked | Kind::NoQuotient | Kind::Misnamed => fields.len() == 3,
            Kind::Unlike
            | Kind::NotWithin
            | Kind::Beyond
            | Kind::Shared
            | Kind::More
            | Kind::OneOfMany
            | Kind::Measure
            | Kind::Undigested
            | Kind::Alike
            | Kind::Miscounted => fields.len() == 2,
            Kind::OutOfRange => fields.len() == 4,
            Kind::CountedBeyond => fields.len() >= 2 && once.is_some_and(|tally| tally + 1 < u64::BITS),
            Kind::Apart | Kind::Several | Kind::Without | Kind::Lacking => true,
            Kind::Outside => fields.len() >= 2,
            Kind::NoneTrue | Kind::TwiceTogether => !fields.is_empty(),
            _ => fields.len() == 1,
        };
        let bits = |fields: &[usize]| fields.iter().fold(0, |bits, &field| bits | 1_u128 << field);
        let (all, others) = (bits(&fields), bits(fields.get(1..).unwrap_or(&[])));
        let (once, counted) = if kind == Kind::CountedBeyond { (None, once) } else { (once, None) };
        let members = fields.iter().fold(0, |bits, &field| bits | declared[field].member);
        enough.then_some(Self { kind, once, counted, number, text, fields, unless, all, others, members })
    }

    /// How many counts there must be.
    pub fn tallies(&self) -> usize {
        let last = self.counted.map(|first| first + 1).or(self.once);
        last.map_or(0, |tally| tally as usize + 1)
    }

    /// The fields whose values are compared.
    pub fn held(&self) -> &[usize] {
        match self.kind {
            Kind::Apart | Kind::Without | Kind::Several => &[],
            _ => &self.fields,
        }
    }

    /// Whether a rule may want to see the record, of which all values are held.
    #[inline(always)]
    pub fn is_shown<I: Isa>(&self, into: &mut Scanned, data: &[u8]) -> bool {
        let given = into.given;
        if given & self.unless != 0 {
            return false;
        }
        let of = |place: usize| &into.held[self.fields[place]][..];
        match self.kind {
            Kind::Apart => given & self.all != 0 && given & self.all != self.all,
            Kind::Without => given & (self.all & !self.others) != 0 && given & self.others == 0,
            Kind::Lacking => given & self.all == 0,
            Kind::Several => (given & self.all).count_ones() > 1,
            Kind::Unlike => given & self.all == self.all && !is_same(of(0), of(1), data),
            Kind::Beyond => of(0).len() > of(1).len() || !of(0).iter().all(|one| is_among(one, of(1), data)),
            Kind::Unmarked => {
                let marks = of(2);
                (of(1).len() != marks.len() && !of(0).is_empty())
                    || !of(0).iter().all(|one| {
                        of(1)
                            .iter()
                            .zip(marks)
                            .any(|(other, mark)| other.code == one.code && data.get(mark.start) == Some(&b't'))
                    })
            }
            Kind::Twice => is_twice(of(0), &mut into.sorted_items),
            Kind::Shared => of(0).iter().any(|one| of(1).iter().any(|other| other.code == one.code)),
            Kind::More => of(0).len() > of(1).len(),
            Kind::OneOfMany => of(0).len() == 1 && of(1).len() > 1,
            Kind::Empty => given & self.all != 0 && of(0).is_empty(),
            Kind::Outside => {
                let (Some(whole), Some(part)) = (of(0).first(), (1..self.fields.len()).find_map(|n| of(n).first()))
                else {
                    return false;
                };
                !holds::<I>(data, whole, part)
            }
            Kind::Ascending => {
                let mut before = f64::INFINITY;
                !of(0).iter().all(|held| {
                    held.number(data).is_some_and(|value| {
                        let is_less = value <= before;
                        before = value;
                        is_less
                    })
                })
            }
            Kind::NoQuotient => {
                given & self.all == self.all && {
                    let value = |place: usize| of(place).last()?.number(data);
                    let (Some(part), Some(whole), Some(ratio)) = (value(0), value(1), value(2)) else { return true };
                    part > whole || whole <= 0.0 || (ratio - part / whole).abs() > self.number
                }
            }
            Kind::Measure => {
                given & self.all == self.all && {
                    let (text, number) = (of(0).last().copied(), of(1).last().map(|held| held.code));
                    let (Some(text), Some(number)) = (text, number) else { return true };
                    is_measure(data, text, number, &mut into.text)
                }
            }
            Kind::Above => !of(0).iter().all(|held| held.number(data).is_some_and(|value| value <= self.number)),
            Kind::NoneTrue => {
                let mut held = self.fields.iter().flat_map(|&field| &into.held[field]);
                !held.any(|held| held.of(data) == b"true")
            }
            Kind::Untrue => given & self.all != 0 && !of(0).iter().all(|held| held.of(data) == b"true"),
            Kind::Miscounted => {
                let text = of(0).first().map_or(&[][..], |held| held.of(data));
                let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let behind = [text.first(), text.get(digits)];
                let is_plain = behind.into_iter().flatten().all(|&byte| byte.is_ascii() && byte != b'\\');
                given & self.others != 0
                    && !(is_plain && (digits == 0 || text[..digits] == *of(1).len().to_string().as_bytes()))
            }
            Kind::Undigested => given & self.all == self.all && self.is_undigested(into, data),
            Kind::Alike => self.is_alike(into, data),
            Kind::TwiceTogether => self.is_twice_together(into),
            Kind::OutOfRange => is_out_of_range([of(0), of(1), of(2), of(3)], data),
            Kind::CountedBeyond => self.count_beyond(into, data),
            Kind::NotWithin => !are_within::<I>(data, of(0), of(1)),
            Kind::Unnumbered => of(0).iter().zip(0..).any(|(held, number)| held.code != number),
            Kind::Misnamed => {
                let (names, numbers) = (of(0), of(2));
                let begin = of(1).first().map_or(&[][..], |held| held.of(data));
                let digits = |name: &Held| name.of(data).strip_prefix(begin)?.strip_prefix(&self.text[..]);
                let mut pairs = names.iter().zip(numbers);
                names.len() != numbers.len() || !pairs.all(|(name, number)| digits(name) == Some(number.of(data)))
            }
        }
    }

    fn is_undigested(&self, into: &mut Scanned, data: &[u8]) -> bool {
        let last = |place: usize| into.held[self.fields[place]].last().copied();
        let (Some(name), Some(text)) = (last(0), last(1)) else { return true };
        let digest = md5::in_hex(meant(data, text, &mut into.text));
        name.escaped || name.of(data).strip_prefix(&self.text[..]) != Some(&digest[..])
    }

    fn is_alike(&self, into: &mut Scanned, data: &[u8]) -> bool {
        let last = |place: usize| into.held[self.fields[place]].last().copied();
        let (Some(one), Some(other)) = (last(0), last(1)) else { return false };
        let reduced = &mut into.reduced;
        reduced.clear();
        letters(meant(data, one, &mut into.text), reduced);
        let first = reduced.len();
        letters(meant(data, other, &mut into.text), reduced);
        let (one, other) = reduced.split_at(first);
        one == other && !one.is_empty()
    }

    fn is_twice_together(&self, into: &Scanned) -> bool {
        let of = |place: usize| &into.held[self.fields[place]][..];
        let many = of(0).len();
        if (1..self.fields.len()).any(|place| of(place).len() != many) {
            return true;
        }
        let row = |n: usize| (0..self.fields.len()).map(move |place| of(place)[n].code);
        if many <= 16 {
            return (1..many).any(|n| (0..n).any(|before| row(n).eq(row(before))));
        }
        let mut rows: Vec<Vec<u64>> = (0..many).map(|n| row(n).collect()).collect();
        rows.sort_unstable();
        rows.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Count texts, each once, and those that are not in the list of the last field; whether it is not certain from
    /// how they are written which are the same.
    #[inline(always)]
    fn count_beyond(&self, into: &mut Scanned, data: &[u8]) -> bool {
        let Some((&last, names)) = self.fields.split_last() else { return false };
        let mut sorted = std::mem::take(&mut into.sorted_held);
        sorted.clear();
        sorted.extend(into.held[last].iter().map(|held| (held.code, true, *held)));
        for &field in names {
            sorted.extend(into.held[field].iter().map(|held| (held.code, false, *held)));
        }
        sorted.sort_unstable_by_key(|(code, is_last, _)| (*code, !is_last));
        let (mut all, mut missing, mut is_open) = (0, 0, false);
        for same in sorted.chunk_by(|one, other| one.0 == other.0) {
            is_open |= same.windows(2).any(|pair| pair[0].2.of(data) != pair[1].2.of(data));
            all += u64::from(!same[same.len() - 1].1);
            missing += u64::from(!same[0].1);
        }
        into.sorted_held = sorted;
        if let Some(first) = self.counted {
            into.sums.push((first, all));
            into.sums.push((first + 1, missing));
        }
        is_open
    }
}

/// Whether a title is none of those of the contexts, or its number none of a text there.
fn is_out_of_range([titles, numbers, contexts, texts]: [&[Held]; 4], data: &[u8]) -> bool {
    let before = |place: usize| texts.partition_point(|text| text.start < place);
    let count = |n: usize| {
        let end = contexts.get(n + 1).map_or(texts.len(), |next| before(next.start));
        end - before(contexts[n].start)
    };
    titles.len() != numbers.len()
        || titles.iter().zip(numbers).any(|(title, number)| {
            let own = (0..contexts.len()).filter(|&n| is_equal(title, &contexts[n], data));
            own.map(count).max().is_none_or(|most| number.code >= most as u64)
        })
}

/// A text as it is meant.
#[inline(always)]
fn meant<'a>(data: &'a [u8], text: Held, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if !text.escaped {
        return text.of(data);
    }
    unescape::<Portable>(text.of(data), scratch);
    scratch
}

/// The ASCII letters and digits of a text in lower case, with a blank for each other character, without those at its
/// ends: put behind what is there.
fn letters(text: &[u8], to: &mut Vec<u8>) {
    let first = to.len();
    for character in String::from_utf8_lossy(text).chars() {
        match character {
            '\u{130}' => to.extend_from_slice(b"i "),
            '\u{212a}' => to.push(b'k'), // the sign for Kelvin
            _ if character.is_ascii_alphanumeric() => to.push(character.to_ascii_lowercase() as u8),
            _ if to.len() > first => to.push(b' '),
            _ => {}
        }
    }
    while to.len() > first && to.last() == Some(&b' ') {
        to.pop();
    }
}

#[inline(always)]
fn is_equal(one: &Held, other: &Held, data: &[u8]) -> bool {
    one.code == other.code && one.of(data) == other.of(data)
}

#[inline(always)]
fn is_same(one: &[Held], other: &[Held], data: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_equal(one, other, data))
}

#[inline(always)]
fn is_among(one: &Held, many: &[Held], data: &[u8]) -> bool {
    many.iter().any(|other| is_equal(one, other, data))
}

fn is_twice(held: &[Held], codes: &mut Vec<u64>) -> bool {
    if held.len() <= 16 {
        return held.iter().enumerate().any(|(i, one)| held[..i].iter().any(|other| other.code == one.code));
    }
    codes.clear();
    codes.extend(held.iter().map(|one| one.code));
    codes.sort_unstable();
    codes.windows(2).any(|pair| pair[0] == pair[1])
}

/// Whether a text surely holds another one, or that without blanks around it.
#[inline(always)]
fn holds<I: Isa>(data: &[u8], whole: &Held, part: &Held) -> bool {
    let (text, wanted) = (whole.of(data), part.of(data).trim_ascii());
    let (Some(&first), Some(&last)) = (wanted.first(), wanted.last()) else { return true };
    let mut from = 0;
    loop {
        let at = I::find_both(text, from, first, last, wanted.len() - 1);
        let Some(found) = text.get(at..at + wanted.len()) else { return false };
        if found == wanted && (!whole.escaped || is_between(text, at)) {
            return true;
        }
        from = at + 1;
    }
}

/// Whether all these texts are surely in the one text: most often each is behind the one before it.
#[inline(always)]
fn are_within<I: Isa>(data: &[u8], whole: &[Held], parts: &[Held]) -> bool {
    let Some(whole) = whole.first() else { return parts.is_empty() };
    let text = whole.of(data);
    let (mut start, mut end) = (0, 0);
    parts.iter().all(|part| {
        let wanted = part.of(data);
        let is_at = |at: usize| {
            text.get(at..).is_some_and(|rest| rest.starts_with(wanted)) && (!whole.escaped || is_between(text, at))
        };
        let behind = [0, 1, 2, 4].map(|blanks| end + blanks); // such as an escaped line end, or two of them
        let near = behind.into_iter().find(|&at| is_at(at));
        let find = |from: usize| {
            let (&first, &last) = (wanted.first()?, wanted.last()?);
            let mut at = from;
            loop {
                at = I::find_both(text, at, first, last, wanted.len() - 1);
                if at == text.len() || is_at(at) {
                    return (at < text.len()).then_some(at);
                }
                at += 1;
            }
        };
        let found = near.or_else(|| find(start)).or_else(|| find(0));
        start = found.unwrap_or(start);
        end = start + wanted.len();
        found.is_some()
    })
}

/// Whether no escape of a text in JSON is cut by this place.
fn is_between(text: &[u8], at: usize) -> bool {
    let near = &text[at.saturating_sub(5)..at];
    let Some(back) = near.iter().rposition(|&byte| byte == b'\\') else { return true };
    let escape = at - near.len() + back;
    let before = text[..escape].iter().rev().take_while(|&&byte| byte == b'\\').count();
    let length = match (before % 2, text.get(escape + 1)) {
        (1, _) => 1,
        (_, Some(b'u')) => 6,
        _ => 2,
    };
    escape + length <= at
}

/// Whether a number is how many characters a text has, or how many words (of more than one letter on average).
fn is_measure(data: &[u8], text: Held, number: u64, scratch: &mut Vec<u8>) -> bool {
    let bytes = meant(data, text, scratch);
    let characters = bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64;
    if number == characters {
        return true;
    }
    if number > characters || 2 * number > characters + 1 {
        return false;
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return true };
    text.split(|c: char| c.is_whitespace() || matches!(c, '\x1c'..='\x1f')).filter(|word| !word.is_empty()).count()
        as u64
        == number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_within_another_wherever_they_are() {
        for (whole, parts, are) in [
            ("a tide, a reef", &["a tide", "a reef"][..], true),
            ("a tide\\na reef", &["a tide", "a reef", "a tide"], true),
            ("a tide\\n\\na reef", &["a tide", "a reef"], true),
            ("a tide and the reef", &["a tide", "tide and", "the reef", "a"], true),
            ("a tide and the reef", &["a tide", "ebb"], false),
            ("a\\nreef", &["a", "nreef"], false),
            ("a\\nreef", &["\\nreef"], true),
            ("tide", &["tides"], false),
            ("tide", &[], true),
            ("tide", &["", "tide"], true),
            ("x\\u0041b, 41b", &["41b"], true),
        ] {
            let mut data = whole.as_bytes().to_vec();
            let one = Held { start: 0, end: data.len(), escaped: whole.contains('\\'), code: 0 };
            let mut held = Vec::new();
            for part in parts {
                let start = data.len();
                data.extend_from_slice(part.as_bytes());
                held.push(Held { start, end: data.len(), escaped: part.contains('\\'), code: 0 });
            }
            assert_eq!(are_within::<Portable>(&data, &[one], &held), are, "{whole} {parts:?}");
        }
    }

    #[test]
    fn a_text_is_found_only_where_no_escape_is_cut() {
        let held =
            |start: usize, text: &str| Held { start, end: start + text.len(), escaped: text.contains('\\'), code: 0 };
        for (whole, part, is_held) in [
            ("a tide", "tide", true),
            ("a tide", " tide ", true),
            ("\\ntide", "ntide", false),
            ("\\ntide", "tide", true),
            ("\\\\ntide", "ntide", true),
            ("\\u0041b", "41b", false),
            ("\\u0041b", "b", true),
            ("x\\u0041b", "u0041b", false),
            ("\\\\\\ntide", "ntide", false),
            ("ab ab\\tabc", "abc", true),
            ("tid", "tide", false),
            ("tide", "", true),
            ("\\ntide and tide", "ntide", false),
        ] {
            let data = [whole, part].concat().into_bytes();
            let (one, other) = (held(0, whole), held(whole.len(), part));
            assert_eq!(holds::<Portable>(&data, &one, &other), is_held, "{whole} {part}");
        }
    }
}
