"""Files of a conversion put into Parquet: their records are read once more, and become rows.

What a column holds is decided by all its values, as whoever reads it sees one type: texts, integers, lists of either,
or JSON, in which values are as they stand. A field that some records lack is null in their rows, and so a null that was
one is read back as a field that is not there: the account of losses has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath

from ragdatakit.files.containers.json_text import Raw, compact, dumps, fields_of, is_null, items_of, loads, string_of
from ragdatakit.files.containers.parquet_rows import RECODED, is_parquet, row_form
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.name_patterns import ends_as
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.outputs.parquet_files import Holds, parquet_shards
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.declarations import INT64_MAX, INT64_MIN, Field, File, Format

PARQUET = "parquet"
"""The value of the option ``container`` that asks for it."""
Row = Mapping[str, Raw]
_NO_NULLS = "in Parquet a null says that the record lacks the field"


def put_into_parquet(out: Output, fmt: Format, losses: Losses) -> None:
    """Put shards ``STEM-00000-of-00001.parquet`` in place of each file whose kind may be Parquet."""
    for name in [*out.files] if out.folder is not None else ():
        kind = _kind_of(name, fmt)
        if kind is not None and not is_parquet(PurePosixPath(name)):
            _put_file(out, name, kind, losses)


def _kind_of(name: str, fmt: Format) -> File | None:
    """The kind of a file, if Parquet is one of its containers."""
    path = PurePosixPath(name)
    for layout in fmt.layouts:
        for pattern, kind in layout.files.items():
            if not pattern.endswith("/") and len(path.parts) == pattern.count("/") + 1 and ends_as(path, pattern):
                found = fmt.file(kind)
                return found if ".parquet" in found.suffixes and found.container in RECODED else None
    return None


def _put_file(out: Output, name: str, kind: File, losses: Losses) -> None:
    columns: dict[str, Holds] = {}
    kept = row_form(kind).required
    for row in _rows(out, name, kind):
        for column, raw in row.items():
            columns[column] = _joined(columns.get(column), raw)
            if column not in kept and is_null(raw):
                losses.add("coerced", kind.kind, column, _NO_NULLS, bytes(next(iter(row.values()))).decode())
    for column, holds in columns.items():
        columns[column] = _usual(kind, column) if holds in ("nothing", "empty") else holds
    stem = name.rsplit("/", 1)[0] + "/" if "/" in name else ""
    stem += PurePosixPath(name).name.split(".", 1)[0]
    with parquet_shards(out, stem, columns) as shards:
        for row in _rows(out, name, kind):
            shards.write({column: _value(raw, columns[column]) for column, raw in row.items()})
    out.withdraw(name)


def _rows(out: Output, name: str, kind: File) -> Iterator[Row]:
    """The records as their fields, values as they stand."""
    assert out.folder is not None
    path = out.folder / name
    file = DataFile(path, name, name, kind.kind, boundary=boundary_of(out.folder))
    reader = RecordReader(Losses())
    fields = next(r.fields for r in kind.records if r.shape == "object")
    if kind.container == "csv":
        for cells in reader.rows(file):
            yield {column: _raw(cell) for column, cell in cells.items()}
    elif kind.container == "json-object":
        for member, value in reader.members(file):
            yield {fields[0].name: _raw(member), fields[1].name: value}
    else:
        for _, data in reader.raw_records(file, kind.container):
            if (text := string_of(Raw(data)) if data.lstrip()[:1] == b'"' else None) is None:
                yield fields_of(data)
            else:  # "id:text"
                first, _, rest = text.partition(":")
                yield {fields[0].name: _raw(first), fields[1].name: _raw(rest)}


def _raw(text: str) -> Raw:
    return Raw(dumps(text).encode())


def _usual(kind: File, column: str) -> Holds:
    """What a column holds in which no value says it."""
    declared = next((f for r in kind.records for f in r.fields if f.name == column), Field(f"{column}: any", ""))
    if declared.type == "array":
        return _LISTS.get(declared.items or "", "json")
    return _PLAIN.get(declared.type, "json")


_PLAIN: dict[str, Holds] = {"string": "text", "integer": "integer"}
_LISTS: dict[str, Holds] = {"string": "texts", "integer": "integers"}


def _joined(before: Holds | None, raw: Raw) -> Holds:
    """What a column holds that has one more value."""
    if before == "json":
        return before
    holds = _holds(raw)
    if before in (None, "nothing") or (before == "empty" and holds in ("texts", "integers")):
        return holds
    is_list = before in ("texts", "integers")
    return before if holds in (before, "nothing") or (is_list and holds == "empty") else "json"


def _holds(raw: Raw) -> Holds:
    mark = bytes(raw)[:1]
    if mark == b'"':
        return "text"
    if mark == b"n":
        return "nothing"
    if mark == b"[":
        items = {_holds(item) for item in items_of(raw) or ()}
        return "empty" if not items else _LISTS_OF.get(items.pop(), "json") if len(items) == 1 else "json"
    if mark.isdigit() or mark == b"-":
        with suppress(ValueError):
            number = loads(raw)
            return "integer" if isinstance(number, int) and INT64_MIN <= number <= INT64_MAX else "json"
    return "json"


_LISTS_OF: dict[Holds, Holds] = {"text": "texts", "integer": "integers"}


def _value(raw: Raw, holds: Holds) -> object:
    if is_null(raw):
        return None
    return compact(raw) if holds == "json" else loads(raw)
