"""Hard negatives: passages that BM25 ranks high for a question and that are not relevant, for training triplets.

Asked for in words such as ``bm25:depth=100,per_query=4,seed=13``. A negative is never a positive of its question (of
any split, or of a question with the same text), never has the text of one, and is never empty.
"""

from __future__ import annotations

import hashlib
import random
import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.retrieval.index_parts import Progress, Ranker
from ragdatakit.retrieval.lexical import LexicalPart
from ragdatakit.retrieval.passages import Passage, Passages, read_passages, write_passages
from ragdatakit.retrieval.terms.tokens import Tokenizer
from ragdatakit.schemas.canonical import Triplet
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.retrieved import Query

MOST_DEPTH = 10_000
_MOST_SEED = (1 << 63) - 1
_BATCH = 256
_EVALUATION = frozenset(("validation", "valid", "val", "dev", "development", "test"))
_WORDS = re.compile(r"[^\W_]+")
_TRUE = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class NegativeOptions:
    """How to mine.

    Of the first ``depth`` passages that BM25 finds for a question, without the first ``skip`` of them, ``per_query``
    negatives are taken: drawn with the ``seed`` (``sample``), or the best (``top``). Questions that have triplets
    keep them and get no others, unless ``replace``. ``analyzer`` and ``stemmer`` are those of the index.
    """

    depth: int = 100
    per_query: int = 4
    skip: int = 0
    seed: int = 13
    take: Literal["sample", "top"] = "sample"
    replace: bool = False
    analyzer: Literal["default", "ja"] = "default"
    stemmer: str = "english"

    def check(self) -> None:
        """Raise `RagdataError` where the values make no sense."""
        spans = {
            "depth": (self.depth, 1, MOST_DEPTH),
            "skip": (self.skip, 0, self.depth - 1),
            "per_query": (self.per_query, 1, self.depth - self.skip),
            "seed": (self.seed, -_MOST_SEED, _MOST_SEED),
        }
        for name, (value, least, most) in spans.items():
            if not least <= value <= most:
                raise RagdataError(f"--negatives {name}={value}: expected {least:,} to {most:,}")


_CHOICES = {"take": ("sample", "top"), "analyzer": ("default", "ja")}
_NUMBERS = ("depth", "per_query", "skip", "seed")
_NAMES = (*_NUMBERS, "take", "replace", "analyzer", "stemmer")


def parse_negatives(spec: str, seed: int = 13) -> NegativeOptions:
    """The options in ``bm25:depth=100,per_query=4,seed=13``, each of which may be left out; ``seed`` is used where the
    text gives none.

    Raises `UnknownNameError` for an unknown method, word or choice, `RagdataError` for a value that makes no sense.
    """
    method, _, rest = spec.partition(":")
    if method.strip() != "bm25":
        raise UnknownNameError("method to mine negatives", method.strip(), ("bm25",))
    given: dict[str, Any] = {"seed": seed}
    seen: set[str] = set()
    for item in rest.split(",") if rest.strip() else ():
        word, equals, value = (part.strip() for part in item.partition("="))
        name = word.replace("-", "_")
        if not equals:
            raise RagdataError(f"--negatives {spec}: expected name=value, got {item.strip()!r}")
        if name not in _NAMES:
            raise UnknownNameError("word of --negatives", word, _NAMES)
        if name in seen:
            raise RagdataError(f"--negatives {spec}: {name} is given twice")
        seen.add(name)
        given[name] = _value(name, value)
    options = NegativeOptions(**given)
    options.check()
    return options


def _value(name: str, text: str) -> str | int | bool:
    if name in _NUMBERS:
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", text):
            raise RagdataError(f"--negatives {name}={text}: expected an integer")
        return int(text)
    if name == "replace":
        if text.lower() not in _TRUE:
            raise RagdataError(f"--negatives {name}={text}: expected true or false")
        return _TRUE[text.lower()]
    if name in _CHOICES and text not in _CHOICES[name]:
        raise UnknownNameError("value", text, _CHOICES[name], where=f"of --negatives {name}")
    return text


def mine_negatives(
    tables: CanonicalTables, spec: str, seed: int = 13, progress: Progress | None = None
) -> CanonicalTables:
    """The same tables with mined triplets, behind those that are given (instead of them with ``replace``).

    A question with ``p`` positives and ``n`` negatives gets the greater number of triplets, so that each positive and
    each negative is in one at least. Where there are splits for training and for evaluation, triplets are mined
    for training only. What cannot be mined is counted in ``losses``.

    Memory holds the judgements, the questions' ids, eight bytes for each passage and twelve for each triplet; an index
    of all passages lies in a scratch folder meanwhile. Raises `RagdataError` where no question has a positive, nothing
    at all could be mined, or the words are wrong (see `parse_negatives`), `MissingExtraError` without the libraries.
    """
    options = parse_negatives(spec, seed)
    tokenizer = Tokenizer(options.analyzer, options.stemmer)
    positives = _positives(tables)
    if not positives:
        raise RagdataError(f"{tables.name} has no question with a relevant passage: no negatives can be mined")
    kept = frozenset[str]() if options.replace else frozenset(t.question_id for t in tables.peek("triplets"))
    with ScratchFolder() as folder:
        passages = _written(tables, folder / "passages")
        part = LexicalPart(tokenizer)
        (folder / "index").mkdir()
        part.build(folder / "index", passages, lambda: tables, progress)
        ranker = part.open(folder / "index", passages)
        mining = _Mining(tables, options, passages, ranker, positives, kept)
        mined = mining.run(progress)
        del ranker, passages, mining
    if not mined and not kept:
        reason = f"no passage among the first {options.depth:,} results of each question could be one"
        raise RagdataError(f"{tables.name}: no negatives could be mined: {reason}")
    return _with_triplets(tables, mined, options)


