"""Finds the modules of this package where they lie, and takes their code from where Python keeps it.

The import system searches for each and asks the system ten times about two files: half of what it takes to import a
module as small as ours are. Whatever is not as it usually is, it does itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib._bootstrap import ModuleSpec
from importlib._bootstrap_external import MAGIC_NUMBER, SourceFileLoader, cache_from_source
from marshal import loads
from types import CodeType, ModuleType

_MANY_BYTES = 1 << 15  # more takes longer to be allotted than most modules to be read
_HEADER = 16
_NAME = "\0"


class _Loader(SourceFileLoader):
    """Of a module whose source is as ``state`` says, and whose code is kept in ``kept``."""

    __slots__ = ("_kept", "_state")

    def __init__(self, name: str, path: str, state: os.stat_result, kept: str) -> None:
        super().__init__(name, path)
        self._state, self._kept = state, kept

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module. Raises as the import system does."""
        numbers = (int(self._state.st_mtime), self._state.st_size)
        wanted = MAGIC_NUMBER + bytes(4) + b"".join((n & 0xFFFFFFFF).to_bytes(4, "little") for n in numbers)
        try:
            data = _read(self._kept)
        except OSError:
            data = b""
        if data.startswith(wanted):
            code: CodeType = loads(memoryview(data)[_HEADER:])
            if code.co_filename == self.path:
                return code
        return super().get_code(fullname)


def _read(path: str) -> bytes:
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.read(number, _MANY_BYTES)
        while len(data) % _MANY_BYTES == 0 and (more := os.read(number, _MANY_BYTES)):
            data += more
        return data
    finally:
        os.close(number)


_KEPT: dict[str, str] = {}
"""Where Python keeps the code of the modules of a folder, by the folder, with `_NAME` for the name of the module."""


class _OwnModules:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """As the import system asks; None where it has to search."""
        if path is None or not name.startswith("ragdatakit."):
            return None
        folder, last = path[0], name[name.rindex(".") + 1 :]
        place = f"{folder}{os.sep}{last}"
        for file, inside in ((f"{place}.py", None), (f"{place}{os.sep}__init__.py", [place])):
            try:
                state = os.stat(file)  # noqa: PTH116 - imports little
            except OSError:
                continue
            if inside:
                folder, last = place, "__init__"
            if folder not in _KEPT:
                _KEPT[folder] = cache_from_source(f"{folder}{os.sep}{_NAME}.py")
            kept = _KEPT[folder].replace(_NAME, last)
            spec = ModuleSpec(name, _Loader(name, file, state, kept), origin=file)
            spec.submodule_search_locations = inside
            spec.has_location, spec.cached = True, kept
            return spec
        return None


def find_at_once() -> None:
    """From now on modules of this package are found without a search."""
    if _OwnModules not in sys.meta_path:
        sys.meta_path.insert(0, _OwnModules)
