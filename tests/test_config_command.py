"""`ragdata config` and `ragdata init-config`; the JSON Schema of the settings says what reading them says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from validate_pyproject import api, errors

from ragdatakit.api.configuration import config, config_schema, configuration_of, init_config
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.settings.declared import TOP, Setting
from tests.command_line import FIXTURES, run

SPLADE = FIXTURES / "light-splade" / "broken" / "dangling-qid" / "data"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    shutil.copytree(SPLADE, tmp_path / "data" / "splade")
    shutil.copytree(FIXTURES / "beir" / "valid" / "folder", tmp_path / "data" / "beir [1]")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_applies_and_why(project: Path) -> None:
    (project / "base.toml").write_text("ignore = ['BE']\n[max]\nSP201 = 3\n")
    (project / "ragdata.toml").write_text(
        "extend = 'base.toml'\nmax-hops = 4\n[[dataset]]\npath = 'data/splade'\nseverity = {SP2 = 'info'}\n"
        "[[dataset]]\npath = 'data/gone'\nmax-hops = 1\n[[dataset]]\npath = 'other'\nmax-hops = 1\n"
    )

    lines = run("config", "data").out.splitlines()

    assert lines[:2] == ["Settings for data from ragdata.toml", "  which extends base.toml"]
    assert "  max-hops   4       ragdata.toml:2" in lines
    assert '  severity.SP2  "info"  ragdata.toml:5 [[dataset]]' in lines
    assert lines[-1] == "Without a dataset here: the sections at ragdata.toml:6"
    document = run("config", "data", "--output-format", "json").json
    assert document == config("data").as_dict()
    assert [d["path"] for d in document["datasets"]] == ["data/beir [1]", "data/splade"]
    assert {"name": "max.SP201", "value": 3, "place": "base.toml:3", "section": None} in document["settings"]
    assert run("config", "data", "--isolated").out.startswith("No settings for data")
    assert "slect" in run("config", "data", "--config", "ragdata.toml").err or (project / "ragdata.toml").exists()
    assert run("config", "gone").code == 2


def test_a_path_that_is_excluded(project: Path) -> None:
    (project / "ragdata.toml").write_text("exclude = ['data']\n")

    assert "data is excluded: nothing of it is read" in run("config", "data").out


def test_a_first_file_names_what_is_there(project: Path) -> None:
    before = run("validate", ".", "--output-format", "json").json

    assert run("init-config").out == "wrote ragdata.toml\n"

    sections = tomllib.loads((project / "ragdata.toml").read_text())["dataset"]
    assert [(s["path"], s["format"]) for s in sections] == [
        ("data/beir [[]1]", "beir"),
        ("data/splade", "light-splade"),
    ]
    after = run("validate", ".", "--output-format", "json").json
    assert {**after, "datasets": []} == {**before, "datasets": []}
    assert sorted(map(str, after["datasets"])) == sorted(map(str, before["datasets"]))
    refused = run("init-config")
    assert (refused.code, refused.err) == (2, "ragdata: ragdata.toml has settings already; --overwrite replaces it\n")
    assert run("init-config", "--overwrite").code == 0
    (project / "data" / "ragdata.toml").mkdir()
    with pytest.raises(RagdataError, match="no such folder"):
        init_config(project / "gone")
    (project / ".ragdata.toml").write_text("")
    assert "would go before ragdata.toml" in run("init-config", "--overwrite").err


def settings_of(section: Setting) -> Iterator[Setting]:
    for setting in section.within:
        yield setting
        yield from settings_of(setting)


def test_every_setting_is_documented_and_its_example_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDATA_NO_PLUGINS", "1")  # the example's plug-in is not installed
    validator = jsonschema.Draft7Validator(config_schema())
    jsonschema.Draft7Validator.check_schema(config_schema())
    for section in (TOP, *(s for s in TOP.within if s.kind == "sections")):
        lines = [f"{s.name} = {s.example}" for s in section.within if s.example and s.name != "extend"]
        text = "\n".join([f"[[{section.name}]]"] * bool(section.name) + lines) + "\n"
        (tmp_path / "ragdata.toml").write_text(text)

        assert configuration_of(tmp_path).file is not None
        assert [e.message for e in validator.iter_errors(tomllib.loads(text))] == []
    for setting in settings_of(TOP):
        assert setting.meaning and setting.meaning[0].islower() and not setting.meaning.endswith("."), setting.name


@pytest.mark.parametrize(
    "document",
    [
        {"slect": []},
        {"ignore": [1]},
        {"max-hops": 65},
        {"max-hops": "4"},
        {"max": {"SP2": -1}},
        {"severity": {"SP2": "fatal"}},
        {"fail-on": "info"},
        {"quality": {"near-similarity": 2}},
        {"quality": {"most": 2}},
        {"dataset": {"path": "x"}},
        {"dataset": [{"format": "beir"}]},
        {"dataset": [{"path": "x", "formt": "beir"}]},
        {"per-path-ignores": {"x": 3}},
    ],
)
def test_the_schema_refuses_what_reading_refuses(document: dict[str, Any], tmp_path: Path) -> None:
    from tests.test_configuration import written

    text = "".join(f"{name} = {written(value)}\n" for name, value in document.items())
    (tmp_path / "ragdata.toml").write_text(text)

    with pytest.raises(RagdataError, match=r"ragdata\.toml:[12]: "):
        configuration_of(tmp_path)
    assert not jsonschema.Draft7Validator(config_schema()).is_valid(document)


def test_the_tools_of_editors_check_files_by_the_schema(tmp_path: Path) -> None:
    """taplo, which editors use for TOML, and validate-pyproject."""
    taplo = Path(sys.executable).with_name("taplo")
    if not taplo.exists():
        pytest.skip("taplo has no wheel for this machine")
    (tmp_path / "schema.json").write_text(json.dumps(config_schema()))
    for name, text in {"good.toml": 'ignore = ["SP209"]\n', "bad.toml": 'slect = ["SP"]\n'}.items():
        (tmp_path / name).write_text(f"#:schema ./schema.json\n{text}")
    schema = (tmp_path / "schema.json").as_uri()
    done = [
        subprocess.run(
            [taplo, "lint", "--schema", schema, name], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        for name in ("good.toml", "bad.toml")
    ]

    assert [one.returncode for one in done] == [0, 1], done
    assert "slect" in done[1].stderr
    validator = api.Validator()
    project = {"project": {"name": "x", "version": "1"}}
    validator({**project, "tool": {"ragdata": {"ignore": ["SP209"], "plugins": ["acme-checks"]}}})
    with pytest.raises(errors.ValidationError, match="slect"):
        validator({**project, "tool": {"ragdata": {"slect": ["SP"]}}})


def test_editors_get_the_schema() -> None:
    assert run("config", "--schema").json == config_schema()
    (entry,) = (e for e in entry_points(group="validate_pyproject.tool_schema") if e.name == "ragdata")
    assert entry.load()("ragdata") == config_schema()
