"""The rules of TREC collections that their declaration cannot say: order of results, tags, unknown queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.tagged_text import UNCLOSED
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.sniffing import beginning
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning, not_compared
from ragdatakit.validators.excerpts import visible
from ragdatakit.validators.row_problems import RowProblems

if TYPE_CHECKING:
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.coded_columns import ScannedCodes
    from ragdatakit.validators.csv_parts import CsvTable

_IDS = {"documents": "docno", "topics": "num", "topic-lines": "qid"}
_TEXTS = {"documents": "text", "topics": "title", "topic-lines": "text"}
_ONE = {"documents": "document", "topics": "topic", "topic-lines": "topic", "qrels": "judgement", "run": "result"}
_CASES = {"documents": "documents", "topics": "topics", "topic-lines": "topics"}
_FIELDS = {"qrels": ("qid", "docno"), "run": ("qid", "docno", "rank", "score", "tag")}
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

    def needs(self, kind: str, split: str | None = None) -> Needs:
        columns = ("qid",) if kind in ("qrels", "run") else ()
        remembered = kind != "documents"
        return Needs(
            records=kind in _IDS, columns=columns, values=remembered, batches=remembered, in_ranges=True, by_file=True
        )

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        return self._record_problems(file.kind, value) if isinstance(value, dict) else ()

    def _record_problems(self, kind: str, value: dict[str, Any]) -> Iterator[Problem]:
        if UNCLOSED in value:
            yield Problem("unclosed-element", pointer="", facts={"reason": "the element is not closed"})
        found, text = value.get(_IDS[kind]), value.get(_TEXTS[kind], "")
        if isinstance(found, str) and found.split() != [found]:
            yield Problem("blank-in-id", pointer=f"/{_IDS[kind]}", value=found)
        if kind == "topics" and not text.strip():
            text = value.get("desc", "")
        if not (text.strip() or UNCLOSED in value):  # of which the text may be lost
            yield Problem("blank-text", pointer=f"/{_TEXTS[kind]}" if _TEXTS[kind] in value else "", value=text)

    def start_file(self, file: DataFile) -> None:
        self._file = file.name
        self._results = _Results()

    def scanning(self, file: DataFile) -> Scanning:
        from ragdatakit.scanner.predicates import Blank, Changed, Holds, NotVisible, OpenUnlessGiven

        if file.kind == "documents":
            return Scanning((NotVisible("docno"), OpenUnlessGiven("text"), Blank("text")))
        if file.kind not in _FIELDS:
            return Scanning()
        made_of = _FIELDS[file.kind]
        changed = [Changed(name) for name in ("qid", "tag") if name in made_of]
        asked = (*changed, Holds("qid", "\0"), Holds("docno", "\0"))
        return Scanning(asked, made_of=made_of, derive=partial(self._derive_results, file.kind))

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        if not isinstance(value, dict) or "docno" not in value or "qid" not in value:
            return {}
        judged = (self._file, value["qid"], value["docno"])
        return {"@judged": "\n".join(judged) if to_show else judged}

    def _derive_results(self, kind: str, given: Mapping[str, ScannedCodes], batch: Any) -> None:
        import numpy as np

        from ragdatakit.arrays.codes import mix
        from ragdatakit.arrays.text_codes import codes_of_texts

        queries, documents = given["qid"][0], given["docno"][0]
        file = np.repeat(codes_of_texts([self._file]), len(queries))
        batch.columns["@judged"], batch.valid["@judged"] = mix(file, mix(queries, documents)), None
        if kind == "run":
            batch.columns["rank"] = given["rank"][0].view(np.int64)
            batch.columns["score"] = given["score"][0].view(np.float64)

    def batch(
        self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any
    ) -> Iterable[RowProblems]:
        records = [(batch.first_row + i, v) for i, v in enumerate(values or ()) if isinstance(v, dict)]
        if kind in ("topics", "topic-lines"):
            self._topics.update(dict.fromkeys(v[_IDS[kind]] for _, v in records if _IDS[kind] in v))
            return ()
        if kind not in _FIELDS:
            return ()
        plain: list[_Plain] = []
        if values is None:
            records = [(batch.first_row + row, value) for row, value in batch.noted if isinstance(value, dict)]
            plain = _between(batch)
        if kind == "qrels":
            return [*_nul_in_ids(kind, records), *self._judgements(records, plain)]
        return [*_nul_in_ids(kind, records), *self._of_run(records, plain)] if kind == "run" else ()

    def _judgements(self, records: list[tuple[int, dict[str, Any]]], plain: list[_Plain]) -> list[RowProblems]:
        self._judged.update(dict.fromkeys(v["qid"] for _, v in records))
        if not self._topics or not self._are_whole("topics", "topic-lines"):
            return []
        unknown = [(row, v["qid"]) for row, v in records if v["qid"] not in self._topics]
        unknown += [(row, some.query) for some in plain if some.query not in self._topics for row in some.rows]
        return [_at_rows("unknown-topic", "qrels", "qid", sorted(unknown))] if unknown else []

    def _of_run(self, records: list[tuple[int, dict[str, Any]]], plain: list[_Plain]) -> list[RowProblems]:
        found = self._results.add([(row, v) for row, v in records if "comment" not in v], plain)
        if (self._topics or self._judged) and self._are_whole("topics", "topic-lines", "qrels"):
            strangers = []
            for row, value in records:
                query = value.get("qid", "")
                if query and not (query in self._topics or query in self._judged or query in self._strangers):
                    self._strangers.add(query)
                    strangers.append((row, query))
            if strangers:
                found.append(_at_rows("unknown-query", "run", "qid", strangers))
        return found

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        if not records and file.readable:
            hint = _name_of_lines(file) if file.kind == "topics" else ""
            yield (
                file,
                Problem("empty-file", facts={"record": _ONE[file.kind], "case": _CASES.get(file.kind)}, hint=hint),
            )
        tags = list(self._results.tags)
        if len(tags) > 1:
            yield file, Problem("several-tags", value=tags[1], facts={"tags": len(tags), "first": tags[0]})

    def _are_whole(self, *kinds: str) -> bool:
        """Whether all files of these kinds were read to their end."""
        return all(file.to_end for kind in kinds for file in self.dataset.of_kind(kind))

    def finish(self) -> Iterator[Placed]:
        """Topics that judgements count, and those that nothing could be compared with."""
        if self.dataset.of_kind("qrels") or self.dataset.of_kind("run"):
            yield from not_compared((*self.dataset.of_kind("topics"), *self.dataset.of_kind("topic-lines")))
        if not self._are_whole("topics", "topic-lines", "qrels"):
            return
        positions = {str(i + 1) for i in range(len(self._topics))}
        if self._topics and self._judged.keys() == positions != self._topics.keys():
            yield self.dataset.of_kind("qrels")[0], Problem("topics-by-position", facts={"number": len(positions)})


@dataclass(slots=True)
class _Query:
    """What was seen of a query's results."""

    name: str
    results: int = 0
    rank: int | None = None
    score: float | None = None

    def skip(self, some: _Plain) -> bool:
        """Pass over further results in which nothing can be wrong; whether that was so."""
        count, ranks, scores = len(some.rows), some.ranks, some.scores
        sound = (
            self.rank == self.results
            and self.score is not None
            and self.score > scores[0]
            and ranks[0] == self.results + 1
            and bool((ranks[1:] == ranks[:-1] + 1).all())
            and bool((scores[1:] < scores[:-1]).all())
            and (self.results > _MOST_RESULTS or self.results + count <= _MOST_RESULTS)
        )
        if sound:
            self.results += count
            self.rank, self.score = self.results, float(scores[-1])
        return sound


