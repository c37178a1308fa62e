//! A block of whole lines, each of which is a record in JSON.

use crate::cells;
use crate::columns::{Kept, Note, Scanned, MARK_BYTES, NOTE_WIDTH};
use crate::hash::{code, hash};
use crate::isa::{Isa, Level, Portable};
use crate::json::{boolean, double, has_twice, integer, number, peek, skip_blanks, string, unescape, word};
use crate::members::{is_like, members};
use crate::plan::{Field, Plan, Type};
use crate::predicates::{has_repeat, is_unlike_number, Predicate};
use crate::relations::Held;

/// Bytes of a text from which on Python does not compare it with others.
pub(crate) const LONG_TEXT: usize = 1 << 24;

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every line is proved, or noted.
    Done,
    /// A carriage return ends a line of its own somewhere: Python counts lines in another way, and reads the block.
    LoneReturn,
}

/// Look at all lines of a block; `into` holds what is in it until the next scan.
pub fn scan(plan: &Plan, into: &mut Scanned, data: &[u8], level: Level) -> Outcome {
    #[cfg(target_arch = "x86_64")]
    if level == Level::Avx2 && Level::best() == Level::Avx2 {
        return crate::simd::scan(plan, into, data);
    }
    let _ = level;
    scan_with::<Portable>(plan, into, data)
}

#[inline(always)]
pub fn scan_with<I: Isa>(plan: &Plan, into: &mut Scanned, data: &[u8]) -> Outcome {
    into.begin(plan);
    let is_text = I::utf8(data);
    let (mut at, mut next_mark) = (0, MARK_BYTES);
    while at < data.len() {
        if at >= next_mark {
            into.mark(at);
            next_mark = at + MARK_BYTES;
        }
        let proved = match &plan.cells {
            None => lenient_record::<I>(plan, into, data, at),
            Some(cells) => cells::record::<I>(plan, cells, into, data, at),
        };
        let proved = proved
            .and_then(|record| Some((line_end(data, record.end)?, record)))
            .filter(|(_, record)| is_text || std::str::from_utf8(&data[at..record.end]).is_ok());
        let (end, width) = if let Some((width, record)) = proved {
            let is_shown = record.candidate || record.mistyped.is_some_and(|(tally, most)| into.shows(tally, most));
            if is_shown {
                let note = record.shown(plan, into);
                into.note(note, at, record.end);
                if plan.cells.is_none() {
                    into.is_alike(record.members);
                }
                into.unlike_number |= record.unlike_number;
                if note == Note::Refused {
                    into.leave_open(plan);
                }
            } else {
                into.tally(record.counted);
            }
            into.close_row(at);
            (record.end, width)
        } else {
            let Some((end, width)) = whole_line::<I>(data, at) else { return Outcome::LoneReturn };
            if is_blank(&data[at..end]) {
                into.note(Note::Blank, at, end);
            } else {
                into.note(Note::Refused, at, end);
                if plan.cells.is_none() && is_alike::<I>(plan, into, &data[at..end], is_text) {
                    into.is_alike(u64::MAX);
                }
                into.leave_open(plan);
                into.close_row(at);
            }
            (end, width)
        };
        into.count_end(width, at);
        into.lines += 1;
        at = end + width;
    }
    if plan.unlike_number.is_some() && !into.unlike_number {
        name_all(into, data);
    }
    into.finish();
    Outcome::Done
}

/// The width of the line end at a place, 0 at the end of the data; none where the line goes on.
#[inline(always)]
fn line_end(data: &[u8], at: usize) -> Option<usize> {
    match peek(data, at) {
        b'\n' => Some(1),
        b'\r' if peek(data, at + 1) == b'\n' => Some(2),
        _ if at == data.len() => Some(0),
        _ => None,
    }
}

/// Where a line ends, and how wide its end is; none if it holds a carriage return of its own.
#[inline(always)]
fn whole_line<I: Isa>(data: &[u8], from: usize) -> Option<(usize, usize)> {
    let feed = I::find(data, from, b'\n');
    let end = I::find(&data[..feed], from, b'\r');
    if end == feed {
        return Some((feed, usize::from(feed < data.len())));
    }
    (end + 1 == feed && feed < data.len()).then_some((end, 2))
}

