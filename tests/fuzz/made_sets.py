"""Sets of one container, made and damaged record by record: values that are compared with each other."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from ragdatakit.schemas import get_format
from tests.block_mutations import mutated
from tests.test_scanned_elements import damaged
from tests.test_scanned_items import file_of_results
from tests.test_scanned_questions import questions_and_predictions
from tests.test_scanned_tagged import documents
from tests.test_scanner_cells import lines as cell_lines
from tests.test_scanner_records import PASSAGES, SOUND
from tests.test_scanner_tables import table
from tests.value_mutations import damaged_line, damaged_value, line_of

Files = dict[str, bytes]
Maker = Callable[[Random, int], Files]


def _values(kind: tuple[str, str], rng: Random, many: int, cut: float = 0.02) -> list[bytes]:
    return [_spoilt(SOUND[kind](rng), rng, cut) for _ in range(many)]


def _spoilt(value: Any, rng: Random, cut: float = 0.02) -> bytes:
    """A value, often with something changed in it; ``cut``: how often it is also no JSON any more."""
    line = line_of(damaged_value(value, rng, rng.choice((0, 0, 1, 1, 2))), rng)
    return damaged_line(line, rng) if rng.random() < cut else line


def _declared(name: str, kind: str, rng: Random, many: int) -> bytes:
    record = get_format(name).file(kind).record
    blocks = [mutated(record, rng) for _ in range(many // 4)]
    return b"\n".join(block.rstrip(b"\n") for block in blocks)


def splade(rng: Random, many: int) -> Files:
    """Lines of light-splade."""
    names = {"doc_master": "documents", "query_master": "queries", "positive_list": "positives"}
    masters = {f"train/{name}.ndjson": _declared("light-splade", kind, rng, many) for name, kind in names.items()}
    return {**masters, "train/hard_negative_scores.ndjson": b"\n".join(_scores(rng) for _ in range(many))}


def _scores(rng: Random) -> bytes:
    """What a teacher says of a query."""
    odd_keys = ("07", " 7", "-3", "x", "9" * 20, "1_0")
    keys = [rng.choice((str(rng.randrange(99)),) * 30 + odd_keys) for _ in range(rng.choice((1, 2, 8, 20)))]
    odd = ("0.5", None, True, 1e300, 2**60, [1], {}, -0.0, 7, float("nan"))
    scores = [rng.choice((round(rng.random(), 4),) * 30 + odd) for _ in keys]
    if rng.random() < 0.05:
        scores = [scores[0]] * len(scores)
    return _spoilt({"qid": rng.randrange(400), "scores": dict(zip(keys, scores, strict=True))}, rng)


def beir(rng: Random, many: int) -> Files:
    """Lines and judgements of BEIR."""
    tsv = b"query-id\tcorpus-id\tscore\n" + b"".join(cell_lines("qrels", "\t", rng) for _ in range(many // 3))
    corpus = {f"{kind}.jsonl": _declared("beir", kind, rng, many) for kind in ("corpus", "queries")}
    return {**corpus, "qrels/test.tsv": tsv}


def sage(rng: Random, many: int) -> Files:
    """Lines of SAGE."""
    return {"records.jsonl": b"\n".join(_values(("sage", "records"), rng, many))}


def _array(lines: list[bytes], rng: Random) -> bytes:
    data = b"[" + rng.choice((b", ", b",", b",\n", b" ,\r\n ")).join(lines) + b"]"
    return damaged(rng, data) if rng.random() < 0.1 else data


def hipporag(rng: Random, many: int) -> Files:
    """Arrays of HippoRAG."""
    corpus = [_spoilt({"title": t, "text": x, "idx": i}, rng, 0.02) for i, (t, x) in enumerate(PASSAGES)]
    name, questions = rng.choice(("d", "hotpotqa")), _values(("hipporag", "questions"), rng, many, 0.3 / many)
    return {f"{name}_corpus.json": _array(corpus, rng), f"{name}.json": _array(questions, rng)}


def arag(rng: Random, many: int) -> Files:
    """An array of texts."""
    return {"chunks.json": _array(_values(("arag", "chunks"), rng, many, 0.3 / many), rng)}


def legacy(rng: Random, many: int) -> Files:
    """An object of lists of texts."""
    odd: tuple[Any, ...] = (["it lies north"], ["a", "b "], [""], [], "text", None, [1], {"a": 1}, ["é", "\\ud800"])
    members = [
        json.dumps(f"Reef {rng.randrange(many)}").encode() + b": " + line_of(rng.choice(odd[:2] * 6 + odd), rng)
        for _ in range(many)
    ]
    data = b"{" + rng.choice((b", ", b",\n")).join(members) + b"}"
    return {"d_corpus.json": damaged(rng, data) if rng.random() < 0.3 else data}


def stage1(rng: Random, many: int) -> Files:
    """CSV of GFM-RAG."""
    rows = b"".join(table(rng) for _ in range(many // 4))
    edges = b"".join(table(rng) for _ in range(many // 8))
    folder = "processed/stage1"
    return {
        f"{folder}/nodes.csv": b"name,type,attributes\n" + rows,
        f"{folder}/relations.csv": b"name,attributes\nentity,{}\n",
        f"{folder}/edges.csv": b"source,relation,target,attributes\n" + edges,
    }


def trec(rng: Random, many: int) -> Files:
    """Documents between tags."""
    judged = b"".join(b"q1 0 D%d 1\n" % number for number in range(70))
    return {"documents.trec": documents(rng, many), "qrels.txt": judged}


def openie(rng: Random, many: int) -> Files:
    """A record with a list of objects."""
    corpus = json.dumps([{"title": title, "text": text} for title, text in PASSAGES])
    return {"d_corpus.json": corpus.encode(), "openie_d_results_ner_m.json": file_of_results(rng, many)}


def predictions(rng: Random, many: int) -> Files:
    """Questions of A-RAG and predictions."""
    return questions_and_predictions(rng, many)
