"""Query, question, references and answer of one SAGE record."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.declarations import ELSEWHERE
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.sage.records import RECORD
from ragdatakit.validators.lacking import lacking

_WORD = re.compile(r"[^\W_]{4}")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_KNOWN = {field.name for field in RECORD.fields}


def is_blank(text: str) -> bool:
    """Whether a text has nothing but white space in it."""
    return not text or text.isspace()


def question_problems(record: dict[str, Any]) -> Iterator[Problem]:
    """A record that asks nothing; a question without id."""
    query, question = record.get("query"), record.get("question")
    asked = isinstance(question, str) and not is_blank(question)
    if "query" not in record:
        if not asked:
            problem = lacking(Problem("missing-query", ""), "query", record, _KNOWN, ELSEWHERE["question"])
            near = problem.facts.get("near")
            problem.facts["state"] = f"there is no query (there is {near})" if near else "there is no query"
            yield problem
        if isinstance(question, dict):
            yield Problem("question-without-query", "/question", question)
    elif isinstance(query, str) and is_blank(query) and not asked:
        yield Problem("missing-query", "/query", query, {"state": "query is blank"})
    if isinstance(question, dict):
        found = question.get("id")
        if found is None:
            yield Problem("question-without-id", "/question", question)
        elif isinstance(found, bool) or not isinstance(found, str | int | float):
            yield Problem("question-id-not-text", "/question/id", found)


def answer_problems(record: dict[str, Any]) -> Iterator[Problem]:
    """References that a metric would stumble over or score wrongly, or that are not there."""
    references = record.get("references")
    if isinstance(references, list):
        yield from _each_reference(references)
    if isinstance(record.get("generated"), str) and "golds" not in record:
        if "references" not in record:
            yield Problem("missing-references", "/generated", record["generated"], {"state": "are missing"})
        elif references == []:
            yield Problem("missing-references", "/references", references, {"state": "are empty"})
    question = record.get("question")
    if isinstance(references, list) and isinstance(question, dict) and "references" in question:
        theirs = question["references"]
        if not _same(theirs, references):
            yield Problem("differing-references", "/question/references", theirs, {"other": references})


def _each_reference(references: list[Any]) -> Iterator[Problem]:
    seen: set[str] = set()
    for i, reference in enumerate(references):
        if not isinstance(reference, str):
            continue
        pointer, facts = f"/references/{i}", {"field": f"references[{i}]"}
        if not reference:
            yield Problem("empty-reference", pointer, reference, facts)
        elif reference in seen:
            yield Problem("duplicate-reference", pointer, reference, facts)
        elif says_nothing(reference):
            yield Problem("vacuous-reference", pointer, reference, facts)
        seen.add(reference)


def says_nothing(text: str) -> bool:
    """Whether the metrics' clean-up (case, ASCII punctuation, articles, blanks) leaves nothing of a text."""
    if _WORD.search(text):
        return False
    return not _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).strip()


def _same(one: Any, other: list[Any]) -> bool:
    """Whether two lists of references have the same items; their order says nothing."""
    if not isinstance(one, list) or len(one) != len(other):
        return False
    return one == other or sorted(map(repr, one)) == sorted(map(repr, other))
