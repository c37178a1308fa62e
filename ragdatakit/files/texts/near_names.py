"""Names that seem to be meant for another: a letter apart, in another case or number, with words cut short."""

from __future__ import annotations

from collections.abc import Iterable

_SHORTEST = 3


def one_edit_apart(one: str, other: str) -> bool:
    """Whether a letter more, less or changed, or two neighbours swapped, makes one of the other."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def nearest(name: str, others: Iterable[str]) -> str:
    """The first of some names that seems to be meant for ``name``; empty where none does."""
    return next((other for other in others if other != name and _is_near(name, other)), "")


def _is_near(name: str, other: str) -> bool:
    one, another = name.casefold(), other.strip().casefold()
    same = one == another or one_edit_apart(one, another) or _singular(one) == _singular(another)
    return same or _is_cut_short(one, another)


def _singular(word: str) -> str:
    """A word without the ending of a plural: child of childs and of children, entity of entities."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word.removesuffix("children") + "child" if word.endswith("children") else word.removesuffix("s")


def _is_cut_short(one: str, other: str) -> bool:
    """Whether each word of one is the same word in the other, or one of them the beginning of the other: neg_doc_id and
    negative_doc_id, docId and doc_id."""
    if one.replace("_", "").replace("-", "") == other.replace("_", "").replace("-", ""):
        return True
    ours, theirs = one.split("_"), other.split("_")
    return len(ours) == len(theirs) > 1 and all(
        a == b or (min(len(a), len(b)) >= _SHORTEST and (a.startswith(b) or b.startswith(a)))
        for a, b in zip(ours, theirs, strict=True)
    )
