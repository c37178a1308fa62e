//! Numbers of texts: their characters, their tokens and the script that most of their letters are of.

/// What a character is, in the table that Python gives: its script (0: no letter), and these.
const SCRIPT: u8 = 0x1F;
const IN_WORD: u8 = 0x20;
const ALONE: u8 = 0x40;
/// A character that Python has not said anything of yet.
const UNKNOWN: u8 = 0xFF;
const SCRIPTS: usize = SCRIPT as usize + 1;

/// What is counted, and how.
pub struct Counting<'a> {
    /// What each character is, by its number; the last is for all behind.
    pub kinds: &'a [u8],
    /// Characters of a word that count as one token at most.
    pub longest: u64,
    /// The same of ASCII alone.
    pub ascii: Option<Ascii<'a>>,
    /// The script that Han characters count with, where it occurs, and theirs.
    pub kana: usize,
    pub han: usize,
}

/// What ASCII characters are, where all are known and their letters are of one script.
#[derive(Clone, Copy)]
pub struct Ascii<'a> {
    kinds: &'a [u8; 128],
    script: usize,
}

impl<'a> Ascii<'a> {
    /// Those of a table of all characters.
    #[must_use]
    pub fn of(kinds: &'a [u8]) -> Option<Self> {
        let kinds = kinds.first_chunk::<128>()?;
        let script = kinds.iter().map(|kind| kind & SCRIPT).max()?;
        let is_plain = |&kind: &u8| {
            let own = kind & SCRIPT;
            kind != UNKNOWN && (own == 0 || own == script) && kind & (IN_WORD | ALONE) != IN_WORD | ALONE
        };
        kinds.iter().all(is_plain).then_some(Self { kinds, script: script.into() })
    }

    /// Of eight characters how many tokens begin, how many are letters, and how long the last word is, which was `run`
    /// before; none where not all are ASCII, or a word is too long for one token.
    #[inline(always)]
    fn of_group(&self, group: [u8; 8], run: u64, longest: u64) -> Option<(i64, u64, u64)> {
        if u64::from_le_bytes(group) & (EACH << 7) != 0 {
            return None;
        }
        let kinds = u64::from_le_bytes(group.map(|byte| self.kinds[usize::from(byte & 0x7F)]));
        let words = kinds >> IN_WORD.trailing_zeros() & EACH;
        let others = words ^ EACH;
        if longest <= 8 || run + u64::from(others.trailing_zeros() / 8) >= longest {
            return None;
        }
        let begin = words & !(words << 8 | u64::from(run > 0)) | kinds >> ALONE.trailing_zeros() & EACH;
        let letters = sum(kinds >> self.script.trailing_zeros() & EACH);
        let last = if others == 0 { run + 8 } else { u64::from(others.leading_zeros() / 8) };
        Some((sum(begin) as i64, letters, last))
    }
}

/// One in each of eight bytes.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The sum of eight small bytes.
#[inline(always)]
fn sum(bytes: u64) -> u64 {
    bytes.wrapping_mul(EACH) >> 56
}

