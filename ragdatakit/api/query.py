"""The Python interface of queries: SQL over a dataset, or over several."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.arguments import PathLike, Progress, refuse_number
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import pyarrow as pa


def query(
    path: PathLike,
    sql: str,
    *,
    source_format: str = "",
    dataset: str = "",
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    follow_links: bool = False,
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
    what the query may take in bytes, beside the tables that are read. The other arguments are those of `read`.

    Raises `QueryError` (a `RagdataError` that knows the place in the query) for what is wrong with the query, and
    `RagdataError` as `read` does, and where a file that the query needs cannot be read whole. Records that could not be
    read are told by a warning (`UserWarning`).
    """
    import warnings

    import pyarrow as pa

    from ragdatakit.api.query_datasets import Question
    from ragdatakit.api.query_process import asked

    refuse_number("limit", limit, 0)
    question = Question(
        Path(path),
        sql,
        {"source_format": source_format, "options": options, "chunking": chunking, "follow_links": follow_links},
        dataset,
        as_batches=True,
        memory_limit=memory_limit,
        timeout=refuse_timeout(timeout),
    )
    with asked(question, progress) as answer:
        for told in answer.lost:
            warnings.warn(told, stacklevel=2)
        first = next(answer.pieces)
        taken, count = [first], 0
        for batch in answer.pieces:
            taken.append(batch.slice(0, limit - count) if limit else batch)
            count += batch.num_rows
            if limit and count >= limit:
                break
        return pa.Table.from_batches(taken, schema=first.schema)


def refuse_timeout(timeout: float | None) -> float | None:
    """The same. Raises `RagdataError` where it is no time."""
    if timeout is not None and not timeout > 0:
        raise RagdataError(f"timeout is {timeout}, expected a number of seconds above 0")
    return timeout
