"""Files of datasets, opened for reading: whole, or the part that is meant."""

from __future__ import annotations

import os
from itertools import pairwise

from ragdatakit.files.containers.beginnings import BOM, GZIP_MAGIC, HEAD_BYTES
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.sources import RangeSource, Source, file_state
from ragdatakit.files.datasets import DataFile, FilePart

_LONGEST = 1 << 28


def source_of(file: DataFile, max_line_bytes: int = _LONGEST) -> Source:
    """A file, or its part, as it is read piece by piece."""
    is_packed = file.path.name.lower().endswith(".gz")
    whole = Source(file.path, is_packed, max_line_bytes=max_line_bytes, boundary=file.boundary)
    if file.part is None:
        return whole
    return RangeSource.of(whole, file.part.start, file.part.end, file.part.state, file.part.exact)


def parts_of(file: DataFile, target_bytes: int, quoted: int = 0) -> list[FilePart | None]:
    """The parts of a file of lines, of about so many bytes; None alone where it is read whole: it is small or packed,
    no plain text, or has line breaks within ``quoted`` cells."""
    with file.boundary.open(file.path) as opened:
        info, head = os.fstat(opened.fileno()), opened.read(HEAD_BYTES)
    target = max(target_bytes, 1)
    is_plain = not (head.startswith(GZIP_MAGIC) or file.path.name.lower().endswith(".gz") or is_parquet(file.path))
    if not is_plain or info.st_size <= target:
        return [None]
    source = source_of(file)
    source.quoted = quoted
    if source.fault_of_head(lines=True) is not None or source.safe_cuts():
        return [None]
    first, state = len(BOM) if head.startswith(BOM) else 0, file_state(info)
    cuts = [*range(first, info.st_size, target), info.st_size]
    return [FilePart(start, end, not number, state) for number, (start, end) in enumerate(pairwise(cuts))]
