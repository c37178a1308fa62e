"""What a .jsonl file of DataMind really holds, found from its first and last bytes: lines, one array, plain text."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Literal

from ragdatakit.files.containers.beginnings import GZIP_MAGIC, LFS_PREFIX

HEAD_BYTES = 1 << 16
Shape = Literal["lines", "array", "spread objects", "plain text"]


def shape_of(path: Path, plain_allowed: bool) -> Shape:
    """The shape of a file; "lines" wherever there is doubt, since lines are then checked one by one."""
    ends = _read_ends(path)
    if ends is None:
        return "lines"
    head, tail = ends
    if head.startswith((GZIP_MAGIC, LFS_PREFIX)):
        return "lines"
    rows = [row for row in head.removeprefix(b"\xef\xbb\xbf").splitlines() if row.strip()]
    if not rows:
        return "lines"
    first = rows[0].strip()
    if first.startswith(b"["):
        return "array" if _is_array_file(first, rows, tail) else "lines"
    if first == b"{" and len(rows) > 1 and rows[1].strip().startswith(b'"'):
        return "spread objects"
    if plain_allowed and not any(row.strip().startswith((b"{", b"[", b'"')) for row in rows[:200]):
        return "plain text"
    return "lines"


def _read_ends(path: Path) -> tuple[bytes, bytes] | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            return None
        head = os.pread(descriptor, HEAD_BYTES, 0)
        return head, os.pread(descriptor, 64, max(0, info.st_size - 64))
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _is_array_file(first: bytes, rows: list[bytes], tail: bytes) -> bool:
    if not tail.rstrip().endswith(b"]"):
        return False
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        # Cut by the end of what was read, or an array over several lines.
        return True
    # An array alone in the file: records if it holds objects, else one wrong line.
    return len(rows) == 1 and isinstance(value, list) and bool(value) and isinstance(value[0], dict)
