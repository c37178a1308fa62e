//! What pandas makes of the cells of a column, in order: the same as `ColumnScan` in `files/containers/csv_cells.py`.

/// What the cells of a column would be turned into, as far as they were seen.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools)]
pub struct ColumnScan {
    pub cells: u64,
    /// Cells that can only be text, up to two, and the place of the first; of the first too big integer, too.
    pub texts: u64,
    first_text: u64,
    numbers: bool,
    huge: u64,
    first_huge: u64,
    integers: bool,
    /// 1: an integer beyond 64 bits with a sign; 2: beyond those without.
    beyond: u64,
    negative: bool,
    decimals: bool,
    booleans: bool,
}

const NOWHERE: u64 = u64::MAX;

impl Default for ColumnScan {
    fn default() -> Self {
        Self {
            cells: 0,
            texts: 0,
            first_text: NOWHERE,
            numbers: false,
            huge: 0,
            first_huge: NOWHERE,
            integers: true,
            beyond: 0,
            negative: false,
            decimals: true,
            booleans: true,
        }
    }
}

impl ColumnScan {
    /// Whether it is certain that the column is text.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.texts >= 2
    }

    /// Take in a cell.
    #[inline(always)]
    pub fn add(&mut self, cell: &[u8]) {
        if self.texts < 2 {
            self.look(cell);
        }
        self.cells += 1;
    }

    fn look(&mut self, cell: &[u8]) {
        if let Some((negative, digits)) = integer(cell) {
            self.booleans = false;
            self.numbers = true;
            if self.integers {
                self.add_integer(negative, digits);
            }
            return;
        }
        self.integers = false;
        if is_decimal(cell) {
            self.booleans = false;
            self.numbers = true;
        } else if cell.eq_ignore_ascii_case(b"true") || cell.eq_ignore_ascii_case(b"false") {
            self.decimals = false;
        } else {
            self.decimals = false;
            self.booleans = false;
            if self.texts == 0 {
                self.first_text = self.cells;
            }
            self.texts += 1;
        }
    }

    fn add_integer(&mut self, negative: bool, digits: &[u8]) {
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        let size = match &digits[zeros..] {
            long if long.len() > 20 => u128::MAX,
            few => few.iter().fold(0, |size: u128, digit| size * 10 + u128::from(digit - b'0')),
        };
        self.negative |= negative;
        if size > u128::from(u64::MAX) {
            self.beyond = 2;
            if self.huge == 0 {
                self.first_huge = self.cells;
            }
            self.huge += 1;
        } else if size > i64::MAX as u128 + u128::from(negative) && self.beyond == 0 {
            self.beyond = 1;
        }
    }

    /// All of it, as Python takes it.
    pub fn numbers(&self) -> [u64; 11] {
        [
            self.cells,
            self.texts,
            self.first_text,
            u64::from(self.numbers),
            self.huge,
            self.first_huge,
            u64::from(self.integers),
            self.beyond,
            u64::from(self.negative),
            u64::from(self.decimals),
            u64::from(self.booleans),
        ]
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn trimmed(cell: &[u8]) -> &[u8] {
    let start = cell.iter().position(|&b| !is_space(b)).unwrap_or(cell.len());
    let end = cell.iter().rposition(|&b| !is_space(b)).map_or(start, |last| last + 1);
    &cell[start..end]
}

fn unsigned(cell: &[u8]) -> (bool, &[u8]) {
    match cell.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, cell),
    }
}

fn integer(cell: &[u8]) -> Option<(bool, &[u8])> {
    let (negative, digits) = unsigned(trimmed(cell));
    (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then_some((negative, digits))
}

fn is_decimal(cell: &[u8]) -> bool {
    let (_, number) = unsigned(trimmed(cell));
    let whole = number.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut rest = &number[whole..];
    let mut parts = 0;
    if let Some((b'.', behind)) = rest.split_first() {
        parts = behind.iter().take_while(|b| b.is_ascii_digit()).count();
        rest = &behind[parts..];
    }
    if whole + parts == 0 {
        return is_infinite(cell);
    }
    if let Some((b'e' | b'E', exponent)) = rest.split_first() {
        let (_, digits) = unsigned(exponent);
        return !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    }
    rest.is_empty()
}

/// `[+-]?inf(inity)?` in any case, where Python takes two more letters for an `i`.
fn is_infinite(cell: &[u8]) -> bool {
    let (_, word) = unsigned(cell);
    if word.len() > 16 {
        return false;
    }
    let Ok(word) = std::str::from_utf8(word) else { return false };
    let plain = word.replace(['\u{130}', '\u{131}'], "i");
    plain.eq_ignore_ascii_case("inf") || plain.eq_ignore_ascii_case("infinity")
}

/// Whether a cell looks like a number, as `ColumnScan.is_number` says.
#[inline(always)]
pub fn is_number(cell: &[u8]) -> bool {
    matches!(cell.last(), Some(b'0'..=b'9' | b'.' | b' ' | b'\t')) && is_decimal(cell)
}

/// What pandas takes for missing by default; the same as `schemas/pandas_missing.py`.
pub fn is_missing(cell: &[u8]) -> bool {
    matches!(
        cell,
        b"" | b"#N/A"
            | b"#N/A N/A"
            | b"#NA"
            | b"-1.#IND"
            | b"-1.#QNAN"
            | b"-NaN"
            | b"-nan"
            | b"1.#IND"
            | b"1.#QNAN"
            | b"<NA>"
            | b"N/A"
            | b"NA"
            | b"NULL"
            | b"NaN"
            | b"None"
            | b"n/a"
            | b"nan"
            | b"null"
    )
}
