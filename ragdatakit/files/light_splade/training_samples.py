"""The training samples of a light-splade dataset: texts of query, positive and negative, in file order or shuffled.

Memory holds 20 bytes for each record of the masters (its id, where its line begins, how long it is); texts are read
from the files when they are needed. The triplets are in a scratch file, 12 bytes each. Packed files are unpacked into
scratch files first: a text in the middle of them could not be reached otherwise.
"""

from __future__ import annotations

import operator
import os
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import IO, Annotated, Any, Self

import msgspec
import numpy as np
import numpy.typing as npt

from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.find import detect
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.errors import RagdataError

_KEPT_TEXTS = 4096
_STEP = 1 << 13
_ROW = np.dtype("<u4")
_SAMPLE_BYTES = 12
_ROUNDS = 8
_NAMES = {"queries": "query master", "documents": "document master", "triplets": "triplets"}


class Sample(NamedTuple):
    """A query, a document that answers it, and one that does not, as texts."""

    query: str
    positive: str
    negative: str


_Id = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class _Query(msgspec.Struct):
    id: _Id = msgspec.field(name="qid")


class _Document(msgspec.Struct):
    id: _Id = msgspec.field(name="doc_id")


class _Triplet(msgspec.Struct):
    qid: _Id
    pos_doc_id: _Id
    neg_doc_id: _Id


class _Text(msgspec.Struct):
    text: str


