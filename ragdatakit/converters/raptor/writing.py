"""Canonical tables as RAPTOR trees: the summaries that are given, or ones that are made of the texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

import msgspec

from ragdatakit.converters import Options
from ragdatakit.converters.raptor.building import extracts, leaves_of, summary_layers
from ragdatakit.converters.raptor.models import AskedSummaries, TextVectors
from ragdatakit.converters.raptor.pickling import PickledNode, write_pickle
from ragdatakit.files.raptor.hashing import hashed
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.outputs.written_files import Output

_ENCODER = msgspec.json.Encoder()
_VECTORS = msgspec.json.Decoder(dict[str, list[float]])
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
PASSAGE_COLUMNS = ("chunk_id", "text", "doc_id", "ordinal", "metadata")
SUMMARY_COLUMNS = ("summary_id", "level", "text", "children", "metadata")
_DIGITS = 7
"""Decimals of a vector's numbers, which are 32-bit floats of at most 1."""
_NO_PLACE = "the target has no place for it"


@dataclass(slots=True)
class _Made:
    """A node of a tree that will be written; ``vectors`` is JSON text."""

    old: str
    layer: int
    text: str
    children: list[int] = field(default_factory=list)
    vectors: bytes = b""
    index: int = -1


def _table_of(node: _Made) -> str:
    return "summaries" if node.layer else "chunks"


@dataclass(slots=True)
class _Tree:
    name: str
    nodes: list[_Made] = field(default_factory=list)


def write_trees(tables: CanonicalTables, out: Output, options: Options) -> None:
    """A file for each tree."""
    writing = _Writing(tables, out, options)
    trees = writing.trees()
    if not any(tree.nodes for tree in trees):
        raise RagdataError(f"{tables.name} has no chunks or documents with a text, which a RAPTOR tree is made of")
    for tree in trees:
        if tree.nodes:
            writing.write(tree)


