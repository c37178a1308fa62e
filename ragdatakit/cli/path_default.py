"""PATH is the current folder where it is left out, also where something else follows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


def words_after_path(words: dict[str, Any], name: str) -> None:
    """Take the one word that is given for what follows PATH, such as SQL, where it is a text and no path.

    ``words`` have ``path`` and ``name``. Raises `click.UsageError` where the word may be either.
    """
    path = words["path"]
    if path is None:
        words["path"] = Path()
    elif words[name] is None and not path.exists():
        text = str(path)
        if text == "-" or any(c.isspace() for c in text):
            words["path"], words[name] = Path(), text
        elif "/" not in text and "." not in text:
            raise click.UsageError(
                f"no such file or folder: {text} (is it {name.upper()}? Give PATH before it: . {text})"
            )
