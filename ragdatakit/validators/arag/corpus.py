"""What is known about the files of an A-RAG corpus as a whole: published copies, and answers found in the chunks."""

from __future__ import annotations

import hashlib
import re
import stat
import string
from dataclasses import field
from pathlib import Path

from ragdatakit.files.datasets import DataFile
from ragdatakit.files.texts.compared_answers import without_articles
from ragdatakit.late_dataclasses import dataclass

PUBLISHED_BYTES = 16 << 20
"""No published file is larger; larger ones are not fingerprinted."""

CORPUS_BYTES = 16 << 20
"""Answers are looked for in smaller corpora only: the text is in memory, and 16 MB take about a second."""

SCANNED_CHARACTERS = 2_000_000_000
"""How many characters the search for answers may walk over (about a third of a second)."""

# On long texts five times as fast as str.translate.
_PUNCTUATION = re.compile(f"[{re.escape(string.punctuation)}]+")
_ARTICLES = frozenset({"a", "an", "the"})


def file_bytes(path: Path) -> int | None:
    """The size of a regular file; None for anything else."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def fingerprint(file: DataFile) -> str | None:
    """The SHA-256 of a file that is small enough to be a published one."""
    size = file_bytes(file.path)
    if size is None or size > PUBLISHED_BYTES:
        return None
    try:
        return hashlib.sha256(file.boundary.read_bytes(file.path)).hexdigest()
    except OSError:
        return None


@dataclass(slots=True)
class AnswerSearch:
    """Collects a small corpus and its gold answers, and counts the answers that occur in it."""

    texts: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def add_text(self, text: str) -> None:
        """One chunk's text."""
        words = _PUNCTUATION.sub("", text.lower()).split()
        self.texts.append(" ".join(w for w in words if w not in _ARTICLES))

    def add_answer(self, answer: str) -> None:
        """One gold answer; those that normalise to nothing do not count."""
        if found := without_articles(answer):
            self.answers.append(found)

    def found(self) -> tuple[int, int]:
        """(answers that occur, answers looked for); a big corpus is searched for an even sample of them."""
        corpus = "\n".join(self.texts)
        most = max(50, SCANNED_CHARACTERS // max(1, len(corpus)))
        step = -(-len(self.answers) // most) or 1
        sample = self.answers[::step]
        return sum(answer in corpus for answer in sample), len(sample)
