"""Compare the records of the files of one kind, as they are in the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import compress
from typing import TYPE_CHECKING

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.database.dataset_database import FILES
from ragdatakit.files.datasets import DataFile
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.diff.file_records import WHOLE, FileRecords, other_fields
from ragdatakit.reports.diff.tables import Rows, TableComparison
from ragdatakit.schemas.conversions import Loss
from ragdatakit.schemas.declarations import File, Format
from ragdatakit.schemas.diffs import FileDiff, TableDiff
from ragdatakit.schemas.texts import encodable

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt

OTHERS = "other_fields"
"""The column that holds the fields of a record that are not declared."""

_BATCH = 8192
_BATCH_BYTES = 1 << 25
_ID_NAMES = (
    *("id", "_id", "qid", "question_id", "query_id", "doc_id", "chunk_id", "name", "title", "idx"),
    *("question", "query"),
)


@dataclass(slots=True)
class KindSide:
    """The files of one kind on one side, by their names; ``connection`` is a database for their records.

    ``counts`` and ``sums`` are of the records of a file and of their codes, ``apart`` are the files of which records
    were taken apart.
    """

    files: Mapping[str, DataFile]
    connection: duckdb.DuckDBPyConnection
    counts: Counter[str] = field(default_factory=Counter)
    sums: dict[str, int] = field(default_factory=dict)
    apart: set[str] = field(default_factory=set)
    lost: list[Loss] = field(default_factory=list)


def compare_kind(
    comparison: TableComparison,
    format_: Format,
    kind: File,
    sides: tuple[KindSide, KindSide],
    files: Sequence[FileDiff],
    ignored: Iterable[str],
) -> TableDiff:
    """How the records of a kind differ, and into ``files`` what became of those of each file.

    Records are the same where their bytes are, or all their values. Only the others are taken apart, so that memory
    holds eight bytes for each record, and the database the records that may differ. Raises `RagdataError` where a file
    cannot be read.
    """
    old, new = sides
    old_codes, new_codes = _codes(kind, old), _codes(kind, new)
    before = _rows(kind, old, _surplus(old_codes, new_codes))
    after = _rows(kind, new, _surplus(new_codes, old_codes))
    view = kind.kind.replace("-", "_")
    found = comparison.compare(FILES, view, before, after, _key(format_, kind), ignored, apart="file")
    found.before, found.after = (side.counts.total() if side.files else None for side in sides)
    found.used = []  # of the records that were taken apart only
    words = zip(("before", "after"), sides, strict=True)
    unread = tuple(w for w, s in words if not s.counts.total() and any(loss.unread for loss in s.lost))
    _tell(comparison, kind, sides, files, bool(unread))
    if unread:
        rows = {"before": found.before, "after": found.after, **dict.fromkeys(unread)}
        return TableDiff(FILES, view, found.key, rows["before"], rows["after"], unread=unread)
    return found


def _codes(kind: File, side: KindSide) -> npt.NDArray[np.int64]:
    """A code for each record of the side, in order: of its bytes, split, and columns."""
    import numpy as np

    codes = []
    for name, file in side.files.items():
        reader = FileRecords(kind, file)
        found = np.fromiter(map(hash, reader.read()), np.int64)
        codes.append(found ^ hash((file.split, reader.header)))
        side.counts[name], side.sums[name] = len(found), int(found.sum())
        side.lost.extend(loss for loss in reader.losses if loss.kind == "dropped")
    return np.concatenate(codes) if codes else np.empty(0, np.int64)


def _surplus(mine: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which records the other side does not have; of those of one code the last ones."""
    import numpy as np

    values, places, counts = np.unique(mine, return_inverse=True, return_counts=True)
    others = np.sort(other)
    there = np.searchsorted(others, values, "right") - np.searchsorted(others, values, "left")
    chosen = np.zeros(len(mine), np.bool_)
    more = (counts > there)[places]
    if more.any():
        wanted = np.flatnonzero(more)[::-1]
        order = wanted[np.argsort(places[wanted], kind="stable")]
        groups = places[order]
        starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
        nth = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
        chosen[order[nth < (counts - there)[groups]]] = True
    return chosen