/// Whether a record that was refused is JSON all the same, and every reader reads it alike.
#[inline(always)]
pub(crate) fn is_alike<I: Isa>(plan: &Plan, into: &mut Scanned, record: &[u8], is_text: bool) -> bool {
    let begin = skip_blanks::<I>(record, 0);
    let end = I::skip(record, begin, Type::Any, &plan.seeds, &mut into.names);
    end.is_some_and(|end| skip_blanks::<I>(record, end) == record.len())
        && (is_text || std::str::from_utf8(record).is_ok())
}

pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | 0x0B | 0x0C))
}

/// Every accepted record becomes a candidate, but for those that are counted as mistyped.
#[cold]
fn name_all(into: &mut Scanned, data: &[u8]) {
    let notes = std::mem::take(&mut into.notes);
    let counted = std::mem::take(&mut into.counted_rows);
    let mut counted = counted.iter().peekable();
    let mut noted = notes.chunks_exact(NOTE_WIDTH).peekable();
    let (mut at, mut line, mut row) = (0, 0, 0);
    while at < data.len() {
        let (end, width) = whole_line::<Portable>(data, at).unwrap_or((data.len(), 0));
        let candidate = [Note::Candidate as u64, row, line, at as u64, end as u64];
        let note = noted.next_if(|note| note[2] == line).unwrap_or(&candidate);
        if note[0] == Note::Blank as u64 || counted.next_if(|&&counted| counted == row).is_none() {
            into.notes.extend_from_slice(note);
        }
        row += u64::from(note[0] != Note::Blank as u64);
        line += 1;
        at = end + width;
    }
}

/// A record that was accepted.
#[derive(Default)]
pub struct Record {
    /// The place behind its last byte.
    pub end: usize,
    /// Whether a rule may want to see it.
    pub candidate: bool,
    pub(crate) unlike_number: bool,
    /// A bit for each question for which it is shown in place of the others of its block.
    pub(crate) shown_once: u64,
    /// A bit for each count that it adds to.
    pub counted: u64,
    /// Where the value is that is compared with a field (see `Members`), and that field's own.
    pub(crate) like: Option<(usize, usize)>,
    pub(crate) liked: Option<(usize, usize)>,
    /// The number under which it is counted that one of its values is of another type, and how many of these are shown.
    pub(crate) mistyped: Option<(u32, u64)>,
    /// A bit for each member that a rule may want to see, by its place.
    pub(crate) members: u64,
    /// The same for each in which there is something that is counted.
    pub(crate) counted_of: u64,
    /// The same for each in which a value is not as declared.
    pub(crate) refused: u64,
}

impl Record {
    /// Python is shown it: as what. What it is not shown of it is counted.
    pub(crate) fn shown(&self, plan: &Plan, into: &mut Scanned) -> Note {
        if self.counted != 0 {
            into.tally(self.counted);
        }
        if self.refused == 0 {
            into.shown_once |= self.shown_once; // else it may be shown for nothing
        }
        if self.refused & plan.keyed == 0 {
            Note::Candidate
        } else {
            Note::Refused
        }
    }
}

/// A record of which whoever sees what is accepted need not know more.
#[inline(always)]
pub fn record<I: Isa>(plan: &Plan, into: &mut Scanned, data: &[u8], from: usize) -> Option<Record> {
    let mut found = lenient_record::<I>(plan, into, data, from)?;
    found.candidate |= found.mistyped.is_some();
    Some(found)
}

/// The same, but one with a value of another type is no candidate for that.
#[inline(always)]
fn lenient_record<I: Isa>(plan: &Plan, into: &mut Scanned, data: &[u8], from: usize) -> Option<Record> {
    let mut found = Record::default();
    if let Some(byte) = plan.cut {
        found.end = cut_text::<I>(plan, into, data, from, byte, &mut found)?;
        found.members = u64::MAX;
        return Some(found);
    }
    into.begin_record(plan);
    found.end = object::<I>(plan, 0, into, data, from, &mut found)?;
    finish_record(plan, into, data, &mut found);
    Some(found)
}

