"""Whether something built is older than what it was built from, and by how much."""

from __future__ import annotations

from pathlib import Path

COPYING_SECONDS = 60


def lag_seconds(built: Path, origin: Path) -> float | None:
    """By how many seconds a built file is older than its origin; None if it is not, or one of them is gone.

    Copying, unpacking and checking out give files times of their own, a little apart: that is no sign of age.
    """
    try:
        lag = origin.stat().st_mtime - built.stat().st_mtime
    except OSError:
        return None
    return lag if lag > COPYING_SECONDS else None


def in_words(seconds: float) -> str:
    """A span of time in the largest unit of which there are two."""
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} seconds"
