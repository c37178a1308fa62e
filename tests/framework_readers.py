"""What the frameworks that cannot be installed here read of their files: their readers, restated from what they do.

Each gives what it holds, by part and name; a value is None where the framework can make nothing of it, and what it
skips is not there. It raises what the framework raises.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

Held = dict[str, dict[Any, Any]]


def _whole(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...] | None:
    is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return tuple(dict.fromkeys(value)) if is_list else None


def arag(root: Path) -> Held:
    """Chunks are cut at the first colon; where the first is an object, all are taken as they are."""
    held: Held = {"chunks": {}, "questions": {}}
    for path in sorted(root.rglob("chunks.json")):
        chunks = _whole(path)
        if chunks and isinstance(chunks[0], dict):
            held["chunks"] |= {str(chunk["id"]): chunk["text"] for chunk in chunks}
        else:
            held["chunks"] |= dict(chunk.split(":", 1) for chunk in chunks)
    for path in sorted(root.rglob("questions.json")):
        for question in _whole(path):
            answer = question.get("answer", question.get("gold_answer", ""))
            name = question.get("qid") or question.get("id")
            held["questions"][str(name), question.get("question", "")] = _text(answer)
    return held


def datamind(root: Path) -> Held:
    """Lines that do not fit are skipped. Version 1 keeps each chunk, 2 one of an id, and of a triple the last."""
    held: Held = {name: {} for name in ("chunks v1", "chunks v2", "triples v1", "triples v2", "questions")}
    chunks: Counter[Any] = Counter()
    for path, record in _lines(root, "chunks"):
        text, metadata, source = record.get("text"), record.get("metadata"), record.get("source") or path.name
        flat = isinstance(metadata, dict) and not any(isinstance(each, dict | list) for each in metadata.values())
        modality = record.get("modality", "text") in ("text", "image", "text_image")
        said = tuple(sorted((k, v) for k, v in (metadata or {}).items() if v is not None)) if flat else ()
        if isinstance(text, str) and text and ("metadata" not in record or flat) and modality:
            chunks[text, said] += 1
        if isinstance(text, str) and text.strip():
            name = record.get("id") or hashlib.sha1(f"{source}\0{text}".encode()).hexdigest()
            held["chunks v2"][str(name)] = text.strip(), str(source), said
    held["chunks v1"] = {(*chunk, number): True for chunk, times in chunks.items() for number in range(times)}
    for _, record in _lines(root, "triplets"):
        names = [record.get(name) for name in ("subject", "relation", "object")]
        if not all(isinstance(name, str) for name in names):
            continue
        try:
            confidence = float(record.get("confidence", 1.0))
        except (TypeError, ValueError):
            continue
        if isinstance(record.get("source", ""), str):
            held["triples v1"][tuple(str(name).strip() for name in names)] = True
        held["triples v2"][tuple(names)] = confidence, str(record.get("properties") or {})
    for _, record in _lines(root, "bench"):
        if isinstance(record.get("question"), str):
            held["questions"][record["question"]] = _text(record.get("reference_answer"))
    return held


def _lines(root: Path, folder: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted(path for path in root.rglob("*.jsonl") if path.parent.name == folder):
        for line in path.read_text("utf-8").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield path, record


def gfm_rag(root: Path) -> Held:
    """Tables as pandas reads them, attributes as Python's literals; what is no node, or has none, is left out.

    Pairs of surrogates, which are escapes in Python and a character in JSON, are taken for the character, and so is the
    escape of a slash, which is none in Python: no writer but JSON's makes either.
    """
    held: Held = {"nodes": {}, "relations": {}, "edges": {}, "questions": {}}
    for kind in ("nodes", "relations", "edges"):
        for path in sorted(root.rglob(f"{kind}.csv")):
            for row in pd.read_csv(path, keep_default_na=False).to_dict("records"):
                attributes = _joined(_literal(row["attributes"]))
                if kind == "edges":
                    ends = row["source"] in held["nodes"] and row["target"] in held["nodes"]
                    if ends and row["relation"] in held["relations"]:
                        held[kind][row["source"], row["relation"], row["target"]] = attributes
                else:
                    held[kind][row["name"]] = row["type"] if kind == "nodes" else "", attributes
    for path in sorted(path for path in root.rglob("t*.json") if path.stem in ("train", "test")):
        for question in _whole(path) if held["nodes"] else ():
            held["questions"][path.stem, question["question"]] = {
                kind: {n for n in names if n in held["nodes"]}
                for kind in ("start_nodes", "target_nodes")
                if (names := [n for each in (question.get(kind) or {}).values() for n in each]) is not None
            }
    return held


def _literal(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that Python does not know, which it keeps
        return ast.literal_eval(text)


def _joined(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _joined(each) for name, each in value.items()}
    return as_json_has_it(value) if isinstance(value, str) else value


def as_json_has_it(text: str) -> str:
    """A text that Python has read where JSON's escapes were written."""
    return text.replace("\\/", "/").encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def sage(root: Path) -> Held:
    """Records and documents are lines; evaluators take texts of references and answers, and numbers as times."""
    held: Held = {"records": {}, "documents": {}}
    for path in sorted(root.rglob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            if not line.strip():
                continue
            record = json.loads(line)
            if "contents" in record:
                held["documents"][path.name, number] = _text(record["contents"])
                continue
            times = [record.get(f"{stage}_time") for stage in ("retrieval", "refining", "generation")]
            numbers = [time if isinstance(time, int | float) else None for time in times]
            said = (_texts(record.get("references")), _text(record.get("generated")), *numbers)
            held["records"] |= {(str(record.get("query")), n): part for n, part in enumerate(said)}
    return held


def hipporag(root: Path) -> Held:
    """The corpus is a list of passages, which are told apart by title and text; answers are a set of texts."""
    held: Held = {"passages": {}, "questions": {}, "triples": {}}
    for path in sorted(root.rglob("*.json")):
        if path.name.endswith("_corpus.json"):
            held["passages"] |= {f"{each['title']}\n{each['text']}": True for each in _whole(path)}
        elif "openie" in path.name:
            for each in _whole(path)["docs"]:
                held["triples"][each["passage"]] = {tuple(t) for t in each["extracted_triples"]}
        else:
            for each in _whole(path):
                answers = each.get("answer", each.get("gold_ans"))
                answers = [answers] if isinstance(answers, str) else answers
                aliases = each.get("answer_aliases", [])
                both = _texts([*answers, *aliases]) if isinstance(answers, list) and isinstance(aliases, list) else None
                held["questions"][each["question"]] = None if both is None else set(both)
    return held


def beir(root: Path) -> Held:
    """As ``GenericDataLoader`` does: the last record of an id stays, the first row of judgements is passed over."""
    held: Held = {}
    for path in sorted(root.rglob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines(keepends=True)]
        held[path.name] = {str(row.get("_id")): (row.get("text"), row.get("title") or "") for row in rows}
    for path in sorted(root.rglob("*.tsv")):
        with path.open(encoding="utf-8") as file:
            cells = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL))[1:]
        held[path.name] = {(query, document): int(score) for query, document, score in cells}
    return held


def held_by(format_name: str, root: Path) -> Held | str:
    """What a framework's reader holds, or why it refuses."""
    try:
        return READERS[format_name](root)
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return f"{type(error).__name__}: {error}"


def lost_by(before: Held | str, after: Held | str) -> Iterator[str]:
    """What a framework could use before and cannot after."""
    if isinstance(before, str):
        return
    if isinstance(after, str):
        yield f"refused: {after}"
        return
    for part, held in before.items():
        for name, value in held.items():
            if name not in after.get(part, {}):
                yield f"{part}: {name!r} is not there"
            elif value is not None and after[part][name] != value:
                yield f"{part}: {name!r} is {after[part][name]!r}, not {value!r}"


READERS = {"beir": beir, "arag": arag, "datamind": datamind, "gfm-rag": gfm_rag, "sage": sage, "hipporag": hipporag}
