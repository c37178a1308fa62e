"""Compares what ragdata reports on a faulty set with the list of what was planted there."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Score:
    """``found`` of ``planted`` lines are reported as errors; ``missed`` and ``others`` name lines as ``path:line``."""

    planted: int
    found: int
    missed: list[str]
    others: list[str]


def score(command: list[str], root: Path) -> Score | None:
    """Run a validate command (without ``-q``) for JSON and compare by file and line; None where the run failed."""
    words = [w for w in command if w != "-q"]
    run = subprocess.run(
        [*words, "--output-format", "json", "--max-per-rule", "0"], capture_output=True, check=False, text=True
    )
    if run.returncode not in (0, 1):
        return None
    planted = json.loads(root.with_name(f"{root.name}.faults.json").read_text(encoding="utf-8"))
    wanted = {f"{p['path']}:{p['line']}": p["kind"] for p in planted}
    reported: dict[str, str] = {}
    for finding in json.loads(run.stdout)["findings"]:
        if finding["severity"] == "error":
            path = Path(finding["path"])
            place = path.relative_to(root) if path.is_relative_to(root) else path
            reported[f"{place.as_posix()}:{finding['line']}"] = finding["code"]
    missed = [f"{place} ({kind})" for place, kind in wanted.items() if place not in reported]
    others = [f"{place} ({code})" for place, code in reported.items() if place not in wanted]
    return Score(len(wanted), len(wanted) - len(missed), missed, others)
