"""Edges out of rows of tables, and the nodes and relations that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ragdatakit.converters.column_maps import ColumnMap
from ragdatakit.converters.usual_names import EDGE
from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, object_text
from ragdatakit.files.detection.plain_sources import split_of
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.files.reading.table_rows import Row, TableFile, text_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import Edge, Node, Relation

Names = tuple[str, str, str]
"""Source, relation and target."""


@dataclass(slots=True)
class GraphRows:
    """The edges of all files that have some.

    Names stay as they stand, blanks around them too. Nodes come in the order in which edges name them; memory holds
    their names.
    """

    files: Sequence[tuple[TableFile, ColumnMap]]

    def sources(self) -> dict[str, Callable[[list[Note]], Iterator[Any]]]:
        """The rows of each table."""
        return {"nodes": self.nodes, "relations": self.relations, "edges": self.edges}

    def nodes(self, notes: list[Note]) -> Iterator[Node]:
        """Each node once."""
        seen: set[str] = set()
        for source, _, target in self._triples():
            for name in (source, target):
                if name not in seen:
                    seen.add(name)
                    yield Node(name)

    def relations(self, notes: list[Note]) -> Iterator[Relation]:
        """Each relation once."""
        seen: set[str] = set()
        for _, relation, _ in self._triples():
            if relation not in seen:
                seen.add(relation)
                yield Relation(relation)

    def edges(self, notes: list[Note]) -> Iterator[Edge]:
        """A row an edge, in the order of the files; its split and its other columns are attributes."""
        for file, columns in self.files:
            split = split_of(file.file.path) if "split" not in columns.columns else None
            of_split = object_text({"split": Raw(dumps(split).encode())}) if split else None
            names = [columns.columns[target] for target in EDGE]
            others = _others(columns)
            number = 0
            for number, cells in enumerate(file.rows(notes), 1):
                triple = _triple(cells, names)
                if triple is None:
                    shown = " ".join(text_of(cell) or "" for cell in cells.values())
                    why = "a row without a source, relation or target"
                    notes.append(("dropped", "edges", None, why, f"{file.file.name}: {number}: {shown}"))
                    continue
                attributes = of_split
                if len(cells) > len(EDGE):
                    attributes = object_text(_attributes(cells, columns, others, split, notes))
                yield Edge(*triple, attributes)
            file.file.records = number

    def _triples(self) -> Iterator[Names]:
        for file, columns in self.files:
            names = [columns.columns[target] for target in EDGE]
            for cells in file.rows([]):
                triple = _triple(cells, names)
                if triple is not None:
                    yield triple


def _triple(cells: Row, names: list[str]) -> Names | None:
    """The names in a row; None where one is missing or has only blanks."""
    found = [cells.get(name) for name in names]
    source, relation, target = [cell if isinstance(cell, str) else text_of(cell) for cell in found]
    if not source or not relation or not target:
        return None
    return None if source.isspace() or relation.isspace() or target.isspace() else (source, relation, target)


def _others(columns: ColumnMap) -> Callable[[str], bool]:
    """Whether a column is one that the map passes on as it is."""
    used = columns.used()
    wanted = columns.metadata
    return lambda name: name not in used and (wanted is None or name in wanted)


def _attributes(
    cells: Row, columns: ColumnMap, passed_on: Callable[[str], bool], split: str | None, notes: list[Note]
) -> dict[str, Raw]:
    """The split and the further columns of a row; a column of attributes gives its members."""
    used = columns.used()
    found: dict[str, Raw] = {}
    for name, cell in cells.items():
        if name in used or cell is None or cell == "" or (isinstance(cell, Raw) and bytes(cell) == b"null"):
            continue
        if not passed_on(name):
            notes.append(("lost", "table", name, "the map has no place for it", text_of(cell)))
        elif name == "attributes" and isinstance(cell, Raw) and bytes(cell)[:1] == b"{":
            found |= {key: value for key, value in fields_of(cell).items() if key not in found}
        else:
            found[name] = cell if isinstance(cell, Raw) else Raw(dumps(cell).encode())
    part = split or text_of(cells.get(columns.columns.get("split", ""))) or None
    if part is not None:
        found.setdefault("split", Raw(dumps(part).encode()))
    return found
