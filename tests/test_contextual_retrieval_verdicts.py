"""The verdicts of the cookbook's own notebook on damaged files, replayed: what it stops at, loses or misreads is an
error, and nothing else is but what a reader by ids needs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import ragdatakit
from tests.broad import ALL, chosen
from tests.contextual_retrieval_oracle import VERDICTS, cases, written

BY_ID = {
    "unusable-document",  # an id that is no text; contents are compared, so that only fusion reads ids
    "unusable-chunk",  # an index that is none
    "duplicate-document",  # two documents with one uuid
    "golden-chunk-not-in-corpus",  # a golden chunk whose content is found under another id
    "unusable-golden-document",  # an index that is none, of a chunk that is not golden
    "duplicate-golden-document",  # the same document twice, letter by letter
}
"""Errors of files that the notebook reads as if nothing were wrong: it goes by contents, others go by ids."""
OTHER_QUESTIONS = {"query": 8, "golden_chunk_uuids/0/1": 1}
"""Mutations that make another, sound question: the stand-in for the embedder has no answer to it."""
NO_GOLD = 3
"""Questions without a golden chunk, which lower the mean: a warning."""


def test_the_verdicts_are_those_of_the_notebook(tmp_path: Path) -> None:
    verdicts = json.loads(VERDICTS.read_text(encoding="utf-8"))
    missed: Counter[str] = Counter()
    stricter: Counter[str] = Counter()

    damaged = list(cases())
    assert len(damaged) == len(verdicts) == 1874

    for name, corpus, questions in damaged:
        if not chosen(f"notebook {name}"):
            continue
        report = ragdatakit.validate(written(tmp_path, corpus, questions), format="contextual-retrieval")
        errors = {f.rule for f in report.findings if f.severity == "error"}
        if errors and not verdicts[name]:
            assert errors <= BY_ID, (name, errors)
            stricter[min(errors - {"golden-chunk-not-in-corpus"}, default="golden-chunk-not-in-corpus")] += 1
        elif verdicts[name] and not errors:
            rules = {f.rule for f in report.findings}
            field = name.split(":")[0].removeprefix("asked 0/")
            missed["no gold" if "no-golden-chunk" in rules else field] += 1

    known = Counter({**OTHER_QUESTIONS, "no gold": NO_GOLD})
    assert missed == known if ALL else missed <= known
    assert stricter.total() == 113 if ALL else stricter.total() <= 113
