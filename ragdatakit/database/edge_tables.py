"""The edges of a graph in arrays: numbers of their ends and relations, and the names that these stand for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ragdatakit.database.apart_rows import BLANK, ColumnFacts
from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import PackedColumn, packed, packed_numbers, packed_texts
from ragdatakit.database.edge_numbers import EdgeNumbers
from ragdatakit.database.row_batches import schema_of
from ragdatakit.schemas.canonical import Edge

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int32]

_AT_ONCE, _DECIMALS = 1 << 16, 10_000
_MOST_TEXTS, _MOST_CHARACTERS = 1 << 16, 1 << 24
"""Attributes and provenances, and their characters, that are held."""


class ManyTexts(Exception):
    """So many edges have attributes or a provenance that a database holds them better."""


class Names:
    """Texts by their numbers."""

    def __init__(self) -> None:
        self._parts: list[PackedColumn] = []

    def add(self, column: PackedColumn) -> None:
        """The next ones, none of which is missing."""
        self._parts.append(column)

    @cached_property
    def _all(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        import numpy as np

        sizes, parts = [np.empty(0, np.int64)], [b""]
        for _, offsets, data in (column.buffers for column in self._parts):
            assert offsets is not None
            assert isinstance(data, bytes)
            places = np.frombuffer(offsets, np.int32).astype(np.int64)
            sizes.append(places[1:] - places[:-1])
            parts.append(data)
        joined = np.frombuffer(b"".join(parts), np.uint8)
        return joined, np.concatenate(([0], np.concatenate(sizes).cumsum()))

    def __getitem__(self, number: int) -> str:
        data, offsets = self._all
        return data[offsets[number] : offsets[number + 1]].tobytes().decode()

    def column(self, numbers: Numbers) -> PackedColumn:
        """A column of the texts that have these numbers."""
        return texts_at(*self._all, numbers)


def texts_at(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], numbers: npt.NDArray[Any]) -> PackedColumn:
    """A column of those texts that have these numbers among others, which are one behind the other in ``data`` between
    the offsets."""
    import numpy as np

    from ragdatakit.scanner.texts import gathered

    return packed_texts(*gathered(data, offsets[numbers], offsets[numbers + 1]), np.empty(0, np.int64))


def _counted(parts: Sequence[npt.NDArray[np.float64]]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The different numbers in ascending order, and how many there are of each; quick of such as confidences mostly
    are, from 0 to 1 and of few decimals."""
    import numpy as np

    from ragdatakit.arrays.code_tables import HashTable

    found = np.zeros(_DECIMALS + 1, np.int64)
    for part in parts:
        if len(part) and part.min() >= 0 and part.max() <= 1:
            places = np.rint(part * _DECIMALS)
            if not np.array_equal(places / _DECIMALS, part):
                break
            found += np.bincount(places.astype(np.int64), minlength=len(found))
        elif len(part):
            break
    else:
        different = np.flatnonzero(found)
        return different / _DECIMALS, found[different]
    numbers = np.concatenate(parts)
    codes = numbers.view(np.uint64)
    found = np.bincount(HashTable(codes).positions(codes))
    firsts = np.flatnonzero(found)
    order = np.argsort(numbers[firsts])
    return numbers[firsts][order], found[firsts][order]


