"""The rows of a query as a table for people, CSV, JSON, JSON lines, Markdown or Parquet, as they come."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import math
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import orjson

from ragdatakit.files.containers.arrow_library import parquet_library
from ragdatakit.reports.terminal import Painter, cut_to, painter, width_of
from ragdatakit.schemas.texts import as_text, many
from ragdatakit.visible_text import visible_text

if TYPE_CHECKING:
    import pyarrow as pa

    from ragdatakit.database.safe_queries import TableFacts

Chunks = Iterable[Sequence[tuple[Any, ...]]]

_LEAST_COLUMN = 5
_LOOKED_AT = 1000
_LONGEST_CELL = 4096
_GAP = "  "
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that spreadsheets run."""
_INT64 = range(-(2**63), 2**64)


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, where one appears twice with a number: ``a``, ``a_2``."""
    found: list[str] = []
    for name in names:
        unique, number = name, 1
        while unique in found:
            number += 1
            unique = f"{name}_{number}"
        found.append(unique)
    return found


def without_formulas(names: Sequence[str], chunks: Chunks) -> tuple[list[str], Chunks]:
    """The same with an apostrophe before each name and text that a spreadsheet would take for a formula."""
    return (
        [_no_formula(name) for name in names],
        ([tuple(_no_formula(v) if isinstance(v, str) else v for v in row) for row in chunk] for chunk in chunks),
    )


def _no_formula(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULAS) else text


def limited(chunks: Chunks, limit: int) -> Iterator[Sequence[tuple[Any, ...]]]:
    """At most this many rows (0: all)."""
    left = limit
    for chunk in chunks:
        if not limit:
            yield chunk
            continue
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return


def table_lines(
    names: Sequence[str],
    types: Sequence[str],
    chunks: Chunks,
    *,
    width: int = 100,
    limit: int = 0,
    colour: bool = False,
) -> Iterator[str]:
    """The rows as a table of at most ``width`` terminal columns, at most ``limit`` of them (0: all).

    Columns are as wide as their first rows want, and share the width fairly where it is too little; longer values are
    cut. What could play tricks on a terminal is written as its code.
    """
    paint = painter(colour)
    rows = chain.from_iterable(chunks)
    first = list(islice(rows, min(_LOOKED_AT, limit + 1) if limit else _LOOKED_AT))
    heads = [cell_text(name) for name in names]
    cells = [[cell_text(value) for value in row] for row in first]
    wanted = [max(width_of(c) for c in column) for column in zip(heads, *cells, strict=True)]
    widths = _shared(wanted, width)
    rest = len(names) - len(widths)
    right = [kind.removeprefix("U").startswith(_NUMBERS) for kind in types]
    yield paint("bold", _line(heads, widths, right))
    yield paint("dim", _GAP.join("─" * w for w in widths))
    count, more = 0, False
    shown: Iterable[Sequence[Any]] = chain(zip(first, cells, strict=True), ((row, None) for row in rows))
    for row, texts in shown:
        if limit and count >= limit:
            more = True
            break
        count += 1
        texts = texts or [cell_text(value) for value in row]
        yield _line(texts, widths, right, [value is None for value in row], paint)
    yield paint("dim", _counted(count, more, rest))


def _counted(count: int, more: bool, rest: int) -> str:
    words = many(count, "row")
    if more:
        words = f"the first {words}; --limit 0 shows all"
    if rest:
        words += f"; {many(rest, 'more column')} (--output-format csv has them)"
    return f"({words})"


def _shared(wanted: Sequence[int], width: int) -> list[int]:
    """How wide each column is; those at the end for which there is no room are left out."""
    shown = len(wanted)
    while shown > 1 and sum(min(w, _LEAST_COLUMN) + len(_GAP) for w in wanted[:shown]) - len(_GAP) > width:
        shown -= 1
    room = width - len(_GAP) * (shown - 1)
    found = [0] * shown
    open_columns = sorted(range(shown), key=lambda i: wanted[i])
    for number, column in enumerate(open_columns):
        found[column] = max(min(wanted[column], room // (shown - number)), 1)
        room -= found[column]
    return found


def _line(
    texts: Sequence[str],
    widths: Sequence[int],
    right: Sequence[bool],
    missing: Sequence[bool] = (),
    paint: Painter | None = None,
) -> str:
    cells = []
    for number, width in enumerate(widths):
        text = cut_to(texts[number], width)
        blanks = " " * (width - width_of(text))
        shown = paint("dim", text) if paint is not None and missing and missing[number] else text
        cells.append(blanks + shown if right[number] else shown + blanks)
    return _GAP.join(cells).rstrip()


def cell_text(value: Any) -> str:
    """A value as one line that a terminal can show; a missing one is ``NULL``."""
    if isinstance(value, bytes):
        return f"<{many(len(value), 'byte')}>"
    text = plain_text(value, "NULL")
    cut = text[:_LONGEST_CELL] + ("…" if len(text) > _LONGEST_CELL else "")
    return visible_text(cut.replace("\r\n", "↵").replace("\n", "↵"))


def plain_text(value: Any, missing: str = "") -> str:
    """A value as text, lists and structures as JSON."""
    if value is None:
        return missing
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, list | tuple | Mapping):
        return _json(json_value(value)).decode()
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    return str(value)


def csv_pieces(names: Sequence[str], chunks: Chunks) -> Iterator[bytes]:
    """CSV with a header: a missing value is an empty cell, an empty text is ``""``.

    A cell that begins with ``::`` is quoted: no CI runner takes it for a command.
    """
    yield _csv_line([_csv_cell(name) for name in names])
    for chunk in chunks:
        yield b"".join(_csv_line(["" if v is None else _csv_cell(plain_text(v)) for v in row]) for row in chunk)


def _csv_line(cells: Iterable[str]) -> bytes:
    return f"{','.join(cells)}\n".encode()


def _csv_cell(text: str) -> str:
    if text and not any(c in text for c in ',"\r\n') and text.strip() == text and not text.startswith("::"):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def ndjson_pieces(names: Sequence[str], chunks: Chunks) -> Iterator[bytes]:
    """A JSON object a line."""
    keys = unique_names(names)
    for chunk in chunks:
        yield b"".join(_object(keys, row) + b"\n" for row in chunk)


def json_pieces(names: Sequence[str], types: Sequence[str], chunks: Chunks) -> Iterator[bytes]:
    """One JSON document, version 1: the columns with their types, and the rows as objects."""
    keys = unique_names(names)
    columns = [{"name": name, "type": kind} for name, kind in zip(keys, types, strict=True)]
    yield b'{"version":1,"columns":' + _json(columns) + b',"rows":['
    between = b"\n"
    for row in chain.from_iterable(chunks):
        yield between + _object(keys, row)
        between = b",\n"
    yield b"]}\n"


def _object(keys: Sequence[str], row: Sequence[Any]) -> bytes:
    return _json({key: json_value(value) for key, value in zip(keys, row, strict=True)})


def json_value(value: Any) -> Any:
    """A value as JSON has it: dates as ISO 8601 text, bytes as base64, decimals and large integers as numbers, what is
    no number as null."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if value in _INT64 else orjson.Fragment(str(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, decimal.Decimal):
        return orjson.Fragment(str(value)) if value.is_finite() else None
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, Mapping):
        return {plain_text(name): json_value(member) for name, member in value.items()}
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    return plain_text(value) if isinstance(value, bytes | uuid.UUID | dt.timedelta) else str(value)


