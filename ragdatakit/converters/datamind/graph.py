"""DataMind's triplet files: into nodes and edges, and out of them in the form that both of its loaders take.

v1 keeps the properties of entities and loses those of edges, v2 the other way round: a written triple has both.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import count, repeat
from typing import TYPE_CHECKING, Any

import msgspec

from ragdatakit.converters.free_names import FreeNames
from ragdatakit.files.containers.json_text import Raw, fields_of, loads, object_text, string_of
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.canonical import Edge, Node

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.files.reading.kept_rows import Columns
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.outputs.written_files import IdKind, Output

NODE_COLUMNS = ("name", "type", "attributes")
EDGE_COLUMNS = ("source", "relation", "target", "attributes", "confidence", "provenance")
_FIELDS = frozenset(
    {"subject", "relation", "object", "subject_type", "object_type", "subject_properties", "object_properties"}
    | {"properties", "confidence", "source"}
)


_NONE = Raw(b"")


class _Line(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A triple as most sets have it, which is read at once; others are read field by field."""

    subject: str
    relation: str
    object: str
    subject_type: str | None = None
    object_type: str | None = None
    subject_properties: Raw = _NONE
    object_properties: Raw = _NONE
    properties: Raw = _NONE
    confidence: float | None = None
    source: str | None = None


_LINE = msgspec.json.Decoder(_Line)
_Lines = Sequence[Any]
"""Lines as `_Line`, or as their fields where they are otherwise."""


class Triple(NamedTuple):
    """A line of a triplet file: an edge, and what it says of the nodes at its ends."""

    source: str
    relation: str
    target: str
    source_type: str | None
    target_type: str | None
    source_attributes: str | None
    target_attributes: str | None
    attributes: str | None
    confidence: float | None
    provenance: str | None


def node_and_edge_columns(
    files: list[DataFile], records: RecordReader, wanted: Container[int]
) -> Iterator[tuple[Columns, Columns]]:
    """The triples of all files as columns of nodes and of edges, of which 0 and 1 are wanted, block by block; names
    without the white space around them, as v1 keeps them. Each entity is once among the nodes, with the type and the
    properties of the first triple that names it."""
    seen: set[str] = set()
    for file, first, lines in _blocks_of(files, records):
        nodes: list[Node] = []
        edges: Columns = ()
        names = _plain_names(lines)
        if names is None:
            each = (triple_of(records, file, number, fields) for number, fields in enumerate(lines, first))
            found = [triple for triple in each if triple is not None]
            edges = _columns([Edge(*one[:3], *one[7:]) for one in found])
            for one in found if 0 in wanted else ():
                if one.source not in seen:
                    nodes.append(Node(one.source, one.source_type, one.source_attributes))
                    seen.add(one.source)
                if one.target not in seen:
                    nodes.append(Node(one.target, one.target_type, one.target_attributes))
                    seen.add(one.target)
        else:
            if 0 in wanted and not (seen.issuperset(names[0]) and seen.issuperset(names[2])):
                nodes = list(_new_nodes(lines, seen))
            edges = _plain_columns(names, lines) if 1 in wanted else ()
        yield _columns(nodes), edges


def _columns(rows: Sequence[tuple[Any, ...]]) -> Columns:
    return list(zip(*rows, strict=True))


def _new_nodes(lines: _Lines, seen: set[str]) -> Iterator[Node]:
    """The entities of plain lines that were not ``seen``, which they are then."""
    for line in lines:
        if line.subject not in seen:
            seen.add(line.subject)
            yield Node(line.subject, line.subject_type, properties_of(line.subject_properties))
        if line.object not in seen:
            seen.add(line.object)
            yield Node(line.object, line.object_type, properties_of(line.object_properties))


def _plain_columns(names: tuple[list[str], list[str], list[str]], lines: _Lines) -> Columns:
    attributes = [properties_of(raw) if (raw := line.properties) is not _NONE else None for line in lines]
    return *names, attributes, [line.confidence for line in lines], [line.source or None for line in lines]


def triples(files: list[DataFile], records: RecordReader) -> Iterator[Triple]:
    """The lines of all files that have a subject, a relation and an object."""
    for file, number, fields in _lines_of(files, records):
        if (found := triple_of(records, file, number, fields)) is not None:
            yield found


def _lines_of(files: list[DataFile], records: RecordReader) -> Iterator[tuple[DataFile, int, _Line | dict[str, Raw]]]:
    for file, first, lines in _blocks_of(files, records):
        yield from zip(repeat(file), count(first), lines)


def _blocks_of(files: list[DataFile], records: RecordReader) -> Iterator[tuple[DataFile, int, _Lines]]:
    """Lines that are decoded together, with their file and the number of the first of them."""
    for file in files:
        for first, lines in records.shaped_blocks(file, _LINE):
            yield file, first, lines


def _plain_names(lines: _Lines) -> tuple[list[str], list[str], list[str]] | None:
    """Subjects, relations and objects of lines of which there is nothing to say; None where there may be."""
    if set(map(type, lines)) != {_Line}:
        return None
    given = [line.subject for line in lines], [line.relation for line in lines], [line.object for line in lines]
    plain = all("" not in column and list(map(str.strip, column)) == column for column in given)
    return given if plain else None


def triple_of(records: RecordReader, file: DataFile, number: int, fields: _Line | dict[str, Raw]) -> Triple | None:
    """The triple on a line; None where it is left out."""
    names = _names_in(records, file, number, fields)
    return _triple(names, fields) if names is not None else None


def _triple(names: tuple[str, str, str], fields: _Line | dict[str, Raw]) -> Triple:
    return _of_fields(names, fields) if isinstance(fields, dict) else _of_line(names, fields)


