//! Elements of a JSON array, or members of a JSON object, wherever the line breaks are.
//!
//! A block is cut behind its last element by a look at quotes and brackets alone. Then each element is proved like a
//! line. One that is not proved goes to Python alone, if quotes and brackets say where it ends as Python finds it
//! (`files/containers/element_scans.py`); where they do not, Python goes on from there.

use crate::columns::{Note, Scanned};
use crate::isa::{Isa, Level, Portable};
use crate::json::{peek, skip_blanks};
use crate::lines::{finish_record, is_alike, record, text, Record};
use crate::plan::Plan;

/// What is in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Values of an array.
    Values,
    /// Members of an object: the name is the first field, the value the second one.
    Members,
}

/// Where a part of an array, or of an object, may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The place of the last comma between elements that another one follows.
    At(usize),
    /// There is no such comma yet.
    NotYet,
    /// Nor will there be: a bracket closes more than is open, or a string does not end with its line.
    Broken,
}

impl Cut {
    fn or_broken(self) -> Self {
        match self {
            Self::At(_) => self,
            _ => Self::Broken,
        }
    }
}

/// Where `data`, which begins between elements, may be cut.
#[must_use]
pub fn last_comma(data: &[u8], level: Level) -> Cut {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx2 && Level::best() == Level::Avx2 {
        return crate::simd::last_comma(data);
    }
    let _ = level;
    last_comma_with::<Portable<true>>(data)
}

/// How many line ends there are.
#[must_use]
pub fn line_ends(data: &[u8]) -> u64 {
    let of_few = |few: &[u8]| few.iter().fold(0_u8, |count, &byte| count.wrapping_add(u8::from(byte == b'\n')));
    data.chunks(usize::from(u8::MAX)).map(|few| u64::from(of_few(few))).sum()
}

