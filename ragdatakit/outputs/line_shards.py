"""Records, one a line, in one file of a folder after the other, each up to a size."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import PurePosixPath

from ragdatakit.outputs.file_writers import LineWriter

Opener = Callable[[str], AbstractContextManager[LineWriter]]


def shard_name(name: str, number: int, count: int | None = None) -> str:
    """What a shard is called of the file that there would be without shards: ``a/b/b-00000-of-00002.ndjson`` of
    ``a/b.ndjson``; while it is not known how many there are, without their number."""
    path = PurePosixPath(name)
    behind = f"-of-{count:05}" if count is not None else ""
    return (path.with_suffix("") / f"{path.stem}-{number:05}{behind}{path.suffix}").as_posix()


class LineShards(LineWriter):
    """A file of records that is several. What is put at once is a record, and a shard has more than ``most`` bytes only
    where one record has. ``count`` is how many there are."""

    def __init__(self, name: str, open_file: Opener, most: int) -> None:
        super().__init__(name, None)
        self.count = 0
        self._open_file, self._most = open_file, most
        self._stack = ExitStack()
        self._shard = self._next()

    def put(self, data: bytes) -> None:
        """Write a record as it is."""
        if self._length and self._length + len(data) > self._most:
            self.end_shard()
            self._shard = self._next()
        self._length += len(data)
        self._shard.put(data)
        self._shard.records += 1

    def end_shard(self) -> None:
        """Finish the file that is written to."""
        self._stack.close()

    def _next(self) -> LineWriter:
        self._length = 0
        self.count += 1
        return self._stack.enter_context(self._open_file(shard_name(self.name, self.count - 1)))
