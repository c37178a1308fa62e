"""Where the public datasets lie that some tests read: in a folder beside the project, which need not be there."""

from __future__ import annotations

from pathlib import Path

UPSTREAM_DATA = Path(__file__).parents[2] / "shared" / "upstream-data"
