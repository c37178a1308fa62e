"""What A-RAG makes of one chunk: its id, its sentences, its place in the order. Pure functions and one counter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.beginnings import HEAD_BYTES
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.detection.sniffing import beginning
from ragdatakit.schemas.findings import Problem

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile

SENTENCE_CHARACTERS = 10
"""The index keeps sentences longer than this."""

LONG_CHUNK = 500
"""From here on one sentence for a whole chunk is worth a word; shorter ones are often honest single sentences."""

_SENTENCE_END = re.compile(r"[.!?\n]")
_LONG_PIECE = re.compile(rf"[^.!?\n]{{{SENTENCE_CHARACTERS + 1},}}")
# Full stops, exclamation and question marks of Chinese and Japanese, Arabic, Hindi and Burmese.
_FOREIGN_END = re.compile("[\u3002\uff01\uff1f\uff61\uff0e\u061f\u06d4\u0964\u0965\u104b]")
_ABBREVIATIONS = [*map(re.escape, ("e.g", "i.e", *"Mr Mrs Ms Dr Prof St Jr Sr vs etc Inc Ltd Vol pp".split()))]
_DOT_INSIDE = re.compile(rf"\d+\.\d+|\b(?:https?://|www\.)\S+|\b(?:{'|'.join(_ABBREVIATIONS)})\.")
# A dot that may be one of these: looked for by its first letter, which is several times as fast.
_DOT_PERHAPS = re.compile(rf"\.(?:\d|{'|'.join(rf'(?<={a}{chr(92)}.)' for a in _ABBREVIATIONS)})")
_DECIMAL_ID = re.compile(r"[0-9]+")


def id_and_text(value: Any) -> tuple[Any, Any]:
    """The id and the text that the readers take from an element, as they are; None for what it does not have."""
    if isinstance(value, str):
        chunk_id, colon, text = value.partition(":")
        return (chunk_id, text) if colon else (None, None)
    if isinstance(value, dict):
        return value.get("id"), value.get("text")
    return None, None


def first_is_object(file: DataFile) -> bool:
    """Whether the first element of a file is an object, as all rows of Parquet are."""
    head, _ = beginning(file.path, HEAD_BYTES, file.boundary)
    return is_parquet(file.path) or (head.lstrip()[:1] == b"[" and head.lstrip()[1:].lstrip(b" \t\r\n,")[:1] == b"{")


def text_digest(text: str) -> str:
    """A short fingerprint: texts are compared in sets that may not hold them all."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def point_into_string(found: Iterable[Problem], chunk_id: str, id_is_meant: bool) -> Iterator[Problem]:
    """Say where in the string ``"id:text"`` the id, or the text, is at fault.

    Only where the id is certainly in the file as it is read: an escape would shift what follows it.
    """
    plain = chunk_id.isascii() and chunk_id.isprintable() and not set(chunk_id) & {'"', "\\"}
    for problem in found:
        if plain:
            problem.position = 1 if id_is_meant else len(chunk_id) + 2
            problem.length = max(1, len(chunk_id)) if id_is_meant else 1
        yield problem


def id_problems(chunk_id: str, pointer: str | None) -> Iterator[Problem]:
    """Blanks and zeros that hide a chunk, and ids that look like a piece of text."""
    plain, expected = chunk_id.strip(), expected_id(chunk_id)
    if expected != chunk_id:
        found = "blanks around it" if plain != chunk_id else "leading zeros"
        facts = {"found": found, "expected": f'"{expected}"'}
        yield Problem("padded-chunk-id", pointer, chunk_id, facts)
    if _DECIMAL_ID.fullmatch(plain) is None:
        yield Problem("chunk-id-not-number", pointer, chunk_id)


def expected_id(chunk_id: str) -> str:
    """An id without blanks around it and without leading zeros."""
    plain = chunk_id.strip()
    return (plain.lstrip("0") or "0") if _DECIMAL_ID.fullmatch(plain) else plain


def text_problems(chunk_id: Any, text: str, pointer: str | None) -> Iterator[Problem]:
    """What the searches will not find, or find in odd pieces."""
    if not text or text.isspace():
        yield Problem("empty-chunk", pointer, text)
        return
    facts = {"id": f'"{chunk_id}"' if isinstance(chunk_id, str) else str(chunk_id)}
    if not has_sentence(text):
        yield Problem("chunk-without-sentence", pointer, text, facts)
    elif _SENTENCE_END.search(text) is None and (len(text) > LONG_CHUNK or _FOREIGN_END.search(text)):
        yield Problem("chunk-is-one-sentence", pointer, text, {**facts, "characters": len(text)})


def is_ragged(text: str) -> bool:
    """Whether a text begins with a blank or with half a word (``##`` is how word piece tokenizers mark one)."""
    return text.startswith("##") or (text[:1].isspace() and not text.isspace())


def has_sentence(text: str) -> bool:
    """Whether the index keeps any sentence of a text."""
    return any(len(piece.group().strip()) > SENTENCE_CHARACTERS for piece in _LONG_PIECE.finditer(text))


def dot_inside(text: str) -> str | None:
    """The first decimal, abbreviation or address that the sentence splitter cuts."""
    if "://" not in text and "www." not in text and _DOT_PERHAPS.search(text) is None:
        return None
    found = _DOT_INSIDE.search(text)
    return found.group() if found else None


class ChunkOrder:
    """Follows the ids through one array and finds where they leave 0, 1, 2 …

    An element without a number (dropped, or with an odd id) may stand for one number: it has a finding of its own, and
    what follows it is not to blame. Neither is a repeated id blamed here as long as all before it was in order.
    """

    def __init__(self) -> None:
        self.last = -1
        self.spare = 0
        self.in_order = True

    def goes_on(self, numbers: Any) -> bool:
        """Whether these numbers, an array, are those that are due, so that they are done with."""
        due = self.last + 1
        if not len(numbers) or int(numbers[0]) != due or int(numbers[-1]) != due + len(numbers) - 1:
            return False
        if (numbers[1:] - numbers[:-1] != 1).any():
            return False
        self.last, self.spare = due + len(numbers) - 1, 0
        return True

    def is_out_of_order(self, chunk_id: Any) -> bool:
        """Whether another number was due in place of this id, which comes next in the array."""
        plain = chunk_id.strip() if isinstance(chunk_id, str) else ""
        # Numbers of more digits than any corpus has chunks are names; int() refuses very long ones.
        if len(plain) > 18 or _DECIMAL_ID.fullmatch(plain) is None:
            self.spare += 1
            return False
        number, due = int(plain), self.last + 1
        if self.in_order and number <= self.last:
            self.spare += 1
            return False
        fits = due <= number <= due + self.spare
        self.last, self.spare = number, 0
        self.in_order = self.in_order and fits
        return not fits
