"""SAGE records of any file as documented ones, called by the ids of their questions, and the rows that they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ragdatakit.converters import Options
from ragdatakit.converters.free_names import FreeNames
from ragdatakit.converters.sage.generations import Changed, Fields, Note, pair_of, raw_of, to_documented
from ragdatakit.converters.sage.logs import benchmark_records, dump_records
from ragdatakit.converters.sage.rows import answer_of, has_parts, id_in, question_of, runs_of
from ragdatakit.files.containers import json_text
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.canonical import Trace
from ragdatakit.schemas.conversions import LossKind


class Sample(NamedTuple):
    """A documented record; ``before`` what was in the file where that differs, ``question_id`` unique or None."""

    question_id: str | None
    record: Fields
    before: str | None


def rows_of(sample: Sample, table: str, tell: Callable[..., None]) -> Iterable[Any]:
    """The rows of a table that a record gives."""
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


class Naming:
    """Calls the questions of records, one after the other, by ids that no other one has. ``tell`` reports those that
    are made up or changed, if there is one."""

    def __init__(self, tell: Callable[..., None] | None) -> None:
        self.number = 0
        self._tell = tell
        self._free = FreeNames(form="{}#{}")

    def id_of(self, record: Fields) -> str | None:
        """The id for the next record; None where nothing needs one."""
        found = id_in(record.get("question"))
        if found is not None:
            return self.unique(found)
        if not has_parts(record):
            self.number += 1
            return None
        found = f"record-{self.number + 1}"
        if self._tell is not None:
            reason = "records without question.id are called by their place"
            self._tell(("id", self.number + 1), "derived", "questions", "question_id", reason, found)
        return self.unique(found)

    def unique(self, found: str) -> str:
        """The same, of a record whose question has this id."""
        self.number += 1
        unique = self._free(found)
        if unique != found and self._tell is not None:
            reason = "another record had this question.id before"
            said = f"{found} became {unique}"
            self._tell(("id", self.number), "renumbered", "questions", "question_id", reason, said)
        return unique

    def each_unique(self, found: Sequence[str]) -> Sequence[str]:
        """The same of several records, one after the other."""
        if not self._free.takes_all(found):
            return [self.unique(one) for one in found]
        self.number += len(found)
        return found


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

    def tell(
        self,
        key: object,
        kind: LossKind,
        table: str,
        column: str | None,
        reason: str,
        example: object = None,
        place: str = "",
    ) -> None:
        """Note a loss, unless that of this key was noted already."""
        if key not in self._noted_keys:
            self._noted_keys.add(key)
            self._records.losses.add(kind, table, column, reason, example, place=place)

    def read(self, whole: bool = False) -> Iterator[Sample]:
        """The records with their questions' ids, in the order of the files; ``whole``: they themselves are what counts.

        Then nothing is said of ids that were made up or changed.
        """
        naming = Naming(None if whole else self.tell)
        for changed, before in self._all():
            yield self._sample(changed, before, naming)

    def _sample(self, changed: Changed, before: str | None, naming: Naming) -> Sample:
        question_id = naming.id_of(changed.record)
        if naming.number > self._noted:
            self._noted = naming.number
            for note in changed.notes:
                self._records.losses.add(note.kind, "records", note.column, note.reason, note.example or None)
        return Sample(question_id, changed.record, before)

    def sample_of(
        self, file: DataFile, place: int, value: Fields | list[json_text.Raw], naming: Naming
    ) -> Sample | None:
        """The next record, which is at this place of its file; None where it is left out."""
        found = self._of_value(file, place, value)
        return self._sample(*found, naming) if found is not None else None

    def heard(self, records: RecordReader) -> Samples:
        """The same, with all that was said by a reader of which nobody had heard until now."""
        self._records = records
        return self

    def _all(self) -> Iterator[tuple[Changed, str | None]]:
        yield from self._of_records()
        of_kind = self._dataset.of_kind
        questions, results = of_kind("benchmark-questions"), of_kind("benchmark-results")
        for place, changed in benchmark_records(questions, results, self._records, self._refuse):
            if "query" in changed.record:
                yield _made_of(changed, "a benchmark file"), None
            else:
                self._refuse(place, "a benchmark result without a question", _text(changed.record))
        for _, changed in dump_records(of_kind("dumps"), self._records, self._refuse):
            yield _made_of(changed, "profiling dumps"), None

    def _refuse(self, place: str, why: str, text: str) -> None:
        self.tell(place, "dropped", "records", None, why, text, place)

    def _of_records(self) -> Iterator[tuple[Changed, str | None]]:
        for file in self._dataset.of_kind("records"):
            for place, value in self._records.objects_and_arrays(file):
                found = self._of_value(file, place, value)
                if found is not None:
                    yield found

    def _of_value(
        self, file: DataFile, place: int, value: Fields | list[json_text.Raw]
    ) -> tuple[Changed, str | None] | None:
        where = self._records.where(file, place)
        fields = value if isinstance(value, dict) else pair_of(value, self._pair, where)
        if fields is None:
            self._refuse(
                where, "an array that is not a pair of query and documents or answer", json_text.compact(raw_of(value))
            )
            return None
        changed = to_documented(fields, where, self._refuse, self._stage, self._complete)
        if changed is None:
            return None
        if changed.record is value:
            return changed, None
        whole = _text(value) if isinstance(value, dict) else json_text.compact(raw_of(value))
        if self._keep and "input" not in changed.record:
            changed.record["input"] = json_text.Raw(whole.encode())
        return changed, whole
