"""Look-ups of key codes by the compiled library, in arrays that belong to the caller."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.scanner.library import ScannerError, View, library, needed_library
from ragdatakit.scanner.views import numbers

Codes = npt.NDArray[np.uint64]
Marks = npt.NDArray[np.bool_]


def table_bits(count: int) -> int:
    """So many bits number the slots of a table for ``count`` codes: at most three quarters of it are filled."""
    return max((4 * count // 3).bit_length(), 4)


def new_table(words: Codes, width: int, seed: int) -> npt.NDArray[np.uint64] | None:
    """A table of codes of so many ``words`` each, to which it points, laid out by a seed; None where there is no
    library."""
    if library() is None:
        return None
    bits = table_bits(len(words) // width)
    slots = np.zeros(1 << bits, np.uint64)
    _call("rd_table_fill", slots.ctypes.data, bits, words.ctypes.data, len(words), width, seed)
    return slots


def find_in_table(
    slots: npt.NDArray[np.uint64], words: Codes, asked: Codes, width: int, seed: int
) -> npt.NDArray[np.int32]:
    """The position of each code that is ``asked`` for among those (``words``) of which the table is, -1 where it is
    none."""
    count = len(asked) // width
    found = np.empty(count, np.int32)
    bits = len(slots).bit_length() - 1
    _call(
        "rd_table_find",
        *(slots.ctypes.data, bits, words.ctypes.data, len(words), width, seed),
        *(asked.ctypes.data, count, found.ctypes.data),
    )
    return found


def mark(marks: Marks, places: npt.NDArray[np.int32]) -> None:
    """Mark these places, the last of all for those that are not there. Any thread may."""
    if library() is None:
        marks[places] = True
        return
    held = np.ascontiguousarray(places)
    _call("rd_mark", marks.ctypes.data, len(marks), held.ctypes.data, len(held))


def tally(numbers: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.int64]:
    """How often each of so many numbers from 0 is there; others are passed over."""
    if library() is None:
        return np.bincount(numbers[(numbers >= 0) & (numbers < count)], minlength=count)
    tallies, held = np.zeros(count, np.int64), np.ascontiguousarray(numbers, np.int32)
    _call("rd_tally", held.ctypes.data, len(held), tallies.ctypes.data, count)
    return tallies


def find_ranks(ranks: npt.NDArray[np.int32], least: int, codes: Codes) -> npt.NDArray[np.int32] | None:
    """The entry of ``ranks`` for each integer, counted from ``least``; its last one for those that are out of range."""
    if library() is None:
        return None
    held = np.ascontiguousarray(codes)
    found = np.empty(len(held), np.int32)
    _call("rd_rank_find", ranks.ctypes.data, len(ranks), least, held.ctypes.data, len(held), found.ctypes.data)
    return found


def new_sieve(bits: int) -> npt.NDArray[np.uint8] | None:
    """A sieve with a place for each number of so many leading bits; None where there is no library."""
    return None if library() is None else np.zeros(1 << max(bits - 2, 0), np.uint8)


def count_in_sieve(places: npt.NDArray[np.uint8], words: Codes, width: int) -> None:
    """Count codes of so many words by their leading bits, up to 2."""
    _call("rd_sieve", places.ctypes.data, len(places), words.ctypes.data, len(words), width)


def counted_twice(places: npt.NDArray[np.uint8], words: Codes, width: int) -> npt.NDArray[np.int64]:
    """Positions of the codes in whose place of the sieve more than one was counted."""
    found = np.empty(len(words) // width, np.int64)
    number = ctypes.c_uint64()
    arguments = words.ctypes.data, len(words), width, found.ctypes.data, number
    _call("rd_sieved", places.ctypes.data, len(places), *arguments)
    return found[: number.value].copy()


class IntegerPairs:
    """Pairs of integers, which are asked for by the library."""

    def __init__(self, address: int) -> None:
        self._address = address
        weakref.finalize(self, needed_library().rd_pairs_free, address).atexit = False

    @classmethod
    def of(cls, firsts: Codes, seconds: Codes, most: int) -> IntegerPairs | None:
        """None where there is no library, or most of the first ones are spread over more than ``most`` numbers."""
        found = library()
        if found is None or len(firsts) != len(seconds):
            return None
        held = np.ascontiguousarray(firsts), np.ascontiguousarray(seconds)
        address = found.rd_pairs_new(held[0].ctypes.data, held[1].ctypes.data, len(firsts), most)
        return cls(address) if address else None

    def are_there(self, firsts: Codes, seconds: Codes) -> npt.NDArray[np.bool_]:
        """Which of these pairs there are."""
        if len(firsts) != len(seconds):
            raise ScannerError("there are not as many first integers as second ones")
        held = np.ascontiguousarray(firsts), np.ascontiguousarray(seconds)
        there = np.empty(len(firsts), np.bool_)
        _call("rd_pairs_find", self._address, held[0].ctypes.data, held[1].ctypes.data, len(firsts), there.ctypes.data)
        return there


def distinct_per_owner(
    owners: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64], owner_count: int
) -> npt.NDArray[np.int64] | None:
    """How many different numbers, of up to 32 bits, each of so many owners has; pairs with one less than 0 do not
    count. None where there is no library."""
    if library() is None:
        return None
    if len(owners) != len(numbers):
        raise ScannerError("there are not as many owners as numbers")
    counts = np.empty(owner_count, np.int64)
    held = np.ascontiguousarray(owners, np.int64), np.ascontiguousarray(numbers, np.int64)
    places = held[0].ctypes.data, held[1].ctypes.data
    _call("rd_distinct_per_owner", *places, len(owners), counts.ctypes.data, owner_count)
    return counts


def mixed(heads: Codes, width: int, tails: Codes, tail_width: int) -> Codes | None:
    """One code of two words for each pair of codes; None where there is no library."""
    if library() is None:
        return None
    count = len(tails) // tail_width
    if len(heads) != count * width or len(tails) != count * tail_width:
        raise ScannerError("codes of pairs are not as many of each")
    codes = np.empty(2 * count, np.uint64)
    _call("rd_mix", heads.ctypes.data, width, tails.ctypes.data, tail_width, count, codes.ctypes.data)
    return codes


class Numbering:
    """Numbers codes of two words in the order in which these come first. Needs the library."""

    def __init__(self) -> None:
        found = needed_library()
        self._address = found.rd_numbering_new()
        if not self._address:
            raise ScannerError("the scanner has no memory")
        weakref.finalize(self, found.rd_numbering_free, self._address).atexit = False

    def add(self, words: Codes) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The number of each code, from 0; the positions of those that are new."""
        count = len(words) // 2
        numbers, fresh, number = np.empty(count, np.int32), np.empty(count, np.int64), ctypes.c_uint64()
        _call(
            "rd_numbering_add",
            *(self._address, words.ctypes.data, count, numbers.ctypes.data, fresh.ctypes.data, number),
        )
        return numbers, fresh[: number.value]


