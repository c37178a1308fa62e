//! Elements between tags, as test collections write documents: proved are those whose parts are all closed.
//!
//! What an element is, and what its parts are, is said by `files/containers/tagged_text.py`. Data ends behind a closing
//! tag, so that no element goes on behind it.

use crate::cells::is_space;
use crate::columns::{Note, Scanned};
use crate::hash;
use crate::isa::{Isa, Level, Portable};
use crate::json::peek;
use crate::lines::{Record, LONG_TEXT};
use crate::plan::Plan;
use crate::predicates::Predicate;

/// Look at all elements of a block; `into` holds what is in them until the next scan. How many bytes are done with: all,
/// or up to an element that does not end in them.
pub fn scan(plan: &Plan, into: &mut Scanned, data: &[u8], level: Level) -> usize {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx2 && Level::best() == Level::Avx2 {
        return crate::simd::scan_tagged(plan, into, data);
    }
    let _ = level;
    scan_with::<Portable>(plan, into, data)
}

#[inline(always)]
pub fn scan_with<I: Isa>(plan: &Plan, into: &mut Scanned, data: &[u8]) -> usize {
    into.begin(plan);
    let is_text = I::utf8(data);
    let (mut done, mut at) = (data.len(), 0);
    let mut feed = None; // the next line end behind the lines that are counted, when it was looked for
    while let Some((start, content)) = opening::<I>(plan, data, at) {
        let is_plain = content.is_some();
        let begin = content.unwrap_or(start + 1);
        let proved = if is_plain { element::<I>(plan, into, data, begin) } else { None };
        let proved = proved.filter(|found| is_text || std::str::from_utf8(&data[start..found.end]).is_ok());
        let (note, end) = match proved {
            Some(found) if !found.candidate => {
                into.close_row(start);
                at = found.end;
                continue;
            }
            Some(found) => (Note::Candidate, found.end),
            None => {
                let Some(end) = boundary::<I>(plan, data, begin) else {
                    into.leave_open(plan); // what it has given is taken back, but there is no such row
                    into.forget_row(plan);
                    done = start;
                    break;
                };
                (Note::Refused, end)
            }
        };
        let mut next = *feed.get_or_insert_with(|| I::find(data, 0, b'\n'));
        while next < start {
            into.lines += 1;
            next = I::find(data, next + 1, b'\n');
        }
        feed = Some(next);
        into.note(note, start, end);
        if note == Note::Refused {
            into.leave_open(plan);
        }
        into.close_row(start);
        at = end;
    }
    into.finish();
    done
}

/// The next opening tag of an element, from `at` on; and the place behind it, if it has no attributes.
#[inline(always)]
fn opening<I: Isa>(plan: &Plan, data: &[u8], at: usize) -> Option<(usize, Option<usize>)> {
    let mut from = at;
    loop {
        let mark = I::find(data, from, b'<');
        if mark >= data.len() {
            return None;
        }
        if let Some(plain) = opens(plan, data, mark) {
            return Some((mark, plain));
        }
        from = mark + 1;
    }
}

/// Whether an element begins at a `<`; then the place behind its tag, if that has no attributes.
#[inline(always)]
#[allow(clippy::option_option)]
fn opens(plan: &Plan, data: &[u8], mark: usize) -> Option<Option<usize>> {
    plan.tags.iter().find_map(|tag| {
        let behind = name_at(data, mark + 1, tag)?;
        match peek(data, behind) {
            b'>' => Some(Some(behind + 1)),
            b' ' | b'\t'..=b'\r' => {
                let stop = data[behind..].iter().position(|byte| matches!(byte, b'<' | b'>'))?;
                (data[behind + stop] == b'>').then_some(None)
            }
            _ => None,
        }
    })
}

/// The place behind the closing tag of an element, if one begins at a `<`.
#[inline(always)]
fn closes(plan: &Plan, data: &[u8], mark: usize) -> Option<usize> {
    if peek(data, mark + 1) != b'/' {
        return None;
    }
    plan.tags.iter().find_map(|tag| {
        let mut at = name_at(data, mark + 2, tag)?;
        while matches!(peek(data, at), b' ' | b'\t'..=b'\r') {
            at += 1;
        }
        (peek(data, at) == b'>').then_some(at + 1)
    })
}

