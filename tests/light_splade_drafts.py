"""light-splade datasets before they are written, and valid ones made at random."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.light_splade_oracle import Variant

Row = dict[str, Any] | str
"""A record, or the line as it shall stand (lone surrogates U+DC80..U+DCFF are written as single bytes)."""

WORDS = (
    "pear tide harbour museum lantern ferry orchard granite 東京 海 の 灯台 Straße naïve caf\u0065\u0301 Ёлка город "
    "سفينة ספינה नाव 🚢 👩‍🚀 𝔘𝔫𝔦 \\ / \" ' tab\there line\nfeed 12 3.5 NaN null true [] {} : , # e\u0301 \u2028 ﬁ"
).split(" ")

STEMS = {"queries": "query_master", "documents": "doc_master", "positives": "positive_lists", "triplets": "triplets"}


@dataclass(slots=True)
class DraftFile:
    """One file as it will be written.

    ``compressed`` is what the content is, where the name in ``suffix`` lies about it; ``shards`` are the names of the
    files of a folder that the rows are dealt to; ``copies`` are further names in it with the first shard's content;
    ``alter`` has the last word on the stored bytes.
    """

    rows: list[Row]
    suffix: str = ".ndjson"
    compressed: bool | None = None
    newline: str = "\n"
    head: bytes = b""
    tail: str = ""
    final_newline: bool = True
    escaped: bool = False
    members: int = 1
    absent: bool = False
    shards: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    alter: Callable[[bytes], bytes] | None = None

    def lines(self, rows: list[Row]) -> bytes:
        """The rows as bytes, not compressed."""
        texts = [r if isinstance(r, str) else json.dumps(r, ensure_ascii=self.escaped) for r in rows]
        text = self.newline.join(texts) + (self.newline if texts and self.final_newline else "") + self.tail
        return self.head + text.encode("utf-8", "surrogateescape")

    def stored(self, rows: list[Row], name: str) -> bytes:
        """The bytes as they lie on disk under that name."""
        data = self.lines(rows)
        if self.compressed if self.compressed is not None else name.endswith(".gz"):
            cut = len(data) // self.members + 1
            data = b"".join(gzip.compress(data[i : i + cut], mtime=0) for i in range(0, len(data) or 1, cut))
        return self.alter(data) if self.alter else data

    def write(self, folder: Path, stem: str) -> None:
        """Write the file, or the folder of its shards."""
        if self.absent:
            return
        folder.mkdir(parents=True, exist_ok=True)
        if not self.shards:
            (folder / f"{stem}{self.suffix}").write_bytes(self.stored(self.rows, self.suffix))
            return
        size = -(-len(self.rows) // len(self.shards))
        parts = [(name, self.rows[i * size : (i + 1) * size]) for i, name in enumerate(self.shards)]
        parts += [(name, parts[0][1]) for name in self.copies]
        for name, rows in parts:
            path = folder / stem / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.stored(rows, name))


@dataclass(slots=True)
class DraftSet:
    """A dataset before it is written: files by split and kind (the scores belong to no split).

    ``splits`` is ``("",)`` where the files of one split lie in the folder itself.
    """

    variants: tuple[Variant, ...]
    splits: tuple[str, ...]
    files: dict[tuple[str, str], DraftFile] = field(default_factory=dict)
    scores_stem: str = "hard_negative_scores"
    mutations: list[str] = field(default_factory=list)

    @property
    def training(self) -> str:
        """The split that is trained on."""
        return self.splits[0]

    def write(self, root: Path) -> None:
        """Write all files below ``root``."""
        root.mkdir(parents=True, exist_ok=True)
        for (split, kind), file in self.files.items():
            file.write(root / split, STEMS.get(kind, self.scores_stem))

    def rename(self, kind: str, new: Callable[[Any], Any]) -> None:
        """Give other ids to all queries or documents, in every file that names them."""
        for (_, of), file in self.files.items():
            for row in file.rows:
                if isinstance(row, dict):
                    _rename(row, of, kind, new)


def _rename(row: dict[str, Any], of: str, kind: str, new: Callable[[Any], Any]) -> None:
    names = ("qid",) if kind == "queries" else ("doc_id", "pos_doc_id", "neg_doc_id")
    row.update({name: new(row[name]) for name in names if name in row})
    if kind == "documents" and isinstance(row.get("positive_doc_ids"), list):
        row["positive_doc_ids"] = [new(i) for i in row["positive_doc_ids"]]
    if kind == "documents" and isinstance(row.get("scores"), dict):
        row["scores"] = {str(new(int(key))): score for key, score in row["scores"].items()}


def valid(rng: Random) -> DraftSet:
    """A dataset without any fault: one variant or both, one split or two, ids of one style."""
    choices: list[tuple[Variant, ...]] = [("triplet",), ("distil",), ("triplet", "distil")]
    variants = rng.choice(choices)
    draft = DraftSet(variants, rng.choice([("train",), ("train", "validation"), ("",)]))
    draft.scores_stem = rng.choice(["hard_negative_scores", "hard-negatives-cross-encoder-scores"])
    ids = _ids(rng)
    scores: list[Row] = []
    for split in draft.splits:
        scores += _fill(draft, split, ids, rng)
    if "distil" in variants:
        rng.shuffle(scores)
        draft.files["", "scores"] = DraftFile(scores)
    for file in draft.files.values():
        file.escaped = rng.random() < 0.5
    return draft


def _ids(rng: Random) -> list[int]:
    """Ids that differ from each other, in random order; neither 0 nor 1, which equal ``false`` and ``true``."""
    first, last = rng.choice([(2, 60), (2, 10**6), (10**12, 10**12 + 50), (2**53 - 90, 2**53), (-90, -1)])
    return rng.sample(range(first, last), 40)


def _fill(draft: DraftSet, split: str, ids: list[int], rng: Random) -> list[Row]:
    """Add the files of one split; returns its lines of the scores file."""
    qids = [ids.pop() for _ in range(rng.randint(2, 6))]
    docs = [ids.pop() for _ in range(rng.randint(4, 9))]
    positives = {q: rng.sample(docs, rng.randint(1, 3)) for q in qids}
    negatives = {q: [d for d in docs if d not in positives[q]] for q in qids}
    files: dict[str, list[Row]] = {
        "queries": [{"qid": q, "text": _text(rng)} for q in qids],
        "documents": [{"doc_id": d, "text": _text(rng)} for d in docs],
        "positives": [{"qid": q, "positive_doc_ids": p} for q, p in positives.items()],
    }
    if "triplet" in draft.variants and (split != "validation" or rng.random() < 0.5):
        files["triplets"] = [_triplet(q, positives, negatives, rng) for q in qids for _ in range(rng.randint(1, 3))]
    for kind, rows in files.items():
        rng.shuffle(rows)
        draft.files[split, kind] = DraftFile(rows)
    return [{"qid": q, "scores": _scores(positives[q], negatives[q], rng)} for q in qids]


def _triplet(qid: int, positives: dict[int, list[int]], negatives: dict[int, list[int]], rng: Random) -> Row:
    return {"qid": qid, "pos_doc_id": rng.choice(positives[qid]), "neg_doc_id": rng.choice(negatives[qid])}


def _scores(positives: list[int], negatives: list[int], rng: Random) -> dict[str, float]:
    chosen = positives + rng.sample(negatives, rng.randint(1, len(negatives)))
    rng.shuffle(chosen)
    return {str(d): rng.choice([round(rng.uniform(-9, 9), 3), rng.randint(-9, 9), 1e-7, -2.5e3]) for d in chosen}


def _text(rng: Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 8)))
