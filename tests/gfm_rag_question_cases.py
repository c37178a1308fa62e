"""The cases of documents and questions, raw and processed: sections 2.8 to 2.10, 3.4 and 3.5 of the specification."""

from __future__ import annotations

import json
from typing import Any

from tests.gfm_rag_behaviour import (
    DOCUMENTS,
    EDGE_LINES,
    EDGES,
    FINE,
    MINIMAL,
    NODE_LINES,
    NODES,
    RAW_TEST,
    RISKY,
    TEST,
    TRAIN,
    Case,
    Does,
    another,
    asked,
    drops,
    fine,
    lines,
    misreads,
    nodes,
    questions,
    raises,
    raw,
    risky,
)

EMPTY = "RuntimeError: stack expects a non-empty TensorList"

DOCUMENT_CASES = (
    *(
        Case(f"2.8 {name}, stage1 is there", {DOCUMENTS: text}, RISKY, rules)
        for name, text, rules in (
            ("a list", "[]", "unusable-documents"),
            ("null", "null", "unusable-documents"),
            ("a document that is null", '{"Harbour log": null}', "unusable-document"),
            ("a document that is an object", '{"Harbour log": {"text": "x"}}', "unusable-document"),
            ("a title twice", '{"Harbour log": "x", "Harbour log": "y"}', "repeated-built-title"),
        )
    ),
    Case("2.8 no document, stage1 is there", {DOCUMENTS: "{}"}, FINE, ""),
    *(
        Case(f"2.8 {name}, stage1 is to be built", {DOCUMENTS: text}, raises(error, "build"), rules, base="raw")
        for name, text, error, rules in (
            ("a list", "[]", "AttributeError: 'list' object has no attribute 'items'", "documents-not-object"),
            ("null", "null", "AttributeError", "documents-not-object"),
            ("a document that is null", '{"Harbour log": null}', "TypeError", "document-not-text"),
            ("a document that is an object", '{"Harbour log": {"text": "x"}}', "TypeError", "document-not-text"),
            ("a document that is a list", '{"Harbour log": ["x"]}', "TypeError", "document-not-text"),
            ("a document that is a number", '{"Harbour log": 7}', "TypeError", "document-not-text"),
            ("no document", "{}", "FileNotFoundError", "no-documents"),
        )
    ),
    Case(
        "2.8 a title twice, stage1 is to be built",
        {DOCUMENTS: '{"Harbour log": "Osprey | towed | Lena.", "Harbour log": "Gull | towed | Lena."}'},
        misreads("build", names=["Harbour log", "gull", "lena"]),
        "repeated-title",
        base="raw",
    ),
    Case(
        "2.8 a text in Japanese",
        {DOCUMENTS: '{"港の記録": "鶚号 | 曳いた | レナ号. 鴎号 | 曳いた | レナ号."}'},
        Does("risky", action="build", shows={"names": ["港の記録"], "edges": 0}),
        "raw-text-not-ascii",
        base="raw",
    ),
    Case(
        "2.8 accented letters",
        {DOCUMENTS: '{"Harbour log": "Côte d\'Ivoire | exports | cocoa."}'},
        Does("fine", action="build", shows={"names": ["Harbour log", "c te d ivoire", "cocoa"]}),
        "",
        base="raw",
    ),
    Case(
        "2.8 a title like an entity",
        {DOCUMENTS: '{"osprey": "Osprey | towed | Lena. Osprey | left | Skarn."}'},
        Does("risky", action="build", shows={"names": ["osprey", "lena", "skarn"]}),
        "title-is-entity",
        base="raw",
    ),
)


def _raw(name: str, samples: Any, reasoner: Does, rules: str, gfm_rag: Does | None = None) -> Case:
    text = samples if isinstance(samples, str) else questions(*samples)
    return Case(f"2.9 {name}", {RAW_TEST: text}, reasoner, rules, gfm_rag, base="raw questions")


def _built(constructor: str) -> Does:
    return Does("fine", action="construct", options={"constructor": constructor})


_HIPPO, _OLDER, _NER = "hippo", "gfm-rag", "reasoner"


