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

#[cfg(test)]
mod tests {
    use super::*;

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
