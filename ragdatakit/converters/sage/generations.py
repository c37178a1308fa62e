"""SAGE records of other generations made into documented ones, and documented ones into what today's operators read.

A record is its fields, each value as it is in the file: what nobody has to change keeps its exact form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from typing import Any

import msgspec

from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import Raw, items_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.conversions import LossKind
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.sage.older import LISTS, OLDER, STAGES, TEXT_KEYS, TIMES, stage_of_results
from ragdatakit.schemas.sage.records import RECORD

Fields = dict[str, Raw]
Refuse = Callable[[str, str, str], None]
"""Is called with place, reason and text of a record that is left out."""
KEPT_PROMPT = "ragdata_prompt"
"""Where a prompt is in records for today's operators, whose generator stumbles over ``prompt``."""
KEPT_MESSAGES = "ragdata_messages"
"""The messages that an operator passed on beside the record."""

_ENCODER = msgspec.json.Encoder()
_ORDER = tuple(f.name for f in RECORD.fields)
_DOCUMENTED_TIMES = {operators: documented for documented, operators in TIMES.items()}
_TELLING = frozenset((*OLDER, *_DOCUMENTED_TIMES, KEPT_PROMPT))
_SCORES = {"reranking": ("relevance_score", "similarity_score")}


@dataclass(frozen=True, slots=True)
class Note:
    """What was decided or changed in a record, for the loss report; ``column`` is the key that is meant, if one is."""

    kind: LossKind
    column: str | None
    reason: str
    example: str = ""


@dataclass(slots=True)
class Changed:
    """A record in its new form, and what there is to say of it."""

    record: Fields
    notes: list[Note] = field(default_factory=list)

    def note(self, kind: LossKind, column: str, reason: str, example: Raw | str = "") -> None:
        """Add a note."""
        self.notes.append(Note(kind, column, reason, example if isinstance(example, str) else _shown(example)))


def raw_of(value: Any) -> Raw:
    """A value as JSON; ``Raw`` values in it are as they are."""
    return Raw(_ENCODER.encode(value))


def is_object(raw: Raw | None) -> bool:
    """Whether a value is a JSON object."""
    return raw is not None and json_text.begins(raw, b"{")


def is_string(raw: Raw | None) -> bool:
    """Whether a value is a JSON string."""
    return raw is not None and json_text.begins(raw, b'"')


def text_in(element: Raw) -> str | None:
    """The text of a result, also where it is a bare string or is under another key."""
    if not is_object(element):
        return json_text.string_of(element)
    fields = json_text.fields_of(element)
    return next((json_text.string_of(fields[key]) for key in ("text", *TEXT_KEYS) if key in fields), None)


def number_in(raw: Raw | None) -> float | None:
    """A finite number, an integer as such; None for anything else."""
    value = json_text.loads(raw) if raw is not None else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def texts_of_stage(record: Fields, stage: str) -> list[str] | None:
    """The texts of a stage's results, or else of its docs; None where the record has neither."""
    results, docs = items_of(record.get(f"{stage}_results")), items_of(record.get(f"{stage}_docs"))
    found = results or docs
    if found is None and results is None:
        return None
    return [text for item in found or () if (text := text_in(item)) is not None]


def pair_of(items: list[Raw], choice: str | None, place: str) -> Fields | None:
    """The record that a saved pair stands for; None where it is none.

    ``choice`` says what the second of two strings is, ``docs`` or ``generated``; without it that is not guessed.
    """
    if len(items) != 2:
        return None
    first, second = items
    if is_object(first):  # the record, and the messages that go to the generator with it
        return {**json_text.fields_of(first), KEPT_MESSAGES: second} if items_of(second) is not None else None
    if not is_string(first):
        return None
    if items_of(second) is not None:
        return {"query": first, "retrieved_docs": second}
    if not is_string(second):
        return None
    if choice is None:
        raise RagdataError(
            f"{place} is a pair of two strings: the second is a document or the answer; "
            "say which with --option pair=docs or pair=generated"
        )
    return {"query": first, **({"retrieved_docs": second} if choice == "docs" else {"pred": second})}


def needs_renaming(record: Fields) -> bool:
    """Whether a record has anything that is not of the documented generation."""
    if not _TELLING.isdisjoint(record):
        return True
    question = record.get("question")
    if question is not None and not is_object(question):
        return True
    lists = (record.get(f"{stage}_results") for stage in STAGES)
    return any(found is not None and not _all_have_text(found) and _has_older_elements(found) for found in lists)


