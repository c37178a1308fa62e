"""Plants seeded faults into a copy of a set and writes down where: what a validator has to find, no more, no less.

A record is one line: of NDJSON, of a CSV file with a header, or of a JSON array with an element per line. Every fault
breaks one line and, as far as possible, no other: a line whose loss would leave references dangling elsewhere is not
replaced, a broken one is put in beside it.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

Breaker = Callable[[dict[str, Any], int], str]


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault: ``breaks`` turns a good record and a running number into the bad line.

    ``inserted``: the bad line is put in after the good one instead of taking its place.
    """

    kind: str
    breaks: Breaker
    inserted: bool = False


@dataclass(frozen=True, slots=True)
class Planted:
    """Where a fault was planted; ``line`` is 1-based, ``path`` relative to the set."""

    path: str
    line: int
    kind: str


def as_line(record: Any) -> str:
    """A record as one line, as the sets write it."""
    return json.dumps(record, ensure_ascii=False) + "\n"


def changed(**fields: Any) -> Breaker:
    """A breaker that sets these fields."""
    return lambda record, number: as_line({**record, **fields})


def without(name: str) -> Breaker:
    """A breaker that leaves one field out."""
    return lambda record, number: as_line({k: v for k, v in record.items() if k != name})


def cut_short(record: dict[str, Any], number: int) -> str:
    """The line without its last brace: not JSON."""
    return as_line(record)[:-2] + "\n"


def plant(source: Path, target: Path, faults: dict[str, list[Fault]], count: int, seed: int) -> list[Planted]:
    """Copy ``source`` to ``target`` with ``count`` faults, shared out over the files, kinds in turn.

    ``faults`` maps patterns of files to the kinds that fit them. Files without a fault are hard links.
    """
    random = np.random.default_rng(seed)
    files = [(path, pattern) for pattern in faults for path in sorted(source.glob(pattern))]
    planted: list[Planted] = []
    turns = {pattern: itertools.cycle(kinds) for pattern, kinds in faults.items()}
    for position, (path, pattern) in enumerate(files):
        share = count * (position + 1) // len(files) - count * position // len(files)
        first, last = _record_lines(path)
        lines = sorted((first + random.choice(last - first, share, replace=False)).tolist())
        chosen = dict(zip(lines, turns[pattern], strict=False))
        name = path.relative_to(source).as_posix()
        planted += _rewrite(path, target / name, name, chosen, len(planted))
    for path in source.rglob("*"):
        copy = target / path.relative_to(source)
        if path.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, copy)
    return planted


def write_list(planted: list[Planted], path: Path) -> None:
    """Write where the faults are, as JSON."""
    path.write_text(json.dumps([asdict(p) for p in planted], indent=1) + "\n", encoding="utf-8")


def as_row(record: dict[str, Any]) -> str:
    """A record of a CSV file as one line; quoted where it must be."""
    return ",".join(map(as_cell, record.values())) + "\n"


def as_cell(text: str) -> str:
    """A text as it stands in a CSV file."""
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in '",\n') else text


def _record_lines(path: Path) -> tuple[int, int]:
    """The first line with a record, from 0, and the one after the last that a fault may go to."""
    with path.open("rb") as file:
        count = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    # The last element of an array is left alone: no comma stands after it.
    return {".csv": (1, count), ".json": (1, count - 2)}.get(path.suffix, (0, count))


def _record(line: bytes, header: list[str]) -> Any:
    text = line.decode()
    if header:
        return dict(zip(header, next(csv.reader([text])), strict=True))
    return json.loads(text.rstrip().removesuffix(","))


def _rewrite(source: Path, target: Path, name: str, chosen: dict[int, Fault], number: int) -> list[Planted]:
    planted: list[Planted] = []
    target.parent.mkdir(parents=True, exist_ok=True)
    shift = 1
    header: list[str] = []
    after = ",\n" if source.suffix == ".json" else "\n"
    with source.open("rb") as reading, target.open("wb") as writing:
        for index, line in enumerate(reading):
            if index == 0 and source.suffix == ".csv":
                header = next(csv.reader([line.decode()]))
            fault = chosen.get(index)
            if fault is None or fault.inserted:
                writing.write(line)
            if fault is not None:
                bad = fault.breaks(_record(line, header), number + len(planted))
                writing.write((bad.removesuffix("\n") + after).encode("utf-8"))
                shift += fault.inserted
                planted.append(Planted(name, index + shift, fault.kind))
    return planted
