"""Datasets that a validation found, as canonical tables: for its checks of quality."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ragdatakit.converters import converter_names, get_converter
from ragdatakit.converters.hipporag.data_sets import each_set, own_parts
from ragdatakit.converters.source_tables import read_source
from ragdatakit.converters.sources import ConversionSettings, Source
from ragdatakit.converters.sql_tables import blocks_of, columns_of_questions
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.plain_names import READ_AS
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, MissingExtraError, NotMeantError, RagdataError


def checked_tables(
    datasets: Sequence[Dataset], progress: Progress | None = None, values: Mapping[str, str] | None = None
) -> Iterator[tuple[Sequence[Dataset], CanonicalTables | RagdataError]]:
    """Datasets of one format, those that are read as one together, with their tables; none where nothing reads it. Of
    several data sets in one folder each is one. In the place of tables comes why one of several cannot be read.

    ``values`` are options of the format's reader, by name; those of other formats are passed over, and so are datasets
    that these do not mean, where they mean another. Raises `RagdataError` where the only dataset cannot be read.
    """
    name = datasets[0].format.name
    converter = get_converter(name) if name in converter_names() else None
    if converter is None or converter.read is None:
        return
    groups = converter.group(list(datasets)) if converter.group is not None else [[d] for d in datasets]
    read_as = datasets[0].options.get(READ_AS, {})
    options = ConversionSettings(target_format="", values={**read_as, **(values or {})}, progress=progress)
    found = [pair for group in groups for pair in each_set(Source(tuple(group)), options)]
    not_meant: list[NotMeantError] = []
    for source, wanted in found:
        tables: CanonicalTables | RagdataError
        try:
            tables = read_source(source, wanted, Losses())
            if tables.records is not None:
                tables.blocks |= blocks_of(source, wanted, tables.records)
                tables.sources |= columns_of_questions(source, wanted, tables.records)
            tables.keep("questions", "qrels", "triplets")  # which several checks go through
        except NotMeantError as error:
            not_meant.append(error)
            continue
        except (MissingExtraError, MachineError):
            raise
        except RagdataError as error:
            if len(found) == 1:
                raise
            tables = error
        yield own_parts(source, wanted), tables
    if not_meant and len(not_meant) == len(found):
        raise not_meant[0]


def checked_plain(
    path: Path,
    format_name: str,
    follow_links: bool = False,
    read_as: Mapping[str, str] | None = None,
    values: Mapping[str, str] | None = None,
) -> list[Dataset]:
    """The plain texts and tables at a path, of which nothing is declared; empty where there are none.

    ``format_name`` is ``text`` or ``table``; empty: by the files. ``read_as`` are options of its reader that a
    configuration says, before which go ``values``. Raises `RagdataError` where
    there are none of that format, or texts and tables side by side.
    """
    from ragdatakit.converters.plain_folders import asked_dataset, plain_datasets  # which other data need not import

    map_words = {**(read_as or {}), **(values or {})}.get("map", "")
    if format_name or map_words:
        found = asked_dataset(path, format_name or "table", map_words, follow_links)
        if read_as:
            found.options[READ_AS] = read_as
        return [found]
    return plain_datasets(path, follow_links)