/// A record that is a text, which is cut in two: the place behind it.
#[inline(always)]
fn cut_text<I: Isa>(
    plan: &Plan,
    into: &mut Scanned,
    data: &[u8],
    at: usize,
    byte: u8,
    found: &mut Record,
) -> Option<usize> {
    if peek(data, at) != b'"' {
        return None;
    }
    let (end, escaped) = string::<I>(data, at + 1)?;
    let raw = &data[at + 1..end];
    if raw.len() > LONG_TEXT {
        return None;
    }
    let Scanned { text, columns, rows, kept, facts, .. } = into;
    let bytes = if escaped {
        unescape::<I>(raw, text);
        &text[..]
    } else {
        raw
    };
    let place = I::find(bytes, 0, byte);
    let (head, tail) = (bytes.get(..place)?, bytes.get(place + 1..)?);
    if let Some(field) = plan.fields.get(2) {
        let (value, _) = integer(head, 0).filter(|&(_, behind)| behind == head.len())?;
        is_within(field, value as f64).then_some(())?;
        if field.key {
            columns[2].push(u128::from(value as u64), *rows);
        }
    }
    for (number, part) in [head, tail].into_iter().enumerate() {
        let field = &plan.fields[number];
        if field.refusals.of_text(part, raw.len()) {
            return None;
        }
        if field.key {
            columns[number].push(code(&plan.seeds, part), *rows);
        }
        if let Some(place) = field.kept {
            kept[place].push(part);
        }
        if plan.facts == Some(number) {
            facts.push::<I>(&plan.seeds, *rows, part);
        }
        found.candidate |= field.predicates.of_text(part, raw.len());
    }
    Some(end + 1)
}

/// What is asked of the fields of a record, and of objects in it, when all of them are known.
#[inline(always)]
pub fn finish_record(plan: &Plan, into: &mut Scanned, data: &[u8], found: &mut Record) {
    for &number in &plan.below {
        if into.given & (1 << number) == 0 {
            into.push_nothing(plan, number);
        }
    }
    for &(one, other) in &plan.equal {
        let both = 1 << one | 1 << other;
        let last = |number: usize| into.columns[number].codes.last();
        found.candidate |= into.given & both == both && last(one) == last(other);
    }
    if let Some(place) = found.like {
        compare(plan, data, place, found);
    }
    let is_open = found.candidate; // it is not known of which member
    found.candidate |= found.members != 0;
    if is_open || !plan.by_member {
        found.members = u64::MAX;
    }
    if found.candidate && found.members & found.counted_of != 0 {
        found.members |= found.counted_of;
        found.counted = 0;
    }
}