/// The place behind a name, if it is there, in whatever case.
#[inline(always)]
fn name_at(data: &[u8], at: usize, name: &[u8]) -> Option<usize> {
    data.get(at..at + name.len()).filter(|found| found.eq_ignore_ascii_case(name)).map(|_| at + name.len())
}

/// Where an element ends whose content begins here: behind its closing tag, or before the next one.
#[cold]
fn boundary<I: Isa>(plan: &Plan, data: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let mark = I::find(data, at, b'<');
        if mark >= data.len() {
            return None;
        }
        if let Some(end) = closes(plan, data, mark).or_else(|| opens(plan, data, mark).map(|_| mark)) {
            return Some(end);
        }
        at = mark + 1;
    }
}

/// An element whose parts are elements that are closed, one behind the other.
#[inline(always)]
fn element<I: Isa>(plan: &Plan, into: &mut Scanned, data: &[u8], from: usize) -> Option<Record> {
    into.begin_record(plan);
    let scope = &plan.scopes[0];
    let mut found = Record::default();
    let (mut seen, mut at): (u64, _) = (0, from);
    loop {
        let mark = I::find(data, at, b'<');
        if let Some(end) = closes(plan, data, mark) {
            found.end = end;
            break;
        }
        let length = data.get(mark + 1..)?.iter().position(|byte| !is_of_name(*byte))?;
        let begin = mark + 1 + length;
        let name = &data[mark + 1..begin];
        let is_element = plan.tags.iter().any(|tag| tag.eq_ignore_ascii_case(name));
        if is_element || !peek(data, mark + 1).is_ascii_alphabetic() || peek(data, begin) != b'>' {
            return None;
        }
        let (stop, behind) = part_end::<I>(plan, data, begin + 1, name)?;
        let place = scope.fields.iter().position(|&field| plan.fields[field].name.eq_ignore_ascii_case(name));
        if let Some(place) = place {
            let field = scope.fields[place];
            let is_new = seen & 1 << place == 0;
            if !is_new && (plan.fields[field].key || is_wanted(plan, field)) {
                return None;
            }
            seen |= 1 << place;
            content::<I>(plan, into, &data[begin + 1..stop], field, &mut found)?;
        } else if let Some(rest) = plan.rest {
            into.kept[rest].bytes.extend_from_slice(&data[mark..behind]);
        }
        at = behind;
    }
    if let Some(rest) = plan.rest {
        into.kept[rest].close();
    }
    if seen & scope.required != scope.required {
        return None;
    }
    for (place, &field) in scope.fields.iter().enumerate() {
        if plan.fields[field].key && seen & (1 << place) == 0 {
            into.push_nothing(plan, field);
        }
    }
    Some(found)
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Where a part with this name ends, and the place behind its closing tag; none where the element may end before, or
/// where a letter beyond ASCII may be another case of one of the name.
#[inline(always)]
fn part_end<I: Isa>(plan: &Plan, data: &[u8], from: usize, name: &[u8]) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let mark = I::find(data, at, b'<');
        if peek(data, mark + 1) == b'/' {
            if closes(plan, data, mark).is_some() {
                return None;
            }
            let begin = mark + 2;
            let alike = data.get(begin..)?.iter().zip(name).take_while(|(one, other)| one.eq_ignore_ascii_case(other));
            let mut behind = begin + alike.count();
            let is_named = behind == begin + name.len();
            while is_named && is_space(peek(data, behind)) {
                behind += 1;
            }
            if !peek(data, behind).is_ascii() {
                return None;
            }
            if is_named && peek(data, behind) == b'>' {
                return Some((mark, behind + 1));
            }
        } else if mark >= data.len() || opens(plan, data, mark).is_some() {
            return None;
        }
        at = mark + 1;
    }
}

