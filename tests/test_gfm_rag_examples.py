"""The twenty small invalid datasets: each is the minimal valid one with one change, and breaks the rule it is meant to.

Rules that follow from the first one are named in the table with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import ragdatakit
from tests.gfm_rag_behaviour import SAMPLE

NODES, RELATIONS, EDGES, QUESTIONS, DOCUMENTS = (
    "processed/stage1/nodes.csv",
    "processed/stage1/relations.csv",
    "processed/stage1/edges.csv",
    "processed/stage1/test.json",
    "raw/documents.json",
)
TEXT = "The tug Osprey towed the barge Lena into Port Hale."
MINIMAL = {
    DOCUMENTS: json.dumps({"Harbour log": TEXT}),
    NODES: (
        f"name,type,attributes\nHarbour log,document,\"{{'content': '{TEXT}'}}\"\n"
        "osprey,entity,{}\nlena,entity,{}\n"
    ),
    RELATIONS: "name,attributes\ntowed,{}\nis_mentioned_in,{}\n",
    EDGES: (
        "source,relation,target,attributes\nosprey,towed,lena,{}\n"
        "osprey,is_mentioned_in,Harbour log,{}\nlena,is_mentioned_in,Harbour log,{}\n"
    ),
    QUESTIONS: json.dumps([SAMPLE]),
}
OF_THE_MINIMAL_ONE = {"few-nodes-of-type"}  # prediction wants ten nodes of each type

Files = dict[str, str]


@dataclass(frozen=True, slots=True)
class Example:
    """One change, the codes that the list of facts gives it, and the rules that must be broken, no others.

    ``follows``: rules that are broken in consequence, with the reason.
    """

    number: int
    what: str
    change: Callable[[Files], Files]
    codes: tuple[str, ...]
    rules: tuple[str, ...]
    follows: dict[str, str] = field(default_factory=dict)


def replaced(name: str, old: str, new: str) -> Callable[[Files], Files]:
    def change(files: Files) -> Files:
        assert files[name].count(old) == 1
        return {**files, name: files[name].replace(old, new)}

    return change


def written(**contents: str) -> Callable[[Files], Files]:
    names = {"nodes": NODES, "relations": RELATIONS, "edges": EDGES, "questions": QUESTIONS}
    return lambda files: {**files, **{names[key]: text for key, text in contents.items()}}


def appended(**lines: str) -> Callable[[Files], Files]:
    names = {"nodes": NODES, "relations": RELATIONS, "edges": EDGES}
    return lambda files: {**files, **{names[key]: files[names[key]] + text for key, text in lines.items()}}


def asked(*samples: dict[str, object]) -> Callable[[Files], Files]:
    return written(questions=json.dumps([{**SAMPLE, **changes} for changes in samples]))


def without_documents(files: Files) -> Files:
    return {name: text for name, text in files.items() if name != DOCUMENTS}


def trailing_commas(files: Files) -> Files:
    head, *rows = files[NODES].splitlines()
    return {**files, NODES: "\n".join([head, *(f"{row}," for row in rows), ""])}


def as_lines(files: Files) -> Files:
    return {**files, QUESTIONS: "\n".join(json.dumps({**SAMPLE, "id": key}) for key in ("h1", "h2"))}


def both(*changes: Callable[[Files], Files]) -> Callable[[Files], Files]:
    def change(files: Files) -> Files:
        for one in changes:
            files = one(files)
        return files

    return change


EDGE_HEADER = "source,relation,target,attributes\n"
MENTIONS = "osprey,is_mentioned_in,Harbour log,{}\nlena,is_mentioned_in,Harbour log,{}\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "9b" * 32 + "\nsize 1508\n"

EXAMPLES = (
    Example(1, "no documents", without_documents, ("E01",), ("missing-documents-file",)),
    Example(
        2,
        "no column attributes",
        written(edges=MINIMAL[EDGES].replace(",attributes", "").replace(",{}", "")),
        ("E04",),
        ("missing-column",),
    ),
    Example(
        3, "empty attributes", replaced(NODES, "osprey,entity,{}", "osprey,entity,"), ("E10",), ("empty-attributes",)
    ),
    Example(
        4,
        "JSON null in attributes",
        replaced(NODES, "osprey,entity,{}", 'osprey,entity,"{""built"": null}"'),
        ("E11",),
        ("attributes-not-literal",),
    ),
    Example(
        5,
        "attributes are a list",
        replaced(NODES, "osprey,entity,{}", "osprey,entity,\"['tug']\""),
        ("E12",),
        ("attributes-not-dict",),
    ),
    Example(
        6,
        "an emoji as two escapes",
        replaced(NODES, "osprey,entity,{}", 'osprey,entity,"{""icon"": ""\\ud83d\\udea2""}"'),
        ("E13",),
        ("attributes-surrogate",),
    ),
    Example(7, "a node twice", appended(nodes="osprey,entity,{}\n"), ("E15",), ("duplicate-node",)),
    Example(
        8,
        "numbers for relations",
        both(
            written(relations="name,attributes\n1,{}\n2,{}\n"),
            replaced(EDGES, "towed", "1"),
            lambda files: {**files, EDGES: files[EDGES].replace("is_mentioned_in", "2")},
        ),
        ("E14",),
        ("relations-all-numeric",),
    ),
    Example(
        9,
        "years as sources, words as names",
        both(
            appended(nodes="1901,entity,{}\n1902,entity,{}\n"),
            written(edges=f"{EDGE_HEADER}1901,towed,lena,{{}}\n1902,towed,lena,{{}}\n"),
        ),
        ("E17", "E21"),
        ("kind-mismatch", "no-usable-edge"),
        {
            "isolated-node": "no edge is left for the nodes that were connected",
            "relation-without-edges": "the edges with is_mentioned_in are gone",
        },
    ),
    Example(10, "another case in an edge", appended(edges="osprey,towed,Lena,{}\n"), ("E20",), ("dangling-endpoint",)),
    Example(11, "trailing commas", trailing_commas, ("E07",), ("shifted-columns",)),
    Example(
        12,
        "a node called NA",
        appended(nodes="NA,entity,{}\n", edges="NA,towed,lena,{}\n"),
        ("E23",),
        ("name-read-as-missing",),
    ),
    Example(
        13,
        "mentions only",
        written(edges=EDGE_HEADER + MENTIONS),
        ("E22",),
        ("no-entity-edge",),
        {"relation-without-edges": "no edge with towed is left"},
    ),
    Example(
        14,
        "a text for a list",
        asked({"target_nodes": {"entity": "lena"}}),
        ("E32", "E37"),
        ("node-list-is-text", "no-known-target-node"),
        {"no-usable-sample": "it is the only question"},
    ),
    Example(
        15,
        "another case in a start node",
        asked({"start_nodes": {"entity": ["Osprey"]}}),
        ("E36", "E38"),
        ("no-known-start-node", "no-usable-sample"),
    ),
    Example(16, "the sample twice", asked({}, {}), ("E33",), ("duplicate-question-id",)),
    Example(17, "an integer id among texts", asked({}, {"id": 7}), ("E34",), ("mixed-question-ids",)),
    Example(18, "JSON Lines", as_lines, ("E09",), ("questions-as-lines",)),
    Example(19, "a list for an object", asked({"start_nodes": ["osprey"]}), ("E31",), ("nodes-not-object",)),
    Example(20, "a pointer of Git LFS in place of nodes", written(nodes=POINTER), (), ("lfs-pointer",)),
    Example(20, "a pointer of Git LFS in place of edges", written(edges=POINTER), (), ("lfs-pointer",)),
    Example(20, "a pointer of Git LFS in place of questions", written(questions=POINTER), (), ("lfs-pointer",)),
)


NUMBERS = {
    "attributes-not-dict": "E12",
    "attributes-not-literal": "E11",
    "attributes-surrogate": "E13",
    "dangling-endpoint": "E20",
    "duplicate-node": "E15",
    "duplicate-question-id": "E33",
    "empty-attributes": "E10",
    "kind-mismatch": "E17",
    "missing-column": "E04",
    "missing-documents-file": "E01",
    "mixed-question-ids": "E34",
    "name-read-as-missing": "E23",
    "no-entity-edge": "E22",
    "no-known-start-node": "E36",
    "no-known-target-node": "E37",
    "no-usable-edge": "E21",
    "no-usable-sample": "E38",
    "node-list-is-text": "E32",
    "nodes-not-object": "E31",
    "questions-as-lines": "E09",
    "relations-all-numeric": "E14",
    "shifted-columns": "E07",
}
"""By rule, the number that the table of upstream's behaviour gives it."""


def broken_rules(folder: Path, files: Files) -> set[str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = ragdatakit.validate(folder, severity="warning").findings
    return {f.rule for f in found} - OF_THE_MINIMAL_ONE


def test_the_minimal_dataset_breaks_none(tmp_path: Path) -> None:
    assert broken_rules(tmp_path, MINIMAL) == set()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.number} {e.what}")
def test_an_example_breaks_its_rule_and_no_other(example: Example, tmp_path: Path) -> None:
    assert broken_rules(tmp_path, example.change(MINIMAL)) == {*example.rules, *example.follows}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.number} {e.what}")
def test_an_example_is_named_by_the_codes_of_its_rules(example: Example) -> None:
    codes = {NUMBERS[name] for name in example.rules if name != "lfs-pointer"}

    assert codes == set(example.codes)


def test_all_twenty_are_here() -> None:
    assert {e.number for e in EXAMPLES} == set(range(1, 21))