def _rows(kind: File, side: KindSide, chosen: npt.NDArray[np.bool_]) -> Rows | None:
    """The chosen records as a table: a column for each declared field, one for the others, split and file."""
    if not side.files:
        return None
    declared = list(dict.fromkeys(f.name for r in kind.records for f in r.fields))
    # Names of columns are the same in large and small letters; a field that has no column of its own is another one.
    taken = {"rid", "file", "split", OTHERS}
    names = []
    for name in (*declared, WHOLE):
        if name.lower() not in taken:
            taken.add(name.lower())
            names.append(name)
    columns = (*names, OTHERS, "split", "file")

    def batches() -> Iterator[list[PackedColumn]]:
        rows: list[tuple[str | None, ...]] = []
        held = 0
        for file_name, file, fields in _chosen(kind, side, chosen):
            values = [fields.pop(column, None) for column in names]
            rows.append((*values, other_fields(fields), file.split, file_name))
            held += sum(map(len, filter(None, values)))
            if len(rows) >= _BATCH or held >= _BATCH_BYTES:
                yield _batch(rows)
                rows, held = [], 0
        if rows:
            yield _batch(rows)

    with incoming(side.connection, "file_records", dict.fromkeys(columns, Kind.TEXT), batches()):
        side.connection.execute("create or replace temp table compared_records as from file_records")
    return Rows(side.connection, "(select *, rowid as rid from compared_records)", columns)


def _batch(rows: Sequence[tuple[str | None, ...]]) -> list[PackedColumn]:
    columns = zip(*rows, strict=True)
    return [packed(Kind.TEXT, [v if v is None else encodable(v) for v in values]) for values in columns]


def _chosen(
    kind: File, side: KindSide, chosen: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, DataFile, dict[str, str]]]:
    place = 0
    for name, file in side.files.items():
        count = side.counts[name]
        wanted = chosen[place : place + count]
        place += count
        if not wanted.any():
            continue
        side.apart.add(name)
        reader = FileRecords(kind, file)
        for raw in compress(reader.read(), wanted.tolist()):
            yield name, file, reader.fields(raw)


def _key(format_: Format, kind: File) -> tuple[str, ...]:
    """The columns by which records of this kind are found again within a split; none where nothing distinguishes
    them."""
    fields = {f.name: f for record in kind.records for f in record.fields}
    for key in format_.keys:
        names = [name.removeprefix("@") for name in key.fields]
        if key.kind == kind.kind and all(name in fields for name in names):
            return ("split", *names)
    if kind.container == "columns":
        return ("split", *(name for name, f in fields.items() if f.type == "string"))
    references = dict.fromkeys(r.field.removeprefix("@") for r in format_.references if r.kind == kind.kind)
    names = [name for name in references if name in fields and fields[name].type not in ("array", "object")]
    names = names or [name for name in _ID_NAMES if name in fields][:1]
    # A file that is one JSON object without a name for it is that object still.
    return ("split", *names) if names or kind.container == "json" else ()


def _tell(
    comparison: TableComparison,
    kind: File,
    sides: tuple[KindSide, KindSide],
    files: Sequence[FileDiff],
    is_unread: bool,
) -> None:
    groups = comparison.by_group()
    for file in files:
        if file.kind != kind.kind:
            continue
        if not is_unread:
            file.before_records, file.after_records = (
                side.counts[file.path] if file.path in side.files else None for side in sides
            )
            file.removed, file.added, file.changed = groups.get(file.path, (0, 0, 0))
        if file.status == "form" and (file.removed or file.added or file.changed or any(s.lost for s in sides)):
            file.status = "changed"
        elif file.status == "form" and _has_others(file, *sides):
            file.status = "moved"


def _has_others(file: FileDiff, old: KindSide, new: KindSide) -> bool:
    """Whether a file of both sides, of which no record is new or gone, has records that another file had."""
    if file.before_records is None or file.before_records != file.after_records:
        return file.before_records is not None
    # Records that were taken apart may differ by their form only: then the codes say nothing.
    return file.path not in old.apart | new.apart and old.sums[file.path] != new.sums[file.path]
