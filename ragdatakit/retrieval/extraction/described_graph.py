"""A graph whose entities and relations have descriptions and know their passages, as LightRAG and GraphRAG have it.

Entities of one name are one, and so are relations between the same two, whatever their direction: types, keywords,
descriptions and passages are gathered. Where many texts describe something, a model is asked to make one description
of theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import Any

from ragdatakit.files.containers.json_text import dumps
from ragdatakit.files.lightrag.extraction import COMPLETE, DELIMITER, records
from ragdatakit.files.lightrag.names import SEPARATOR, pair_of
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.files.texts import plain_tokens
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.extraction.asking import Answer, Asker, Asking, Task
from ragdatakit.retrieval.extraction.model import lose_passage, lose_records
from ragdatakit.retrieval.extraction.prompts import (
    DESCRIBED_AGAIN,
    TEXT_AGAIN,
    graph_request,
    merge_request,
    missed_request,
)
from ragdatakit.retrieval.extraction.replies import (
    MOST_TRIPLES,
    UnreadableReplyError,
    answered,
    json_values,
    parse_text,
)
from ragdatakit.schemas.canonical import Document, Edge, Node, Relation

MANY_DESCRIPTIONS = 8
"""Descriptions of which a model makes one, as LightRAG has it."""
UNKNOWN = "UNKNOWN"
"""The type of what only relations name."""
_LONGEST_NAME = 256
_MOST_TOKENS = 20_480
"""Of a request for what was missed, with the first reply in it: LightRAG's MAX_EXTRACT_INPUT_TOKENS."""
_OF_MERGED = 200  # tokens of a merged description, for the estimate


@dataclass(slots=True)
class DescribedReply:
    """What a reply says: entities (name, type, description) and relations (source, target, keywords, description)."""

    entities: list[tuple[str, ...]] = field(default_factory=list)
    relations: list[tuple[str, ...]] = field(default_factory=list)
    left_out: int = 0
    text: str = ""

    def with_missed(self, missed: DescribedReply) -> DescribedReply:
        """What both say; of what both describe the reply whose first description is longer counts, as in LightRAG."""
        return DescribedReply(
            _joined(self.entities, missed.entities, 1),
            _joined(self.relations, missed.relations, 2),
            self.left_out + missed.left_out,
        )


def _joined(first: list[tuple[str, ...]], second: list[tuple[str, ...]], ends: int) -> list[tuple[str, ...]]:
    """Records of both, by the names that they begin with."""
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    later: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for records_of, grouped in ((first, found), (second, later)):
        for record in records_of:
            grouped.setdefault(record[:ends], []).append(record)
    for names, given in later.items():
        if names not in found or len(given[0][-1]) > len(found[names][0][-1]):
            found[names] = given
    return [record for given in found.values() for record in given]


def parse_described(text: str) -> DescribedReply:
    """The records of a reply by LightRAG's rules: those of another number of fields, or without a name, type or
    description, are left out. JSON is taken, too. Raises `UnreadableReplyError` where there is no record at all."""
    text = answered(text)
    found = DescribedReply(text=text)
    for record in records(text if DELIMITER in text else _lines_of_json(text)):
        taken = found.entities if record.kind == "entity" else found.relations
        if not record.kind:
            continue
        if record.reason or len(taken) >= MOST_TRIPLES:
            found.left_out += 1
        else:
            ends = 1 if record.kind == "entity" else 2
            taken.append((*(name[:_LONGEST_NAME] for name in record.fields[:ends]), *record.fields[ends:]))
    if not found.entities and not found.relations and (found.left_out or COMPLETE not in text):
        raise UnreadableReplyError(f"there is no whole record in it, nor {COMPLETE} alone")
    return found


def _lines_of_json(text: str) -> str:
    """JSON with entities and relationships as lines of records."""
    for value in json_values(text):
        if isinstance(value, dict) and isinstance(value.get("entities"), list):
            lines = [_line("entity", each, "name", "type", "description") for each in value["entities"]]
            given = value.get("relationships", value.get("relations"))
            names = ("source", "target", "keywords", "description")
            lines += [_line("relation", each, *names) for each in (given if isinstance(given, list) else ())]
            return "\n".join((*lines, COMPLETE))
    return text