class FirstValues:
    """The first value of each name, in at most 2^``bits`` places, where there is a library."""

    def __init__(self, width: int, value_width: int, bits: int) -> None:
        found = library()
        self._address = found.rd_firsts_new(width, value_width, bits) if found is not None else None
        if found is None or not self._address:
            raise ScannerError("the scanner has no memory")
        weakref.finalize(self, found.rd_firsts_free, self._address).atexit = False
        self.width, self._widths = width + value_width + 1, (width, value_width)

    def add(
        self,
        names: list[Codes],
        values: list[Codes],
        count: int,
        rows: range | npt.NDArray[np.int64],
        asked: Marks | None = None,
        fresh: Marks | None = None,
    ) -> Codes:
        """What disagrees with it, once with what it disagrees with: name, value and row in a line each. All columns of
        names have ``count`` records. Of what these say, record by record, what is ``asked`` for is taken in; ``fresh``
        gets which names were not known before."""
        if any(marks is not None and len(marks) != count * len(names) for marks in (asked, fresh)):
            raise ScannerError("names and marks are not as many")
        columns = self._columns(names, values, count)
        odd = View()
        first, held = (rows.start, None) if isinstance(rows, range) else (0, np.ascontiguousarray(rows, np.int64))
        at, of_asked, of_fresh = (None if array is None else array.ctypes.data for array in (held, asked, fresh))
        marks = of_asked, of_fresh
        _call("rd_firsts_add", self._address, *columns, at, first, *marks, odd)
        return numbers(odd).reshape(-1, self.width)

    def find_open(self, names: list[Codes], values: list[Codes], count: int) -> Marks:
        """Of what columns say, record by record, what is not known and is to be taken in. Any thread may ask."""
        columns = self._columns(names, values, count)
        found = np.empty(count * len(names), np.bool_)
        _call("rd_firsts_find", self._address, *columns, found.ctypes.data)
        return found

    def _columns(self, names: list[Codes], values: list[Codes], count: int) -> tuple[Any, ...]:
        """The addresses of columns, and how many they and their records are."""
        for columns, width in zip((names, values), self._widths, strict=True):
            if any(len(column) != count * width for column in columns) or len(columns) != len(names):
                raise ScannerError("names and values are not as many as records")
        addresses = ctypes.c_void_p * len(names)
        of_names, of_values = (addresses(*(column.ctypes.data for column in given)) for given in (names, values))
        return of_names, of_values, len(names), count


def _call(name: str, *arguments: Any) -> None:
    found = library()
    if status := getattr(found, name)(*arguments):
        raise ScannerError(f"the scanner failed ({name}: {status})")
