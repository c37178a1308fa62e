"""Lists in cells of CSV, as Python and numpy print them."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MEMBER = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_LONGEST = 1 << 24


def torn_members(cell: str) -> Iterator[str]:
    """The members with a comma or a line end in them, which GraphRAG takes for several."""
    for match in _MEMBER.finditer(cell[:_LONGEST]):
        member = match[1] if match[1] is not None else match[2]
        if "," in member or "\n" in member:
            yield member
