"""A dataset as canonical tables, read in streams; and the account of what a writer takes from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

from ragdatakit.files.reading.kept_rows import Columns, ColumnSource, ColumnsTogether, KeptRows, columns_of, rows_of
from ragdatakit.files.reading.noted_rows import NumberedRows, Numbers
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.tables_in_parts import TablesInParts
from ragdatakit.files.reading.tables_together import SharedRows, TablesTogether
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas import FORMATS, get_format
from ragdatakit.schemas.canonical import TABLES, Document
from ragdatakit.schemas.conversions import MOST_EXAMPLES, Losses

RowSource = Callable[[], Iterator[Any]]
"""Reads the rows of a table from their beginning; may be called more than once."""
Blocks = Callable[[int, Callable[[Sequence[Any]], object] | None], Iterator[Sequence[Any]]]
"""Reads rows in so many threads, which look at passages, too, where they can."""


@dataclass(frozen=True, slots=True)
class RowsAtHand:
    """The source of a table whose rows are in memory: ``having`` gives those with one of some texts in a column."""

    rows: RowSource
    having: Callable[[str, Collection[str]], Iterator[Any]]

    def __call__(self) -> Iterator[Any]:
        """All rows, from the beginning."""
        return self.rows()


class CanonicalTables:
    """The tables that a dataset gives.

    ``name`` is what the dataset is called, ``format`` where it comes from. A table that is not ``in`` it has no rows;
    one that is may have none. A writer gets rows by `take`, which notes what it has no room for; `peek` gives the same
    rows and notes nothing (for a first pass that collects ids). ``covered`` names columns whose values are in another
    table, too (texts that were cut into chunks): a writer that leaves them out loses nothing. ``given`` are the sources
    before anything was made of them, ``restored`` says that a sidecar took part in them. ``numbered`` says, in words,
    that the ids of the documents are made: row numbers, which judgements from elsewhere cannot mean. ``form`` is what
    the source's records look like, for a writer of its format. ``records`` is who reads the files of the dataset.
    ``in_parts``: others read the rows of the tables, part by part. ``blocks`` give the passages or edges of a table
    some thousands at a time, rows that have texts only, where that is quicker.
    """

    def __init__(
        self,
        name: str,
        format_name: str,
        sources: Mapping[str, RowSource],
        losses: Losses,
        records: RecordReader | None = None,
    ) -> None:
        unknown = set(sources) - set(TABLES)
        if unknown:
            raise ValueError(f"no canonical tables: {unknown}")
        self.name = name
        self.format = format_name
        self.losses = losses
        self.records = records
        self.sources = dict(sources)
        self.counts: dict[str, int] = {}
        self.given = self.sources
        self.restored = False
        self.numbered = ""
        self.form: dict[str, str] = {}
        self.covered: dict[str, frozenset[str]] = {}
        self.in_parts: TablesInParts | None = None
        self.blocks: dict[str, Blocks] = {}
        self._taken: set[str] = set()

    def took(self, table: str) -> None:
        """Say that the rows of a table were taken part by part."""
        self._taken.add(table)

    def keep(self, *tables: str) -> None:
        """Read these tables from their sources once, however often they are asked for: their values are texts and
        numbers."""
        sources = self.sources | _read_together(self.sources, tables)
        for name, rows in [*sources.items()]:
            if name in tables and isinstance(rows, ColumnSource) and rows.together is not None:
                rows.together.keep()
            elif name in tables and not isinstance(rows, KeptRows):
                sources[name] = KeptRows(rows, TABLES[name].row)
        self.sources = sources

    def __contains__(self, table: str) -> bool:
        return table in self.sources

    def peek(self, table: str) -> Iterator[Any]:
        """The rows of a table, from the beginning; none where the dataset has no such table."""
        return self.sources[table]() if table in self.sources else iter(())

    def peek_having(self, table: str, column: str, values: Collection[str]) -> Iterator[Any]:
        """Those of the same rows that have one of these texts in a column."""
        source = self.sources.get(table)
        if isinstance(source, RowsAtHand):
            return source.having(column, values)
        return (row for row in self.peek(table) if getattr(row, column) in values)

    def peek_columns(self, table: str) -> Iterator[Columns]:
        """The same rows, many at a time."""
        source = self.sources.get(table)
        return source.columns() if isinstance(source, KeptRows | ColumnSource) else columns_of(self.peek(table))

    def peek_numbers(self, table: str, jobs: int) -> Iterator[Numbers] | None:
        """The same rows as `NumberedRows` has their numbers, in so many threads; None where it has not."""
        source = self._first_source(table)
        return source.numbers(jobs) if isinstance(source, NumberedRows) else None

    def _first_source(self, table: str) -> RowSource | None:
        """The source of a table, whether or not its rows are kept."""
        source = self.sources.get(table)
        return source.source if isinstance(source, KeptRows) else source

    def any(self, table: str) -> bool:
        """Whether the table has a row."""
        return next(self.peek(table), None) is not None

    def take(self, table: str, *columns: str) -> Iterator[Any]:
        """The rows of a table, for a writer that keeps these columns of it: what is in others counts as lost.

        The writer itself says what is coerced.
        """
        left_out = self._left_out(table, columns)
        if left_out is None:
            return self.peek(table)
        if isinstance(self._first_source(table), ColumnSource):
            return rows_of(TABLES[table].row, self._accounted_columns(table, left_out))
        return self._accounted(table, left_out)

    def take_columns(self, table: str, *columns: str) -> Iterator[Columns]:
        """The same rows, many at a time."""
        left_out = self._left_out(table, columns)
        return self.peek_columns(table) if left_out is None else self._accounted_columns(table, left_out)

    def _left_out(self, table: str, columns: Collection[str]) -> list[tuple[int, str]] | None:
        """The columns of a table, with their places, that a writer leaves out that keeps these; None where there is no
        such table, or its rows were taken already."""
        if table not in self.sources or table in self._taken:
            return None
        self._taken.update((table, *TABLES[table].restates))
        names = TABLES[table].columns
        unknown = set(columns) - set(names)
        if unknown:
            raise ValueError(f"{table} has no columns {unknown}")
        return [(i, n) for i, n in enumerate(names) if n not in columns and n != "field_order"]

    def _accounted_columns(self, table: str, left_out: list[tuple[int, str]]) -> Iterator[Columns]:
        number, covered = 0, self.covered.get(table, frozenset())
        for columns in self.peek_columns(table):
            number += len(columns[0])
            for place, name in left_out:
                if name not in covered:
                    self._lose(table, name, columns[0], columns[place])
            yield columns
        self.counts[table] = number

    def _accounted(self, table: str, left_out: list[tuple[int, str]]) -> Iterator[Any]:
        number, covered = 0, self.covered.get(table, frozenset())
        for row in self.sources[table]():
            number += 1
            for place, name in left_out:
                if row[place] is not None and name not in covered:
                    self._lose(table, name, row[:1], (row[place],))
            yield row
        self.counts[table] = number

    def _lose(self, table: str, name: str, keys: Sequence[Any], values: Sequence[Any]) -> None:
        """Count the values of a column, of rows of which the first column is there, too."""
        nothing = _nothing(name)
        number = len(values) - sum(map(values.count, nothing))
        if not number:
            return
        key, reason = TABLES[table].key, "the target has no place for it"
        for row in islice((row for row, value in enumerate(values) if value not in nothing), MOST_EXAMPLES):
            self.losses.add("lost", table, name, reason, f"{keys[row]}: {values[row]}" if key else values[row])
        if number > MOST_EXAMPLES:
            self.losses.add("lost", table, name, reason, count=number - MOST_EXAMPLES)

    def drop(self, table: str, row: Any, why: str) -> None:
        """Say that a row which was taken is not written."""
        shown = row[0] if TABLES[table].key else row
        if table == "qrels":
            shown = f"{row.question_id} → {row.target_id}"
        self.losses.add("dropped", table, None, why, shown)

    def finish(self) -> None:
        """Count the tables that the writer did not take: all their rows are lost."""
        for table in self.sources:
            if table in self._taken or TABLES[table].restates:
                continue
            self._taken.add(table)
            if self.in_parts is not None and (parts := self.in_parts.number(table)):
                for _ in self.in_parts.each(_finish_part, [None] * parts, table):
                    pass
                continue
            number, covered = 0, self.covered.get(table, frozenset())
            for row in self.sources[table]():
                number += 1
                if covered and row.text.strip():  # a text of blanks only is in no chunk
                    self._leave_out(table, row, covered)
                    continue
                shown = " ".join(str(v) for v in row[:3] if v is not None and not isinstance(v, bytes | Path))
                self.losses.add("dropped", table, None, "the target has no place for them", shown)
            self.counts[table] = number

    def _leave_out(self, table: str, row: Any, covered: frozenset[str]) -> None:
        """Say that a row is not written, most of whose columns are in another table."""
        for name, value in zip(TABLES[table].columns, row, strict=True):
            if name not in covered and name != "field_order" and value not in _nothing(name):
                self.losses.add("lost", table, name, "the target has no place for it", f"{row[0]}: {value}")

    @property
    def replaces(self) -> bool:
        """Whether the framework keeps the last of records with one id."""
        return self.format in FORMATS and get_format(self.format).replaces

    @cached_property
    def passages(self) -> str:
        """The table that holds what is retrieved: ``chunks`` where there are any, else ``documents``."""
        return "chunks" if "chunks" in self.sources and self.any("chunks") else "documents"

    def peek_passages(self) -> Iterator[Document]:
        """Chunks as documents, where there are chunks; else the documents. Nothing is accounted."""
        return self._passages(self.peek(self.passages))

    def take_passages(self, *columns: str) -> Iterator[Document]:
        """The same, for a writer that keeps these columns of `Document`; chunks have their documents' titles."""
        return self._passages(self.take(self.passages, *self._kept_of_passages(columns)))

    def take_passage_texts(self) -> Iterator[Columns]:
        """The ids, texts and titles of the same, many at a time, for a writer that keeps these."""
        blocks = self.take_columns(self.passages, *self._kept_of_passages(("doc_id", "text", "title")))
        if self.passages == "documents":
            return (columns[:3] for columns in blocks)
        title_of = self.titles_of_documents().get
        return ([ids, texts, [*map(title_of, documents)]] for ids, texts, documents, *_ in blocks)

    def _kept_of_passages(self, columns: Collection[str]) -> Collection[str]:
        """What their table calls these columns of `Document`."""
        if self.passages == "documents":
            return columns
        if "title" in columns and "documents" in self.covered:
            self.covered["documents"] |= {"title"}
        return ["chunk_id" if name == "doc_id" else name for name in columns if name != "title"]

    def _passages(self, rows: Iterator[Any]) -> Iterator[Document]:
        if self.passages == "documents":
            yield from rows
            return
        titles = self.titles_of_documents()
        for chunk in rows:
            yield Document(chunk.chunk_id, chunk.text, titles.get(chunk.doc_id), chunk.metadata)

    def titles_of_documents(self) -> dict[str, str]:
        """The titles of documents that have one, by id."""
        return {document.doc_id: document.title for document in self.peek("documents") if document.title}

    def take_passage_qrels(self, *columns: str, with_nodes: bool = False) -> Iterator[Any]:
        """Judgements of passages, for a writer that keeps these columns. Judgements of documents that were cut into
        chunks hold for every chunk (`derived`); judgements of nodes are dropped, unless they are wanted, too."""
        rows = self.take("qrels", *columns, "target_kind")
        return self._passage_qrels(rows, accounted=True, with_nodes=with_nodes)

    def peek_passage_qrels(self) -> Iterator[Any]:
        """The same judgements; nothing is accounted."""
        return self._passage_qrels(self.peek("qrels"), accounted=False)

    def _passage_qrels(self, rows: Iterator[Any], accounted: bool, with_nodes: bool = False) -> Iterator[Any]:
        kind = "chunk" if self.passages == "chunks" else "document"
        of_document: dict[str, list[str]] | None = None
        for qrel in rows:
            if qrel.target_kind == kind or (with_nodes and qrel.target_kind == "node"):
                yield qrel
                continue
            why = f"it judges a {qrel.target_kind}, not a passage"
            if qrel.target_kind == "document":
                if of_document is None:
                    of_document = self._chunks_of_documents()
                why = "it judges a document that has no chunks"
                for chunk_id in of_document.get(qrel.target_id, ()):
                    why = ""
                    if accounted:
                        reason = "a document's judgement, for each of its chunks"
                        self.losses.add("derived", "qrels", "target_id", reason)
                    yield qrel._replace(target_id=chunk_id, target_kind="chunk")
            if why and accounted:
                self.drop("qrels", qrel, why)

    def _chunks_of_documents(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for chunk in self.peek("chunks"):
            if chunk.doc_id is not None:
                found.setdefault(chunk.doc_id, []).append(chunk.chunk_id)
        return found


def _read_together(sources: Mapping[str, RowSource], tables: Collection[str]) -> dict[str, ColumnSource]:
    """Sources of those of these tables that come of the same records: one reading gives the rows of all."""
    groups: dict[int, list[str]] = {}
    found: dict[str, ColumnSource] = {}
    for name, source in sources.items():
        if name in tables and isinstance(source, SharedRows):
            groups.setdefault(id(source.group), []).append(name)
    for names in groups.values():
        source = sources[names[0]]
        if len(names) > 1 and isinstance(source, SharedRows):
            blocks = partial(_columns_together, source.group, names)
            together = ColumnsTogether([TABLES[name].row for name in names], blocks)
            found |= zip(names, together.sources, strict=True)
    return found


def _columns_together(
    group: TablesTogether, names: Sequence[str], wanted: Collection[int]
) -> Iterator[Sequence[Columns]]:
    for rows in group.together([names[place] for place in wanted]):
        yield [list(zip(*rows.get(name, ()), strict=True)) for name in names]


def _finish_part(tables: CanonicalTables, *_: Any) -> None:
    """In a worker: the rows of a part, all of which are lost."""
    tables.finish()


def _nothing(name: str) -> Sequence[Any]:
    """The values of a column in which there is nothing that could be lost; an object without members says nothing,
    either."""
    return (None, (), "", "{}") if name in ("metadata", "attributes") else (None, (), "")
