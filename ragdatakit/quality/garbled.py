"""Whether a text was decoded with a wrong encoding at some time, and what it was before.

For encodings of the West ftfy finds it: its heuristic names texts that look odd, and only those of them count that
decode to something else consistently. What it does not know is found by other signs:

- UTF-8 read as Shift-JIS: nearly every other character is one of a few that are rare in true text;
- UTF-8 read as GBK: encoded again, runs of its characters are UTF-8, which those of true text never are;
- Cyrillic or Greek read as Latin: words of accented letters alone.

UTF-8 read as Big5 or as Korean stays unknown: too many of its bytes are lost on the way.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from ragdatakit.late_patterns import late_pattern

_SHIFT_JIS = "縺繧繝繹"
_AS_SHIFT_JIS = late_pattern(f"[{_SHIFT_JIS}]")
_AS_GBK = "锟斤拷"
_LEAST, _SHARE = 4, 0.15
"""So many of them, and such a share of what is beyond ASCII, are mojibake: true text has one here and there."""
EAST = "\u3400-\u9fff"
_IN_A_ROW = 6
_EAST = late_pattern(f"[{EAST}][{EAST}]{{{_IN_A_ROW - 1},39}}")  # a set of characters first: so they are found quickly
_MOST_RUNS, _UTF8 = 3, 0.8
"""Runs of characters of a text that are encoded again, and the share of the bytes that must then be UTF-8 of the
East."""
_QUOTE_MARKS = "鈥窶"
_QUOTES = late_pattern(f"[A-Za-z.,!?;:)] ?[{_QUOTE_MARKS}][^\x00-\x7f]?")
"""The first two bytes of quotation marks and dashes, read as GBK or Shift-JIS, behind a word of the West."""
SIGNS = _SHIFT_JIS + _AS_GBK + _QUOTE_MARKS
_PERHAPS = late_pattern(f"[{EAST}](?:(?<=[{SIGNS}])|[{EAST}]{{{_IN_A_ROW - 1}}})")
"""What is of the East has a run of six Chinese characters, or one of these."""
ACCENTS = "À-ÖØ-öø-ÿ"
_ACCENTS_ALONE = late_pattern(f"[{ACCENTS}][{ACCENTS}]{{{_IN_A_ROW - 1},}}")
_LEAST_ACCENTS, _IN_ACCENTS = 2, 4
"""Words of six accented letters and no other: Estonian has `öö-öö`, and no language two longer ones. In
two there are at least so many suspicious places."""
_OTHERS = "\u2dff\uf8ff\ufb00-\ufb06\ufffd"
_SUSPICIOUS = late_pattern(f"[\x80-{_OTHERS}](?:(?<=[\x80-\x9fŒœÂÃ])|[\xa0-{_OTHERS}])")
"""What is in all that ftfy takes for odd: one character, or two of those behind U+00A0. To look for this is some
hundred times as quick."""
_MOST_SUSPICIOUS, _REACH, _BEFORE = 40, 8, 2
"""So many places of a text are looked at by themselves, with so many characters around each: what ftfy takes for odd
has six at most, of which so many may be ASCII before one that is not."""
_BLANKED = bytes(b" "[0] if byte < 0x80 else byte for byte in range(256))
_AROUND = 24
_LONGEST = 200
_MOST_TRIED = 50
"""Places of a text at which it is tried whether it decodes to something else."""


def garbled(text: str) -> tuple[str, str] | None:
    """The first garbled words of a text, and what they were (empty where that is not known); None where it is sound.

    Raises `ImportError` without ftfy.
    """
    if text.isascii():
        return None
    beyond = _beyond_ascii(text)
    if _PERHAPS.search(beyond) is not None and (east := _of_the_east(text)) is not None:
        return east
    suspicious = list(islice(_SUSPICIOUS.finditer(beyond), _MOST_SUSPICIOUS))
    if not suspicious:
        return None
    accents = list(islice(_ACCENTS_ALONE.finditer(beyond), _LEAST_ACCENTS)) if len(suspicious) >= _IN_ACCENTS else []
    if len(accents) == _LEAST_ACCENTS:
        return accents[0][0][:_LONGEST], ""
    badness = badness_of_ftfy()
    if len(suspicious) < _MOST_SUSPICIOUS and not any(
        _is_odd(badness, text, *span) for span in _places(text, beyond, suspicious)
    ):
        return None
    from ftfy import fix_encoding

    for match in islice(badness.finditer(text), _MOST_TRIED):
        start, end = match.span()
        left = max(start - _AROUND, 0)
        first = max(left, text.rfind(" ", left, start) + 1)
        last = text.find(" ", end, end + _AROUND)
        words = text[first : last if last >= 0 else end + _AROUND][:_LONGEST].strip()
        repaired = fix_encoding(words)
        if repaired != words:
            return words, repaired
    return None


@cache
def badness_of_ftfy() -> re.Pattern[str]:
    """What ftfy takes for odd, from the module that has it alone: to load all of the package takes six times as long.

    Raises `ImportError` without ftfy.
    """
    package = importlib.util.find_spec("ftfy")
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        spec = importlib.util.spec_from_file_location("badness", Path(folder, "badness.py"))
        if spec is not None and spec.loader is not None and Path(folder, "badness.py").is_file():
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            pattern: re.Pattern[str] = module.BADNESS_RE
            return pattern
    from ftfy.badness import BADNESS_RE

    return BADNESS_RE


def _beyond_ascii(text: str) -> str:
    """The runs of characters of a text that are beyond ASCII, with blanks between them. Patterns of such characters
    find the same there, and have little to look at."""
    runs = text.encode("utf-8", "surrogatepass").translate(_BLANKED).split()
    return b" ".join(runs).decode("utf-8", "surrogatepass")


def _places(text: str, beyond: str, found: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Where in the text is what was found in its runs."""
    first, place, behind = -1, 0, 0
    for match in found:
        start, end = match.span()
        run_start = beyond.rfind(" ", 0, start) + 1
        if run_start != first:
            first, run_end = run_start, beyond.find(" ", end)
            run = beyond[first : run_end if run_end >= 0 else None]
            place = text.index(run, behind)  # all runs that have it in them were found before
            behind = place + len(run)
        yield place + start - first, place + end - first


