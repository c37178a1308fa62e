"""The text of an extraction as GraphRAG's parsers read it: records, what becomes of each, and where they are.

Source: ``extract_graph/graph_extractor.py: _process_result`` and ``extract_covariates/claim_extractor.py``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from ragdatakit.quick_values import NamedTuple

FIELDS, RECORDS, COMPLETE = "<|>", "##", "<|COMPLETE|>"
CLAIM_FIELDS = ("subject_id", "object_id", "type", "status", "start_date", "end_date", "description", "source_text")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_OUTER = re.compile(r"^\(|\)$")
_NEEDED = {'"entity"': 4, '"relationship"': 5}


class Record(NamedTuple):
    """One record: ``kind`` is ``entity``, ``relationship`` or empty where the parser drops it; ``fields`` as they are
    stored (of a relationship the last one is its weight); ``tag`` and ``cells`` as they are in the text, at the
    1-based ``line`` and the 0-based ``column``; ``is_last`` that nothing follows it."""

    kind: str
    fields: tuple[str, ...]
    weight: float
    tag: str
    cells: tuple[str, ...]
    line: int
    column: int
    text: str
    is_last: bool = False


def cleaned(text: str) -> str:
    """A text without blanks around it, HTML escapes and control characters."""
    return _CONTROL.sub("", html.unescape(text.strip()))


def records(text: str) -> Iterator[Record]:
    """The records of an extraction of entities and relationships."""
    for raw, line, column, is_last in _pieces(text):
        body = _OUTER.sub("", raw)
        if not body or body == COMPLETE:
            continue
        cells = tuple(body.split(FIELDS))
        tag = cells[0]
        kept = len(cells) >= _NEEDED.get(tag, len(cells) + 1)
        kind = tag.strip('"') if kept else ""
        fields: tuple[str, ...] = ()
        weight = 1.0
        if kind:
            fields = (cleaned(cells[1].upper()), cleaned(cells[2].upper()), cleaned(cells[3]))
        if kind == "relationship":
            weight = number_of(cells[-1], 1.0)
        yield Record(kind, fields, weight, tag, cells, line, column, raw, is_last)


def claims(text: str) -> Iterator[Record]:
    """The records of an extraction of claims; a field that is missing is not in ``fields``."""
    for raw, line, column, is_last in _pieces(text.rstrip().removesuffix(COMPLETE)):
        body = raw.removeprefix("(").removesuffix(")")
        if body == COMPLETE:
            continue
        cells = tuple(body.split(FIELDS))
        stored = tuple(cell.strip() for cell in cells[: len(CLAIM_FIELDS)])
        yield Record("claim", stored, 1.0, "", cells, line, column, raw, is_last)


def number_of(text: str, otherwise: float) -> float:
    """A text as Python's ``float`` takes it."""
    try:
        return float(text)
    except ValueError:
        return otherwise


def _pieces(text: str) -> Iterator[tuple[str, int, int, bool]]:
    """What is between the marks that end records, without blanks around it, and where it begins."""
    start, line, line_start = 0, 1, 0
    while True:
        end = text.find(RECORDS, start)
        is_last = end < 0
        piece = text[start : len(text) if is_last else end]
        begin = start + len(piece) - len(piece.lstrip())
        line += text.count("\n", line_start, begin)
        line_start = max(line_start, text.rfind("\n", line_start, begin) + 1)
        yield piece.strip(), line, begin - line_start, is_last
        if is_last:
            return
        start = end + len(RECORDS)
