"""Clean HippoRAG files of forty records, and what their own checks add to the declaration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.files.hipporag.passages import passage_id
from ragdatakit.schemas.hipporag.format import HIPPORAG
from tests.faults.drafts import BLANK, Draft, DraftFile, Place, cell, member

SIZE = 40


def drafts() -> tuple[Draft, ...]:
    """One file a dataset, given by its name: what damage leaves of it need not look like one of HippoRAG.

    Results are one object a file; forty of them, a line each, are told as what they are.
    """
    files = (
        ("reefs_corpus.json", "corpus", [_passage(i) for i in range(SIZE)], ()),
        ("hotpotqa_corpus.json", "legacy-corpus", [_legacy(i) for i in range(SIZE)], ("legacy-corpus",)),
        ("reefs.json", "questions", [_question(i) for i in range(SIZE)], ()),
        ("openie_reefs_results_ner_small.json", "openie", [_results(i) for i in range(SIZE)], ("openie-as-list",)),
    )
    return tuple(
        Draft(
            f"hipporag {kind}",
            HIPPORAG,
            (DraftFile(path, HIPPORAG.file(kind), tuple(map(member if kind == "legacy-corpus" else cell, values))),),
            frozenset((rule, path) for rule in known),
            _derive,
            _own_rules,
            _consequences,
            notes={
                "entry": path,
                "format": "hipporag",
                "legacy-corpus": ("never empty", "an array is another kind"),
                "questions @id": "id",
                "corpus @passage": "title",
            },
        )
        for path, kind, values, known in files
    )


def _passage(i: int) -> dict[str, Any]:
    return {"title": f"Reef {i}", "text": f"Reef number {i} lies north of the harbour.", "idx": i}


def _legacy(i: int) -> dict[str, Any]:
    return {"title": f"Reef {i}", "sentences": [f"Reef number {i} lies north.", " The harbour lies south."]}


def _question(i: int) -> dict[str, Any]:
    paragraph = {"title": f"Reef {i}", "text": f"Reef number {i} lies north of the harbour.", "is_supporting": True}
    return {
        "id": f"q{i}",
        "question": f"Where does reef number {i} lie?",
        "answer": "north of the harbour",
        "answer_aliases": ["north"],
        "answerable": True,
        "paragraphs": [{**paragraph, "idx": 0}],
        "type": "one hop",
    }


def _results(i: int) -> dict[str, Any]:
    passage = f"Reef {i}\nReef number {i} lies north of the harbour."
    names = [f"reef number {i}", "harbour"]
    doc = {
        "idx": passage_id(passage),
        "passage": passage,
        "extracted_entities": names,
        "extracted_triples": [[names[0], "lies north of", names[1]]],
    }
    return {"docs": [doc], "avg_ent_chars": 9.5, "avg_ent_words": 2.0}


def _derive(path: str, kind: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {"@set": path}
    if kind == "questions":
        found = value.get("id", value.get("_id"))
        usable = isinstance(found, str | int) and not isinstance(found, bool)
        return {"@set": path, "@id": str(found) if usable else None}
    title, text = value.get("title"), value.get("text")
    both = isinstance(title, str) and isinstance(text, str)
    return {"@set": path, "@passage": f"{title}\n{text}" if both else None}


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    return tuple(OWN.get((kind, name, variant), "").split())


def _consequences(draft: Draft) -> set[Place]:
    """Numbers that are no places any more; results that stand twice, or under an id that is not theirs."""
    found: set[Place] = set()
    for file in draft.files:
        if file.kind.kind == "corpus":
            found |= {Place("idx-out-of-order", file.path, line) for line in _out_of_order(file)}
        elif file.kind.kind == "openie":
            found |= set(_results_faults(file))
    return found


def _out_of_order(file: DraftFile) -> Iterator[int]:
    elements = [(n, c) for n, c in enumerate(file.cells) if c.value is not BLANK]
    for place, (number, each) in enumerate(elements):
        idx = each.value.get("idx", place) if isinstance(each.value, dict) else place
        if idx != place or isinstance(idx, bool):
            yield file.line(number)


def _results_faults(file: DraftFile) -> Iterator[Place]:
    seen: set[str] = set()
    for line, value in file.records():
        docs = value.get("docs") if isinstance(value, dict) else None
        for doc in docs if isinstance(docs, list) else ():
            if not isinstance(doc, dict):
                continue
            passage = doc.get("passage")
            if not isinstance(passage, str):
                yield Place("unusable-results", file.path, line)
                continue
            if doc.get("idx") != passage_id(passage):
                yield Place("wrong-passage-id", file.path, line)
            if passage in seen:
                yield Place("repeated-results", file.path, line)
            seen.add(passage)


_NUMBERS = ("true", "a number", "a decimal", "NaN", "Infinity", "-Infinity", "1e400")
_HUGE = ("2^53 + 1", "2^63", "2^70", "-2^63 - 1")
_NO_LISTS = ("null", "text", "an object", "empty", *_NUMBERS, *_HUGE)
OWN: dict[tuple[str, str, str], str] = {
    **{("corpus", name, v): "blank-passage" for name in ("title", "text") for v in ("empty", "blank")},
    **{("legacy-corpus", "title", v): "blank-passage" for v in ("empty", "blank")},
    ("legacy-corpus", "sentences", "empty"): "blank-passage",
    ("questions", "answer", "missing"): "question-without-answer",
    **{("questions", "answer", v): "answer-not-text" for v in ("null", "an object", *_NUMBERS, *_HUGE)},
    **{("questions", "supporting_facts", v): "question-without-passages" for v in _NO_LISTS},
    ("questions", "contexts", "empty"): "no-supporting-paragraph",
    ("questions", "paragraphs", "missing"): "question-without-passages",
    ("questions", "paragraphs", "empty"): "no-supporting-paragraph",
}
