"""Tables of SAGE records straight from the scanner, for a report: of records as they are documented, with an id and
with results as most are. All others are read as the reader reads them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from ragdatakit.converters.kept_columns import Columns, values_of
from ragdatakit.converters.kept_numbers import numbers_of
from ragdatakit.converters.kept_rows import known_texts_between, member_texts, objects_of, texts_between
from ragdatakit.converters.sage.documents import KEPT_METADATA
from ragdatakit.converters.sage.samples import Naming, Sample, Samples, rows_of
from ragdatakit.converters.woven_columns import Runs
from ragdatakit.database.columns import Kind, PackedColumn, RepeatedTexts, as_one, packed, packed_numbers, packed_same
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.database.text_facts import COLUMN, is_plain, known_of
from ragdatakit.database.text_places import RecordPlaces
from ragdatakit.files.containers.sources import TEXT_BLOCK_BYTES
from ragdatakit.files.paths.folders import size_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.blocks import REST, BlockScanner, Items, KeptValues, ScannedBlock
from ragdatakit.scanner.notes import BLANK
from ragdatakit.scanner.plan import Asked
from ragdatakit.scanner.predicates import Given
from ragdatakit.scanner.relations import Parts, Without
from ragdatakit.scanner.views import offsets_of
from ragdatakit.schemas.canonical import Trace
from ragdatakit.schemas.declarations import Field, Record
from ragdatakit.schemas.sage.older import STAGES

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.files.reading.tables_together import Filling

    Counts = npt.NDArray[np.int64]
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

    def line_of(self, data: bytes, row: int) -> tuple[int, int, int]:
        """The line of a record in the block, and between which places it is."""
        if (noted := self.noted.get(row)) is not None:
            return noted
        assert self.scanned.facts is not None
        start = int(self.scanned.facts.starts[row])
        end = data.find(b"\n", start)
        return row + bisect_right(self.blank, row), start, end if end >= 0 else len(data)


class _Order(NamedTuple):
    """The records of a block that give rows, as runs (``starts``, ``ends``) of plain ones and of ``others``, which are
    read as the reader reads them: these have numbers behind the ``records`` of the block. ``ids`` are those of their
    questions."""

    records: int
    starts: list[int]
    ends: list[int]
    others: list[Sample]
    ids: list[str | None]

    def add_plain(self, first: int, last: int, ids: Sequence[str]) -> None:
        """Some plain ones, side by side."""
        self.starts.append(first)
        self.ends.append(last)
        self.ids.extend(ids)

    def add(self, sample: Sample) -> None:
        """Another one."""
        self.starts.append(self.records + len(self.others))
        self.ends.append(self.starts[-1] + 1)
        self.others.append(sample)
        self.ids.append(sample.question_id)

    def runs(self, counts: Counts, own: Counts) -> tuple[Runs, Counts]:
        """The rows of the records, of which the plain ones and the others have so many each; and how many each has."""
        bounds = offsets_of(np.concatenate((counts, own)))
        records = Runs.of(np.array(self.starts), np.array(self.ends), self.records)
        return Runs.of(bounds[self.starts], bounds[self.ends], int(bounds[self.records])), np.diff(bounds)[records.rows]


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
            for taken in records.taken(file, self._scan, 0, TEXT_BLOCK_BYTES):
                if isinstance(taken, list):
                    raise Unproved
                first, _, data, block, offset = taken
                read += len(data)
                block.share = min(read / size, 1) if size else 0
                block.place = (file, offset) if are_plain else None
                order = _Order(block.rows, [], [], [], [])
                done, row_ids = 0, values_of(block.scanned.kept["question/id"], 0, block.rows)
                for row in [*np.flatnonzero(~block.plain).tolist(), block.rows]:
                    if row > done:
                        names = [raw.decode() for raw in row_ids[done:row] if raw is not None]
                        order.add_plain(done, row, naming.each_unique(names))
                    done = row + 1
                    if row == block.rows:
                        break
                    line, start, end = block.line_of(data, row)
                    value = records.object_or_array_at(file, first + line, data[start:end])
                    if value is None:
                        continue
                    sample = self._samples.sample_of(file, first + line, value, naming)
                    if sample is not None:
                        order.add(sample)
                yield self._of_block(block, order)
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

    def _of_block(self, block: _Block, order: _Order) -> dict[str, Iterator[Sequence[PackedColumn]]]:
        """The rows of a block."""
        if not order.ids:
            return {}
        ids = _names(order.ids)
        made: dict[str, Iterator[Sequence[PackedColumn]]] = {}
        for table, (columns, counts) in self._of_plain(block).items():
            if not block.plain.all():
                columns, counts = self._with_others(table, columns, counts, order, block.share)
            in_rows = ids if table in ("questions", "traces") else RepeatedTexts(ids, counts)
            made[table] = iter([[in_rows, *columns]] if in_rows.length else [])
        return made

    def _of_plain(self, block: _Block) -> dict[str, tuple[Columns, Counts]]:
        """The columns but the ids of questions, and how many rows each record has; those of records that are not plain
        have anything."""
        found: dict[str, tuple[Columns, Counts]] = {}
        length, kept = block.rows, block.scanned.kept
        each, nothing = np.ones(length, np.int64), packed_same(Kind.TEXT, None, length)
        if "traces" in self._tables:
            found["traces"] = [packed_same(Kind.TEXT, _STAND_IN, length), nothing], each
        if "questions" in self._tables:
            aliases = [own[1:] for own in block.references]
            found["questions"] = (
                [
                    known_texts_between(
                        kept["query"], block.scanned.facts, 0, length, block.share, counted=block.plain
                    ),
                    packed(Kind.TEXT, [own[0] if own else None for own in block.references]),
                    packed(Kind.TEXTS, aliases) if any(aliases) else packed_same(Kind.TEXTS, (), length),
                    nothing,
                    nothing,
                    packed_same(Kind.TEXTS, (), length),
                ],
                each,
            )
        if "answers" in self._tables:
            found["answers"] = self._answers(block)
        if "runs" in self._tables:
            found["runs"] = self._runs(block)
        return found

    @staticmethod
    def _answers(block: _Block) -> tuple[Columns, Counts]:
        """Those of records that have one: of others the columns have no row."""
        kept = block.scanned.kept
        seconds, has_seconds = block.times["generation_time"]
        there = has_seconds | ~block.plain
        for name in _ANSWER[:2]:
            has_one = np.ones(block.rows, np.bool_)
            has_one[kept[name].missing] = False
            there |= has_one
        if there.all():
            columns = [texts_between(kept[name], 0, block.rows) for name in _ANSWER[:2]]
        else:
            given = [compress(values_of(kept[name], 0, block.rows), there.tolist()) for name in _ANSWER[:2]]
            columns = [packed(Kind.TEXT, [None if one is None else one.decode() for one in own]) for own in given]
        columns.append(packed_numbers(Kind.NUMBER, seconds[there], np.flatnonzero(~has_seconds[there])))
        return [*columns, packed_same(Kind.TEXT, None, columns[0].length)], there.astype(np.int64)

    def _runs(self, block: _Block) -> tuple[Columns, Counts]:
        items = block.scanned.items
        assert items is not None
        kept, stages, owners = items.kept, len(STAGES), items.owners
        counts = np.bincount(owners, minlength=stages * block.rows)
        begins = np.cumsum(counts) - counts
        seconds = np.stack([block.times[f"{stage}_time"][0] for stage in STAGES], axis=1).ravel()
        has_seconds = np.stack([block.times[f"{stage}_time"][1] for stage in STAGES], axis=1).ravel()
        scores, has_score = block.scores
        places = []
        if block.place is not None and items.facts is not None:
            file, offset = block.place
            places.append((0, RecordPlaces.of(items.facts, 0, len(owners), offset, file, _TEXTS)))
        are_plain = block.plain[owners // stages]
        columns = [
            RepeatedTexts(self._stages, counts),
            packed_numbers(Kind.INTEGER, np.arange(len(owners)) - begins[owners] + 1),
            texts_between(kept["metadata/id"], 0, len(owners)),
            known_texts_between(kept["text"], items.facts, 0, len(owners), block.share, places, are_plain),
            packed_numbers(Kind.NUMBER, scores, np.flatnonzero(~has_score)),
            packed_numbers(Kind.NUMBER, seconds[owners], np.flatnonzero(~has_seconds[owners])),
            objects_of(kept[REST], are_plain),
        ]
        return columns, counts.reshape(-1, stages).sum(axis=1)

    def _with_others(
        self, table: str, columns: Columns, counts: Counts, order: _Order, share: float
    ) -> tuple[Columns, Counts]:
        """The rows of the plain records alone, with those of the others."""
        own: list[int] = []

        def rows() -> Iterator[Any]:
            for sample in order.others:
                own.append(0)
                for row in self._rows_of(sample, table):
                    own[-1] += 1
                    yield row

        batches = [batch[1:] for batch in row_batches(table, rows(), self._tables[table].losses)]
        own += [0] * (len(order.others) - len(own))  # where one cannot be read
        runs, counts = order.runs(counts, np.array(own, np.int64))
        others = as_one(batches) if batches else [column.rows(0, 0) for column in columns]
        if table in _WITH_FACTS:
            place = [*schema_of(table)].index(COLUMN) - 1
            known = replace(known_of(others[place]), share=share)
            others = [*others[:place], replace(others[place], known=known), *others[place + 1 :]]
        return runs.woven(columns, others), counts

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


def _names(values: Sequence[str | None]) -> PackedColumn:
    """A column of names, with what a report wants to know of them."""
    column = packed(Kind.TEXT, values)
    return replace(column, known=known_of(column))
