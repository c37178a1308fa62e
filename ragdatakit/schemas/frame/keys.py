"""Keys of a table: the columns that must not repeat, and those that a loader works out from others."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.cells import is_absent
from ragdatakit.schemas.declarations import File, Format

if TYPE_CHECKING:
    import pandas as pd

KeyColumn = Callable[["pd.DataFrame"], list[Any]]


def key_column(fmt: Format, file: File, name: str) -> KeyColumn | None:
    """What gives the values of a declared key field; None where a table cannot."""
    if not name.startswith("@"):
        return lambda frame: column(frame, name)
    if file.container == "csv":
        return _csv_key(file, name[1:])
    return _WORKED_OUT.get((fmt.name, file.kind, name))


def column(frame: pd.DataFrame, name: str) -> list[Any]:
    """The cells of a column; None for each where it is not there."""
    return frame[name].tolist() if name in frame.columns else [None] * len(frame)


def first_of_each_key(columns: list[list[Any]]) -> list[bool]:
    """For each row, whether no row before has the same key; rows that lack a part of it have none."""
    seen: set[tuple[tuple[type, Any], ...]] = set()
    good = []
    for values in zip(*columns, strict=True):
        if any(v is None or isinstance(v, list | dict) or is_absent(v) for v in values):
            good.append(True)
            continue
        key = tuple((type(v), v) for v in values)
        good.append(key not in seen)
        seen.add(key)
    return good


def _texts(name: str) -> KeyColumn:
    """Texts only: other values are a fault of their own."""
    return lambda frame: [v if isinstance(v, str) else None for v in column(frame, name)]


def _csv_key(file: File, name: str) -> KeyColumn | None:
    """A column as pandas reads it without being asked; ``key`` is the one that another may replace."""
    fields = {f.name: f for f in file.record.fields}
    stand_ins = [f for f in fields.values() if f.replaces and (name in (f.replaces, "key"))]
    own = stand_ins[0].replaces if stand_ins else name
    if own not in fields or not fields[own].inferred:
        return None
    names = [*(f.name for f in stand_ins), own]
    return lambda frame: _inferred(column(frame, next((n for n in names if n in frame.columns), own)))


def _inferred(cells: list[Any]) -> list[Any]:
    """Texts as `pandas.read_csv` takes a whole column: numbers where every cell looks like one."""
    import pandas as pd

    if not cells or not all(isinstance(c, str) for c in cells):
        return cells
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["key"], *([c] for c in cells)])
    text.seek(0)
    read: list[Any] = pd.read_csv(text, keep_default_na=False, low_memory=False)["key"].tolist()
    return read if len(read) == len(cells) else cells


_WORKED_OUT: dict[tuple[str, str, str], KeyColumn] = {("arag", "chunks", "@id"): _texts("id")}