def _json(value: Any) -> bytes:
    return orjson.dumps(value)


def markdown_pieces(names: Sequence[str], types: Sequence[str], chunks: Chunks) -> Iterator[bytes]:
    """A table as GitHub's Markdown has it."""
    yield f"| {' | '.join(_markdown_cell(name) for name in names)} |\n".encode()
    marks = ["---:" if kind.startswith(_NUMBERS) else "---" for kind in types]
    yield f"|{'|'.join(marks)}|\n".encode()
    for chunk in chunks:
        for row in chunk:
            yield f"| {' | '.join('' if v is None else _markdown_cell(plain_text(v)) for v in row)} |\n".encode()


_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_[]|~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})


def _markdown_cell(text: str) -> str:
    lines = text.replace("\r\n", "\n").split("\n")
    return "<br>".join(visible_text(line).translate(_MARKDOWN) for line in lines)


def write_parquet(file: IO[bytes] | Path, batches: Iterable[pa.RecordBatch], limit: int = 0) -> int:
    """Write at most ``limit`` rows (0: all) as Parquet, and say how many there were."""
    pq = parquet_library()
    rest = iter(batches)
    first = next(rest)
    schema = first.schema.empty_table().rename_columns(unique_names(first.schema.names)).schema
    count = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in rest:
            left = limit - count if limit else batch.num_rows
            part = batch.slice(0, left).rename_columns(schema.names)
            writer.write_batch(part)
            count += part.num_rows
            if limit and count >= limit:
                break
    return count