/// An object of a plan, the record itself or one in it: the place behind it.
#[inline(always)]
pub fn object<I: Isa>(
    plan: &Plan,
    number: usize,
    into: &mut Scanned,
    data: &[u8],
    from: usize,
    found: &mut Record,
) -> Option<usize> {
    let scope = &plan.scopes[number];
    if scope.row {
        return row::<I>(plan, number, into, data, from, found);
    }
    if peek(data, from) != b'{' {
        return None;
    }
    let mut end = skip_blanks::<I>(data, from + 1);
    let mut seen: u64 = 0;
    let mut place = 0;
    let others = into.sorted.len(); // the names of what is not declared
    into.given &= !scope.given;
    if peek(data, end) == b'}' {
        end += 1;
    } else {
        loop {
            let (local, before) = member::<I>(plan, number, into, data, end, place)?;
            let at = skip_blanks::<I>(data, before);
            if place == 0 && number == 0 && plan.first.is_some_and(|first| local != Some(first)) {
                found.candidate = true;
            }
            let behind = if let Some(local) = local {
                let field = if number == 0 { local } else { scope.fields[local] };
                let bit = 1_u64.wrapping_shl(local as u32);
                if seen & bit != 0 {
                    return None;
                }
                seen |= bit;
                if number > 0 {
                    into.given |= 1 << field;
                }
                let behind = if let Some(behind) = value::<I>(plan, into, data, at, field, found) {
                    behind
                } else if plan.by_member {
                    found.refused |= plan.fields[field].member;
                    found.members |= plan.fields[field].member;
                    skip_any::<I>(plan, into, data, at)?
                } else {
                    let behind = mistyped::<I>(&plan.fields[field], data, at, found)?;
                    if plan.fields[field].key {
                        into.push_nothing(plan, field);
                    }
                    behind
                };
                if !plan.fields[field].bare {
                    if number == 0 && plan.by_member && std::mem::take(&mut found.candidate) {
                        found.members |= plan.fields[field].member;
                    }
                    if let Some(place) = plan.fields[field].kept.filter(|_| !matches!(peek(data, at), b'"' | b'n')) {
                        into.kept[place].push(&data[at..behind]);
                    }
                    if plan.liked == Some(field) {
                        found.liked = Some((at, behind));
                    }
                }
                behind
            } else {
                let behind = skip_any::<I>(plan, into, data, at)?;
                if let Some(rest) = plan.rest.filter(|_| number == 0) {
                    keep_member(&mut into.kept[rest], &data[end..before], &data[at..behind]);
                }
                behind
            };
            place += 1;
            let at = skip_blanks::<I>(data, behind);
            match peek(data, at) {
                b',' => end = skip_blanks::<I>(data, at + 1),
                b'}' => {
                    end = at + 1;
                    break;
                }
                _ => return None,
            }
        }
    }
    if let Some(rest) = plan.rest.filter(|_| number == 0) {
        let kept = &mut into.kept[rest];
        if kept.bytes.len() as u64 > kept.behind() {
            kept.push(b"}");
        }
    }
    if seen & scope.required != scope.required || has_twice(&mut into.sorted[others..]) {
        return None;
    }
    into.sorted.truncate(others);
    if number == 0 {
        into.given |= u128::from(seen); // the fields of a record come first
        let mut lacking = scope.keys & !seen;
        while lacking != 0 {
            into.push_nothing(plan, lacking.trailing_zeros() as usize);
            lacking &= lacking - 1;
        }
    }
    if !scope.relations.is_empty() || !scope.joined.is_empty() {
        I::together(plan, number, into, data, from, found);
    }
    Some(end)
}

/// Keep a member that is not declared beside those before it, as an object of them; `name` ends with the colon.
#[cold]
fn keep_member(kept: &mut Kept, name: &[u8], value: &[u8]) {
    let is_first = kept.bytes.len() as u64 == kept.behind();
    kept.bytes.push(if is_first { b'{' } else { b',' });
    kept.bytes.extend_from_slice(name[..name.len() - 1].trim_ascii_end());
    kept.bytes.push(b':');
    kept.bytes.extend_from_slice(value);
}

/// A value of which nothing is asked: the place behind it.
#[inline(always)]
fn skip_any<I: Isa>(plan: &Plan, into: &mut Scanned, data: &[u8], at: usize) -> Option<usize> {
    let mut names = std::mem::take(&mut into.names);
    let behind = I::skip(data, at, Type::Any, &plan.seeds, &mut names);
    into.names = names;
    behind
}

/// An object that is written as a list of its values: the place behind it.
#[inline(always)]
fn row<I: Isa>(
    plan: &Plan,
    number: usize,
    into: &mut Scanned,
    data: &[u8],
    from: usize,
    found: &mut Record,
) -> Option<usize> {
    if peek(data, from) != b'[' {
        return None;
    }
    let scope = &plan.scopes[number];
    into.given &= !scope.given;
    let mut at = skip_blanks::<I>(data, from + 1);
    for (place, &field) in scope.fields.iter().enumerate() {
        if plan.fields[field].joined {
            continue;
        }
        if place > 0 {
            if peek(data, at) != b',' {
                return None;
            }
            at = skip_blanks::<I>(data, at + 1);
        }
        into.given |= 1 << field;
        at = skip_blanks::<I>(data, I::value(plan, into, data, at, field, found)?);
    }
    if peek(data, at) != b']' {
        return None;
    }
    I::together(plan, number, into, data, from, found);
    Some(at + 1)
}

