"""Settings of a project: the table ``[tool.ragdata]`` of its pyproject.toml, or its ragdata.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from ragdatakit.schemas.errors import RagdataError

_MOST_BYTES = 1 << 20


def project_settings(table: str, start: Path | None = None) -> tuple[dict[str, Any], Path | None]:
    """The settings of one table (``quality``: ``[tool.ragdata.quality]``, in ragdata.toml ``[quality]``), and the file
    that has them.

    Looked for in ``start`` (the current folder) and the folders above it, up to one with ``.git``; the nearest file
    counts, ragdata.toml before pyproject.toml. Raises `RagdataError` where the file is no TOML.
    """
    folder = (start or Path.cwd()).absolute()
    for place in (folder, *folder.parents):
        for name, path in (("ragdata.toml", ()), ("pyproject.toml", ("tool", "ragdata"))):
            found = _table(place / name, (*path, table))
            if found is not None:
                return found, place / name
        if (place / ".git").exists():
            break
    return {}, None


def _table(path: Path, names: tuple[str, ...]) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise RagdataError(f"{path} is too large to be settings")
        found: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RagdataError(f"{path} is no TOML: {error}") from None
    except OSError as error:
        raise RagdataError(f"{path} cannot be read: {error.strerror}") from None
    for number, name in enumerate(names):
        if not isinstance(found, dict):
            raise RagdataError(f"{path}: [{'.'.join(names[:number])}] is no table")
        if name not in found:
            return None
        found = found[name]
    if not isinstance(found, dict):
        raise RagdataError(f"{path}: [{'.'.join(names)}] is no table")
    return found
