"""Codes of key values: an integer is its own code, a text or several values have one of 128 bits.

Codes are compared, sorted and looked up as numbers of 64 bits each, their words: one, or two. That two of the wide ones
are equal by chance has a probability of about keys² / 2^129.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ragdatakit.scanner import views
from ragdatakit.scanner.keys import count_in_sieve, counted_twice, new_sieve, new_table
from ragdatakit.scanner.keys import mixed as mixed_words
from ragdatakit.scanner.library import run_seed

T = TypeVar("T", bound=np.generic)
Codes = npt.NDArray[Any]
"""Integers as ``uint64``, or wide codes (`WIDE`)."""
Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int64]
WIDE = views.WIDE

# Each step of `_stirred` can be undone: pairs that share a word differ afterwards, too, and close ones are far apart.
ODD_1 = np.uint64(0x9E3779B97F4A7C15)
_ODD_2 = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)


def words_of(codes: Codes) -> tuple[Words, ...]:
    """The words of codes, as views."""
    return (codes["first"], codes["second"]) if codes.dtype == WIDE else (codes,)


def first_words(codes: Codes) -> Words:
    """The first word of each code, as a view."""
    return words_of(codes)[0]


def flat_words(codes: Codes) -> Words:
    """All words, code by code."""
    return np.ascontiguousarray(codes).view(np.uint64)


def together(parts: Sequence[npt.NDArray[T]]) -> npt.NDArray[T]:
    """The codes, or integers, of all parts, of which there is one; see `copied`."""
    return np.concatenate([*map(flat_words, parts)]).view(parts[0].dtype)


def copied(codes: Codes) -> Codes:
    """A copy: numpy itself copies wide codes word by word."""
    return flat_words(codes).copy().view(codes.dtype)


def codes_of(codes: Codes, rows: npt.NDArray[np.bool_]) -> Codes:
    """The codes of these rows: they themselves where that is all."""
    return codes if rows.all() else codes[np.flatnonzero(rows)]


def are_same(one: Codes, other: Codes) -> npt.NDArray[np.bool_]:
    """Where codes are equal; none of an integer and of a text are."""
    if one.dtype != other.dtype:
        return np.zeros(len(one), np.bool_)
    same: npt.NDArray[np.bool_] = first_words(one) == first_words(other)
    if one.dtype == WIDE:
        same &= one["second"] == other["second"]
    return same


def are_one(codes: Codes, one: Any) -> npt.NDArray[np.bool_]:
    """Which of the codes are this one."""
    return are_same(codes, np.broadcast_to(np.asarray(one), codes.shape))


def begin_runs(codes: Codes) -> npt.NDArray[np.bool_]:
    """Which codes are not those before them."""
    begins = np.ones(len(codes), np.bool_)
    begins[1:] = ~are_same(codes[1:], codes[:-1])
    return begins


def mix(first: Codes, second: Codes) -> Codes:
    """One code for a pair of codes; of integers each pair has another."""
    quick = mixed_words(flat_words(first), len(words_of(first)), flat_words(second), len(words_of(second)))
    if quick is not None:
        return quick.view(WIDE)
    mixed = np.empty(len(second), WIDE)
    (head, *more_head), (tail, *more_tail) = words_of(first), words_of(second)
    mixed["first"] = _stirred(head, tail)
    mixed["second"] = _stirred(*(more_head or [head]), *(more_tail or [tail])) if more_head or more_tail else head
    return mixed


def _stirred(first: Words, second: Words) -> Words:
    h = first * ODD_1
    h ^= h >> _SHIFT
    h += second
    h *= _ODD_2
    h ^= h >> np.uint64(29)
    h *= ODD_1
    return h


def distinct(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """The different ones, in order: `numpy.unique`, which imports a module as large as a check of small data."""
    ordered = np.sort(values)
    return ordered[_are_new(ordered)]


def counted(values: npt.NDArray[T]) -> tuple[npt.NDArray[T], Rows]:
    """The same, and how often each is there; quick of integers from 0 that lie close together."""
    if values.dtype == np.int64 and len(values) and values.min() >= 0 and values.max() < len(values):
        every = np.bincount(values)
        there = np.flatnonzero(every)
        return there, every[there]  # type: ignore[return-value]
    ordered = np.sort(values)
    starts = np.flatnonzero(_are_new(ordered))
    return ordered[starts], np.diff(starts, append=len(ordered))


def _are_new(ordered: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which of these are not what is before them; NaN is one value."""
    are_new = np.ones(len(ordered), np.bool_)
    are_new[1:] = ordered[1:] != ordered[:-1]
    if ordered.dtype.kind == "f" and len(ordered) and np.isnan(ordered[-1]):
        are_new[1:] &= ~np.isnan(ordered[:-1])
    return are_new


