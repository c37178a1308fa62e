"""Where the cache lies: where the user says, else where the platform keeps such things."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ragdatakit.outputs.user_cache import cache_folder
from ragdatakit.schemas.errors import RagdataError


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("RAGDATA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setattr(sys, "platform", "linux")


def test_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    monkeypatch.setenv("RAGDATA_CACHE_DIR", "mine")

    assert cache_folder() == tmp_path / "mine"


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/ragdata"),
        ("linux", {"XDG_CACHE_HOME": "{}/xdg"}, "xdg/ragdata"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/ragdata"),
        ("linux", {"RAGDATA_CACHE_DIR": ""}, "home/.cache/ragdata"),
        ("darwin", {}, "home/Library/Caches/ragdata"),
        ("win32", {"LOCALAPPDATA": "{}/local"}, "local/ragdata"),
        ("win32", {}, "home/.cache/ragdata"),
    ],
    ids=["linux", "xdg", "relative xdg", "empty variable", "mac", "windows", "windows without its variable"],
)
def test_where_the_platform_keeps_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variables: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))

    assert cache_folder() == tmp_path / expected


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)

    with pytest.raises(RagdataError, match="no home folder to keep a cache in; name a folder in RAGDATA_CACHE_DIR"):
        cache_folder()