/// Whether the texts of a field are wanted, or facts of them.
#[inline(always)]
fn is_wanted(plan: &Plan, number: usize) -> bool {
    plan.fields[number].kept.is_some() || plan.facts == Some(number)
}

/// What is in a part of a declared field.
#[inline(always)]
fn content<I: Isa>(plan: &Plan, into: &mut Scanned, raw: &[u8], number: usize, found: &mut Record) -> Option<()> {
    let field = &plan.fields[number];
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let start = raw.iter().position(|byte| !is_blank(byte)).unwrap_or(raw.len());
    let end = raw.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    let text = &raw[start..end];
    if field.key {
        if text.contains(&b'&') || text.len() > LONG_TEXT {
            return None;
        }
        let code = hash::code(&plan.seeds, text);
        into.columns[number].push(code, into.rows);
        found.candidate |= field.known.as_ref().is_some_and(|known| !known.has(code));
    }
    if is_wanted(plan, number) {
        if text.len() > LONG_TEXT {
            return None;
        }
        let Scanned { text: meant, kept, facts, rows, .. } = into;
        let text = if I::find_any(text, 0, *b"&\r") < text.len() {
            as_meant::<I>(text, meant)?;
            &meant[..]
        } else {
            text
        };
        if let Some(place) = field.kept {
            kept[place].push(text);
        }
        if plan.facts == Some(number) {
            facts.push::<I>(&plan.seeds, *rows, text);
        }
    }
    for predicate in field.predicates.each() {
        found.candidate |= match predicate {
            Predicate::Blank(_) => {
                // what is before an entity is as it stands there
                let plain = text.iter().position(|&byte| byte == b'&').unwrap_or(text.len());
                predicate.of_text(&text[..plain], plain)
            }
            _ => text.contains(&b'&') || predicate.of_text(text, text.len()),
        };
    }
    Some(())
}

/// A text as it is meant: each of its lines ends with a line feed, and the entities that XML knows are what they stand
/// for. None where there may be digits of other scripts in one.
#[inline(always)]
fn as_meant<I: Isa>(raw: &[u8], into: &mut Vec<u8>) -> Option<()> {
    into.clear();
    let mut at = 0;
    while at < raw.len() {
        let stop = I::find_any(raw, at, *b"&\r");
        into.extend_from_slice(&raw[at..stop]);
        at = stop + 1;
        match peek(raw, stop) {
            b'\r' => {
                into.push(b'\n');
                at += usize::from(peek(raw, at) == b'\n');
            }
            b'&' => {
                if let Some((character, behind)) = entity(raw, at)? {
                    into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    at = behind;
                } else {
                    into.push(b'&');
                }
            }
            _ => {}
        }
    }
    Some(())
}

/// The character that an entity stands for whose `&` is before this place, and the place behind it, if it is one. None
/// where there may be digits of other scripts in it.
#[allow(clippy::option_option)]
fn entity(raw: &[u8], at: usize) -> Option<Option<(char, usize)>> {
    const NAMED: [(&[u8], char); 5] = [(b"amp;", '&'), (b"lt;", '<'), (b"gt;", '>'), (b"quot;", '"'), (b"apos;", '\'')];
    let rest = &raw[at..];
    let Some(number) = rest.strip_prefix(b"#") else {
        return Some(NAMED.iter().find(|(name, _)| rest.starts_with(name)).map(|&(name, one)| (one, at + name.len())));
    };
    let (digits, radix, most) = match number.strip_prefix(b"x") {
        Some(digits) => (digits, 16, 6),
        None => (number, 10, 7),
    };
    let (mut code, mut length) = (0, 0);
    while let Some(digit) = char::from(peek(digits, length)).to_digit(radix).filter(|_| length < most) {
        code = code * radix + digit;
        length += 1;
    }
    if radix == 10 && !peek(digits, length).is_ascii() {
        return None;
    }
    let is_whole = length > 0 && peek(digits, length) == b';';
    let behind = at + (rest.len() - digits.len()) + length + 1;
    Some(char::from_u32(code).filter(|_| is_whole).map(|character| (character, behind)))
}
