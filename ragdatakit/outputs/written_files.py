"""The files of a dataset as they are written: streamed, counted, digested, nothing outside of the target folder."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal, TypeVar

import msgspec

from ragdatakit.files.paths.boundary import open_listed
from ragdatakit.files.paths.manifest import file_digest
from ragdatakit.files.paths.own_files import RENAMED_IDS, is_own
from ragdatakit.schemas.conversions import MOST_EXAMPLES, Losses, WrittenFile
from ragdatakit.schemas.errors import RagdataError

_ENCODER = msgspec.json.Encoder()
_FLUSH = 1 << 20
_ROWS = 1 << 10
"""Rows of a table that are held as text."""
_LONG_CELL = 200
IdKind = Literal["passage", "question", "node", "relation"]
_RESERVED = {"con", "prn", "aux", "nul", *(f"{p}{n}" for p in ("com", "lpt") for n in range(1, 10))}


def is_safe_name(name: str) -> bool:
    """Whether a relative path with ``/`` stays below its folder and is a file name everywhere."""
    parts = PurePosixPath(name).parts
    canonical = bool(parts) and "/".join(parts) == name  # neither "./a" nor "a/", which are other names of the same
    return canonical and not name.startswith("/") and "\\" not in name and all(map(_is_safe_part, parts))


def _is_safe_part(part: str) -> bool:
    return (
        part not in (".", "..")
        and part.isprintable()  # no lone surrogate is
        and len(part.encode()) <= 255
        and not set(part) & set('<>:"|?*')
        and part.split(".", maxsplit=1)[0].lower() not in _RESERVED
    )


def safe_part(text: str) -> str:
    """A file name made of any text: letters, digits, ``-_.``; never empty, never hidden, never reserved."""
    cleaned = "".join(c if c.isalnum() or c in "-_." else "-" for c in text).strip("-. ") or "unnamed"
    cleaned = cleaned.encode()[:120].decode("utf-8", "ignore").rstrip("-. ")
    return f"_{cleaned}" if cleaned.split(".")[0].lower() in _RESERVED else cleaned


class FileWriter:
    """One file that is being written; ``records`` counts what was written to it."""

    def __init__(self, name: str, file: IO[bytes] | None, counts_records: bool = True) -> None:
        self.name = name
        self.records = 0
        self.bytes = 0
        self.counts_records = counts_records
        self._file = file
        self._digest = hashlib.sha256()
        self._held: list[bytes] = []
        self._held_bytes = 0

    def put(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > _FLUSH:
            self.flush()

    def append(self, path: Path, records: int) -> None:
        """The content of a file, which has so many records."""
        with open_listed(path) as source:
            while piece := source.read(_FLUSH):
                self.put(piece)
        self.records += records

    def flush(self) -> None:
        """Hand on what is held."""
        data = b"".join(self._held)
        self._held.clear()
        self._held_bytes = 0
        self.bytes += len(data)
        self._digest.update(data)
        rest = memoryview(data)
        while self._file is not None and rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Put what belongs at the end."""

    def written(self) -> WrittenFile:
        """What was written so far."""
        return WrittenFile(
            self.name, self.records if self.counts_records else None, self.bytes, self._digest.hexdigest()
        )


class LineWriter(FileWriter):
    """Records, one a line."""

    def write(self, value: Any) -> None:
        """A record as compact JSON; `msgspec.Raw` values are as they are."""
        self.put(_ENCODER.encode(value) + b"\n")
        self.records += 1

    def write_json(self, text: str) -> None:
        """A record that is compact JSON already."""
        self.put(text.encode() + b"\n")
        self.records += 1

    def write_line(self, text: str) -> None:
        """A line of text (without its end)."""
        self.put(text.encode() + b"\n")
        self.records += 1


MOST_LAID_OUT = 1 << 24
"""Bytes of an element up to which it is indented."""