/// What is asked of the values of an object together.
#[inline(always)]
pub fn finish_object<I: Isa>(
    plan: &Plan,
    number: usize,
    into: &mut Scanned,
    data: &[u8],
    from: usize,
    found: &mut Record,
) {
    let scope = &plan.scopes[number];
    for joined in &scope.joined {
        found.candidate |= into.join(plan, joined, data, from);
    }
    for relation in &scope.relations {
        if !relation.is_shown::<I>(into, data) {
            continue;
        }
        match relation.once {
            Some(tally) if into.shown_once & 1 << tally != 0 => {
                found.counted |= 1 << tally;
                found.counted_of |= relation.members;
            }
            Some(tally) => {
                found.members |= relation.members;
                found.shown_once |= 1 << tally;
            }
            None => found.members |= relation.members,
        }
    }
}

/// Count a member that is not like the field that it is compared with.
#[cold]
fn compare(plan: &Plan, data: &[u8], place: (usize, usize), found: &mut Record) {
    for (_, otherwise, tally) in plan.fields.iter().filter_map(|f| f.members.as_ref()?.like.as_ref()) {
        match is_like(data, place, found.liked, otherwise) {
            Some(is_like) => {
                found.counted |= u64::from(!is_like) << tally;
                found.counted_of = u64::MAX;
            }
            None => found.candidate = true,
        }
    }
}

/// The member that begins at `at`: the place of its field among those of the object, if it is declared, and the place
/// behind its colon.
#[inline(always)]
fn member<I: Isa>(
    plan: &Plan,
    number: usize,
    into: &mut Scanned,
    data: &[u8],
    at: usize,
    place: usize,
) -> Option<(Option<usize>, usize)> {
    let scope = &plan.scopes[number];
    if let Some(&expected) = into.order[number].get(place) {
        let field = &plan.fields[if number == 0 { expected } else { scope.fields[expected] }];
        if let (Some((bytes, mask)), Some(chunk)) = (field.pattern, data.get(at..).and_then(|d| d.first_chunk::<16>()))
        {
            if u128::from_le_bytes(*chunk) & mask == bytes {
                return Some((Some(expected), at + field.name.len() + 3));
            }
        }
    }
    if peek(data, at) != b'"' {
        return None;
    }
    let (end, escaped) = string::<I>(data, at + 1)?;
    let name = &data[at + 1..end];
    let colon = skip_blanks::<I>(data, end + 1);
    if escaped || peek(data, colon) != b':' {
        return None;
    }
    let local = scope.fields.iter().position(|&field| plan.fields[field].name == name);
    if let (Some(local), Some(expected)) = (local, into.order[number].get_mut(place)) {
        *expected = local;
    }
    if local.is_none() {
        if !scope.is_free(name) {
            return None;
        }
        into.sorted.push(hash(&plan.seeds, name));
    }
    Some((local, colon + 1))
}

/// The same as `Isa::value`, with texts and integers of which little is asked right here: they take no longer than a call.
#[inline(always)]
fn value<I: Isa>(
    plan: &Plan,
    into: &mut Scanned,
    data: &[u8],
    at: usize,
    number: usize,
    found: &mut Record,
) -> Option<usize> {
    let field = &plan.fields[number];
    if field.bare && peek(data, at) != b'n' {
        return match field.kind {
            Type::Integer => take_integer(into, field, number, data, at),
            _ => text::<I>(plan, into, data, at, number, found),
        };
    }
    I::value(plan, into, data, at, number, found)
}

