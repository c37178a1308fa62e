"""Short documents for retrieval: words drawn by Zipf's law, queries of words of a document, a judgement for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sets.words import CODAS, NUCLEI, ONSETS

DOCUMENTS, QUERIES = 1_000_000, 1_000
WORDS = 300_000
SHORTEST, LONGEST = 20, 91
FEWEST, MOST = 3, 8
"""Words of a query."""
OFFSET = 30
"""A word's frequency is as 1 / (rank + this), which is how it is in English text without its stop words."""
BLOCK = 10_000


def write_zipf(root: Path, scale: float, seed: int) -> None:
    """Write ``corpus.jsonl`` (about 55 words a document), ``queries.jsonl`` and ``qrels/test.tsv``.

    The queries are the same number at every scale; the words of each are of one document, which is its positive.
    """
    (root / "qrels").mkdir(parents=True)
    random = np.random.default_rng(seed)
    count = max(1000, round(DOCUMENTS * scale))
    sought = {int(number): query for query, number in enumerate(random.choice(count, QUERIES, replace=False))}
    queries: dict[int, str] = {}
    with (root / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for number, words in enumerate(_documents(random, count)):
            file.write(f'{{"_id": "D{number}", "title": "", "text": "{" ".join(words)}"}}\n')
            if number in sought:
                queries[sought[number]] = _query(words, seed + number)
    with (root / "queries.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(f'{{"_id": "Q{query}", "text": "{queries[query]}"}}\n' for query in range(QUERIES))
    judged = sorted((query, number) for number, query in sought.items())
    lines = "".join(f"Q{query}\tD{number}\t1\n" for query, number in judged)
    (root / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{lines}", encoding="utf-8")


def _query(words: list[str], seed: int) -> str:
    random = np.random.default_rng(seed)
    different = list(dict.fromkeys(words))
    wanted = min(int(random.integers(FEWEST, MOST + 1)), len(different))
    return " ".join(different[i] for i in sorted(random.choice(len(different), wanted, replace=False)))


def _documents(random: np.random.Generator, count: int) -> Iterator[list[str]]:
    words = _vocabulary(WORDS)
    mass = np.cumsum(1 / (np.arange(1, WORDS + 1) + OFFSET))
    for start in range(0, count, BLOCK):
        lengths = random.integers(SHORTEST, LONGEST, min(BLOCK, count - start))
        ends = np.cumsum(lengths)
        drawn: list[str] = words[np.searchsorted(mass, random.random(int(ends[-1])) * mass[-1])].tolist()
        for begin, end in itertools.pairwise([0, *ends.tolist()]):
            yield drawn[begin:end]


def _vocabulary(size: int) -> np.ndarray:
    """Words of two syllables, all different, the short ones first."""
    syllables = sorted({a + b + c for a, b, c in itertools.product(ONSETS, NUCLEI, CODAS)}, key=lambda s: (len(s), s))
    found = {a + b for a, b in itertools.product(syllables[: round(size**0.5 * 1.2)], repeat=2)}
    listed = np.array(sorted(found), dtype=object)
    mixed = listed[np.random.default_rng(0).permutation(len(listed))]
    return np.array(sorted(mixed, key=len)[:size], dtype=object)
