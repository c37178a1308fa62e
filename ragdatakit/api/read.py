"""The Python interface of reading: datasets as canonical tables, views of their files, training samples; `verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.arguments import reading
from ragdatakit.api.keywords import takes
from ragdatakit.api.remote import at_hand
from ragdatakit.api.sources import only_dataset
from ragdatakit.schemas.options import PathLike, Progress, ReadOptions

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.files.light_splade.training_samples import TrainingSamples
    from ragdatakit.files.paths.manifest import Difference


def connect(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    follow_links: bool = False,
) -> duckdb.DuckDBPyConnection:
    """A DuckDB database in memory, with one view for each kind of file of the datasets at ``path``.

    A view has the fields of the records, and the columns ``split`` and ``file``; the view ``datasets`` shows the schema
    of each dataset (``main`` where there is only one). The views read the files anew with every query and coerce what
    is damaged: they are for looking; what is wrong, `validate` shows. Raises `RagdataError` as `validate` does.
    """
    from ragdatakit.converters import split_of
    from ragdatakit.database.views import open_views

    return open_views(Path(path), format, follow_links, split_of)


@takes(ReadOptions)
def read(options: ReadOptions, path: PathLike) -> DatasetDatabase:
    """The dataset at ``path`` as canonical tables (documents, chunks, questions, qrels, edges and so on).

    Tables come as DuckDB relations, Arrow tables, pandas frames or an iterator of rows. The data is taken as it is:
    what is wrong with it `validate` shows; what could not be read is in ``losses``. Raises `RagdataError` where nothing
    is recognised, or several datasets are.
    """
    from ragdatakit.converters.source_tables import read_source
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.schemas.conversions import Losses

    with at_hand(options, [path], options.source_format) as here:
        found = only_dataset(Path(here.paths[0]), reading(here.options, options.name), options.dataset)
        return DatasetDatabase(read_source(found.source, found.wanted, Losses()), strict=True)


def verify(
    path: PathLike, *, source: PathLike | None = None, follow_links: bool = False, progress: Progress | None = None
) -> list[Difference]:
    """How the files below ``path`` differ from the manifests that ragdata wrote there; empty where nothing does.

    With ``source`` the digest of what they were converted from is compared, too. Raises `RagdataError` where there is
    no manifest.
    """
    from ragdatakit.converters.verification import verify_folder

    return verify_folder(Path(path), Path(source) if source is not None else None, progress, follow_links)


def training_samples(path: PathLike, split: str = "train", *, follow_links: bool = False) -> TrainingSamples:
    """The training samples of a light-splade dataset: ``(query_text, positive_text, negative_text)``, by triplet.

    They come in the order of the file, or seeded and random by ``shuffled(seed)``; the masters stay on the disk. Use it
    in a ``with`` block. Raises `RagdataError` where the dataset or its split is missing, and for dangling ids.
    """
    from ragdatakit.files.light_splade.training_samples import TrainingSamples

    return TrainingSamples(path, split, follow_links=follow_links)
