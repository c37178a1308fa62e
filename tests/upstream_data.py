"""Where the public datasets lie that some tests read: in a folder beside the project, which need not be there."""

from __future__ import annotations

from pathlib import Path

import pytest

UPSTREAM_DATA = Path(__file__).parents[2] / "shared" / "upstream-data"


def needs(name: str) -> pytest.MarkDecorator:
    """A mark for tests that read such a file or folder: `make test` runs one in five of them, for they take long."""
    return pytest.mark.public(name)


def published(name: str) -> Path:
    """The file or folder; the test that asks is skipped where it is not there."""
    path = UPSTREAM_DATA / name
    if not path.exists():
        pytest.skip(f"the public dataset {name} is not beside the project")
    return path
