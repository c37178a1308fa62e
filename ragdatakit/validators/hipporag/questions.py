"""What HippoRAG makes of one question: its answers, the passages that are to be found, the steps. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ragdatakit.files.hipporag.passages import (
    contexts_of,
    gold_answers,
    is_context,
    paragraphs_of,
    passage_text,
    supporting_titles,
)
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.excerpts import visible
from ragdatakit.validators.hipporag.known_passages import KnownPassages
from ragdatakit.validators.lacking import lacking

_TRUE = {"true", "yes", "1"}
"""Texts that mean what Python makes of them."""
_HOPS = re.compile(r"(\d+)hop")


def question_problems(value: dict[str, Any], joiner: str, corpus: KnownPassages | None) -> Iterator[Problem]:
    """The faults of one question that the declaration does not name.

    ``corpus`` are the codes of the passages; None: they are not known.
    """
    yield from _answer_problems(value)
    broken = list(_shape_problems(value))
    yield from broken
    yield from _hotpot_problems(value) if "supporting_facts" in value else _marking_problems(value)
    if not broken and _is_listed(value):
        yield from _support_problems(value, joiner)
    if corpus is not None:
        yield from _corpus_problems(value, joiner, corpus)
    yield from _step_problems(value)


def _answer_problems(value: dict[str, Any]) -> Iterator[Problem]:
    field, answers = gold_answers(value)
    if not field:
        problem = lacking(Problem("question-without-answer"), "answer", value, ())
        near = problem.facts.get("near")
        problem.facts["found"] = f"there is no field with an answer{f' (there is {visible(near)})' if near else ''}"
        yield problem
    elif answers is None:
        yield Problem("answer-not-text", f"/{field}", value[field])
    else:
        aliases = value.get("answer_aliases")
        aliases = [a for a in aliases if isinstance(a, str)] if isinstance(aliases, list) else []
        if not (answers or aliases):
            yield Problem("question-without-answer", f"/{field}", answers, {"found": f"{field} is an empty list"})
        elif not any([*answers, *aliases]):
            yield Problem("blank-answer", f"/{field}", "")
        for i, alias in enumerate(value["answer_aliases"] if aliases else ()):
            if alias in answers:
                yield Problem("repeated-answer", f"/answer_aliases/{i}", alias)
    if value.get("answerable") is False:
        yield Problem("unanswerable-question", "/answerable", False)


def _shape_problems(value: dict[str, Any]) -> Iterator[Problem]:
    """Evidence that is missing, or that has another shape below what the declaration sees."""
    if "supporting_facts" in value:
        if "context" not in value:
            found = "there are supporting_facts without context"
            yield Problem("question-without-passages", "/supporting_facts", None, {"found": found})
        yield from _unusable(value, "supporting_facts", lambda item: bool(item) and isinstance(item[0], str))
        yield from _unusable(value, "context", is_context)
    elif "contexts" in value:
        yield from _incomplete(value["contexts"], "contexts", ("is_supporting",))
    elif "paragraphs" in value:
        yield from _incomplete(value["paragraphs"], "paragraphs", ())
    else:
        found = "there are no supporting_facts, contexts or paragraphs"
        yield Problem("question-without-passages", None, None, {"found": found})


def _is_listed(value: dict[str, Any]) -> bool:
    """Whether the fields with passages have the types that the declaration asks for."""
    items = {"supporting_facts": list, "context": list, "contexts": dict, "paragraphs": dict}
    found = [(value[field], kind) for field, kind in items.items() if field in value]
    return all(isinstance(v, list) and all(isinstance(item, kind) for item in v) for v, kind in found)


def _unusable(value: dict[str, Any], field: str, fits: Any) -> Iterator[Problem]:
    items = value.get(field)
    for i, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, list) and not fits(item):
            yield Problem("unusable-passages", f"/{field}/{i}", item, {"field": f"{field}[{i}]"})


_READ_OF_PARAGRAPH = ("title", "text", "paragraph_text", "is_supporting", "idx")


def _incomplete(items: Any, field: str, needed: tuple[str, ...]) -> Iterator[Problem]:
    for i, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict):
            continue
        pointer = f"/{field}/{i}"
        text = "paragraph_text" if field == "paragraphs" and "text" not in item else "text"
        for name in ("title", text, *needed):
            if name not in item:
                missing = "text" if name == "paragraph_text" else name
                problem = Problem("incomplete-paragraph", pointer, None, {"field": missing})
                yield lacking(problem, missing, item, _READ_OF_PARAGRAPH)
            elif name in ("title", text) and not isinstance(item[name], str):
                yield Problem("unusable-passages", f"{pointer}/{name}", item[name], {"field": f"{field}[{i}].{name}"})


def _marking_problems(value: dict[str, Any]) -> Iterator[Problem]:
    field = "contexts" if "contexts" in value else "paragraphs"
    items = value.get(field)
    for i, item in enumerate(items if isinstance(items, list) else ()):
        if not isinstance(item, dict):
            continue
        mark = item.get("is_supporting", True)
        if isinstance(mark, str) and mark and mark.strip().casefold() not in _TRUE:
            yield Problem("support-mark-misread", f"/{field}/{i}/is_supporting", mark)
        elif "is_supporting" not in item and field == "paragraphs":
            yield lacking(
                Problem("unmarked-paragraph", f"/paragraphs/{i}", None), "is_supporting", item, _READ_OF_PARAGRAPH
            )


def _hotpot_problems(value: dict[str, Any]) -> Iterator[Problem]:
    facts = value["supporting_facts"]
    if not isinstance(facts, list) or not isinstance(value.get("context"), list):
        return
    lengths: dict[str, int] = {}
    counted = Counter(title for _, title, _ in contexts_of(value))
    for _, title, sentences in contexts_of(value):
        lengths[title] = max(len(sentences), lengths.get(title, 0))
    for i, fact in enumerate(facts):
        if not (isinstance(fact, list) and fact and isinstance(fact[0], str)):
            continue
        title = fact[0]
        if title not in counted:
            yield Problem("unknown-supporting-title", f"/supporting_facts/{i}/0", title)
        elif len(fact) > 1 and type(fact[1]) is int and not 0 <= fact[1] < lengths[title]:
            facts_ = {"title": f'"{title}"', "sentences": lengths[title]}
            yield Problem("sentence-out-of-range", f"/supporting_facts/{i}/1", fact[1], facts_)
    wanted = supporting_titles(value)
    seen: set[str] = set()
    for i, title, _ in contexts_of(value):
        if title in seen and title in wanted:
            yield Problem("ambiguous-supporting-title", f"/context/{i}/0", title)
        seen.add(title)


def _support_problems(value: dict[str, Any], joiner: str) -> Iterator[Problem]:
    unnamed = "supporting_facts" in value and supporting_titles(value) and value.get("context")
    if unnamed:  # titles that no context has are reported by themselves
        return
    if not any(p.supporting for p in paragraphs_of(value, joiner)):
        field = next((f for f in ("supporting_facts", "contexts", "paragraphs") if f in value), None)
        yield Problem("no-supporting-paragraph", f"/{field}")


def _corpus_problems(value: dict[str, Any], joiner: str, corpus: KnownPassages) -> Iterator[Problem]:
    other = " " if not joiner else ""
    for paragraph in paragraphs_of(value, joiner):
        if corpus.code(paragraph.passage) in corpus:
            continue
        if not paragraph.supporting:
            yield Problem("paragraph-not-in-corpus", paragraph.pointer)
            continue
        nearly, text = "", paragraph.passage[len(passage_text(paragraph.title, "")) :]
        if corpus.code(passage_text(*(" ".join(part.split()) for part in (paragraph.title, text)))) in corpus:
            nearly = "; it has one that differs from it in blanks only"
        elif "supporting_facts" in value:
            sentences = value["context"][int(paragraph.pointer.rsplit("/", 1)[1])][1]
            if corpus.code(passage_text(paragraph.title, other.join(sentences))) in corpus:
                nearly = f"; it has one whose sentences are joined with{'' if other else 'out'} a blank"
        yield Problem("gold-passage-not-in-corpus", paragraph.pointer, None, {"nearly": nearly})


def _step_problems(value: dict[str, Any]) -> Iterator[Problem]:
    steps, paragraphs = value.get("question_decomposition"), value.get("paragraphs")
    if not isinstance(steps, list) or not isinstance(paragraphs, list):
        return
    supporting = {
        p.get("idx") for p in paragraphs if isinstance(p, dict) and type(p.get("idx")) is int and p.get("is_supporting")
    }
    for i, step in enumerate(steps):
        if isinstance(step, dict) and "paragraph_support_idx" in step:
            idx = step["paragraph_support_idx"]
            if type(idx) is not int or idx not in supporting:
                pointer = f"/question_decomposition/{i}/paragraph_support_idx"
                yield Problem("step-without-support", pointer, idx, {"step": i + 1})
    name = value.get("id")
    hops = _HOPS.match(name) if isinstance(name, str) else None
    if hops and int(hops.group(1)) != len(steps):
        facts = {"steps": len(steps), "hops": int(hops.group(1))}
        yield Problem("hops-unlike-steps", "/question_decomposition", None, facts)
