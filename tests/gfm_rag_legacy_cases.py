"""The cases of the older layout, read by release 1.0.0: section 7 of the specification.

What is said of upstream is said of that release; the current one has no reader, which `legacy-layout` reports of each.
"""

from __future__ import annotations

import json

from tests.gfm_rag_behaviour import (
    CORPUS,
    DOCUMENT,
    ENTITIES,
    FINE,
    KG,
    KG_LINES,
    TEST,
    Case,
    Does,
    drops,
    fine,
    lines,
    misreads,
    old,
    questions,
    raises,
    risky,
)

EMPTY = "RuntimeError: stack expects a non-empty TensorList"


def _kg(name: str, rows: tuple[str, ...], does: Does, rules: str) -> Case:
    return Case(f"7 kg.txt: {name}", {KG: lines(*rows)}, does, rules, base="legacy")


def _entities(name: str, value: object, does: Does, rules: str) -> Case:
    text = value if isinstance(value, str) else json.dumps(value)
    return Case(f"7 document2entities.json: {name}", {ENTITIES: text}, does, rules, base="legacy")


def _asked(name: str, changes: dict[str, object], does: Does, rules: str) -> Case:
    """A sound question, and this one behind it."""
    sound = old(id="h0", question="What was towed?")
    return Case(f"7 question {name}", {TEST: questions(sound, old(**changes))}, does, rules, base="legacy")


LEGACY = (
    Case("7 sound", {}, fine(nodes=3, edges=2, mentions=2, samples={"train": 0, "test": 1}), "", base="legacy"),
    _kg(
        "a comma in a phrase", (*KG_LINES, "port hale, skarn,lies in,skarn"), drops(skipped_edges=1), "triple-not-three"
    ),
    _kg("two parts", (*KG_LINES, "port hale,skarn"), drops(skipped_edges=1), "triple-not-three"),
    _kg("a blank line", (*KG_LINES, "", "port hale,lies in,skarn"), fine(skipped_edges=1, edges=3), ""),
    _kg(
        "parts with spaces around them",
        (*KG_LINES, "port hale, lies in, skarn"),
        risky(names=["osprey", "lena", "port hale", " skarn"]),
        "untrimmed-part",
    ),
    _kg("an empty part", (*KG_LINES, "port hale,,skarn"), risky(nodes=4), "empty-part"),
    _kg("a line twice", (*KG_LINES, KG_LINES[0]), risky(edges=3), "repeated-triple"),
    _kg("two commas for one", tuple(r.replace(",", ",,") for r in KG_LINES), raises(EMPTY), "double-comma-delimiter"),
    *(
        Case(
            f"7 {path.rsplit('/', 1)[1]} missing",
            {path: None},
            raises("FileNotFoundError"),
            "missing-legacy-file",
            base="legacy",
        )
        for path in (KG, ENTITIES, CORPUS)
    ),
    _entities(
        "an unknown entity",
        {"Harbour log": ["osprey", "lena", "gull"]},
        misreads(mentions=2),
        "unknown-document-entity",
    ),
    _entities(
        "a document that is not in the corpus",
        {"Harbour log": ["osprey", "lena"], "Sea log": ["lena"]},
        Does("raises", "KeyError", "read"),
        "document-not-in-corpus",
    ),
    Case(
        "7 a document without entities",
        {CORPUS: json.dumps({"Harbour log": DOCUMENT, "Sea log": "x"})},
        risky(documents=1),
        "document-without-entities",
        base="legacy",
    ),
    _entities("null", {"Harbour log": None}, raises("TypeError"), "entities-not-list"),
    _entities("a number", {"Harbour log": 7}, raises("TypeError"), "entities-not-list"),
    _entities("text for a list", {"Harbour log": "osprey"}, misreads(mentions=0), "entities-is-text"),
    _entities("no JSON", "{", raises("JSONDecodeError"), "legacy-not-json"),
    _entities("a list", "[]", raises("AttributeError"), "legacy-not-object"),
    *(
        _asked(f"without {name}", {name: ...}, raises(f"KeyError: '{name}'"), "missing-legacy-field")
        for name in ("question_entities", "supporting_entities", "supporting_facts", "question")
    ),
    _asked("without id", {"id": ...}, FINE, ""),
    *(
        _asked(
            f"without known {name}",
            {name: ["gull"]},
            misreads(samples={"train": 0, "test": 1}),
            "legacy-sample-skipped",
        )
        for name in ("question_entities", "supporting_entities", "supporting_facts")
    ),
    _asked(
        "with facts like HotpotQA's",
        {"supporting_facts": [["Harbour log", 0]]},
        raises("TypeError: unhashable type: 'list'"),
        "supporting-facts-pairs",
    ),
    Case(
        "7 no usable question",
        {TEST: questions(old(question_entities=["gull"]))},
        raises(EMPTY),
        "legacy-sample-skipped no-usable-legacy-sample",
        base="legacy",
    ),
    Case("7 no file of questions", {TEST: None}, raises(EMPTY), "no-usable-legacy-sample", base="legacy"),
    Case(
        "7 a title twice",
        {CORPUS: '{"Harbour log": "x", "Harbour log": "y"}'},
        Does("misreads", action="read"),
        "repeated-legacy-title",
        base="legacy",
    ),
)
