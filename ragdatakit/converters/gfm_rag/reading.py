"""Reads what GFM-RAG has of one dataset: documents, the three tables, questions raw and processed, predictions."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from functools import cached_property
from pathlib import PurePath
from typing import Any

from ragdatakit.converters.gfm_rag.attributes import json_of_cell, lift_edge
from ragdatakit.converters.question_fields import ASIDE, BESIDE
from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.containers.parquet_rows import shard_split
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.noted_rows import Note, NotedRows
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.canonical import Document, Edge, Node, Qrel, Question, Relation, Run, StartNode

DOCUMENT, ENTITY = "document", "entity"
DERIVED_BY = "derived_by"
DERIVED = '{"derived_by":"ragdata"}'
"""Attributes of edges, and of their relation, that a conversion made for the framework's sake; they are read over."""

Rows = Callable[[list[Note]], Iterator[Any]]
Fields = dict[str, Raw]


class Form(NamedTuple):
    """How the records of a layout call what every question has; the others are called alike."""

    supporting: str
    start: str = "start_nodes"
    target: str = "target_nodes"
    entities: bool = False  # lists of entities instead of objects of types and lists


CURRENT = Form("supporting_documents")
LEGACY = Form("supporting_facts", "question_entities", "supporting_entities", entities=True)
RESERVED = frozenset(
    ("id", "question", "answer", "answer_aliases", "supporting_documents", "start_nodes", "target_nodes", "predictions")
)
"""Fields of questions that have a meaning: other formats' fields of these names are put aside."""
_ASIDE_NAME = re.compile(rf"(?:{re.escape(ASIDE)})+(?:{'|'.join(sorted(RESERVED))})")
_KEPT_BESIDE = ("id", "answer")
"""Where these are no texts, they stay in the metadata as they are, beside the text in the column."""
_OWN_NAMES = {"id": "question_id", "question": "text", "answer": "answer", "answer_aliases": "aliases"}


def is_aside(name: str) -> bool:
    """Whether a field is another format's, called otherwise because its name has a meaning here."""
    return _ASIDE_NAME.fullmatch(name) is not None


class GraphReader:
    """The documents and the graph of a dataset in the layout of release 2."""

    def __init__(self, dataset: Dataset, records: RecordReader) -> None:
        self._dataset = dataset
        self._records = records

    def sources(self) -> dict[str, Rows]:
        """What the dataset has files for."""
        found: dict[str, Rows] = {}
        if self._documents() or self._of("nodes"):
            found["documents"] = self.documents
        tables: dict[str, Rows] = {"nodes": self.nodes, "relations": self.relations, "edges": self.edges}
        return found | {kind: read for kind, read in tables.items() if self._of(kind)}

    def _of(self, kind: str) -> list[DataFile]:
        return self._dataset.of_kind(kind)

    def _documents(self) -> list[DataFile]:
        return [*self._of("documents"), *self._of("built-documents")]

    def documents(self, notes: list[Note]) -> Iterator[Document]:
        """Texts by their keys, with the titles that the nodes of these names have in their attributes, else the keys;
        behind them the nodes of type document whose text is nowhere else."""
        seen: set[str] = set()
        titles, with_content = self._nodes_of_documents
        for file in self._documents():
            for title, raw in self._records.members(file):
                text = json_text.string_of(raw)
                if text is None:
                    notes.append(("dropped", "documents", None, "the text of the document is not a text", title))
                    continue
                seen.add(title)
                yield Document(title, text, titles.get(title, title))
        for key, fields in self._fields_of_documents("content", seen) if not with_content <= seen else ():
            text = json_text.string_of(fields.get("content"))
            if text and DERIVED_BY not in fields:
                yield Document(key, text, titles.get(key, key))

    @cached_property
    def _nodes_of_documents(self) -> tuple[dict[str, str], set[str]]:
        """Titles that nodes of type document have, where these are not their names, and which may have a text."""
        titles: dict[str, str] = {}
        with_content = set[str]()
        for key, fields in self._fields_of_documents("title", (), with_content):
            title = json_text.string_of(fields.get("title"))
            if title and title.strip():
                titles.setdefault(key, title)
        return titles, with_content

    def _fields_of_documents(
        self, name: str, but: Container[str], with_content: set[str] | None = None
    ) -> Iterator[tuple[str, Fields]]:
        """Keys and attributes of nodes of type document that have this name in their attributes, without the nodes of
        some keys; ``with_content`` gets the keys of all that may have a text."""
        for file in self._of("nodes"):
            for row in self._records.rows(file):
                if row.get("type") != DOCUMENT or _key(row) in but:
                    continue
                if with_content is not None and "content" in row.get("attributes", ""):
                    with_content.add(_key(row))
                if name in row.get("attributes", ""):
                    key, attributes = _keyed(row, "nodes", [])
                    yield key, json_text.fields_of(attributes or "{}")

    def nodes(self, notes: list[Note]) -> Iterator[Node]:
        """Nodes by their keys: the name, or the ``uid`` where there is one (the name is then an attribute)."""
        for file in self._of("nodes"):
            for row in self._records.rows(file):
                key, attributes = _keyed(row, "nodes", notes)
                if attributes is None or f'"{DERIVED_BY}"' not in attributes or not _is_derived(attributes):
                    yield Node(key, row.get("type", ""), attributes)

    def relations(self, notes: list[Note]) -> Iterator[Relation]:
        """Relations, by their keys likewise."""
        for file in self._of("relations"):
            for row in self._records.rows(file):
                key, attributes = _keyed(row, "relations", notes)
                if attributes != DERIVED:
                    yield Relation(key, attributes)

    def edges(self, notes: list[Note]) -> Iterator[Edge]:
        """Edges; ``confidence`` and ``source`` of their attributes are columns of their own."""
        for file in self._of("edges"):
            for row in self._records.rows(file):
                if (edge := edge_of(row, notes)) is not None:
                    yield edge


