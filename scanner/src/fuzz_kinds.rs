//! Damaged records of kinds that have a way of their own: numbered members, lists of values, elements between tags, and
//! what is counted and digested of objects in records. As in `fuzz.rs`.

use crate::columns::{Scanned, NOTE_WIDTH};
use crate::elements::Elements;
use crate::facts::Facts;
use crate::fuzz::{found, found_elements, text, tries, Random};
use crate::isa::Level;
use crate::plan::{Plan, ABI};
use crate::tagged;

/// Name, type, type of what is in it, flags.
type Declared<'a> = (&'a str, u8, u8, u8);
/// Owner, number of fields, whether it is a list of the values.
type Owned = (u16, u16, bool);
/// Kind, field, number, text.
type Asked<'a> = (u8, u16, u64, &'a str);
/// Object, kind, count, fields, text, the field without which it is asked.
type Related<'a> = (u8, u8, u8, &'a [u16], &'a str, u16);

fn blob(fields: &[Declared], scopes: &[Owned], asked: &[Asked], relations: &[Related], tags: &[&str]) -> Vec<u8> {
    let mut blob =
        [&ABI.to_le_bytes()[..], &7_u64.to_le_bytes(), &u64::MAX.to_le_bytes(), &(fields.len() as u16).to_le_bytes()]
            .concat();
    for (name, kind, below, flags) in fields {
        text(&mut blob, name);
        blob.extend([*kind, *below, *flags]);
        blob.extend([0; 18]); // no limits, and no texts that alone are allowed
    }
    blob.push(scopes.len() as u8);
    for (owner, count, is_row) in scopes {
        blob.extend(owner.to_le_bytes());
        blob.extend(count.to_le_bytes());
        blob.extend([0, u8::from(*is_row)]);
        text(&mut blob, "");
    }
    blob.extend((asked.len() as u16).to_le_bytes());
    for (kind, field, number, characters) in asked {
        blob.push(*kind);
        blob.extend(field.to_le_bytes());
        blob.extend(number.to_le_bytes());
        text(&mut blob, characters);
    }
    blob.extend((relations.len() as u16).to_le_bytes());
    for (scope, kind, count, of, words, unless) in relations {
        blob.extend([*scope, *kind]);
        if *kind >= 254 {
            blob.extend(unless.to_le_bytes()); // the key
        } else {
            blob.push(*count);
            blob.extend(0.5_f64.to_le_bytes());
        }
        blob.push(of.len() as u8);
        for field in *of {
            blob.extend(field.to_le_bytes());
        }
        text(&mut blob, words);
        if *kind >= 254 {
            text(&mut blob, " ");
        } else {
            blob.extend(unless.to_le_bytes());
        }
    }
    blob.extend([0, 0, tags.len() as u8]);
    for tag in tags {
        text(&mut blob, tag);
    }
    blob.push(0);
    blob
}

/// Scores of a teacher.
fn numbered() -> Vec<u8> {
    let fields = [("qid", 1, 7, 1 + 8), ("scores", 5, 2, 1), ("@doc_ids", 6, 1, 8), ("@scores", 6, 2, 8)];
    blob(&fields, &[(0, 4, false)], &[(29, 1, 2 | 3 << 16, "")], &[], &[])
}

/// Results of an extraction, and questions with titled contexts.
fn rows() -> Vec<u8> {
    let fields = [
        ("idx", 3, 7, 0),
        ("passage", 3, 7, 1 + 8),
        ("entities", 6, 3, 0),
        ("triples", 6, 7, 0),
        ("facts", 6, 7, 0),
        ("context", 6, 7, 0),
        ("_id", 7, 7, 0),
        ("id", 7, 7, 0),
        ("@id", 3, 7, 8),
        ("0", 3, 7, 1),
        ("1", 3, 7, 1),
        ("2", 3, 7, 1),
        ("title", 3, 7, 1),
        ("sentence", 1, 7, 1),
        ("title", 3, 7, 1),
        ("sentences", 6, 3, 1),
        ("@passage", 3, 7, 8),
    ];
    let scopes = [(0, 9, false), (3, 3, true), (4, 2, true), (5, 3, true)];
    let asked =
        [(31, 1, 0, ""), (32, 1, 0, ""), (33, 1, 0, "error:"), (33, 1, 1, "re"), (23, 9, 0, "aei7"), (30, 0, 0, "")];
    let none = u16::MAX;
    let relations: [Related; 9] = [
        (0, 20, 0, &[0, 1], "chunk-", none),
        (0, 22, 0, &[9, 10, 11], "", none),
        (1, 21, 0, &[9, 11], "", none),
        (0, 24, 1, &[9, 11, 2], "", none),
        (0, 23, 0, &[12, 13, 14, 15], "", none),
        (0, 7, 0, &[14], "", 4),
        (0, 0, 0, &[4, 5], "", none),
        (0, 254, 0, &[7, 6], "", 8),
        (3, 255, 0, &[14, 15], "\n", 16),
    ];
    blob(&fields, &scopes, &asked, &relations, &[])
}

