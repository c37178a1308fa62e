"""RAGChecker's files as canonical tables: questions, what was retrieved, what was answered, and what entails what."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from ragdatakit.converters import Options
from ragdatakit.converters.ragchecker.rows import (
    OF_ROW,
    WHY_DOCUMENT,
    WHY_QREL,
    Passages,
    answer_of,
    id_of,
    name_of,
    passages_of,
    question_of,
    relevant_places,
    runs_of,
    target_of,
    text_of,
    value_of,
)
from ragdatakit.files.containers.json_text import Raw, object_text, string_of
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.folders import size_of
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.tables_together import Filling, SharedRows
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import Answer, Chunk, Document, Qrel, Question, Run
from ragdatakit.schemas.errors import NotMeantError
from ragdatakit.schemas.ragchecker.format import RAGCHECKER

if TYPE_CHECKING:
    from ragdatakit.database.columns import PackedColumn

_OF_QUERY = ("query_id", "query", "gt_answer", "hits")
_Row = tuple[int, str, dict[str, Raw]]
_OfRow = Callable[[_Row], Iterable[Any]]
_AT_ONCE = 1 << 22
"""Bytes of rows of which the rows of several tables are made at once."""
_WORTH = 1 << 20
"""Bytes of results below which reading rows takes no longer than columns."""


def read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of the one file of results that is read, and of what lies next to it."""
    results = dataset.of_kind("results")
    chosen = _chosen(results, options["file"], dataset)
    for file in results:
        if file is not chosen:
            why = f"a whole file of other results: --option file={file.name}"
            records.leave_out(file, 0, why, file.name)
    reading = RagCheckerReading(dataset, chosen, records, str(options["ids"]))
    names = ["questions", *(["documents"] if dataset.of_kind("corpus") or not dataset.of_kind("chunks") else [])]
    names += ["chunks"] if dataset.of_kind("chunks") else []
    names += ["runs", *(["qrels", "answers"] if chosen is not None else [])]
    if any(map(dataset.of_kind, ("corpus", "chunks", "queries"))):
        return {name: partial(reading.rows, name) for name in names}
    return {name: SharedRows(reading, name, reading.columns) for name in names}


def _chosen(results: list[DataFile], wanted: str | None, dataset: Dataset) -> DataFile | None:
    """The file that is asked for, or an output rather than an input."""
    if wanted:
        named = [f for f in results if f.name == wanted]
        if not named:
            names = ", ".join(f.name for f in results)
            raise NotMeantError(f"{dataset.display} has no results {wanted}; it has {names}")
        return named[0]
    return next((f for f in results if "output" in f.path.name), results[0] if results else None)


