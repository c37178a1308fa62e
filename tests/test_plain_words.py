"""Command lines that are read without click: click reads them alike, and the others are left to it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import click
import pytest

from ragdatakit.cli import report, validate
from ragdatakit.cli.commands import group
from ragdatakit.cli.without_click.plain_words import FORMAT, SWITCHES, VARIABLES, plain_words
from ragdatakit.schemas.options import ReportOptions, ValidateOptions

COMMANDS = {"validate": (validate, ValidateOptions), "report": (report, ReportOptions)}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def by_click(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> Any:
    taken: list[Any] = []
    monkeypatch.setattr(COMMANDS[words[0]][0], "run", lambda asked: taken.append(asked) or 0)
    group.main(words, standalone_mode=False)
    return whole(words[0], taken[0])


def read_plainly(words: list[str]) -> Any:
    work = plain_words(words)
    assert work is not None
    return whole(words[0], work.args[0])


def whole(command: str, asked: Any) -> Any:
    """With all options, of which those that say nothing are alike."""
    usual = {field.name: field.default for field in fields(COMMANDS[command][1])}
    assert asked.options.keys() <= usual.keys()
    given = {name: value or usual[name] or None for name, value in asked.options.items()}
    options: dict[str, Any] = {name: given.get(name, value) or None for name, value in usual.items()}
    return replace(asked, options=options)


@pytest.mark.parametrize(
    "line",
    [
        "validate",
        "validate .",
        "validate data other/data",
        "validate -q data",
        "validate data --quiet --from light-splade",
        "validate --from beir --from light-splade -v data -v",
        "validate --verbose --statistics data --exit-zero more",
        "validate --exit-zero",
        "validate data --quality -q",
        "report",
        "report data other/data",
        "report -q data --from sage --quiet",
        "report --from beir --from light-splade -v data --verbose",
    ],
)
def test_plain_words_are_read_as_by_click(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = line.split()

    assert read_plainly(words) == by_click(monkeypatch, words)


@pytest.mark.parametrize("line", [f"{command} data {word}" for command in SWITCHES for word in SWITCHES[command]])
def test_each_switch_is_read_as_by_click(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = line.split()

    assert read_plainly(words) == by_click(monkeypatch, words) != read_plainly(words[:2])


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--version",),
        ("convert", "data"),
        ("report", "data", "-q", "-v"),
        ("report", "data", "--statistics"),
        ("report", "s3://bucket/data"),
        ("-v", "validate", "data"),
        ("validate", "--help"),
        ("validate", "-qv", "data"),
        ("validate", "--quie", "data"),
        ("validate", "--from=beir", "data"),
        ("validate", "--from"),
        ("validate", "--from", ""),
        ("validate", "--from", "-q"),
        ("validate", "data", ""),
        ("validate", "-"),
        ("validate", "--", "data"),
        ("validate", "s3://bucket/data"),
        ("validate", "data", "--json"),
    ],
    ids=" ".join,
)
def test_other_words_are_left_to_click(words: tuple[str, ...]) -> None:
    assert plain_words(list(words)) is None


@pytest.mark.parametrize("command", SWITCHES)
@pytest.mark.parametrize("name", VARIABLES)
def test_variables_that_stand_for_options_are_left_to_click(
    name: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")

    assert plain_words([command, "data"]) is None


@pytest.mark.parametrize("name", SWITCHES)
def test_all_variables_of_options_are_known(name: str) -> None:
    command = COMMANDS[name][0].command
    options = [param for each in (group, command) for param in each.params]
    named = {param.envvar for param in options if param.envvar is not None}

    assert named < set(VARIABLES)
    assert not {FORMAT, *SWITCHES[name]} - {opt for param in command.params for opt in param.opts}
    assert all(isinstance(param, click.Option) for param in options if param.name != "paths")