class _Writing:
    def __init__(self, tables: CanonicalTables, out: Output, options: Options) -> None:
        self._tables, self._out, self._options = tables, out, options
        self._of: dict[str, tuple[_Tree, int]] = {}  # by id: the tree of a node, and its place there
        self._text_vectors = TextVectors(options.embedder)

    def trees(self) -> list[_Tree]:
        """The trees with all their nodes."""
        found = self._leaves()
        if self._tables.any("summaries"):
            for tree in self._given_summaries(found):
                self._number(tree)
        else:
            for tree in found:
                if self._options["summaries"] == "extractive":
                    self._make_summaries(tree)
                self._number(tree)
        return found

    def _leaves(self) -> list[_Tree]:
        tables = self._tables
        chunked = tables.passages == "chunks"
        names = Counter(row.doc_id or "" for row in tables.peek("chunks")) if chunked else Counter[str]()
        by_document = self._by_document(names)
        most = 0 if chunked else self._options["leaf-tokens"]
        trees: dict[str, _Tree] = {}
        rows = tables.take("chunks", *PASSAGE_COLUMNS) if chunked else tables.take("documents", "doc_id", "text")
        for row in rows:
            old, document = (row[0], row.doc_id or "") if chunked else (row.doc_id, row.doc_id)
            name = document if by_document and document else next(iter(names)) if len(names) == 1 else ""
            tree = trees.setdefault(name, _Tree(name or self._options.name))
            texts = list(leaves_of(row.text, most)) if most else [row.text] if row.text.strip() else []
            if not texts:
                tables.drop(tables.passages, row, "a node without text says nothing")
            elif len(texts) > 1:
                tables.losses.add("derived", "chunks", "text", f"documents were cut into leaves of {most} tokens", old)
            vectors = self._vectors("chunks", row) if chunked else b""
            for text in texts:
                if old not in self._of:
                    self._of[old] = tree, len(tree.nodes)
                tree.nodes.append(_Made(old if len(texts) == 1 else "", 0, text, vectors=vectors))
        return list(trees.values())

    def _by_document(self, names: Counter[str]) -> bool:
        """Whether each document gets a tree of its own."""
        if self._options["trees"] != "given" or not self._tables.any("summaries"):
            return bool(self._options["trees"] == "document")
        if len(names) < 2 or "" in names:
            return False
        documents = {row[0]: row.doc_id for row in self._tables.peek("chunks")}
        for row in sorted(self._tables.peek("summaries"), key=lambda s: s.level):
            of = {documents[child] for child in row.children if child in documents}
            if len(of) > 1:
                return False
            documents[row[0]] = next(iter(of), None)
        return True

    def _vectors(self, table: str, row: Any) -> bytes:
        """The vectors in a row's metadata; what else is there is lost."""
        if not row.metadata:
            return b""
        fields = _FIELDS.decode(row.metadata)
        found = fields.pop("embeddings", None)
        for name, value in fields.items():
            shown = bytes(value)[:240].decode("utf-8", "ignore")
            self._tables.losses.add("lost", table, "metadata", _NO_PLACE, f"{row[0]}: {name} {shown}")
        if found is None or self._options["vectors"] != "given":
            if found is not None and self._options["vectors"] == "none":
                self._tables.losses.add("lost", table, "metadata", "vectors were not wanted", row[0])
            return b""
        try:
            _VECTORS.decode(found)
        except msgspec.ValidationError:
            self._tables.losses.add("lost", table, "metadata", "embeddings that are no lists of numbers", row[0])
            return b""
        return bytes(found)

    def _given_summaries(self, trees: list[_Tree]) -> list[_Tree]:
        """Put the given summaries into the trees of their children, in whole layers."""
        tables = self._tables
        rows = sorted(tables.take("summaries", *SUMMARY_COLUMNS), key=lambda row: row.level)
        for row in rows:
            homes = [self._of[child] for child in row.children if child in self._of]
            if not homes:
                tables.drop("summaries", row, "none of its children is in the dataset")
                continue
            tree = homes[0][0]
            below = max(tree.nodes[place].layer for home, place in homes if home is tree)
            made = _Made(row.summary_id, below + 1, row.text, vectors=self._vectors("summaries", row))
            for child in row.children:
                home, place = self._of.get(child, (None, 0))
                if home is tree and tree.nodes[place].layer == below:
                    made.children.append(place)
                else:
                    why = "a child that is not in the dataset, or not in the layer below"
                    tables.losses.add("lost", "summaries", "children", why, f"{row.summary_id}: {child}")
            self._of.setdefault(row.summary_id, (tree, len(tree.nodes)))
            tree.nodes.append(made)
        return trees

    def _make_summaries(self, tree: _Tree) -> None:
        start, losses, asker = 0, self._tables.losses, self._options.asker
        asked = AskedSummaries(tree.name, asker, losses) if asker is not None else None
        texts = [node.text for node in tree.nodes]
        for layer, made in enumerate(summary_layers(texts, asked or extracts, self._text_vectors), 1):
            following = len(tree.nodes)
            for each in made:
                tree.nodes.append(_Made("", layer, each.text, [start + child for child in each.children]))
            start = following
            by = f"by {asker.options.model}" if asker is not None else "of sentences of the texts"
            losses.add("derived", "summaries", None, f"summaries were made {by}", count=len(made))
        if asked is not None:
            asked.finish()
        for node in tree.nodes:
            node.vectors = node.vectors if start == 0 else b""

    def _number(self, tree: _Tree) -> None:
        """Indexes: those in the ids where they are a tree's, else leaves first, layer by layer."""
        prefix = f"{tree.name}:"
        given = [int(rest) if (rest := node.old.removeprefix(prefix)).isdecimal() and len(rest) < 10 and
                 node.old == f"{prefix}{int(rest)}" else -1 for node in tree.nodes]  # fmt: skip
        keep = -1 not in given and len(set(given)) == len(given)
        order = sorted(range(len(tree.nodes)), key=lambda place: (tree.nodes[place].layer, place))
        for index, place in enumerate(order):
            node = tree.nodes[place]
            node.index = given[place] if keep else index

    def write(self, tree: _Tree) -> None:
        """One file."""
        kind = {"json": "json", "pickle": "pkl"}[self._options["form"]]
        part = self._out.free_part(f"{{}}.{kind}", tree.name)
        nodes = sorted(tree.nodes, key=lambda node: (node.layer, node.index))
        self._tell_renamed(part, nodes)
        indexes = [node.index for node in tree.nodes]
        key = self._complete_vectors(nodes)
        if kind == "pkl" and not key:
            reason = "RAPTOR needs a vector for each node of a pickle, and there are none"
            raise RagdataError(f"{reason}: --option vectors=hashing, or keep-vectors=true where the source is a tree")
        with self._out.lines(f"{part}.{kind}") as writer:
            if kind == "pkl":
                layers: list[list[int]] = [[] for _ in range(nodes[-1].layer + 1)]
                for row, node in enumerate(nodes):
                    layers[node.layer].append(row)
                writer.records = write_pickle(writer.put, _pickled(nodes, indexes), layers)
            else:
                _write_json(writer, nodes, indexes, key)

    def _tell_renamed(self, part: str, nodes: list[_Made]) -> None:
        for node in nodes:
            new = f"{part}:{node.index}"
            if node.old and node.old != new and node.layer == 0:
                self._out.renamed("passage", new, node.old)
            elif node.old and node.old != new:
                why = "nodes are numbered"
                self._tables.losses.add("renumbered", "summaries", "summary_id", why, f"{node.old} became {new}")

    def _complete_vectors(self, nodes: list[_Made]) -> str:
        """Give all nodes vectors, or none; returns what they are called."""
        if self._options["vectors"] == "hashing":
            key, size = self._options["embedding-key"], self._options["dimensions"]
            if size < 1:
                raise RagdataError(f"--option dimensions={size}: expected an integer of 1 or more")
            for node in nodes:
                node.vectors = _ENCODER.encode({key: hashed(node.text, size).round(6).tolist()})
            self._tell_derived(nodes, "vectors of hashed words")
            return str(key)
        if self._options["vectors"] == "given" and self._text_vectors.by_model:
            key, vectors = self._options["embedding-key"], self._text_vectors([node.text for node in nodes])
            for node, vector in zip(nodes, vectors, strict=True):
                node.vectors = _ENCODER.encode({key: vector.astype(float).round(_DIGITS).tolist()})
            self._tell_derived(nodes, f"vectors were made by {self._text_vectors.by_model}")
            return str(key)
        shapes = Counter(_shape(node.vectors) for node in nodes)
        if len(shapes) > 1:
            for node in nodes:
                if node.vectors:
                    why = "only some nodes have vectors of this name and length"
                    self._tables.losses.add("lost", _table_of(node), "embeddings", why, node.old)
                node.vectors = b""
            return ""
        shape = next(iter(shapes))
        return shape[0][0] if shape else ""

    def _tell_derived(self, nodes: list[_Made], why: str) -> None:
        for table, count in Counter(map(_table_of, nodes)).items():
            self._tables.losses.add("derived", table, "embeddings", why, count=count)


