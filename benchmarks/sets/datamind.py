"""A DataMind profile: flat-metadata chunks and typed triples, in shards, that both loaders take whole.

Chunk ids and texts never repeat; an entity has one type and one spelling; no triple stands twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sets.shuffles import Integers, Shuffle
from sets.words import Prose

CHUNKS, TRIPLES, ENTITIES = 500_000, 2_000_000, 200_000
SHARDS = 4
BLOCK = 10_000
RELATIONS = (
    "built_by", "caused_by", "contains", "follows", "founded_by", "located_in", "made_of", "member_of", "owned_by",
    "part_of", "precedes", "produced_by", "related_to", "replaced_by", "used_for", "written_by",
)  # fmt: skip
TYPES = ("Event", "Object", "Organisation", "Person", "Place", "Process", "Substance", "Work")
SECTIONS = ("introduction", "method", "result", "discussion", "appendix")


def write_datamind(root: Path, scale: float, seed: int) -> None:
    """Write the profile of this scale: ``root`` is the profile folder itself."""
    (root / "chunks").mkdir(parents=True)
    (root / "triplets").mkdir()
    prose = Prose(seed)
    chunks, triples = max(SHARDS, round(CHUNKS * scale)), max(SHARDS, round(TRIPLES * scale))
    for shard in range(SHARDS):
        _write(root / f"chunks/part-{shard}.jsonl", _chunks(prose, *_share(chunks, shard)))
    entities = _entities(prose, max(20, round(ENTITIES * scale)))
    order = Shuffle(triples, seed)
    for shard in range(SHARDS):
        _write(root / f"triplets/part-{shard}.jsonl", _triples(prose, entities, order, *_share(triples, shard)))


def _share(count: int, shard: int) -> tuple[int, int]:
    return count * shard // SHARDS, count * (shard + 1) // SHARDS


def _write(path: Path, blocks: Iterator[str]) -> None:
    with path.open("wb") as file:
        for block in blocks:
            file.write(block.encode())


def _blocks(first: int, last: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + BLOCK, last)) for start in range(first, last, BLOCK))


def _chunks(prose: Prose, first: int, last: int) -> Iterator[str]:
    for start, stop in _blocks(first, last):
        count = stop - start
        texts = prose.texts(count, 40, 152)
        pages = prose.random.integers(1, 400, count).tolist()
        scores = prose.random.integers(0, 1000, count).tolist()
        yield "".join(
            f'{{"id": "chunk-{i:08d}", "text": "{text}", "source": "report-{i // 40}.md", "metadata": '
            f'{{"page": {page}, "section": "{SECTIONS[page % 5]}", "score": 0.{score:03d}}}}}\n'
            for i, text, page, score in zip(range(start, stop), texts, pages, scores, strict=True)
        )


def _entities(prose: Prose, count: int) -> list[str]:
    """Names with their JSON quotes: one word and a number that no other name has."""
    return [f'"{prose.names[i % len(prose.names)].capitalize()} {i}"' for i in range(count)]


def _triples(prose: Prose, entities: list[str], order: Shuffle, first: int, last: int) -> Iterator[str]:
    for start, stop in _blocks(first, last):
        subjects, objects = _pairs(order.at(np.arange(start, stop)), len(entities))
        relations = prose.random.integers(0, len(RELATIONS), stop - start).tolist()
        confidences = prose.random.integers(10, 100, stop - start).tolist()
        yield "".join(
            f'{{"subject": {entities[s]}, "relation": "{RELATIONS[r]}", "object": {entities[o]}, '
            f'"subject_type": "{TYPES[s % 8]}", "object_type": "{TYPES[o % 8]}", "confidence": 0.{c}}}\n'
            for s, r, o, c in zip(subjects, relations, objects, confidences, strict=True)
        )


def _pairs(places: Integers, entities: int) -> tuple[list[int], list[int]]:
    """Subject and object of each triple: every pair once, and never an entity with itself."""
    subjects, turns = places % entities, places // entities
    objects = (subjects + 1 + turns * 7919) % entities
    if turns.size and int(turns.max()) * 7919 >= entities:
        objects = (subjects + 1 + turns) % entities
    return subjects.tolist(), objects.tolist()
