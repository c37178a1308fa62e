"""Quality of questions and of how they are split: leaks from training, doubles, splits that are too small."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from itertools import compress, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.arrays.codes import are_among, distinct
from ragdatakit.files.texts.flat_text import flat_words
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quality.findings import Checked, RecordLookup, question_lookup, shown_id
from ragdatakit.retrieval.gold_and_metrics.gold import is_train
from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    import numpy.typing as npt

    _Codes = npt.NDArray[np.int64]

_MOST_COMPARED = 2_000
"""Pairs of questions that are compared for one gold: what is gold of more is no sign that they are alike."""
_LEAST_WORDS = 4
"""Words of a question that is compared with others that are nearly the same."""
_NO_SIGN = frozenset(("yes", "no", "true", "false", "unknown", "unanswerable", "none", "n a"))


@dataclass(slots=True)
class _Asked:
    """The questions by ordinal, and in which splits they are asked: rows of (question, split).

    ``golds`` are rows of (question, split, code of a target). Splits are numbers of ``names``.
    """

    names: list[str | None]
    words: _Codes
    ids: _Codes
    answers: _Codes
    question: _Codes
    split: _Codes
    golds: tuple[_Codes, _Codes, _Codes]


def check_questions(run: Checked) -> None:
    """Look at all questions. Memory: some 40 bytes a question, 24 a judgement."""
    rules = ("leaked-question", "nearly-leaked-question", "shared-positives", "identical-questions", "uneven-splits")
    if not run.findings.wants(*rules):
        return
    if run.progress is not None:
        run.progress.doing = "looking for leaks"
    asked = _read(run)
    if not len(asked.words):
        return
    found = [*_leaked(asked), *_doubles(asked)]
    near = list(_nearly_leaked(run, asked)) if run.findings.wants("nearly-leaked-question") else []
    _keep(run, asked, found, near)
    _shared_positives(run, asked)
    _uneven_splits(run, asked)


def _read(run: Checked) -> _Asked:
    """Questions, and in which splits they are judged; where splits say nothing of that, in their own."""
    names: dict[str | None, int] = {}
    words, ids, answers, splits = array("q"), array("q"), array("q"), array("q")
    for block in run.questions():
        words.extend(map(_code, block.text))
        answers.extend(_code(answer, _NO_SIGN) for answer in block.answer)
        ids.extend(map(hash, block.question_id))
        splits.extend(names.setdefault(split, len(names)) for split in block.split)
    judged, targets, of = array("q"), array("q"), array("q")
    for ids_judged, named, grades, kinds, of_splits, _ in run.tables.peek_columns("qrels"):
        is_gold = [grade > 0 for grade in grades]
        judged.extend(map(hash, compress(ids_judged, is_gold)))
        targets.extend(map(hash, compress(zip(kinds, named, strict=True), is_gold)))
        of.extend(names.setdefault(split, len(names)) for split in compress(of_splits, is_gold))
    arrays = [np.array(a, np.int64) for a in (words, ids, answers, splits, judged, targets, of)]
    own, given = arrays[3], arrays[6]
    question, golds = _joined(arrays[1], own, arrays[4], given, arrays[5], names.get(None, -1))
    pairs = np.concatenate((np.stack((question[0], question[1]), 1), np.stack((golds[0], golds[1]), 1)))
    several = {n for n, code in names.items() if n is not None and np.any(pairs[:, 1] == code)}
    if several and None in names:  # a question that is in no split, where others are
        pairs = pairs[pairs[:, 1] != names[None]]
    pairs = np.stack(np.divmod(distinct(pairs[:, 0] * len(names) + pairs[:, 1]), max(len(names), 1)), 1)
    listed: list[str | None] = list(names)
    return _Asked(listed, arrays[0], arrays[1], arrays[2], pairs[:, 0], pairs[:, 1], golds)


def _code(text: str | None, left_out: Container[str] = ()) -> int:
    """A code of the words of a text; 0 where there are none, or only what is left out."""
    flat = " ".join(flat_words(text)) if text else ""
    return hash(flat) or 1 if flat and flat not in left_out else 0


def _joined(
    ids: _Codes, own: _Codes, judged: _Codes, given: _Codes, targets: _Codes, no_split: int
) -> tuple[tuple[_Codes, _Codes], tuple[_Codes, _Codes, _Codes]]:
    """Questions with their own splits; and judgements as (question, split, target), the question being the one of that
    id in that split, or in no split."""
    numbers = np.arange(len(ids))
    order = np.argsort(ids, kind="stable")
    ranked = ids[order]
    first, last = np.searchsorted(ranked, judged, "left"), np.searchsorted(ranked, judged, "right")
    rows: list[tuple[_Codes, _Codes, _Codes]] = []
    for ahead in range(int((last - first).max(initial=0))):
        there = first + ahead < last
        at = order[(first + ahead)[there]]
        wanted, mine = given[there], own[at]
        fits = (mine == wanted) | (mine == no_split) | (wanted == no_split)
        split = np.where(mine == no_split, wanted, mine)
        rows.append((at[fits], split[fits], targets[there][fits]))
    empty = np.zeros(0, np.int64)
    golds = [np.concatenate([row[i] for row in rows]) if rows else empty for i in range(3)]
    return (numbers, own), (golds[0], golds[1], golds[2])


def _in_both(keys: _Codes, in_train: npt.NDArray[np.bool_]) -> _Codes:
    """The different keys of training that others have, too."""
    return np.intersect1d(distinct(keys[in_train]), distinct(keys[~in_train]), assume_unique=True)


_Found = tuple[str, int, int, int, int, dict[str, Any]]
"""Rule, question, its split, the other question, the split of that, further facts."""


def _leaked(asked: _Asked) -> Iterator[_Found]:
    trained = np.array([is_train(name) for name in asked.names])
    if not trained.any():
        return
    first: dict[int, tuple[int, int]] = {}
    words = asked.words[asked.question]
    in_train = trained[asked.split]
    shared = _in_both(words, in_train)
    shared = shared[shared != 0]
    rows = np.flatnonzero(are_among(words, shared))
    for row in rows[in_train[rows]].tolist():
        first.setdefault(int(words[row]), (int(asked.question[row]), int(asked.split[row])))
    for row in rows[~in_train[rows]].tolist():
        if asked.names[int(asked.split[row])] is not None:
            yield "leaked-question", int(asked.question[row]), int(asked.split[row]), *first[int(words[row])], {}


def _doubles(asked: _Asked) -> Iterator[_Found]:
    """Questions of the same words in one split whose gold, or answers, are others."""
    words = asked.words[asked.question]
    order = np.lexsort((asked.question, asked.split, words))
    same = (words[order[1:]] == words[order[:-1]]) & (asked.split[order[1:]] == asked.split[order[:-1]])
    rows = distinct(np.concatenate((order[1:][same], order[:-1][same])))
    rows = rows[words[rows] != 0]
    if not len(rows):
        return
    wanted = set(asked.question[rows].tolist())
    golds: dict[tuple[int, int], set[int]] = {}
    at = np.flatnonzero(are_among(asked.golds[0], np.array(sorted(wanted))))
    for question, split, target in zip(*(column[at].tolist() for column in asked.golds), strict=True):
        golds.setdefault((question, split), set()).add(target)
    firsts: dict[tuple[int, int], int] = {}
    for row in rows.tolist():
        question, split = int(asked.question[row]), int(asked.split[row])
        first = firsts.setdefault((int(words[row]), split), question)
        if asked.ids[first] == asked.ids[question]:
            continue
        mine, other = golds.get((question, split)), golds.get((first, split))
        answers = asked.answers[question], asked.answers[first]
        if mine and other:
            differ = mine.isdisjoint(other)
        else:
            differ = not mine and not other and all(answers) and answers[0] != answers[1]
        if differ:
            yield "identical-questions", question, split, first, split, {}


def _nearly_leaked(run: Checked, asked: _Asked) -> Iterator[_Found]:
    """Questions of evaluated splits that have a gold, or an answer, in common with a training question, and words."""
    trained = np.array([is_train(name) for name in asked.names])
    if not trained.any() or trained.all():
        return
    by_gold = (asked.golds[2], asked.golds[0], asked.golds[1])
    answers = asked.answers[asked.question]
    said = answers != 0
    by_answer = _mixed_groups(answers[said], asked.question[said], asked.split[said], trained, "answer")
    groups = [*_mixed_groups(*by_gold, trained, "gold"), *by_answer]
    wanted = {number for _, train, others in groups for number, _ in (*train, *others)}
    texts = _words_of(run, wanted)
    reported: set[tuple[int, int]] = set()
    for same, train, others in groups:
        for question, split in others:
            if (question, split) in reported or asked.names[split] is None:
                continue
            best, similarity = None, run.options.question_similarity
            for other in train:
                if asked.words[other[0]] == asked.words[question]:
                    best = None  # reported as a leak already
                    break
                found = _similarity(texts[question], texts[other[0]], similarity)
                if found > (0 if best is None else similarity):
                    best, similarity = other, found
            if best is not None:
                reported.add((question, split))
                facts = {"similarity": f"{100 * similarity:.0f} %", "same": same}
                yield "nearly-leaked-question", question, split, *best, facts


_Members = list[tuple[int, int]]


def _mixed_groups(
    keys: _Codes, questions: _Codes, splits: _Codes, trained: Any, same: str
) -> Iterator[tuple[str, _Members, _Members]]:
    """Questions that share a key, those of training and the others, where there are both and not too many."""
    in_train = trained[splits] if len(splits) else np.zeros(0, bool)
    shared = _in_both(keys, in_train)
    rows = np.flatnonzero(are_among(keys, shared))
    _, first, group_of = np.unique(keys[rows], return_index=True, return_inverse=True)
    rows = rows[np.argsort(first[group_of], kind="stable")]  # codes of texts are others each time
    for _, group in groupby(rows.tolist(), key=lambda row: int(keys[row])):
        members = [(int(questions[row]), int(splits[row])) for row in group]
        train = [m for m in members if trained[m[1]]]
        others = [m for m in members if not trained[m[1]]]
        if len(train) * len(others) <= _MOST_COMPARED:
            yield same, train, others


def _words_of(run: Checked, wanted: set[int]) -> dict[int, frozenset[str]]:
    return {number: frozenset(flat_words(row.text or "")) for number, row in run.numbered_questions(wanted)}


def _similarity(mine: frozenset[str], other: frozenset[str], least: float) -> float:
    """The share of words in common; 0 for short questions, where a number sets them apart, and below ``least``."""
    shorter, longer = sorted((len(mine), len(other)))
    if shorter < _LEAST_WORDS or shorter < least * longer:
        return 0.0
    both = len(mine & other)
    share = both / (shorter + longer - both)
    if share < least or any(any(map(str.isdigit, word)) for word in mine ^ other):
        return 0.0
    return share


def _keep(run: Checked, asked: _Asked, *found: Iterable[_Found]) -> None:
    """Keep what there is room for, with the texts of the questions; count the rest."""
    most = run.findings.collector.selection.max_per_rule
    kept: list[_Found] = []
    number: Counter[str] = Counter()
    for one in (f for several in found for f in several):
        rule, _, split, *_ = one
        number[rule] += 1
        if run.findings.room(rule) and (not most or number[rule] <= most):
            kept.append(one)
        else:
            run.findings.count(rule, asked.names[split])
    wanted = {number for one in kept for number in (one[1], one[3])}
    rows = dict(run.numbered_questions(wanted))
    for rule, question, split, other, of, facts in kept:
        row, first = rows[question], rows[other]
        named = {
            "id": shown_id(row.question_id),
            "split": asked.names[split] or "the dataset",
            "other": shown_id(first.question_id),
            "trained": asked.names[of] or "training",
            **facts,
        }
        place = question_lookup(row, asked.names[split], question)
        there = question_lookup(first, asked.names[of], other)
        run.findings.keep(rule, place, row.question_id, named, "", there, "the other one")


def _shared_positives(run: Checked, asked: _Asked) -> None:
    questions, splits, targets = asked.golds
    train = [n for n, name in enumerate(asked.names) if is_train(name)]
    if not train or not run.findings.wants("shared-positives"):
        return
    of_train = distinct(targets[are_among(splits, np.array(train))])
    for code, name in enumerate(asked.names):
        mine = splits == code
        if code in train or name is None or not mine.any():
            continue
        every = distinct(questions[mine])
        sharing = distinct(questions[mine & are_among(targets, of_train)])
        share = len(sharing) / len(every)
        if share > run.options.most_shared_positives:
            facts = {"share": f"{100 * share:.0f} %", "questions": len(every), "split": name}
            facts["trained"] = asked.names[train[0]] or "training"
            run.findings.keep("shared-positives", RecordLookup((), name), round(share, 4), facts)


def _uneven_splits(run: Checked, asked: _Asked) -> None:
    """By the questions that are judged, where there are judgements, else by all."""
    of_golds, splits, _ = asked.golds
    judged = distinct(of_golds * len(asked.names) + splits) % len(asked.names) if len(splits) else asked.split
    counts = enumerate(np.bincount(judged).tolist())
    sizes = {code: number for code, number in counts if number and asked.names[code] is not None}
    if len(sizes) < 2:
        return
    largest = max(sizes, key=lambda code: (sizes[code], -code))
    for code, number in sorted(sizes.items()):
        tiny = number < run.options.least_split_questions and sizes[largest] >= 10 * number
        if tiny or number * run.options.most_split_ratio < sizes[largest]:
            name = asked.names[code] or ""
            questions = many(number, "question")
            facts = {"split": name, "questions": questions, "other": asked.names[largest], "number": sizes[largest]}
            run.findings.keep("uneven-splits", RecordLookup((), name), number, facts)
