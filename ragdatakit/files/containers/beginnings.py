"""What the first bytes of a file say that should be text: packed, a Git LFS pointer, not text at all, no lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ragdatakit.late_modules import late_module
from ragdatakit.late_patterns import late_pattern

if TYPE_CHECKING:
    import zlib
else:
    zlib = late_module("zlib")

GZIP_MAGIC = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
LFS_PREFIX = b"version https://git-lfs.github.com/spec/v1"
HEAD_BYTES = 1 << 16
"""Bytes that are looked at."""
_MANY_NULS = 16, 10
"""From so many on, and one in so many bytes, NULs are no damage of single records."""
_CONTROLS = bytes({*range(32)} - {*b"\t\n\f\r"})
_MANY_CONTROLS = 20
"""One in so many bytes of what is not UTF-8: it is not text of another encoding either. Of noise it is one in nine."""
_BINARY: dict[bytes, str] = {
    rb"PAR1[\0-\x08\x0e-\x1f]": "Parquet",  # a text may begin with PAR1
    rb"PK(?:\x03\x04|\x05\x06)": "a zip archive",
    rb"(?s:.{257})ustar[\0 ]": "a tar archive",
    rb"7z\xbc\xaf\x27\x1c": "a 7z archive",
    rb"\x28\xb5\x2f\xfd": "zstd data",
    rb"\xfd7zXZ\0": "xz data",
    rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)": "bzip2 data",
    GZIP_MAGIC: "gzip data within gzip data",
    rb"\x80[\x02-\x05]": "a pickle",
    rb"\x93NUMPY": "a NumPy array",
    rb"ARROW1\0\0": "an Arrow file",
    rb"SQLite format 3\0": "an SQLite database",
    rb"\x89HDF\r\n": "HDF5",
    rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a": "an image",
    rb"%PDF-\d": "a PDF document",
    rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Office document",
}
"""Beginnings of unpacked data, and what they are of."""
_ANY_BINARY = late_pattern(b"|".join(b"(" + start + b")" for start in _BINARY))
IS_PAGE = "it is a page of HTML"
_PAGE = late_pattern(rb"\s*(?is:<(?:!doctype html|html)(?:\s[^<>]*)?>(?:\s*(?:<|\Z)|.*</html>\s*\Z))")
"""A text may begin with the name of a tag."""
_SPREAD = late_pattern(rb"\{[ \t]*\r?\n\s*\"(?:[^\"\\\n]|\\.)*\"[ \t]*:")
_WIDE = ((b"\xff\xfe\0\0", "UTF-32"), (b"\0\0\xfe\xff", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
ENCODINGS = frozenset(name for _, name in _WIDE)
"""The encodings that a mark at the beginning names."""
_WIDE_MARKS = tuple(mark for mark, _ in _WIDE)


def unpacked(data: bytes, length: int) -> tuple[bytes, bool]:
    """So many uncompressed bytes of the beginning of a file, and whether there are more."""
    if data.startswith(GZIP_MAGIC):
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, length + 1)
        except zlib.error:
            return b"", False
    return data[:length].removeprefix(BOM), len(data) > length


def encoding_other_than_utf8(head: bytes) -> str:
    """The encoding that a mark at the beginning names; empty where there is none."""
    if not head.startswith(_WIDE_MARKS):
        return ""
    return next(name for mark, name in _WIDE if head.startswith(mark))


def why_not_text(head: bytes, prose: bool = False) -> str:
    """Why what begins with these unpacked bytes is not data as text of UTF-8, in words; empty where it may be. A page
    of HTML may be ``prose``."""
    if (b"\0" in head or not is_utf8(head)) and (found := _ANY_BINARY.match(head)):  # a text may begin with GIF89a
        return f"it holds {[*_BINARY.values()][(found.lastindex or 1) - 1]}"
    if encoding := encoding_other_than_utf8(head):
        return f"it is {encoding}"
    if not prose and _PAGE.match(head):
        return IS_PAGE
    return "there are NUL bytes in it" if b"\0" in head and _is_noise(head) else ""


def is_array(head: bytes) -> bool:
    """Whether what begins with these unpacked bytes is one JSON array of objects, and not lines of which the first is
    an array, or damaged."""
    opened = head.lstrip()
    if not opened.startswith(b"[") or not opened[1:].lstrip().startswith(b"{"):
        return False
    first, _, rest = head.strip().partition(b"\n")
    if _is_json(first):
        return not rest
    return first.strip() == b"[" or not _is_json(rest.lstrip().partition(b"\n")[0])


def is_spread(head: bytes) -> bool:
    """Whether what begins with these unpacked bytes are JSON objects over several lines, the first at the beginning."""
    opened = head.lstrip()
    is_alone = opened.startswith(b"{") and opened[1:].lstrip(b" \t").startswith((b"\r", b"\n"))
    return is_alone and bool(_SPREAD.match(opened))  # of few files the pattern is asked


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _is_noise(head: bytes) -> bool:
    """Whether there are more NULs, or control characters in what is not UTF-8, than damaged records of text have."""
    least, share = _MANY_NULS
    nuls = head.count(b"\0")
    if nuls >= least and nuls * share >= len(head):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls * _MANY_CONTROLS >= len(head) and not is_utf8(head)


def is_utf8(head: bytes) -> bool:
    """Whether bytes are UTF-8, except for a character that is cut at their end."""
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3 and error.reason == "unexpected end of data"
    return True
