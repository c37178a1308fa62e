"""Beginnings of a few texts of a table, wherever these are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase

Numbers = npt.NDArray[np.int64]


def beginnings_at(
    database: DatasetDatabase, table: str, column: str, rows: Numbers, most: int
) -> Iterator[tuple[int, str | None]]:
    """The first characters, at most this many, of the texts in a column of rows of a table, with the rows, which are in
    ascending order; None where there is none."""
    facts = database.text_facts(table, column)
    places = facts.places if facts is not None else None
    apart = places.has(rows) if places is not None else np.zeros(len(rows), np.bool_)
    known: dict[int, str | None] = {}
    if not apart.all():
        found = database.rows_at(table, {column: f'left("{column}", {most})'}, rows[~apart].tolist())
        known.update((row, values[column] and values[column][:most]) for row, values in found.items())
    read = places.texts(rows[apart], facts.codes) if places is not None and facts is not None else iter(())
    for row, is_apart in zip(rows.tolist(), apart.tolist(), strict=True):
        yield row, next(read)[: 4 * most].decode(errors="ignore")[:most] if is_apart else known[row]