class ArrayWriter(FileWriter):
    """One JSON array, an element at a time; laid out as Python's ``json.dump`` with this ``indent`` does it.

    There is no line end behind the last bracket. An element of many megabytes is written in one line: laid out it may
    take twice the room, and more than its readers take.
    """

    _opening, _closing = b"[", b"]"

    def __init__(self, name: str, file: IO[bytes] | None, indent: int | None = None) -> None:
        super().__init__(name, file)
        self.indent = indent
        self._margin = b"" if indent is None else b"\n" + b" " * indent
        self._end = self._margin[:1]

    def write(self, value: Any) -> None:
        """An element; `msgspec.Raw` values in it are laid out anew, their numbers and strings as they stand."""
        self._add(b"", value)

    def _add(self, name: bytes, value: Any) -> None:
        data = _ENCODER.encode(value)
        if self.indent is not None and not isinstance(value, str) and len(data) < MOST_LAID_OUT:
            data = msgspec.json.format(data, indent=self.indent).replace(b"\n", self._margin)
        self.put((b"," if self.records else self._opening) + self._margin + name + data)
        self.records += 1

    def close(self) -> None:
        """End the array, and what is around it."""
        self.put((self._end if self.records else self._opening) + self._closing)


class ObjectWriter(ArrayWriter):
    """One JSON object, a member at a time."""

    _opening, _closing = b"{", b"}"

    def write_member(self, name: str, value: Any) -> None:
        """A member."""
        self._add(_ENCODER.encode(name) + (b":" if self.indent is None else b": "), value)


class WrappedWriter(ArrayWriter):
    """One JSON object with an array in a member, an element at a time; ``beside`` are members behind it."""

    _closing = b"]"

    def __init__(self, name: str, file: IO[bytes] | None, member: str) -> None:
        super().__init__(name, file, indent=2)
        self._opening = b"{\n  %b: [" % _ENCODER.encode(member)
        self._margin, self._end = b"\n    ", b"\n  "
        self.beside: dict[str, Any] = {}

    def close(self) -> None:
        """End both."""
        super().close()
        for name, value in self.beside.items():
            data = msgspec.json.format(_ENCODER.encode(value), indent=2).replace(b"\n", b"\n  ")
            self.put(b",\n  %b: %b" % (_ENCODER.encode(name), data))
        self.put(b"\n}\n")


