"""The checks of contextual-retrieval data: which module judges which file, and what they know of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning, not_compared
from ragdatakit.validators.contextual_retrieval.corpus import Corpus, is_index
from ragdatakit.validators.contextual_retrieval.questions import question_problems
from ragdatakit.validators.contextual_retrieval.stores import context_problems, stored_problems, vector_problems
from ragdatakit.validators.row_problems import RowProblems, unreliable_keys

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.csv_parts import CsvTable

_VECTORS = ("vectors", "contextual-vectors")
_NOT_FOUND = {"golden-chunk-not-in-corpus", "context-without-chunk"}


class ContextualRetrievalChecks(FormatChecks):
    """Documents are read first; contexts, questions and vectors are compared with their chunks."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._corpus = Corpus()
        self._stored: set[int] = set()
        self._missed = self._unchecked = self._nameless = False

    def _known(self) -> Corpus | None:
        """The corpus; None where there is none, or one that was not read to its end."""
        files = self.dataset.of_kind("documents")
        if all(file.to_end for file in files):
            return self._corpus if self._corpus.chunks else None
        self._unchecked = True
        return None

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """All records have something that the declaration does not say; the chunks of the corpus are remembered, and
        go to those who judge contexts and questions. The ids of chunks are looked for in all documents before: these
        are judged as a whole."""
        is_document, compared = kind == "documents", kind in ("contexts", "questions")
        return Needs(
            records=is_document or compared,
            values=is_document,
            batches=is_document,
            in_ranges=compared,
            carried=("_corpus",) * compared,
        )

    def state(self, file: DataFile) -> tuple[set[int], bool, bool, bool]:
        """The chunks that are stored; what was not found, not compared, or has no name."""
        return self._stored, self._missed, self._unchecked, self._nameless

    def merge(self, file: DataFile, states: Sequence[tuple[set[int], bool, bool, bool]]) -> None:
        """All of them."""
        for stored, missed, unchecked, nameless in states:
            self._stored |= stored
            self._missed |= missed
            self._unchecked |= unchecked
            self._nameless |= nameless

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one document with its chunks, of one chunk with its context, of one question."""
        if not isinstance(value, dict):
            return ()
        if file.kind == "documents":
            return self._corpus.problems(value)
        return self._compared(file.kind, value)

    def scanning(self, file: DataFile) -> Scanning:
        """Documents whose chunks are as most are, are not decoded, unless a chunk of another document of the part is
        called as if it were theirs."""
        if file.kind != "documents":
            return Scanning()
        from ragdatakit.scanner.library import library
        from ragdatakit.validators.contextual_retrieval.scanned_documents import ASKED, MADE_OF, derive

        self._corpus.scanned = library() is not None
        return Scanning(ASKED, made_of=MADE_OF, derive=derive, takes=self._corpus.takes)

    def _compared(self, kind: str, value: dict[str, Any]) -> Iterator[Problem]:
        """What is wrong with a question, or a chunk with its context, also next to the corpus."""
        known = self._known()
        found = question_problems(value, known) if kind == "questions" else context_problems(value)
        stored = () if known is None or kind == "questions" else stored_problems(value, known, self._stored)
        for problem in chain(found, stored):
            self._missed = self._missed or problem.rule in _NOT_FOUND
            yield problem

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        """``@place``: the document and the index of a chunk, by which hybrid search finds it."""
        if kind != "contexts":
            return {}
        doc_id, index = (value.get("doc_id"), value.get("original_index")) if isinstance(value, dict) else (None, None)
        if not isinstance(doc_id, str) or not is_index(index):
            self._nameless = True
            return {"@place": None}
        return {"@place": f"[{doc_id}, {index}]"}

    def batch(
        self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any
    ) -> Iterator[RowProblems]:
        """Remember the chunks of the corpus; those whose text appeared before."""
        if kind == "documents" and values is None:
            yield from self._corpus.take(batch)
        elif kind == "documents":
            for row, value in enumerate(values or (), batch.first_row):
                yield from self._corpus.remember(row, value)

    def finish_file(
        self, file: DataFile, records: int, table: CsvTable | None = None
    ) -> Iterable[Placed | RowProblems]:
        """What is reported of a file as a whole."""
        return [(file, Problem("packed-file"))] if file.path.name.endswith(".gz") else ()

    def finish(self) -> Iterator[Placed | RowProblems]:
        """Documents without keys, chunks without a context, a corpus that was not compared, and the vectors."""
        if self._missed and self._corpus.keyless:
            yield unreliable_keys("documents", "", min(self._corpus.keyless), len(set(self._corpus.keyless)))
        known = self._known()
        contexts = self.dataset.of_kind("contexts")
        if known is not None and self._stored and not self._nameless and all(file.readable for file in contexts):
            missing = len(known.chunks.keys() - self._stored)
            if missing:
                facts = {"missing": missing, "chunks": len(known.chunks)}
                yield contexts[0], Problem("chunk-without-context", facts=facts)
        if self._unchecked and self.dataset.of_kind("questions"):
            yield from not_compared(self.dataset.of_kind("documents"))
        for kind in _VECTORS:
            for file in self.dataset.of_kind(kind):
                if file.readable:
                    for problem in vector_problems(file, known):
                        yield file, problem
