"""Messages about a light-splade data config never print what a variable of the environment holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragdatakit.files.light_splade.config import interpolate
from tests.command_line import FIXTURES, run

SECRET = "hunter2-that-nobody-may-see"


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", SECRET)
    monkeypatch.delenv("NOT_SET", raising=False)


PATHS = {
    "${oc.env:A_SECRET}": 'names "${oc.env:A_SECRET}", which does not exist',
    "${oc.env:A_SECRET}/train/q.ndjson": 'names "${oc.env:A_SECRET}/train/q.ndjson", which does not exist',
    "${oc.env:A_SECRET,data}/q.ndjson": 'names "${oc.env:A_SECRET,data}/q.ndjson", which does not exist',
    "${.BASE}/q.ndjson": 'names "${oc.env:A_SECRET}/q.ndjson", which does not exist',
    "${data.BASE}-${oc.env:A_SECRET}": 'names "${oc.env:A_SECRET}-${oc.env:A_SECRET}", which does not exist',
    "${oc.env:NOT_SET,${oc.env:A_SECRET}}": 'names "${oc.env:A_SECRET}", which does not exist',
    "${${oc.env:A_SECRET}}": "${${oc.env:A_SECRET}} names no key of the config",
    "${oc.env:${oc.env:A_SECRET}}": "the environment variable ${oc.env:A_SECRET} is not set",
    "${oc.env:NOT_SET,here}/q.ndjson": 'names "here/q.ndjson", which does not exist',
}
"""What a config may name, and what is reported of it."""


@pytest.mark.parametrize("output_format", ["text", "json"])
@pytest.mark.parametrize("named", PATHS)
def test_a_message_shows_the_interpolation(named: str, output_format: str, tmp_path: Path) -> None:
    config = tmp_path / "data.yaml"
    config.write_text(f"BASE: ${{oc.env:A_SECRET}}\ntrain_query_master: {named}\n")

    ran = run("validate", str(config), "--output-format", output_format)

    assert ran.code == 1
    assert SECRET not in ran.out + ran.err
    messages = [f["message"] for f in ran.json["findings"]] if output_format == "json" else [ran.out]
    assert any(PATHS[named] in message for message in messages)


def test_the_value_is_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_FOLDER", str(FIXTURES))
    mapping = {"BASE": "${oc.env:A_FOLDER}"}

    found = interpolate("${.BASE}/light-splade", mapping)

    assert found.value == f"{FIXTURES}/light-splade"
    assert found.shown == "${oc.env:A_FOLDER}/light-splade"


def test_marks_in_a_config_stand_for_nothing() -> None:
    named = "\0000\0/${oc.env:A_SECRET}"

    assert interpolate("\0" + "5\0", {}).shown == "\0" + "5\0"
    assert SECRET not in interpolate(named, {}).shown
