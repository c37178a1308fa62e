"""What every message and screen does with texts: counts with their nouns, cut texts, lists of the first few, hashes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragdatakit.late_modules import late_module

if TYPE_CHECKING:
    import unicodedata
else:
    unicodedata = late_module("unicodedata")


def many(number: int, noun: str, plural: str = "") -> str:
    """A count with its noun: ``1 file``, ``5,183 files``; ``plural`` where that is another word."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def listed_records(number: int | None) -> str:
    """A count of records for a list in which each ends where the others do, digits below digits; None: not known."""
    return "" if number is None else many(number, "record") + " " * (number == 1)


def size(number: int) -> str:
    """Bytes in a unit that fits, such as 96 B, 6.8 kB or 131 MB (of a thousand each)."""
    if number < 1000:
        return f"{number} B"
    value, units = number / 1000, iter(("kB", "MB", "GB"))
    while (unit := next(units, "TB")) != "TB" and value >= 999.5:
        value /= 1000
    return f"{value:.0f} {unit}" if value >= 99.95 else f"{value:.1f} {unit}"


def shortened(text: str, most: int) -> str:
    """``text``, or its beginning and an ellipsis: at most this many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def quoted(text: str, most: int = 50) -> str:
    """``text`` between quote marks, cut to at most this many characters."""
    return f'"{shortened(text, most)}"'


def with_visible_ends(text: str) -> str:
    """``text``, between quote marks where it is empty or has blanks at its ends."""
    return text if text and text == text.strip() else f'"{text}"'


def some_of(values: Iterable[object], most: int) -> str:
    """The first ``most`` of some values, and how many more there are: ``a, b and 3 more``."""
    left = iter(values)
    shown = ", ".join(map(str, islice(left, most)))
    more = sum(1 for _ in left)
    return f"{shown} and {more:,} more" if more else shown


def encodable(text: str) -> str:
    """``text`` as UTF-8 can hold it: halves of characters (lone surrogates) are written as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def as_text(text: str) -> str:
    """``text``, or the name of a file, with U+FFFD for what is no character in it: half of one, a byte that is not
    UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def code_points_apart(one: str, other: str) -> tuple[str, str] | None:
    """The code points of the first character that two texts write in different Unicode forms, such as U+00E9 and
    U+0065 U+0301, which look the same; None where they are other texts."""
    if one == other or unicodedata.normalize("NFKC", one) != unicodedata.normalize("NFKC", other):
        return None
    at = next(
        (n for n, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its), min(len(one), len(other))
    )
    return _character_at(one, at), _character_at(other, at)


def _character_at(text: str, at: int) -> str:
    end = at + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return " ".join(f"U+{ord(character):04X}" for character in text[at:end]) or "nothing"


def text_hash(text: str) -> int:
    """64 bits of a text, the same in every process; a text that holds half a character has one, too."""
    return int.from_bytes(hash_of(text.encode("utf-8", "surrogatepass")), "little")


def hash_of(data: bytes, size: int = 8) -> bytes:
    """So many bytes (1 to 64) that are BLAKE2b's of some data, the same in every process."""
    digest: bytes = _blake2b()(data, digest_size=size).digest()
    return digest


@cache
def _blake2b() -> Callable[..., Any]:
    try:
        from _blake2 import blake2b  # what hashlib has, which loads OpenSSL, too
    except ImportError:  # a Python all of whose hashes are OpenSSL's
        from hashlib import blake2b
    return blake2b
