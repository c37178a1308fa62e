"""Modules of Python that other modules import, and of which a run of the command uses hardly anything.

They took longer than starting Python does. While click, `dataclasses` and `pathlib` are imported, and while a command
runs, something else stands for each: it has the names that these use at once, and looks all others up in the module
itself, which is imported then.
"""

from __future__ import annotations

import importlib
import sys
from _thread import _local
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FunctionType, ModuleType
from typing import Any


class _StandIn(ModuleType):
    """Stands for a module where it was imported meanwhile."""

    def __init__(self, name: str, **names: Any) -> None:
        super().__init__(name)
        vars(self).update(names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # as the import system asks whether it is a package
            raise AttributeError(name)
        self.leave()
        found = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, found)  # to ask again costs no more than with the module
        return found

    def leave(self) -> None:
        """Let whoever imports the module from now on have it itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


@contextmanager
def put_off(*names: str) -> Iterator[None]:
    """Put these modules off that are imported in here and were not before."""
    found = [_StandIn(name, **_USED[name]) for name in names if name not in sys.modules]
    sys.modules.update({each.__name__: each for each in found})
    try:
        yield
    finally:
        for each in found:
            each.leave()
            vars(each).pop("UUID", None)


def import_usual() -> None:
    """Import what all commands that read data need, without what it hardly uses."""
    with put_off("copy", "inspect", "ntpath", "urllib.parse"):
        import dataclasses  # noqa: F401
        import pathlib  # noqa: F401


@contextmanager
def without(name: str) -> Iterator[None]:
    """Have what is imported in here do without a module that it can do without, unless that is imported already."""
    is_there = name in sys.modules
    if not is_there:
        sys.modules[name] = None  # type: ignore[assignment] # as the import system has it
    try:
        yield
    finally:
        if not is_there:
            del sys.modules[name]


def import_decoder() -> None:
    """Import what the readers of tables decode JSON with, without what takes as long, for types and other formats."""
    with (
        without("typing_extensions"),
        put_off("msgspec.inspect", "msgspec._json_schema", "msgspec.toml", "msgspec.yaml"),
    ):
        import msgspec  # noqa: F401


def leave_out(name: str) -> None:
    """Have nothing imported for this module: it is one that only changes others, and of which nobody asks anything."""
    sys.modules.setdefault(name, ModuleType(name))


def late_module(name: str) -> Any:
    """Stands for a module that is imported when something of it is first asked."""
    return _StandIn(name)


def cleandoc(text: str) -> str:
    """A docstring without its indentation, and without blank lines around it."""
    first, *others = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[margin:] for line in others)]).strip("\n")


def _later(module: str, *names: str) -> dict[str, Callable[..., Any]]:
    """Functions of a module that is imported when one is called."""

    def call(name: str, *given: Any, **named: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*given, **named)

    return {name: partial(call, name) for name in names}


def _close_matches(word: str, *given: Any, **named: Any) -> list[str]:
    """click asks of each option of one letter what long option may be meant, and then takes it as what it is."""
    if word[:1] == "-" and len(word) == len("-x"):
        return []
    if isinstance(stand_in := sys.modules.get("difflib"), _StandIn):
        stand_in.leave()
    found: list[str] = importlib.import_module("difflib").get_close_matches(word, *given, **named)
    return found


class _OfDatetime(type):
    """What click asks of `datetime.datetime` for options of a kind that the command does not have."""

    def __getattr__(cls, name: str) -> Any:
        return getattr(importlib.import_module("datetime").datetime, name)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, importlib.import_module("datetime").datetime)


_USED: dict[str, dict[str, Any]] = {
    "copy": {},
    "datetime": {"datetime": _OfDatetime("datetime", (), {})},
    "difflib": {"get_close_matches": _close_matches},
    "ntpath": {},  # for paths of Windows
    "msgspec.inspect": {},
    "msgspec.toml": {},
    "msgspec.yaml": {},
    "msgspec._json_schema": _later("msgspec._json_schema", "schema", "schema_components"),
    # click's messages are in English, as ours are: a look-up would search the disk for each of them
    "gettext": {"gettext": lambda text: text, "ngettext": lambda one, several, number: one if number == 1 else several},
    "inspect": {"cleandoc": cleandoc, "isfunction": lambda value: isinstance(value, FunctionType)},
    "threading": {"local": _local},
    "urllib.parse": _later("urllib.parse", "quote_from_bytes"),  # for the URL of a path
    "uuid": {"UUID": object},  # click names it in the bases of a class; whoever asks later gets that of the module
}
"""What is used of each at once."""
