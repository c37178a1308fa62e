"""Keys of a big dataset as typed arrays: codes (see `codes`), sorted or ranked, never Python objects per row.

A long module: each set check has a class of keys here, and they share how codes are looked up.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.code_tables import HashTable, RankTable, RepeatSieve
from ragdatakit.arrays.codes import (
    ODD_1,
    WIDE,
    Codes,
    Rows,
    are_among,
    are_same,
    copied,
    distinct,
    first_of_each,
    first_words,
    flat_words,
    mix,
    words_of,
)
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.files.reading.threads import in_order
from ragdatakit.scanner.keys import FirstValues, mark
from ragdatakit.scanner.library import library

Marks = npt.NDArray[np.bool_]

_NO_INTEGER = np.uint64((1 << 63) + 1)
"""The code of what is not there, next to integers: 0 is one of them."""
_NO_TEXT = np.array((_NO_INTEGER, 0), WIDE)
_NO_ROWS = np.empty(0, np.int64)
_MANY = 1 << 12
"""Codes from which on a sieve costs less than sorting them all."""


class NumpyBatch:
    """Key columns of consecutive records as codes.

    ``columns`` maps a name to its codes; ``valid`` to a mask of the readable ones (None: all); ``lists`` maps a list
    column to (codes of all items, number of the record in this batch that each item is in), ``headed`` to
    the records whose list has an item, where some items cannot be read. ``spelled`` has codes
    of the columns whose spelling is compared, reduced to what spelling does not change. ``texts`` are columns of CSV as
    text: for each row the number of its text (-1: it has none), and those texts. ``found`` has, by reference field, the
    position of each readable code among the keys. ``noted`` are the rows of scanned lines that Python has seen, and
    their records; of ``left_open`` of them the scanner knows nothing.
    """

    def __init__(self, length: int, first_row: int) -> None:
        self.length = length
        self.first_row = first_row
        self.columns: dict[str, Codes] = {}
        self.valid: dict[str, npt.NDArray[np.bool_] | None] = {}
        self.lists: dict[str, tuple[Codes, Rows]] = {}
        self.headed: dict[str, Rows] = {}
        self.spelled: dict[str, Codes] = {}
        self.texts: dict[str, tuple[Rows, list[str]]] = {}
        self.noted: list[tuple[int, Any]] = []
        self.left_open = 0
        self.found: dict[str, npt.NDArray[np.int32]] = {}
        self._made: dict[tuple[str, ...], tuple[Codes, Rows | range]] = {}
        self._taken: dict[tuple[str, ...], tuple[list[Codes], Rows | range]] = {}
        self._pairs: dict[tuple[str, str, Any], tuple[Codes, Codes, range]] = {}
        self._open: dict[tuple[str, ...], list[Marks] | None] = {}
        self._fresh: dict[tuple[str, ...], list[Marks] | None] = {}

    def codes(self, fields: tuple[str, ...]) -> tuple[Codes, Any]:
        """Codes of a column, or of several mixed, and the rows they are in (a range where all are readable)."""
        if fields not in self._made:
            columns, owners = self._taken.get(fields) or self._take(fields)
            self._made[fields] = functools.reduce(lambda codes, head: mix(head, codes), reversed(columns)), owners
        codes, owners = self._made[fields]
        return codes, self._rows_of(owners)

    def parts(self, fields: tuple[str, ...]) -> tuple[list[Codes], Any]:
        """The codes that `codes` mixes, of each column, and the rows they are in."""
        if fields not in self._taken:
            self._taken[fields] = self._take(fields)
        columns, owners = self._taken[fields]
        return columns, self._rows_of(owners)

    def _rows_of(self, owners: Rows | range) -> Any:
        if isinstance(owners, range):
            return range(self.first_row + owners.start, self.first_row + owners.stop)
        return owners + self.first_row

    def _take(self, fields: tuple[str, ...]) -> tuple[list[Codes], Rows | range]:
        last = fields[-1]
        owners: Rows | range = range(self.length)
        keep: npt.NDArray[np.bool_] | None
        if last in self.lists:
            codes, owners = self.lists[last]
            keep = None
        else:
            codes, keep = self.columns[last], self.valid[last]
        found = [codes]
        for name in reversed(fields[:-1]):
            head, valid = self.columns[name], self.valid[name]
            if not isinstance(owners, range):
                head = head[owners]
                valid = None if valid is None else valid[owners]
            found.insert(0, head)
            keep = valid if keep is None else keep if valid is None else keep & valid
        if keep is not None:
            where = np.flatnonzero(keep)
            found = [codes[where] for codes in found]
            owners = where if isinstance(owners, range) else owners[where]
        return found, owners

    def without(self, field: str) -> list[int]:
        """Rows in which the column has no readable value."""
        valid = self.valid[field]
        return [] if valid is None else (np.flatnonzero(~valid) + self.first_row).tolist()

    def heads(self, fields: tuple[str, ...]) -> tuple[Codes, Any]:
        """Codes of the first column where the second has an item, and their rows."""
        owners = self.headed.get(fields[1])
        if owners is None:
            owners = distinct(self.lists[fields[1]][1])
        valid = self.valid[fields[0]]
        if valid is not None:
            owners = owners[valid[owners]]
        return self.columns[fields[0]][owners], owners + self.first_row

    def also_equal(self, found: Any, fields: tuple[str, ...], other: str) -> Any:
        """Positions ``found`` among the codes of ``fields``, and those where the last of them equals another column."""
        _, owners = self._taken.get(fields) or self._made[fields]
        second, third, valid = self.columns[fields[-1]], self.columns[other], self.valid[other]
        if not isinstance(owners, range):
            second, third = second[owners], third[owners]
            valid = valid[owners] if valid is not None else None
        same = are_same(second, third)
        equal = np.flatnonzero(same if valid is None else same & valid)
        if not len(equal):
            return found
        return distinct(np.concatenate((np.asarray(found, np.int64), equal)))

    def pairs(self, name: str, value: str, default: Any) -> tuple[Codes, Codes, range]:
        """Codes of the names, of what each is given (a missing value counts as ``default``), and the rows; what a row
        says may be said again of the next, if that has no name."""
        key = name, value, default
        if key not in self._pairs:
            self._pairs[key] = self._make_pairs(*key)
        names, values, owners = self._pairs[key]
        return names, values, self._rows_of(owners)

    def _make_pairs(self, name: str, value: str, default: Any) -> tuple[Codes, Codes, range]:
        values, valid = self.columns[value], self.valid[value]
        if valid is not None:
            values = copied(values)
            values[np.flatnonzero(~valid)] = _default_code(default, values.dtype)
        (names, values), owners = self._filled(self.valid[name], self.columns[name], values)
        return names, values, owners

    def _filled(self, valid: Marks | None, *columns: Codes) -> tuple[list[Codes], range]:
        """Columns that are compared, and their rows: where one has no value, it repeats what the row before it says, so
        that rows without a value, which are few in most batches, do not cut them into pieces."""
        if valid is None:
            return [*columns], range(self.length)
        known = np.maximum.accumulate(np.where(valid, np.arange(self.length), -1))
        gaps = np.flatnonzero(~valid & (known >= 0))
        first = int(np.searchsorted(known, 0))
        found = [copied(column) for column in columns]
        for column in found:
            column[gaps] = column[known[gaps]]
        return [column[first:] for column in found], range(first, self.length)

    def spellings(self, field: str) -> tuple[Codes, Codes, range]:
        """Codes of a text column's values reduced to what spelling does not change, of the values, and the rows."""
        (reduced, names), owners = self._filled(self.valid[field], self.spelled[field], self.columns[field])
        return reduced, names, self._rows_of(owners)

    def look_up_pairs(self, store: NumpyConsistency, names: Sequence[tuple[str, str]], default: Any) -> None:
        """Ask which of what `give_pairs` gives is known where it is compared. Any thread may."""
        columns = [self.pairs(name, value, default) for name, value in names]
        self._open[tuple(name for name, _ in names)] = store.find_open(columns)

    def give_pairs(self, store: NumpyConsistency, names: Sequence[tuple[str, str]], default: Any) -> None:
        """What `pairs` has of several columns, and was not known when that was asked, to where it is compared."""
        fields = tuple(name for name, _ in names)
        asked = self._open.get(fields)
        if _is_nothing(asked):
            self._fresh[fields] = asked
        else:
            columns = [self.pairs(name, value, default) for name, value in names]
            self._fresh[fields] = store.add_columns(columns, asked)

    def give_spellings(self, store: NumpyConsistency, fields: tuple[str, ...]) -> None:
        """What `spellings` has of them; where pairs of the same names were always given before, of those that were not
        known then."""
        asked = self._fresh.get(fields)
        if not _is_nothing(asked):
            store.add_columns([self.spellings(field) for field in fields], asked)

    @staticmethod
    def interleaved(columns: list[tuple[Codes, Codes, range]]) -> tuple[Codes, Codes, Any]:
        """(names, values, rows) of several columns as one, record by record."""
        if len(columns) == 1:
            return columns[0]
        names, values = (np.concatenate([c[i] for c in columns]) for i in (0, 1))
        rows = np.concatenate([np.arange(c[2].start, c[2].stop) for c in columns])
        order = np.argsort(rows, kind="stable")
        return names[order], values[order], rows[order]


