"""The documents of tables in parts: what the files say together is found once, where the command runs, and whoever
reads a part is given it."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Any

from ragdatakit.converters import TableFiles
from ragdatakit.converters.column_maps import ColumnMap
from ragdatakit.converters.plain.cut_tables import cut_table
from ragdatakit.converters.plain.row_ids import ColumnedFile, MappedFile, RowIds
from ragdatakit.converters.plain.table_records import TableRow, TableRows, documents_of, may_repeat
from ragdatakit.converters.table_parts import Looked, TablePart
from ragdatakit.files.datasets import DataFile, Dataset, FilePart
from ragdatakit.files.reading.csv_tables import CsvForm, LineFault
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.table_rows import Shape, text_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.conversions import Losses

SETTLED = "settled"
"""The option of a dataset of tables in parts that has what is `Settled`."""


def row_ids(files: Sequence[MappedFile], options: Mapping[str, Any]) -> RowIds:
    """The ids of rows that have none."""
    return RowIds(files, _first(options), options["gold-separator"] or "")


def _first(options: Mapping[str, Any]) -> int | None:
    return int(options["row-ids"]) if options["row-ids"] else None


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a file."""

    columns: ColumnMap
    names: tuple[str, ...]
    form: CsvForm
    shape: Shape

    @classmethod
    def of(cls, file: ColumnedFile, columns: ColumnMap) -> _Known:
        """What its beginning says."""
        return cls(columns, tuple(file.column_names()), *file.known_form())

    def opened(self, file: DataFile, records: RecordReader) -> ColumnedFile:
        """The file, or its part, as rows."""
        return ColumnedFile(file, records, self.form, self.shape, self.names)


@dataclass(frozen=True, slots=True)
class Settled:
    """What is known of the files with documents, by their names, and of the ids of rows: the number of the first (None:
    where they have none), and what is ``taken`` before numbers; of a part, the places of documents that are there
    ``again``."""

    files: Mapping[str, _Known]
    first: int | None
    taken: frozenset[str] = frozenset()
    again: frozenset[int] = frozenset()

    def documents(self, dataset: Dataset, records: RecordReader) -> TableRows:
        """The documents of a part."""
        ids = self.ids()
        ids.settle("documents", self.taken)
        return TableRows("documents", self.opened(dataset, records), documents_of, True, ids, self.again)

    def ids(self) -> RowIds:
        """The ids of documents that have none."""
        return RowIds((), self.first, with_documents=tuple(self.files))

    def opened(self, dataset: Dataset, records: RecordReader) -> list[MappedFile]:
        """The files of a part."""
        files = [(file, self.files[file.name]) for file in dataset.files]
        return [(known.opened(file, records), known.columns) for file, known in files]


@dataclass(frozen=True, slots=True)
class _Found:
    """What is ``taken`` by ids of a part, whether rows of it have none, why it cannot be read (file, line, reason,
    option, encoding), and of each document codes of its id and of all of it: those that there may be again have some.
    """

    taken: frozenset[str]
    lacking: bool
    fault: tuple[int, int, str, str, bool] | None
    ids: array[int]
    contents: array[int]


def documents_in_parts(held: Sequence[MappedFile], options: Mapping[str, Any]) -> Mapping[str, TableFiles]:
    """The files with documents among those that were mapped."""
    known = {file.name: _Known.of(file, columns) for file, columns in held if columns.documents}
    settled = Settled(known, _first(options))

    def cut(file: DataFile, target: int) -> list[FilePart | None]:
        return cut_table(known[file.name].opened(file, RecordReader(Losses())), target)

    files = tuple(file.file for file, columns in held if columns.documents)
    if not files:
        return {}
    settle = partial(_settle, settled, row_ids(held, options))
    return {"documents": TableFiles((files,), cut=cut, given={SETTLED: settled}, look=_look, settle=settle)}


def _look(dataset: Dataset, records: RecordReader) -> Looked:
    """In a worker: the rows and lines of a part, its ids, and what there may be again."""
    settled = dataset.options[SETTLED]
    ids, extents, taken = settled.ids(), list[tuple[int, int]](), set[str]()
    ids.settle("documents", taken)
    lacking, fault, own, contents = False, None, array("q"), array("q")
    files = settled.opened(dataset, records)
    any_repeats = any(may_repeat(columns, "documents") for _, columns in files)
    for place, (file, columns) in enumerate(files):
        named, alike = ids.looked_for("documents", columns)
        repeats, rows = may_repeat(columns, "documents"), 0
        try:
            for rows, cells in enumerate(file.rows([]), 1):
                given = text_of(cells.get(named[0])) if named else None
                lacking = lacking or not given
                if named and settled.first is None:
                    taken |= ids.taken_in(cells, named, alike)
                for document in (
                    documents_of(TableRow(cells, columns, file, rows, None, [], ids)) if any_repeats else ()
                ):
                    is_code = repeats and given
                    own.append(_code(document.doc_id) if is_code else 0)
                    contents.append(_code(repr(document)) if is_code else 0)
        except LineFault as error:
            fault = (place, error.line, error.reason, error.option, error.is_encoding)
        extents.append((file.lines, rows))
        if fault is not None:
            break
    return Looked(tuple(extents), _Found(frozenset(taken), lacking, fault, own, contents))


def _code(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True) or 1


def _settle(settled: Settled, ids: RowIds, parts: list[TablePart], looked: list[Looked]) -> list[TablePart]:
    """The parts with what follows from what all show. Raises `LineFault` where one cannot be read."""
    taken, lacking = set[str](), False
    again, seen = list[frozenset[int]](), dict[int, int]()
    for part, one in zip(parts, looked, strict=True):
        found: _Found = one.found
        if found.fault is not None:
            place, line, reason, option, is_encoding = found.fault
            file, of_file = part.files[place]
            raise LineFault(file, line + (of_file.lines if of_file is not None else 0), reason, option, is_encoding)
        taken |= found.taken
        lacking |= found.lacking
        places = set[int]()
        for number, (own, content) in enumerate(zip(found.ids, found.contents, strict=True)):
            if own and seen.get(own) == content:
                places.add(number)
            elif own:
                seen.setdefault(own, content)
        again.append(frozenset(places))
    if lacking and settled.first is None:
        taken |= ids.taken("documents", without=settled.files)
    return [
        replace(part, given={SETTLED: replace(settled, taken=frozenset(taken), again=own)})
        for part, own in zip(parts, again, strict=True)
    ]