def _written(tables: CanonicalTables, folder: Path) -> Passages:
    folder.mkdir()
    if not write_passages(folder, read_passages(tables)):
        raise RagdataError(f"{tables.name} has no passages: no negatives can be mined")
    return Passages(folder, "chunk" if tables.passages == "chunks" else "document")


_Positives = dict[str, dict[str | None, dict[str, None]]]
"""By question and split: the ids of the relevant passages, in the order of the data."""


def _positives(tables: CanonicalTables) -> _Positives:
    """What is relevant: judgements above 0, and the positives of triplets where nothing is judged."""
    found: _Positives = {}
    judged: set[str] = set()
    for qrel in tables.peek_passage_qrels():
        judged.add(qrel.question_id)
        if qrel.grade > 0:
            found.setdefault(qrel.question_id, {}).setdefault(qrel.split, {})[qrel.target_id] = None
    for row in tables.peek("triplets"):
        if row.question_id not in judged:
            found.setdefault(row.question_id, {}).setdefault(row.split, {})[row.positive_id] = None
    return found


@dataclass(slots=True)
class _Mined:
    """Triplets as places in lists of ids."""

    questions: list[str] = field(default_factory=list)
    splits: list[str | None] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    rows: array[int] = field(default_factory=lambda: array("i"))
    _places: dict[str, int] = field(default_factory=dict)

    def add(self, split: str | None, pairs: Iterable[tuple[str, str]]) -> None:
        """Triplets of the last question."""
        if split not in self.splits:
            self.splits.append(split)
        head = (len(self.questions) - 1, self.splits.index(split))
        for pair in pairs:
            self.rows.extend((*head, *map(self._place, pair)))

    def _place(self, passage_id: str) -> int:
        place = self._places.setdefault(passage_id, len(self.ids))
        if place == len(self.ids):
            self.ids.append(passage_id)
        return place

    def __len__(self) -> int:
        return len(self.rows) // 4

    def __iter__(self) -> Iterator[Triplet]:
        rows = iter(self.rows)
        for question, split, positive, negative in zip(rows, rows, rows, rows, strict=True):
            yield Triplet(self.questions[question], self.ids[positive], self.ids[negative], self.splits[split])


