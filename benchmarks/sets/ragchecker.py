"""RAGChecker's outputs: rows with ten long passages, claims and all labels, as the tool writes them; no error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sets.words import Prose

ROWS = 3_500
PASSAGES, CLAIMS = 10, 12
BLOCK = 50
FILE = "checking_outputs.json"
_LABELS = ("Entailment", "Neutral", "Contradiction")


def write_ragchecker(root: Path, scale: float, seed: int) -> None:
    """Write the one file."""
    root.mkdir(parents=True)
    prose = Prose(seed)
    count = max(100, round(ROWS * scale))
    with (root / FILE).open("w", encoding="utf-8") as file:
        start = '{\n  "results": [\n    '
        for number in range(0, count, BLOCK):
            for row in _rows(prose, number, min(number + BLOCK, count)):
                file.write(start + json.dumps(row, ensure_ascii=False, indent=2).replace("\n", "\n    "))
                start = ",\n    "
        file.write("\n  ]\n}\n")


def _rows(prose: Prose, start: int, stop: int) -> Iterator[dict[str, Any]]:
    size = stop - start
    passages = _texts(prose, size * PASSAGES, 450, 650)
    claims = _texts(prose, size * CLAIMS * 2, 5, 12)
    answers = _texts(prose, size * 2, 60, 120)
    labels = prose.random.integers(0, 3, (size, 2 * CLAIMS * (1 + PASSAGES))).tolist()
    for n in range(size):
        number = start + n
        drawn = iter(_LABELS[label] for label in labels[n])
        lists = [[next(drawn) for _ in range(CLAIMS)] for _ in range(2)]
        matrices = [[[next(drawn) for _ in range(PASSAGES)] for _ in range(CLAIMS)] for _ in range(2)]
        mine = claims[n * CLAIMS * 2 : (n + 1) * CLAIMS * 2]
        yield {
            "query_id": f"q{number:06d}",
            "query": f"What stands in {mine[0]}?",
            "gt_answer": answers[2 * n],
            "response": answers[2 * n + 1],
            "retrieved_context": [
                {"doc_id": f"d{number * PASSAGES + p}", "text": passages[n * PASSAGES + p]} for p in range(PASSAGES)
            ],
            "response_claims": [_claim(text) for text in mine[:CLAIMS]],
            "gt_answer_claims": [_claim(text) for text in mine[CLAIMS:]],
            "answer2response": lists[0],
            "response2answer": lists[1],
            "retrieved2response": matrices[0],
            "retrieved2answer": matrices[1],
        }


def _texts(prose: Prose, count: int, fewest: int, most: int) -> list[str]:
    return [text.replace('\\"', '"') for text in prose.texts(count, fewest, most)]


def _claim(text: str) -> list[str]:
    first, verb, *rest = text.split()
    return [first, verb, " ".join(rest)]
