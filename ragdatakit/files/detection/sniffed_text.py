"""What a file of cells, or of elements between tags, is: recognised from how its text begins."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from ragdatakit.schemas.declarations import File

_LINES_LOOKED_AT = 20


class Beginning:
    """The text that a file begins with, to be compared with one kind after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._has_tags = "<" in text

    @cached_property
    def _lines(self) -> list[str]:
        return [line for line in self._text.split("\n", _LINES_LOOKED_AT + 1)[: _LINES_LOOKED_AT + 1] if line.strip()]

    def fits(self, kind: File) -> bool:
        """Whether the text begins as a file of that kind does.

        Cells: the header has the kind's ``keys``, or most lines match the ``pattern`` of its record (a kind that
        has neither is known by name only). Elements: the first tag comes before an element called as one of the
        ``keys``.
        """
        if kind.container == "tagged":
            return self._has_tags and _first_element(kind.tags, kind.keys).search(self._text) is not None
        if kind.columns.header:
            header = self._lines[0].split(kind.columns.separator or None) if self._lines else []
            return bool(kind.keys) and {cell.strip() for cell in header} >= set(kind.keys)
        if not kind.record.pattern:
            return False
        comment = kind.columns.comment
        lines = [line for line in self._lines if not (comment and line.startswith(comment))]
        return 2 * sum(re.fullmatch(kind.record.pattern, line.strip()) is not None for line in lines) > len(lines)


@lru_cache(maxsize=256)
def _first_element(tags: tuple[str, ...], keys: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(keys)
    inside = rf"(?:[^<]*<[^<>]*>){{0,3}}?[^<]*<(?:{names})[\s>]"
    attribute = rf"[^<>]*\s(?:{names}|number|id)\s*="
    return re.compile(rf"<(?:{'|'.join(tags)})(?:(?:\s[^<>]*)?>{inside}|{attribute})", re.I)
