"""Tables of SAGE records straight from the scanner, for a report: of records as they are documented, with an id and
with results as most are. All others are read as the reader reads them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from ragdatakit.converters.kept_columns import Columns, values_of
from ragdatakit.converters.kept_numbers import numbers_of
from ragdatakit.converters.kept_rows import known_texts_between, member_texts, objects_between, texts_between
from ragdatakit.converters.sage.documents import KEPT_METADATA
from ragdatakit.converters.sage.samples import Naming, Sample, Samples, rows_of
from ragdatakit.database.columns import (
    Kind,
    PackedColumn,
    RepeatedTexts,
    packed,
    packed_numbers,
    packed_same,
    put_together,
)
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.database.text_facts import COLUMN, is_plain, known_of
from ragdatakit.database.text_places import RecordPlaces
from ragdatakit.files.containers.sources import TEXT_BLOCK_BYTES
from ragdatakit.files.paths.folders import size_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.blocks import REST, BlockScanner, Items, KeptValues, ScannedBlock
from ragdatakit.scanner.notes import BLANK
from ragdatakit.scanner.plan import Asked
from ragdatakit.scanner.predicates import Given
from ragdatakit.scanner.relations import Parts, Without
from ragdatakit.schemas.canonical import Trace
from ragdatakit.schemas.declarations import Field, Record
from ragdatakit.schemas.sage.older import STAGES

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.files.reading.tables_together import Filling

    Marks = npt.NDArray[np.bool_]

_ANSWER = ("generated", "prompt", "generation_time")
_TIMES = (*(f"{stage}_time" for stage in STAGES), "generation_time")
_RECORD = Record(
    name="record",
    title="",
    description="",
    extra="forbid",
    fields=(
        Field("query: string"),
        Field("question: object", values="any"),
        Field("references?: array"),
        *(Field(f"{stage}_docs?: array") for stage in STAGES),
        *(Field(f"{stage}_results?: object[]", non_empty=True) for stage in STAGES),
        *(Field(f"{name}?: number", minimum=0) for name in _TIMES),
        *(Field(f"{name}?: string") for name in _ANSWER[:2]),
    ),
)
_ASKED: tuple[Asked, ...] = (
    Parts("question", (Field("id: string"), Field("references?: array")), closed=True),
    *(Without((f"{stage}_{part}", f"{stage}_results")) for stage in STAGES for part in ("docs", "time")),
)
_OTHERS = ("id", "similarity_score", "relevance_score", KEPT_METADATA)
"""Names of a result that mean something else than metadata."""
_RESULT = Record(
    name="result",
    title="",
    description="",
    fields=(
        Field("text: string"),
        Field("score?: number"),
        Field("metadata?: object", values="any"),
        *(Field(f"{name}?: any") for name in _OTHERS),
        Field(name=REST, type="string", required=False),
    ),
)
_RESULTS = Items(
    tuple(f"{stage}_results" for stage in STAGES),
    _RESULT,
    (Parts("metadata", (Field("id: string"),), closed=True), *map(Given, _OTHERS)),
    kept=("text", "score", "metadata/id", REST),
    facts="text",
)
_KEPT = ["query", "references", *_TIMES, *_ANSWER[:2], "question/id", "question/references"]
_MOST_EXACT = 1 << 53
_LEAST_RUN = 5
"""Plain records side by side, below which it takes longer to cut columns than to read them."""
_WITH_FACTS = ("questions", "runs")
"""Tables of whose texts there are facts."""
_TEXTS = member_texts("text")
_REFERENCES = msgspec.json.Decoder(list[list[str]])
_STAND_IN = "{}"
"""What is said of a record in the table of all: no report asks what it says."""


@dataclass(slots=True)
class _Block:
    """A block of records: which of them (``plain``) give rows as they are, the numbers of their questions, and the
    scores of the results of all their stages, one after the other. Before the records of ``blank`` there is a blank
    line. ``share`` is that of all files that was read up to it, and ``place`` where the block is, where they are
    known."""

    rows: int
    lines: int
    scanned: ScannedBlock
    noted: dict[int, tuple[int, int, int]]
    blank: list[int]
    plain: Marks
    references: list[list[str]]
    times: dict[str, tuple[npt.NDArray[np.float64], Marks]]
    scores: tuple[npt.NDArray[np.float64], Marks]
    share: float = 0
    place: tuple[DataFile, int] | None = None

    def others(self) -> list[int]:
        """The records that are not plain; all of them where few plain ones are side by side."""
        runs = np.count_nonzero(np.diff(self.plain, prepend=False) & self.plain)
        is_worth = np.count_nonzero(self.plain) >= _LEAST_RUN * runs
        return np.flatnonzero(~self.plain).tolist() if is_worth else [*range(self.rows)]

    def line_of(self, data: bytes, row: int) -> tuple[int, int, int]:
        """The line of a record in the block, and between which places it is."""
        if (noted := self.noted.get(row)) is not None:
            return noted
        assert self.scanned.facts is not None
        start = int(self.scanned.facts.starts[row])
        end = data.find(b"\n", start)
        return row + bisect_right(self.blank, row), start, end if end >= 0 else len(data)


class RecordColumns:
    """Batches of the rows of ``tables`` that files of records give, which `Samples` reads otherwise. `Unproved` where
    that is not possible."""

    def __init__(self, samples: Samples, tables: Mapping[str, Filling]) -> None:
        self._samples, self._tables = samples, tables
        self._later: list[tuple[Any, ...]] = []
        self._stages = _names(STAGES)
        self._records = BlockScanner(_RECORD, {}, _ASKED, kept=_KEPT, facts="query", items=_RESULTS)

    def batches(
        self, files: Sequence[DataFile], records: RecordReader
    ) -> Iterator[Mapping[str, Iterator[Sequence[PackedColumn]]]]:
        """Those of each block of the files."""
        naming, read = Naming(self._samples.tell), 0
        are_plain = all(map(is_plain, files))
        size = sum(size_of(file.path) for file in files) if are_plain else 0
        for file in files:
            count = 0
            for taken in records.taken(file, self._scan, 0, TEXT_BLOCK_BYTES):
                if isinstance(taken, list):
                    raise Unproved
                first, _, data, block, offset = taken
                read += len(data)
                block.share = min(read / size, 1) if size else 0
                block.place = (file, offset) if are_plain else None
                parts: dict[str, list[Columns]] = {table: [] for table in self._tables}
                others: list[Sample] = []
                done, row_ids = 0, values_of(block.scanned.kept["question/id"], 0, block.rows)
                for row in [*block.others(), block.rows]:
                    if row > done:
                        self._add_rows(parts, others, block.share)
                        others = []
                        ids = naming.each_unique([raw.decode() for raw in row_ids[done:row] if raw is not None])
                        count += row - done
                        self._add(parts, block, done, row, ids)
                    done = row + 1
                    if row == block.rows:
                        break
                    line, start, end = block.line_of(data, row)
                    value = records.object_or_array_at(file, first + line, data[start:end])
                    if value is None:
                        continue
                    count += 1
                    sample = self._samples.sample_of(file, count, value, naming)
                    if sample is not None:
                        others.append(sample)
                self._add_rows(parts, others, block.share)
                yield {table: put_together(some) for table, some in parts.items()}
        for loss in self._later:
            self._samples.tell(*loss)

    def _scan(self, data: bytes) -> _Block | None:
        scanned = self._records.scan(data)
        if scanned is None:
            return None
        noted = {row: (line, start, end) for why, row, line, start, end in scanned.notes if why != BLANK}
        blank = [row for why, row, *_ in scanned.notes if why == BLANK]
        plain = np.ones(scanned.rows, np.bool_)
        plain[list(noted)] = False
        kept = scanned.kept
        times = {name: _numbers(kept[name], plain) for name in _TIMES}
        of_record, of_question = kept["references"], kept["question/references"]
        own = values_of(of_record, 0, scanned.rows)
        if of_question.data != of_record.data or not np.array_equal(of_question.offsets, of_record.offsets):
            for row, other in enumerate(values_of(of_question, 0, scanned.rows)):
                if other is not None and other != own[row]:
                    plain[row] = False
        assert scanned.items is not None
        rows_of = scanned.items.owners // len(STAGES)
        are_usual = np.ones(len(rows_of), np.bool_)
        scores = _numbers(scanned.items.kept["score"], are_usual)
        are_usual[1:] &= np.diff(scanned.items.owners) >= 0  # else stages are in another order
        plain[rows_of[~are_usual]] = False
        references = _references(own, plain)
        return _Block(scanned.rows, scanned.lines, scanned, noted, blank, plain, references, times, scores)

    def _add(self, parts: dict[str, list[Columns]], block: _Block, first: int, last: int, ids: Sequence[str]) -> None:
        """The rows of some records, all of which are plain."""
        kept, length = block.scanned.kept, last - first
        packed_ids = _names(ids)
        if "traces" in parts:
            nothing = packed_same(Kind.TEXT, None, length)
            parts["traces"].append([packed_ids, packed_same(Kind.TEXT, _STAND_IN, length), nothing])
        if "questions" in parts:
            references = block.references[first:last]
            aliases = [own[1:] for own in references]
            parts["questions"].append(
                [
                    packed_ids,
                    known_texts_between(kept["query"], block.scanned.facts, first, last, block.share),
                    packed(Kind.TEXT, [own[0] if own else None for own in references]),
                    packed(Kind.TEXTS, aliases) if any(aliases) else packed_same(Kind.TEXTS, (), length),
                    packed_same(Kind.TEXT, None, length),
                    packed_same(Kind.TEXT, None, length),
                    packed_same(Kind.TEXTS, (), length),
                ]
            )
        if "answers" in parts:
            self._add_answers(parts["answers"], block, first, last, ids, packed_ids)
        if "runs" in parts:
            self._add_runs(parts["runs"], block, first, last, packed_ids)

    @staticmethod
    def _add_answers(
        parts: list[Columns], block: _Block, first: int, last: int, ids: Sequence[str], packed_ids: PackedColumn
    ) -> None:
        """Those of records that have one: of others the columns have no row."""
        kept = block.scanned.kept
        seconds, has_seconds = block.times["generation_time"]
        there = has_seconds[first:last].copy()
        for name in _ANSWER[:2]:
            has_one = np.ones(block.rows, np.bool_)
            has_one[kept[name].missing] = False
            there |= has_one[first:last]
        if there.all():
            columns = [packed_ids, *(texts_between(kept[name], first, last) for name in _ANSWER[:2])]
        else:
            chosen = np.flatnonzero(there).tolist()
            texts = [values_of(kept[name], first, last) for name in _ANSWER[:2]]
            given = [[None if own[row] is None else own[row].decode() for row in chosen] for own in texts]  # type: ignore[union-attr]
            columns = [packed(Kind.TEXT, [ids[row] for row in chosen]), *(packed(Kind.TEXT, own) for own in given)]
        missing = np.flatnonzero(~has_seconds[first:last][there])
        columns.append(packed_numbers(Kind.NUMBER, seconds[first:last][there], missing))
        if columns[0].length:
            parts.append([*columns, packed_same(Kind.TEXT, None, columns[0].length)])

    def _add_runs(self, parts: list[Columns], block: _Block, first: int, last: int, ids: PackedColumn) -> None:
        items = block.scanned.items
        assert items is not None
        kept, stages = items.kept, len(STAGES)
        start, end = np.searchsorted(items.owners // stages, (first, last)).tolist()
        if start == end:
            return
        lists = items.owners[start:end] - stages * first
        counts = np.bincount(lists, minlength=stages * (last - first))
        begins = np.cumsum(counts) - counts
        seconds = np.stack([block.times[f"{stage}_time"][0][first:last] for stage in STAGES], axis=1).ravel()
        has_seconds = np.stack([block.times[f"{stage}_time"][1][first:last] for stage in STAGES], axis=1).ravel()
        scores, has_score = block.scores[0][start:end], block.scores[1][start:end]
        places = []
        if block.place is not None and items.facts is not None:
            file, offset = block.place
            places.append((0, RecordPlaces.of(items.facts, start, end, offset, file, _TEXTS)))
        parts.append(
            [
                RepeatedTexts(ids, counts.reshape(-1, stages).sum(axis=1)),
                RepeatedTexts(self._stages, counts),
                packed_numbers(Kind.INTEGER, np.arange(end - start) - begins[lists] + 1),
                texts_between(kept["metadata/id"], start, end),
                known_texts_between(kept["text"], items.facts, start, end, block.share, places),
                packed_numbers(Kind.NUMBER, scores, np.flatnonzero(~has_score)),
                packed_numbers(Kind.NUMBER, seconds[lists], np.flatnonzero(~has_seconds[lists])),
                objects_between(kept[REST], start, end),
            ]
        )

    def _add_rows(self, parts: dict[str, list[Columns]], samples: Sequence[Sample], share: float) -> None:
        """The rows of records that are otherwise."""
        for table, some in parts.items():
            rows = chain.from_iterable(self._rows_of(sample, table) for sample in samples)
            place = [*schema_of(table)].index(COLUMN) if table in _WITH_FACTS else -1
            for columns in row_batches(table, rows, self._tables[table].losses):
                some.append([*columns])
                if place >= 0:
                    known = replace(known_of(columns[place]), share=share)
                    some[-1][place] = replace(columns[place], known=known)

    def _rows_of(self, sample: Sample, table: str) -> Iterable[Any]:
        if table == "traces":
            return (Trace(sample.question_id, _STAND_IN, sample.before and _STAND_IN),)
        return rows_of(sample, table, lambda *loss: self._later.append(loss))


def _numbers(kept: KeptValues, plain: Marks) -> tuple[npt.NDArray[np.float64], Marks]:
    """The numbers of a field, and which rows have one. Rows whose number Python may read otherwise are not plain."""
    values, missing = numbers_of(kept, 0, len(plain))
    there = np.ones(len(plain), np.bool_)
    there[missing] = False
    plain[(np.abs(values) > _MOST_EXACT) | ((values == 0) & np.signbit(values))] = False
    return values, there


def _references(given: list[bytes | None], plain: Marks) -> list[list[str]]:
    """The gold answers of each record; where they are otherwise than texts, it goes to the reader."""
    values = [
        b"[]" if one is None or not is_plain else one for one, is_plain in zip(given, plain.tolist(), strict=True)
    ]
    try:
        return _REFERENCES.decode(b"[%b]" % b",".join(values))
    except msgspec.DecodeError:
        pass
    found: list[list[str]] = []
    for row, value in enumerate(values):
        try:
            found += _REFERENCES.decode(b"[%b]" % value)
        except msgspec.DecodeError:
            plain[row] = False
            found.append([])
    return found


def _names(values: Sequence[str]) -> PackedColumn:
    """A column of names, with what a report wants to know of them."""
    column = packed(Kind.TEXT, values)
    return replace(column, known=known_of(column))
