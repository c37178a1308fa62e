"""Markdown: text that means what it says, tables, fences, links to rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ragdatakit.schemas.declarations import Format, Rule
from ragdatakit.schemas.rules.evaluation import LETTERS as EVALUATION
from ragdatakit.schemas.rules.quality import LETTERS as QUALITY
from ragdatakit.schemas.rules.tables import LETTERS as TABLES

_SPECIAL = re.compile(r"[*<\[\]|]|(?<!\w)_|_(?!\w)")
_FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<language>[\w-]*)(?P<rest>.*)$")


def plain(text: str) -> str:
    """A text of a declaration, in which only code spans are markup."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _SPECIAL.sub(r"\\\g<0>", text.replace("`", "\\`"))
    return "`".join(p if i % 2 else _SPECIAL.sub(r"\\\g<0>", p) for i, p in enumerate(parts))


def code(text: str) -> str:
    """A code span, fit for a table."""
    ticks = "``" if "`" in text else "`"
    return f"{ticks}{text}{ticks}".replace("|", "\\|")


def fence(text: str, language: str = "text") -> str:
    """A block of code."""
    ticks = "````" if "```" in text else "```"
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are Markdown already."""
    names = list(head)
    lines = [names, ["---"] * len(names), *(list(r) for r in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def rule_title(rule: Rule) -> str:
    """How a rule's section is headed."""
    return f"{rule.code} {rule.name}"


def rule_page(rule: Rule, fmt: Format | None) -> str:
    """The name of the page that has a rule's section."""
    if fmt is not None:
        return fmt.name
    return {EVALUATION: "evaluation", QUALITY: "quality", TABLES: "tables"}.get(rule.code[:2], "shared")


def slug(heading: str) -> str:
    """What a heading is called in links, as GitHub does it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def rule_link(rule: Rule, fmt: Format | None, folder: str, text: str = "") -> str:
    """A link to a rule's section from a page whose way to the rules is ``folder``."""
    return f"[{text or rule.code}]({folder}{rule_page(rule, fmt)}.md#{slug(rule_title(rule))})"


@dataclass(slots=True)
class Fence:
    """A block of code in a page: the lines of its body are ``first`` (0-based) up to before ``last``."""

    language: str
    title: str
    first: int
    last: int


def fences(lines: list[str]) -> Iterator[Fence]:
    """The blocks of code of a page."""
    opened: tuple[str, Fence] | None = None
    for number, line in enumerate(lines):
        if opened is not None:
            if line == opened[0]:
                opened[1].last = number
                yield opened[1]
                opened = None
        elif match := _FENCE.match(line):
            title = re.search(r'title="([^"]*)"', match["rest"])
            opened = match["ticks"], Fence(match["language"], title[1] if title else "", number + 1, 0)
