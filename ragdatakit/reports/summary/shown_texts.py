"""Beginnings of a few texts of a table, wherever these are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragdatakit.database.columns import texts_in_rows

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase

Numbers = npt.NDArray[np.int64]

SHOWN = 401
"""Characters of a value that are looked at where it is shown: one more than are shown, which says whether it is cut."""
BEGINNING = 2000
"""Characters of a text that are looked at for its language."""
_MOST_READ = 500
"""Texts of a column that are."""


def beginnings_at(
    database: DatasetDatabase, table: str, column: str, rows: Numbers, most: int
) -> Iterator[tuple[int, str | None]]:
    """The first characters, at most this many, of the texts in a column of rows of a table, with the rows, which are in
    ascending order; None where there is none."""
    for row, text in zip(rows.tolist(), _texts_at(database, table, column, rows, most), strict=True):
        yield row, _beginning(text, most) if isinstance(text, bytes) else text


def encoded_beginnings_at(
    database: DatasetDatabase, table: str, column: str, rows: Numbers, most: int
) -> Iterator[bytes]:
    """The same as UTF-8, nothing where there is none; of texts with few bytes all of them."""
    for text in _texts_at(database, table, column, rows, most):
        if isinstance(text, bytes):
            yield text if len(text) <= 4 * most else _beginning(text, most).encode()
        else:
            yield (text or "").encode("utf-8", "surrogatepass")


def _beginning(text: bytes, most: int) -> str:
    return text[: 4 * most].decode(errors="ignore")[:most]


def _texts_at(
    database: DatasetDatabase, table: str, column: str, rows: Numbers, most: int
) -> Iterator[str | bytes | None]:
    """The same: of texts that are not in the database all bytes."""
    facts = database.text_facts(table, column)
    places = facts.places if facts is not None else None
    apart = places.has(rows) if places is not None else np.zeros(len(rows), np.bool_)
    known: dict[int, str | bytes | None] = {}
    if facts is not None and facts.wanted is not None and most <= facts.wanted.beginning:
        known.update((row, facts.beginnings[row][:most]) for row in rows.tolist() if row in facts.beginnings)
    others = [row for row in rows[~apart].tolist() if row not in known]
    if others and (held := database.texts(table, column)) is not None:
        known.update(zip(others, texts_in_rows(held, np.array(others)), strict=True))
    elif others:
        found = database.rows_at(table, {column: f'left("{column}", {most})'}, others)
        known.update((row, values[column] and values[column][:most]) for row, values in found.items())
    read = places.texts(rows[apart], facts.codes) if places is not None and facts is not None else iter(())
    for row, is_apart in zip(rows.tolist(), apart.tolist(), strict=True):
        yield next(read) if is_apart else known[row]


def places_to_read(tokens: Numbers, scripts: npt.NDArray[np.uint8]) -> Numbers:
    """Of which texts the language is guessed, given the tokens and scripts of all: those with letters, of many some,
    evenly spread."""
    there = np.flatnonzero((tokens > 0) & (scripts > 0))
    return there if len(there) <= _MOST_READ else there[np.linspace(0, len(there) - 1, _MOST_READ).astype(np.int64)]
