"""What a run of fixes did, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ragdatakit.schemas import rules_by_code
from ragdatakit.schemas.results import FixResult
from ragdatakit.schemas.texts import many
from ragdatakit.visible_text import visible_text


def fix_notes(result: FixResult, would: bool, listed: bool) -> Iterator[str]:
    """How much was repaired (or ``would`` be), by file and rule where it is to be ``listed``; what was removed; which
    files were left as they are."""
    number, files = many(result.number, "place"), many(len(result.fixed), "file")
    if result.changed:
        more = "" if listed or would else " (--show-fixes lists them)"
        yield f"{'would fix' if would else 'fixed'} {number} in {files}{more}"
    elif not result.not_fixed:
        yield "nothing to fix"
    if listed:
        rules = rules_by_code()
        for path, counts in sorted(result.fixed.items()):
            for code, count in sorted(counts.items()):
                yield f"  {visible_text(path)}: {count:,} × {code} {rules[code].name}"
    if result.removed:
        yield f"what was removed ({many(result.removed, 'piece')}) is in {visible_text(result.removed_to)}"
    for left in result.not_fixed:
        some = (
            f": not all {left.code} fixed" if left.code else ": not all was fixed" if left.path in result.fixed else ""
        )
        what = some or " was left as it is"
        yield f"{visible_text(left.path)}{what}: {visible_text(left.reason)}"
