"""Whether a file may be something other than text, in which nothing is edited: some of it was read, but not all."""

from __future__ import annotations

import codecs
from pathlib import Path

from ragdatakit.files.containers.beginnings import HEAD_BYTES
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.detection.sniffing import beginning
from ragdatakit.files.paths.boundary import Boundary


def seen_in_head(path: Path, boundary: Boundary) -> str:
    """That there are NUL bytes in the beginning of a file, unpacked; empty where there are none."""
    return (
        "there are NUL bytes in it, so that it may not be text"
        if b"\0" in beginning(path, HEAD_BYTES, boundary)[0]
        else ""
    )


def seen_in_lines(path: Path, boundary: Boundary) -> str:
    """That a file is not UTF-8 to its end; empty where it is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in Source(path, path.name.endswith(".gz"), boundary=boundary).pieces():
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "not all of it is UTF-8, so that it may not be text"
    return ""
