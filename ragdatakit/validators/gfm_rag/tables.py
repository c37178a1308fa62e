"""The tables of a GFM-RAG graph as they are read: which node and relation each name is, and what kind of name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.arrays.small_graphs import Graph, PlainGraph, RepeatedEdges
from ragdatakit.files.containers.csv_cells import Kind
from ragdatakit.files.reading.threads import Aside
from ragdatakit.validators.python_keys import PythonBatch
from ragdatakit.validators.row_problems import RowProblems

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes, SortedCodes
    from ragdatakit.validators.csv_parts import CsvTable

TABLES = ("nodes", "relations", "edges")
ENDS = ("source", "relation", "target")
_KEY_TABLE = {"source": "nodes", "target": "nodes", "relation": "relations"}
_KEYS_IN_WORDS = {"nodes": "node names", "relations": "relation names"}
_CLASS = {"integer": "numbers", "decimal": "numbers", "boolean": "booleans", "text": "text"}
_KIND_IN_WORDS = {"integer": "an integer", "decimal": "a number", "boolean": "a boolean"}
_ALL_NUMERIC = {"nodes": "nodes-all-numeric", "relations": "relations-all-numeric"}
LIKE_MENTION = re.compile("mention", re.I)


class GraphTables:
    """Nodes, relations and edges of one dataset: filled by the hooks of `FormatChecks`, asked by all other checks.

    Node and relation numbers count the readable keys in the order of their rows; of a repeated key the first counts.
    ``wants_names``: `node` will be asked. ``edge_files`` is how many files of edges there are. ``key_kinds`` are, by
    table, what pandas turns its keys into, chunk by chunk.
    """

    def __init__(self, wants_names: bool, edge_files: int = 1) -> None:
        self.wants_names = wants_names
        self._edge_files = edge_files
        self.types: dict[str, int] = {}
        self.relation_names: list[str] = []
        self.relation_rows: list[int] = []
        self.edge_rows = 0
        self.read: set[str] = set()
        self.key_kinds: dict[str, list[Kind]] = {}
        self._chunk_rows: dict[str, int] = {}
        self._first_rows: dict[str, int] = {}
        self._type_numbers: dict[str, int] = {}
        self._type_names: list[str] = []
        self._stored: _Plain | _Arrays | None = None
        self._graph: Graph | None = None
        self._repeats: Aside[RepeatedEdges] | None = None

    # reading

    def batch(self, kind: str, batch: Any, sets: Any) -> None:
        """Take in rows of one of the tables; the references of edges have been looked up before."""
        if self._stored is None:
            self._stored = _Plain() if isinstance(batch, PythonBatch) else _Arrays(self.wants_names, sets)
        if kind == "nodes":
            self._stored.add_nodes(batch, self._count_types)
        elif kind == "relations":
            names, rows = self._stored.relations(batch)
            self.relation_names += names
            self.relation_rows += rows
        else:
            self.edge_rows += self._stored.add_edges(batch)

    def _count_types(self, names: Sequence[str], numbers: Sequence[int]) -> list[int]:
        """The numbers of these types, each of which so many more nodes have."""
        for name, number in zip(names, numbers, strict=True):
            if number:
                self.types[name] = self.types.get(name, 0) + number
            if self._type_numbers.setdefault(name, len(self._type_names)) == len(self._type_names):
                self._type_names.append(name)
        return [self._type_numbers[name] for name in names]

    def accepts(self, kind: str, column: str, inferred: str) -> bool:
        """Whether names in a column of edges.csv can be found: only numbers among numbers, text among text."""
        if kind != "edges" or column not in _KEY_TABLE:
            return True
        kinds = self.key_kinds.get(_KEY_TABLE[column])
        return not kinds or _CLASS[inferred] in {_CLASS[k] for k in kinds}

    def finish_table(self, table: CsvTable) -> Iterator[RowProblems]:
        """What type inference did to the columns of one table."""
        self.read.add(table.kind)
        for column in table.inferred:
            if column == table.key or table.kind == "edges":
                yield from _fragile(table, column, table.kinds[column])
        yield from _number_attributes(table)
        if table.kind != "edges":
            kinds = table.kinds.get(table.key, [])
            self.key_kinds.setdefault(table.kind, []).extend(kinds)
            self._chunk_rows.setdefault(table.kind, table.chunk_rows)
            self._first_rows.setdefault(table.kind, table.first_row)
            if kinds and all(k != "text" for k in kinds):
                facts = {"kind": _KIND_IN_WORDS[kinds[0]]}
                yield RowProblems(_ALL_NUMERIC[table.kind], table.kind, "@key", [table.first_row], facts=[facts])
            return
        for column in table.inferred:
            yield from self._mismatches(table, column, table.kinds[column])
            yield from self._bare_mismatches(table, column)
        self._edge_files -= 1
        if len(self.read) == len(TABLES) and self._edge_files <= 0 and isinstance(self._stored, _Arrays):
            self._look_for_repeats()

    def _mismatches(self, table: CsvTable, column: str, kinds: list[Kind]) -> Iterator[RowProblems]:
        """Chunks of edges whose names are of a kind that no key is; chunks of keys whose kind no edge has."""
        keys_of = _KEY_TABLE[column]
        keys = self.key_kinds.get(keys_of, [])
        if not keys or not kinds:
            return
        for first, rows, kind in _runs(kinds, table.chunk_rows, table.rows):
            if not self.accepts("edges", column, kind):
                facts = {"column": column, "kind": _CLASS[kind], "rows": rows}
                facts |= {"keys": _KEYS_IN_WORDS[keys_of], "other": _CLASS[keys[0]]}
                yield RowProblems("kind-mismatch", "edges", f"@{column}", [table.first_row + first], facts=[facts])
        used = {_CLASS[k] for k in kinds}
        if len(keys) > 1 and len({_CLASS[k] for k in keys}) > 1 and column != "target":
            for first, rows, kind in _runs(keys, self._chunk_rows[keys_of], 1 << 62):
                if _CLASS[kind] not in used:
                    facts = {"column": "name", "kind": _CLASS[kind], "rows": min(rows, self._chunk_rows[keys_of])}
                    facts |= {"keys": f"the column {column} of edges.csv", "other": _CLASS[kinds[0]]}
                    yield RowProblems(
                        "kind-mismatch", keys_of, "@key", [self._first_rows[keys_of] + first], facts=[facts]
                    )

    def _bare_mismatches(self, table: CsvTable, column: str) -> Iterator[RowProblems]:
        """Chunks of edges that are text only thanks to cells that the entity loader takes for missing."""
        bare, kinds = table.bare_kinds[column], table.kinds[column]
        for first, rows, kind in _runs(bare, table.chunk_rows, table.rows):
            chunk = first // table.chunk_rows
            if bare[chunk] != kinds[chunk] and not self.accepts("edges", column, kind):
                facts = {"column": column, "kind": _CLASS[kind], "rows": rows}
                yield RowProblems(
                    "numbers-but-for-missing", "edges", f"@{column}", [table.first_row + first], facts=[facts]
                )

    def _look_for_repeats(self) -> None:
        """Begin to look for repeated edges: the questions are read and followed meanwhile."""
        self._repeats = Aside(self.graph().repeated_edges)

    def repeated_edges(self) -> RepeatedEdges:
        """Edges that are listed twice, in this or the other direction."""
        return self._repeats.result() if self._repeats is not None else self.graph().repeated_edges()

    # asking

    @property
    def usable(self) -> bool:
        """Whether the nodes could be read, so that names can be looked up."""
        return "nodes" in self.read and self._stored is not None and bool(self.types)

    def node(self, name: str) -> tuple[int, str] | None:
        """(number, type) of the node that the loader finds under a name; None if there is none."""
        found = self._stored.node(name) if self._stored is not None else None
        return (found[0], self._type_names[found[1]]) if found is not None else None

    def expect(self, names: list[str]) -> None:
        """These names will be asked for (a list without repeats)."""
        if isinstance(self._stored, _Arrays):
            self._stored.expect(names)

    def type_number(self, name: str) -> int:
        """The number of a type, -1 where no node has it."""
        return self._type_numbers.get(name, -1)

    def graph(self) -> Graph:
        """The graph that the graph loader makes of the tables."""
        if self._graph is None:
            self._graph = self._stored.graph() if self._stored is not None else PlainGraph(0, [], [], [])
        return self._graph

    @property
    def stored(self) -> _Plain | _Arrays | None:
        """The tables, as lists or as arrays."""
        return self._stored


def _runs(kinds: list[Kind], chunk_rows: int, rows: int) -> Iterator[tuple[int, int, Kind]]:
    """(first row, rows, kind) of consecutive chunks of one kind."""
    start = 0
    for number in range(1, len(kinds) + 1):
        if number == len(kinds) or _CLASS[kinds[number]] != _CLASS[kinds[start]]:
            first = start * chunk_rows
            yield first, min(number * chunk_rows, rows) - first, kinds[start]
            start = number


def _fragile(table: CsvTable, column: str, kinds: list[Kind]) -> Iterator[RowProblems]:
    """Columns of text that more rows, or one cell less, would turn into numbers."""
    scan = table.scans.get(column)
    if scan is None or not kinds or any(kind != "text" for kind in kinds):
        return
    field = f"@{column}"
    alone = scan.first_text if scan.texts == 1 else scan.first_huge if not scan.texts and scan.huge == 1 else -1
    if alone >= 0 and scan.numbers and scan.cells > 2:
        yield RowProblems("number-like-name", table.kind, field, [table.first_row + alone], facts=[{"column": column}])
    elif table.rows > table.chunk_rows and table.numbers[column]:
        facts = {"column": column, "numeric": table.numbers[column], "rows": table.rows}
        yield RowProblems("mixed-name-kinds", table.kind, field, [table.first_row], facts=[facts])


def _number_attributes(table: CsvTable) -> Iterator[RowProblems]:
    """Attributes that are nothing but numbers, chunk by chunk: nothing needs parsing."""
    for first, _, kind in _runs(table.kinds.get("attributes", []), table.chunk_rows, table.rows):
        if kind != "text":
            facts = {"reason": f"every cell is {_KIND_IN_WORDS[kind]}, and pandas leaves no text to be parsed"}
            yield RowProblems(
                "attributes-not-literal", table.kind, "attributes", [table.first_row + first], facts=[facts]
            )


class _Plain:
    """The tables of a small dataset, in Python's own lists."""

    def __init__(self) -> None:
        self.keys: dict[str, int] = {}
        self.relation_keys: dict[str, int] = {}
        self.names: dict[str, int] = {}
        self.node_types: list[int] = []
        self.node_rows: list[int] = []
        self.ends: dict[str, list[int]] = {end: [] for end in ENDS}
        self.rows: list[int] = []

    def add_nodes(self, batch: PythonBatch, count_types: Any) -> None:
        columns = batch.columns
        cells = zip(columns["@key"], columns["@spelled"], columns["type"], strict=True)
        for row, (key, spelled, kind) in enumerate(cells, batch.first_row):
            if key is None:
                continue
            (number,) = count_types([kind or ""], [1])
            self.keys.setdefault(key, len(self.node_types))
            self.names.setdefault(spelled, len(self.node_types))
            self.node_types.append(number)
            self.node_rows.append(row)

    def relations(self, batch: PythonBatch) -> tuple[list[str], list[int]]:
        names, rows = [], []
        for row, (key, spelled) in enumerate(
            zip(batch.columns["@key"], batch.columns["@spelled"], strict=True), batch.first_row
        ):
            if key is not None:
                self.relation_keys.setdefault(key, len(self.relation_keys))
                names.append(spelled)
                rows.append(row)
        return names, rows

    def add_edges(self, batch: PythonBatch) -> int:
        for end in ENDS:
            keys = self.relation_keys if end == "relation" else self.keys
            self.ends[end] += [keys.get(cell, -1) if cell is not None else -1 for cell in batch.columns[f"@{end}"]]
        count = len(batch.columns["@source"])
        self.rows += range(batch.first_row, batch.first_row + count)
        return count

    def node(self, name: str) -> tuple[int, int] | None:
        number = self.names.get(name)
        return (number, self.node_types[number]) if number is not None else None

    def numbers_of(self, names: Iterable[str], relations: bool = False) -> dict[str, int]:
        keys = self.relation_keys if relations else self.keys
        return {name: keys[name] for name in names if name in keys}

    def edges_with(self, end: str, number: int) -> list[int]:
        return [row for row, found in zip(self.rows, self.ends[end], strict=True) if found == number]

    def leads(self, source_type: int, target_type: int) -> bool:
        """Whether a usable edge leads from a node of one type to one of another."""
        kinds = self.node_types
        triples = zip(self.ends["source"], self.ends["relation"], self.ends["target"], strict=True)
        return any(min(s, r, t) >= 0 and kinds[s] == source_type and kinds[t] == target_type for s, r, t in triples)

    def edges_between(self, source_type: int, relation: int, target_type: int) -> list[int]:
        """Rows of the edges of a relation from a type to a type."""
        kinds = self.node_types
        triples = zip(self.rows, self.ends["source"], self.ends["relation"], self.ends["target"], strict=True)
        return [
            row
            for row, s, r, t in triples
            if r == relation and min(s, t) >= 0 and kinds[s] == source_type and kinds[t] == target_type
        ]

    def graph(self) -> Graph:
        return PlainGraph(len(self.node_types), self.ends["source"], self.ends["target"], self.ends["relation"])

    def row_of_edge(self, position: int) -> int:
        return self.rows[position]


