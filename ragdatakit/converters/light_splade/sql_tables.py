"""The tables of a light-splade dataset by SQL: the ids of triplets and positives come from the scanner as arrays, the
masters of the two splits are joined by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from ragdatakit.converters.light_splade.reading import ID, Reading, size_of_text, text_of
from ragdatakit.converters.sql_files import fill, scanned_table
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.database.dataset_database import Connect, SqlTable, Unproved
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.id_tables import IdTable
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.folders import size_of
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import Document, Question
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.light_splade.format import LIGHT_SPLADE

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.converters.kept_texts import Look, Passages

_MASTER = {"id": Kind.TEXT, "text": Kind.TEXT}
_IDS = {"qrels": ("question_id", "target_id"), "triplets": ("question_id", "positive_id", "negative_id")}
_MASTERS = {"documents": Document, "questions": Question}
_TABLES = {"documents": "documents", "questions": "queries", "qrels": "positives", "triplets": "triplets"}
_AT_ONCE = 1 << 13
_LEAST_BYTES = 40
"""Bytes that a triplet takes at least, as it is usually written."""


def light_splade_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The tables that the dataset has files for, except for the teacher's scores."""
    loader = _Loader(dataset, records)
    found = {}
    for table, kind in _TABLES.items():
        files = dataset.of_kind(kind)
        if table in _MASTERS and len(_by_split(files)) == 1:
            found[table] = scanned_table(table, partial(loader.rows, table, files), HeldRows(table))
        elif files:
            found[table] = SqlTable(table, getattr(loader, table), loader.integers[table], loader.ids.get(table))
    return found


def light_splade_passages(
    dataset: Dataset, records: RecordReader, jobs: int, look: Look | None = None
) -> Iterator[Passages]:
    """The documents of a dataset that has them in one split, as `KeptTexts` gives them."""
    from ragdatakit.converters.kept_texts import KeptTexts  # needs numpy

    reader = KeptTexts(LIGHT_SPLADE.file("documents").record, Document, {"doc_id": "doc_id", "text": "text"})
    for file in dataset.of_kind("documents"):

        def row_of(_: int, fields: dict[str, Raw], file: DataFile = file) -> Document | None:
            found = text_of(file, [], fields)
            return Document(*found) if found is not None else None

        yield from reader.passages(file, records, jobs, row_of, look)


