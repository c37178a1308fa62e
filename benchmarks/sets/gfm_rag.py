"""A GFM-RAG stage1 set: nodes with attributes, relations, shuffled edges, questions and documents; no error.

One node in ten is a document. Every entity is mentioned in one document and hangs on an earlier entity, so the graph is
one piece but for a few islands; the targets of every question lie two and three steps from its start node.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sets.shuffles import Integers
from sets.words import FOREIGN, Prose

NODES, RELATIONS, QUESTIONS = 1_000_000, 2_000, 1_000
EDGES_PER_NODE = 5
DOCUMENT_EVERY = 10
ISLANDERS_PER_MILLION = 120
MENTION = "is_mentioned_in"
KINDS = ("harbour", "vessel", "pilot", "beacon", "channel", "weather", "cargo", "signal")
NODES_FILE, RELATIONS_FILE, EDGES_FILE, QUESTIONS_FILE = (
    f"processed/stage1/{name}" for name in ("nodes.csv", "relations.csv", "edges.csv", "test.json")
)
DOCUMENTS_FILE = "raw/documents.json"
BLOCK = 250_000


@dataclass(frozen=True, slots=True)
class Edges:
    """Node and relation numbers of every edge, in the order of the file."""

    sources: Integers
    relations: Integers
    targets: Integers


class GraphPlan:
    """Who is joined to whom, as numbers; names come later."""

    def __init__(self, scale: float, seed: int) -> None:
        self.nodes = max(1_000, round(NODES * scale) // DOCUMENT_EVERY * DOCUMENT_EVERY)
        self.relations = min(RELATIONS, self.nodes // 5)
        self.questions = min(QUESTIONS, self.nodes // 10)
        self._random = np.random.default_rng(seed)
        numbers = np.arange(self.nodes)
        self.documents: Integers = numbers[numbers % DOCUMENT_EVERY == 0]
        self.entities: Integers = numbers[numbers % DOCUMENT_EVERY != 0]
        self.islanders = max(6, round(self.nodes * ISLANDERS_PER_MILLION / 1_000_000) // 6 * 6)
        self.joined = len(self.entities) - self.islanders
        # The parent of the entity in place i (of the entities) is an earlier one; the first has itself.
        self.parents: Integers = (self._random.random(self.joined) * np.arange(self.joined)).astype(np.int64)

    def document_of(self, place: int) -> int:
        """The node of the document that mentions the entity in this place."""
        return int(self.documents[place % len(self.documents)])

    def edges(self) -> Edges:
        """All edges, shuffled."""
        places = np.arange(self.joined)
        first, second = self._pairs(self.nodes * EDGES_PER_NODE - 2 * self.joined + 1 - self._island_edges)
        islanders = self.entities[self.joined :][: 2 * self._island_edges].reshape(-1, 2)
        sources = np.concatenate(
            [self.entities[places], self.entities[places[1:]], self.entities[first], islanders[:, 0]]
        )
        targets = np.concatenate(
            [
                self.documents[places % len(self.documents)],
                self.entities[self.parents[1:]],
                self.entities[second],
                islanders[:, 1],
            ]
        )
        relations = np.concatenate([np.zeros(self.joined, np.int64), self._relations(len(sources) - self.joined)])
        order = self._random.permutation(len(sources))
        return Edges(sources[order], relations[order], targets[order])

    def chosen_starts(self) -> list[int]:
        """The places of the entities that questions start from, each at least two steps from the first entity."""
        far = np.flatnonzero(self.parents[self.parents] > 0)
        chosen: list[int] = self._random.choice(far, self.questions, replace=False).tolist()
        return chosen

    @property
    def _island_edges(self) -> int:
        # A third of the islanders has no edge at all.
        return self.islanders // 3

    def _pairs(self, count: int) -> tuple[Integers, Integers]:
        first = self._random.integers(0, self.joined, count)
        return first, (first + self._random.integers(1, self.joined, count)) % self.joined

    def _relations(self, count: int) -> Integers:
        # Squaring makes some relations common and most rare; the first rows name each of them once.
        drawn = (self._random.random(count) ** 2 * (self.relations - 1)).astype(np.int64) + 1
        drawn[: self.relations - 1] = np.arange(1, self.relations)
        return drawn


def write_gfm_rag(root: Path, scale: float, seed: int) -> None:
    """Write the dataset of this scale: ``root`` is the dataset folder itself."""
    (root / "processed/stage1").mkdir(parents=True)
    (root / "raw").mkdir()
    plan, prose = GraphPlan(scale, seed), Prose(seed)
    names = _names(plan, prose)
    relations = _relation_names(plan, prose)
    texts = _passages(prose, len(plan.documents))
    (root / RELATIONS_FILE).write_bytes(_relations_table(relations).encode())
    _write(root / NODES_FILE, _nodes_table(plan, prose, names, texts))
    _write(root / DOCUMENTS_FILE, _documents(plan, names, texts))
    _write(root / QUESTIONS_FILE, _questions(plan, names))
    cells = pa.array([_cell(name) for name in names], pa.large_string())
    del names, texts
    _write_edges(root / EDGES_FILE, plan, cells, pa.array(relations, pa.large_string()))


def _write(path: Path, blocks: Iterator[str]) -> None:
    with path.open("wb") as file:
        for block in blocks:
            file.write(block.encode())


def _names(plan: GraphPlan, prose: Prose) -> list[str]:
    """A name per node: entities in lower case, documents as titles. Its first two words are no other name's."""
    words = prose.names
    size = len(words)
    thirds = prose.random.integers(0, size, plan.nodes).tolist()
    names = []
    for number, third in enumerate(thirds):
        first = words[number % size]
        second = words[(number * 7 + number // size) % size]
        names.append(
            _title(first, second, words[third], number)
            if number % DOCUMENT_EVERY == 0
            else _phrase(first, second, words[third], number)
        )
    return names


def _phrase(first: str, second: str, third: str, number: int) -> str:
    if number % 13 == 0:
        return f"{first} {second} {third}{FOREIGN[number // 13 % len(FOREIGN)]}"
    return f"{first} {second}" if number % 3 == 1 else f"{first} {second} {third}"


def _title(first: str, second: str, third: str, number: int) -> str:
    first, second = first.capitalize(), second.capitalize()
    if number % 50 == 0:
        return f"{first}, {second} {third}"
    return f'{first} "{second}"' if number % 70 == 0 else f"{first} {second} {third}"


def _relation_names(plan: GraphPlan, prose: Prose) -> list[str]:
    words = prose.names
    return [MENTION, *(f"{words[n]} {('by', 'of', 'in', 'to')[n % 4]}" for n in range(1, plan.relations))]


def _passages(prose: Prose, count: int) -> list[str]:
    """A passage per document, escaped for JSON: some have line breaks, apostrophes, quotes, commas."""
    texts = prose.texts(count, 25, 55)
    for number in range(count):
        text = texts[number].replace(". ", ", ", 1)
        if number % 5 == 0:
            text = text.replace(". ", ".\\n", 1)
        if number % 10 == 7:
            text = "The pilot's book: " + text.replace('\\"', "")
        texts[number] = text
    return texts


def _cell(text: str) -> str:
    """As it stands in a CSV file."""
    return '"' + text.replace('"', '""') + '"' if '"' in text or "," in text or "\n" in text else text


def _python_text(text: str) -> str:
    """A text that is escaped for JSON, as Python's ``repr`` writes it."""
    text = text.replace('\\"', '"')
    return f'"{text}"' if "'" in text else f"'{text}'"


def _nodes_table(plan: GraphPlan, prose: Prose, names: list[str], texts: list[str]) -> Iterator[str]:
    yield "name,type,attributes\n"
    years = prose.random.integers(1500, 2000, plan.nodes).tolist()
    words, size = prose.names, len(prose.names)
    for start in range(0, plan.nodes, BLOCK):
        rows = []
        for number in range(start, min(start + BLOCK, plan.nodes)):
            if number % DOCUMENT_EVERY == 0:
                attributes = _cell("{'content': " + _python_text(texts[number // DOCUMENT_EVERY]) + "}")
                rows.append(f"{_cell(names[number])},document,{attributes}\n")
            else:
                rows.append(f"{_cell(names[number])},entity,{_attributes(number, years[number], words, size)}\n")
        yield "".join(rows)


def _attributes(number: int, year: int, words: list[str], size: int) -> str:
    """The cell of an entity: half have none, the others as JSON or as Python writes a dict."""
    kind, note = KINDS[year % len(KINDS)], words[number * 31 % size]
    if number % 2:
        return "{}"
    if number % 10 == 8:
        return f"\"{{'kind': '{kind}', 'since': {year}}}\""
    return f'"{{""kind"": ""{kind}"", ""since"": {year}, ""aliases"": [""{note} {kind}""]}}"'


def _relations_table(names: list[str]) -> str:
    rows = (f"{name},{'{}' if n % 4 else _cell(json.dumps({'kind': KINDS[n % 8]}))}\n" for n, name in enumerate(names))
    return "name,attributes\n" + "".join(rows)


def _documents(plan: GraphPlan, names: list[str], texts: list[str]) -> Iterator[str]:
    """Title to text, one member per line, as ``json.dump(..., indent=4, ensure_ascii=False)`` writes it."""
    yield "{"
    for number, text in enumerate(texts):
        title = json.dumps(names[number * DOCUMENT_EVERY], ensure_ascii=False)
        yield f'{"," if number else ""}\n    {title}: "{text}"'
    yield "\n}"


def _questions(plan: GraphPlan, names: list[str]) -> Iterator[str]:
    """An array with one question per line."""
    starts = plan.chosen_starts()
    for number, place in enumerate(starts):
        last = int(plan.parents[plan.parents[place]])
        start, target = names[plan.entities[place]], names[plan.entities[last]]
        title = names[plan.document_of(last)]
        record: dict[str, Any] = {
            "id": f"q-{number:04d}",
            "question": f"What stands two steps from {start}?",
            "answer": target,
            "answer_aliases": [],
            "supporting_documents": [title],
            "start_nodes": {"entity": [start]},
            "target_nodes": {"document": [title], "entity": [target]},
        }
        yield ("[\n" if number == 0 else ",\n") + json.dumps(record, ensure_ascii=False)
    yield "\n]\n"


def _write_edges(path: Path, plan: GraphPlan, names: pa.Array, relations: pa.Array) -> None:
    edges = plan.edges()
    # One edge in a hundred has attributes.
    cells = [*(_cell(json.dumps({"weight": w / 100})) for w in range(100)), "{}"]
    ends = pa.array([f"{cell}\n" for cell in cells], pa.large_string())
    weights = np.random.default_rng(0).integers(0, 10_000, len(edges.sources))
    comma = pa.scalar(",", pa.large_string())
    with path.open("wb") as file:
        file.write(b"source,relation,target,attributes\n")
        for start in range(0, len(edges.sources), BLOCK):
            part = slice(start, start + BLOCK)
            lines = pc.binary_join_element_wise(
                names.take(pa.array(edges.sources[part])),
                relations.take(pa.array(edges.relations[part])),
                names.take(pa.array(edges.targets[part])),
                ends.take(pa.array(np.minimum(weights[part], 100))),
                comma,
            )
            file.write(_joined(lines))


def _joined(lines: pa.Array) -> memoryview:
    """The bytes of all texts, one after the other."""
    offsets = np.frombuffer(lines.buffers()[1], np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(lines.buffers()[2])[int(offsets[0]) : int(offsets[-1])]