def _names_in(
    records: RecordReader, file: DataFile, number: int, fields: _Line | dict[str, Raw]
) -> tuple[str, str, str] | None:
    """Subject, relation and object on a line, without white space around them; None where it is left out."""
    if isinstance(fields, dict):
        subject, relation, target = (string_of(fields.get(n)) or "" for n in ("subject", "relation", "object"))
    else:
        subject, relation, target = fields.subject, fields.relation, fields.object
    given = subject, relation, target
    names = subject.strip(), relation.strip(), target.strip()
    if "" in names:
        records.leave_out(file, number, "a triple without a subject, relation or object", names[0] or names[2])
        return None
    if names != given:
        for name, as_given in zip(names, given, strict=True):
            if name != as_given:
                records.tell_once("coerced", "edges", None, "white space around a name", file, number, as_given)
    return names


def _of_line(names: tuple[str, str, str], line: _Line) -> Triple:
    return Triple(
        *names,
        line.subject_type,
        line.object_type,
        properties_of(line.subject_properties),
        properties_of(line.object_properties),
        properties_of(line.properties),
        line.confidence,
        line.source or None,
    )


def _of_fields(names: tuple[str, str, str], fields: dict[str, Raw]) -> Triple:
    attributes = _object(fields.get("properties"))
    for name, value in fields.items():
        if name not in _FIELDS and bytes(value) != b"null":
            attributes.setdefault(name, value)
    return Triple(
        *names,
        string_of(fields.get("subject_type")),
        string_of(fields.get("object_type")),
        properties_of(fields.get("subject_properties")),
        properties_of(fields.get("object_properties")),
        object_text(attributes),
        _number(fields.get("confidence")),
        string_of(fields.get("source")) or None,
    )


def properties_of(raw: Raw | None) -> str | None:
    """The members of an object as compact text; None where there are none."""
    if raw is None or raw is _NONE or bytes(raw) in _NO_PROPERTIES:
        return None
    return object_text(_object(raw))


_NO_PROPERTIES = (b"{}", b"null")


def _object(raw: Raw | None) -> dict[str, Raw]:
    return fields_of(raw) if raw is not None and bytes(raw)[:1] == b"{" else {}


def _number(raw: Raw | None) -> float | None:
    """A confidence as the loaders take it: texts and booleans that are numbers, too."""
    try:
        value = float(loads(raw)) if raw is not None else None
    except (TypeError, ValueError, OverflowError):
        return None
    return value if value is not None and math.isfinite(value) else None


def write_triples(tables: CanonicalTables, out: Output, path: str) -> None:
    """One line an edge; nodes and relations are in the edges that name them, and nowhere else."""
    nodes: dict[str, Node] = {}
    unused: set[str] = set()
    names, relation_names = _Names(out, "node"), _Names(out, "relation")
    for node in tables.take("nodes", *NODE_COLUMNS):
        if node.name in nodes:
            tables.drop("nodes", node, "the first node of a name counts")
        else:
            nodes[node.name] = node
            unused.add(node.name)
            names.reserve(node.name)
    for relation in tables.peek("relations"):
        relation_names.reserve(relation.name)
    relations: set[str] = set()
    lines = _lines(tables, nodes, unused, relations, names, relation_names)
    first = next(lines, None)
    if first is not None:
        with out.lines(path) as writer:
            writer.write(first)
            for line in lines:
                writer.write(line)
    for name, node in nodes.items():
        if name in unused:
            tables.drop("nodes", node, "DataMind has no nodes without an edge")
    for relation in tables.take("relations", "name"):
        if relation.name not in relations:
            tables.drop("relations", relation, "DataMind has no relations without an edge")


class _Names:
    """Names as v1 keeps them, without white space around; what would become the name of another gets a number."""

    def __init__(self, out: Output, kind: IdKind) -> None:
        self._out, self._kind = out, kind
        self._same: set[str] = set()
        self._new: dict[str, str] = {}
        self._free = FreeNames(self._same, "{}~{}")

    def reserve(self, name: str) -> None:
        """Keep a name for what is called so already."""
        if name == name.strip():
            self._same.add(name)

    def give(self, name: str) -> str:
        """What something is called in the output."""
        if name in self._same:
            return name
        if name in self._new:
            return self._new[name]
        new = self._free(name.strip())
        if new == name:
            self._same.add(name)
        else:
            self._new[name] = new
            self._out.renamed(self._kind, new, name)
        return new


def _lines(
    tables: CanonicalTables,
    nodes: Mapping[str, Node],
    unused: set[str],
    relations: set[str],
    names: _Names,
    relation_names: _Names,
) -> Iterator[dict[str, Any]]:
    for edge in tables.take("edges", *EDGE_COLUMNS):
        if not all(name and not name.isspace() for name in edge[:3]):
            tables.drop("edges", edge, "the loaders leave out triples with an empty name")
            continue
        relations.add(edge.relation)
        line: dict[str, Any] = {
            "subject": names.give(edge.source),
            "relation": relation_names.give(edge.relation),
            "object": names.give(edge.target),
        }
        ends = (("subject", nodes.get(edge.source)), ("object", nodes.get(edge.target)))
        for end, node in ends:
            if node is not None:
                unused.discard(node.name)
                if node.type is not None:
                    line[f"{end}_type"] = node.type
        for end, node in ends:
            if node is not None and node.attributes:
                line[f"{end}_properties"] = Raw(node.attributes)
        if edge.attributes:
            line["properties"] = Raw(edge.attributes)
        if edge.confidence is not None and math.isfinite(edge.confidence):
            line["confidence"] = edge.confidence
        elif edge.confidence is not None:
            tables.losses.add("lost", "edges", "confidence", "JSON has no such number", edge.confidence)
        if edge.provenance is not None:
            line["source"] = edge.provenance
        yield line
