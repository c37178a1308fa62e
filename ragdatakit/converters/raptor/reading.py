"""RAPTOR trees as canonical tables: leaves are chunks, the nodes above them summaries."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from ragdatakit.converters import Options
from ragdatakit.converters.free_names import FreeNames
from ragdatakit.files.containers.json_text import Raw, items_of, loads
from ragdatakit.files.containers.pickles import PickleError
from ragdatakit.files.raptor.trees import Other, PickledTree, TreeNode, Vector, opened
from ragdatakit.files.reading.tables_together import SharedRows
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import Chunk, Edge, Node, Summary
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.files.reading.canonical_tables import RowSource
    from ragdatakit.files.reading.record_reading import RecordReader

RELATION = "summarizes"
_AT_ONCE = 1 << 22
"""Characters of nodes whose rows are given together."""
_FIELDS = msgspec.json.Decoder(dict[str, Raw])
_ENCODER = msgspec.json.Encoder()
_LEFT_OUT = "vectors have no table (--option keep-vectors=true keeps them as metadata)"


@dataclass(frozen=True, slots=True)
class Piece:
    """A node of a tree as it is read: its index, layer, text, children, its vectors as JSON text, else how many are
    left out."""

    index: int
    layer: int
    text: str
    children: tuple[int, ...]
    embeddings: str | None
    left_out: int


def read_trees(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of all trees of a dataset."""
    reading = _Reading(dataset, records, bool(options["keep-vectors"]))
    tables = ("chunks", "summaries", *(("nodes", "edges") if options["tree-graph"] else ()))
    return {table: SharedRows(reading, table) for table in tables}


