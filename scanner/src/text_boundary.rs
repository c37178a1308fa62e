//! What Python calls for texts; as in `boundary.rs`.

#![allow(unsafe_code)]

use crate::alike::is_read_alike;
use crate::boundary::{guarded, slice, slice_mut, View, DONE, MISUSED, PANICKED};
use crate::hash::Seeds;
use crate::isa::is_utf8;
use crate::json::double;
use crate::names::Names;
use crate::texts::{self, Ascii, Counting};
use crate::words::{words, Folding, Left, Room};
use std::ptr::null_mut;

/// Whether `DuckDB` and pandas read the lines of a table alike: 1, or 0.
///
/// # Safety
/// `data` points to `length` bytes.
#[no_mangle]
pub unsafe extern "C" fn rd_read_alike(data: *const u8, length: u64) -> i32 {
    guarded(PANICKED, || slice(data, length).map_or(MISUSED, |data| i32::from(is_read_alike(data))))
}

/// Count the characters of texts that are one behind the other in `data`, make their codes, and count those of blanks
/// only, and those that may be integers, in `some`. `offsets` are `number` + 1 places in it.
///
/// # Safety
/// `data` points to `length` bytes, `offsets` to `number` + 1 numbers, `lengths` to `number` to be written, `codes` to twice
/// as many, `some` to two.
#[no_mangle]
pub unsafe extern "C" fn rd_text_facts(
    seed: u64,
    kept: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    lengths: *mut i64,
    codes: *mut u64,
    some: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(data), Some(offsets)) = (slice(data, length), slice(offsets, number.saturating_add(1))) else {
            return MISUSED;
        };
        let (Some(lengths), Some(codes), Some(some)) =
            (slice_mut(lengths, number), slice_mut(codes, number.saturating_mul(2)), slice_mut(some, 2))
        else {
            return MISUSED;
        };
        let found = texts::facts(&Seeds::of(seed, kept), data, offsets, lengths, codes);
        found.map_or(MISUSED, |found| {
            some.copy_from_slice(&found);
            DONE
        })
    })
}

/// Copy pieces of `data`, each from one of the `starts` to its end, to their `targets` in `gathered`.
///
/// # Safety
/// `data` points to `length` bytes, `starts`, `ends` and `targets` to `number` numbers, `gathered` to `room` bytes to be
/// written.
#[no_mangle]
pub unsafe extern "C" fn rd_gather(
    data: *const u8,
    length: u64,
    starts: *const u64,
    ends: *const u64,
    targets: *const u64,
    number: u64,
    gathered: *mut u8,
    room: u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(data), Some(gathered)) = (slice(data, length), slice_mut(gathered, room)) else { return MISUSED };
        let (Some(starts), Some(ends), Some(targets)) =
            (slice(starts, number), slice(ends, number), slice(targets, number))
        else {
            return MISUSED;
        };
        for ((&start, &end), &target) in starts.iter().zip(ends).zip(targets) {
            let piece = data.get(start as usize..end as usize);
            let to = gathered.get_mut(target as usize..).zip(piece).and_then(|(to, piece)| to.get_mut(..piece.len()));
            let (Some(piece), Some(to)) = (piece, to) else { return MISUSED };
            to.copy_from_slice(piece);
        }
        DONE
    })
}

/// Names of members, of which none was counted yet.
#[no_mangle]
pub extern "C" fn rd_names_new() -> *mut Names {
    guarded(null_mut(), || Box::into_raw(Box::default()))
}

/// Give names back.
///
/// # Safety
/// `names` is null or came from `rd_names_new`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rd_names_free(names: *mut Names) {
    guarded((), || drop((!names.is_null()).then(|| Box::from_raw(names))));
}

/// Count the names in objects that are one behind the other in `data`, as above. `proved` says of which that was done;
/// `different`, how many names there are now.
///
/// # Safety
/// `names` came from here, `data` points to `length` bytes, `offsets` to `number` + 1 numbers, `proved` to `number` bytes to
/// be written, `different` to a number.
#[no_mangle]
pub unsafe extern "C" fn rd_names_add(
    names: *mut Names,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    proved: *mut u8,
    different: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(names), Some(data), Some(offsets)) =
            (names.as_mut(), slice(data, length), slice(offsets, number.saturating_add(1)))
        else {
            return MISUSED;
        };
        let (Some(proved), Some(different)) = (slice_mut(proved, number), different.as_mut()) else { return MISUSED };
        for (pair, is_proved) in offsets.windows(2).zip(proved) {
            let Some(text) = piece(data, pair) else { return MISUSED };
            *is_proved = u8::from(names.add(text));
        }
        *different = names.len() as u64;
        DONE
    })
}

