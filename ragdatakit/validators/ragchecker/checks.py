"""The checks of RAGChecker files that their declaration cannot say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.files.texts.codes import code_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs, not_compared
from ragdatakit.validators.ragchecker.groups import GroupMeans, group_problems
from ragdatakit.validators.ragchecker.rows import is_sound, metric_problems, row_problems

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.csv_parts import CsvTable

_CORPORA = ("corpus", "chunks")
_READ = "results"
"""The member of the file that the tool reads."""


class RagCheckerChecks(FormatChecks):
    """Corpus, chunks and queries are read first; the rows of results are compared with them.

    Ids are kept as texts, texts as codes of 64 bits.
    """

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._file = ""
        self._documents: set[str] = set()
        self._chunks: set[int] = set()
        self._queries: dict[str, set[int]] = {}
        self._keyless: set[str] = set()
        self._means = GroupMeans()

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """Rows have something that the declaration does not say; corpora and queries are remembered, which rows are
        compared with; they go to those who judge rows."""
        remembered = kind != "results"
        carried = () if remembered else ("_documents", "_chunks", "_queries", "_keyless")
        return Needs(records=not remembered, values=remembered, batches=remembered, in_ranges=True, carried=carried)

    def state(self, file: DataFile) -> GroupMeans:
        """The metrics of the rows."""
        return self._means

    def merge(self, file: DataFile, states: Sequence[GroupMeans]) -> None:
        """Those of all rows, in their order."""
        for means in states:
            self._means.extend(means)

    def record(self, file: DataFile, value: Any) -> Iterator[Problem]:
        """The faults of one row, which may be millions."""
        if not isinstance(value, dict):
            return
        rules: set[str] = set()
        for problem in row_problems(value):
            rules.add(problem.rule)
            yield problem
        sound = is_sound(value, rules)
        yield from metric_problems(value, sound)
        self._means.add(value, sound)
        yield from self._compared(value)

    def batch(self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any) -> Iterable[Any]:
        """Remember corpora and queries."""
        for value in values or ():
            fields = value if isinstance(value, dict) else {}
            key = _key(fields.get("query_id" if kind == "queries" else "doc_id"))
            if key is None:
                self._keyless.add(kind)
            elif kind == "queries":
                query = fields.get("query")
                self._queries.setdefault(key, set()).update({code_of(query)} if isinstance(query, str) else ())
            else:
                self._documents.add(key)
                if kind == "chunks" and isinstance(fields.get("text"), str):
                    self._chunks.add(code_of(key, fields["text"]))
        return ()

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        """``@file``: ids are unique within a file; ``@query_id``: one that is not a text as one."""
        fields = value if isinstance(value, dict) else {}
        return {"@file": self._file, "@query_id": _key(fields.get("query_id"))}

    def start_file(self, file: DataFile) -> None:
        """From here on records are of this file."""
        self._file = file.name
        self._means = GroupMeans()

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        """What is around the rows."""
        if file.kind != "results":
            return
        if file.wrapper and file.wrapper != _READ and records:
            yield file, Problem("no-results")
        means = self._means.means(records) if file.to_end and file.readable else {}
        for element in file.around:
            if element.raw.startswith(b'"metrics"'):
                for problem in group_problems(element, means):
                    yield file, problem

    def finish(self) -> Iterable[Placed]:
        """Corpora and queries that nothing could be compared with."""
        others = (file for file in self.dataset.files if file.kind != "results")
        return not_compared(others) if self.dataset.of_kind("results") else ()

    def _usable(self, *kinds: str) -> bool:
        """Whether there are files of these kinds, all read to the end, every record of which has its id."""
        files = [file for kind in kinds for file in self.dataset.of_kind(kind)]
        return bool(files) and all(f.to_end for f in files) and self._keyless.isdisjoint(kinds)

    def _compared(self, row: dict[str, Any]) -> Iterator[Problem]:
        """The row next to the queries and the corpus, where they are there."""
        key, query = _key(row.get("query_id")), row.get("query")
        if key is not None and self._usable("queries"):
            if key not in self._queries:
                yield Problem("query-not-in-queries", "/query_id", row["query_id"])
            elif isinstance(query, str) and code_of(query) not in self._queries[key]:
                yield Problem("query-unlike-queries", "/query", row["query_id"])
        if not self._usable(*_CORPORA):
            return
        passages = row.get("retrieved_context")
        for i, passage in enumerate(passages if isinstance(passages, list) else ()):
            doc_id = _key(passage.get("doc_id")) if isinstance(passage, dict) else None
            if doc_id is None:
                continue
            if doc_id not in self._documents:
                yield Problem("passage-not-in-corpus", f"/retrieved_context/{i}/doc_id", passage["doc_id"])
            elif self._chunks and isinstance(passage.get("text"), str) and not self._has(doc_id, passage["text"]):
                yield Problem("passage-unlike-chunk", f"/retrieved_context/{i}/text", passage["doc_id"])

    def _has(self, doc_id: str, text: str) -> bool:
        return code_of(doc_id, text) in self._chunks


def _key(value: Any) -> str | None:
    """An id as a text; None where it is neither a text nor a number."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
