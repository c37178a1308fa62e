"""Where ragdata keeps what it can make again: a folder of the user's cache, or the one that RAGDATA_CACHE_DIR names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ragdatakit.schemas.errors import RagdataError

VARIABLE = "RAGDATA_CACHE_DIR"


def cache_folder() -> Path:
    """The cache's folder, which need not be there: that of RAGDATA_CACHE_DIR, else ``ragdata`` in the platform's cache.

    Raises `RagdataError` where the user has no home.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named).absolute()
    return _platform_cache() / "ragdata"


def _platform_cache() -> Path:
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if xdg and Path(xdg).is_absolute():
        return Path(xdg)
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    try:
        home = Path.home()
    except RuntimeError:
        raise RagdataError(f"there is no home folder to keep a cache in; name a folder in {VARIABLE}") from None
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
