"""The Python interface of queries: SQL over a dataset, or over several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.arguments import PathLike, Progress, reading_options, refuse_number
from ragdatakit.api.sources import meant_datasets
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import pyarrow as pa

    from ragdatakit.api.query_process import Question
    from ragdatakit.api.sources import FoundDataset
    from ragdatakit.database.database_group import Opener
    from ragdatakit.database.dataset_database import DatasetDatabase, SharedConnection
    from ragdatakit.database.safe_queries import AtWork, SafeQueries
    from ragdatakit.schemas.conversions import Losses


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

    from ragdatakit.api.query_process import Question, asked

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


@contextmanager
def open_queries(question: Question, progress: Progress | None, at_work: AtWork) -> Iterator[SafeQueries]:
    """What may be asked of the datasets at the path of a question, for a ``with`` block; ``at_work`` as `SafeQueries`
    calls it."""
    from ragdatakit.api.report import database_of
    from ragdatakit.database.database_group import DatabaseGroup
    from ragdatakit.database.safe_queries import SafeQueries

    path, memory_limit = question.path, question.memory_limit
    wanted = reading_options(progress=progress, **question.reading)
    found = meant_datasets(path, wanted, question.dataset)
    if len(found) == 1:
        with database_of(found[0], memory_limit) as database:
            yield SafeQueries(database, at_work)
        return
    openers: dict[str, Opener] = {
        name: partial(_not_opened, folder) for name, folder in _hidden_folders(path, found).items()
    }
    openers |= {each.name: partial(database_of, each, memory_limit) for each in found}
    with DatabaseGroup(openers, memory_limit) as group:
        yield SafeQueries(group, at_work)


def _hidden_folders(path: Path, found: Sequence[FoundDataset]) -> dict[str, Path]:
    """The folders at a path of which nobody can say what is in them, by their names: datasets that cannot be read."""
    from ragdatakit.files.folders import unreadable_folders

    known = {folder for each in found for part in each.source.parts for folder in part.unreadable}
    hidden = [folder for folder in unreadable_folders(path) if str(folder) not in known]
    return {folder.relative_to(path).as_posix(): folder for folder in hidden}


def _not_opened(folder: Path, _shared: SharedConnection) -> DatasetDatabase:
    from ragdatakit.files.folders import not_looked_into

    raise RagdataError(not_looked_into(folder))


def lost_words(found: Mapping[str, Losses], unlisted: Mapping[str, str] | None = None) -> list[str]:
    """Sentences about what could not be read, of `SafeQueries.losses`, and about datasets that are ``unlisted``."""
    told = [f"{name} is left out: {reason}" for name, reason in (unlisted or {}).items()]
    return told + _loss_words(found)


def _loss_words(found: Mapping[str, Losses]) -> list[str]:
    lossy = {dataset: losses for dataset, losses in found.items() if losses.any_lost}
    if not lossy:
        return []
    from ragdatakit.reports.summaries import loss_words  # what it imports is worth it where there is something to tell

    return [f"{name}: {told}" if name else told for name, losses in lossy.items() for told in loss_words(losses)]