/// Put objects that are one behind the other in `data`, between `number` + 1 places in it, into `compact`, without the
/// blanks between their parts. `ends` says where each ends; `states`: it has members (1), has none (2), or is not proved (0).
///
/// # Safety
/// `names` came from here, `data` points to `length` bytes, `offsets` to `number` + 1 numbers, `compact` to `length` bytes
/// to be written, `ends` to `number` numbers, `states` to `number` bytes.
#[no_mangle]
pub unsafe extern "C" fn rd_names_compact(
    names: *mut Names,
    data: *const u8,
    length: u64,
    offsets: *const i64,
    number: u64,
    compact: *mut u8,
    ends: *mut i64,
    states: *mut u8,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(names), Some(data), Some(offsets)) =
            (names.as_mut(), slice(data, length), slice(offsets, number.saturating_add(1)))
        else {
            return MISUSED;
        };
        let (Some(compact), Some(ends), Some(states)) =
            (slice_mut(compact, length), slice_mut(ends, number), slice_mut(states, number))
        else {
            return MISUSED;
        };
        let mut found = Vec::with_capacity(data.len());
        for ((pair, end), state) in offsets.windows(2).zip(ends).zip(states) {
            let (Ok(first), Ok(last)) = (usize::try_from(pair[0]), usize::try_from(pair[1])) else { return MISUSED };
            let Some(text) = data.get(first..last) else { return MISUSED };
            *state = match names.compact(text, &mut found) {
                _ if text.is_empty() => 2,
                Some(has_members) => 2 - u8::from(has_members),
                None => 0,
            };
            *end = found.len() as i64;
        }
        let Some(compact) = compact.get_mut(..found.len()) else { return MISUSED };
        compact.copy_from_slice(&found);
        DONE
    })
}

/// Show all names: where they end, one behind the other, how many objects have each, and the names (a view of bytes).
///
/// # Safety
/// `names` came from here, `views` points to three views.
#[no_mangle]
pub unsafe extern "C" fn rd_names_show(names: *mut Names, views: *mut View) -> i32 {
    guarded(PANICKED, || {
        let (Some(names), Some(views)) = (names.as_mut(), slice_mut(views, 3)) else { return MISUSED };
        names.list();
        for (view, numbers) in views.iter_mut().zip([&names.ends, &names.counts]) {
            *view = View { start: numbers.as_ptr(), length: numbers.len() as u64 };
        }
        views[2] = View { start: names.bytes.as_ptr().cast(), length: names.bytes.len() as u64 };
        DONE
    })
}

/// Read numbers that are written one behind the other in `data`, between `number` + 1 places in it; nothing is 0.
///
/// # Safety
/// `data` points to `length` bytes, `offsets` to `number` + 1 numbers, `values` to `number` to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_numbers(
    data: *const u8,
    length: u64,
    offsets: *const i64,
    number: u64,
    values: *mut f64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(data), Some(offsets)) = (slice(data, length), slice(offsets, number.saturating_add(1))) else {
            return MISUSED;
        };
        let Some(values) = slice_mut(values, number) else { return MISUSED };
        for (pair, value) in offsets.windows(2).zip(values) {
            let (Ok(start), Ok(end)) = (usize::try_from(pair[0]), usize::try_from(pair[1])) else { return MISUSED };
            let Some(found) = data.get(start..end).and_then(double) else { return MISUSED };
            *value = found;
        }
        DONE
    })
}

/// Count the tokens of texts that stand one behind the other in `data`, and find their scripts: `offsets` are `places`
/// places in it, and the texts those from the `first` one on of which each is `step` behind the one before, `count` of
/// them, of UTF-8. `kinds` says what each character is. `reached` is where to begin, and says how far it came: where that is
/// not `count`, `unknown` is a character of which `kinds` says nothing.
///
/// # Safety
/// `kinds` points to `known` bytes, `data` to `length`, `offsets` to `places` numbers, `tokens` and `scripts` to `count`
/// numbers to be written, `reached` and `unknown` to one.
#[no_mangle]
pub unsafe extern "C" fn rd_text_numbers(
    kinds: *const u8,
    known: u64,
    longest: u64,
    kana: u64,
    han: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    places: u64,
    first: u64,
    step: u64,
    count: u64,
    tokens: *mut i64,
    scripts: *mut u8,
    reached: *mut u64,
    unknown: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(kinds), Some(data), Some(offsets)) =
            (slice(kinds, known), slice(data, length), slice(offsets, places))
        else {
            return MISUSED;
        };
        let (Some(tokens), Some(scripts)) = (slice_mut(tokens, count), slice_mut(scripts, count)) else {
            return MISUSED;
        };
        let (Some(reached), Some(unknown)) = (reached.as_mut(), unknown.as_mut()) else { return MISUSED };
        if kinds.is_empty() || longest == 0 || kana >= 32 || han >= 32 || *reached > count {
            return MISUSED;
        }
        let counting = Counting { kinds, longest, ascii: Ascii::of(kinds), kana: kana as usize, han: han as usize };
        let count_one = texts::quickest();
        while *reached < count {
            let place = *reached as usize;
            let at = step.checked_mul(*reached).and_then(|far| usize::try_from(far.checked_add(first)?).ok());
            let text = at.and_then(|at| piece(data, offsets.get(at..)?));
            let Some(text) = text else { return MISUSED };
            match count_one(&counting, text) {
                Ok(found) => (tokens[place], scripts[place]) = found,
                Err(character) => {
                    *unknown = u64::from(character);
                    return DONE;
                }
            }
            *reached += 1;
        }
        DONE
    })
}

