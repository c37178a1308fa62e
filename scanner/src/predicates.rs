//! Which values a rule may want to see. Each is a superset: the check in Python decides, and alone words what it finds.

/// One question about a value; where the answer is yes, the line is a candidate.
pub enum Predicate {
    /// A text of nothing but these characters (empty ones, too).
    Blank(Characters),
    /// A text of more bytes, as they stand in the file.
    Longer(usize),
    /// An empty text, or one that begins or ends with one of these characters.
    Edged(Characters),
    /// A text that holds one of these characters, all of them ASCII.
    Holds([bool; 256]),
    /// A text that holds none of these characters, all of them ASCII.
    Lacks([bool; 256]),
    /// A text without a piece between full stops, question and exclamation marks and line feeds that has more than so
    /// many characters from its first to its last plain one.
    NoSentence(usize),
    /// A text that begins with one of these characters.
    Begins(Characters),
    /// A value that is there, and not null.
    Given,
    /// A text of fewer characters.
    Shorter(usize),
    /// Any other text.
    Unequal(Vec<u8>),
    /// An empty text, or one with another character than the visible ones of ASCII.
    NotVisible,
    /// A text with an ASCII mark between letters or digits.
    MarkInside,
    /// A text of nothing but articles, ASCII marks and blanks.
    Vacuous,
    /// A text that begins so, in whatever case; or (false) one that does not.
    Starts(Vec<u8>, bool),
    /// A text with four times as many characters beyond ASCII as ASCII letters, or more.
    FewLetters,
    /// A list in which an item stands twice.
    ItemTwice,
}

/// A set of characters.
pub struct Characters {
    sorted: Vec<char>,
    first: [bool; 256],
    last: [bool; 256],
}

impl Characters {
    /// A text without those at its ends.
    #[inline(always)]
    pub fn strip<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        match (bytes.first(), bytes.last()) {
            (Some(&first), Some(&last)) if self.first[usize::from(first)] || self.last[usize::from(last)] => {
                std::str::from_utf8(bytes).map_or(bytes, |text| text.trim_matches(|c| self.has(c)).as_bytes())
            }
            _ => bytes,
        }
    }

    pub fn of(characters: &str) -> Self {
        let mut sorted: Vec<char> = characters.chars().collect();
        sorted.sort_unstable();
        sorted.dedup();
        let (mut first, mut last) = ([false; 256], [false; 256]);
        for character in &sorted {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            first[usize::from(bytes[0])] = true;
            last[usize::from(bytes[bytes.len() - 1])] = true;
        }
        Self { sorted, first, last }
    }

    fn has(&self, character: char) -> bool {
        self.sorted.binary_search(&character).is_ok()
    }
}

/// What is asked of the texts of one field. Most texts are told by their length and their first and last byte.
pub struct Questions {
    each: Vec<Predicate>,
    /// By byte, bits of the texts of which a question may say yes: 1 where they begin with it, 2 where they end.
    edges: [u8; 256],
    /// Shorter ones may be such texts, too, and longer ones.
    least: usize,
    most: usize,
}

impl Default for Questions {
    fn default() -> Self {
        Self { each: Vec::new(), edges: [0; 256], least: 0, most: usize::MAX }
    }
}

impl Questions {
    /// One more.
    pub fn push(&mut self, asked: Predicate) {
        match &asked {
            Predicate::Longer(limit) => self.most = self.most.min(*limit),
            Predicate::Shorter(limit) => self.least = self.least.max(limit.saturating_mul(4)),
            Predicate::Blank(Characters { first, .. }) | Predicate::Begins(Characters { first, .. }) => {
                self.mark(first, 1);
            }
            Predicate::Edged(Characters { first, last, .. }) => {
                self.mark(first, 1);
                self.mark(last, 2);
            }
            Predicate::ItemTwice => {}
            _ => self.least = usize::MAX,
        }
        self.each.push(asked);
    }