_FIRST, _MOSTLY, _MANY = 1 << 12, 0.9, 1 << 15
"""Codes at the front that show whether hardly one is there twice, the share of them that is different then, and how
many are worth that."""


def number_of_distinct(codes: Codes) -> int:
    """How many different ones there are; quick where hardly one is there twice, or many in a row are alike."""
    if len(codes) > _MANY and np.count_nonzero(begin_runs(codes[:_FIRST])) < _FIRST // 2:
        codes = codes[np.flatnonzero(begin_runs(codes))]
    words, width, alone = flat_words(codes), len(words_of(codes)), 0
    if width > 1 and len(codes) > _MANY and (_different(words[: width * _FIRST], width) or 0) > _MOSTLY * _FIRST:
        sieve = new_sieve((4 * len(codes)).bit_length() + 1)
        assert sieve is not None
        count_in_sieve(sieve, words, width)
        perhaps = counted_twice(sieve, words, width)
        alone, words = len(codes) - len(perhaps), words.reshape(-1, width)[perhaps].ravel()
    if (different := _different(words, width)) is not None:
        return alone + different
    first = first_words(codes)
    ordered = np.sort(first)
    is_again = ordered[1:] == ordered[:-1]
    again = distinct(ordered[1:][is_again])
    alone = len(codes) - int(np.count_nonzero(is_again)) - len(again)
    return alone + len(first_of_each(codes[are_among(first, again)])[0])


def _different(words: Words, width: int) -> int | None:
    """How many different codes of so many words there are; None where there is no compiled library."""
    table = new_table(words, width, run_seed())
    return int(np.count_nonzero(table)) if table is not None else None


def are_among(values: npt.NDArray[T], those: npt.NDArray[T]) -> npt.NDArray[np.bool_]:
    """Which of the values are among those, which are different ones in order."""
    if not len(those):
        return np.zeros(len(values), np.bool_)
    places = np.searchsorted(those, values)
    places[places == len(those)] = 0
    found: npt.NDArray[np.bool_] = those[places] == values
    return found


def first_of_each(*columns: Codes) -> tuple[Rows, Rows]:
    """Of rows of codes the position of the first of each different one, and for each row which of those it is."""
    words = [word for column in columns for word in words_of(column)]
    order = np.lexsort(words)
    is_new = np.zeros(len(order), np.bool_)
    is_new[:1] = True
    for word in words:
        ordered = word[order]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return order[is_new], numbers


def narrowed(codes: Codes) -> Codes:
    """Wide codes of which the second word has no more than 32 bits: the chance that two of them are equal is about
    keys² / 2^97. Others as they are."""
    if codes.dtype != WIDE:
        return codes
    narrow = np.empty(len(codes), WIDE)
    narrow["first"] = codes["first"]
    narrow["second"] = (codes["second"] * ODD_1) >> _SHIFT
    return narrow


class SortedCodes:
    """Codes to be asked for now and then, without a table of their own."""

    def __init__(self, codes: Codes) -> None:
        self._order = np.argsort(first_words(codes), kind="stable")
        self._codes = codes[self._order]

    def position(self, code: Any) -> int:
        """The first position of a code, -1 where there is none."""
        words = first_words(self._codes)
        wanted = code["first"] if self._codes.dtype == WIDE else code
        begin, end = (int(words.searchsorted(wanted, side)) for side in ("left", "right"))
        found = np.flatnonzero(self._codes[begin:end] == code)
        return int(self._order[begin + found[0]]) if len(found) else -1
