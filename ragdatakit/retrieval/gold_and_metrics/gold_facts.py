"""What the corpus says about the gold: which of it is there, has text, appears twice. One pass over the texts.

Two texts are the same if what is searched of them (title, context, text) is equal after Unicode NFKC and with each run
of white space as one blank. Case and punctuation count: there are retrievers that tell them apart.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.files.texts.cut_texts import CutOff, TextLengths
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.gold_and_metrics.alike_ids import alike_ids

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.retrieval.gold_and_metrics.gold import Gold
    from ragdatakit.retrieval.passages import Passage, Passages

    _Keys = npt.NDArray[np.int64]

_WORD = re.compile(r"[^\W_]")
_MOST_IDS, _BEGINNING = 5, 100
MANY = 10
"""Passages of one text that hardly are copies: it was put in the place of theirs."""
_STEP = 0x9E3779B97F4A7C15
"""An odd number, whose powers distinguish the places of a document's chunks."""


@dataclass(frozen=True, slots=True)
class Copies:
    """A text that is in the corpus: under how many ids, and the first few of them in the order of the corpus; how it
    begins."""

    count: int
    ids: tuple[str, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class GoldFacts:
    """What the corpus says about the targets that the gold names (ids of documents, chunks or nodes).

    ``missing`` are not in the corpus; ``empty`` have no letter and no digit in their text. ``copies`` has, by target,
    the text that it shares with other ids: targets of the same text have the same object. ``questions`` has, by
    question, the passages whose whole text is the question. ``alike`` has, by missing target, the one id in the corpus
    that is the same written otherwise (`alike_ids`). ``cut`` says where the texts of the corpus were cut off.
    ``bodies`` has, by target, the text that many have under other titles.
    """

    missing: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    copies: Mapping[str, Copies] = field(default_factory=dict)
    questions: Mapping[str, Copies] = field(default_factory=dict)
    alike: Mapping[str, str] = field(default_factory=dict)
    cut: CutOff | None = None
    bodies: Mapping[str, Copies] = field(default_factory=dict)

    @property
    def lost(self) -> frozenset[str]:
        """The targets that no retriever can find."""
        return self.missing | self.empty


def same_text(text: str) -> str:
    """The form in which texts are compared; empty where there is no letter and no digit."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.split()) if _WORD.search(text) else ""


def read_gold_facts(gold: Gold, passages: Passages | None, nodes: Iterable[str] = ()) -> GoldFacts:
    """Look up the gold of all questions in the corpus; ``nodes`` are the names of the graph's nodes (unit ``node``).

    Judged documents of a corpus of chunks are taken as the sequence of their chunks. Memory: 33 bytes for each
    passage, 16 more where documents are judged and chunks are searched.
    """
    wanted = list(dict.fromkeys(target for question in gold.questions for target in question.gold))
    if gold.unit == "node":
        return GoldFacts(frozenset(wanted) - frozenset(nodes))
    if passages is None or not len(passages):
        return GoldFacts(frozenset(wanted))
    by_document = gold.unit == "document" and passages.unit == "chunk"
    items = _Documents(passages) if by_document else _Items(passages)
    return _lookup(gold, items, wanted)


class _Items:
    """What is ranked, by number: passages. ``keys`` are hashes of their texts, 0 where there is none."""

    def __init__(self, passages: Passages) -> None:
        self.passages = passages
        self.lengths, self.bodies = TextLengths(), array("q")
        self.keys = self._keys()

    def _keys(self) -> _Keys:
        return _hashes(same_text(passage.searched) for passage in self._read())

    def _read(self) -> Iterator[Passage]:
        for passage in self.passages:
            self.lengths.add(passage.text)
            self.bodies.append(_hash(passage.text.strip()))
            yield passage

    def numbers(self, targets: Sequence[str]) -> list[int | None]:
        """The items of these ids; None where there is none."""
        return self.passages.ordinals(targets)

    def id(self, number: int) -> str:
        """The id of an item."""
        return self.passages.id(number)

    def place(self, number: int) -> int:
        """Where an item begins in the corpus."""
        return number

    def text(self, number: int) -> str:
        """The text of an item, in the form in which texts are compared."""
        return same_text(self.passages[number].searched)


class _Documents(_Items):
    """Documents that are searched as chunks."""

    def _keys(self) -> _Keys:
        texts, names = array("q"), array("q")
        for passage in self._read():
            texts.append(_hash(same_text(passage.searched)))
            names.append(hash(passage.document_id or passage.passage_id))
        listed = np.frombuffer(names, np.int64)
        self._order = np.argsort(listed, kind="stable")
        self._names, counts = np.unique(listed, return_counts=True)
        self._starts = np.cumsum(counts) - counts
        self._ends = self._starts + counts
        places = np.arange(len(listed)) - np.repeat(self._starts, counts)
        powers = np.ones(int(counts.max()), np.uint64)
        powers[1:] = _STEP
        powers = np.multiply.accumulate(powers)
        mixed = np.frombuffer(texts, np.uint64)[self._order] * powers[places]
        summed = np.add.reduceat(mixed, self._starts)
        return np.asarray(summed, np.uint64).view(np.int64)

    def _chunks(self, number: int) -> list[int]:
        found: list[int] = self._order[self._starts[number] : self._ends[number]].tolist()
        return found

    def numbers(self, targets: Sequence[str]) -> list[int | None]:
        places = np.searchsorted(self._names, np.fromiter(map(hash, targets), np.int64, len(targets))).tolist()
        there = ((target, place) for target, place in zip(targets, places, strict=True))
        return [place if place < len(self._names) and self.id(place) == target else None for target, place in there]

    def id(self, number: int) -> str:
        return self.passages.document_id(self.place(number))

    def place(self, number: int) -> int:
        return int(self._order[self._starts[number]])

    def text(self, number: int) -> str:
        texts = (same_text(self.passages[ordinal].searched) for ordinal in self._chunks(number))
        return "\0".join(texts).strip("\0")


def _hash(text: str) -> int:
    """Equal texts have equal hashes in this process; what is found by them is compared as text."""
    return hash(text) or 1 if text else 0


def _hashes(texts: Iterable[str]) -> _Keys:
    found = array("q", (_hash(text) for text in texts))
    return np.frombuffer(found, np.int64)


def _lookup(gold: Gold, items: _Items, wanted: Sequence[str]) -> GoldFacts:
    numbers = dict(zip(wanted, items.numbers(wanted), strict=True))
    missing = frozenset(target for target, number in numbers.items() if number is None)
    there = {number: target for target, number in numbers.items() if number is not None}
    empty = frozenset(target for number, target in there.items() if not items.keys[number])
    asked: dict[str, list[str]] = {}
    for question in gold.judged:
        if text := same_text(question.text):
            asked.setdefault(text, []).append(question.question_id)
    of_questions = np.fromiter((_hash(text) for text in asked), np.int64, len(asked))
    of_gold = np.unique(items.keys[np.fromiter(there, np.int64, len(there))])
    copies: dict[str, Copies] = {}
    questions: dict[str, Copies] = {}
    for group in _groups(items.keys, of_gold, of_questions):
        for text, members in _by_text(items, group).items():
            found = _copies(items, members, text)
            for target in (there[number] for number in members if number in there):
                if found.count > 1:
                    copies[target] = found
            questions.update(dict.fromkeys(asked.get(text, ()), found))
    alike = alike_ids(missing, map(items.id, range(len(items.keys) if missing else 0)))
    bodies = _bodies(items, there, copies) if len(items.bodies) == len(items.keys) else {}
    cut = items.lengths.cut_off(lambda numbers: (items.passages[number].text for number in numbers))
    return GoldFacts(missing, empty, copies, questions, alike, cut, bodies)


def _bodies(items: _Items, there: Mapping[int, str], copies: Mapping[str, Copies]) -> dict[str, Copies]:
    """By target, the text that more have under other titles than have it with its title, at least `MANY`."""
    keys = np.frombuffer(items.bodies, np.int64)
    values, counts = np.unique(keys, return_counts=True)
    many = {int(v): int(n) for v, n in zip(values[counts >= MANY], counts[counts >= MANY], strict=True) if v}
    found: dict[int, Copies] = {}
    places = {target: items.place(number) for number, target in there.items()}
    for target, place in places.items():
        key = int(keys[place])
        if key in many and many[key] > (copies[target].count if target in copies else 1):
            found.setdefault(key, Copies(many[key], (), same_text(items.passages[place].text)[:_BEGINNING]))
    return {target: found[key] for target, place in places.items() if (key := int(keys[place])) in found}


def _groups(keys: _Keys, of_gold: _Keys, of_questions: _Keys) -> Iterator[list[int]]:
    """Items with the same key, in their order: at least two of them, or one that has the text of a question."""
    found = np.flatnonzero(np.isin(keys, np.union1d(of_gold, of_questions)) & (keys != 0))
    found = found[np.argsort(keys[found], kind="stable")]
    distinct, starts, counts = np.unique(keys[found], return_index=True, return_counts=True)
    chosen = (counts > 1) | np.isin(distinct, of_questions)
    for start, count in zip(starts[chosen].tolist(), counts[chosen].tolist(), strict=True):
        yield found[start : start + count].tolist()


def _by_text(items: _Items, group: list[int]) -> dict[str, list[int]]:
    """The members of a group by their text: one text, except for a collision of hashes."""
    found: dict[str, list[int]] = {}
    for number in group:
        found.setdefault(items.text(number), []).append(number)
    return found


def _copies(items: _Items, members: list[int], text: str) -> Copies:
    """Under how many ids the members are: an id may be in the corpus twice."""
    ids: dict[str, None] = {}
    hashes: set[int] = set()
    for number in sorted(members, key=items.place):
        target = items.id(number)
        hashes.add(hash(target))
        if len(ids) < _MOST_IDS:
            ids[target] = None
    return Copies(len(hashes), tuple(ids), text[:_BEGINNING])