def edge_of(row: dict[str, str], notes: list[Note]) -> Edge | None:
    """The edge that a row is; None where it was made by a conversion."""
    attributes = _attributes(row, "edges", notes)
    if attributes == DERIVED:
        return None
    return Edge(row.get("source", ""), row.get("relation", ""), row.get("target", ""), *lift_edge(attributes))


def _keyed(row: dict[str, str], table: str, notes: list[Note]) -> tuple[str, str | None]:
    attributes = _attributes(row, table, notes)
    name, key = row.get("name", ""), _key(row)
    if key == name or "name" not in row:
        return key, attributes
    fields = json_text.fields_of(attributes or "{}")
    if "name" in fields:
        notes.append(("lost", table, "name", "the uid is the key, and there is an attribute called name", name))
        return key, attributes
    return key, json_text.object_text({"name": Raw(json_text.dumps(name).encode()), **fields})


def _key(row: dict[str, str]) -> str:
    return row.get("uid", row.get("name", ""))


def _attributes(row: dict[str, str], table: str, notes: list[Note]) -> str | None:
    cell = row.get("attributes", "{}")
    if cell == "{}":
        return None
    return json_of_cell(cell, lambda why, example: notes.append(("coerced", table, "attributes", why, example)))


def _is_derived(attributes: str) -> bool:
    return DERIVED_BY in json_text.fields_of(attributes)


