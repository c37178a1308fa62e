"""HippoRAG files as canonical tables: passages, questions, what is to be found, and the triples of passages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from ragdatakit.converters import Options
from ragdatakit.converters.hipporag.fields import decoded, document_of, given_id, id_of, made_id, read_question, text_of
from ragdatakit.converters.hipporag.known_passages import KnownPassages, PassageIds
from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, loads, object_text
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.hipporag.passages import (
    EVIDENCE_FIELDS,
    Paragraph,
    joiner_of,
    paragraphs_of,
    passage_code,
    set_name,
    set_of_results,
)
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.tables_together import SharedRows
from ragdatakit.schemas.canonical import Document, Edge, Node, Qrel, Question, Relation, Triplet
from ragdatakit.schemas.errors import NotMeantError, RagdataError

_JOINERS = {"empty": "", "space": " "}
_AT_ONCE = 1 << 22
"""Characters of passages of questions that are looked up together, a question without any counting as some."""
_LEAST = 1 << 8
_MOST_ROWS = 1 << 14
"""Of a table that are in memory at once."""
_Judged = tuple[int, dict[str, Raw], str, list[tuple[Paragraph, str | None]]]
"""The place of a question, its fields and id, and its passages with their ids, those of the corpus."""
_DOCS = msgspec.json.Decoder(list[Raw])


class _Result(msgspec.Struct):
    """Of a passage's results, which passage it is."""

    passage: Any = None


_RESULTS = msgspec.json.Decoder(list[_Result])


