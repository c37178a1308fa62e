"""The samples of a light-splade dataset: triplets as they are given, or made of known negatives; teacher scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import groupby
from typing import Any

import msgspec

from ragdatakit.converters import Options
from ragdatakit.converters.light_splade.documents import DocumentMasters
from ragdatakit.converters.light_splade.splits import TRAIN, VALIDATION, Judged, Plan, Planner, seeded
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.file_writers import LineWriter
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import PairScore
from ragdatakit.schemas.errors import RagdataError

SCORES_NAME = "hard-negatives-cross-encoder-scores.ndjson"
_TRIPLET = b'{"qid": %d, "pos_doc_id": %d, "neg_doc_id": %d}\n'
USUAL_RANDOM = 4
"""Random documents for a question where the source knows no negatives at all."""
Named = dict[str, set[int]]
"""By split: the documents that its lists, triplets and scores name."""


def wanted_documents(tables: CanonicalTables, judged: Judged, options: Options, with_scores: bool) -> set[str]:
    """The ids of all passages that something refers to."""
    wanted = {doc_id for rows in judged.values() for doc_id, _, _ in rows}
    for triplet in tables.peek("triplets"):
        wanted.add(triplet.positive_id)
        wanted.add(triplet.negative_id)
    if with_scores:
        wanted.update(row.doc_id for row in tables.peek("pair_scores"))
    if options.profile != "distil":
        wanted.update(doc_id for _, _, doc_id in _results(tables, judged, options["negatives"]))
    return wanted


def _results(tables: CanonicalTables, judged: Judged, most: int) -> Iterator[tuple[str, int, str]]:
    """The foremost results of the runs: question, rank, passage; enough of them for that many negatives."""
    for row in tables.peek("runs"):
        if row.target_id is not None and row.rank <= most + len(judged.get(row.question_id, ())):
            yield row.question_id, row.rank, row.target_id


def may_have_negatives(tables: CanonicalTables, judged: Judged, options: Options) -> bool:
    """Whether there is anything that triplets could be made of."""
    return random_negatives(tables, judged, options) > 0 or _knows_negatives(tables, judged)


def random_negatives(tables: CanonicalTables, judged: Judged, options: Options) -> int:
    """How many random documents are drawn for a question without negatives. Raises `RagdataError` for a bad number."""
    given = options["random-negatives"]
    if given == "auto":
        return 0 if _knows_negatives(tables, judged) else USUAL_RANDOM
    if not given.isdecimal():
        raise RagdataError(f"--option random-negatives={given}: expected auto or a number")
    return int(given)


def _knows_negatives(tables: CanonicalTables, judged: Judged) -> bool:
    return (
        tables.any("triplets")
        or tables.any("runs")
        or any(grade <= 0 for rows in judged.values() for _, grade, _ in rows)
    )


class TripletWriter:
    """Writes the triplets; ``counts`` says how many each split has."""

    def __init__(
        self,
        tables: CanonicalTables,
        out: Output,
        options: Options,
        plan: Plan,
        masters: DocumentMasters,
        named: Named,
        most_random: int,
    ) -> None:
        self._tables = tables
        self._out = out
        self._options = options
        self._plan = plan
        self._masters = masters
        self._named = named
        self.most_random = most_random
        self._files: dict[str, LineWriter] = {}
        self._stack = ExitStack()
        self.counts = dict.fromkeys((TRAIN, VALIDATION), 0)

    def close(self) -> None:
        """Finish the files."""
        self._stack.close()

    def _put(self, split: str, question: int, positive: int, negative: int) -> None:
        file = self._files.get(split)
        if file is None:
            file = self._files[split] = self._stack.enter_context(self._out.lines(f"{split}/triplets.ndjson"))
        file.put(_TRIPLET % (question, positive, negative))
        file.records += 1
        self.counts[split] += 1
        self._named[split].add(positive)
        self._named[split].add(negative)

    def write_given(self, planner: Planner) -> None:
        """Write the source's triplets, in their order, in the splits of their questions."""
        numbers = self._masters.numbers
        columns = ("question_id", "positive_id", "negative_id", "split")
        for row in self._tables.take("triplets", *columns):
            if row.question_id not in self._plan.numbers:
                self._tables.drop("triplets", row, "its question is not written")
                continue
            split = planner.split_of(self._plan, row.question_id, row.split)
            positive, negative = numbers.get(row.positive_id), numbers.get(row.negative_id)
            positives = self._plan.positives[split][row.question_id]
            if positive is None or negative is None:
                self._tables.drop("triplets", row, "one of its documents is not there, or has no text")
            elif positive not in positives:
                self._tables.drop("triplets", row, "its positive is not among those of the question in this split")
            elif negative in positives:
                self._tables.drop("triplets", row, "its negative is a positive of the question")
            else:
                note_split(self._tables, "triplets", row.question_id, row.split, split)
                self._put(split, self._plan.numbers[row.question_id], positive, negative)

    def write_derived(self, judged: Judged) -> None:
        """Make triplets for the training split out of what is known not to be relevant, or of random documents."""
        results: dict[str, list[tuple[int, str]]] = {}
        for question_id, rank, doc_id in _results(self._tables, judged, self._options["negatives"]):
            if question_id in self._plan.positives[TRAIN]:
                results.setdefault(question_id, []).append((rank, doc_id))
        made: dict[str, int] = {}
        for question_id, found in self._plan.positives[TRAIN].items():
            unjudged = (doc_id for _, doc_id in sorted(results.pop(question_id, ())))
            negatives, reason = self._negatives(question_id, judged.get(question_id, ()), unjudged)
            positives = list(found)
            for place in range(max(len(positives), len(negatives)) if negatives else 0):
                positive, negative = positives[place % len(positives)], negatives[place % len(negatives)]
                self._put(TRAIN, self._plan.numbers[question_id], positive, negative)
                made[reason] = made.get(reason, 0) + 1
        for reason, count in made.items():
            self._tables.losses.add("derived", "triplets", "negative_id", reason, None, count)

    def _negatives(
        self, question_id: str, judged: Iterable[tuple[str, int, str | None]], results: Iterable[str]
    ) -> tuple[list[int], str]:
        most = self._options["negatives"]
        graded = self._usable(question_id, (doc_id for doc_id, grade, _ in judged if grade <= 0))
        if graded:
            return graded[:most], "made of documents that are judged not to be relevant"
        retrieved = self._usable(question_id, results)
        if retrieved:
            return retrieved[:most], "made of retrieved documents that are not judged to be relevant"
        return self._random(question_id), "made of random documents"

    def _usable(self, question_id: str, doc_ids: Iterable[str]) -> list[int]:
        numbers = dict.fromkeys(self._masters.numbers.get(doc_id) for doc_id in doc_ids)
        return [n for n in numbers if n is not None and not self._plan.is_positive(question_id, n)]

    def _random(self, question_id: str) -> list[int]:
        """Documents drawn by hashes of question and seed; fewer than asked for where there are few."""
        most, count = self.most_random, self._masters.count
        chosen: dict[int, None] = {}
        for attempt in range(4 * most + 16 if most > 0 else 0):
            place = seeded(self._options.seed, "negative", question_id, attempt) % count
            number = self._masters.number_at(place)
            if not self._plan.is_positive(question_id, number):
                chosen[number] = None
            if len(chosen) == most:
                break
        return list(chosen)


