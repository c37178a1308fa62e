"""Lexical search by what a user might pick: index a corpus, answer queries, one process for each.

``lexical_engines.py SET index ENGINE FOLDER`` prints the seconds, ``… SET query ENGINE FOLDER LIMIT`` how long each
query took. Every engine has English stemming of its own and returns the ids of the best ten.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import orjson

K = 10
_WORD = re.compile(r"\w+")


class Engine(Protocol):
    """One way to search."""

    def index(self, corpus: Path, folder: Path) -> int:
        """Index the documents; returns their number."""
        ...

    def open(self, folder: Path) -> Callable[[str], list[str]]:
        """What answers a query with ids."""
        ...


def documents(corpus: Path) -> Iterator[tuple[str, str]]:
    """Id and text of each document."""
    with corpus.open("rb") as file:
        for line in file:
            record = orjson.loads(line)
            yield record["_id"], record["text"]


class Tantivy:
    """tantivy alone: its own English analyser, one thread, positions as usual."""

    def index(self, corpus: Path, folder: Path) -> int:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=False, tokenizer_name="en_stem")
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        index = tantivy.Index(builder.build(), path=str(folder))
        writer = index.writer(128_000_000, 1)
        count = 0
        for name, text in documents(corpus):
            writer.add_document(tantivy.Document(id=name, text=text))
            count += 1
        writer.commit()
        writer.wait_merging_threads()
        return count

    def open(self, folder: Path) -> Callable[[str], list[str]]:
        import tantivy

        index = tantivy.Index.open(str(folder))
        searcher = index.searcher()

        def search(text: str) -> list[str]:
            query = index.parse_query(text, ["text"])
            return [searcher.doc(address)["id"][0] for _, address in searcher.search(query, K, count=False).hits]

        return search


class Bm25s:
    """bm25s with its own tokenizer and stop words, and Snowball."""

    backend = "numpy"

    def index(self, corpus: Path, folder: Path) -> int:
        import bm25s
        import Stemmer

        names, texts = zip(*documents(corpus), strict=True)
        tokens = bm25s.tokenize(list(texts), stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
        retriever = bm25s.BM25(k1=1.2, b=0.75)
        retriever.index(tokens, show_progress=False)
        retriever.save(str(folder))
        (folder / "names.json").write_bytes(orjson.dumps(names))
        return len(names)

    def open(self, folder: Path) -> Callable[[str], list[str]]:
        import bm25s
        import Stemmer

        retriever = bm25s.BM25.load(str(folder))
        retriever.backend = self.backend
        names = orjson.loads((folder / "names.json").read_bytes())
        stemmer = Stemmer.Stemmer("english")

        def search(text: str) -> list[str]:
            tokens = bm25s.tokenize(text, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)
            found, _ = retriever.retrieve(tokens, k=K, show_progress=False)
            return [names[i] for i in found[0]]

        return search


class Bm25sNumba(Bm25s):
    """The same, compiled in each process."""

    backend = "numba"


class Fts5:
    """SQLite's FTS5 with its Porter tokenizer."""

    def index(self, corpus: Path, folder: Path) -> int:
        database = sqlite3.connect(folder / "index.sqlite")
        database.execute("pragma journal_mode = off")
        database.execute("pragma synchronous = off")
        database.execute("create virtual table found using fts5(id unindexed, text, tokenize='porter', content='')")
        database.execute("create table names (id text)")
        count = 0
        for count, (name, text) in enumerate(documents(corpus), 1):
            database.execute("insert into found(rowid, text) values (?, ?)", (count, text))
            database.execute("insert into names values (?)", (name,))
        database.execute("insert into found(found) values ('optimize')")
        database.commit()
        return count

    def open(self, folder: Path) -> Callable[[str], list[str]]:
        database = sqlite3.connect(folder / "index.sqlite")
        words = (
            "select names.id from (select rowid from found where found match ? order by rank limit ?) as best "
            "join names on names.rowid = best.rowid"
        )

        def search(text: str) -> list[str]:
            query = " OR ".join(f'"{word}"' for word in _WORD.findall(text))
            return [name for (name,) in database.execute(words, (query, K))]

        return search


class RankBm25:
    """rank-bm25, stemmed with Snowball; it has no files, so that its index is made in the process that asks."""

    def index(self, corpus: Path, folder: Path) -> int:
        shutil.copy(corpus, folder / "corpus.jsonl")
        return self._make(folder)[2]

    def open(self, folder: Path) -> Callable[[str], list[str]]:
        made, names, _ = self._make(folder)

        def search(text: str) -> list[str]:
            found: list[str] = made.get_top_n(self._tokens(text), names, n=K)
            return found

        return search

    def _make(self, folder: Path) -> tuple[Any, list[str], int]:
        from rank_bm25 import BM25Okapi

        names, tokens = zip(*((n, self._tokens(t)) for n, t in documents(folder / "corpus.jsonl")), strict=True)
        return BM25Okapi(tokens, k1=1.2, b=0.75), list(names), len(names)

    def __init__(self) -> None:
        import Stemmer

        self._stemmer = Stemmer.Stemmer("english")

    def _tokens(self, text: str) -> list[str]:
        found: list[str] = self._stemmer.stemWords(_WORD.findall(text.lower()))
        return found


ENGINES: dict[str, type[Engine]] = {
    "tantivy": Tantivy,
    "bm25s": Bm25s,
    "bm25s-numba": Bm25sNumba,
    "fts5": Fts5,
    "rank-bm25": RankBm25,
}


def ask(root: Path, limit: int, opened: Callable[[], Callable[[str], list[str]]]) -> dict[str, Any]:
    """Open, ask the queries of a set one after the other, and tell how long it took, in milliseconds.

    ``found`` is the share of queries whose own document is among the best ten.
    """
    with (root / "queries.jsonl").open("rb") as file:
        asked = [orjson.loads(line) for line in file][:limit]
    rows = [line.split("\t") for line in (root / "qrels" / "test.tsv").read_text().splitlines()[1:]]
    wanted = {query: document for query, document, _ in rows}
    start = time.perf_counter()
    search = opened()
    opening = time.perf_counter() - start
    took: list[float] = []
    found = 0
    for record in asked:
        start = time.perf_counter()
        names = search(record["text"])
        took.append(time.perf_counter() - start)
        found += wanted[record["_id"]] in names
    later = sorted(took[1:])
    return {
        "seconds": sum(took),
        "queries": len(asked),
        "open_ms": opening * 1000,
        "first_ms": (opening + took[0]) * 1000,
        "p50_ms": statistics.median(later) * 1000,
        "p95_ms": later[int(len(later) * 0.95)] * 1000,
        "found": found / len(asked),
    }


def main() -> None:
    """Index or ask."""
    root, what, name, folder = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    engine = ENGINES[name]()
    if what == "index":
        folder.mkdir(parents=True)
        start = time.perf_counter()
        count = engine.index(root / "corpus.jsonl", folder)
        print(json.dumps({"seconds": time.perf_counter() - start, "documents": count}))
    else:
        print(json.dumps(ask(root, int(sys.argv[5]), lambda: engine.open(folder))))


if __name__ == "__main__":
    main()
