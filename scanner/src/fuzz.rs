//! Damaged lines and damaged declarations: nothing panics, and all ways of looking at bytes find the same.
//!
//! `RAGDATA_FUZZ=1000000 cargo test fuzz` tries that many instead of the usual number.

use crate::columns::{Note, Scanned, ALIKE_WIDTH, NOTE_WIDTH};
use crate::elements::{self, last_comma, Elements};
use crate::isa::Level;
use crate::lines::{scan, Outcome};
use crate::plan::{Plan, ABI};
use crate::rows::{self, Rows};
use crate::sheet::Sheet;

pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit.max(1)
    }

    pub(crate) fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

pub(crate) fn tries(usual: usize) -> usize {
    std::env::var("RAGDATA_FUZZ").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

pub(crate) fn text(blob: &mut Vec<u8>, text: &str) {
    blob.extend((text.len() as u16).to_le_bytes());
    blob.extend(text.as_bytes());
}

/// An integer `id`, a text `text`, a list `ids` of integers, a free object `more` and a number `weight`; with all
/// predicates but those of the whole record, where it is to be said which `by_member` is noted.
fn blob(closed: bool, by_member: bool) -> Vec<u8> {
    let fields = [
        ("id", 1, 7, 1 + 8 + 16),
        ("text", 3, 7, 1 + 8),
        ("ids", 6, 1, 4 + 8),
        ("more", 5, 7, 2),
        ("weight", 2, 7, 16 + 32),
        ("texts", 6, 3, 0),
        ("parts", 6, 5, 0),
        ("key", 3, 7, 8),
        ("text", 3, 7, 8),
        ("score", 2, 7, 0),
        ("count", 1, 7, 0),
        ("is_so", 4, 7, 0),
        ("key", 3, 7, 8),
    ];
    let mut blob =
        [&ABI.to_le_bytes()[..], &7_u64.to_le_bytes(), &u64::MAX.to_le_bytes(), &(fields.len() as u16).to_le_bytes()]
            .concat();
    for (name, kind, below, flags) in fields {
        text(&mut blob, name);
        blob.extend([kind, below, flags]);
        blob.extend((-5.0_f64).to_le_bytes());
        blob.extend(1e9_f64.to_le_bytes());
        blob.extend(0_u16.to_le_bytes());
    }
    blob.push(2);
    for (owner, count, closed) in [(0_u16, 8_u16, closed), (6, 5, false)] {
        blob.extend(owner.to_le_bytes());
        blob.extend(count.to_le_bytes());
        blob.push(u8::from(closed));
        blob.push(0);
        text(&mut blob, if closed { "o" } else { "" });
    }
    let mut predicates = vec![
        (1, 1, 0, " \t\u{3000}"),
        (2, 1, 20, ""),
        (3, 1, 0, " "),
        (4, 1, 0, "\t"),
        (5, 2, 0, ""),
        (6, 0, 0, ""),
        (7, 1, 0, ""),
        (12, 1, 4, ""),
        (13, 1, 0, "tide tables"),
        (14, 4, 0, ""),
        (21, 1, 0, ""),
        (15, 3, 0, ""),
        (16, 3, 0, "b"),
        (17, 3, 0, "_"),
        (18, 3, 1, "a"),
        (19, 3, 2 | 1 << 16, "tide tables"),
        (20, 1, 0, "\u{e0}\u{ff}\u{4e00}\u{9fff}"),
        (23, 5, 0, "abc"),
        (1, 8, 0, " "),
        (26, 8, 10, ""),
        (27, 5, 0, "#\u{3000}"),
    ];
    predicates.retain(|&(kind, ..)| !by_member || !matches!(kind, 6 | 7));
    blob.extend((predicates.len() as u16).to_le_bytes());
    for (kind, field, limit, characters) in predicates {
        blob.push(kind);
        blob.extend((field as u16).to_le_bytes());
        blob.extend((limit as u64).to_le_bytes());
        text(&mut blob, characters);
    }
    relations(&mut blob);
    blob.extend([0, 0, 0, u8::from(by_member)]);
    blob
}

/// One of each kind, and both keys.
fn relations(blob: &mut Vec<u8>) {
    let relations: [(u8, u8, u8, &[u16]); 22] = [
        (0, 0, 0, &[4, 5]),
        (0, 1, 0, &[4, 5, 6]),
        (0, 2, 0, &[4, 5]),
        (0, 3, 0, &[3, 4]),
        (0, 4, 0, &[5, 8]),
        (0, 5, 0, &[5, 8]),
        (0, 6, 0, &[2, 10, 11]),
        (0, 7, 0, &[8]),
        (0, 8, 0, &[5, 8]),
        (0, 9, 0, &[5, 8]),
        (0, 10, 0, &[5, 8]),
        (0, 11, 0, &[5]),
        (0, 12, 0, &[1, 5, 8]),
        (0, 13, 0, &[9]),
        (1, 14, 0, &[10, 10, 9]),
        (1, 15, 1, &[8, 10]),
        (0, 16, 0, &[4]),
        (0, 17, 0, &[11]),
        (0, 18, 0, &[11]),
        (0, 19, 0, &[1, 5]),
        (0, 255, 7, &[1, 5]),
        (1, 255, 12, &[8, 1]),
    ];
    blob.extend((relations.len() as u16).to_le_bytes());
    for (scope, kind, once, fields) in relations {
        blob.extend([scope, kind]);
        if kind >= 254 {
            blob.extend(u16::from(once).to_le_bytes());
        } else {
            blob.push(once);
            blob.extend(0.5_f64.to_le_bytes());
        }
        blob.push(fields.len() as u8);
        for field in fields {
            blob.extend(field.to_le_bytes());
        }
        if kind < 254 {
            text(blob, "");
            blob.extend(u16::MAX.to_le_bytes());
        } else {
            text(blob, "\n");
            text(blob, " ");
        }
    }
}

const LINES: [&str; 6] = [
    "{\"id\": 3, \"text\": \"2 tide\", \"texts\": [\"tide\", \"\\u00e9 abc\"], \"parts\": [{\"text\": \"tide\", \"score\": 0.5, \"count\": 1, \"is_so\": true}, {\"text\": \"\\u00e9 abc\", \"count\": 2, \"is_so\": false, \"z\": {}}]}\n",
    "{\"id\": 12, \"text\": \"tide tables\", \"ids\": [1, 2, 3], \"more\": {\"text\": \"tide tables\", \"a\": [1.5e3, {\"b\": null}]}, \"weight\": 0.5}\n",
    "{\"id\":0,\"text\":\"\\u00e9\\ud83d\\ude00 \u{6f22}\u{5b57}\"}\r\n",
    "{\"text\": \"  \", \"id\": -3, \"ids\": [5,5], \"other\": \"x\"}\n",
    "{\"id\": 123456789012345, \"text\": \"12\", \"weight\": -1e-5, \"more\": null}\n",
    "\n",
];
const PIECES: [&[u8]; 24] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\r",
    b" ",
    b"0",
    b"-",
    b"e9",
    b"null",
    b"1e400",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"9007199254740993",
    b"\"id\":1,",
    b"\x00",
    b"\xe3\x80\x80",
];

