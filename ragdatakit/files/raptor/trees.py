"""A tree as it is stored, pickled or as JSON, one node at a time: what is there, whatever is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from ragdatakit.files.containers.pickle_opcodes import opened_pickle
from ragdatakit.files.containers.pickles import BYTES, DICT, LIST, RUN, SET, TUPLE, PickledValues, PickleError
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.files.raptor.pickled_names import ALLOWED, ARRAY, DTYPE, ENCODED, NODE, TREE
from ragdatakit.late_dataclasses import dataclass

ATTRIBUTES = ("all_nodes", "root_nodes", "leaf_nodes", "num_layers", "layer_to_nodes")
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "missing"})()
"""What stands for a value that is not there."""
NODE_WORDS = "a node"
NAMES_SHOWN = 8
"""So many indexes or keys are named in a message."""


class Other:
    """A value that is nothing a tree has, in words such as ``a list``."""

    __slots__ = ("words",)

    def __init__(self, words: str) -> None:
        self.words = words


@dataclass(frozen=True, slots=True)
class Vector:
    """What is known of a vector: its length, and whether it has a direction. ``place`` is where the format keeps it."""

    length: int
    finite: bool = True
    nonzero: bool = True
    place: Any = None


@dataclass(slots=True)
class TreeNode:
    """A node as it stands: a value of an unexpected kind is an `Other`, one that is not there is `MISSING`.

    ``pointer`` leads to it; ``key`` is what it is stored under (in the JSON form: its index). ``children`` is a
    list of them with ``collection``, what it was stored as (``"set"``, ``"list"`` …); ``embeddings`` maps names to
    vectors or to an `Other`. ``layer`` is of the JSON form only, as are ``names``, those of all its members.
    """

    pointer: str
    key: Any
    index: Any = MISSING
    text: Any = MISSING
    children: Any = MISSING
    collection: str = ""
    embeddings: Any = MISSING
    layer: Any = MISSING
    names: Collection[str] = ()


class StoredTree(Protocol):
    """What both ways to store a tree can show."""

    def nodes(self) -> Iterator[TreeNode | Other]:
        """All nodes, as they come."""
        ...

    def numbers(self, vector: Vector) -> list[float]:
        """The numbers of a vector."""
        ...


@contextmanager
def opened(file: DataFile, boundary: Boundary | None = None) -> Iterator[PickledTree]:
    """A pickled tree, open for reading. Raises `PickleError`, or `OSError` where the file cannot be opened."""
    with opened_pickle(file.path, boundary or file.boundary, ALLOWED) as values:
        yield PickledTree(values)


class PickledTree:
    """A tree in a pickle. Every method may raise `PickleError`: texts are decoded when they are asked for."""

    def __init__(self, values: PickledValues) -> None:
        self.values = values
        self._root = values.root
        self.is_tree = values.kind(self._root) == TREE
        self.attributes = dict(self._members(values.state(self._root))) if self.is_tree else {}

    @property
    def what(self) -> str:
        """What is stored, in words."""
        return self._words(self._root)

    @property
    def num_layers(self) -> Any:
        """As it is stored."""
        return self.plain(self.attributes["num_layers"]) if "num_layers" in self.attributes else MISSING

    def _members(self, state: int) -> Iterator[tuple[str, int]]:
        """The attributes of an object, from its state."""
        if self.values.kind(state) == DICT:
            for key, value in self.values.pairs(state):
                name = self.values.text(key)
                if name is not None:
                    yield name, value

    def plain(self, value: int) -> Any:
        """A simple value; an `Other` for anything else."""
        found = self.values.plain(value, MISSING)
        return Other(self._words(value)) if found is MISSING else found

    def _words(self, value: int) -> str:
        names = {
            LIST: "a list",
            DICT: "a dictionary",
            SET: "a set",
            TUPLE: "a tuple",
            NODE: NODE_WORDS,
            TREE: "a tree",
            ARRAY: "an array",
            DTYPE: "an array's type",
            ENCODED: "bytes",
            RUN: "numbers",
        }
        kind = self.values.kind(value)
        if kind in names:
            return names[kind]
        if self.values.tag(value) == BYTES:
            return "bytes"
        name = self.values.name(value)
        return f"the name {name.replace(' ', '.')}" if name else words_of(self.plain(value))

    def nodes(self) -> Iterator[TreeNode | Other]:
        """All nodes by their keys, in the order in which they are stored."""
        for key, value in self._pairs("all_nodes"):
            name = self.plain(key)
            pointer = f"/all_nodes/{name if isinstance(name, int | str) else '?'}"
            yield self.node(pointer, name, value)

    def entries(self) -> Iterator[tuple[int, int]]:
        """The keys and the nodes of ``all_nodes``, as values of the pickle."""
        return self._pairs("all_nodes")

    def _pairs(self, name: str) -> Iterator[tuple[int, int]]:
        found = self.attributes.get(name)
        return self.values.pairs(found) if found is not None and self.values.kind(found) == DICT else iter(())

    def is_dict(self, name: str) -> bool:
        """Whether an attribute is a dictionary."""
        return name in self.attributes and self.values.kind(self.attributes[name]) == DICT

    def found(self, name: str) -> str:
        """What an attribute is, in words."""
        return self._words(self.attributes[name]) if name in self.attributes else "missing"

    def node(self, pointer: str, key: Any, value: int) -> TreeNode | Other:
        """A node with all that is in it."""
        if self.values.kind(value) != NODE:
            return Other(f"{pointer} {self._words(value)}")
        node = TreeNode(pointer, key)
        for name, part in self._members(self.values.state(value)):
            if name == "index":
                node.index = self.plain(part)
            elif name == "text":
                node.text = self.plain(part)
            elif name == "children":
                node.children, node.collection = self._children(part)
            elif name == "embeddings":
                node.embeddings = self._embeddings(part)
        return node

    def _children(self, value: int) -> tuple[Any, str]:
        kind = self.values.kind(value)
        if kind in (SET, LIST, TUPLE):
            found = [self.plain(item) for item in self._flat(value)]
            return found, {SET: "set", LIST: "a list", TUPLE: "a tuple"}[kind]
        if kind == DICT:
            return [self.plain(key) for key, _ in self.values.pairs(value)], "a dictionary"
        data = self._data(value)
        if data is not None:
            return list(data), "bytes"
        found_plain = self.plain(value)
        return (list(found_plain), "a string") if isinstance(found_plain, str) else (Other(self._words(value)), "")

    def _flat(self, value: int) -> Iterator[int]:
        """The members of a collection; a run of floats counts as one that is no index."""
        yield from self.values.items(value)

    def _embeddings(self, value: int) -> Any:
        if self.values.kind(value) != DICT:
            return Other(self._words(value))
        return {self._name(key): self._vector(vector) for key, vector in self.values.pairs(value)}

    def _name(self, key: int) -> str:
        found = self.plain(key)
        return found if isinstance(found, str) else f"({words_of(found)})"

    def _vector(self, value: int) -> Vector | Other:
        kind = self.values.kind(value)
        if kind in (LIST, TUPLE):
            return self._listed(value)
        if kind == ARRAY:
            return self._array(value)
        return Other(self._words(value))

    def _listed(self, value: int) -> Vector | Other:
        found = self.values.measure(value)
        if found is not None:
            return Vector(*found, value)
        odd = next(i for i in self.values.items(value) if self.values.measure_one(i) is None)
        return Other(f"a list with {self._words(odd)} in it")

    def _data(self, value: int) -> bytes | None:
        """Bytes, in either of their forms; None for anything else."""
        if self.values.kind(value) != ENCODED:
            return self.values.data(value)
        text = self.values.text(self.values.state(value))
        try:
            return text.encode("latin-1") if text is not None else None
        except UnicodeEncodeError:
            return None

    def _array(self, value: int) -> Vector | Other:
        parts = self._array_parts(value)
        if isinstance(parts, Other):
            return parts
        shape, kind, content = parts
        if len(shape) != 1:
            return Other(f"an array of shape {'×'.join(map(str, shape)) or 'none'}")
        if kind == "O":
            listed = self._listed(content)
            return Vector(listed.length, listed.finite, listed.nonzero, value) if isinstance(listed, Vector) else listed
        import numpy as np

        data = self._data(content) or b""
        if len(data) != shape[0] * np.dtype(kind).itemsize:
            raise PickleError("broken", self.values.place(content) or 0, "an array with more or less data than it says")
        numbers = np.frombuffer(data, kind)
        return Vector(shape[0], bool(np.isfinite(numbers).all()), bool(numbers.any()), value)

    def _array_parts(self, value: int) -> tuple[tuple[int, ...], str, int] | Other:
        """Shape, type (as numpy names it; ``O`` for objects) and content of an array."""
        state = self.values.state(value)
        given = list(self.values.items(state)) if self.values.kind(state) == TUPLE else []
        if len(given) == 5:  # version, shape, type, column order, content
            _, shape, dtype, _, content = given
        elif len(given) == 4:  # content, type, shape, order
            content, dtype, shape, _ = given
        else:
            return Other("an array without content")
        sizes = [self.values.integer(n) for n in self.values.items(shape)] if self.values.kind(shape) == TUPLE else []
        kind = self._dtype(dtype)
        has_data = self.values.tag(content) == BYTES or self.values.kind(content) == ENCODED
        if (
            kind == ""
            or None in sizes
            or has_data == (kind == "O")
            or (kind == "O" and self.values.kind(content) != LIST)
        ):
            return Other("an array of another type than float")
        return tuple(n for n in sizes if n is not None), kind, content

    def _dtype(self, value: int) -> str:
        if self.values.kind(value) != DTYPE:
            return ""
        given = list(self.values.items(self.values.state(value)))
        name = self.values.text(given[0]) if given else None
        state = self.values.second(value)
        order = list(self.values.items(state)) if self.values.kind(state) == TUPLE else []
        mark = self.values.text(order[1]) if len(order) > 1 else None
        if name in ("O8", "O4", "O"):
            return "O"
        return f"{mark}{name}" if name in ("f2", "f4", "f8") and mark in ("<", ">", "=", "|") else ""

    def numbers(self, vector: Vector) -> list[float]:
        """The numbers of a vector."""
        value: int = vector.place
        if self.values.kind(value) == ARRAY:
            parts = self._array_parts(value)
            if isinstance(parts, Other):
                return []
            _, kind, content = parts
            if kind != "O":
                import numpy as np

                found: list[float] = np.frombuffer(self._data(content) or b"", kind).astype(np.float64).tolist()
                return found
            value = content
        plain: list[float] = self.values.numbers(value).tolist()
        return plain

    def layers(self) -> Iterator[tuple[Any, list[Any] | Other]]:
        """The layers by their keys, each with the indexes of its nodes."""
        for key, value in self._pairs("layer_to_nodes"):
            kind = self.values.kind(value)
            indexes = map(self.index_of, self.values.items(value)) if kind in (LIST, TUPLE) else None
            yield self.plain(key), list(indexes) if indexes is not None else Other(self._words(value))

    def index_of(self, value: int) -> Any:
        """The index of a node, without its other parts."""
        if self.values.kind(value) == NODE:
            for name, part in self._members(self.values.state(value)):
                if name == "index":
                    found = self.plain(part)
                    usable = isinstance(found, int) or (isinstance(found, float) and found.is_integer())
                    return found if usable else Other(NODE_WORDS)
        return Other(self._words(value))

    def group(self, name: str) -> Iterator[int]:
        """The nodes of ``root_nodes`` or ``leaf_nodes``, a dictionary or a list of them."""
        if self.is_dict(name):
            return (value for _, value in self._pairs(name))
        found = self.attributes.get(name)
        return iter(self.values.items(found) if found is not None and self.values.kind(found) in (LIST, TUPLE) else ())

    def text_of(self, value: int) -> Any:
        """The text of a node, without its other parts."""
        for name, part in self._members(self.values.state(value)) if self.values.kind(value) == NODE else ():
            if name == "text":
                return self.values.text(part)
        return None


class JsonTree:
    """A tree in the JSON form, decoded."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def nodes(self) -> Iterator[TreeNode | Other]:
        """All nodes, in the order of the file; what is not an object has been reported."""
        found = self.value.get("nodes")
        for place, fields in enumerate(found if isinstance(found, list) else ()):
            pointer = f"/nodes/{place}"
            if not isinstance(fields, dict):
                continue
            index = fields.get("index", MISSING)
            layer = fields.get("layer", MISSING)
            node = TreeNode(pointer, index, index, fields.get("text", MISSING), layer=layer, names=fields.keys())
            children = fields.get("children", MISSING)
            if isinstance(children, list):
                node.children, node.collection = children, "set"
            elif children is not MISSING:
                node.children = Other(words_of(children))
            embeddings = fields.get("embeddings", {})
            if isinstance(embeddings, dict):
                node.embeddings = {name: _vector(vector) for name, vector in embeddings.items()}
            else:
                node.embeddings = Other(words_of(embeddings))
            yield node

    def numbers(self, vector: Vector) -> list[float]:
        """The numbers of a vector."""
        return [float(number) for number in vector.place]


def _vector(value: Any) -> Vector | Other:
    if not isinstance(value, list):
        return Other(words_of(value))
    for item in value:
        if isinstance(item, bool) or not isinstance(item, int | float):
            return Other(f"a list with {words_of(item)} in it")
    return Vector(len(value), all(n - n == 0 for n in value if isinstance(n, float)), any(value), value)


def words_of(value: Any) -> str:
    """What a value is, in words."""
    if value is MISSING:
        return "missing"
    if isinstance(value, Other):
        return value.words
    if value is None:
        return "null"
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (bool, "a boolean"),
        ((int, float), "a number"),
        (str, "a string"),
        (list, "a list"),
    )
    return next((words for kind, words in kinds if isinstance(value, kind)), "an object")