class _Loader:
    def __init__(self, dataset: Dataset, records: RecordReader) -> None:
        self._dataset, self._records = dataset, records
        self._reading = Reading(dataset, records)
        self.ids = {table: IdTable(table, names) for table, names in _IDS.items()}
        self.integers: dict[str, set[str]] = {table: set() for table in _TABLES}

    def rows(self, table: str, files: list[DataFile], facts: TextFacts, losses: Losses) -> Iterator[list[PackedColumn]]:
        """All rows of a master that only one split has, as the table has them."""
        from ragdatakit.converters.kept_columns import KeptColumn, KeptColumns  # needs numpy

        self._refuse_renamed()
        notes: list[Note] = []
        kind, schema = _TABLES[table], schema_of(table)
        fields = {"text": "text", ("doc_id" if table == "documents" else "question_id"): ID[kind]}
        split = {"split": files[0].split} if "split" in schema else {}
        usual = {"aliases": (), "field_order": (), **split}
        columns = [KeptColumn(own, fields.get(name, ""), nothing=usual.get(name)) for name, own in schema.items()]

        def row_of(file: DataFile, _: int, given: dict[str, Raw]) -> Document | Question | None:
            found = text_of(file, notes, given)
            return _MASTERS[table](*found, **split) if found is not None else None

        batches_of = partial(row_batches, table, losses=losses)
        reader = KeptColumns(LIGHT_SPLADE.file(kind).record, columns, batches_of, facts=facts, files=files)
        for file in files:
            yield from reader.batches(file, self._records, partial(row_of, file))
        self._tell(notes)

    def documents(self, connect: Connect, table: str) -> dict[str, int]:
        """The larger split first, then what only the other one has."""
        row = "id as doc_id, text, null::varchar as title, null::varchar as metadata, []::varchar[] as field_order"
        groups = _by_split(self._dataset.of_kind("documents"))
        groups.sort(key=lambda group: -sum(size_of_text(f) for f in group))
        return self._master(connect(), table, row, groups)

    def questions(self, connect: Connect, table: str) -> dict[str, int]:
        """The queries, with the first split that has them."""
        row = (
            "id as question_id, text, null::varchar as answer, []::varchar[] as aliases, split, "
            "null::varchar as metadata, []::varchar[] as field_order"
        )
        return self._master(connect(), table, row, _by_split(self._dataset.of_kind("queries")))

    def _master(
        self, connection: duckdb.DuckDBPyConnection, table: str, row: str, groups: list[list[DataFile]]
    ) -> dict[str, int]:
        self._refuse_renamed()
        notes: list[Note] = []
        connection.execute("drop table if exists temp.second_split")
        key = row.split()[2].rstrip(",")
        files, *more_files = groups
        own = "select id, text, {split} as split"
        batches = partial(self._texts, notes=notes)
        fill(connection, f'main."{table}"', files, f"select {row} from ({own} from {{}})", _MASTER, batches)
        for files in more_files:
            fill(connection, "temp.second_split", files, f"{own} from {{}}", _MASTER, batches)
            known = f'select {key} from main."{table}"'
            more = f"select {row} from temp.second_split where id not in ({known}) order by rowid"
            connection.execute(f'insert into main."{table}" {more}')
            connection.execute("drop table temp.second_split")
        self._tell(notes)
        others = f'select 1 from main."{table}" where try_cast({key} as bigint)::varchar is distinct from {key} limit 1'
        if not connection.execute(others).fetchall():
            self.integers[table].add(key)
        return {}

    def _texts(self, file: DataFile, notes: list[Note]) -> Iterator[list[PackedColumn]]:
        record = LIGHT_SPLADE.file(file.kind).record
        if library() is None:
            yield from _in_batches(self._reading.texts(file, notes))
            return
        from ragdatakit.converters.kept_columns import KeptColumn, KeptColumns  # needs numpy

        columns = [KeptColumn(Kind.TEXT, name) for name in (ID[file.kind], "text")]
        reader = KeptColumns(record, columns, _in_batches)
        yield from reader.batches(file, self._records, lambda _, fields: text_of(file, notes, fields))

    def qrels(self, _: Connect, table: str) -> dict[str, int]:
        """The positive lists, as judgements of grade 1."""
        return self._ids(table)

    def triplets(self, _: Connect, table: str) -> dict[str, int]:
        """The triplets, in the order of the files."""
        return self._ids(table)

    def _ids(self, table: str) -> dict[str, int]:
        from ragdatakit.converters.light_splade.id_blocks import id_blocks  # needs numpy

        self._refuse_renamed()
        found, notes = self.ids[table], list[Note]()
        files = self._dataset.of_kind(_TABLES[table])
        found.begin(sum(size_of(file.path) for file in files) // _LEAST_BYTES)
        for file in files:
            for block in id_blocks(self._records, file, notes):
                found.add(file.split, block.numbers, block.odd)
                if found.has_many_odd:
                    raise Unproved
        self._tell(notes)
        return {}

    def _refuse_renamed(self) -> None:
        """Raise `Unproved` where an id means one thing in one split and another in the other: the reader renames
        these."""
        if self._reading.renames:
            raise Unproved

    def _tell(self, notes: list[Note]) -> None:
        for note in notes:
            self._records.losses.add(*note)


def _in_batches(rows: Iterator[tuple[str, str]]) -> Iterator[list[PackedColumn]]:
    while some := list(islice(rows, _AT_ONCE)):
        yield [packed(Kind.TEXT, values) for values in zip(*some, strict=True)]


def _by_split(files: list[DataFile]) -> list[list[DataFile]]:
    return [[f for f in files if f.split == split] for split in dict.fromkeys(f.split for f in files)]
