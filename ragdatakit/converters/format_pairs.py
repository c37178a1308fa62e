"""Which format can be converted to which, and how much of it comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from ragdatakit.converters import Option, converter_names, get_converter
from ragdatakit.converters.sources import RAW
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import TABLES

Mark = Literal["exact", "lossy", ""]

_PREDICTIONS = "predictions have no place"
EXACT: Mapping[tuple[str, str], str] = {
    ("arag", "arag"): "",
    ("arag", "datamind"): f"{_PREDICTIONS}; answers without words have another name",
    ("arag", "sage"): "predictions without their questions become questions",
    ("arag", "hipporag"): f"{_PREDICTIONS}, chunks of the same text are one passage",
    ("datamind", "datamind"): "results of the benchmark are not written",
    ("datamind", "arag"): "for chunks of nothing but id and text, and questions that have an answer with words",
    ("datamind", "gfm-rag"): "for triplets whose entities all have a type; documents and chunks get titles",
    ("gfm-rag", "gfm-rag"): "",
    ("gfm-rag", "datamind"): "for graphs; nodes need an edge, and come back in the order of the edges",
    ("light-splade", "light-splade"): "for sets with splits; rows are ordered by split",
    ("sage", "sage"): "",
    ("beir", "beir"): "",
    ("beir", "light-splade"): "for splits train and validation, grades of 1, no titles; rows are ordered by split",
    ("beir", "trec"): "",
    ("trec", "trec"): "",
    ("hipporag", "hipporag"): "",
    ("raptor", "raptor"): "vectors are kept with the option keep-vectors",
    ("contextual-retrieval", "contextual-retrieval"): "for chunks that are stored with their documents",
    ("ragchecker", "ragchecker"): "",
    ("graphrag", "graphrag"): "for tables of 2.3 and later; those of older releases become tables of 3.x",
}
"""Pairs of which A to B to A gives equal records of every valid dataset of A of which the conversion to B loses
nothing, as its report says; with what there is to be said of that. Records are the rows of the canonical tables: all
values of all columns, in their order where nothing else is said; not the order of the fields of a JSON object.
`tests/test_round_trips.py` tries them with generated datasets, `tests/test_pairs.py` with the fixtures."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What a conversion carries over: by table the columns, and those that only the source has.

    ``condition`` is what is to be said of an exact pair.
    """

    source: str
    target: str
    mark: Mark
    kept: dict[str, tuple[str, ...]]
    lost: dict[str, tuple[str, ...]]
    options: tuple[Option, ...] = ()
    profiles: tuple[str, ...] = ()
    condition: str = ""


def readable() -> list[str]:
    """The formats that can be read, in the order of the list."""
    return [name for name in converter_names() if get_converter(name).read is not None]


def sources() -> list[str]:
    """What ``--from`` takes: the formats, and the part of one that is read without the graph made of it."""
    formats = readable()
    place = formats.index("gfm-rag") + 1
    return [*formats[:place], RAW, *formats[place:]]


def writable() -> list[str]:
    """The formats that can be written, in the order of the list."""
    return [name for name in converter_names() if get_converter(name).write is not None]


def graph_targets() -> list[str]:
    """The formats that hold a graph: what can be written of the texts of any other."""
    return [name for name in writable() if "edges" in get_converter(name).holds]


def pair_of(source: str, target: str) -> Pair:
    """What is known of a pair before any data is seen; ``mark`` is empty where nothing could be carried over."""
    if source == RAW:
        return replace(_pair_of("gfm-rag", target, ("documents", "questions", "qrels")), source=RAW, mark="lossy")
    return _pair_of(source, target)


def _pair_of(source: str, target: str, only: tuple[str, ...] = ()) -> Pair:
    gives, holds = get_converter(source).gives, get_converter(target).holds
    kept: dict[str, tuple[str, ...]] = {}
    lost: dict[str, tuple[str, ...]] = {}
    for table in TABLES:
        columns = gives.get(table, ())
        if not columns or (only and table not in only):
            continue
        held = _held(table, holds)
        kept[table] = tuple(c for c in columns if c in held)
        lost[table] = tuple(c for c in columns if c not in held and c != "field_order")
    carried = any(kept.get(table) for table in ("documents", "chunks", "questions", "edges", "nodes", "qrels", "runs"))
    mark: Mark = "exact" if (source, target) in EXACT else "lossy" if carried else ""
    options = [o for o in get_converter(source).options if o.side == "read"]
    options += [o for o in get_converter(target).options if o.side == "write"]
    return Pair(
        source,
        target,
        mark,
        {t: c for t, c in kept.items() if c},
        {t: c for t, c in lost.items() if c},
        tuple(options),
        get_converter(target).profiles,
        EXACT.get((source, target), ""),
    )


def _held(table: str, holds: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    held: tuple[str, ...] = tuple(holds.get(table, ()))
    if table == "chunks" and not held and holds.get("documents"):  # a chunk is written as a document
        names = {"doc_id": "chunk_id", "text": "text", "metadata": "metadata"}
        held = tuple(names[c] for c in holds["documents"] if c in names)
    if table == "documents" and not held and holds.get("chunks"):
        names = {"chunk_id": "doc_id", "text": "text", "metadata": "metadata"}
        held = tuple(names[c] for c in holds["chunks"] if c in names)
    return held
