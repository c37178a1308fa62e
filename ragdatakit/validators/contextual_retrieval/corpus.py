"""What the chunks of a corpus are, and what is remembered of them for the questions and the stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from ragdatakit.files.texts.codes import code_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.row_problems import RowProblems

_SHOWN = 60


def content_code(text: str) -> int:
    """The content of a chunk as Pass@k compares it: without the blanks around it."""
    return code_of(text.strip())


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
        for number, chunk in enumerate(chunks):
            if isinstance(chunk, dict):
                pointer = f"/chunks/{number}"
                yield from _shape_problems(chunk, pointer, number)
                yield from self._index_problems(chunk, pointer, number, seen)
                yield from self._name_problems(chunk, pointer, doc_id, number)
                yield from self._text_problems(chunk, pointer, content)

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
                yield Problem("unusual-chunk-id", f"{pointer}/chunk_id", chunk_id, {"expected": f'"{expected}"'})
        self._ids.add(code)

    def _text_problems(self, chunk: dict[str, Any], pointer: str, content: Any) -> Iterator[Problem]:
        text = chunk.get("content")
        if not isinstance(text, str):
            return
        pointer = f"{pointer}/content"
        if not text.strip():
            yield Problem("blank-chunk", pointer, text)
            return
        if isinstance(content, str) and text not in content:
            yield Problem("chunk-not-in-document", pointer, shown(text))

    def repeats(self, row: int, value: Any) -> Iterator[RowProblems]:
        """The chunks of a document whose text an earlier chunk has, in this document or in the one of another row."""
        chunks = value.get("chunks") if isinstance(value, dict) else None
        here: set[int] = set()
        for number, chunk in enumerate(chunks if isinstance(chunks, list) else ()):
            text = chunk.get("content") if isinstance(chunk, dict) else None
            if not isinstance(text, str) or not text.strip():
                continue
            first = self._contents.setdefault(code := content_code(text), row)
            if code in here or first != row:
                field = f"chunks/{number}/content"
                yield RowProblems(
                    "repeated-chunk-text",
                    "documents",
                    field,
                    [row],
                    [shown(text)],
                    [first],
                    "documents",
                    "first seen here",
                )
            here.add(code)

    def remember(self, row: int, value: Any) -> None:
        """Keep what questions and stores are compared with; of chunks with one name the first, as upstream does it."""
        uuid = value.get("original_uuid") if isinstance(value, dict) else None
        chunks = value.get("chunks") if isinstance(value, dict) else None
        if not isinstance(uuid, str) or not isinstance(chunks, list):
            self.keyless.append(row)
            return
        whole = value.get("content")
        document = (code_of(whole) if isinstance(whole, str) else None, len(chunks))
        self.documents.setdefault(code_of(uuid), document)
        for chunk in chunks:
            index = chunk.get("original_index") if isinstance(chunk, dict) else None
            text = chunk.get("content") if isinstance(chunk, dict) else None
            if is_index(index) and isinstance(text, str):
                self.chunks.setdefault(code_of(uuid, index), content_code(text))
            elif not self.keyless or self.keyless[-1] != row:
                self.keyless.append(row)


def _shape_problems(chunk: dict[str, Any], pointer: str, number: int) -> Iterator[Problem]:
    if "chunk_id" not in chunk:
        yield Problem("unusable-chunk", pointer, None, {"field": f"chunks[{number}].chunk_id"})
    if not isinstance(chunk.get("content"), str):
        where = f"{pointer}/content" if "content" in chunk else pointer
        yield Problem("unusable-chunk", where, chunk.get("content"), {"field": f"chunks[{number}].content"})
    if not is_index(chunk.get("original_index")):
        where = f"{pointer}/original_index" if "original_index" in chunk else pointer
        facts = {"field": f"chunks[{number}].original_index"}
        yield Problem("unusable-chunk", where, chunk.get("original_index"), facts)
