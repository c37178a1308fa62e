"""The twenty invalid examples of section 6.2 of the specification, each the minimal dataset with one change."""

from __future__ import annotations

import json

from tests.gfm_rag_behaviour import (
    DOCUMENTS,
    EDGE_LINES,
    EDGES,
    FINE,
    NODE_LINES,
    NODES,
    RELATIONS,
    RISKY,
    TEST,
    Case,
    asked,
    drops,
    edges,
    lines,
    misreads,
    nodes,
    questions,
    raises,
    with_osprey,
)

_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "9b" * 32 + "\nsize 1508\n"
_EMPTY = "RuntimeError: stack expects a non-empty TensorList"
_UNIQUE = "ValueError: The 'name' column must contain unique values"

EXAMPLES = (
    Case("6.2 1 no documents.json", {DOCUMENTS: None}, raises("FileNotFoundError"), "missing-documents-file"),
    Case(
        "6.2 2 edges without attributes",
        {EDGES: lines(*(r.rsplit(",", 1)[0] for r in EDGE_LINES))},
        raises("KeyError: 'attributes'"),
        "missing-column",
    ),
    Case("6.2 3 empty attributes", with_osprey(""), raises("SyntaxError"), "empty-attributes"),
    Case(
        "6.2 4 null in attributes",
        with_osprey('"{""built"": null}"'),
        raises("ValueError: malformed node or string"),
        "attributes-not-literal",
    ),
    Case(
        "6.2 5 a list for attributes", with_osprey("\"['tug']\""), raises("AttributeError"), "attributes-not-dict", FINE
    ),
    Case(
        "6.2 6 an escaped emoji",
        with_osprey('"{""icon"": ""\\ud83d\\udea2""}"'),
        raises("UnicodeEncodeError"),
        "attributes-surrogate attributes-not-portable",
        FINE,
    ),
    Case("6.2 7 a node twice", {NODES: nodes("osprey,entity,{}")}, raises(_UNIQUE), "duplicate-node"),
    Case(
        "6.2 8 numeric relations",
        {
            RELATIONS: lines("name,attributes", "1,{}", "2,{}"),
            EDGES: lines(EDGE_LINES[0], "osprey,1,lena,{}", "osprey,2,Harbour log,{}", "lena,2,Harbour log,{}"),
        },
        raises("TypeError: can only concatenate str"),
        "relations-all-numeric",
    ),
    Case(
        "6.2 9 numeric sources",
        {
            NODES: nodes("1901,entity,{}", "1902,entity,{}"),
            EDGES: lines(EDGE_LINES[0], "1901,towed,lena,{}", "1902,towed,lena,{}"),
        },
        drops(skipped_edges=2, edges=0),
        "kind-mismatch no-usable-edge isolated-node relation-without-edges",
    ),
    Case(
        "6.2 10 a name in another case",
        {EDGES: edges("osprey,towed,Lena,{}")},
        drops(skipped_edges=1),
        "dangling-endpoint",
    ),
    Case(
        "6.2 11 a comma at the end of every row",
        {NODES: lines(NODE_LINES[0], *(f"{r}," for r in NODE_LINES[1:]))},
        raises(_UNIQUE),
        "shifted-columns",
    ),
    Case(
        "6.2 12 a node named NA",
        {NODES: nodes("NA,entity,{}"), EDGES: edges("NA,towed,lena,{}")},
        FINE,
        "name-read-as-missing",
        drops(skipped_edges=1),
    ),
    Case(
        "6.2 13 mentions only",
        {EDGES: lines(EDGE_LINES[0], *EDGE_LINES[2:])},
        RISKY,
        "no-entity-edge relation-without-edges",
        misreads(edges=0),
    ),
    Case(
        "6.2 14 text for a list",
        {TEST: questions(asked(target_nodes={"entity": "lena"}))},
        raises(_EMPTY),
        "node-list-is-text no-known-target-node no-usable-sample",
    ),
    Case(
        "6.2 15 an unknown start node",
        {TEST: questions(asked(start_nodes={"entity": ["Osprey"]}))},
        raises(_EMPTY),
        "no-known-start-node no-usable-sample",
    ),
    Case(
        "6.2 16 a question twice",
        {TEST: questions(asked(), asked())},
        misreads("predict", distinct=1, answered=["h1", "h1"]),
        "duplicate-question-id",
    ),
    Case(
        "6.2 17 an id of another kind", {TEST: questions(asked(), asked(id=7))}, raises("Arrow"), "mixed-question-ids"
    ),
    Case(
        "6.2 18 JSON Lines",
        {TEST: "\n".join(json.dumps(asked(id=f"h{i}")) for i in (1, 2)) + "\n"},
        raises("JSONDecodeError: Extra data"),
        "questions-as-lines",
    ),
    Case(
        "6.2 19 a list for an object",
        {TEST: questions(asked(start_nodes=["osprey"]))},
        raises("AttributeError"),
        "nodes-not-object",
    ),
    *(
        Case(f"6.2 20 {path.rsplit('/', 1)[1]} is a Git LFS pointer", {path: _POINTER}, raises(error), "lfs-pointer")
        for path, error in (
            (NODES, "ValueError: CSV file must contain"),
            (RELATIONS, "ValueError: CSV file must contain"),
            (EDGES, "KeyError"),
            (TEST, "JSONDecodeError"),
            (DOCUMENTS, "JSONDecodeError"),
        )
    ),
)
