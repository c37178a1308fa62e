"""Writes GFM-RAG's questions: all of them raw, and with start and target nodes those that the graph has nodes for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from ragdatakit.converters.gfm_rag.graph import STAGE1, Graph
from ragdatakit.converters.gfm_rag.mentions import NameFinder
from ragdatakit.converters.gfm_rag.passages import Passages
from ragdatakit.converters.gfm_rag.reading import DOCUMENT, ENTITY, RESERVED, is_aside
from ragdatakit.converters.question_fields import ASIDE, BESIDE
from ragdatakit.files.containers import json_text
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.file_writers import ArrayWriter
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Qrel, Question, StartNode

SPLITS = ("train", "test")
"""The only files of questions that the loaders look for."""
_MOST_DIGITS = 18
"""Of an integer that fits 64 bits for certain."""

Nodes = dict[str, list[str]]
"""Names by type."""
Found = dict[str, dict[str, None]]
"""The same, each name once."""

_NODE_FIELDS = ("start_nodes", "target_nodes")
_NAMES = {"question_id": "id", "text": "question", "aliases": "answer_aliases"}


class Questions:
    """The questions of a dataset, to be written next to its passages and its graph (None: it has none).

    Where no question has start nodes, they are derived: nodes named in the question; and so are target nodes, where
    there are none: the supporting documents, and the nodes that they mention.
    """

    def __init__(self, tables: CanonicalTables, passages: Passages, graph: Graph | None) -> None:
        self._tables = tables
        self._passages = passages
        self._graph = graph
        self._ids: dict[str, str | None] = {}  # with their splits
        self._integers = True
        self._splits: set[str | None] = set()
        self._split_of: dict[str, str] = {}
        self._documents: dict[str, dict[str, None]] = {}
        self._targets: dict[str, Found] = {}
        self._starts: dict[str, Found] = {}
        self._derives = graph is not None and not tables.any("start_nodes")
        self._finder: NameFinder | None = None
        self._mentioned: dict[str, list[str]] = {}
        self._used: set[str] = set()
        self._numbers: dict[str, int] = {}  # of the names that are wanted, the last one tried

    def write(self, out: Output) -> None:
        """Write ``raw/<split>.json`` and ``processed/stage1/<split>.json``, each where it has a question."""
        self._collect()
        files: dict[str, ArrayWriter] = {}
        with ExitStack() as stack:

            def file_of(name: str) -> ArrayWriter:
                if name not in files:
                    files[name] = stack.enter_context(out.array(name))
                return files[name]

            for question in self._tables.take("questions", *Question._fields):
                split = self._split(question)
                identity = self._identity(question, out)
                nodes = self._nodes(question)
                record = self._record(question, identity, answered=nodes is None)
                file_of(f"raw/{split}.json").write(_ordered(question, record))
                if nodes is not None:
                    record |= dict(zip(_NODE_FIELDS, nodes, strict=True))
                    file_of(f"{STAGE1}{split}.json").write(_ordered(question, record))

    # what is known of each question

    def _collect(self) -> None:
        for question in self._tables.peek("questions"):
            self._splits.add(question.split)
            self._integers = self._integers and _has_integer_id(question) and question.question_id not in self._ids
            if question.question_id is not None:
                self._ids.setdefault(question.question_id, question.split)
        columns = ("question_id", "target_id", "grade", "split", "node_type")
        for qrel in self._tables.take_passage_qrels(*columns, with_nodes=True):
            why = self._why_not(qrel) or self._why_not_again(qrel)
            if why:
                self._tables.drop("qrels", qrel, why)
            if qrel.split is not None:
                self._split_of.setdefault(qrel.question_id, qrel.split)
            if not why:
                self._account_columns(qrel)
        if self._graph is not None:
            for start in self._tables.take("start_nodes", *StartNode._fields):
                why = "" if start.question_id in self._ids else "there is no question of this id"
                if not (why or self._add(self._starts, start.question_id, start.node, start.node_type)):
                    why = "the same start node comes before"
                if why:
                    self._tables.drop("start_nodes", start, why)
        if self._derives and self._graph is not None:
            self._finder = NameFinder(self._graph.entities())
            wanted = {name for qid, names in self._documents.items() if qid not in self._targets for name in names}
            self._mentioned = self._graph.mentioned_in(wanted)

    def _why_not(self, qrel: Qrel) -> str:
        if qrel.question_id not in self._ids:
            return "there is no question of this id"
        if qrel.grade <= 0:
            return "only what is relevant has a place"
        if qrel.target_kind == "node" and self._graph is None:
            return "there is no graph that has the node"
        if qrel.target_kind != "node" and not self._is_passage(self._passages.key_of(qrel.target_id)):
            return "there is no passage of this id"
        return ""

    def _is_passage(self, key: str) -> bool:
        """Whether there is such a passage; what GFM-RAG's own questions name stays as it is (the loaders skip it)."""
        if self._tables.format == "gfm-rag" or key in self._passages.written:
            return True
        return self._graph is not None and self._graph.types.get(key) == DOCUMENT

    def _why_not_again(self, qrel: Qrel) -> str:
        """Take a judgement in; or why it is left out, for a question names each target once."""
        if qrel.target_kind == "node":
            name = qrel.target_id
            if qrel.node_type == DOCUMENT and self._graph is not None:
                name = self._graph.key_of(name)
            new = self._add(self._targets, qrel.question_id, name, qrel.node_type)
        else:
            found, key = self._documents.setdefault(qrel.question_id, {}), self._passages.key_of(qrel.target_id)
            new = key not in found
            found[key] = None
        return "" if new else "a judgement of the same target comes before"

    def _account_columns(self, qrel: Qrel) -> None:
        """Judgements are in their question, and say no more than that something is relevant."""
        add, shown = self._tables.losses.add, f"{qrel.question_id} {qrel.target_id}"
        if qrel.grade > 1:
            add("coerced", "qrels", "grade", "there are no grades", f"{shown}: {qrel.grade}")
        if qrel.node_type and qrel.target_kind != "node":
            add("lost", "qrels", "node_type", "it judges a passage, not a node", f"{shown}: {qrel.node_type}")
        split = self._split_called(self._ids[qrel.question_id] or self._split_of.get(qrel.question_id))
        if qrel.split is not None and qrel.split != split:
            add("coerced", "qrels", "split", "judgements are in the file of their question", f"{shown}: {qrel.split}")

    def _add(self, found: dict[str, Found], question: str, name: str, kind: str | None) -> bool:
        """Whether it is new."""
        if kind is None:
            kind = self._graph.types.get(name, ENTITY) if self._graph is not None else ENTITY
        names = found.setdefault(question, {}).setdefault(kind, {})
        new = name not in names
        names[name] = None
        return new

    # one question

    def _split(self, question: Question) -> str:
        given = question.split or self._split_of.get(question.question_id or "")
        split = self._split_called(given)
        if given and given != split:
            why = "the loaders know train and test only: it is written to test"
            self._tables.losses.add("coerced", "questions", "split", why, f"{question.question_id}: {given}")
        return split

    @staticmethod
    def _split_called(given: str | None) -> str:
        return given if given in SPLITS else "test"

    def _identity(self, question: Question, out: Output) -> str:
        """An id that no other question has, in either file."""
        given = question.question_id
        identity = given if given is not None else f"question-{len(self._used)}"
        number = self._numbers.get(identity, 1)
        wanted = identity
        while identity in self._used or (identity != given and identity in self._ids):
            number += 1
            identity = f"{given if given is not None else 'question'}#{number}"
        self._used.add(identity)
        self._numbers[wanted] = number
        if given is None:
            self._tables.losses.add("derived", "questions", "question_id", "an id is needed", identity)
        elif identity != given:
            out.renamed("question", identity, given)
        return identity

    def _record(self, question: Question, identity: str, answered: bool) -> dict[str, Any]:
        """The fields of the raw record. ``answered``: the constructors that will read it want an answer."""
        losses, at_home = self._tables.losses, self._tables.format == "gfm-rag" and question.field_order
        record: dict[str, Any] = {"id": identity, "question": question.text}
        if question.answer is not None:
            record["answer"] = question.answer
        elif answered:
            losses.add("derived", "questions", "answer", "none is known: it is empty", identity)
            record["answer"] = ""
        if question.aliases or not at_home or "aliases" in question.field_order:
            record["answer_aliases"] = list(question.aliases)
        documents = self._documents.get(question.question_id or "", ())
        if documents and (not at_home or "supporting_documents" in question.field_order):
            called = self._graph.document_names if self._graph is not None else list
            record["supporting_documents"] = list(dict.fromkeys(called([*documents])))
        for name, raw in json_text.fields_of(question.metadata or "{}").items():
            if name == "id" and self._integers:
                record["id"] = raw
            else:
                record[ASIDE + name if name in RESERVED or is_aside(name) else name] = raw
        return record

    def _nodes(self, question: Question) -> tuple[Nodes, Nodes] | None:
        """Start and target nodes; None where one of them is unknown to the graph (the question is raw only)."""
        if self._graph is None:
            return None
        key = question.question_id or ""
        starts: Nodes | Found = self._starts.get(key, {})
        targets: Nodes | Found = self._targets.get(key, {})
        derived = []
        if self._finder is not None:
            starts = self._graph.by_type(self._finder.find(question.text))
            derived.append(("start_nodes", "nodes that are named in the question"))
            if not targets:
                targets = self._derived_targets(key)
                derived.append(("qrels", "the supporting documents and the nodes that they mention, as targets"))
        missing = [what for what, nodes in (("start", starts), ("target", targets)) if not self._any_known(nodes)]
        if missing:
            self._account_raw_only(key, question, missing)
            return None
        for table, why in derived:
            self._tables.losses.add("derived", table, None, why, key)
        return self._named(starts), self._named(targets)

    def _derived_targets(self, question: str) -> Nodes:
        assert self._graph is not None
        types = self._graph.types
        documents = [d for d in dict.fromkeys(self._documents.get(question, ())) if types.get(d) == DOCUMENT]
        mentioned = [name for document in documents for name in self._mentioned.get(document, ())]
        return self._graph.by_type([*documents, *mentioned])

    def _any_known(self, nodes: Nodes | Found) -> bool:
        assert self._graph is not None
        return any(name in self._graph.types for names in nodes.values() for name in names)

    def _named(self, nodes: Nodes | Found) -> Nodes:
        assert self._graph is not None
        return {kind: list(dict.fromkeys(map(self._graph.names, names))) for kind, names in nodes.items()}

    def _account_raw_only(self, key: str, question: Question, missing: list[str]) -> None:
        why = f"it is in raw/ only: the graph has {' and '.join(f'no {what} node' for what in missing)} for it"
        self._tables.losses.add("derived", "questions", None, why, f"{key}: {question.text}")
        for name, kind in _listed(self._starts.get(key, {})):
            self._tables.drop("start_nodes", StartNode(key, name, kind), "the question is raw only")
        for name, kind in _listed(self._targets.get(key, {})):
            self._tables.drop("qrels", Qrel(key, name, 1, "node", None, kind), "the question is raw only")