class TrainingSamples:
    """The samples of one split: iterate for the order of the file, or take `shuffled`; ``samples[i]`` is the i-th.

    Use it in a ``with`` block, or `close` it: it holds files open. It may be read by several threads, and by processes
    that were forked after it was made.

    Raises `RagdataError` where the split has no triplets or lacks a master, for a line that is no record, and for a
    triplet whose query or document is in no master (with the file and the line).
    """

    def __init__(self, path: str | os.PathLike[str], split: str = "train", *, follow_links: bool = False) -> None:
        self._stack = ExitStack()
        try:
            dataset = _dataset_at(Path(path), follow_links)
            self._queries = _Master(_files(dataset, "queries", split), _Query, self._stack)
            self._documents = _Master(_files(dataset, "documents", split), _Document, self._stack)
            self._rows = _scratch(self._stack)
            self._count = 0
            for file in _files(dataset, "triplets", split):
                self._add(file)
            self._rows.flush()
        except BaseException:
            self._stack.close()
            raise

    def _add(self, file: DataFile) -> None:
        """Resolve the triplets of a file to places in the masters."""
        queries, documents = self._queries, self._documents
        for first_line, triplets in _triplets(file):
            columns = (
                queries.places_of([t.qid for t in triplets]),
                documents.places_of([t.pos_doc_id for t in triplets]),
                documents.places_of([t.neg_doc_id for t in triplets]),
            )
            for places, name in zip(columns, ("qid", "pos_doc_id", "neg_doc_id"), strict=True):
                missing = np.flatnonzero(places < 0)
                if len(missing):
                    at = int(missing[0])
                    master = _NAMES["queries" if name == "qid" else "documents"]
                    value = getattr(triplets[at], name)
                    raise RagdataError(f"{file.display}:{first_line + at}: {name} {value} is not in the {master}")
            self._rows.write(np.stack(columns, axis=1).astype(_ROW).tobytes())
            self._count += len(triplets)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Sample:
        place = operator.index(index)
        if not -self._count <= place < self._count:
            raise IndexError(f"sample {index} of {self._count}")
        return self._sample(self._rows_at(place % self._count, 1)[0])

    def __iter__(self) -> Iterator[Sample]:
        for start in range(0, self._count, _STEP):
            for row in self._rows_at(start, _STEP):
                yield self._sample(row)

    def shuffled(self, seed: int) -> Iterator[Sample]:
        """Every sample once, in an order that depends on the seed and the number of samples only."""
        for place in permuted(self._count, seed):
            yield self._sample(self._rows_at(place, 1)[0])

    def _rows_at(self, start: int, count: int) -> list[list[int]]:
        if self._rows.closed:
            raise RagdataError("the training samples are closed")
        data = os.pread(self._rows.fileno(), count * _SAMPLE_BYTES, start * _SAMPLE_BYTES)
        rows: list[list[int]] = np.frombuffer(data, _ROW).reshape(-1, 3).tolist()
        return rows

    def _sample(self, row: list[int]) -> Sample:
        return Sample(self._queries.text(row[0]), self._documents.text(row[1]), self._documents.text(row[2]))

    def close(self) -> None:
        """Close the files, and remove the scratch files."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Master:
    """Where the text of each id is. A place is a record's number in the order of the ids."""

    def __init__(self, files: list[DataFile], record: Any, stack: ExitStack) -> None:
        self._files = [(file.display, _opened(file, stack)) for file in files]
        ids, offsets, lengths, firsts = array("q"), array("q"), array("I"), []
        for (display, opened), file in zip(self._files, files, strict=True):
            firsts.append(len(ids))
            _index(display, opened, file, msgspec.json.Decoder(record), (ids, offsets, lengths))
        self._ids = np.frombuffer(ids, np.int64) if ids else np.empty(0, np.int64)
        self._offsets = np.frombuffer(offsets, np.int64) if ids else np.empty(0, np.int64)
        self._lengths = np.frombuffer(lengths, np.uint32) if ids else np.empty(0, np.uint32)
        self._file_of: npt.NDArray[np.intp] | None = None
        if len(files) > 1:
            self._file_of = np.searchsorted(firsts, np.arange(len(ids)), side="right") - 1
        if not (self._ids[1:] > self._ids[:-1]).all():
            self._sort()
        self._decode = msgspec.json.Decoder(_Text).decode
        self.text = lru_cache(_KEPT_TEXTS)(self._text)

    def _sort(self) -> None:
        """Into the order of the ids. Of an id that appears twice the last record counts, as it does for the loader."""
        order = np.argsort(self._ids, kind="stable")
        ordered = self._ids[order]
        order = order[np.append(ordered[1:] != ordered[:-1], True)]
        self._ids, self._offsets, self._lengths = self._ids[order], self._offsets[order], self._lengths[order]
        if self._file_of is not None:
            self._file_of = self._file_of[order]

    def places_of(self, ids: list[int]) -> npt.NDArray[np.int64]:
        """The places of these ids; -1 for those that are not there."""
        if not len(self._ids):
            return np.full(len(ids), -1, np.int64)
        wanted = np.array(ids, np.int64)
        places = np.searchsorted(self._ids, wanted).clip(max=len(self._ids) - 1)
        return np.where(self._ids[places] == wanted, places, -1)

    def _text(self, place: int) -> str:
        display, file = self._files[0 if self._file_of is None else int(self._file_of[place])]
        offset = int(self._offsets[place])
        try:
            line = os.pread(file.fileno(), int(self._lengths[place]), offset)
            return self._decode(line).text
        except (OSError, msgspec.MsgspecError) as error:
            raise RagdataError(f"{display}: the text of {self._ids[place]} (at byte {offset:,}): {error}") from None


