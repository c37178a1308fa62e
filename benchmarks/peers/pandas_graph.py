"""The way GFM-RAG itself reads a graph: pandas frames, ``ast.literal_eval`` on every cell of attributes, names to ids.

Leaves out lines, questions, columns that turn into numbers in part, reachability; stops at the first bad cell or
repeated name, and only counts the edges whose ends are unknown.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pandas as pd
from tables import KEYS, TABLES, references, time_and_print


def load(root: Path, kind: str) -> int:
    """Read the three tables into ids; returns the number of records."""
    numbers: dict[str, dict[str, int]] = {}
    records = 0
    for pattern in TABLES[kind]:
        path = root / pattern
        frame = pd.read_csv(path, keep_default_na=False)
        frame["attributes"] = frame["attributes"].map(ast.literal_eval)
        if pattern in KEYS:
            key = frame[KEYS[pattern]]
            if not key.is_unique:
                raise SystemExit(f"{path.name}: a name stands twice")
            numbers[path.stem] = dict(zip(key.tolist(), range(len(frame)), strict=True))
        known = [frame[column].map(numbers[master]) for column, master in references(kind, pattern).items()]
        if known:
            unknown = int(pd.concat(known, axis=1).isna().any(axis=1).sum())
            if unknown:
                raise SystemExit(f"{path.name}: {unknown} edges lead nowhere")
        records += len(frame)
    return records


if __name__ == "__main__":
    time_and_print(load)
