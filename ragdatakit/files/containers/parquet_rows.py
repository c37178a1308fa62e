"""Rows of a Parquet file as the text that the same records have in the container of their kind: so whoever reads that
container reads them.

A row becomes a line of JSON, an element of an array, a member of an object, a record of CSV, or a line of cells between
tabs, the last two below a header. Memory holds a part of a row group. Values are cast where loaders cast them: see
`RowForm`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import accumulate
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any

from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_modules import late_module
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.cells import is_decimal
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.texts import quoted, some_of

if TYPE_CHECKING:
    import orjson

    from ragdatakit.files.containers.parquet_tables import ParquetTable
else:
    orjson = late_module("orjson")

_ROWS = 2048
_NAMES_SHOWN = 8
_NUMBERED = late_pattern(r"(.+?)-\d+-of-\d+")
_NUMBERS = frozenset(
    "BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE".split()
)
"""DuckDB's types of which pandas makes numbers; of all others but decimals it makes texts or objects."""
_QUOTED = late_pattern(r'[",\r\n]|^[ \t]')
_AROUND = {"json-array": (b"[", b"\n]\n"), "json-object": (b"{", b"\n}\n")}
"""What is around the rows as elements of an array, or as members of an object."""


RECODED = frozenset(("ndjson", "json-array", "json-object", "csv", "columns"))
"""The containers whose records may be rows of Parquet."""


def is_parquet(path: PurePath) -> bool:
    """Whether a file is Parquet by its name."""
    return str(path)[-8:].lower() == ".parquet"  # which a path keeps, unlike its name


@dataclass(frozen=True, slots=True)
class RowForm:
    """As what the rows are read: the ``container`` of their text, the columns that become ``cells`` of it (none: all
    that the file has), and those that are ``texts`` and ``integers`` whatever their type is, as `datasets` casts them.
    A null in a column that is not ``required`` means that the row lacks the field: it has no other way to say so.
    ``lacking`` is the rule that a file without one of the ``cells`` breaks.
    """

    container: str = "ndjson"
    cells: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    lacking: str = ""


class MissingColumnsError(RagdataError):
    """A file without columns that all its rows need: the message names them, and those that there are."""


LINES = RowForm()


def row_form(kind: File, container: str = "") -> RowForm:
    """The form of the rows of a kind, whose ``container`` may be one of those that it is declared to have.

    The id that others refer to is text, as MTEB casts it, and so are the columns of a file of cells that are declared
    so.
    """
    fields = kind.record.fields if kind.records else ()
    if kind.container == "columns":
        types = {name: tuple(f.name for f in fields if f.type == name) for name in ("string", "integer")}
        cells, lacking = tuple(f.name for f in fields), kind.record.rules.get("syntax", "unreadable-file")
        return RowForm("columns", cells, types["string"], types["integer"], lacking=lacking)
    texts = tuple(f.name for r in kind.records for f in r.fields if f.type == "string" and f.name == "_id")
    required = tuple(f.name for r in kind.records for f in r.fields if f.required)
    return RowForm(container or kind.container, texts=texts, required=required)


def shard_split(name: str) -> str:
    """The split that a shard is of: ``test`` of test-00000-of-00002.parquet and, as the hub's Parquet branch has it, of
    test/0000.parquet."""
    path = PurePosixPath(name)
    if path.suffix.lower() != ".parquet":
        return name
    match = _NUMBERED.fullmatch(path.stem)
    return match.group(1) if match else path.parent.name if path.stem.isdigit() else path.stem