def _is_odd(badness: re.Pattern[str], text: str, start: int, end: int) -> bool:
    """Whether ftfy takes something around this place for odd."""
    first, last = max(0, start - _REACH), end + _REACH
    if text[first:start].isascii() and text[end:last].isascii():  # mostly; and one place costs as much as the next
        return any(badness.match(text, at, last) for at in range(max(0, start - _BEFORE), end))
    return badness.search(text, first, last) is not None


def _of_the_east(text: str) -> tuple[str, str] | None:
    """Words that an encoding of East Asia made of UTF-8, and what they were."""
    if _AS_GBK in text:
        return _AS_GBK, ""
    found = sum(map(text.count, _SHIFT_JIS))
    if found >= _LEAST and found >= _SHARE * sum(not c.isascii() for c in text):
        match = _AS_SHIFT_JIS.search(text)
        start = match.start() if match else 0
        return text[start : start + _AROUND], _repaired(text[start : start + _AROUND])
    if any(mark in text for mark in _QUOTE_MARKS) and (quote := _QUOTES.search(text)) is not None:
        start = text.rfind(" ", 0, quote.start() + 1) + 1
        return text[max(start, quote.start() - _AROUND) : quote.end()], ""
    for match in islice(_EAST.finditer(text), _MOST_RUNS):
        again = match[0].encode("gbk", "ignore")
        before = again.decode("utf-8", "ignore")
        of_three_bytes = 3 * sum(character >= "\u0800" for character in before)
        if of_three_bytes >= _UTF8 * max(len(again), 2 * len(match[0])):
            return match[0][:_AROUND], before[:_AROUND]
    return None


def _repaired(words: str) -> str:
    try:
        return words.encode("cp932", "ignore").decode("utf-8", "ignore")
    except UnicodeError:
        return ""
