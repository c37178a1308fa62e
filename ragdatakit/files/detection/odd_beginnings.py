"""Why the beginning of a file says nothing: it is not text, or not the JSON that its name promises."""

from __future__ import annotations

import json
from pathlib import Path

from ragdatakit.files.containers.beginnings import HEAD_BYTES, LFS_PREFIX, encoding_other_than_utf8, why_not_text
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.parquet_tables import damage
from ragdatakit.files.containers.sources import IS_POINTER
from ragdatakit.files.detection.sniffing import beginning, emptiness
from ragdatakit.files.paths.boundary import ANYWHERE, Boundary
from ragdatakit.files.paths.folders import is_locked, is_regular, size_of

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".7z", ".rar")
PACKED = (*ARCHIVES, ".zst", ".bz2", ".xz")
_DATABASES = (".duckdb", ".ddb")
IS_ARCHIVE = "it is an archive, which is not read: unpack it first, and give the folder"
_TEXTS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


def odd_beginning(path: Path, boundary: Boundary = ANYWHERE) -> str:
    """What is odd about it, in words; empty where nothing is, or where nobody knows what it should be."""
    if reason := unread_by_name(path):
        return reason
    if is_locked(path):
        return "permission denied"
    if path.exists() and not boundary.holds(path):  # which is said of all such links
        return ""
    if not is_regular(path):
        return "it is not a regular file"
    if is_parquet(path):
        return damage(path, boundary)
    name = path.name.lower().removesuffix(".gz")
    if not name.endswith(_TEXTS):
        return ""
    if empty := emptiness(path, boundary):
        return f"it {empty}"
    head, is_cut = beginning(path, HEAD_BYTES, boundary)
    if head.startswith(LFS_PREFIX):
        return IS_POINTER
    is_cut = is_cut or size_of(path) > HEAD_BYTES
    if reason := why_not_text(head):
        encoding = encoding_other_than_utf8(head)
        return f"{reason}; convert it with `iconv -f {encoding.lower()} -t utf-8`" if encoding else reason
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if not is_cut or error.start < len(head) - 4:
            return f"byte {error.start:,} is not UTF-8"
        text = head[: error.start].decode("utf-8-sig")
    return "" if name.endswith((".csv", ".tsv")) else _not_json(text, is_cut)


def unread_by_name(path: Path) -> str:
    """Why a file with such a name is not read; empty where it may be."""
    name = path.name.lower()
    if name.endswith(ARCHIVES):
        return IS_ARCHIVE
    if name.endswith(PACKED):
        return "it is packed in a way that is not read: unpack it first"
    if name.endswith(_DATABASES):
        return "it is a database, no dataset: ask it with duckdb, or give what it was made of"
    return ""


def _not_json(text: str, is_cut: bool) -> str:
    """Why neither the text nor its first line is JSON."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    try:
        json.loads(first)
        return ""
    except (ValueError, RecursionError):
        pass
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if is_cut and (error.pos > len(text) - 100 or error.msg.startswith("Unterminated")):
            return ""
        what = error.msg[:1].lower() + error.msg[1:]
        return f"it is not JSON: {what.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError):
        return ""
    return ""
