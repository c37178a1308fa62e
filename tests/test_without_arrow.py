"""Without pyarrow, which the base installation does not bring, everything works but what is Arrow's or Parquet's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import ragdatakit
from ragdatakit.schemas.errors import MissingExtraError

FIXTURES = Path(__file__).parents[1] / "fixtures"
KINDS = (
    "light-splade", "arag", "datamind", "gfm-rag", "hipporag", "beir", "trec", "sage", "ragchecker", "raptor",
    "contextual-retrieval", "lightrag", "graphrag",
)  # fmt: skip
_SITE = """
import importlib.abc, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pyarrow", "pandas"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
_PROGRAM = """
import json, sys
from tests.command_line import run

json.dump([(done.code, done.err) for done in (run(*words) for words in json.load(sys.stdin))], sys.stdout)
"""


def run(folder: Path, commands: list[list[str]]) -> list[tuple[int, str]]:
    """The exit codes and messages of commands in one process; neither it nor those that it starts have pyarrow."""
    (folder / "sitecustomize.py").write_text(_SITE)
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
        cwd=FIXTURES.parent,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{FIXTURES.parent}"},
    )
    assert not done.returncode, done.stderr
    return [(code, each) for code, each in json.loads(done.stdout)]


def test_every_format_is_read(tmp_path: Path) -> None:
    commands = []
    for kind in KINDS:
        path = str(sorted((FIXTURES / kind / "valid").iterdir())[0])
        commands.append(["validate", path, "-q"])
        if kind in ("light-splade", "gfm-rag", "graphrag"):
            commands += [["report", path, "--output-file", str(tmp_path / "r.json")], ["query", path, "--tables"]]
            commands.append(["diff", path, path])
        commands.append(["convert", path, str(tmp_path / kind), "--to", "datamind", "-q"])

    for command, (code, found) in zip(commands, run(tmp_path, commands), strict=True):
        assert code in (0, 1), (command, found)
        assert "pyarrow" not in found, command


def test_what_needs_it_says_how_to_install_it(tmp_path: Path) -> None:
    table, folder = str(tmp_path / "rows.parquet"), str(FIXTURES / "beir" / "valid" / "folder")
    duckdb.execute("copy (select 'd1' as id, 'It was lit in 1871.' as text) to '" + table + "' (format parquet)")
    commands = [
        ["query", folder, "from documents", "--output-file", str(tmp_path / "found.parquet")],
        ["convert", table, str(tmp_path / "set"), "--from", "table", "--to", "beir"],
        ["convert", folder, str(tmp_path / "graph"), "--to", "graphrag"],
    ]

    for command, (code, found) in zip(commands, run(tmp_path, commands), strict=True):
        assert code == 2, (command, found)
        assert found.splitlines()[-1].endswith("this needs pyarrow: pip install 'ragdatakit[parquet]'"), command


def test_arrow_tables_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with ragdatakit.read(FIXTURES / "beir" / "valid" / "folder") as dataset:
        assert dataset.relation("documents").fetchall()
        with pytest.raises(MissingExtraError, match=r"ragdatakit\[parquet\]"):
            dataset.arrow("documents")
