"""Clean GFM-RAG datasets of forty records a file, and what its own checks add to the declaration."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.gfm_rag.format import GFM_RAG
from tests.faults.drafts import Draft, DraftFile, Place, cell, member, row

SIZE = 40
MENTION = "is_mentioned_in"
STAGE1 = "processed/stage1"
NODES, RELATIONS, EDGES = (f"{STAGE1}/{name}.csv" for name in ("nodes", "relations", "edges"))
QUESTIONS = f"{STAGE1}/test.json"
RAW_DOCUMENTS, RAW_QUESTIONS = "raw/documents.json", "raw/train.json"


def drafts() -> tuple[Draft, ...]:
    """A graph keyed by names, one keyed by uids, raw files, the older layout, predictions."""
    names = _graph(False)
    uids = (*_graph(True), _file("raw/test.json", "built-raw-questions", map(_raw_question, range(SIZE))))
    raw = (
        _file(RAW_DOCUMENTS, "documents", map(_document, range(SIZE))),
        _file(RAW_QUESTIONS, "raw-questions", map(_raw_question, range(SIZE))),
    )
    legacy = (
        _file("raw/dataset_corpus.json", "legacy-documents", map(_document, range(SIZE))),
        DraftFile(f"{STAGE1}/kg.txt", GFM_RAG.file("legacy-triples"), (), content=_triples()),
        _file(f"{STAGE1}/document2entities.json", "legacy-entities", map(_entities, range(SIZE))),
        _file("raw/train.json", "legacy-raw-questions", map(_old_raw_question, range(SIZE))),
        _file(f"{STAGE1}/train.json", "legacy-questions", map(_old_question, range(SIZE))),
    )
    predictions = (_file("predictions_skarn.json", "predictions", map(_prediction, range(SIZE))),)
    old = frozenset({("legacy-layout", f"{STAGE1}/kg.txt")})
    found = frozenset({("predictions-file", "predictions_skarn.json")})
    return (
        Draft("gfm-rag", GFM_RAG, names, frozenset(), _derive, _own_rules, _of_the_graph, KEYS | CELLS),
        Draft("gfm-rag by uid", GFM_RAG, uids, frozenset(), _derive, _own_rules, _of_the_graph, UID_KEYS | CELLS),
        Draft("gfm-rag raw", GFM_RAG, raw, frozenset(), _derive, _own_rules, lambda draft: set(), KEYS),
        Draft("gfm-rag 1.0", GFM_RAG, legacy, old, _derive, _own_rules, _of_the_older_layout, OLD_NOTES),
        Draft("gfm-rag predictions", GFM_RAG, predictions, found, _derive, _own_rules, lambda draft: set(), LONE),
    )


def _file(path: str, kind: str, values: Any) -> DraftFile:
    made = {"csv": row, "json-object": member}.get(GFM_RAG.file(kind).container, cell)
    return DraftFile(path, GFM_RAG.file(kind), tuple(map(made, values)))


def _title(i: int) -> str:
    return f"Harbour log of berth {i}"


def _entity(i: int) -> str:
    return f"tug of berth {i % SIZE}"


def _text(i: int) -> str:
    return f"The tug at berth {i} left the harbour at high water."


def _document(i: int) -> dict[str, Any]:
    return {"title": _title(i), "text": _text(i)}


def _graph(uids: bool) -> tuple[DraftFile, ...]:
    """Entities in a ring, each mentioned in two documents."""

    def named(name: str, *rest: str) -> dict[str, str]:
        columns = ("type", "attributes") if len(rest) == 2 else ("attributes",)
        key = {"uid": _uid(name)} if uids else {}
        return {**key, "name": name, **dict(zip(columns, rest, strict=True))}

    key = _uid if uids else str
    content = [json.dumps({"content": _text(i)}) for i in range(SIZE)]
    nodes = [named(_entity(i), "entity", "{}") for i in range(SIZE)]
    nodes += [named(_title(i), "document", content[i]) for i in range(SIZE)]
    kinds = [f"towed on day {i}" for i in range(SIZE - 1)]
    triples = [(_entity(i), kinds[i % len(kinds)], _entity(i + 1)) for i in range(SIZE)]
    triples += [(_entity(i), MENTION, _title((i + j) % SIZE)) for i in range(SIZE) for j in (0, 1)]
    edges = [{"source": key(s), "relation": key(r), "target": key(t), "attributes": "{}"} for s, r, t in triples]
    return (
        _file(RAW_DOCUMENTS, "built-documents", map(_document, range(SIZE))),
        _file(NODES, "nodes", nodes),
        _file(RELATIONS, "relations", [named(k, "{}") for k in (*kinds, MENTION)]),
        _file(EDGES, "edges", edges),
        _file(QUESTIONS, "questions", (_question(i, key) for i in range(SIZE))),
    )


def _uid(name: str) -> str:
    """Entities have one of their own; documents.json and the meaning of a relation go by the name."""
    return f"uid of {name}" if name.startswith("tug") else name


def _question(i: int, key: Any = str) -> dict[str, Any]:
    documents = [key(_title((i + j) % SIZE)) for j in (0, 1)]
    return {
        "id": f"h{i}",
        "question": f"Which tug left berth {i}?",
        "answer": _entity(i),
        "answer_aliases": [f"the {_entity(i)}"],
        "supporting_documents": documents,
        "start_nodes": {"entity": [key(_entity(i)), key(_entity(i + 1))]},
        "target_nodes": {"document": documents, "entity": [key(_entity(i + 1)), key(_entity(i + 2))]},
    }


def _raw_question(i: int) -> dict[str, Any]:
    given = {k: v for k, v in _question(i).items() if not k.endswith("_nodes")}
    return {**given, "question_type": "fact", "original_question": given["question"], "evidence": "the log"}


def _triples() -> bytes:
    return "".join(f"{_entity(i)},towed,{_entity(i + 1)}\n" for i in range(SIZE)).encode()


def _entities(i: int) -> dict[str, Any]:
    return {"title": _title(i), "entities": [_entity(i), _entity(i + 1)]}


def _old_raw_question(i: int) -> dict[str, Any]:
    return {"id": f"h{i}", "question": f"Which tug left berth {i}?", "supporting_facts": [_title(i)], "answer": "tug"}


def _old_question(i: int) -> dict[str, Any]:
    lists = {"question_entities": [_entity(i)], "supporting_entities": [_entity(i + 1), _entity(i + 2)]}
    return {**_old_raw_question(i), **lists, "supporting_facts": [_title(i), _title((i + 1) % SIZE)]}


def _prediction(i: int) -> dict[str, Any]:
    found = {"document": [[_title(i % SIZE), 0.75]], "entity": [[_entity(i), 0.5]]}
    return {**_question(i), "predictions": found}


# keys


def _derive(path: str, kind: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    if kind in ("nodes", "relations"):
        key = value.get("uid", value.get("name"))
        named = (key, value.get("name", key)) if value.get("type") == "document" else (None, None)
        return {"@key": key, "@document": named[0], "@title": named[1]}
    if kind == "edges":
        return {f"@{end}": value.get(end) for end in ("source", "relation", "target")}
    if kind in ("questions", "raw-questions"):
        found = value.get("id")
        return {"@id": str(found) if isinstance(found, str | int) else None}
    return {}


KEYS = {
    "nodes @key": "name",
    "nodes @document": "name",
    "nodes @title": "name",
    "relations @key": "name",
    "edges @source": "source",
    "edges @relation": "relation",
    "edges @target": "target",
    "questions @id": "id",
    "raw-questions @id": "id",
}
OLD_NOTES = {"legacy-entities": ("never empty",)}  # without it every question is skipped
LONE = {"entry": "predictions_skarn.json", "format": "gfm-rag"}
UID_KEYS = {**KEYS, "nodes @key": "uid", "nodes @document": "uid", "relations @key": "uid"}


# consequences


def _rows(draft: Draft, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, value in draft.file(path).records():
        if isinstance(value, dict):
            yield line, value


def _of_the_graph(draft: Draft) -> set[Place]:
    """What becomes of the graph and of the questions, worked out the slow way."""
    types: dict[Any, str] = {}
    for _, node in _rows(draft, NODES):
        types.setdefault(node.get("uid", node.get("name")), node.get("type", ""))
    relations = {r.get("uid", r.get("name")) for _, r in _rows(draft, RELATIONS)}
    ends = ("source", "relation", "target")
    edges = [(line, tuple(e.get(end) for end in ends)) for line, e in _rows(draft, EDGES)]
    usable = [(line, e) for line, e in edges if e[0] in types and e[1] in relations and e[2] in types]
    found = {
        Place("untrimmed-name", path, line)
        for path in (NODES, RELATIONS)
        for line, value in _rows(draft, path)
        for column, text in value.items()
        if column != "attributes" and text != text.strip()
    }
    if unasked := set(types.values()) - {"document", "entity", ""}:
        assert len(unasked) == 1
        found.add(Place("unasked-node-type", NODES, None))
    kinds = {(types[source], types[target]) for _, (source, _, target) in usable}
    if not usable:
        found.add(Place("no-usable-edge", EDGES, None))
    elif ("entity", "document") not in kinds:
        found.add(Place("no-mention-edge", EDGES, None))
    found |= set(_of_edges(usable))
    near = _neighbours(usable)
    broken = [(line, set(_of_question(q, types, near))) for line, q in _rows(draft, QUESTIONS)]
    found |= {Place(rule, QUESTIONS, line) for line, rules in broken for rule in rules}
    if all(rules & {"no-known-start-node", "no-known-target-node"} for _, rules in broken):
        found.add(Place("no-usable-sample", QUESTIONS, None))
    return found


def _of_edges(usable: list[tuple[int, tuple[Any, ...]]]) -> Iterator[Place]:
    seen: set[tuple[str, str, str]] = set()
    for line, (source, relation, target) in usable:
        if source == target:
            yield Place("self-loop", EDGES, line)
        if (source, relation, target) in seen:
            yield Place("duplicate-edge", EDGES, line)
        elif (target, relation, source) in seen:
            yield Place("edge-both-ways", EDGES, line)
        seen.add((source, relation, target))


def _neighbours(usable: list[tuple[int, tuple[Any, ...]]]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = {}
    for _, (source, _, target) in usable:
        near.setdefault(source, set()).add(target)
        near.setdefault(target, set()).add(source)
    return near


def _looked_up(nodes: Any) -> list[tuple[str, Any, bool]] | None:
    """(type key, name, whether it stands in a list or object); None where the loader raises."""
    if not isinstance(nodes, dict):
        return None
    names: list[tuple[str, Any, bool]] = []
    for key, value in nodes.items():
        if not isinstance(value, list | str | dict) or any(isinstance(v, list | dict) for v in value):
            return None
        names += [(key, v, not isinstance(value, str)) for v in value]
    return names


def _of_question(question: dict[str, Any], types: dict[Any, str], near: dict[str, set[str]]) -> Iterator[str]:
    known: dict[str, list[str]] = {}
    for side in ("start", "target"):
        names = _looked_up(question.get(f"{side}_nodes"))
        if names is None:
            continue
        known[side] = [n for _, n, _ in names if isinstance(n, str) and n in types]
        if not known[side]:
            yield f"no-known-{side}-node"
        elif any(isinstance(n, str) and n not in types and listed for _, n, listed in names):
            yield f"unknown-{side}-node"
        if any(isinstance(n, str) and listed and types.get(n, key) != key for key, n, listed in names):
            yield "node-under-other-type"
    if known.get("start") and known.get("target"):
        there = {types[n] for n in known["target"]}
        yield from (f"no-{t}-target" for t in ("document", "entity") if t not in there)
        missed = set(known["target"]) - _within(known["start"], near, 3)
        if missed and near:
            yield "unreachable-targets" if missed == set(known["target"]) else "partly-unreachable-targets"


def _within(starts: list[str], near: dict[str, set[str]], hops: int) -> set[str]:
    reached = set(starts)
    for _ in range(hops):
        reached |= {n for r in reached for n in near.get(r, ())}
    return reached


def _of_the_older_layout(draft: Draft) -> set[Place]:
    """Entities and titles that nobody knows, samples that are skipped."""
    known = {_entity(i) for i in range(SIZE)}
    path = f"{STAGE1}/document2entities.json"
    titles = {value["title"] for _, value in _rows(draft, path)}
    found: set[Place] = set()
    for line, value in _rows(draft, path):
        names = value["entities"]
        if not isinstance(names, list | dict) or any(isinstance(n, list | dict) for n in names):
            continue
        if any(isinstance(n, str) and n not in known for n in names):
            found.add(Place("unknown-document-entity", path, line))
    path = f"{STAGE1}/train.json"
    for line, value in _rows(draft, path):
        for name, members in (
            ("question_entities", known),
            ("supporting_entities", known),
            ("supporting_facts", titles),
        ):
            names = value.get(name)
            if not isinstance(names, list | str | dict) or any(isinstance(n, list | dict) for n in names):
                continue
            if not any(n in members for n in names):
                found.add(Place("legacy-sample-skipped", path, line))
    return found


# rules of single values

_ATTRIBUTES = {
    "empty": ("", "empty-attributes"),
    "blank": (" ", "empty-attributes"),
    "None": ("None", ""),
    "an empty list": ("[]", ""),
    "JSON": ('{"built": 1901}', ""),
    "Python": ("{'built': None}", "attributes-not-portable"),
    "null": ('{"built": null}', "attributes-not-literal"),
    "a word": ("high water", "attributes-not-literal"),
    "a call": ("{'a': float('nan')}", "attributes-not-literal"),
    "cut": ('{"built": 19', "attributes-not-literal"),
    "a list": ("['tug']", "attributes-not-dict"),
    "a number": ("5", "attributes-not-dict"),
    "a text": ("'tug'", "attributes-not-dict"),
    "a key twice": ('{"a": 1, "a": 2}', "attributes-repeated-key"),
    "an escaped emoji": ('{"a": "\\ud83d\\udea2"}', "attributes-surrogate attributes-not-portable"),
    "an escaped slash": ('{"a": "b\\/c"}', "attributes-escaped-slash attributes-not-portable"),
}
CELLS = {"cells attributes": {name: text for name, (text, _) in _ATTRIBUTES.items()}}


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    if name == "attributes":
        return _of_attributes(kind, variant)
    return tuple(OWN.get((kind, name, variant), "").split())


def _of_attributes(kind: str, variant: str) -> tuple[str, ...]:
    got = _ATTRIBUTES[variant][1].split()
    if kind == "edges":
        got = ["empty-edge-attributes" if r == "empty-attributes" else r for r in got]
        got = [r for r in got if r in ("empty-edge-attributes", "attributes-not-literal", "attributes-not-portable")]
        if variant in ("JSON", "Python", "a key twice", "an escaped emoji", "an escaped slash"):
            got.append("edge-attributes-unused")
    return tuple(got)


_HUGE = ("2^63", "2^70", "-2^63 - 1")
_ODD = ("NaN", "Infinity", "-Infinity", "1e400")
_NUMBERS = ("true", "a number", "a decimal", *_ODD, "2^53 + 1", *_HUGE)
_SIDES = ("start_nodes", "target_nodes")
OWN: dict[tuple[str, str, str], str] = {
    ("edges", "", "only a header"): "!no-usable-edge",
    ("questions", "id", "surrogate"): "question-id-surrogate",
    ("questions", "answer", "missing"): "missing-answer",
    ("questions", "answer_aliases", "missing"): "missing-evaluation-field",
    ("questions", "supporting_documents", "missing"): "missing-evaluation-field",
    **{("questions", "id", v): "mixed-question-ids" for v in ("true", "a number", "2^53 + 1")},
    **{("questions", "id", v): "mixed-question-ids question-id-too-big" for v in _HUGE},
    **{("questions", "id", v): "question-id-decimal" for v in ("a decimal", *_ODD)},
    **{("questions", "id", v): "question-id-other" for v in ("a list", "an object")},
    **{("questions", side, f"value {v}"): "node-list-not-list" for side in _SIDES for v in ("null", *_NUMBERS)},
    **{("questions", side, "value text"): "node-list-is-text" for side in _SIDES},
    **{("legacy-entities", "entities", v): "entities-not-list" for v in _NUMBERS},
    **{("legacy-entities", "entities", v): "entities-is-text" for v in ("text", "one item for a list", "list as text")},
    **{
        ("predictions", "predictions", v): "malformed-predictions"
        for v in (
            *("null", "text", "a list", "object as text", "list of pairs", *_NUMBERS),
            *(f"value {v}" for v in ("null", "text", "an object", *_NUMBERS)),
        )
    },
}