def read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of one data set."""
    reading = reading_of(dataset, records, options["dataset"], options["joiner"])
    found: dict[str, RowSource] = {}
    if reading.corpora or reading.asked:
        found["documents"] = reading.documents
    if reading.asked:
        found |= {table: SharedRows(reading, table) for table in OF_QUESTIONS}
    if reading.results:
        found |= {"nodes": reading.nodes, "relations": reading.relations, "edges": reading.edges}
    return found


def reading_of(dataset: Dataset, records: RecordReader, wanted: str | None, joiner: str) -> HippoRagReading:
    """What reads one data set: the one that is wanted, or the only one."""
    name, names = _chosen(dataset, wanted)
    files = [f for f in dataset.files if f.kind in _OF_SETS and set_name(f.name) == name]
    results = [f for f in dataset.of_kind("openie") if _has_results_of(f, name, names, dataset)]
    return HippoRagReading(records, files, results, _JOINERS.get(joiner, joiner_of(name)))


OF_QUESTIONS = ("questions", "qrels", "triplets")
"""The tables that are made of questions."""
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

    Where there is no corpus, the passages are those that the questions bring along. ``passages`` are those that there
    are, when they are known.
    """

    def __init__(self, records: RecordReader, files: list[DataFile], results: list[DataFile], joiner: str) -> None:
        self.records = records
        self.corpora = [f for f in files if f.kind != "questions"]
        self.asked = [f for f in files if f.kind == "questions"]
        self.results = results
        self.joiner = joiner
        self.passages: KnownPassages | None = None
        self._by_idx: bool | None = None
        self._given: set[str] | None = None
        self._noted: set[tuple[Any, ...]] = set()

    def by(self, records: RecordReader, passages: KnownPassages | None = None) -> HippoRagReading:
        """The same, read by another reader, which has reported nothing yet."""
        files = [*self.corpora, *self.asked]
        found = HippoRagReading(records, files, self.results, self.joiner)
        found.passages = passages
        return found

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
                        self._leave_out("documents", (file.name, title), "its sentences are not texts", title)
                        continue
                    metadata = object_text([("sentences", raw)])
                    yield Document(str(place), self.joiner.join(sentences), title, metadata)
                    place += 1
                continue
            for number, fields in self.records.numbered(file):
                text = text_of(self.records, file, number, fields)
                if text is None:
                    continue
                yield document_of(fields, text, str(place), by_idx=self._numbered_by_idx())
                place += 1

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
                        return False
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

    def _known(self) -> KnownPassages:
        """All passages."""
        if self.passages is None:
            from ragdatakit.converters.hipporag.scanned_passages import scanned_passages

            self.passages = scanned_passages(self.records, self.corpora) or PassageIds(self.documents())
        return self.passages

    def _records(self) -> Iterator[tuple[int, dict[str, Raw]]]:
        number = 0
        for file in self.asked:
            for fields in self.records.objects(file):
                yield number, fields
                number += 1

    def rows(self, table: str) -> Iterator[Any]:
        """Those of one of the tables that are made of the questions."""
        return (row for rows in self.together([table]) for row in rows[table])

    def together(self, tables: Collection[str]) -> Iterator[Mapping[str, Sequence[Any]]]:
        """Those of several of them."""
        if [*tables] == ["questions"]:
            yield from ({"questions": [self.question(number, fields)]} for number, fields in self._records())
            return
        for judged in self._judged_with_ids():
            made = self._made(tables, judged)  # of one question there may be millions of triplets
            while any((some := {table: list(islice(rows, _MOST_ROWS)) for table, rows in made.items()}).values()):
                yield some

    def rows_of(self, number: int, fields: dict[str, Raw]) -> Mapping[str, Iterator[Any]]:
        """Those of all of them that come of one question, which has this place."""
        return self._made(OF_QUESTIONS, self._with_ids([self._judged_one(number, fields)]))

    def _made(self, tables: Collection[str], judged: Sequence[_Judged]) -> dict[str, Iterator[Any]]:
        made = {"questions": self._questions, "qrels": self._qrels, "triplets": self._triplets}
        return {table: made[table](judged) for table in tables}

    def question(self, number: int, fields: dict[str, Raw]) -> Question:
        """A question; the passages that it brings along are in the metadata."""
        question = read_question(fields)
        return question._replace(question_id=self._id(number, question.question_id))

    def _questions(self, judged: Iterable[_Judged]) -> Iterator[Question]:
        return (self.question(number, fields) for number, fields, _, _ in judged)

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

    def _judged(self) -> Iterator[tuple[int, dict[str, Raw], list[Paragraph]]]:
        """The place, the fields and the passages of each question."""
        return (self._judged_one(number, fields) for number, fields in self._records())

    def _judged_one(self, number: int, fields: dict[str, Raw]) -> tuple[int, dict[str, Raw], list[Paragraph]]:
        return number, fields, paragraphs_of(decoded(fields, EVIDENCE_FIELDS), self.joiner)

    def _judged_with_ids(self) -> Iterator[list[_Judged]]:
        """The same with ids, of some questions after the others."""
        self._known()  # first
        return map(self._with_ids, self._some_judged())

    def _with_ids(self, some: Sequence[tuple[int, dict[str, Raw], list[Paragraph]]]) -> list[_Judged]:
        ids = iter(self._known().ids([paragraph.passage for _, _, own in some for paragraph in own]))
        return [
            (number, fields, self._id(number, given_id(fields)[1]), list(zip(own, ids, strict=False)))
            for number, fields, own in some
        ]

    def _some_judged(self) -> Iterator[list[tuple[int, dict[str, Raw], list[Paragraph]]]]:
        some, size = [], 0
        for each in self._judged():
            some.append(each)
            size += sum(len(paragraph.text) for paragraph in each[2]) + _LEAST
            if size > _AT_ONCE:
                yield some
                some, size = [], 0
        yield some

    def _qrels(self, judged: Iterable[_Judged]) -> Iterator[Qrel]:
        """The passages that are to be found."""
        for number, _, question_id, paragraphs in judged:
            for passage, (paragraph, found) in _distinct(p for p in paragraphs if p[0].supporting).items():
                if found is not None:
                    yield Qrel(question_id, found)
                else:
                    why = "the passage is not in the corpus, letter by letter"
                    self._leave_out("qrels", (number, passage_code(passage)), why, f"{question_id}: {paragraph.title}")

    def _triplets(self, judged: Iterable[_Judged]) -> Iterator[Triplet]:
        """Each passage that is to be found, with each other one of its question."""
        for _, _, question_id, paragraphs in judged:
            gold = _distinct(p for p in paragraphs if p[0].supporting)
            others = _distinct(p for p in paragraphs if not p[0].supporting)
            for _, positive in gold.values():
                for passage, (_, negative) in others.items():
                    if passage not in gold and positive is not None and negative is not None:
                        yield Triplet(question_id, positive, negative)

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
        known = self._known() if self.corpora or self.asked else PassageIds(())
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
                    where = known.ids([passage])[0] if isinstance(passage, str) else None
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


def _distinct(paragraphs: Iterable[tuple[Paragraph, str | None]]) -> dict[str, tuple[Paragraph, str | None]]:
    """By what is compared, in order."""
    found: dict[str, tuple[Paragraph, str | None]] = {}
    for paragraph in paragraphs:
        found.setdefault(paragraph[0].passage, paragraph)
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
