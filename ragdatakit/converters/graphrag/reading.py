"""Indexes of GraphRAG as rows of the canonical tables.

Claims whose two ends are entities are edges, called by their type; other claims are among the attributes of their
subject, and those about what is not an entity in the metadata of their text unit. Vectors are not read: they can be
made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from ragdatakit.converters import Options
from ragdatakit.converters.graphrag.columns import READ, SAID_ELSEWHERE, rest_of, row_of
from ragdatakit.converters.graphrag.extractions import edges_of, nodes_of
from ragdatakit.files.containers.json_text import dumps
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.graphrag.index import Index
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import Chunk, Community, Document, Edge, Node, Relation, Summary

RELATED = "RELATED"
"""What the edges are called: GraphRAG has no names for its relationships, only descriptions."""
_AT_ONCE = 1 << 12
"""Edges that are read together."""


def read(dataset: Dataset, records: RecordReader, options: Options) -> Mapping[str, RowSource]:
    """The tables of one dataset."""
    index = Index(dataset)
    reader = IndexReader(index, records)
    found: dict[str, RowSource] = {}
    if "documents" in index.tables:
        found["documents"] = reader.documents
    if "text-units" in index.tables:
        found["chunks"] = reader.chunks
    if "entities" in index.tables:
        found["nodes"] = reader.nodes
    if "relationships" in index.tables or "covariates" in index.tables:
        found |= {"relations": reader.relations, "edges": reader.edges}
    if "communities" in index.tables:
        found["communities"] = reader.communities
    if "reports" in index.tables:
        found["summaries"] = reader.summaries
    if files := dataset.of_kind("extraction"):

        def texts() -> Iterator[tuple[str, str]]:
            return ((PurePosixPath(file.name).name, records.text(file)) for file in files)

        found["nodes"] = lambda: nodes_of(texts)
        found["relations"] = lambda: iter((Relation(RELATED),))
        found["edges"] = lambda: edges_of(texts, RELATED)
    return found


@dataclass(slots=True)
class _Claims:
    """The claims between entities, those of an entity alone, and those of a text unit about something else."""

    edges: list[Edge] = field(default_factory=list)
    of_entities: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    of_units: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


class IndexReader:
    """The tables of one index."""

    def __init__(self, index: Index, records: RecordReader) -> None:
        self._index = index
        self._records = records

    @cached_property
    def _generation(self) -> str:
        return self._index.generation

    def _rows(self, kind: str, *names: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The rows of a table, as columns that have a value, with their numbers; those with errors are left out."""
        return ((number, row_of(names, row)) for number, row in self._values(kind, *names))

    def _values(self, kind: str, *names: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """The same, as values of these columns."""
        table = self._index.tables.get(kind)
        if table is None:
            return
        refused = self._records.refused.records(table.file)
        for number, row in enumerate(table.rows(*names)):
            if number in refused:
                self._records.leave_out(table.file, number, refused[number], row[0])
            else:
                yield number, row

    def _all(self, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The rows of a table with all columns that are read; values of others are in the account."""
        table = self._index.tables.get(kind)
        read = READ[kind]
        known = {*read, *SAID_ELSEWHERE.get(kind, ())}
        others = [name for name in table.columns if name not in known] if table is not None else []
        for number, row in self._rows(kind, *read, *others):
            for name in others:
                if table is not None and row.pop(name, None) is not None:
                    vector = name.endswith("_embedding")
                    why = "vectors, which can be made again, are not read" if vector else "the column is not read"
                    self._records.tell_once("lost", kind, name, why, table.file, number, row.get("id"))
            yield number, row

    def members(self, value: Any) -> tuple[str, ...]:
        """Ids in a list; before 1.0 several may be in one text, with commas between."""
        if not isinstance(value, list):
            return ()
        texts = [each for each in value if isinstance(each, str)]
        if self._generation in ("0.1", "0.5"):
            texts = [part for each in texts for part in each.split(",")]
        return tuple(dict.fromkeys(texts))

    def documents(self) -> Iterator[Document]:
        """The documents; their numbers, when one was made, and what else its input had, are metadata."""
        for _, row in self._all("documents"):
            text = row.get("text", row.get("raw_content", ""))
            yield Document(
                _as_text(row.get("id")), _as_text(text), row.get("title"), _object(self._rest("documents", row))
            )

    @cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        """By text unit: its document, and its place in it."""
        found: dict[str, tuple[str, int]] = {}
        for _, row in self._rows("documents", "id", "text_unit_ids"):
            for place, unit in enumerate(self.members(row.get("text_unit_ids"))):
                found.setdefault(unit, (_as_text(row.get("id")), place))
        return found

    def chunks(self) -> Iterator[Chunk]:
        """The text units, in their places in the documents."""
        counted: dict[str, int] = {}
        for _, row in self._all("text-units"):
            unit = _as_text(row.get("id"))
            documents = self.members(row.get("document_ids"))
            document = row.get("document_id") or (documents[0] if documents else None)
            of, place = self._places.get(unit, (None, None))
            if document is None:
                document = of
            if document is not None and (of != document or place is None):
                place = counted.get(document, 0)
            if document is not None and place is not None:
                counted[document] = max(counted.get(document, 0), place + 1)
            rest = self._rest("text-units", row)
            rest |= {"claims": claims} if (claims := self._claims.of_units.get(unit)) else {}
            yield Chunk(unit, _as_text(row.get("text")), document, place, metadata=_object(rest))

    def texts(self) -> Iterator[Chunk]:
        """The same text units, their texts and ids only."""
        for _, (unit, text) in self._values("text-units", "id", "text"):
            yield Chunk(_as_text(unit), _as_text(text))

    @cached_property
    def _titles(self) -> dict[str, str]:
        """The entities by their ids."""
        rows = self._rows("entities", "id", "title", "name")
        return {_as_text(row.get("id")): _as_text(row.get("title", row.get("name"))) for _, row in rows}

    @cached_property
    def _claims(self) -> _Claims:
        """The claims, by where they are reported."""
        entities = set(self._titles.values())
        found = _Claims()
        units = {_as_text(row.get("id")) for _, row in self._rows("text-units", "id")} if self._has_claims else set()
        for number, row in self._all("covariates"):
            subject, target, unit = (
                _as_text(row.get(name)) or None for name in ("subject_id", "object_id", "text_unit_id")
            )
            if subject in entities and target in entities:
                rest = {k: v for k, v in row.items() if k not in ("type", "subject_id", "object_id", "text_unit_id")}
                kind = _as_text(row.get("type")) or "CLAIM"
                found.edges.append(Edge(_as_text(subject), kind, _as_text(target), _object(rest), None, unit))
            elif subject in entities:
                claim = {k: v for k, v in row.items() if k != "subject_id"}
                found.of_entities.setdefault(_as_text(subject), []).append(claim)
            elif unit in units:
                claim = {k: v for k, v in row.items() if k != "text_unit_id"}
                found.of_units.setdefault(_as_text(unit), []).append(claim)
            else:
                file = self._index.tables["covariates"].file
                why = "a claim about what is not an entity, of no text unit"
                self._records.leave_out(file, number, why, subject)
        return found

    @property
    def _has_claims(self) -> bool:
        return "covariates" in self._index.tables

    def nodes(self) -> Iterator[Node]:
        """The entities, once each."""
        seen: set[str] = set()
        for number, row in self._all("entities"):
            name = _as_text(row.get("title", row.get("name")))
            if not name or name in seen:
                file = self._index.tables["entities"].file
                self._records.leave_out(file, number, "an entity without a title, or with one of another entity", name)
                continue
            seen.add(name)
            rest = self._rest("entities", row)
            if name in self._claims.of_entities:
                rest["claims"] = self._claims.of_entities[name]
            yield Node(name, row.get("type"), _object(rest))

    def edges(self) -> Iterator[Edge]:
        """The relationships, then the claims between entities."""
        for _, row in self._all("relationships"):
            units = self.members(row.get("text_unit_ids"))
            rest = self._rest("relationships", row)
            ends = _as_text(row.get("source")), _as_text(row.get("target"))
            yield Edge(ends[0], RELATED, ends[1], _object(rest), None, units[0] if units else None)
        yield from self._claims.edges

    def ends(self) -> Iterator[tuple[list[str], list[str]]]:
        """The sources and the targets of the same edges, some at a time."""
        ends = (row for _, row in self._values("relationships", "source", "target"))
        claims = ((edge.source, edge.target) for edge in self._claims.edges)
        for rows in (ends, claims):
            while some := list(islice(rows, _AT_ONCE)):
                sources, targets = zip(*some, strict=True)
                yield [*map(_as_text, sources)], [*map(_as_text, targets)]

    def rest_of(self, kind: str, names: Sequence[str], values: Sequence[Any]) -> str | None:
        """What is metadata, or attributes, of a row of a table that has values in these columns; without claims."""
        return _object(self._rest(kind, row_of(names, values)))

    def _rest(self, kind: str, row: dict[str, Any]) -> dict[str, Any]:
        return rest_of(kind, row, self.members)

    def relations(self) -> Iterator[Relation]:
        """The one name of all relationships, and the types of the claims."""
        usual = [RELATED for _ in islice(self._rows("relationships", "id"), 1)]
        yield from map(Relation, dict.fromkeys([*usual, *(edge.relation for edge in self._claims.edges)]))

    def _numbered(self, row: dict[str, Any]) -> str:
        """The number of a community; before 0.5 it was its id."""
        return _as_text(row.get("community", row.get("id")))

    def communities(self) -> Iterator[Community]:
        """The communities with their members, by the names of the nodes."""
        for _, row in self._all("communities"):
            number = self._numbered(row)
            members = tuple(self._titles[i] for i in self.members(row.get("entity_ids")) if i in self._titles)
            parent = row.get("parent")
            yield Community(
                number,
                row["level"] if type(row.get("level")) is int else 0,
                row.get("title"),
                _as_text(parent) if parent is not None and parent != -1 else None,
                members or self._node_members.get(number, ()),
                _object(self._rest("communities", row)),
            )

    @cached_property
    def _node_members(self) -> dict[str, tuple[str, ...]]:
        """The members by community as the table of nodes has them, before 0.5."""
        found: dict[str, dict[str, None]] = {}
        for _, row in self._rows("nodes", "title", "community"):
            if "title" in row and "community" in row:
                found.setdefault(_as_text(row["community"]), {})[_as_text(row["title"])] = None
        return {number: tuple(members) for number, members in found.items()}

    @cached_property
    def _reported(self) -> dict[str, str]:
        """The id of the report of each community."""
        rows = self._rows("reports", "id", "community")
        return {_as_text(row.get("community")): _as_text(row.get("id")) for _, row in rows}

    @cached_property
    def _below(self) -> dict[str, tuple[str, ...]]:
        """What the report of a community rests on: reports of the communities in it, else text units."""
        units: dict[str, tuple[str, ...]] = {}
        within: dict[str, list[str]] = {}
        for _, row in self._rows("communities", "id", "community", "parent", "text_unit_ids"):
            number = self._numbered(row)
            units[number] = self.members(row.get("text_unit_ids"))
            if row.get("parent") is not None:
                within.setdefault(_as_text(row["parent"]), []).append(number)
        return {
            number: tuple(self._reported[c] for c in within.get(number, ()) if c in self._reported) or units[number]
            for number in units
        }

    def summaries(self) -> Iterator[Summary]:
        """The reports; those of the deepest communities are on level 1."""
        levels = [row["level"] for _, row in self._rows("reports", "level") if type(row.get("level")) is int]
        deepest = max(levels, default=0)
        for _, row in self._all("reports"):
            level = row["level"] if type(row.get("level")) is int else deepest
            number = _as_text(row.get("community"))
            text = _as_text(row.get("full_content", row.get("summary")))
            yield Summary(
                _as_text(row.get("id")),
                max(deepest - level, 0) + 1,
                text,
                self._below.get(number, ()),
                _object(self._rest("reports", row)),
            )


def _as_text(value: Any) -> str:
    """An id or a name as text; a number that pandas made of one as an integer."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else str(value)


def _object(fields: dict[str, Any]) -> str | None:
    return dumps(fields) if fields else None
