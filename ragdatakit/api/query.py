"""The Python interface of queries: SQL over one dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragdatakit.api.arguments import PathLike, Progress, refuse_number
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import pyarrow as pa

    from ragdatakit.tables.safe_queries import SafeQueries


def query(
    path: PathLike,
    sql: str,
    *,
    source_format: str = "",
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    limit: int = 0,
    timeout: float | None = None,
    memory_limit: int = 0,
    progress: Progress | None = None,
) -> pa.Table:
    """The rows of one SELECT over the dataset at ``path``, as an Arrow table in memory.

    The canonical tables stand under their names, the files as they are in schema ``files``. Only the tables that the
    query names are read; it reaches no other files, no network, no Python variables. ``limit`` is the most rows to
    take (0: all), ``timeout`` the most seconds for the query itself, ``memory_limit`` what the database may hold in
    bytes. The other arguments are those of `read`.

    Raises `QueryError` (a `RagdataError` that knows the place in the query) for what is wrong with the query, and
    `RagdataError` as `read` does.
    """
    import pyarrow as pa

    refuse_number("limit", limit, 0)
    words = {"source_format": source_format, "options": options, "chunking": chunking, "progress": progress}
    with open_queries(path, timeout=timeout, memory_limit=memory_limit, **words) as queries:  # type: ignore[arg-type]
        batches = queries.run(sql).batches()
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
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    timeout: float | None = None,
    memory_limit: int = 0,
    progress: Progress | None = None,
) -> Iterator[SafeQueries]:
    """What may be asked of the dataset at ``path``, for a ``with`` block. The arguments are those of `query`."""
    from ragdatakit.api.report import open_database
    from ragdatakit.tables.safe_queries import SafeQueries

    if timeout is not None and not timeout > 0:
        raise RagdataError(f"timeout is {timeout}, expected a number of seconds above 0")
    with open_database(
        path,
        source_format=source_format,
        options=options,
        chunking=chunking,
        memory_limit=memory_limit,
        progress=progress,
    ) as database:
        yield SafeQueries(database, timeout)