def _listed(nodes: Found) -> Iterator[tuple[str, str]]:
    return ((name, kind) for kind, names in nodes.items() for name in names)


def _has_integer_id(question: Question) -> bool:
    """Whether the source's record has an integer for an id, which the loaders take, too, if all are."""
    if '"id"' not in (question.metadata or ""):
        return False
    raw = bytes(json_text.fields_of(question.metadata or "{}").get("id", b""))
    return raw.decode() == question.question_id and raw.lstrip(b"-").isdigit() and len(raw) < _MOST_DIGITS


def _ordered(question: Question, record: dict[str, Any]) -> dict[str, Any]:
    """The fields in the order of the source's record; what it did not have follows."""
    order = [name for name_in_order in question.field_order if (name := _written_name(name_in_order, record)) in record]
    return {name: record[name] for name in dict.fromkeys((*order, *_standard(record)))}


def _written_name(column: str, record: Mapping[str, Any]) -> str:
    """What a field of the source's record is called here."""
    if column in Question._fields:
        return _NAMES.get(column, column)
    own = column.removeprefix(BESIDE)
    return ASIDE + own if ASIDE + own in record else own


def _standard(record: Mapping[str, Any]) -> list[str]:
    return [n for n in record if n not in _NODE_FIELDS] + [n for n in _NODE_FIELDS if n in record]
