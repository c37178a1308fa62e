"""The passages that are searched, on disk: texts one after the other, with offsets, ids and where they come from.

A passage is known by its ordinal (0-based, the order of the dataset) inside an index, and by its id outside. Files are
memory-mapped: opening a million passages takes milliseconds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, pairwise
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

import numpy as np

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.texts import text_hash

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.files.reading.canonical_tables import CanonicalTables

_BLOCK = 4096  # passages, and bytes of text, that are read together: long texts make smaller blocks
_BLOCK_BYTES = 4 << 20
FIELDS = ("id", "title", "context", "text", "document")


class Passage(NamedTuple):
    """A passage: ``context`` is what was written to go before it (contextual retrieval), ``document_id`` the document
    of a chunk."""

    passage_id: str
    text: str
    title: str | None = None
    context: str | None = None
    document_id: str | None = None

    @property
    def searched(self) -> str:
        """What is indexed: title, context and text, as far as there are any."""
        return "\n".join(part for part in (self.title, self.context, self.text) if part)


def read_passages(tables: CanonicalTables) -> Iterator[Passage]:
    """What is retrieved of a dataset: its chunks, with the titles of their documents, or else its documents."""
    if tables.passages == "documents":
        for row in tables.peek("documents"):
            yield Passage(row.doc_id, row.text, row.title)
        return
    titles = tables.titles_of_documents()
    for chunk in tables.peek("chunks"):
        text = chunk.text or chunk.image_description or ""
        yield Passage(chunk.chunk_id, text, titles.get(chunk.doc_id), chunk.context, chunk.doc_id)


def write_passages(folder: Path, passages: Iterable[Passage]) -> int:
    """Write all passages into the folder; returns their number.

    All of them are kept, also those whose id came before.
    """

    offsets = {name: array("q", [0]) for name in FIELDS}
    hashes = array("Q")
    with _Files(folder) as files:
        for passage in passages:
            values = (passage.passage_id, passage.title, passage.context, passage.text, passage.document_id)
            for name, value in zip(FIELDS, values, strict=True):
                data = value.encode("utf-8", "surrogatepass") if value else b""
                files.write(name, data)
                offsets[name].append(offsets[name][-1] + len(data))
            hashes.append(text_hash(passage.passage_id))
    for name, ends in offsets.items():
        np.save(folder / f"{name}.offsets.npy", np.frombuffer(ends, np.int64), allow_pickle=False)
    listed = np.frombuffer(hashes, np.uint64) if hashes else np.empty(0, np.uint64)
    order = np.argsort(listed, kind="stable").astype(np.int64)
    np.save(folder / "id.order.npy", order, allow_pickle=False)
    np.save(folder / "id.hashes.npy", listed[order], allow_pickle=False)
    return len(hashes)


def drop_replaced(folder: Path) -> int:
    """Of the passages in the folder that have one id keep the last only; returns how many are left."""
    hashes, order = np.load(folder / "id.hashes.npy"), np.load(folder / "id.order.npy")
    kept = np.zeros(len(order), np.bool_)
    kept[order[np.append(hashes[1:] != hashes[:-1], True)]] = True
    (folder / "kept").mkdir()
    count = write_passages(folder / "kept", compress(Passages(folder, ""), kept.tolist()))
    for file in list((folder / "kept").iterdir()):
        file.replace(folder / file.name)
    (folder / "kept").rmdir()
    return count


class _Files:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}

    def __enter__(self) -> Self:
        for name in FIELDS:
            self._files[name] = (self._folder / f"{name}.bin").open("wb", buffering=1 << 20)
        return self

    def write(self, name: str, data: bytes) -> None:
        self._files[name].write(data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()


@dataclass(frozen=True, slots=True)
class _Column:
    path: Path
    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]

    def __getitem__(self, ordinal: int) -> str:
        start, end = int(self.offsets[ordinal]), int(self.offsets[ordinal + 1])
        return bytes(self.data[start:end]).decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        """All values, read in blocks: a tenth of the time that reading each takes. The file is not mapped for that:
        all of it would stay in memory."""
        start, total = 0, len(self.offsets) - 1
        with self.path.open("rb", buffering=1 << 20) as file:
            while start < total:
                within = int(np.searchsorted(self.offsets, self.offsets[start] + _BLOCK_BYTES, "right")) - 1
                end = max(start + 1, min(start + _BLOCK, within, total))
                bounds = self.offsets[start : end + 1].tolist()
                if end == start + 1:  # it may be a long one: not held twice while it is looked at
                    yield file.read(bounds[-1] - bounds[0]).decode("utf-8", "surrogatepass")
                    start = end
                    continue
                data = file.read(bounds[-1] - bounds[0])
                for first, last in pairwise(bounds):
                    yield data[first - bounds[0] : last - bounds[0]].decode("utf-8", "surrogatepass")
                start = end


class Passages:
    """The passages of an index, by ordinal. ``unit`` is what they are: ``document`` or ``chunk``.

    Ids are found by their hashes; of passages with the same id the first is found.
    """

    def __init__(self, folder: Path, unit: str) -> None:
        self.unit = unit
        self._columns: dict[str, _Column] = {}
        for name in FIELDS:
            path = folder / f"{name}.bin"
            data = np.memmap(path, np.uint8, "r") if path.stat().st_size else np.empty(0, np.uint8)
            self._columns[name] = _Column(path, data, np.load(folder / f"{name}.offsets.npy", mmap_mode="r"))
        self._hashes = np.load(folder / "id.hashes.npy", mmap_mode="r")
        self._order = np.load(folder / "id.order.npy", mmap_mode="r")

    @property
    def is_whole(self) -> bool:
        """Whether the files go together: damaged ones may not."""
        return all(
            len(c.offsets) == len(self) + 1 and int(c.offsets[-1]) == len(c.data) for c in self._columns.values()
        ) and len(self._order) == len(self)

    def __len__(self) -> int:
        return len(self._hashes)

    def __getitem__(self, ordinal: int) -> Passage:
        """The passage; raises IndexError where there is none of this ordinal."""
        if not 0 <= ordinal < len(self):
            raise IndexError(ordinal)
        found = {name: column[ordinal] for name, column in self._columns.items()}
        return Passage(
            found["id"], found["text"], found["title"] or None, found["context"] or None, found["document"] or None
        )

    def __iter__(self) -> Iterator[Passage]:
        columns = (self._columns[name] for name in FIELDS)
        for passage_id, title, context, text, document in zip(*columns, strict=True):
            yield Passage(passage_id, text, title or None, context or None, document or None)

    def id(self, ordinal: int) -> str:
        """The id of a passage."""
        return self._columns["id"][ordinal]

    def document_id(self, ordinal: int) -> str:
        """The document that a chunk belongs to, or the id of the passage itself."""
        return self._columns["document"][ordinal] or self.id(ordinal)

    def ordinal(self, passage_id: str) -> int | None:
        """Where the passage with this id is; None where there is none."""
        return self.ordinals((passage_id,))[0]

    def ordinals(self, ids: Sequence[str]) -> list[int | None]:
        """Where the passages with these ids are, all at once."""
        wanted = np.fromiter(map(text_hash, ids), np.uint64, len(ids))
        places = np.searchsorted(self._hashes, wanted).tolist()
        return [self._found(*sought) for sought in zip(ids, wanted, places, strict=True)]

    def _found(self, passage_id: str, wanted: np.uint64, place: int) -> int | None:
        while place < len(self) and self._hashes[place] == wanted:
            ordinal = int(self._order[place])
            if self.id(ordinal) == passage_id:
                return ordinal
            place += 1
        return None

    def documents(self) -> Iterator[str]:
        """The document of each passage, by ordinal."""
        columns = (self._columns["document"], self._columns["id"])
        return (document or passage_id for document, passage_id in zip(*columns, strict=True))


def repeated_texts(passages: Passages) -> dict[str, str]:
    """The passages whose text, except for the blanks around it, an earlier one has, each with the first of these."""
    first: dict[int, int] = {}
    found: dict[str, str] = {}
    for ordinal, passage in enumerate(passages):
        place = first.setdefault(text_hash(passage.text.strip()), ordinal)
        if place != ordinal:
            found[passage.passage_id] = passages.id(place)
    return found