/// Texts whose words become numbers.
pub(crate) struct WordTexts<'a> {
    pub(crate) folding: Folding<'a>,
    texts: Texts<'a>,
    offsets: &'a [i32],
    room: Room,
}

impl<'a> WordTexts<'a> {
    /// Those that stand one behind the other in `data`. `places` and `folded` say what characters become.
    ///
    /// # Safety
    /// As of `rd_text_words`.
    pub(crate) unsafe fn given(
        (places, known): (*const u32, u64),
        (folded, folded_length): (*const u8, u64),
        (base, mixer): (u64, u64),
        (data, length): (*const u8, u64),
        offsets: *const i32,
        number: u64,
    ) -> Option<Self> {
        let folding = Folding::of(slice(places, known)?, slice(folded, folded_length)?, base, mixer);
        let (texts, offsets) = (Texts::of(slice(data, length)?), slice(offsets, number.saturating_add(1))?);
        Some(Self { folding, texts, offsets, room: Room::default() })
    }

    /// Put the numbers of the words of one of them into `codes`; None where its places are not within all.
    pub(crate) fn words(&mut self, place: usize, codes: &mut Vec<u64>) -> Option<Result<(), Left>> {
        let text = self.text(place)?;
        Some(text.map_or(Err(Left::Odd), |text| words(&self.folding, text, codes, &mut self.room)))
    }

    /// One of them; None as above.
    pub(crate) fn text(&self, place: usize) -> Option<Result<&'a str, NotUtf8>> {
        self.texts.piece(&self.offsets[place..])
    }
}

/// Make numbers of the words of texts that stand one behind the other in `data`, as above: those of all texts one after
/// the other in `codes`, and how many words each has in `counts`, -1 where Python is to make them. `places` and `folded`
/// say what characters become. `reached` and `unknown` are as above.
///
/// # Safety
/// `places` points to `known` numbers, `folded` to `folded_length` bytes, `data` to `length`, `offsets` to `number` + 1
/// numbers, `codes` to `room` to be written, `counts` to `number`, `reached` and `unknown` to one.
#[no_mangle]
pub unsafe extern "C" fn rd_text_words(
    places: *const u32,
    known: u64,
    folded: *const u8,
    folded_length: u64,
    base: u64,
    mixer: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    codes: *mut u64,
    room: u64,
    counts: *mut i64,
    reached: *mut u64,
    unknown: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let given =
            WordTexts::given((places, known), (folded, folded_length), (base, mixer), (data, length), offsets, number);
        let Some(mut texts) = given else { return MISUSED };
        let (Some(codes), Some(counts)) = (slice_mut(codes, room), slice_mut(counts, number)) else { return MISUSED };
        let (Some(reached), Some(unknown)) = (reached.as_mut(), unknown.as_mut()) else { return MISUSED };
        let Some(done) = usize::try_from(*reached).ok().and_then(|reached| counts.get(..reached)) else {
            return MISUSED;
        };
        let mut used = done.iter().map(|&words| usize::try_from(words).unwrap_or(0)).sum::<usize>();
        let mut found = Vec::new();
        while *reached < number {
            let place = *reached as usize;
            let (Some(words), Some(free)) = (texts.words(place, &mut found), codes.get_mut(used..)) else {
                return MISUSED;
            };
            counts[place] = match words {
                Ok(()) if found.len() <= free.len() => {
                    free[..found.len()].copy_from_slice(&found);
                    used += found.len();
                    found.len() as i64
                }
                Ok(()) | Err(Left::Odd) => -1,
                Err(Left::Unknown(character)) => {
                    *unknown = u64::from(character);
                    return DONE;
                }
            };
            *reached += 1;
        }
        DONE
    })
}

/// Texts that stand one behind the other.
pub(crate) struct Texts<'a> {
    data: &'a [u8],
    /// All of it, where it is UTF-8 as a whole: that is seen sooner than of each text.
    whole: Option<&'a str>,
}

pub(crate) struct NotUtf8;

impl<'a> Texts<'a> {
    pub(crate) fn of(data: &'a [u8]) -> Self {
        // SAFETY: it was just seen that it is UTF-8.
        Self { data, whole: is_utf8(data).then(|| unsafe { std::str::from_utf8_unchecked(data) }) }
    }

    /// The text between two places; None where these are not within all.
    pub(crate) fn piece(&self, ends: &[i32]) -> Option<Result<&'a str, NotUtf8>> {
        let bytes = piece(self.data, ends)?;
        let found = || std::str::from_utf8(bytes).map_err(|_| NotUtf8);
        let start = usize::try_from(*ends.first()?).ok()?;
        Some(self.whole.map_or_else(found, |whole| whole.get(start..start + bytes.len()).ok_or(NotUtf8)))
    }
}

pub(crate) fn piece<'a>(data: &'a [u8], ends: &[i32]) -> Option<&'a [u8]> {
    let (start, end) = (usize::try_from(*ends.first()?).ok()?, usize::try_from(*ends.get(1)?).ok()?);
    data.get(start..end)
}
