"""What a manifest is in its file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec


class _File(msgspec.Struct):
    path: str
    records: int | None
    bytes: Annotated[int, msgspec.Meta(ge=0)]
    sha256: str


class _SourceFile(msgspec.Struct):
    path: str
    sha256: str


class _Source(msgspec.Struct):
    format: str = ""
    files: list[_SourceFile] = []


class _Document(msgspec.Struct):
    """A manifest as it is in the file, where anybody may have edited it."""

    version: Literal[1]
    ragdata: str
    source: dict[str, Any] = {}
    target: dict[str, Any] = {}
    options: dict[str, Any] = {}
    counts: dict[str, int] = {}
    losses: list[dict[str, Any]] = []
    files: list[_File] = []


decoded = msgspec.json.Decoder(_Document).decode
"""The manifest in the text of a file. Raises `msgspec.DecodeError`."""


def source_files(document: _Document) -> list[_SourceFile]:
    """The files that it was made from."""
    return msgspec.convert(document.source, _Source).files
