"""What is asked of plain sources where no data is of one: what they are called, and which files are about data."""

from __future__ import annotations

from pathlib import Path

from ragdatakit.late_patterns import late_pattern

PLAIN_NAMES = ("text", "table")
"""The formats of `plain_sources.PLAIN_SOURCES`."""
READ_AS = "read_as"
"""The option of a plain dataset that has the options of its reader, where a configuration says them."""
_ABOUT_FILE = late_pattern(r"(?:readme|licen[cs]e|copying|changelog)(?:\.[a-z]{2,3})?(?:\.(?:txt|md|markdown))?")
_ABOUT_CAPITALS = late_pattern(
    r"(?:README|ABOUT|SOURCES?|LICEN[CS]ES?|COPYING|NOTICES?|CHANGELOG|CHANGES|CITATION|AUTHORS|CONTRIBUTING)(?:[._-].*)?"
)
"""``source.txt`` may be a text like others, ``SOURCE.txt`` is none."""


def is_about(path: Path) -> bool:
    """Whether a file is about the data next to it: a README, a licence, a note of where it comes from."""
    return bool(_ABOUT_FILE.fullmatch(path.name.lower()) or _ABOUT_CAPITALS.fullmatch(path.name))
