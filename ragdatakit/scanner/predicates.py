"""Which values a rule may want to see, in words that the scanner understands.

A predicate is a superset of what its rule finds: it names lines for the check of one record, which alone decides and
words. One that is too narrow loses findings; one that is too wide costs time.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Hashable, Iterator

from ragdatakit.late_dataclasses import dataclass

WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002"
    "\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""What `str.strip` takes off."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A question about the values of one field; lines for which the answer is yes are shown to the rule.

    The field of an object in the record (see `ragdatakit.scanner.relations.Parts`) is called by both names:
    ``results/text``. Of a list of texts each item is asked about.
    """

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
class OpenIfEdged(Predicate):
    """The same, where keys are made of the text: Python makes those of such a record."""

    characters: str = WHITE_SPACE


@dataclass(frozen=True, slots=True)
class OpenUnlessText(Predicate):
    """A value that is neither a text nor null, of a field of any type: Python makes the keys of such a record."""


@dataclass(frozen=True, slots=True)
class Shorter(Predicate):
    """A text of fewer than ``limit`` characters."""

    limit: int


@dataclass(frozen=True, slots=True)
class Unequal(Predicate):
    """Any other text than this one."""

    text: str


@dataclass(frozen=True, slots=True)
class FewLetters(Predicate):
    """A text with four times as many characters beyond ASCII as ASCII letters, or more."""


@dataclass(frozen=True, slots=True)
class NotVisible(Predicate):
    """An empty text, or one with another character than the visible ones of ASCII."""


@dataclass(frozen=True, slots=True)
class MarkInside(Predicate):
    """A text with ASCII marks between letters, digits or underscores."""


@dataclass(frozen=True, slots=True)
class Vacuous(Predicate):
    """A text of nothing but English articles, ASCII marks and blanks."""


@dataclass(frozen=True, slots=True)
class Starting(Predicate):
    """A text that begins with this one, of ASCII, in whatever case."""

    text: str


@dataclass(frozen=True, slots=True)
class NotStarting(Predicate):
    """A text that does not."""

    text: str


@dataclass(frozen=True, slots=True)
class Holds(Predicate):
    """A text that has one of ``characters``, all of them ASCII."""

    characters: str


@dataclass(frozen=True, slots=True)
class Lacks(Predicate):
    """A text that has none of ``characters``, all of them ASCII."""

    characters: str


@dataclass(frozen=True, slots=True)
class Beginning(Predicate):
    """A text that begins with one of ``characters``."""

    characters: str


@dataclass(frozen=True, slots=True)
class NoSentence(Predicate):
    """A text without a piece between ``.``, ``!``, ``?`` and line feeds that surely has more than ``limit`` characters
    without the blanks around it."""

    limit: int


@dataclass(frozen=True, slots=True)
class OpenIfBlank(Predicate):
    """A text of nothing but ``characters``, where keys are made of it: Python makes those of such a record."""

    characters: str = WHITE_SPACE


@dataclass(frozen=True, slots=True)
class OpenUnlessGiven(Predicate):
    """A record without this field, where keys are made of it: Python makes those of such a record."""


@dataclass(frozen=True, slots=True)
class OpenUnlessTexts(Predicate):
    """A value that is neither a text nor a list of texts that is not empty, of a field of any type."""


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


@dataclass(frozen=True, slots=True)
class Nested(Predicate):
    """An object with a list, an object or null among its values."""


@dataclass(frozen=True, slots=True)
class MemberCalled(Predicate):
    """An object with a member of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class NumberedMembers(Predicate):
    """An object with several members, all of which have the same number. The names of an object, integers as Python
    writes them, are the list ``names``, its numbers the list ``numbers``; other objects go to Python."""

    names: str
    numbers: str


@dataclass(frozen=True, slots=True)
class MemberBeginning(Predicate):
    """An object with a member whose name begins with this character, which is ASCII."""

    character: str


@dataclass(frozen=True, slots=True)
class Counted(Predicate):
    """How many records have what is asked for is counted under this name, of those that no predicate shows to a rule.

    This one counts records with a value that is there and not null; several fields may have one count.
    """

    count: Hashable


@dataclass(frozen=True, slots=True)
class CountedMember(Counted):
    """Objects with a member of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class CountedUnlike(Counted):
    """Objects in which the member with the name of the field ``other`` has another text than it, or (where that field
    is not there, null or empty) another than ``otherwise``."""

    other: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class Mistyped(Predicate):
    """A record in which nothing else is wrong than that the value of this field, a text or an integer, is of another
    plain type, or null. The first ``shown`` of a block are shown, the others counted for the rules of these names."""

    rule: str
    null_rule: str
    shown: int


@dataclass(frozen=True, slots=True)
class Spelled(Predicate):
    """Of a key field codes are wanted of what spelling does not change in its texts, too (see `plain_ranges`)."""


@dataclass(frozen=True, slots=True)
class Stripped(Predicate):
    """Nothing is shown: the codes of a key field are those of its texts without ``characters`` at their ends."""

    characters: str = WHITE_SPACE


@functools.cache
def plain_ranges() -> str:
    """Characters beyond ASCII that stay as they are whatever Unicode form, case and white space are reduced to, and
    whatever is next to them: the first and the last of each range, one pair behind the other."""
    characters = list(map(chr, range(0x80, 0x3000)))
    apart = "\n".join(characters)  # all at once, as a check of small data would wait for thousands one by one
    forms = zip(characters, unicodedata.normalize("NFKC", apart).split("\n"), apart.lower().split("\n"), strict=True)
    found = _runs([ord(c) for c, form, lowered in forms if form == c == lowered and _is_alone(c)])
    return "".join(map(chr, (end for pair in (*found, *_SURELY_PLAIN) for end in pair)))


_SURELY_PLAIN = ((0x3041, 0x3096), (0x30A1, 0x30FA), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3))
"""Kana, Chinese characters, Korean syllables: too many to look at each."""


def _runs(codes: list[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of those that follow each other."""
    first = last = codes[0]
    for code in codes:
        if code > last + 1:
            yield first, last
            first = code
        last = code
    yield first, last


def _is_alone(character: str) -> bool:
    """Whether a character never joins what is next to it, and is no white space."""
    joins = unicodedata.category(character)[0] in "MC" or "\u1100" <= character <= "\u11ff"
    return not joins and not character.isspace()


def is_plain(character: str) -> bool:
    """Whether a character is one of `plain_ranges`."""
    stays = unicodedata.normalize("NFKC", character) == character == character.lower()
    return stays and _is_alone(character)


@dataclass(frozen=True, slots=True)
class Changed(Predicate):
    """In lines of cells, a text that the line before does not have, too, or is not known to have."""


@dataclass(frozen=True, slots=True)
class PythonDict(Predicate):
    """A cell of CSV that is not proved to be None or a dict as Python or JSON writes it, with texts as names.

    ``python_only`` and ``filled`` are the rules that are reported, once a file, of dicts that JSON readers refuse and
    of dicts with keys: of a block the first such record is shown to its rule, the others are counted.
    ``content_where``, a field and its text, are records that are shown where the dict has no text called ``content``.
    """

    python_only: str
    filled: str = ""
    content_where: tuple[str, str] | None = None
