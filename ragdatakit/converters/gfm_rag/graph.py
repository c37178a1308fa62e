"""Writes GFM-RAG's three tables, so that both loaders read from them what was meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from ragdatakit.converters.gfm_rag.attributes import NOTHING, Note, cell_of_json, cells_of_edges
from ragdatakit.converters.gfm_rag.mentions import NameFinder
from ragdatakit.converters.gfm_rag.names import NameColumns, Names, shadowed
from ragdatakit.converters.gfm_rag.passages import Passages
from ragdatakit.converters.gfm_rag.reading import DERIVED, DERIVED_BY, DOCUMENT, ENTITY
from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.kept_rows import Columns, firsts_of
from ragdatakit.outputs.file_writers import CsvWriter, encoded
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import MENTION, Edge, Node
from ragdatakit.schemas.conversions import LossKind
from ragdatakit.schemas.errors import RagdataError

STAGE1 = "processed/stage1/"
_NODE_HEADER = ("name", "type", "attributes")
_RELATION_HEADER = ("name", "attributes")
_EDGE_HEADER = ("source", "relation", "target", "attributes")
Pair = tuple[str, str]
"""An entity and a document that mentions it."""


class Graph:
    """The graph of a dataset as the tables will have it; `survey` looks through it before anything is written.

    ``types`` has every node, in the order of the rows. A graph with nodes of type document is taken as it is; to any
    other the passages are added, and edges from what they mention; a passage that is called like a node by accident
    gets another name. A graph without any document gets a node for each source that its edges name (else one for the
    dataset), marked as `derived`, for the framework asks for one.
    """

    def __init__(self, tables: CanonicalTables, passages: Passages, profile: str, mentions: str, dedupe: bool) -> None:
        self._tables = tables
        self._passages = passages
        self._strict = profile == "gfm-rag"
        self._keeps_missing = profile == "reasoner"
        self._mentions = mentions
        self._dedupe = dedupe
        self.types: dict[str, str] = {}
        self.names = Names("n:", self.types)
        self._rows = NameColumns(len(_EDGE_HEADER))
        self._relations: dict[str, None] = {}
        self._relation_names = Names("r:", self._relations)
        self.adds_passages = False
        self._keys_mentions = False
        self._has_provenances = True
        self._marked = ""
        self._clashing: dict[str, str | None] = {}
        self._unlisted: list[str] = []
        self._stand_ins: dict[str, str] = {}
        self._pairs: dict[Pair, None] = {}

    # before writing

    def survey(self) -> None:
        """Collect names and types, find what has to be added and what has to be called otherwise."""
        for node in self._tables.peek("nodes"):
            self.types.setdefault(node.name, node.type if node.type is not None else ENTITY)
        self.adds_passages = DOCUMENT not in self.types.values()
        new_names = None
        if self.adds_passages:
            if self._tables.format != "gfm-rag":  # where a node and a document of one name are one
                self._keys_mentions = True
                names, new_names = self._entity_names()
                self._passages.keep_apart(names)
            self._survey_passages()
        if new_names is None:
            mentioned, between = self._survey_edges()
        else:
            self._unlisted = new_names
            self.types.update(dict.fromkeys(new_names, ENTITY))
            mentioned, between = False, True
        if self._strict and not between:
            raise RagdataError(
                "the graph has no edge between two nodes other than documents, and the entity loader of profile "
                "gfm-rag keeps no other; choose --profile reasoner, or none"
            )
        if not mentioned:
            self._find_mentions()
            if DOCUMENT not in self.types.values() or (self._strict and not self._pairs):
                self._find_stand_ins()
        if self._pairs and MENTION not in self._relations:
            self._relations[MENTION] = None
            self._marked = MENTION
        self._settle_names()

    def _entity_names(self) -> tuple[set[str], list[str] | None]:
        """What nodes are called, and those that only edges name; not those in which something is mentioned, for these
        are meant to be documents: then (None) edges have to be gone through again. So they have where not all of them
        are wanted."""
        names, documents, new_names = set(self.types), set[str](), list[str]()
        self._note_relations()
        self._has_provenances = False
        for sources, relations, targets, *_, provenances in self._tables.peek_columns("edges"):
            self._has_provenances = self._has_provenances or any(provenances)
            if not (names.issuperset(sources) and names.issuperset(targets)):
                for name in dict.fromkeys(chain.from_iterable(zip(sources, targets, strict=True))):
                    if name not in names:
                        names.add(name)
                        new_names.append(name)
            if MENTION in relations:
                ends = zip(relations, targets, strict=True)
                documents.update(target for relation, target in ends if relation == MENTION)
            if not self._dedupe and not documents:
                self._relations.update(dict.fromkeys(relations))
                self._rows.add(sources, relations, targets)
        if self._dedupe or documents:
            self._rows = NameColumns(len(_EDGE_HEADER))
            self._relations.clear()
            return names - documents, None
        return names, new_names

    def _note_relations(self) -> None:
        for relation in self._tables.peek("relations"):
            self._relations.setdefault(relation.name)

    def _survey_passages(self) -> None:
        for key in self._passages.every_key():
            if self.types.get(key, DOCUMENT) != DOCUMENT:
                self._clashing[key] = None
                del self.types[key]
            self.types[key] = DOCUMENT

    def _survey_edges(self) -> tuple[bool, bool]:
        """Whether an edge leads to a document, whether one leads from no document to no document."""
        self._note_relations()
        mentioned = between = False
        types, relations = self.types, self._relations
        documents = {name for name, kind in types.items() if kind == DOCUMENT}
        for sources, named, targets, *_ in self._edges(self._tables.peek_columns("edges")):
            for name in dict.fromkeys(chain.from_iterable(zip(sources, targets, strict=True))):
                if name not in types:
                    types[name] = ENTITY
                    self._unlisted.append(name)
            relations.update(dict.fromkeys(named))
            self._rows.add(sources, named, targets)
            if documents.isdisjoint(targets):
                between = between or not documents.issuperset(sources)
                continue
            for source, target in zip(sources, targets, strict=True):
                if source not in documents:
                    mentioned, between = mentioned or target in documents, between or target not in documents
        return mentioned, between

    def _edges(self, blocks: Iterator[Columns], drop: Callable[[Edge], None] | None = None) -> Iterator[Columns]:
        """Columns of edges; those that say in which passage something is mentioned have the passage's key, and of equal
        ones, where they are not wanted, only the first is there."""
        seen: set[tuple[str, str, str]] = set()
        for columns in blocks:
            found = self._with_keys(columns)
            if self._dedupe:
                edges = list(map(Edge._make, zip(*found, strict=True)))
                firsts = []
                for edge in edges:
                    if edge[:3] not in seen:
                        seen.add(edge[:3])
                        firsts.append(edge)
                    elif drop is not None:
                        drop(edge)
                found = list(zip(*firsts, strict=True))
            if found:
                yield found

    def _drop_repeated(self, edge: Edge) -> None:
        self._tables.drop("edges", edge, "the same edge comes before")

    def _find_mentions(self) -> None:
        """Who is mentioned where: in the passage that an edge comes from, or by name in the text."""
        if self._mentions == "provenance" or (self._mentions == "auto" and self.adds_passages):
            of_passage = self._passages.keys_by_name() if self._has_provenances else {}
            for sources, _, targets, *_, provenances in self._tables.peek_columns("edges") if of_passage else ():
                if not any(provenances):
                    continue
                for source, target, provenance in zip(sources, targets, provenances, strict=True):
                    key = of_passage.get(provenance) if provenance else None
                    if key is not None and self.types.get(key) == DOCUMENT:
                        self._add_pairs((source, target), key)
        if self._mentions == "text" or (self._mentions == "auto" and self.adds_passages and not self._pairs):
            finder = NameFinder(name for name, kind in self.types.items() if kind != DOCUMENT)
            every = chain.from_iterable(zip(*block, strict=True) for block in self._passages.texts())
            texts = ((key, text) for key, text in every if self.types.get(key) == DOCUMENT)
            for key, names in finder.find_each(texts):
                for name in names:
                    self._pairs[name, key] = None

    def _add_pairs(self, ends: tuple[str, str], document: str) -> None:
        for name in ends:
            if self.types[name] != DOCUMENT:
                self._pairs.setdefault((name, document))

    def _find_stand_ins(self) -> None:
        """Nodes that stand for the sources of a graph that has no documents."""
        for edge in self._tables.peek("edges"):
            source = (edge.provenance or "").strip() or self._tables.name
            if source not in self._stand_ins:
                name = source
                while name in self.types:
                    name += " (source)"
                self.types[name] = DOCUMENT
                self._stand_ins[source] = name
            self._add_pairs((edge.source, edge.target), self._stand_ins[source])

    def _settle_names(self) -> None:
        nodes = NameColumns(len(_NODE_HEADER))
        nodes.add(list(self.types))
        for name, document in self._pairs:
            self._rows.add((name,), (MENTION,), (document,))
        missing = not self._keeps_missing
        self.names.settle(self.types, nodes.numeric(0) or self._rows.numeric(0, 2), missing)
        kinds = NameColumns(len(_RELATION_HEADER))
        kinds.add(list(self._relations))
        self._relation_names.settle(self._relations, kinds.numeric(0) or self._rows.numeric(1), missing)
        for name in shadowed(self._relations, self._relations):
            self._relation_names.change(name)

    # writing

    def write(self, out: Output) -> None:
        """Write the three tables."""
        for old, new in self.names.renamed.items():
            out.renamed("node", new, old)
            if self.types[old] == DOCUMENT and old not in self._passages.written:
                out.renamed("passage", new, old)
        for old, new in self._relation_names.renamed.items():
            out.renamed("relation", new, old)
        with out.csv(f"{STAGE1}nodes.csv", _NODE_HEADER) as file:
            self._write_nodes(file)
        with out.csv(f"{STAGE1}relations.csv", _RELATION_HEADER) as file:
            self._write_relations(file)
        with out.csv(f"{STAGE1}edges.csv", _EDGE_HEADER) as file:
            self._write_edges(file)

    def _with_keys(self, columns: Columns) -> Columns:
        """Columns of edges; those that say in which passage something is mentioned have the passage's key."""
        if not self._keys_mentions or not self._passages.has_other_keys or MENTION not in columns[1]:
            return columns
        ends = zip(columns[1], columns[2], strict=True)
        targets = [self.key_of(target) if relation == MENTION else target for relation, target in ends]
        return *columns[:2], targets, *columns[3:]

    def key_of(self, passage: str) -> str:
        """What a passage is called that the source's nodes and edges name by its id."""
        return self._passages.key_of(passage) if self._keys_mentions else passage

    def _note(self, table: str, kind: LossKind = "coerced") -> Note:
        return lambda why, example: self._tables.losses.add(kind, table, "attributes", why, example)

    def _type(self, node: str) -> str:
        kind = self.types[node]
        return ENTITY if self._strict and kind != DOCUMENT else kind.replace("\0", "\ufffd")

    def _write_nodes(self, file: CsvWriter) -> None:
        losses, note = self._tables.losses, self._note("nodes")
        written = set[str]()
        for columns in self._tables.take_columns("nodes", "name", "type", "attributes"):
            (names, kinds, attributes), repeated = firsts_of(columns, written)
            for name in repeated:
                self._tables.drop("nodes", (name,), "a node of this name comes before")
            types = list(map(self._type, names))
            if self._clashing or types != list(kinds):
                for node in map(Node, names, kinds, attributes):
                    self._account_type(node)
                    if node.name in self._clashing:
                        self._clashing[node.name] = node.attributes
                kept = [row for row, name in enumerate(names) if name not in self._clashing]
                names, types, attributes = ([column[row] for row in kept] for column in (names, types, attributes))
            file.write_columns((self.names.each(names), types, [cell_of_json(text, note) for text in attributes]))
        if self.adds_passages:
            for keys, texts in self._passages.texts():
                file.write_with_json(self.names.each(keys), DOCUMENT, self._document_cells(keys, texts, note))
        for name in self._unlisted:
            losses.add("derived", "nodes", None, "a node that only edges name", name)
            file.write((self.names(name), self._type(name), NOTHING))
        for name in self._stand_ins.values():
            losses.add("derived", "nodes", None, "a document made as the source of edges", name)
            marked = {"content": name, DERIVED_BY: "ragdata"}
            file.write((self.names(name), DOCUMENT, cell_of_json(json_text.dumps(marked), note)))

    def _account_type(self, node: Node) -> None:
        losses = self._tables.losses
        if node.name in self._clashing and node.name not in self._unlisted:
            losses.add("coerced", "nodes", "type", "a document and a node of one name are one document", node.name)
        elif node.type is None:
            losses.add("derived", "nodes", "type", "a node without a type is an entity", node.name)
        elif self._type(node.name) != node.type:
            reason = "the entity loader wants entities" if self._strict else "pandas cuts a cell at a NUL"
            losses.add("coerced", "nodes", "type", reason, f"{node.name}: {node.type}")

    def _document_cells(self, keys: Sequence[str], texts: Sequence[str], note: Note) -> list[bytes]:
        """The attributes of documents, with their texts, which JSON and Python read alike as they are encoded."""
        titles = map(self._passages.titles.get, keys)
        cells = encoded(
            [
                {"content": text} if title is None else {"title": title, "content": text}
                for title, text in zip(titles, texts, strict=True)
            ]
        )
        for place, key in enumerate(keys) if self._clashing else ():
            if (attributes := self._clashing.get(key)) is not None:
                cells[place] = self._merged_cell(attributes, key, texts[place], note)
        return cells

    def _merged_cell(self, attributes: str, key: str, text: str, note: Note) -> bytes:
        """The attributes of a node, and those of the document that is called like it."""
        title, fields = self._passages.titles.get(key), json_text.fields_of(attributes)
        if title is not None:
            fields.setdefault("title", Raw(json_text.dumps(title).encode()))
        fields["content"] = Raw(json_text.dumps(text).encode())
        return cell_of_json(json_text.object_text(fields), note).encode()

    def _write_relations(self, file: CsvWriter) -> None:
        note = self._note("relations")
        written = set()
        for relation in self._tables.take("relations", "name", "attributes"):
            if relation.name in written:
                self._tables.drop("relations", relation, "a relation of this name comes before")
                continue
            written.add(relation.name)
            file.write((self._relation_names(relation.name), cell_of_json(relation.attributes, note)))
        for name in self._relations:
            if name not in written:
                self._tables.losses.add("derived", "relations", None, "a relation that only edges name", name)
                file.write((self._relation_names(name), DERIVED if name == self._marked else NOTHING))

    def _write_edges(self, file: CsvWriter) -> None:
        note, lost = self._note("edges"), self._note("edges", "lost")
        names, relations = self.names, self._relation_names
        for columns in self._edges(self._tables.take_columns("edges", *Edge._fields), self._drop_repeated):
            sources, named, targets, attributes, confidences, provenances = columns
            cells = cells_of_edges(attributes, confidences, provenances, note, lost)
            file.write_columns((names.each(sources), relations.each(named), names.each(targets), cells))
        for name, document in self._pairs:
            reason = f"{MENTION}, from an entity to a document"
            self._tables.losses.add("derived", "edges", None, reason, f"{name}: {document}")
            file.write((names(name), relations(MENTION), names(document), DERIVED))

    # what questions ask

    def document_names(self, keys: Sequence[str]) -> Sequence[str]:
        """What documents are called here; one may be no node."""
        if not self.names.renamed:
            return keys
        return [self.names(key) if self.types.get(key) == DOCUMENT else key for key in keys]

    def mentioned_in(self, documents: Iterable[str]) -> dict[str, list[str]]:
        """The nodes that these documents mention, by document."""
        found: dict[str, list[str]] = {name: [] for name in documents}
        blocks = map(self._with_keys, self._tables.peek_columns("edges"))
        edges = (zip(*columns[:3], strict=True) for columns in blocks if MENTION in columns[1])
        given = ((name, target) for name, relation, target in chain.from_iterable(edges) if relation == MENTION)
        for name, document in chain(given, self._pairs):
            if document in found and self.types.get(name) != DOCUMENT:
                found[document].append(name)
        return found

    def by_type(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Nodes, each once, under the types that they are written with."""
        found: dict[str, list[str]] = {}
        for name in dict.fromkeys(names):
            found.setdefault(self._type(name), []).append(name)
        return found

    def entities(self) -> Iterator[str]:
        """All nodes but documents."""
        return (name for name, kind in self.types.items() if kind != DOCUMENT)
