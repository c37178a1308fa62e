"""A graph in GraphML read as a stream, as networkx reads it, with the place of each node and edge.

No entity is ever expanded: the first declaration of one ends the reading. Memory holds one piece of the file and the
elements in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pyexpat import ErrorString, ExpatError, ParserCreate
from typing import Any

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
"""Elements of another namespace are not seen by networkx; a root element that has none is read as if it had this."""

_TRUTHS = {"true": True, "false": False, "0": False, "1": True}
_READERS: dict[str, Callable[[str], Any]] = {
    "string": str,
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "boolean": lambda text: _TRUTHS[text.lower()],
    "yfiles": str,
}
_DATA = re.compile(rb"""<(?:[^\s<>"'/:]+:)?data\b[^>]*?\skey\s*=\s*(["'])(.*?)\1""", re.S)
_NAMES = {f"{space}{name}": name for space in (f"{NAMESPACE}}}", "") for name in
          ("graph", "key", "node", "edge", "data", "hyperedge")}  # fmt: skip
"""What networkx looks for, by the tags that the parser gives."""
_RUN_OF_TEXT = 1 << 16
DEEPEST = 10_000
"""Elements that may be open at once."""


class Item:
    """One node or edge: its attributes as texts by name, and where it begins.

    ``name`` is the id of a node, ``ends`` are the two of an edge (of a node: empty). ``number`` counts nodes or edges.
    """

    __slots__ = ("attributes", "column", "ends", "faults", "line", "name", "number", "offset", "until")

    def __init__(self, name: str, ends: tuple[str, ...], number: int, line: int, column: int, offset: int) -> None:
        self.name = name
        self.ends = ends
        self.number = number
        self.line = line
        self.column = column
        self.offset = offset
        self.until = offset
        self.attributes: dict[str, str] = {}
        self.faults: list[Fault] = []


@dataclass(slots=True)
class Fault:
    """What networkx stops at, or reads otherwise: ``rule`` names it; ``attribute`` is the one of a node or an edge."""

    rule: str
    line: int
    offset: int
    column: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    attribute: str = ""


class _StopReading(Exception):
    """There is nothing more to be read of this file."""


class GraphReader:
    """Reads one file; after `batches` has ended, ``whole`` says if it came to the end."""

    def __init__(self, pieces: Iterable[bytes], start: int = 0, longest: int = 1 << 28) -> None:
        self._pieces = pieces
        self._start = start
        self._longest = longest
        self._held = b""
        self._held_from = start
        self._items: list[Item] = []
        self._faults: list[Fault] = []
        self._keys: dict[str, tuple[str, Callable[[str], Any]]] = {}
        self._depth = 0
        self._graphs = 0
        self._in_graph = False
        self._item: Item | None = None
        self._attribute = ""
        self._read: Callable[[str], Any] = str
        self._text: list[str] = []
        self._numbers = [0, 0]
        self.directed = False
        self.whole = False
        self._parser = self._new_parser()

    def _new_parser(self) -> Any:
        parser = ParserCreate(namespace_separator="}")
        parser.buffer_size = _RUN_OF_TEXT
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = self._start_element
        parser.EndElementHandler = self._end_element
        parser.CharacterDataHandler = self._text.append  # of all elements: those of interest take what they need
        parser.EntityDeclHandler = self._entity
        return parser

    @property
    def found(self) -> bool:
        """Whether there is a graph."""
        return self._graphs > 0

    def batches(self) -> Iterator[tuple[list[Item], list[Fault]]]:
        """Nodes and edges as they come, and what is wrong outside of them; `raw` works until the next are asked for."""
        try:
            for piece in self._pieces:
                self._hold(piece)
                self._parser.Parse(piece, False)
                yield self._taken()
            self._parser.Parse(b"", True)
            self.whole = True
            if not self._graphs:
                self._faults.append(Fault("no-graph", 1, self._start))
        except ExpatError as error:
            self._add("graph-not-xml", {"reason": ErrorString(error.code)}, error.lineno, error.offset)
        except _StopReading:
            pass
        yield self._taken()

    def raw(self, item: Item) -> bytes:
        """The bytes of an element."""
        return self._held[item.offset - self._held_from : item.until - self._held_from]

    def place(self, item: Item, attribute: str) -> int | None:
        """Where in the bytes of an element the one with an attribute's value begins; None where it is not found."""
        ids = {name.encode() for name, (known, _) in self._keys.items() if known == attribute}
        return max((m.start() for m in _DATA.finditer(self.raw(item)) if m[2] in ids), default=None)

    def _hold(self, piece: bytes) -> None:
        """Keep what the element that is not closed has of earlier pieces."""
        if self._item is None:
            keep = self._held_from + len(self._held)
            if not self._attribute:
                self._text.clear()
        else:
            keep = self._item.offset
            if self._held_from + len(self._held) - keep > self._longest:
                self._add("line-too-long", {"bytes": self._longest})
                raise _StopReading
        self._held = self._held[keep - self._held_from :] + piece
        self._held_from = keep

    def _taken(self) -> tuple[list[Item], list[Fault]]:
        taken = self._items, self._faults
        self._items, self._faults = [], []
        return taken

    def _add(self, rule: str, facts: dict[str, Any], line: int = 0, column: int = 0) -> None:
        parser = self._parser
        at = parser.CurrentByteIndex + self._start
        column = column if line else parser.CurrentColumnNumber
        fault = Fault(rule, line or parser.CurrentLineNumber, at, column, facts, self._attribute)
        if self._item is not None and rule == "unreadable-attribute":
            self._item.faults.append(fault)
        else:
            self._faults.append(fault)

    def _entity(self, name: str, *_: Any) -> None:
        self._add("graph-with-entities", {"name": name})
        raise _StopReading

    def _start_element(self, tag: str, given: list[str]) -> None:
        """``given``: names and values of the element's attributes by turns."""
        self._depth = depth = self._depth + 1
        if depth == 4:
            if self._item is not None and _NAMES.get(tag) == "data":
                key = given[1] if given and given[0] == "key" else _by_name(given).get("key", "")
                known = self._keys.get(key)
                if known is None:
                    self._add("unreadable-attribute", {"reason": f"there is no key {key}"})
                else:
                    self._attribute, self._read = known
                    self._text.clear()
        elif depth > 4:
            self._attribute = ""  # networkx leaves out what has elements in it
            if depth > DEEPEST:  # the parser holds the names of all that is open
                self._add("graph-not-xml", {"reason": f"elements are nested more than {DEEPEST:,} deep"})
                raise _StopReading
        elif depth == 3:
            if self._in_graph and tag in _NAMES:
                self._start_item(_NAMES[tag], _by_name(given))
        elif depth == 2:
            self._start_top(_NAMES.get(tag), _by_name(given))

    def _start_top(self, name: str | None, attributes: dict[str, str]) -> None:
        if name == "graph":
            self._graphs += 1
            self._in_graph = self._graphs == 1
            if self._in_graph:
                self.directed = attributes.get("edgedefault") == "directed"
                if self.directed:
                    self._add("directed-graph", {})
        elif name == "key":
            self._add_key(attributes)

    def _start_item(self, name: str, attributes: dict[str, str]) -> None:
        if name == "node":
            self._begin(attributes.get("id", "None"), ())
        elif name == "edge":
            self._begin("", (attributes.get("source", "None"), attributes.get("target", "None")))
            if attributes.get("directed") == ("false" if self.directed else "true"):
                self._add("unreadable-attribute", {"reason": "directed and undirected edges are mixed"})
        elif name == "hyperedge":
            self._add("unreadable-attribute", {"reason": "a hyperedge"})

    def _add_key(self, attributes: dict[str, str]) -> None:
        kind, name = attributes.get("attr.type", "string"), attributes.get("attr.name")
        if name is None:
            self._add("unreadable-attribute", {"reason": f"the key {attributes.get('id')} has no name"})
        elif kind not in _READERS:
            self._add("unreadable-attribute", {"reason": f"the key {name} is of the unknown type {kind}"})
        self._keys[attributes.get("id", "")] = (name or "", _READERS.get(kind, str))

    def _begin(self, name: str, ends: tuple[str, ...]) -> None:
        parser, is_edge = self._parser, bool(ends)
        at = parser.CurrentByteIndex + self._start
        number = self._numbers[is_edge]
        self._item = Item(name, ends, number, parser.CurrentLineNumber, parser.CurrentColumnNumber, at)
        self._numbers[is_edge] = number + 1

    def _end_element(self, tag: str) -> None:
        self._depth = depth = self._depth - 1
        item = self._item
        if item is None:
            self._in_graph = self._in_graph and depth > 1
        elif depth == 3:
            if self._attribute:
                text = "".join(self._text)
                if self._read is not str:
                    self._check(text)
                item.attributes[self._attribute] = text
                self._attribute = ""
        elif depth == 2:
            item.until = self._end_of_tag()
            self._items.append(item)
            self._item = None

    def _check(self, text: str) -> None:
        """Report a value that is not of its key's type."""
        try:
            self._read(text or "0")
        except (ValueError, KeyError):
            self._add("unreadable-attribute", {"reason": f"{self._attribute} is {text[:40]!r}"})

    def _end_of_tag(self) -> int:
        at = self._parser.CurrentByteIndex + self._start - self._held_from
        found = self._held.find(b">", at)
        return self._held_from + (found + 1 if found >= 0 else len(self._held))


def _by_name(given: list[str]) -> dict[str, str]:
    return dict(zip(given[::2], given[1::2], strict=True))
