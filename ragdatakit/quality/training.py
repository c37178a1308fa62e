"""Quality of training triplets: negatives that are copies of positives, under another id."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.quality.findings import Checked, RecordLookup, shown_id

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.quality.findings import TextKeys

    _Codes = npt.NDArray[np.int64]

_BATCH = 1 << 16


class _Codebook:
    """From ids of passages to the codes of their texts."""

    def __init__(self, ids: _Codes, codes: _Codes) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids, self._codes = ids[order], codes[order]

    def find(self, ids: _Codes) -> _Codes:
        """The codes of texts; 0 where there is no such passage, or a blank one."""
        if not len(self._ids):
            return np.zeros(len(ids), np.int64)
        places = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[places] == ids, self._codes[places], 0)


def check_negatives(run: Checked) -> None:
    """Compare the text of each negative with those of the positives of its question. Memory: 16 bytes a triplet."""
    if not run.findings.wants("negative-like-positive") or not run.tables.any("triplets") or run.texts is None:
        return
    alike = _Codebook(run.texts.ids, run.texts.alike)
    by_text, by_id = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for questions, targets, _ in _positives(run):
        by_text.append(_pairs(questions, alike.find(targets)))
        by_id.append(_pairs(questions, targets))
    of_text, of_id = np.unique(np.concatenate(by_text)), np.unique(np.concatenate(by_id))
    del by_text, by_id
    kept: list[tuple[Any, int]] = []
    most = run.findings.collector.selection.max_per_rule
    for rows in _batches(run.tables.peek("triplets")):
        questions = np.array([hash((r.question_id, r.split)) for r in rows], np.int64)
        negatives = np.array([hash(r.negative_id) for r in rows], np.int64)
        codes = alike.find(negatives)
        pairs = _pairs(questions, codes)
        copies = (codes != 0) & np.isin(pairs, of_text) & ~np.isin(_pairs(questions, negatives), of_id)
        for place in np.flatnonzero(copies).tolist():
            if run.findings.room("negative-like-positive") and (not most or len(kept) < most):
                kept.append((rows[place], int(pairs[place])))
            else:
                run.findings.count("negative-like-positive", rows[place].split)
    _report(run, run.texts, kept, alike)


def _report(run: Checked, texts: TextKeys, kept: list[tuple[Any, int]], alike: _Codebook) -> None:
    exactly = _Codebook(texts.ids, texts.keys)
    wanted = {pair for _, pair in kept}
    names: dict[int, str] = {}
    for questions, targets, rows in _positives(run) if wanted else ():
        pairs = _pairs(questions, alike.find(targets))
        for place in np.flatnonzero(np.isin(pairs, np.array(sorted(wanted), np.int64))).tolist():
            names.setdefault(int(pairs[place]), rows[place])
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


def _positives(run: Checked) -> Iterator[tuple[_Codes, _Codes, list[str]]]:
    """Codes of questions with their split, codes of the ids of positives, and those ids: of triplets and judgements."""
    kind = "chunk" if run.noun == "chunk" else "document"
    rows = ((r.question_id, r.split, r.positive_id) for r in run.tables.peek("triplets"))
    judged = (
        (r.question_id, r.split, r.target_id) for r in run.tables.peek("qrels") if r.grade > 0 and r.target_kind == kind
    )
    for source in (rows, judged):
        for batch in _batches(source):
            questions = np.array([hash((question, split)) for question, split, _ in batch], np.int64)
            yield questions, np.array([hash(target) for _, _, target in batch], np.int64), [b[2] for b in batch]


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch


def _pairs(questions: _Codes, codes: _Codes) -> _Codes:
    """One code for both; 0 where the second is 0."""
    mixed = (questions.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ codes.view(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.where(codes == 0, 0, mixed.view(np.int64))
