"""Changes single places of the package and says which suite notices: ``python -m tests.mutants [--places 60]``.

Each change is tried by the tests that `make test` runs, and, where these pass, by those of `make test-all`, in a copy
of the repository: a change that only the second notices is what the tenth of the broad tests costs.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip


def main() -> int:
    """Try them, and print a line for each and the counts."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("--places", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts = {"make test": 0, "make test-all only": 0, "neither": 0}
    with tempfile.TemporaryDirectory(prefix="ragdata-mutants-") as scratch:
        copy = Path(scratch, "copy")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", "dist", ".*_cache"))
        for path, text, what in changed(copy / "ragdatakit", options.places, random.Random(options.seed)):
            sound = path.read_text("utf-8")
            path.write_text(text, "utf-8")
            noticed = "make test" if fails(copy, "") else "make test-all only" if fails(copy, "all") else "neither"
            path.write_text(sound, "utf-8")
            counts[noticed] += 1
            print(f"{noticed:20} {path.relative_to(copy)}:{what}", flush=True)
    print(", ".join(f"{name}: {number}" for name, number in counts.items()))
    return int(counts["make test-all only"] > 0)


def changed(package: Path, places: int, rng: random.Random) -> Iterator[tuple[Path, str, str]]:
    """Files with one operator replaced by its counterpart, each in another place."""
    found = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text("utf-8")
        for number, node in enumerate(ast.walk(ast.parse(text))):
            if _operators(node) and "TYPE_CHECKING" not in ast.unparse(node):
                found.append((path, number))
    for path, number in rng.sample(found, places):
        tree = ast.parse(path.read_text("utf-8"))
        node = list(ast.walk(tree))[number]
        before = ast.unparse(node)
        if isinstance(node, ast.Compare):
            node.ops[0] = _SWAPPED[type(node.ops[0])]()
        else:
            node.op = _SWAPPED[type(node.op)]()  # type: ignore[attr-defined]
        yield path, ast.unparse(tree), f"{getattr(node, 'lineno', 0)}: {before[:60]} → {ast.unparse(node)[:60]}"


def _operators(node: ast.AST) -> bool:
    operator = node.ops[0] if isinstance(node, ast.Compare) else getattr(node, "op", None)
    return type(operator) in _SWAPPED


def fails(copy: Path, tests: str) -> bool:
    """Whether a test fails, or the run does not end."""
    env = {**os.environ, "RAGDATA_TESTS": tests, "PYTHONPATH": str(copy), "RAGDATA_SEED": "mutants"}
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "auto", "-p", "no:cacheprovider"]
    try:
        return subprocess.run(words, cwd=copy, env=env, capture_output=True, timeout=3600, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True


if __name__ == "__main__":
    sys.exit(main())
