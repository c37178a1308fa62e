"""Reading the settings of a project: where they are, what they say, and what is wrong with them, by file and line."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.api.configuration import configuration_of, configurations
from ragdatakit.files.configuration.patterns import covers
from ragdatakit.files.configuration.toml_lines import lines_of
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples

TOML = '''# settings
select = ["SP", # "ignore = 1"
  'RD',
]
quality.most-tokens = 30
text = """
ignore = 2
"""
[[dataset]]
path = "a"
severity = { SP210 = "info", "light'splade" = "error" }
[dataset.options]
encoding = 'x'
[[dataset]]
path = ["b",
  "c"]
'''


def test_lines_of_keys_and_elements() -> None:
    lines = lines_of(TOML)

    assert lines["select",] == 2
    assert (lines["select", 0], lines["select", 1]) == (2, 3)
    assert lines["quality", "most-tokens"] == 5
    assert lines["dataset", 0, "severity", "light'splade"] == 11
    assert lines["dataset", 0, "options", "encoding"] == 13
    assert (lines["dataset", 1], lines["dataset", 1, "path", 1]) == (14, 16)
    assert ("ignore",) not in lines


_KEYS = st.text("ab-_ .\"'#=[é", min_size=1, max_size=4)
_VALUES = st.recursive(
    st.integers() | st.booleans() | st.text("x\"'#[]{},=\\\né", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


def written(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(key)} = {written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(map(written, value)) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return str(value).lower()


@settings(max_examples=examples(100))
@given(st.dictionaries(_KEYS, _VALUES, max_size=4))
def test_every_key_of_any_document_has_its_line(table: dict[str, Any]) -> None:
    text, expected = "", {}
    for key, value in table.items():
        expected[key] = text.count("\n") + 1
        text += f"{written(key)} = {written(value)}\n"
    assert tomllib.loads(text) == table

    lines = lines_of(text)

    assert {keys[0]: line for keys, line in reversed(lines.items()) if len(keys) == 1} == expected


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("data/splade", "data/splade", True),
        ("data/splade", "data/splade/train/x.json", True),
        ("data/splade", "data/splade2", False),
        ("data/graphs/*", "data/graphs/a/b", True),
        ("data/graphs/*", "data/graphs", False),
        ("data/raw/**", "data/raw/x", True),
        ("data/raw/**", "data/raw", False),
        ("**/*.log", "x.log", True),
        ("**/*.log", "a/b/x.log", True),
        ("*.log", "a/x.log", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/q/r/b/c", True),
        ("../other/[ab]?", "../other/a1", True),
        (".", "anything", True),
    ],
)
def test_patterns(pattern: str, path: str, fits: bool, tmp_path: Path) -> None:
    assert covers(tmp_path / "[odd]", pattern, tmp_path / "[odd]" / path) == fits


def test_the_nearest_file_counts_alone(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.ragdata]\nbaseline = 'known.jsonl'\nmax-hops = 5\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    (inner / "ragdata.toml").write_text("max-hops = 4\n")
    (inner / "data.json").write_text("")

    assert configuration_of(tmp_path / "a").path("baseline") == tmp_path / "known.jsonl"
    assert configuration_of(tmp_path / "not" / "there").value("max-hops") == 5
    found = configuration_of(inner / "data.json")
    assert (found.value("max-hops"), found.value("baseline")) == (4, None)
    (inner / ".ragdata.toml").write_text("max-hops = 3\n")
    assert configuration_of(inner).value("max-hops") == 3
    assert configuration_of(inner, False).file is None
    assert configuration_of(inner, tmp_path / "pyproject.toml").value("max-hops") == 5


def test_extended_files(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "all.toml").write_text(
        "ignore = ['SP209']\nexclude = ['raw/**']\nseverity = {SP210 = 'info', SP201 = 'info'}\n"
        "[[dataset]]\npath = 'x'\nmax-hops = 7\n"
    )
    (tmp_path / "ragdata.toml").write_text(
        "extend = 'base/all.toml'\nignore = ['SP1']\nseverity = {SP210 = 'error'}\n[[dataset]]\npath = 'base/x'\n"
        "format = 'beir'\n"
    )

    found = configuration_of(tmp_path)

    assert found.value("ignore") == ("SP1",)
    assert (found.value("severity", "SP210"), found.value("severity", "SP201")) == ("error", "info")
    assert found.excludes(tmp_path / "base" / "raw" / "x") and not found.excludes(tmp_path / "raw" / "x")
    at = found.at(tmp_path / "base" / "x")
    assert (at["max-hops",].value, at["format",].value) == (7, "beir")
    assert at["max-hops",].place.endswith("all.toml:6")
    assert ("max-hops",) not in found.at(tmp_path / "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slect = ['SP']\n", "ragdata.toml:1: unknown setting 'slect', did you mean select?"),
        ("\n[[dataset]]\npath = 'x'\nformt = 'beir'\n", ":4: unknown setting 'formt' of [[dataset]], did you mean"),
        ("[[dataset]]\npath = 'x'\nformat = 'bier'\n", ":3: unknown format 'bier', did you mean beir?"),
        ("[[dataset]]\nformat = 'beir'\n", ":1: [[dataset]] has no path"),
        ("[dataset]\npath = 'x'\n", ":1: dataset is not a list of tables; write [[dataset]]"),
        ("ignore = [\n'SP2',\n'dangling-qud']\n", ":3: unknown rule 'dangling-qud', did you mean dangling-qid"),
        ("severity = {SP9999 = 'info'}\n", ":1: unknown rule 'SP9999'"),
        ("severity = {SP2 = 'fatal'}\n", ":1: severity.SP2 is 'fatal', expected one of error, warning, info"),
        ("[max]\nSP2 = -1\n", ":2: max.SP2 is -1, expected an integer of at least 0"),
        ("[max]\nSP2 = 1.5\n", ":2: max.SP2 is 1.5, expected an integer of at least 0"),
        ("max-hops = 65\n", ":1: max-hops is 65, expected an integer from 1 to 64"),
        ("max_hops = nan\n", ":1: max_hops is nan, expected an integer from 1 to 64"),
        ("fail-on = 'info'\n", ":1: fail-on is 'info', expected one of error, warning, never"),
        ("exclude = [1]\n", ":1: exclude is 1, expected a path or pattern, or a list of them"),
        ("baseline = ''\n", ":1: baseline is '', expected a path"),
        ("baseline = true\n", ":1: baseline is true, expected a path"),
        ("[per-path-ignores]\n'a/*' = 'SP99'\n", ":2: unknown rule 'SP99'"),
        ("[quality]\nnear-similarity = 2\n", ":2: quality.near-similarity is 2, expected a number from 0 to 1"),
        ("extend = 'gone.toml'\n", ":1: extend: "),
        ("extend = '.'\n", "cannot be read: it is a folder"),
        ("extend = 'ragdata.toml'\n", "files extend each other in a circle"),
        ("x = [[[[", "is not TOML"),
        ("x = " + "[" * 5000, "ragdata.toml is not TOML"),
        ("x = 1" + "0" * 5000, "ragdata.toml is not TOML"),
        ("a = 1\nb = '\x00'\n", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ragdata.toml").write_text(text)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(RagdataError) as raised:
        configuration_of(tmp_path / "data")

    assert message in str(raised.value)
    assert len(str(raised.value)) < 500 + len(str(tmp_path)) * 3


def test_files_that_are_no_settings(tmp_path: Path) -> None:
    place = tmp_path / "ragdata.toml"
    place.write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(RagdataError, match=r"ragdata\.toml:2: this is not UTF-8"):
        configuration_of(tmp_path)
    place.write_bytes(b"# " + b"x" * 10_000_000)
    with pytest.raises(RagdataError, match="is too large to be settings"):
        configuration_of(tmp_path)
    place.unlink()
    os.mkfifo(place)
    (tmp_path / ".git").mkdir()
    assert configuration_of(tmp_path).file is None
    with pytest.raises(RagdataError, match=r"--config: .* cannot be read: no such file"):
        configurations(place)
    place.unlink()
    place.symlink_to(place)
    with pytest.raises(RagdataError, match=r"--config: .* cannot be read: no such file"):
        configurations(place)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    with pytest.raises(RagdataError, match=r"has no table \[tool\.ragdata\]"):
        configurations(tmp_path / "pyproject.toml")


def test_files_in_a_circle_are_named(tmp_path: Path) -> None:
    (tmp_path / "ragdata.toml").write_text("extend = 'b.toml'\n")
    (tmp_path / "b.toml").write_text("extend = 'ragdata.toml'\n")

    with pytest.raises(RagdataError, match=r"in a circle: .*ragdata\.toml -> .*b\.toml -> .*ragdata\.toml"):
        configuration_of(tmp_path)


def test_a_long_chain_ends(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number}.toml").write_text(f"extend = '{number + 1}.toml'\n")

    with pytest.raises(RagdataError, match="more than 32 files"):
        configuration_of(tmp_path, tmp_path / "0.toml")
