//! What Python calls for the rules of quality; as in `boundary.rs`.

#![allow(unsafe_code)]

use crate::boundary::{guarded, slice, slice_mut, View, DONE, MISUSED, PANICKED};
use crate::copies::{neighbours, Common, Copies};
use crate::hash::Seeds;
use crate::measures::{look, measure, Alphabet, Measured, DOUBTFUL};
use crate::sketches::Sketching;
use crate::text_boundary::{Texts, WordTexts};
use crate::words::{bits_of_numbers, runs, Left};
use std::ptr::null_mut;

/// What is said of the characters of a text that is not UTF-8.
const NOT_UTF8: u8 = 2;

/// What is looked for in texts: views of bytes that say what kind each character is of, what each kind is there for, and
/// of each two kinds whether a rule may report them side by side. None where they do not fit together.
///
/// # Safety
/// `views` points to three views, and these to as many bytes as they say.
unsafe fn alphabet<'a>(views: *const View) -> Option<Alphabet<'a>> {
    let [kinds, uses, pairs] = slice(views, 3)?.first_chunk::<3>()?;
    let [kinds, uses, pairs] = [kinds, uses, pairs].map(|view| slice(view.start.cast(), view.length));
    Alphabet::of(kinds?, uses?, pairs?)
}

/// Whether Python has to look at the characters of texts that stand one behind the other in `data`, between `number` + 1
/// places (`offsets`): in `looked` comes 0, 1, or 2 where a text is not UTF-8. `views` are those of `alphabet`.
///
/// # Safety
/// As in `alphabet`; `data` points to `length` bytes, `offsets` to `number` + 1 numbers, `looked` to `number` bytes to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_text_looks(
    views: *const View,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    looked: *mut u8,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(data), Some(offsets)) = (slice(data, length), slice(offsets, number.saturating_add(1))) else {
            return MISUSED;
        };
        let (Some(alphabet), Some(looked)) = (alphabet(views), slice_mut(looked, number)) else { return MISUSED };
        let texts = Texts::of(data);
        for (looked, ends) in looked.iter_mut().zip(offsets.windows(2)) {
            let Some(text) = texts.piece(ends) else { return MISUSED };
            *looked = text.map_or(NOT_UTF8, |text| look(&alphabet, text).is_seen.into());
        }
        DONE
    })
}

/// Make sketches of the runs of so many words (`together`) of texts that stand one behind the other in `data`, as in
/// `rd_text_words`, of those that have `least` words or more: the upper half of the number of each band of all texts in
/// `heads`, band by band, and the next 16 bits of it in `tails`. In `counts` comes how many words each text has, -1 where
/// all of it is for Python, in `bits` what `bits_of_numbers` says of it. `made_with` are the numbers of `Sketching`, one behind the other.
///
/// Where `views`, as in `rd_text_looks`, are not null, what else the rules of quality ask comes in `measures`, for each text
/// its characters, its blanks, and its codes, made with `seed`, without and with its white space; and in `marks` how it
/// stops and begins, and what `rd_text_looks` says, all of which is for Python where it is not UTF-8.
///
/// # Safety
/// As in `rd_text_words`; `made_with` points to twice `parts` numbers, `heads` and `tails` to `number` times the
/// bands, `bits` to `number`, to be written; `views` to nothing or as in `alphabet`, and then `measures` to four times
/// `number`, `marks` to twice `number`, to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_text_sketches(
    places: *const u32,
    known: u64,
    folded: *const u8,
    folded_length: u64,
    base: u64,
    mixer: u64,
    made_with: *const u64,
    rounds: u64,
    parts: u64,
    in_band: u64,
    together: u64,
    least: u64,
    data: *const u8,
    length: u64,
    offsets: *const i32,
    number: u64,
    counts: *mut i64,
    heads: *mut u32,
    tails: *mut u16,
    bits: *mut u64,
    views: *const View,
    seed: u64,
    measures: *mut u64,
    marks: *mut u8,
    reached: *mut u64,
    unknown: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let given =
            WordTexts::given((places, known), (folded, folded_length), (base, mixer), (data, length), offsets, number);
        let Some(mut texts) = given else { return MISUSED };
        let made_with = slice(made_with, parts.saturating_mul(2));
        let sketching = made_with.and_then(|numbers| Sketching::of(numbers, rounds, parts, in_band, mixer));
        let Some(sketching) = sketching.filter(|_| together > 0) else { return MISUSED };
        let written = number.saturating_mul(sketching.bands() as u64);
        let (Some(heads), Some(tails)) = (slice_mut(heads, written), slice_mut(tails, written)) else { return MISUSED };
        let (Some(counts), Some(bits)) = (slice_mut(counts, number), slice_mut(bits, number)) else { return MISUSED };
        let (Some(reached), Some(unknown)) = (reached.as_mut(), unknown.as_mut()) else { return MISUSED };
        let asked = if views.is_null() { 0 } else { number };
        let (Some(measures), Some(marks)) =
            (slice_mut(measures, asked.saturating_mul(4)), slice_mut(marks, asked.saturating_mul(2)))
        else {
            return MISUSED;
        };
        let alphabet = alphabet(views);
        if alphabet.is_none() && !views.is_null() {
            return MISUSED;
        }
        let (seeds, mut title, mut room) = (Seeds::of(seed, u64::MAX), None, Vec::new());
        let (mut codes, mut parts) = (Vec::new(), vec![0; sketching.parts()]);
        while *reached < number {
            let place = *reached as usize;
            let Some(words) = texts.words(place, &mut codes) else { return MISUSED };
            counts[place] = match words {
                Ok(()) => codes.len() as i64,
                Err(Left::Odd) => -1,
                Err(Left::Unknown(character)) => {
                    *unknown = u64::from(character);
                    return DONE;
                }
            };
            if u64::try_from(counts[place]).is_ok_and(|count| count >= least) {
                bits[place] = bits_of_numbers(&codes);
                runs(&mut codes, together as usize);
                sketching.sketch(&mut codes, &mut parts);
                let to = heads.iter_mut().zip(tails.iter_mut()).skip(place).step_by(counts.len());
                for ((head, tail), band) in to.zip(sketching.of_bands(&parts)) {
                    (*head, *tail) = ((band >> 32) as u32, (band >> 16) as u16);
                }
            }
            let written = measures.get_mut(4 * place..).zip(marks.get_mut(2 * place..));
            if let (Some(alphabet), Some((measures, marks))) = (&alphabet, written) {
                let Some(text) = texts.text(place) else { return MISUSED };
                let found = text.map(|text| measure(alphabet, &seeds, text, &mut title, &mut room));
                let looked = found.as_ref().map_or(NOT_UTF8, |found| found.is_seen.into());
                let found = found.unwrap_or_else(|_| {
                    title = None;
                    Measured { ends: DOUBTFUL, ..Measured::default() }
                });
                let numbers = [found.characters, found.blanks, found.squeezed, found.exact];
                measures.iter_mut().zip(numbers).for_each(|(to, number)| *to = number);
                marks.iter_mut().zip([found.ends, looked]).for_each(|(to, mark)| *to = mark);
            }
            *reached += 1;
        }
        DONE
    })
}

