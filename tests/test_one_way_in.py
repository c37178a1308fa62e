"""The command line and Python take the same options with the same defaults, and give the same results."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

import ragdatakit
from ragdatakit.cli.commands import group
from ragdatakit.schemas import options as declared
from ragdatakit.schemas.options import Options
from tests.command_line import FIXTURES, run

DEMO, BROKEN = FIXTURES / "demo-search", FIXTURES / "demo-broken"
BEFORE, AFTER = FIXTURES / "beir/valid/folder", FIXTURES / "beir/valid/splits"
KINDS = {
    "validate": declared.ValidateOptions,
    "convert": declared.ConvertOptions,
    "report": declared.ReportOptions,
    "query": declared.QueryOptions,
    "diff": declared.DiffOptions,
    "gate": declared.GateOptions,
    "retrieve": declared.RetrieveOptions,
    "evaluate": declared.EvaluateOptions,
    "explore": declared.ExploreOptions,
    "export": declared.ExportOptions,
    "fetch": declared.FetchOptions,
    "push": declared.PushOptions,
}
DELIBERATE = {("validate", "severity"): declared.SHOWN_SEVERITY, ("report", "findings"): None, ("convert", "to"): None}
"""Where the command has another default, and which."""


def parameters(command: str) -> dict[str, click.Parameter]:
    found = group.get_command(click.Context(group), {"evaluate": "eval"}.get(command, command))
    assert found is not None
    return {param.name: param for param in found.params if param.name and isinstance(param, click.Option)}


@pytest.mark.parametrize("name", KINDS)
def test_a_command_and_its_function_have_the_same_defaults(name: str) -> None:
    params, kind = parameters(name), KINDS[name]
    shared = {f.name: f for f in fields(kind) if f.name in params}

    for field in shared.values():
        param = params[field.name]
        unset = param.default is None or str(param.default) == "Sentinel.UNSET"
        value = None if unset else param.type.convert(param.default, param, None)
        expected = DELIBERATE.get((name, field.name), field.default)
        assert (value or None) == (expected or None), field.name
    assert shared


@pytest.mark.parametrize("name", KINDS)
def test_a_function_shows_and_takes_every_field(name: str) -> None:
    function = getattr(ragdatakit, name)
    shown = inspect.signature(function).parameters

    for field in fields(KINDS[name]):
        assert shown[field.name].kind is inspect.Parameter.KEYWORD_ONLY
        assert f"``{field.name}``" in function.__doc__ or f"``{field.name}" in function.__doc__, field.name


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ragdatakit.validate(BROKEN, max_hops=65), "max_hops is 65, expected 1 to 64"),
        (lambda: ragdatakit.validate(BROKEN, max_per_rule=True), "max_per_rule is True, expected an integer"),
        (lambda: ragdatakit.validate(BROKEN, severity="fatal"), "unknown severity 'fatal'"),
        (lambda: ragdatakit.report(DEMO, memory_limit=3), "memory_limit is 3, expected at least 16,777,216"),
        (lambda: ragdatakit.query(DEMO, "select 1", timeout=0), "timeout is 0, expected a number of seconds above 0"),
        (lambda: ragdatakit.convert(DEMO, to=3), "to is 3, expected a text"),
        (lambda: ragdatakit.push(BROKEN, "owner/name"), "8 errors, so nothing was pushed"),
        (lambda: ragdatakit.fetch("arag/medcal", "x"), "unknown dataset 'arag/medcal', did you mean arag/medical?"),
        (lambda: ragdatakit.fetch("arag/medical", "x", include="*.json"), "arag/medical is whole"),
        (lambda: ragdatakit.explain("dangling-qd"), "unknown rule 'dangling-qd', did you mean dangling-qid"),
        (lambda: ragdatakit.schema("trec", "nope"), "unknown .*'nope'"),
        (lambda: ragdatakit.rules("trec", "SP201"), "trec has no rule SP201"),
    ],
)
def test_what_is_wrong_is_one_error(call: Any, message: str) -> None:
    with pytest.raises(ragdatakit.RagdataError, match=message):
        call()


def test_a_keyword_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match=r"validate\(\) got an unexpected keyword argument 'max_rule'"):
        ragdatakit.validate(BROKEN, max_rule=3)


def test_the_path_may_be_a_keyword() -> None:
    assert ragdatakit.validate(path=BROKEN, max_per_rule=1).counts["error"] == 8


def test_the_reference_is_that_of_the_commands() -> None:
    assert ragdatakit.rules("SP2") == run("rules", "SP2", "--json").json
    assert ragdatakit.rules("beir", "dangling") == run("rules", "beir", "dangling", "--json").json
    assert ragdatakit.formats() == run("formats", "--json").json
    assert [fmt["name"] for fmt in ragdatakit.formats("trec")] == ["trec"]
    assert ragdatakit.explain("SP201") + "\n" == run("explain", "SP201").out
    assert ragdatakit.explain("QU") + "\n" == run("explain", "QU").out
    assert ragdatakit.schema("beir") == json.loads(run("schema", "beir").out)
    assert ragdatakit.schema("beir", "corpus") == json.loads(run("schema", "beir", "corpus").out)


def test_init_writes_a_valid_dataset_into_an_empty_folder(tmp_path: Path) -> None:
    written = ragdatakit.init("beir", tmp_path / "new")

    assert sorted(written) == sorted(p for p in (tmp_path / "new").rglob("*") if p.is_file())
    assert ragdatakit.validate(tmp_path / "new").ok
    with pytest.raises(ragdatakit.RagdataError, match="is not empty; give a new folder"):
        ragdatakit.init("beir", tmp_path / "new")


def test_fetch_loads_what_the_command_loads(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    from tests.hub_server import ROOT, environment, running_hub

    code = "import ragdatakit, sys; print(ragdatakit.fetch('hf:keeper/harbour', 'data', include='*.txt').files)"
    with running_hub() as hub:
        hub.add("keeper/harbour", {"a.txt": b"a", "b.json": b"{}"})
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={**environment(hub, tmp_path), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert "'path': 'a.txt'" in done.stdout, done.stderr
    assert sorted(p.name for p in (tmp_path / "data").iterdir()) == ["a.txt", "ragdata.json"]


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: timeless(member) for name, member in value.items() if name != "seconds"}
    return [timeless(member) for member in value] if isinstance(value, list) else value


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))


def test_results_are_one_line_and_the_json_of_the_command(cache: None, tmp_path: Path) -> None:
    found = {
        ("validate", BROKEN, "--severity", "info"): ragdatakit.validate(BROKEN),
        ("report", DEMO): ragdatakit.report(DEMO),
        ("diff", BEFORE, AFTER): ragdatakit.diff(BEFORE, AFTER),
        ("eval", DEMO, "--mode", "bm25"): ragdatakit.evaluate(DEMO, modes="bm25"),
        ("convert", BEFORE, tmp_path / "out", "--to", "trec", "--dry-run"): ragdatakit.convert(
            BEFORE, tmp_path / "out", to="trec", dry_run=True
        ),
    }

    for words, result in found.items():
        assert timeless(result.as_dict()) == timeless(run(*words, "--json").json), words[0]
        assert repr(result).startswith("<") and "\n" not in repr(result) and len(repr(result)) < 300
    searched = ragdatakit.retrieve(DEMO, "what do gulls eat", k=2)
    (shown,) = run("retrieve", DEMO, "what do gulls eat", "-k", "2", "--json").json["queries"]
    assert timeless(searched.as_dict()) == timeless(shown)
    assert repr(searched).startswith("<Retrieval by bm25 of 'what do gulls eat': d11 ")


def test_pages_are_those_of_the_commands(tmp_path: Path) -> None:
    out = tmp_path / "page.html"

    ragdatakit.report(DEMO, findings=None, neighbourhoods=True).to_html(out)
    run("report", DEMO, "--output-file", tmp_path / "command.html")
    assert out.read_bytes() == (tmp_path / "command.html").read_bytes()
    ragdatakit.diff(BEFORE, AFTER).to_html(out)
    assert out.read_bytes().startswith(b"<!doctype html>") and b"splits" in out.read_bytes()


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "page.html"
    out.write_bytes(b"old")
    monkeypatch.setattr(
        "ragdatakit.files.paths.writing.flush_to_disk", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
    )

    with pytest.raises(OSError, match="full"):
        ragdatakit.report(DEMO).to_html(out)

    assert out.read_bytes() == b"old" and list(tmp_path.iterdir()) == [out]


def test_options_are_values() -> None:
    one = declared.ValidateOptions(max_hops=2)

    assert one == declared.ValidateOptions(max_hops=2) and isinstance(one, Options)
    with pytest.raises(AttributeError):
        one.max_hops = 3  # type: ignore[misc]
