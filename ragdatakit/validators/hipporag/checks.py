"""The checks of HippoRAG data that its declaration cannot say: passages, and which module checks which file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.hipporag.passages import (
    CORPUS_END,
    corpus_of,
    joiner_of,
    passage_id,
    passage_text,
    set_name,
    set_of_results,
)
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning, not_compared
from ragdatakit.validators.hipporag.embeddings import embedding_problems
from ragdatakit.validators.hipporag.known_passages import KnownPassages
from ragdatakit.validators.hipporag.openie import ResultsCheck
from ragdatakit.validators.hipporag.questions import question_problems
from ragdatakit.validators.lacking import missing_file
from ragdatakit.validators.python_keys import PythonBatch
from ragdatakit.validators.row_problems import RowProblems, unreliable_keys

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.scanner.long_records import Items, ScannedItems
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.coded_columns import ScannedCodes
    from ragdatakit.validators.csv_parts import CsvTable

CORPORA = ("corpus", "legacy-corpus")
_NOT_FOUND = {"gold-passage-not-in-corpus", "paragraph-not-in-corpus", "results-without-passage"}


class HippoRagChecks(FormatChecks):
    """Corpora are read first; questions and OpenIE results are compared with the one of their name."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._passages: dict[str, KnownPassages] = {}
        self._keyless: dict[str, tuple[str, list[int]]] = {}  # by data set, rows of a kind that are no passage
        self._missed: set[str] = set()
        self._unchecked: set[str] = set()
        self._name = ""
        self._place = 0
        self._results = ResultsCheck()

    def _known(self, name: str | None) -> KnownPassages | None:
        """The codes of a data set's passages; None where it has no corpus, or one not read to its end."""
        return None if name is None or not self._is_whole(name) else self._passages.get(name) or None

    def _is_whole(self, name: str) -> bool:
        return all(file.to_end for file in corpus_of(name, self.dataset))

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """All records have something that the declaration does not say; the passages are remembered, and go to those
        who judge questions. Results are compared with each other: a file of them is judged as a whole."""
        in_ranges, carried = kind in (*CORPORA, "questions"), ("_passages",) * (kind == "questions")
        return Needs(
            records=in_ranges or kind == "openie", values=kind in CORPORA, in_ranges=in_ranges, carried=carried
        )

    def state(self, file: DataFile) -> tuple[set[str], set[str]]:
        """The data sets of which passages were not found, or could not be looked up."""
        return self._missed, self._unchecked

    def merge(self, file: DataFile, states: Sequence[tuple[set[str], set[str]]]) -> None:
        """All of them."""
        for missed, unchecked in states:
            self._missed |= missed
            self._unchecked |= unchecked

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one passage, of one question, or of a whole file of results."""
        if not isinstance(value, dict):
            return ()
        if file.kind in CORPORA:
            return _passage_problems(value)
        if file.kind == "questions":
            name: str | None = self._name
            problems = question_problems(value, joiner_of(self._name), self._known(name))
        else:
            name = self._set_of_results(file)
            problems = self._results.problems(value, self._known(name))
        return self._noted(name, list(problems))

    def _set_of_results(self, file: DataFile) -> str | None:
        return set_of_results(file.name, list(self._passages))

    def _items(self, file: DataFile) -> Items:
        """The results of the passages; those of passages that are not in the corpus, or have some already, are looked
        at."""
        from ragdatakit.validators.hipporag.predicates import DOCS

        name = self._set_of_results(file)
        known = self._known(name)
        codes = known.codes() if known is not None else None

        def problems(items: ScannedItems) -> list[Problem]:
            return self._noted(name, list(self._results.items_problems(items, known)))

        return replace(DOCS, known=codes, wanted=self._results.repeated, problems=problems)

    def _noted(self, name: str | None, problems: list[Problem]) -> list[Problem]:
        """The problems; it is noted that a passage of this data set was not found, or that none could be looked up."""
        if name is not None and not _NOT_FOUND.isdisjoint(problem.rule for problem in problems):
            self._missed.add(name)
        self._note_unchecked(name)
        return problems

    def _note_unchecked(self, name: str | None) -> None:
        if name is not None and not self._is_whole(name):
            self._unchecked.add(name)

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        """``@passage``: the passage, or its id; ``@id``: the question's; both are unique within their ``@set``."""
        if kind == "questions":
            return {"@set": self._name, "@id": _question_key(value)}
        passage = self._passage(kind, value)
        return {"@set": self._name, "@passage": passage_id(passage) if to_show and passage is not None else passage}

    def scanning(self, file: DataFile) -> Scanning:
        """Passages, by what is indexed of them, and their places for `batch`; questions, by their ids, and the passages
        that they bring along, which are looked up in the corpus; results item by item.
        """
        from ragdatakit.validators.hipporag.predicates import JOINED, PASSAGES, questions

        if file.kind == "corpus":
            return Scanning(PASSAGES, {"@passage": "@passage"}, ("idx",), self._derive_of_passages)
        if file.kind == "questions":
            asked = questions(joiner_of(self._name))
            return Scanning(asked, {"@id": "@id"}, JOINED, self._derive_of_questions, self._known_codes)
        return Scanning(items=partial(self._items, file) if file.kind == "openie" else None)

    def _known_codes(self) -> Mapping[str, Any]:
        from ragdatakit.validators.hipporag.predicates import JOINED

        known = self._known(self._name)
        return dict.fromkeys(JOINED, known.codes()) if known is not None else {}

    def _derive_of_passages(self, given: Mapping[str, ScannedCodes], batch: Any) -> None:
        self._name_set(batch)
        batch.columns["@idx"], batch.valid["@idx"] = given["idx"]

    def _derive_of_questions(self, given: Mapping[str, ScannedCodes], batch: Any) -> None:
        self._name_set(batch)
        self._note_unchecked(self._name if batch.length > batch.left_open else None)

    def _name_set(self, batch: Any) -> None:
        """The data set, the same for all records of a file."""
        import numpy as np

        from ragdatakit.arrays.text_codes import codes_of_texts

        batch.columns["@set"] = np.repeat(codes_of_texts([self._name]), batch.length)
        batch.valid["@set"] = None

    def _passage(self, kind: str, value: Any) -> str | None:
        if not isinstance(value, dict) or not isinstance(value.get("title"), str):
            return None
        text = value.get("text")
        if kind == "legacy-corpus":
            sentences = value.get("sentences")
            usable = isinstance(sentences, list) and all(isinstance(s, str) for s in sentences)
            text = joiner_of(self._name).join(sentences) if isinstance(sentences, list) and usable else None
        return passage_text(value["title"], text) if isinstance(text, str) else None

    def batch(
        self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any
    ) -> Iterable[RowProblems]:
        """Remember the passages; idx that are no places."""
        if kind not in CORPORA:
            return
        is_coded = not isinstance(batch, PythonBatch)
        known = self._passages.setdefault(self._name, KnownPassages())
        has_codes = is_coded and kind == "corpus"  # passages of the legacy corpus are no key: only their titles are
        keyless = batch.without("@passage") if has_codes else []
        if has_codes:
            known.add_codes(batch.codes(("@passage",))[0])
        passages = {} if has_codes else {row: self._passage(kind, value) for row, value in enumerate(values or ())}
        keyless += [batch.first_row + row for row, passage in passages.items() if passage is None]
        known.add([passage for passage in passages.values() if passage is not None], is_coded)
        if keyless:
            self._keyless.setdefault(self._name, (kind, []))[1].extend(keyless)
        if kind == "corpus":
            yield self._places(values, batch)

    def _places(self, values: list[Any] | None, batch: Any) -> RowProblems:
        """The passages that say of themselves that they are at another place; of a batch that was scanned those that
        are not noted have a number, or none."""
        first, seen = self._place, dict(enumerate(values) if values is not None else batch.noted)
        count = len(values) if values is not None else batch.length
        self._place += count
        rows = {row for row, value in seen.items() if _is_elsewhere(value, first + row)}
        if values is None:
            import numpy as np

            elsewhere = batch.columns["@idx"].view(np.int64) != np.arange(first, first + count)
            if batch.valid["@idx"] is not None:
                elsewhere &= batch.valid["@idx"]
            rows |= set(np.flatnonzero(elsewhere).tolist()) - seen.keys()
        found = sorted(rows)
        facts = [{"expected": first + row} for row in found]
        return RowProblems("idx-out-of-order", "corpus", "idx", [batch.first_row + row for row in found], facts=facts)

    def start(self) -> Iterator[Placed]:
        """Questions without a corpus, where they are looked at as a dataset."""
        if self.dataset.layout == "file":
            return
        for file in self.dataset.of_kind("questions"):
            name = set_name(file.name)
            if not corpus_of(name, self.dataset):
                expected = f"{name}{CORPUS_END}"
                problem = Problem("questions-without-corpus", facts={"expected": expected})
                missing_file(problem, file.path.parent, expected, (other.path for other in self.dataset.files))
                if "beside" not in problem.facts and (corpus := self._without_questions()):
                    questions = f"{set_name(corpus)}.json"
                    is_named = corpus.endswith(CORPUS_END)
                    problem.facts["beside"] = f" (there is {corpus}{f', whose questions are {questions}' * is_named})"
                    problem.hint = f"rename {corpus} to {expected}"
                    if is_named:
                        problem.hint = f"rename one of the two, such as {file.path.name} to {questions}"
                yield file, problem

    def _without_questions(self) -> str:
        """The name of a corpus without questions."""
        asked = {set_name(file.name) for file in self.dataset.of_kind("questions")}
        corpora = (f for kind in CORPORA for f in self.dataset.of_kind(kind))
        return next((f.path.name for f in corpora if set_name(f.name) not in asked), "")

    def start_file(self, file: DataFile) -> None:
        """From here on records are of this file's data set."""
        self._name = set_name(file.name)
        self._place = 0
        if file.kind in CORPORA:
            self._passages.setdefault(self._name, KnownPassages())

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        """What is reported of a file as a whole."""
        if file.kind == "legacy-corpus":
            yield file, Problem("legacy-corpus")
        elif file.kind == "openie" and file.readable:
            if records > 1 or json_container(file.path, file.boundary) == "json-array":
                yield file, Problem("openie-as-list")
            for problem in self._results.finish():
                yield file, problem

    def finish(self) -> Iterator[Placed | RowProblems]:
        """Passages that could not be read, where some are not found; corpora that nothing could be compared with; and
        what an index left behind."""
        for name in sorted(self._missed & self._keyless.keys()):
            kind, rows = self._keyless[name]
            yield unreliable_keys(kind, "", min(rows), len(set(rows)))
        yield from not_compared(f for name in sorted(self._unchecked) for f in corpus_of(name, self.dataset))
        for file in self.dataset.of_kind("graph"):
            yield file, Problem("pickled-graph")
        for file in self.dataset.of_kind("embeddings"):
            if file.readable:
                for problem in embedding_problems(file):
                    yield file, problem


def _is_elsewhere(value: Any, place: int) -> bool:
    idx = value.get("idx", place) if isinstance(value, dict) else place
    return idx != place or isinstance(idx, bool)


def _question_key(value: Any) -> str | None:
    found = value.get("id", value.get("_id")) if isinstance(value, dict) else None
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else None


def _passage_problems(value: dict[str, Any]) -> Iterator[Problem]:
    for field in ("title", "text"):
        found = value.get(field)
        if isinstance(found, str) and not found.strip():
            yield Problem("blank-passage", f"/{field}", found, {"field": field})
    sentences = value.get("sentences")
    if isinstance(sentences, list) and not any(isinstance(s, str) and s.strip() for s in sentences):
        blank = all(isinstance(s, str) for s in sentences)
        if blank:
            yield Problem("blank-passage", "/sentences", None, {"field": "sentences"})
