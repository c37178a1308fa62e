"""Quality of training triplets: negatives that are copies of positives, under another id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.arrays.code_tables import HashTable, repeated
from ragdatakit.arrays.codes import are_among, distinct
from ragdatakit.files.reading.kept_rows import Columns
from ragdatakit.quality.findings import Checked, RecordLookup, shown_id
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.canonical import Triplet

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.quality.findings import TextKeys

    _Codes = npt.NDArray[np.int64]

_MOST_NUMBER = 1 << 24
"""Integers below it have a place each in a table of what is known of them: of 128 MB, where they are all over it."""


class _Shared:
    """The passages whose text others have, too, or nearly: nothing else can be a copy. They are called by their places;
    ``alike`` and ``keys`` are the codes of their texts, as in `TextKeys`."""

    def __init__(self, texts: TextKeys) -> None:
        codes = distinct(texts.alike[repeated(texts.alike)[0]])
        passages = np.flatnonzero(are_among(texts.alike, codes[codes != 0]))
        if len(passages):  # an id means the first passage that has it
            passages = np.setdiff1d(passages, repeated(texts.ids)[0], assume_unique=True)
        self._ids = HashTable(texts.ids[passages].view(np.uint64))
        self.alike, self.keys = texts.alike[passages], texts.keys[passages]

    def find(self, ids: _Codes) -> _Codes:
        """The places of those whose ids have these codes, -1 for other ids."""
        return self._ids.positions(ids.view(np.uint64)).astype(np.int64)


class _Block(NamedTuple):
    """Some triplets: the places of positives and negatives among the passages that share their texts; codes of the
    questions (with the split) of some of them, and the row of one."""

    positives: _Codes
    negatives: _Codes
    questions: Callable[[_Codes], _Codes]
    row: Callable[[int], Any]


class _Numbered:
    """What ``of_codes`` gives for the codes that integers have as texts, never 0. It is asked once for each."""

    def __init__(self, of_codes: Callable[[_Codes], _Codes]) -> None:
        self._of_codes = of_codes
        self._table = np.zeros(1, np.int64)

    def of(self, numbers: _Codes) -> _Codes:
        """The same for some integers."""
        if numbers.min(initial=0) < 0 or numbers.max(initial=0) >= _MOST_NUMBER:
            different, places = np.unique(numbers, return_inverse=True)
            return self._asked(different)[places]
        if (most := int(numbers.max(initial=0))) >= len(self._table):
            larger = np.zeros(len(self._table) + most, np.int64)  # what is never looked at takes no memory
            larger[: len(self._table)] = self._table
            self._table = larger
        found: _Codes = self._table[numbers]
        if len(new := distinct(numbers[found == 0])):
            self._table[new] = self._asked(new)
            found = self._table[numbers]
        return found

    def _asked(self, different: _Codes) -> _Codes:
        return self._of_codes(_codes_of(map(str, different.tolist()), len(different)))


class _Triplets:
    """The triplets and judgements of a dataset, as far as passages are concerned that share their texts."""

    def __init__(self, run: Checked, shared: _Shared) -> None:
        self._run, self._shared = run, shared
        self._places = _Numbered(lambda codes: shared.find(codes) + 2)
        self._questions = _Numbered(lambda codes: codes)

    def positives(self) -> Iterator[tuple[_Codes, _Codes, Callable[[int], str]]]:
        """Codes of questions with their split, the places of their positives, and what gives the id of one: of
        triplets and judgements."""
        for block in self.blocks():
            rows = np.flatnonzero(block.positives >= 0)

            def id_at(n: int, row: Callable[[int], Any] = block.row, rows: _Codes = rows) -> str:
                name: str = row(int(rows[n])).positive_id
                return name

            yield block.questions(rows), block.positives[rows], id_at
        kind = "chunk" if self._run.noun == "chunk" else "document"
        for ids, targets, grades, kinds, splits, _ in self._run.tables.peek_columns("qrels"):
            places = self._shared.find(_codes_of(targets))
            judged = [n for n in np.flatnonzero(places >= 0).tolist() if grades[n] > 0 and kinds[n] == kind]
            questions = _with_splits(_codes_of(ids[n] for n in judged), (splits[n] for n in judged))
            yield questions, places[judged], [targets[n] for n in judged].__getitem__

    def blocks(self) -> Iterator[_Block]:
        """All triplets: as numbers where the scanner reads them so, else as texts."""
        numbered = self._run.tables.peek_numbers("triplets", self._run.jobs)
        if numbered is None:
            yield from map(self._block_of_texts, self._run.tables.peek_columns("triplets"))
        else:
            yield from (self._block_of_numbers(*block) for block in numbered)

    def _block_of_texts(self, columns: Columns) -> _Block:
        def questions(rows: _Codes) -> _Codes:
            ids, splits = ([column[n] for n in rows.tolist()] for column in (columns[0], columns[3]))
            return _with_splits(_codes_of(ids), splits)

        def row(place: int) -> Triplet:
            return Triplet._make(column[place] for column in columns)

        positives, negatives = (self._shared.find(_codes_of(column)) for column in columns[1:3])
        return _Block(positives, negatives, questions, row)

    def _block_of_numbers(self, split: str | None, columns: Columns, odd: Mapping[int, Sequence[str | None]]) -> _Block:
        def odd_ones(column: int) -> dict[int, str]:
            return {place: name for place, ids in odd.items() if (name := ids[column]) is not None}

        def places(column: int) -> _Codes:
            found = self._places.of(np.asarray(columns[column])) - 2
            if names := odd_ones(column):
                found[list(names)] = self._shared.find(_codes_of(names.values()))
            return found

        def questions(rows: _Codes) -> _Codes:
            codes = self._questions.of(np.asarray(columns[0])[rows])
            if names := odd_ones(0):
                here = [n for n, row in enumerate(rows.tolist()) if row in names]
                codes[here] = _codes_of(names[int(rows[n])] for n in here)
            return _with_splits(codes, (split,))

        def row(place: int) -> Triplet:
            names = odd.get(place, (None,) * len(columns))
            ids = (str(column[place]) if name is None else name for column, name in zip(columns, names, strict=True))
            return Triplet._make((*ids, split))

        return _Block(places(1), places(2), questions, row)


def check_negatives(run: Checked) -> None:
    """Compare the text of each negative with those of the positives of its question. Memory: 32 bytes for each positive
    of a question whose text another passage has."""
    if not run.findings.wants("negative-like-positive") or not run.tables.any("triplets") or run.texts is None:
        return
    shared = _Shared(run.texts)
    if not len(shared.keys):
        return
    triplets = _Triplets(run, shared)
    by_text, by_id = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for questions, places, _ in triplets.positives():
        by_text.append(distinct(_mixed(questions, shared.alike[places])))
        by_id.append(distinct(_mixed(questions, places)))
    of_text, of_id = (HashTable(np.concatenate(pairs).view(np.uint64)) for pairs in (by_text, by_id))
    del by_text, by_id
    kept: dict[Any, int] = {}  # of the same triplet several times the first is named
    most = run.findings.collector.selection.max_per_rule
    for block in triplets.blocks():
        rows = np.flatnonzero(block.negatives >= 0)
        places, questions = block.negatives[rows], block.questions(rows)
        pairs = _mixed(questions, shared.alike[places])
        copies = of_text.positions(pairs.view(np.uint64)) >= 0
        copies &= of_id.positions(_mixed(questions, places).view(np.uint64)) < 0
        for place, pair in zip(rows[copies].tolist(), pairs[copies].tolist(), strict=True):
            row = block.row(place)
            room = run.findings.room("negative-like-positive") and (not most or len(kept) < most)
            if room and row not in kept:
                kept[row] = pair
            else:
                run.findings.count("negative-like-positive", row.split)
    _report(run, kept, shared, triplets)


def _report(run: Checked, kept: Mapping[Any, int], shared: _Shared, triplets: _Triplets) -> None:
    wanted = np.array(sorted({*kept.values()}), np.int64)
    names: dict[int, str] = {}
    for questions, places, id_at in triplets.positives() if kept else ():
        pairs = _mixed(questions, shared.alike[places])
        for place in np.flatnonzero(are_among(pairs, wanted)).tolist():
            names.setdefault(int(pairs[place]), id_at(place))
        if len(names) == len(wanted):
            break
    for row, pair in kept.items():
        positive = names[pair]
        both = shared.keys[shared.find(_codes_of((positive, row.negative_id)))]
        facts = {
            "id": shown_id(row.negative_id),
            "question": shown_id(row.question_id),
            "same": "text" if both[0] == both[1] else "text, except for a few words,",
            "other": shown_id(positive),
        }
        values = (row.negative_id, row.question_id, row.positive_id)
        run.findings.keep("negative-like-positive", RecordLookup(values, row.split), row.negative_id, facts)


def _codes_of(texts: Iterable[str | None], count: int = -1) -> _Codes:
    return np.fromiter(map(hash, texts), np.int64, count)


def _with_splits(questions: _Codes, splits: Iterable[str | None]) -> _Codes:
    """One code for the question and its split; of one split for all."""
    return _mixed(questions, _codes_of(splits))


def _mixed(first: _Codes, second: _Codes) -> _Codes:
    mixed = (first.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ second.view(np.uint64)
    return ((mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)).view(np.int64)