class _WithText(msgspec.Struct):
    text: Raw


_ALL_WITH_TEXT = msgspec.json.Decoder(list[_WithText])


def _all_have_text(results: Raw) -> bool:
    """Whether all are objects with ``text``, as most are: none of them is an older one."""
    try:
        _ALL_WITH_TEXT.decode(results)
    except msgspec.DecodeError:
        return False
    return True


def _has_older_elements(results: Raw) -> bool:
    return any(map(_is_older_element, items_of(results) or ()))


def _is_older_element(element: Raw) -> bool:
    if not is_object(element):
        return is_string(element)
    fields = json_text.fields_of(element)
    return "text" not in fields and any(key in fields for key in TEXT_KEYS)


class _Unclear(Exception):
    """A record cannot be said in the documented names; the message says why."""


def to_documented(
    record: Fields, place: str, refuse: Refuse, stage: str = "auto", complete: bool = False
) -> Changed | None:
    """A record of any generation under the documented names, where it has others; doing it again changes nothing. None
    where it is left out: an older key and the one that replaces it differ, or a result has no text.

    ``stage`` says what the older ``results`` are of; with ``complete`` a documented record, too, gets the docs of its
    results, and results of its docs. Raises `RagdataError` where that must be said by an option: ``place`` names the
    record.
    """
    if not complete and not needs_renaming(record):
        return Changed(record)
    renaming = _Renaming(record, place, stage)
    try:
        renaming.run()
    except _Unclear as why:
        refuse(place, str(why), json_text.dumps(record))
        return None
    kept = renaming.changed.record
    ordered = {name: kept[name] for name in _ORDER if name in kept}
    renaming.changed.record = ordered | kept
    return renaming.changed


def _differing(older: str, key: str) -> _Unclear:
    return _Unclear(f"{older} and {key} mean the same and differ")


