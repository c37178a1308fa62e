"""A SKILL.md's front matter as DataMind's line parser reads it. A pure function and one record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.excerpts import show

_BLOCK = re.compile(r"\A---\s*\n(.*?)\n---\s*\n?", re.DOTALL)
_BLOCK_SIGNS = re.compile(r"[>|][+-]?[1-9]?[+-]?")
_QUOTED_COMMA = re.compile(r"\"[^\",]*,[^\"]*\"|'[^',]*,[^']*'")


@dataclass(slots=True)
class Skill:
    """What the loader reads from one file: its name (with the 1-based line that gives it) and the faults met."""

    name: str
    name_line: int | None = None
    problems: list[Problem] = field(default_factory=list)


def read_skill(data: bytes, folder: str) -> Skill:
    """Read one SKILL.md; ``folder`` is the name of its folder, which replaces a missing name."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    # Without a line that could end it, the pattern would try all ways to begin.
    block = _BLOCK.match(text) if "\n---" in text else None
    if block is None:
        reason = _unread(text)
        skill = Skill(folder)
        if reason:
            skill.problems.append(Problem("unread-front-matter", facts={"reason": reason}, line=1))
        else:
            skill.problems += _unnamed({})
        return skill
    header = block.group(1)
    keys = _keys(header)
    name, line = keys.get("name", ("", None))
    skill = Skill(_unquoted(name).strip() or folder, line if name else None)
    skill.problems += _multi_line(header, keys)
    skill.problems += _unnamed(keys)
    skill.problems += _commas(keys)
    return skill


def _unread(text: str) -> str:
    """Why a block that was meant is not seen; empty where none was meant."""
    if text.startswith("\ufeff---"):
        return "a byte-order mark comes before it"
    stripped = text.lstrip("\ufeff \t\n")
    if not re.match(r"---[ \t]*(\n|\Z)", stripped):
        return ""
    if not text.startswith("---"):
        return "something blank comes before it"
    if re.match(r"---[ \t]*\n---[ \t]*(\n|\Z)", text):
        return "it is empty"
    return "it is not closed by a line with ---"


def _keys(header: str) -> dict[str, tuple[str, int]]:
    """Key to (raw value, line in the file); the last of a repeated key counts."""
    found: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(header.split("\n"), 2):
        line = line.rstrip()
        if line and not line.startswith("#") and ":" in line:
            key, _, value = line.partition(":")
            found[key.strip()] = (value.strip(), number)
    return found


def _multi_line(header: str, keys: dict[str, tuple[str, int]]) -> Iterator[Problem]:
    following = header.split("\n")
    for key, (value, line) in keys.items():
        if key not in ("name", "description", "keywords"):
            continue
        if _BLOCK_SIGNS.fullmatch(value):
            reason = f"is a block over several lines and is read as {show(value)}"
            yield Problem("multi-line-front-matter", facts={"key": key, "reason": reason}, line=line)
        elif not value and line - 1 < len(following) and following[line - 1].lstrip().startswith("- "):
            reason = "is a list over several lines and is read as nothing"
            yield Problem("multi-line-front-matter", facts={"key": key, "reason": reason}, line=line)
        elif value.startswith("[") and not value.endswith("]"):
            reason = "is a list over several lines and is read as text"
            yield Problem("multi-line-front-matter", facts={"key": key, "reason": reason}, line=line)


def _unnamed(keys: dict[str, tuple[str, int]]) -> Iterator[Problem]:
    for key in ("name", "description"):
        if not keys.get(key, ("", 0))[0]:
            yield Problem("unnamed-skill", facts={"key": key}, line=1)


def _commas(keys: dict[str, tuple[str, int]]) -> Iterator[Problem]:
    value, line = keys.get("keywords", ("", 0))
    if value.startswith("[") and value.endswith("]"):
        for item in _QUOTED_COMMA.finditer(value):
            yield Problem("comma-in-list-item", value=item.group(), facts={"key": "keywords"}, line=line)


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
