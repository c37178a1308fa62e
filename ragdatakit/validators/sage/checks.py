"""The checks of SAGE files that their declaration cannot say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.paths.folders import size_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning, not_compared
from ragdatakit.validators.sage.files import (
    COMPARED_BYTES,
    Documents,
    benchmark_problems,
    document_id,
    document_problems,
    dump_problems,
    mapping_problems,
)
from ragdatakit.validators.sage.keys import DOCUMENTED, generation, key_problems
from ragdatakit.validators.sage.older import older_problems
from ragdatakit.validators.sage.operators import gold_problems, operator_problems
from ragdatakit.validators.sage.record import answer_problems, question_problems
from ragdatakit.validators.sage.refining import refining_problems
from ragdatakit.validators.sage.stages import STAGE_KEYS, prompt_problems, stage_problems, stages_of
from ragdatakit.validators.sage.times import STAGE_OF_TIME, time_problems

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.coded_columns import ScannedCodes
    from ragdatakit.validators.csv_parts import CsvTable

QUESTION_ID = "question/id"
_WITH_STAGES = frozenset(("query", "references", "prompt", "generated", *STAGE_KEYS))
"""Members that rules compare with the stages of a record."""
_CALLED = {
    "documented": "as documented",
    "operators": "as today's operators write them",
    "older": "older than the documentation",
}


class SageChecks(FormatChecks):
    """Records one by one, and with the documents next to them; the other files."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._operators = "operators" in profiles
        self._unified = "unified" in profiles
        self._generations: Counter[str] = Counter()
        self._documents = Documents() if self._compares() else None
        self._document_count: int | None = None

    def _compares(self) -> bool:
        files = self.dataset.of_kind("documents")
        return len(files) == 1 and bool(self.dataset.of_kind("records")) and size_of(files[0].path) <= COMPARED_BYTES

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """Benchmark questions are declared in full; documents are kept for the results that name them.

        Records that are compared with documents are judged with what is known of them, a mapping with their number.
        """
        values = kind == "documents" and self._documents is not None
        carried = {"records": ("_documents",), "mapping": ("_document_count",)}.get(kind, ())
        return Needs(
            records=kind != "benchmark-questions", values=values, batches=values, in_ranges=True, carried=carried
        )

    def state(self, file: DataFile) -> Any:
        """How many records there are of each generation."""
        return self._generations

    def merge(self, file: DataFile, states: Sequence[Any]) -> None:
        """Count them together."""
        for generations in states:
            self._generations.update(generations)

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one record of any kind."""
        if file.kind == "records":
            return self._record(value) if isinstance(value, dict) else ()
        if file.kind == "documents":
            return document_problems(value)
        if file.kind == "mapping":
            return mapping_problems(value, self._document_count)
        if file.kind == "benchmark-results":
            return benchmark_problems(value)
        return dump_problems(value)

    def _record(self, record: dict[str, Any], members: frozenset[str] = DOCUMENTED) -> Iterator[Problem]:
        """The faults of a record; ``members``: where not all of them are given, as of `Scanning.in_part`."""
        self._generations[generation(record)] += 1
        is_whole = members is DOCUMENTED
        if not members.isdisjoint(("query", "question")):
            yield from question_problems(record)
        if is_whole:
            yield from key_problems(record)
        if not members.isdisjoint(("question", "references", "generated")):
            yield from answer_problems(record)
        stages = stages_of(record) if not members.isdisjoint(_WITH_STAGES) else None
        if stages is not None and not members.isdisjoint(STAGE_KEYS):
            yield from stage_problems(record, stages, members, operators_only=not self._unified)
        if stages is not None and "refining_results" in members:
            yield from refining_problems(stages.refining, self._operators)
        if not members.isdisjoint(STAGE_OF_TIME):
            yield from time_problems(record, self._operators)
        if is_whole:
            yield from older_problems(record)
        if stages is None:
            return
        if self._unified:
            yield from prompt_problems(record, stages)
            yield from gold_problems(record, stages)
        if self._operators:
            yield from operator_problems(record, stages)
        if self._documents is not None:
            yield from self._documents.problems(stages)

    def scanning(self, file: DataFile) -> Scanning:
        """Documents that are not kept; records as they are documented, where there are no documents to compare with.
        Keys are the id of a document, and that of a record's question.
        """
        from ragdatakit.validators.sage.predicates import DOCUMENTS, RECORDS

        compared = self._documents is not None
        if file.kind == "documents":
            return Scanning(None if compared else DOCUMENTS, {"@id": "id"})
        texts = {"@question_id": QUESTION_ID}
        if file.kind != "records":
            return Scanning(None, texts)
        asked = None if compared or self._operators else RECORDS
        return Scanning(asked, texts, (QUESTION_ID,), _derive_records, in_part=self._record)

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        """The id of a document, and of the sample in a record's question; numbers by their digits. A record without
        such an id is compared as a whole.
        """
        if kind == "documents":
            return {"@id": document_id(value)}
        question = value.get("question") if isinstance(value, dict) else None
        key = document_id(question)
        whole = repr(value) if key is None and isinstance(value, dict) else None
        return {"@question_id": key, "@record": whole}

    def batch(self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any) -> Iterable[Any]:
        """Take in the documents, in order."""
        if kind == "documents" and self._documents is not None:
            for value in values or ():
                self._documents.add(value)
        return ()

    def start(self) -> Iterator[Placed]:
        """Documents that are no lines."""
        for file in self.dataset.of_kind("documents"):
            container = json_container(file.path, file.boundary)
            if container == "json-array":
                yield file, Problem("documents-as-array")
            elif container == "json-single":
                yield file, Problem("document-not-json", facts={"reason": "one object over several lines"})

    def start_file(self, file: DataFile) -> None:
        """Each file has generations of its own."""
        self._generations.clear()

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        """How many documents there are, and whether there is anything; records of another generation."""
        if not records and file.readable and file.kind != "mapping":
            yield file, Problem("empty-file", facts={"kind": file.kind})
        if file.kind == "documents":
            loaded = records if self._documents is None else self._documents.count
            are_whole = all(f.to_end for f in self.dataset.of_kind("documents"))
            self._document_count = (self._document_count or 0) + loaded if are_whole else None
            if self._documents is not None:
                self._documents.whole = file.readable
        expected = {"documented"} if self._unified else {"operators"}
        for name in _CALLED if file.kind == "records" else ():
            if self._generations[name] and name not in expected and not (self._operators and name == "operators"):
                facts = {"count": self._generations[name], "records": records, "generation": _CALLED[name]}
                yield file, Problem("records-of-another-generation", facts=facts)

    def finish(self) -> Iterable[Placed]:
        """Documents that nothing could be compared with."""
        is_referred_to = self.dataset.of_kind("records") or self.dataset.of_kind("mapping")
        return not_compared(self.dataset.of_kind("documents")) if is_referred_to else ()


def _derive_records(given: Mapping[str, ScannedCodes], batch: Any) -> None:
    """No record that was proved is compared as a whole: all of them have an id."""
    codes = given[QUESTION_ID][0]
    batch.columns["@record"], batch.valid["@record"] = codes, codes != codes
