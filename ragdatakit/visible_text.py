"""Data made fit for a line of a screen: what a terminal would obey or hide, or a CI runner carry out, is its code."""

from __future__ import annotations

import re

_COMMAND = r"(?i)#(?=#(?:vso|teamcity)?\[)"


def visible_text(text: str) -> str:
    """The text as one line that nobody obeys."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in text)
    return without_commands(text)


def without_commands(text: str) -> str:
    """The text without ``##[command]``, ``##vso[…]`` and ``##teamcity[…]``, which runners look for anywhere in a line.

    What they take at the beginning of one, ``::command::``, is broken up where lines are written.
    """
    return re.sub(_COMMAND, "<U+0023>", text) if "##" in text else text
