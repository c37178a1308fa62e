"""BEIR: a corpus with titles, queries, and judgements for training and testing, without a single finding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sets.words import Prose

DOCUMENTS, QUERIES = 400_000, 10_000
BLOCK = 10_000
MOST_JUDGED = 3
_SPLITS = ("train", "train", "train", "train", "test")
_HEADER = "query-id\tcorpus-id\tscore\n"


def write_beir(root: Path, scale: float, seed: int) -> None:
    """Write ``corpus.jsonl`` (about 1 KB a document), ``queries.jsonl`` and ``qrels/``: four of five queries train."""
    (root / "qrels").mkdir(parents=True)
    prose = Prose(seed)
    documents, queries = max(100, round(DOCUMENTS * scale)), max(10, round(QUERIES * scale))
    _write(root / "corpus.jsonl", _corpus(prose, documents))
    _write(root / "queries.jsonl", _queries(prose, queries))
    judged = _judged(prose, queries, documents)
    for split in dict.fromkeys(_SPLITS):
        lines = "".join(f"{_query(q)}\t{_document(d)}\t1\n" for q, d in judged if _split(q) == split)
        _write(root / "qrels" / f"{split}.tsv", iter((_HEADER, lines)))


def _document(number: int) -> str:
    return f"DOC-{number}"


def _query(number: int) -> str:
    return f"Q-{number}"


def _split(query: int) -> str:
    return _SPLITS[query % len(_SPLITS)]


def _judged(prose: Prose, queries: int, documents: int) -> list[tuple[int, int]]:
    """Pairs of query and document, each once: the documents of a query follow each other."""
    counts = prose.random.integers(1, MOST_JUDGED + 1, queries).tolist()
    firsts = prose.random.integers(0, documents, queries).tolist()
    return [(q, (firsts[q] + i) % documents) for q in range(queries) for i in range(counts[q])]


def _corpus(prose: Prose, count: int) -> Iterator[str]:
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        titles, texts = prose.texts(stop - start, 2, 6), prose.texts(stop - start, 80, 150)
        yield "".join(
            f'{{"_id": "{_document(start + i)}", "title": "{title}", "text": "{text}", "metadata": {{}}}}\n'
            for i, (title, text) in enumerate(zip(titles, texts, strict=True))
        )


def _queries(prose: Prose, count: int) -> Iterator[str]:
    for start in range(0, count, BLOCK):
        texts = prose.texts(min(BLOCK, count - start), 4, 10)
        yield "".join(
            f'{{"_id": "{_query(start + i)}", "text": "{text}", "metadata": {{}}}}\n' for i, text in enumerate(texts)
        )


def _write(path: Path, blocks: Iterator[str]) -> None:
    with path.open("wb") as file:
        for block in blocks:
            file.write(block.encode())
