"""Lines of cells and elements between tags as DuckDB views: files read as lines, and cut by expressions. Files with
cells that no expression cuts are read into tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.sql_text import sql_name, sql_text
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.declarations import Field, File

if TYPE_CHECKING:
    import duckdb

_LINES = (
    "read_csv([{paths}], auto_detect = false, columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '', "
    "escape = '', header = false, skip = {skip}, strict_mode = false, null_padding = true, ignore_errors = true, "
    "parallel = false, filename = true)"
)
_READ = "cells_of_files"
"""The schema of files that were read."""
_BATCH_ROWS = 8192
_TYPES = {"integer": "BIGINT", "number": "DOUBLE"}
_SAME = {"num": "num|number", "title": "title|query", "desc": "desc|description", "narr": "narr|narrative"}
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#10;", "\n"), ("&#13;", "\r"), ("&#32;", " "))


def line_query(kind: File, paths: list[str], rest: str) -> str:
    """A query of the records of such files; ``rest`` are further columns of it."""
    lines = _LINES.format(paths=", ".join(map(sql_text, paths)), skip=int(kind.columns.header))
    return _elements(kind, lines, rest) if kind.container == "tagged" else _cells(kind, lines, rest)


def cell_query(connection: duckdb.DuckDBPyConnection, kind: File, file: DataFile, rest: str) -> str:
    """The same of a file of cells that no expression cuts, such as those with line breaks: it is read into a table."""
    names = [field.name for field in kind.record.fields]
    ((catalog,),) = connection.execute("select current_database()").fetchall()
    table = f"{sql_name(catalog)}.{_READ}.{sql_name(str(file.path))}"
    connection.execute(f"create schema if not exists {sql_name(catalog)}.{_READ}")
    with incoming(connection, "incoming_cells", dict.fromkeys(names, Kind.TEXT), _batches(kind, file)):
        connection.execute(f"create or replace table {table} as select * from incoming_cells")
    columns = [_typed(field, sql_name(field.name)) for field in kind.record.fields]
    return f"select {', '.join(columns)}, {rest} from (select *, {sql_text(str(file.path))} as filename from {table})"


def _batches(kind: File, file: DataFile) -> Iterator[list[PackedColumn]]:
    records = RecordReader(Losses()).cells(file, kind)
    while chunk := list(islice(records, _BATCH_ROWS)):
        yield [packed(Kind.TEXT, [str(record[field.name]) for record in chunk]) for field in kind.record.fields]


def _cells(kind: File, lines: str, rest: str) -> str:
    separator = kind.columns.separator
    cut = f"string_split(line, {sql_text(separator)})" if separator else r"regexp_split_to_array(trim(line), '\s+')"
    columns = [_cell(f, i + 1, kind.columns.quoted) for i, f in enumerate(kind.record.fields)]
    rows = f"select {cut} as cells, filename from {lines} where trim(line) != ''"
    return f"select {', '.join(columns)}, {rest} from ({rows})"


def _cell(field: Field, place: int, quoted: bool) -> str:
    cell = f"cells[{place}]"
    if quoted:
        inner = f"replace({cell}[2:-2], '\"\"', '\"')"
        cell = f"case when {cell} like '\"%\"' and length({cell}) > 1 then {inner} else {cell} end"
    return _typed(field, cell)


def _typed(field: Field, cell: str) -> str:
    if field.type in _TYPES:
        cell = f"try_cast({cell} as {_TYPES[field.type]})"
    return f"{cell} as {sql_name(field.name)}"


def _elements(kind: File, lines: str, rest: str) -> str:
    """An element begins on a line with its opening tag, and continues to the next."""
    tags = "|".join(kind.tags)
    begins = rf"regexp_matches(line, '(?i)<({tags})(\s[^<>]*)?>')"
    numbered = f"select line, filename, row_number() over () as place from {lines}"
    groups = (
        f"select *, count(*) filter ({begins}) over (partition by filename order by place) as number from ({numbered})"
    )
    joined = (
        f"select filename, number, string_agg(line, chr(10) order by place) as element from ({groups}) "
        "where number > 0 group by filename, number order by filename, number"
    )
    columns = [_content(f, kind.tags, i == 0) for i, f in enumerate(kind.record.fields)]
    return f"select {', '.join(columns)}, {rest} from ({joined})"


def _content(field: Field, tags: tuple[str, ...], is_key: bool) -> str:
    names = _SAME.get(field.name, field.name)
    ends = (rf"</({names})\s*>", r"(<[a-z/]|$)")  # closed, or not
    found = [rf"nullif(regexp_extract(element, '(?is)<({names})(\s[^<>]*)?>(.*?){end}', 3), '')" for end in ends]
    content = f"coalesce({', '.join(found)})"
    if is_key:
        attribute = rf"(?i)<({'|'.join(tags)})\s[^<>]*(number|num|id)=.([^<>]*?).(\s|>)"
        content = f"coalesce({content}, nullif(regexp_extract(element, '{attribute}', 3), ''))"
    content = (
        rf"trim(regexp_replace({content}, '^\s*(Number|Description|Narrative):', ''), chr(32) || chr(10) || chr(9))"
    )
    for entity, character in (*_ENTITIES, ("&amp;", "&")):
        content = f"replace({content}, {sql_text(entity)}, {sql_text(character)})"
    return f"{content} as {sql_name(field.name)}"
