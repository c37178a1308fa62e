"""Whether a file is text at all: of a table or an archive with the name of a data file, nothing is edited."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from pathlib import Path

from ragdatakit.files.containers.sources import GZIP_MAGIC, Source
from ragdatakit.files.paths.boundary import Boundary

_HEAD = 1 << 16
"""Bytes in which a NUL is looked for."""
_BEGINNINGS = {
    rb"PAR1[\0-\x08\x0e-\x1f]": "it holds Parquet, not text",  # a text may begin with PAR1
    rb"PK\x03\x04": "it holds a zip archive, not text",
    rb"\x80[\x02-\x05]": "it holds a pickle, not text",
    GZIP_MAGIC: "it holds gzip data within gzip data, not text",
    rb"\xff\xfe\0\0|\0\0\xfe\xff": "it is UTF-32, not UTF-8",
    rb"\xff\xfe|\xfe\xff": "it is UTF-16, not UTF-8",
    rb"(?s:.*)\0": "it is not text: there are NUL bytes in it",
}


def seen_in_head(path: Path, boundary: Boundary) -> str:
    """What the first bytes of a file, unpacked, hold other than text; empty where that is nothing. Raises `OSError`."""
    with boundary.open(path) as raw:
        head = raw.read(_HEAD)
        if head.startswith(GZIP_MAGIC):
            raw.seek(0)
            head = _unpacked(gzip.GzipFile(fileobj=raw, mode="rb"))
    return next((words for start, words in _BEGINNINGS.items() if re.match(start, head)), "")


def _unpacked(stream: gzip.GzipFile) -> bytes:
    head = b""
    try:
        while len(head) < _HEAD and (piece := stream.read1(_HEAD)):
            head += piece
    except (EOFError, OSError, zlib.error):
        pass  # it is not known whole, which is reported where it is unpacked
    return head


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