def _is_nothing(asked: list[Marks] | None) -> bool:
    return asked is not None and not any(marks.any() for marks in asked)


def _default_code(default: Any, kind: np.dtype[Any]) -> Any:
    if isinstance(default, str):
        return codes_of_texts([default])[0]
    return _NO_TEXT if kind == WIDE else _NO_INTEGER


class RowRuns:
    """Row numbers of consecutive codes: ranges where they are consecutive, arrays where not."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._runs: list[range | Rows] = []
        self.length = 0

    def add(self, rows: range | Rows) -> None:
        """Append rows."""
        if len(rows):
            last = self._runs[-1] if self._runs else None
            if isinstance(rows, range) and isinstance(last, range) and last.stop == rows.start:
                self._runs[-1] = range(last.start, rows.stop)
            else:
                self._starts.append(self.length)
                self._runs.append(rows)
            self.length += len(rows)

    def at(self, positions: Rows) -> Rows:
        """The rows at these positions."""
        if len(self._runs) == 1 and isinstance(self._runs[0], range):
            return positions + self._runs[0].start
        result = np.empty(len(positions), np.int64)
        runs = np.searchsorted(np.asarray(self._starts), positions, side="right") - 1
        for i in distinct(runs):
            chosen = runs == i
            run = self._runs[i]
            within = positions[chosen] - self._starts[i]
            result[chosen] = within + run.start if isinstance(run, range) else run[within]
        return result


class NumpyIndex:
    """The keys of one column as codes: which repeat, which are there, which were asked for.

    ``lookups`` says whether `missing`, `present`, `mark` or `common` will be called; ``integers`` that codes are the
    integers themselves, so that a table of ranks may serve. ``jobs`` is how many threads look for what repeats.
    """

    def __init__(self, lookups: bool, integers: bool, jobs: int = 1) -> None:
        self._lookups = lookups
        self._jobs = jobs
        self._integers = integers
        self._is_sieved = not lookups and not integers  # leading bits of integers are all the same
        self._chunks: list[Codes] = []
        self._rows = RowRuns()
        self._repeats: tuple[Rows, Rows] = (_NO_ROWS, _NO_ROWS)
        self._finder: RankTable | HashTable | None = None
        self._sieve: RepeatSieve | None = None

    def add(self, codes: Codes, rows: Any) -> None:
        """Take in keys of the records ``rows``."""
        if not len(codes):
            return
        self._chunks.append(codes)
        self._rows.add(rows)
        if not self._is_sieved:
            return
        if self._sieve is not None and self._rows.length <= self._sieve.most:
            self._sieve.add(codes)
        elif self._rows.length > RepeatSieve.WORTH:
            self._sieve = self._filled_sieve(2 * self._rows.length)  # to fill another one soon would take longer

    def _filled_sieve(self, count: int) -> RepeatSieve:
        """A sieve for some times as many codes as ``count``, with all that there are now."""
        sieve = RepeatSieve(count)
        for chunk in self._chunks:
            sieve.add(chunk)
        return sieve

    def freeze(self) -> None:
        """No more keys come: find what repeats, make ready for look-ups."""
        if self._sieve is None and self._is_sieved and self._rows.length > _MANY:
            self._sieve = self._filled_sieve(self._rows.length)
        if self._sieve is not None:
            self._find_repeats_among(*self._candidates())
            self._sieve = None
            return
        codes = np.concatenate(self._chunks) if self._chunks else np.empty(0, np.uint64)
        self._chunks = []
        finder: RankTable | HashTable | None = RankTable.of(codes) if self._integers else None
        if finder is None and self._lookups:
            finder = HashTable(codes)
        if finder is None or finder.has_repeats(codes):
            self._find_repeats_among(codes, np.arange(len(codes)))
        if self._lookups:
            self._finder, self._codes = finder, codes

    def _candidates(self) -> tuple[Codes, Rows]:
        """Codes that may appear twice, and their positions; no others are held any more then."""
        sieve = self._sieve
        assert sieve is not None

        def left() -> Iterator[tuple[Codes, int]]:
            before = 0
            self._chunks.reverse()
            while self._chunks:
                chunk = self._chunks.pop()
                yield chunk, before
                before += len(chunk)

        def among(given: tuple[Codes, int]) -> tuple[Codes, Rows]:
            chunk, before = given
            found = sieve.candidates(chunk)
            return chunk[found], found + before

        codes, places = zip(*(made for _, made in in_order(left(), among, self._jobs)), strict=True)
        return np.concatenate(codes), np.concatenate(places)

    def _find_repeats_among(self, codes: Codes, places: Rows) -> None:
        if len(codes) > _MANY:  # other bits of them tell most of those apart that share a place
            spread = first_words(codes) * ODD_1
            sieve = RepeatSieve(len(codes))
            sieve.add(spread)
            perhaps = sieve.candidates(spread)
            codes, places = codes[perhaps], places[perhaps]
        words = first_words(codes)
        # mostly nothing repeats, which the words alone, sorted, show in 60 % of the time that their places take, too
        ordered = np.sort(words)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if not len(twice):
            return
        where = np.flatnonzero(are_among(words, distinct(twice)))
        places = places[where]
        firsts, numbers = first_of_each(codes[where])
        self._keep_repeats(places, places[firsts[numbers]])

    def _keep_repeats(self, later: Rows, earlier: Rows) -> None:
        """Keep which records repeat one another, given positions of equal keys."""
        rows, firsts = self._rows_at(later), self._rows_at(earlier)
        clash = rows != firsts
        self._repeats = (rows[clash], firsts[clash])

    def _rows_at(self, positions: Rows) -> Rows:
        return self._rows.at(positions)

    def repeats(self) -> tuple[Rows, Rows]:
        """Rows whose key was in an earlier row, and those earlier rows."""
        return self._repeats

    def find(self, codes: Codes) -> npt.NDArray[np.int32]:
        """Look codes up once, for the questions below: the position of each among the keys, -1 where it is none."""
        assert self._finder is not None
        return self._finder.positions(codes)

    def are_keys(self, texts: Sequence[str]) -> list[bool]:
        """Of each text whether it is a key."""
        if self._finder is None or not texts:
            return [False] * len(texts)
        return (self.find(codes_of_texts(texts)) >= 0).tolist()  # type: ignore[no-any-return]

    def missing(self, found: npt.NDArray[np.int32]) -> Rows:
        """Which of the codes looked up are no key."""
        return np.flatnonzero(found < 0)

    def present(self, found: npt.NDArray[np.int32]) -> Rows:
        """Which of the codes looked up are a key."""
        return np.flatnonzero(found >= 0)

    def new_marks(self) -> Marks:
        """No key marked yet; one more place, for codes that are no key."""
        return np.zeros(self._rows.length + 1, np.bool_)

    def mark(self, found: npt.NDArray[np.int32], marks: Marks) -> None:
        """Remember that the keys looked up were named (any thread may)."""
        mark(marks, found)

    def unmarked(self, marks: Marks) -> Rows:
        """Rows of the keys that were never marked."""
        where = np.flatnonzero(~marks[:-1])
        # of a repeated key one position stands for all
        where = where[self.find(self._codes[where]) == where]
        return self._rows_at(where)

    def common(self, earlier: NumpyIndex) -> tuple[Rows, Rows]:
        """Rows here whose key ``earlier`` has, and the rows there."""
        positions = earlier.find(self._codes)
        # of a repeated key one position stands for all
        where = np.flatnonzero((positions >= 0) & (self.find(self._codes) == np.arange(len(self._codes))))
        return self._rows_at(where), earlier._rows_at(positions[where].astype(np.int64))


class NumpyConsistency:
    """Names that were given more than one value, over codes.

    A table remembers the first value of most names, so that a name that agrees costs a look; only names that find no
    place in it, and values that disagree, are kept and compared exactly. It is the library's where there is one, else
    one with a place per leading bits of the name.
    """

    _BITS = 21

    def __init__(self) -> None:
        self._firsts: FirstValues | None = None
        self._row_of: Rows = _NO_ROWS
        self._name_of: Codes | None = None
        self._value_of: Codes | None = None
        self._odd: list[tuple[Codes, Codes, Rows]] = []
        self._held = 0
        self._limit = 1 << 22

    def add_columns(
        self, columns: list[tuple[Codes, Codes, range]], asked: list[Marks] | None = None
    ) -> list[Marks] | None:
        """Take in names, values and rows of each of these columns, record by record: all, or what is ``asked`` for. In
        pieces, which names were not known before; None where nobody can say."""
        if library() is None:
            self.add(*NumpyBatch.interleaved(columns))
            return None
        pieces = _in_step(columns)
        fresh = [np.zeros(len(piece) * len(piece[0][2]), np.bool_) for piece in pieces]
        if asked is None or [*map(len, asked)] != [*map(len, fresh)]:
            asked = []
        for piece, those, new in zip_longest(pieces, asked, fresh):
            self._add_quickly(piece, those, new)
        return fresh

    def find_open(self, columns: list[tuple[Codes, Codes, range]]) -> list[Marks] | None:
        """What `add_columns` is to be asked for of these, as the rest is known; None: all. Any thread may ask."""
        firsts = self._firsts
        if firsts is None:
            return None
        return [firsts.find_open(*_flat(piece), len(piece[0][2])) for piece in _in_step(columns)]

    def add(self, names: Codes, values: Codes, rows: Any) -> None:
        """Take in that record ``row`` gives ``name`` this ``value``."""
        if not len(names):
            return
        if library() is not None:
            self._add_quickly([(names, values, rows)])
            return
        if self._name_of is None or self._value_of is None:
            self._row_of = np.full(1 << self._BITS, -1, np.int64)
            self._name_of, self._value_of = (np.zeros(len(self._row_of), of.dtype) for of in (names, values))
        places = (first_words(names) >> np.uint64(64 - self._BITS)).view(np.int64)
        new = np.flatnonzero(self._row_of[places] < 0)[::-1]  # backwards: of several for one place the first remains
        if len(new):
            self._name_of[places[new]] = names[new]
            self._value_of[places[new]] = values[new]
            self._row_of[places[new]] = _rows_at(rows, new)
        is_same = are_same(self._name_of[places], names)
        odd = np.flatnonzero(~(is_same & are_same(self._value_of[places], values)))
        if len(odd):
            self._keep(names[odd], values[odd], _rows_at(rows, odd))
            known = distinct(places[odd][is_same[odd]])
            if len(known):
                self._keep(self._name_of[known], self._value_of[known], self._row_of[known])

    def _add_quickly(
        self, columns: list[tuple[Codes, Codes, Any]], asked: Marks | None = None, fresh: Marks | None = None
    ) -> None:
        """The same of several columns that have the same rows, by the library."""
        names, values, rows = columns[0]
        kinds = names.dtype, values.dtype
        width, value_width = len(words_of(names)), len(words_of(values))
        if self._firsts is None:
            self._firsts = FirstValues(width, value_width, self._BITS)
        odd = self._firsts.add(*_flat(columns), len(names), rows, asked, fresh)
        if len(odd):
            self._keep(
                np.ascontiguousarray(odd[:, :width]).view(kinds[0]).ravel(),
                np.ascontiguousarray(odd[:, width:-1]).view(kinds[1]).ravel(),
                odd[:, -1].view(np.int64),
            )

    def _keep(self, names: Codes, values: Codes, rows: Rows) -> None:
        self._odd.append((names, values, rows))
        self._held += len(names)
        if self._held > self._limit:
            kept = self._compact()
            self._odd, self._held = [kept], len(kept[0])
            self._limit = max(self._limit, 2 * self._held)

    def _compact(self) -> tuple[Codes, Codes, Rows]:
        """What is kept, each pair of name and value once, with its first row, ordered by row."""
        names, values, rows = (np.concatenate(c) for c in zip(*self._odd, strict=True))
        by_row = np.argsort(rows, kind="stable")
        first, _ = first_of_each(names[by_row], values[by_row])
        chosen = by_row[np.sort(first)]
        return names[chosen], values[chosen], rows[chosen]

    def disagreements(self) -> tuple[Rows, Rows]:
        """Rows that disagree with an earlier one, and those earlier rows; nothing is held any more then."""
        self._firsts = self._name_of = self._value_of = None
        self._row_of = _NO_ROWS
        if not self._odd:
            return _NO_ROWS, _NO_ROWS
        names, _, rows = self._compact()
        self._odd = []
        firsts, numbers = first_of_each(names)
        if len(firsts) == len(names):
            return _NO_ROWS, _NO_ROWS
        clash = np.arange(len(names)) != firsts[numbers]
        first_rows = rows[firsts][numbers]
        return rows[clash], first_rows[clash]


def _flat(columns: list[tuple[Codes, Codes, Any]]) -> tuple[list[Codes], list[Codes]]:
    """The words of their names, and those of their values."""
    return [flat_words(names) for names, _, _ in columns], [flat_words(values) for _, values, _ in columns]


def _in_step(columns: list[tuple[Codes, Codes, range]]) -> list[list[tuple[Codes, Codes, range]]]:
    """The columns in pieces of consecutive rows, each with those columns that have all of its rows."""
    borders = sorted({border for _, _, rows in columns if rows for border in (rows.start, rows.stop)})
    pieces = []
    for begin, end in pairwise(borders):
        there = [
            (*column, slice(begin - column[2].start, end - column[2].start)) for column in columns if begin in column[2]
        ]
        pieces.append([(names[part], values[part], range(begin, end)) for names, values, _, part in there])
    return pieces


def _rows_at(rows: Any, positions: Rows) -> Rows:
    chosen: Rows = positions + rows.start if isinstance(rows, range) else np.asarray(rows)[positions]
    return chosen
