"""What LightRAG itself makes of damaged directories and payloads: run it, and keep it in ``lightrag_verdicts.json``.

``PYTHONPATH=. python -m tests.lightrag_oracle`` in an environment with lightrag-hku 1.5.7 writes the file anew, with
the beginning of names those cases only; tests read it. Stores are shared within a process: they are let go of between
two cases.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.lightrag_cases import directory_cases, payload_cases

VERDICTS = Path(__file__).parent / "lightrag_verdicts.json"
MODES = ("local", "global", "hybrid", "mix", "naive")
DIMENSION = 64
DOCUMENT = "doc-821d40870c78899600d64971bc0497a4"
QUERY, HIGH, LOW = "Who mapped Kettle Reef?", "survey", "Joss Alder"


class Words:
    """A tokenizer that needs no network."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.words: list[str] = []

    def encode(self, text: str) -> list[int]:
        out = []
        for word in re.findall(r"\s+|\w+|[^\w\s]", text):
            if word not in self.ids:
                self.ids[word] = len(self.words)
                self.words.append(word)
            out.append(self.ids[word])
        return out

    def decode(self, ids: list[int]) -> str:
        return "".join(self.words[i] for i in ids)


async def embed(texts: list[str], **_: Any) -> Any:
    """Words hashed into a vector."""
    import numpy as np

    found = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    for i, text in enumerate(texts):
        for word in re.findall(r"\w+", text.lower()):
            found[i, int(hashlib.md5(word.encode()).hexdigest(), 16) % DIMENSION] += 1
        if not found[i].any():
            found[i, 0] = 1
    return found / np.linalg.norm(found, axis=1, keepdims=True)


async def _no_model(prompt: str, **_: Any) -> str:
    return "<|COMPLETE|>"


async def outcome(folder: Path, payload: Any = None, insert: bool = False, delete: bool = False) -> dict[str, Any]:
    """What each mode finds, and what stops it; at the end what deleting a document leaves."""
    from lightrag import LightRAG, QueryParam
    from lightrag.kg.shared_storage import finalize_share_data
    from lightrag.utils import EmbeddingFunc, Tokenizer

    by_name: dict[str, Any] = {}
    rag = None
    try:
        rag = LightRAG(
            working_dir=str(folder),
            llm_model_func=_no_model,
            tokenizer=Tokenizer(model_name="words", tokenizer=Words()),
            embedding_func=EmbeddingFunc(embedding_dim=DIMENSION, max_token_size=8192, func=embed),
            kg_chunk_pick_method="WEIGHT",
        )
        await rag.initialize_storages()
        if insert:
            await _step(by_name, "insert", rag.ainsert_custom_kg(payload))
        for mode in MODES:
            param = QueryParam(
                mode=mode, top_k=5, chunk_top_k=5, enable_rerank=False, hl_keywords=[HIGH], ll_keywords=[LOW]
            )
            found = await _step(by_name, mode, rag.aquery_data(QUERY, param))
            if found is not None:
                data = found.get("data") or {}
                by_name[mode] = [
                    [_entity(e) for e in data.get("entities", [])],
                    [_relation(r) for r in data.get("relationships", [])],
                    sorted(f"{c.get('chunk_id')}|{c.get('content')}" for c in data.get("chunks", [])),
                ]
        counts = await _step(by_name, "statuses", rag.doc_status.get_status_counts())
        if counts is not None:
            by_name["statuses"] = counts
        if delete:
            await _step(by_name, "delete", _delete(rag, by_name))
    except BaseException as error:  # noqa: BLE001 - what stops it is what is asked
        by_name["load"] = type(error).__name__
    finally:
        finalize_share_data()
    return by_name


async def _delete(rag: Any, given: dict[str, Any]) -> None:
    """Delete the first document; what is left of the graph."""
    deleted = await rag.adelete_by_doc_id(DOCUMENT)
    graph = rag.chunk_entity_relation_graph
    edges = sorted(sorted(pair) for pair in await _pairs(graph))
    given["delete"] = [[deleted.status], sorted(map(str, await graph.get_all_labels())), edges]


async def _pairs(graph: Any) -> list[list[str]]:
    return [[str(e.get("source")), str(e.get("target"))] for e in await graph.get_all_edges()]


def _entity(found: dict[str, Any]) -> str:
    return "|".join(str(found.get(k)) for k in ("entity_name", "entity_type", "description", "source_id"))


def _relation(found: dict[str, Any]) -> str:
    return "|".join(str(found.get(k)) for k in ("src_id", "tgt_id", "keywords", "description", "weight", "source_id"))


async def _step(given: dict[str, Any], name: str, call: Any) -> Any:
    try:
        return await call
    except Exception as error:  # noqa: BLE001 - what stops it is what is asked
        given[name] = type(error).__name__
        return None


def verdict(sound: dict[str, Any], message: dict[str, Any]) -> str:
    """``reject``, ``lost``, ``misread`` or ``ok``, with what differs."""
    raised = [f"{k}: {v}" for k, v in message.items() if isinstance(v, str)]
    if raised:
        return "reject " + ", ".join(raised)
    lost, other = [], []
    for key, value in sound.items():
        if key not in message or value == message[key]:
            continue
        fewer = key in (*MODES, "delete") and any(len(a) < len(b) for a, b in zip(message[key], value, strict=True))
        (lost if fewer else other).append(key)
    if lost:
        return "lost " + ", ".join(lost)
    return "misread " + ", ".join(other) if other else "ok"


def _cases() -> list[tuple[str, Callable[[Path], None], Any, bool]]:
    cases: list[tuple[str, Callable[[Path], None], Any, bool]] = []
    for name, value in payload_cases():
        cases.append((name, lambda folder: None, value, True))
    for name, files in directory_cases():

        def put(folder: Path, files: dict[str, str] = files) -> None:
            for file, text in files.items():
                (folder / file).write_text(text, encoding="utf-8")

        cases.append((name, put, None, False))
    return cases


STORES = ("kv_store", "directory: sound")
"""Cases in which a document is deleted, too: damage of these stores shows then."""


async def main(among: str = "") -> dict[str, str]:
    """By case: the verdict; of the cases called so, with the others as they were recorded."""
    verdicts: dict[str, str] = json.loads(VERDICTS.read_text(encoding="utf-8")) if among else {}
    sound: dict[bool, dict[str, Any]] = {}
    for number, (name, put, payload, insert) in enumerate(_cases()):
        if insert in sound and not name.startswith(among):
            continue
        with tempfile.TemporaryDirectory() as folder:
            put(Path(folder))
            found = await outcome(Path(folder), payload, insert, name.startswith(STORES))
        sound.setdefault(insert, found)
        verdicts[name] = verdict(sound[insert], found)
        if number % 100 == 0:
            print(number, name, verdicts[name], file=sys.stderr)
    return verdicts


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    found = asyncio.run(main(*sys.argv[1:2]))
    VERDICTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
