"""Modules of Python that click and `dataclasses` import, and of which a run of the command uses hardly anything.

They took longer than starting Python does. While those two are imported, something else stands for each: it has the
names that they use at once, and looks all others up in the module itself, which is imported then.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
        return getattr(importlib.import_module(self.__name__), name)

    def leave(self) -> None:
        """Let whoever imports the module from now on have it itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


@contextmanager
def put_off() -> Iterator[None]:
    """Put the modules off that are imported in here and were not before."""
    found = [each for each in _stand_ins() if each.__name__ not in sys.modules]
    sys.modules.update({each.__name__: each for each in found})
    try:
        yield
    finally:
        for each in found:
            each.leave()
            vars(each).pop("UUID", None)


def _stand_ins() -> list[_StandIn]:
    # click's messages are in English, as ours are: a look-up would search the disk for each of them
    messages = {"gettext": lambda text: text, "ngettext": lambda one, several, number: one if number == 1 else several}
    # a class that click only names in the bases of one of its own; whoever asks for it later gets that of the module
    identifiers = {"UUID": object}
    functions = {"cleandoc": cleandoc, "isfunction": lambda value: isinstance(value, FunctionType)}
    return [_StandIn("gettext", **messages), _StandIn("uuid", **identifiers), _StandIn("inspect", **functions)]


def cleandoc(text: str) -> str:
    """A docstring without its indentation, and without blank lines around it."""
    first, *others = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[margin:] for line in others)]).strip("\n")
