"""A dataset as DuckDB views: one view per kind of file, its columns typed by the declaration.

The views are for looking, never for judging: DuckDB coerces (``"12"`` becomes 12, ``12.5`` becomes 12, a missing field
NULL), reads a broken line of NDJSON as a row of NULLs, and leaves out a CSV row that is not UTF-8. What is wrong with
the data, `ragdatakit.validate` shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.database.line_views import cell_query, line_query
from ragdatakit.files.containers.csv_rows import CsvReader
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.find import detect
from ragdatakit.files.detection.sniffing import json_container, read_head
from ragdatakit.files.paths.folders import is_regular, size_of
from ragdatakit.files.paths.sql_text import is_sql_path, sql_name, sql_text, unglobbed
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.declarations import Field, File, Record
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import duckdb

_TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "array": "JSON",
    "object": "JSON",
    "any": "VARCHAR",
}


SplitOf = Callable[[DataFile], str | None]


def open_views(
    path: Path,
    format_name: str | None = None,
    follow_links: bool = False,
    splits_of: Callable[[str], SplitOf | None] | None = None,
) -> duckdb.DuckDBPyConnection:
    """A database in memory with a view for each kind of file of the datasets at ``path``.

    The views of a single dataset are in the main schema; those of several in one schema each, named by the dataset's
    folder below ``path``. The view ``datasets`` lists them. ``splits_of`` gives, for a format, what
    says which split a file is read as. Raises `RagdataError` as `detect` does, and where a folder of a dataset
    cannot be looked into.
    """
    import duckdb

    found = detect(path, format_name, follow_links)
    for dataset in found.datasets:
        dataset.leave_out_links()
        if dataset.unread:
            raise RagdataError(dataset.unread[0])
    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    listed = []
    for dataset, schema in zip(found.datasets, _schemas(path, found.datasets), strict=True):
        if schema != "main":
            connection.execute(f"create schema {sql_name(schema)}")
        split_of = splits_of(dataset.format.name) if splits_of is not None else None
        for view, query in file_views(dataset, connection, split_of):
            if fault := next(filter(None, map(path_fault, dataset.files)), ""):
                raise RagdataError(fault)
            connection.execute(f"create view {sql_name(schema)}.{sql_name(view)} as {query}")
        listed.append((schema, dataset.display, dataset.format.name))
    rows = ", ".join("({})".format(", ".join(map(sql_text, row))) for row in listed)
    connection.execute(f'create view main.datasets as select * from (values {rows}) t("schema", path, format)')
    return connection


def _schemas(path: Path, datasets: list[Dataset]) -> list[str]:
    if len(datasets) == 1:
        return ["main"]
    names: list[str] = []
    for dataset in datasets:
        below = dataset.root.relative_to(path).as_posix()
        name = dataset.format.name if below == "." else below
        while name.lower() in {n.lower() for n in (*names, "main", "temp", "system")}:
            name += f" {dataset.format.name}"
        names.append(name)
    return names


def file_views(
    dataset: Dataset, connection: duckdb.DuckDBPyConnection, split_of: SplitOf | None = None
) -> Iterable[tuple[str, str]]:
    """Name and query of the view, on a connection, of each kind of file with records; without files that may not be
    opened, and those whose paths DuckDB cannot take (`path_fault`). ``split_of`` says which split a file is read as."""
    for kind in dataset.format.files:
        if not kind.records:
            continue
        groups: dict[tuple[str | None, str, str], tuple[Record, list[DataFile]]] = {}
        for file in dataset.of_kind(kind.kind):
            if is_regular(file.path, file.boundary) and is_sql_path(file.path):
                record = _record_of(kind, file)
                container = json_container(file.path, file.boundary) if kind.container == "json" else kind.container
                split = (split_of(file) if split_of is not None else None) or file.split
                groups.setdefault((split, record.name, container), (record, []))[1].append(file)
        queries = [
            _query(connection, kind, container, record, dataset.root, split, files)
            for (split, _, container), (record, files) in groups.items()
        ]
        if not queries and any(map(path_fault, dataset.of_kind(kind.kind))):
            queries = ["select null::varchar as value where false"]  # whoever asks for it gets the reason
        if queries:
            yield kind.kind.replace("-", "_"), " union all by name ".join(queries)


def path_fault(file: DataFile) -> str:
    """Why a file is in no view, in words; empty where it is in one."""
    if is_sql_path(file.path):
        return ""
    return f"{file.display} cannot be read by SQL: its path is not UTF-8; rename the file or folder"


def _record_of(kind: File, file: DataFile) -> Record:
    """The shape that the file's first record has."""
    if len(kind.records) > 1 and (head := read_head(file.path, file.boundary)) is not None and head.records:
        shape = "object" if isinstance(head.records[0], dict) else "string"
        return next((r for r in kind.records if r.shape == shape), kind.record)
    return kind.record


