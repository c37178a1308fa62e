"""Proofs by arrays of codes: what takes joins of millions of rows to find, they show to be absent in a fifth of the
time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.code_tables import HashTable, RankTable
from ragdatakit.arrays.codes import mix, words_of
from ragdatakit.validators.graphrag.coded_columns import Coded
from ragdatakit.validators.graphrag.proofs import Proofs

Places = npt.NDArray[np.int32]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint64]

_MOST_LEVELS = 40
_PIECE = 1 << 14
_KEYS = ("id", "title", "community")
_NAMED = {
    ("relationships", "id"): (("communities", "relationship_ids"), ("text-units", "relationship_ids")),
    ("entities", "title"): (("relationships", "source"), ("relationships", "target"), ("covariates", "subject_id")),
    ("entities", "id"): (("communities", "entity_ids"), ("text-units", "entity_ids")),
    ("text-units", "id"): (
        ("relationships", "text_unit_ids"),
        ("communities", "text_unit_ids"),
        ("entities", "text_unit_ids"),
        ("documents", "text_unit_ids"),
        ("covariates", "text_unit_id"),
    ),
}
"""By column, the columns that hold its values."""
_NOTHING = np.empty(0, np.uint64)


class ArrayProofs(Proofs):
    """``columns`` has, by kind, the columns that could be read and have no null."""

    def __init__(self, columns: Mapping[str, dict[str, Coded]]) -> None:
        self._columns = columns
        self._has_all_once = cache(self._is_unique)
        self._found: dict[tuple[str, str], Places] = {}
        self._numbered = cache(self._make_table)
        for (to_kind, to_column), named in _NAMED.items():  # one after the other: each takes a table of its own
            for kind, column in named:
                if self.has(kind, column) and self.has(to_kind, to_column):
                    self._places(kind, column, to_kind, to_column)
            self.is_unique(to_kind, to_column)
            self._numbered.cache_clear()

    def forget(self) -> None:
        self.__dict__.clear()

    def has(self, kind: str, *columns: str) -> bool:
        known = self._columns.get(kind, {})
        return all(column in known for column in columns)

    def has_like_lengths(self, kind: str, shortest: int) -> bool:
        lengths = self._columns[kind]["id"].lengths if self.has(kind, "id") else None
        return lengths is not None and (len(lengths) <= 1 or max(lengths) < shortest)

    def has_words(self, kind: str) -> bool:
        return self.has(kind, "id") and self._columns[kind]["id"].has_words

    def resolves(self, kind: str, column: str, to_kind: str, to_column: str) -> bool:
        if not self.has(kind, column) or not self.has(to_kind, to_column):
            return False
        places = self._places(kind, column, to_kind, to_column)
        return not len(places) or int(places.min()) >= 0

    def is_unique(self, kind: str, column: str) -> bool:
        return self._has_all_once(kind, column)

    def _is_unique(self, kind: str, column: str) -> bool:
        if not self.has(kind, column):
            return False
        codes = self._columns[kind][column].codes
        own = np.arange(len(codes), dtype=np.int32)
        return np.array_equal(codes, own) or not self._numbered(kind, column).has_repeats(codes)

    def _make_table(self, kind: str, column: str) -> RankTable | HashTable:
        codes = self._columns[kind][column].codes
        if column in ("community", "human_readable_id"):
            return RankTable.of(codes) or HashTable(codes)
        return HashTable(codes)

    def _places(self, kind: str, column: str, to_kind: str, to_column: str) -> Places:
        """The row that each value of a column names; a column names those of one other only."""
        if (kind, column) not in self._found:
            held = self._columns[kind][column]
            self._found[kind, column] = self._numbered(to_kind, to_column).positions(held.codes)
            if column not in _KEYS:  # of what only refers to others the places are enough
                held.codes = _NOTHING
        return self._found[kind, column]

    def _counts(self, kind: str, column: str) -> Places | None:
        return self._columns[kind][column].counts

    def _numbers(self, kind: str, column: str) -> Integers:
        return self._columns[kind][column].codes.view(np.int64)

    # Relationships.

    def has_ends(self) -> bool:
        return all(self.resolves("relationships", end, "entities", "title") for end in ("source", "target"))

    @cached_property
    def _ends(self) -> tuple[Places, Places] | None:
        """The rows of the entities at the ends of each relationship, where they are certain."""
        if not self.has_ends() or not self.is_unique("entities", "title"):
            return None
        source, target = (self._places("relationships", end, "entities", "title") for end in ("source", "target"))
        return source, target

    @cached_property
    def _degrees(self) -> Integers | None:
        if self._ends is None:
            return None
        source, target = self._ends
        count = len(self._columns["entities"]["title"].codes)
        pairs = _pairs(np.minimum(source, target), np.maximum(source, target))
        degrees = np.bincount(source, minlength=count) + np.bincount(target, minlength=count)
        if not HashTable(pairs.view(np.uint64)).has_repeats(pairs.view(np.uint64)):
            return degrees
        pairs.sort()
        again = np.flatnonzero(pairs[1:] == pairs[:-1])  # which do not count
        for ends in (pairs[again] >> 32, pairs[again] & 0xFFFFFFFF):
            degrees -= np.bincount(ends, minlength=count)
        return degrees

    def has_degrees(self) -> bool:
        degrees = self._degrees if self.has("entities", "degree") else None
        return degrees is not None and np.array_equal(self._numbers("entities", "degree"), degrees)

    def has_combined_degrees(self) -> bool:
        degrees = self._degrees if self.has("relationships", "combined_degree") else None
        if degrees is None or self._ends is None:
            return False
        source, target = self._ends
        return np.array_equal(self._numbers("relationships", "combined_degree"), degrees[source] + degrees[target])

    # Text units and what they name.

    def has_frequencies(self) -> bool:
        counts = (
            self._counts("entities", "text_unit_ids") if self.has("entities", "frequency", "text_unit_ids") else None
        )
        return counts is not None and np.array_equal(self._numbers("entities", "frequency"), counts)

    def has_text_units(self) -> bool:
        if not self.has("entities", "text_unit_ids"):
            return False
        held = self._columns["entities"]["text_unit_ids"]
        return held.counts is not None and held.size > 0  # a column that is no list names none

    def mirrors(self, kind: str, column: str, other: str, back: str) -> bool:
        if not self.is_unique(kind, "id") or not self.is_unique(other, "id"):
            return False
        if not self.resolves(kind, column, other, "id") or not self.resolves(other, back, kind, "id"):
            return False
        listed, named = self._places(kind, column, other, "id"), self._places(other, back, kind, "id")
        rows = self._rows(kind, column)
        del self._found[kind, column], self._columns[kind][column]  # nothing else asks for it
        if len(listed) != len(named):
            return False
        own, others = self._columns[kind]["id"].codes, self._columns[other]["id"].codes
        here = _sum_of_pairs((own, rows), (others, listed))
        return here == _sum_of_pairs((own, named), (others, self._rows(other, back)))

    def _rows(self, kind: str, column: str) -> Places:
        """The row of each value of a column."""
        return _owners(self._columns[kind][column])

    # Communities.

    @cached_property
    def _parents(self) -> Places | None:
        """The row of the parent of each community, -1 where it has none; None where the hierarchy is not proved."""
        if not self.has("communities", "community", "level", "parent") or not self.is_unique(
            "communities", "community"
        ):
            return None
        level, parent = self._numbers("communities", "level"), self._numbers("communities", "parent")
        if not len(level):
            return None
        place = self._numbered("communities", "community").positions(parent.view(np.uint64))
        is_root = parent == -1
        if not np.array_equal(is_root, level == level.min()) or int(place[~is_root].min(initial=0)) < 0:
            return None
        if not np.array_equal(level[place[~is_root]], level[~is_root] - 1):
            return None
        place[is_root] = -1
        return place

    def has_hierarchy(self) -> bool:
        return self._parents is not None

    def has_children(self) -> bool:
        if self._parents is None or not self.has("communities", "children"):
            return False
        listed = self._columns["communities"]["children"]
        places = self._numbered("communities", "community").positions(listed.codes)
        below = np.flatnonzero(self._parents >= 0).astype(np.int32)
        return _same(_pairs(_owners(listed), places), _pairs(self._parents[below], below))

    @cached_property
    def _members(self) -> tuple[dict[int, Places], Integers] | None:
        """By level, the row of the community that each entity is in (-1: none), and the level of each community.

        None where an entity is in several of a level.
        """
        if not self.has("communities", "level") or not self.is_unique("entities", "id"):
            return None
        if not self.resolves("communities", "entity_ids", "entities", "id"):
            return None
        level = self._numbers("communities", "level")
        entities = self._places("communities", "entity_ids", "entities", "id")
        owners = self._rows("communities", "entity_ids")
        levels = set(level.tolist())  # np.unique loads modules that take longer
        if len(levels) > _MOST_LEVELS:
            return None
        found: dict[int, Places] = {}
        for number in levels:
            here = level[owners] == number
            of = np.full(len(self._columns["entities"]["id"].codes), -1, np.int32)
            of[entities[here]] = owners[here]
            if not np.array_equal(of[entities[here]], owners[here]):
                return None
            found[number] = of
        return found, level

    def has_all_entities(self) -> bool:
        if self._members is None:
            return False
        within = np.zeros(len(self._columns["entities"]["id"].codes), np.bool_)
        for of in self._members[0].values():
            within |= of >= 0
        return bool(within.all())

    def has_members_in_parents(self) -> bool:
        if self._members is None or self._parents is None:
            return False
        return self._are_members(
            self._places("communities", "entity_ids", "entities", "id"),
            self._parents[self._rows("communities", "entity_ids")],
        )

    def _are_members(self, entities: Places, communities: Places) -> bool:
        """Whether each entity is in the community beside it; -1 stands for no community."""
        found, level = self._members or ({}, np.empty(0, np.int64))
        for start in range(0, len(entities), _PIECE):
            piece = slice(start, start + _PIECE)
            there = communities[piece] >= 0
            members, of = entities[piece][there], communities[piece][there]
            levels = level[of]
            for number, expected in found.items():
                here = levels == number
                if not np.array_equal(expected[members[here]], of[here]):
                    return False
        return True

    def has_own_relationships(self) -> bool:
        if self._members is None or self._ends is None or not self.is_unique("relationships", "id"):
            return False
        if not self.resolves("communities", "relationship_ids", "relationships", "id"):
            return False
        places = self._places("communities", "relationship_ids", "relationships", "id")
        owners = self._rows("communities", "relationship_ids")
        return all(self._are_members(end[places], owners) for end in self._ends)

    def has_top_level(self, reported: bool) -> bool:
        if not self.has("communities", "level"):
            return False
        top = self._numbers("communities", "level") == 0
        if not reported:
            return bool(top.any())
        if not self.has("communities", "community") or not self.has("reports", "community"):
            return False
        return bool((self._places("communities", "community", "reports", "community")[top] >= 0).any())


def _owners(column: Coded) -> Places:
    """The row of each value of a column."""
    if column.counts is None:
        return np.arange(column.size, dtype=np.int32)
    return np.repeat(np.arange(len(column.counts), dtype=np.int32), column.counts)


def _sum_of_pairs(first: tuple[Codes, Places], second: tuple[Codes, Places]) -> list[int]:
    """Sums that are the same for the same pairs of codes in another order; given are codes, and which to take."""
    found = [0, 0]
    for start in range(0, len(first[1]), _PIECE):
        here, there = (codes[places[start : start + _PIECE]] for codes, places in (first, second))
        for n, words in enumerate(words_of(mix(here, there))):
            found[n] = (found[n] + int(words.sum(dtype=np.uint64))) & 0xFFFFFFFFFFFFFFFF
    return found


def _pairs(first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> Integers:
    found = first.astype(np.int64)
    found <<= 32
    found |= second
    return found


def _same(here: Integers, there: Integers) -> bool:
    """Whether two arrays have the same numbers, as often; both are sorted."""
    if len(here) != len(there):
        return False
    here.sort()
    there.sort()
    return np.array_equal(here, there)
