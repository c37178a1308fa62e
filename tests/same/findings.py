"""How the findings of one call differ between two revisions, by rule and by what is different: for a summary that a
release can be judged by."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

Finding = dict[str, Any]
IMPLIED = ("counts", "by_rule", "shown", "errors", "warnings")
"""Keys of a report whose values follow from the findings."""
_PLACE = ("line", "column", "byte_offset", "record", "pointer")
_SAID = ("severity", "rule", "value", "related", "message", "hint")


def finding_differences(
    old: list[Finding], new: list[Finding]
) -> Iterator[tuple[str, str, Finding | None, Finding | None]]:
    """What is different, the code of the rule, and the findings before and after. Of several differences of one finding
    the first is named of: another severity, place, name, value, other related places, other words."""
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
                yield words, other["code"], other, one
        new, old = left, [one for those in waiting.values() for one in those]
    yield from (("gone", one["code"], one, None) for one in old)
    yield from (("new", one["code"], None, one) for one in new)


def _all(finding: Finding) -> Hashable:
    return tuple(repr(finding.get(key)) for key in ("code", "path", *_PLACE, *_SAID))


def _words(old: Finding, new: Finding) -> str:
    if old["code"] != new["code"]:
        return f"now {new['code']}"
    changed = [key for key in (*_PLACE, *_SAID) if old.get(key) != new.get(key)]
    first = next((key for key in _SAID if key in changed), "")
    if first != "severity" and any(key in _PLACE for key in changed):
        return "place"
    return "words" if first in ("message", "hint") else first
