"""Some of the rows of a field whose values the scanner keeps, as a column; columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from json import JSONDecoder
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.converters.kept_columns import values_of
from ragdatakit.database.columns import PackedColumn, packed_same, packed_texts, texts_of
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_places import KnownTexts, RecordPlaces
from ragdatakit.files.containers.json_text import compact, compact_values
from ragdatakit.scanner.texts import joined, lengths_and_codes
from ragdatakit.schemas.canonical import TABLES

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.database.text_places import TextsOf
    from ragdatakit.scanner.blocks import KeptValues, ScannedFacts

_DECODER = JSONDecoder(parse_int=len, parse_float=len)  # numbers of any length


def texts_between(kept: KeptValues, first: int, last: int) -> PackedColumn:
    """The texts of some rows, without those of others."""
    missing = kept.missing[(kept.missing >= first) & (kept.missing < last)] - first
    start, end = kept.offsets[[first, last]].tolist()
    return packed_texts(kept.data[start:end], kept.offsets[first : last + 1] - start, missing)


def known_texts_between(
    kept: KeptValues,
    facts: ScannedFacts | None,
    first: int,
    last: int,
    share: float,
    places: Sequence[tuple[int, RecordPlaces]] = (),
    counted: npt.NDArray[np.bool_] | None = None,
) -> PackedColumn:
    """The same of texts of which there are facts; up to them a ``share`` of all files was read, and they are at these
    ``places``, if that is known. Only rows that are ``counted``, of all (None: all are), count as empty."""
    assert facts is not None
    empty = facts.empty[slice(*np.searchsorted(facts.empty, (first, last)))]
    number = len(empty) if counted is None else int(np.count_nonzero(counted[empty]))
    known = KnownTexts(facts.lengths[first:last], facts.codes[first:last], number, share, places)
    return replace(texts_between(kept, first, last), known=known)


def filled_between(kept: KeptValues, first: int, last: int) -> PackedColumn:
    """The same where empty texts are none."""
    return texts_between(replace(kept, missing=np.flatnonzero(np.diff(kept.offsets) == 0)), first, last)


def objects_of(kept: KeptValues, counted: npt.NDArray[np.bool_]) -> PackedColumn:
    """The objects of all rows, as compact text; of those that are not ``counted`` anything."""
    is_flat = b"[" not in kept.data  # what is kept of a row begins with a bracket, also where its record is cut off
    number = kept.data.count(b"{")
    if is_flat and number == np.count_nonzero(np.diff(kept.offsets)):
        column = texts_between(kept, 0, len(counted))
        return replace(column, members={}) if kept.data == number * b"{}" else column
    given = zip(values_of(kept, 0, len(counted)), counted.tolist(), strict=True)
    return packed_objects([raw if raw and is_counted else None for raw, is_counted in given])


def packed_objects(values: Sequence[bytes | None]) -> PackedColumn:
    """A column of JSON, as compact text."""
    there = [value for value in values if value is not None]
    made = iter(compact_values(there) or [compact(value).encode() for value in there])
    texts = [b"" if value is None else next(made) for value in values]
    missing = np.array([row for row, value in enumerate(values) if value is None], np.int64)
    return packed_texts(b"".join(texts), np.cumsum([0, *map(len, texts)]), missing)


def table_columns(table: str, **given: PackedColumn) -> list[PackedColumn]:
    """The columns of some rows of a table, of which the others have what they usually have."""
    usual, length = TABLES[table].row._field_defaults, next(iter(given.values())).length
    return [given.get(name) or packed_same(kind, usual[name], length) for name, kind in schema_of(table).items()]


def names_between(kept: KeptValues, first: int, last: int) -> list[str]:
    """The texts of some rows, decoded; empty ones where there are none."""
    return [(value or b"").decode() for value in values_of(kept, first, last)]


def chosen_texts(column: PackedColumn, rows: Sequence[int]) -> PackedColumn:
    """Some rows of a column of texts of which there are facts."""
    data, offsets = texts_of(column)
    assert column.known is not None
    values = [data[offsets[row] : offsets[row + 1]].tobytes() for row in rows]
    chosen, places = joined(values)
    known = KnownTexts(*lengths_and_codes(chosen, places), column.known.share)
    return replace(packed_texts(chosen, places.astype(np.int64), np.empty(0, np.int64)), known=known)


def member_texts(name: str) -> TextsOf:
    """What gives the texts that are members of this name, of objects each with whatever is behind it; nothing where
    they are no such objects."""

    def found(given: list[bytes]) -> list[bytes]:
        try:
            return [_DECODER.raw_decode(one.decode(errors="replace"))[0][name].encode() for one in given]
        except (ValueError, LookupError, TypeError, AttributeError):
            return []

    return found
