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
