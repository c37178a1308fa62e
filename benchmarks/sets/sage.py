"""SAGE records of the unified format: ten passages retrieved, three reranked, refined, and an answer; no error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sets.words import Prose

RECORDS = 10_000
PASSAGES, KEPT = 10, 3
BLOCK = 500
RECORDS_FILE = "records.jsonl"


def write_sage(root: Path, scale: float, seed: int) -> None:
    """Write ``records.jsonl``."""
    root.mkdir(parents=True)
    prose = Prose(seed)
    count = max(200, round(RECORDS * scale))
    with (root / RECORDS_FILE).open("wb") as file:
        for start in range(0, count, BLOCK):
            file.write("".join(_records(prose, start, min(start + BLOCK, count))).encode())


def _records(prose: Prose, start: int, stop: int) -> Iterator[str]:
    # The prose is escaped for JSON already; these records are dumped whole.
    texts = [json.loads(f'"{t}"') for t in prose.texts((stop - start) * PASSAGES, 26, 44)]
    scores = prose.random.random((stop - start, PASSAGES)).tolist()
    for number in range(start, stop):
        first = (number - start) * PASSAGES
        record = _record(number, texts[first : first + PASSAGES], sorted(scores[number - start], reverse=True))
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _record(number: int, texts: list[str], scores: list[float]) -> dict[str, Any]:
    answer = " ".join(texts[0].split()[2:5])
    query = f"What stands beside {texts[0].split()[0]} in record {number}?"
    kept = texts[:KEPT]
    refined = [" ".join(text.split()[:12]) for text in kept]
    return {
        "query": query,
        "question": {"id": f"q-{number:05d}", "references": [answer]},
        "references": [answer],
        "retrieval_results": [
            {"text": text, "score": round(score, 6), "metadata": {"id": f"c{number * PASSAGES + n}"}}
            for n, (text, score) in enumerate(zip(texts, scores, strict=True))
        ],
        "retrieval_docs": texts,
        "retrieval_time": 0.02,
        "reranking_results": [
            {"text": text, "score": round(score, 6)} for text, score in zip(kept, scores[:KEPT], strict=True)
        ],
        "reranking_docs": kept,
        "reranking_time": 0.01,
        "refining_results": [_refined(*pair) for pair in zip(kept, refined, strict=True)],
        "refining_docs": refined,
        "refining_time": 0.3,
        "prompt": "Context: " + "\n".join(refined) + f"\nQuestion: {query}",
        "generated": answer,
        "generation_time": 0.4,
    }


def _refined(text: str, short: str) -> dict[str, Any]:
    before, after = len(text.split()), len(short.split())
    ratio = round(after / before, 3)
    return {"text": short, "original_length": before, "refined_length": after, "compression_ratio": ratio}
