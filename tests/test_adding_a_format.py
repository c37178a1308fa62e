"""docs/adding-a-format.md, followed to the letter in a copy of the package: what it says is what happens."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.generator.markdown import fences
from docs.generator.pages import filled
from docs.generator.workspaces import ROOT, Workspace

GUIDE = ROOT / "docs" / "adding-a-format.md"


@pytest.fixture(scope="module")
def followed() -> Iterator[Workspace]:
    """A workspace in which every file of the guide is written and every change made."""
    lines = GUIDE.read_text().split("\n")
    with Workspace() as workspace:
        for found in fences(lines):
            body = "\n".join(lines[found.first : found.last])
            if found.title and found.language == "diff":
                workspace.change(found.title, body)
            elif found.title:
                workspace.write(found.title, body + "\n")
        yield workspace


def report(workspace: Workspace, folder: Path, target: str) -> Any:
    command = f"cd {folder} && PYTHONPATH={workspace.folder} ragdata validate {target} --output-format json -v"
    return json.loads(workspace.run(command))


def test_screens_are_what_the_guide_shows() -> None:
    text = GUIDE.read_text()

    assert filled(text) == text


def test_every_broken_fixture_gives_what_it_expects(followed: Workspace) -> None:
    folders = sorted((followed.folder / "fixtures/notes/broken").iterdir())
    rules = {r["code"] for r in json.loads(followed.run("ragdata rules --format notes --output-format json"))}
    shown = set()

    for folder in folders:
        expected = json.loads((folder / "expected.json").read_text())["findings"]
        found = report(followed, folder, "data")["findings"]
        assert [{k: f[k] for k in ("path", "line", "code", "rule")} for f in found] == expected
        shown |= {f["code"] for f in found}

    assert shown == {code for code in rules if code.startswith("NT")}


def test_the_valid_fixture_has_no_finding(followed: Workspace) -> None:
    found = report(followed, followed.folder / "fixtures/notes/valid", "linked")

    assert found["findings"] == []
    assert [f["records"] for f in found["datasets"][0]["files"]] == [3, 1]


def test_the_columnar_way_finds_the_same(followed: Workspace) -> None:
    folder = followed.folder / "big"
    folder.mkdir()
    count = 60_000
    notes = [f'{{"id": "note-{i}", "text": "A text about the number {i}."}}\n' for i in range(count)]
    links = [f'{{"source": "note-{i}", "target": "note-{i + 1}"}}\n' for i in range(count - 1)]
    links[777] = '{"source": "note-777", "target": "note-777"}\n'
    links[888] = '{"source": "note-888", "target": "nowhere"}\n'
    notes.append(notes[5])
    (folder / "notes.ndjson").write_text("".join(notes))
    (folder / "links.ndjson").write_text("".join(links))

    found = report(followed, followed.folder, "big")["findings"]

    assert [(f["code"], f["line"]) for f in found] == [("NT201", count + 1), ("NT203", 778), ("NT202", 889)]


def test_the_code_of_the_guide_is_as_the_style_wants_it(followed: Workspace) -> None:
    files = [followed.folder / "ragdatakit" / room / "notes.py" for room in ("schemas", "validators")]
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", str(ROOT / "pyproject.toml")]

    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
