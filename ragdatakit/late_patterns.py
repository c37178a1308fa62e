"""Regular expressions that are compiled when they are first asked: of those that its modules have, a run over a tiny
dataset asks a tenth, and to compile all of them took as long as to read and check the data.

What is asked of one, such as `match`, is kept with it: to ask again costs no more than with a compiled one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["late_pattern"]

if TYPE_CHECKING:
    from re import compile as late_pattern
else:

    class late_pattern:  # noqa: N801 - called like a function
        """What `re.compile` gives, but for when it is compiled; only its methods and attributes are there."""

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self._given = pattern, flags

        def __reduce__(self) -> tuple[type, tuple[str | bytes, int]]:
            return late_pattern, self._given

        def __getattr__(self, name: str) -> Any:
            found = getattr(re.compile(*self._given), name)
            setattr(self, name, found)
            return found
