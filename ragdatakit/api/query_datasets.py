"""What a query asks, and the datasets that it is asked of, opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.arguments import reading
from ragdatakit.api.sources import meant_datasets
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import PathLike, Progress, QueryOptions
from ragdatakit.schemas.texts import as_text

if TYPE_CHECKING:
    from ragdatakit.api.sources import FoundDataset
    from ragdatakit.database.database_group import Opener
    from ragdatakit.database.dataset_database import DatasetDatabase, SharedConnection
    from ragdatakit.database.safe_queries import AtWork, SafeQueries
    from ragdatakit.schemas.conversions import Losses


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the datasets at ``path``: one SELECT, or what tables there are, where ``sql`` is None.

    ``as_batches``: the rows are wanted as Arrow record batches.
    """

    path: PathLike
    sql: str | None
    options: QueryOptions
    as_batches: bool = False
    shows_progress: bool = False


@contextmanager
def open_queries(question: Question, progress: Progress | None, at_work: AtWork) -> Iterator[SafeQueries]:
    """What may be asked of the datasets at the path of a question, for a ``with`` block; ``at_work`` as `SafeQueries`
    calls it."""
    from ragdatakit.api.sources import database_of
    from ragdatakit.database.database_group import DatabaseGroup
    from ragdatakit.database.safe_queries import SafeQueries

    path, memory_limit = Path(question.path), question.options.memory_limit
    wanted = replace(reading(question.options), progress=progress)
    found = meant_datasets(path, wanted, question.options.dataset)
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
    from ragdatakit.files.paths.folders import unreadable_folders

    known = {folder for each in found for part in each.source.parts for folder in part.unreadable}
    hidden = [folder for folder in unreadable_folders(path) if str(folder) not in known]
    return {as_text(folder.relative_to(path).as_posix()): folder for folder in hidden}


def _not_opened(folder: Path, _shared: SharedConnection) -> DatasetDatabase:
    from ragdatakit.files.paths.folders import not_looked_into

    raise RagdataError(not_looked_into(folder))


def lost_words(found: Mapping[str, Losses], unlisted: Mapping[str, str] | None = None) -> list[str]:
    """Sentences about what could not be read, of `SafeQueries.losses`, and about datasets that are ``unlisted``."""
    words = [f"{name} is left out: {reason}" for name, reason in (unlisted or {}).items()]
    return words + _loss_words(found)


def _loss_words(found: Mapping[str, Losses]) -> list[str]:
    lossy = {dataset: losses for dataset, losses in found.items() if losses.any_lost}
    if not lossy:
        return []
    from ragdatakit.reports.summaries import loss_words  # what it imports is worth it where there is something to tell

    return [f"{name}: {words}" if name else words for name, losses in lossy.items() for words in loss_words(losses)]
