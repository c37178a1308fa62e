"""Entities and triples by a language model, one request for each passage. A passage whose reply cannot be read has no
part in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.files.containers import json_text
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.texts import plain_tokens
from ragdatakit.retrieval.extraction.asking import Asker, Task
from ragdatakit.retrieval.extraction.names import name_key
from ragdatakit.retrieval.extraction.prompts import GRAPH_AGAIN, graph_request
from ragdatakit.retrieval.extraction.replies import FoundGraph, parse_reply
from ragdatakit.schemas.canonical import Document

if TYPE_CHECKING:
    from ragdatakit.retrieval.extraction.graph_store import GraphStore


def graph_task(asker: Asker) -> Task[Document, FoundGraph]:
    """What is asked for each passage."""
    options = asker.options
    return Task(
        items="passages",
        request=lambda p: graph_request(options.model, p.title, p.text, options.max_tokens) if p.text.strip() else None,
        read=parse_reply,
        again=GRAPH_AGAIN,
        name=lambda p: p.doc_id,
        expected=lambda p: plain_tokens.count(p.text),
    )


def fill_from_model(tables: CanonicalTables, store: GraphStore, asker: Asker) -> None:
    """Add every passage to the store, in order. Passages that failed are counted as losses, with their ids.

    Raises `RagdataError` where continuing is of no use, or too many passages failed.
    """
    asking = asker.begin(graph_task(asker), sum(1 for _ in tables.peek_passages()))
    for answer in asking.answers(tables.peek_passages()):
        if answer.failure:
            lose_passage(tables, answer.item, answer.failure)
        if answer.reply is None:
            store.add((), ())
        else:
            _add(store, answer.reply, tables, answer.item.doc_id)
    asking.finish()


def lose_passage(tables: CanonicalTables, passage: Document, failure: str) -> None:
    """Say that a passage has no part in the graph."""
    shown = f"{passage.doc_id}: {failure}"
    tables.losses.add("lost", tables.passages, None, "the model gave no graph of it", shown)


def lose_records(tables: CanonicalTables, passage_id: str, number: int, reason: str) -> None:
    """Say that parts of a reply are not taken."""
    if number:
        tables.losses.add("lost", tables.passages, None, reason, passage_id, number)


def _add(store: GraphStore, graph: FoundGraph, tables: CanonicalTables, passage_id: str) -> None:
    numbers: dict[str, int] = {}
    for name, entity in graph.entities.items():
        number = numbers[name] = store.entities(name_key(name))
        if number not in store.attributes and (entity.type or entity.description):
            given = {"entity_type": entity.type, "description": entity.description}
            store.attributes[number] = json_text.dumps({k: v for k, v in given.items() if v})
    triples = [(numbers[a], store.relations(relation), numbers[b]) for a, relation, b in graph.triples]
    store.add(numbers.values(), triples)
    lose_records(tables, passage_id, graph.left_out, "a reply with more entities or triples than are taken")
