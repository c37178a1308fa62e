"""A graph with descriptions without a model: names, and the sentences in which they are first named."""

from __future__ import annotations

from collections.abc import Iterable

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.retrieval.extraction.described_graph import DescribedGraph
from ragdatakit.retrieval.extraction.graph_store import ENTITY, NEAR, OCCURS, TOPIC, spelled_as_name
from ragdatakit.retrieval.extraction.names import (
    NameCounter,
    extract_names,
    known_key,
    name_key,
    named_sentences,
    sentence_around,
    title_names,
)
from ragdatakit.schemas.canonical import Document


def describe_by_names(tables: CanonicalTables, least: int) -> DescribedGraph:
    """The names of at least ``least`` passages, and all titles. An entity is described by the sentence that names it
    first, a relation by that which names both."""
    counter = NameCounter()
    for passage in tables.peek_passages():
        counter.add(passage.title, extract_names(passage.title, passage.text))
    kept, graph = counter.kept(least), DescribedGraph()

    def entities(names: Iterable[str]) -> list[str]:
        keys = (known_key(name_key(name), kept) for name in names)
        return [spelled_as_name(key) for key in dict.fromkeys(keys) if key is not None]

    for passage in tables.peek_passages():
        sentences = [
            (sentence_around(passage.text, begin, end), entities(names))
            for names, begin, end in named_sentences(passage.text)
        ]
        _add(graph, passage, entities(title_names(passage.title)), sentences)
    return graph


def _add(graph: DescribedGraph, passage: Document, titles: list[str], sentences: list[tuple[str, list[str]]]) -> None:
    for sentence, named in (("", titles), *sentences):
        for name in named:
            known = graph.entities.get(name)
            description = "" if known is not None and known.descriptions else sentence
            graph.add_entity(name, ENTITY, description, passage.doc_id)
        for place, first in enumerate(named):
            for second in named[place + 1 : place + 1 + NEAR]:
                known = graph.relation(first, second)
                description = "" if known is not None and known.descriptions else sentence
                graph.add_relation(first, second, OCCURS, description, passage.doc_id)
    for name in dict.fromkeys(name for _, named in sentences for name in named if titles and name not in titles):
        graph.add_relation(name, titles[0], TOPIC, f"{name} occurs in the text about {titles[0]}", passage.doc_id)
