"""Lines of triples, as release 1 of GFM-RAG has them, written anew without blanks around their names."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from ragdatakit.files.containers.beginnings import BOM
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.fixes.applying import PlainFile
from ragdatakit.fixes.whole_bytes import whole_bytes
from ragdatakit.validators.gfm_rag.legacy import Triple, delimiter_of, lines_of, split_line

_LONGEST = 1 << 26
"""Bytes of a file of which all lines are held at once, as they all say what is between the names."""


def can_be_trimmed(path: Path, boundary: Boundary) -> bool:
    """Whether any line would change."""
    data = whole_bytes(path, boundary, _LONGEST)
    return data is not None and _trimmed(data) not in (None, data)


def trimmed_parts(source: PlainFile, target: IO[bytes]) -> None:
    """The lines of a file with their names trimmed."""
    data = source.read(0, source.size)
    target.write(_trimmed(data) or data)


def _trimmed(data: bytes) -> bytes | None:
    """The same; None where they are not UTF-8. Names that are nothing but blanks stay."""
    mark = data.startswith(BOM)
    try:
        text = data.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        return None
    delimiter, lines = delimiter_of(lines_of(text)), text.splitlines(keepends=True)
    if "".join(lines_of(text)) != "".join(line.rstrip("\r\n") for line in lines):
        return None  # a line ends at what is no line break for the loader
    return (BOM if mark else b"") + "".join(_line(line, delimiter) for line in lines).encode()


def _line(line: str, delimiter: str) -> str:
    triple = split_line(line, delimiter)
    if not isinstance(triple, Triple):
        return line
    names = [name.strip() for name in (triple.head, triple.relation, triple.tail)]
    return line.replace(line.strip(), delimiter.join(names), 1) if all(names) else line
