"""What users read is plain English: rules, help and docs have none of the phrases that a tired reader has to decode."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ragdatakit.cli.commands import COMMANDS, group
from ragdatakit.schemas import all_rules
from ragdatakit.schemas.declarations import Rule
from tests.command_line import ROOT

BANNED = {
    r"without a word": "silently",
    r"\bstands? (twice|already|there already)\b": "appears twice, already exists",
    r"\bstands? in\b": "is in",
    r"\b(is|are) no (string|text|object|array|list|integer|number|JSON)\b": "is not a …",
    r"all the same\b": "anyway",
    r"\bfound out\b": "auto-detected",
    r"\bwas there before\b": "duplicate",
    r"\bnobody may\b": "permission denied",
    r"\bcould not be done\b": "failed",
    r"\btold apart\b": "distinguished",
    r"\b(is|are) told\b": "is reported",
    r"\bstands? (beside|behind|before|among|between)\b": "is next to, follows, comes before, is among",
    r"\btells? of\b": "mentions, reports",
    r"\btold by (its|their)\b": "recognised by",
    r"\bbut for\b(?! that)": "except for",
    r"\bgo(es)? on (finding|reading|where)\b": "keeps finding, resumes",
    r"\bthe same command again\b": "run the command again",
    r"\blies? apart\b": "in a separate file",
    r"\bat most so many\b": "at most this many",
    r"\bnothing notices\b": "is not noticed",
    r"\btoo good\b": "inflated",
    r"\bmeets no\b": "never matches",
    r"\bmended\b": "fixed, repaired",
}
PACKAGE = ROOT / "ragdatakit"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
OF_DATA = "orchard"
"""A word of lines that show data of ours, whose texts are prose."""


def banned(text: str) -> list[str]:
    """The phrases in a text, each with what to write instead."""
    return [f"{found[0]!r}: write {better!r}" for bad, better in BANNED.items() for found in re.finditer(bad, text)]


def words_of(rule: Rule) -> str:
    upstream = [rule.upstream] if isinstance(rule.upstream, str) else list(rule.upstream.values())
    return "\n".join([rule.summary, rule.message, rule.hint, *upstream])


def test_rules() -> None:
    assert [f"{rule.code}: {words}" for rule, _ in all_rules() for words in banned(words_of(rule))] == []


def helps() -> Iterator[tuple[str, str]]:
    context = click.Context(group)
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        yield (
            name,
            re.sub(
                r"\s+",
                " ",
                command.get_help(click.Context(command, info_name=name, help_option_names=["-h", "--help"])),
            ),
        )


@pytest.mark.parametrize(("name", "text"), list(helps()), ids=COMMANDS)
def test_help(name: str, text: str) -> None:
    assert banned(text) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page: object) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()  # type: ignore[attr-defined]
    ours = [(number, line) for number, line in enumerate(lines, 1) if OF_DATA not in line]

    if banned("\n".join(line for _, line in ours)):
        assert [f"{number}: {words}" for number, line in ours for words in banned(line)] == []


def docstrings(module: Path) -> Iterator[ast.Constant]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        for statement in body if isinstance(body := getattr(node, "body", None), list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value


@pytest.mark.parametrize("room", sorted(p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()))
def test_docstrings(room: str) -> None:
    """All that is between three quote marks is looked through; only where something is found, the module is parsed."""
    modules = {
        path: re.findall(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL) for path in modules_of(room)
    }
    suspects = [path for path, texts in modules.items() if banned("\n".join(texts))]
    texts = [(path, text) for path in suspects for text in docstrings(path)]
    assert [f"{path}:{text.lineno}: {words}" for path, text in texts for words in banned(str(text.value))] == []


def modules_of(room: str) -> list[Path]:
    return sorted((PACKAGE / room).rglob("*.py"))