def _constructing(error: str, reasoner: str = _HIPPO, **options: Any) -> Does:
    return raises(error, "construct", constructor=reasoner, **options)


RAW_CASES = (
    _raw("sound", [raw()], _built(_HIPPO), "", _built(_OLDER)),
    _raw(
        "JSON Lines",
        "\n".join(json.dumps(s) for s in (raw(), raw(id="h2"))),
        _constructing("JSONDecodeError"),
        "questions-as-lines",
    ),
    _raw("an object", json.dumps({"data": [raw()]}), _constructing("TypeError"), "questions-not-list"),
    _raw("no JSON", "[{", _constructing("JSONDecodeError"), "questions-not-json"),
    _raw("no object", [raw(), "h2"], _constructing("TypeError"), "question-not-object"),
    _raw(
        "without id",
        [raw(id=...)],
        _constructing("KeyError: 'id'", _NER),
        "missing-raw-field",
        _constructing("KeyError: 'id'", _OLDER),
    ),
    _raw(
        "without question",
        [raw(question=...)],
        _constructing("KeyError: 'question'"),
        "missing-raw-field",
        _constructing("KeyError: 'question'", _OLDER),
    ),
    _raw(
        "a question that is null",
        [raw(question=None)],
        _constructing("TypeError"),
        "raw-question-not-text",
        _constructing("TypeError", _OLDER),
    ),
    _raw(
        "without answer", [raw(answer=...)], _constructing("KeyError: 'answer'"), "missing-raw-answer", _built(_OLDER)
    ),
    *(
        _raw(f"the answer {value!r}", [raw(answer=value)], _constructing("TypeError", _NER), "answer-not-text")
        for value in (None, 7, ["Lena"])
    ),
    _raw(
        "supporting_documents null",
        [raw(supporting_documents=None)],
        _constructing("TypeError", _OLDER),
        "supporting-documents-not-list",
    ),
    _raw(
        "supporting_documents a text",
        [raw(supporting_documents="Harbour log")],
        misreads("construct", {"constructor": _HIPPO}, documents=["Harbour log"]),
        "supporting-documents-not-list",
    ),
    _raw("without supporting_documents", [raw(supporting_documents=...)], _built(_HIPPO), "", _built(_OLDER)),
    _raw(
        "start_nodes in a raw file",
        [raw(start_nodes={"entity": ["lena"]})],
        Does("risky", action="construct", options={"constructor": _NER}, shows={"starts": [["osprey", "osprey"]]}),
        "raw-nodes-overwritten",
    ),
    _raw(
        "supporting_facts",
        [raw(supporting_documents=..., supporting_facts=["Harbour log"])],
        Does("risky", action="construct", options={"constructor": _NER}, shows={"documents": [[]]}),
        "supporting-facts-ignored",
    ),
    _raw(
        "a title that is no document",
        [raw(supporting_documents=["Sea log"])],
        Does("risky", action="construct", options={"constructor": _NER}, shows={"documents": [["Sea log"]]}),
        "unknown-supporting-document",
    ),
    _raw(
        "an id twice",
        [raw(), raw(question="Where is Port Hale?")],
        misreads("construct", {"constructor": _NER}, distinct=1),
        "duplicate-question-id",
    ),
    Case("2.9 raw questions beside processed ones", {RAW_TEST: questions(raw(id=...))}, FINE, ""),
    Case("2.9 no JSON beside processed questions", {RAW_TEST: "[{"}, RISKY, "unusable-raw-questions"),
)


def _test(name: str, changes: dict[str, Any], does: Does, rules: str, gfm_rag: Does | None = None, **more: Any) -> Case:
    """A sound question, and this one behind it."""
    return Case(name, {TEST: questions(asked(), another(**changes))}, does, rules, gfm_rag, **more)


def _evaluated(name: str, changes: dict[str, Any], error: str, evaluator: str, rules: str) -> Case:
    return _test(f"2.9 {name}", changes, raises(error, "evaluate", evaluator=evaluator), rules)


