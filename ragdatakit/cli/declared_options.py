"""Options of the command line whose types, defaults and limits are those of the fields of an options value."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, TypeVar

import click

from ragdatakit.schemas.options import LEAST_MEMORY, Limits

_Function = TypeVar("_Function", bound=Callable[..., Any])
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12} | {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class Size(click.ParamType[int]):
    """A number of bytes such as ``512MB`` or ``1GiB``."""

    name = "size"

    def __init__(self, least: float = 0) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", str(value).lower())
        if match is None or match.group(2) not in _UNITS:
            self.fail(f"{value!r} is not a size such as 512MB or 1GiB", param, ctx)
        number = int(float(match.group(1)) * _UNITS[match.group(2)])
        if number < self._least:
            self.fail(f"{value!r} is too little to work with; give at least {LEAST_MEMORY >> 20}MiB", param, ctx)
        return number


class DataPath(click.Path):
    """A path that is not empty (as one from an unset variable is), or a URL, which stays a text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("an empty path was given (an unset variable?)", param, ctx)
        if is_url(value):
            return os.fspath(value)  # as a path it would lose one of its slashes
        return super().convert(value, param, ctx)


def is_url(value: Any) -> bool:
    """Whether a path is a URL."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", os.fspath(value)) is not None


def words_after_path(words: dict[str, Any], name: str) -> None:
    """PATH is the current folder where it is left out. Take the one word that is given for what follows PATH, such as
    SQL, where it is a text and no path.

    ``words`` have ``path`` and ``name``. Raises `click.UsageError` where the word may be either.
    """
    path = words["path"]
    if path is None:
        words["path"] = Path()
    elif words[name] is None and not is_url(path) and not path.exists():
        text = str(path)
        if text == "-" or any(c.isspace() for c in text):
            words["path"], words[name] = Path(), text
        elif "/" not in text and "." not in text:
            raise click.UsageError(
                f"no such file or folder: {text} (is it {name.upper()}? Give PATH before it: . {text})"
            )


class _Choice(click.Choice[str]):
    """One of some names; of others, ``hint`` may know what to say."""

    def __init__(self, choices: tuple[str, ...], hint: Callable[[str], str] | None) -> None:
        super().__init__(choices)
        self._hint = hint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if self._hint is not None and (hint := self._hint(str(value))):
            self.fail(f"{value!r}: {hint}.", param, ctx)
        return super().convert(value, param, ctx)


def options_of(kind: type) -> Callable[..., Callable[[_Function], _Function]]:
    """`click.option` for the fields of the dataclass ``kind``: what an attribute of the option does not say is taken
    from the field that is called like its parameter. `given` takes the values."""
    declared = {field.name: field for field in fields(kind)}

    def option(*names: str, **attributes: Any) -> Callable[[_Function], _Function]:
        called = [name for name in names if not name.startswith("-")] or [max(names, key=len).strip("-")]
        return click.option(*names, **{**_attributes(declared[called[0].replace("-", "_")]), **attributes})

    return option


def _attributes(field: Field[Any]) -> dict[str, Any]:
    if field.type == "bool" and field.default is False:
        return {"is_flag": True}
    limits, choices = field.metadata.get("limits"), field.metadata.get("choices")
    found: dict[str, Any] = {}
    if limits is not None:
        found["type"] = _type(limits)
    elif choices is not None:
        found["type"] = _Choice(choices, field.metadata["hint"])
    if field.default not in (MISSING, None, ()) and not (choices and not field.default):
        found["default"] = _size(field.default) if isinstance(found.get("type"), Size) else field.default
    return found


def _type(limits: Limits) -> click.ParamType[Any]:
    if limits.unit.startswith("a number of bytes"):
        return Size(limits.least or 0)
    if limits.whole:
        return click.IntRange(limits.least, limits.most)
    return click.FloatRange(limits.least, limits.most, min_open="least" in limits.open, max_open="most" in limits.open)


def _size(number: int) -> str:
    """``1GiB``, ``768MiB``."""
    return f"{number >> 30}GiB" if number % (1 << 30) == 0 else f"{number >> 20}MiB"


def given(kind: type, words: dict[str, Any], **others: Any) -> dict[str, Any]:
    """The fields of ``kind`` that the words of the command line give a value, and ``others``."""
    names = (field.name for field in fields(kind))
    return {**{name: words[name] for name in names if words.get(name) is not None}, **others}
