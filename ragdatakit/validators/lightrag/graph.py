"""The graph of a working directory, read as a stream: what networkx stops at, and what leads nowhere."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

from ragdatakit.files.containers.indents import Indent
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.lightrag.graph_items import Fault, Item
from ragdatakit.files.lightrag.graphml import GraphReader
from ragdatakit.files.lightrag.names import SEPARATOR, normalised, pair_of, sources_of
from ragdatakit.files.texts.codes import code_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.lightrag.known import Described, Known

Placed = tuple[Problem, Located | Callable[[], Located] | None]
_NEEDED = {False: ("entity_type", "description"), True: ("description", "keywords")}


class GraphCheck:
    """Judges one graph; afterwards ``known`` has its nodes and edges, if it was read to its end."""

    def __init__(self, known: Known, nano: bool) -> None:
        self._known = known
        self._nano = nano
        self._nodes: dict[str, Described] = {}
        self._edges: dict[tuple[str, str], Described] = {}
        self._cases: dict[str, str] = {}
        self._clusters: set[str] = set()
        self._pending: list[tuple[str, str, Located]] = []
        self._reader: GraphReader

    def problems(self, file: DataFile, source: Source) -> Iterator[Placed]:
        """The faults of a file, in its order."""
        source.text = False  # XML names its encoding itself
        pieces = source.pieces()
        first = next(pieces, b"")
        longest = source.max_line_bytes // 4  # its texts and their bytes are held, each once more to be put together
        self._reader = reader = GraphReader(_chained(first, pieces), 3 if source.bom else 0, longest)
        for items, faults in reader.batches():
            for fault in faults:
                yield Problem(fault.rule, facts=fault.facts, position=0), _place_of(fault)
            for item in items:
                yield from self._item(item)
        for _ in pieces:  # what is behind a fault is counted, not read
            pass
        yield from self._unknown_endpoints()
        file.records = len(self._nodes) + len(self._edges)
        file.to_end = reader.whole
        if reader.whole and reader.found:
            self._known.nodes, self._known.edges = self._nodes, self._edges
            self._known.clusters = self._clusters

    def _item(self, item: Item) -> Iterator[Placed]:
        own = ((Problem(f.rule, facts=f.facts), f.attribute) for f in item.faults)
        for problem, attribute in chain(own, self._edge(item) if item.ends else self._node(item)):
            yield problem, partial(self._place, item, problem, attribute)

    def _place(self, item: Item, problem: Problem, attribute: str) -> Located:
        """The node or edge as it is in the file; what is meant in it is noted."""
        place = Located(item.number, item.line, item.offset, self._reader.raw(item), _indent(item.column))
        problem.pointer = _pointer(item, attribute)
        problem.position, problem.length = _span(place.raw, self._reader.place(item, attribute))
        return place

    def _described(self, item: Item, *texts: str) -> Described:
        joined = item.attributes.get("source_id", "")
        return Described(item.line, item.number, code_of(*texts), tuple(map(self._known.one, sources_of(joined))))

    def _node(self, item: Item) -> Iterator[tuple[Problem, str]]:
        name = self._known.one(item.name)
        described = self._described(item, item.attributes.get("description", ""))
        if name in self._nodes:
            if self._nodes[name][2:] != described[2:]:
                yield Problem("repeated-node", value=name), ""
        else:
            yield from self._name(name)
        self._nodes[name] = described
        yield from self._sources(item, described, name)
        yield from self._incomplete(item, name)
        clusters = item.attributes.get("clusters")
        if clusters is not None and self._nano:
            yield from self._clusters_of(clusters)

    def _name(self, name: str) -> Iterator[tuple[Problem, str]]:
        if SEPARATOR in name:
            yield Problem("separator-in-name", value=name), ""
        if not self._nano:
            stored = normalised(name)
            if stored != name:
                yield (
                    Problem("changing-name", value=name, facts={"expected": json.dumps(stored, ensure_ascii=False)}),
                    "",
                )
        other = self._cases.setdefault(name.casefold(), name)
        if other != name:
            yield Problem("names-differ-in-case", value=name, facts={"other": other}), ""

    def _edge(self, item: Item) -> Iterator[tuple[Problem, str]]:
        source, target = map(self._known.one, item.ends)
        pair = pair_of(source, target)
        get = item.attributes.get
        described = self._described(item, get("keywords", ""), get("description", ""))
        shown = f"{source} – {target}"
        if pair in self._edges:
            yield Problem("repeated-edge", value=shown), ""
        self._edges[pair] = described
        for end in dict.fromkeys(pair):
            if end not in self._nodes:
                raw = self._reader.raw(item)
                indent = _indent(item.column)
                place = Located(item.number, item.line, item.offset, raw[:400], indent, cut=True)
                self._pending.append((end, shown, place))
        if source == target:
            yield Problem("self-loop", value=source), ""
        yield from _weight(item, described, shown)
        yield from self._sources(item, described, shown)
        yield from self._incomplete(item, shown)

    def _sources(self, item: Item, described: Described, shown: str) -> Iterator[tuple[Problem, str]]:
        if not described.sources:
            yield Problem("element-without-chunk", value=shown), "source_id"
        chunks = self._known.chunks
        if chunks is not None and not chunks.keys() >= set(described.sources):
            for part in described.sources:
                if part not in chunks:
                    joined = "," in part and all(name.strip() in chunks for name in part.split(","))
                    hint = "put <SEP> between the ids of chunks, not a comma" if joined else ""
                    yield Problem("unknown-source", value=part, hint=hint), "source_id"

    def _incomplete(self, item: Item, shown: str) -> Iterator[tuple[Problem, str]]:
        for name in _NEEDED[bool(item.ends)][: 1 if item.ends and self._nano else None]:
            if not item.attributes.get(name):
                yield Problem("incomplete-element", value=shown, facts={"expected": name}), name

    def _clusters_of(self, text: str) -> Iterator[tuple[Problem, str]]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        sound = isinstance(found, list) and all(isinstance(c, dict) and {"level", "cluster"} <= c.keys() for c in found)
        if sound:
            self._clusters.update(str(c["cluster"]) for c in found or ())
        else:
            yield Problem("unreadable-clusters", value=text), "clusters"

    def _unknown_endpoints(self) -> Iterator[Placed]:
        for end, _, place in self._pending:
            if end not in self._nodes and self._reader.whole:
                yield Problem("unknown-endpoint", f"/edges/{place.record}", end, position=0), place


def _weight(item: Item, described: Described, shown: str) -> Iterator[tuple[Problem, str]]:
    text = item.attributes.get("weight")
    if text is None:
        yield Problem("edge-without-weight", value=shown), ""
        return
    try:
        weight = float(text)
    except ValueError:  # which stops the reader, and is reported by it
        weight = math.nan if not text else math.inf
        if text:
            return
    if not math.isfinite(weight) or weight < min(len(described.sources), 1):
        yield Problem("odd-edge-weight", value=text, facts={"pair": shown}), "weight"


def _indent(column: int) -> Indent:
    """What is before an element: blanks, as GraphML is written."""
    return Indent(column, column)


def _place_of(fault: Fault) -> Located:
    return Located(0, fault.line, fault.offset, b"", _indent(fault.column))


def _chained(first: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from pieces


def _pointer(item: Item, attribute: str) -> str:
    below = f"/{attribute}" if attribute and attribute in item.attributes else ""
    return f"/{'edges' if item.ends else 'nodes'}/{item.number}{below}"


def _span(raw: bytes, place: int | None) -> tuple[int, int]:
    """Where the value in the element at ``place`` is, else where the whole begins: (first character, length)."""
    begin = 0 if place is None else raw.find(b">", place) + 1 or place
    end = raw.find(b">", begin) + 1 if place is None else raw.find(b"<", begin + 1)
    shown = raw[begin : end if end > begin else len(raw)].decode("utf-8", "replace").split("\n")[0]
    return len(raw[:begin].decode("utf-8", "replace")), len(shown)