    fn mark(&mut self, bytes: &[bool; 256], bit: u8) {
        for (edge, _) in self.edges.iter_mut().zip(bytes).filter(|(_, &is_one)| is_one) {
            *edge |= bit;
        }
    }

    pub fn each(&self) -> &[Predicate] {
        &self.each
    }

    /// Whether one of them says yes of a text: see `Predicate::of_text`.
    #[inline(always)]
    pub fn of_text(&self, bytes: &[u8], width: usize) -> bool {
        if self.each.is_empty() {
            return false;
        }
        if let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) {
            let (first, last) = (self.edges[usize::from(first)], self.edges[usize::from(last)]);
            if (first & 1 | last & 2) == 0 && bytes.len() >= self.least && width <= self.most {
                return false;
            }
        }
        self.each.iter().any(|predicate| predicate.of_text(bytes, width))
    }
}

impl Predicate {
    pub fn blank(characters: &str) -> Self {
        Self::Blank(Characters::of(characters))
    }

    pub fn edged(characters: &str) -> Self {
        Self::Edged(Characters::of(characters))
    }

    pub fn begins(characters: &str) -> Self {
        Self::Begins(Characters::of(characters))
    }

    pub fn holds(characters: &str) -> Option<Self> {
        ascii_set(characters).map(Self::Holds)
    }

    pub fn lacks(characters: &str) -> Option<Self> {
        ascii_set(characters).map(Self::Lacks)
    }

    /// Of a text: `bytes` as they mean it, `width` how many bytes stand in the file. Bytes that are no UTF-8 are
    /// refused elsewhere, so that it does not matter what is said of them.
    #[inline(always)]
    pub fn of_text(&self, bytes: &[u8], width: usize) -> bool {
        match self {
            Self::Blank(characters) => match bytes.first() {
                Some(&byte) if !characters.first[usize::from(byte)] => false,
                _ => all_of(characters, bytes),
            },
            Self::Longer(limit) => width > *limit,
            Self::Edged(characters) => match (bytes.first(), bytes.last()) {
                (Some(&first), Some(&last))
                    if !characters.first[usize::from(first)] && !characters.last[usize::from(last)] =>
                {
                    false
                }
                _ => edges_of(characters, bytes),
            },
            Self::Lacks(set) => !bytes.iter().any(|&byte| set[usize::from(byte)]),
            Self::Holds(set) => bytes.iter().any(|&byte| set[usize::from(byte)]),
            Self::Shorter(limit) => {
                // a character has 4 bytes at most
                bytes.len() / 4 < *limit && bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() < *limit
            }
            Self::NoSentence(limit) => !has_sentence(bytes, *limit),
            Self::Begins(characters) => bytes.first().is_some_and(|&first| {
                characters.first[usize::from(first)]
                    && std::str::from_utf8(bytes)
                        .map_or(true, |text| text.chars().next().is_some_and(|c| characters.has(c)))
            }),
            Self::NotVisible => bytes.is_empty() || !bytes.iter().all(u8::is_ascii_graphic),
            Self::MarkInside => has_mark_inside(bytes),
            Self::Vacuous => is_vacuous(bytes),
            Self::Starts(text, so) => {
                bytes.get(..text.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(text)) == *so
            }
            Self::FewLetters => !bytes.is_ascii() && has_few_letters(bytes),
            Self::Unequal(text) => bytes != &text[..],
            Self::Given => true,
            Self::ItemTwice => false,
        }
    }
}

fn ascii_set(characters: &str) -> Option<[bool; 256]> {
    let mut set = [false; 256];
    for character in characters.chars() {
        *set.get_mut(character as usize).filter(|_| character.is_ascii())? = true;
    }
    Some(set)
}

#[cold]
fn all_of(characters: &Characters, bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or(true, |text| text.chars().all(|c| characters.has(c)))
}

