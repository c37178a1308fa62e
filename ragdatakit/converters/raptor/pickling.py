"""A tree written as the pickle that RAPTOR loads: opcodes of protocol 4, one node after the other."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence

from ragdatakit.late_dataclasses import dataclass

MODULE = "raptor.tree_structures"
_BATCH = 1000
_TREE, _NODE, _FIRST = 0, 1, 2
"""Places of the memo: of the two classes, and of the first node."""


@dataclass(frozen=True, slots=True)
class PickledNode:
    """A node to write."""

    index: int
    text: str
    children: Sequence[int]
    embeddings: dict[str, Sequence[float]]


def write_pickle(put: Callable[[bytes], None], nodes: Iterable[PickledNode], layers: Sequence[Sequence[int]]) -> int:
    """Write a tree; ``layers`` are the rows of ``nodes`` by layer, from the leaves up. Returns how many nodes it has.

    Leaves and roots are the objects that ``all_nodes`` has. Vectors are lists of floats, children are sets.
    """
    put(b"\x80\x04" + _class("Tree", _TREE) + b")\x81}(" + _text("all_nodes") + b"}(")
    indexes: list[int] = []
    for node in nodes:
        if indexes and not len(indexes) % _BATCH:
            put(b"u(")
        put(_integer(node.index) + _node(node, len(indexes)))
        indexes.append(node.index)
    put(b"u")
    for name, rows in (("root_nodes", layers[-1]), ("leaf_nodes", layers[0])):
        put(_text(name) + b"}")
        for batch in _batches(rows):
            put(b"(" + b"".join(_integer(indexes[row]) + _reference(row) for row in batch) + b"u")
    put(_text("num_layers") + _integer(len(layers) - 1) + _text("layer_to_nodes") + b"}(")
    for layer, rows in enumerate(layers):
        put(_integer(layer) + b"]")
        for batch in _batches(rows):
            put(b"(" + b"".join(map(_reference, batch)) + b"e")
    put(b"uub.")
    return len(indexes)


def _batches(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))


def _class(name: str, place: int) -> bytes:
    return _text(MODULE) + _text(name) + b"\x93q" + bytes([place])


def _node(node: PickledNode, row: int) -> bytes:
    kind = _class("Node", _NODE) if row == 0 else b"h" + bytes([_NODE])
    children = b"\x8f"
    for batch in _batches(node.children):
        children += b"(" + b"".join(map(_integer, batch)) + b"\x90"
    vectors = b"".join(_text(name) + _floats(numbers) for name, numbers in node.embeddings.items())
    return b"".join(
        (
            kind, b")\x81r", struct.pack("<I", row + _FIRST), b"}(",
            _text("text"), _text(node.text),
            _text("index"), _integer(node.index),
            _text("children"), children,
            _text("embeddings"), b"}", b"(" + vectors + b"u" if vectors else b"",
            b"ub",
        )
    )  # fmt: skip


def _floats(numbers: Sequence[float]) -> bytes:
    written = b"]"
    for start in range(0, len(numbers), _BATCH):
        written += b"(" + b"".join(b"G" + struct.pack(">d", n) for n in numbers[start : start + _BATCH]) + b"e"
    return written


def _reference(row: int) -> bytes:
    return b"j" + struct.pack("<I", row + _FIRST)


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) < 256:
        return b"\x8c" + bytes([len(data)]) + data
    return (
        b"X" + struct.pack("<I", len(data)) + data
        if len(data) < 1 << 32
        else b"\x8d" + struct.pack("<Q", len(data)) + data
    )


def _integer(number: int) -> bytes:
    if 0 <= number < 256:
        return b"K" + bytes([number])
    if -(1 << 31) <= number < 1 << 31:
        return b"J" + struct.pack("<i", number)
    data = number.to_bytes((number.bit_length() >> 3) + 1, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data
