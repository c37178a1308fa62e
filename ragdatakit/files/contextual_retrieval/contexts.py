"""Contexts of chunks without a language model: where the document comes from, what it is called, and how it begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONTEXT_LENGTH = 300
"""How many characters of a document the context of its chunks has, where nothing else is asked for."""
_ORIGIN = ("repo_name", "relative_path", "path", "url")


def extractive_context(content: str, chunk: str, title: str | None, metadata: Mapping[str, Any], length: int) -> str:
    """The context of a chunk, of its document: origin and title in a line, and the first so many characters.

    The chunk itself is left out of the beginning, as it is indexed beside its context.
    """
    named = [str(metadata[name]) for name in _ORIGIN if isinstance(metadata.get(name), str)]
    head = " ".join(dict.fromkeys([*named, *([title] if title else [])]))
    text = chunk.strip()
    lead = content[: length + len(text)]
    if text and text in lead:
        before, _, behind = lead.partition(text)
        lead = f"{before.rstrip()}\n{behind.lstrip()}"
    lead = lead.strip()[:length].rstrip()
    return "\n".join(part for part in (head, lead) if part)