@dataclass(slots=True)
class _Results:
    """The results of one run as they come: each is compared with the one before of its query."""

    tags: dict[str, None] = field(default_factory=dict)
    _queries: dict[str, _Query] = field(default_factory=dict)

    def add(self, records: list[tuple[int, dict[str, Any]]], plain: list[_Plain]) -> list[RowProblems]:
        """Take in results, each with its row, and those that follow them; what is wrong with them."""
        found: dict[str, list[tuple[int, Any, dict[str, Any]]]] = {}
        following = {some.rows.start: some for some in plain}

        def look(row: int, query: _Query, rank: Any, score: Any) -> None:
            for rule, shown, facts in self._compare(query, rank, score):
                found.setdefault(rule, []).append((row, shown, facts))

        for row, value in records:
            self.tags.setdefault(value["tag"])
            query = self._queries.setdefault(value["qid"], _Query(value["qid"]))
            look(row, query, value["rank"], value["score"])
            some = following.get(row + 1)
            if some is not None and not query.skip(some):
                for row_of, rank, score in zip(some.rows, some.ranks.tolist(), some.scores.tolist(), strict=True):
                    look(row_of, query, rank, score)
        fields = {"rank-against-score": "rank", "odd-rank": "rank", "equal-scores": "score", "many-results": "qid"}
        return [
            RowProblems(
                rule,
                "run",
                fields[rule],
                [one[0] for one in of_rule],
                [one[1] for one in of_rule],
                facts=[one[2] for one in of_rule],
            )
            for rule, of_rule in found.items()
        ]

    def _compare(self, query: _Query, given_rank: Any, given_score: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        rank = given_rank if isinstance(given_rank, int) else None
        score = given_score if not isinstance(given_score, str) else None
        query.results += 1
        if rank != query.results:
            before = query.rank if query.results > 1 else -1
            yield "odd-rank", given_rank, {"expected": query.results, "given": rank, "before": before}
        if score is not None and query.score is not None:
            if score == query.score:
                yield "equal-scores", score, {}
            elif rank is not None and query.rank not in (None, rank) and (rank > query.rank) == (score > query.score):
                better, worse = (rank, query.rank) if score > query.score else (query.rank, rank)
                yield "rank-against-score", rank, {"rank": better, "before": worse}
        if query.results == _MOST_RESULTS + 1:
            yield "many-results", query.name, {}
        query.rank, query.score = rank, score


@dataclass(frozen=True, slots=True)
class _Plain:
    """Consecutive rows that were scanned, all of the query (and of the run) of the row before the first of them."""

    query: str
    rows: range
    ranks: Any
    scores: Any


def _between(batch: Any) -> list[_Plain]:
    """What is between the noted rows of a block."""
    found = []
    ends = [row for row, _ in batch.noted[1:]] + [batch.length]
    for (row, value), end in zip(batch.noted, ends, strict=False):  # nothing is noted of blank lines alone
        if end > row + 1 and isinstance(value, dict):
            ranks, scores = (batch.columns.get(name) for name in ("rank", "score"))
            rows = range(batch.first_row + row + 1, batch.first_row + end)
            cut = slice(row + 1, end)
            of_run = (None, None) if ranks is None or scores is None else (ranks[cut], scores[cut])
            found.append(_Plain(value.get("qid", ""), rows, *of_run))
    return found


def _nul_in_ids(kind: str, records: list[tuple[int, dict[str, Any]]]) -> Iterator[RowProblems]:
    """In the order of the rows, as the first of a file is the one that is reported."""
    for row, value in records:
        for name in ("qid", "docno"):
            if "\0" in (found := value.get(name, "")):
                yield _at_rows("nul-in-id", kind, name, [(row, found)])


def _at_rows(rule: str, kind: str, name: str, rows: list[tuple[int, str]]) -> RowProblems:
    return RowProblems(rule, kind, name, [row for row, _ in rows], [value for _, value in rows])


def _name_of_lines(file: DataFile) -> str:
    """What to do with topics that seem to be lines of cells; empty where they do not."""
    first = beginning(file.path, 1 << 12, file.boundary)[0].lstrip().partition(b"\n")[0]
    if b"\t" not in first:
        return ""
    packed = ".gz" if file.path.suffix == ".gz" else ""
    name = file.path.with_name(file.path.name.removesuffix(packed)).with_suffix(f".tsv{packed}").name
    return f"call it {visible(name)}: its lines are a number, a tab and a text"
