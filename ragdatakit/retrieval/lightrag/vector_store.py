"""A working directory searched by the vectors that come with it, as nano-vectordb does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ragdatakit.files.containers.sources import Source
from ragdatakit.files.lightrag.graphml import GraphReader
from ragdatakit.files.lightrag.names import SEPARATOR
from ragdatakit.files.lightrag.vectors import VectorRows, row_values
from ragdatakit.retrieval.lightrag.context import EntityInfo, Pair, RelationInfo
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

THRESHOLD = 0.2
"""The cosine below which LightRAG takes nothing."""
STORES = {"chunks": ("__id__",), "entities": ("entity_name",), "relationships": ("src_id", "tgt_id")}
"""The stores of vectors, ``vdb_….json``, and the members that say what a row of each is the vector of."""
_PIECE = 1 << 20


class GraphStore:
    """The graph and the texts of a store; how names are found by words is for those who know."""

    def __init__(self, entities: Mapping[str, EntityInfo], relations: Mapping[Pair, RelationInfo]) -> None:
        self._entities = entities
        self._relations = relations
        self._pairs: dict[str, list[Pair]] = {}
        for pair in relations:
            for name in dict.fromkeys(pair):
                self._pairs.setdefault(name, []).append(pair)

    def entity(self, name: str) -> EntityInfo | None:
        """What the graph says of a node; None where there is none."""
        return self._entities.get(name)

    def relation(self, pair: Pair) -> RelationInfo | None:
        """What the graph says of an edge, whatever its direction."""
        return self._relations.get(pair) or self._relations.get((pair[1], pair[0]))

    def pairs_of(self, name: str) -> Sequence[Pair]:
        """The edges of a node, in the order of the graph."""
        return self._pairs.get(name, ())


class VectorTable:
    """Names, each with a vector of length 1. ``own`` are those whose rows have a vector beside the matrix, too."""

    def __init__(self, names: Sequence[Any], matrix: Vectors, own: frozenset[Any]) -> None:
        self.names = names
        self.matrix = matrix
        self.own = own
        self._places = {found: place for place, found in enumerate(names)}

    def best(self, vector: Any, k: int) -> dict[Any, float]:
        """Names with their cosines, down to the threshold."""
        scores = self._scores(vector)
        order = np.argsort(scores)[-k:][::-1]
        return {self.names[place]: float(scores[place]) for place in order if scores[place] >= THRESHOLD}

    def best_of(self, vector: Any, among: Sequence[Any], k: int) -> dict[Any, float]:
        """The best of some, whatever their cosine; none where one of them has no vector of its own."""
        if not self.own.issuperset(among):
            return {}
        scores = self._scores(vector)
        best = sorted(among, key=lambda name: -scores[self._places[name]])[:k]
        return {name: float(scores[self._places[name]]) for name in best}

    def _scores(self, vector: Any) -> Any:
        if len(vector) != self.matrix.shape[1] and len(self.names):
            raise RagdataError(
                f"the question's vector has {len(vector):,} dimensions, those of the dataset "
                f"{self.matrix.shape[1]:,}: they are of different models"
            )
        return self.matrix @ (vector / np.linalg.norm(vector)) if len(self.names) else np.zeros(0)


class VectorStore(GraphStore):
    """The stores of one folder; ``embed`` makes the vector of a question."""

    def __init__(self, folder: Path, embed: Callable[[str], Any]) -> None:
        super().__init__(*_graph_of(folder / "graph_chunk_entity_relation.graphml"))
        self._embed = embed
        self._texts = orjson.loads((folder / "kv_store_text_chunks.json").read_bytes())
        self._rows = {name: read_vectors(folder / f"vdb_{name}.json", name) for name in STORES}

    def text(self, chunk: str) -> str | None:
        """The text of a chunk; None where it is not stored."""
        found = self._texts.get(chunk)
        return found.get("content") if isinstance(found, dict) else None

    def entities(self, words: str, k: int) -> Mapping[str, float]:
        """Names of entities with their cosines."""
        return self._rows["entities"].best(self._embed(words), k)

    def relations(self, words: str, k: int) -> Mapping[Pair, float]:
        """Pairs of names with their cosines."""
        return self._rows["relationships"].best(self._embed(words), k)

    def chunks(self, words: str, k: int) -> Mapping[str, float]:
        """Ids of chunks with their cosines."""
        return self._rows["chunks"].best(self._embed(words), k)

    def nearest(self, words: str, among: Sequence[str], k: int) -> Mapping[str, float]:
        """The best of some chunks; none where one of them has no vector of its own, as before 1.4."""
        return self._rows["chunks"].best_of(self._embed(words), among, k)


def read_vectors(path: Path, store: str) -> VectorTable:
    """The rows of one store of vectors. Raises `RagdataError` for a file that is no such store."""
    columns = STORES[store]
    vectors: list[Vectors] = []
    names: list[Any] = []
    own: set[Any] = set()
    rows = VectorRows(Source(path, path.suffix == ".gz"), lambda _, found: vectors.append(found.copy()))
    for part in rows.parts():
        for row in row_values(part):
            name = tuple(row.get(column) for column in columns)
            if not name or not all(isinstance(each, str) for each in name):
                raise RagdataError(f"the vectors of {path} cannot be used: a row has no {' and '.join(columns)}")
            names.append(name if len(name) > 1 else name[0])
            if row.get("vector"):
                own.add(names[-1])
    matrix = np.concatenate(vectors) if vectors else np.zeros((0, rows.dimension or 1), dtype=np.float32)
    if rows.error or rows.broken_base64 or len(matrix) != len(names):
        why = rows.error or f"it has {len(names):,} rows and {len(matrix):,} vectors"
        raise RagdataError(f"the vectors of {path} cannot be used: {why}")
    return VectorTable(names, of_length_one(matrix), frozenset(own))


def of_length_one(matrix: Vectors) -> Vectors:
    """The vectors, each divided by its length."""
    with np.errstate(all="ignore"):
        scaled: Vectors = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return scaled


def _graph_of(path: Path) -> tuple[dict[str, EntityInfo], dict[Pair, RelationInfo]]:
    entities: dict[str, EntityInfo] = {}
    relations: dict[Pair, RelationInfo] = {}
    with path.open("rb") as file:
        for items, _ in GraphReader(iter(lambda: file.read(_PIECE), b"")).batches():
            for item in items:
                get = item.attributes.get
                sources = tuple(part.strip() for part in get("source_id", "").split(SEPARATOR) if part.strip())
                if not item.ends:
                    info = EntityInfo(get("entity_type", "UNKNOWN"), get("description", "UNKNOWN"), sources)
                    entities[item.name] = info
                else:
                    weight = float(get("weight") or 1.0)
                    relations[item.ends[0], item.ends[1]] = RelationInfo(get("description", "UNKNOWN"), weight, sources)
    return entities, relations
