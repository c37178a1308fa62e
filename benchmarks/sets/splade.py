"""The SPLADE triplet set: queries, documents, positive lists and shuffled triplets, without a single finding.

Every query has a positive list and triplets, every document is a negative of some query and a positive of at most
one, no triplet stands twice, no negative is a positive, no text repeats.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sets.shuffles import Integers, Shuffle
from sets.words import Prose

DOCUMENTS, QUERIES, TRIPLETS = 1_000_000, 100_000, 5_000_000
PER_QUERY = TRIPLETS // QUERIES
FIRST_DOC_ID, FIRST_QID = 1_000_000, 1
MOST_POSITIVES = 5
BLOCK = 20_000


class SpladePlan:
    """Who is positive and negative for whom, as arithmetic: only the owners of documents are stored."""

    def __init__(self, scale: float, seed: int) -> None:
        # A multiple of PER_QUERY: each run of PER_QUERY negatives then lies within one permutation, so never repeats.
        self.documents = max(PER_QUERY * 20, round(DOCUMENTS * scale) // PER_QUERY * PER_QUERY)
        self.queries = max(100, round(QUERIES * scale))
        self.triplets = self.queries * PER_QUERY
        random = np.random.default_rng(seed)
        counts = random.integers(1, MOST_POSITIVES + 1, self.queries)
        self.offsets: Integers = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self._as_positive = Shuffle(self.documents, seed + 1)
        self._as_negative = Shuffle(self.documents, seed + 2)
        self._order = Shuffle(self.triplets, seed + 3)
        self.owners = np.full(self.documents, -1, np.int32)
        self.owners[self.positives(np.arange(self.offsets[-1]))] = np.repeat(np.arange(self.queries), counts)

    def positives(self, positions: Integers) -> Integers:
        """The documents at these positions of the one list of all positives."""
        return self._as_positive.at(positions)

    def positives_of(self, query: int) -> list[int]:
        """All positive documents of one query."""
        found: list[int] = self.positives(np.arange(self.offsets[query], self.offsets[query + 1])).tolist()
        return found

    def spare_documents(self, count: int) -> list[int]:
        """Documents that are positive for nobody."""
        found: list[int] = self.positives(np.arange(self.offsets[-1], self.offsets[-1] + count)).tolist()
        return found

    def rows(self, start: int, stop: int) -> tuple[Integers, Integers, Integers]:
        """Query, positive and negative of the triplets ``start … stop-1`` of the file."""
        places = self._order.at(np.arange(start, stop))
        queries, slots = places // PER_QUERY, places % PER_QUERY
        first = self.offsets[queries]
        positives = self.positives(first + slots % (self.offsets[queries + 1] - first))
        negatives = self._negatives(places)
        for i in np.flatnonzero(self.owners[negatives] == queries).tolist():
            negatives[i] = self._replacements(int(queries[i]))[int(slots[i])]
        return queries, positives, negatives

    def _negatives(self, places: Integers) -> Integers:
        turn = places // self.documents
        drawn = self._as_negative.at(places - turn * self.documents)
        return (drawn + turn * (self.documents // 7)) % self.documents

    def _replacements(self, query: int) -> list[int]:
        """The negatives of one query with its own positives replaced by documents that it does not have yet."""
        own = set(self.positives_of(query))
        drawn = self._negatives(np.arange(query * PER_QUERY, (query + 1) * PER_QUERY)).tolist()
        taken = own | set(drawn)
        for slot, document in enumerate(drawn):
            if document in own:
                while document in taken:
                    document = (document + 1) % self.documents
                taken.add(document)
                drawn[slot] = document
        return [int(document) for document in drawn]


def write_splade(root: Path, scale: float, seed: int) -> None:
    """Write the set of this scale below ``root``."""
    plan = SpladePlan(scale, seed)
    train = root / "train"
    train.mkdir(parents=True)
    prose = Prose(seed)
    _write(train / "query_master.ndjson", _masters(prose, "qid", FIRST_QID, plan.queries, 4, 10))
    _write(train / "doc_master.ndjson", _masters(prose, "doc_id", FIRST_DOC_ID, plan.documents, 12, 55))
    _write(train / "positive_lists.ndjson", _positive_lists(plan))
    _write(train / "triplets.ndjson", _triplets(plan))


TINY: dict[str, list[dict[str, object]]] = {
    "query_master": [{"qid": 1, "text": "when do swifts leave"}, {"qid": 2, "text": "how deep is a slipway"}],
    "doc_master": [
        {"doc_id": 10, "text": "Swifts leave in the first days of August."},
        {"doc_id": 11, "text": "A slipway reaches two metres below low water."},
    ],
    "positive_lists": [{"qid": 1, "positive_doc_ids": [10]}, {"qid": 2, "positive_doc_ids": [11]}],
    "triplets": [{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 11}, {"qid": 2, "pos_doc_id": 11, "neg_doc_id": 10}],
}


def write_tiny(root: Path) -> None:
    """Eight lines: what a start costs."""
    (root / "train").mkdir(parents=True)
    for name, records in TINY.items():
        _write(root / f"train/{name}.ndjson", (json.dumps(record) + "\n" for record in records))


def write_numbers(path: Path, count: int, template: str) -> None:
    """A document master without prose, such as one in which every text is a number."""
    _write(
        path,
        (
            template * (stop - start) % _interleaved(np.arange(start, stop) + FIRST_DOC_ID, np.arange(start, stop))
            for start, stop in _blocks(count)
        ),
    )


def _write(path: Path, blocks: Iterator[str]) -> None:
    with path.open("wb") as file:
        for block in blocks:
            file.write(block.encode())


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


def _interleaved(*columns: Integers) -> tuple[int, ...]:
    return tuple(np.stack(columns, axis=1).ravel().tolist())


def _masters(prose: Prose, key: str, first: int, count: int, fewest: int, most: int) -> Iterator[str]:
    for start, stop in _blocks(count):
        texts = prose.texts(stop - start, fewest, most)
        ids = range(first + start, first + stop)
        yield "".join(f'{{"{key}": {i}, "text": "{text}"}}\n' for i, text in zip(ids, texts, strict=True))


def _positive_lists(plan: SpladePlan) -> Iterator[str]:
    for start, stop in _blocks(plan.queries):
        first, last = int(plan.offsets[start]), int(plan.offsets[stop])
        documents = (plan.positives(np.arange(first, last)) + FIRST_DOC_ID).tolist()
        bounds = (plan.offsets[start : stop + 1] - first).tolist()
        yield "".join(
            f'{{"qid": {start + i + FIRST_QID}, "positive_doc_ids": {documents[bounds[i] : bounds[i + 1]]}}}\n'
            for i in range(stop - start)
        )


def _triplets(plan: SpladePlan) -> Iterator[str]:
    template = '{"qid": %d, "pos_doc_id": %d, "neg_doc_id": %d}\n'
    for start, stop in _blocks(plan.triplets):
        queries, positives, negatives = plan.rows(start, stop)
        yield (
            template
            * (stop - start)
            % _interleaved(queries + FIRST_QID, positives + FIRST_DOC_ID, negatives + FIRST_DOC_ID)
        )
