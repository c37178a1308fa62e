//! What spelling does not change in a name: case, quote marks, blanks. Of other scripts only characters that Python has
//! said to be as they are; a name with any other one goes to Python.

/// The characters beyond ASCII that Unicode forms, case and white space leave as they are.
pub struct Spelling {
    plain: Vec<(char, char)>,
}

/// Each byte in lower case; of blanks and quote marks a blank.
const LOWERED: [u8; 256] = {
    let (mut lowered, mut byte) = ([0; 256], 0_u8);
    loop {
        lowered[byte as usize] = match byte {
            b' ' | b'"' | 9..=13 | 28..=31 => b' ',
            _ => byte.to_ascii_lowercase(),
        };
        if byte == u8::MAX {
            break lowered;
        }
        byte += 1;
    }
};

impl Spelling {
    /// `ranges` are pairs of characters, the first and the last of each range, in order.
    pub fn of(ranges: &str) -> Self {
        let characters: Vec<char> = ranges.chars().collect();
        let mut plain: Vec<_> = characters.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        plain.sort_unstable();
        Self { plain }
    }

    fn is_plain(&self, character: char) -> bool {
        let behind = self.plain.partition_point(|&(first, _)| first <= character);
        behind > 0 && character <= self.plain[behind - 1].1
    }

    /// What remains of a name, in `to`; false where Python must say.
    pub fn reduce(&self, name: &[u8], to: &mut Vec<u8>) -> bool {
        if lower(name, to) {
            return true;
        }
        to.clear();
        if !name.is_ascii()
            && !std::str::from_utf8(name).is_ok_and(|text| text.chars().all(|c| c.is_ascii() || self.is_plain(c)))
        {
            return false;
        }
        to.resize(name.len(), 0);
        let (mut length, mut is_blank_before) = (0, true);
        for &byte in name {
            let lowered = LOWERED[usize::from(byte)];
            let is_blank = lowered == b' ';
            to[length] = lowered;
            length += usize::from(!(is_blank && is_blank_before));
            is_blank_before = is_blank;
        }
        to.truncate(length - usize::from(length > 0 && is_blank_before));
        true
    }
}

const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * EACH;

/// Most names are eight bytes of ASCII or more with single blanks between: these in lower case, in `to`; false of others.
fn lower(name: &[u8], to: &mut Vec<u8>) -> bool {
    to.clear();
    let (Some(end), false) = (name.last_chunk::<8>(), name.first() == Some(&b' ') || name.last() == Some(&b' ')) else {
        return false;
    };
    let (words, rest) = (name.chunks_exact(8), name.len() % 8);
    let mut odd = 0;
    let mut before = 0; // whether the byte before a word is a blank
    for word in words {
        let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
        let blanks = are(word, b' ');
        odd |= is_odd(word) | blanks & (blanks << 8 | before);
        before = blanks >> 56;
        to.extend_from_slice(&lowered(word).to_le_bytes());
    }
    if rest > 0 {
        let word = u64::from_le_bytes(*end); // with what comes before it once more
        let blanks = are(word, b' ');
        odd |= is_odd(word) | blanks & blanks << 8;
        to.extend_from_slice(&lowered(word).to_le_bytes()[8 - rest..]);
    }
    odd & HIGH == 0
}

/// The upper bit of each byte of ASCII that is this one.
#[inline(always)]
fn are(word: u64, byte: u8) -> u64 {
    HIGH.wrapping_sub((word ^ (EACH * u64::from(byte))) & !HIGH) & HIGH
}

/// The upper bit of each byte that is no visible one of ASCII but a blank, or a quote mark.
#[inline(always)]
fn is_odd(word: u64) -> u64 {
    (word | are(word, b'"') | !(word & !HIGH).wrapping_add(0x60 * EACH)) & HIGH
}

#[inline(always)]
fn lowered(word: u64) -> u64 {
    let word = word & !HIGH;
    let from = |first: u8| word.wrapping_add(u64::from(0x80 - first) * EACH);
    word | (from(b'A') & !from(b'Z' + 1) & HIGH) >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lowered_as_byte_by_byte() {
        let spelling = Spelling::of("");
        let (mut quick, mut slow) = (Vec::new(), Vec::new());
        let mut state = 1_u64;
        for _ in 0..200_000 {
            let mut next = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % below
            };
            let length = 8 + next(20);
            let mut name: Vec<_> = (0..length).map(|_| b"Abz[@`{Z9"[next(9) as usize]).collect();
            for _ in 0..next(4) {
                let place = next(length) as usize;
                name[place] = [b' ', b' ', b' ', next(256) as u8][next(4) as usize];
            }
            if lower(&name, &mut quick) {
                // behind what the quick way does not take
                let long: Vec<_> = b"\" ".iter().chain(&name).copied().collect();
                assert!(spelling.reduce(&long, &mut slow));
                assert_eq!(quick, slow, "{name:?}");
            } else {
                let is_plain =
                    |pair: &[u8]| pair != b"  " && pair.iter().all(|b| matches!(b, b' '..=b'~') && *b != b'"');
                let edges = [name[0], name[name.len() - 1]];
                assert!(edges.contains(&b' ') || !name.windows(2).all(is_plain), "{name:?}");
            }
        }
    }

    #[test]
    fn names_are_reduced() {
        let spelling = Spelling::of("\u{e9}\u{ea}\u{4e00}\u{9fff}");
        let mut to = Vec::new();
        for (name, reduced) in [
            ("Spring  Tide", Some("spring tide")),
            (" \"A\" b\t\x1f", Some("a b")),
            ("", Some("")),
            (" ", Some("")),
            ("Caf\u{e9} \u{6f22}", Some("caf\u{e9} \u{6f22}")),
            ("\u{c9}", None),
            ("a\u{301}", None),
            ("\u{a0}", None),
        ] {
            let found = spelling.reduce(name.as_bytes(), &mut to);
            assert_eq!(found.then(|| std::str::from_utf8(&to).unwrap()), reduced, "{name}");
        }
    }
}
