"""The files of a dataset as they are written: streamed, counted, digested, nothing outside of the target folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Literal, TypeVar

import msgspec

from ragdatakit.files.paths.boundary import open_listed
from ragdatakit.files.paths.digests import file_digest
from ragdatakit.files.paths.own_files import RENAMED_IDS, is_own
from ragdatakit.outputs.file_writers import (
    PIECE,
    ArrayWriter,
    CsvWriter,
    FileWriter,
    LineWriter,
    ObjectWriter,
    WrappedWriter,
)
from ragdatakit.outputs.line_shards import LineShards, shard_name
from ragdatakit.schemas.conversions import MOST_EXAMPLES, Losses, WrittenFile
from ragdatakit.schemas.errors import RagdataError

_ENCODER = msgspec.json.Encoder()
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
        writer = LineShards(name, lambda shard: self._writing(shard, LineWriter), self.shard_bytes)
        try:
            yield writer
        finally:  # also what is then withdrawn
            writer.end_shard()
            for number in range(writer.count):
                self._moved(shard_name(name, number), shard_name(name, number, writer.count))
            self._shards[name] = writer.count

    def written(self, name: str) -> list[str]:
        """The files that a finished file is."""
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
                    while piece := source.read(PIECE):
                        writer.put(piece)
            else:
                writer.put(content.encode() if isinstance(content, str) else content)

    @contextmanager
    def path(self, name: str, records: int | None = None) -> Iterator[Path]:
        """Where another library is to write the file (a database); it is counted when the block ends."""
        self._claim(name)
        import tempfile

        with tempfile.TemporaryDirectory(dir=self._scratch) as scratch:
            path = Path(scratch) / PurePosixPath(name).name
            yield path
            self.files[name] = WrittenFile(name, records, path.stat().st_size, file_digest(path))
            if self.folder is not None:
                target = self.folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                import shutil

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