class QuestionReader:
    """The questions of a dataset, raw and processed; of one that is both, the processed record counts."""

    def __init__(self, dataset: Dataset, records: RecordReader, form: Form, raw: tuple[str, ...], built: str) -> None:
        self._records = records
        self._form = form
        self._raw = [file for kind in raw for file in dataset.of_kind(kind)]
        self._built = dataset.of_kind(built)
        self._predictions = dataset.of_kind("predictions")

    def sources(self) -> dict[str, Rows]:
        """What the dataset has files for; predictions give questions where nothing else does."""
        found: dict[str, Rows] = {}
        if self._raw or self._built or self._predictions:
            found["questions"] = self.questions
            found["qrels"] = self.qrels
        if self._built or (self._predictions and not self._raw):
            found["start_nodes"] = self.start_nodes
        if self._predictions:
            found["runs"] = self.runs
        return found

    def questions(self, notes: list[Note]) -> Iterator[Question]:
        """Questions in the order of the raw files, then those that only the processed ones have."""
        for split, key, fields in self._all():
            yield self._question(split, key, fields, notes)

    def qrels(self, notes: list[Note]) -> Iterator[Qrel]:
        """Supporting documents, and target nodes with their types."""
        form = self._form
        for split, key, fields in self._all():
            documents = self._supporting(fields, notes)
            targets = self._nodes(fields, form.target, notes)
            if form.entities and documents:
                targets = {DOCUMENT: documents, **targets}
            if not documents and not form.entities:
                documents = targets.get(DOCUMENT, [])
            for name in documents:
                yield Qrel(key, name, 1, "document", split)
            for kind, names in targets.items():
                for name in names:
                    yield Qrel(key, name, 1, "node", split, kind)

    def start_nodes(self, notes: list[Note]) -> Iterator[StartNode]:
        """Start nodes with their types."""
        for _, key, fields in self._all():
            for kind, names in self._nodes(fields, self._form.start, notes).items():
                for name in names:
                    yield StartNode(key, name, kind)

    def runs(self, notes: list[Note]) -> Iterator[Run]:
        """What was found, the best first; the stage is ``retrieval`` for documents, ``retrieval-<type>`` for others."""
        for _, key, fields in self._of_files(self._predictions):
            raw = fields.get("predictions", Raw(b"{}"))
            found = json_text.loads(raw) if bytes(raw)[:1] == b"{" else {}
            for kind, ranked in found.items():
                stage = "retrieval" if kind == DOCUMENT else f"retrieval-{kind}"
                metadata = json_text.dumps({"node_type": kind})
                for rank, pair in enumerate(ranked if isinstance(ranked, list) else (), 1):
                    name, score, *_ = (*pair, None, None) if isinstance(pair, list) else (pair, None)
                    scored = float(score) if isinstance(score, int | float) and score is not True else None
                    yield Run(key, stage, rank, str(name), None, scored, None, metadata)

    # records

    def _all(self) -> Iterator[tuple[str | None, str, Fields]]:
        """(split, id, fields) of every question, each once."""
        if not self._raw and not self._built:
            yield from self._of_files(self._predictions)
            return
        for split in dict.fromkeys(map(split_of, (*self._raw, *self._built))):
            raw = [f for f in self._raw if split_of(f) == split]
            built = [f for f in self._built if split_of(f) == split]
            yield from self._merged(raw, built) if raw and built else self._of_files(raw or built)

    def _merged(self, raw: list[DataFile], built: list[DataFile]) -> Iterator[tuple[str | None, str, Fields]]:
        """Processed questions, and between them the raw ones of which none was made."""
        processed = {key for _, key, _ in self._of_files(built)}
        later = self._of_files(built)
        gone = set()
        for entry in self._of_files(raw):
            if entry[1] not in processed:
                yield entry
                continue
            while entry[1] not in gone:
                found = next(later)
                gone.add(found[1])
                yield found
        yield from later

    def _of_files(self, files: list[DataFile]) -> Iterator[tuple[str | None, str, Fields]]:
        for file in files:
            split = split_of(file)
            for place, fields in enumerate(self._records.objects(file)):
                key = _id_of(fields)
                yield split, f"{split or 'question'}-{place}" if key is None else key, fields

    def _question(self, split: str | None, key: str, fields: Fields, notes: list[Note]) -> Question:
        form = self._form
        names = {form.supporting: CURRENT.supporting, form.start: CURRENT.start, form.target: CURRENT.target}
        text = json_text.string_of(fields.get("question"))
        if text is None:
            notes.append(("coerced", "questions", "text", "it is not a text", key))
        if _id_of(fields) is None:
            notes.append(("derived", "questions", "question_id", "the place in the file is the id", key))
        order: list[str] = []
        extras: list[tuple[str, Raw]] = []
        for name, raw in fields.items():
            if name == "predictions" and self._predictions:
                continue
            if name in names:
                order.append(names[name])
            elif name in _OWN_NAMES and not (name in _KEPT_BESIDE and json_text.string_of(raw) is None):
                order.append(_OWN_NAMES[name])
            else:
                own = name[len(ASIDE) :] if is_aside(name) else name
                extras.append((own, raw))
                order.append(BESIDE + own if own in _OWN_NAMES.values() else own)
        return Question(
            key,
            text or "",
            self._answer(fields.get("answer"), key, notes),
            tuple(_texts(fields.get("answer_aliases"), ("questions", "aliases"), key, notes)),
            split,
            json_text.object_text(extras),
            tuple(order),
        )

    @staticmethod
    def _answer(raw: Raw | None, key: str, notes: list[Note]) -> str | None:
        if raw is None or bytes(raw) == b"null":
            return None
        text = json_text.string_of(raw)
        if text is None:
            notes.append(("coerced", "questions", "answer", "an answer that is not a text became one", key))
            return json_text.compact(raw)
        return text

    def _supporting(self, fields: Fields, notes: list[Note]) -> list[str]:
        raw = fields.get(self._form.supporting)
        if self._form.entities and raw is not None and bytes(raw).lstrip(b"[ \n\r\t")[:1] in (b'"', b""):
            return _texts(raw, ("qrels", "target_id"), "", notes)
        if not self._form.entities:
            return _texts(raw, ("qrels", "target_id"), "", notes)
        return _titles(raw, notes)

    def _nodes(self, fields: Fields, name: str, notes: list[Note]) -> dict[str, list[str]]:
        """Names by type, as they stand there, each once."""
        raw = fields.get(name)
        table = ("start_nodes", "node") if name == self._form.start else ("qrels", "target_id")
        if raw is None:
            return {}
        if self._form.entities:
            return {ENTITY: _texts(raw, table, "", notes)}
        if bytes(raw)[:1] != b"{":
            notes.append(
                (
                    "lost",
                    *table,
                    "it is not an object of types and names",
                    bytes(bytes(raw)[:80]).decode("utf-8", "replace"),
                )
            )
            return {}
        return {kind: _texts(names, table, kind, notes) for kind, names in json_text.fields_of(raw).items()}


