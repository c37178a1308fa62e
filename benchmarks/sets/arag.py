"""A-RAG: one JSON array of ``"<id>:<text>"`` strings, all in one line or one element per line, and its questions."""

from __future__ import annotations

import json
from pathlib import Path

from sets.words import Prose

BLOCK = 500
QUESTIONS = 1_000


def write_arag(root: Path, megabytes: float, seed: int, *, one_line: bool) -> None:
    """Write ``chunks.json`` of about this size and ``questions.json``."""
    root.mkdir(parents=True)
    prose = Prose(seed)
    before, between, after = ("[", ", ", "]") if one_line else ("[\n    ", ",\n    ", "\n]")
    target, written, count = megabytes * 1_000_000, 0, 0
    with (root / "chunks.json").open("wb") as file:
        file.write(before.encode())
        while written < target:
            texts = prose.texts(BLOCK, 400, 640)
            block = between.join(f'"{count + i}:{text}"' for i, text in enumerate(texts)).encode()
            file.write(between.encode() * (count > 0) + block)
            written, count = written + len(block), count + BLOCK
        file.write(after.encode())
    questions = [_question(prose, i) for i in range(QUESTIONS)]
    text = json.dumps(questions, ensure_ascii=False, indent=2)
    (root / "questions.json").write_text(text, encoding="utf-8", newline="\n")


def _question(prose: Prose, number: int) -> dict[str, str]:
    first, second, third = (prose.names[int(i)] for i in prose.random.integers(0, len(prose.names), 3))
    return {
        "id": f"q-{number}",
        "source": "made-up",
        "question": f"Where does the {first} of {second} number {number} end?",
        "answer": f"{third} bay",
        "question_type": "",
        "evidence": "",
    }