EVALUATION = (
    *(
        _evaluated(f"the processed answer {value!r}", {"answer": value}, "AttributeError", "hotpot", "answer-not-text")
        for value in (None, 7, ["Lena"], True)
    ),
    _test("2.9 a processed question without answer", {"answer": ...}, RISKY, "missing-answer"),
    *(
        _evaluated(f"answer_aliases {value!r}", {"answer_aliases": value}, "TypeError", evaluator, "aliases-not-list")
        for value in (None, "Lena")
        for evaluator in ("musique",)
    ),
    _evaluated("answer_aliases [7]", {"answer_aliases": [7]}, "AttributeError", "two-wiki", "aliases-not-list"),
    _test("2.9 without answer_aliases", {"answer_aliases": ...}, FINE, "missing-evaluation-field"),
    _evaluated(
        "no supporting document",
        {"supporting_documents": []},
        "ZeroDivisionError",
        "retrieval",
        "empty-supporting-documents",
    ),
    _evaluated(
        "processed supporting_documents null",
        {"supporting_documents": None},
        "TypeError",
        "retrieval",
        "supporting-documents-not-list",
    ),
    _test(
        "2.9 without processed supporting_documents", {"supporting_documents": ...}, FINE, "missing-evaluation-field"
    ),
)

ONE = {"skipped_samples": 1}

PROCESSED = (
    Case("2.10 ids that are integers", {TEST: questions(asked(id=1), another(id=2))}, fine(samples={"test": 2}), ""),
    Case(
        "2.10 a text and an integer", {TEST: questions(asked(), another(id=7))}, raises("Arrow"), "mixed-question-ids"
    ),
    Case(
        "2.10 an integer and a text", {TEST: questions(asked(id=7), another())}, raises("Arrow"), "mixed-question-ids"
    ),
    Case(
        "2.10 texts in train, integers in test",
        {TRAIN: questions(asked()), TEST: questions(another(id=7))},
        raises("Arrow"),
        "mixed-question-ids",
    ),
    Case(
        "2.10 a boolean and an integer",
        {TEST: questions(asked(id=True), another(id=7))},
        raises("Arrow"),
        "mixed-question-ids",
    ),
    Case(
        "2.10 ids that are booleans",
        {TEST: questions(asked(id=True), another(id=False))},
        FINE,
        "",
        differs="page: loads, and every sample is found again",
    ),
    Case(
        "2.10 an id that is null", {TEST: questions(asked(id=None))}, raises("TypeError", "predict"), "question-id-null"
    ),
    Case(
        "2.10 an id that is a decimal",
        {TEST: questions(asked(id=1.1), another(id=2.7))},
        raises("KeyError", "predict"),
        "question-id-decimal",
    ),
    Case(
        "2.10 an id beyond 64 bits",
        {TEST: questions(asked(id=2**64))},
        raises("OverflowError"),
        "question-id-too-big integer-beyond-2-53",
    ),
    Case("2.10 the largest id", {TEST: questions(asked(id=2**63 - 1))}, FINE, "integer-beyond-2-53"),
    Case(
        "2.10 an id that is half a surrogate pair",
        {TEST: questions(asked(id="\ud800h"))},
        raises("UnicodeEncodeError"),
        "question-id-surrogate lone-surrogate",
    ),
    Case(
        "2.10 an id that is a list",
        {TEST: questions(asked(id=["h1"]))},
        raises("TypeError", "predict"),
        "question-id-other",
    ),
    Case(
        "2.10 an id that is an object",
        {TEST: questions(asked(id={"a": "b"}))},
        raises("TypeError", "predict"),
        "question-id-other",
    ),
    *(
        Case(
            f"2.10 the question {value!r}",
            {TEST: questions(asked(question=value))},
            raises("TypeError"),
            "question-not-text",
        )
        for value in (None, 7, ["Which boat?"])
    ),
    Case("2.10 an empty question", {TEST: questions(asked(question=""))}, FINE, ""),
    *(
        _test(f"2.10 without {name}", {name: ...}, raises(f"KeyError: '{name}'"), "missing-question-field")
        for name in ("id", "question", "start_nodes", "target_nodes")
    ),
    *(
        _test(f"2.10 {name} {value!r}", {name: value}, raises("AttributeError"), "nodes-not-object")
        for name in ("start_nodes", "target_nodes")
        for value in (["osprey"], None, "osprey", 7)
    ),
    *(
        _test(
            f"2.10 a list of nodes that is {value!r}",
            {"start_nodes": {"entity": value}},
            raises("TypeError"),
            "node-list-not-list",
        )
        for value in (None, 7, True)
    ),
    _test(
        "2.10 a list of nodes that is an object",
        {"start_nodes": {"entity": {"osprey": 1}}},
        fine(samples={"test": 2}),
        "",
        differs="the names of its members are taken",
    ),
    *(
        _test(
            f"2.10 a node that is {value!r}",
            {"start_nodes": {"entity": ["osprey", value]}},
            raises("TypeError: unhashable"),
            "node-name-not-text",
        )
        for value in (["osprey"], {"name": "osprey"})
    ),
    *(
        _test(
            f"2.10 only a node that is {value!r}",
            {"start_nodes": {"entity": [value]}},
            drops(**ONE),
            "node-name-not-text no-known-start-node",
        )
        for value in (7, None, True)
    ),
    _test("2.10 a node twice", {"start_nodes": {"entity": ["osprey", "osprey"]}}, fine(samples={"test": 2}), ""),
    _test(
        "2.10 a type that no node has",
        {"start_nodes": {"ship": ["osprey"]}},
        risky(samples={"test": 2}),
        "node-under-other-type",
    ),
    _test(
        "2.10 text for a list of start nodes",
        {"start_nodes": {"entity": "osprey"}},
        drops(**ONE),
        "node-list-is-text no-known-start-node",
    ),
    _test(
        "2.10 text for a list of targets",
        {"target_nodes": {"document": ["Harbour log"], "entity": "lena"}},
        misreads(targets={"test": [["Harbour log", "lena"], ["Harbour log"]]}),
        "node-list-is-text no-entity-target",
    ),
    Case("2.10 no question", {TEST: "[]"}, raises(EMPTY), "no-usable-sample"),
    Case("2.10 no question in train", {TRAIN: "[]"}, risky(samples={"train": 0, "test": 1}), "empty-split"),
    Case("2.10 no file of questions", {TEST: None}, FINE, ""),
    Case(
        "2.10 the first file has a sample only",
        {TRAIN: questions(asked()), TEST: questions(another(start_nodes={"entity": ["gull"]}))},
        drops(**ONE),
        "no-known-start-node empty-split",
    ),
)