fn has_sentence(bytes: &[u8], limit: usize) -> bool {
    let mut characters = 0; // from the first plain one of the piece on
    for &byte in bytes {
        if matches!(byte, b'.' | b'!' | b'?' | b'\n') {
            characters = 0;
        } else if byte.is_ascii_graphic() {
            characters += 1;
            if characters > limit {
                return true;
            }
        } else if characters > 0 && byte & 0xC0 != 0x80 {
            characters += 1;
        }
    }
    false
}

fn has_few_letters(bytes: &[u8]) -> bool {
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let others = bytes.iter().filter(|&&byte| byte >= 0xC0).count(); // the first bytes of longer characters
    others >= 4 * letters
}

fn has_mark_inside(bytes: &[u8]) -> bool {
    let (mut behind_word, mut behind_mark) = (false, false);
    for &byte in bytes {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        if behind_mark && is_word {
            return true;
        }
        behind_mark = (behind_word || behind_mark) && byte.is_ascii_punctuation();
        behind_word = is_word;
    }
    false
}

/// Whether no word remains of a text without ASCII marks but articles; a word is what is between blanks.
fn is_vacuous(bytes: &[u8]) -> bool {
    let mut word = [0; 3];
    let mut length = 0;
    for &byte in bytes.iter().chain(b" ") {
        if byte.is_ascii_punctuation() {
            continue;
        }
        if byte.is_ascii_alphanumeric() {
            if length == word.len() {
                return false;
            }
            word[length] = byte.to_ascii_lowercase();
            length += 1;
        } else if matches!(byte, b'\t'..=b'\r' | 0x1C..=b' ') {
            if length > 0 && !matches!(&word[..length], b"a" | b"an" | b"the") {
                return false;
            }
            length = 0;
        } else {
            return byte < 0xC3 || matches!(byte, 0xE1..=0xE3); // these may begin a blank
        }
    }
    true
}

#[cold]
fn edges_of(characters: &Characters, bytes: &[u8]) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| characters.has(c));
    std::str::from_utf8(bytes).map_or(true, |text| is_edge(text.chars().next()) || is_edge(text.chars().next_back()))
}

/// Whether a text is surely not one that Python's `\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*` matches: it holds a
/// character that is no digit of any script, no blank, no sign, point or exponent.
pub fn is_unlike_number(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.chars().any(|c| {
        let plain = matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E' | '\t'..='\r' | '\x1c'..=' ');
        !plain && (c.is_ascii() || !(c.is_numeric() || c.is_whitespace()))
    })
}

/// Whether a code stands twice among them; `scratch` keeps its memory.
pub fn has_repeat(codes: &[u64], scratch: &mut Vec<u64>) -> bool {
    if codes.len() <= 16 {
        return codes.iter().enumerate().any(|(i, code)| codes[..i].contains(code));
    }
    scratch.clear();
    scratch.extend_from_slice(codes);
    scratch.sort_unstable();
    scratch.windows(2).any(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_say_together_what_each_says_alone() {
        let asked: [fn() -> Predicate; 7] = [
            || Predicate::edged(" \u{a0}"),
            || Predicate::blank(" \u{a0}"),
            || Predicate::begins("#\u{3000}"),
            || Predicate::Longer(9),
            || Predicate::Shorter(3),
            || Predicate::Unequal(b"text".to_vec()),
            || Predicate::ItemTwice,
        ];
        let texts = [
            "",
            " ",
            "a",
            "ab",
            "abc",
            "éé",
            "漢字",
            "#a",
            "\u{a0}a",
            "a\u{a0}",
            "b ",
            "text",
            "à la carte",
            " a",
            "十分に長い",
        ];
        for chosen in 0..1 << asked.len() {
            let mut questions = Questions::default();
            asked.iter().enumerate().filter(|(n, _)| chosen >> n & 1 != 0).for_each(|(_, new)| questions.push(new()));
            for text in texts {
                for width in [text.len(), text.len() + 6] {
                    let each = questions.each().iter().any(|one| one.of_text(text.as_bytes(), width));
                    assert_eq!(questions.of_text(text.as_bytes(), width), each, "{text:?}, {chosen:b}");
                }
            }
        }
    }
}