/// A value of another plain type than the declared one, if that is the only one in the record: the place behind it.
#[cold]
fn mistyped<I: Isa>(field: &Field, data: &[u8], at: usize, found: &mut Record) -> Option<usize> {
    let asked = field.mistyped.filter(|_| found.mistyped.is_none() && field.known.is_none())?;
    if let Some(behind) = word(data, at, b"null").filter(|_| !field.nullable) {
        found.mistyped = Some((asked.null, asked.shown));
        return Some(behind);
    }
    let behind = if let Some(behind) = boolean(data, at) {
        behind
    } else if field.kind == Type::Text {
        integer(data, at)?.1
    } else {
        if peek(data, at) != b'"' {
            return None;
        }
        let (end, escaped) = string::<I>(data, at + 1)?;
        (!escaped && end - at <= LONG_TEXT).then_some(end + 1)?
    };
    found.mistyped = Some((asked.other, asked.shown));
    Some(behind)
}

#[inline(always)]
fn take_integer(into: &mut Scanned, field: &Field, number: usize, data: &[u8], at: usize) -> Option<usize> {
    let (value, behind) = integer(data, at)?;
    is_within(field, value as f64).then_some(())?;
    into.take(field, number, (at, behind), u128::from(value as u64));
    Some(behind)
}

/// The value of a declared field: the place behind it.
#[inline(always)]
pub fn declared_value<I: Isa>(
    plan: &Plan,
    into: &mut Scanned,
    data: &[u8],
    at: usize,
    number: usize,
    found: &mut Record,
) -> Option<usize> {
    let field = &plan.fields[number];
    if peek(data, at) == b'n' {
        let behind = word(data, at, b"null").filter(|_| field.nullable)?;
        if field.key && !field.listed {
            into.push_nothing(plan, number);
        }
        return Some(behind);
    }
    found.candidate |= field.given;
    if let Some(tally) = field.tally {
        found.counted |= 1 << tally;
        found.counted_of |= field.member;
    }
    let may_be_text = field.kind == Type::Any && (field.texts || field.key || field.simple);
    match if may_be_text && peek(data, at) == b'"' { Type::Text } else { field.kind } {
        Type::Integer => take_integer(into, field, number, data, at),
        Type::Text => text::<I>(plan, into, data, at, number, found),
        Type::Number => {
            let behind = self::number(data, at)?;
            is_number_within(field, &data[at..behind])?;
            into.hold(field, number, (at, behind));
            Some(behind)
        }
        Type::Boolean => {
            let behind = boolean(data, at)?;
            into.take(field, number, (at, behind), u128::from(peek(data, at) == b't'));
            Some(behind)
        }
        Type::Any if field.texts => items::<I>(plan, into, data, at, number, found),
        Type::Array => items::<I>(plan, into, data, at, number, found),
        Type::Any if field.key || field.simple => {
            // 0 is no value for Python where "0" is one
            let (_, behind) = integer(data, at).filter(|&(value, _)| value != 0 && !field.only_text)?;
            into.take(field, number, (at, behind), code(&plan.seeds, &data[at..behind]));
            Some(behind)
        }
        Type::Object | Type::Any if field.scope.is_some() => {
            I::object(plan, field.scope.unwrap_or_default(), into, data, at, found)
        }
        Type::Object | Type::Any => {
            if field.kind == Type::Object
                && (peek(data, at) != b'{' || (field.non_empty && peek(data, skip_blanks::<I>(data, at + 1)) == b'}'))
            {
                return None;
            }
            if let Some(lists) = field.numbered {
                return numbered::<I>(into, data, at, lists, found);
            }
            let mut names = std::mem::take(&mut into.names);
            let behind = if let Some(asked) = &field.members {
                let mut below = std::mem::take(&mut into.names_below);
                let object = members::<I>(plan, asked, data, at, &mut names, &mut below);
                into.names_below = below;
                object.map(|object| {
                    found.candidate |= object.candidate;
                    found.counted |= object.counted;
                    found.counted_of |= field.member;
                    found.like = object.like.or(found.like);
                    object.behind
                })
            } else {
                I::skip(data, at, field.below, &plan.seeds, &mut names)
            };
            into.names = names;
            into.hold(field, number, (at, behind?));
            behind
        }
    }
}