WARNINGS = (
    _test("3.4 E36 no known start node", {"start_nodes": {"entity": ["Osprey"]}}, drops(**ONE), "no-known-start-node"),
    _test("3.4 E36 no start node", {"start_nodes": {}}, drops(**ONE), "no-known-start-node"),
    _test("3.4 E37 no known target", {"target_nodes": {"document": ["Sea log"]}}, drops(**ONE), "no-known-target-node"),
    _test("3.4 E37 no target", {"target_nodes": {"document": []}}, drops(**ONE), "no-known-target-node"),
    *(
        Case(f"3.4 E09 {name}", {TEST: text}, raises(error), rules)
        for name, text, error, rules in (
            ("an object", json.dumps({"data": [asked()]}), "TypeError", "questions-not-list"),
            ("an empty object", "{}", EMPTY, "questions-not-list"),
            ("a number", "7", "TypeError", "questions-not-list"),
            ("a text", '"questions"', "TypeError", "questions-not-list"),
            ("null", "null", "TypeError", "questions-not-list"),
            ("no JSON", "[{", "JSONDecodeError", "questions-not-json"),
            (
                "JSON Lines",
                "\n".join(json.dumps(s) for s in (asked(), another())),
                "JSONDecodeError: Extra data",
                "questions-as-lines",
            ),
            ("a list of texts", '["h1"]', "TypeError", "question-not-object"),
            ("a list with null", json.dumps([asked(), None]), "TypeError", "question-not-object"),
        )
    ),
    Case(
        "3.4 E33 an id twice in a file",
        {TEST: questions(asked(), another(id="h1"))},
        misreads("predict", distinct=1, answered=["h1", "h1"]),
        "duplicate-question-id",
    ),
    Case(
        "3.4 E33 an id in train and in test",
        {TRAIN: questions(another(id="h1")), TEST: questions(asked())},
        Does("misreads", action="read"),
        "duplicate-question-id",
    ),
    _test(
        "3.5 W01 an unknown start node",
        {"start_nodes": {"entity": ["osprey", "gull"]}},
        risky(samples={"test": 2}),
        "unknown-start-node",
    ),
    _test(
        "3.5 W01 an unknown target",
        {"target_nodes": {"document": ["Harbour log"], "entity": ["lena", "gull"]}},
        misreads(targets={"test": [["Harbour log", "lena"]] * 2}),
        "unknown-target-node",
    ),
    _test(
        "3.5 W02 a node under another type",
        {"start_nodes": {"document": ["osprey"]}},
        risky(samples={"test": 2}),
        "node-under-other-type",
    ),
    _test("3.5 W03 no document among the targets", {"target_nodes": {"entity": ["lena"]}}, RISKY, "no-document-target"),
    _test(
        "3.5 W03 no entity among the targets",
        {"target_nodes": {"document": ["Harbour log"]}},
        FINE,
        "no-entity-target",
        RISKY,
    ),
    _test(
        "3.5 W04 a supporting document that is no node",
        {"supporting_documents": ["Harbour log", "Sea log"]},
        RISKY,
        "supporting-document-not-node",
    ),
    Case(
        "3.5 a question in train and in test",
        {TRAIN: questions(asked(id="h0")), TEST: questions(asked())},
        RISKY,
        "question-in-train-and-test",
    ),
)