/// What texts are compared by, of about so many words together; null where there is no memory.
#[no_mangle]
pub extern "C" fn rd_copies_new(words: u64, together: u64) -> *mut Copies {
    guarded(null_mut(), || {
        let sizes = usize::try_from(words).ok().zip(usize::try_from(together).ok());
        let made = sizes.and_then(|(words, together)| Copies::new(words, together));
        made.map_or(null_mut(), |made| Box::into_raw(Box::new(made)))
    })
}

/// Give it back.
///
/// # Safety
/// `copies` is null or came from `rd_copies_new`, and is not used again.
#[no_mangle]
pub unsafe extern "C" fn rd_copies_free(copies: *mut Copies) {
    if !copies.is_null() {
        drop(Box::from_raw(copies));
    }
}

/// Take in texts, of which `codes` are the numbers of all words, one text behind the other, which have so many each.
///
/// # Safety
/// `copies` came from here and is used by nobody else. `codes` points to `length` numbers, `counts` to `number`.
#[no_mangle]
pub unsafe extern "C" fn rd_copies_add(
    copies: *mut Copies,
    codes: *const u64,
    length: u64,
    counts: *const i64,
    number: u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(copies), Some(mut left), Some(counts)) =
            (copies.as_mut(), slice(codes, length), slice(counts, number))
        else {
            return MISUSED;
        };
        let mut room = Vec::new();
        for &count in counts {
            let Some((text, others)) = usize::try_from(count).ok().and_then(|count| left.split_at_checked(count))
            else {
                return MISUSED;
            };
            copies.add(text, &mut room);
            left = others;
        }
        DONE
    })
}

/// Compare texts two by two, by their places, of which `pairs` has twice `count`. `found` gets the three numbers of `Common`
/// of each two.
///
/// # Safety
/// `copies` came from here, and nobody adds to it. `pairs` points to twice `count` numbers, `found` to three times `count` to be
/// written.
#[no_mangle]
pub unsafe extern "C" fn rd_copies_compare(
    copies: *const Copies,
    pairs: *const i64,
    count: u64,
    found: *mut u32,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(copies), Some(pairs), Some(found)) =
            (copies.as_ref(), slice(pairs, count.saturating_mul(2)), slice_mut(found, count.saturating_mul(3)))
        else {
            return MISUSED;
        };
        for (pair, found) in pairs.chunks_exact(2).zip(found.chunks_exact_mut(3)) {
            let places = usize::try_from(pair[0]).ok().zip(usize::try_from(pair[1]).ok());
            let Some(Common { same, either, apart }) = places.and_then(|(one, other)| copies.compare(one, other))
            else {
                return MISUSED;
            };
            found.copy_from_slice(&[same, either, u32::from(apart)]);
        }
        DONE
    })
}

/// Texts that meet in a band, as `neighbours` says, whose pairs come in `found`, and how many they are in `found_count`.
///
/// # Safety
/// `heads`, `tails` and `bits` point to `count` numbers each, `found` to `room` to be written, `found_count` to one.
#[no_mangle]
pub unsafe extern "C" fn rd_neighbours(
    heads: *const u32,
    tails: *const u16,
    bits: *const u64,
    count: u64,
    found: *mut u64,
    room: u64,
    found_count: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(heads), Some(tails), Some(bits)) = (slice(heads, count), slice(tails, count), slice(bits, count))
        else {
            return MISUSED;
        };
        let (Some(found), Some(found_count)) = (slice_mut(found, room), found_count.as_mut()) else { return MISUSED };
        neighbours(heads, tails, bits, found).map_or(MISUSED, |number| {
            *found_count = number as u64;
            DONE
        })
    })
}