def split_of(file: DataFile) -> str | None:
    """``train`` or ``test``, by the name of the file; None for files called otherwise."""
    stem = PurePath(shard_split(file.name).removesuffix(".gz")).stem
    return stem if stem in ("train", "test", "dev", "validation") else None


def _id_of(fields: Fields) -> str | None:
    raw = fields.get("id")
    if raw is None or bytes(raw) == b"null":
        return None
    text = json_text.string_of(raw)
    return json_text.compact(raw) if text is None else text


def _texts(raw: Raw | None, place: tuple[str, str], example: str, notes: list[Note]) -> list[str]:
    """A list of texts, each once; a lone text is taken for a list of one, as its writer meant it."""
    if raw is None or bytes(raw) == b"null":
        return []
    value = json_text.loads(raw)
    if isinstance(value, str):
        notes.append(("coerced", *place, "a text instead of a list of texts", value))
        value = [value]
    if not isinstance(value, list):
        notes.append(("lost", *place, "it is not a list of texts", example or value))
        return []
    if not all(isinstance(item, str) for item in value):
        notes.append(("coerced", *place, "a name that is not a text became one", example or value))
        value = [item if isinstance(item, str) else json_text.dumps(item) for item in value]
    return list(dict.fromkeys(value))


def _titles(raw: Raw | None, notes: list[Note]) -> list[str]:
    """The titles of pairs of title and sentence, as HotpotQA has them."""
    pairs = json_text.loads(raw) if raw is not None else None
    if not isinstance(pairs, list):
        return []
    titles = [pair[0] if isinstance(pair, list) and pair else pair for pair in pairs]
    notes.append(("coerced", "qrels", "target_id", "of a pair of title and sentence, the title", pairs[:1]))
    return list(dict.fromkeys(title for title in titles if isinstance(title, str)))


def noted(records: RecordReader, rows: dict[str, Rows]) -> dict[str, Callable[[], Iterator[Any]]]:
    """Row sources that count what their readers note."""
    return {table: NotedRows(records.losses, read) for table, read in rows.items()}
