"""Counts with their nouns and texts cut short, as every message and screen has them."""

from __future__ import annotations


def many(number: int, noun: str, plural: str = "") -> str:
    """A count with its noun: ``1 file``, ``5,183 files``; ``plural`` where that is another word."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def shortened(text: str, most: int) -> str:
    """``text``, or its beginning and an ellipsis: at most this many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
