"""A TREC collection: documents between tags, topics, judgements and a run, without an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sets.words import Prose

DOCUMENTS, TOPICS = 600_000, 5_000
MEGABYTES = 444
"""Of all files, at scale 1."""
BLOCK = 10_000
_JUDGED, _RANKED = 10, 20


def write_trec(root: Path, scale: float, seed: int) -> None:
    """Write ``documents.trec`` (about 600 bytes a document), ``topics.xml``, ``qrels.txt`` and ``run.bm25.txt``."""
    root.mkdir(parents=True)
    prose = Prose(seed)
    documents, topics = max(100, round(DOCUMENTS * scale)), max(10, round(TOPICS * scale))
    with (root / "documents.trec").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_documents(prose, documents))
    titles = _plain(prose, topics, 3, 9)
    tops = "".join(f"<top>\n<num>{n}</num>\n<title>{title}</title>\n</top>\n" for n, title in enumerate(titles, 1))
    (root / "topics.xml").write_text(f"<topics>\n{tops}</topics>\n", encoding="utf-8")
    firsts = prose.random.integers(0, documents, topics).tolist()
    judged = ((t, (firsts[t - 1] + 7 * n) % documents, n % 2) for t in range(1, topics + 1) for n in range(_JUDGED))
    (root / "qrels.txt").write_text("".join(f"{t} 0 D{d} {grade}\n" for t, d, grade in judged), encoding="utf-8")
    ranked = ((t, (firsts[t - 1] + 3 * n) % documents, n) for t in range(1, topics + 1) for n in range(_RANKED))
    lines = (f"{t} Q0 D{d} {n + 1} {100 - n} bm25\n" for t, d, n in ranked)
    (root / "run.bm25.txt").write_text("".join(lines), encoding="utf-8")


def _plain(prose: Prose, count: int, fewest: int, most: int) -> list[str]:
    """Texts of which no quote is escaped."""
    return [text.replace("\\", "") for text in prose.texts(count, fewest, most)]


def _documents(prose: Prose, count: int) -> Iterator[str]:
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        titles, texts = _plain(prose, stop - start, 2, 6), _plain(prose, stop - start, 50, 90)
        yield "".join(
            f"<doc>\n<docno>D{start + i}</docno>\n<title>{title}</title>\n<text>{text}</text>\n</doc>\n"
            for i, (title, text) in enumerate(zip(titles, texts, strict=True))
        )
