"""What one row of a table gives: a document, a question, judgements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ragdatakit.converters.column_maps import ColumnMap, gold_like_columns, id_like_columns
from ragdatakit.converters.plain.row_ids import ColumnedFile, MappedFile, RowIds
from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import Raw, dumps
from ragdatakit.files.detection.plain_sources import split_of
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.files.reading.table_rows import Row, text_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import Document, Qrel, Question

_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,18})(\.0*)?\s*")


_MAY_BE_GOLD = "column {name} may hold gold; name it in --map, with the others: doc_id={name} (or metadata={name})"


@dataclass(slots=True)
class TableRow:
    """One row, and what is known about it."""

    cells: Row
    map: ColumnMap
    file: ColumnedFile
    number: int
    split: str | None
    notes: list[Note]
    ids: RowIds

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        return f"{self.file.name}: {self.number}"

    def text(self, target: str) -> str | None:
        """The text of a column; None where there is no value."""
        column = self.map.columns.get(target)
        return None if column is None else text_of(self.cells.get(column))

    @property
    def question(self) -> str | None:
        """The question; None where there is none, or only blanks."""
        text = self.text("question")
        return text if text and text.strip() else None

    @property
    def document(self) -> str | None:
        """The text of the document. Where rows are questions, too, one with no word in it is none."""
        text = self.text("text")
        empty = self.map.questions and text is not None and not text.strip() and not self.text("title")
        return None if empty else text

    def question_id(self, tell: bool = True) -> str:
        """The id of the question that the row has."""
        return self._id("questions", "question_id", "question_id", tell)

    def document_id(self, tell: bool = True) -> str:
        """The id of the document that the row has."""
        target = "id" if "id" in self.map.columns or "doc_id" not in self.map.columns else "doc_id"
        return self._id("documents", target, "doc_id", tell)

    def _id(self, table: str, target: str, column: str, tell: bool) -> str:
        """An id that is given, or one that is made."""
        found = self.text(target)
        if found:
            return found
        made = self.ids.of(table, self.file.name, self.number)
        if tell:
            reason = "the number of the row, which has no id"
            if target not in self.map.columns and (like := id_like_columns(self.file, self.map, target)):
                reason += f" (if a column holds it, name it with --map {target}=COLUMN: {like})"
            self.notes.append(("derived", table, column, reason, made))
        return made


@dataclass(slots=True)
class TableRows:
    """The rows of one canonical table out of all files that have some.

    ``tells``: what reading the files leaves out is noted here; other tables out of the same files do not tell it again.
    ``again`` are places of rows that are there again, where that is known (else it is seen here).
    """

    table: str
    files: list[MappedFile]
    make: Callable[[TableRow], Iterator[Any]]
    tells: bool
    ids: RowIds
    again: frozenset[int] | None = None

    def __call__(self, notes: list[Note]) -> Iterator[Any]:
        seen: dict[str, int] = {}
        place = -1
        for file, columns in self.files:
            repeated = self.again is None and may_repeat(columns, self.table)
            split = split_of(file.file.path) if "split" not in columns.columns else None
            number = above = file.file.part.rows if file.file.part is not None else 0
            for number, cells in enumerate(file.rows(notes if self.tells else []), above + 1):
                row = TableRow(cells, columns, file, number, split, notes, self.ids)
                for made in self.make(row):
                    place += 1
                    is_again = repeated and seen.get(made[0]) == hash(made)
                    if not (is_again if self.again is None else place in self.again):
                        yield made
                    if repeated:
                        seen.setdefault(made[0], hash(made))
            file.file.records = number


def may_repeat(columns: ColumnMap, table: str) -> bool:
    """Whether a file has the same row several times: one of judgements names the same question, or has the same
    document, in several rows."""
    return columns.qrels and table != "qrels"


def documents_of(row: TableRow) -> Iterator[Document]:
    """The document of a row."""
    text = row.document
    if text is None:
        row.notes.append(("dropped", "documents", None, "the row has no text", row.place))
        return
    _note_nested(row, "documents", "text")
    yield Document(row.document_id(), text, row.text("title") or None, _metadata(row))


def questions_of(row: TableRow) -> Iterator[Question]:
    """The question of a row."""
    text = row.question
    if text is None:
        row.notes.append(("dropped", "questions", None, "the row has no question", row.place))
        return
    answers = _answers(row)
    for name in gold_like_columns(row.file, row.map):
        if cell := text_of(row.cells.get(name)):
            row.notes.append(("lost", "qrels", None, _MAY_BE_GOLD.format(name=name), cell))
    with_document = row.map.documents and row.document is not None
    yield Question(
        row.question_id(),
        text,
        answers[0] if answers else None,
        tuple(answers[1:]),
        _split_of(row, "questions"),
        None if with_document else _metadata(row),  # else the other columns are the document's
    )


def qrels_of(row: TableRow) -> Iterator[Qrel]:
    """The judgements of a row."""
    if row.map.paired:
        if row.document is None or row.question is None:
            return
        # Ids that are made are reported with the tables of documents and questions.
        question, targets = row.question_id(tell=False), [row.document_id(tell=False)]
    else:
        judging = not row.map.documents and not row.map.questions
        question, targets = row.text("question_id") or "", _targets(row)
        if row.map.questions and row.question is not None:
            question = row.question_id(tell=False)
        if not question or targets == [""]:
            if judging:
                row.notes.append(("dropped", "qrels", None, "an id is missing", row.place))
            elif row.text("grade"):
                row.notes.append(("lost", "qrels", "grade", "the row names no document and question", row.place))
            return
        if row.map.questions and row.question is None:
            row.notes.append(("dropped", "qrels", None, "the row has no question", row.place))
            return
        _note_unmapped(row)
    grade = _grade(row) if targets else None
    if grade is not None:
        split = _split_of(row, "qrels")
        for target in dict.fromkeys(targets):
            yield Qrel(question, target, grade, "document", split)


def _targets(row: TableRow) -> list[str]:
    """The documents that the row judges. An empty id is a missing one."""
    found = [t for column in (row.map.columns["doc_id"], *row.map.more_gold) for t in _targets_in(row, column)]
    return [target for target in found if target] or found[:1]


def _targets_in(row: TableRow, column: str) -> list[str]:
    """The documents in a cell: one, several with a separator between them, or those of a JSON list."""
    cell = row.cells.get(column)
    if not isinstance(cell, Raw) or bytes(cell)[:1] != b"[":
        text = text_of(cell) or ""
        if not text or (row.map.documents and "id" not in row.map.columns):
            return [text]
        found, why = row.ids.in_cell(text)
        if why:
            row.notes.append(("derived", "qrels", "target_id", why, f"{row.place}: {text}"))
        return found
    found = []
    for item in json_text.loads(cell):
        if item == "" or isinstance(item, list | dict | bool | float | None):
            shown = f"{row.place}: {json_text.dumps(item)}"
            row.notes.append(("dropped", "qrels", None, "a member of the list that is not an id", shown))
        else:
            found.append(str(item))
    return found


def _grade(row: TableRow) -> int | None:
    """The grade; 1 where there is none, None where it is not an integer."""
    text = row.text("grade")
    if text is None or not text.strip():
        if row.map.documents and row.map.questions and "grade" not in row.map.columns:
            why = "the text and the question of one row belong together"
            row.notes.append(("derived", "qrels", None, why, row.place))
        else:
            row.notes.append(("derived", "qrels", "grade", "1, because no grade is given", row.place))
        return 1
    match = _INTEGER.fullmatch(text)
    if match is None:
        shown = f"{row.place}: {row.map.columns['grade']} {text}"
        row.notes.append(("dropped", "qrels", None, "the grade is not an integer", shown))
        return None
    return int(match.group(1))


def _split_of(row: TableRow, table: str) -> str | None:
    if row.split is not None:
        row.notes.append(("derived", table, "split", "from the file's name", row.file.name))
    return row.split or row.text("split") or None


def _answers(row: TableRow) -> list[str]:
    """The gold answer and further right ones; a JSON list is several."""
    found: list[str] = []
    for column in (*(c for c in (row.map.columns.get("answer"),) if c is not None), *row.map.aliases):
        cell = row.cells.get(column)
        if isinstance(cell, Raw) and bytes(cell)[:1] == b"[":
            found += [t for item in json_text.loads(cell) if (t := _item_text(item)) is not None]
        elif (text := text_of(cell)) is not None:
            found.append(text)
    return found


def _item_text(item: Any) -> str | None:
    return item if item is None or isinstance(item, str) else dumps(item)


def _metadata(row: TableRow) -> str | None:
    wanted = row.map.metadata
    used = row.map.used()
    if wanted is None:
        names = [name for name in row.cells if name not in used]
    else:
        names = [name for name in wanted if name in row.cells]
        for name in row.cells:
            if name not in used and name not in wanted:
                row.notes.append(("lost", "table", name, "the map has no place for it", text_of(row.cells[name])))
    fields: dict[str, Raw] = {}
    for name in names:
        cell = row.cells[name]
        if name == "metadata" and isinstance(cell, Raw) and bytes(cell)[:1] == b"{":
            fields |= {k: v for k, v in json_text.fields_of(cell).items() if k not in names}
        elif cell is not None and cell != "" and not (isinstance(cell, Raw) and bytes(cell) == b"null"):
            fields[name] = cell if isinstance(cell, Raw) else Raw(dumps(cell).encode())
    return json_text.object_text(fields)


def _note_unmapped(row: TableRow) -> None:
    """Of rows that are nothing but judgements, no further column is kept."""
    if row.map.documents or row.map.questions:
        return
    used = row.map.used()
    for name, cell in row.cells.items():
        if name not in used and text_of(cell):
            row.notes.append(("lost", "table", name, "a judgement has no place for it", text_of(cell)))


def _note_nested(row: TableRow, table: str, target: str) -> None:
    cell = row.cells.get(row.map.columns[target])
    if isinstance(cell, Raw) and bytes(cell)[:1] in b"[{":
        row.notes.append(("coerced", table, target, "a list or object, as JSON text", text_of(cell)))
