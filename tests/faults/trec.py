"""Clean TREC collections, with topics as elements and as lines, and what their own checks add to the declaration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.trec.format import TREC
from tests.faults.drafts import Draft, DraftFile, Place, element, line_of

SIZE = 40


def drafts() -> tuple[Draft, ...]:
    """The two ways in which topics may lie; the second is without documents."""
    documents = [
        {"docno": f"d{i}", "title": f"Harbour {i}", "text": f"Harbour {i} has a pier of its own."} for i in range(SIZE)
    ]
    topics = [
        {"num": f"t{i}", "title": f"harbour {i}", "desc": f"What is known of harbour {i}?", "narr": "Piers count."}
        for i in range(SIZE)
    ]
    lines = [{"qid": f"t{i}", "text": f"what is known of harbour {i}"} for i in range(SIZE)]
    qrels = [{"qid": f"t{i}", "iteration": "0", "docno": f"d{i}", "relevance": i % 3} for i in range(SIZE)]
    judged = _lines("qrels.txt", "qrels", qrels)
    return (
        Draft(
            "trec",
            TREC,
            (
                _elements("documents.trec", "documents", "doc", documents),
                _elements("topics.xml", "topics", "top", topics),
                judged,
                _lines("run.bm25.txt", "run", [_result(i) for i in range(SIZE)]),
            ),
            derive=_derive,
            own_rules=_own_rules,
            consequences=_consequences,
        ),
        Draft(
            "trec lines",
            TREC,
            (_lines("topics.tsv", "topic-lines", lines), judged),
            derive=_derive,
            own_rules=_own_rules,
            consequences=_consequences,
        ),
    )


def _elements(path: str, kind: str, tag: str, values: list[dict[str, str]]) -> DraftFile:
    return DraftFile(path, TREC.file(kind), tuple(element(v, tag) for v in values))


def _lines(path: str, kind: str, values: list[dict[str, Any]]) -> DraftFile:
    separator = TREC.file(kind).columns.separator
    return DraftFile(path, TREC.file(kind), tuple(line_of(v, separator) for v in values))


def _result(i: int) -> dict[str, Any]:
    return {"qid": f"t{i}", "iteration": "Q0", "docno": f"d{i}", "rank": 1, "score": 7.5 - i / 10, "tag": "bm25"}


def _derive(path: str, kind: str, value: Any) -> dict[str, Any]:
    return {"@judged": (path, value["qid"], value["docno"])} if "qid" in value and "docno" in value else {}


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    rules: dict[tuple[str, str], tuple[str, ...]] = {
        ("docno", "empty"): ("blank-in-id",),
        ("docno", "blank"): ("blank-in-id",),
        ("docno", "two words"): ("blank-in-id",) if kind == "documents" else (),
        ("text", "empty"): ("blank-text",),
        ("text", "blank"): ("blank-text",),
        ("text", "missing"): ("blank-text",),
        ("", "unclosed"): ("unclosed-element",),
    }
    for variant_of_id in ("empty", "blank", "two words"):
        rules["num", variant_of_id] = ("blank-in-id",)
    return rules.get((name, variant), ())


def _records(draft: Draft, *kinds: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    for file in draft.files:
        if file.kind.kind in kinds:
            for line, value in file.records():
                yield file.path, line, value


def _consequences(draft: Draft) -> set[Place]:
    """Queries that nobody knows, ranks and scores, worked out the slow way."""
    topics = {v.get("num", v.get("qid")) for _, _, v in _records(draft, "topics", "topic-lines")}
    judged = {v["qid"] for _, _, v in _records(draft, "qrels")}
    found = {Place("unknown-topic", path, line) for path, line, v in _records(draft, "qrels") if v["qid"] not in topics}
    shown: set[str] = set()
    seen: dict[str, list[dict[str, Any]]] = {}
    tags: dict[str, None] = {}
    for path, line, value in _records(draft, "run"):
        if "comment" in value:
            continue
        query = value["qid"]
        if query not in topics | judged | shown:
            shown.add(query)
            found.add(Place("unknown-query", path, line))
        tags[value["tag"]] = None
        before = seen.setdefault(query, [])
        found |= {Place(rule, path, line) for rule in _of_result(before, value)}
        before.append(value)
        if len(tags) > 1:
            found.add(Place("several-tags", path, None))
    return found


def _of_result(before: list[dict[str, Any]], value: dict[str, Any]) -> Iterator[str]:
    if value["rank"] != len(before) + 1:
        yield "odd-rank"
    if before and not isinstance(value["score"], str) and not isinstance(before[-1]["score"], str):
        last = before[-1]
        if value["score"] == last["score"]:
            yield "equal-scores"
        elif not isinstance(value["rank"], str) and not isinstance(last["rank"], str):
            better, worse = sorted((value, last), key=lambda v: -v["score"])
            if better["rank"] > worse["rank"]:
                yield "rank-against-score"
