"""Tables of no known format whose columns have usual names, as the sections that a first configuration has for them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from ragdatakit.converters.column_maps import guess_columns
from ragdatakit.converters.plain.row_ids import ColumnedFile
from ragdatakit.files.configuration.first_file import TableSection
from ragdatakit.files.containers.beginnings import HEAD_BYTES
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.detection.plain_sources import is_table, table_dataset
from ragdatakit.files.detection.sniffing import beginning
from ragdatakit.files.reading.csv_tables import CsvForm
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.table_rows import HEAD_ROWS, text_of
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, RagdataError
from ragdatakit.schemas.settings.tables import MEANINGS, REQUIRED

_MOST = 50
"""Tables that are proposed; of more, a pattern is better written by hand."""
_IDENTIFIED = ("documents", "questions")
"""What has an id of its own, which no other table of the same kind may have."""


def proposed_tables(folder: Path, known: Collection[Path]) -> list[TableSection]:
    """The sections of the tables below a folder that are not ``known`` as files of a dataset."""
    try:
        files = table_dataset(folder).files
    except MachineError:
        raise
    except RagdataError:
        return []  # there is no table
    found: list[TableSection] = []
    owners: dict[tuple[str, str], Path] = {}
    for file in files:
        if file.path not in known and is_table(file.path) and _has_rows(file):
            rows = ColumnedFile(file, RecordReader(Losses()), CsvForm("", "utf-8"))
            found += (_with_own_ids(section, rows, owners) for section in _proposed(rows))
        if len(found) >= _MOST:
            break
    return found


def _with_own_ids(section: TableSection, file: ColumnedFile, owners: dict[tuple[str, str], Path]) -> TableSection:
    """The section, which notes the table before it that has one of its first ids; ``owners``: the tables of ids, by
    what a row of them is."""
    if section.kind not in _IDENTIFIED:
        return section
    meaning = REQUIRED[section.kind][0]
    column = section.columns.get(meaning, meaning)
    try:
        ids = {text_of(row.get(column)) for row in islice(file.rows([]), HEAD_ROWS)} - {None}
    except MachineError:
        raise
    except RagdataError:
        return section  # a row cannot be read, which is reported when it is checked
    named = [(section.kind, str(id_)) for id_ in ids]
    met = [owners[one] for one in named if one in owners]
    if met:
        return section._replace(same_ids=min(met))
    owners.update(dict.fromkeys(named, section.path))
    return section


def _has_rows(file: DataFile) -> bool:
    """Whether it is other than a JSON object, as settings and translations are, whose members would be documents."""
    if ".json" not in file.path.suffixes:
        return True
    return beginning(file.path, HEAD_BYTES, file.boundary)[0].lstrip().startswith(b"[")


def _proposed(file: ColumnedFile) -> Iterator[TableSection]:
    try:
        (guessed,) = guess_columns([file])
    except MachineError:
        raise
    except RagdataError:
        return  # it cannot be read, or several columns may be meant
    columns = guessed.columns if guessed is not None else {}
    for kind in ("questions", "documents", "qrels"):
        words = MEANINGS[kind]
        if all(words[meaning] in columns for meaning in REQUIRED[kind]):
            meant = {meaning: columns[word] for meaning, word in words.items() if word in columns}
            usual = REQUIRED[kind]
            yield TableSection(file.file.path, kind, {m: c for m, c in meant.items() if m != c or m not in usual})
            return
