"""The plain engine and the scanner say the same of the same bytes: message, place, pointer, line and column."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from unittest import mock

from ragdatakit.validators import dataset_run
from tests.command_line import run
from tests.fuzz.cases import Case
from tests.fuzz.commands import environment, usual
from tests.fuzz.mutations import pad

PLAIN = {"SMALL_DATASET": 1 << 40}
SCANNED = {"SMALL_DATASET": -1}
SMALL_BLOCKS = {"SMALL_DATASET": -1, "BLOCK_BYTES": 150, "TEXT_BLOCK_BYTES": 150}


def check(case: Case) -> Iterator[str]:
    """Where the engines differ."""
    case.build()
    padded = case.rng.random() < 0.15
    if padded and case.data.is_dir():
        case.history.append(pad(case.data, case.rng, dataset_run.SMALL_DATASET + 1000))
    ways = {"scanned": SCANNED} if padded else {"scanned": SCANNED, "small blocks": SMALL_BLOCKS}
    with environment(case.scratch):
        case.note("plain")
        plain = findings(case, PLAIN)
        for name, way in ways.items():
            case.note(name)
            other = findings(case, way)
            if isinstance(plain, str) or isinstance(other, str):
                if plain != other:
                    yield f"{name}: {other!s:.300} instead of {plain!s:.300}"
                continue
            missed = [f for f in plain if f not in other]
            more = [f for f in other if f not in plain]
            if missed or more:
                codes = [",".join(sorted({f[0].strip("'") for f in found})) or "none" for found in (missed, more)]
                yield f"{name}: missed {codes[0]}, more {codes[1]}: missed {missed[:2]}, more {more[:2]}"


def findings(case: Case, way: dict[str, int]) -> list[tuple[Any, ...]] | str:
    """All findings, or what is said where there are none for they could not be made."""
    with mock.patch.multiple(dataset_run, **way):
        outcome = run("validate", case.data, "--severity", "info", "--output-format", "json")
    for problem in usual(outcome):
        return problem
    if outcome.code == 2:
        return outcome.err
    document = json.loads(outcome.out)
    keys = ("code", "severity", "message", "path", "line", "column", "byte_offset", "record", "pointer", "value")
    found = [tuple(map(repr, (f[k] for k in keys))) for f in document["findings"]]
    return sorted(found)
