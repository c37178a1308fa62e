"""Modules of Python that other modules import, and of which a run of the command uses hardly anything.

They took longer than starting Python does. While click, `dataclasses`, `pathlib` and `uuid` are imported, something
else stands for each: it has the names that these use at once, and looks all others up in the module itself, which is
imported then.
"""

from __future__ import annotations

import importlib
import os
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


def cleandoc(text: str) -> str:
    """A docstring without its indentation, and without blank lines around it."""
    first, *others = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in others if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[margin:] for line in others)]).strip("\n")


def _quote_from_bytes(path: bytes) -> str:
    from urllib.parse import quote_from_bytes

    return quote_from_bytes(path)


_USED: dict[str, dict[str, Any]] = {
    # click's messages are in English, as ours are: a look-up would search the disk for each of them
    "gettext": {"gettext": lambda text: text, "ngettext": lambda one, several, number: one if number == 1 else several},
    "inspect": {"cleandoc": cleandoc, "isfunction": lambda value: isinstance(value, FunctionType)},
    "platform": {"system": lambda: os.uname().sysname},  # uuid asks it where there is such a function only
    "urllib.parse": {"quote_from_bytes": _quote_from_bytes},  # for the URL of a path
    "uuid": {"UUID": object},  # click names it in the bases of a class; whoever asks later gets that of the module
}
"""What is used of each at once."""