def _shape(vectors: bytes) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, len(v)) for name, v in _VECTORS.decode(vectors).items())) if vectors else ()


def _pickled(nodes: Iterable[_Made], indexes: list[int]) -> Iterator[PickledNode]:
    for node in nodes:
        vectors: dict[str, Any] = _VECTORS.decode(node.vectors) if node.vectors else {}
        yield PickledNode(node.index, node.text, sorted(indexes[c] for c in node.children), vectors)


def _write_json(writer: Any, nodes: list[_Made], indexes: list[int], key: str) -> None:
    top = nodes[-1].layer
    named = b'"embedding_key": %b, ' % _ENCODER.encode(key) if key else b""
    writer.put(b'{"format": "raptor-tree", "num_layers": %d, %b"nodes": [' % (top, named))
    for number, node in enumerate(nodes):
        fields: dict[str, Any] = {
            "index": node.index,
            "layer": node.layer,
            "text": node.text,
            "children": sorted(indexes[child] for child in node.children),
        }
        if node.vectors:
            fields["embeddings"] = msgspec.Raw(node.vectors)
        writer.put((b",\n " if number else b"\n ") + _ENCODER.encode(fields))
    roots = [node.index for node in nodes if node.layer == top]
    writer.put(b'],\n"roots": %b}\n' % _ENCODER.encode(roots))
    writer.records = 1