class _Arrays:
    """The tables of a big dataset: node and relation numbers of each edge as 32-bit arrays."""

    def __init__(self, wants_names: bool, sets: Any) -> None:
        from ragdatakit.arrays.growing import GrowingArray

        self._wants_names = wants_names
        self._sets = sets
        self._types: list[npt.NDArray[np.int32]] = []
        self._names: list[Codes] = []
        self._known: dict[str, int] = {}
        self._spelled_as_keys = True
        self._sorted: SortedCodes | None = None
        self._found = {end: GrowingArray() for end in ENDS}
        self._first_row = -1

    def add_nodes(self, batch: Any, count_types: Any) -> None:
        import numpy as np

        numbers, names = batch.texts["type"]
        valid, codes = batch.valid["@key"], batch.columns["@spelled"]
        self._spelled_as_keys &= codes is batch.columns["@key"] or np.array_equal(codes, batch.columns["@key"])
        if valid is not None:
            numbers, codes = numbers[valid], codes[valid]
        if len(numbers) and numbers.min() < 0:
            numbers, names = np.where(numbers < 0, len(names), numbers), [*names, ""]
        types = np.array(count_types(names, np.bincount(numbers, minlength=len(names)).tolist()), np.int32)
        self._types.append(types[numbers])
        if self._wants_names:
            self._names.append(codes)

    def relations(self, batch: Any) -> tuple[list[str], list[int]]:
        numbers, names = batch.texts["@spelled"]
        found = [(names[n], batch.first_row + i) for i, n in enumerate(numbers.tolist()) if n >= 0]
        return [n for n, _ in found], [r for _, r in found]

    def add_edges(self, batch: Any) -> int:
        import numpy as np

        if self._first_row < 0:
            self._first_row = batch.first_row
        for end in ENDS:
            positions = batch.found.get(f"@{end}")
            valid = batch.valid.get(f"@{end}")
            if positions is None or valid is not None:
                whole = np.full(batch.length, -1, np.int32)
                if positions is not None and valid is not None:
                    whole[valid] = positions
                positions = whole
            self._found[end].extend(positions)
        return int(batch.length)

    @property
    def ends(self) -> dict[str, npt.NDArray[np.int32]]:
        """By end, the number of each edge's node or relation (-1: not found)."""
        return {end: found.whole for end, found in self._found.items()}

    @property
    def node_types(self) -> npt.NDArray[np.int32]:
        """The number of each node's type."""
        import numpy as np

        if len(self._types) != 1:
            self._types = [np.concatenate(self._types) if self._types else np.empty(0, np.int32)]
        return self._types[0]

    def expect(self, names: list[str]) -> None:
        """These names will be asked for: look them all up at once."""
        index = self._sets.lookup("nodes", "@key") if self._sets is not None else None
        if self._spelled_as_keys and index is not None:  # there is none where no edges refer to it
            found = self.numbers_of(names)
            self._known = {name: found.get(name, -1) for name in names}

    def node(self, name: str) -> tuple[int, int] | None:
        number = self._known.get(name)
        if number is None:
            number = self._number_of(name)
        return (number, int(self.node_types[number])) if number >= 0 else None

    def _number_of(self, name: str) -> int:
        """The number of a node whose name `expect` was not given, or that is spelled otherwise than its key."""
        import numpy as np

        from ragdatakit.arrays.codes import SortedCodes
        from ragdatakit.arrays.text_codes import codes_of_texts

        (wanted,) = codes_of_texts([name])
        if self._sorted is None:
            self._sorted = SortedCodes(np.concatenate(self._names)) if self._names else None
            self._names = []
        return self._sorted.position(wanted) if self._sorted is not None else -1

    def numbers_of(self, names: Iterable[str], relations: bool = False) -> dict[str, int]:
        from ragdatakit.arrays.text_codes import codes_of_texts

        index = self._sets.lookup("relations" if relations else "nodes", "@key") if self._sets is not None else None
        names = list(names)
        if index is None or not names:
            return {}
        found = index.find(codes_of_texts(names))
        return {name: int(number) for name, number in zip(names, found, strict=True) if number >= 0}

    def edges_with(self, end: str, number: int) -> Any:
        import numpy as np

        return np.flatnonzero(self.ends[end] == number) + self._first_row

    def _usable(self, relation: int | None = None) -> Any:
        ends = self.ends
        usable = (ends["source"] >= 0) & (ends["target"] >= 0)
        return usable & ((ends["relation"] >= 0) if relation is None else (ends["relation"] == relation))

    def leads(self, source_type: int, target_type: int) -> bool:
        """Whether a usable edge leads from a node of one type to one of another."""
        ends = self.ends
        is_source, is_target = self.node_types == source_type, self.node_types == target_type
        for begin in range(0, len(ends["source"]), 1 << 16):
            source, target, of = (ends[e][begin : begin + (1 << 16)] for e in ("source", "target", "relation"))
            found = is_source[source] & is_target[target] & (source >= 0) & (target >= 0) & (of >= 0)
            if found.any():
                return True
        return False

    def edges_between(self, source_type: int, relation: int, target_type: int) -> Any:
        """Rows of the edges of a relation from a type to a type."""
        import numpy as np

        kinds, ends = self.node_types, self.ends
        rows = np.flatnonzero(self._usable(relation))
        rows = rows[(kinds[ends["source"][rows]] == source_type) & (kinds[ends["target"][rows]] == target_type)]
        return rows + self._first_row

    def graph(self) -> Graph:
        from ragdatakit.arrays.graphs import NumpyGraph

        ends = self.ends
        return NumpyGraph(len(self.node_types), ends["source"], ends["target"], ends["relation"])

    def row_of_edge(self, position: int) -> int:
        return int(position) + self._first_row
