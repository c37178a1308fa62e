"""Characters, tokens and scripts of texts, counted by the compiled library, and numbers of their words."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.library import ScannerError, called, code_seeds, library, needed_library
from ragdatakit.scanner.views import WIDE, held_bytes, offsets_of

Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


def tokens_and_scripts(
    data: Bytes,
    offsets: npt.NDArray[np.int32],
    chosen: range,
    kinds: Bytes,
    learn: Callable[[int], None],
    rules: tuple[int, int, int],
) -> tuple[Numbers, Bytes] | None:
    """The tokens and the script of each of the ``chosen`` ones of the texts that are one behind the other in ``data``,
    between these offsets; None where there is no library.

    ``kinds`` says what each character is; ``learn`` adds one that it does not know. ``rules`` are the characters that a
    token has at most, and the scripts of kana and Han. Raises `ScannerError`.
    """
    found = library()
    if found is None:
        return None
    count = len(chosen)
    held = np.ascontiguousarray(offsets, np.int32)
    tokens, scripts = np.zeros(count, np.int64), np.zeros(count, np.uint8)
    reached, unknown = ctypes.c_uint64(), ctypes.c_uint64()
    texts = (data.ctypes.data, len(data), held.ctypes.data, len(held), chosen.start, chosen.step, count)
    given = (kinds.ctypes.data, len(kinds), *rules, *texts)
    written = (tokens.ctypes.data, scripts.ctypes.data, reached, unknown)
    while True:
        called(found.rd_text_numbers(*given, *written))
        if reached.value == count:
            return tokens, scripts
        learn(unknown.value)


def lengths_and_codes(data: Any, offsets: npt.NDArray[np.int32]) -> tuple[Numbers, npt.NDArray[Any], int]:
    """The characters of texts that are one behind the other in ``data`` (any buffer), the code of each, and how many
    have nothing but blanks, tabs and line ends. Raises `ScannerError`."""
    lengths, words = np.empty(len(offsets) - 1, np.int64), np.empty(2 * (len(offsets) - 1), np.uint64)
    empty, _ = put_lengths_and_codes(data, offsets, lengths, words)
    return lengths, words.view(WIDE), empty


def put_lengths_and_codes(
    data: Any, offsets: npt.NDArray[np.int32], lengths: Numbers, words: npt.NDArray[np.uint64]
) -> tuple[int, int]:
    """The same into arrays, two words for each code: how many have nothing but blanks, tabs and line ends, and how many
    have nothing but digits and minus signs."""
    found = needed_library()
    places = np.ascontiguousarray(offsets, np.int32)
    if not len(places) - 1 == len(lengths) == len(words) / 2:
        raise ScannerError("there are not as many lengths and codes as texts")
    held = held_bytes(data)
    some = np.zeros(2, np.uint64)
    given = (held.ctypes.data, len(held), places.ctypes.data, len(lengths))
    called(found.rd_text_facts(*code_seeds(), *given, lengths.ctypes.data, words.ctypes.data, some.ctypes.data))
    empty, integers = some.tolist()
    return empty, integers


def gather(data: Any, starts: Numbers, ends: Numbers, targets: Numbers, gathered: Bytes) -> None:
    """Copy pieces of ``data`` (any buffer) to their ``targets``, the places where they begin then. Raises
    `ScannerError`."""
    held = held_bytes(data)
    places = [np.ascontiguousarray(some, np.int64) for some in (starts, ends, targets)]
    if len({*map(len, places)}) > 1:
        raise ScannerError("there are not as many places of each kind")
    given = (held.ctypes.data, len(held), *(some.ctypes.data for some in places), len(starts))
    called(needed_library().rd_gather(*given, gathered.ctypes.data, len(gathered)))


def gathered(data: Any, starts: Numbers, ends: Numbers) -> tuple[bytes, Numbers]:
    """What is between these places, one behind the other, and between which offsets each is then; see `gather`."""
    offsets = offsets_of(ends - starts)
    found = np.empty(offsets[-1], np.uint8)
    gather(data, starts, ends, offsets[:-1], found)
    return found.tobytes(), offsets


class FoldedCharacters:
    """What characters beyond ASCII become where words are compared; `learn` asks ``folded`` for it: None of those that
    are not folded by themselves."""

    _UNKNOWN, _ODD = 0xFFFFFFFF, 0xFFFFFFFE
    _MOST, _AT_ONCE = 0x40000, 128

    def __init__(self, folded: Callable[[str], bytes | None]) -> None:
        self._folded = folded
        self.known = np.full(self._MOST, self._UNKNOWN, np.uint32), b""

    def learn(self, code: int) -> None:
        """Say of a character, and of those around it, what they become. What is ``known`` is another table then: the
        library may be reading this one in another thread."""
        places, texts = self.known  # at once: another thread may put other ones in their place
        places = places.copy()
        first = code // self._AT_ONCE * self._AT_ONCE
        for each in range(first, first + self._AT_ONCE):
            text = self._folded(chr(each))
            places[each] = self._ODD if text is None else len(texts)
            texts += b"" if text is None else bytes([len(text)]) + text
        self.known = places, texts


_LONGEST = 1 << 28
"""Characters of a text that is given to the library; for a longer one comes what is not UTF-8."""


class Joined(NamedTuple):
    """Texts as UTF-8, one behind the other, and where each begins; behind the last is where that ends. Without those
    that are very long they are to have some million characters together. ``data`` may be a memoryview."""

    data: bytes
    offsets: npt.NDArray[np.int32]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Joined:
        """Halves of surrogate pairs are as they are: no UTF-8."""
        encoded = [text.encode("utf-8", "surrogatepass") if len(text) < _LONGEST else b"\xff" for text in texts]
        return cls(*joined(encoded))

    @property
    def number(self) -> int:
        """How many texts they are."""
        return len(self.offsets) - 1

    @property
    def held(self) -> Bytes:
        """The bytes, which the library is given the address of."""
        return held_bytes(self.data)

    @property
    def is_ascii(self) -> bool:
        """Whether all characters are."""
        return int(self.held.max(initial=0)) < 0x80


def word_numbers(
    texts: Joined, characters: FoldedCharacters, made_with: tuple[int, int]
) -> tuple[npt.NDArray[np.uint64], Numbers] | None:
    """The numbers of the words of texts, one after the other, and how many words each text has: -1 where Python has to
    make them. None where there is no library. ``made_with`` are the base and the mixer. Raises `ScannerError`."""
    found = library()
    if found is None:
        return None
    codes, counts = np.empty(len(texts.data) // 2 + texts.number, np.uint64), np.zeros(texts.number, np.int64)
    written = (codes.ctypes.data, len(codes), counts.ctypes.data)
    _learning(found.rd_text_words, characters, made_with, (), texts, written)
    return codes[: np.maximum(counts, 0).sum()], counts


class Sketching(NamedTuple):
    """What sketches are made of and with: runs of so many words; what codes are taken times in the last round and what
    is added, of each part, one after the other; how many rounds and parts there are, and parts of a band."""

    words: int
    numbers: npt.NDArray[np.uint64]
    rounds: int
    parts: int
    in_band: int


class Sketches(NamedTuple):
    """Of texts, how many words each has, -1 where Python has to look at it; the first 32 and the next 16 bits of the
    numbers of their bands, band by band; and a bit for each word with a digit, by which words are distinguished."""

    words: Numbers
    heads: npt.NDArray[np.uint32]
    tails: npt.NDArray[np.uint16]
    bits: npt.NDArray[np.uint64]

    @classmethod
    def of_nothing(cls, shape: tuple[int, int]) -> Sketches:
        """Zeros, for so many bands and texts (``shape``)."""
        number = shape[1]
        words, bits = np.zeros(number, np.int64), np.zeros(number, np.uint64)
        return cls(words, np.zeros(shape, np.uint32), np.zeros(shape, np.uint16), bits)


def sketches(
    texts: Joined,
    characters: FoldedCharacters,
    made_with: tuple[int, int],
    sketching: Sketching,
    least: int,
    measures: tuple[Any, ...] | None,
) -> Sketches | None:
    """Sketches of texts that have so many words or more; ``measures`` is what `Measures` asks for. None where there is
    no library. Raises `ScannerError`."""
    found = library()
    if found is None:
        return None
    shape = (sketching.parts // sketching.in_band, texts.number)
    made = Sketches.of_nothing(shape)
    words, numbers, *sizes = sketching
    wanted = (numbers.ctypes.data, *sizes, words, least)
    written = (*(each.ctypes.data for each in made), *(measures or (None, 0, None, None)))
    _learning(found.rd_text_sketches, characters, made_with, wanted, texts, written)
    return made


def _learning(
    call: Callable[..., int],
    characters: FoldedCharacters,
    made_with: tuple[int, int],
    wanted: tuple[int, ...],
    texts: Joined,
    written: tuple[Any, ...],
) -> None:
    """Call the library for texts until it knows all their characters."""
    data, offsets, number = texts.held, texts.offsets, texts.number
    reached, unknown = ctypes.c_uint64(), ctypes.c_uint64()
    while True:
        places, folded = characters.known
        given = (places.ctypes.data, len(places), folded, len(folded), *made_with, *wanted)
        called(call(*given, data.ctypes.data, len(data), offsets.ctypes.data, number, *written, reached, unknown))
        if reached.value == number:
            return
        characters.learn(unknown.value)


class TextCopies:
    """Texts of about so many ``words`` together, which are compared two by two: by the numbers of their words, and by
    runs of ``run`` of these. Raises `ScannerError`, also where there is no library."""

    def __init__(self, words: int, run: int) -> None:
        found = needed_library()
        self._add, self._compare = found.rd_copies_add, found.rd_copies_compare
        self._address = found.rd_copies_new(words, run)
        if not self._address:
            raise ScannerError("the scanner has no memory")
        weakref.finalize(self, found.rd_copies_free, self._address).atexit = False

    def add(self, codes: npt.NDArray[np.uint64], counts: Numbers) -> None:
        """Take in texts: the numbers of the words of all of them, and how many each has."""
        called(self._add(self._address, codes.ctypes.data, len(codes), counts.ctypes.data, len(counts)))

    def compared(self, pairs: Numbers) -> npt.NDArray[np.uint32]:
        """Of pairs of texts, by their places among all: how many different runs both have, and how many one of them
        has; and whether each of them has a word that the other lacks. The first is 0 where each has a word with a digit
        that the other lacks."""
        given = np.ascontiguousarray(pairs, np.int64)
        found = np.empty((len(given), 3), np.uint32)
        called(self._compare(self._address, given.ctypes.data, len(given), found.ctypes.data))
        return found


def neighbours(
    heads: npt.NDArray[np.uint32], tails: npt.NDArray[np.uint16], bits: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64] | None:
    """Of texts that have one number in a band, each with the first and with the one before it: (later, earlier) in the
    halves of a number, without those of which each has bits that the other lacks. None where there is no library.
    Raises `ScannerError`."""
    if (compiled := library()) is None:
        return None
    found, count = np.empty(2 * len(heads), np.uint64), ctypes.c_uint64()
    given = (*(np.ascontiguousarray(each) for each in (heads, tails, bits)),)
    addresses = (each.ctypes.data for each in given)
    called(compiled.rd_neighbours(*addresses, len(heads), found.ctypes.data, len(found), count))
    return found[: count.value].copy()


class CompiledFinder:
    """Finds names in texts: lower-case words of ASCII with a blank between them, the longest first, from left to right.

    ``kind`` says of a character beyond ASCII whether it is part of a word, whose ASCII letters then make no name; None
    where texts with it are for Python. Raises `ScannerError` where there is no library.
    """

    _PART, _ODD, _UNKNOWN = 1, 2, 0xFF
    _MOST, _AT_ONCE = 0x40000, 128

    def __init__(self, names: Sequence[str], kind: Callable[[str], bool | None]) -> None:
        found = needed_library()
        self._find, self._kind = found.rd_finder_find, kind
        self._kinds = np.full(self._MOST, self._UNKNOWN, np.uint8)
        self._kinds[-1] = 0  # which is for all behind, and Unicode has no letters there
        data, offsets = joined([name.encode() for name in names])
        self._finder = found.rd_finder_new(data, len(data), offsets.ctypes.data, len(names))
        if not self._finder:
            raise ScannerError("the scanner does not take these names")
        weakref.finalize(self, found.rd_finder_free, self._finder).atexit = False

    def find(self, texts: Sequence[bytes]) -> Iterator[list[int] | None]:
        """The places of the names that each text has; None where Python has to find them. Raises `ScannerError`."""
        data, offsets = joined(texts)
        found, counts = np.empty(len(data) // 2 + len(texts), np.uint32), np.zeros(len(texts), np.int64)
        reached, unknown = ctypes.c_uint64(), ctypes.c_uint64()
        given = (
            self._finder,
            self._kinds.ctypes.data,
            len(self._kinds),
            data,
            len(data),
            offsets.ctypes.data,
            len(texts),
        )
        while True:
            called(self._find(*given, found.ctypes.data, len(found), counts.ctypes.data, reached, unknown))
            if reached.value == len(texts):
                break
            first = unknown.value // self._AT_ONCE * self._AT_ONCE
            for code in range(first, first + self._AT_ONCE):
                kind = self._kind(chr(code))
                self._kinds[code] = self._ODD if kind is None else kind * self._PART
        return _of_each(found, counts)


def listed_words(
    texts: Sequence[bytes], words: Sequence[bytes], most: int, kinds: Bytes, learn: Callable[[int], None]
) -> Iterator[tuple[list[int], int] | None] | None:
    """The places of the ``words``, which are in lower case and of 16 bytes at most, that the first so many characters
    of each text have, one after the other, and how many words they have; None where Python has to find them. None
    where there is no library. ``kinds`` and ``learn`` are those of `tokens_and_scripts`. Raises `ScannerError`."""
    found = library()
    if found is None:
        return None
    listed, places = joined(words)
    data, offsets = joined(texts)
    numbers = np.empty(len(data) // 2 + len(texts), np.uint32)
    counts, totals = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int64)
    reached, unknown = ctypes.c_uint64(), ctypes.c_uint64()
    given = (listed, len(listed), places.ctypes.data, len(words), kinds.ctypes.data, len(kinds), most)
    written = (numbers.ctypes.data, len(numbers), counts.ctypes.data, totals.ctypes.data, reached, unknown)
    while True:
        called(found.rd_listed_words(*given, data, len(data), offsets.ctypes.data, len(texts), *written))
        if reached.value == len(texts):
            break
        learn(unknown.value)
    each = zip(_of_each(numbers, counts), totals.tolist(), strict=True)
    return ((own, total) if own is not None else None for own, total in each)


def _of_each(numbers: npt.NDArray[np.uint32], counts: Numbers) -> Iterator[list[int] | None]:
    """The numbers that each text has, one after the other; None where Python has to find them (a count of -1)."""
    ends = np.cumsum(np.maximum(counts, 0)).tolist()
    every = numbers[: ends[-1] if ends else 0].tolist()
    each = zip([0, *ends], ends, counts.tolist(), strict=False)
    return (every[start:end] if count >= 0 else None for start, end, count in each)


def joined(texts: Sequence[bytes | memoryview]) -> tuple[bytes, npt.NDArray[np.int32]]:
    """Texts one behind the other, and where each begins; the end is the last. Raises `ScannerError` for 2 GB and
    more."""
    ends = np.cumsum([0, *map(len, texts)])
    if ends[-1] >= 1 << 31:
        raise ScannerError("texts of 2 GB at once")
    return b"".join(texts), ends.astype(np.int32)