/// Documents between tags.
fn tags() -> Vec<u8> {
    let fields = [("docno", 3, 7, 1 + 8), ("title", 3, 7, 0), ("text", 3, 7, 1), ("<rest>", 3, 7, 0)];
    blob(&fields, &[(0, 4, false)], &[(30, 0, 0, ""), (1, 2, 0, " \t\u{3000}")], &[], &["doc", "top"])
}

const LINES: [&str; 6] = [
    "{\"qid\": 3, \"scores\": {\"1\": 0.5, \"-7\": 1e3, \"12\": -0.0}}\n",
    "{\"qid\": 4, \"scores\": {\"1\": 2, \"7\": 2.0}}\n",
    "{\"idx\": \"chunk-0cc175b9c0f1b6a831c399e269772661\", \"passage\": \"a\", \"entities\": [\"Reef\", \"\\u00e9 1\"], \"triples\": [[\"Reef\", \"is\", \"\u{e9} 1\"], [\"Reef\", \"has\", \"7\"]]}\n",
    "{\"_id\": \"q\", \"passage\": \"reef, the\", \"facts\": [[\"Reef\", 1]], \"context\": [[\"Reef\", [\"a\", \"b\"]], [\"Pier\", []]]}\r\n",
    "{\"id\": 7, \"passage\": \"Error: x\", \"triples\": [[\"a\", \"b\", \"A!\"], [\"a\", \"b\", \"A!\"]], \"context\": []}\n",
    "\n",
];
const DOCUMENTS: [&str; 6] = [
    "<doc><docno>d&#52;</docno><text>&lt;\r\n&#x6f22; &#1234567; &apos</text><date>1 &gt;</date></doc>\r\n",
    "<DOC>\n<DOCNO> d1 </DOCNO>\n<TITLE>Reef</TITLE>\n<TEXT>a &amp; <P>b</P>\n</TEXT>\n</DOC>\n",
    "<doc><docno>d2</docno><text>\u{6f22}</Text ></doc >\n",
    "<TOP><num> Number: 3 <title> x </TOP>",
    "<DOC id=\"1\"><DOCNO>d 3</DOCNO></DOC>",
    "x </DOC> <DOCS> &#32; ",
];
const PIECES: [&[u8]; 28] = [
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
    b"\xff",
    b"\xc3",
    b"\\u00e9",
    b"\"1\": 1, ",
    b"<",
    b">",
    b"</",
    b"<DOC>",
    b"</DOC>",
    b"</text>",
    b"&",
    b"\xe2\x84\xaa",
    b"[\"Reef\", 0],",
];

