"""Ids of rows that have none, and refusing them where judgements name documents by ids of their own."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Container, Sequence
from contextlib import suppress
from itertools import islice

from ragdatakit.converters.column_maps import ColumnMap, id_like_columns
from ragdatakit.converters.usual_names import EDGE
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.csv_tables import CsvForm
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.table_rows import HEAD_ROWS, Row, Shape, TableFile, text_of
from ragdatakit.schemas.errors import RagdataError

TRIPLE = ColumnMap({target: str(number) for number, target in enumerate(EDGE, 1)})
"""Of files of triples whose first line does not name the columns."""
_SEPARATORS = (";", "|", ",", "\n", " ")
_SURE = (";", "|", ",", "\n")
_SEVERAL = "several ids in one cell"
_WHOLE = re.compile(r"\s*([0-9]+)\.0\s*")


class ColumnedFile(TableFile):
    """A file that reads the names of its columns once."""

    def __init__(
        self,
        file: DataFile,
        records: RecordReader,
        form: CsvForm,
        shape: Shape | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(file, records, form, shape)
        self.name = file.name
        self._names = [*names] if names is not None else None

    def column_names(self) -> list[str]:
        """The columns."""
        if self._names is None:
            self._names = self.columns()
        return self._names

    def says_the_same(self, columns: Sequence[str]) -> bool:
        """Whether these columns hold the same texts in each of the first rows."""
        return all(len({text_of(row.get(name)) for name in columns}) == 1 for row in islice(self.rows([]), HEAD_ROWS))

    def identifies(self, column: str) -> bool:
        """Whether a column has a value in each row, and none twice."""
        seen: set[str] = set()
        for row in self.rows([]):
            text = text_of(row.get(column))
            if not text or not text.strip() or text in seen:
                return False
            seen.add(text)
        return bool(seen)

    def is_bare_triples(self) -> bool:
        """Whether it is a file of triples whose columns have no names."""
        return self.file.kind == "triples" and self.column_names() == list(TRIPLE.columns.values())


MappedFile = tuple[ColumnedFile, ColumnMap]
"""A file with rows, and what its columns are."""


class RowIds:
    """Ids for rows that have none: a row's number, behind its file's name where several files have rows of the table.

    None of them is an id that is given somewhere: in front of all of them is ``row-`` where one that is given looks
    like them. ``first`` is the number of a file's first row where the user says that numbers are the ids; ``separator``
    is between several ids in one cell (empty: auto-detected). ``with_documents`` are names of files that somebody else
    reads.
    """

    def __init__(
        self,
        files: Sequence[MappedFile],
        first: int | None = None,
        separator: str = "",
        with_documents: Sequence[str] = (),
    ) -> None:
        self._files = files
        self._first = first
        self._separator = separator
        self._documents: set[str] | None = None
        self._names = {
            "documents": [*with_documents, *(file.name for file, columns in files if columns.documents)],
            "questions": [file.name for file, columns in files if columns.questions],
        }
        self._prefixes: dict[str, str] = {}

    def of(self, table: str, file: str, number: int) -> str:
        """The id of the row of that number."""
        if self._first is not None:
            number += self._first - 1
        if table not in self._prefixes:
            taken = self.taken(table) if self._first is None else set()
            self.settle(table, taken)
        place = f"{file}:{number}" if len(self._names[table]) > 1 else str(number)
        return self._prefixes[table] + place

    def settle(self, table: str, taken: Container[str]) -> None:
        """Choose what is in front of the numbers, where ids that are given are like numbers behind ``taken`` ones."""
        prefix = ""
        while prefix in taken:
            prefix += "row-"
        self._prefixes[table] = prefix

    def taken(self, table: str, without: Container[str] = ()) -> set[str]:
        """What is in front of ids that are given and look like made ones: of all that rows have, those that judgements
        name included, except for the rows of some files."""
        found: set[str] = set()
        for file, columns in self._files:
            named, alike = self.looked_for(table, columns)
            for cells in file.rows([]) if named and file.name not in without else ():
                found |= self.taken_in(cells, named, alike)
        return found

    @staticmethod
    def taken_in(cells: Row, named: Sequence[str], alike: re.Pattern[str]) -> set[str]:
        """The same of one row, of the ids in some columns."""
        texts = (text for name in named if (text := text_of(cells.get(name))))
        return {match.group(1) for text in texts if (match := alike.fullmatch(text))}

    def looked_for(self, table: str, columns: ColumnMap) -> tuple[list[str], re.Pattern[str]]:
        """The columns of ids of a table, and what is like a made one."""
        names = self._names[table]
        places = f"(?:{'|'.join(map(re.escape, names))}):[0-9]+" if len(names) > 1 else "[0-9]+"
        targets = ("id", "doc_id") if table == "documents" else ("question_id",)
        named = [columns.columns[target] for target in targets if target in columns.columns]
        return named, re.compile(f"((?:row-)*){places}")

    def refuse_unknown(self) -> None:
        """Raise where no document, or no question, has an id, and judgements name them by ids: numbers that are made
        would meet the wrong ones."""
        if self._first is not None:
            return
        judged = [(file, columns) for file, columns in self._files if columns.qrels and not columns.paired]
        for table, target, named in (("documents", "id", "doc_id"), ("questions", "question_id", "question_id")):
            without = self._numbered(table)
            judging = [(file, columns) for file, columns in judged if named in columns.columns]
            if not without or not judging:
                continue
            file, columns = judging[0]
            example = next((text for row in file.rows([]) if (text := text_of(row.get(columns.columns[named])))), None)
            if example is None:
                continue
            reason = f"{file.name} names them by id ({columns.columns[named]}: {example[:80]})"
            raise RagdataError(f"{_unknown(*without[0], table, target)}, but {reason}")

    def numbered(self) -> str:
        """That no column holds the ids of the documents, in words; empty where one does, or the user says what they
        are."""
        without = self._numbered("documents") if self._first is None else []
        return _unknown(*without[0], "documents", "id") if without else ""

    def _numbered(self, table: str) -> list[MappedFile]:
        """The files with rows of a table, where none of them has a column of ids."""
        having = [
            (file, columns)
            for file, columns in self._files
            if (columns.documents if table == "documents" else columns.questions)
        ]
        targets = {"id", "doc_id"} if table == "documents" else {"question_id"}
        return [] if any(targets & columns.columns.keys() for _, columns in having) else having

    def in_cell(self, text: str) -> tuple[list[str], str]:
        """The ids of documents in a cell: one, several in a list, or several with a separator between them; and why
        they are not the text of the cell (empty where they are)."""
        if self._separator:
            parts = _parts(text, self._separator) or [text]
            return parts, _SEVERAL if parts != [text] else ""
        listed = _listed(text) if text.lstrip()[:1] == "[" else []
        separators = [sign for sign in _SEPARATORS if sign in text.strip()]
        number = _WHOLE.fullmatch(text)
        if not listed and not separators and not number and text == text.strip():
            return [text], ""
        if self._documents is None:
            self._documents = self._document_ids()
        if text in self._documents:
            return [text], ""
        if text.strip() in self._documents:
            return [text.strip()], "without the blanks around the id"
        if number and number[1] in self._documents:
            return [number[1]], "a whole number, written with .0"
        for parts in (listed, *(_parts(text, sign) for sign in separators)):
            if parts and (parts is listed or any(part in self._documents for part in parts)):
                return parts, _SEVERAL
        unclear = not self._documents and any(sign in _SURE for sign in separators)
        return [text], "read as one id; --option gold-separator=… says what separates several" if unclear else ""

    def _document_ids(self) -> set[str]:
        found: set[str] = set()
        for file, columns in self._files:
            name = columns.columns.get("id", columns.columns.get("doc_id")) if columns.documents else None
            if name is not None:
                found.update(text for row in file.rows([]) if (text := text_of(row.get(name))))
            elif columns.documents:
                found.update(self.of("documents", file.name, number) for number, _ in enumerate(file.rows([]), 1))
        return found


def _parts(text: str, sign: str) -> list[str]:
    return [part.strip() for part in text.split(sign) if part.strip()]


def _listed(text: str) -> list[str]:
    """The members of a list as JSON or Python write it; empty where it is something else."""
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            found = read(text.strip())
            if isinstance(found, list) and found and all(type(member) in (str, int) for member in found):
                return [str(member) for member in found if member != ""]
    return []


def _unknown(file: ColumnedFile, columns: ColumnMap, table: str, target: str) -> str:
    rows = "--option row-ids=0 (or 1) says that they are the numbers of the rows"
    return f"{file.name}: no column is known to hold the ids of its {table} ({_advice(file, columns, target)}; {rows})"


def _advice(file: ColumnedFile, columns: ColumnMap, target: str) -> str:
    like = id_like_columns(file, columns, target)
    others = like or ", ".join(name for name in file.column_names() if name not in columns.used())
    return f"--map {file.name}:{target}=COLUMN says which" + (f" (it has {others})" if others else "")
