"""A working directory searched by the vectors that come with it, as nano-vectordb does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ragdatakit.files.containers.sources import Source
from ragdatakit.files.lightrag.graphml import GraphReader
from ragdatakit.files.lightrag.names import SEPARATOR
from ragdatakit.files.lightrag.vectors import VectorRows, row_values
from ragdatakit.retrieval.lightrag.context import EntityInfo, Pair, RelationInfo

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

THRESHOLD = 0.2
"""The cosine below which LightRAG takes nothing."""
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


class VectorStore(GraphStore):
    """The stores of one folder; ``embed`` makes the vector of a question."""

    def __init__(self, folder: Path, embed: Callable[[str], Any]) -> None:
        super().__init__(*_graph_of(folder / "graph_chunk_entity_relation.graphml"))
        self._embed = embed
        self._texts = orjson.loads((folder / "kv_store_text_chunks.json").read_bytes())
        self._chunk_rows = _Rows(folder / "vdb_chunks.json", lambda row: row["__id__"])
        self._entity_rows = _Rows(folder / "vdb_entities.json", lambda row: row["entity_name"])
        self._relation_rows = _Rows(folder / "vdb_relationships.json", lambda row: (row["src_id"], row["tgt_id"]))

    def text(self, chunk: str) -> str | None:
        """The text of a chunk; None where it is not stored."""
        found = self._texts.get(chunk)
        return found.get("content") if isinstance(found, dict) else None

    def entities(self, words: str, k: int) -> Sequence[str]:
        """Names of entities by falling cosine."""
        return self._entity_rows.best(self._embed(words), k)

    def relations(self, words: str, k: int) -> Sequence[Pair]:
        """Pairs of names by falling cosine."""
        return self._relation_rows.best(self._embed(words), k)

    def chunks(self, words: str, k: int) -> Sequence[str]:
        """Ids of chunks by falling cosine."""
        return self._chunk_rows.best(self._embed(words), k)

    def nearest(self, words: str, among: Sequence[str], k: int) -> Sequence[str]:
        """The best of some chunks; none where one of them has no vector of its own, as before 1.4."""
        return self._chunk_rows.best_of(self._embed(words), among, k)


class _Rows:
    """The rows of one store of vectors."""

    def __init__(self, path: Path, name: Callable[[dict[str, Any]], Any]) -> None:
        import numpy as np

        vectors: list[Vector] = []
        self.names: list[Any] = []
        self._own: set[Any] = set()
        rows = VectorRows(Source(path, path.suffix == ".gz"), lambda _, found: vectors.append(found.copy()))
        for part in rows.parts():
            for row in row_values(part):
                if row.get("vector"):
                    self._own.add(name(row))
                self.names.append(name(row))
        matrix = np.concatenate(vectors) if vectors else np.zeros((0, rows.dimension or 1), dtype=np.float32)
        with np.errstate(all="ignore"):
            self.matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        self._places = {found: place for place, found in enumerate(self.names)}

    def best(self, vector: Any, k: int) -> list[Any]:
        """Names by falling cosine, down to the threshold."""
        import numpy as np

        scores = self.matrix @ (vector / np.linalg.norm(vector))
        order = np.argsort(scores)[-k:][::-1]
        return [self.names[place] for place in order if scores[place] >= THRESHOLD]

    def best_of(self, vector: Any, among: Sequence[Any], k: int) -> list[Any]:
        """The best of some, whatever their cosine."""
        import numpy as np

        if not self._own.issuperset(among):
            return []
        scores = self.matrix @ (vector / np.linalg.norm(vector))
        return sorted(among, key=lambda name: -scores[self._places[name]])[:k]


def _graph_of(path: Path) -> tuple[dict[str, EntityInfo], dict[Pair, RelationInfo]]:
    entities: dict[str, EntityInfo] = {}
    relations: dict[Pair, RelationInfo] = {}
    with path.open("rb") as file:
        for items, _ in GraphReader(iter(lambda: file.read(_PIECE), b"")).batches():
            for item in items:
                get = item.attributes.get
                sources = tuple(part.strip() for part in get("source_id", "").split(SEPARATOR) if part.strip())
                if not item.ends:
                    told = EntityInfo(get("entity_type", "UNKNOWN"), get("description", "UNKNOWN"), sources)
                    entities[item.name] = told
                else:
                    weight = float(get("weight") or 1.0)
                    relations[item.ends[0], item.ends[1]] = RelationInfo(get("description", "UNKNOWN"), weight, sources)
    return entities, relations
