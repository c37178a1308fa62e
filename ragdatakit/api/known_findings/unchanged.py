"""What the verdict on a dataset hangs on besides its files: under that, stamps of valid datasets are kept."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ragdatakit
from ragdatakit.api.configuration import configurations
from ragdatakit.schemas.options import ValidateOptions
from ragdatakit.version import __version__

if TYPE_CHECKING:
    from ragdatakit.validators.stamps import Stamps

_WITHOUT_EFFECT = frozenset(
    "jobs max_per_rule each_record skip_unchanged cache_dir since baseline write_baseline update_baseline "
    "show_baselined strict_baseline".split()
)
"""Options that change nothing in a dataset without findings."""
_LIBRARIES = ("duckdb", "msgspec", "numpy", "orjson", "pyarrow")


def stamps_of(options: ValidateOptions, paths: Iterable[Path]) -> Stamps | None:
    """Where stamps are kept for a run; None where a dataset has to be checked anyway."""
    from ragdatakit.outputs.user_cache import cache_folder
    from ragdatakit.validators.stamps import Stamps

    if options.quality is not False:
        return None  # which reads several datasets as one
    found = configurations(options.config)
    settings: dict[str, str] = {}
    for path in paths:
        configuration = found.of(path)
        settings |= {str(file.path): hashlib.blake2b(file.text.encode()).hexdigest() for file in configuration.files}
        if configuration.plugins or any(section.kind != "dataset" for section in configuration.sections):
            return None  # rules and tables of the project's own may read more than the data
    words = {field.name: getattr(options, field.name) for field in fields(options) if field.name not in _WITHOUT_EFFECT}
    circumstances = {
        "version": __version__,
        "python": sys.version,
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "package": _package(),
        "options": {name: _plain(value) for name, value in words.items() if not callable(value)},
        "settings": settings,
    }
    folder = Path(options.cache_dir) if options.cache_dir is not None else cache_folder()
    return Stamps(folder.absolute() / "validated", circumstances)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    return [str(each) for each in value] if isinstance(value, list | tuple | set) else str(value)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _package() -> str:
    """A digest of the state of the installed package: it may be edited without another version."""
    folder = Path(ragdatakit.__file__).parent
    whole = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".so", ".pyd", ".dylib", ".json"):
            status = path.stat()
            whole.update(f"{path.relative_to(folder)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return whole.hexdigest()
