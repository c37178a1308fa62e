"""Texts that stay in their files, counted while SQL reads them: of a report the database holds none."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragdatakit.database.text_facts import CountedTexts, FactsWanted, TextFacts

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.database.text_batches import TextBatch

_FIRST_ROWS, _AT_ONCE = 1 << 10, 32 << 20
"""Rows that show how long texts are, and bytes of texts that DuckDB is asked for at once."""


def count_texts(
    connection: duckdb.DuckDBPyConnection, facts: TextFacts, texts: str, rows: int, stored: int
) -> list[int]:
    """Have ``facts`` of the texts of a query: ``text``, of which none is missing, and ``place``, the rows from 0 in
    order; there are so many ``rows``. ``stored`` is what the texts take in their file, in bytes. Returns the rows whose
    texts are nothing but spaces."""
    from ragdatakit.database.text_batches import text_batches

    assert facts.wanted is not None
    found, sample = _Numbers(), _Sample(facts.wanted)
    first, last = 0, min(_FIRST_ROWS, rows)
    while first < rows:
        query = f"select text from ({texts}) where place >= {first} and place < {last}"
        for batch in text_batches(connection, query, are_long=True):
            found.add(batch)
            if not sample.step:
                guess = found.size * rows // found.rows
                sample.step = facts.wanted.step(stored if guess // 2 <= stored <= 2 * guess else guess, rows)
            sample.add(batch, -(found.rows - len(batch.offsets) + 1) % sample.step, sample.step)
        more = _AT_ONCE * last // max(found.size, 1)
        first, last = last, min(last + max(_FIRST_ROWS, more), rows)
    if sample.step != (step := facts.wanted.step(found.size, rows)):
        sample = _Sample(facts.wanted, step)
        for batch in text_batches(connection, f"select text from ({texts}) where place % {step} = 0", are_long=True):
            sample.add(batch, 0, 1)
    facts.add_counted(found.size, found.empty, found.lengths, found.codes, sample.counted())
    return found.spaces


class _Numbers:
    """The numbers of all texts so far."""

    def __init__(self) -> None:
        self.rows = self.size = self.empty = 0
        self.spaces: list[int] = []
        self.lengths: list[npt.NDArray[np.int64]] = []
        self.codes: list[npt.NDArray[Any]] = []

    def add(self, batch: TextBatch) -> None:
        """Some more texts."""
        from ragdatakit.scanner.texts import lengths_and_codes

        lengths, codes, empty = lengths_and_codes(batch.data, batch.offsets)
        if empty:
            data, places = batch.data.tobytes(), batch.offsets.tolist()
            texts = (data[start:end] for start, end in pairwise(places))
            self.spaces += [self.rows + place for place, text in enumerate(texts) if not text.strip(b" ")]
        self.lengths.append(lengths)
        self.codes.append(codes)
        self.empty += empty
        self.rows += len(lengths)
        self.size += int(batch.offsets[-1] - batch.offsets[0])


class _Sample:
    """Tokens, scripts and beginnings of every so many-th text."""

    def __init__(self, wanted: FactsWanted, step: int = 0) -> None:
        self._wanted, self.step = wanted, step
        self._numbers: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]] = []
        self._beginnings: list[bytes] = []

    def add(self, batch: TextBatch, first: int, step: int) -> None:
        """Every so many-th of some more texts."""
        found = self._wanted.numbers(batch.data, batch.offsets, first, step)
        assert found is not None
        self._numbers.append(found)
        most = 4 * self._wanted.beginning
        starts, ends = batch.offsets[:-1][first::step].tolist(), batch.offsets[1:][first::step].tolist()
        self._beginnings += [
            batch.data[at : min(end, at + most)].tobytes() for at, end in zip(starts, ends, strict=True)
        ]

    def counted(self) -> CountedTexts:
        """The numbers, with the beginnings that are wanted."""
        import numpy as np

        tokens, scripts = (np.concatenate(parts) for parts in zip(*self._numbers, strict=True))
        most = self._wanted.beginning
        beginnings = {
            place * self.step: self._beginnings[place].decode(errors="ignore")[:most]
            for place in self._wanted.begins(tokens, scripts).tolist()
        }
        return CountedTexts(self.step, tokens, scripts, beginnings)
