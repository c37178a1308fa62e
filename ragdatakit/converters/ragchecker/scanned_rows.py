"""Tables of RAGChecker's results straight from the scanner, for a report: of rows as the tool writes them. All others
are read as the reader reads them.

A long module, because the columns of all tables come from one scan of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.converters.kept_columns import Columns, values_of
from ragdatakit.converters.kept_rows import (
    chosen_texts,
    known_texts_between,
    names_between,
    packed_objects,
    table_columns,
    texts_between,
)
from ragdatakit.converters.ragchecker.passage_names import OfRowError, PassageNames
from ragdatakit.converters.ragchecker.rows import (
    OF_ANSWER,
    OF_ROW,
    STAGE,
    WHY_DOCUMENT,
    WHY_QREL,
    answer_of,
    id_of,
    passages_of,
    question_of,
    relevant_places,
    runs_of,
)
from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_numbers, packed_same, put_together
from ragdatakit.database.row_batches import row_batches
from ragdatakit.files.containers.json_text import fields_of, string_of
from ragdatakit.files.paths.folders import size_of
from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.blocks import REST, BlockScanner, Items, ScannedBlock
from ragdatakit.scanner.element_parts import Here, scanned_parts
from ragdatakit.scanner.notes import BLANK
from ragdatakit.scanner.texts import joined, lengths_and_codes
from ragdatakit.schemas.canonical import Document, Qrel
from ragdatakit.schemas.conversions import MOST_EXAMPLES
from ragdatakit.schemas.declarations import Field, Record
from ragdatakit.schemas.ragchecker.format import RAGCHECKER

if TYPE_CHECKING:
    from ragdatakit.files.containers.arrays import ArraySource, Part
    from ragdatakit.files.containers.json_text import Raw
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.files.reading.tables_together import Filling

_TEXTS = ("query_id", "query", "gt_answer", "response")
_ROW = Record(
    name="result",
    title="",
    description="",
    fields=(
        *(Field(f"{name}: string") for name in _TEXTS),
        Field("retrieved_context?: object[]"),
        *(Field(f"{name}?: array") for name in OF_ANSWER[:-1]),
        Field("metrics?: object", values="any"),
        Field(name=REST, type="string", required=False),
    ),
)
_PASSAGE = Record(
    name="passage", title="", description="", extra="forbid", fields=(Field("doc_id: string"), Field("text: string"))
)
_PASSAGES = Items(("retrieved_context",), _PASSAGE, kept=("doc_id", "text"), facts="text")
_BLOCK = 1 << 21
"""Bytes of a part: of smaller ones the columns are many."""
_LEAST_RUN = 5
"""Usual rows side by side, below which it takes longer to cut columns than to read them."""
_Parts = dict[str, list[Columns]]


class _Segment(NamedTuple):
    """Usual rows side by side. Up to their part a ``share`` of the file was read, if that is known."""

    scanned: ScannedBlock
    first: int
    last: int
    share: float


_Others = Sequence[tuple[int, bytes]]
"""The places and texts of other rows."""


class RowColumns:
    """Batches of the rows of tables that a file of results gives; of none it only finds out ``by_row``."""

    def __init__(self, file: DataFile, records: RecordReader, tables: Mapping[str, Filling]) -> None:
        self._file, self._records, self._tables = file, records, tables
        self._scanner = BlockScanner(_ROW, {}, kept=(*_TEXTS, *OF_ANSWER, REST), facts="query", items=_PASSAGES)
        self._size = 0 if file.path.name.lower().endswith(".gz") else size_of(file.path)
        self._begin(by_row=False)

    def _begin(self, by_row: bool) -> None:
        self._passages = PassageNames(by_row)
        self._rows = 0
        self._coerced: list[tuple[str, str, int, str]] = []
        self._counts = {"documents": 0, "qrels": 0}
        self._examples: dict[str, list[str]] = {"documents": [], "qrels": []}

    @property
    def by_row(self) -> bool:
        """Whether ids of passages are unique in their row only, as far as the file was read."""
        return self._passages.by_row

    def batches(self) -> Iterator[Mapping[str, Iterator[Sequence[PackedColumn]]]]:
        """Those of each part of the file. Raises `OfRowError` where the ids of rows before turn out to be of their
        row."""
        is_first = True
        with Here() as here:
            for taken in self._records.elements_taken(
                self._file, partial(self._parts, pool=here), RAGCHECKER.file("results")
            ):
                segments = self._segments(*taken) if isinstance(taken, tuple) else [[*taken.records()]]
                try:
                    found = self._columns_of(segments)
                except OfRowError:
                    if not is_first:
                        raise
                    self._begin(by_row=True)
                    found = self._columns_of(segments)
                is_first = False
                yield {table: put_together(some) for table, some in found.items()}
        for table in self._tables:
            self._tell(table)

    def _parts(self, elements: ArraySource, pool: Here) -> Iterator[tuple[Part, ScannedBlock | None]]:
        elements.source.block_bytes = _BLOCK
        return scanned_parts(elements, self._scan, pool, 0, lambda: False)

    def _scan(self, data: bytes) -> tuple[ScannedBlock, int]:
        return self._scanner.scan_elements(data, members=False)

    def _tell(self, table: str) -> None:
        """Say what reading a table made of values."""
        if table == "questions":
            for column, why, number, question_id in self._coerced:
                self._records.tell_once("coerced", table, column, why, self._file, number, question_id)
        elif table in self._counts:
            first, why = (1, WHY_DOCUMENT) if table == "documents" else (0, WHY_QREL)
            places = range(first, first + self._counts[table])
            self._records.tell_all("derived", table, why, self._file, places, self._examples[table])

    def _derive(self, table: str, examples: Sequence[str]) -> None:
        held = self._examples[table]
        held += examples[: MOST_EXAMPLES - len(held)]
        self._counts[table] += len(examples)

    def _segments(self, part: Part, scanned: ScannedBlock) -> list[_Segment | _Others]:
        """The rows of a part, those together that are alike; all are read where few usual ones are side by side."""
        noted = {row: part.data[start:end] for why, row, _, start, end in scanned.notes if why != BLANK}
        share = min((part.byte_offset + part.size) / self._size, 1) if self._size else 0
        plain, found, done = scanned.rows - len(noted), list[_Segment | _Others](), 0
        for row in (*noted, scanned.rows):
            if row > done:
                found.append(_Segment(scanned, done, row, share))
            if row < scanned.rows:
                found.append([(part.first_record + row, noted[row])])
            done = row + 1
        if plain < _LEAST_RUN * (len(found) - len(noted)) and noted:
            return [[(element.record, element.raw) for element in part.elements()]]
        return found

    def _columns_of(self, segments: Sequence[_Segment | _Others]) -> _Parts:
        parts: _Parts = {table: [] for table in self._tables}
        for segment in segments:
            if isinstance(segment, _Segment):
                self._add(parts, segment)
            else:
                self._add_others(parts, segment)
        return parts

    def _add_others(self, parts: _Parts, others: _Others) -> None:
        rows: dict[str, list[Any]] = {table: [] for table in ("documents", "questions", "qrels", "runs", "answers")}
        for place, raw in others:
            fields = self._records.fields_at(self._file, place, raw)
            if fields is not None:
                self._take(rows, fields)
        for table, some in parts.items():
            some.extend(row_batches(table, iter(rows[table]), self._tables[table].losses))

    def _take(self, rows: Mapping[str, list[Any]], fields: dict[str, Raw]) -> None:
        """The rows that one row of results gives."""
        number, self._rows = self._rows, self._rows + 1
        question_id = id_of(self._records, self._file, number, fields)
        passages = [*passages_of(fields.get("retrieved_context"))]
        names, given = [passage.name for passage in passages], [passage.text for passage in passages]
        codes = lengths_and_codes(*joined([(text or "").encode() for text in given]))[1]["first"].tolist()
        known = [code if text is not None else -1 for code, text in zip(codes, given, strict=True)]
        targets, fresh = self._named([question_id] * len(names), [*range(len(names))], names, known)
        for place in fresh:
            rows["documents"].append(
                Document(targets[place], given[place] or "", string_of(passages[place].more.get("title")))
            )
        coerced = self._coerced
        rows["questions"].append(
            question_of(
                question_id, fields, OF_ROW, lambda column, why: coerced.append((column, why, number, question_id))
            )
        )
        rows["runs"].extend(runs_of(question_id, passages, self.by_row))
        judged = self._judged(question_id, targets, fields)
        rows["qrels"].extend(Qrel(question_id, target) for target in judged)
        if (answer := answer_of(question_id, fields)) is not None:
            rows["answers"].append(answer)

    def _named(
        self, question_ids: Sequence[str], places: Sequence[int], names: Sequence[str | None], codes: Sequence[int]
    ) -> tuple[Sequence[str], Sequence[int]]:
        """As `PassageNames.named`; those that are new are documents."""
        targets, fresh = self._passages.named(question_ids, places, names, codes)
        self._derive("documents", [targets[place] for place in fresh])
        return targets, fresh

    def _judged(self, question_id: str, targets: Sequence[str], fields: Mapping[str, Raw]) -> list[str]:
        """The passages of a row that are relevant, by what they are called."""
        found = list(dict.fromkeys(targets[place] for place in relevant_places(fields, [None] * len(targets))))
        self._derive("qrels", [f"{question_id} {target}" for target in found])
        return found

    def _add(self, parts: _Parts, segment: _Segment) -> None:
        """The columns of usual rows."""
        scanned, first, last, share = segment
        kept, items = scanned.kept, scanned.items
        assert items is not None
        assert items.facts is not None
        self._rows += last - first
        start, end = np.searchsorted(items.owners, (first, last)).tolist()
        counts = np.bincount(items.owners[start:end] - first, minlength=last - first)
        ranks = np.arange(end - start) - np.repeat(np.cumsum(counts) - counts, counts)
        ids = names_between(kept["query_id"], first, last)
        of_passages = [*chain.from_iterable(map(repeat, ids, counts.tolist()))]
        names, codes = names_between(items.kept["doc_id"], start, end), items.facts.codes["first"][start:end].tolist()
        targets, fresh = self._named(of_passages, ranks.tolist(), names, codes)
        if not parts:
            return
        text = known_texts_between(items.kept["text"], items.facts, start, end, share)
        packed_ids, packed_targets = packed(Kind.TEXT, ids), packed(Kind.TEXT, targets)
        if len(fresh) == len(targets):  # both tables have the same texts then, which are in memory once
            documents = table_columns("documents", doc_id=packed_targets, text=text)
        else:
            chosen = packed(Kind.TEXT, [targets[place] for place in fresh])
            documents = table_columns("documents", doc_id=chosen, text=chosen_texts(text, fresh))
        rest, about = values_of(kept[REST], first, last), _about(scanned, first, last)
        judged = self._all_judged(ids, targets, counts.tolist(), rest, about)
        made = {
            "documents": documents,
            "questions": table_columns(
                "questions",
                question_id=packed_ids,
                text=known_texts_between(kept["query"], scanned.facts, first, last, share),
                answer=texts_between(kept["gt_answer"], first, last),
                metadata=packed_objects([raw or None for raw in rest]),
            ),
            "qrels": table_columns(
                "qrels",
                question_id=packed(Kind.TEXT, [question_id for question_id, _ in judged]),
                target_id=packed(Kind.TEXT, [target for _, target in judged]),
            ),
            "runs": table_columns(
                "runs",
                question_id=packed(Kind.TEXT, of_passages),
                stage=packed_same(Kind.TEXT, STAGE, len(targets)),
                rank=packed_numbers(Kind.INTEGER, ranks + 1),
                target_id=packed_targets,
                text=text,
            ),
            "answers": table_columns(
                "answers",
                question_id=packed_ids,
                text=texts_between(kept["response"], first, last),
                metadata=packed_objects([_object(own) for own in about]),
            ),
        }
        for table, some in parts.items():
            if made[table][0].length:
                some.append(made[table])

    def _all_judged(
        self,
        ids: Sequence[str],
        targets: Sequence[str],
        counts: Sequence[int],
        rest: Sequence[bytes | None],
        about: Sequence[dict[str, bytes]],
    ) -> list[tuple[str, str]]:
        """The questions of some rows with the passages that are relevant."""
        found: list[tuple[str, str]] = []
        end = 0
        for question_id, count, raw, own in zip(ids, counts, rest, about, strict=True):
            end += count
            if "retrieved2answer" in own:
                fields: dict[str, Any] = own | (fields_of(raw) if raw else {})
                judged = self._judged(question_id, targets[end - count : end], fields)
                found += [(question_id, target) for target in judged]
        return found


def _about(scanned: ScannedBlock, first: int, last: int) -> list[dict[str, bytes]]:
    """Of each of some rows the fields that go with the answer."""
    columns = [values_of(scanned.kept[name], first, last) for name in OF_ANSWER]
    return [
        {name: raw for name, raw in zip(OF_ANSWER, values, strict=True) if raw} for values in zip(*columns, strict=True)
    ]


def _object(fields: Mapping[str, bytes]) -> bytes | None:
    """An object of these fields, whose names are plain; None where there are none."""
    return b"{%b}" % b",".join(b'"%b":%b' % (name.encode(), raw) for name, raw in fields.items()) if fields else None