class CsvWriter(FileWriter):
    """A CSV table with ``\\n`` line ends, which begins with its header."""

    def __init__(self, name: str, file: IO[bytes] | None, header: Sequence[str], delimiter: str) -> None:
        super().__init__(name, file)
        self._text = io.StringIO()
        self._rows = 0
        self._csv = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        # which leaves a lone carriage return bare, and every reader takes it for a line end
        self._quoted = csv.writer(self._text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
        self._delimiter, self._needs_quotes = delimiter, re.compile(f'["\n{re.escape(delimiter)}]').search
        self._row(header)

    def write(self, row: Sequence[object]) -> None:
        """A row of cells."""
        self._row(row)
        self.records += 1

    def write_with_json(self, cells: Sequence[str], text: bytes) -> None:
        """A row of texts, with an object of JSON that has members as its last cell."""
        if any("\r" in cell for cell in cells):
            self.write((*cells, text.decode()))
            return
        self._hand_on()
        before = self._delimiter.join(map(self._cell, cells)) + self._delimiter
        self.put(b'%b"%b"\n' % (before.encode(), text.replace(b'"', b'""')))
        self.records += 1

    def write_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Many rows of texts."""
        start = self._text.tell()
        self._csv.writerows(rows)
        self._text.seek(start)
        if "\r" not in self._text.read():
            self._rows += len(rows)
            self.records += len(rows)
            self.flush()
            return
        self._text.seek(start)
        self._text.truncate()
        for row in rows:
            self.write(row)

    def _row(self, row: Sequence[object]) -> None:
        writer = self._csv
        for cell in row:
            if isinstance(cell, str) and "\r" in cell:
                writer = self._quoted
        if writer is self._csv and len(row) and type(row[-1]) is str and len(row[-1]) > _LONG_CELL:
            self._text.write(self._delimiter.join(map(self._cell, row)) + "\n")
        else:
            writer.writerow(row)
        self._rows += 1
        if self._rows >= _ROWS or self._text.tell() > _FLUSH:
            self.flush()

    def _cell(self, cell: object) -> str:
        """A cell as the library writes it, which looks at its characters one by one."""
        text = "" if cell is None else str(cell)
        return text if self._needs_quotes(text) is None else '"' + text.replace('"', '""') + '"'

    def _hand_on(self) -> None:
        if self._rows:
            self._held.append(self._text.getvalue().encode())
            self._text.seek(0)
            self._text.truncate()
            self._rows = 0

    def flush(self) -> None:
        """Hand on what is held."""
        self._hand_on()
        super().flush()


W = TypeVar("W", bound=FileWriter)


class Output:
    """The target folder of a conversion; ``folder`` None only counts (a dry run).

    ``files`` are those that are finished. Names are relative, with ``/``; one that would leave the folder, or is
    there already, is refused with `RagdataError`. Files may be of ``shard_bytes`` at most (0: as large as they are);
    with ``line_shards`` each file of lines is a folder of such.
    """

    def __init__(
        self,
        folder: Path | None,
        losses: Losses,
        scratch: Path | None = None,
        *,
        shard_bytes: int = 0,
        line_shards: bool = False,
    ) -> None:
        self.folder = folder
        self.shard_bytes, self.line_shards = shard_bytes, line_shards
        self.losses = losses
        self.files: dict[str, WrittenFile] = {}
        self._names: set[str] = set()
        self._folders: set[str] = set()
        self._scratch = scratch
        self._shards: dict[str, int] = {}
        self._ids: LineWriter | None = None
        self._renamed: dict[str, int] = {}
        self._open = ExitStack()

    def lines(self, name: str) -> AbstractContextManager[LineWriter]:
        """A file of records, one a line (NDJSON, or plain text)."""
        if self.line_shards and not is_own(name):
            return self._writing_shards(name)
        return self._writing(name, LineWriter)

    @contextmanager
    def _writing_shards(self, name: str) -> Iterator[LineWriter]:
        from ragdatakit.outputs.line_shards import LineShards, shard_name

        writer = LineShards(name, lambda shard: self._writing(shard, LineWriter), self.shard_bytes)
        yield writer
        writer.end_shard()
        for number in range(writer.count):
            self._moved(shard_name(name, number), shard_name(name, number, writer.count))
        self._shards[name] = writer.count

    def written(self, name: str) -> list[str]:
        """The files that a finished file is."""
        from ragdatakit.outputs.line_shards import shard_name

        count = self._shards.get(name)
        return [name] if count is None else [shard_name(name, number, count) for number in range(count)]

    def adopt(self, name: str, written: WrittenFile, path: Path) -> None:
        """Have a file in its place that somebody else has written, at a path on the same disk."""
        self._claim(name)
        if self.folder is not None:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            path.rename(self.folder / name)
        else:
            path.unlink()
        self.files[name] = replace(written, name=name)

    def array(self, name: str, indent: int | None = 2) -> AbstractContextManager[ArrayWriter]:
        """A file that is one JSON array."""
        return self._writing(name, partial(ArrayWriter, indent=indent))

    def object(self, name: str, indent: int | None = 2) -> AbstractContextManager[ObjectWriter]:
        """A file that is one JSON object of many members."""
        return self._writing(name, partial(ObjectWriter, indent=indent))

    def array_in(self, name: str, member: str) -> AbstractContextManager[WrappedWriter]:
        """A file that is one JSON object with an array in that member."""
        return self._writing(name, partial(WrappedWriter, member=member))

    def csv(self, name: str, header: Sequence[str], delimiter: str = ",") -> AbstractContextManager[CsvWriter]:
        """A file that is one table with a header."""
        return self._writing(name, partial(CsvWriter, header=header, delimiter=delimiter))

    def file(self, name: str, new: Callable[[str, IO[bytes] | None], W]) -> AbstractContextManager[W]:
        """A file of another kind, whose writer ``new`` makes of its name and the open file."""
        return self._writing(name, new)

    def write(self, name: str, content: bytes | str | Path) -> None:
        """A whole file, from bytes, text or another file."""
        with self._writing(name, partial(FileWriter, counts_records=False)) as writer:
            if isinstance(content, Path):
                with open_listed(content) as source:
                    while piece := source.read(_FLUSH):
                        writer.put(piece)
            else:
                writer.put(content.encode() if isinstance(content, str) else content)

    @contextmanager
    def path(self, name: str, records: int | None = None) -> Iterator[Path]:
        """Where another library is to write the file (a database); it is counted when the block ends."""
        self._claim(name)
        with tempfile.TemporaryDirectory(dir=self._scratch) as scratch:
            path = Path(scratch) / PurePosixPath(name).name
            yield path
            self.files[name] = WrittenFile(name, records, path.stat().st_size, file_digest(path))
            if self.folder is not None:
                target = self.folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(path, target)

    def renamed(self, kind: IdKind, new: str | int, old: str) -> None:
        """Say that what was called ``old`` is called ``new`` here. Reading the output maps it back."""
        if self._ids is None:
            self._ids = self._open.enter_context(self.lines(RENAMED_IDS))
        encode = _ENCODER.encode
        self._ids.put(b'{"kind":"%b","id":%b,"was":%b}\n' % (kind.encode(), encode(new), encode(old)))
        self._ids.records += 1
        count = self._renamed[kind] = self._renamed.get(kind, 0) + 1
        if count <= MOST_EXAMPLES:  # the others are counted when all is written: there may be millions
            self._count_renamed(kind, f"{old} became {new}", 1)

    def _count_renamed(self, kind: str, example: str | None, count: int) -> None:
        self.losses.add("renumbered", f"{kind}s", None, f"the mapping is in {RENAMED_IDS}", example, count)

    def free_part(self, pattern: str, text: str) -> str:
        """What stands for ``{}`` in the name of a new file: the text, as far as file names go, and no name twice."""
        base = part = safe_part(text)
        number = 1
        while pattern.format(part).lower() in self._names:
            number += 1
            part = f"{base}-{number}"
        return part

    def moved(self, name: str, new: str) -> None:
        """Give a finished file another name."""
        before = self.written(name)
        if name in self._shards:
            self._shards[new] = self._shards.pop(name)
        for old, wanted in zip(before, self.written(new), strict=True):
            self._moved(old, wanted)

    def _moved(self, name: str, new: str) -> None:
        self._claim(new)
        if self.folder is not None:
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).rename(self.folder / new)
            self._remove_empty(name)
        self.files[new] = replace(self.files.pop(name), name=new)
        self._names.discard(name.lower())

    def withdraw(self, name: str) -> None:
        """Remove a file again; what was begun on a wrong assumption may be written anew under its name."""
        for file in self.written(name):
            if self.folder is not None:
                (self.folder / file).unlink()
                self._remove_empty(file)
            self.files.pop(file, None)
            self._names.discard(file.lower())
        self._shards.pop(name, None)

    def _remove_empty(self, name: str) -> None:
        """The folder of a shard that is no longer there, where that was the last one."""
        if self.folder is not None and self.line_shards:
            with suppress(OSError):
                (self.folder / name).parent.rmdir()

    def close(self) -> None:
        """Finish what is still open."""
        for kind, count in self._renamed.items():
            if count > MOST_EXAMPLES:
                self._count_renamed(kind, None, count - MOST_EXAMPLES)
        self._renamed.clear()
        self._open.close()

    def _claim(self, name: str) -> None:
        if not is_safe_name(name):
            raise RagdataError(f"{name!r} is not a file name that can be written below the target folder")
        found = name.lower()
        folders = {parent.as_posix() for parent in PurePosixPath(found).parents} - {"."}
        if found in self._names:
            raise RagdataError(f"{name!r} would be written twice")
        if found in self._folders or not self._names.isdisjoint(folders):
            raise RagdataError(f"{name!r} would be a file and a folder")
        self._names.add(found)
        self._folders |= folders

    @contextmanager
    def _writing(self, name: str, new: Callable[[str, IO[bytes] | None], W]) -> Iterator[W]:
        """A file that is open for the block, and finished with it; ``new`` makes its writer."""
        self._claim(name)
        with ExitStack() as open_files:
            file = None
            if self.folder is not None:
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                file = open_files.enter_context(path.open("xb", buffering=0))
            writer = new(name, file)
            yield writer
            writer.close()
            writer.flush()
            self.files[name] = writer.written()


__all__ = ["ArrayWriter", "CsvWriter", "LineWriter", "ObjectWriter", "Output", "is_safe_name", "safe_part"]
