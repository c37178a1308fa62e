"""Command lines that are read without click: click reads them alike, and the others are left to it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import click
import pytest

from ragdatakit.cli.commands import group
from ragdatakit.cli.validate import command
from ragdatakit.cli.validating.plain_words import FORMAT, SWITCHES, VARIABLES, plain_words
from ragdatakit.cli.validating.run import Asked
from ragdatakit.schemas.options import ValidateOptions


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def by_click(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> Asked:
    taken: list[Asked] = []
    monkeypatch.setattr("ragdatakit.cli.validate.run", lambda asked: taken.append(asked) or 0)
    group.main(words, standalone_mode=False)
    return taken[0]


def whole(asked: Asked) -> Asked:
    """With all options, of which those that say nothing are alike."""
    usual = {field.name: field.default for field in fields(ValidateOptions)}
    given = {name: value or usual[name] or None for name, value in asked.options.items()}
    options: dict[str, Any] = {name: given.get(name, value) or None for name, value in usual.items()}
    return replace(asked, options=options)


@pytest.mark.parametrize(
    "line",
    [
        "",
        ".",
        "data other/data",
        "-q data",
        "data --quiet --from light-splade",
        "--from beir --from light-splade -v data -v",
        "--verbose --statistics data --exit-zero more",
        "--exit-zero",
        "data --quality -q",
    ],
)
def test_plain_words_are_read_as_by_click(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["validate", *line.split()]

    asked = plain_words(words)

    assert asked is not None
    assert whole(asked) == whole(by_click(monkeypatch, words))


@pytest.mark.parametrize("word", sorted(SWITCHES))
def test_each_switch_is_read_as_by_click(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["validate", "data", word]

    asked, bare = plain_words(words), plain_words(["validate", "data"])

    assert asked is not None and bare is not None
    assert whole(asked) == whole(by_click(monkeypatch, words)) != whole(bare)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--version",),
        ("report", "data"),
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


@pytest.mark.parametrize("name", VARIABLES)
def test_variables_that_stand_for_options_are_left_to_click(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")

    assert plain_words(["validate", "data"]) is None


def test_all_variables_of_options_are_known() -> None:
    options = [param for each in (group, command) for param in each.params]
    named = {param.envvar for param in options if param.envvar is not None}

    assert named < set(VARIABLES)
    assert not {FORMAT, *SWITCHES} - {name for param in command.params for name in param.opts}
    assert all(isinstance(param, click.Option) for param in options if param.name != "paths")