class RagCheckerReading:
    """Reads the files as often as is wanted, small ones once; what is to be said of a row is said once."""

    def __init__(self, dataset: Dataset, results: DataFile | None, records: RecordReader, ids: str) -> None:
        self._records = records
        self._results = results
        self._queries = dataset.of_kind("queries")
        self._corpus = dataset.of_kind("corpus")
        self._chunks = dataset.of_kind("chunks")
        self._ids = ids
        self._held: dict[str, list[_Row]] = {}

    @property
    def _file(self) -> DataFile:
        """The one that has the rows."""
        return self._results or self._queries[0]

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of one table."""
        rows: Iterator[Any] = getattr(self, table)()
        return rows

    def together(self, tables: Collection[str]) -> Iterator[Mapping[str, Sequence[Any]]]:
        """The rows of several, where there is nothing but results."""
        of_tables = {table: getattr(self, f"_{table}_of")() for table in tables}
        made: dict[str, list[Any]] = {table: [] for table in tables}
        size = 0
        for row in self._rows():
            for table, of_row in of_tables.items():
                made[table] += of_row(row)
            size += _bytes_in(row[2])
            if size > _AT_ONCE:
                yield made
                made, size = {table: [] for table in tables}, 0
        yield made

    @property
    def _is_scanned(self) -> bool:
        """Whether the rows may come from the scanner: of results that are alone, and long."""
        file = self._results
        is_alone = file is not None and not self._queries and self._ids == "auto"
        return is_alone and size_of(self._file.path) >= _WORTH and library() is not None

    def columns(self, tables: Mapping[str, Filling]) -> Iterator[Mapping[str, Iterator[Sequence[PackedColumn]]]]:
        """The rows of several for a report, as columns, in one reading of the file."""
        from ragdatakit.converters.ragchecker.passage_names import OfRowError
        from ragdatakit.converters.ragchecker.scanned_rows import RowColumns  # needs numpy
        from ragdatakit.database.dataset_database import Unproved

        if not self._is_scanned:
            raise Unproved
        unheard = self._records.unheard()
        try:
            found = RowColumns(self._file, unheard, tables)
            yield from found.batches()
        except OfRowError:
            self._by_row = True
            raise Unproved from None
        self._records.hear(unheard)
        self._by_row = found.by_row

    def _rows(self, kind: str = "results") -> Iterator[_Row]:
        """Place, id and fields of each row."""
        if kind in self._held:
            yield from self._held[kind]
            return
        files = self._queries if kind == "queries" else [self._results] if self._results is not None else []
        number = size = 0
        held: list[_Row] = []
        for file in files:
            for fields in self._records.wrapped(file, RAGCHECKER.file(kind)):
                row = number, id_of(self._records, file, number, fields), fields
                size += _bytes_in(fields)
                if size <= self._records.most_held:
                    held.append(row)
                else:
                    held.clear()
                yield row
                number += 1
        if len(held) == number:
            self._held[kind] = held

    def questions(self) -> Iterator[Question]:
        """Those of the results, then those of the queries that have no result."""
        seen, of_row = set[str](), self._questions_of()
        for row in self._rows():
            seen.add(row[1])
            yield from of_row(row)
        for number, question_id, fields in self._rows("queries"):
            if question_id not in seen:
                yield self._question(self._queries[0], number, question_id, fields, _OF_QUERY)

    def _questions_of(self) -> _OfRow:
        return lambda row: (self._question(self._file, *row, OF_ROW),)

    def _question(
        self, file: DataFile, number: int, question_id: str, fields: dict[str, Raw], known: tuple[str, ...]
    ) -> Question:
        def coerced(column: str, why: str) -> None:
            self._records.tell_once("coerced", "questions", column, why, file, number, question_id)

        return question_of(question_id, fields, known, coerced)

    def answers(self) -> Iterator[Answer]:
        """The responses; claims, labels and metrics are about them."""
        yield from chain.from_iterable(map(self._answers_of(), self._rows()))

    @staticmethod
    def _answers_of() -> _OfRow:
        return lambda row: filter(None, (answer_of(*row[1:]),))

    def _retrieved(self) -> Iterator[_Row]:
        """The rows with what was retrieved, those of results first."""
        seen: set[str] = set()
        for row in self._rows():
            seen.add(row[1])
            yield row
        for number, question_id, fields in self._rows("queries"):
            if question_id not in seen and "hits" in fields:
                yield number, question_id, {"retrieved_context": fields["hits"]}

    @cached_property
    def _by_row(self) -> bool:
        """Whether ids are unique in their row only."""
        if self._corpus or self._chunks or self._ids == "all":
            return False
        if self._ids == "row":
            return True
        if self._is_scanned:
            return self._is_by_row()
        seen: dict[str, int] = {}
        for row in self._retrieved():
            for passage in _passages_of(row):
                name, text = passage.name, hash(passage.text)
                if name is not None and seen.setdefault(name, text) != text:
                    return True
        return False

    def _is_by_row(self) -> bool:
        """The same by the scanner. Who reads the rows reports what is to be said of them."""
        from ragdatakit.converters.ragchecker.passage_names import OfRowError
        from ragdatakit.converters.ragchecker.scanned_rows import RowColumns  # needs numpy

        found = RowColumns(self._file, self._records.unheard(), {})
        try:
            return any(found.by_row for _ in found.batches())
        except OfRowError:
            return True

    def runs(self) -> Iterator[Run]:
        """What was retrieved, in order."""
        of_row = self._runs_of()  # for which all rows are read: before one is held
        yield from chain.from_iterable(map(of_row, self._retrieved()))

    def _runs_of(self) -> _OfRow:
        by_row = self._by_row
        return lambda row: runs_of(row[1], _passages_of(row), by_row)

    def documents(self) -> Iterator[Document]:
        """The corpus; where there is none, every passage that was retrieved."""
        if self._corpus:
            for file in self._corpus:
                for number, fields in self._records.numbered(file, "ndjson"):
                    doc_id, text = text_of(fields.get("doc_id")), string_of(fields.get("text"))
                    if doc_id is None or text is None:
                        self._records.leave_out(file, number, "it has no doc_id or no text", doc_id)
                        continue
                    more = [(n, raw) for n, raw in fields.items() if n not in ("doc_id", "title", "text")]
                    yield Document(doc_id, text, string_of(fields.get("title")), object_text(more))
            return
        of_row = self._documents_of()
        yield from chain.from_iterable(map(of_row, self._retrieved()))

    def _documents_of(self) -> _OfRow:
        seen, by_row = set[str](), self._by_row

        def found(row: _Row) -> Iterator[Document]:
            for place, passage in enumerate(_passages_of(row)):
                target = target_of(row[1], place, passage.name, by_row)
                if target in seen:
                    continue
                seen.add(target)
                self._records.tell_once("derived", "documents", None, WHY_DOCUMENT, self._file, len(seen), target)
                yield Document(target, passage.text or "", string_of(passage.more.get("title")))

        return found

    def chunks(self) -> Iterator[Chunk]:
        """The chunks of the corpus."""
        for file in self._chunks:
            for number, fields in self._records.numbered(file, "ndjson"):
                doc_id, text, place = text_of(fields.get("doc_id")), string_of(fields.get("text")), name_of(fields)
                ordinal = value_of(fields.get("chunk_id"))
                if doc_id is None or text is None or place is None or not isinstance(ordinal, int):
                    self._records.leave_out(file, number, "it has no doc_id, chunk_id or text", doc_id)
                    continue
                titled = self._corpus or bytes(fields.get("title", b"")) == b"null"
                known = ("doc_id", "chunk_id", "text", *(("title",) if titled else ()))
                more = [(n, raw) for n, raw in fields.items() if n not in known]
                yield Chunk(place, text, doc_id, ordinal, metadata=object_text(more))

    def qrels(self) -> Iterator[Qrel]:
        """Passages that entail a claim of the right answer, as RAGChecker takes them for relevant."""
        of_row = self._qrels_of()
        yield from chain.from_iterable(map(of_row, self._rows()))

    def _qrels_of(self) -> _OfRow:
        kind, by_row, numbers = "chunk" if self._chunks else "document", self._by_row, count()

        def found(row: _Row) -> Iterator[Qrel]:
            _, question_id, fields = row
            passages, seen = [*_passages_of(row)], set[str]()
            for place in relevant_places(fields, passages):
                target = target_of(question_id, place, passages[place].name, by_row)
                if target in seen:
                    continue
                seen.add(target)
                example = f"{question_id} {target}"
                self._records.tell_once("derived", "qrels", None, WHY_QREL, self._file, next(numbers), example)
                yield Qrel(question_id, target, 1, kind)

        return found


def _bytes_in(fields: dict[str, Raw]) -> int:
    return sum(memoryview(raw).nbytes for raw in fields.values())


def _passages_of(row: _Row) -> Passages:
    return passages_of(row[2].get("retrieved_context"))
