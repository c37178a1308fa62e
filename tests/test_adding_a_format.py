"""docs/adding-a-format.md, followed to the letter in a copy of the package: what it says is what happens.

That its screens are those of today is what ``make check`` holds, as of all pages.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from itertools import dropwhile, takewhile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest

import ragdatakit
from docs.generator.markdown import fences
from docs.generator.workspaces import ROOT, Workspace
from ragdatakit.files.datasets import DataFile
from ragdatakit.schemas import FORMATS
from ragdatakit.schemas.declarations import Container, Damage, Field, File, Format, Layout, Record, Rule
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators import CHECKS
from ragdatakit.validators.checks import FormatChecks, Needs

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


def report(workspace: Workspace, folder: Path, *targets: str) -> Any:
    words = f"validate {' '.join(targets)} --output-format json -v"
    command = f"cd {folder} && PYTHONPATH={workspace.folder} ragdata {words}"
    return json.loads(workspace.run(command))


def test_every_broken_fixture_gives_what_it_expects(followed: Workspace) -> None:
    folders = sorted((followed.folder / "fixtures/notes/broken").iterdir())
    rules = {r["code"] for r in json.loads(followed.run("ragdata rules notes --json"))}
    expected = [
        {**finding, "path": f"{folder.name}/{finding['path']}"}
        for folder in folders
        for finding in json.loads((folder / "expected.json").read_text())["findings"]
    ]

    found = report(followed, folders[0].parent, *(f"{folder.name}/data" for folder in folders))["findings"]

    assert [{k: f[k] for k in ("path", "line", "code", "rule")} for f in found] == expected
    assert {f["code"] for f in found} == {code for code in rules if code.startswith("NT")}


def test_the_valid_fixture_has_no_finding(followed: Workspace) -> None:
    found = report(followed, followed.folder / "fixtures/notes/valid", "linked")

    assert found["findings"] == []
    assert [f["records"] for f in found["datasets"][0]["files"]] == [3, 1]


def test_the_scanner_finds_the_same(followed: Workspace) -> None:
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
    files = [followed.folder / "ragdatakit" / room / "notes.py" for room in ("schemas", "validators", "converters")]
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--config", str(ROOT / "pyproject.toml")]

    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


def test_the_converter_of_the_guide_there_and_back(followed: Workspace) -> None:
    profile = followed.folder / "pears/data/profiles/pears"
    for name, lines in {
        "chunks/notes.jsonl": '{"id": "pear", "text": "Prune in winter."}\n{"id": "wall", "text": "Espaliers."}\n',
        "triplets/notes.jsonl": '{"subject": "pear", "relation": "grows on", "object": "wall"}\n'
        '{"subject": "pear", "relation": "likes", "object": "sun"}\n',
    }.items():
        (profile / name).parent.mkdir(parents=True)
        (profile / name).write_text(lines)

    shown = followed.run(
        "ragdata convert --to notes --sidecar pears pears-notes && ragdata convert --to datamind pears-notes pears-back"
    )

    assert "edges.relation  1 value: a link has no name" in shown
    assert (followed.folder / "pears-notes/links.ndjson").read_text() == '{"source":"pear","target":"wall"}\n'
    back = followed.folder / "pears-back/data/profiles"
    triplets = [json.loads(line) for path in back.rglob("triplets/*.jsonl") for line in path.read_text().splitlines()]
    assert [(t["subject"], t["relation"], t["object"]) for t in triplets] == [
        ("pear", "grows on", "wall"),
        ("pear", "likes", "sun"),
    ]


def table_after(heading: str) -> list[list[str]]:
    """The cells of the first table behind a heading of the guide, without its two head lines."""
    lines = GUIDE.read_text().partition(f"**{heading}**")[2].splitlines()
    rows = list(takewhile(lambda line: line.startswith("|"), dropwhile(lambda line: not line.startswith("|"), lines)))
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows[2:]]


def test_the_guide_names_every_container() -> None:
    assert sorted(row[0] for row in table_after("Containers.")) == sorted(get_args(Container))


@pytest.mark.parametrize(
    ("container", "content", "records"),
    [
        ("ndjson", '{"title": "a"}\n{"title": "b"}\n', [{"title": "a"}, {"title": "b"}]),
        ("json-array", '[{"title": "a"},\n {"title": "b"}]', [{"title": "a"}, {"title": "b"}]),
        ("json-object", '{"a": "x", "b": "y"}', [{"title": "a", "text": "x"}, {"title": "b", "text": "y"}]),
        (
            "json-wrapped",
            '{"n": 2, "texts": [{"title": "a"},\n {"title": "b"}], "m": {}}',
            [{"title": "a"}, {"title": "b"}],
        ),
        ("json", '[{"title": "a"}, {"title": "b"}]', [{"title": "a"}, {"title": "b"}]),
        ("json", '{"title": "a"}\n{"title": "b"}\n', [{"title": "a"}, {"title": "b"}]),
        ("json", '{\n "title": "a"\n}', [{"title": "a"}]),
        ("csv", 'title,text\n007,"x ""y"""\n', [{"title": "007", "text": 'x "y"'}]),
    ],
)
def test_records_decode_as_the_guide_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, container: Container, content: str, records: list[Any]
) -> None:
    columns = tuple(Field(name=name, type="string", required=False) for name in ("title", "text"))
    kind = File(
        kind="texts",
        title="texts",
        container=container,
        wrapper=("texts",) if container == "json-wrapped" else (),
        records=(Record(name="text", title="text", description="", fields=columns),),
    )
    layout = Layout(name="folder", files={"texts": "texts"}, signature=(("texts",),))
    seen: list[Any] = []

    class Checks(FormatChecks):
        def needs(self, kind: str, split: str | None = None) -> Needs:
            return Needs(records=True)

        def record(self, file: DataFile, value: Any) -> Iterator[Problem]:
            seen.append(value)
            return iter(())

    declared = Format(
        name="texts", title="", letters="TX", description="", homepage="", files=(kind,), rules=(), layouts=(layout,)
    )
    module = SimpleNamespace(TEXTS=declared, Checks=Checks)
    monkeypatch.setitem(sys.modules, "texts_format", module)
    monkeypatch.setitem(FORMATS, "texts", ("texts_format", "TEXTS"))
    monkeypatch.setitem(CHECKS, "texts", ("texts_format", "Checks"))
    (tmp_path / "texts").write_text(content)

    ragdatakit.validate(tmp_path, format="texts")

    assert seen == records


@pytest.mark.parametrize("owner", [Field, File, Rule, Format])
def test_the_words_of_the_guide_are_words_of_declarations(owner: type) -> None:
    guide = GUIDE.read_text().partition("## What was done")[2]
    words = {
        Field: {"inferred", "replaces", "rules"},
        File: {"container", "keys", "without"},
        Rule: {"message", "upstream", "severity", "severities"},
        Format: {"profiles", "default_profiles", "profile_words", "adopts"},
    }[owner]

    assert words <= {field.name for field in fields(owner)}
    assert [word for word in words if f"`{word}" not in guide] == []


def test_the_damages_of_the_guide_are_damages() -> None:
    paragraph = GUIDE.read_text().partition("Further damages belong")[2].partition("\n\n")[0]

    named = re.findall("`([a-z-]+)`", paragraph)

    assert len(named) > 5
    assert set(named) <= set(get_args(Damage))
