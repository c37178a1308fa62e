"""Changes single places of the package and says which suite notices: ``python -m tests.mutants [--places 60]``.

Each change is tried by the tests that `make test` runs, and, where these pass, by those of `make test-all`, in a copy
of the repository: a change that only the second notices is what the tenth of the broad tests costs.

``--near 6`` runs of both only the six test modules that are nearest to the place by the names in them, and that of the
fixtures: minutes instead of hours. What they notice the whole suite notices; what they do not notice, it may.
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
from itertools import islice
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
    parser.add_argument("--near", type=int, default=0, help="how many test modules are run; 0: all")
    parser.add_argument("--from", dest="start", type=int, default=0, help="the first of the places that is tried")
    parser.add_argument("--step", type=int, default=1, help="one place in so many is tried")
    options = parser.parse_args()
    counts = {"make test": 0, "make test-all only": 0, "neither": 0}
    with tempfile.TemporaryDirectory(prefix="ragdata-mutants-") as scratch:
        copy = Path(scratch, "copy")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(".venv", ".git", "dist", ".*_cache"))
        places = changed(copy / "ragdatakit", options.places, random.Random(options.seed))
        for path, text, what in islice(places, options.start, None, options.step):
            sound = path.read_text("utf-8")
            modules = near(copy, path, int(what.split(":")[0]), options.near) if options.near else []
            fixtures = fixtures_of(copy, path) if options.near else []
            path.write_text(text, "utf-8")
            noticed, by = "make test", fails(copy, "", modules) or (fixtures and fails(copy, "", fixtures))
            if not by:
                noticed, by = "make test-all only", fails(copy, "all", modules)
            if not by:
                noticed, by = "neither", " ".join(modules)
            path.write_text(sound, "utf-8")
            counts[noticed] += 1
            print(f"{noticed:20} {path.relative_to(copy)}:{what}  [{by}]", flush=True)
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


def near(copy: Path, path: Path, line: int, number: int) -> list[str]:
    """The test modules nearest to a line: that import its module, use its function, have words of its path."""
    dotted = ".".join(path.relative_to(copy).with_suffix("").parts)
    words = set(dotted.replace(".", "_").split("_")) - {"ragdatakit"}
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    named = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef) and len(n.name) > 5]
    around = {n.name for n in named if n.lineno <= line <= (n.end_lineno or 0)}
    scores = {}
    for test in sorted((copy / "tests").glob("test_*.py")):
        text = test.read_text("utf-8")
        score = 8 * (f"{dotted} import" in text or f'"{dotted}.' in text)
        score += 6 * sum(name in text for name in around)
        scores[test.name] = score + 2 * len(words & set(test.stem.split("_")))
    nearest = sorted(scores, key=lambda name: -scores[name])[:number]
    return [f"tests/{name}" for name in nearest if name != "test_fixtures.py"]


def fixtures_of(copy: Path, path: Path) -> list[str]:
    """The test of the fixtures where it runs such a module: of those of the format whose module it is, or all."""
    room = path.parent.relative_to(copy / "ragdatakit").parts
    if room[:1] not in (("schemas",), ("files",), ("scanner",), ("arrays",), ("validators",)):
        return []
    name = room[1].replace("_", "-") if len(room) > 1 else ""
    return ["tests/test_fixtures.py", *(["-k", f"{name}/"] if (copy / "fixtures" / name / "valid").is_dir() else [])]


def fails(copy: Path, tests: str, modules: list[str]) -> str:
    """The test that fails, of these modules or, where there are none, of all; nothing where none does."""
    env = {
        **os.environ,
        "RAGDATA_TESTS": tests,
        "PYTHONPATH": str(copy),
        "RAGDATA_SEED": "mutants",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    processes = "0" if modules else "auto"
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-n", processes, "-p", "no:cacheprovider", *modules]
    try:
        done = subprocess.run(words, cwd=copy, env=env, capture_output=True, text=True, timeout=3600, check=False)
    except subprocess.TimeoutExpired:
        return "no end after an hour"
    if done.returncode == 0:
        return ""
    return next((line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "the run itself")


if __name__ == "__main__":
    sys.exit(main())