fn damaged(random: &mut Random) -> Vec<u8> {
    let mut data = Vec::new();
    for _ in 0..=random.below(4) {
        data.extend(random.of(&LINES).as_bytes());
    }
    for _ in 0..random.below(4) {
        let at = random.below(data.len());
        match random.below(4) {
            0 => data[at] = random.below(256) as u8,
            1 => drop(data.drain(at..(at + random.below(40)).min(data.len()))),
            2 => data.truncate(at),
            _ => drop(data.splice(at..at, random.of(&PIECES).iter().copied())),
        }
        if data.is_empty() {
            break;
        }
    }
    data
}

/// All that was found, and that it is consistent.
pub(crate) fn found(plan: &Plan, block: &mut Scanned, data: &[u8], level: Level) -> Option<Vec<Vec<u64>>> {
    if scan(plan, block, data, level) == Outcome::LoneReturn {
        return None;
    }
    let [rows, lines, lf, _, _, crlf, ..] = block.summary;
    assert!(rows <= lines && lines <= lf + crlf + 1);
    for note in block.notes.chunks_exact(NOTE_WIDTH) {
        assert!(note[3] <= note[4] && note[4] <= data.len() as u64 && note[2] < lines);
        assert!(note[1] < rows || note[0] == Note::Blank as u64);
    }
    for (column, field) in block.columns.iter().zip(&plan.fields) {
        assert_eq!(
            column.codes.numbers.len() / column.codes.width,
            if column.is_list { column.owners.len() } else { rows as usize * usize::from(field.key) }
        );
        assert_eq!(column.spelled.numbers.len() / 2, rows as usize * usize::from(field.spelling.is_some()));
        assert!(column.odd.chunks_exact(3).all(|odd| odd[0] < rows && odd[1] < odd[2] && odd[2] <= data.len() as u64));
        assert!(column.owners.is_sorted() && column.owners.iter().chain(&column.missing).all(|&row| row < rows));
    }
    // what is counted beyond a bound may be there several times in a row
    let are_sums = plan.scopes.iter().flat_map(|scope| &scope.relations).any(|relation| relation.counted.is_some());
    assert!(block.tallies.len() == plan.tallies && (are_sums || block.tallies.iter().all(|&count| count <= rows)));
    let columns = block
        .columns
        .iter()
        .flat_map(|c| [&c.codes.numbers, &c.missing, &c.owners, &c.spelled.numbers, &c.odd])
        .cloned();
    assert!(block.alike.chunks_exact(ALIKE_WIDTH).all(|alike| alike[0] < rows && alike[1] != 0));
    let block_wide = [block.summary.to_vec(), block.notes.clone(), block.tallies.clone(), block.alike.clone()];
    Some(block_wide.into_iter().chain(columns).collect())
}

