"""Codes of what is compared by them: 128 bits, so that different things are not taken for one by chance."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import chain
from typing import Any


def code_of(*parts: str | int) -> int:
    """What stands for some texts and integers, in this order, within this process."""
    text = parts[0] if len(parts) == 1 else "".join([f"{len(p)}:{p}" if isinstance(p, str) else f"{p};" for p in parts])
    # a longer text has another hash, drawn from all of it
    return hash(text) << 64 ^ hash(f"{text}\0")


def code_of_value(value: Any) -> bytes:
    """What stands for a JSON value: values that are equal in Python have one code, however they are written."""
    code = blake2b(digest_size=16)
    for piece in _pieces(value):
        code.update(piece.encode("utf-8", "surrogatepass"))
    return code.digest()


def _pieces(value: Any) -> Iterator[str]:
    """A value in pieces of which each says where it ends; however deep the value is."""
    open_ones: list[Iterator[Any]] = [iter((value,))]
    while open_ones:
        for item in open_ones[-1]:
            if isinstance(item, str):
                yield f'"{len(item)}:{item}'
            elif isinstance(item, list | dict):
                yield f"{'[' if isinstance(item, list) else '{'}{len(item)}:"
                within = item if isinstance(item, list) else chain.from_iterable(sorted(item.items()))
                open_ones.append(iter(within))
                break
            elif isinstance(item, int | float):
                # 1, 1.0 and true are equal; a long integer has no decimal form
                whole = not isinstance(item, float) or item.is_integer()
                yield f"{int(item):x};" if whole else f"{item!r};"
            else:
                yield "null;"
        else:
            open_ones.pop()
