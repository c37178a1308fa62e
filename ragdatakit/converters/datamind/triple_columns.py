"""The triples of a DataMind profile straight from the scanner. Nodes are numbered in the order in which they come: what
is said of them where they come first makes their table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.codes import WIDE, Codes, flat_words
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.converters.datamind.graph import Triple, properties_of
from ragdatakit.converters.kept_columns import Columns, KeptColumn, KeptColumns, values_of
from ragdatakit.converters.kept_numbers import numbers_of
from ragdatakit.converters.kept_texts import KeptTexts
from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_same, packed_texts
from ragdatakit.database.edge_tables import EdgeTable
from ragdatakit.database.row_batches import schema_of
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.scanner.blocks import KeptValues, ScannedBlock
from ragdatakit.scanner.keys import Numbering
from ragdatakit.scanner.predicates import OpenIfEdged
from ragdatakit.scanner.texts import gather
from ragdatakit.scanner.views import offsets_of
from ragdatakit.schemas.canonical import Edge
from ragdatakit.schemas.declarations import Field, Record

_AT_ONCE = 1 << 13
_NAMES = ("subject", "relation", "object")
_TYPES = ("subject_type", "object_type")
_OBJECTS = ("subject_properties", "object_properties")
_SHAPE = Record(
    name="triple",
    title="A triple",
    description="As most sets have it.",
    fields=(
        *(Field(f"{name}: string") for name in _NAMES),
        *(Field(f"{name}?: string | null") for name in (*_TYPES, "source")),
        *(Field(f"{name}?: object | null") for name in (*_OBJECTS, "properties")),
        Field("confidence?: number | null"),
    ),
    extra="forbid",
)


def _members(raw: bytes | None) -> str | None:
    return None if raw is None or raw == b"{}" else properties_of(Raw(raw))


_COLUMNS = (
    *(KeptColumn(Kind.TEXT, name) for name in _NAMES),
    KeptColumn(Kind.TEXT, "properties", _members),
    KeptColumn(Kind.NUMBER, "confidence"),
    KeptColumn(Kind.TEXT, "source", filled=True),
)


def ends_of_triples() -> KeptTexts:
    """What reads of triples their subjects and objects, as those of edges."""
    return KeptTexts(_SHAPE, Edge, {"subject": "source", "object": "target"}, map(OpenIfEdged, _NAMES))


class TripleColumns(KeptColumns):
    """Reads files of triples: gives the columns of their edges, or has them held by ``edges``. ``nodes`` are batches of
    the columns of the table of their nodes."""

    _in_turn = True

    def __init__(self, edges: EdgeTable) -> None:
        further = (*_TYPES, *_OBJECTS)
        super().__init__(_SHAPE, _COLUMNS, self._of_rows, map(OpenIfEdged, _NAMES), further=further, keys=_NAMES)
        self.nodes: list[Sequence[PackedColumn]] = []
        self._edges = edges
        self._numbering, self._relations = Numbering(), Numbering()

    def _slice(self, scanned: ScannedBlock, first: int, last: int) -> Columns:
        subjects, relations, objects = (scanned.columns[name].codes[first:last] for name in _NAMES)
        fresh, new = self._number(subjects, relations, objects)
        kept = scanned.kept
        if len(fresh):
            rows, sides = first + fresh // 2, fresh % 2
            names, offsets = _either((kept["subject"], kept["object"]), rows, sides)
            column = packed_texts(names, offsets, np.empty(0, np.int64))
            self._edges.nodes.add(column)
            self.nodes.append([column, _types(kept, rows, sides), _attributes(kept, rows, sides)])
        named = values_of(kept["relation"], first, last) if len(new) else []
        self._edges.relations += [(named[row] or b"").decode() for row in new.tolist()]
        if not self._edges.known:
            return super()._slice(scanned, first, last)
        confidences, missing = numbers_of(kept["confidence"], first, last)
        confidences[missing] = np.nan
        attributes, sources = (_texts_of(kept[name], first, last) for name in ("properties", "source"))
        made = ((row, _members(raw)) for row, raw in attributes.items())
        self._edges.add(
            confidences,
            {
                "attributes": {row: text for row, text in made if text is not None},
                "provenance": {row: raw.decode() for row, raw in sources.items()},
            },
        )
        return []

    def _of_rows(self, rows: Iterator[Triple]) -> Iterable[Columns]:
        while some := list(islice(rows, _AT_ONCE)):
            names = [[getattr(row, end) for row in some] for end in ("source", "relation", "target")]
            fresh, new = self._number(*map(codes_of_texts, names))
            if len(fresh):
                nodes = [_node(some[place // 2], place % 2) for place in fresh.tolist()]
                columns = [packed(Kind.TEXT, values) for values in zip(*nodes, strict=True)]
                self.nodes.append(columns)
                self._edges.nodes.add(columns[0])
            self._edges.relations += [names[1][row] for row in new.tolist()]
            if not self._edges.known:
                edges = [Edge(*row[:3], row.attributes, row.confidence, row.provenance) for row in some]
                kinds = schema_of("edges").values()
                yield [packed(kind, values) for kind, values in zip(kinds, zip(*edges, strict=True), strict=True)]
                continue
            texts = {
                name: {row: text for row, one in enumerate(some) if (text := getattr(one, name)) is not None}
                for name in ("attributes", "provenance")
            }
            confidences = [np.nan if row.confidence is None else row.confidence for row in some]
            self._edges.add(np.array(confidences, np.float64), texts)

    def _number(self, subjects: Codes, relations: Codes, objects: Codes) -> tuple[npt.NDArray[np.int64], ...]:
        """Note the numbers of the ends and relations of edges; which ends, of a subject and its object in turn, and
        which relations are new."""
        words = np.stack([flat_words(codes).reshape(-1, 2) for codes in (subjects, objects)], axis=1).ravel()
        numbers, fresh = self._numbering.add(words)
        of_relations, new = self._relations.add(flat_words(relations))
        known = self._edges.numbers
        if known.wanted:
            known.add_numbered(words.view(WIDE)[fresh], relations[new], (numbers[0::2], numbers[1::2], of_relations))
        return fresh, new


def _either(
    pair: Sequence[KeptValues], rows: npt.NDArray[np.int64], sides: npt.NDArray[np.int64]
) -> tuple[bytes, npt.NDArray[np.int64]]:
    """What rows have for their subject (of side 0) or object, one behind the other, and between which offsets."""
    sizes = np.where(sides == 0, *(values.offsets[rows + 1] - values.offsets[rows] for values in pair))
    offsets = offsets_of(sizes)
    found = np.empty(offsets[-1], np.uint8)
    for side, values in enumerate(pair):
        chosen = np.flatnonzero(sides == side)
        own = rows[chosen]
        gather(values.data, values.offsets[own], values.offsets[own + 1], offsets[chosen], found)
    return found.tobytes(), offsets


def _types(kept: Mapping[str, KeptValues], rows: npt.NDArray[np.int64], sides: npt.NDArray[np.int64]) -> PackedColumn:
    pair = [kept[name] for name in _TYPES]
    absent = np.where(sides == 0, *(np.isin(rows, values.missing) for values in pair))
    return packed_texts(*_either(pair, rows, sides), np.flatnonzero(absent))


def _attributes(
    kept: Mapping[str, KeptValues], rows: npt.NDArray[np.int64], sides: npt.NDArray[np.int64]
) -> PackedColumn:
    data, offsets = _either([kept[name] for name in _OBJECTS], rows, sides)
    if not data:
        return packed_same(Kind.TEXT, None, len(rows))
    values = [_members(data[start:end]) if end > start else None for start, end in pairwise(offsets.tolist())]
    return packed(Kind.TEXT, values)


def _texts_of(kept: KeptValues, first: int, last: int) -> dict[int, bytes]:
    """The values of those of these rows that have one which is not empty."""
    offsets = kept.offsets[first : last + 1]
    rows = np.flatnonzero(np.diff(offsets))
    return {row: kept.data[offsets[row] : offsets[row + 1]] for row in rows.tolist()}


def _node(triple: Triple, side: int) -> tuple[str, str | None, str | None]:
    """What a triple says of its subject, or of its object."""
    if side:
        return triple.target, triple.target_type, triple.target_attributes
    return triple.source, triple.source_type, triple.source_attributes
