"""The Python interface of comparisons: how one dataset, or one state of it, differs from another."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ragdatakit.api.arguments import PathLike, Progress, refuse_number
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.reports.dataset_diff import Compared
    from ragdatakit.schemas.diffs import DatasetDiff, Metric


def diff(
    before: PathLike,
    after: PathLike,
    *,
    source_format: str = "",
    after_format: str = "",
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    ignore: Iterable[str] = (),
    keys: Mapping[str, Iterable[str]] | None = None,
    records: int = 20,
    metrics: bool = True,
    memory_limit: int = 0,
    progress: Progress | None = None,
) -> DatasetDiff:
    """How the dataset at ``after`` differs from that at ``before``, by records, files and numbers.

    Each is a path, or a git revision and a path in it (``HEAD~1:data``), which is read without touching the working
    tree. They may be of different formats: what is compared are the canonical tables. Records are found again by the
    keys of the tables, or by ``keys`` (table to columns); ``ignore`` are columns that do not count, as ``column`` or
    ``table.column``. At most ``records`` are kept of each kind of difference in a table, all are counted. ``metrics``
    says whether the numbers of the two reports are compared, too. The other arguments are those of `read`;
    ``source_format`` is that of both, or of the first where ``after_format`` is given.

    Raises `RagdataError` as `read` does, and for a revision or path that is not there.
    """
    from ragdatakit.reports.dataset_diff import DiffOptions, compare_datasets

    refuse_number("records", records, 0)
    started = time.perf_counter()
    wanted = DiffOptions(
        records=records,
        ignored=tuple(ignore),
        keys={table: tuple(columns) for table, columns in (keys or {}).items()},
        progress=progress,
    )
    notes: list[str] = []
    with ExitStack() as stack:
        sides = []
        for path, format_name in ((before, source_format), (after, after_format or source_format)):
            opened = _opened(path, format_name, options, chunking, memory_limit, progress, notes)
            sides.append(stack.enter_context(opened))
        found = compare_datasets(sides[0], sides[1], wanted)
        if metrics and found.different:
            found.metrics = _metrics(sides[0], sides[1], progress)
        found.notes[:0] = notes
    found.seconds = time.perf_counter() - started
    return found


@contextmanager
def _opened(
    path: PathLike,
    source_format: str,
    options: Mapping[str, object] | None,
    chunking: Mapping[str, object] | None,
    memory_limit: int,
    progress: Progress | None,
    notes: list[str],
) -> Iterator[Compared]:
    """One side: a path, or what git has of it."""
    from ragdatakit.api.report import open_database
    from ragdatakit.reports.dataset_diff import Compared
    from ragdatakit.tables.git_files import extract_revision, parse_revision

    shown = os.fspath(path)
    revision = parse_revision(shown)
    with ExitStack() as stack:
        place = Path(path)
        if revision is not None:
            if progress is not None:
                progress(f"reading {shown}", 0, 1)
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="ragdata-")), "files")
            place, told = extract_revision(revision, folder)
            notes.extend(told)
        try:
            database = open_database(
                place,
                source_format=source_format,
                options=options,
                chunking=chunking,
                memory_limit=memory_limit,
                progress=progress,
            )
        except RagdataError as error:
            if revision is None:
                raise
            raise RagdataError(str(error).replace(str(place), shown)) from None
        stack.enter_context(database)
        yield Compared(database, database.parts, shown)


def _metrics(before: Compared, after: Compared, progress: Progress | None) -> list[Metric]:
    """The numbers of the two reports that are different."""
    from ragdatakit.reports.moved_metrics import moved_metrics
    from ragdatakit.reports.summaries import summarize

    old, new = (
        summarize(side.database, path=side.path, examples=0, seed=13, progress=progress) for side in (before, after)
    )
    return moved_metrics(old, new)
