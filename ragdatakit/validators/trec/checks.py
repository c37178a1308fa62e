"""The rules of TREC collections that their declaration cannot say: order of results, tags, unknown queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.tagged_text import UNCLOSED
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import Emit, FormatChecks
from ragdatakit.validators.sets import Hits

_IDS = {"documents": "docno", "topics": "num", "topic-lines": "qid"}
_TEXTS = {"documents": "text", "topics": "title", "topic-lines": "text"}
_ONE = {"documents": "document", "topics": "topic", "topic-lines": "topic", "qrels": "judgement", "run": "result"}
_MOST_RESULTS = 1000


class TrecChecks(FormatChecks):
    """Checks of one collection."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._file = ""
        self._topics: dict[str, None] = {}
        self._judged: dict[str, None] = {}
        self._strangers: set[str] = set()
        self._results = _Results()

    def record_checks(self, kind: str) -> bool:
        return kind in _IDS

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        return self._record_problems(file.kind, value) if isinstance(value, dict) else ()

    def _record_problems(self, kind: str, value: dict[str, Any]) -> Iterator[Problem]:
        if UNCLOSED in value:
            yield Problem("unclosed-element", pointer="")
        found, text = value.get(_IDS[kind]), value.get(_TEXTS[kind], "")
        if isinstance(found, str) and found.split() != [found]:
            yield Problem("blank-in-id", pointer=f"/{_IDS[kind]}", value=found)
        if kind == "topics" and not text.strip():
            text = value.get("desc", "")
        if not text.strip():
            yield Problem("blank-text", pointer=f"/{_TEXTS[kind]}" if _TEXTS[kind] in value else "", value=text)

    def needs_values(self, kind: str) -> bool:
        return True

    def key_columns(self, kind: str) -> tuple[str, ...]:
        return ("qid",) if kind in ("qrels", "run") else ()

    def start_file(self, file: DataFile) -> None:
        self._file = file.name
        self._results = _Results()

    def derive(self, kind: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or "docno" not in value or "qid" not in value:
            return {}
        return {"@judged": f"{self._file}\n{value['qid']}\n{value['docno']}"}

    def batch(self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any) -> Iterable[Hits]:
        records = [(batch.first_row + i, v) for i, v in enumerate(values or ()) if isinstance(v, dict)]
        if kind in ("topics", "topic-lines"):
            self._topics.update(dict.fromkeys(v[_IDS[kind]] for _, v in records if _IDS[kind] in v))
            return ()
        if kind == "qrels":
            return [*_nul_in_ids(kind, records), *self._judgements(records)]
        return [*_nul_in_ids(kind, records), *self._of_run(records)] if kind == "run" else ()

    def _judgements(self, records: list[tuple[int, dict[str, Any]]]) -> list[Hits]:
        self._judged.update(dict.fromkeys(v["qid"] for _, v in records))
        unknown = [(row, v["qid"]) for row, v in records if v["qid"] not in self._topics] if self._topics else []
        return [_hits("unknown-topic", "qrels", "qid", unknown)] if unknown else []

    def _of_run(self, records: list[tuple[int, dict[str, Any]]]) -> list[Hits]:
        found = self._results.add([(row, v) for row, v in records if "comment" not in v])
        if self._topics or self._judged:
            strangers = []
            for row, value in records:
                query = value.get("qid", "")
                if query and not (query in self._topics or query in self._judged or query in self._strangers):
                    self._strangers.add(query)
                    strangers.append((row, query))
            if strangers:
                found.append(_hits("unknown-query", "run", "qid", strangers))
        return found

    def finish_file(self, file: DataFile, records: int, emit: Emit) -> None:
        if not records and file.readable:
            emit(file, Problem("empty-file", facts={"record": _ONE[file.kind]}))
        tags = list(self._results.tags)
        if len(tags) > 1:
            emit(file, Problem("several-tags", value=tags[1], facts={"tags": len(tags), "first": tags[0]}))

    def finish(self, emit: Emit) -> None:
        positions = {str(i + 1) for i in range(len(self._topics))}
        if self._topics and self._judged.keys() == positions != self._topics.keys():
            emit(self.dataset.of_kind("qrels")[0], Problem("topics-by-position", facts={"number": len(positions)}))


@dataclass(slots=True)
class _Query:
    """What was seen of a query's results."""

    results: int = 0
    rank: int | None = None
    score: float | None = None


@dataclass(slots=True)
class _Results:
    """The results of one run as they come: each is compared with the one before of its query."""

    tags: dict[str, None] = field(default_factory=dict)
    _queries: dict[str, _Query] = field(default_factory=dict)

    def add(self, records: list[tuple[int, dict[str, Any]]]) -> list[Hits]:
        """Take in results, each with its row; what is wrong with them."""
        found: dict[str, list[tuple[int, Any, dict[str, Any]]]] = {}
        for row, value in records:
            self.tags.setdefault(value["tag"])
            query = self._queries.setdefault(value["qid"], _Query())
            for rule, told, facts in self._compare(query, value):
                found.setdefault(rule, []).append((row, told, facts))
        fields = {"rank-against-score": "rank", "odd-rank": "rank", "equal-scores": "score", "many-results": "qid"}
        return [
            Hits(rule, "run", fields[rule], [h[0] for h in hits], [h[1] for h in hits], facts=[h[2] for h in hits])
            for rule, hits in found.items()
        ]

    def _compare(self, query: _Query, value: dict[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        rank = value["rank"] if isinstance(value["rank"], int) else None
        score = value["score"] if not isinstance(value["score"], str) else None
        query.results += 1
        if rank != query.results:
            yield "odd-rank", value["rank"], {"expected": query.results}
        if score is not None and query.score is not None:
            if score == query.score:
                yield "equal-scores", score, {}
            elif rank is not None and query.rank not in (None, rank) and (rank > query.rank) == (score > query.score):
                better, worse = (rank, query.rank) if score > query.score else (query.rank, rank)
                yield "rank-against-score", rank, {"rank": better, "before": worse}
        if query.results == _MOST_RESULTS + 1:
            yield "many-results", value["qid"], {}
        query.rank, query.score = rank, score


def _nul_in_ids(kind: str, records: list[tuple[int, dict[str, Any]]]) -> Iterator[Hits]:
    for name in ("qid", "docno"):
        if found := [(row, v[name]) for row, v in records if "\0" in v.get(name, "")]:
            yield _hits("nul-in-id", kind, name, found)


def _hits(rule: str, kind: str, name: str, told: list[tuple[int, str]]) -> Hits:
    return Hits(rule, kind, name, [row for row, _ in told], [value for _, value in told])