_CACHE = "processed/stage2/0123456789abcdef0123456789abcdef"
_OLD = {f"{_CACHE}/{name}": "" for name in ("graph.pt", "node2id.json", "rel2id.json", "test.pt", "config.json")}


def _cached(name: str, files: dict[str, Any], edit: dict[str, str | None], does: Does, rules: str, *older: str) -> Case:
    """A dataset that was loaded, and then edited."""
    before = {path: MINIMAL[path] for path in edit if path in MINIMAL}
    again = Does(does.kind, does.error, "reload", {"before": before, "edit": edit}, does.shows)
    return Case(f"3.5 {name}", {**_OLD, **files}, again, rules, older=older)


_GULL_FIRST = lines(NODE_LINES[0], "gull,entity,{}", *NODE_LINES[1:])

CACHES = (
    _cached("W05 a cache", {}, {}, fine(nodes=3), "cache-exists", NODES, EDGES, TEST, DOCUMENTS),
    _cached(
        "W05 nodes edited behind a cache",
        {NODES: nodes("gull,entity,{}"), EDGES: lines(*EDGE_LINES, "gull,towed,lena,{}")},
        {NODES: nodes("gull,entity,{}"), EDGES: lines(*EDGE_LINES, "gull,towed,lena,{}")},
        risky(nodes=3),
        "stale-cache cache-exists",
        *_OLD,
    ),
    _cached(
        "W05 a cache without graph.pt",
        {f"{_CACHE}/graph.pt": None, NODES: _GULL_FIRST, EDGES: lines(*EDGE_LINES, "gull,towed,lena,{}")},
        {"graph.pt": None, NODES: _GULL_FIRST, EDGES: lines(*EDGE_LINES, "gull,towed,lena,{}")},
        misreads(starts={"test": [["Harbour log"]]}),
        "partial-cache cache-exists",
        NODES,
        EDGES,
        TEST,
    ),
    _cached(
        "W05 a cache without its questions",
        {TEST: None},
        {TEST: None},
        raises("FileNotFoundError"),
        "cache-without-questions cache-exists",
        NODES,
        EDGES,
    ),
)

QUESTIONS = (*DOCUMENT_CASES, *RAW_CASES, *EVALUATION, *PROCESSED, *WARNINGS, *CACHES)
