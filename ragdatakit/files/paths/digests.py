"""Digests of files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ragdatakit.files.paths.boundary import ANYWHERE, Boundary

_PIECE = 1 << 20


def file_digest(path: Path, boundary: Boundary = ANYWHERE) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with boundary.open(path) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