def permuted(count: int, seed: int) -> Iterator[int]:
    """The numbers below ``count``, each once, in an order that the seed gives, without holding them.

    A Feistel network permutes the numbers of the next even number of bits; those that are too large are skipped.
    """
    half = max(1, (max(count - 1, 1).bit_length() + 1) // 2)
    for start in range(0, 1 << (2 * half), _STEP):
        numbers = np.arange(start, min(start + _STEP, 1 << (2 * half)), dtype=np.uint64)
        chosen = _scrambled(numbers, half, seed)
        yield from chosen[chosen < count].tolist()


def _scrambled(numbers: npt.NDArray[np.uint64], half: int, seed: int) -> npt.NDArray[np.uint64]:
    mask = np.uint64((1 << half) - 1)
    left, right = numbers >> np.uint64(half), numbers & mask
    for turn in range(_ROUNDS):
        key = np.uint64((seed * _ROUNDS + turn + 1) * 0x9E3779B97F4A7C15 % (1 << 64))
        left, right = right, left ^ (_mixed(right + key) & mask)
    return left << np.uint64(half) | right


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finalizer of splitmix64: every bit of the input has an influence on every bit of the output."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _dataset_at(path: Path, follow_links: bool) -> Dataset:
    datasets = detect(path, "light-splade", follow_links).datasets
    if len(datasets) > 1:
        raise RagdataError(f"{path} has {len(datasets)} light-splade datasets; name one: {datasets[0].display}")
    datasets[0].leave_out_links()
    if datasets[0].unread:
        raise RagdataError(datasets[0].unread[0])
    return datasets[0]


def _files(dataset: Dataset, kind: str, split: str) -> list[DataFile]:
    """The files of a split; those of a dataset that is a single split have none."""
    files = [f for f in dataset.of_kind(kind) if f.split in (split, None)]
    if not files:
        raise RagdataError(f"{dataset.display} has no {_NAMES[kind]} for the split {split}")
    return files


def _opened(file: DataFile, stack: ExitStack) -> IO[bytes]:
    """The file, open for reading; a packed one is unpacked into a scratch file."""
    try:
        if not file.path.name.endswith(".gz"):
            return stack.enter_context(file.boundary.open(file.path, buffering=0))
        scratch = _scratch(stack)
        source = Source(file.path, gz=True, boundary=file.boundary)
        for piece in source.pieces():
            scratch.write(piece)
        scratch.flush()
        _refuse_faults(file, source)
        return scratch
    except OSError as error:
        raise RagdataError(f"{file.display}: {error.strerror}") from error


def _scratch(stack: ExitStack) -> IO[bytes]:
    """A file without a name, which is gone when it is closed."""
    return stack.enter_context(tempfile.TemporaryFile(prefix="ragdata-"))


def _refuse_faults(file: DataFile, source: Source) -> None:
    for fault in source.faults:
        reason = fault.facts.get("reason", fault.rule.replace("-", " "))
        raise RagdataError(f"{file.display}: {fault.rule.replace('-', ' ')}: {reason}")


def _index(
    display: str, opened: IO[bytes], file: DataFile, decoder: Any, columns: tuple[array[int], array[int], array[int]]
) -> None:
    """Add the id, the offset and the length of each line."""
    ids, offsets, lengths = columns
    decode = decoder.decode
    number, held, offset = 0, b"", 0
    opened.seek(0)
    while True:
        piece = opened.read(1 << 20)
        data = held + piece
        cut = data.rfind(b"\n") + 1 if piece else len(data)
        for begin, line, _ in iter_lines(data[:cut]):
            number += 1
            try:
                ids.append(decode(line).id)
            except (msgspec.MsgspecError, OverflowError) as error:
                raise RagdataError(f"{display}:{number}: no record of the {_NAMES[file.kind]}: {error}") from None
            offsets.append(offset + begin)
            lengths.append(len(line))
        offset += cut
        held = data[cut:]
        if not piece:
            return


def _triplets(file: DataFile) -> Iterator[tuple[int, list[_Triplet]]]:
    """The triplets of a file in blocks: the 1-based line of the first, and the records."""
    source = Source(file.path, file.path.name.endswith(".gz"), boundary=file.boundary)
    decoder = msgspec.json.Decoder(_Triplet)
    line_number = 1
    for block in source.blocks():
        if block.skipped:
            raise RagdataError(f"{file.display}:{line_number}: no triplet: the line has {block.skipped:,} bytes")
        lines = [line for _, line, _ in iter_lines(block.data)]
        try:
            records = decoder.decode_lines(block.data) if len(lines) > 1 and b"\r" not in block.data else None
        except msgspec.MsgspecError:
            records = None
        if records is None or len(records) != len(lines):
            records = [_decoded(decoder, line, file, line_number + i) for i, line in enumerate(lines)]
        yield line_number, records
        line_number += len(lines)
    _refuse_faults(file, source)


def _decoded(decoder: msgspec.json.Decoder[_Triplet], line: bytes, file: DataFile, number: int) -> _Triplet:
    try:
        return decoder.decode(line)
    except msgspec.MsgspecError as error:
        raise RagdataError(f"{file.display}:{number}: no triplet: {error}") from None
