"""Rows of a dataset to look at: the first, the longest, the shortest, and some at random, the same ones each time."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.reports.summary.shown_texts import SHOWN, beginnings_at
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.summaries import Example

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.reports.summary.texts import Column

_MOST_ITEMS = 10


def examples(database: DatasetDatabase, table: str, text: Column | None, number: int, seed: int) -> list[Example]:
    """Rows of a table, each once: ``text`` says which are the longest and the shortest (of those that are not empty).

    ``number`` are chosen at random, by the seed and the name of the table.
    """
    rows = database.count(table)
    if not rows:
        return []
    chosen: dict[int, str] = {0: "first"}
    if text is not None and len(text.characters):
        chosen.setdefault(int(text.characters.argmax()), "longest")
        there = np.flatnonzero(text.characters > 0)
        if len(there):
            chosen.setdefault(int(there[text.characters[there].argmin()]), "shortest")
    drawn = random.Random(f"{seed} {table}").sample(range(rows), min(number + len(chosen), rows))
    for place in [p for p in drawn if p not in chosen][:number]:
        chosen[place] = "random"
    names = TABLES[table].columns
    values = database.rows_at(table, dict(zip(names, _beginnings(table, names), strict=True)), chosen)
    if text is not None and (facts := database.text_facts(table, text.name)) is not None and facts.places is not None:
        for place, beginning in beginnings_at(database, table, text.name, np.array(sorted(values)), SHOWN):
            values[place][text.name] = beginning
    return [_example(table, why, values[place]) for place, why in chosen.items()]


def _beginnings(table: str, names: Iterable[str]) -> Iterator[str]:
    """Of each value no more than shows whether it is to be cut: a list may have millions of items."""
    from ragdatakit.database.columns import ITEMS, Kind
    from ragdatakit.database.row_batches import schema_of

    kinds = schema_of(table)
    for name in names:
        if name == "content":
            yield "octet_length(content)"
        elif kinds[name] in ITEMS:
            yield f'"{name}"[1:{_MOST_ITEMS + 1}]'
        else:
            yield f'left("{name}", {SHOWN})' if kinds[name] is Kind.TEXT else f'"{name}"'


def _example(table: str, why: str, row: Mapping[str, Any]) -> Example:
    cut: list[str] = []
    shown: dict[str, Any] = {}
    for name, value in row.items():
        if name == "field_order":
            continue
        if name == "content" and value is not None:
            value = f"{value:,} bytes"
        short = _short(value)
        if short != value and not (isinstance(value, float) and not math.isfinite(value)):
            cut.append(name)
        shown[name] = short
    return Example(table, why, shown, tuple(cut))


def _short(value: Any) -> Any:
    if isinstance(value, str) and len(value) >= SHOWN:
        return value[: SHOWN - 2] + "…"
    if isinstance(value, list):
        return [_short(item) for item in value[:_MOST_ITEMS]]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
