"""The edges of a graph as numbers, noted while its tables are filled: its shape is known without reading them again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes
    from ragdatakit.arrays.keys import NumpyIndex

    Numbers = npt.NDArray[np.int32]


_MOST_RELATIONS = 1 << 16


class EdgeNumbers:
    """``nodes`` are numbered in the order of their rows, ``relations`` anyhow.

    They are noted where they were ``wanted`` before the first of the tables was filled, and stand for edges (`whole`)
    where each node has a name of its own, each end is one of them, and relations are not very many.
    """

    def __init__(self) -> None:
        self.wanted = False
        self.nodes = self.edges = 0
        self._names: list[Codes] = []
        self._index: NumpyIndex | None = None
        self._relations: Codes | None = None
        self._of_relations: NumpyIndex | None = None
        self._ends: tuple[list[Numbers], ...] = ([], [], [])
        self._listed = True

    def begin_nodes(self) -> None:
        """The table of nodes is filled now; an attempt before this one may have failed."""
        self.__init__()  # type: ignore[misc]
        self.wanted = True

    def begin_edges(self) -> None:
        """The table of edges is filled now."""
        self.edges, self._ends, self._listed = 0, ([], [], []), True
        self._relations = self._of_relations = None

    def add_nodes(self, names: Codes) -> None:
        """The next nodes, by the codes of their names."""
        self._names.append(names)
        self.nodes += len(names)

    def add_edges(self, sources: Codes, targets: Codes, relations: Codes) -> None:
        """The next edges, by the codes of their ends and relations."""
        self.edges += len(sources)
        if not self._listed:
            return
        nodes = self._nodes_by_name()
        found = nodes.find(sources), nodes.find(targets), self._relation_numbers(relations)
        self._listed = not any(len(numbers) and numbers.min() < 0 for numbers in found)
        for kept, numbers in zip(self._ends, found, strict=True):
            kept.append(numbers)

    def _relation_numbers(self, codes: Codes) -> Numbers:
        """The numbers of relations; -1 where there are too many."""
        import numpy as np

        from ragdatakit.arrays.codes import first_of_each

        if self._of_relations is not None:
            found = self._of_relations.find(codes)
            if not len(found) or found.min() >= 0:
                return found
        else:
            found = np.full(len(codes), -1, np.int32)
        unknown = codes[found < 0]
        new = unknown[first_of_each(unknown)[0]]
        self._relations = new if self._relations is None else np.concatenate((self._relations, new))
        if len(self._relations) > _MOST_RELATIONS:
            return found
        self._of_relations = _index([self._relations])
        return self._of_relations.find(codes)

    def _nodes_by_name(self) -> NumpyIndex:
        if self._index is None:
            self._index = _index(self._names)
            self._names = []
        return self._index

    def whole(self, nodes: int, edges: int) -> bool:
        """Whether they are those of tables with so many rows."""
        if not self.wanted or not edges or (self.nodes, self.edges) != (nodes, edges):
            return False
        return self._listed and not len(self._nodes_by_name().repeats()[0])

    @property
    def relations(self) -> int:
        """How many relations edges name."""
        return 0 if self._relations is None else len(self._relations)

    @property
    def ends(self) -> tuple[Numbers, Numbers, Numbers]:
        """Sources, targets and relations of all edges."""
        import numpy as np

        for parts in self._ends:
            if len(parts) > 1:
                parts[:] = [np.concatenate(parts)]
        source, target, relation = (parts[0] for parts in self._ends)
        return source, target, relation


def _index(parts: list[Codes]) -> NumpyIndex:
    from ragdatakit.arrays.keys import NumpyIndex

    index, row = NumpyIndex(lookups=True, integers=False), 0
    for codes in parts:
        index.add(codes, range(row, row + len(codes)))
        row += len(codes)
    index.freeze()
    return index
