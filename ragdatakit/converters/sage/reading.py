"""SAGE files read into canonical tables: every file of records becomes documented records first, then rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ragdatakit.converters import Options
from ragdatakit.converters.free_names import FreeNames
from ragdatakit.converters.sage.documents import document_rows
from ragdatakit.converters.sage.generations import Changed, Fields, Note, pair_of, raw_of, to_documented
from ragdatakit.converters.sage.logs import benchmark_records, dump_records
from ragdatakit.converters.sage.rows import answer_of, has_parts, id_in, question_of, runs_of
from ragdatakit.files.containers import json_text
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.paths.boundary import listed_file
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.tables_together import SharedRows
from ragdatakit.schemas.canonical import Asset, Trace

_AT_ONCE = 1 << 22
"""Bytes of records whose rows are given together."""


class Sample(NamedTuple):
    """A documented record; ``before`` what was in the file where that differs, ``question_id`` unique or None."""

    question_id: str | None
    record: Fields
    before: str | None


def read_sage(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of a dataset: questions, runs, answers, and records as a whole; documents; the mapping as it is."""
    found: dict[str, RowSource] = {}
    if any(dataset.of_kind(kind) for kind in ("records", "benchmark-questions", "benchmark-results", "dumps")):
        group = _Tables(Samples(dataset, records, options))
        found = {table: SharedRows(group, table) for table in ("questions", "runs", "answers", "traces")}
    if dataset.of_kind("documents"):
        found["documents"] = lambda: document_rows(dataset.of_kind("documents"), records)
    if dataset.of_kind("mapping"):
        found["assets"] = lambda: (Asset(f.name, listed_file(f.path)) for f in dataset.of_kind("mapping"))
    return found


class _Tables:
    """The tables that are made of records."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of one table."""
        for sample in self._samples.read(whole=table == "traces"):
            yield from self._made_of(sample, table, self._samples.tell)

    def together(self, tables: Collection[str]) -> Iterator[Mapping[str, Sequence[Any]]]:
        """The rows of several. What is said of runs comes after what is said of questions, as if they were read
        after them."""
        later: list[tuple[Any, ...]] = []
        made: dict[str, list[Any]] = {table: [] for table in tables}
        size = 0
        for sample in self._samples.read(whole=set(tables) == {"traces"}):
            for table in tables:
                made[table] += self._made_of(sample, table, lambda *loss: later.append(loss))
            size += sum(memoryview(value).nbytes for value in sample.record.values())
            if size > _AT_ONCE:
                yield made
                made, size = {table: [] for table in tables}, 0
        yield made
        for loss in later:
            self._samples.tell(*loss)

    @staticmethod
    def _made_of(sample: Sample, table: str, tell: Callable[..., None]) -> Iterable[Any]:
        record, question_id = sample.record, sample.question_id
        if table == "runs":
            return runs_of(record, question_id, tell)
        if table == "questions":
            return (question_of(record, question_id),)
        if table == "traces":
            return (Trace(question_id, _text(record), sample.before),)
        answer = answer_of(record, question_id)
        return (answer,) if answer is not None else ()


def _text(record: Fields) -> str:
    return json_text.object_text(record) or "{}"


def _made_of(changed: Changed, source: str) -> Changed:
    """Names are not older ones there, but others: one note will do."""
    notes = [note for note in changed.notes if note.kind != "derived"]
    return Changed(changed.record, [*notes, Note("derived", None, f"made of the entries of {source}")])


class Samples:
    """All records of a dataset; they may be read more than once, and what is to be said of them is said once."""

    def __init__(self, dataset: Dataset, records: RecordReader, options: Options) -> None:
        self._dataset = dataset
        self._records = records
        self._stage = str(options["results-stage"])
        self._pair: str | None = options["pair"]
        self._keep = bool(options["keep-original"])
        self._complete = bool(options["complete-stages"])
        self._noted_keys: set[object] = set()
        self._noted = 0

    def tell(self, key: object, *loss: Any) -> None:
        """Note a loss, unless that of this key was noted already."""
        if key not in self._noted_keys:
            self._noted_keys.add(key)
            self._records.losses.add(*loss)

    def read(self, whole: bool = False) -> Iterator[Sample]:
        """The records with their questions' ids, in the order of the files; ``whole``: they themselves are what counts.

        Then nothing is said of ids that were made up or changed.
        """
        free = FreeNames(form="{}#{}")
        for number, (changed, before) in enumerate(self._all(), 1):
            if number > self._noted:
                self._noted = number
                for note in changed.notes:
                    self._records.losses.add(note.kind, "records", note.column, note.reason, note.example or None)
            yield Sample(self._question_id(changed.record, number, free, whole), changed.record, before)

    def _question_id(self, record: Fields, number: int, free: FreeNames, whole: bool) -> str | None:
        found = id_in(record.get("question"))
        if found is None and not has_parts(record):
            return None
        if found is None:
            found = f"record-{number}"
            reason = "records without question.id are called by their place"
            if not whole:
                self.tell(("id", number), "derived", "questions", "question_id", reason, found)
        unique = free(found)
        if unique != found and not whole:
            reason = "another record had this question.id before"
            self.tell(("id", number), "renumbered", "questions", "question_id", reason, f"{found} became {unique}")
        return unique

    def _all(self) -> Iterator[tuple[Changed, str | None]]:
        yield from self._of_records()
        of_kind = self._dataset.of_kind
        questions, results = of_kind("benchmark-questions"), of_kind("benchmark-results")
        for place, changed in benchmark_records(questions, results, self._records):
            if "query" in changed.record:
                yield _made_of(changed, "a benchmark file"), None
            else:
                self._refuse(place, "a benchmark result without a question", _text(changed.record))
        for _, changed in dump_records(of_kind("dumps"), self._records, self._refuse):
            yield _made_of(changed, "profiling dumps"), None

    def _refuse(self, place: str, why: str, text: str) -> None:
        self.tell(place, "dropped", "records", None, why, text)

    def _of_records(self) -> Iterator[tuple[Changed, str | None]]:
        for file in self._dataset.of_kind("records"):
            for number, value in enumerate(self._records.objects_and_arrays(file), 1):
                place = f"{file.display}, record {number}"
                fields = value if isinstance(value, dict) else pair_of(value, self._pair, place)
                if fields is None:
                    self._refuse(
                        place, "an array that is not a pair of query and documents or answer", str(raw_of(value))
                    )
                    continue
                changed = to_documented(fields, place, self._stage, self._complete)
                if changed.record is value:
                    yield changed, None
                    continue
                whole = _text(value) if isinstance(value, dict) else json_text.compact(raw_of(value))
                if self._keep and "input" not in changed.record:
                    changed.record["input"] = json_text.Raw(whole.encode())
                yield changed, whole
