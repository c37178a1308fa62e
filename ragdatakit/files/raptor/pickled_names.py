"""What a pickled tree may name: its two classes, sets, and numpy's arrays. None of it is ever looked up."""

from __future__ import annotations

from ragdatakit.files.containers.pickles import DICT, LIST, NULL, SET, TUPLE, Allowed, Made, PickledValues

NODE, TREE, ARRAY, DTYPE, ENCODED = range(5, 10)
"""Kinds of objects beside the plain ones. ``ENCODED`` is bytes as protocol 2 has them: a text, to be encoded."""


def _set(values: PickledValues, given: list[int]) -> Made | None:
    return values.copied(SET, given[0]) if len(given) == 1 and values.kind(given[0]) == LIST else None


def _no_bytes(values: PickledValues, given: list[int]) -> Made | None:
    return (ENCODED, NULL, NULL) if not given else None


def _encode(values: PickledValues, given: list[int]) -> Made | None:
    is_bytes = len(given) == 2 and values.text(given[1]) in ("latin1", "latin-1")
    return (ENCODED, given[0], NULL) if is_bytes else None


def _array(values: PickledValues, given: list[int]) -> Made | None:
    return (ARRAY, NULL, NULL) if len(given) == 3 else None


def _array_of_buffer(values: PickledValues, given: list[int]) -> Made | None:
    return (ARRAY, values.of_items(TUPLE, given), NULL) if len(given) == 4 else None


def _dtype(values: PickledValues, given: list[int]) -> Made | None:
    return (DTYPE, values.of_items(TUPLE, given), NULL) if len(given) == 3 else None


ALLOWED = Allowed(
    noun="tree",
    oldest=2,
    classes={"raptor.tree_structures Tree": TREE, "raptor.tree_structures Node": NODE},
    calls={
        **dict.fromkeys(("builtins set", "__builtin__ set"), _set),
        **dict.fromkeys(("builtins bytes", "__builtin__ bytes"), _no_bytes),
        "_codecs encode": _encode,
        **dict.fromkeys(("numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct"), _array),
        **dict.fromkeys(("numpy.core.numeric _frombuffer", "numpy._core.numeric _frombuffer"), _array_of_buffer),
        "numpy dtype": _dtype,
    },
    names=frozenset({"numpy ndarray"}),
    states={NODE: (DICT, 0), TREE: (DICT, 0), ARRAY: (TUPLE, 0), DTYPE: (TUPLE, 1)},
)
