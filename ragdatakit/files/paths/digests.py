"""Digests of files."""

from __future__ import annotations

from pathlib import Path

from ragdatakit.files.paths.boundary import ANYWHERE, Boundary

_PIECE = 1 << 20


def file_digest(path: Path, boundary: Boundary = ANYWHERE) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    from hashlib import sha256  # loads OpenSSL, which a run that only looks for fixes needs not

    digest = sha256()
    with boundary.open(path) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
