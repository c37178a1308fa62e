"""What an evaluation tells about the gold beside numbers: notes, files, titles, judgements that stand there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold import Gold
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.tables.canonical_tables import CanonicalTables

_WORDS = {
    "qrels": ("qrel", "judg"),
    "questions": ("quer", "question", "topic"),
    "documents": ("corpus", "document"),
    "chunks": ("chunk",),
}
_TITLE = 120


def notes_on(gold: Gold) -> Iterator[str]:
    """Sentences about judgements that are not used."""
    others = {name: count for name, count in gold.splits.items() if name != gold.split}
    if gold.split is not None and others:
        told = ", ".join(f"{name or 'no split'} {count:,}" for name, count in others.items())
        yield f"other splits with judged questions: {told} (--split)"
    for name, count in gold.other_units.items():
        yield f"not used here: {_many(count, 'judgement')} of {name}s (--unit {name})"
    if gold.nameless:
        yield f"left out: {_many(gold.nameless, 'judged question')} not among the questions"


def repeated_judgements(tables: CanonicalTables, unit: str) -> dict[str, int]:
    """How many judgements of a unit repeat an earlier one, by question."""
    seen: set[tuple[str | None, str, str]] = set()
    repeated: Counter[str] = Counter()
    for row in tables.peek("qrels"):
        if row.target_kind == unit:
            key = (row.split, row.question_id, row.target_id)
            if key in seen:
                repeated[row.question_id] += 1
            seen.add(key)
    return dict(repeated)


def files_by_table(files: Iterable[tuple[str, Path]], split: str | None) -> dict[str, str]:
    """The file of a dataset that most likely has a table, as far as the names tell; that of the split before others."""
    listed = [(name, str(path)) for name, path in files]
    found: dict[str, str] = {}
    for table, words in _WORDS.items():
        named = [(name, path) for name, path in listed if any(word in name.lower() for word in words)]
        of_split = [(name, path) for name, path in named if split and split in name.rsplit("/", 1)[-1]]
        for _, path in (of_split or named)[:1]:
            found[table] = path
    return found


def titles_of(passages: Passages, tables: CanonicalTables, unit: str, ids: Iterable[str]) -> dict[str, str]:
    """The titles of passages or documents, or else the beginnings of their texts; others are left out."""
    found: dict[str, str] = {}
    rest: set[str] = set()
    for target in sorted(ids):
        ordinal = passages.ordinal(target)
        if ordinal is None:
            rest.add(target)
        else:
            passage = passages[ordinal]
            found[target] = _title(passage.title, passage.text)
    if rest and unit == "document" and passages.unit == "chunk":
        found |= {d.doc_id: _title(d.title, d.text) for d in tables.peek("documents") if d.doc_id in rest}
    return found


def _title(title: str | None, text: str) -> str:
    return " ".join((title or text[:400]).split())[:_TITLE]


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