def note_split(tables: CanonicalTables, table: str, question_id: str, given: str | None, split: str) -> None:
    """Account for a split that is not the one that was given."""
    if given is None:
        tables.losses.add("derived", table, "split", "the source gives none", question_id)
    elif given != split:
        tables.losses.add("coerced", table, "split", f"{given} is written as {split}", question_id)


@dataclass(frozen=True, slots=True)
class _Scored:
    positives: frozenset[int]
    has_negative: bool


class Teacher:
    """What the teacher's scores cover: a trainer stops at a question or a positive without one."""

    def __init__(
        self, tables: CanonicalTables, judged: Judged, numbers: Mapping[str, int], positive_grade: int
    ) -> None:
        self._tables = tables
        self._numbers = numbers
        self._in_order = _is_grouped(row.question_id for row in tables.peek("pair_scores"))
        self._scored: dict[str, _Scored] = {}
        rows = (r for r in tables.peek("pair_scores") if not self._why_not(r))
        for question_id, group in _grouped(rows, self._in_order):
            documents = {numbers[row.doc_id] for row in group}
            positives = {
                numbers[d] for d, grade, _ in judged.get(question_id, ()) if grade >= positive_grade and d in numbers
            }
            self._scored[question_id] = _Scored(frozenset(positives & documents), bool(documents - positives))

    def _why_not(self, row: PairScore) -> str:
        if row.doc_id not in self._numbers:
            return "its document is not there, or has no text"
        return "" if math.isfinite(row.score) else "its score is not a finite number"

    def refuse(self, question_id: str, number: int, target: str | None) -> str:
        """Why a positive cannot be used; empty where it can. A validation split may do without negatives."""
        scored = self._scored.get(question_id)
        if scored is None:
            return "the teacher scored nothing for its question"
        if number not in scored.positives:
            return "the teacher did not score it"
        if not scored.has_negative and target != VALIDATION:
            return "the teacher scored no negative for its question"
        return ""

    def write(self, out: Output, plan: Plan, named: Named) -> None:
        """Write the scores of the questions that are written, one line for each."""
        encode = msgspec.json.Encoder().encode
        with out.lines(SCORES_NAME) as file:
            for question_id, group in _grouped(self._written(plan), self._in_order):
                scores = {self._numbers[row.doc_id]: row.score for row in group}
                parts = b", ".join(b'"%d": %b' % (number, encode(score)) for number, score in scores.items())
                file.put(b'{"qid": %d, "scores": {%b}}\n' % (plan.numbers[question_id], parts))
                file.records += 1
                for split in plan.splits_of(question_id):
                    named[split].update(scores)

    def _written(self, plan: Plan) -> Iterator[PairScore]:
        seen: set[str] = set()
        before: str | None = None
        all_seen: set[tuple[str, str]] = set()
        for row in self._tables.take("pair_scores", "question_id", "doc_id", "score"):
            if row.question_id != before:
                before, seen = row.question_id, set()
            why = self._why_not(row)
            if not why and row.question_id not in plan.numbers:
                why = "its question is not written"
            pair = (row.question_id, row.doc_id)
            if not why and (row.doc_id in seen or pair in all_seen):
                why = "the pair has a score already"
            if why:
                self._tables.drop("pair_scores", row, why)
                continue
            seen.add(row.doc_id)
            if not self._in_order:
                all_seen.add(pair)
            yield row


def _is_grouped(questions: Iterable[str]) -> bool:
    """Whether all rows of a question are together."""
    seen: set[str] = set()
    for question_id, _ in groupby(questions):
        if question_id in seen:
            return False
        seen.add(question_id)
    return True


def _grouped(rows: Iterable[PairScore], in_order: bool) -> Iterator[tuple[str, Iterable[Any]]]:
    """The rows of each question; they are held where they are not together."""
    if in_order:
        yield from groupby(rows, key=lambda row: row.question_id)
        return
    held: dict[str, list[PairScore]] = {}
    for row in rows:
        held.setdefault(row.question_id, []).append(row)
    yield from held.items()
