"""The means of metrics by ranx: reads ``{"qrels", "run", "metrics"}`` from each file, prints them as a line of JSON.

Rankings are lists of ids, best first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ranx import Qrels, Run, evaluate

NAMES = {"success": "hit_rate"}
_NOTHING = "\x00nothing"
"""What is found where nothing is: ranx knows no empty ranking."""


def main() -> None:
    """Print the means."""
    for name in sys.argv[1:]:
        print(json.dumps(_means(json.loads(Path(name).read_text(encoding="utf-8")))))


def _means(given: dict[str, Any]) -> dict[str, float]:
    grades = {q: {d: g for d, g in found.items() if g > 0} for q, found in given["qrels"].items()}
    ranked = {q: found or [_NOTHING] for q, found in given["run"].items()}
    run = {q: {d: float(len(found) - place) for place, d in enumerate(found)} for q, found in ranked.items()}
    names = {name: _name(name) for name in given["metrics"]}
    shown = evaluate(Qrels(grades), Run(run), list(names.values()), make_comparable=True)
    found = shown if isinstance(shown, dict) else {next(iter(names.values())): shown}
    return {name: float(found[theirs]) for name, theirs in names.items()}


def _name(metric: str) -> str:
    family, at, cutoff = metric.partition("@")
    return f"{NAMES.get(family, family)}{at}{cutoff}"


if __name__ == "__main__":
    main()
