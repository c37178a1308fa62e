"""Options of the command line whose types, defaults and limits are those of the fields of an options value."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from ragdatakit.schemas.errors import UnknownNameError
from ragdatakit.schemas.options import Limits

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

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
            self.fail(f"{value!r} is too little to work with; give at least {_size(int(self._least))}", param, ctx)
        return number


class DataPath(click.Path):
    """A path that is not empty (as one from an unset variable is), or a URL, which stays a text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("an empty path was given (an unset variable?)", param, ctx)
        if (
            os.fspath(value) == "-"
            and param is not None
            and param.param_type_name == "argument"
            and not self.allow_dash
        ):
            self.fail("standard input is not read, as data is read more than once: write it to a file", param, ctx)
        if is_url(value):
            return os.fspath(value)  # as a path it would lose one of its slashes
        return super().convert(value, param, ctx)


def is_url(value: Any) -> bool:
    """Whether a path is a URL."""
    path = os.fspath(value)
    return "://" in path and re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


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


class Names(click.Choice[str]):
    """One of some names, each of which is a ``what``; of others the nearest is suggested, or ``hint`` knows better."""

    def __init__(self, choices: Iterable[str], what: str, hint: Callable[[str], str] | None = None) -> None:
        super().__init__(tuple(choices))
        self._what, self._hint = what, hint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if self._hint is not None and (hint := self._hint(str(value))):
            self.fail(f"{value!r}: {hint}.", param, ctx)
        if value not in self.choices:
            self.fail(str(UnknownNameError(self._what, str(value), self.choices)), param, ctx)
        return super().convert(value, param, ctx)


class Known(click.types.StringParamType):
    """A text that completion knows values of: names of formats, of their profiles, of kinds of files of the format that
    is named before, of public datasets; codes and names of rules and search modes, of which there may be several with
    commas between them."""

    def __init__(self, *kinds: Literal["format", "profile", "kind", "rule", "mode", "dataset"]) -> None:
        self._kinds = kinds

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        from ragdatakit.schemas import FORMATS, all_formats, all_rules
        from ragdatakit.schemas.public_datasets import PUBLIC_DATASETS
        from ragdatakit.schemas.search.modes import ALL_MODES

        named = [(name, "") for name in FORMATS if "format" in self._kinds]
        if "rule" in self._kinds:
            named += [(name, rule.summary) for rule, _ in all_rules() for name in (rule.code, rule.name)]
        if "dataset" in self._kinds:
            named += [(dataset.name, dataset.title) for dataset in PUBLIC_DATASETS]
        if "profile" in self._kinds:
            named += [
                (name, f"{fmt.name}: {fmt.profile_words.get(name, '')}")
                for fmt in all_formats()
                for name in fmt.profiles
            ]
        if "kind" in self._kinds:
            chosen = [fmt for fmt in all_formats() if fmt.name == ctx.params.get("format_name")]
            named += [(file.kind, file.title) for fmt in chosen for file in fmt.files]
        if "mode" in self._kinds:
            named += [(name, "") for name in ALL_MODES]
        several = {"rule", "mode"} & {*self._kinds}
        given, comma, begun = incomplete.rpartition(",") if several else ("", "", incomplete)
        return [
            CompletionItem(f"{given}{comma}{name}", help=words)
            for name, words in named
            if name.lower().startswith(begun.lower()) and name not in given.split(",")
        ]


class Whole(click.IntRange):
    """A whole number within limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a whole number{_between(self.min, self.max)}", param, ctx)


class Number(click.FloatRange):
    """A number within limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            excepted = [f"{end:g}" for end, open_ in ((self.min, self.min_open), (self.max, self.max_open)) if open_]
            more = f", {' and '.join(excepted)} excepted" if excepted else ""
            self.fail(f"{value!r} is not a number{_between(self.min, self.max)}{more}", param, ctx)


def _between(least: float | None, most: float | None) -> str:
    """The limits in words."""
    if least is None:
        return "" if most is None else f" up to {most:g}"
    return f" from {least:g} on" if most is None else f" from {least:g} to {most:g}"


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
        found["type"] = Names(choices, field.metadata["what"], field.metadata["hint"])
    if field.default not in (MISSING, None, ()) and not (choices and not field.default):
        found["default"] = _size(field.default) if isinstance(found.get("type"), Size) else field.default
    return found


def _type(limits: Limits) -> click.ParamType[Any]:
    if limits.unit.startswith("a number of bytes"):
        return Size(limits.least or 0)
    if limits.whole:
        return Whole(limits.least, limits.most)
    return Number(limits.least, limits.most, min_open="least" in limits.open, max_open="most" in limits.open)


def _size(number: int) -> str:
    """``1GiB``, ``768MiB``, ``1KiB``."""
    unit, bits = next(
        (unit, bits) for unit, bits in (("G", 30), ("M", 20), ("K", 10)) if number >> bits << bits == number
    )
    return f"{number >> bits}{unit}iB"


def old_spelling(old: str, new: str, name: str, **attributes: Any) -> Callable[[_Function], _Function]:
    """The option ``old``, in no help: sets the parameter ``name`` of the option ``new``, and says to use that one."""

    def note(context: click.Context, option: click.Parameter, value: Any) -> Any:
        if value is not None and not context.resilient_parsing:
            context.params[name] = value
            click.echo(f"ragdata: {old} is deprecated: use {new}", err=True)

    return click.option(old, f"old_{name}", hidden=True, expose_value=False, callback=note, default=None, **attributes)


def is_given(name: str) -> bool:
    """Whether the command line or the environment has a value of the option whose word is called ``name``."""
    return click.get_current_context().get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def given(kind: type, words: dict[str, Any], **others: Any) -> dict[str, Any]:
    """The fields of ``kind`` that the words of the command line give a value, and ``others``."""
    names = (field.name for field in fields(kind))
    return {**{name: words[name] for name in names if words.get(name) is not None}, **others}
