"""The Python interface of gates: suites of Great Expectations over the tables of a dataset."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.api.arguments import reading
from ragdatakit.api.keywords import takes
from ragdatakit.api.remote import at_hand
from ragdatakit.api.results import ShownAsPage
from ragdatakit.api.sources import database_of, only_dataset
from ragdatakit.files.machine import refuse_little_space
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.gates import GateResult
from ragdatakit.schemas.options import (
    DATABASE_MEMORY,
    BatchOptions,
    DatasetOptions,
    GateOptions,
    PathLike,
    SuiteOptions,
)

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.reports.gates.frames import GateFrames
    from ragdatakit.schemas.gates import GateTable, Suite


class CheckedGate(ShownAsPage, GateResult):
    """The result of `ragdatakit.gate`."""

    __slots__ = ()

    def _json(self) -> bytes:
        from ragdatakit.reports.gates.output import gate_json

        return gate_json(self)

    def _page(self) -> bytes:
        from ragdatakit.reports.gates.output import gate_page

        return gate_page(self)


@takes(GateOptions)
def gate(options: GateOptions, path: PathLike, suites: PathLike | Iterable[PathLike]) -> CheckedGate:
    """Run the suite files ``suites`` over the dataset at ``path``.

    An expectation is about the table that its ``meta`` names (``"ragdata_table": "documents"``), else that of its
    suite, else ``table``: a canonical table, or ``files.KIND`` for the files as they are. Of each table only the
    columns that expectations name are loaded, those of one expectation at a time.

    Raises `MissingExtraError` without the extra ``gates``, and `RagdataError` for suites that are none and for data
    that cannot be read. An expectation that cannot be checked is in the result as an error; the others are checked.
    Files that cannot be read whole are in ``unread`` of the result: it is no success then, whatever holds of the rest.
    """
    refuse_little_space("columns")
    from ragdatakit.reports.gates.frames import GateFrames
    from ragdatakit.reports.gates.running import GateLibrary, run_suite
    from ragdatakit.reports.gates.suites import check_table, read_suite
    from ragdatakit.reports.summaries import loss_words

    started = time.perf_counter()
    if options.table:
        check_table(options.table)
    files = [suites] if isinstance(suites, str | os.PathLike) else list(suites)
    if not files:
        raise RagdataError("no suite given")
    read = [read_suite(Path(file), options.table) for file in files]
    data_docs = Path(options.data_docs) if options.data_docs is not None else None
    if data_docs is not None:
        from ragdatakit.reports.gates.data_docs import check_folder

        check_folder(data_docs)
    library = GateLibrary()
    with _opened(path, options) as database:
        frames = GateFrames(database, options.sample_rows, options.memory_limit)
        result = CheckedGate(
            os.fspath(path), database.name, database.format, read, library=library.version, dataset=options.dataset
        )
        for suite in read:
            kept: dict[str, list[Any]] | None = {} if data_docs is not None else None
            result.checks += run_suite(library, suite, frames, kept, options.progress)
            if kept is not None and data_docs is not None:
                from ragdatakit.reports.gates.data_docs import keep_results

                keep_results(library, suite, kept)
        result.tables = _tables(frames, read)
        result.notes = [f"{t.name}: {t.checked:,} of {t.rows:,} rows were checked" for t in result.tables if t.sampled]
        result.notes += loss_words(database.losses)
        result.unread = _unread(database, [e.table for suite in read for e in suite.expectations])
    if data_docs is not None:
        from ragdatakit.reports.gates.data_docs import write_pages

        write_pages(library, data_docs)
    result.seconds = time.perf_counter() - started
    return result


@takes(SuiteOptions)
def first_suite(options: SuiteOptions, path: PathLike) -> dict[str, Any]:
    """A suite made of today's data, as Great Expectations' JSON: `gate` passes on the same data.

    It has row counts, shares of empty and of distinct values, ranges, lengths of texts, sets of few values, unique
    keys, and shares of references that are found. Needs no extra. Records that were left out are reported in ``meta``
    of the suite, as ``ragdata_left_out``.

    Raises `RagdataError` as `read` does, and where a file of these tables cannot be read whole.
    """
    refuse_little_space("columns")
    from ragdatakit.reports.gates.first_suite import first_suite as made
    from ragdatakit.reports.gates.frames import GateFrames
    from ragdatakit.reports.gates.suites import check_table

    tables = tuple(options.tables)
    for table in tables:
        check_table(table)
    with _opened(path, options) as database:
        frames = GateFrames(database)
        for table in tables:
            if table not in frames:
                raise UnknownNameError("table", table, frames.names(), where=f"of {database.name}")
        suite = made(frames, list(tables) or list(database.tables), options.name or database.name, options.tolerance)
        if unread := _unread(database, tables):
            more = f" (and {len(unread) - 1:,} more)" if len(unread) > 1 else ""
            raise RagdataError(f"no suite is made from a part of the data: {unread[0]}{more}")
        if database.losses.any_lost:
            from ragdatakit.reports.summaries import loss_words  # what it imports is worth it where there is something

            suite["meta"]["ragdata_left_out"] = loss_words(database.losses)
        return suite


def batch(path: PathLike, table: str, columns: Sequence[str] = (), **options: Any) -> Any:
    """A table of the dataset at ``path`` as a batch of Great Expectations: ``batch.validate(suite)``.

    ``table`` is a canonical table or ``files.KIND``, ``columns`` those to load (default: all of the table itself;
    ``text_length`` and ``doc_id_found`` are made when they are named). The other arguments are the fields of
    `BatchOptions`.
    """
    wanted = BatchOptions(**options)
    refuse_little_space("columns")
    from ragdatakit.reports.gates.frames import GateFrames
    from ragdatakit.reports.gates.running import GateLibrary
    from ragdatakit.reports.gates.suites import check_table

    check_table(table)
    library = GateLibrary()
    with _opened(path, wanted) as database:
        frames = GateFrames(database, wanted.sample_rows, wanted.memory_limit)
        if table not in frames:
            raise UnknownNameError("table", table, frames.names(), where=f"of {database.name}")
        frames.check(table, columns)
        return library.batch(table, frames.frame(table, list(columns) or frames.own_columns(table)))


def _opened(path: PathLike, options: DatasetOptions) -> DatasetDatabase:
    with at_hand(options, [path], options.source_format) as here:
        found = only_dataset(Path(here.paths[0]), reading(here.options), options.dataset)
        return database_of(found, DATABASE_MEMORY, own_sql=True)


def _unread(database: DatasetDatabase, tables: Iterable[str]) -> list[str]:
    """What could not be read, in words; of the files as they are those of these tables."""
    views = dict.fromkeys(table.removeprefix("files.") for table in tables if table.startswith("files."))
    return database.losses.unread + [fault for fault in map(database.view_fault, views) if fault]


def _tables(frames: GateFrames, suites: list[Suite]) -> list[GateTable]:
    from ragdatakit.schemas.gates import GateTable

    named = dict.fromkeys(e.table for suite in suites for e in suite.expectations)
    return [GateTable(t, frames.rows(t), frames.checked(t)) for t in named if t in frames]
