"""The edges of a graph as numbers, noted while its tables are filled: its shape is known without reading them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes
    from ragdatakit.arrays.growing import GrowingArray
    from ragdatakit.arrays.keys import NumpyIndex
    from ragdatakit.database.text_facts import FactsWanted

    Numbers = npt.NDArray[np.int32]
    Rows = npt.NDArray[np.int64]


_MOST_RELATIONS, _MOST_UNLISTED = 1 << 16, 1 << 20


class EdgeNumbers:
    """Nodes are numbered in the order in which their names come: the ``nodes`` rows of their table except for
    ``repeated`` ones, then ends of edges that are ``unlisted``. Relations are numbered anyhow.

    They are noted where they were ``wanted`` before the first of the tables was filled, and stand for edges (`whole`)
    where neither relations nor such ends are very many (``few``). ``apart``: the tables may stay out of the database.
    """

    def __init__(self) -> None:
        self.wanted = self.apart = False
        self.nodes = self.edges = 0
        self._names: list[Codes] = []
        self._index: NumpyIndex | None = None
        self._relations: Codes | None = None
        self._of_relations: NumpyIndex | None = None
        self._ends: tuple[GrowingArray, ...] = ()
        self._unlisted: list[tuple[Rows, Codes]] = []
        self.few = True
        self._made: tuple[Numbers, Numbers, Numbers, Rows] | None = None
        self._degrees: tuple[Rows, Rows] | None = None
        self._renumbered: Numbers | None = None
        self._of_unlisted: NumpyIndex | None = None

    def want(self, facts: FactsWanted | None) -> None:
        """What is wanted of the tables that are filled next."""
        self.wanted, self.apart = facts is not None, facts is not None and facts.apart

    def begin_nodes(self) -> None:
        """The table of nodes is filled now; an attempt before this one may have failed."""
        apart = self.apart
        self.__init__()  # type: ignore[misc]
        self.wanted, self.apart = True, apart

    def begin_edges(self) -> None:
        """The table of edges is filled now."""
        self.edges, self._ends, self._unlisted, self.few = 0, (), [], True
        self._relations = self._of_relations = self._made = self._degrees = None

    def add_nodes(self, names: Codes) -> None:
        """The next nodes, by the codes of their names."""
        self._names.append(names)
        self.nodes += len(names)

    def add_edges(self, sources: Codes, targets: Codes, relations: Codes) -> Rows:
        """The next edges, by the codes of their ends and relations; which of them name a relation first, in the order
        of the numbers that these get."""
        import numpy as np

        first = self.edges
        self.edges += len(sources)
        if not self.few:
            return np.empty(0, np.int64)
        nodes = self._nodes_by_name()
        of_relations, new = self._relation_numbers(relations)
        found = nodes.find(sources), nodes.find(targets), of_relations
        for side, codes in enumerate((sources, targets)):
            missing = np.flatnonzero(found[side] < 0)
            if len(missing):
                self._unlisted.append((2 * (first + missing) + side, codes[missing]))
        self.few = not len(found[2]) or found[2].min() >= 0
        self.few &= sum(len(places) for places, _ in self._unlisted) <= _MOST_UNLISTED
        self._add_ends(found)
        return new

    def add_numbered(self, names: Codes, relations: Codes, ends: Sequence[Numbers]) -> None:
        """The next edges, whose sources, targets and relations have numbers; ``names`` and ``relations`` are codes of
        those that are new."""
        import numpy as np

        self.add_nodes(names)
        self._relations = relations if self._relations is None else np.concatenate((self._relations, relations))
        self.edges += len(ends[0])
        self._add_ends(ends)

    def _add_ends(self, ends: Sequence[Numbers]) -> None:
        from ragdatakit.arrays.growing import GrowingArray

        self._ends = self._ends or (GrowingArray(), GrowingArray(), GrowingArray())
        for kept, numbers in zip(self._ends, ends, strict=True):
            kept.extend(numbers)

    def _relation_numbers(self, codes: Codes) -> tuple[Numbers, Rows]:
        """The numbers of relations, -1 where there are too many; where the new ones come first."""
        import numpy as np

        from ragdatakit.arrays.codes import first_of_each

        if self._of_relations is not None:
            found = self._of_relations.find(codes)
            if not len(found) or found.min() >= 0:
                return found, np.empty(0, np.int64)
        else:
            found = np.full(len(codes), -1, np.int32)
        unknown = np.flatnonzero(found < 0)
        rows = unknown[first_of_each(codes[unknown])[0]]
        self._relations = codes[rows] if self._relations is None else np.concatenate((self._relations, codes[rows]))
        if len(self._relations) > _MOST_RELATIONS:
            return found, rows
        self._of_relations = _index([self._relations])
        return self._of_relations.find(codes), rows

    def _nodes_by_name(self) -> NumpyIndex:
        if self._index is None:
            self._index = _index(self._names)
            self._names = []
        return self._index

    def whole(self, nodes: int, edges: int) -> bool:
        """Whether they are those of tables with so many rows."""
        return self.wanted and self.few and edges > 0 and (self.nodes, self.edges) == (nodes, edges)

    @property
    def relations(self) -> int:
        """How many relations edges name."""
        return 0 if self._relations is None else len(self._relations)

    @property
    def per_relation(self) -> Rows:
        """How many edges name each relation."""
        import numpy as np

        from ragdatakit.scanner.keys import tally

        return tally(self._ends[2].whole, self.relations) if self._ends else np.zeros(self.relations, np.int64)

    @property
    def repeated(self) -> Rows:
        """The rows of nodes whose names have come before, in order."""
        import numpy as np

        return np.sort(self._nodes_by_name().repeats()[0])

    @property
    def unlisted(self) -> Rows:
        """Where each of the names that are no node's comes first, in order: twice the row, and one more of a target."""
        return self._all()[3]

    @property
    def ends(self) -> tuple[Numbers, Numbers, Numbers]:
        """Sources, targets and relations of all edges."""
        return self._all()[:3]

    @property
    def degrees(self) -> tuple[Rows, Rows]:
        """How many edges each node is the source of, and of how many it is the target."""
        from ragdatakit.scanner.keys import tally

        if self._degrees is None:
            source, target, _, unlisted = self._all()
            nodes = self.nodes - len(self.repeated) + len(unlisted)
            self._degrees = tally(source, nodes), tally(target, nodes)
        return self._degrees

    def find(self, names: Codes) -> Numbers:
        """The numbers of nodes by the codes of their names; -1 of those that are none."""
        import numpy as np

        self._all()
        found = self._nodes_by_name().find(names)
        if self._renumbered is not None:
            found = self._renumbered[found]
        if self._of_unlisted is not None:
            others = self._of_unlisted.find(names) + np.int32(self.nodes - len(self.repeated))
            found = np.where((found < 0) & (others >= self.nodes - len(self.repeated)), others, found)
        return found

    def rows_of(self, numbers: Rows) -> tuple[Rows, Rows]:
        """The rows of the nodes with these numbers, in order, as far as they have one; and where the others come
        first, as `unlisted` has it."""
        import numpy as np

        listed = self.nodes - len(self.repeated)
        of_rows, others = numbers[numbers < listed], numbers[numbers >= listed] - listed
        if len(self.repeated):
            of_rows = np.delete(np.arange(self.nodes), self.repeated)[of_rows]
        return of_rows, self.unlisted[others]

    def _all(self) -> tuple[Numbers, Numbers, Numbers, Rows]:
        import numpy as np

        from ragdatakit.arrays.codes import first_of_each

        if self._made is not None:
            return self._made
        source, target, relation = (kept.whole for kept in self._ends)
        repeated, unlisted = self.repeated, np.empty(0, np.int64)
        if len(repeated):
            is_first = np.ones(self.nodes, np.bool_)
            is_first[repeated] = False
            numbers = np.append(np.cumsum(is_first, dtype=np.int32) - np.int32(1), np.int32(-1))  # of none it is -1
            source, target, self._renumbered = numbers[source], numbers[target], numbers
        if self._unlisted:
            places, codes = (np.concatenate(parts) for parts in zip(*self._unlisted, strict=True))
            order = np.argsort(places)
            places, codes = places[order], codes[order]
            firsts, which = first_of_each(codes)
            unlisted = places[np.sort(firsts)]
            self._of_unlisted = _index([codes[np.sort(firsts)]])
            number_of = np.argsort(np.argsort(firsts)) + self.nodes - len(repeated)
            for side, numbers in enumerate((source, target)):
                here = places % 2 == side
                numbers[places[here] // 2] = number_of[which[here]]
            self._unlisted = []
        self._made = source, target, relation, unlisted
        return self._made


def _index(parts: list[Codes]) -> NumpyIndex:
    from ragdatakit.arrays.keys import NumpyIndex

    index, row = NumpyIndex(lookups=True, integers=False), 0
    for codes in parts:
        index.add(codes, range(row, row + len(codes)))
        row += len(codes)
    index.freeze()
    return index
