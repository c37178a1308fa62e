"""A value with large arrays in a file, which processes that read it share: its arrays lie in the pages of the file."""

from __future__ import annotations

import mmap
import os
import pickle
from pathlib import Path
from typing import Any

_ALIGNED = 64


def write_mapped(path: Path, value: Any) -> None:
    """Write it; a reader sees all of it or none."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, 5, buffer_callback=buffers.append)
    raws = [buffer.raw() for buffer in buffers]
    first = pickle.dumps((head, [raw.nbytes for raw in raws]))
    unfinished = path.with_name(f"{path.name}.part")
    with unfinished.open("wb") as file:
        file.write(len(first).to_bytes(8, "little") + first)
        for raw in raws:
            file.write(bytes(-file.tell() % _ALIGNED))
            file.write(raw)
    unfinished.replace(path)


def read_mapped(path: Path) -> Any:
    """The value; its arrays cannot be written to."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        head, sizes = pickle.loads(file.read(length))  # noqa: S301 - our own
        pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) if os.name == "posix" else file.read()
    view = memoryview(pages)
    at = 8 + length
    buffers = []
    for size in sizes:
        at += -at % _ALIGNED
        buffers.append(view[at : at + size])
        at += size
    return pickle.loads(head, buffers=buffers)  # noqa: S301 - our own
