"""pandera on pandas frames: types, required fields, unique ids, non-empty texts, references to the masters.

Leaves out lines, references inside lists and pairs, what stands in a cell of a CSV file; pandas reads each file whole
and converts before pandera sees it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa
from tables import KEYS, MASTERS, TABLES, references, time_and_print

TYPES: dict[str, Any] = {"BIGINT": int, "DOUBLE": float, "VARCHAR": str, "JSON": object, "BIGINT[]": object}


def check(root: Path, kind: str) -> int:
    """Validate frame by frame; returns the number of records."""
    records = 0
    known: dict[str, Any] = {}
    for pattern, columns in TABLES[kind].items():
        pointers = references(kind, pattern)
        schema = pa.DataFrameSchema(
            {n: _column(t, known.get(pointers.get(n, "")), unique=n == KEYS.get(pattern)) for n, t in columns.items()},
            strict=True,
        )
        for path in sorted(root.glob(pattern)):
            frame = _read(path)
            if path.stem in MASTERS:
                known[path.stem] = frame[MASTERS[path.stem]].tolist()
            records += len(schema.validate(frame, lazy=True))
    return records


def _read(path: Path) -> pd.DataFrame:
    if path.suffix == ".csv":
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    return pd.read_json(path, lines=True, dtype=False)


def _column(type_: str, allowed: list[int] | None, *, unique: bool) -> pa.Column:
    checks = [pa.Check.str_length(min_value=1)] if type_ == "VARCHAR" else []
    if allowed is not None:
        checks.append(pa.Check.isin(allowed))
    return pa.Column(TYPES[type_], checks, unique=unique)


if __name__ == "__main__":
    time_and_print(check)
