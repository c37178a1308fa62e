"""The Python interface of queries: SQL over a dataset, or over several."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragdatakit.api.keywords import takes
from ragdatakit.schemas.errors import QueryError
from ragdatakit.schemas.options import PathLike, QueryOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from ragdatakit.api.query_process import Answer


@takes(QueryOptions)
def query(options: QueryOptions, path: PathLike, sql: str) -> pa.Table:
    """The rows of one SELECT over the datasets at ``path``, as an Arrow table in memory.

    The canonical tables are under their names, the files as they are in schema ``files``; where the path holds
    several datasets, behind their names (``"name".documents``, ``"name".files.corpus``), unless ``dataset`` says which
    is meant. Only the tables that the query names are read; it reaches no other files, no network, no Python variables.
    Raises `QueryError` (a `RagdataError` that knows the place in the query) for what is wrong with the query, and
    `RagdataError` as `read` does, and where a file that the query needs cannot be read whole; `MissingExtraError`
    without pyarrow, which the extra ``parquet`` brings. Records that could not be read are reported by a warning
    (`UserWarning`).
    """
    lost: list[str] = []
    found = _in_memory(options, path, sql, lost)
    for loss in lost:
        warnings.warn(loss, stacklevel=3)
    return found


def _in_memory(options: QueryOptions, path: PathLike, sql: str, lost: list[str], most_bytes: int = 0) -> pa.Table:
    """The rows as an Arrow table; `QueryError` where they take more than that many bytes (0: whatever they take).
    ``lost`` gets what could not be read."""
    from ragdatakit.api.query_datasets import Question
    from ragdatakit.api.query_process import asked
    from ragdatakit.files.containers.arrow_library import arrow_library

    limit, arrow, held = options.limit, arrow_library(), 0
    with asked(Question(path, sql, options, as_batches=True)) as answer:
        lost += answer.lost
        first = next(answer.pieces)
        taken, count = [first], 0
        for batch in answer.pieces:
            taken.append(batch.slice(0, limit - count) if limit else batch)
            count += batch.num_rows
            held += batch.nbytes
            if most_bytes and held > most_bytes:
                raise QueryError(f"it takes more than {most_bytes >> 20} MiB in memory; raise --memory-limit")
            if limit and count >= limit:
                break
        found: pa.Table = arrow.Table.from_batches(taken, schema=first.schema)
        return found


def parquet_pieces(answer: Answer, limit: int) -> Iterator[bytes]:
    """The rows of an answer that has record batches as a Parquet file, piece by piece; at most ``limit`` (0: all).

    Raises `QueryError` where Parquet does not take them.
    """
    from ragdatakit.files.containers.arrow_library import arrow_library
    from ragdatakit.reports.query_output import write_parquet

    with tempfile.TemporaryFile(prefix="ragdata-") as file:
        try:
            write_parquet(file, answer.pieces, limit)
        except arrow_library().ArrowException as error:
            raise QueryError(f"Parquet does not take the rows: {error}; cast the column in the query") from None
        file.seek(0)
        yield from iter(lambda: file.read(1 << 20), b"")


class QueryTables:
    """What answers the queries of own rules."""

    def rows(self, path: PathLike, sql: str, options: QueryOptions) -> Iterator[dict[str, object]]:
        """The rows of one SELECT, each by its columns. Raises as `query` does."""
        from ragdatakit.api.query_datasets import Question
        from ragdatakit.api.query_process import asked

        with asked(Question(path, sql, options)) as answer:
            names = [column.name for column in answer.columns]
            for piece in answer.pieces:
                for row in piece:
                    yield dict(zip(names, row, strict=True))

    def arrow(self, path: PathLike, sql: str, options: QueryOptions) -> pa.Table:
        """All rows of it; at most half of the memory that may be used, as frames are copies."""
        return _in_memory(options, path, sql, [], options.memory_limit // 2)  # what is lost has findings of its own