def tables_lines(
    tables: Iterable[tuple[str, int | None, str, Sequence[tuple[str, str]]]],
    examples: Sequence[str],
    *,
    width: int = 100,
    colour: bool = False,
) -> Iterator[str]:
    """What can be asked: ``tables`` are name, rows, fault, and columns as name and type."""
    paint = painter(colour)
    for name, rows, fault, columns in tables:
        words = many(rows, "row") if rows is not None else paint("warning", cell_text(fault))
        yield f"{paint('bold', cell_text(name))}  {words}"
        yield from _columns_lines(columns, width, paint)
    if examples:
        yield ""
        yield paint("bold", "Examples")
        yield from (f"  {example}" for example in examples)


def _columns_lines(columns: Sequence[tuple[str, str]], width: int, paint: Painter) -> Iterator[str]:
    line, used = "", 0
    for name, kind in columns:
        name, kind = cell_text(name), cell_text(kind)
        length = width_of(name) + width_of(kind) + 1
        if line and used + 2 + length > width - 2:
            yield f"  {line},"
            line, used = "", 0
        used += length + (2 if line else 0)
        line += (", " if line else "") + f"{name} {paint('dim', kind)}"
    if line:
        yield f"  {line}"


TableWriter = Callable[[Sequence[str], Sequence[str], Chunks], Iterator[bytes]]
WRITERS: dict[str, TableWriter] = {
    "csv": lambda names, types, chunks: csv_pieces(names, chunks),
    "json": json_pieces,
    "ndjson": lambda names, types, chunks: ndjson_pieces(names, chunks),
    "markdown": markdown_pieces,
}
"""How rows become bytes, by the name of the output format."""


_EXAMPLES = (
    ("documents", "select doc_id, length(text) from documents order by 2 desc limit 10"),
    ("chunks", "select doc_id, count(*) from chunks group by 1 order by 2 desc limit 10"),
    ("edges", "select relation, count(*) from edges group by 1 order by 2 desc"),
    ("nodes", "select name from nodes where name not in (select source from edges union select target from edges)"),
    ("qrels", "select question_id, count(*) from qrels where grade > 0 group by 1 order by 2 desc limit 10"),
    ("triplets", "select question_id, count(*) from triplets group by 1 order by 2 desc limit 10"),
    ("runs", "select stage, avg(seconds), max(seconds) from runs group by 1"),
    ("questions", "select split, count(*) from questions group by 1"),
)


def tables_json(tables: Iterable[TableFacts]) -> bytes:
    """What there is to query, as JSON, version 1."""
    listed = [
        {
            "name": t.called,
            "dataset": t.dataset or None,
            "schema": t.schema,
            "table": t.name,
            "rows": t.rows,
            "fault": as_text(t.fault) or None,
            "columns": [{"name": c.name, "type": c.type} for c in t.columns],
        }
        for t in tables
    ]
    return orjson.dumps({"version": 1, "tables": listed}, option=orjson.OPT_INDENT_2) + b"\n"


def example_queries(tables: Sequence[TableFacts]) -> list[str]:
    """Queries to start from."""
    asked = [t for t in tables if t.schema == "main" and t.rows]
    if any(t.dataset for t in tables):
        pairs = ((a, b) for a in asked for b in asked if a.name == b.name and a.dataset < b.dataset)
        both = [f"select count(*) from {a.called} a join {b.called} b using ({a.columns[0].name})" for a, b in pairs]
        return [*(f"from {t.called} limit 10" for t in asked[:1]), *both[:1]]
    has = {t.name for t in asked}
    return [sql for table, sql in _EXAMPLES if table in has][:3] or [f"from {t.called} limit 10" for t in tables[:1]]
