"""How one id may be written: in which case, with which signs and zeros, as a number with `.0`, as a file's name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal

from ragdatakit.late_patterns import late_pattern

_FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
_FLOAT = late_pattern(r"\d+\.0")
"""An id that was a floating-point number on its way, as a table with a missing value makes it one."""
ENDINGS = ("txt", "md", "json", "html", "htm", "pdf", "xml", "csv", "tsv", "jsonl", "doc", "docx", "rst")
"""Those of files of which each is one text."""
_NO_WORD = late_pattern(r"[\W_]+")
_ZEROS = late_pattern(r"(?<!\d)0+(?=\d)")
_BORDER = late_pattern(r"(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")
_SIGNS = ("-", "_", " ", ".", "/", ":")
_MOST_DIGITS, _MOST_WORDS = 8, 8


def loosened(name: str) -> str:
    """The words and numbers of an id, with a blank between them: small letters, numbers without leading zeros or a
    float's `.0`."""
    if name.endswith(".0") and _FLOAT.fullmatch(name):
        name = name[:-2]
    return _ZEROS.sub("", _BORDER.sub(" ", _NO_WORD.sub(" ", name.casefold()))).strip()


def without_ending(name: str) -> str:
    """The name of a file without its ending; the id as it is where it is none."""
    stem, _, ending = name.rpartition(".")
    return stem if stem and ending.lower() in ENDINGS else name


def nearly_the_same(name: str) -> list[str]:
    """What a name may be meant to be: other blanks at its ends, other case, another Unicode form."""
    bare = name.strip()
    forms = dict.fromkeys((name, bare))
    if not name.isascii():
        forms = dict.fromkeys(unicodedata.normalize(form, n) for n in forms for form in _FORMS)
    cases = [n for form in forms for n in (form, form[:1].upper() + form[1:], form[:1].lower() + form[1:])]
    cases += [case for form in forms for case in (form.lower(), form.upper(), form.title(), form.swapcase())]
    cases += [f"{bare} ", f" {bare}"]
    return [n for n in dict.fromkeys(cases) if n and n != name]


def loosely_the_same(name: str) -> list[str]:
    """What a name may be meant to be beyond that: with other signs between its words and numbers, another number of
    leading zeros, with or without a float's `.0`, with or without the ending of a file's name. Some of
    `nearly_the_same` may be among them: there may be millions of names, and who asks has asked for those before."""
    names = set(_respelled(name))
    stem = without_ending(name)
    names.update((stem,) if stem != name else [f"{name}.{ending}" for ending in ENDINGS])
    names.discard(name)
    return [*names]


def _respelled(name: str) -> Iterator[str]:
    loose = loosened(name)
    words = loose.split()
    if not words or len(words) > _MOST_WORDS:
        return
    if len(words) == 1 and words[0].isdecimal():
        yield f"{words[0]}.0"
    *first, last = words
    signs = (*_SIGNS, "") if loosened("".join(words)) == loose else _SIGNS
    heads = [sign.join((*first, "")) for sign in signs] if first else [""]
    if not last.isdecimal():
        yield from _cases(head + last for head in heads)
        return
    numbers = [last.zfill(n) for n in range(len(last), _MOST_DIGITS + 1)] or [last]
    for head in set(_cases(heads)):
        for number in numbers:
            yield head + number


def _cases(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from (name, name.upper(), name[:1].upper() + name[1:])
