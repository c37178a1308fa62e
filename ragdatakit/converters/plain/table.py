"""Tables of any columns: CSV, TSV, JSON records, JSON objects by id, Parquet; files of triples. Only read.

A row is a document, a question, a judgement, or several of these, or an edge; a map or the columns' names say which.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ragdatakit.converters import Converter, Option, Options, TableFiles
from ragdatakit.converters.column_maps import ColumnMap, guess_columns, map_columns, parse
from ragdatakit.converters.plain.document_parts import SETTLED, Settled, documents_in_parts, row_ids
from ragdatakit.converters.plain.row_ids import TRIPLE, ColumnedFile, MappedFile
from ragdatakit.converters.plain.table_graph import GraphRows
from ragdatakit.converters.plain.table_records import TableRow, TableRows, documents_of, qrels_of, questions_of
from ragdatakit.converters.usual_names import EDGE
from ragdatakit.files.containers.sources import IS_POINTER, is_lfs_pointer
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_sources import LABELS, NUMBERED, PASSED_OVER, READ_TOGETHER
from ragdatakit.files.detection.triple_files import read_triple_head
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.csv_tables import CsvForm
from ragdatakit.files.reading.noted_rows import Note, NotedRows
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.table_rows import TableFile, text_of
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError, skip_unreadable

_LABELS = ("label", "name", "text")
_PARTS = re.compile(r"(?:^|[^a-z])(?:chunks?|text_units?)(?:[^a-z]|$)")
"""What files of parts of texts are called; beside others their texts appear twice."""


def _read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    if isinstance(settled := dataset.options.get(SETTLED), Settled):
        return {"documents": NotedRows(records.losses, settled.documents(dataset, records))}
    held, side, left_out = mapped_files(dataset, records, options.values)
    if side:
        dataset.options[LABELS] = partial(_labels, side)
    for note in left_out:
        records.losses.add(*note)
    with_texts = [file for file, columns in held if columns.documents]
    parts = [file.name for file in with_texts if _PARTS.search(file.stem)]
    dataset.options[READ_TOGETHER] = parts if len(parts) < len(with_texts) else []
    ids = row_ids(held, options.values)
    ids.refuse_unknown()
    dataset.options[NUMBERED] = ids.numbered()
    found: dict[str, RowSource] = {}
    held = [(file.read_by(records), columns) for file, columns in held]
    kinds: dict[str, tuple[Callable[[ColumnMap], bool], Callable[[TableRow], Iterator[Any]]]] = {
        "documents": (lambda m: m.documents, documents_of),
        "questions": (lambda m: m.questions, questions_of),
        "qrels": (lambda m: m.qrels, qrels_of),
    }
    for table, (has, make) in kinds.items():
        of_table = [(file, columns) for file, columns in held if has(columns)]
        if of_table:
            tells = not found
            found[table] = NotedRows(records.losses, TableRows(table, of_table, make, tells, ids))
    with_edges = [(file, columns) for file, columns in held if columns.edges]
    if with_edges:
        graph = GraphRows(with_edges).sources()
        found |= {table: NotedRows(records.losses, rows) for table, rows in graph.items()}
    return found


def mapped_files(
    dataset: Dataset, records: RecordReader, options: Mapping[str, Any]
) -> tuple[list[MappedFile], list[ColumnedFile], list[Note]]:
    """The files with rows, and what their columns are; side files of a graph; what is not read. What looking at files
    meets is accounted when their rows are read."""
    looking = records.unheard()
    form = CsvForm(options["delimiter"] or "", options["encoding"], options["header"], options["quoting"] != "none")
    form.check()
    map_words = options["map"] or ""
    files = [ColumnedFile(file, looking, _form_of(file, form, map_words)) for file in dataset.files]
    left_out: list[Note] = [
        ("dropped", "table", None, "a link that leads out of the folder, or no regular file", f.name)
        for f in dataset.ignored
    ]
    left_out += [("dropped", "table", None, why, name) for name, why in dataset.options.get(PASSED_OVER, {}).items()]
    files, side = _without_pointers(files, records.losses), list[ColumnedFile]()
    if not map_words:
        files, side = _without_side_files(files)
        left_out += [("dropped", "table", None, "a side file of a graph, which is not read", f.name) for f in side]
    held: list[MappedFile] = []
    for file, columns in zip(files, _maps(files, map_words), strict=True):
        if columns is None:
            left_out.append(("dropped", "table", None, "a file without a text, question, judgement or edge", file.name))
        else:
            held.append((file, columns))
    return held, side, left_out


def _in_parts(dataset: Dataset, options: Mapping[str, Any]) -> Mapping[str, TableFiles]:
    held, _, _ = mapped_files(dataset, RecordReader(Losses()), options)
    return documents_in_parts(held, options)


def _form_of(file: DataFile, form: CsvForm, map_words: str) -> CsvForm:
    """How a file is written; one of triples has tabs, and quotes mean nothing in it."""
    if file.kind == "triples" and (head := read_triple_head(file.path)) is not None:
        return replace(form, delimiter="tab", header=head.header, quoting=False)
    if form.header and map_words and (numbers := _edge_columns(map_words)) and all(n.isdigit() for n in numbers):
        with skip_unreadable():
            if not set(numbers) & set(TableFile(file, RecordReader(Losses()), form).columns()):
                return replace(form, header=False)
    return form


def _edge_columns(map_words: str) -> list[str]:
    return [column for item in parse(map_words) if item.target in EDGE for column in item.columns]


def _without_pointers(files: list[ColumnedFile], losses: Losses) -> list[ColumnedFile]:
    """Files whose content was not downloaded are reported, and an error where there is nothing else."""
    pointers = [file for file in files if is_lfs_pointer(file.file.path, file.file.boundary)]
    if pointers and len(pointers) == len(files):
        others = f" (and {len(pointers) - 1:,} more)" if len(pointers) > 1 else ""
        raise RagdataError(f"{pointers[0].file.display}{others} cannot be read: {IS_POINTER}")
    for file in pointers:
        losses.add("dropped", "table", None, f"{file.file.display} could not be read: {IS_POINTER}", unread=True)
    return [file for file in files if file not in pointers]


def _without_side_files(files: list[ColumnedFile]) -> tuple[list[ColumnedFile], list[ColumnedFile]]:
    """Beside triples a JSON object of lists or records by id names types or labels: it holds no judgements."""
    if all(file.file.kind != "triples" for file in files):
        return files, []
    side = [file for file in files if file.is_object_by_id()]
    return [file for file in files if file not in side], side


def _labels(side: Sequence[ColumnedFile], names: Collection[str]) -> dict[str, str]:
    """What side files of a graph call these of its names: ``{name: label}`` or ``{name: {"label": label}}``."""
    found: dict[str, str] = {}
    for file in side:
        with skip_unreadable():
            for row in file.rows([]):
                name = text_of(row.get("id"))
                label = next((row[column] for column in _LABELS if row.get(column)), None)
                if name is not None and name in names and label is not None and (text := text_of(label)):
                    found.setdefault(name, text)
    return found


def _maps(files: list[ColumnedFile], map_words: str) -> list[ColumnMap | None]:
    """The map of each file; what no option names follows from the file."""
    if map_words:
        return map_columns(files, map_words)
    plain = [file for file in files if not file.is_bare_triples()]
    if len(plain) < len(files):
        named = dict(zip(plain, guess_columns(plain), strict=True))
        return [named.get(file, TRIPLE) for file in files]
    return map_columns(files, "")


CONVERTER = Converter(
    name="table",
    read=_read,
    in_parts=_in_parts,
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
        Option("delimiter", "read", "What separates the cells of CSV files: a character, or tab."),
        Option("encoding", "read", "How CSV files are encoded.", "utf-8"),
        Option("row-ids", "read", "Call rows without an id by their numbers, from 0 or 1.", "", ("", "0", "1")),
        Option("gold-separator", "read", "What separates several ids of documents in one cell."),
        Option("header", "read", "Whether the first line of CSV files names the columns (else 1, 2, …).", True),
        Option("quoting", "read", "Whether cells of CSV files may be quoted.", "csv", ("csv", "none")),
    ),
)
