"""Codes of texts that are compared by them: 128 bits, so that different ones are not taken for one by chance."""

from __future__ import annotations


def code_of(*parts: str | int) -> int:
    """What stands for some texts and integers, in this order, within this process."""
    text = parts[0] if len(parts) == 1 else "".join(f"{len(part)}:{part}" for part in map(repr, parts))
    # a longer text has another hash, drawn from all of it
    return hash(text) << 64 ^ hash(f"{text}\0")