_OPTIONS = {
    "ndjson": "format = 'newline_delimited', ignore_errors = true",
    "json-array": "format = 'array'",
    "json-object": "format = 'unstructured'",
    "json-single": "format = 'unstructured'",
    "json-wrapped": "format = 'unstructured'",
}
_CSV_OPTIONS = (
    "auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', strict_mode = false, "
    "null_padding = true, ignore_errors = true, parallel = false"
)
_ODD_CELL = late_pattern(rb'(?:\A|[\t\r\n])"(?!(?:[^"\t\r\n]|"")*+"(?:[\t\r\n]|\Z))')
"""Of tab-separated cells those between quote marks that a line cut at tabs does not have as they are."""
_OBJECT_BYTES, _LINE_BYTES, _LONGEST_LINE = 1 << 24, 2_000_000, 1 << 26
"""What DuckDB takes for one JSON value and one CSV record unless it is set otherwise, and the longest CSV record."""


def _query(
    connection: duckdb.DuckDBPyConnection,
    kind: File,
    container: str,
    record: Record,
    root: Path,
    split: str | None,
    files: list[DataFile],
) -> str:
    given = f"{sql_text(split)}::varchar" if split is not None else "null::varchar"
    below = f"{root}/"
    name = (
        f"case when starts_with(filename, {sql_text(below)}) then substr(filename, {len(below) + 1}) else filename end"
    )
    rest = f'{given} as split, {name} as "file"'
    tables = [file for file in files if is_parquet(file.path)]
    if container != "table" and tables:
        rest_of_it = [file for file in files if not is_parquet(file.path)]
        parts = [_table_query(record, file, rest) for file in tables]
        parts += [_query(connection, kind, container, record, root, split, rest_of_it)] if rest_of_it else []
        return " union all by name ".join(parts)
    if container == "csv":
        return " union all ".join(_csv_query(record, file, rest) for file in files)
    if container == "table":
        return " union all by name ".join(_table_query(record, file, rest) for file in files)
    if container in ("columns", "tagged"):
        return _lines_query(connection, kind, files, rest)
    paths = ", ".join(sql_text(unglobbed(f.path)) for f in files)
    options = f"[{paths}], {_OPTIONS.get(container, _OPTIONS['json-array'])}, filename = true{_room(container, files)}"
    if container == "json-object":
        return f"select {_member(record)}, {rest} from ({_MEMBERS.format(options)})"
    if container == "json-wrapped":
        arrays = ", ".join(f"json_extract(json, {sql_text(_path(name))})" for name in kind.wrapper)
        rows = (
            f"select filename, unnest(cast(coalesce({arrays}) as json[])) as content from read_json_objects({options})"
        )
        return f"select {', '.join(map(_below, record.fields))}, {rest} from ({rows})"
    if record.shape == "object" and record.fields:
        columns = ", ".join(f"{sql_text(f.name)}: {sql_text(_column_type(f))}" for f in record.fields)
        source = f"read_json({options}, columns = {{{columns}}})"
        wanted = ", ".join(sql_name(f.name) for f in record.fields)
    else:
        source = f"read_json_objects({options})"
        wanted = ", ".join(_cut_at_colon(kind)) if record.shape == "string" else "json as value"
    return f"select {wanted}, {rest} from {source}"


def _lines_query(connection: duckdb.DuckDBPyConnection, kind: File, files: list[DataFile], rest: str) -> str:
    """Files of lines; of those with cells that no expression cuts, the cells."""
    odd = [file for file in files if kind.columns.quoted and _has_odd_cells(file, kind)]
    of_lines = [unglobbed(file.path) for file in files if file not in odd]
    parts = [line_query(kind, of_lines, rest)] if of_lines else []
    return " union all ".join(parts + [cell_query(connection, kind, file, rest) for file in odd])