class _Mining:
    """One run over the questions."""

    def __init__(
        self,
        tables: CanonicalTables,
        options: NegativeOptions,
        passages: Passages,
        ranker: Ranker,
        positives: _Positives,
        kept: frozenset[str],
    ) -> None:
        self._tables, self._options, self._passages, self._ranker = tables, options, passages, ranker
        self._positives, self._kept = positives, kept
        self._digests = array("Q", bytes(8 * len(passages)))
        splits = {split for of_question in positives.values() for split in of_question}
        evaluated = {split for split in splits if split and split.lower() in _EVALUATION}
        self._left_out = evaluated if splits - evaluated else set[str]()
        self._same: dict[int, list[str]] = {}

    def run(self, progress: Progress | None) -> _Mined:
        """All triplets, in the order of the questions."""
        counts = {"negatives": 0, "with triplets": 0}
        texts: dict[str, int] = {}
        for row in self._tables.peek("questions"):
            if row.question_id in self._positives and row.question_id not in texts:
                texts[row.question_id] = _digest(row.text)
                self._same.setdefault(texts[row.question_id], []).append(row.question_id)
        mined = _Mined()
        done, total = 0, len(texts)
        questions = self._questions(counts)
        while batch := list(islice(questions, _BATCH)):
            rankings = self._ranker.rank([Query(row.text, row.question_id) for row in batch], self._options.depth)
            for row, ranking in zip(batch, rankings, strict=True):
                same = self._same.get(texts[row.question_id], ())
                self._mine(row.question_id, same, ranking.ordinals.tolist(), mined, counts)
            done += len(batch)
            if progress is not None:
                progress("mining negatives", done, total)
        self._tell(mined, counts)
        return mined

    def _questions(self, counts: dict[str, int]) -> Iterator[Any]:
        """The questions to mine for, once each."""
        seen: set[str] = set()
        for row in self._tables.peek("questions"):
            if row.question_id not in self._positives or row.question_id in seen:
                continue
            seen.add(row.question_id)
            if row.question_id in self._kept:
                counts["with triplets"] += 1
            elif not self._left_out.issuperset(self._positives[row.question_id]):
                yield row

    def _mine(
        self, question_id: str, same: Iterable[str], found: list[int], mined: _Mined, counts: dict[str, int]
    ) -> None:
        by_split = self._positives[question_id]
        positives = {p for q in (question_id, *same) for listed in self._positives[q].values() for p in listed}
        there = {p: ordinal for p in positives if (ordinal := self._passages.ordinal(p)) is not None}
        usable = {p for p, ordinal in there.items() if self._text_digest(ordinal)}
        wanted = {
            split: [p for p in listed if p in usable]
            for split, listed in by_split.items()
            if split not in self._left_out
        }
        if not any(wanted.values()):
            why = "none mined for questions whose relevant passages are not there, or are empty"
            self._tables.losses.add("derived", "triplets", None, why, question_id)
            return
        refused = {self._text_digest(ordinal) for ordinal in there.values()} | {0}
        candidates = self._candidates(found, positives, refused)
        negatives = self._chosen(question_id, candidates)
        if len(negatives) < self._options.per_query:
            self._tell_few(question_id, len(negatives))
        counts["negatives"] += len(negatives)
        mined.questions.append(question_id)
        for split, listed in wanted.items():
            number = max(len(listed), len(negatives)) if listed and negatives else 0
            mined.add(split, ((listed[i % len(listed)], negatives[i % len(negatives)]) for i in range(number)))

    def _candidates(self, found: Iterable[int], positives: set[str], refused: set[int]) -> list[str]:
        """What may be a negative, best first; of several with the same text or the same id the best."""
        ids: dict[str, None] = {}
        seen = set(refused)
        for ordinal in islice(found, self._options.skip, None):
            passage_id, digest = self._passages.id(ordinal), self._text_digest(ordinal)
            if digest not in seen and passage_id not in positives and passage_id not in ids:
                seen.add(digest)
                ids[passage_id] = None
        return list(ids)

    def _chosen(self, question_id: str, candidates: list[str]) -> list[str]:
        most = self._options.per_query
        if self._options.take == "top" or len(candidates) <= most:
            return candidates[:most]
        words = f"{self._options.seed}\0{question_id}".encode("utf-8", "surrogatepass")
        draw = random.Random(hashlib.blake2b(words, digest_size=8).digest())
        order = sorted((draw.random(), place) for place in range(len(candidates)))
        return [candidates[place] for place in sorted(place for _, place in order[:most])]

    def _text_digest(self, ordinal: int) -> int:
        """The digest of a passage's text; 0 where it is empty."""
        if not self._digests[ordinal]:
            # 1 stands for empty texts meanwhile, because 0 is what was not looked at.
            self._digests[ordinal] = _digest(_own_text(self._passages[ordinal])) or 1
        digest = self._digests[ordinal]
        return 0 if digest == 1 else digest

    def _tell_few(self, question_id: str, number: int) -> None:
        if number:
            why = f"fewer than {self._options.per_query} negatives among {self._span}"
            self._tables.losses.add("derived", "triplets", "negative_id", why, f"{question_id}: {number}")
        else:
            why = f"none mined for questions without a usable negative among {self._span}"
            self._tables.losses.add("derived", "triplets", None, why, question_id)

    @property
    def _span(self) -> str:
        depth, skip = self._options.depth, self._options.skip
        return f"results {skip + 1:,} to {depth:,}" if skip else f"the first {depth:,} results"

    def _tell(self, mined: _Mined, counts: Mapping[str, int]) -> None:
        losses = self._tables.losses
        if counts["with triplets"]:
            why = "none mined for questions that have triplets (replace=true mines for all)"
            losses.add("derived", "triplets", None, why, None, counts["with triplets"])
        if mined:
            how = "drawn from" if self._options.take == "sample" else "the best of"
            why = f"mined with BM25: {counts['negatives']:,} negatives, {how} {self._span} of each question"
            losses.add("derived", "triplets", "negative_id", why, None, len(mined))


def _own_text(passage: Passage) -> str:
    """What makes a passage the same as another: its text; its title where it has no text."""
    return passage.text if passage.text.strip() else passage.title or ""


def _digest(text: str) -> int:
    """A digest of the words of a text, whatever their case, width and punctuation; 0 where it is empty."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = " ".join(_WORDS.findall(folded)) or " ".join(folded.split())
    if not words:
        return 0
    return int.from_bytes(hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()) | 2


def _with_triplets(tables: CanonicalTables, mined: _Mined, options: NegativeOptions) -> CanonicalTables:
    given = tables.sources.get("triplets")
    if options.replace and given is not None:
        for row in given():
            tables.losses.add("dropped", "triplets", None, "mined ones were to replace them", row.question_id)
        given = None

    def triplets() -> Iterator[Triplet]:
        if given is not None:
            yield from given()
        yield from mined

    made = CanonicalTables(tables.name, tables.format, {**tables.sources, "triplets": triplets}, tables.losses)
    made.given, made.restored, made.covered = tables.given, tables.restored, dict(tables.covered)
    return made
