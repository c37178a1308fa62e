"""A graph in GraphML read as a stream, as networkx reads it, with the place of each node and edge.

No entity is ever expanded: the first declaration of one ends the reading. Memory holds one piece of the file and the
elements in it. Between two elements that the parser has read, those in the form of networkx are taken without it.
All of this is the state of one machine, and so is in one module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pyexpat import ErrorString, ExpatError, ParserCreate
from typing import Any

from ragdatakit.files.lightrag.graph_items import Fault, Item
from ragdatakit.files.lightrag.plain_elements import LONGEST, line_behind_element, may_be_plain, plain_elements
from ragdatakit.schemas.texts import quoted

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


class _StopReading(Exception):
    """There is nothing more to be read of this file."""


class GraphReader:
    """Reads one file; after `batches` has ended, ``whole`` says if it came to the end."""

    def __init__(self, pieces: Iterable[bytes], start: int = 0, longest: int = 1 << 28) -> None:
        self._pieces = pieces
        self._start = start
        self._longest = longest
        self._held: list[bytes] = []
        self._held_from = self._fed = start
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
        self._rest = b""  # of the last piece: what was not given to the parser
        self._lines = self._lines_passed = 0  # that were read, and those of them that the parser did not see
        self._plain_tags: bool | None = None  # whether elements without a prefix are of the namespace of the graph
        self._is_between = False  # the parser is at the beginning of a line, between two elements
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
        parser.XmlDeclHandler = self._declared
        parser.StartDoctypeDeclHandler = self._typed
        return parser

    @property
    def found(self) -> bool:
        """Whether there is a graph."""
        return self._graphs > 0

    def batches(self) -> Iterator[tuple[list[Item], list[Fault]]]:
        """Nodes and edges as they come, and what is wrong outside of them; `raw` works until the next are asked for."""
        try:
            for piece in self._pieces:
                self._fed -= len(self._rest)
                whole = self._rest + piece
                self._hold(whole)
                self._read_piece(whole)
                yield self._taken()
                self._refuse_long()
            self._parser.Parse(self._rest, True)
            self.whole = True
            if not self._graphs:
                self._faults.append(Fault("no-graph", 1, self._start))
        except ExpatError as error:
            line = error.lineno + self._lines_passed
            self._add("graph-not-xml", {"reason": ErrorString(error.code)}, line, error.offset)
        except (LookupError, ValueError) as error:  # an encoding that Python does not know, or that has several bytes
            self._add("graph-not-xml", {"reason": str(error)})
        except _StopReading:
            pass
        yield self._taken()

    def _read_piece(self, piece: bytes) -> None:
        """Give a piece to the parser, except for plain elements; the beginning of one is left for the next piece."""
        at, self._rest = 0, b""
        if not may_be_plain(piece):
            self._plain_tags = self._is_between = False
        while at < len(piece):
            if self._is_between:
                at = self._take_plain(piece, at)
            end = line_behind_element(piece, at)
            if end < 0 and self._is_between and len(piece) - at < LONGEST:
                self._rest = piece[at:]
                return
            end = end if end > 0 else len(piece)
            self._give(piece, at, end)
            at = end

    def _give(self, piece: bytes, begin: int, end: int) -> None:
        """Give the parser a part of a piece, and see whether it has come to the end of an element."""
        self._parser.Parse(piece[begin:end], False)
        self._lines += piece.count(b"\n", begin, end)
        last = self._items[-1] if self._items else None
        behind = self._fed - len(piece) + piece.rfind(b">", begin, end) + 1
        self._is_between = last is not None and last.until == behind and self._depth == 2 and piece[end - 1] == 10
        if self._is_between and last is not None:
            if self._plain_tags is None:
                tag = self.raw(last).split(b">", 1)[0]
                self._plain_tags = tag.startswith((b"<node ", b"<edge ")) and b"xmlns" not in tag
            self._is_between = self._plain_tags

    def _take_plain(self, piece: bytes, begin: int) -> int:
        """Take the plain elements from here on; where they end."""
        from_start, at = self._fed - len(piece), begin
        for name, ends, attributes, start, end in plain_elements(piece, begin, self._keys):
            is_edge = bool(ends)
            line = self._lines + piece.count(b"\n", at, start) + 1
            item = Item(name, ends, self._numbers[is_edge], line, start - at, from_start + start)
            item.until = from_start + piece.rfind(b">", at, end) + 1
            item.attributes = attributes
            self._items.append(item)
            self._numbers[is_edge] += 1
            self._lines += piece.count(b"\n", at, end)
            at = end
        self._lines_passed += piece.count(b"\n", begin, at)
        self._start += at - begin
        return at

    def raw(self, item: Item) -> bytes:
        """The bytes of an element."""
        held = self._held_bytes()
        return held[item.offset - self._held_from : item.until - self._held_from]

    def _held_bytes(self) -> bytes:
        if len(self._held) > 1:
            self._held = [b"".join(self._held)]
        return self._held[0] if self._held else b""

    def place(self, item: Item, attribute: str) -> int | None:
        """Where in the bytes of an element the one with an attribute's value begins; None where it is not found."""
        ids = {name.encode() for name, (known, _) in self._keys.items() if known == attribute}
        return max((m.start() for m in _DATA.finditer(self.raw(item)) if m[2] in ids), default=None)

    def _hold(self, piece: bytes) -> None:
        """Keep what the element that is not closed, or the tag in which the parser is, has of earlier pieces."""
        if self._item is None and not self._attribute:
            self._text.clear()
        begin = self._begin_of_open()
        if begin >= self._fed:
            self._held, self._held_from = [], self._fed
        elif begin > self._held_from:
            self._held, self._held_from = [self._held_bytes()[begin - self._held_from :]], begin
        self._held.append(piece)
        self._fed += len(piece)

    def _refuse_long(self) -> None:
        """Stop where one element, or one tag or comment in which the parser is, is longer than may be held."""
        if self._fed - self._begin_of_open() > self._longest:
            self._add("line-too-long", {"bytes": self._longest})
            raise _StopReading

    def _begin_of_open(self) -> int:
        """Where the element that is not closed begins, else the tag or the text in which the parser is."""
        return self._item.offset if self._item is not None else self._parser.CurrentByteIndex + self._start

    def _taken(self) -> tuple[list[Item], list[Fault]]:
        taken = self._items, self._faults
        self._items, self._faults = [], []
        return taken

    def _add(self, rule: str, facts: dict[str, Any], line: int = 0, column: int = 0) -> None:
        parser = self._parser
        at = parser.CurrentByteIndex + self._start
        column = column if line else parser.CurrentColumnNumber
        fault = Fault(rule, line or self._line, at, column, facts, self._attribute)
        if self._item is not None and rule == "unreadable-attribute":
            self._item.faults.append(fault)
        else:
            self._faults.append(fault)

    @property
    def _line(self) -> int:
        """Where the parser is."""
        number: int = self._parser.CurrentLineNumber
        return number + self._lines_passed

    def _declared(self, _: str, encoding: str | None, *__: Any) -> None:
        if (encoding or "utf-8").lower() != "utf-8":
            self._plain_tags = False

    def _typed(self, *_: Any) -> None:
        self._plain_tags = False  # a document type may give elements attributes that they do not show

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
        self._item = Item(name, ends, number, self._line, parser.CurrentColumnNumber, at)
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
            self._add(
                "unreadable-attribute", {"reason": f"{self._attribute} is {quoted(text)}, which is not of its type"}
            )

    def _end_of_tag(self) -> int:
        """Behind the tag that ends here: it is in the last piece, or the parser would not have seen it end."""
        at = self._parser.CurrentByteIndex + self._start
        piece = self._held[-1]
        found = piece.find(b">", max(0, at - (self._fed - len(piece))))
        return self._fed - len(piece) + found + 1 if found >= 0 else self._fed


def _by_name(given: list[str]) -> dict[str, str]:
    return dict(zip(given[::2], given[1::2], strict=True))
