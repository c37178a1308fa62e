"""The checks of LightRAG data that its declaration cannot say, and which module judges which file.

The stores of documents and chunks are read first, then the graph, then the vectors and what follows the graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.beginnings import BOM
from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.texts import many
from ragdatakit.validators.checks import FormatChecks, Needs
from ragdatakit.validators.lacking import missing_file
from ragdatakit.validators.lightrag.extraction import extraction_problems
from ragdatakit.validators.lightrag.graph import GraphCheck
from ragdatakit.validators.lightrag.known import Known
from ragdatakit.validators.lightrag.payload import PARTS, payload_problems
from ragdatakit.validators.lightrag.reports import report_problems
from ragdatakit.validators.lightrag.stores import ChunkStore, document_problems, status_problems
from ragdatakit.validators.lightrag.tracking import LISTS, tracking_problems
from ragdatakit.validators.lightrag.vectors import VectorCheck
from ragdatakit.validators.row_problems import RowProblems

if TYPE_CHECKING:
    from ragdatakit.files.containers.sources import Source
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Placed, Streamed
    from ragdatakit.validators.csv_parts import CsvTable

_NEEDED = {"chunks": "kv_store_text_chunks.json", "graph": "graph_chunk_entity_relation.graphml"}
_VECTORS = {
    "chunk-vectors": "vdb_chunks.json",
    "entity-vectors": "vdb_entities.json",
    "relation-vectors": "vdb_relationships.json",
}
_OTHER_VECTORS = ("faiss_index_*.index", "*_hnsw.index")
"""What the storages of Faiss, in LightRAG, and of hnswlib, in nano-graphrag, keep in a working directory."""
_JUDGED = {"documents", "chunks", "status", "reports", "payload", *LISTS}


class LightRagChecks(FormatChecks):
    """One working directory, payload or extraction."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        kinds = {file.kind for file in dataset.files}
        self._nano = "lightrag" not in profiles or (len(profiles) > 1 and "reports" in kinds)
        self._known = Known()
        if "documents" in kinds:
            self._known.documents = {}
        if "chunks" in kinds:
            self._known.chunks = {}
        self._chunks = ChunkStore(self._known)
        self._reported: set[str] = set()
        self._vectors: VectorCheck | None = None
        self._payloads = 0
        self._is_list = False

    def start(self) -> Iterator[Placed]:
        """Files that are missing, or packed; a payload is opened by who calls LightRAG."""
        for file in self.dataset.files:
            if file.name.endswith(".gz") and file.kind != "payload":
                yield file, Problem("packed-store", facts={"expected": file.name.removesuffix(".gz")})
        if self.dataset.layout != "working directory":
            return
        kinds = {file.kind: file for file in reversed(self.dataset.files)}
        place = self.dataset.files[0]
        for kind, name in _NEEDED.items():
            if kind not in kinds:
                yield place, self._beside(Problem("missing-store", facts={"expected": name}), name)
        for problem in self._missing_vectors(kinds):
            yield place, problem

    def _missing_vectors(self, kinds: Container[str]) -> Iterator[Problem]:
        """Where any of the stores is there, LightRAG keeps the others beside it; nano-graphrag makes those of the modes
        that are enabled."""
        if any(kind in kinds for kind in _VECTORS):
            for kind in () if self._nano else _VECTORS:
                if kind not in kinds:
                    problem = Problem("missing-vectors", facts={"expected": _VECTORS[kind]})
                    yield self._beside(problem, _VECTORS[kind])
        elif not any(next(self.dataset.root.glob(name), None) for name in _OTHER_VECTORS):
            yield Problem("no-vector-stores", facts={"expected": _VECTORS["entity-vectors"]})

    def _beside(self, problem: Problem, expected: str) -> Problem:
        return missing_file(problem, self.dataset.root, expected, (file.path for file in self.dataset.files))

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """All records have something that the declaration does not say. Chunks are compared with those before them, and
        what is read behind them with all of the directory: only documents are judged in ranges."""
        return Needs(records=kind in _JUDGED, in_ranges=kind == "documents", stream=self._stream)

    def state(self, file: DataFile) -> dict[str, None] | None:
        """The ids of documents."""
        return self._known.documents

    def merge(self, file: DataFile, states: Sequence[dict[str, None]]) -> None:
        """All of them, in their order."""
        if self._known.documents is not None:
            for documents in states:
                self._known.documents.update(documents)

    def start_file(self, file: DataFile) -> None:
        """Note whether a file of a payload is a list."""
        self._is_list = file.kind == "payload" and json_container(file.path, file.boundary) == "json-array"

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one record, or of a whole payload; what is in a list and has no part of one is none."""
        if not isinstance(value, dict):
            return ()
        if file.kind == "payload":
            self._payloads += 1
            return payload_problems(value) if not self._is_list or any(part in value for part in PARTS) else ()
        key, record = list(value.values())[:2] if len(value) > 1 else ("", None)
        if file.kind == "documents" and self._known.documents is not None:
            self._known.documents[key] = None
        if not isinstance(record, dict):
            if file.kind == "chunks" and self._known.chunks is not None:
                self._known.chunks[key] = 0
            return ()
        if file.kind == "documents":
            return document_problems(key, record)
        if file.kind == "chunks":
            return self._chunks.problems(key, record)
        if file.kind == "status":
            return status_problems(key, record, self._known)
        if file.kind == "reports":
            self._reported.add(key)
            return report_problems(key, record, self._known)
        return tracking_problems(file.kind, value, self._known)

    def _stream(self, file: DataFile, source: Source) -> Iterable[Streamed]:
        """The graph, or a store of vectors."""
        if file.kind == "graph":
            return GraphCheck(self._known, self._nano).problems(file, source)
        self._vectors = VectorCheck(file.kind, self._known, self._nano)
        return self._vectors.problems(file, source)

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        """What is wrong with a store as a whole; one that was not read to its end, or of which no record could be
        read, is compared with nothing."""
        if file.kind == "payload":
            payloads, self._payloads = self._payloads, 0
            for problem in _payload_faults(file, records, payloads, self._is_list):
                yield file, problem
        if file.kind == "chunks":
            for problem in self._chunks.gaps():
                yield file, problem
        if file.kind == "documents" and not (file.to_end and self._known.documents):
            self._known.documents = None
        if file.kind == "chunks" and not (file.to_end and self._known.chunks):
            self._known.chunks = None
        if file.kind == "reports" and file.to_end:
            for cluster in sorted((self._known.clusters or set()) - self._reported):
                yield file, Problem("cluster-without-report", None, cluster)
        if file.kind in _VECTORS and file.to_end and self._vectors is not None:
            homes = {home.kind: home for home in reversed(self.dataset.files)}
            for kind, problem in self._vectors.missing():
                yield homes.get(kind, file), problem

    def finish(self) -> Iterator[Placed | RowProblems]:
        """Stores of another dimension than most, or where none has most, than the first; and all documents, where no
        status is stored: those of a file without records are compared with nothing."""
        found = self._known.dimensions
        usual = Counter(found.values()).most_common(1)
        for file, dimension in found.items():
            if usual and dimension != usual[0][0]:
                other = next(f.name for f, d in found.items() if d == usual[0][0])
                facts = {"other": other, "expected": usual[0][0]}
                yield file, Problem("other-dimension", "/embedding_dim", dimension, facts)
        if self.dataset.layout != "working directory" or self._nano:
            return
        documents, statuses = self.dataset.of_kind("documents"), self.dataset.of_kind("status")
        if all(file.to_end for file in (*documents, *statuses)) and not any(file.records for file in statuses):
            rows = range(sum(file.records or 0 for file in documents))
            if rows:
                yield RowProblems("document-without-status", "documents", "doc_id", rows)

    def text(self, file: DataFile, data: bytes) -> Iterable[Problem]:
        """The faults of one extraction."""
        return extraction_problems(data)


def _payload_faults(file: DataFile, records: int, payloads: int, is_list: bool) -> Iterator[Problem]:
    """What is wrong with the file of a payload where its values are sound, and objects: `json.load` is to read one."""
    if not file.name.endswith(".gz"):
        with suppress(OSError), file.boundary.open(file.path) as stream:  # which the engine reports
            if stream.read(len(BOM)) == BOM:
                facts = {"reason": "the file begins with a byte-order mark"}
                yield Problem("payload-not-json", facts=facts, hint="save the file as UTF-8 without the mark")
    if 0 < records == payloads and file.readable:
        if is_list:
            yield Problem("payload-not-object", facts={"value": f"a list of {many(records, 'value')}"})
        elif records > 1:
            facts = {"reason": f"there are {records:,} values in it, one after the other"}
            yield Problem("payload-not-json", facts=facts, hint="write each to a file of its own")
