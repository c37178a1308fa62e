"""Where the public datasets lie that some tests read: in a folder beside the project, which need not be there."""

from __future__ import annotations

from pathlib import Path

import pytest

UPSTREAM_DATA = Path(__file__).parents[2] / "shared" / "upstream-data"


def needs(name: str) -> pytest.MarkDecorator:
    """A mark for tests that read such a file or folder."""
    return pytest.mark.skipif(not (UPSTREAM_DATA / name).exists(), reason=_reason(name))


def published(name: str) -> Path:
    """The file or folder; the test that asks is skipped where it is not there."""
    if not (UPSTREAM_DATA / name).exists():
        pytest.skip(_reason(name))
    return UPSTREAM_DATA / name


def _reason(name: str) -> str:
    return f"the public dataset {name} is not beside the project"