def _line(tag: str, value: Any, *names: str) -> str:
    given = [value.get(name) for name in names] if isinstance(value, dict) else []
    return DELIMITER.join((tag, *(" ".join(v.split()) if isinstance(v, str) else "" for v in given)))


@dataclass(slots=True)
class Gathered:
    """What passages say of an entity or a relation; ``words`` are types, or keywords."""

    words: Counter[str] = field(default_factory=Counter)
    descriptions: dict[str, None] = field(default_factory=dict)
    passages: dict[str, None] = field(default_factory=dict)
    times: int = 0

    def add(self, words: Iterable[str], description: str, passage: str) -> None:
        self.words.update(words)
        if description:
            self.descriptions.setdefault(description)
        self.passages.setdefault(passage)
        self.times += 1


@dataclass(slots=True)
class DescribedGraph:
    """Entities by name, relations by their two ends."""

    entities: dict[str, Gathered] = field(default_factory=dict)
    relations: dict[tuple[str, str], Gathered] = field(default_factory=dict)
    _ends: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def add_entity(self, name: str, kind: str, description: str, passage: str) -> None:
        """An entity as one passage has it."""
        self.entities.setdefault(name, Gathered()).add((kind,), description, passage)

    def add_relation(self, source: str, target: str, keywords: str, description: str, passage: str) -> None:
        """A relation as one passage has it; ends that are no entities become some."""
        pair = pair_of(source, target)
        self._ends.setdefault(pair, (source, target))
        words = list(dict.fromkeys(word for part in keywords.split(",") if (word := part.strip())))
        self.relations.setdefault(pair, Gathered()).add(words, description, passage)
        for name in (source, target):
            if name not in self.entities:
                self.add_entity(name, UNKNOWN, description, passage)

    def relation(self, source: str, target: str) -> Gathered | None:
        """What was gathered of the relation between two entities."""
        return self.relations.get(pair_of(source, target))

    def nodes(self, notes: list[Note]) -> Iterator[Node]:
        """The entities; the type that most passages give."""
        for name, entity in self.entities.items():
            known = [(kind, count) for kind, count in entity.words.most_common() if kind != UNKNOWN]
            attributes = {"description": SEPARATOR.join(entity.descriptions), "passages": list(entity.passages)}
            notes.append(("derived", "nodes", None, "an entity that was found in the texts", name))
            yield Node(name, known[0][0] if known else UNKNOWN, dumps({n: v for n, v in attributes.items() if v}))

    def edges(self, notes: list[Note]) -> Iterator[Edge]:
        """The relations, called by their keywords; the weight is how often they were found."""
        for pair, relation in self.relations.items():
            source, target = self._ends[pair]
            passages = list(relation.passages)
            attributes: dict[str, object] = {"description": SEPARATOR.join(relation.descriptions)}
            attributes["weight"] = float(relation.times)
            if len(passages) > 1:
                attributes["passages"] = passages
            kept = dumps({name: value for name, value in attributes.items() if value})
            reason = "an edge between entities that was found in the texts"
            notes.append(("derived", "edges", None, reason, f"{source} {target}"))
            yield Edge(source, _keywords(relation), target, kept, None, passages[0])

    def names(self, notes: list[Note]) -> Iterator[Relation]:
        """What the relations are called, each once."""
        for name in dict.fromkeys(map(_keywords, self.relations.values())):
            notes.append(("derived", "relations", None, "a relation of the edges that were found", name))
            yield Relation(name)


def _keywords(relation: Gathered) -> str:
    return ",".join(sorted(relation.words))


def described_task(asker: Asker) -> Task[Document, DescribedReply]:
    """What is asked for each passage."""
    options = asker.options
    return Task(
        items="passages",
        request=lambda p: (
            graph_request(options.model, p.title, p.text, options.max_tokens, described=True)
            if p.text.strip()
            else None
        ),
        read=parse_described,
        again=DESCRIBED_AGAIN,
        name=lambda p: p.doc_id,
        expected=lambda p: plain_tokens.count(p.text),
    )


