"""Great Expectations on pandas frames: types, no nulls, unique ids, non-empty texts, references to the masters.

Leaves out lines, references inside lists and pairs; pandas reads each file whole and converts before GX sees it.
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ["GX_ANALYTICS_ENABLED"] = "false"

import great_expectations as gx  # after its switch
import great_expectations.expectations as gxe
import pandas as pd
from tables import KEYS, MASTERS, TABLES, references, time_and_print

TYPES = {"BIGINT": "int64", "DOUBLE": "float64", "VARCHAR": "str"}


def check(root: Path, kind: str) -> int:
    """Validate frame by frame; returns the number of records."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_pandas("frames")
    records = 0
    known: dict[str, list[int]] = {}
    for number, (pattern, columns) in enumerate(TABLES[kind].items()):
        expectations = _expectations(columns, KEYS.get(pattern))
        for name, master in references(kind, pattern).items():
            expectations.append(gxe.ExpectColumnValuesToBeInSet(column=name, value_set=known[master]))
        suite = gx.ExpectationSuite(name=f"suite {number}", expectations=expectations)
        for path in sorted(root.glob(pattern)):
            frame = pd.read_json(path, lines=True, dtype=False)
            asset = source.add_dataframe_asset(f"{number} {path.name}")
            batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": frame})
            if not batch.validate(suite).success:
                raise SystemExit(f"{path.name} fails")
            if path.stem in MASTERS:
                known[path.stem] = frame[MASTERS[path.stem]].tolist()
            records += len(frame)
    return records


def _expectations(columns: dict[str, str], key: str | None) -> list[gxe.Expectation]:
    wanted: list[gxe.Expectation] = []
    for name, type_ in columns.items():
        wanted.append(gxe.ExpectColumnValuesToNotBeNull(column=name))
        if type_ in TYPES:
            wanted.append(gxe.ExpectColumnValuesToBeOfType(column=name, type_=TYPES[type_]))
        if type_ == "VARCHAR":
            wanted.append(gxe.ExpectColumnValueLengthsToBeBetween(column=name, min_value=1))
        if name == key:
            wanted.append(gxe.ExpectColumnValuesToBeUnique(column=name))
    return wanted


if __name__ == "__main__":
    time_and_print(check)
