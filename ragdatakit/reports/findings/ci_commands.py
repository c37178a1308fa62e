"""Commands to a CI runner that are in data: broken up in all that is printed, so that no runner carries them out.

GitHub takes ``::command::`` at the beginning of a line (after blanks) and ``##[command]`` anywhere in one, Azure
``##vso[…]``, TeamCity ``##teamcity[…]``. Texts name the broken sign by its code, as they do with what a terminal would
obey; JSON and HTML escape it, so that they decode to the same value.
"""

from __future__ import annotations

import re
from typing import Literal

from ragdatakit.late_patterns import late_pattern

Form = Literal["text", "json", "html"]

_BLANKS = (
    rb"(?:[\x09\x0b\x0c\x1c-\x20\x85\xa0]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8d\xa8\xa9\xaf]|\xe2\x81\x9f"
    rb"|\xe3\x80\x80|\xef\xbb\xbf)*"
)
"""What runners pass over before a command: blanks of Unicode in UTF-8, or in an encoding of one byte."""

_ANYWHERE = late_pattern(rb"#(?=#(?:vso|teamcity)?\[)", re.IGNORECASE)
_LINE_START = late_pattern(rb"((?:\A|[\r\n])" + _BLANKS + rb"):(?=:)")
_CODE = late_pattern(rb"(<script\b.*?</script>|<style\b.*?</style>)", re.DOTALL | re.IGNORECASE)


def broken_up(data: bytes, form: Form = "text") -> tuple[bytes, int]:
    """The data without commands, and how many there were. It begins a line, and no command continues in what
    follows."""
    if form == "json":  # one sign alone is looked for in no time
        return _ANYWHERE.subn(rb"\\u0023", data) if b"#" in data and b"##" in data else (data, 0)
    if form == "html":
        return _in_page(data)
    if b"#" in data:
        data, anywhere = _ANYWHERE.subn(b"<U+0023>", data)
    else:
        anywhere = 0
    data, at_start = _LINE_START.subn(rb"\1<U+003A>", data) if b"::" in data else (data, 0)
    return data, anywhere + at_start


def _in_page(data: bytes) -> tuple[bytes, int]:
    """In scripts, which hold JSON, references to characters mean nothing; styles hold no data."""
    found, count = [], 0
    for number, part in enumerate(_CODE.split(data)):
        in_script = number % 2 == 1
        if not (in_script and part[:6].lower() == b"<style"):
            part, anywhere = _ANYWHERE.subn(rb"\\u0023" if in_script else b"&#35;", part)
            part, at_start = _LINE_START.subn(rb"\1\\u003a" if in_script else rb"\1&#58;", part)
            count += anywhere + at_start
        found.append(part)
    return b"".join(found), count