/// The tokens of a text, and its script; the character of which nothing is known, where there is one.
pub fn count(counting: &Counting, text: &str) -> Result<(i64, u8), u32> {
    let mut scripts = [0_u64; SCRIPTS];
    let (mut tokens, mut run) = (0, 0_u64);
    let (mut script, mut letters) = (0, 0); // the last letter's script, and how many are in a row
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(ascii) = counting.ascii {
            let mut of_ascii = 0_u64;
            while let Some(&byte) = bytes.get(at).filter(|byte| byte.is_ascii()) {
                if let Some(group) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
                    if let Some((begun, letters, last)) = ascii.of_group(*group, run, counting.longest) {
                        tokens += begun;
                        of_ascii = of_ascii.wrapping_add(letters);
                        run = last;
                        at += group.len();
                        continue;
                    }
                }
                let kind = ascii.kinds[usize::from(byte)];
                let in_word = kind & IN_WORD != 0;
                tokens += i64::from(kind & ALONE != 0 || (in_word && run == 0));
                of_ascii = of_ascii.wrapping_add(u64::from(kind & SCRIPT != 0));
                let next = run.wrapping_add(1);
                run = if in_word && next != counting.longest { next } else { 0 };
                at += 1;
            }
            scripts[ascii.script] += of_ascii;
            if at == bytes.len() {
                break;
            }
        }
        let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
        at += character.len_utf8();
        let code = u32::from(character);
        let kind = counting.kinds[(code as usize).min(counting.kinds.len() - 1)];
        if kind == UNKNOWN {
            return Err(code);
        }
        let own = kind & SCRIPT;
        if own != 0 && own != script {
            scripts[usize::from(script)] += letters;
            (script, letters) = (own, 0);
        }
        letters += u64::from(own != 0);
        if kind & IN_WORD != 0 {
            tokens += i64::from(run == 0);
            run = if run + 1 == counting.longest { 0 } else { run + 1 };
        } else {
            tokens += i64::from(kind & ALONE != 0);
            run = 0;
        }
    }
    scripts[usize::from(script)] += letters;
    scripts[0] = 0;
    if scripts[counting.kana] > 0 {
        scripts[counting.kana] += scripts[counting.han];
    }
    let mut most = 0;
    for (script, &letters) in scripts.iter().enumerate() {
        if letters > scripts[most] {
            most = script;
        }
    }
    Ok((tokens, most as u8))
}

/// The characters of a text: the bytes that do not go on with one.
#[must_use]
#[inline(always)]
pub fn characters(text: &[u8]) -> u64 {
    let begins = |count: u8, &byte: &u8| count.wrapping_add(u8::from(byte & 0xC0 != 0x80));
    text.chunks(usize::from(u8::MAX)).map(|some| u64::from(some.iter().fold(0, begins))).sum()
}

/// Whether a text has nothing but blanks, tabs and line ends.
#[must_use]
pub fn is_empty(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_those_of_the_text() {
        for text in ["", "a", "é", "a\u{100}\u{1F600}", &"aé漢😀".repeat(500)] {
            assert_eq!(characters(text.as_bytes()), text.chars().count() as u64);
        }
        assert!(is_empty(b"") && is_empty(b" \t\r\n"));
        assert!(!is_empty(b"\x0b") && !is_empty(b"  a"));
    }

    const HAN: u8 = 14;
    const KANA: u8 = 15;

    fn kinds() -> Vec<u8> {
        let mut kinds = vec![UNKNOWN; 258];
        kinds[..0x80].fill(ALONE);
        kinds[usize::from(b' ')] = 0;
        kinds[usize::from(b'a')..=usize::from(b'z')].fill(IN_WORD | 1);
        kinds[0xE9] = IN_WORD | 1;
        kinds[0x100] = ALONE | HAN;
        kinds[0x101] = ALONE | KANA;
        kinds
    }

    fn of(text: &str) -> Result<(i64, u8), u32> {
        let kinds = kinds();
        let counting = |ascii| Counting { kinds: &kinds, longest: 4, ascii, kana: KANA.into(), han: HAN.into() };
        let found = count(&counting(Ascii::of(&kinds)), text);
        assert_eq!(found, count(&counting(None), text));
        found
    }

    #[test]
    fn words_are_cut_and_signs_are_tokens() {
        assert_eq!(of(""), Ok((0, 0)));
        assert_eq!(of("ab, cd!"), Ok((4, 1)));
        assert_eq!(of("abcdefghi abcdé abcéd eé"), Ok((3 + 2 + 2 + 1, 1)));
        assert_eq!(of("abcd abcde"), Ok((3, 1)));
        assert_eq!(of("é"), Ok((1, 1)));
        assert_eq!(of("?!"), Ok((2, 0)));
    }

    #[test]
    fn most_letters_say_the_script() {
        assert_eq!(of("a\u{100}"), Ok((2, 1)));
        assert_eq!(of("a\u{100}\u{100}"), Ok((3, 14)));
        assert_eq!(of("a\u{100}\u{101}"), Ok((3, 15)));
        assert_eq!(of("a\u{2000}\u{2001}"), Ok((3, 15))); // all behind are as the last one
    }

    #[test]
    fn a_character_that_is_not_known_is_named() {
        assert_eq!(of("abc\u{e8}"), Err(0xE8));
    }
}
