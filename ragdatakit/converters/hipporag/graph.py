"""Edges and nodes as OpenIE results of HippoRAG: to each passage the entities and triples that come from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from ragdatakit.files.containers.json_text import dumps, fields_of, loads
from ragdatakit.files.hipporag.passages import passage_id, passage_text
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import MENTION, Document, Node


class Corpus(Protocol):
    """The passages that were written."""

    places: dict[str, int]

    def passages(self, rows: Iterator[Document]) -> Iterator[tuple[int | None, str, Document]]:
        """The number, the title and the row of each passage."""


Triple = tuple[str, str, str]


class _Averages:
    """What HippoRAG says of the entities of all passages."""

    def __init__(self) -> None:
        self.entities = self.characters = self.words = 0

    def add(self, entities: Iterable[str]) -> None:
        for entity in entities:
            self.entities += 1
            self.characters += len(entity)
            self.words += len(entity.split())

    def of(self, total: int) -> float:
        return round(total / self.entities, 4) if self.entities else 0


def write_results(tables: CanonicalTables, out: Output, corpus: Corpus, name: str) -> None:
    """Write the results of all passages that have any; HippoRAG loads such a file whole, and so they are held."""
    mentions = _mentions(tables, corpus)
    triples = _triples_by_passage(tables, corpus, mentions)
    named = {member for found in triples.values() for s, _, t in found for member in (s, t)}
    entities = _entities_by_passage(tables, corpus, named, mentions)
    used = {predicate for found in triples.values() for _, predicate, _ in found}
    for relation in tables.take("relations", "name"):
        if relation.name not in used and not (relation.name == MENTION and mentions):
            tables.drop("relations", relation, "no triple of a passage has it")
    if not triples and not entities:
        return
    averages = _Averages()
    with out.lines(name) as file:
        file.put(b'{"docs": [')
        separator = b""  # one line, as HippoRAG writes it: lines of objects would look like lines of records
        for place, title, document in corpus.passages(tables.peek_passages()):
            if place is None or (place not in triples and place not in entities):
                continue
            found = triples.get(place, [])
            members = [m for s, _, t in found for m in (s, t)]
            listed = entities[place] if place in entities else list(dict.fromkeys(members))
            averages.add(listed)
            passage = passage_text(title, document.text)
            doc = {
                "idx": passage_id(passage),
                "passage": passage,
                "extracted_entities": listed,
                "extracted_triples": found,
            }
            file.put(separator + dumps(doc).encode())
            separator = b", "
        measured = {"avg_ent_chars": averages.of(averages.characters), "avg_ent_words": averages.of(averages.words)}
        file.put(b"], " + dumps(measured).encode()[1:] + b"\n")
        file.records = 1


Mentions = dict[str, dict[int, None]]
"""The passages of names, as far as edges and nodes show."""


def _mentions(tables: CanonicalTables, corpus: Corpus) -> Mentions:
    """What edges from entities to passages say. Nodes say it, too, but those need no second home."""
    found: Mentions = {}
    for edge in tables.peek("edges"):
        if edge.relation == MENTION and edge.target in corpus.places:
            found.setdefault(edge.source, {}).setdefault(corpus.places[edge.target])
    return found


def _named_in_texts(tables: CanonicalTables, corpus: Corpus, mentions: Mentions) -> Mentions:
    """In which passages the ends of edges are that nothing shows a passage of."""
    from ragdatakit.retrieval.linking import names_in_texts

    homeless = {
        name: None
        for edge in tables.peek("edges")
        if edge.provenance not in corpus.places and not (edge.relation == MENTION and edge.target in corpus.places)
        for name in (edge.source, edge.target)
        if name not in mentions
    }
    found: Mentions = {}
    if homeless:
        names = list(homeless)
        passages = list(tables.peek_passages())
        texts = (f"{passage.title or ''}\n{passage.text}" for passage in passages)
        for passage, places in zip(passages, names_in_texts(names, texts), strict=True):
            for place in places:
                found.setdefault(names[place], {}).setdefault(corpus.places[passage.doc_id])
    return found


def _triples_by_passage(tables: CanonicalTables, corpus: Corpus, mentions: Mentions) -> dict[int, list[Triple]]:
    """Triples by the passage that they come from; else by the first one that mentions both their ends, or in whose text
    both are, which is a mention then."""
    in_texts = _named_in_texts(tables, corpus, mentions)
    found: dict[int, dict[Triple, None]] = {}
    names: dict[str, str] = {}
    for edge in tables.take("edges", "source", "relation", "target", "provenance"):
        if edge.relation == MENTION and edge.target in corpus.places:
            continue
        place = corpus.places.get(edge.provenance) if edge.provenance is not None else None
        if place is None and (both := mentions.get(edge.source, {}).keys() & mentions.get(edge.target, {}).keys()):
            place = min(both)
            why = "the first passage that mentions both its ends"
            tables.losses.add("derived", "edges", "provenance", why, " ".join(edge[:3]))
        if place is None and (both := in_texts.get(edge.source, {}).keys() & in_texts.get(edge.target, {}).keys()):
            place = min(both)
            for name in (edge.source, edge.target):
                mentions.setdefault(name, {}).setdefault(place)
            why = "the first passage in which both its ends occur"
            tables.losses.add("derived", "edges", "provenance", why, " ".join(edge[:3]))
        if place is None:
            tables.drop("edges", edge, "it does not say which passage it comes from")
            continue
        source, predicate, target = (names.setdefault(n, n) for n in (edge.source, edge.relation, edge.target))
        triples = found.setdefault(place, {})
        if (source, predicate, target) in triples:
            tables.drop("edges", edge, "its passage has the same triple before")
        triples[source, predicate, target] = None
    return {place: list(triples) for place, triples in found.items()}


def _entities_by_passage(
    tables: CanonicalTables, corpus: Corpus, named: set[str], mentions: Mentions
) -> dict[int, list[str]]:
    """The entities of passages, as far as nodes and mentions show; nodes of no passage and no triple are dropped."""
    found: dict[int, list[str]] = {}
    for node in tables.take("nodes", "name", "attributes"):
        if node.type == "document" and node.name in corpus.places and node.name not in named:
            why = "a node that stands for a passage is its passage"
            tables.losses.add("coerced", "nodes", None, why, node.name)
            continue
        passages = _passages_of(node)
        places = [*(corpus.places[p] for p in passages if p in corpus.places), *mentions.get(node.name, ())]
        for place in dict.fromkeys(places):
            found.setdefault(place, []).append(node.name)
        if not places and node.name not in named:
            tables.drop("nodes", node, "it comes from no passage and is in no triple of one")
            continue
        lost = [n for n in _attributes(node) if n != "passages"]
        if lost or any(p not in corpus.places for p in passages):
            reason = f"attributes: {', '.join(lost) or 'passages that are not there'}: there is no place for them"
            tables.losses.add("lost", "nodes", "attributes", reason, node.name)
    return found


def _attributes(node: Node) -> dict[str, Any]:
    return dict(fields_of(node.attributes)) if node.attributes else {}


def _passages_of(node: Node) -> list[str]:
    """The passages that a node says it comes from."""
    raw = _attributes(node).get("passages")
    found = loads(raw) if raw is not None else None
    return [p for p in found if isinstance(p, str)] if isinstance(found, list) else []
