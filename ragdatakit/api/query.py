"""The Python interface of queries: SQL over a dataset, or over several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.arguments import PathLike, Progress, reading_options, refuse_number
from ragdatakit.api.sources import meant_datasets
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import pyarrow as pa

    from ragdatakit.schemas.conversions import Losses
    from ragdatakit.tables.safe_queries import SafeQueries


def query(
    path: PathLike,
    sql: str,
    *,
    source_format: str = "",
    dataset: str = "",
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    limit: int = 0,
    timeout: float | None = None,
    memory_limit: int = 0,
    progress: Progress | None = None,
) -> pa.Table:
    """The rows of one SELECT over the datasets at ``path``, as an Arrow table in memory.

    The canonical tables stand under their names, the files as they are in schema ``files``; where the path holds
    several datasets, behind their names (``"name".documents``, ``"name".files.corpus``), unless ``dataset`` says which
    is meant. Only the tables that the query names are read; it reaches no other files, no network, no Python variables.
    ``limit`` is the most rows to take (0: all), ``timeout`` the most seconds for the query itself, ``memory_limit``
    what the database may hold in bytes. The other arguments are those of `read`.

    Raises `QueryError` (a `RagdataError` that knows the place in the query) for what is wrong with the query, and
    `RagdataError` as `read` does, and where a file that the query needs cannot be read whole. Records that could not be
    read are told by a warning (`UserWarning`).
    """
    import warnings

    import pyarrow as pa

    refuse_number("limit", limit, 0)
    with open_queries(
        path,
        source_format=source_format,
        dataset=dataset,
        options=options,
        chunking=chunking,
        timeout=timeout,
        memory_limit=memory_limit,
        progress=progress,
    ) as queries:
        batches = queries.run(sql).batches()
        for told in lost_words(queries.losses):
            warnings.warn(told, stacklevel=2)
        first = next(batches)
        taken, count = [first], 0
        for batch in batches:
            taken.append(batch.slice(0, limit - count) if limit else batch)
            count += batch.num_rows
            if limit and count >= limit:
                break
        return pa.Table.from_batches(taken, schema=first.schema)


@contextmanager
def open_queries(
    path: PathLike,
    *,
    source_format: str = "",
    dataset: str = "",
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    timeout: float | None = None,
    memory_limit: int = 0,
    progress: Progress | None = None,
) -> Iterator[SafeQueries]:
    """What may be asked of the datasets at ``path``, for a ``with`` block. The arguments are those of `query`."""
    from ragdatakit.api.report import database_of
    from ragdatakit.tables.database_group import DatabaseGroup
    from ragdatakit.tables.safe_queries import SafeQueries

    if timeout is not None and not timeout > 0:
        raise RagdataError(f"timeout is {timeout}, expected a number of seconds above 0")
    wanted = reading_options(source_format, options, chunking, progress)
    found = meant_datasets(Path(path), wanted, dataset)
    if len(found) == 1:
        with database_of(found[0], memory_limit) as database:
            yield SafeQueries(database, timeout)
        return
    openers = {each.name: partial(database_of, each, memory_limit) for each in found}
    with DatabaseGroup(openers, memory_limit) as group:
        yield SafeQueries(group, timeout)


def lost_words(found: Mapping[str, Losses]) -> list[str]:
    """Sentences about what could not be read, of `SafeQueries.losses`."""
    lossy = {dataset: losses for dataset, losses in found.items() if losses.any_lost}
    if not lossy:
        return []
    from ragdatakit.reports.summaries import loss_words  # what it imports is worth it where there is something to tell

    return [f"{name}: {told}" if name else told for name, losses in lossy.items() for told in loss_words(losses)]
