"""Which values a rule may want to see, in words that the scanner understands.

A predicate is a superset of what its rule finds: it names lines for the check of one record, which alone decides and
words. One that is too narrow loses findings; one that is too wide costs time.
"""

from __future__ import annotations

from dataclasses import dataclass

WHITE_SPACE = "".join(c for c in map(chr, range(0x3001)) if c.isspace())
"""What `str.strip` takes off."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A question about the values of one field; lines for which the answer is yes are shown to the rule."""

    field: str


@dataclass(frozen=True, slots=True)
class Blank(Predicate):
    """A text of nothing but ``characters``, or of nothing at all."""

    characters: str = WHITE_SPACE


@dataclass(frozen=True, slots=True)
class Longer(Predicate):
    """A text of more than ``limit`` characters."""

    limit: int


@dataclass(frozen=True, slots=True)
class Edged(Predicate):
    """An empty text, or one with one of ``characters`` at an end."""

    characters: str = WHITE_SPACE


@dataclass(frozen=True, slots=True)
class Holds(Predicate):
    """A text that has one of ``characters``, all of them ASCII."""

    characters: str


@dataclass(frozen=True, slots=True)
class Given(Predicate):
    """Any value that is there and not null."""


@dataclass(frozen=True, slots=True)
class Equal(Predicate):
    """Two key fields with the same text."""

    other: str


@dataclass(frozen=True, slots=True)
class ItemTwice(Predicate):
    """A list of integers in which one appears twice."""


@dataclass(frozen=True, slots=True)
class NotFirst(Predicate):
    """A record whose first field is another one."""


@dataclass(frozen=True, slots=True)
class OneUnlikeNumber(Predicate):
    """For rules about files whose texts all are numbers: of each block one record whose text is none, or all."""
