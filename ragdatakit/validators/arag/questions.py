"""What A-RAG makes of one question: its id, its gold answer, its evidence. Pure functions."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.files.texts.compared_answers import without_articles
from ragdatakit.schemas.arag.published import Evidence, Subset, subset_named, subset_of_source
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.texts import quoted

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile

_LOOKED_INTO = 1 << 18
"""Bytes in which the first question of a file is looked for."""
_MARK_INSIDE = re.compile(rf"\w[{re.escape(string.punctuation)}]+\w")
_EVIDENCE_WORDS: dict[Evidence, str] = {
    "blank": '""',
    "triples": "[subject, relation, object] lists",
    "contexts": "[title, [sentence, …]] lists",
    "strings": "a list of strings",
    "text": "a string",
}


def question_id(value: Any) -> Any:
    """The id that the runner uses: ``qid``, or ``id`` where that is empty."""
    return value.get("qid") or value.get("id") if isinstance(value, dict) else None


def first_question(file: DataFile) -> Any:
    """The first question of a file, if it is near the beginning of a JSON array; else None."""
    try:
        with file.boundary.open(file.path) as stream:
            head = stream.read(_LOOKED_INTO).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
        return json.JSONDecoder().raw_decode(head[1:].lstrip())[0] if head[:1] == "[" else None
    except (OSError, ValueError, RecursionError):
        return None


def id_key(value: Any) -> str | None:
    """The id of a question or prediction as a key; None where it is none, or no simple value.

    Keys are strings, so a number says that it is one: for the runner 1 and "1" are two ids.
    """
    found = question_id(value)
    if isinstance(found, str):
        return found or None
    if isinstance(found, int | float) and found:
        # 1, 1.0 and true are one key of a Python set.
        whole = not isinstance(found, float) or found.is_integer()
        return f"{int(found) if whole else found} (number)"
    return None


def gold_answer(value: dict[str, Any]) -> tuple[str, Any]:
    """The field that the runner takes the gold answer from, and what is in it (``""`` where neither is there)."""
    field = "answer" if "answer" in value or "gold_answer" not in value else "gold_answer"
    return field, value.get(field, "")


def question_problems(value: Any, folder: str) -> Iterator[Problem]:
    """Everything about one question that its declaration does not say; ``folder`` is the name of its folder."""
    if not isinstance(value, dict):
        return
    question = value.get("question")
    if isinstance(question, str) and question and question.isspace():
        yield Problem("question-without-text", "/question", question)
    yield from _id_problems(value)
    yield from _answer_problems(value)
    source = value.get("source")
    subset = (subset_of_source(source) if isinstance(source, str) else None) or subset_named(folder)
    yield from _evidence_problems(value, subset)
    kind = value.get("question_type")
    if subset and isinstance(kind, str) and kind not in subset.question_types:
        facts = {"subset": subset.name, "expected": ", ".join(t or '""' for t in subset.question_types)}
        yield Problem("unknown-question-type", "/question_type", kind, facts)


def _id_problems(value: dict[str, Any]) -> Iterator[Problem]:
    found = question_id(value)
    field = "qid" if value.get("qid") else "id"
    if isinstance(found, list | dict):
        yield Problem("unhashable-question-id", f"/{field}", found)
    elif not found:
        named = [n for n in ("qid", "id") if n in value]
        what = " and ".join(f"{n} is {_plain(value[n])}" for n in named) or "there is neither qid nor id"
        yield Problem("question-without-id", f"/{named[-1]}" if named else None, found, {"found": what})
    qid, other = value.get("qid"), value.get("id")
    if qid and other and isinstance(qid, str | int) and isinstance(other, str | int) and qid != other:
        yield Problem("conflicting-question-ids", "/qid", qid, {"qid": _plain(qid), "id": _plain(other)})


def _answer_problems(value: dict[str, Any]) -> Iterator[Problem]:
    field, gold = gold_answer(value)
    pointer, facts = f"/{field}", {"field": field}
    if gold == "":
        there = field in value
        what = f"{field} is empty" if there else "there is neither answer nor gold_answer"
        yield Problem("question-without-answer", pointer if there else None, gold, {"found": what})
    elif gold is None:
        yield Problem("null-answer", pointer, None, facts)
    elif isinstance(gold, bool | int | float):
        found = "a boolean" if isinstance(gold, bool) else "a number"
        yield Problem("number-answer", pointer, gold, {**facts, "found": found})
    elif not isinstance(gold, str):
        found = "a list" if isinstance(gold, list) else "an object"
        yield Problem("answer-not-text", pointer, gold, {**facts, "found": found})
    elif not (compared := without_articles(gold)):
        yield Problem("vacuous-answer", pointer, gold, facts)
    elif _MARK_INSIDE.search(gold):
        yield Problem("punctuation-in-answer", pointer, gold, {**facts, "compared": quoted(compared, 60)})


def evidence_shape(evidence: Any) -> Evidence | None:
    """Which of the five published shapes an evidence has; None if none of them."""
    if isinstance(evidence, str):
        return "text" if evidence else "blank"
    if not isinstance(evidence, list):
        return None
    if all(isinstance(e, str) for e in evidence):
        return "strings"
    if all(_is_context(e) for e in evidence):
        return "contexts"
    if all(isinstance(e, list) and all(isinstance(part, str) for part in e) for e in evidence):
        return "triples"
    return None


def _is_context(item: Any) -> bool:
    if not (isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], list)):
        return False
    return all(isinstance(sentence, str) for sentence in item[1])


def _evidence_problems(value: dict[str, Any], subset: Subset | None) -> Iterator[Problem]:
    if "evidence" not in value:
        return
    evidence = value["evidence"]
    shape = evidence_shape(evidence)
    allowed = subset.evidence if subset else tuple(_EVIDENCE_WORDS)
    # An empty list is every list's shape.
    if shape not in allowed and not (evidence == [] and allowed != ("blank",)):
        found = _EVIDENCE_WORDS[shape] if shape else _kind_of(evidence)
        expected = "one of the five published shapes"
        if subset:
            expected = " or ".join(_EVIDENCE_WORDS[s] for s in allowed) + f", as in {subset.name},"
        yield Problem("unusual-evidence", "/evidence", evidence, {"found": found, "expected": expected})
    elif subset and subset.name == "2wikimultihop":
        yield from _uneven(value, evidence)


def _uneven(value: dict[str, Any], evidence: list[list[str]]) -> Iterator[Problem]:
    for i, triple in enumerate(evidence):
        if len(triple) != 3:
            found = f"evidence {i} has {len(triple)} parts; subject, relation and object are expected"
            yield Problem("uneven-evidence", f"/evidence/{i}", triple, {"found": found})
            return
    if value.get("evidence_relations", evidence) != evidence:
        found = "evidence_relations differs from evidence; an equal copy is expected"
        yield Problem("uneven-evidence", "/evidence_relations", value["evidence_relations"], {"found": found})


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "an object" if isinstance(value, dict) else "a list of mixed things"


def _plain(value: Any) -> str:
    """A small value as JSON would show it, shortened."""
    if isinstance(value, str):
        return quoted(value, 60)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return "an empty list" if isinstance(value, list) else "an empty object"
    return str(value) if isinstance(value, float) or abs(value) < 10**18 else "a huge number"
