"""Working directories and payloads of LightRAG with one fault each, made from the sound ones in fixtures."""

from __future__ import annotations

import base64
import copy
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "fixtures" / "lightrag" / "valid"
Files = dict[str, str]
_GRAPH = "graph_chunk_entity_relation.graphml"
_CHUNKS, _DOCS, _STATUS = "kv_store_text_chunks.json", "kv_store_full_docs.json", "kv_store_doc_status.json"
_VECTORS = ("vdb_chunks.json", "vdb_entities.json", "vdb_relationships.json")
_MISSING: Any = object()
_DAMAGES: dict[str, Any] = {
    "missing": _MISSING,
    "null": None,
    "empty": "",
    "a number": 7,
    "a decimal": 0.4,
    "a text": "zzz",
    "a list": ["zzz"],
    "an object": {"zzz": 1},
    "true": True,
}


def base() -> Files:
    """The sound working directory."""
    return {p.name: p.read_text(encoding="utf-8") for p in sorted((FOLDER / "ingested").iterdir())}


def payload() -> dict[str, Any]:
    """The sound payload."""
    found: dict[str, Any] = json.loads((FOLDER / "payload" / "custom_kg.json").read_text(encoding="utf-8"))
    return found


def _damaged(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    value = copy.deepcopy(value)
    at = value
    for step in path[:-1]:
        at = at[step]
    if new is _MISSING:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return value


def payload_cases() -> Iterator[tuple[str, Any]]:
    """Name and payload."""
    sound = payload()
    yield "payload: sound", sound
    for part in ("chunks", "entities", "relationships"):
        for damage, new in _DAMAGES.items():
            yield f"payload: {part} {damage}", _damaged(sound, (part,), new)
        yield f"payload: {part} misspelt", {("x" + k if k == part else k): v for k, v in sound.items()}
        yield f"payload: {part} empty list", _damaged(sound, (part,), [])
        for place, name in enumerate(_damage_places(sound[part])):
            for field in sound[part][name]:
                for damage, new in _DAMAGES.items():
                    yield f"payload: {part}[{place}].{field} {damage}", _damaged(sound, (part, name, field), new)
        for damage, new in _DAMAGES.items():
            if new is not _MISSING:
                yield f"payload: {part}[0] {damage}", _damaged(sound, (part, 0), new)
    entity, relation = sound["entities"][0], sound["relationships"][0]
    for name in ("42", "1.2.3", "  ", '"Joss Alder"', "JOSS ALDER", "Joss<SEP>Alder", "<p>Joss Alder</p>", "Ａlder"):
        yield f"payload: entity called {name}", _damaged(sound, ("entities", 0, "entity_name"), name)
        yield f"payload: source called {name}", _damaged(sound, ("relationships", 0, "src_id"), name)
    for weight in (0, 0.4, -1, "2", "0.4", "heavy", 1e400, 2, True):
        yield f"payload: weight {weight!r}", _damaged(sound, ("relationships", 0, "weight"), weight)
        bare = _damaged(sound, ("relationships", 0, "source_id"), _MISSING)
        yield f"payload: weight {weight!r} without a source", _damaged(bare, ("relationships", 0, "weight"), weight)
    yield "payload: self-loop", _damaged(sound, ("relationships", 0, "tgt_id"), relation["src_id"])
    yield "payload: self-loop in quotes", _damaged(sound, ("relationships", 0, "tgt_id"), f'"{relation["src_id"]}"')
    for place, extra in {
        "entities": {**entity, "description": "Another."},
        "chunks": {**sound["chunks"][0], "content": "Another text."},
    }.items():
        yield f"payload: {place} repeated", {**sound, place: [*sound[place], extra]}
        yield f"payload: {place} the same again", {**sound, place: [*sound[place], sound[place][0]]}
    swapped = {**relation, "src_id": relation["tgt_id"], "tgt_id": relation["src_id"]}
    for name, again in {
        "the same": relation,
        "swapped": swapped,
        "other keywords": {**relation, "keywords": "fishing"},
        "swapped, other keywords": {**swapped, "keywords": "fishing"},
        "other description": {**relation, "description": "Something else."},
    }.items():
        yield f"payload: pair again, {name}", {**sound, "relationships": [*sound["relationships"], again]}
    for part in ("chunks", "entities", "relationships"):
        yield f"payload: further field in {part}", _damaged(sound, (part, 0, "further"), "x")
    yield "payload: further top key", {**sound, "further": []}
    for shape in ([], "text", 7, None, {}):
        yield f"payload: {json.dumps(shape)}", shape


def _damage_places(items: list[Any]) -> list[int]:
    return [0] if len(items) < 2 else [0, len(items) - 1]


def directory_cases() -> Iterator[tuple[str, Files]]:
    """Name and files."""
    files = base()
    yield "directory: sound", files
    for name in files:
        yield f"{name}: missing", {k: v for k, v in files.items() if k != name}
        for label, text in {
            "0 bytes": "",
            "blank": " \n",
            "cut": files[name][: len(files[name]) // 2],
            "null": "null",
            "[]": "[]",
            "{}": "{}",
            "text": '"text"',
            "7": "7",
            "trailing comma": files[name].rstrip()[:-1] + ",}",
        }.items():
            yield f"{name}: {label}", {**files, name: text}
    for name in files:
        if name.startswith("kv_store"):
            yield from _store_cases(files, name)
    for name in _VECTORS:
        yield from _vector_cases(files, name)
    yield from _graph_cases(files)


def _store_cases(files: Files, name: str) -> Iterator[tuple[str, Files]]:
    store = json.loads(files[name])
    first = next(iter(store))

    def case(label: str, value: Any) -> tuple[str, Files]:
        return f"{name}: {label}", {**files, name: json.dumps(value)}

    for damage, new in _DAMAGES.items():
        yield case(f"record {damage}", _damaged(store, (first,), new))
        for field in store[first]:
            if field not in ("create_time", "update_time", "_id", "metadata", "chunk_options", "parse_format"):
                yield case(f"{field} {damage}", _damaged(store, (first, field), new))
    yield case("key renamed", {(f"x{k}" if k == first else k): v for k, v in store.items()})
    yield case("further record", {**store, "x-new": store[first]})
    if name == _STATUS:
        for status in ("weird", "processed", "pending", "preprocessed", "analyzing", "PROCESSED"):
            yield case(f"status is {status}", _damaged(store, (first, "status"), status))


def _vector_cases(files: Files, name: str) -> Iterator[tuple[str, Files]]:
    store = json.loads(files[name])
    matrix = base64.b64decode(store["matrix"])
    width = 4 * store["embedding_dim"]

    def case(label: str, value: Any) -> tuple[str, Files]:
        return f"{name}: {label}", {**files, name: json.dumps(value)}

    def with_matrix(label: str, data: bytes) -> tuple[str, Files]:
        return case(label, {**store, "matrix": base64.b64encode(data).decode()})

    for damage, new in _DAMAGES.items():
        for field in ("embedding_dim", "data", "matrix"):
            yield case(f"{field} {damage}", _damaged(store, (field,), new))
        yield case(f"row {damage}", _damaged(store, ("data", 0), new))
        for field in store["data"][0]:
            if not field.startswith("__c") and field != "__write_seq__":
                yield case(f"row.{field} {damage}", _damaged(store, ("data", 0, field), new))
    yield with_matrix("matrix one row short", matrix[:-width])
    yield with_matrix("matrix one row long", matrix + matrix[:width])
    yield with_matrix("matrix one number short", matrix[:-4])
    yield with_matrix("matrix one byte short", matrix[:-1])
    yield with_matrix("first row zero", bytes(width) + matrix[width:])
    nan = struct.pack("<f", float("nan")) * (width // 4)
    yield with_matrix("first row NaN", nan + matrix[width:])
    rows = [matrix[i : i + width] for i in range(0, len(matrix), width)]
    yield with_matrix("rows of the matrix turned", b"".join(rows[1:] + rows[:1]))
    yield case("data turned", {**store, "data": store["data"][1:] + store["data"][:1]})
    yield case("data one short", {**store, "data": store["data"][:-1]})
    yield case("matrix not base64", {**store, "matrix": "not base64!"})
    yield case("matrix with a line feed", {**store, "matrix": store["matrix"][:40] + "\n" + store["matrix"][40:]})
    again = {**store, "data": [*store["data"], store["data"][0]]}
    yield case("a row again", {**again, "matrix": base64.b64encode(matrix + matrix[:width]).decode()})
    yield case("dimension 32", {**store, "embedding_dim": 32})
    yield case("no rows", {**store, "data": [], "matrix": ""})
    ghost = {**store["data"][0], "__id__": "x-ghost", "entity_name": "Ghost", "src_id": "Ghost"}
    yield case(
        "a row of a ghost",
        {**store, "data": [*store["data"], ghost], "matrix": base64.b64encode(matrix + matrix[:width]).decode()},
    )
    yield case("members in another order", dict(reversed(store.items())))


def _graph_cases(files: Files) -> Iterator[tuple[str, Files]]:
    graph = files[_GRAPH]
    lines = graph.splitlines(keepends=True)

    def case(label: str, text: str) -> tuple[str, Files]:
        return f"graph: {label}", {**files, _GRAPH: text}

    def without(label: str, sign: str, number: int = 1) -> tuple[str, Files]:
        places = [i for i, line in enumerate(lines) if sign in line][:number]
        return case(label, "".join(line for i, line in enumerate(lines) if i not in places))

    yield case("directed", graph.replace('"undirected"', '"directed"'))
    yield case("no edgedefault", graph.replace(' edgedefault="undirected"', ""))
    for key in range(14):
        yield without(f"first d{key} missing", f'<data key="d{key}"')
        yield without(f"all d{key} missing", f'<data key="d{key}"', 99)
        yield without(f"key d{key} not declared", f'<key id="d{key}"')
    old = '<data key="d7">1.0</data>'
    for weight in ("heavy", "", "NaN", "-1", "0", "1e400", "5"):
        yield case(f"weight {weight!r}", graph.replace(old, f'<data key="d7">{weight}</data>', 1))
    yield case("a time that is none", graph.replace('<data key="d5">', '<data key="d5">x', 1))
    yield case("unknown type of a key", graph.replace('attr.type="double"', 'attr.type="decimal"'))
    chunk = "doc-821d40870c78899600d64971bc0497a4-chunk-000</data>"
    yield case("first source unknown", graph.replace(chunk, "chunk-missing</data>", 1))
    yield case("all sources unknown", graph.replace(chunk, "chunk-missing</data>"))
    yield case("first source empty", graph.replace(chunk, "</data>", 1))
    yield case("first source UNKNOWN", graph.replace(chunk, "UNKNOWN</data>", 1))
    yield case("node renamed", graph.replace('<node id="Joss Alder">', '<node id="Joss Adler">'))
    yield case("node renamed everywhere", graph.replace("Joss Alder", "Joss Adler"))
    begin = graph.index('<node id="Joss Alder">')
    node = graph[begin : graph.index("</node>", begin) + 7]
    yield case("node removed", graph.replace(node, ""))
    yield case("node twice", graph.replace(node, node + node))
    other = node.replace("A surveyor of Port Hale who mapped Kettle Reef.", "Someone else.")
    yield case("node twice, otherwise", graph.replace(node, node + other))
    begin = graph.index("<edge ")
    edge = graph[begin : graph.index("</edge>", begin) + 7]
    yield case("edge removed", graph.replace(edge, ""))
    yield case("edge twice", graph.replace(edge, edge + edge))
    yield case("self-loop", graph.replace("</graph>", '<edge source="Joss Alder" target="Joss Alder"/></graph>'))
    yield case("edge to nowhere", graph.replace("</graph>", '<edge source="Joss Alder" target="Ghost"/></graph>'))
    yield case("further node", graph.replace("</graph>", '<node id="Ghost"/></graph>'))
    yield case("no graph", graph[: graph.index("<graph ")] + "</graphml>")
    yield case("two graphs", graph.replace("</graphml>", '<graph edgedefault="undirected"/></graphml>'))
    yield case("no namespace", graph.replace(graph[graph.index("<graphml") : graph.index("<key")], "<graphml>"))
    yield case("another namespace", graph.replace("graphml.graphdrawing.org", "example.org"))
    start = graph.index("<graphml")
    yield case("an entity", graph[:start] + '<!DOCTYPE graphml [<!ENTITY e "x">]>' + graph[start:])
    yield case("an undefined entity", graph.replace("A surveyor", "&e;", 1))
    yield case("an ampersand", graph.replace("A surveyor", "A & B", 1))
    yield case("a hyperedge", graph.replace("</graph>", "<hyperedge/></graph>"))
    yield case("a directed edge", graph.replace("<edge ", '<edge directed="true" ', 1))
    yield case("nested data", graph.replace("A surveyor of", "<b>A</b> surveyor of", 1))


def all_cases() -> Iterator[tuple[str, Any, Callable[[Path], Path]]]:
    """Name, content and how to put it into a folder; what is validated is what that gives."""
    for name, value in payload_cases():
        yield name, value, lambda folder, value=value: _written_payload(folder, value)  # type: ignore[misc]
    for name, files in directory_cases():
        yield name, files, lambda folder, files=files: _written(folder, files)  # type: ignore[misc]


def _written(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _written_payload(folder: Path, value: Any) -> Path:
    path = folder / "custom_kg.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
