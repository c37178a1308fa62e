"""Plug-ins as they are when they are installed: a folder with a package and what pip writes beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ragdatakit.files.configuration.plugins import _loaded
from ragdatakit.schemas import FORMATS
from ragdatakit.schemas.settings.plugins import PLUGGED


def install(
    site: Path, files: Mapping[str, str], points: Mapping[str, str], name: str = "acme-checks", version: str = "1.2"
) -> None:
    """Write the modules and the entry points of a distribution; ``points`` maps a group to lines of it."""
    for module, text in files.items():
        place = site / module
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    beside = site / f"{name.replace('-', '_')}-{version}.dist-info"
    beside.mkdir(parents=True)
    (beside / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (beside / "entry_points.txt").write_text("".join(f"[{group}]\n{lines}\n" for group, lines in points.items()))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which plug-ins are installed, for one test."""
    place = tmp_path / "site"
    place.mkdir()
    before = set(sys.modules)
    monkeypatch.syspath_prepend(place)
    yield place
    for name in set(sys.modules) - before:
        if name.startswith("acme"):
            del sys.modules[name]
    for name in PLUGGED:
        FORMATS.pop(name, None)
    PLUGGED.clear()
    _loaded.cache_clear()