class _Reading:
    def __init__(self, dataset: Dataset, records: RecordReader, keeps_vectors: bool) -> None:
        self._records = records
        self._keeps_vectors = keeps_vectors
        self._noted: set[str] = set()
        self._vectors_counted: Counter[tuple[str, str]] = Counter()
        free = FreeNames()
        self._trees = [(free(_tree_name(file)), file) for file in dataset.files]

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of one table."""
        for tree, piece in self._pieces(table):
            yield from _rows_of(table, tree, piece)

    def together(self, tables: Collection[str]) -> Iterator[Mapping[str, Sequence[Any]]]:
        """The rows of several, of a tree that is read once."""
        if self._records.refused:  # of which each table has an account
            from ragdatakit.database.dataset_database import Unproved

            raise Unproved
        made: dict[str, list[Any]] = {table: [] for table in tables}
        size = 0
        for tree, piece in self._pieces("chunks"):
            for table, rows in made.items():
                rows += _rows_of(table, tree, piece)
            size += len(piece.text) + len(piece.embeddings or "")
            if size > _AT_ONCE:
                yield made
                made, size = {table: [] for table in tables}, 0
        yield made

    def _pieces(self, table: str) -> Iterator[tuple[str, Piece]]:
        for tree, file in self._trees:
            if (why := self._records.refused.file(file)) is not None and file.kind == "pickle":
                self._records.losses.add("dropped", table, None, why, file.name)
                continue
            read = self._of_pickle if file.kind == "pickle" else self._of_json
            vectors: Counter[str] = Counter()
            for piece in read(file):
                of = "chunks" if piece.layer == 0 else "summaries"
                vectors[of] += piece.left_out
                self._tell_vectors(file, of, vectors[of])
                yield tree, piece

    def _of_pickle(self, file: DataFile) -> Iterator[Piece]:
        try:
            with opened(file) as tree:
                yield from self._of_tree(tree, file)
        except PickleError as error:
            raise RagdataError(f"{file.display}: byte {error.position}: {error.reason}") from None

    def _of_tree(self, tree: PickledTree, file: DataFile) -> Iterator[Piece]:
        for node, layer in in_order(tree):
            text = node.text if isinstance(node.text, str) else None
            if not isinstance(node.index, int) or layer is None or text is None:
                self._leave_out(file, node.pointer)
                continue
            children = sorted(c for c in node.children if isinstance(c, int)) if isinstance(node.children, list) else ()
            vectors = node.embeddings if isinstance(node.embeddings, dict) else {}
            kept = self._vectors(tree, vectors) if self._keeps_vectors else None
            yield Piece(node.index, layer, text, tuple(children), kept, 0 if self._keeps_vectors else len(vectors))

    @staticmethod
    def _vectors(tree: PickledTree, vectors: dict[Any, Any]) -> str | None:
        numbers = {name: tree.numbers(v) for name, v in vectors.items() if isinstance(v, Vector) and v.finite}
        return _ENCODER.encode(numbers).decode() if numbers else None

    def _tell_vectors(self, file: DataFile, table: str, count: int) -> None:
        """Count the vectors of a table's rows that are left out of a file up to a node, once: it is read for each
        table."""
        before = self._vectors_counted[file.display, table]
        if count > before:
            self._vectors_counted[file.display, table] = count
            example = None if before else file.name
            self._records.losses.add("lost", table, "embeddings", _LEFT_OUT, example, count - before, by_option=True)

    def _leave_out(self, file: DataFile, pointer: str, why: str = "a node without index, layer or text") -> None:
        if (key := f"{file.display}{pointer}") not in self._noted:
            self._noted.add(key)
            self._records.losses.add("dropped", "chunks", None, why, f"{file.name}{pointer}")

    def _of_json(self, file: DataFile) -> Iterator[Piece]:
        for fields in self._records.objects(file):
            nodes: list[tuple[int, int, Raw]] = []
            listed = items_of(fields.get("nodes"))
            if listed is None and "nodes" in fields:
                self._leave_out(file, "/nodes", "nodes that are not a list")
            for place, raw in enumerate(listed or ()):
                node = _fields(raw)
                index, layer = (loads(node[name]) if name in node else None for name in ("index", "layer"))
                if type(index) is int and type(layer) is int and layer >= 0 and isinstance(_text(node), str):
                    nodes.append((layer, index, raw))
                else:
                    self._leave_out(file, f"/nodes/{place}")
            for layer, index, raw in sorted(nodes, key=lambda each: each[:2]):
                node = _fields(raw)
                children = loads(node["children"]) if "children" in node else []
                kept = tuple(c for c in children if type(c) is int) if isinstance(children, list) else ()
                vectors = node.get("embeddings")
                count = len(_fields(vectors)) if vectors is not None else 0
                if self._keeps_vectors and vectors is not None and count:
                    yield Piece(index, layer, _text(node) or "", kept, bytes(vectors).decode(), 0)
                else:
                    yield Piece(index, layer, _text(node) or "", kept, None, count)


def _rows_of(table: str, tree: str, piece: Piece) -> Iterator[Any]:
    """The rows of a node: leaves by index, which is their order in the text; the nodes above them; all as nodes of a
    graph; an edge from each summary to what it summarizes."""
    name, metadata = f"{tree}:{piece.index}", f'{{"embeddings":{piece.embeddings}}}' if piece.embeddings else None
    if table == "chunks" and piece.layer == 0:
        yield Chunk(name, piece.text, tree, piece.index, metadata=metadata)
    elif table == "summaries" and piece.layer > 0:
        yield Summary(name, piece.layer, piece.text, tuple(f"{tree}:{child}" for child in piece.children), metadata)
    elif table == "nodes":
        yield Node(name, "leaf" if piece.layer == 0 else "summary")
    elif table == "edges":
        yield from (Edge(name, RELATION, f"{tree}:{child}") for child in piece.children)


def _fields(raw: Raw) -> dict[str, Raw]:
    return _FIELDS.decode(raw) if bytes(raw)[:1] == b"{" else {}


def _text(node: dict[str, Raw]) -> str | None:
    found = loads(node["text"]) if "text" in node else None
    return found if isinstance(found, str) else None


def _tree_name(file: DataFile) -> str:
    """What a tree is called: its file, without the ending of one."""
    name = PurePosixPath(file.name).name
    for ending in (".json", ".pkl", ".pickle", ".tree"):
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return name


def in_order(tree: PickledTree) -> Iterator[tuple[TreeNode, int | None]]:
    """The nodes of a pickled tree with their layers, by layer and index. Only numbers are held."""
    layers: dict[int, int] = {}
    for key, members in tree.layers():
        if isinstance(key, int) and isinstance(members, list):
            layers.update((index, key) for index in members if isinstance(index, int))
    keys, values = array("q"), array("q")
    for _, value in tree.entries():
        index = tree.index_of(value)
        keys.append(index if isinstance(index, int) and not isinstance(index, bool) else -1)
        values.append(value)
    if not keys:
        return
    column = np.frombuffer(keys, np.int64)
    placed = np.array([layers.get(index, -1) for index in keys], np.int64)
    for row in np.lexsort((column, placed)).tolist():
        node = tree.node(f"/all_nodes/{keys[row]}", keys[row], values[row])
        if not isinstance(node, Other):
            yield node, int(placed[row]) if placed[row] >= 0 else None
