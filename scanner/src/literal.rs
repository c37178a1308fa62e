//! Cells that hold a dict as Python or JSON writes it, proved harmless: no key twice, no half characters, nothing that
//! Python reads in another way than it looks. What is not proved is for `judge` in `files/containers/python_literals.py`.

/// What a cell is proved to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literal {
    /// `None`, or a dict without keys.
    Bare,
    Dict {
        /// Whether JSON readers refuse it.
        python_only: bool,
        /// Whether its key `content` has a text that is not empty.
        content: bool,
    },
    Doubtful,
}

const DEEPEST: usize = 16;
const MOST_NAMES: usize = 64;
/// Bytes beyond which Python counts the parts of a cell.
const LONGEST: usize = 300_000;

/// What a cell holds; `names` keeps its memory.
pub fn literal(cell: &[u8], names: &mut Vec<(usize, usize)>) -> Literal {
    if cell == b"{}" || cell == b"None" {
        return Literal::Bare;
    }
    if cell.len() > LONGEST || cell.first() != Some(&b'{') {
        return Literal::Doubtful;
    }
    names.clear();
    let mut reader = Reader { cell, at: 0, python_only: false, content: false, names };
    if reader.dict(0).is_some() && reader.at == cell.len() {
        return Literal::Dict { python_only: reader.python_only, content: reader.content };
    }
    Literal::Doubtful
}

/// Write a dict as JSON, which `literal` has proved to be one: without blanks, all else as Python's readers of cells do it
/// (`converters/gfm_rag/attributes.py`). False, with a part written, where these are to do it.
pub fn write_json(dict: &[u8], into: &mut Vec<u8>) -> bool {
    let mut writer = Writer { into, has_single: false, is_respelled: false };
    let mut at = 0;
    while at < dict.len() {
        let rest = &dict[at..];
        let width = match rest[0] {
            b' ' => Some(1),
            b'T' => Some(writer.word(b"true", 4)),
            b'F' => Some(writer.word(b"false", 5)),
            b'N' => Some(writer.word(b"null", 4)),
            b'-' | b'0'..=b'9' => writer.number(rest),
            b'"' | b'\'' => writer.text(rest),
            _ => Some(writer.word(&rest[..1], 1)),
        };
        let Some(width) = width else { return false };
        at += width;
    }
    !(writer.has_single && writer.is_respelled)
}

struct Writer<'a> {
    into: &'a mut Vec<u8>,
    /// Whether there is a text in single quotes: all is then written anew.
    has_single: bool,
    /// Whether there is a number that Python writes in another way.
    is_respelled: bool,
}

const MOST_DIGITS: usize = 15;

impl Writer<'_> {
    fn word(&mut self, word: &[u8], width: usize) -> usize {
        self.into.extend_from_slice(word);
        width
    }

    fn number(&mut self, rest: &[u8]) -> Option<usize> {
        let end = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(rest.len());
        let number = &rest[..end];
        let digits = number.strip_prefix(b"-").unwrap_or(number);
        let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits.len() > MOST_DIGITS || number == b"-0" {
            return None;
        }
        if let Some((b'.', decimals)) = digits[whole..].split_first() {
            let is_shortest = decimals == b"0" || decimals.last() != Some(&b'0');
            let is_small = digits[0] == b'0' && decimals.starts_with(b"0000"); // Python writes an exponent
            self.is_respelled |= !is_shortest || is_small;
        }
        self.into.extend_from_slice(number);
        digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.')).then_some(end)
    }

    fn text(&mut self, rest: &[u8]) -> Option<usize> {
        let quote = rest[0];
        let is_single = quote == b'\'';
        self.has_single |= is_single;
        self.into.push(b'"');
        let mut at = 1;
        loop {
            let piece = rest[at..].iter().position(|&byte| byte == quote || matches!(byte, b'"' | b'\\'))?;
            self.into.extend_from_slice(&rest[at..at + piece]);
            at += piece;
            if rest[at] == quote {
                self.into.push(b'"');
                return Some(at + 1);
            }
            if rest[at] == b'"' {
                self.into.extend_from_slice(b"\\\"");
                at += 1;
                continue;
            }
            match rest.get(at + 1)? {
                b'\'' if is_single => self.into.push(b'\''),
                &escape @ (b'"' | b'\\' | b'n' | b't' | b'r' | b'b' | b'f') => {
                    self.into.extend_from_slice(&[b'\\', escape]);
                }
                _ => return None,
            }
            at += 2;
        }
    }
}

