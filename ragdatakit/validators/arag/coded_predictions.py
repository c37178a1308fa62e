"""Questions and predictions of a big A-RAG set as codes: which predictions differ from their question, or repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.code_tables import HashTable
from ragdatakit.arrays.codes import WIDE, Codes, Rows, are_same, first_of_each
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.validators.arag.predictions import COMPARED, other_question, repeated
from ragdatakit.validators.arag.questions import gold_answer
from ragdatakit.validators.row_problems import RowProblems

Texts = tuple[Codes, npt.NDArray[np.bool_]]
"""Codes of texts, and which of them are there."""


def texts_of(batch: Any, name: str, seen: Mapping[int, Any], field: str) -> Texts:
    """Codes of a field of a batch: as they were scanned, and of the records that Python has ``seen``."""
    if name in batch.columns:
        codes, known = batch.columns[name].copy(), batch.valid[name]
        is_there = np.ones(batch.length, np.bool_) if known is None else known.copy()
    else:
        codes, is_there = np.zeros(batch.length, WIDE), np.zeros(batch.length, np.bool_)
    if seen:
        texts = [_text_in(value, field) for value in seen.values()]
        codes[[*seen]] = codes_of_texts(texts)
        is_there[[*seen]] = [text is not None for text in texts]
    return codes, is_there


def _text_in(value: Any, field: str) -> str | None:
    if not isinstance(value, dict):
        return None
    found = gold_answer(value)[1] if field == "answer" else value.get(field)
    return found if isinstance(found, str) else None


class CodedPredictions:
    """The same as `Remembered` of a small set."""

    def __init__(self) -> None:
        self._keys: list[Codes] = []
        self._texts: dict[str, list[Texts]] = {field: [] for field in COMPARED}
        self._known: tuple[HashTable, dict[str, Texts]] | None = None
        self._answered: list[tuple[Codes, Rows]] = []

    def add_questions(self, batch: Any, seen: Mapping[int, Any]) -> None:
        """Take in the questions of a batch, of which Python has ``seen`` some."""
        keys, rows = batch.codes(("@qid",))
        places = np.asarray(rows, np.int64) - batch.first_row
        self._keys.append(keys)
        for field, name in zip(COMPARED, ("question", "answer"), strict=True):
            codes, is_there = texts_of(batch, name, seen, name)
            self._texts[field].append((codes[places], is_there[places]))

    def compare(self, batch: Any, seen: Mapping[int, Any]) -> Iterator[RowProblems]:
        """The predictions of a batch that are about another question than the one of their id."""
        keys, rows = batch.codes(("@qid",))
        rows = np.asarray(rows, np.int64)
        self._answered.append((keys, rows))
        table, questions = self._questions()
        if table is None:
            return
        positions = table.positions(keys).astype(np.int64)
        for field in COMPARED:
            codes, is_there = (one[rows - batch.first_row] for one in texts_of(batch, field, seen, field))
            wanted, is_known = (one[positions] for one in questions[field])
            differs = (positions >= 0) & is_there & is_known & ~are_same(codes, wanted)
            yield other_question(field, rows[differs].tolist())

    def _questions(self) -> tuple[HashTable | None, dict[str, Texts]]:
        if self._known is None:
            keys = np.concatenate(self._keys) if self._keys else np.empty(0, WIDE)
            if not len(keys):
                return None, {}
            texts = {}
            for field, parts in self._texts.items():
                codes, is_there = zip(*parts, strict=True)
                texts[field] = np.concatenate(codes), np.concatenate(is_there)
            self._known = HashTable(keys), texts
            self._keys, self._texts = [], {}
        return self._known

    def repeats(self) -> RowProblems:
        """A file of predictions ends: those that repeat an earlier one of it."""
        if not self._answered:  # nothing of the file could be read
            return repeated([], [])
        keys, rows = (np.concatenate(parts) for parts in zip(*self._answered, strict=True))
        self._answered = []
        firsts, numbers = first_of_each(keys)
        first_rows = rows[firsts][numbers]
        later = first_rows != rows
        return repeated(rows[later].tolist(), first_rows[later].tolist())
