"""Makes a graph of a dataset's texts: entities, relations, who is mentioned where, and where questions start.

An entity is called by its name in small letters without punctuation, so that spellings of one name are one node; years
are called "year 1990", so that no column of names looks like numbers. Passages are no nodes here: edges called
``is_mentioned_in`` lead from an entity to the id of a passage, and the writer of the format adds what it needs. An
entity that is spelled like a passage gets "(entity)" behind its name.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any, Literal

from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowSource
from ragdatakit.files.reading.noted_rows import Note, NotedRows
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.extraction.asking import Asker
from ragdatakit.retrieval.extraction.described_graph import DescribedGraph, describe_by_model, described_task
from ragdatakit.retrieval.extraction.described_names import describe_by_names
from ragdatakit.retrieval.extraction.graph_store import ENTITY, NEAR, OCCURS, TOPIC, GraphStore, Triple, spelled_as_name
from ragdatakit.retrieval.extraction.model import fill_from_model, graph_task
from ragdatakit.retrieval.extraction.names import NameCounter, extract_names, known_key, name_key, names_by_sentence
from ragdatakit.retrieval.extraction.start_links import make_linker
from ragdatakit.retrieval.index_parts import Progress
from ragdatakit.schemas.canonical import MENTION, Edge, Node, Qrel, Relation, StartNode
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.options import SearchOptions

EXTRACTORS = ("names", "openai")
LINKERS = ("bm25", "embeddings")
DOCUMENT = "document"
_REPORTED_EVERY = 256
_DIGITS = tuple("0123456789")
_AROUND = " \t\n\r\"'“”\u2018\u2019«»„"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions:
    """How to make the graph.

    ``extractor`` is ``names`` (no model) or ``openai`` (``asker`` asks it). ``described`` makes a graph of descriptions
    that knows the passages of its entities, and neither mentions nor links of questions. ``least`` is in how many
    passages a name has to be, unless it is a title (``names`` only). ``mentions`` writes edges from entities to
    passages, which the target calls by their titles where ``by_title``. ``questions`` links questions: at most
    ``start_nodes`` for each, by the names in it, else by BM25 over all names (``bm25``) or by the nearest vectors
    (``embeddings``, for which ``search`` names the embedder). ``required``: it is an error if the texts name nothing.
    """

    extractor: Literal["names", "openai"] = "names"
    described: bool = False
    least: int = 2
    mentions: bool = True
    questions: bool = True
    by_title: bool = False
    linker: Literal["bm25", "embeddings"] = "bm25"
    start_nodes: int = 5
    search: SearchOptions = field(default_factory=SearchOptions)
    asker: Asker | None = None
    required: bool = True
    progress: Progress | None = None

    def check(self) -> None:
        """Raise `RagdataError` where the values make no sense."""
        if self.extractor not in EXTRACTORS:
            raise UnknownNameError("extractor", self.extractor, EXTRACTORS)
        if self.linker not in LINKERS:
            raise UnknownNameError("linker", self.linker, LINKERS)
        if self.extractor == "openai" and self.asker is None:
            raise RagdataError("the extractor openai needs a model: --model NAME, with --base-url URL")
        if self.linker == "embeddings" and not self.search.embedder:
            raise RagdataError("--linker embeddings needs an embedder: --embedder openai:MODEL, with --base-url URL")
        for name, value in (("least", self.least), ("start_nodes", self.start_nodes)):
            if value < 1:
                raise RagdataError(f"{name} is {value}, expected 1 or more")


def extract_graph(tables: CanonicalTables, options: ExtractOptions) -> CanonicalTables:
    """The same tables with a graph of their passages; nothing is read before a row is asked for.

    Start nodes and judgements of nodes that the dataset had are replaced: they name nodes of another graph. Raises
    `RagdataError` where there is a graph already, or no text.
    """
    options.check()
    if tables.any("edges") or tables.any("nodes"):
        raise RagdataError(
            f"{tables.name} has a graph already; --extractor is for datasets without one (--from gfm-rag-raw reads "
            "those of GFM-RAG without theirs)"
        )
    if not tables.any(tables.passages):
        raise RagdataError(f"{tables.name} has no texts that a graph could be made of")
    made = _MadeDescribed(tables, options) if options.described else _MadeGraph(tables, options)
    rows: dict[str, Callable[[list[Note]], Iterator[Any]]] = {
        "nodes": made.nodes,
        "relations": made.relations,
        "edges": made.edges,
    }
    if isinstance(made, _MadeGraph) and options.questions and "questions" in tables:
        rows["start_nodes"] = made.start_nodes
        if "qrels" in tables:
            rows["qrels"] = made.qrels
    sources: dict[str, RowSource] = dict(tables.sources)
    sources |= {name: NotedRows(tables.losses, read) for name, read in rows.items()}
    found = CanonicalTables(tables.name, tables.format, sources, tables.losses)
    found.given, found.covered, found.restored = tables.given, dict(tables.covered), tables.restored
    return found


class _MadeGraph:
    """The graph of some tables, made when it is first needed."""

    def __init__(self, tables: CanonicalTables, options: ExtractOptions) -> None:
        self._tables = tables
        self._options = options
        self._made: GraphStore | None = None
        self._renamed: dict[int, str] = {}
        self._links: dict[str, list[int]] | None = None

    def _store(self) -> GraphStore:
        if self._made is None:
            store = GraphStore()
            if self._options.extractor == "names":
                self._fill_from_names(store)
            else:
                assert self._options.asker is not None
                fill_from_model(self._tables, store, self._options.asker)
            if not store.entities.listed:
                raise _nothing_found(self._tables, self._options)
            self._keep_apart(store)
            self._made = store
        return self._made

    def _keep_apart(self, store: GraphStore) -> None:
        """Give other names to entities that look like numbers, or are spelled like passages (case does not count)."""
        taken: set[str] = set()
        for number, name in enumerate(store.entities.listed):
            if (named := spelled_as_name(name)) != name:
                self._renamed[number] = named
        for passage in self._tables.peek_passages() if self._options.mentions else ():
            for name in (passage.doc_id, passage.title or "") if self._options.by_title else (passage.doc_id,):
                spelled = unicodedata.normalize("NFKC", name).casefold().strip(_AROUND)
                if spelled.endswith((" (entity)", *_DIGITS)):
                    taken.add(spelled)
                if (same := store.entities.get(spelled)) is not None:
                    self._renamed[same] = f"{self._renamed.get(same, store.entities.listed[same])} (entity)"
        for number, name in self._renamed.items():
            while name in taken or store.entities.get(name) is not None:
                name += " (entity)"
            self._renamed[number] = name

    def _name(self, number: int) -> str:
        return self._renamed.get(number) or self._store().entities.listed[number]

    # from names

    def _fill_from_names(self, store: GraphStore) -> None:
        counter = NameCounter()
        number = 0
        for number, passage in enumerate(self._tables.peek_passages(), 1):
            counter.add(passage.title, extract_names(passage.title, passage.text))
            self._tell("finding names", number, 0)
        kept, total = counter.kept(self._options.least), number
        occurs, topic = store.relations(OCCURS), store.relations(TOPIC)
        known: dict[str, int | None] = {}

        def entity(name: str) -> int | None:
            key = name_key(name)
            if key not in known:
                if len(known) > 1 << 20:
                    known.clear()
                found = known_key(key, kept)
                known[key] = store.entities(found) if found is not None else None
            return known[key]

        for number, passage in enumerate(self._tables.peek_passages(), 1):
            sentences: list[list[int]] = []
            for names in names_by_sentence(passage.title, passage.text):
                numbers = (entity(name) for name in names)
                sentences.append(list(dict.fromkeys(n for n in numbers if n is not None)))
            about = sentences[0][0] if sentences[0] else None
            mentioned = [n for sentence in sentences for n in sentence]
            store.add(mentioned, _edges_between(sentences, about, occurs, topic))
            self._tell("connecting names", number, total)

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._options.progress is not None and done % _REPORTED_EVERY == 0:
            self._options.progress(what, done, max(done, total))

    # rows

    def nodes(self, notes: list[Note]) -> Iterator[Node]:
        """The entities; without mentions, only those that have an edge."""
        store = self._store()
        used = None if self._options.mentions else store.used()[0]
        reason = "an entity that was found in the texts"
        for number in range(len(store.entities.listed)):
            if used is None or used[number]:
                name = self._name(number)
                notes.append(("derived", "nodes", None, reason, name))
                yield Node(name, ENTITY, store.attributes.get(number))

    def relations(self, notes: list[Note]) -> Iterator[Relation]:
        """The relations that edges have."""
        store = self._store()
        used = store.used()[1]
        names = [name for number, name in enumerate(store.relations.listed) if used[number]]
        for name in (*names, MENTION) if self._options.mentions else names:
            notes.append(("derived", "relations", None, "a relation of the edges that were found", name))
            yield Relation(name)

    def edges(self, notes: list[Note]) -> Iterator[Edge]:
        """Passage by passage: the edges that come up in it for the first time, then who is mentioned there."""
        store = self._store()
        seen: set[str] = set()
        reason = "an edge between entities that was found in the texts"
        for ordinal, (passage, triples) in enumerate(zip(self._tables.peek_passages(), store.edges(), strict=True)):
            for source, relation, target in triples:
                edge = Edge(self._name(source), store.relations.listed[relation], self._name(target))
                notes.append(("derived", "edges", None, reason, " ".join(edge[:3])))
                yield edge._replace(provenance=passage.doc_id)
            if self._options.mentions and passage.doc_id not in seen:
                seen.add(passage.doc_id)
                for number in store.mentioned(ordinal):
                    name = self._name(number)
                    notes.append(("derived", "edges", None, f"{MENTION}, from an entity to its passage", name))
                    yield Edge(name, MENTION, passage.doc_id)

    def start_nodes(self, notes: list[Note]) -> Iterator[StartNode]:
        """For each question the entities that it names, or those that are most like it."""
        store = self._store()
        reason = "entities that the question names, or that are most like it"
        if given := sum(1 for _ in self._tables.peek("start_nodes")):
            notes.extend(
                [("dropped", "start_nodes", None, "start nodes are made anew, for the graph is", None)] * given
            )
        for question_id, numbers in self._linked(store).items():
            for number in numbers:
                notes.append(("derived", "start_nodes", None, reason, f"{question_id}: {self._name(number)}"))
                yield StartNode(question_id, self._name(number), ENTITY)

    def _linked(self, store: GraphStore) -> dict[str, list[int]]:
        """The entities with which each question starts; the first question of an id counts."""
        if self._links is None:
            link = make_linker(store.entities.listed, self._options.linker, self._options.search)
            self._links = {}
            for question in self._tables.peek("questions"):
                if question.question_id is not None and question.question_id not in self._links:
                    self._links[question.question_id] = link(question.text, self._options.start_nodes)
        return self._links

    def qrels(self, notes: list[Note]) -> Iterator[Qrel]:
        """The judgements; behind them, for questions with start nodes, target nodes: the relevant passages, and the
        entities that they mention."""
        store = self._store()
        links = self._linked(store)
        gold: dict[str, dict[str, str | None]] = {}
        for row in self._tables.peek_passage_qrels():
            if row.grade > 0 and links.get(row.question_id):
                gold.setdefault(row.question_id, {}).setdefault(row.target_id, row.split)
        for row in self._tables.peek("qrels"):
            if row.target_kind != "node":
                yield row
                continue
            shown = f"{row.question_id} {row.target_id}"
            notes.append(("dropped", "qrels", None, "target nodes are made anew, for the graph is", shown))
        wanted = {target for targets in gold.values() for target in targets}
        ordinals: dict[str, int] = {}
        for ordinal, passage in enumerate(self._tables.peek_passages()):
            if passage.doc_id in wanted:
                ordinals.setdefault(passage.doc_id, ordinal)
        reason = "the relevant passages and the entities that they mention, as targets"
        for question_id, targets in gold.items():
            known = [target for target in targets if target in ordinals]
            split = next(iter(targets.values()))
            entities = dict.fromkeys(n for target in known for n in store.mentioned(ordinals[target]))
            named = [(target, DOCUMENT) for target in known] + [(self._name(n), ENTITY) for n in entities]
            for name, kind in named:
                notes.append(("derived", "qrels", None, reason, f"{question_id}: {name}"))
                yield Qrel(question_id, name, 1, "node", split, kind)


def _nothing_found(tables: CanonicalTables, options: ExtractOptions) -> RagdataError:
    if options.extractor == "names" and options.least > 1:
        where = f" in {options.least} passages or more in the texts of {tables.name}"
        return RagdataError(f"no entity was found{where}; --extract least=1 takes names that only one passage has")
    return RagdataError(f"no entity was found in the texts of {tables.name}")


def count_requests(tables: CanonicalTables, options: ExtractOptions) -> None:
    """Count what asking the model for all passages would take, for `Asker.estimate`; nothing is asked."""
    assert options.asker is not None
    if options.described:
        options.asker.count(described_task(options.asker), tables.peek_passages())
    else:
        options.asker.count(graph_task(options.asker), tables.peek_passages())


class _MadeDescribed:
    """The graph of some tables with descriptions, made when it is first needed."""

    def __init__(self, tables: CanonicalTables, options: ExtractOptions) -> None:
        self._tables = tables
        self._options = options
        self._made: DescribedGraph | None = None

    def _graph(self) -> DescribedGraph:
        if self._made is None:
            if self._options.asker is None:
                self._made = describe_by_names(self._tables, self._options.least)
            else:
                self._made = describe_by_model(self._tables, self._options.asker)
            if not self._made.entities and self._options.required:
                raise _nothing_found(self._tables, self._options)
        return self._made

    def nodes(self, notes: list[Note]) -> Iterator[Node]:
        """The entities."""
        return self._graph().nodes(notes)

    def relations(self, notes: list[Note]) -> Iterator[Relation]:
        """What the edges are called."""
        return self._graph().names(notes)

    def edges(self, notes: list[Note]) -> Iterator[Edge]:
        """The relations between entities."""
        return self._graph().edges(notes)


def _edges_between(sentences: list[list[int]], about: int | None, occurs: int, topic: int) -> Iterator[Triple]:
    """Names of one sentence, and names with the title of their passage."""
    for sentence in sentences:
        for place, first in enumerate(sentence):
            for second in sentence[place + 1 : place + 1 + NEAR]:
                yield (first, occurs, second) if first < second else (second, occurs, first)
    if about is not None:
        for sentence in sentences[1:]:
            for number in sentence:
                if number != about and number not in sentences[0]:
                    yield number, topic, about
