"""How the findings of one call differ between two revisions, by rule and by what is different: for a summary that a
release can be judged by."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

Finding = dict[str, Any]
IMPLIED = ("counts", "by_rule", "shown", "errors", "warnings")
"""Keys of a report whose values follow from the findings."""
_PLACE = ("line", "column", "byte_offset", "record", "pointer")
_SAID = ("severity", "rule", "message", "value", "hint", "related")


def finding_differences(old: list[Finding], new: list[Finding]) -> Iterator[tuple[str, Finding | None, Finding | None]]:
    """What is different, in words that begin with the code of a rule, and the findings before and after."""
    steps: tuple[Callable[[Finding], Hashable], ...] = (
        _all,
        lambda f: (f["code"], f["path"], *(repr(f.get(key)) for key in _PLACE)),
        lambda f: (f["code"], f["path"], f.get("line"), f.get("pointer")),
        lambda f: (f["code"], f["path"]),
        lambda f: (f["path"], f.get("line")),
    )
    for key_of in steps:
        waiting: dict[Hashable, list[Finding]] = {}
        for one in old:
            waiting.setdefault(key_of(one), []).append(one)
        left = []
        for one in new:
            if not (those := waiting.get(key_of(one))):
                left.append(one)
            elif words := _words(other := those.pop(0), one):
                yield words, other, one
        new, old = left, [one for those in waiting.values() for one in those]
    yield from ((f"{one['code']} gone", one, None) for one in old)
    yield from ((f"{one['code']} new", None, one) for one in new)


def _all(finding: Finding) -> Hashable:
    return tuple(repr(finding.get(key)) for key in ("code", "path", *_PLACE, *_SAID))


def _words(old: Finding, new: Finding) -> str:
    if old["code"] != new["code"]:
        return f"{old['code']} became {new['code']}"
    changed = [key for key in (*_PLACE, *_SAID) if old.get(key) != new.get(key)]
    places = ["place"] if any(key in _PLACE for key in changed) else []
    said = [*places, *(key for key in changed if key not in _PLACE)]
    return f"{old['code']} {', '.join(said)} changed" if said else ""
