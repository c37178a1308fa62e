"""What the constructors make of raw documents and questions, as far as it shows before they run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile

ASCII_SHARE = 0.2
"""Below this share of letters that survive, hardly a phrase is left of a text."""

JUDGED_LETTERS = 4
"""A text with fewer letters says nothing about its script."""

SEARCHED_CHARACTERS = 4000
"""How much of a text is searched for its own title: a text says at its beginning what it is about."""

_OUTSIDE = re.compile("[^a-z0-9 ]")
_NO_LETTERS = bytes(set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
_BYTES_OF_OTHERS = bytes(range(128, 256))
_CONTINUING = bytes(range(128, 192))


def phrase(text: str) -> str:
    """A phrase as the constructor keeps it: lower case, and a blank for all but ASCII letters and digits."""
    return _OUTSIDE.sub(" ", text.lower()).strip()


def ascii_percent(text: str) -> int | None:
    """How many percent of a text's letters are ASCII letters; None where it has hardly any letters.

    Every character outside ASCII counts as a letter.
    """
    if text.isascii():
        return None
    data = text.encode("utf-8", "replace")
    letters = len(data.translate(None, _NO_LETTERS))
    others = len(data.translate(None, _CONTINUING)) - len(data.translate(None, _BYTES_OF_OTHERS))
    total = letters + others
    return round(100 * letters / total) if total >= JUDGED_LETTERS else None


def hardly_ascii(text: Any, pointer: str) -> Iterator[Problem]:
    """A text of which the constructor keeps next to nothing."""
    if isinstance(text, str):
        percent = ascii_percent(text)
        if percent is not None and percent < 100 * ASCII_SHARE:
            yield Problem("raw-text-not-ascii", pointer, None, {"percent": percent})


def is_its_own_entity(title: str, text: str) -> bool:
    """Whether a title is written as entities are, and its text names it, so that both become one node."""
    return bool(title) and phrase(title) == title and f" {title} " in f" {phrase(text[:SEARCHED_CHARACTERS])} "


def document_problems(value: dict[str, Any]) -> Iterator[Problem]:
    """A raw document from which entities are to be extracted."""
    title, text = value.get("title"), value.get("text")
    yield from hardly_ascii(text, "/text")
    if isinstance(title, str) and isinstance(text, str) and is_its_own_entity(title, text):
        yield Problem("title-is-entity", "/title", title)


def raw_question_problems(value: dict[str, Any]) -> Iterator[Problem]:
    """A raw question from which a sample is to be made."""
    yield from hardly_ascii(value.get("question"), "/question")
    for name in ("start_nodes", "target_nodes"):
        if name in value:
            yield Problem("raw-nodes-overwritten", f"/{name}")
            break
    if "supporting_facts" in value and "supporting_documents" not in value:
        yield Problem("supporting-facts-ignored", "/supporting_facts")


class RawChecks(FormatChecks):
    """Raw files from which the graph and the samples are still to be built."""

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """Files from which all was built already are not read again."""
        is_read = kind in ("documents", "raw-questions")
        return Needs(records=is_read, batches=False, in_ranges=is_read)

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one document or question."""
        if not isinstance(value, dict):
            return ()
        return document_problems(value) if file.kind == "documents" else raw_question_problems(value)

    def scanning(self, file: DataFile) -> Scanning:
        """Texts of other scripts, and titles that are written as entities are."""
        if file.kind != "documents":
            return Scanning()
        from ragdatakit.scanner.predicates import Blank, FewLetters

        return Scanning((FewLetters("text"), Blank("title", f"{ascii_lowercase}{digits} ")))

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, str | None]:
        """``@id``: the id as a key."""
        found = value.get("id") if isinstance(value, dict) else None
        usable = isinstance(found, str | int) and not isinstance(found, bool)
        return {"@id": str(found) if usable else None}
