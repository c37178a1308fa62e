"""Which questions of a light-splade dataset are in which split, with which positives, under which numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

from ragdatakit.converters import Options
from ragdatakit.converters.light_splade.documents import integer_id
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError

TRAIN, VALIDATION = "train", "validation"
_TARGETS = {
    **dict.fromkeys(("train", "training"), TRAIN),
    **dict.fromkeys(("validation", "valid", "val", "dev", "development", "test"), VALIDATION),
}
_NOTHING_RELEVANT = (
    "light-splade needs questions with relevant documents, and no question and document of the source can be used so"
)
Judged = dict[str, list[tuple[str, int, str | None]]]
"""By question: passage, grade, split."""


class NotUsed(Exception):
    """Why a judgement makes no positive."""


def judgements(tables: CanonicalTables) -> Judged:
    """What is judged for each question; where nothing is, the positives of its triplets are taken for it."""
    found: Judged = {}
    for qrel in tables.peek_passage_qrels():
        found.setdefault(qrel.question_id, []).append((qrel.target_id, qrel.grade, qrel.split))
    derived: dict[str, dict[tuple[str, str | None], None]] = {}
    for triplet in tables.peek("triplets"):
        if triplet.question_id not in found:
            derived.setdefault(triplet.question_id, {})[triplet.positive_id, triplet.split] = None
    for question_id, positives in derived.items():
        found[question_id] = [(doc_id, 1, split) for doc_id, split in positives]
        reason = "nothing is judged for the question: the positives of its triplets are its positives"
        tables.losses.add("derived", "qrels", "target_id", reason, question_id, len(positives))
    return found


@dataclass(slots=True)
class Plan:
    """Who is where. ``positives`` is by split and question id, in the order of the questions: the numbers of the
    documents, each with a mark that is set when its judgement was met. ``numbers`` are the questions' numbers,
    ``renumbered`` says whether they are new."""

    splits: tuple[str, ...] = ()
    positives: dict[str, dict[str, dict[int, bool]]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    renumbered: bool = False

    def splits_of(self, question_id: str | None) -> list[str]:
        """The splits that have a question."""
        return [split for split in self.splits if question_id in self.positives[split]]

    def is_positive(self, question_id: str, number: int) -> bool:
        """Whether a document is a positive of the question in any split."""
        return any(number in self.positives[s].get(question_id, ()) for s in self.splits)


class Planner:
    """Makes the plan, and says of every judgement and question where it goes, or why it goes nowhere.

    ``numbers`` are those of the documents that are written; ``as_given`` says whether the source's splits are kept
    (else they are made: see `plan`). ``refuse`` gives a reason why a pair of question and
    document (with its target split, where that is known) cannot be a positive, or an empty text.
    """

    def __init__(
        self,
        tables: CanonicalTables,
        judged: Judged,
        numbers: Mapping[str, int],
        options: Options,
        refuse: Callable[[str, int, str | None], str] = lambda *_: "",
    ) -> None:
        self._judged = judged
        self._numbers = numbers
        self._options = options
        self._refuse = refuse
        self._questions = _questions(tables)
        self._drops_test = options["test"] == "drop"
        self._ratio = float(options["validation-ratio"])
        if not 0 <= self._ratio <= 1:
            raise RagdataError(f"--option validation-ratio={self._ratio}: expected a number from 0 to 1")
        self.as_given = True
        self._chosen: set[str] = set()

    def plan(self) -> Plan:
        """The plan: the splits as given where both are, else made of all questions by their hashes.

        Raises `RagdataError` where no question has a positive.
        """
        targets: set[str | None] = set()
        without: dict[str, None] = {}
        for question_id, _, target in self.usable():
            targets.add(target)
            if target is None:
                without[question_id] = None
        if not targets:
            raise RagdataError(_NOTHING_RELEVANT)
        self.as_given = {TRAIN, VALIDATION} <= targets
        if not self.as_given:
            without = dict.fromkeys(q for q, _, _ in self.usable())
        self._chosen = _chosen(list(without), self._ratio, self._options.seed)
        plan = Plan(positives={TRAIN: {}, VALIDATION: {}})
        for question_id, number, target in self.usable():
            split = self._split(question_id, target)
            plan.positives[split].setdefault(question_id, {})[number] = False
        if not any(plan.positives.values()):
            raise RagdataError(_NOTHING_RELEVANT)
        plan.splits = tuple(s for s in (TRAIN, VALIDATION) if plan.positives[s])
        written = [q for q in self._questions if plan.splits_of(q)]
        own = [integer_id(q) for q in written]
        plan.renumbered = None in own
        plan.numbers = {
            q: place if n is None or plan.renumbered else n
            for place, (q, n) in enumerate(zip(written, own, strict=True))
        }
        return plan

    def usable(self) -> Iterator[tuple[str, int, str | None]]:
        """Every pair that can be a positive: question, document, and the split it is given for, where one is known."""
        for question_id in self._questions:
            for judged in self._judged.get(question_id, ()):
                try:
                    yield question_id, *self._place(question_id, *judged)
                except NotUsed:
                    continue

    def _place(self, question_id: str, doc_id: str, grade: int, split: str | None) -> tuple[int, str | None]:
        given = split or self._questions[question_id]
        target = _TARGETS.get(given.lower()) if given and self.as_given else None
        if grade < self._options["positive-grade"]:
            raise NotUsed(f"graded below {self._options['positive-grade']}, which makes no positive")
        if self._drops_test and given and given.lower() == "test":
            raise NotUsed("it belongs to the test split, which was to be dropped")
        number = self._numbers.get(doc_id)
        if number is None:
            raise NotUsed("its document is not there, or has no text")
        if why := self._refuse(question_id, number, target):
            raise NotUsed(why)
        return number, target

    def _split(self, question_id: str, target: str | None) -> str:
        if target is not None:
            return target
        return VALIDATION if question_id in self._chosen else TRAIN

    def place_of(self, question_id: str, doc_id: str, grade: int, split: str | None) -> tuple[str, int]:
        """The split in which a judgement is, and the document's number. Raises `NotUsed`."""
        if question_id not in self._questions:
            raise NotUsed("its question is not there, or has no text")
        number, target = self._place(question_id, doc_id, grade, split)
        return self._split(question_id, target), number

    def split_of(self, plan: Plan, question_id: str, split: str | None) -> str:
        """The split for what is given for a question and a split (a triplet); the question is in one at least."""
        places = plan.splits_of(question_id)
        target = _TARGETS.get(split.lower()) if split else None
        return target if target in places and self.as_given else places[0]


def usable_question(row: Any) -> str:
    """Why a question cannot be written, whatever is judged; empty where it can."""
    if row.question_id is None:
        return "it has no id by which something could be judged for it"
    return "" if row.text.strip() else "its text is empty"


def _questions(tables: CanonicalTables) -> dict[str, str | None]:
    """The questions that can be written, in order, and the split that each is given."""
    found: dict[str, str | None] = {}
    for row in tables.peek("questions"):
        if not usable_question(row):
            found.setdefault(row.question_id, row.split)
    return found


def _chosen(questions: list[str], ratio: float, seed: int) -> set[str]:
    """The questions for validation: those with the least hashes of id and seed, whatever order they come in."""
    number = round(ratio * len(questions))
    if 0 < ratio < 1:
        number = min(max(number, 1), len(questions) - 1) if len(questions) > 1 else 0
    order = sorted(questions, key=lambda q: (seeded(seed, q), q))
    return set(order[:number])


def seeded(seed: int, *words: object) -> int:
    """64 bits that depend on nothing but the seed and the words: the same on every machine."""
    text = "\0".join(map(str, (seed, *words)))
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
