"""What ways of taking tables by SQL share: tables of batches, a look through a file, how SQL writes paths and texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import PackedColumn, Schema
from ragdatakit.database.dataset_database import Connect, SqlTable, Unproved
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.boundary import refuse_link_out
from ragdatakit.files.paths.sql_text import is_sql_path, sql_text, unglobbed
from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.files.reading.threads import Aside
from ragdatakit.scanner.library import library
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, RagdataError

if TYPE_CHECKING:
    import duckdb

_READ_APART = re.compile(rb'[\x00-\x08\x0b-\x1f]|\A\n|\n\n|(?:\A|\n)[ \t]+(?:\n|\Z)|,[ \t]+"(?!")')
_HUGE_LINE = 1 << 26


def fill(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    files: Iterable[DataFile],
    query: str,
    schema: Schema,
    batches: Callable[[DataFile], Iterator[Sequence[PackedColumn]]],
) -> None:
    """Make a table of the batches of files, one after the other.

    ``{}`` of the query stands for the records of a file, ``{split}`` for its split.
    """
    start = f"create {'temp table' if table.startswith('temp.') else 'table'} {table} as"
    for file in files:
        with incoming(connection, "decoded_records", schema, batches(file)):
            connection.execute(f"{start} {query.format('decoded_records', split=sql_text(file.split))}")
        start = f"insert into {table}"


def scanned_table(
    table: str, batches: Callable[[TextFacts, Losses], Iterator[Sequence[PackedColumn]]], held: HeldRows | None = None
) -> SqlTable:
    """A table that is made of batches of its columns, which the scanner gives; ``batches`` is given the facts of texts,
    and who counts values that columns cannot hold. It is `Unproved` where there is none, and where a file cannot be
    read to its end: the reader says how far that is. Of a report the rows are ``held``, if something can hold them."""
    facts, schema, losses = TextFacts(), schema_of(table), Losses()

    def load(connect: Connect, name: str) -> dict[str, int]:
        if library() is None:
            raise Unproved
        given = facts.watched(schema, batches(facts, losses))
        try:
            if held is not None and facts.wanted is not None and facts.wanted.apart:
                rest = held.take(given)
                if rest is None:
                    return {}
                given = rest
            connection = connect()
            with incoming(connection, "decoded_records", schema, given):
                connection.execute(f'create table main."{name}" as select * from decoded_records')
        except MachineError:
            raise
        except RagdataError:
            raise Unproved from None
        return {}

    return SqlTable(table, load, facts=facts, apart=held, losses=losses)


def look_through_csv(files: Iterable[DataFile], progress: Progress | None = None) -> Aside[None]:
    """Look through tables, in a thread, for what DuckDB reads in another way: blank lines, blanks before quotes.

    The result raises `Unproved` where there is such a thing.
    """

    def look() -> None:
        for file in files:
            _look_through(file, progress)

    return Aside(look)


def _look_through(file: DataFile, progress: Progress | None) -> None:
    is_packed = file.path.name.lower().endswith(".gz")
    source = Source(file.path, is_packed, max_line_bytes=_HUGE_LINE, boundary=file.boundary)
    for block in source.blocks():
        if block.skipped:
            raise Unproved
        if not is_read_alike(block.data):
            raise Unproved
        if progress is not None:
            progress(file.display, source.progress, source.size)
    if source.faults:
        raise Unproved


def is_read_alike(lines: bytes) -> bool:
    """Whether DuckDB takes no line of a table for nothing, and no cell for quoted that only has quotes in it."""
    found = library()
    return _READ_APART.search(lines) is None if found is None else found.rd_read_alike(lines, len(lines)) == 1


def paths(files: Iterable[DataFile]) -> str:
    """The files as a list in SQL, in which DuckDB sees no patterns; none that a link leads out to."""
    files = list(files)
    if not all(is_sql_path(file.path) for file in files):
        raise Unproved
    for file in files:
        refuse_link_out(file.boundary, file.path)
    return "[" + ", ".join(sql_text(unglobbed(f.path)) for f in files) + "]"