class _Renaming:
    """One record on its way to the documented names."""

    def __init__(self, record: Fields, place: str, stage: str) -> None:
        self.changed = Changed(dict(record))
        self._record = self.changed.record
        self._place = place
        self._stage = stage
        self._decided = ""
        if "results" in record:
            self._decide(record, stage)

    def run(self) -> None:
        """All steps; each takes what it replaces out of the record."""
        self._question()
        self._metrics()
        for older, documented in _DOCUMENTED_TIMES.items():
            if older in self._record:
                self._move(older, documented, self._record.pop(older))
        if KEPT_PROMPT in self._record:
            self._move(KEPT_PROMPT, "prompt", self._record.pop(KEPT_PROMPT))
        self._answer()
        for stage in STAGES:
            self._normalise(stage)
        for key, stage in LISTS.items():
            if key in self._record:
                self._merge(key, stage)
        if "results" in self._record:
            self._merge("results", self._decided)
        for stage in STAGES:
            self._complete(stage)
        self._check_reranked()

    def _decide(self, record: Fields, stage: str) -> None:
        if stage == "auto":
            keys = ("results", *LISTS, *(f"{s}_{part}" for s in STAGES for part in ("docs", "results")))
            decoded: dict[str, Any] = {key: json_text.loads(record[key]) for key in keys if key in record}
            decoded |= dict.fromkeys(("refine_time", "refine_metrics") & record.keys())
            stage = stage_of_results(decoded)
        self._decided = stage

    def _move(self, older: str, key: str, value: Raw) -> None:
        """Under the new name, unless the same is there already."""
        present = self._record.get(key)
        if present is None:
            self._record[key] = value
        elif json_text.loads(present) != json_text.loads(value):
            raise _differing(older, key)

    def _question(self) -> None:
        question = self._record.get("question")
        if question is None or is_object(question):
            return
        del self._record["question"]
        if not is_string(question):
            if bytes(question) != b"null":
                self._record["custom_question"] = question
                self.changed.note("derived", "question", "no object: it is kept as custom_question", question)
        elif "query" not in self._record:
            self._record["query"] = question
        elif json_text.string_of(self._record["query"]) != json_text.string_of(question):
            self._record["custom_question"] = question
            self.changed.note("derived", "question", "not the query: it is kept as custom_question", question)

    def _metrics(self) -> None:
        metrics = self._record.pop("refine_metrics", None)
        if metrics is None:
            return
        rest = json_text.fields_of(metrics) if is_object(metrics) else None
        seconds = number_in(rest.get("refine_time")) if rest is not None else None
        if rest is not None and seconds is not None and seconds >= 0:
            self._move("refine_metrics.refine_time", "refining_time", rest.pop("refine_time"))
        left = metrics if rest is None else raw_of(rest)
        if rest != {}:
            self._move("refine_metrics", "custom_refine_metrics", left)
        self.changed.note("derived", "refine_metrics", "the time became refining_time, the rest custom_refine_metrics")

    def _answer(self) -> None:
        if "pred" in self._record:
            value = self._record.pop("pred")
            text = self._as_text("pred", value)
            if text is not None:
                self._move("pred", "generated", text)
                self.changed.note("derived", "pred", "the older name became generated", value)
        if "golds" in self._record:
            value = self._record.pop("golds")
            items = items_of(value)
            if items is None:
                self.changed.note("coerced", "golds", "one answer became an array of one", value)
                items = [value]
            texts = [text for item in items if (text := self._as_text("golds", item, blank=False)) is not None]
            self._move("golds", "references", raw_of(texts))
            self.changed.note("derived", "golds", "the older name became references", value)

    def _as_text(self, key: str, raw: Raw, blank: bool = True) -> Raw | None:
        """A string; what else was there, as its JSON text. Nothing for null, and for an empty one where none may be."""
        if is_string(raw) and (blank or bytes(raw) != b'""'):
            return raw
        if is_string(raw) or bytes(raw) == b"null":
            self.changed.note("dropped", key, "it holds no text", raw)
            return None
        self.changed.note("coerced", key, "a value that is not a string became its text", raw)
        return raw_of(json_text.compact(raw))

    def _merge(self, key: str, stage: str) -> None:
        """An older list becomes results and docs of its stage."""
        value = self._record.pop(key)
        items = items_of(value)
        if items is None:
            items = [] if bytes(value) == b"null" else [value]
        elements = [self._element(stage, item, key) for item in items]
        texts = [text for e in elements if e is not None and (text := text_in(e)) is not None]
        if len(texts) != len(items):
            raise _Unclear(f"{key} has something without a text")
        present = texts_of_stage(self._record, stage)
        rich = any(map(is_object, items))
        if present is None or (present == texts and rich and f"{stage}_results" not in self._record):
            if rich:
                self._record[f"{stage}_results"] = raw_of(elements)
            self._record[f"{stage}_docs"] = raw_of(texts)
            by = f", as option results-stage says ({stage})" if key == "results" and self._stage != "auto" else ""
            self.changed.note("derived", key, f"the older name became {stage}_results and {stage}_docs{by}")
        elif texts and present != texts:
            raise _differing(key, f"{stage}_results" if f"{stage}_results" in self._record else f"{stage}_docs")
        else:
            self.changed.note("derived", key, f"it says nothing that {stage}_docs does not; left out")

    def _normalise(self, stage: str) -> None:
        items = items_of(self._record.get(f"{stage}_results"))
        if items is not None:
            elements = [self._element(stage, item, f"{stage}_results") or item for item in items]
            self._record[f"{stage}_results"] = raw_of(elements)

    def _element(self, stage: str, item: Raw, key: str) -> Raw | None:
        """A result as an object with its text and score under the documented names; None where it has no text."""
        if not is_object(item):
            return raw_of({"text": item}) if is_string(item) else None
        fields = json_text.fields_of(item)
        renamed: dict[str, str] = {}
        if "text" not in fields:
            found = next((k for k in TEXT_KEYS if k in fields), "")
            if not is_string(fields.get(found)):
                return None
            renamed[found] = "text"
        if "score" not in fields:
            scores = _SCORES.get(stage, ("similarity_score", "relevance_score"))
            score = next((k for k in scores if number_in(fields.get(k)) is not None), "")
            renamed |= {score: "score"} if score else {}
        for older, name in renamed.items():
            self.changed.note("derived", key, f"{older} of a result became {name}", fields[older])
        return raw_of({renamed.get(k, k): v for k, v in fields.items()}) if renamed else item

    def _complete(self, stage: str) -> None:
        """Results from docs, docs from results: only texts, nothing else is made up."""
        results, docs = items_of(self._record.get(f"{stage}_results")), items_of(self._record.get(f"{stage}_docs"))
        if results is not None and f"{stage}_docs" not in self._record:
            texts = [text_in(item) for item in results]
            if None not in texts:
                self._record[f"{stage}_docs"] = raw_of(texts)
        elif docs is not None and f"{stage}_results" not in self._record and all(map(is_string, docs)):
            self._record[f"{stage}_results"] = raw_of([{"text": doc} for doc in docs])

    def _check_reranked(self) -> None:
        """Results that were taken for reranked must be some of the others."""
        if self._decided != "reranking":
            return
        sources = [t for s in ("refining", "retrieval") if (t := texts_of_stage(self._record, s))]
        reranked = texts_of_stage(self._record, "reranking") or []
        known = {text for source in sources for text in source}
        if sources and (not set(reranked) <= known or len(reranked) > max(map(len, sources))):
            raise RagdataError(
                f"{self._place}: results look reranked, and are not among the retrieved texts; "
                "say of which stage they are with --option results-stage"
            )


