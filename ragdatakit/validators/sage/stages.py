"""The stages of one SAGE record: results and docs of retrieval, reranking and refining, and what follows from what."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeGuard

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.texts import quoted
from ragdatakit.validators.records import MAX_FLOAT
from ragdatakit.validators.sage.record import is_blank

_OTHER_KEYS = ("content", "contents")
_KEYS = {stage: (f"{stage}_results", f"{stage}_docs") for stage in ("retrieval", "reranking", "refining")}
STAGE_KEYS = frozenset(key for keys in _KEYS.values() for key in keys)
_NO_METADATA: dict[str, Any] = {}
_SCORES = (("score", "score-out-of-range"), ("similarity_score", "raw-similarity-score"))
_OLDER_LISTS = {"retrieval": ("retrieved_docs", "retrieved_documents"), "reranking": (), "refining": ("refined_docs",)}
_OTHER_SOURCES = ("results", "retrieved_docs", "retrieved_documents", "refined_docs", "context", "external_corpus")


@dataclass(slots=True)
class Stage:
    """What a record has of one stage.

    ``results`` and ``docs`` are None where the key is missing or its value no array; ``texts`` are those of the results
    (None for one that has no readable text), or of the docs where there is no result. ``is_paired``: the docs are the
    texts.
    """

    name: str
    present: bool
    results: list[Any] | None
    docs: list[Any] | None
    texts: list[Any]
    is_paired: bool

    @property
    def key(self) -> str:
        """The key that the texts come from."""
        by_results = self.results or (self.results is not None and not self.docs)
        return f"{self.name}_results" if by_results else f"{self.name}_docs"

    def place(self, index: int) -> tuple[str, str]:
        """JSON Pointer and field of a text."""
        if not self.results or not isinstance(self.results[index], dict):
            return f"/{self.key}/{index}", f"{self.key}[{index}]"
        return f"/{self.key}/{index}/text", f"{self.key}[{index}].text"


@dataclass(slots=True)
class Stages:
    """The three stages of a record, and whether it names another source of texts."""

    retrieval: Stage
    reranking: Stage
    refining: Stage
    other_source: bool

    def each(self) -> tuple[Stage, Stage, Stage]:
        """In the order of a pipeline."""
        return self.retrieval, self.reranking, self.refining


def stages_of(record: dict[str, Any]) -> Stages:
    """Read the stages of a record."""
    other = not record.keys().isdisjoint(_OTHER_SOURCES)
    return Stages(_stage(record, "retrieval"), _stage(record, "reranking"), _stage(record, "refining"), other)


def _stage(record: dict[str, Any], name: str) -> Stage:
    of_results, of_docs = _KEYS[name]
    results, docs = record.get(of_results), record.get(of_docs)
    present = of_results in record or of_docs in record
    results, docs = results if isinstance(results, list) else None, docs if isinstance(docs, list) else None
    texts: list[Any] = []
    if results:
        texts = [element.get("text") if type(element) is dict else None for element in results]
        if {*map(type, texts)} != {str}:
            texts = [text_of(element) for element in results]
    elif docs is not None:
        texts = [doc if isinstance(doc, str) else None for doc in docs]
    return Stage(name, present, results, docs, texts, docs == texts)


def text_of(element: Any) -> str | None:
    """The text of a result, also where it is a bare string or is under another key."""
    if isinstance(element, dict):
        text = element.get("text")
        if "text" not in element:
            text = next((element[k] for k in _OTHER_KEYS if k in element), None)
        return text if isinstance(text, str) else None
    return element if isinstance(element, str) else None


def stage_problems(
    record: dict[str, Any], stages: Stages, members: frozenset[str], operators_only: bool
) -> Iterator[Problem]:
    """Everything about the stages but numbers; ``members``: those without which no fault is, ``operators_only``: what
    the documentation reads is not asked for."""
    reported: set[str] = set()
    for stage in stages.each():
        if members.isdisjoint(_KEYS[stage.name]):
            continue
        if stage.results is not None:
            yield from _result_problems(stage, reported)
            yield from _pairing(stage)
        if stage.texts:
            yield from _text_problems(stage)
    yield from _halves(record)
    yield from _sources(record, stages)
    yield from _empty_stages(stages, operators_only)


def _result_problems(stage: Stage, reported: set[str]) -> Iterator[Problem]:
    """What is wrong with results one by one; ``reported``: rules of which one finding a record is enough."""
    strings: list[int] = []
    before = math.inf
    scored = stage.name != "refining"
    for i, element in enumerate(stage.results or ()):
        if type(element) is dict:
            score = element.get("score")
            if type(element.get("text")) is str:  # as most are: nothing to look at
                if (
                    type(score) is float
                    and 0 <= score <= 1
                    and score <= before
                    and "similarity_score" not in element
                    and type(element.get("metadata", _NO_METADATA)) is dict
                ):
                    before = score if scored else before
                    continue
                if element.keys().isdisjoint(("score", "similarity_score", "metadata")):
                    continue
            yield from _element_problems(stage, i, element, before, reported)
            score = element.get("similarity_score") if "score" not in element else score
            before = score if scored and is_finite(score) else before
        elif isinstance(element, str):
            strings.append(i)
        else:
            facts = {"field": f"{stage.name}_results[{i}]", "state": "is not an object"}
            yield Problem("result-without-text", f"/{stage.name}_results/{i}", element, facts)
    if strings:
        i = strings[0]
        rule = "refined-as-text" if stage.name == "refining" else "result-is-text"
        found: dict[str, Any] = {"field": f"{stage.name}_results[{i}]", "count": len(strings), "stage": stage.name}
        yield Problem(rule, f"/{stage.name}_results/{i}", (stage.results or ())[i], found)


def _element_problems(
    stage: Stage, i: int, element: dict[str, Any], before: float, reported: set[str]
) -> Iterator[Problem]:
    """The text and the scores of one result; ``before`` is the score of the one before it."""
    if type(element.get("text")) is not str:
        yield _no_text(stage.name, i, element)
    pointer, where = f"/{stage.name}_results/{i}", f"{stage.name}_results[{i}]"
    if type(element.get("metadata", _NO_METADATA)) is not dict:
        metadata = element["metadata"]
        yield Problem("metadata-not-object", f"{pointer}/metadata", metadata, {"field": f"{where}.metadata"})
    for key, rule in _SCORES:
        value = element.get(key)
        if not is_finite(value):
            if key in element:
                yield Problem("score-not-number", f"{pointer}/{key}", value, {"field": f"{where}.{key}"})
            continue
        if rule not in reported and not 0 <= value <= 1:
            reported.add(rule)
            yield Problem(rule, f"{pointer}/{key}", value, {"field": f"{where}.{key}"})
        disorder = f"{stage.name} order"
        if value > before and disorder not in reported and (key == "score" or "score" not in element):
            reported.add(disorder)
            facts = {"field": f"{where}.{key}", "before": before, "stage": stage.name}
            yield Problem("scores-not-descending", f"{pointer}/{key}", value, facts)


def is_finite(value: Any) -> TypeGuard[float]:
    """Whether a value is a number that is finite (true and false are none)."""
    if type(value) is int:
        return -MAX_FLOAT <= value <= MAX_FLOAT
    return isinstance(value, float) and math.isfinite(value)


def _no_text(name: str, i: int, element: dict[str, Any]) -> Problem:
    pointer, facts = f"/{name}_results/{i}", {"field": f"{name}_results[{i}]"}
    if "text" in element:
        return Problem(
            "result-without-text",
            f"{pointer}/text",
            element["text"],
            {**facts, "state": "has a text that is not a string"},
        )
    key = next((k for k in _OTHER_KEYS if isinstance(element.get(k), str)), "")
    if key:
        return Problem("text-under-other-key", f"{pointer}/{key}", element[key], {**facts, "key": key})
    return Problem("result-without-text", pointer, element, {**facts, "state": "has no text"})


def _pairing(stage: Stage) -> Iterator[Problem]:
    """Docs are the texts of results, one by one; where there are more of one there is no telling which."""
    if stage.results is None or stage.docs is None:
        return
    if len(stage.results) != len(stage.docs):
        facts = {"stage": stage.name, "docs": len(stage.docs), "results": len(stage.results)}
        yield Problem("uneven-stage", f"/{stage.name}_docs", stage.docs, facts)
        return
    if stage.is_paired:
        return
    for i, (doc, text) in enumerate(zip(stage.docs, stage.texts, strict=True)):
        if isinstance(doc, str) and text is not None and doc != text:
            facts = {"field": f"{stage.name}_docs[{i}]", "stage": stage.name, "index": i, "text": quoted(text)}
            yield Problem("doc-unlike-result", f"/{stage.name}_docs/{i}", doc, facts)


def _text_problems(stage: Stage) -> Iterator[Problem]:
    """Blank texts, and texts that are in the stage twice."""
    if None not in stage.texts and all(map(str.strip, stage.texts)) and len({*stage.texts}) == len(stage.texts):
        return
    first: dict[str, int] = {}
    for i, text in enumerate(stage.texts):
        if text is None:
            continue
        pointer, where = stage.place(i)
        if is_blank(text):
            yield Problem("empty-stage-text", pointer, text, {"field": where})
        elif text in first:
            facts = {"field": where, "first": stage.place(first[text])[1]}
            yield Problem("repeated-stage-text", pointer, text, facts)
        else:
            first[text] = i


def _halves(record: dict[str, Any]) -> Iterator[Problem]:
    """Stages of which one of the two keys is there."""
    present, absent = [], []
    for results, docs in _KEYS.values():
        if (results in record) != (docs in record):
            present.append(results if results in record else docs)
            absent.append(docs if results in record else results)
    if present:
        facts = {"present": ", ".join(present), "absent": ", ".join(absent)}
        yield Problem("half-a-stage", f"/{present[0]}", None, facts)


def _sources(record: dict[str, Any], stages: Stages) -> Iterator[Problem]:
    """What a stage was made from; reranking and refining may come in either order."""
    retrieval, reranking, refining = stages.each()
    later = [s.name for s in (reranking, refining) if s.texts]
    if later and not retrieval.present and not stages.other_source:
        stage = next(s for s in (reranking, refining) if s.texts)
        yield Problem("stage-without-source", f"/{stage.key}", None, {"stage": " and ".join(later)})
    if reranking.texts:
        yield from _reranked(record, reranking, [s for s in (refining, retrieval) if s.texts])
    if refining.texts:
        yield from _refined(refining, [s for s in (reranking, retrieval) if s.texts])


def _reranked(record: dict[str, Any], reranking: Stage, sources: list[Stage]) -> Iterator[Problem]:
    if not sources or any(None in source.texts for source in sources):
        return
    known: set[str] = set()
    for source in sources:
        known.update(source.texts)
        if not source.is_paired:
            known.update(d for d in source.docs or () if isinstance(d, str))
        for key in _OLDER_LISTS[source.name]:
            if isinstance(record.get(key), list):
                known.update(t for t in map(text_of, record[key]) if t is not None)
    for i, text in enumerate(reranking.texts if not known.issuperset(reranking.texts) else ()):
        if text is not None and text not in known:
            pointer, where = reranking.place(i)
            facts = {"field": where, "sources": " or ".join(s.key for s in sources)}
            yield Problem("reranked-text-unknown", pointer, text, facts)
    most = max(sources, key=lambda s: len(s.texts))
    if len(reranking.texts) > len(most.texts):
        counts: dict[str, Any] = {"count": len(reranking.texts), "source": most.name, "others": len(most.texts)}
        yield Problem("more-reranked-than-source", f"/{reranking.key}", None, counts)


def _refined(refining: Stage, sources: list[Stage]) -> Iterator[Problem]:
    if not sources:
        return
    count, nearest = len(refining.texts), sources[0]
    most = max(sources, key=lambda s: len(s.texts))
    facts: dict[str, Any] = {"count": count, "source": most.name, "others": len(most.texts)}
    if count > len(most.texts):
        yield Problem("more-refined-than-source", f"/{refining.key}", None, facts)
    elif count == 1 and len(nearest.texts) > 1:
        facts = {"source": nearest.name, "others": len(nearest.texts)}
        yield Problem("many-refined-into-one", f"/{refining.key}", None, facts)


def _empty_stages(stages: Stages, operators_only: bool) -> Iterator[Problem]:
    """An empty array hides an earlier stage from readers who look whether the key is there."""
    retrieval, reranking, refining = stages.each()
    pairs = [(refining, [reranking, retrieval])]
    if not operators_only:
        pairs.insert(0, (reranking, [retrieval]))
    for stage, earlier in pairs:
        empty = stage.results == [] or (stage.docs == [] and not operators_only)
        if not empty or (stage.texts and not operators_only):
            continue
        full = next((e for e in earlier if e.texts and not (operators_only and e is reranking)), None)
        if full is not None:
            facts = {"field": stage.key, "earlier": full.key, "count": len(full.texts)}
            yield Problem("empty-stage", f"/{stage.key}", [], facts)


def prompt_problems(record: dict[str, Any], stages: Stages) -> Iterator[Problem]:
    """A prompt without the query, or without the first text of the stage that it is made from."""
    prompt = record.get("prompt")
    if not isinstance(prompt, str):
        if "prompt" not in record and isinstance(record.get("generated"), str):
            yield Problem("generated-without-prompt", "/generated", record["generated"])
        return
    query = record.get("query")
    if isinstance(query, str) and query.strip() not in prompt:
        yield Problem("prompt-without-query", "/prompt", prompt, {"query": quoted(query)})
    stage = next((s for s in (stages.refining, stages.reranking, stages.retrieval) if s.texts), None)
    if stage is not None and isinstance(text := stage.texts[0], str) and text.strip() not in prompt:
        yield Problem("prompt-without-context", "/prompt", prompt, {"stage": stage.key, "text": quoted(text)})
