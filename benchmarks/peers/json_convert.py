"""A conversion as one would write it oneself: the standard library's json, record by record; nothing is checked."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tables import time_and_print


def convert(root: Path, kind: str) -> int:
    """Convert the set to ``converted`` beside it; returns the number of passages."""
    folder = root.parent / "converted"
    folder.mkdir()
    return (_arag if kind == "arag" else _beir)(root, folder)


def _arag(root: Path, folder: Path) -> int:
    with (root / "chunks.json").open(encoding="utf-8") as file:
        chunks = json.load(file)
    records = []
    for chunk in chunks:
        key, _, text = chunk.partition(":")
        metadata = {"source": root.name, "arag_id": key}
        records.append({"id": f"{root.name}-{key}", "text": text, "source": root.name, "metadata": metadata})
    _write(folder / "chunks.jsonl", records)
    questions = json.loads((root / "questions.json").read_text(encoding="utf-8"))
    renamed = ({"question": q["question"], "reference_answer": q["answer"], "question_id": q["id"]} for q in questions)
    _write(folder / "bench.jsonl", renamed)
    return len(records)


def _beir(root: Path, folder: Path) -> int:
    texts: list[str] = []
    numbers: dict[str, int] = {}
    for record in _lines(root / "corpus.jsonl"):
        numbers[record["_id"]] = len(texts)
        texts.append(f"{record['title']} {record['text']}")
    queries = {record["_id"]: (i, record["text"]) for i, record in enumerate(_lines(root / "queries.jsonl"))}
    documents: Iterable[int] = range(len(texts))
    for split in ("test", "train"):
        positives: dict[str, list[int]] = {}
        with (root / f"qrels/{split}.tsv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                positives.setdefault(row["query-id"], []).append(numbers[row["corpus-id"]])
        _write(folder / f"{split}-queries.ndjson", ({"qid": queries[q][0], "text": queries[q][1]} for q in positives))
        lists = ({"qid": queries[q][0], "positive_doc_ids": found} for q, found in positives.items())
        _write(folder / f"{split}-positives.ndjson", lists)
        if split == "train":
            triplets = list(_triplets(positives, queries, len(texts)))
            _write(folder / "triplets.ndjson", triplets)
            documents = sorted({t[key] for t in triplets for key in ("pos_doc_id", "neg_doc_id")})
        _write(folder / f"{split}-documents.ndjson", ({"doc_id": i, "text": texts[i]} for i in documents))
    return len(texts)


def _triplets(
    positives: dict[str, list[int]], queries: dict[str, tuple[int, str]], count: int
) -> Iterator[dict[str, int]]:
    chosen = random.Random(13)
    for query, found in positives.items():
        for i in range(4):
            other = chosen.randrange(count)
            yield {"qid": queries[query][0], "pos_doc_id": found[i % len(found)], "neg_doc_id": other}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    time_and_print(convert)