#[test]
fn fuzz_members() {
    let by_member = Plan::parse(&blob(false, true)).unwrap();
    let mut plain = Plan::parse(&blob(false, true)).unwrap();
    plain.by_member = false;
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let (mut block, mut other) = (Scanned::new(), Scanned::new());
    for _ in 0..tries(30_000) {
        let data = damaged(&mut random);
        if found(&by_member, &mut block, &data, Level::best()).is_none() {
            continue;
        }
        scan(&plain, &mut other, &data, Level::best());
        let notes = [&block, &other].map(|block| block.notes.chunks_exact(NOTE_WIDTH));
        assert!(notes.iter().all(|notes| notes.len() == block.notes.len() / NOTE_WIDTH));
        let [ours, theirs] = notes;
        for (note, one) in ours.zip(theirs) {
            assert_eq!(note[1..], one[1..]); // whatever is noted is noted, and what was refused may have keys now
            assert!(note[0] == one[0] || one[0] == Note::Refused as u64);
        }
        let rows = |block: &Scanned| block.alike.chunks_exact(ALIKE_WIDTH).map(|alike| alike[0]).collect::<Vec<_>>();
        assert_eq!(rows(&block), rows(&other), "{:?}", String::from_utf8_lossy(&data));
    }
}

#[test]
fn fuzz_lines() {
    let plans = [(false, false), (true, false), (false, true), (true, true)]
        .map(|(closed, by_member)| Plan::parse(&blob(closed, by_member)).unwrap());
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut block = Scanned::new();
    for _ in 0..tries(30_000) {
        let data = damaged(&mut random);
        let plan = random.of(&plans);
        let quick = found(plan, &mut block, &data, Level::best());
        assert_eq!(found(plan, &mut block, &data, Level::Portable), quick, "{:?}", String::from_utf8_lossy(&data));
    }
}

/// All that was found in elements, and that it is consistent.
pub(crate) fn found_elements(
    plan: &Plan,
    block: &mut Scanned,
    data: &[u8],
    members: Elements,
    level: Level,
) -> Vec<Vec<u64>> {
    let done = elements::scan(plan, block, data, members, level);
    let [rows, last, ..] = block.summary;
    assert!(done <= data.len() && last <= done as u64);
    for note in block.notes.chunks_exact(NOTE_WIDTH) {
        assert!(note[1] < rows && note[3] < note[4] && note[4] <= done as u64);
        assert_eq!(note[2], data[..note[3] as usize].split(|&byte| byte == b'\n').count() as u64 - 1);
    }
    for (column, field) in block.columns.iter().zip(&plan.fields) {
        let expected = if column.is_list { column.owners.len() } else { rows as usize * usize::from(field.key) };
        assert_eq!(column.codes.numbers.len() / column.codes.width, expected);
        assert_eq!(column.spelled.numbers.len() / 2, rows as usize * usize::from(field.spelling.is_some()));
        assert!(column.owners.iter().chain(&column.missing).all(|&row| row < rows));
    }
    let columns = block
        .columns
        .iter()
        .flat_map(|c| [&c.codes.numbers, &c.missing, &c.owners, &c.spelled.numbers, &c.odd])
        .cloned();
    [block.summary.to_vec(), block.notes.clone(), block.tallies.clone()].into_iter().chain(columns).collect()
}

#[test]
fn fuzz_elements() {
    let plans = [false, true].map(|by_member| Plan::parse(&blob(false, by_member)).unwrap());
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let mut block = Scanned::new();
    for _ in 0..tries(30_000) {
        let mut data = damaged(&mut random);
        for byte in &mut data {
            if *byte == b'\n' && random.below(8) > 0 {
                *byte = b',';
            }
        }
        assert_eq!(last_comma(&data, Level::best()), last_comma(&data, Level::Portable));
        let plan = random.of(&plans);
        let quick = found_elements(plan, &mut block, &data, Elements::Values, Level::best());
        let portable = found_elements(plan, &mut block, &data, Elements::Values, Level::Portable);
        assert_eq!(portable, quick, "{:?}", String::from_utf8_lossy(&data));
    }
}