/// An object whose names are integers and whose values are numbers: the place behind it. It is shown where all of
/// several values are the same.
#[inline(always)]
fn numbered<I: Isa>(
    into: &mut Scanned,
    data: &[u8],
    from: usize,
    (names, values): (usize, usize),
    found: &mut Record,
) -> Option<usize> {
    let mut at = skip_blanks::<I>(data, from + 1);
    if peek(data, at) == b'}' {
        return Some(at + 1);
    }
    let (first, mut is_one) = (into.columns[values].codes.numbers.len(), true);
    let before = into.columns[names].codes.numbers.len();
    loop {
        if peek(data, at) != b'"' {
            return None;
        }
        let (name, end) = integer(data, at + 1)?;
        if peek(data, end) != b'"' {
            return None;
        }
        let colon = skip_blanks::<I>(data, end + 1);
        if peek(data, colon) != b':' {
            return None;
        }
        let start = skip_blanks::<I>(data, colon + 1);
        let behind = number(data, start)?;
        let digits = &data[start..behind];
        // Python compares whole numbers of more digits exactly
        if digits.len() > 15 && digits.iter().all(|byte| matches!(byte, b'-' | b'0'..=b'9')) {
            return None;
        }
        let value = double(digits).filter(|value| value.is_finite())?;
        let row = into.rows;
        into.columns[names].push(u128::from(name as u64), row);
        let column = &mut into.columns[values];
        column.push(u128::from(value.to_bits()), row);
        is_one &= f64::from_bits(column.codes.numbers[first]) - value == 0.0;
        at = skip_blanks::<I>(data, behind);
        match peek(data, at) {
            b',' => at = skip_blanks::<I>(data, at + 1),
            b'}' => break,
            _ => return None,
        }
    }
    found.candidate |= is_one && into.columns[values].codes.numbers.len() > first + 1;
    let (columns, scratch) = (&into.columns, &mut into.sorted_items);
    (!has_repeat(&columns[names].codes.numbers[before..], scratch)).then_some(at + 1)
}

#[inline(always)]
fn is_within(field: &Field, value: f64) -> bool {
    field.least.is_none_or(|least| value >= least) && field.greatest.is_none_or(|greatest| value <= greatest)
}

#[inline(always)]
fn is_number_within(field: &Field, digits: &[u8]) -> Option<()> {
    if field.least.is_none_or(|least| least <= 0.0) && field.greatest.is_none_or(|greatest| greatest >= 1.0) {
        let is_unbounded = field.least.is_none() && field.greatest.is_none();
        if is_unbounded || digits.strip_prefix(b"0.").is_some_and(|rest| rest.iter().all(u8::is_ascii_digit)) {
            return Some(());
        }
    }
    is_within(field, double(digits)?).then_some(())
}

#[inline(always)]
pub fn text<I: Isa>(
    plan: &Plan,
    into: &mut Scanned,
    data: &[u8],
    at: usize,
    number: usize,
    found: &mut Record,
) -> Option<usize> {
    let field = &plan.fields[number];
    if peek(data, at) != b'"' {
        return None;
    }
    let (end, escaped) = string::<I>(data, at + 1)?;
    let raw = &data[at + 1..end];
    if raw.len() > LONG_TEXT || (field.kind == Type::Text && field.non_empty && raw.is_empty()) {
        return None;
    }
    let row = into.rows;
    let Scanned { text: unescaped, spelled, columns, held, kept, facts, .. } = into;
    let bytes = if escaped {
        unescape::<I>(raw, unescaped);
        &unescaped[..]
    } else {
        raw
    };
    let code = if field.key || field.held { code(&plan.seeds, bytes) } else { 0 };
    let column = &mut columns[number];
    if field.key {
        let stripped = field.stripped.as_ref().map_or(bytes, |blanks| blanks.strip(bytes));
        let code = if stripped.len() < bytes.len() { crate::hash::code(&plan.seeds, stripped) } else { code };
        column.push(code, row);
        found.candidate |= field.known.as_ref().is_some_and(|known| !known.has(code));
    }
    if !field.bare {
        if !field.allowed.is_empty() && (escaped || !field.allowed.iter().any(|allowed| allowed == raw)) {
            return None;
        }
        if let Some(place) = field.kept.filter(|_| field.kind != Type::Array) {
            kept[place].push(bytes);
        }
        if plan.facts == Some(number) {
            facts.push::<I>(&plan.seeds, row, bytes);
        }
        if field.held {
            held[number].push(Held { start: at + 1, end, escaped, code: code as u64 });
        }
        if plan.unlike_number == Some(number) && !into.unlike_number && is_unlike_number(bytes) {
            found.candidate = true;
            found.unlike_number = true;
        }
    }
    if let Some(spelling) = &field.spelling {
        if spelling.reduce(bytes, spelled) {
            column.spelled.push(crate::hash::code(&plan.seeds, spelled));
        } else {
            column.spelled.push(0);
            column.odd.extend_from_slice(&[row, at as u64, end as u64 + 1]);
        }
    }
    found.candidate |= field.predicates.of_text(bytes, raw.len());
    let is_refused = field.refusals.of_text(bytes, raw.len());
    (!is_refused).then_some(end + 1)
}

