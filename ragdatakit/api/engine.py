"""Which engine reads big files: the compiled scanner, or plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragdatakit.schemas.results import Report

_LARGE = 64 << 20
"""Bytes from which on the scanner saves seconds."""


def installation_lines() -> list[str]:
    """The engine, and the Python and the system that it runs on."""
    import platform

    from ragdatakit.scanner.library import engine_words

    return [f"engine: {engine_words()}", f"Python {platform.python_version()}, {platform.platform(terse=True)}"]


def slow_words(report: Report) -> str:
    """That much was read without the scanner, and what to do about it; nothing where that is not so."""
    if sum(f.bytes or 0 for d in report.datasets for f in d.files) < _LARGE:
        return ""
    from ragdatakit.scanner.library import missing_reason

    if not (reason := missing_reason()):
        return ""
    return (
        f"read without the compiled scanner ({reason}): large NDJSON files take ten to twenty times as long; "
        "install ragdatakit from a wheel, or where cargo is"
    )