fn damaged(random: &mut Random, lines: &[&str]) -> Vec<u8> {
    let mut data = Vec::new();
    for _ in 0..=random.below(4) {
        data.extend(random.of(lines).as_bytes());
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

#[test]
fn fuzz_kinds_of_lines() {
    let plans = [numbered(), rows()].map(|blob| Plan::parse(&blob).unwrap());
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut blocks = [Scanned::new(), Scanned::new()];
    for _ in 0..tries(30_000) {
        let mut data = damaged(&mut random, &LINES);
        let number = random.below(2);
        let (plan, block) = (&plans[number], &mut blocks[number]);
        let quick = found(plan, block, &data, Level::best());
        assert_eq!(found(plan, block, &data, Level::Portable), quick, "{:?}", String::from_utf8_lossy(&data));
        for byte in &mut data {
            if *byte == b'\n' && random.below(8) > 0 {
                *byte = b',';
            }
        }
        let quick = found_elements(plan, block, &data, Elements::Values, Level::best());
        assert_eq!(found_elements(plan, block, &data, Elements::Values, Level::Portable), quick);
    }
}

#[test]
fn sound_lines_are_proved() {
    let plan = Plan::parse(&numbered()).unwrap();
    let mut block = Scanned::new();
    found(&plan, &mut block, LINES[0].as_bytes(), Level::best());
    assert_eq!((block.rows, block.notes.len(), block.columns[2].owners.len()), (1, 0, 3));
    let plan = Plan::parse(&rows()).unwrap();
    found(&plan, &mut block, LINES[3].as_bytes(), Level::best());
    assert_eq!((block.rows, block.columns[8].missing.len(), block.columns[16].owners.len()), (1, 0, 2));
}

#[test]
fn fuzz_tagged() {
    let mut plans = [Plan::parse(&tags()).unwrap(), Plan::parse(&tags()).unwrap()];
    assert!(plans[1].keep(3) && plans[1].keep(1) && plans[1].make_facts(2));
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let mut block = Scanned::new();
    block.facts.chosen.step = 2;
    for _ in 0..tries(30_000) {
        let data = damaged(&mut random, &DOCUMENTS);
        let plan = random.of(&plans);
        let [quick, portable] = [Level::best(), Level::Portable].map(|level| {
            let done = tagged::scan(plan, &mut block, &data, level);
            let rows = block.summary[0];
            assert!(done <= data.len());
            for kept in &block.kept {
                assert_eq!((kept.ends.len() as u64, kept.bytes.len() as u64), (rows, *kept.ends.last().unwrap_or(&0)));
            }
            for note in block.notes.chunks_exact(NOTE_WIDTH) {
                assert!(note[1] < rows && note[3] < note[4] && note[4] <= done as u64);
                assert_eq!(note[2], data[..note[3] as usize].split(|&byte| byte == b'\n').count() as u64 - 1);
            }
            assert_eq!(block.columns[0].codes.numbers.len() as u64, 2 * rows);
            let kept: Vec<_> = block.kept.iter().map(|kept| (kept.bytes.clone(), kept.missing.clone())).collect();
            let Facts { lengths, codes, starts, sample, .. } = &block.facts;
            if plan.facts.is_some() {
                assert_eq!((lengths.len() as u64, starts.len() as u64), (rows, rows));
                assert!(std::str::from_utf8(sample).is_ok() && starts.is_sorted());
            }
            let facts = (lengths.clone(), codes.clone(), sample.clone());
            (done, block.summary, block.notes.clone(), block.columns[0].codes.numbers.clone(), kept, facts)
        });
        assert_eq!(quick, portable, "{:?}", String::from_utf8_lossy(&data));
    }
}

/// Records with lists of objects that are records of a plan of their own.
fn with_items() -> Plan {
    let fields = [("query", 3, 7, 1), ("found", 6, 5, 4), ("ranked", 6, 5, 0)];
    let items = [("text", 3, 7, 1), ("score", 2, 7, 0), ("metadata", 5, 7, 0), ("<rest>", 3, 7, 0), ("id", 3, 7, 1)];
    let mut plan = Plan::parse(&blob(&fields, &[(0, 3, false)], &[], &[], &[])).unwrap();
    assert!(plan.keep(0) && !plan.take_list(1));
    let items = blob(&items, &[(0, 4, false), (2, 1, false)], &[(8, 2, 0, "")], &[], &[]);
    let of_items = plan.take_items(Plan::parse(&items).unwrap()).unwrap();
    assert!(of_items.keep(0) && of_items.keep(3) && of_items.keep(4) && of_items.make_facts(0));
    assert!(plan.take_list(1) && plan.take_list(2) && !plan.take_list(0) && !plan.take_list(1));
    plan
}

const ITEMS: [&str; 5] = [
    "{\"query\": \"a\", \"found\": [{\"text\": \"b\", \"score\": 1}, {\"text\": \"\\u00e9\", \"page\": [3]}]}\n",
    "{\"ranked\": [ {\"text\": \"c\"} ], \"query\": \"a\", \"found\": [{\"text\": \"\"}]}\n",
    "{\"query\": \"a\", \"found\": [{\"text\": \"d\", \"metadata\": {\"id\": \"7\"}}], \"ranked\": []}\n",
    "{\"query\": \"a\", \"found\": []}\n",
    "{\"query\": \"a\", \"ranked\": [{\"text\": \"e\"}, 3]}\n",
];

#[test]
fn objects_in_lists_are_records_of_their_own() {
    let (plan, mut block) = (with_items(), Scanned::new());
    found(&plan, &mut block, ITEMS.concat().as_bytes(), Level::best());
    let noted: Vec<_> = block.notes.chunks_exact(NOTE_WIDTH).map(|note| (note[0], note[1])).collect();
    assert_eq!(noted, [(1, 2), (0, 3), (0, 4)]);
    let items = block.items.as_ref().unwrap();
    assert_eq!(items.owners, [0, 0, 3, 2, 4, 9]);
    assert_eq!(items.kept[0].bytes, "b\u{e9}cde".as_bytes());
    assert_eq!((&items.kept[1].bytes[..], &items.kept[2].bytes[..]), (&b"{\"page\":[3]}"[..], &b"7"[..]));
    assert_eq!(items.facts.lengths, [1, 1, 1, 0, 1, 1]);
}

#[test]
fn fuzz_objects_in_lists() {
    let (plan, mut block, mut random) = (with_items(), Scanned::new(), Random(0x9E37_79B9_7F4A_7C15));
    for _ in 0..tries(30_000) {
        let data = damaged(&mut random, &ITEMS);
        let all = [Level::best(), Level::Portable].map(|level| {
            let outcome = found(&plan, &mut block, &data, level);
            let items = block.items.as_ref().unwrap();
            let rows = items.owners.len();
            if items.owners.iter().any(|owner| owner / 2 >= block.rows) {
                assert!(data.contains(&b'\r')); // the block was left
            }
            assert!(items.owners.iter().map(|owner| owner / 2).is_sorted() && items.rows == rows as u64);
            for kept in &items.kept {
                assert_eq!((kept.ends.len(), kept.bytes.len() as u64), (rows, *kept.ends.last().unwrap_or(&0)));
            }
            assert_eq!((items.facts.lengths.len(), items.facts.codes.len()), (rows, 2 * rows));
            let kept: Vec<_> = items.kept.iter().map(|kept| (kept.bytes.clone(), kept.missing.clone())).collect();
            (outcome, items.owners.clone(), kept, items.facts.codes.clone())
        });
        assert_eq!(all[0], all[1], "{:?}", String::from_utf8_lossy(&data));
    }
}

#[test]
fn texts_between_tags_are_kept_as_they_are_meant() {
    let mut plan = Plan::parse(&tags()).unwrap();
    assert!(plan.keep(2) && plan.keep(3) && plan.keep(1));
    let mut block = Scanned::new();
    let texts = [
        ("a\r\n\rb\r", "a\n\nb"),
        ("&amp;lt; &lt;&gt;&quot;&apos;", "&lt; <>\"'"),
        ("&#38;#38; &#x26;&#x1F600;", "&#38; &\u{1f600}"),
        (
            "&#0; &#xD800; &#1114112; &#00000065; &#x; &#; &AMP; &amp",
            "\0 &#xD800; &#1114112; &#00000065; &#x; &#; &AMP; &amp",
        ),
        ("&#13;&#32;", "\r "),
    ];
    for (raw, meant) in texts {
        let data = format!("<doc><docno>d</docno><date>1</date><text> {raw}\n</text><p>&amp;</p></doc>");
        tagged::scan(&plan, &mut block, data.as_bytes(), Level::best());
        let [text, rest, title] = &block.kept[..] else { panic!() };
        assert_eq!(String::from_utf8_lossy(&text.bytes), meant);
        assert_eq!((&rest.bytes[..], &title.missing[..]), (&b"<date>1</date><p>&amp;</p>"[..], &[0][..]));
    }
    for odd in ["<text>&#\u{661};", "<text></text><text>", "<text>\u{ff}</text><title>a</title><title>"] {
        let name = if odd.ends_with("title>") { "title" } else { "text" };
        let data = format!("<doc><docno>d</docno>{odd}</{name}></doc>");
        tagged::scan(&plan, &mut block, data.as_bytes(), Level::best());
        assert_eq!((block.notes[0], &block.kept[0].missing[..]), (0, &[0][..]));
    }
}

#[test]
fn fuzz_declarations_of_kinds() {
    let wholes = [numbered(), rows(), tags()];
    let mut random = Random(88_172_645_463_325_252);
    for _ in 0..tries(30_000) {
        let mut blob = random.of(&wholes).clone();
        for _ in 0..=random.below(3) {
            let at = random.below(blob.len());
            blob[at] = random.below(256) as u8;
        }
        blob.truncate(blob.len() - random.below(2) * random.below(blob.len()));
        if let Some(plan) = Plan::parse(&blob) {
            let mut block = Scanned::new();
            let data = damaged(&mut random, if plan.tags.is_empty() { &LINES } else { &DOCUMENTS });
            if plan.tags.is_empty() {
                found(&plan, &mut block, &data, Level::best());
            } else {
                tagged::scan(&plan, &mut block, &data, Level::best());
            }
        }
    }
}
