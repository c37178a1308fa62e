"""Many damaged records in each container, wherever blocks are cut, in any number of threads: both engines say the same.

A case has some hundred records of one container. ``python -m tests.fuzz --part containers --seconds 3600`` goes on for
an hour; a million records of each take some 10,000 cases.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from ragdatakit.schemas import get_format
from tests.block_mutations import mutated
from tests.fuzz.cases import Case
from tests.test_scanned_elements import damaged
from tests.test_scanned_items import file_of_results
from tests.test_scanned_questions import questions_and_predictions
from tests.test_scanned_tagged import documents
from tests.test_scanner_cells import lines as cell_lines
from tests.test_scanner_records import PASSAGES, SOUND, found_in
from tests.test_scanner_tables import table
from tests.value_mutations import damaged_line, damaged_value, line_of

RECORDS = 400
SIZES = (1, 7, 150, 4096, 1 << 16, 1 << 19, 8 << 20)
Files = dict[str, bytes]


def _values(kind: tuple[str, str], rng: Random) -> list[bytes]:
    values = [SOUND[kind](rng) for _ in range(RECORDS)]
    return [_spoilt(value, rng) for value in values]


def _spoilt(value: Any, rng: Random) -> bytes:
    line = line_of(damaged_value(value, rng, rng.choice((0, 0, 1, 1, 2))), rng)
    return damaged_line(line, rng) if rng.random() < 0.02 else line


def _declared(name: str, kind: str, rng: Random) -> bytes:
    record = get_format(name).file(kind).record
    blocks = [mutated(record, rng) for _ in range(RECORDS // 4)]
    return b"\n".join(block.rstrip(b"\n") for block in blocks)


def splade(rng: Random) -> Files:
    """Lines of light-splade."""
    names = {"doc_master": "documents", "query_master": "queries", "positive_list": "positives"}
    masters = {f"train/{name}.ndjson": _declared("light-splade", kind, rng) for name, kind in names.items()}
    return {**masters, "train/hard_negative_scores.ndjson": b"\n".join(_scores(rng) for _ in range(RECORDS))}


def _scores(rng: Random) -> bytes:
    """What a teacher says of a query."""
    many = rng.choice((1, 2, 8, 20))
    keys = [rng.choice((str(rng.randrange(99)),) * 30 + ("07", " 7", "-3", "x", "9" * 20, "1_0")) for _ in range(many)]
    odd = ("0.5", None, True, 1e300, 2**60, [1], {}, -0.0, 7, float("nan"))
    scores = [rng.choice((round(rng.random(), 4),) * 30 + odd) for _ in keys]
    if rng.random() < 0.05:
        scores = [scores[0]] * len(scores)
    return _spoilt({"qid": rng.randrange(400), "scores": dict(zip(keys, scores, strict=True))}, rng)


def beir(rng: Random) -> Files:
    """Lines and judgements of BEIR."""
    tsv = b"query-id\tcorpus-id\tscore\n" + b"".join(cell_lines("qrels", "\t", rng) for _ in range(RECORDS // 3))
    corpus = {f"{kind}.jsonl": _declared("beir", kind, rng) for kind in ("corpus", "queries")}
    return {**corpus, "qrels/test.tsv": tsv}


def sage(rng: Random) -> Files:
    """Lines of SAGE."""
    return {"records.jsonl": b"\n".join(_values(("sage", "records"), rng))}


def _array(lines: list[bytes], rng: Random) -> bytes:
    data = b"[" + rng.choice((b", ", b",", b",\n", b" ,\r\n ")).join(lines) + b"]"
    return damaged(rng, data) if rng.random() < 0.1 else data


def hipporag(rng: Random) -> Files:
    """Arrays of HippoRAG."""
    corpus = [_spoilt({"title": t, "text": x, "idx": i}, rng) for i, (t, x) in enumerate(PASSAGES)]
    name, questions = rng.choice(("d", "hotpotqa")), _values(("hipporag", "questions"), rng)
    return {f"{name}_corpus.json": _array(corpus, rng), f"{name}.json": _array(questions, rng)}


def arag(rng: Random) -> Files:
    """An array of texts."""
    return {"chunks.json": _array(_values(("arag", "chunks"), rng), rng)}


def legacy(rng: Random) -> Files:
    """An object of lists of texts."""
    odd: tuple[Any, ...] = (["it lies north"], ["a", "b "], [""], [], "text", None, [1], {"a": 1}, ["é", "\\ud800"])
    members = [
        json.dumps(f"Reef {rng.randrange(RECORDS)}").encode() + b": " + line_of(rng.choice(odd[:2] * 6 + odd), rng)
        for _ in range(RECORDS)
    ]
    data = b"{" + rng.choice((b", ", b",\n")).join(members) + b"}"
    return {"d_corpus.json": damaged(rng, data) if rng.random() < 0.3 else data}


def stage1(rng: Random) -> Files:
    """CSV of GFM-RAG."""
    rows = b"".join(table(rng) for _ in range(RECORDS // 4))
    edges = b"".join(table(rng) for _ in range(RECORDS // 8))
    folder = "processed/stage1"
    return {
        f"{folder}/nodes.csv": b"name,type,attributes\n" + rows,
        f"{folder}/relations.csv": b"name,attributes\nentity,{}\n",
        f"{folder}/edges.csv": b"source,relation,target,attributes\n" + edges,
    }


def trec(rng: Random) -> Files:
    """Documents between tags."""
    judged = b"".join(b"q1 0 D%d 1\n" % number for number in range(70))
    return {"documents.trec": documents(rng, RECORDS), "qrels.txt": judged}


def openie(rng: Random) -> Files:
    """A record with a list of objects."""
    corpus = json.dumps([{"title": title, "text": text} for title, text in PASSAGES])
    return {"d_corpus.json": corpus.encode(), "openie_d_results_ner_m.json": file_of_results(rng, RECORDS)}


def predictions(rng: Random) -> Files:
    """Questions of A-RAG and predictions."""
    return questions_and_predictions(rng, RECORDS)


CONTAINERS: dict[str, tuple[str, Callable[[Random], Files]]] = {
    "lines": ("light-splade", splade),
    "lines and cells": ("beir", beir),
    "nested lines": ("sage", sage),
    "arrays": ("hipporag", hipporag),
    "array of texts": ("arag", arag),
    "object": ("hipporag", legacy),
    "CSV": ("gfm-rag", stage1),
    "tags": ("trec", trec),
    "items": ("hipporag", openie),
    "lines beside an array": ("arag", predictions),
}


def check(case: Case) -> Iterator[str]:
    """Where the engines differ."""
    name = [*CONTAINERS][case.number % len(CONTAINERS)]
    fmt, make = CONTAINERS[name]
    folder = case.scratch / "set"
    shutil.rmtree(folder, ignore_errors=True)
    for place, data in make(case.rng).items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    source = folder / "chunks.json" if name == "array of texts" else folder
    case.note(f"{name}, plain")
    plain = found_in(source, fmt, 1 << 40, 1 << 20, 1)
    for _ in range(2):
        size, jobs = case.rng.choice(SIZES), case.rng.choice((1, 2, 7))
        case.note(f"{name}, blocks of {size}, {jobs} jobs")
        found = found_in(source, fmt, -1, size, jobs)
        if found != plain:
            more, fewer = [f for f in found if f not in plain], [f for f in plain if f not in found]
            yield f"{name}, blocks of {size}, {jobs} jobs: more {more[:2]}, fewer {fewer[:2]}"