@dataclass(slots=True)
class ParquetRows:
    """``groups`` are the numbers of the first rows of the row groups and ``texts`` the columns of text, once `pieces`
    has begun. ``rows``: no others are read than those from the first number up to the second."""

    path: Path
    boundary: Boundary
    form: RowForm = LINES
    groups: list[int] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    rows: tuple[int, int] | None = None

    def pieces(self) -> Iterator[list[bytes]]:
        """The text in parts that end between two rows, some thousand at a time. Raises `RagdataError` where the file
        cannot be read."""
        from ragdatakit.files.containers.parquet_tables import opened_parquet
        from ragdatakit.files.paths.sql_text import sql_name

        with opened_parquet(self.path, self.boundary) as parquet:
            self.groups += accumulate(parquet.group_rows()[:-1], initial=0)
            self.texts |= {name for name, kind in parquet.columns.items() if kind not in _NUMBERS}
            called = _called(parquet.columns, self.form)
            read = self._read(parquet, [sql_name(name) for name in called.values()] or ["null"])
            if self.form.container in ("columns", "csv"):
                yield from self._cells(parquet, called, read)
            elif self.form.container in _AROUND:
                yield from _enclosed(self._objects(parquet, called, read), *_AROUND[self.form.container])
            else:
                yield from self._objects(parquet, called, read)

    def _read(self, parquet: ParquetTable, columns: list[str]) -> Iterator[Sequence[Sequence[Any]]]:
        """The rows part by part: whether other parts are read must not matter to what is read of a damaged one."""
        parts = parquet.parts()
        for part in parts:
            if self.rows is None or self.rows[0] <= part.first < self.rows[1]:
                yield from parquet.chunks(columns, _ROWS, (part.first, part.end) if len(parts) > 1 else None)

    def _cells(
        self, parquet: ParquetTable, called: Mapping[str, str], read: Iterable[Sequence[Sequence[Any]]]
    ) -> Iterator[list[bytes]]:
        columns = self.form.cells or tuple(called)
        if missing := [name for name in columns if name not in called]:
            there = some_of(map(quoted, parquet.columns), _NAMES_SHOWN)
            raise MissingColumnsError(f"there is no column {', no '.join(map(quoted, missing))}; there are {there}")
        line = _tabbed if self.form.container == "columns" else _csv_record
        yield [line(columns)]
        cell = _cell if self.form.container == "columns" else _csv_cell
        names = [*called]
        casts = self._casts(parquet, called)
        places = [names.index(name) for name in columns]
        for rows in read:
            yield [line([cell(row[place]) for place in places]) for row in _cast_rows(rows, casts)]

    def _objects(
        self, parquet: ParquetTable, called: Mapping[str, str], read: Iterable[Sequence[Sequence[Any]]]
    ) -> Iterator[list[bytes]]:
        names, casts = [*called], self._casts(parquet, called)
        if self.form.container == "json-object":
            for rows in read:
                yield [*map(_member, _cast_rows(rows, casts))]
            return
        kept = {name for name in names if name in self.form.required}
        for rows in read:
            pairs = (zip(names, row, strict=True) for row in _cast_rows(rows, casts))
            yield [_json_line({k: value for k, value in row if value is not None or k in kept}) for row in pairs]

    def _casts(self, parquet: ParquetTable, called: Mapping[str, str]) -> dict[int, Callable[[Any], Any]]:
        """What is made of the values of columns, by their places."""
        casts: dict[int, Callable[[Any], Any]] = {}
        for place, (name, column) in enumerate(called.items()):
            if name in self.form.texts and column == name:
                casts[place] = _as_text
            elif name in self.form.integers:
                casts[place] = _as_integer
            elif parquet.columns[column] == "JSON":
                casts[place] = _parsed
        return casts


def _called(columns: Iterable[str], form: RowForm) -> dict[str, str]:
    """What the columns that are read are called, to their names in the file: MTEB takes ``id`` for ``_id`` where there
    is none, and does not cast it."""
    names = [*columns]
    found = {name: name for name in names if not form.cells or name in form.cells}
    if "_id" in form.texts and "_id" not in found and "id" in found:
        found = {"_id" if name == "id" else name: name for name in found}
    return found


def _cast_rows(rows: Iterable[Sequence[Any]], casts: Mapping[int, Callable[[Any], Any]]) -> Iterable[Sequence[Any]]:
    """Rows with some of their values cast."""
    if not casts:
        return rows
    return ([casts[n](value) if n in casts else value for n, value in enumerate(row)] for row in rows)


def _enclosed(parts: Iterable[list[bytes]], opening: bytes, closing: bytes) -> Iterator[list[bytes]]:
    """Lines as elements of an array, or members of an object."""
    yield [opening]
    first = True
    for lines in parts:
        elements = [b",\n" + line[:-1] for line in lines]
        if first and elements:
            elements[0] = elements[0][1:]
            first = False
        yield elements
    yield [closing]


def _as_text(value: Any) -> Any:
    """A number as text, as Arrow casts it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value) if isinstance(value, int) or is_decimal(value) else value


def _as_integer(value: Any) -> Any:
    """A whole number as an integer, as Arrow casts it; what it refuses to cast stays."""
    if (isinstance(value, float | bool) or is_decimal(value)) and math.isfinite(value) and value == int(value):
        return int(value)
    return value


def _parsed(text: Any) -> Any:
    """What JSON stands for, in one line."""
    if text is None:
        return None
    try:
        if orjson.loads(text) is None:
            return None
        from ragdatakit.files.containers.json_text import compact

        return orjson.Fragment((compact(text) if "\n" in text or "\r" in text else text).encode())
    except ValueError:
        return text


def _json_line(row: Any) -> bytes:
    try:
        return orjson.dumps(row, default=_other, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
    except TypeError:  # integers of more than 64 bits
        text = json.dumps(row, ensure_ascii=False, default=_other, separators=(",", ":"))
        return text.encode() + b"\n"


def _other(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, orjson.Fragment):
        return orjson.loads(value.contents)
    return str(value)


def _member(row: Sequence[Any]) -> bytes:
    """A row of a name and a value as a member of an object; further columns are not read."""
    name, value, *_ = (*row, None, None)
    return b"%b: %b" % (_json_line(name if isinstance(name, str) else str(name))[:-1], _json_line(value))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _csv_cell(value: Any) -> str:
    """Nested values are JSON."""
    if isinstance(value, dict | list | orjson.Fragment):
        return _json_line(value)[:-1].decode()
    return _cell(value)


def _tabbed(cells: Sequence[str]) -> bytes:
    quoted = ('"' + c.replace('"', '""') + '"' if "\t" in c or c.startswith('"') else c for c in cells)
    return "\t".join(quoted).replace("\n", " ").replace("\r", " ").encode() + b"\n"


def _csv_record(cells: Sequence[str]) -> bytes:
    quoted = ('"' + c.replace('"', '""') + '"' if _QUOTED.search(c) else c for c in cells)
    return (",".join(quoted) if len(cells) > 1 or any(cells) else '""').encode() + b"\n"