#[inline(always)]
pub fn last_comma_with<I: Isa>(data: &[u8]) -> Cut {
    let (mut depth, mut last, mut at) = (0_usize, Cut::NotYet, 0);
    while let Some(&byte) = data.get(at) {
        match byte {
            b'"' => match string_end::<I>(data, at) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None if I::find(data, at, b'\n') < data.len() => return last.or_broken(),
                None => break,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return last.or_broken(),
            },
            b',' if depth == 0 => {
                let next = skip_blanks::<I>(data, at + 1);
                if !matches!(data.get(next), None | Some(b',' | b']' | b'}')) {
                    last = Cut::At(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    last
}

/// Behind the string that begins at `from`; none where the line ends before it does.
#[inline(always)]
fn string_end<I: Isa>(data: &[u8], from: usize) -> Option<usize> {
    let mut at = from + 1;
    loop {
        at = I::string_stop(data, at);
        match data.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' => return None,
            b'\\' if data.get(at + 1).is_none_or(|&byte| byte == b'\n') => return None,
            b'\\' => at += 2,
            _ => at += 1, // another control character: Python says what is wrong with it
        }
    }
}

/// Look at elements that are separated by commas; `into` holds what is in them until the next scan (in place of the
/// number of lines where the last one begins), `data` ends where one ends. How many bytes are done with: all, or up to an element that Python must look for.
pub fn scan(plan: &Plan, into: &mut Scanned, data: &[u8], elements: Elements, level: Level) -> usize {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx2 && Level::best() == Level::Avx2 {
        return crate::simd::scan_elements(plan, into, data, elements);
    }
    let _ = level;
    scan_with::<Portable<true>>(plan, into, data, elements)
}

#[inline(always)]
pub fn scan_with<I: Isa>(plan: &Plan, into: &mut Scanned, data: &[u8], elements: Elements) -> usize {
    into.begin(plan);
    let is_text = I::utf8(data);
    let (mut done, mut last) = (0, 0);
    let mut feed = None; // the next line end behind the lines that are counted, when it was looked for
    while done < data.len() {
        let start = skip_blanks::<I>(data, done);
        let proved = element::<I>(plan, into, data, start, elements)
            .filter(|element| is_text || std::str::from_utf8(&data[start..element.end]).is_ok())
            .and_then(|element| Some((behind_comma::<I>(data, element.end)?, element)));
        let (note, end, alike) = if let Some((behind, element)) = proved {
            (done, last) = (behind, start);
            if !element.candidate {
                into.tally(element.counted);
                into.close_row(start);
                continue;
            }
            (element.shown(plan, into), element.end, Some(element.members))
        } else {
            let found = bounds::<I>(data, start, elements).and_then(|end| Some((end, behind_comma::<I>(data, end)?)));
            let Some((end, behind)) = found else {
                into.leave_open(plan); // what it has given is taken back, but there is no such row
                into.forget_row(plan);
                break;
            };
            (done, last) = (behind, start);
            let alike = elements == Elements::Values && is_alike::<I>(plan, into, &data[start..end], is_text);
            (Note::Refused, end, alike.then_some(u64::MAX))
        };
        let mut next = *feed.get_or_insert_with(|| I::find(data, 0, b'\n'));
        while next < start {
            into.lines += 1;
            next = I::find(data, next + 1, b'\n');
        }
        feed = Some(next);
        into.note(note, start, end);
        if let Some(members) = alike {
            into.is_alike(members);
        }
        if note == Note::Refused {
            into.leave_open(plan);
        }
        into.close_row(start);
    }
    into.lines = last as u64;
    into.finish();
    done
}

/// Behind the comma that follows an element; none where something else does than the end of the data.
#[inline(always)]
fn behind_comma<I: Isa>(data: &[u8], end: usize) -> Option<usize> {
    let at = skip_blanks::<I>(data, end);
    match data.get(at) {
        None => Some(at),
        Some(b',') => Some(at + 1),
        Some(_) => None,
    }
}

#[inline(always)]
fn element<I: Isa>(plan: &Plan, into: &mut Scanned, data: &[u8], start: usize, elements: Elements) -> Option<Record> {
    if elements == Elements::Values {
        return record::<I>(plan, into, data, start);
    }
    let mut found = Record::default();
    into.begin_record(plan);
    into.given = 3; // the name and the value
    let behind = text::<I>(plan, into, data, start, 0, &mut found)?;
    let colon = skip_blanks::<I>(data, behind);
    if peek(data, colon) != b':' {
        return None;
    }
    found.end = I::value(plan, into, data, skip_blanks::<I>(data, colon + 1), 1, &mut found)?;
    I::together(plan, 0, into, data, start, &mut found);
    finish_record(plan, into, data, &mut found);
    Some(found)
}

/// Where an element ends whatever is wrong within it, as quotes and brackets say; none where they do not.
#[cold]
fn bounds<I: Isa>(data: &[u8], start: usize, elements: Elements) -> Option<usize> {
    if elements == Elements::Values {
        return value_end::<I>(data, start);
    }
    if peek(data, start) != b'"' {
        return None;
    }
    let colon = skip_blanks::<I>(data, string_end::<I>(data, start)?);
    (peek(data, colon) == b':').then(|| value_end::<I>(data, skip_blanks::<I>(data, colon + 1)))?
}

fn value_end<I: Isa>(data: &[u8], start: usize) -> Option<usize> {
    let is_apart = |byte: u8| matches!(byte, b',' | b'[' | b']' | b'{' | b'}' | b'"' | b' ' | 9..=13);
    match data.get(start)? {
        b'"' => string_end::<I>(data, start),
        b'{' | b'[' => {
            let (mut open, mut at) = (Vec::new(), start);
            loop {
                match data.get(at)? {
                    b'"' => {
                        at = string_end::<I>(data, at)?;
                        continue;
                    }
                    b'{' => open.push(b'}'),
                    b'[' => open.push(b']'),
                    &byte @ (b'}' | b']') => {
                        if open.pop() != Some(byte) {
                            return None;
                        }
                        if open.is_empty() {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
        }
        &byte if is_apart(byte) => None,
        _ => {
            let length = data[start..].iter().position(|&byte| is_apart(byte));
            Some(length.map_or(data.len(), |length| start + length))
        }
    }
}
