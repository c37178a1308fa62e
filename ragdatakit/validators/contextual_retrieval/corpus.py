"""What the chunks of a corpus are, and what is remembered of them for the questions and the stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from ragdatakit.files.texts.codes import code_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.excerpts import show
from ragdatakit.validators.lacking import unusable
from ragdatakit.validators.row_problems import RowProblems

_SHOWN = 60


def content_code(text: str) -> int:
    """The content of a chunk as Pass@k compares it: without the blanks around it."""
    return code_of(text.strip())


_BLANK = content_code("")


def is_index(value: Any) -> TypeGuard[int]:
    """Whether a value is the index of a chunk."""
    return type(value) is int and value >= 0


def shown(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


class Corpus:
    """The documents that were read, by codes: chunks by their document's uuid and their index, contents of both."""

    def __init__(self) -> None:
        self.chunks: dict[int, int] = {}
        self.documents: dict[int, tuple[int | None, int]] = {}
        self.keyless: list[int] = []
        self._ids: set[int] = set()
        self._contents: dict[int, int] = {}

    def problems(self, value: dict[str, Any]) -> Iterator[Problem]:
        """The faults of one document that its declaration does not name, with what earlier ones have."""
        chunks = value.get("chunks")
        if not isinstance(chunks, list):
            return
        if not chunks:
            yield Problem("document-without-chunks", "/chunks")
        doc_id, content = value.get("doc_id"), value.get("content")
        seen: set[int] = set()
        last = 0  # a chunk is looked for from where the one before it was found, then in all of the document
        for number, chunk in enumerate(chunks):
            if not isinstance(chunk, dict):
                continue
            pointer = f"/chunks/{number}"
            yield from _shape_problems(chunk, pointer, number)
            yield from self._index_problems(chunk, pointer, number, seen)
            yield from self._name_problems(chunk, pointer, doc_id, number)
            text = chunk.get("content")
            if not isinstance(text, str):
                continue
            if not text.strip():
                yield Problem("blank-chunk", f"{pointer}/content", text)
            elif isinstance(content, str):
                found = content.find(text, last)
                last = found if found >= 0 else content.find(text)
                if last < 0:
                    yield Problem("chunk-not-in-document", f"{pointer}/content", shown(text))
                    last = 0

    def _index_problems(self, chunk: dict[str, Any], pointer: str, place: int, seen: set[int]) -> Iterator[Problem]:
        index = chunk.get("original_index")
        if not is_index(index):
            return
        if index in seen:
            yield Problem("duplicate-chunk-index", f"{pointer}/original_index", index)
        elif index != place:
            yield Problem("chunk-index-gap", f"{pointer}/original_index", index, {"expected": place})
        seen.add(index)

    def _name_problems(self, chunk: dict[str, Any], pointer: str, doc_id: Any, place: int) -> Iterator[Problem]:
        chunk_id, index = chunk.get("chunk_id"), chunk.get("original_index")
        if not isinstance(chunk_id, str):
            if "chunk_id" in chunk:
                yield Problem("unusual-chunk-id", f"{pointer}/chunk_id", chunk_id, {"expected": "a text"})
            return
        code = code_of(chunk_id)
        if code in self._ids:
            yield Problem("duplicate-chunk-id", f"{pointer}/chunk_id", chunk_id)
        elif isinstance(doc_id, str) and is_index(index):
            expected = f"{doc_id}_chunk_{index}"
            if chunk_id not in (expected, f"{doc_id}_chunk_{place}"):  # an index that is at fault is reported by itself
                facts, hint = {"expected": f'"{expected}"'}, f"call it {show(expected)}, by its document and its index"
                yield Problem("unusual-chunk-id", f"{pointer}/chunk_id", chunk_id, facts, hint=hint)
        self._ids.add(code)

    def remember(self, row: int, value: Any) -> Iterator[RowProblems]:
        """Keep what questions and stores are compared with; of chunks with one name the first, as upstream does it.

        Those are reported whose text an earlier chunk has, in this document or in the one of another row.
        """
        document = value if isinstance(value, dict) else {}
        uuid, whole, chunks = document.get("original_uuid"), document.get("content"), document.get("chunks")
        has_keys = isinstance(chunks, list)
        chunks = chunks if isinstance(chunks, list) else []
        if isinstance(uuid, str) and has_keys:
            self.documents.setdefault(code_of(uuid), (code_of(whole) if isinstance(whole, str) else None, len(chunks)))
        here: set[int] = set()
        for number, chunk in enumerate(chunks):
            fields = chunk if isinstance(chunk, dict) else {}
            index, text = fields.get("original_index"), fields.get("content")
            if not isinstance(text, str):
                has_keys = False
                continue
            code = content_code(text)
            if not is_index(index):
                has_keys = False
            elif isinstance(uuid, str):
                self.chunks.setdefault(code_of(uuid, index), code)
            first = self._contents.setdefault(code, row) if code != _BLANK else row
            if code in here or first != row:
                yield RowProblems(
                    "repeated-chunk-text",
                    "documents",
                    f"chunks/{number}/content",
                    [row],
                    [shown(text)],
                    [first],
                    "documents",
                    "first seen here",
                )
            if code != _BLANK:
                here.add(code)
        if not (has_keys and isinstance(uuid, str)):
            self.keyless.append(row)


_READ = ("chunk_id", "original_index", "content")


def _shape_problems(chunk: dict[str, Any], pointer: str, number: int) -> Iterator[Problem]:
    for name, fits in (
        ("chunk_id", "chunk_id" in chunk),
        ("content", isinstance(chunk.get("content"), str)),
        ("original_index", is_index(chunk.get("original_index"))),
    ):
        if not fits:
            yield unusable("unusable-chunk", pointer, chunk, name, _READ, f"chunks[{number}].{name}")
