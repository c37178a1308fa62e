"""Settings of a project: the table ``[tool.ragdata]`` of its pyproject.toml, or its ragdata.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ragdatakit.schemas.errors import RagdataError, UnknownNameError

TABLES = ("quality",)
"""The settings that there are."""

_MOST_BYTES = 1 << 20


def project_settings(table: str, start: Path | None = None) -> tuple[dict[str, Any], Path | None]:
    """The settings of one table (``quality``: ``[tool.ragdata.quality]``, in ragdata.toml ``[quality]``), and the file
    that has them.

    Looked for in ``start`` (the current folder) and the folders above it, up to one with ``.git``; the nearest file
    counts, ragdata.toml before pyproject.toml. Raises `RagdataError` where a file is not TOML.
    """
    for path, settings in _files(start):
        if table in settings:
            return _as_table(path, settings[table], table), path
    return {}, None


def checked_tables(options: Iterable[str], start: Path | None = None) -> list[tuple[Path, str, dict[str, Any]]]:
    """Every table of settings that a run from ``start`` may read, with its file and its name.

    Raises `RagdataError` for a setting that does not exist. One that is called like one of the ``options`` of the
    command line is named as such.
    """
    found = []
    for path, settings in _files(start):
        for name, value in settings.items():
            if name not in TABLES:
                option = f"--{name.replace('_', '-')}"
                if option in options:
                    raise RagdataError(
                        f"{path}: the setting {name} is not supported; give {option} on the command line"
                    )
                raise UnknownNameError("setting", name, TABLES, where=f"in {path}")
            found.append((path, name, _as_table(path, value, name)))
    return found


def _files(start: Path | None) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The files with settings, the nearest first."""
    folder = (start or Path.cwd()).absolute()
    for place in (folder, *folder.parents):
        for name, tables in (("ragdata.toml", ()), ("pyproject.toml", ("tool", "ragdata"))):
            settings = _settings(place / name, tables)
            if settings is not None:
                yield place / name, settings
        if (place / ".git").exists():
            break


def _settings(path: Path, tables: tuple[str, ...]) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise RagdataError(f"{path} is too large to be settings")
        data = path.read_bytes()
        if tables and tables[-1].encode() not in data:  # the file of another tool, right or wrong
            return None
        found: Any = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RagdataError(f"{path} is not TOML: {error}") from None
    except OSError as error:
        raise RagdataError(f"{path} cannot be read: {error.strerror}") from None
    for number, name in enumerate(tables):
        if name not in found:
            return None
        found = _as_table(path, found[name], *tables[: number + 1])
    return dict(found)


def _as_table(path: Path, value: Any, *names: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RagdataError(f"{path}: [{'.'.join(names)}] is not a table")
    return value
