"""Clean light-splade datasets of forty records a file, and what its own checks add to the declaration."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.light_splade.format import LIGHT_SPLADE
from tests.faults.drafts import Draft, DraftFile, Place, cell
from tests.faults.set_oracle import readable

SIZE = 40
SPLITS = {"train": 0, "validation": 1000}


def drafts() -> tuple[Draft, ...]:
    """The two variants; in the second one half of the files is compressed."""
    triplets = [
        *(file for split in SPLITS for file in _masters(split, "")),
        _file("train/triplets.ndjson", "triplets", "train", [_triplet(i) for i in range(SIZE)]),
    ]
    scores = [_scores(i, base) for base in SPLITS.values() for i in range(SIZE)]
    distil = [
        *(file for split in SPLITS for file in _masters(split, ".gz" if split == "validation" else "")),
        _file("hard_negative_scores.ndjson", "scores", None, scores),
    ]
    return (
        Draft("light-splade triplet", LIGHT_SPLADE, tuple(triplets), own_rules=_own_rules),
        Draft("light-splade distil", LIGHT_SPLADE, tuple(distil), frozenset(), _derive, _own_rules, _scores_tell),
    )


def _file(path: str, kind: str, split: str | None, values: list[Any]) -> DraftFile:
    return DraftFile(path, LIGHT_SPLADE.file(kind), tuple(map(cell, values)), split)


def _masters(split: str, ending: str) -> list[DraftFile]:
    base = SPLITS[split]
    queries = [{"qid": base + i, "text": f"what is known of harbour {base + i}"} for i in range(SIZE)]
    documents = [{"doc_id": base + 500 + i, "text": f"Harbour {base + i} has a pier."} for i in range(2 * SIZE)]
    positives = [{"qid": base + i, "positive_doc_ids": _positives(base, i)} for i in range(SIZE)]
    return [
        _file(f"{split}/query_master.ndjson{ending}", "queries", split, queries),
        _file(f"{split}/doc_master.ndjson{ending}", "documents", split, documents),
        _file(f"{split}/positive_lists.ndjson{ending}", "positives", split, positives),
    ]


def _positives(base: int, i: int) -> list[int]:
    return [base + 500 + 2 * i, base + 500 + 2 * i + 1]


def _triplet(i: int) -> dict[str, int]:
    return {"qid": i, "pos_doc_id": 500 + 2 * i, "neg_doc_id": 500 + 2 * ((i + 1) % SIZE)}


def _scores(i: int, base: int) -> dict[str, Any]:
    negative = base + 500 + 2 * ((i + 1) % SIZE)
    return {"qid": base + i, "scores": {**{str(d): 6.5 + i for d in _positives(base, i)}, str(negative): -3.0}}


def _derive(path: str, kind: str, value: Any) -> dict[str, Any]:
    scores = value.get("scores") if kind == "scores" and isinstance(value, dict) else None
    return {"@doc_ids": [int(k) for k in scores if k.isdigit()]} if isinstance(scores, dict) else {}


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    if name == "text" and variant in ("empty", "blank"):
        return ("blank-text",)
    if name == "positive_doc_ids" and variant == "an item twice":
        return ("duplicate-positive",)
    if name == "scores" and variant in ("value 2^53 + 1", "value 2^63", "value 2^70", "value -2^63 - 1"):
        return ("!suspicious-score-scale",)
    return ()


def _scores_tell(draft: Draft) -> set[Place]:
    """What teacher scores lack or contradict, worked out the slow way."""
    found: set[Place] = set()
    for split in SPLITS:
        files = {f.kind.kind: f for f in draft.files if f.split in (split, None)}
        lists: dict[int, list[int]] = {}
        for _, value in files["positives"].records():
            documents = _list_of(value)
            if documents:
                lists[_integer(value.get("qid"))] = documents
        documents_known = {_integer(v.get("doc_id")) for _, v in files["documents"].records() if isinstance(v, dict)}
        for line, value in files["scores"].records():
            scores = value.get("scores") if isinstance(value, dict) else None
            positives = lists.get(_integer(value.get("qid"))) if isinstance(value, dict) else None
            if isinstance(scores, dict) and positives:
                rules = _of_one_query(split, positives, scores, documents_known)
                found |= {Place(rule, files["scores"].path, line) for rule in rules}
    path = "hard_negative_scores.ndjson"
    queries = {
        _integer(v.get("qid"))
        for f in draft.files
        if f.kind.kind == "queries"
        for _, v in f.records()
        if isinstance(v, dict)
    }
    scored = {_integer(v.get("qid")) for _, v in draft.file(path).records() if isinstance(v, dict)}
    if not any(p.rule == "scores-for-unknown" for p in found) and scored - queries - {None}:
        found.add(Place("scores-for-unknown", path, None))
    return found


def _of_one_query(split: str, positives: list[int], scores: dict[str, Any], known: set[Any]) -> set[str]:
    rules = set()
    numbers = {int(k): v for k, v in scores.items() if k.lstrip("-").isdigit()}
    if set(positives) - set(numbers):
        rules.add("positive-without-score")
    negatives = set(numbers) & known - set(positives)
    if not negatives:
        rules.add("no-negative" if split == "train" else "no-validation-negative")
    if set(numbers) - known:
        rules.add("scores-for-unknown")
    return rules


def _list_of(value: Any) -> list[int]:
    documents = value.get("positive_doc_ids") if isinstance(value, dict) else None
    if not isinstance(documents, list):
        return []
    return [d for d in map(_integer, documents) if d is not None]


def _integer(value: Any) -> Any:
    return readable(value, "integer")