class EdgeTable:
    """The table of edges, where it is ``known``: ``numbers`` are those of ends and relations, ``nodes`` and
    ``relations`` what these are called. Attributes and provenances are held of few edges only."""

    def __init__(self, numbers: EdgeNumbers) -> None:
        self.numbers = numbers
        self.begin(known=False)

    def begin(self, *, known: bool) -> None:
        """There are no edges; an attempt before this one may have failed."""
        self.known, self.rows = known, 0
        self.nodes = Names()
        self.relations: list[str] = []
        self._confidences: list[npt.NDArray[np.float64]] = []
        self.__dict__.pop("columns", None)
        self._texts: dict[str, dict[int, str]] = {"attributes": {}, "provenance": {}}
        self._characters = 0

    def add(self, confidences: npt.NDArray[np.float64], texts: Mapping[str, Mapping[int, str]]) -> None:
        """What else the next edges have: a confidence or NaN, and attributes and provenances, by row among these.
        Raises `ManyTexts`."""
        self._confidences.append(confidences)
        for name, some in texts.items():
            for row, text in some.items():
                self._texts[name][self.rows + row] = text
                self._characters += len(text)
            if len(self._texts[name]) > _MOST_TEXTS or self._characters > _MOST_CHARACTERS:
                raise ManyTexts
        self.rows += len(confidences)

    @cached_property
    def columns(self) -> dict[str, ColumnFacts]:
        """What is known of the columns; names are always there."""
        import numpy as np

        given = [part[~np.isnan(part)] if np.isnan(part).any() else part for part in self._confidences]
        values, counts = _counted([part + 0.0 for part in given])  # so that a zero has no sign
        if (is_zero := values == 0).any():  # with the sign that it has first
            values[is_zero] = next(zeros[0] for part in given if len(zeros := part[part == 0]))
        of_names = self.numbers.per_relation.tolist() if self.rows else []
        ends = [int(np.count_nonzero(degrees)) for degrees in self.numbers.degrees] if self.rows else [0, 0]
        finite = np.isfinite(values)
        return {
            "source": ColumnFacts(distinct=ends[0]),
            "relation": ColumnFacts(distinct=len(of_names), counts=dict(zip(self.relations, of_names, strict=True))),
            "target": ColumnFacts(distinct=ends[1]),
            "confidence": ColumnFacts(
                self.rows - int(counts.sum()), distinct=len(values), numbers=(values[finite], counts[finite])
            ),
        } | {
            name: ColumnFacts(
                self.rows - len(texts),
                sum(not text.strip(BLANK) for text in texts.values()),
                len({*texts.values()}) if name == "provenance" else None,
            )
            for name, texts in self._texts.items()
        }

    def column(self, name: str) -> ColumnFacts | None:
        """What is known of a column."""
        return self.columns.get(name)

    def rows_at(self, places: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Some edges."""
        return {place: self._edge(place)._asdict() for place in places}

    def _edge(self, row: int) -> Edge:
        source, target, relation = (int(ends[row]) for ends in self.numbers.ends)
        ends = list(accumulate(map(len, self._confidences)))
        part = bisect_right(ends, row)
        confidence = float(self._confidences[part][row - ends[part]])
        return Edge(
            self.nodes[source],
            self.relations[relation],
            self.nodes[target],
            self._texts["attributes"].get(row),
            confidence if confidence == confidence else None,
            self._texts["provenance"].get(row),
        )

    def give(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the table with the names."""
        schema = schema_of("edges")
        with incoming(connection, "held_edges", schema, self._batches()):
            connection.execute("create table main.edges as select * from held_edges")

    def _batches(self) -> Iterator[list[PackedColumn]]:
        import numpy as np

        source, target, relation = self.numbers.ends if self.rows else [np.empty(0, np.int32)] * 3
        kinds = schema_of("edges")
        all_confidences = np.concatenate([np.empty(0, np.float64), *self._confidences])
        for first in range(0, self.rows, _AT_ONCE):
            last = min(first + _AT_ONCE, self.rows)
            confidences = all_confidences[first:last]
            names = [self.relations[number] for number in relation[first:last].tolist()]
            attributes, provenance = (
                packed(kinds[name], [texts.get(row) for row in range(first, last)])
                for name, texts in self._texts.items()
            )
            yield [
                self.nodes.column(source[first:last]),
                packed(kinds["relation"], names),
                self.nodes.column(target[first:last]),
                attributes,
                packed_numbers(kinds["confidence"], confidences, np.flatnonzero(np.isnan(confidences))),
                provenance,
            ]
