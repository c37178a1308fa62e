"""Ids that a conversion renamed, mapped back when its output is read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from ragdatakit.files.paths.own_files import RENAMED_IDS
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.schemas.errors import RagdataError

_COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "documents": {"passage": ("doc_id",)},
    "chunks": {"passage": ("chunk_id",)},
    "nodes": {"node": ("name",)},
    "relations": {"relation": ("name",)},
    "edges": {"node": ("source", "target"), "relation": ("relation",)},
    "communities": {"node": ("members",)},
    "questions": {"question": ("question_id",)},
    "qrels": {"question": ("question_id",)},
    "start_nodes": {"question": ("question_id",), "node": ("node",)},
    "triplets": {"question": ("question_id",), "passage": ("positive_id", "negative_id")},
    "pair_scores": {"question": ("question_id",), "passage": ("doc_id",)},
    "runs": {"question": ("question_id",), "passage": ("target_id",)},
    "answers": {"question": ("question_id",)},
}


_MOST_LINE = 1 << 24  # bytes; a file without line ends would fill the memory


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    kind: Literal["passage", "node", "relation", "question"]
    id: int | str
    was: str


def read_renamed(folder: Path) -> dict[str, dict[str, str]]:
    """By kind: new id to old id; empty where nothing was renamed. Raises `RagdataError` for a damaged file."""
    path = folder / RENAMED_IDS
    found: dict[str, dict[str, str]] = {}
    if not path.is_file():
        return found
    decoder = msgspec.json.Decoder(_Entry)
    olds: dict[str, set[str]] = {}
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(_MOST_LINE), b""), 1):
            try:
                entry = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
                raise RagdataError(f"{path}:{number}: no renamed id: {error}") from None
            names, new = found.setdefault(entry.kind, {}), str(entry.id)
            if names.setdefault(new, entry.was) != entry.was:
                raise RagdataError(f"{path}:{number}: {new!r} has two old ids")
            if entry.kind in ("node", "relation"):  # several questions or passages may have had one id in the source
                before = olds.setdefault(entry.kind, set())
                if entry.was in before:
                    raise RagdataError(f"{path}:{number}: {entry.was!r} has two new ids")
                before.add(entry.was)
    return found


def map_back(sources: Mapping[str, RowSource], renamed: Mapping[str, Mapping[str, str]]) -> dict[str, RowSource]:
    """The same rows with their old ids."""
    mapped = dict(sources)
    for table, columns in _COLUMNS.items():
        wanted = [(c, renamed[kind]) for kind, names in columns.items() if kind in renamed for c in names]
        if table in mapped and (wanted or table == "qrels"):
            mapped[table] = _mapping(mapped[table], wanted, renamed if table == "qrels" else {})
    return mapped


def _mapping(
    source: RowSource, wanted: list[tuple[str, Mapping[str, str]]], targets: Mapping[str, Mapping[str, str]]
) -> Callable[[], Iterator[Any]]:
    def rows() -> Iterator[Any]:
        for row in source():
            changed: dict[str, Any] = {}
            for column, names in wanted:
                value = getattr(row, column)
                if isinstance(value, tuple):
                    changed[column] = tuple(names.get(each, each) for each in value)
                elif value in names:
                    changed[column] = names[value]
            if targets:
                names = targets.get("node" if row.target_kind == "node" else "passage", {})
                if row.target_id in names:
                    changed["target_id"] = names[row.target_id]
            yield row._replace(**changed) if changed else row

    return rows
