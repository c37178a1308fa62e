"""HippoRAG's data set: a corpus and questions with their paragraphs, two JSON arrays, without an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from sets.words import Prose

PASSAGES, QUESTIONS = 600_000, 30_000
BLOCK = 10_000
_PARAGRAPHS = 4


def write_hipporag(root: Path, scale: float, seed: int) -> None:
    """Write ``made_corpus.json`` (about 600 bytes a passage) and ``made.json``, each question with four passages."""
    root.mkdir(parents=True)
    prose = Prose(seed)
    passages, questions = max(100, round(PASSAGES * scale)), max(10, round(QUESTIONS * scale))
    texts = [json.loads(f'"{text}"') for text in prose.texts(BLOCK, 40, 80)]
    asked = [json.loads(f'"{text}"') for text in prose.texts(questions, 5, 14)]

    def passage(number: int) -> dict[str, object]:
        return {"title": f"Passage {number}", "text": f"{texts[number % len(texts)]} {number}.", "idx": number}

    def question(number: int, text: str) -> dict[str, object]:
        first = number * _PARAGRAPHS
        given = [{**passage((first + n) % passages), "is_supporting": n == 0} for n in range(_PARAGRAPHS)]
        return {"id": f"q{number}", "question": text, "answer": [f"answer {number}"], "paragraphs": given}

    _write(root / "made_corpus.json", map(passage, range(passages)))
    _write(root / "made.json", (question(number, text) for number, text in enumerate(asked)))


def _write(path: Path, elements: Iterator[dict[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("[\n")
        for number, element in enumerate(elements):
            file.write((",\n" if number else "") + json.dumps(element, ensure_ascii=False))
        file.write("\n]\n")