def _has_odd_cells(file: DataFile, kind: File) -> bool:
    source = Source(file.path, file.path.name.lower().endswith(".gz"), boundary=file.boundary)
    source.quoted = kind.quoted_columns
    return any(
        block.whole or b"\x01" in block.data or (b'"' in block.data and _ODD_CELL.search(block.data))
        for block in source.blocks()
    )


def _table_query(record: Record, file: DataFile, rest: str) -> str:
    """All columns of a Parquet file; of a CSV file those that are declared."""
    if file.path.name.lower().endswith(".csv"):
        return _csv_query(record, file, rest)
    return f"select * exclude (filename), {rest} from read_parquet({sql_text(unglobbed(file.path))}, filename = true)"


def _room(container: str, files: list[DataFile]) -> str:
    """Room for a file that is one JSON value."""
    size = max(size_of(f.path) for f in files)
    if container not in ("json-object", "json-single", "json-wrapped") or size <= _OBJECT_BYTES:
        return ""
    return f", maximum_object_size = {size}"


# Every member is a row, in the order of the file, those of one name too.
_MEMBERS = (
    "select filename, unnest(json_keys(json)) as name, unnest(json_extract(json, '$.*')) as content "
    "from read_json_objects({})"
)


def _member(record: Record) -> str:
    """The member's name and its value, by the names of the record's two fields."""
    first, second = record.fields[:2]
    kind = _column_type(second)
    value = "content ->> '$'" if kind == "VARCHAR" else f"try_cast(content as {kind})"
    return f"name as {sql_name(first.name)}, {value} as {sql_name(second.name)}"


def _path(name: str) -> str:
    """A member of an object, as a path of DuckDB's JSON functions."""
    return f'$."{name}"'


def _below(field: Field) -> str:
    """A field of the object that ``content`` is."""
    kind, path = _column_type(field), sql_text(_path(field.name))
    value = f"content ->> {path}" if kind == "VARCHAR" else f"try_cast(json_extract(content, {path}) as {kind})"
    return f"{value} as {sql_name(field.name)}"


def _csv_query(record: Record, file: DataFile, rest: str) -> str:
    """The declared columns as text, an empty cell as an empty text; NULL is a column that the file does not have."""
    path = file.path
    reader = CsvReader(Source(path, path.suffix == ".gz", boundary=file.boundary))
    header = reader.header or [] if reader.open() else []
    places = {f.name: header.index(f.name) for f in record.fields if f.name in header}
    cells = [
        f"c{places[f.name]} as {sql_name(f.name)}" if f.name in places else f"null::varchar as {sql_name(f.name)}"
        for f in record.fields
    ]
    if not places:
        empty = "select null::varchar as filename where false"
        return f"select {', '.join(cells)}, {rest} from ({empty})"
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
    filled = ", ".join(f"'c{place}'" for place in places.values())
    options = f"{_CSV_OPTIONS}, filename = true, columns = {{{columns}}}, force_not_null = [{filled}]"
    if reader.header_row is not None and reader.header_row.line > 1:
        options += f", skip = {reader.header_row.line - 1}"
    if (size := path.stat().st_size) > _LINE_BYTES:
        options += f", max_line_size = {min(size, _LONGEST_LINE)}"
    return f"select {', '.join(cells)}, {rest} from read_csv([{sql_text(unglobbed(path))}], {options})"


def _cut_at_colon(kind: File) -> list[str]:
    """Where records may be objects with two fields or strings, the string holds the two, parted by its first colon."""
    whole = "json ->> '$'"
    fields = next((r.fields for r in kind.records if r.shape == "object"), ())
    if len(fields) != 2:
        return [f"({whole}) as value"]
    colon = f"instr({whole}, ':')"
    first = f"case when {colon} > 0 then substr({whole}, 1, {colon} - 1) end as {sql_name(fields[0].name)}"
    return [first, f"substr({whole}, {colon} + 1) as {sql_name(fields[1].name)}"]


def _column_type(field: Field) -> str:
    if field.type == "array" and field.items is not None:
        return f"{_TYPES[field.items]}[]"
    if field.type == "object" and field.values is not None:
        return f"MAP(VARCHAR, {_TYPES[field.values]})"
    return _TYPES[field.type]