struct Reader<'a> {
    cell: &'a [u8],
    at: usize,
    python_only: bool,
    content: bool,
    /// The names of the dicts that are open, as places in the cell.
    names: &'a mut Vec<(usize, usize)>,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.cell.get(self.at).copied().unwrap_or(0)
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek() == wanted).then(|| self.at += 1)
    }

    /// One blank, or none.
    fn blank(&mut self) {
        self.at += usize::from(self.peek() == b' ');
    }

    fn dict(&mut self, depth: usize) -> Option<()> {
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(());
        }
        let first = self.names.len();
        loop {
            let quote = self.at;
            let (start, end) = self.text(false)?;
            self.python_only |= self.cell[quote] == b'\'';
            let name = &self.cell[start..end];
            if self.names.len() - first >= MOST_NAMES
                || self.names[first..].iter().any(|&(start, end)| &self.cell[start..end] == name)
            {
                return None;
            }
            self.names.push((start, end));
            self.take(b':')?;
            self.blank();
            let value = self.at;
            self.value(depth + 1)?;
            if depth == 0 && name == b"content" {
                self.content = matches!(self.cell[value], b'"' | b'\'') && self.at > value + 2;
            }
            if self.take(b'}').is_some() {
                self.names.truncate(first);
                return Some(());
            }
            self.take(b',')?;
            self.blank();
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            self.value(depth + 1)?;
            if self.take(b']').is_some() {
                return Some(());
            }
            self.take(b',')?;
            self.blank();
        }
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match self.peek() {
            b'{' => self.dict(depth),
            b'[' => self.list(depth),
            b'"' | b'\'' => {
                self.python_only |= self.peek() == b'\'';
                self.text(true).map(|_| ())
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Option<()> {
        let rest = &self.cell[self.at..];
        let word = [&b"None"[..], b"True", b"False"].into_iter().find(|word| rest.starts_with(word))?;
        self.at += word.len();
        self.python_only = true;
        Some(())
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.take(b'-');
        let leading = self.peek();
        let whole = self.digits();
        if whole == 0 || whole > 18 || (leading == b'0' && whole > 1) {
            return None;
        }
        if self.take(b'.').is_some() && !(1..=18).contains(&self.digits()) {
            return None;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            if !(1..=2).contains(&self.digits()) {
                return None;
            }
        }
        Some(())
    }

    /// The text that begins here, between its quotes; escapes only where they are allowed.
    fn text(&mut self, escapes: bool) -> Option<(usize, usize)> {
        let quote = self.peek();
        if quote != b'"' && quote != b'\'' {
            return None;
        }
        self.at += 1;
        let start = self.at;
        loop {
            let byte = self.peek();
            if byte == quote {
                self.at += 1;
                return Some((start, self.at - 1));
            }
            match byte {
                b'\\' if escapes => self.escape()?,
                b'\\' | 0..=0x1F => return None,
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let kind = self.cell.get(self.at + 1).copied()?;
        self.at += 2;
        match kind {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => {}
            b'\'' | b'a' | b'v' => self.python_only = true,
            b'x' => {
                self.python_only = true;
                self.hexadecimal(2)?;
            }
            b'u' => {
                let code = self.hexadecimal(4)?;
                if (0xD800..0xE000).contains(&code) {
                    return None;
                }
            }
            b'U' => {
                self.python_only = true;
                char::from_u32(self.hexadecimal(8)?)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn hexadecimal(&mut self, count: usize) -> Option<u32> {
        let digits = self.cell.get(self.at..self.at + count)?;
        self.at += count;
        digits.iter().try_fold(0_u32, |code, &digit| Some(code << 4 | char::from(digit).to_digit(16)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(dict: &str) -> Option<String> {
        assert!(matches!(literal(dict.as_bytes(), &mut Vec::new()), Literal::Dict { .. }), "{dict}");
        let mut found = Vec::new();
        write_json(dict.as_bytes(), &mut found).then(|| String::from_utf8(found).expect("text"))
    }

    #[test]
    fn dicts_are_written_as_json() {
        for (dict, expected) in [
            ("{'a': 1, 'b': [\"x\", -2], 'c': {}}", Some("{\"a\":1,\"b\":[\"x\",-2],\"c\":{}}")),
            ("{'a': True, \"b\": None}", Some("{\"a\":true,\"b\":null}")),
            ("{'a': 'say \"x\"', 'b': 'it\\'s\\n\\\\'}", Some("{\"a\":\"say \\\"x\\\"\",\"b\":\"it's\\n\\\\\"}")),
            ("{'a': [1.5, 0.0001, 2.0]}", Some("{\"a\":[1.5,0.0001,2.0]}")),
            ("{\"a\": [1.50, False]}", Some("{\"a\":[1.50,false]}")),
            ("{'a': 1.50}", None),
            ("{'a': 0.00001}", None),
            ("{'a': 1e5}", None),
            ("{'a': -0}", None),
            ("{'a': 1234567890123456}", None),
            ("{'a': '\\u00e9'}", None),
            ("{\"a\": \"it\\'s\"}", None),
        ] {
            assert_eq!(json(dict).as_deref(), expected, "{dict}");
        }
    }
}