def _missed_task(asker: Asker) -> Task[Answer[Document, DescribedReply], DescribedReply]:
    """What is asked for what a reply has missed; nothing where there is none, or both are too long."""
    first = described_task(asker)

    def request(answer: Answer[Document, DescribedReply]) -> dict[str, Any] | None:
        asked = first.request(answer.item) if answer.reply is not None else None
        if asked is None or answer.reply is None:
            return None
        again = missed_request(asked, answer.reply.text)
        return again if sum(plain_tokens.count(m["content"]) for m in again["messages"]) <= _MOST_TOKENS else None

    return Task(
        items="second looks",
        request=request,
        read=parse_described,
        again=DESCRIBED_AGAIN,
        name=lambda answer: answer.item.doc_id,
        expected=lambda answer: plain_tokens.count(answer.item.text),
    )


def _with_missed(
    tables: CanonicalTables, answers: Iterator[Answer[Document, DescribedReply]], asking: Asking[Any, DescribedReply]
) -> Iterator[Answer[Document, DescribedReply]]:
    """The answers, with what the model says when it is asked what they have missed."""
    for second in asking.answers(answers):
        first: Answer[Document, DescribedReply] = second.item
        if second.failure:
            why = "the model did not say what it had missed; its first reply counts"
            tables.losses.add("lost", tables.passages, None, why, f"{first.item.doc_id}: {second.failure}")
        if first.reply is not None and second.reply is not None:
            first = replace(first, reply=first.reply.with_missed(second.reply))
        yield first


def describe_by_model(tables: CanonicalTables, asker: Asker) -> DescribedGraph:
    """What the model finds in the passages, with one description made of many. Passages that failed are counted as
    losses. Raises `RagdataError` where continuing is of no use, or too many failed."""
    graph = DescribedGraph()
    total = sum(1 for _ in tables.peek_passages())
    asking = asker.begin(described_task(asker), total)
    answers = asking.answers(tables.peek_passages())
    missed = asker.begin(_missed_task(asker), total)
    for answer in _with_missed(tables, answers, missed) if asker.options.gleaning else answers:
        passage = answer.item.doc_id
        if answer.failure:
            lose_passage(tables, answer.item, answer.failure)
        if answer.reply is not None:
            for name, kind, description in answer.reply.entities:
                graph.add_entity(name, kind, description, passage)
            for source, target, keywords, description in answer.reply.relations:
                graph.add_relation(source, target, keywords, description, passage)
            why = "a record of a reply that LightRAG's parser drops: its fields are not as many, or one says nothing"
            lose_records(tables, passage, answer.reply.left_out, why)
    asking.finish()
    missed.finish()
    _merge_descriptions(tables, graph, asker)
    return graph


def _merge_descriptions(tables: CanonicalTables, graph: DescribedGraph, asker: Asker) -> None:
    options = asker.options
    task: Task[tuple[str, str, Gathered], str] = Task(
        items="descriptions",
        request=lambda item: merge_request(options.model, item[1], list(item[2].descriptions), options.max_tokens),
        read=parse_text,
        again=TEXT_AGAIN,
        name=lambda item: item[1],
        expected=lambda _: _OF_MERGED,
    )
    items = [("nodes", name, entity) for name, entity in graph.entities.items()]
    items += [("edges", f"{a} and {b}", relation) for (a, b), relation in graph.relations.items()]
    many = [item for item in items if len(item[2].descriptions) >= MANY_DESCRIPTIONS]
    asking = asker.begin(task, len(many))
    for answer in asking.answers(many):
        table, name, gathered = answer.item
        if answer.reply is not None:
            gathered.descriptions = {answer.reply: None}
        elif answer.failure:
            why = "the model made no single description of many; all of them are kept"
            tables.losses.add("coerced", table, "attributes", why, f"{name}: {answer.failure}")
    asking.finish()
