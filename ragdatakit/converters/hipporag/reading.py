"""HippoRAG files as canonical tables: passages, questions, what is to be found, and the triples of passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ragdatakit.converters import Options
from ragdatakit.converters.hipporag.fields import decoded, given_id, id_of, made_id, passage_metadata, read_question
from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, loads, object_text, string_of
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.hipporag.passages import (
    EVIDENCE_FIELDS,
    Paragraph,
    joiner_of,
    paragraphs_of,
    passage_code,
    passage_text,
    set_name,
    set_of_results,
)
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Document, Edge, Node, Qrel, Question, Relation, Triplet
from ragdatakit.schemas.errors import NotMeantError, RagdataError

_JOINERS = {"empty": "", "space": " "}
_DOCS = msgspec.json.Decoder(list[Raw])


class _Result(msgspec.Struct):
    """Of a passage's results, which passage it is."""

    passage: Any = None


_RESULTS = msgspec.json.Decoder(list[_Result])


def read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of one data set."""
    name, names = _chosen(dataset, options["dataset"])
    files = [f for f in dataset.files if f.kind in _OF_SETS and set_name(f.name) == name]
    results = [f for f in dataset.of_kind("openie") if _has_results_of(f, name, names, dataset)]
    joiner = _JOINERS.get(options["joiner"], joiner_of(name))
    reading = HippoRagReading(records, files, results, joiner)
    found: dict[str, RowSource] = {}
    if reading.corpora or reading.asked:
        found["documents"] = reading.documents
    if reading.asked:
        found |= {"questions": reading.questions, "qrels": reading.qrels, "triplets": reading.triplets}
    if results:
        found |= {"nodes": reading.nodes, "relations": reading.relations, "edges": reading.edges}
    return found


_OF_SETS = ("corpus", "legacy-corpus", "questions")


def set_names(dataset: Dataset) -> list[str]:
    """The data sets that a folder holds, in the order of their files."""
    return list(dict.fromkeys(set_name(f.name) for f in dataset.files if f.kind in _OF_SETS))


def files_of_set(dataset: Dataset, name: str) -> list[DataFile]:
    """The files of one data set of a folder, with those of which nobody can tell whose they are."""
    names = set_names(dataset)
    return [
        f
        for f in dataset.files
        if (set_name(f.name) if f.kind in _OF_SETS else set_of_results(f.name, names) or name) == name
    ]


def _chosen(dataset: Dataset, wanted: str | None) -> tuple[str, list[str]]:
    names = set_names(dataset)
    if wanted:
        if wanted not in names:
            raise NotMeantError(f"{dataset.display} has no data set {wanted}; it has {', '.join(names)}")
        return wanted, names
    if len(names) > 1:
        listed = ", ".join(names)
        raise RagdataError(
            f"{dataset.display} holds several data sets ({listed}); choose one: --option dataset={names[0]}"
        )
    return (names or [""])[0], names


def _has_results_of(file: DataFile, name: str, names: list[str], dataset: Dataset) -> bool:
    return not names or dataset.layout == "file" or set_of_results(file.name, names) == name


class HippoRagReading:
    """Reads the files of one data set, as often as is wanted.

    Where there is no corpus, the passages are those that the questions bring along. What the questions and results say
    of passages is kept by a code of 64 bits for each passage.
    """

    def __init__(self, records: RecordReader, files: list[DataFile], results: list[DataFile], joiner: str) -> None:
        self.records = records
        self.corpora = [f for f in files if f.kind != "questions"]
        self.asked = [f for f in files if f.kind == "questions"]
        self.results = results
        self.joiner = joiner
        self._ids: dict[int, str] | None = None
        self._by_idx: bool | None = None
        self._given: set[str] | None = None
        self._noted: set[tuple[Any, ...]] = set()

    def documents(self) -> Iterator[Document]:
        """The passages, in order."""
        if not self.corpora:
            yield from self._own_passages()
            return
        place = 0
        for file in self.corpora:
            if file.kind == "legacy-corpus":
                for title, raw in self.records.members(file):
                    sentences = loads(raw)
                    if not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
                        self._leave_out("documents", place, "its sentences are not texts", title)
                        continue
                    metadata = object_text([("sentences", raw)])
                    yield Document(str(place), self.joiner.join(sentences), title, metadata)
                    place += 1
                continue
            for fields in self.records.objects(file):
                text = string_of(fields.get("text"))
                if text is None:
                    self._leave_out("documents", place, "it has no text", string_of(fields.get("title")))
                    continue
                yield self._document(fields, text, place)
                place += 1

    def _document(self, fields: dict[str, Raw], text: str, place: int) -> Document:
        title = string_of(fields.get("title"))
        taken = ("text",) if title is None else ("text", "title")
        if self._numbered_by_idx():
            return Document(id_of(fields.get("idx")) or "", text, title, passage_metadata(fields, (*taken, "idx")))
        return Document(str(place), text, title, passage_metadata(fields, taken))

    def _numbered_by_idx(self) -> bool:
        """Whether every passage has an idx, and each its own."""
        if self._by_idx is None:
            seen: set[str] = set()
            self._by_idx = bool(self.corpora)
            for file in self.corpora:
                for fields in () if file.kind == "legacy-corpus" else self.records.objects(file):
                    found = id_of(fields.get("idx"))
                    if found is None or found in seen:
                        self._by_idx = False
                        break
                    seen.add(found)
        return self._by_idx

    def _own_passages(self) -> Iterator[Document]:
        seen: set[int] = set()
        for _, _, paragraphs in self._judged():
            for paragraph in paragraphs:
                code = passage_code(paragraph.passage)
                if code not in seen:
                    seen.add(code)
                    place = len(seen) - 1
                    self._tell("derived", "documents", place, "a passage of a question, as there is no corpus")
                    yield Document(str(place), paragraph.text, paragraph.title)

    def _known(self) -> dict[int, str]:
        """Code to id, for all passages."""
        if self._ids is None:
            ids: dict[int, str] = {}
            for document in self.documents():
                ids.setdefault(passage_code(passage_text(document.title or "", document.text)), document.doc_id)
            self._ids = ids
        return self._ids

    def _records(self) -> Iterator[tuple[int, dict[str, Raw]]]:
        number = 0
        for file in self.asked:
            for fields in self.records.objects(file):
                yield number, fields
                number += 1

    def questions(self) -> Iterator[Question]:
        """The questions; the passages that they bring along are in the metadata."""
        for number, fields in self._records():
            question = read_question(fields)
            yield question._replace(question_id=self._id(number, question.question_id))

    def _id(self, number: int, given: str | None) -> str:
        """The id of a question; one that has none is called after its place."""
        if given is not None:
            return given
        if self._given is None:
            self._given = {found for _, fields in self._records() if (found := given_id(fields)[1]) is not None}
        made = made_id(number)
        while made in self._given:
            made += "-"
        return made

    def _judged(self) -> Iterator[tuple[int, str, list[Paragraph]]]:
        """The place, the id and the passages of each question."""
        for number, fields in self._records():
            question_id = self._id(number, given_id(fields)[1])
            yield number, question_id, paragraphs_of(decoded(fields, EVIDENCE_FIELDS), self.joiner)

    def qrels(self) -> Iterator[Qrel]:
        """The passages that are to be found."""
        known = self._known()
        for number, question_id, paragraphs in self._judged():
            for code, paragraph in _distinct(p for p in paragraphs if p.supporting).items():
                if code in known:
                    yield Qrel(question_id, known[code])
                else:
                    why = "the passage is not in the corpus, letter by letter"
                    self._leave_out("qrels", (number, code), why, f"{question_id}: {paragraph.title}")

    def triplets(self) -> Iterator[Triplet]:
        """Each passage that is to be found, with each other one of its question."""
        known = self._known()
        for _, question_id, paragraphs in self._judged():
            gold = _distinct(p for p in paragraphs if p.supporting)
            others = _distinct(p for p in paragraphs if not p.supporting)
            for positive in gold:
                for negative in others:
                    if negative not in gold and positive in known and negative in known:
                        yield Triplet(question_id, known[positive], known[negative])

    def nodes(self) -> Iterator[Node]:
        """The entities, with the passages that they were extracted from, and all subjects and objects."""
        found: dict[str, list[str]] = {}
        for passage, entities, triples in self._results():
            for name in entities:
                passages = found.setdefault(name, [])
                if passage is not None and passage not in passages[-1:]:
                    passages.append(passage)
            for source, _, target in triples:
                found.setdefault(source, [])
                found.setdefault(target, [])
        for name, passages in found.items():
            yield Node(name, None, dumps({"passages": passages}) if passages else None)

    def relations(self) -> Iterator[Relation]:
        """The predicates."""
        seen: set[str] = set()
        for _, _, triples in self._results():
            for _, predicate, _ in triples:
                if predicate not in seen:
                    seen.add(predicate)
                    yield Relation(predicate)

    def edges(self) -> Iterator[Edge]:
        """The triples of each passage, its id as provenance; those that HippoRAG drops are left out."""
        for passage, _, triples in self._results():
            for source, predicate, target in triples:
                yield Edge(source, predicate, target, provenance=passage)

    def _results(self) -> Iterator[tuple[str | None, list[str], list[tuple[str, str, str]]]]:
        """Passage, entities and usable triples, by passage."""
        known = self._known() if self.corpora or self.asked else {}
        place = 0
        for file in self.results:
            for whole in self.records.objects(file):
                replaced = _replaced(whole.get("docs"))
                for number, raw in enumerate(_items(whole.get("docs"))):
                    if bytes(raw)[:1] != b"{":
                        continue
                    if number in replaced:
                        why = "results of a passage that has others behind them, which replace them"
                        self._leave_out("edges", ("passage", place), why, replaced[number])
                        place += 1
                        continue
                    doc = {n: loads(r) for n, r in fields_of(raw).items() if n in _RESULT_FIELDS}
                    passage = doc.get("passage")
                    where = known.get(passage_code(passage)) if isinstance(passage, str) else None
                    if where is None and known:
                        self._leave_out("edges", ("passage", place), "their passage is not in the corpus", passage)
                    else:
                        entities = [e for e in _listed(doc.get("extracted_entities")) if isinstance(e, str)]
                        yield where, entities, list(self._triples(doc.get("extracted_triples"), place))
                    place += 1

    def _triples(self, triples: Any, place: int) -> Iterator[tuple[str, str, str]]:
        seen: set[tuple[str, str, str]] = set()
        for i, triple in enumerate(_listed(triples)):
            if not isinstance(triple, list) or len(triple) != 3:
                self._leave_out("edges", (place, i), "it does not have three members", triple)
                continue
            source, predicate, target = texts = (str(triple[0]), str(triple[1]), str(triple[2]))
            if list(texts) != triple:
                self._tell("coerced", "edges", (place, i), "a member that is not a text became one", triple)
            if texts in seen:
                self._leave_out("edges", (place, i), "its passage has the same triple before", triple)
                continue
            seen.add(texts)
            yield source, predicate, target

    def _leave_out(self, table: str, place: Any, why: str, example: object = None) -> None:
        self._tell("dropped", table, place, why, example)

    def _tell(self, kind: Any, table: str, place: Any, why: str, example: object = None) -> None:
        """Count something once, however often the table is read."""
        if (kind, table, place) not in self._noted:
            self._noted.add((kind, table, place))
            self.records.losses.add(kind, table, None, why, example)


_RESULT_FIELDS = ("passage", "extracted_entities", "extracted_triples")


def _distinct(paragraphs: Iterable[Paragraph]) -> dict[int, Paragraph]:
    """By code, in order."""
    found: dict[int, Paragraph] = {}
    for paragraph in paragraphs:
        found.setdefault(passage_code(paragraph.passage), paragraph)
    return found


def _items(raw: Raw | None) -> list[Raw]:
    """The elements of a JSON array, as they stand."""
    return _DOCS.decode(raw) if raw is not None and bytes(raw)[:1] == b"[" else []


def _replaced(raw: Raw | None) -> dict[int, str]:
    """The places of results whose passage comes again, with the passage: HippoRAG takes the last ones."""
    try:
        passages = [result.passage for result in _RESULTS.decode(raw or b"[]")]
    except msgspec.MsgspecError:
        return {}
    last = {passage: place for place, passage in enumerate(passages) if isinstance(passage, str)}
    return {i: text for i, text in enumerate(passages) if isinstance(text, str) and last[text] != i}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