def is_for_operators(before: str) -> bool:
    """Whether what was in a file is an object that today's operators read, as far as names and types go."""
    if not before.startswith("{"):
        return False
    record = json_text.fields_of(before)
    results = (e for stage in STAGES for e in items_of(record.get(f"{stage}_results")) or ())
    older = any(is_object(e) and _is_older_element(e) for e in results)
    return not older and not any(key in OLDER for key in record) and "query" in record


def to_operators(record: Fields, move_reranked: bool = False) -> Changed:
    """What today's operators read: their names of times, results alone, refined texts as strings, no reranking.

    ``move_reranked`` puts the reranked results in the place of the retrieved ones where nothing was refined.
    """
    changed = Changed({})
    refined = texts_of_stage(record, "refining")
    reranked = texts_of_stage(record, "reranking")
    moved = move_reranked and bool(reranked) and not refined
    for key, raw in record.items():
        stage, _, part = key.rpartition("_")
        if key in TIMES:
            changed.record.setdefault(TIMES[key], raw)
        elif key == "prompt":
            changed.record[KEPT_PROMPT] = raw
            changed.note("coerced", key, f"today's generator stumbles over prompt: it is kept as {KEPT_PROMPT}", raw)
        elif key == "generated" and bytes(raw) == b'""':
            changed.note("lost", key, "an empty answer stops today's metrics")
        elif stage == "reranking" and part in ("results", "docs", "time"):
            if part == "time" or (not moved and not (part == "docs" and "reranking_results" in record)):
                changed.note("lost", key, "today's operators have no reranking stage", raw)
        elif stage in STAGES and part in ("results", "docs"):
            _operators_stage(changed, record, stage)
        else:
            changed.record[key] = raw
    if moved:
        _move_reranked(changed, record)
    if not refined and "refining_results" in changed.record and texts_of_stage(record, "retrieval"):
        del changed.record["refining_results"]
        changed.note("lost", "refining_results", "empty, it would hide the retrieved texts")
    return changed


def _operators_stage(changed: Changed, record: Fields, stage: str) -> None:
    key = f"{stage}_results"
    if key in changed.record:
        return
    results, docs = items_of(record.get(key)), items_of(record.get(f"{stage}_docs"))
    if not results and docs:
        changed.record[key] = raw_of(docs if stage == "refining" else [{"text": doc} for doc in docs])
    elif results is None or stage != "refining":
        changed.record[key] = record.get(key, Raw(b"[]"))
    else:
        for item in results:
            if is_object(item) and len(more := json_text.fields_of(item)) > 1:
                more.pop("text", None)
                changed.note("lost", key, "refined texts are bare strings: their numbers have no place", raw_of(more))
        changed.record[key] = raw_of([text for item in results if (text := text_in(item)) is not None])


def _move_reranked(changed: Changed, record: Fields) -> None:
    results = items_of(record.get("reranking_results")) or [
        raw_of({"text": doc}) for doc in items_of(record.get("reranking_docs")) or ()
    ]
    if record.get("retrieval_results") is not None or record.get("retrieval_docs") is not None:
        changed.note("coerced", "retrieval_results", "the reranked results took the place of the retrieved ones")
    changed.record["retrieval_results"] = raw_of(results)


def _shown(raw: Raw) -> str:
    return bytes(raw)[:200].decode("utf-8", "replace")
