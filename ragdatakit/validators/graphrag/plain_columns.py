"""Columns of a table that is held in which each value is plainly of the type that it is declared with.

What they show to be well the database need not be asked. A column that is not among them says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import Any

import numpy as np

from ragdatakit.files.graphrag.tables import split_list
from ragdatakit.schemas.graphrag.tables import Column
from ragdatakit.validators.graphrag.coded_columns import Coded
from ragdatakit.validators.graphrag.sql_tables import SqlTable

Plain = Mapping[str, Sequence[Any]]
_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}
_FRACTIONS = {"FLOAT", "DOUBLE"}
_INTEGER = re.compile("-?[0-9]{1,15}").fullmatch
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?").fullmatch
_WORD = re.compile("[a-hj-mo-z]").match  # neither an infinite number nor NaN
_EXACT = 1 << 53


def plain_columns(table: SqlTable, old: bool) -> Plain:
    """The plain columns by the names of today; ``old``: several ids may be in one text of a list."""
    held, declared = table.stored.held, table.stored.table
    if held is None or declared is None:
        return {}
    found: dict[str, Sequence[Any]] = {}
    for name in table.types:
        column, values = declared.column(name), held.values[table.renamed.get(name, name)]
        if column is not None and None not in values:
            plain = _of_cells(column, values) if table.stored.is_csv else _of(column, values, table.types[name])
            if plain is not None and not (old and column.type == "texts" and _are_joined(plain)):
                found[name] = plain
    return found


def _of_cells(column: Column, cells: Sequence[str]) -> Sequence[Any] | None:
    """The values of cells of CSV."""
    if column.type == "texts":
        return [split_list(cell) for cell in cells]
    if column.type == "integers":
        lists = [split_list(cell) for cell in cells]
        are_plain = all(map(_INTEGER, chain.from_iterable(lists)))
        return [list(map(int, members)) for members in lists] if are_plain else None
    if column.type == "integer":
        return list(map(int, cells)) if all(map(_INTEGER, cells)) else None
    if column.type == "number":
        return list(map(float, cells)) if all(map(_NUMBER, cells)) else None
    return cells if column.type == "text" else None


def _of(column: Column, values: Sequence[Any], physical: str) -> Sequence[Any] | None:
    """Values of Parquet, of this type of DuckDB."""
    item = physical.removesuffix("[]")
    if column.type in ("texts", "integers"):
        fits = item == "VARCHAR" if column.type == "texts" else item in _INTEGERS
        return values if fits and item != physical and not any(None in members for members in values) else None
    if column.type == "text":
        return values if physical == "VARCHAR" else None
    if physical in _INTEGERS:
        return values
    if physical in _FRACTIONS and all(map(isfinite, values)):
        if column.type == "number":
            return values
        if all(value.is_integer() and abs(value) < _EXACT for value in values):
            return list(map(int, values))
    return None


def _are_joined(lists: Sequence[Any]) -> bool:
    return any("," in member for member in chain.from_iterable(lists))


class Numbering:
    """Texts as numbers, the same in all tables of an index, so that equal numbers are equal texts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def coded(self, plain: Plain, names: Sequence[str]) -> dict[str, Coded]:
        """Those of the columns of these names that are plain."""
        return {name: self._coded(name, plain[name]) for name in names if name in plain}

    def _coded(self, name: str, values: Sequence[Any]) -> Coded:
        are_lists = bool(values) and isinstance(values[0], list)
        items = list(chain.from_iterable(values)) if are_lists else values
        are_texts = bool(items) and isinstance(items[0], str)
        if are_texts:
            codes = np.array([self._numbers.setdefault(item, len(self._numbers)) for item in items], np.uint64)
        else:
            codes = np.array(items, np.int64).view(np.uint64)
        counts = np.fromiter(map(len, values), np.int32, len(values)) if are_lists else None
        lengths = frozenset(map(len, items)) if name == "id" else frozenset()
        return Coded(codes, counts, lengths, len(codes), are_texts and any(map(_WORD, items)))


def holds(plain: Plain, names: Sequence[str], proof: Callable[..., bool]) -> bool:
    """Whether columns are plain, and what is asked of them is so."""
    return all(name in plain for name in names) and proof(*(plain[name] for name in names))
