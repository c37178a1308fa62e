"""Names and ids as LightRAG makes them: what becomes of an entity's name, the hashes, lists joined with ``<SEP>``."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from hashlib import md5

SEPARATOR = "<SEP>"
NO_SOURCES = frozenset({"", "UNKNOWN", "manual_creation", "manual"})
"""What stands for a source and is none."""
UNKNOWN_FILE = "unknown_source"
NO_KEYWORDS = "related"
"""What a relation without keywords is called."""

_SURROGATES = re.compile("[\ud800-\udfff\ufffe\uffff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F]")
_TAGS = re.compile(r"</p\s*>|<p\s*>|<p/>|</br\s*>|<br\s*>|<br/>", re.I)
_WIDE = (
    "ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ"  # noqa: RUF001
    "０１２３４５６７８９－＋／＊（）—　"  # noqa: RUF001
)
_NARROW = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-+/*()- "
_TO_NARROW = str.maketrans(_WIDE, _NARROW)
_HAN = "\u4e00-\u9fa5"
_WORD = r"a-zA-Z0-9\(\)\[\]@#$%!&\*\-=+_"
_BLANKS = re.compile(rf"(?<=[{_HAN}])\s+(?=[{_HAN}{_WORD}])|(?<=[{_WORD}])\s+(?=[{_HAN}])")
_CURLY = str.maketrans("", "", "“”‘’")  # noqa: RUF001
# From the first mark of a run only: of many in a row each one would be tried as the first.
_QUOTES_AT_HAN = re.compile(rf"(?<!['\"])['\"]+(?=[{_HAN}])|(?<=[{_HAN}])['\"]+")
_NARROW_SPACE = re.compile(r"(?<=[^\d])\u202F")
_PAIRS = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("《", "》"))  # noqa: RUF001
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 .,_-]*[A-Za-z0-9.]")
"""Names that nothing happens to: most of them."""


def sanitized(text: str) -> str:
    """Text without what cannot be stored: outer blanks, half characters, control characters; entities resolved."""
    text = text.strip()
    if not text:
        return text
    return _CONTROLS.sub("", _SURROGATES.sub("", html.unescape(text))).strip()


def normalised(name: str, quotes: bool = True) -> str:
    """The name under which an entity is stored; empty where nothing is left. ``quotes``: those inside go, too."""
    if _PLAIN.fullmatch(name):
        return name
    name = _BLANKS.sub("", _TAGS.sub("", sanitized(name)).translate(_TO_NARROW))
    if len(name) >= 2:
        for opening, closing in _PAIRS:
            inside = name[1:-1]
            if name.startswith(opening) and name.endswith(closing) and opening not in inside and closing not in inside:
                name = inside
    if quotes:
        name = _QUOTES_AT_HAN.sub("", name.translate(_CURLY)).replace("\u00a0", " ")
        name = _NARROW_SPACE.sub(" ", name)
    name = name.strip()
    if len(name) < 3 and re.match(r"^[0-9]+$", name):
        return ""
    if len(name) < 6 and "." in name and all(c.isdigit() or c == "." for c in name):
        return ""
    return name


def hashed(prefix: str, text: str) -> str:
    """An id: the prefix, and the MD5 of a text."""
    return prefix + md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def entity_id(name: str) -> str:
    """The id of an entity's vector."""
    return hashed("ent-", name)


def relation_ids(source: str, target: str) -> Iterator[str]:
    """The id of a relation's vector, and the one that older versions gave it."""
    first, second = pair_of(source, target)
    yield hashed("rel-", first + second)
    yield hashed("rel-", second + first)


def sources_of(joined: str) -> list[str]:
    """The chunks in a ``source_id``, without what stands for none."""
    return [part for part in joined.split(SEPARATOR) if part not in NO_SOURCES]


def pair_of(source: str, target: str) -> tuple[str, str]:
    """The two ends of an edge, which has no direction."""
    return (source, target) if source <= target else (target, source)


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].strip()
