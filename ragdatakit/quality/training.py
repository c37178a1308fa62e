"""Quality of training triplets: negatives that are copies of positives, under another id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragdatakit.arrays.code_tables import HashTable
from ragdatakit.files.reading.kept_rows import Columns
from ragdatakit.quality.findings import Checked, RecordLookup, shown_id
from ragdatakit.schemas.canonical import Triplet

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.quality.findings import TextKeys

    _Codes = npt.NDArray[np.int64]

_MOST_NUMBER = 1 << 26
"""Integers below it have a place each in a table of the codes that they have as texts."""


class _Block(NamedTuple):
    """Some triplets: codes of their questions (with the split) and passages, and the row at a place."""

    questions: _Codes
    positives: _Codes
    negatives: _Codes
    row: Callable[[int], Any]


class _Codebook:
    """From ids of passages to the codes of their texts."""

    def __init__(self, ids: _Codes, codes: _Codes) -> None:
        self._table = HashTable(ids.view(np.uint64))
        self._codes = np.concatenate((codes, np.zeros(1, np.int64)))  # the last is that of ids of no passage

    def find(self, ids: _Codes) -> _Codes:
        """The codes of texts; 0 where there is no such passage, or a blank one."""
        return self._codes[self._table.positions(ids.view(np.uint64))]


class _NumberCodes:
    """Codes of integers: those that they have as texts."""

    def __init__(self) -> None:
        self._table = np.zeros(1, np.int64)

    def of(self, numbers: _Codes) -> _Codes:
        """The codes of some."""
        if numbers.min(initial=0) < 0 or numbers.max(initial=0) >= _MOST_NUMBER:
            different, places = np.unique(numbers, return_inverse=True)
            return _codes_of(map(str, different.tolist()), len(different))[places]
        if (most := int(numbers.max(initial=0))) >= len(self._table):
            larger = np.zeros(len(self._table) + most, np.int64)  # what is never looked at takes no memory
            larger[: len(self._table)] = self._table
            self._table = larger
        codes: _Codes = self._table[numbers]
        if len(new := np.unique(numbers[codes == 0])):
            self._table[new] = _codes_of(map(str, new.tolist()), len(new))
            codes = self._table[numbers]
        return codes


def check_negatives(run: Checked) -> None:
    """Compare the text of each negative with those of the positives of its question. Memory: 32 bytes for each positive
    of a question."""
    if not run.findings.wants("negative-like-positive") or not run.tables.any("triplets") or run.texts is None:
        return
    alike, numbers = _Codebook(run.texts.ids, run.texts.alike), _NumberCodes()
    by_text, by_id = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for questions, targets, _ in _positives(run, numbers):
        by_text.append(np.unique(_pairs(questions, alike.find(targets))))
        by_id.append(np.unique(_pairs(questions, targets)))
    of_text, of_id = (HashTable(np.concatenate(pairs).view(np.uint64)) for pairs in (by_text, by_id))
    del by_text, by_id
    kept: list[tuple[Any, int]] = []
    most = run.findings.collector.selection.max_per_rule
    for block in _blocks(run, numbers):
        codes = alike.find(block.negatives)
        pairs = _pairs(block.questions, codes)
        copies = np.flatnonzero((codes != 0) & (of_text.positions(pairs.view(np.uint64)) >= 0))
        by_ids = _pairs(block.questions[copies], block.negatives[copies]).view(np.uint64)
        for place in copies[of_id.positions(by_ids) < 0].tolist():
            row = block.row(place)
            if run.findings.room("negative-like-positive") and (not most or len(kept) < most):
                kept.append((row, int(pairs[place])))
            else:
                run.findings.count("negative-like-positive", row.split)
    _report(run, run.texts, kept, alike, numbers)


def _report(
    run: Checked, texts: TextKeys, kept: list[tuple[Any, int]], alike: _Codebook, numbers: _NumberCodes
) -> None:
    exactly = _Codebook(texts.ids, texts.keys)
    wanted = {pair for _, pair in kept}
    names: dict[int, str] = {}
    for questions, targets, name in _positives(run, numbers) if wanted else ():
        pairs = _pairs(questions, alike.find(targets))
        for place in np.flatnonzero(np.isin(pairs, np.array(sorted(wanted), np.int64))).tolist():
            names.setdefault(int(pairs[place]), name(place))
        if len(names) == len(wanted):
            break
    for row, pair in kept:
        positive = names[pair]
        both = exactly.find(np.array([hash(positive), hash(row.negative_id)], np.int64))
        facts = {
            "id": shown_id(row.negative_id),
            "question": shown_id(row.question_id),
            "same": "text" if both[0] == both[1] else "text, except for a few words,",
            "other": shown_id(positive),
        }
        values = (row.negative_id, row.question_id, row.positive_id)
        run.findings.keep("negative-like-positive", RecordLookup(values, row.split), row.negative_id, facts)


def _positives(run: Checked, numbers: _NumberCodes) -> Iterator[tuple[_Codes, _Codes, Callable[[int], str]]]:
    """Codes of questions with their split, codes of the ids of positives, and what gives such an id: of triplets and
    judgements."""
    for block in _blocks(run, numbers):
        yield block.questions, block.positives, lambda place, row=block.row: row(place).positive_id  # type: ignore[misc]
    kind = "chunk" if run.noun == "chunk" else "document"
    for ids, targets, grades, kinds, splits, _ in run.tables.peek_columns("qrels"):
        positive = [grade > 0 and of == kind for grade, of in zip(grades, kinds, strict=True)]
        questions = _with_splits(_codes_of(compress(ids, positive)), compress(splits, positive))
        named = list(compress(targets, positive))
        yield questions, _codes_of(named), named.__getitem__


def _blocks(run: Checked, numbers: _NumberCodes) -> Iterator[_Block]:
    """All triplets: as numbers where the scanner reads them so, else as texts."""
    numbered = run.tables.peek_numbers("triplets", run.jobs)
    if numbered is None:
        for columns in run.tables.peek_columns("triplets"):
            questions, positives, negatives = map(_codes_of, columns[:3])

            def row(place: int, columns: Columns = columns) -> Triplet:
                return Triplet._make(column[place] for column in columns)

            yield _Block(_with_splits(questions, columns[3]), positives, negatives, row)
        return
    for split, columns, odd in numbered:
        codes = [numbers.of(np.asarray(column)) for column in columns]
        for place, ids in odd.items():
            for column, name in zip(codes, ids, strict=True):
                column[place] = column[place] if name is None else hash(name)

        def numbered_row(place: int, split: str | None = split, columns: Columns = columns, odd: Any = odd) -> Triplet:
            names = odd.get(place, (None,) * len(columns))
            ids = (str(column[place]) if name is None else name for column, name in zip(columns, names, strict=True))
            return Triplet._make((*ids, split))

        yield _Block(_with_splits(codes[0], (split,)), codes[1], codes[2], numbered_row)


def _codes_of(texts: Iterable[str | None], count: int = -1) -> _Codes:
    return np.fromiter(map(hash, texts), np.int64, count)


def _with_splits(questions: _Codes, splits: Iterable[str | None]) -> _Codes:
    """One code for the question and its split; of one split for all."""
    return _mixed(questions, _codes_of(splits))


def _pairs(questions: _Codes, codes: _Codes) -> _Codes:
    """One code for both; 0 where the second is 0."""
    return np.where(codes == 0, 0, _mixed(questions, codes))


def _mixed(first: _Codes, second: _Codes) -> _Codes:
    mixed = (first.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ second.view(np.uint64)
    return ((mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)).view(np.int64)
