"""Tables of any columns: CSV, TSV, JSON records, JSON objects by id, Parquet; files of triples. Only read.

A row is a document, a question, a judgement, or several of these, or an edge; a map or the columns' names tell which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from ragdatakit.converters import Converter, Option, Options
from ragdatakit.converters.column_maps import EDGE, ColumnMap, guess_columns, id_like_columns, map_columns, parse
from ragdatakit.converters.plain.table_graph import GraphRows
from ragdatakit.files import json_text
from ragdatakit.files.canonical_tables import RowSource
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.json_text import Raw, dumps
from ragdatakit.files.noted_rows import Note, NotedRows
from ragdatakit.files.plain_sources import LABELS, PASSED_OVER, READ_TOGETHER, split_of
from ragdatakit.files.record_reading import RecordReader
from ragdatakit.files.sources import IS_POINTER, is_lfs_pointer
from ragdatakit.files.table_rows import HEAD_ROWS, CsvForm, Row, TableFile, text_of
from ragdatakit.files.triple_files import read_triple_head
from ragdatakit.schemas.canonical import Document, Qrel, Question
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError

_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,18})(\.0*)?\s*")


_LABELS = ("label", "name", "text")
_PARTS = re.compile(r"(?:^|[^a-z])(?:chunks?|text_units?)(?:[^a-z]|$)")
"""What files of parts of texts are called; beside others their texts stand twice."""


class _Columned(TableFile):
    """A file that reads the names of its columns once."""

    def __init__(self, file: DataFile, records: RecordReader, form: CsvForm) -> None:
        super().__init__(file, records, form)
        self.name = file.name
        self._names: list[str] | None = None

    def column_names(self) -> list[str]:
        """The columns."""
        if self._names is None:
            self._names = self.columns()
        return self._names

    def says_the_same(self, columns: Sequence[str]) -> bool:
        """Whether these columns hold the same texts in each of the first rows."""
        return all(len({text_of(row.get(name)) for name in columns}) == 1 for row in islice(self.rows([]), HEAD_ROWS))

    def is_bare_triples(self) -> bool:
        """Whether it is a file of triples whose columns have no names."""
        return self.file.kind == "triples" and self.column_names() == list(_TRIPLE.columns.values())


def _read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    form = CsvForm(options["delimiter"] or "", options["encoding"], options["header"], options["quoting"] != "none")
    form.check()
    map_words = options["map"] or ""
    files = [_Columned(file, records, _form_of(file, form, map_words)) for file in dataset.files]
    left_out: list[Note] = [
        ("dropped", "table", None, "a link that leads out of the folder, or no regular file", f.name)
        for f in dataset.ignored
    ]
    left_out += [("dropped", "table", None, why, name) for name, why in dataset.options.get(PASSED_OVER, {}).items()]
    files = _without_pointers(files, records.losses)
    if not map_words:
        files, side = _without_side_files(files)
        left_out += [("dropped", "table", None, "a side file of a graph, which is not read", f.name) for f in side]
        if side:
            dataset.options[LABELS] = partial(_labels, side)
    mapped = list(zip(files, _maps(files, map_words), strict=True))
    for file, columns in mapped:
        if columns is None:
            left_out.append(("dropped", "table", None, "a file with no column that is asked for", file.name))
    for note in left_out:
        records.losses.add(*note)
    with_texts = [file for file, columns in mapped if columns is not None and columns.documents]
    parts = [file.name for file in with_texts if _PARTS.search(file.stem)]
    dataset.options[READ_TOGETHER] = parts if len(parts) < len(with_texts) else []
    made_ids = _MadeIds([(file, columns) for file, columns in mapped if columns is not None])
    found: dict[str, RowSource] = {}
    kinds: dict[str, tuple[Callable[[ColumnMap], bool], Callable[[_Row], Iterator[Any]]]] = {
        "documents": (lambda m: m.documents, _documents),
        "questions": (lambda m: m.questions, _questions),
        "qrels": (lambda m: m.qrels, _qrels),
    }
    for table, (has, make) in kinds.items():
        of_table = [(file, columns) for file, columns in mapped if columns is not None and has(columns)]
        if of_table:
            first = not found
            found[table] = NotedRows(records.losses, _Rows(table, of_table, make, first, made_ids))
    with_edges = [(file, columns) for file, columns in mapped if columns is not None and columns.edges]
    if with_edges:
        graph = GraphRows(with_edges).sources()
        found |= {table: NotedRows(records.losses, rows) for table, rows in graph.items()}
    return found


_TRIPLE = ColumnMap({target: str(number) for number, target in enumerate(EDGE, 1)})
"""Of files of triples whose first line does not name the columns."""


def _form_of(file: DataFile, form: CsvForm, map_words: str) -> CsvForm:
    """How a file is written; one of triples has tabs, and quotes mean nothing in it."""
    if file.kind == "triples" and (head := read_triple_head(file.path)) is not None:
        return replace(form, delimiter="tab", header=head.header, quoting=False)
    if form.header and map_words and (numbers := _edge_columns(map_words)) and all(n.isdigit() for n in numbers):
        with suppress(RagdataError):
            if not set(numbers) & set(TableFile(file, RecordReader(Losses()), form).columns()):
                return replace(form, header=False)
    return form


def _edge_columns(map_words: str) -> list[str]:
    return [column for item in parse(map_words) if item.target in EDGE for column in item.columns]


def _without_pointers(files: list[_Columned], losses: Losses) -> list[_Columned]:
    """Files whose content was not downloaded are told, and an error where there is nothing else."""
    pointers = [file for file in files if is_lfs_pointer(file.file.path, file.file.boundary)]
    if pointers and len(pointers) == len(files):
        others = f" (and {len(pointers) - 1:,} more)" if len(pointers) > 1 else ""
        raise RagdataError(f"{pointers[0].file.display}{others} cannot be read: {IS_POINTER}")
    for file in pointers:
        losses.add("dropped", "table", None, f"{file.file.display} could not be read: {IS_POINTER}", unread=True)
    return [file for file in files if file not in pointers]


def _without_side_files(files: list[_Columned]) -> tuple[list[_Columned], list[_Columned]]:
    """Beside triples a JSON object of lists or records by id tells types or labels: it holds no judgements."""
    if all(file.file.kind != "triples" for file in files):
        return files, []
    side = [file for file in files if file.is_object_by_id()]
    return [file for file in files if file not in side], side


def _labels(side: Sequence[_Columned], names: Collection[str]) -> dict[str, str]:
    """What side files of a graph call these of its names: ``{name: label}`` or ``{name: {"label": label}}``."""
    found: dict[str, str] = {}
    for file in side:
        with suppress(RagdataError):
            for row in file.rows([]):
                name = text_of(row.get("id"))
                label = next((row[column] for column in _LABELS if row.get(column)), None)
                if name is not None and name in names and label is not None and (told := text_of(label)):
                    found.setdefault(name, told)
    return found


def _maps(files: list[_Columned], map_words: str) -> list[ColumnMap | None]:
    """The map of each file; what it needs no words for is told by the file."""
    if map_words:
        return map_columns(files, map_words)
    plain = [file for file in files if not file.is_bare_triples()]
    if len(plain) < len(files):
        named = dict(zip(plain, guess_columns(plain), strict=True))
        return [named.get(file, _TRIPLE) for file in files]
    return map_columns(files, "")


class _MadeIds:
    """Ids for rows that have none: a row's number, behind its file's name where several files have rows of the table.

    None of them is an id that is given somewhere: in front of all of them stands ``row-`` where one that is given looks
    like them.
    """

    def __init__(self, files: list[tuple[_Columned, ColumnMap]]) -> None:
        self._files = files
        self._names = {
            "documents": [file.name for file, columns in files if columns.documents],
            "questions": [file.name for file, columns in files if columns.questions],
        }
        self._prefixes: dict[str, str] = {}

    def of(self, table: str, file: str, number: int) -> str:
        """The id of the row of that number."""
        if table not in self._prefixes:
            self._prefixes[table] = self._free_prefix(table)
        place = f"{file}:{number}" if len(self._names[table]) > 1 else str(number)
        return self._prefixes[table] + place

    def _free_prefix(self, table: str) -> str:
        names = self._names[table]
        places = f"(?:{'|'.join(map(re.escape, names))}):[0-9]+" if len(names) > 1 else "[0-9]+"
        alike = re.compile(f"((?:row-)*){places}")
        taken = {match.group(1) for given in self._given(table) if (match := alike.fullmatch(given))}
        prefix = ""
        while prefix in taken:
            prefix += "row-"
        return prefix

    def _given(self, table: str) -> Iterator[str]:
        """All ids that rows have, those that judgements name included."""
        targets = ("id", "doc_id") if table == "documents" else ("question_id",)
        for file, columns in self._files:
            named = [columns.columns[target] for target in targets if target in columns.columns]
            if named:
                for cells in file.rows([]):
                    yield from (text for name in named if (text := text_of(cells.get(name))))


@dataclass(slots=True)
class _Row:
    """One row, and what is known about it."""

    cells: Row
    map: ColumnMap
    file: _Columned
    number: int
    split: str | None
    notes: list[Note]
    made_ids: _MadeIds

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
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
        """The text of the document. Where rows are questions, too, one without a word in it is none."""
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
        made = self.made_ids.of(table, self.file.name, self.number)
        if tell:
            reason = "the number of the row, which has no id"
            if target not in self.map.columns and (like := id_like_columns(self.file, self.map)):
                reason += f" (if a column holds it, --map {target}=COLUMN tells which: {like})"
            self.notes.append(("derived", table, column, reason, made))
        return made


@dataclass(slots=True)
class _Rows:
    """The rows of one canonical table out of all files that have some.

    ``tells``: what reading the files leaves out is noted here; other tables out of the same files do not tell it again.
    """

    table: str
    files: list[tuple[_Columned, ColumnMap]]
    make: Callable[[_Row], Iterator[Any]]
    tells: bool
    made_ids: _MadeIds

    def __call__(self, notes: list[Note]) -> Iterator[Any]:
        seen: dict[str, int] = {}
        for file, columns in self.files:
            repeated = columns.qrels and self.table != "qrels"
            split = split_of(file.file.path) if "split" not in columns.columns else None
            number = 0
            for number, cells in enumerate(file.rows(notes if self.tells else []), 1):
                row = _Row(cells, columns, file, number, split, notes, self.made_ids)
                for made in self.make(row):
                    # A table of judgements names the same question, or has the same document, in several rows.
                    if not repeated or seen.get(made[0]) != hash(made):
                        yield made
                    if repeated:
                        seen.setdefault(made[0], hash(made))
            file.file.records = number


def _documents(row: _Row) -> Iterator[Document]:
    text = row.document
    if text is None:
        row.notes.append(("dropped", "documents", None, "the row has no text", row.place))
        return
    _note_nested(row, "documents", "text")
    yield Document(row.document_id(), text, row.text("title") or None, _metadata(row))


def _questions(row: _Row) -> Iterator[Question]:
    text = row.question
    if text is None:
        row.notes.append(("dropped", "questions", None, "the row has no question", row.place))
        return
    answers = _answers(row)
    with_document = row.map.documents and row.document is not None
    yield Question(
        row.question_id(),
        text,
        answers[0] if answers else None,
        tuple(answers[1:]),
        _split_of(row, "questions"),
        None if with_document else _metadata(row),  # else the other columns are the document's
    )


def _qrels(row: _Row) -> Iterator[Qrel]:
    if row.map.documents and row.map.questions:
        if row.document is None or row.question is None:
            return
        # Of ids that are made, the tables of documents and questions tell.
        question, targets = row.question_id(tell=False), [row.document_id(tell=False)]
    else:
        question, targets = row.text("question_id") or "", _targets(row)
        if not question or targets == [""]:
            if not row.map.documents and not row.map.questions:
                row.notes.append(("dropped", "qrels", None, "an id is missing", row.place))
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


def _targets(row: _Row) -> list[str]:
    """The documents that the row judges: one, or those of a JSON list. An empty id is a missing one."""
    cell = row.cells.get(row.map.columns["doc_id"])
    if row.map.documents or not isinstance(cell, Raw) or bytes(cell)[:1] != b"[":
        return [row.text("doc_id") or ""]
    found: list[str] = []
    for item in json_text.loads(cell):
        if item == "" or isinstance(item, list | dict | bool | float | None):
            told = f"{row.place}: {json_text.dumps(item)}"
            row.notes.append(("dropped", "qrels", None, "a member of the list that is no id", told))
        else:
            found.append(str(item))
    return found


def _grade(row: _Row) -> int | None:
    """The grade; 1 where there is none, None where it is no integer."""
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
        row.notes.append(("dropped", "qrels", None, "the grade is no integer", shown))
        return None
    return int(match.group(1))


def _split_of(row: _Row, table: str) -> str | None:
    if row.split is not None:
        row.notes.append(("derived", table, "split", "from the file's name", row.file.name))
    return row.split or row.text("split") or None


def _answers(row: _Row) -> list[str]:
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


def _metadata(row: _Row) -> str | None:
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


def _note_unmapped(row: _Row) -> None:
    """Of rows that are nothing but judgements, no further column is kept."""
    if row.map.documents or row.map.questions:
        return
    used = row.map.used()
    for name, cell in row.cells.items():
        if name not in used and text_of(cell):
            row.notes.append(("lost", "table", name, "a judgement has no place for it", text_of(cell)))


def _note_nested(row: _Row, table: str, target: str) -> None:
    cell = row.cells.get(row.map.columns[target])
    if isinstance(cell, Raw) and bytes(cell)[:1] in b"[{":
        row.notes.append(("coerced", table, target, "a list or object, as JSON text", text_of(cell)))


CONVERTER = Converter(
    name="table",
    read=_read,
    gives={
        "documents": ("doc_id", "text", "title", "metadata"),
        "questions": ("question_id", "text", "answer", "aliases", "split", "metadata"),
        "qrels": ("question_id", "target_id", "grade", "target_kind", "split"),
        "nodes": ("name",),
        "relations": ("name",),
        "edges": ("source", "relation", "target", "attributes"),
    },
    options=(
        Option("map", "read", "What the columns are: text=COLUMN,id=COLUMN,… (FILE:text=COLUMN for one file)."),
        Option("delimiter", "read", "What stands between the cells of CSV files: a character, or tab."),
        Option("encoding", "read", "How CSV files are encoded.", "utf-8"),
        Option("header", "read", "Whether the first line of CSV files names the columns (else 1, 2, …).", True),
        Option("quoting", "read", "Whether cells of CSV files may stand in quotes.", "csv", ("csv", "none")),
    ),
)
