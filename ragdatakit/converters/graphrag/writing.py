"""The canonical tables as an index of GraphRAG in Parquet: what its readers load, with communities and reports.

Where communities and reports are given, they are written; else communities are made of the graph without a model, and
reports of sentences of the texts or by a language model. Vectors are not written: ``graphrag index`` makes them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.converters import Options
from ragdatakit.converters.graphrag.communities import given_communities, given_reports, made_communities, made_reports
from ragdatakit.converters.graphrag.entities import Graph
from ragdatakit.converters.graphrag.stored_rows import table_file
from ragdatakit.files.containers.json_text import dumps
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.texts import plain_tokens
from ragdatakit.outputs.written_files import Output
from ragdatakit.retrieval.graphrag.knowledge import attributes_of
from ragdatakit.schemas.canonical import Chunk, Document
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.graphrag.tables import (
    COMMUNITIES,
    COVARIATES,
    DOCUMENTS,
    ENTITIES,
    RELATIONSHIPS,
    RELEASES,
    REPORTS,
    TEXT_UNITS,
)

if TYPE_CHECKING:
    from ragdatakit.retrieval.extraction.asking import Asker

_CHUNK = ("chunk_id", "text", "doc_id", "ordinal", "metadata")
_DOCUMENT = ("doc_id", "text", "title", "metadata")


def write(tables: CanonicalTables, out: Output, options: Options) -> None:
    """Write the tables. Raises `RagdataError` where there are no texts, or no graph."""
    if not tables.any(tables.passages):
        raise RagdataError("an index of GraphRAG is made of texts, and the source has none")
    if not tables.any("nodes") and not tables.any("edges"):
        raise RagdataError("an index of GraphRAG has a graph, and the source has none; --extractor names makes one")
    _Index(tables, out, RELEASES[options["release"]], options.asker).write()


class _Index:
    def __init__(self, tables: CanonicalTables, out: Output, generation: str, asker: Asker | None) -> None:
        self._tables, self._out, self._generation, self._asker = tables, out, generation, asker
        self._is_own = tables.format == "graphrag"
        self._units: dict[str, str] = {}
        self._of_document: dict[str, list[str]] = {}
        self._claims: list[dict[str, Any]] = []

    def write(self) -> None:
        """Text units are looked at first, and written when it is known what is in them."""
        tables, out = self._tables, self._out
        self._look()
        has_places = any(column.name == "x" and column.is_of(self._generation) for column in ENTITIES.columns)
        graph = Graph(tables, out, self._units, self._claims, has_places)
        if not self._is_own and not any(entity.units for entity in graph.entities.values()):
            raise RagdataError(
                "no entity of the graph is in any of the texts, by ids or by names: GraphRAG stops at that"
            )
        with table_file(out, ENTITIES, self._generation) as file:
            for row in graph.entity_rows():
                file.write(row)
        with table_file(out, RELATIONSHIPS, self._generation) as file:
            for row in graph.relationship_rows():
                file.write(row)
        if graph.claims:
            with table_file(out, COVARIATES, self._generation) as file:
                for row in graph.claim_rows():
                    file.write(row)
        self._write_communities(graph)
        self._write_documents()
        self._write_units(graph)

    def _look(self) -> None:
        """Which text units there will be, whose they are, and which claims an index has there."""
        known = {document.doc_id for document in self._tables.peek("documents")}
        placed: dict[str, list[tuple[int, int, str]]] = {}
        for number, chunk in enumerate(self._chunks()):
            if chunk.chunk_id not in self._units:
                self._units[chunk.chunk_id] = chunk.chunk_id
                claims = attributes_of(chunk.metadata).get("claims", ()) if self._is_own else ()
                self._claims += ({**claim, "text_unit_id": chunk.chunk_id} for claim in claims)
                if chunk.doc_id is not None and chunk.doc_id in known:
                    place = chunk.ordinal if chunk.ordinal is not None else 1 << 62
                    placed.setdefault(chunk.doc_id, []).append((place, number, chunk.chunk_id))
        self._of_document = {name: [unit for _, _, unit in sorted(units)] for name, units in placed.items()}

    def _chunks(self) -> Iterator[Chunk]:
        """The chunks; a document without any is one of its own."""
        if self._tables.passages == "chunks":
            yield from self._tables.peek("chunks")
            return
        for document in self._tables.peek("documents"):
            yield Chunk(document.doc_id, document.text, document.doc_id, 0)

    def _write_communities(self, graph: Graph) -> None:
        tables, out = self._tables, self._out
        given = tables.any("communities")
        found = given_communities(tables, graph) if given else made_communities(tables, graph)
        with table_file(out, COMMUNITIES, self._generation) as file:
            for community in found:
                file.write(community.row())
        reports = list(given_reports(tables, found))
        if not reports and found and not self._is_own:
            texts = {chunk.chunk_id: chunk.text for chunk in self._chunks()}
            reports = list(made_reports(tables, found, graph, texts, self._asker))
        with table_file(out, REPORTS, self._generation) as file:
            for report in reports:
                file.write(report)

    def _write_documents(self) -> None:
        if "documents" not in self._tables:
            return
        written: set[str] = set()
        with table_file(self._out, DOCUMENTS, self._generation) as file:
            for document in self._tables.take("documents", *_DOCUMENT):
                if document.doc_id in written:
                    self._tables.drop("documents", document, "another document has its id")
                    continue
                file.write(self._document(document, len(written)))
                written.add(document.doc_id)

    def _document(self, document: Document, number: int) -> dict[str, Any]:
        metadata = attributes_of(document.metadata)
        own = metadata if self._is_own else {}
        further = own.get("raw_data", own.get("metadata")) if self._is_own else (metadata or None)
        if further is not None and not isinstance(further, str):
            further = dumps(further)
            if not self._is_own:
                why = "metadata is JSON text in raw_data"
                self._tables.losses.add("coerced", "documents", "metadata", why, document.doc_id)
        return {
            "id": document.doc_id,
            "human_readable_id": shown if isinstance(shown := own.get("human_readable_id"), int) else number,
            "title": document.title or ("" if self._is_own else document.doc_id),
            "text": document.text,
            "text_unit_ids": self._of_document.get(document.doc_id, []),
            "creation_date": own.get("creation_date"),
            "metadata": further,
            "raw_data": further,
        }

    def _write_units(self, graph: Graph) -> None:
        places = {unit: place for place, unit in enumerate(self._units)}
        entities, relationships, claims = ([array("q") for _ in places] for _ in range(3))
        listed = list(graph.entities.values()), list(graph.relationships.values())
        _place(entities, (each.units for each in listed[0]), places)
        _place(relationships, (each.units for each in listed[1]), places)
        claim_ids = []
        for number, claim in enumerate(graph.claim_rows()):
            claim_ids.append(claim["id"])
            unit = claim.get("text_unit_id")
            if isinstance(unit, str) and unit in places:
                claims[places[unit]].append(number)
        has_documents = "documents" in self._tables
        known = {document.doc_id for document in self._tables.peek("documents")} if has_documents else None
        written: set[str] = set()
        with table_file(self._out, TEXT_UNITS, self._generation) as file:
            for chunk in self._take_chunks():
                if chunk.chunk_id in written:
                    self._tables.drop("chunks", chunk, "another text has its id")
                    continue
                place = places[chunk.chunk_id]
                row = self._unit(chunk, len(written), known)
                row["entity_ids"] = [listed[0][n].entity_id for n in entities[place]]
                row["relationship_ids"] = [listed[1][n].relationship_id for n in relationships[place]]
                row["covariate_ids"] = [claim_ids[n] for n in claims[place]]
                file.write(row)
                written.add(chunk.chunk_id)

    def _take_chunks(self) -> Iterator[Chunk]:
        if self._tables.passages == "documents":
            why = "text units: each document is one (--chunk-size cuts them)"
            self._tables.losses.add("derived", "chunks", None, why, None, len(self._units))
            seen: set[str] = set()
            for chunk in self._chunks():
                if chunk.chunk_id not in seen:
                    seen.add(chunk.chunk_id)
                    yield chunk
        else:
            yield from self._tables.take("chunks", *_CHUNK)

    def _unit(self, chunk: Chunk, number: int, known: set[str] | None) -> dict[str, Any]:
        metadata = attributes_of(chunk.metadata)
        tokens, shown = metadata.get("n_tokens"), metadata.get("human_readable_id")
        document = chunk.doc_id
        if document is not None and known is not None and document not in known:
            self._tables.losses.add("lost", "chunks", "doc_id", "there is no such document", document)
            document = None
        if not isinstance(tokens, int):
            why = "numbers of tokens: words and signs were counted"
            self._tables.losses.add("derived", "chunks", None, why)
        listed = metadata.get("document_ids") if self._is_own else None
        own = {"document_ids", "claims"} if self._is_own else set()
        others = sorted(set(metadata) - {"n_tokens", "human_readable_id"} - own)
        if others:
            self._tables.losses.add("lost", "chunks", "metadata", "the target has no place for it", chunk.chunk_id)
        given = self._of_document.get(document or "", [])
        if given and chunk.ordinal is not None and given.index(chunk.chunk_id) != chunk.ordinal:
            why = "places are counted anew, without gaps"
            self._tables.losses.add("coerced", "chunks", "ordinal", why, chunk.chunk_id)
        return {
            "id": chunk.chunk_id,
            "human_readable_id": shown if self._is_own and isinstance(shown, int) else number,
            "text": chunk.text,
            "n_tokens": tokens if isinstance(tokens, int) else plain_tokens.count(chunk.text),
            "document_id": document,
            "document_ids": listed or ([document] if document is not None else []),
        }


def _place(lists: Sequence[array[int]], units_of: Iterable[Iterable[str]], places: Mapping[str, int]) -> None:
    """Note at each text unit which rows name it."""
    for number, units in enumerate(units_of):
        for unit in units:
            if unit in places:
                lists[places[unit]].append(number)
