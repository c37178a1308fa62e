"""What unsafe fixes take away, kept in a file of JSON lines: nothing is gone."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import orjson

from ragdatakit.files.paths.writing import flush_to_disk
from ragdatakit.schemas.errors import RagdataError


def removed_line(path: str, line: int, rule: str, data: bytes) -> bytes:
    """One entry: the file, the line of the record, the rule, and the bytes (in base64 where they are not UTF-8)."""
    entry: dict[str, Any] = {"path": path, "line": line, "rule": rule}
    try:
        entry["removed"] = data.decode("utf-8")
    except UnicodeDecodeError:
        entry["removed_base64"] = base64.b64encode(data).decode("ascii")
    try:
        return orjson.dumps(entry) + b"\n"
    except TypeError:  # the path is not Unicode text
        entry["path"] = path.encode("utf-8", "backslashreplace").decode("utf-8")
        return orjson.dumps(entry) + b"\n"


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


class RemovedFile:
    """The file that entries are put at the end of; `undo` takes back what was put there last."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._before: int | None = None

    def add(self, spools: list[Path]) -> int:
        """The entries in these files, which are on the disk afterwards; how many they are. Raises `OSError`, and
        `RagdataError` where the file is a link: one in a foreign repository may lead to any file of the user's."""
        if self.path.is_symlink():
            raise RagdataError(
                f"{self.path} is a link, and nothing is written through links; --removed names another file"
            )
        number = 0
        self._before = self.path.stat().st_size if self.path.exists() else -1
        try:
            with open(self.path, "ab", opener=_opened) as file:
                for spool in spools:
                    with spool.open("rb") as entries:
                        while piece := entries.read(1 << 20):
                            file.write(piece)
                            number += piece.count(b"\n")
                file.flush()
                flush_to_disk(file.fileno(), self.path)
        except BaseException:
            self.undo()
            raise
        return number

    def undo(self) -> None:
        """As it was before the last `add`."""
        if self._before is not None and self.path.exists():
            if self._before < 0:
                self.path.unlink()
            else:
                os.truncate(self.path, self._before)
        self._before = None
