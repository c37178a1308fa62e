"""Files with settings: the nearest one upwards from a path, what is in them, and where it is in them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.paths.own_files import PYPROJECT, SETTINGS_FILES
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.files.configuration.toml_lines import Keys

_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class SettingsFile:
    """One file: ``table`` are its settings, ``text`` is all of it, ``above`` are the keys that lead to the settings.

    Its paths and patterns are relative to ``folder``.
    """

    path: Path
    table: dict[str, Any]
    text: str
    above: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The absolute folder it is in."""
        return self.path.parent

    @property
    def display(self) -> str:
        """What messages call it: from the current folder where it is below that."""
        with suppress(OSError):
            if self.path.is_relative_to(here := Path.cwd()):
                return str(self.path.relative_to(here))
        return str(self.path)

    def line(self, keys: Keys) -> int | None:
        """The line of a value, or of what it is in."""
        for end in range(len(keys), 0, -1):
            if (found := self._lines.get((*self.above, *keys[:end]))) is not None:
                return found
        return self._lines.get(self.above)

    def place(self, keys: Keys) -> str:
        """``ragdata.toml:3``."""
        line = self.line(keys)
        return f"{self.display}:{line}" if line is not None else self.display

    @cached_property
    def _lines(self) -> dict[Keys, int]:
        from ragdatakit.files.configuration.toml_lines import lines_of

        return lines_of(self.text)


def nearest_file(start: Path) -> SettingsFile | None:
    """The file in ``start`` or the nearest folder above that has settings, up to one with ``.git``.

    Raises `RagdataError` where it cannot be read or is not TOML.
    """
    place = Path(os.path.abspath(start))  # noqa: PTH100 - without following links
    for folder in (place, *place.parents):
        for name in SETTINGS_FILES:
            if _is_file(folder / name) and (found := _read(folder / name)) is not None:
                return found
        if os.path.lexists(folder / ".git"):
            break
    return None


def settings_in(folder: Path) -> list[Path]:
    """The files with settings in one folder, that which counts first. Raises `RagdataError` as `nearest_file` does."""
    return [path for name in SETTINGS_FILES if _is_file(path := folder / name) and _read(path) is not None]


def named_file(path: Path, named_by: str) -> SettingsFile:
    """The file at a path that somebody gave; ``named_by`` says who. Raises `RagdataError` where there is none."""
    place = Path(os.path.abspath(path))  # noqa: PTH100 - without following links
    if not _is_file(place):
        reason = "it is a folder" if place.is_dir() else "no such file"
        raise RagdataError(f"{named_by}: {path} cannot be read: {reason}")
    found = _read(place)
    if found is None:
        raise RagdataError(f"{named_by}: {path} has no table [tool.ragdata]")
    return found


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):  # nothing there, or nothing that one could get at
        return False


def _read(path: Path) -> SettingsFile | None:
    """None of the file of another tool that says nothing of ragdata."""
    above = ("tool", "ragdata") if path.name == PYPROJECT else ()
    file = SettingsFile(path, {}, "", above)
    try:
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise RagdataError(f"{file.display} cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise RagdataError(f"{file.display} is too large to be settings (more than {_MOST_BYTES >> 20} MiB)")
    if above and above[-1].encode() not in data:  # right or wrong
        return None
    import tomllib

    try:
        text = data.decode("utf-8-sig")
        table = _inner(_parsed(text), file)
    except tomllib.TOMLDecodeError as error:
        raise RagdataError(f"{file.display} is not TOML: {error}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RagdataError(f"{file.display}:{line}: this is not UTF-8, which TOML has to be") from None
    except (RecursionError, ValueError):  # a number of 5,000 digits, a date that is none
        raise RagdataError(f"{file.display} is not TOML that can be read: a value is nested or written oddly") from None
    return SettingsFile(path, table, text.replace("\r\n", "\n"), above) if table is not None else None


@lru_cache(maxsize=8)
def _parsed(text: str) -> dict[str, Any]:
    """One run asks for the settings of its folder and for those of each dataset: mostly they are in the same file."""
    import tomllib

    return tomllib.loads(text)


def _inner(table: dict[str, Any], file: SettingsFile) -> dict[str, Any] | None:
    """The table that has the settings."""
    for number, name in enumerate(file.above, 1):
        if name not in table:
            return None
        table = table[name]
        if not isinstance(table, dict):
            raise RagdataError(f"{file.display}: [{'.'.join(file.above[:number])}] is not a table")
    return table