/// The records in a list from the first one on: the place behind it. If Python must see one, it sees the record that
/// the list is in.
#[inline(always)]
fn records<I: Isa>(
    plan: &Plan,
    into: &mut Scanned,
    data: &[u8],
    from: usize,
    owner: u64,
    found: &mut Record,
) -> Option<usize> {
    let mut at = from;
    loop {
        let mut item = Record::default();
        into.begin_record(plan);
        let Some(end) = I::object(plan, 0, into, data, at, &mut item) else {
            into.leave_open(plan); // what it has given is taken back, but there is no such row
            into.forget_row(plan);
            return None;
        };
        finish_record(plan, into, data, &mut item);
        found.candidate |= item.candidate;
        into.owners.push(owner);
        into.close_row(at);
        at = skip_blanks::<I>(data, end);
        match peek(data, at) {
            b',' => at = skip_blanks::<I>(data, at + 1),
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// A list: the place behind it.
#[inline(always)]
fn items<I: Isa>(
    plan: &Plan,
    into: &mut Scanned,
    data: &[u8],
    from: usize,
    number: usize,
    found: &mut Record,
) -> Option<usize> {
    let field = &plan.fields[number];
    if peek(data, from) != b'[' {
        return None;
    }
    let mut at = skip_blanks::<I>(data, from + 1);
    if peek(data, at) == b']' {
        return (!field.non_empty && !field.texts).then_some(at + 1);
    }
    if let (Some(list), Some(of_items)) = (field.list, &plan.items) {
        let mut items = into.items.take()?;
        let behind = records::<I>(of_items, &mut items, data, at, into.rows * plan.lists + list, found);
        into.items = Some(items);
        return behind;
    }
    if !matches!(field.below, Type::Integer | Type::Text | Type::Number) && field.scope.is_none() && !field.texts {
        let mut names = std::mem::take(&mut into.names);
        let behind = I::skip(data, from, field.below, &plan.seeds, &mut names);
        into.names = names;
        return behind;
    }
    let before = into.columns[number].codes.numbers.len();
    loop {
        let behind = match field.below {
            Type::Integer => take_integer(into, field, number, data, at)?,
            Type::Number => {
                if field.key {
                    return None; // such a list is made of an object
                }
                let behind = self::number(data, at)?;
                is_number_within(field, &data[at..behind])?;
                into.hold(field, number, (at, behind));
                behind
            }
            Type::Object => {
                let behind = I::object(plan, field.scope?, into, data, at, found)?;
                into.hold(field, number, (at, behind));
                behind
            }
            _ => text::<I>(plan, into, data, at, number, found)?,
        };
        at = skip_blanks::<I>(data, behind);
        match peek(data, at) {
            b',' => at = skip_blanks::<I>(data, at + 1),
            b']' => break,
            _ => return None,
        }
    }
    if field.predicates.each().iter().any(|predicate| matches!(predicate, Predicate::ItemTwice)) {
        let (columns, scratch) = (&into.columns, &mut into.sorted_items);
        found.candidate |= has_repeat(&columns[number].codes.numbers[before..], scratch);
    }
    Some(at + 1)
}
