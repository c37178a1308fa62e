"""Fixes: edits that repair what a finding is about, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quick_values import quick

Applicability = Literal["safe", "unsafe", "display"]
"""``safe``: the framework reads the same records as before, or what it refused, in the only reading that there is.
``unsafe``: something is removed, renamed or chosen. ``display``: a guess that is shown and never applied."""

Part = Literal["", "line", "element"]
APPLICABILITIES: tuple[Applicability, ...] = get_args(Applicability)
SYNTAX_WORDS = (
    "safe: remove the comma that nothing follows, or put each record on its own line",
    "unsafe: write what is in Python's notation as JSON",
)
"""What is done about a record that is not JSON."""
ARRAY_WORDS = (
    "safe: put lines of JSON into one array, or remove the comma that nothing follows",
    "unsafe: write what is in Python's notation as JSON",
)
"""What is done about a file that is not one JSON array."""
COPY_WORDS = (
    "safe: remove a record that is equal in every field",
    "unsafe: remove the earlier one, as the last one is used",
)
"""What is done about the second record of an id."""
RENAMED_WORDS = "unsafe: rename the field that seems to be meant for it"
COUNTED_COPY_WORDS = "unsafe: remove the copy, or the earlier one, as the last one is used"
"""The same, where a copy counts."""
REMOVED = "ragdata-removed.ndjson"
"""The usual name of the file that takes what unsafe fixes remove."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes of the uncompressed file, from ``start`` up to ``end``, that ``text`` takes the place of.

    ``part``: they are a whole line, whose end goes with it, or an element of an array or object, with its comma.
    """

    start: int
    end: int
    text: str = ""
    part: Part = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return quick_edit, (self.start, self.end, self.text, self.part)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"start": self.start, "end": self.end, "text": self.text, "part": self.part}


@dataclass(frozen=True, slots=True)
class Fix:
    """What would repair one finding: ``edits``, all of them or none; ``message`` says what they do.

    Without edits the file is written anew as a whole, in the way that ``rewrite`` names. ``withheld`` says why
    ``--fix`` does not make it here. ``path`` is that of the file to be changed, where it is not the finding's.
    """

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...] = ()
    rewrite: str = ""
    withheld: str = ""
    path: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return quick_fix, (self.applicability, self.message, self.edits, self.rewrite, self.withheld, self.path)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "applicability": self.applicability,
            "message": self.message,
            "edits": [edit.as_dict() for edit in self.edits],
            "rewrite": self.rewrite,
            "withheld": self.withheld,
            "path": self.path,
        }


quick_edit, quick_fix = quick(Edit, "quick_edit"), quick(Fix, "quick_fix")


@cache
def declared_fixes(words: str | tuple[str, ...]) -> Mapping[Applicability, str]:
    """What a rule's fixes do, by how far they can be trusted, of ``safe: drop the byte-order mark``."""
    found: dict[Applicability, str] = {}
    for text in (words,) if isinstance(words, str) else words:
        if not text:
            continue
        how, colon, what = text.partition(": ")
        applicability = next((each for each in APPLICABILITIES if each == how), None)
        if not colon or applicability is None or applicability in found:
            raise ValueError(f"a fix begins with one of {', '.join(APPLICABILITIES)}, not with {text!r}")
        found[applicability] = what
    return found