#[test]
fn fuzz_declarations() {
    let whole = blob(false, true);
    let mut random = Random(88_172_645_463_325_252);
    let mut block = Scanned::new();
    for _ in 0..tries(30_000) {
        let mut blob = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(blob.len());
            blob[at] = random.below(256) as u8;
        }
        blob.truncate(blob.len() - random.below(2) * random.below(blob.len()));
        if let Some(plan) = Plan::parse(&blob) {
            block = Scanned::new();
            scan(&plan, &mut block, &damaged(&mut random), Level::best());
        }
    }
    assert!(block.summary.len() == 8);
}

/// Three columns: names whose spelling and type are wanted, types of which each is wanted once, dicts.
fn sheet_blob() -> Vec<u8> {
    let mut blob =
        [&ABI.to_le_bytes()[..], &7_u64.to_le_bytes(), &u64::MAX.to_le_bytes(), &3_u16.to_le_bytes()].concat();
    text(&mut blob, " \t\u{3000}");
    text(&mut blob, "\u{e0}\u{ff}");
    blob.extend(3_u16.to_le_bytes());
    for (place, flags) in [(0_u16, 47_u16), (1, 17), (2, 0)] {
        blob.extend(place.to_le_bytes());
        blob.extend(flags.to_le_bytes());
    }
    blob.extend([2, 0, 1, 1, 0]);
    text(&mut blob, "document");
    blob
}

const CELLS: [&str; 14] = [
    "tide",
    "\u{e9} x",
    "",
    "7",
    "-1.5e3",
    "nan",
    "\"a,b\"",
    "\"a\"\"b\"",
    "\"a\nb\"",
    "document",
    "{}",
    "{'a': 'b'}",
    "\"{\"\"content\"\": 1}\"",
    " x ",
];

fn damaged_table(random: &mut Random) -> Vec<u8> {
    let mut data = Vec::new();
    for _ in 0..random.below(6) {
        for place in 0..if random.below(9) == 0 { random.below(5) } else { 3 } {
            data.extend(if place > 0 { &b","[..] } else { b"" });
            data.extend(random.of(&CELLS).as_bytes());
        }
        data.extend(random.of(&["\n", "\n", "\r\n", "\r", "\n\n"]).as_bytes());
    }
    for _ in 0..random.below(3) {
        let at = random.below(data.len() + 1);
        data.splice(at..at, random.of(&["\"", ",", "\0", "\n", "\r", " ", "\u{feff}", "'", "{"]).bytes());
    }
    if random.below(9) == 0 && !data.is_empty() {
        let at = random.below(data.len());
        data[at] = random.below(256) as u8;
    }
    data
}

#[test]
fn fuzz_tables() {
    let whole = sheet_blob();
    let sheet = Sheet::parse(&whole).unwrap();
    let mut random = Random(0xA076_1D64_78BD_642F);
    let mut rows = [Rows::default(), Rows::default()];
    for number in 0..tries(30_000) {
        let data = damaged_table(&mut random);
        for (level, into) in [Level::best(), Level::Portable].into_iter().zip(&mut rows) {
            rows::scan(&sheet, into, &data, level);
            let count = into.summary[0] as usize;
            for (cells, column) in into.cells.iter().zip(&sheet.columns) {
                assert_eq!(cells.codes.numbers.len(), 2 * count * usize::from(column.key));
                assert_eq!(cells.spelled.numbers.len(), 2 * count * usize::from(column.spelled));
                assert_eq!(cells.numbers.len(), count * usize::from(column.distinct));
            }
            assert!(into
                .notes
                .chunks_exact(NOTE_WIDTH)
                .all(|note| note[1] < count as u64 && note[4] <= data.len() as u64));
        }
        let [quick, portable] = &rows;
        assert_eq!((&quick.notes, quick.summary), (&portable.notes, portable.summary));
        for (one, other) in quick.cells.iter().zip(&portable.cells) {
            assert_eq!((&one.codes.numbers, &one.texts.ends), (&other.codes.numbers, &other.texts.ends));
        }
        let mut blob = whole.clone();
        let at = random.below(blob.len());
        blob[at] = random.below(256) as u8;
        if let Some(other) = Sheet::parse(&blob[..blob.len() - random.below(2) * number % 9]) {
            rows::scan(&other, &mut Rows::default(), &data, Level::best());
        }
    }
}
