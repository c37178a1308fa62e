"""Whether a text was decoded with a wrong encoding at some time, and what it was before.

For encodings of the West ftfy tells it: its heuristic names texts that look odd, and only those of them count that
decode to something else consistently. What UTF-8 of Japanese or Chinese becomes as Shift-JIS or GBK it does not know:
there, nearly every other character is one of a few that are rare in true text.
"""

from __future__ import annotations

import re
from itertools import islice

_AS_SHIFT_JIS = re.compile("[縺繧繝繹]")
_AS_GBK = "锟斤拷"
_LEAST, _SHARE = 4, 0.15
_AROUND = 24
_LONGEST = 200
_MOST_TRIED = 50
"""Places of a text at which it is tried whether it decodes to something else."""


def garbled(text: str) -> tuple[str, str] | None:
    """The first garbled words of a text, and what they were (empty where nobody can tell); None where it is sound.

    Raises `ImportError` without ftfy.
    """
    if text.isascii():
        return None
    if _AS_GBK in text:
        return _AS_GBK, ""
    found = _AS_SHIFT_JIS.findall(text)
    if len(found) >= _LEAST and len(found) >= _SHARE * sum(not c.isascii() for c in text):
        match = _AS_SHIFT_JIS.search(text)
        start = match.start() if match else 0
        return text[start : start + _AROUND], _repaired(text[start : start + _AROUND])
    from ftfy import fix_encoding
    from ftfy.badness import BADNESS_RE, is_bad

    if not is_bad(text):
        return None
    for match in islice(BADNESS_RE.finditer(text), _MOST_TRIED):
        start, end = match.span()
        left = max(start - _AROUND, 0)
        first = max(left, text.rfind(" ", left, start) + 1)
        last = text.find(" ", end, end + _AROUND)
        words = text[first : last if last >= 0 else end + _AROUND][:_LONGEST].strip()
        repaired = fix_encoding(words)
        if repaired != words:
            return words, repaired
    return None


def _repaired(words: str) -> str:
    try:
        return words.encode("cp932", "ignore").decode("utf-8", "ignore")
    except UnicodeError:
        return ""
