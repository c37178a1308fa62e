"""The part of a passage that says most about a question, on one line, with the matched terms marked."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from ragdatakit.retrieval.terms.tokens import Span, Tokenizer
from ragdatakit.schemas.retrieved import Snippet

LOOKED_AT = 100_000
"""Characters of a passage in which terms are looked for."""
_LONG_WORD = 40
"""Characters that are given up for a cut between words; text without blanks is cut anywhere."""
_BLANKS = re.compile(r"[\s\0-\x1f\x7f-\x9f]+")
_REMOVED = re.compile(
    "[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters that are not seen but change what is, the direction of writing above all."""
_HALVES = re.compile("[\ud800-\udfff]")


def snippet(passage_text: str, query_text: str, tokenizer: Tokenizer, width: int = 240) -> Snippet:
    """The window of at most ``width`` characters with the most different tokens of the query, then the most tokens;
    the beginning of the passage where there are none in its first `LOOKED_AT` characters.

    White space and control characters become single blanks, halves of characters U+FFFD; characters that change the
    direction of writing are left out.
    """
    line = one_line(passage_text[:LOOKED_AT])
    width = max(width, 1)
    wanted = set(tokenizer.tokens(query_text))
    found = [span for span in tokenizer.spans(line) if span[0] in wanted] if wanted else []
    start, end = _bounds(line, _densest(found, width), width)
    marks = _disjoint(
        [
            (max(first, start) - start, min(last, end) - start)
            for _, first, last in found
            if first < end and last > start
        ]
    )
    return Snippet(line[start:end], marks, start > 0, end < len(line) or len(passage_text) > LOOKED_AT)


def one_line(text: str) -> str:
    """A text as it can be shown on one line of a terminal."""
    return _BLANKS.sub(" ", _HALVES.sub("\ufffd", _REMOVED.sub("", text))).strip()


def _densest(found: Sequence[Span], width: int) -> tuple[int, int]:
    """Where the best tokens begin and end that go into a window: the first of equally good ones."""
    best, bounds = (0, 0), (0, 0)
    found = sorted(found, key=lambda span: (span[1], span[2]))
    inside: Counter[str] = Counter()
    first, total = 0, 0
    for token, start, end in found:
        inside[token] += 1
        total += 1
        while end - found[first][1] > width and total > 1:
            left = found[first][0]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first, total = first + 1, total - 1
        if (len(inside), total) > best:
            best, bounds = (len(inside), total), (found[first][1], max(end, start + 1))
    return bounds


def _bounds(line: str, must: tuple[int, int], width: int) -> tuple[int, int]:
    """A window around what must be in it, with as much before as behind, cut between words."""
    first, last = must[0], min(must[1], must[0] + width)
    if len(line) <= width:
        return 0, len(line)
    start = min(max(0, first - (width - (last - first)) // 2), len(line) - width)
    end = start + width
    if start and line[start - 1] != " ":
        blank = line.find(" ", start, min(first, start + _LONG_WORD))
        start = blank + 1 if blank >= 0 else _past_marks(line, start, first)
    if end < len(line) and line[end] != " ":
        blank = line.rfind(" ", max(last, end - _LONG_WORD, start + 1), end)
        end = blank if blank >= 0 else _before_marks(line, end, last)
    while start < first and line[start] == " ":
        start += 1
    while end > max(last, start + 1) and line[end - 1] == " ":
        end -= 1
    return start, end


def _past_marks(line: str, at: int, most: int) -> int:
    while at < most and unicodedata.category(line[at])[0] == "M":
        at += 1
    return at


def _before_marks(line: str, at: int, least: int) -> int:
    """A place that does not part a character from its marks."""
    while at > least and unicodedata.category(line[at])[0] == "M":
        at -= 1
    return at


def _disjoint(marks: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(marks):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)
