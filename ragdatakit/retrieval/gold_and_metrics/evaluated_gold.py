"""What an evaluation tells about the gold besides numbers: notes, files, titles, judgements that appear twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.late_patterns import late_pattern
from ragdatakit.retrieval.index.notes import GOLD, left_out, lost_passages
from ragdatakit.schemas import FORMATS
from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold
    from ragdatakit.retrieval.passages import Passages

_WORDS = {
    "qrels": ("qrel", "judg"),
    "questions": ("quer", "question", "topic"),
    "documents": ("corpus", "document"),
    "chunks": ("chunk",),
}
_RUN = late_pattern(r"(?:^|[/._-])runs?(?=[/._-]|$)|\.res(?:ults)?(?:\.gz)?$", re.I)
_TITLE = 120


def notes_on(gold: Gold) -> Iterator[str]:
    """Sentences about judgements that are not used."""
    others = {name: count for name, count in gold.splits.items() if name != gold.split}
    if gold.split is None and len(gold.splits) > 1:
        counts = ", ".join(f"{name or 'no split'} {count:,}" for name, count in gold.splits.items())
        yield f"the judged questions of all splits are taken together: {counts} (--split takes one)"
    if gold.split is not None and others:
        counts = ", ".join(f"{name or 'no split'} {count:,}" for name, count in others.items())
        yield f"other splits with judged questions: {counts} (--split)"
    for name, count in gold.other_units.items():
        yield f"not used here: {many(count, 'judgement')} of {name}s (--unit {name})"


def lenient_notes(tables: CanonicalTables, faults: Mapping[str, Any]) -> Iterator[str]:
    """That the dataset was read though it is not as it should be; ``faults`` are those of its passages."""
    if words := [*faults.get("coerced", ()), *left_out(tables, ("questions", "qrels"), "coerced")]:
        sure = "; `ragdata validate` shows what is wrong" if tables.format in FORMATS else ""
        yield f"read leniently: {', '.join(words)}{sure}"


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
    """The file of a dataset that most likely has a table, as far as the names show; that of the split before others."""
    listed = [(name, str(path)) for name, path in files]
    found: dict[str, str] = {}
    for table, words in _WORDS.items():
        named = [(name, path) for name, path in listed if any(word in name.lower() for word in words)]
        of_split = [(name, path) for name, path in named if split and split in name.rsplit("/", 1)[-1]]
        for _, path in (of_split or named)[:1]:
            found[table] = path
    return found


def run_files(files: Iterable[tuple[str, Path]]) -> list[Path]:
    """The files of a dataset that have its runs, as far as the names show."""
    listed = [*files]
    return [path for name, path in listed if len(listed) == 1 or _RUN.search(name)]


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


def tables_words(tables: CanonicalTables) -> str:
    """The tables that a dataset has, in words."""
    return ", ".join(name.replace("_", " ") for name in tables.sources if tables.any(name)) or "nothing"


def what_is_lacking(gold: Gold, tables: CanonicalTables, corpus: CanonicalTables | None) -> str:
    """Why nothing could be evaluated, and what would help. ``tables`` have the questions and their gold, ``corpus`` is
    what has no passages, if it has none."""
    if tables.any("runs") and not gold.judged:
        return "there is a run, but no gold to hold it to; --qrels FILE gives judgements"
    has_texts = any(q.text.strip() for q in gold.questions)
    if not has_texts and (lost := left_out(tables, [name for name in GOLD if name != "qrels"])):
        reason = f"none of its questions could be read ({'; '.join(lost)})"
        return f"{reason}; `ragdata validate` shows what is wrong, and --questions FILE gives others"
    if not gold.questions:
        return f"there are no questions (it has {tables_words(tables)}); --questions FILE gives them"
    if not gold.judged and gold.nameless:
        some = f"such as {gold.questions[0].question_id!r}"
        reason = f"none of the {many(gold.nameless, 'judged question')} is among its {len(gold.questions):,} ({some})"
        return f"{reason}: the judgements have other ids"
    if not gold.judged and not any(q.answers for q in gold.questions):
        if any(q.grades for q in gold.questions):
            return "none of its judgements has a grade above 0, so nothing is relevant; --qrels FILE gives others"
        return "its questions have neither gold nor answers; --qrels FILE gives judgements"
    if corpus is not None:
        if lost := lost_passages(corpus):
            reason = f"nothing of its corpus could be read ({'; '.join(lost)})"
            return f"{reason}; `ragdata validate` shows what is wrong, and --runs FILE gives a run"
        return "there is no corpus to search and no run; --runs FILE gives one"
    if gold.unit == "node":
        return "nodes are judged, which graph mode alone ranks, and there is no graph; --unit document may help"
    if not has_texts:
        return "its questions have no texts; --questions FILE gives them, --runs FILE a run"
    return "the answers of its questions cannot be looked for in texts, and there is no gold"
