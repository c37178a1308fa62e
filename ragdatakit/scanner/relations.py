"""What values of a record say about each other, in words that the scanner understands; and what is in its objects.

As with predicates, a record for which the answer is yes is shown to the rule, which alone decides. Values are compared
as they are written: those that are written in another way are shown, too. Fields in objects are called by both names,
``results/text``; a question about nothing but such fields is asked of each object.
"""

from __future__ import annotations

from collections.abc import Hashable

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import Field


@dataclass(frozen=True, slots=True)
class Parts:
    """What the object in a field is, or each item of its list: a record in which they are otherwise goes to Python.

    ``rows``: it is a list of just these values, in this order. ``closed``: it has no other fields.
    """

    field: str
    fields: tuple[Field, ...]
    rows: bool = False
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """A record with a field that is not declared goes to Python, unless its name begins so and goes on with an ASCII
    letter or digit."""

    unless: str = ""


@dataclass(frozen=True, slots=True)
class Cut:
    """The records are texts: what is before the first ``at`` is the field ``before``, what is behind it ``behind``.
    Proved are those of which the first part is a number without leading zeros, which is the field ``number``."""

    at: str
    before: str
    behind: str
    number: str

    def fields(self) -> dict[str, Field]:
        """What a record is to the scanner."""
        texts = {name: Field(name="key", type="string") for name in (self.before, self.behind)}
        return {**texts, self.number: Field(name="key", type="integer", minimum=0)}


@dataclass(frozen=True, slots=True)
class Taken:
    """A field is taken for what is declared here, which is less than the record says: others go to Python."""

    as_: Field


@dataclass(frozen=True, slots=True)
class Joined:
    """A key made of texts: ``between`` is put between those of fields, ``within`` between those of one list. Fields
    that are not there are left out; the key is there where at least two of them are."""

    key: str
    fields: tuple[str, ...]
    between: str
    within: str = ""


@dataclass(frozen=True, slots=True)
class First:
    """A key that is the text of the first of these fields that is there, or the digits of its integer; a record where
    that is another value, or null, goes to Python."""

    key: str
    fields: tuple[str, ...]


class OnceCount(str):
    """A count that belongs to the rule of this name."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A question about several fields. ``once`` is the rule that is reported once a file, with a count, where one is
    asked for: of a block one record is shown to it, the others are counted. Nothing is asked where the field
    ``unless`` is there."""

    fields: tuple[str, ...]
    number: float = 0
    once: str = ""
    text: str = ""
    unless: str = ""
    counts: tuple[Hashable, ...] = ()


class Apart(Relation):
    """Some of the fields are there, others are not."""


class Without(Relation):
    """The first field is there, and none of the others."""


class Lacking(Relation):
    """None of the fields is there."""


class Several(Relation):
    """More than one of the fields is there."""


class Unlike(Relation):
    """Two texts, or two lists of texts, are there, and are not the same."""


class Beyond(Relation):
    """A text of the first list is not in the second one, or there are more of them."""


class Unmarked(Relation):
    """An integer of the first list is none of those in the second one to which the third, of booleans, says true."""


class Twice(Relation):
    """A text is in the list twice."""


class Shared(Relation):
    """A text is in both lists."""


class More(Relation):
    """The first list has more values than the second one."""


class OneOfMany(Relation):
    """The first list has one value, the second one has more."""


class Empty(Relation):
    """The list is there and has no values."""


class Outside(Relation):
    """The first text does not have, in it, the first text of the first other field that has any."""


class Ascending(Relation):
    """A number of the list is greater than the one before it."""


class NoQuotient(Relation):
    """The first number divided by the second one is not the third, up to ``number``; or is more than 1."""


class Measure(Relation):
    """The second field is the number of characters, or of words, of the first one."""


class Above(Relation):
    """A number is greater than ``number``."""


class NoneTrue(Relation):
    """None of the booleans is true."""


class Untrue(Relation):
    """The value is there and is not true."""


class Miscounted(Relation):
    """The text begins with digits, and they are not the number of values in the list, which is there."""


class Undigested(Relation):
    """The first text is not ``text`` with the MD5 of the second one behind it."""


class Alike(Relation):
    """Of two texts the same ASCII letters and digits remain, in lower case and with blanks for all else, and there are
    some."""


class TwiceTogether(Relation):
    """Two objects of a list have the same texts in all these fields."""


class OutOfRange(Relation):
    """A text of the first list is not in the third one; or the number beside it, in the second one, is none of a text
    of those that are in the fourth list beside that of the third one."""


class CountedBeyond(Relation):
    """Nothing is shown: of the texts of all but the last field, each once, it is counted under the two names in
    ``counts`` how many there are, and how many are not in the list of the last one."""


class NotWithin(Relation):
    """A text of the second list is not surely in the first text."""


class Unnumbered(Relation):
    """The integers of the list are not 0, 1, 2 and so on."""


class Misnamed(Relation):
    """A text of the first list is not that of the second field with ``text`` and the integer beside it, in the third
    list, behind it."""


RELATIONS = (
    *(Apart, Without, Lacking, Several, Unlike, Beyond, Unmarked, Twice, Shared, More, OneOfMany, Empty, Outside),
    *(Ascending, NoQuotient, Measure, Above, NoneTrue, Untrue, Miscounted),
    *(Undigested, Alike, TwiceTogether, OutOfRange, CountedBeyond, NotWithin, Unnumbered, Misnamed),
)
"""By their numbers in `scanner/src/relations.rs`."""
