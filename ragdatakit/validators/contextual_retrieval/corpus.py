"""What the chunks of a corpus are, and what is remembered of them for the questions and the stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeGuard

from ragdatakit.files.texts.codes import code_of
from ragdatakit.scanner.notes import BLANK
from ragdatakit.schemas.declarations import ELSEWHERE
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.excerpts import show
from ragdatakit.validators.lacking import unusable
from ragdatakit.validators.row_problems import RowProblems

if TYPE_CHECKING:
    from ragdatakit.scanner.blocks import ScannedBlock

_SHOWN = 60


def is_index(value: Any) -> TypeGuard[int]:
    """Whether a value is the index of a chunk."""
    return type(value) is int and value >= 0


def shown(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


class Corpus:
    """The documents that were read, by codes: chunks by their document's uuid and their index, contents of both.

    ``scanned``: documents come from the scanner, whose codes these are. It proves those whose chunks are called after
    their document and their place, so that of them no more is known than how many there are.
    """

    def __init__(self) -> None:
        self.chunks: dict[int, int] = {}
        self.documents: dict[int, tuple[int | None, int]] = {}
        self.keyless: list[int] = []
        self.scanned = False
        self._ids: set[int] = set()
        self._contents: dict[int, int] = {}
        self._usual: dict[int, int] = {}  # by the code of their id, how many chunks such documents have
        self._owners: Any = ()  # the documents of all chunks of those that were taken last
        self._named: set[int] = set()  # codes of the documents that the chunks of all others may be called after

    def code(self, text: str) -> int:
        """What a text is compared by."""
        if not self.scanned:
            return code_of(text)
        from ragdatakit.arrays.text_codes import code_of_text

        return code_of_text(text)

    def content_code(self, text: str) -> int:
        """The content of a chunk as Pass@k compares it: without the blanks around it."""
        return self.code(text.strip())

    def place(self, uuid: str, index: int) -> int:
        """Where a chunk is."""
        return _place(self.code(uuid), index) if self.scanned else code_of(uuid, index)

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
                if found < 0 and last:
                    found = content.find(text)
                if found < 0:
                    yield Problem("chunk-not-in-document", f"{pointer}/content", shown(text))
                last = max(found, 0)

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
        if self.has_id(chunk_id):
            yield Problem("duplicate-chunk-id", f"{pointer}/chunk_id", chunk_id)
        elif isinstance(doc_id, str) and is_index(index):
            expected = f"{doc_id}_chunk_{index}"
            if chunk_id not in (expected, f"{doc_id}_chunk_{place}"):  # an index that is at fault is reported by itself
                facts, hint = {"expected": f'"{expected}"'}, f"call it {show(expected)}, by its document and its index"
                yield Problem("unusual-chunk-id", f"{pointer}/chunk_id", chunk_id, facts, hint=hint)
        self._ids.add(code_of(chunk_id))
        if self.scanned and (named := _named(chunk_id)) is not None:
            self._named.add(self.code(named[0]))

    def has_id(self, chunk_id: str) -> bool:
        """Whether a chunk has this id."""
        return code_of(chunk_id) in self._ids or self._is_usual(chunk_id)

    def _is_usual(self, chunk_id: str) -> bool:
        """Whether it is a chunk of a document that the scanner has proved."""
        named = _named(chunk_id) if self._usual else None
        return named is not None and named[1] < self._usual.get(self.code(named[0]), 0)

    def takes(self, scanned: ScannedBlock, data: bytes) -> bool:
        """Whether of the documents in these bytes those that the scanner has not noted are all as most are: the ids of
        their chunks are new, and no chunk of the noted ones is called after them."""
        import numpy as np

        from ragdatakit.arrays.text_codes import numbers_of

        documents, chunks = scanned.columns["doc_id"], scanned.columns["chunks/content"]
        noted = [(row, data[start:end]) for why, row, _, start, end in scanned.notes if why != BLANK]
        plain = np.ones(scanned.rows, np.bool_)
        plain[[row for row, _ in noted]] = False
        rows = np.flatnonzero(plain)
        ids = numbers_of(documents.codes[rows])
        new = set(ids)
        if len(new) < len(ids) or not self._usual.keys().isdisjoint(new) or not self._named.isdisjoint(new):
            return False
        named = self._called_after(raw for _, raw in noted)
        if named is None or not new.isdisjoint(named):
            return False
        self._owners = chunks.owners
        counts = np.bincount(chunks.owners, minlength=scanned.rows)[rows]
        self._usual.update(zip(ids, counts.tolist(), strict=True))
        return True

    def _called_after(self, documents: Iterable[bytes]) -> set[int] | None:
        """Codes of the documents that the chunks of these are called after; None where one is not easily read."""
        import orjson

        found = set[int]()
        for raw in documents:
            try:
                value = orjson.loads(raw)
            except orjson.JSONDecodeError:
                return None
            chunks = value.get("chunks") if isinstance(value, dict) else None
            for chunk in chunks if isinstance(chunks, list) else ():
                chunk_id = chunk.get("chunk_id") if isinstance(chunk, dict) else None
                if isinstance(chunk_id, str) and (named := _named(chunk_id)) is not None:
                    found.add(self.code(named[0]))
        return found

    def take(self, batch: Any) -> Iterator[RowProblems]:
        """The same as `remember` for the documents that were just taken so, and for those that were noted."""
        import numpy as np

        from ragdatakit.arrays.text_codes import numbers_of

        names = ("original_uuid", "content", "chunks/content")
        uuids, wholes, contents = (numbers_of(batch.columns[name]) for name in names)
        noted = dict(batch.noted)
        bounds = np.searchsorted(self._owners, np.arange(batch.length + 1)).tolist()
        for row, (uuid, whole, (start, end)) in enumerate(zip(uuids, wholes, pairwise(bounds), strict=True)):
            if row in noted:
                yield from self.remember(batch.first_row + row, noted[row])
                continue
            self.documents.setdefault(uuid, (whole, end - start))
            own = contents[start:end]
            for number, code in enumerate(own):
                self.chunks.setdefault(_place(uuid, number), code)
            new = set(own)
            if len(new) == len(own) and self._contents.keys().isdisjoint(new):
                self._contents.update(dict.fromkeys(own, batch.first_row + row))
            else:
                yield from self._repeats(batch.first_row + row, own)

    def _repeats(self, row: int, codes: list[int]) -> Iterator[RowProblems]:
        here: set[int] = set()
        for number, code in enumerate(codes):
            first = self._contents.setdefault(code, row)
            if code in here or first != row:
                yield _repeated(row, number, first)
            here.add(code)

    def remember(self, row: int, value: Any) -> Iterator[RowProblems]:
        """Keep what questions and stores are compared with; of chunks with one name the first, as upstream does it.

        Those are reported whose text an earlier chunk has, in this document or in the one of another row.
        """
        document = value if isinstance(value, dict) else {}
        uuid, whole, chunks = document.get("original_uuid"), document.get("content"), document.get("chunks")
        has_keys = isinstance(chunks, list)
        chunks = chunks if isinstance(chunks, list) else []
        if isinstance(uuid, str) and has_keys:
            code = self.code(whole) if isinstance(whole, str) else None
            self.documents.setdefault(self.code(uuid), (code, len(chunks)))
        here: set[int] = set()
        for number, chunk in enumerate(chunks):
            fields = chunk if isinstance(chunk, dict) else {}
            index, text = fields.get("original_index"), fields.get("content")
            if not isinstance(text, str):
                has_keys = False
                continue
            code = self.content_code(text)
            if not is_index(index):
                has_keys = False
            elif isinstance(uuid, str):
                self.chunks.setdefault(self.place(uuid, index), code)
            if not text.strip():
                continue
            first = self._contents.setdefault(code, row)
            if code in here or first != row:
                yield _repeated(row, number, first, text)
            here.add(code)
        if not (has_keys and isinstance(uuid, str)):
            self.keyless.append(row)


def _repeated(row: int, number: int, first: int, text: str | None = None) -> RowProblems:
    values = None if text is None else [shown(text)]
    field, note = f"chunks/{number}/content", "first seen here"
    return RowProblems("repeated-chunk-text", "documents", field, [row], values, [first], "documents", note)


def _place(uuid: int, index: int) -> int:
    return index << 128 | uuid


def _named(chunk_id: str) -> tuple[str, int] | None:
    """The document and the index that a chunk is called after, as the cookbook does it."""
    name, between, digits = chunk_id.rpartition("_chunk_")
    is_index = digits.isascii() and digits.isdigit() and len(digits) <= 18 and (digits == "0" or digits[0] != "0")
    return (name, int(digits)) if between and is_index else None


_READ = ("chunk_id", "original_index", "content")


def _shape_problems(chunk: dict[str, Any], pointer: str, number: int) -> Iterator[Problem]:
    for name, fits in (
        ("chunk_id", "chunk_id" in chunk),
        ("content", isinstance(chunk.get("content"), str)),
        ("original_index", is_index(chunk.get("original_index"))),
    ):
        if not fits:
            others = ELSEWHERE["text"] if name == "content" else ()
            yield unusable("unusable-chunk", pointer, chunk, name, _READ, f"chunks[{number}].{name}", others)
