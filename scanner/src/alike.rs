//! Whether `DuckDB` reads lines of a table as pandas does: it passes over blank lines, and takes a cell for quoted that
//! begins with blanks.

/// Control characters other than tabs and line feeds; an empty line; blanks that begin a line; blanks before a quote.
const CONTROL: u8 = 1;
const EMPTY: u8 = 2;
const MARGIN: u8 = 4;
const LOOSE: u8 = 8;

#[inline(always)]
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// What there is of it at a byte, behind another one. Without a branch, so that many are looked at together.
#[inline(always)]
fn signs(before: u8, byte: u8) -> u8 {
    let begins = u8::from(before == b'\n');
    let control = u8::from(byte < b' ') & u8::from(byte != b'\n') & u8::from(byte != b'\t');
    (control * CONTROL)
        | ((begins & u8::from(byte == b'\n')) * EMPTY)
        | ((begins & u8::from(is_blank(byte))) * MARGIN)
        | ((u8::from(is_blank(before)) & u8::from(byte == b'"')) * LOOSE)
}

/// Whether no line of `data` is blank, no cell has blanks before a quote that opens it, and no byte is odd.
#[must_use]
pub fn is_read_alike(data: &[u8]) -> bool {
    let Some(&first) = data.first() else { return true };
    let found =
        data.iter().zip(&data[1..]).fold(signs(b'\n', first), |found, (&before, &byte)| found | signs(before, byte));
    found & (CONTROL | EMPTY) == 0
        && (found & MARGIN == 0 || !has_blank_line(data))
        && (found & LOOSE == 0 || !has_loose_quote(data))
}

#[cold]
fn has_blank_line(data: &[u8]) -> bool {
    data.split(|&byte| byte == b'\n').any(|line| !line.is_empty() && line.iter().all(|&byte| is_blank(byte)))
}

/// Whether there are a comma, blanks, and a quote that is not doubled.
#[cold]
fn has_loose_quote(data: &[u8]) -> bool {
    let quotes = data.iter().enumerate().filter(|&(at, &byte)| byte == b'"' && at > 0 && is_blank(data[at - 1]));
    quotes.into_iter().any(|(at, _)| {
        let before = data[..at].iter().rev().find(|&&byte| !is_blank(byte));
        before == Some(&b',') && data.get(at + 1) != Some(&b'"')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_alike() {
        for lines in
            ["", "a,b\n", "a, b\n", "a ,\"b\"\n", "a \"b\" , c", " a\n\tb", "a,  \"\"b\n", "a\n", "\"a \"\"b\"\n"]
        {
            assert!(is_read_alike(lines.as_bytes()), "{lines:?}");
        }
        for lines in ["\n", "a\n\nb", " ", "a\n \t\nb", "a\n ", "a\r\n", "a, \"b\"", "a,\t \"", "\0", "\u{1f}"] {
            assert!(!is_read_alike(lines.as_bytes()), "{lines:?}");
        }
    }
}
