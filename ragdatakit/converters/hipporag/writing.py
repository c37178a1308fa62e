"""Canonical tables as HippoRAG files: a corpus, questions with the passages that are to be found, OpenIE results.

Nothing is written that HippoRAG would stop at or misread: passages are distinguished by title and text, every passage
that is to be found is in the corpus letter by letter, every question has an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import field
from fnmatch import fnmatchcase
from typing import Any

from ragdatakit.converters import Options
from ragdatakit.converters.free_names import FreeNames
from ragdatakit.converters.hipporag.fields import decoded, passage_extras, write_question
from ragdatakit.converters.hipporag.graph import write_results
from ragdatakit.converters.question_fields import ASIDE
from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, loads
from ragdatakit.files.hipporag.passages import (
    CORPUS_END,
    EVIDENCE_FIELDS,
    contexts_of,
    is_context,
    joiner_of,
    paragraphs_of,
    passage_code,
    passage_text,
    supporting_titles,
)
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.written_files import Output, safe_part
from ragdatakit.schemas.canonical import Document, Question
from ragdatakit.schemas.errors import RagdataError

_QUESTION = ("question_id", "text", "answer", "aliases", "metadata")


def write(tables: CanonicalTables, out: Output, options: Options) -> None:
    """Write a corpus, and questions and results where there are any."""
    if not (tables.any("documents") or tables.any("chunks") or tables.any("questions")):
        raise RagdataError(f"{tables.name} has no passages and no questions: there is nothing to write for HippoRAG")
    tables.keep("chunks", "nodes", "edges")
    name = _file_name(options.name)
    corpus = WrittenCorpus(tables)
    corpus.write(out, f"{name}{CORPUS_END}")
    if tables.any("questions"):
        judged = _Judgements(tables, corpus)
        _QuestionWriter(tables, corpus, judged, joiner_of(name)).write(out, f"{name}.json")
    if tables.any("edges") or tables.any("nodes"):
        write_results(tables, out, corpus, f"openie_results_ner_{safe_part(str(options['llm']))}.json")


def _file_name(wanted: str) -> str:
    """A name under which the files are found again, and nothing else is."""
    name = safe_part(wanted)
    while name.endswith("_corpus"):
        name = name.removesuffix("_corpus")
    if not name or name == "ragdata" or fnmatchcase(f"{name}.json", "openie_*results_ner_*.json"):
        name = f"set-{name}"
    return name


class WrittenCorpus:
    """The passages as they are written: their numbers by id, and their codes by number."""

    def __init__(self, tables: CanonicalTables) -> None:
        self.tables = tables
        self.places: dict[str, int] = {}
        self.codes: list[int] = []
        self.by_code: dict[int, int] = {}
        for document in tables.peek_passages():
            code = passage_code(passage_text(_title(document, len(self.codes)), document.text))
            if code not in self.by_code:
                self.by_code[code] = len(self.codes)
                self.codes.append(code)
            self.places[document.doc_id] = self.by_code[code]

    def passages(self, rows: Iterator[Document]) -> Iterator[tuple[int | None, str, Document]]:
        """The number (None: it already exists), the title and the row of each passage."""
        next_place = 0
        for document in rows:
            title = _title(document, next_place)
            if self.by_code[passage_code(passage_text(title, document.text))] == next_place:
                yield next_place, title, document
                next_place += 1
            else:
                yield None, title, document

    def write(self, out: Output, name: str) -> None:
        """Write the corpus."""
        losses = self.tables.losses
        rows = self.tables.take_passages("doc_id", "text", "title", "metadata")
        with out.array(name) as file:
            for place, title, document in self.passages(rows):
                if place is None:
                    self.tables.drop(self.tables.passages, document, "a passage before has the same title and text")
                    continue
                if title != document.title:
                    losses.add("derived", "documents", "title", "a passage without a title has its id as title", title)
                record: dict[str, Any] = {"title": title, "text": document.text}
                file.write({**record, **passage_extras(document.metadata), "idx": place})
                if document.doc_id != str(place):
                    out.renamed("passage", place, document.doc_id)

    def texts(self, wanted: set[int]) -> dict[int, tuple[str, str]]:
        """Title and text of some passages."""
        if not wanted:
            return {}
        passages = self.passages(self.tables.peek_passages())
        return {place: (title, d.text) for place, title, d in passages if place in wanted}


def _title(document: Document, place: int) -> str:
    """The title of a passage; where it has none its id, which is not the same for two of them."""
    if document.title and document.title.strip():
        return document.title
    return document.doc_id if document.doc_id.strip() else f"passage {place}"


class _Judgements:
    """The passages that are to be found and those that are not, by question; each by its number."""

    def __init__(self, tables: CanonicalTables, corpus: WrittenCorpus) -> None:
        self.tables = tables
        self.corpus = corpus
        self.relevant: dict[str, dict[int, None]] = {}
        self.others: dict[str, dict[int, None]] = {}
        self._asked = {q.question_id for q in tables.peek("questions") if q.question_id is not None}
        self.any = tables.any("qrels") or tables.any("triplets")
        self._take_qrels()
        self._take_triplets()

    def _take_qrels(self) -> None:
        for qrel in self.tables.take_passage_qrels("question_id", "target_id", "grade"):
            place = self.corpus.places.get(qrel.target_id)
            if place is None or qrel.question_id not in self._asked:
                what = "passage" if place is None else "question"
                self.tables.drop("qrels", qrel, f"its {what} is not in the dataset")
                continue
            judged = self.relevant if qrel.grade >= 1 else self.others
            if not _add(judged, qrel.question_id, place):
                self.tables.drop("qrels", qrel, "a judgement of the same passage comes before")
            elif qrel.grade < 1:
                self._note("a grade below 1 is a paragraph that does not support the answer", qrel)
            elif qrel.grade > 1:
                self._note("grades above 1 become 1", qrel)
        for question_id, relevant in self.relevant.items():
            others = self.others.get(question_id, {})
            for place in others.keys() & relevant.keys():
                del others[place]
                why = "judged relevant and not: it is a paragraph that supports the answer"
                self.tables.losses.add("lost", "qrels", "grade", why, question_id)

    def _note(self, why: str, qrel: Any) -> None:
        shown = f"{qrel.question_id} {qrel.target_id} {qrel.grade}"
        self.tables.losses.add("coerced", "qrels", "grade", why, shown)

    def _take_triplets(self) -> None:
        judged = set(self.relevant)
        seen: set[tuple[int, int, int]] = set()
        numbers: dict[str, int] = {}
        for triplet in self.tables.take("triplets", "question_id", "positive_id", "negative_id"):
            positive, negative = (self.corpus.places.get(i) for i in (triplet.positive_id, triplet.negative_id))
            asked = triplet.question_id
            why = ""
            if positive is None or negative is None or asked not in self._asked:
                why = "its question or a passage is not in the dataset"
            elif asked in judged and positive not in self.relevant[asked]:
                why = "its positive passage is not judged relevant"
            elif asked in judged and negative in self.relevant[asked]:
                why = "its negative passage is judged relevant"
            if why or positive is None or negative is None:
                self.tables.drop("triplets", triplet, why)
                continue
            triple = (numbers.setdefault(asked, len(numbers)), positive, negative)
            if triple in seen:
                self.tables.drop("triplets", triplet, "the same triplet comes before")
                continue
            seen.add(triple)
            if asked not in judged:
                _add(self.relevant, asked, positive)
            _add(self.others, asked, negative)
        names = list(numbers)
        for number, _, negative in sorted(seen):
            if negative in self.relevant[names[number]]:
                self.others[names[number]].pop(negative, None)
                why = "its negative passage is the positive one of a triplet of the question"
                self.tables.losses.add("dropped", "triplets", None, why, names[number])

    def places(self) -> set[int]:
        """All passages that are named."""
        return {place for judged in (self.relevant, self.others) for found in judged.values() for place in found}


def _add(judged: dict[str, dict[int, None]], question_id: str, place: int) -> bool:
    """Whether it is new."""
    found = judged.setdefault(question_id, {})
    known = len(found)
    found[place] = None
    return len(found) > known


@dataclass(slots=True)
class _QuestionWriter:
    tables: CanonicalTables
    corpus: WrittenCorpus
    judged: _Judgements
    joiner: str
    _free: FreeNames = field(default_factory=FreeNames)
    texts: dict[int, tuple[str, str]] = field(default_factory=dict)
    evaluated: bool = False
    """Whether any question has passages: then all must have them, or HippoRAG evaluates none."""

    def write(self, out: Output, name: str) -> None:
        """Write all questions."""
        self.texts = self.corpus.texts(self.judged.places())
        self.evaluated = self.judged.any or any(map(self._brings_passages, self.tables.peek("questions")))
        with out.array(name) as file:
            for number, question in enumerate(self.tables.take("questions", *_QUESTION)):
                named = self._renamed(question, out)
                record = write_question(named, number)
                self._mend_answer(record, question)
                self._mend_evidence(record, question)
                file.write(record)

    def _renamed(self, question: Question, out: Output) -> Question:
        """Ids are to be unique, though nothing reads them."""
        wanted = question.question_id
        if wanted is None:
            return question
        name = self._free(wanted)
        if name == wanted:
            return question
        out.renamed("question", name, wanted)
        return question._replace(question_id=name)

    def _mend_answer(self, record: dict[str, Raw], question: Question) -> None:
        """HippoRAG stops at a question without an answer, or takes another field for it."""
        if "answer" in record:
            return
        record["answer"] = Raw(b'""')
        reason = "HippoRAG stops at a question without an answer: an empty one was written"
        self.tables.losses.add("derived", "questions", "answer", reason, question.question_id)

    def _mend_evidence(self, record: dict[str, Raw], question: Question) -> None:
        """The passages in the shape that the source had, where they say what the judgements say; else as paragraphs."""
        own = decoded(record, EVIDENCE_FIELDS)
        relevant = self.judged.relevant.get(question.question_id or "", {})
        if not self._agrees(own, question, relevant):
            paragraphs = self._paragraphs(question, relevant) if self.evaluated else None
            for name in own:
                if name != "paragraphs" or own[name] != paragraphs:
                    self._put_aside(record, name, question, "the judgements say other passages than")
            own = {}
            if paragraphs is not None:
                own["paragraphs"] = paragraphs
                record["paragraphs"] = Raw(dumps(paragraphs).encode())
        steps = record.get("question_decomposition")
        if steps is not None and not _steps_fit(loads(steps), own.get("paragraphs")):
            self._put_aside(record, "question_decomposition", question, "no paragraph is what is meant by")

    def _paragraphs(self, question: Question, relevant: Collection[int]) -> list[dict[str, Any]]:
        others = [p for p in self.judged.others.get(question.question_id or "", ()) if p not in relevant]
        found: list[dict[str, Any]] = []
        for place in (*relevant, *others):
            title, text = self.texts[place]
            supporting = len(found) < len(relevant)
            found.append({"title": title, "text": text, "is_supporting": supporting, "idx": len(found)})
        return found

    def _agrees(self, own: dict[str, Any], question: Question, relevant: Collection[int]) -> bool:
        """Whether the passages of a question can be read, are in the corpus, and are those of the judgements."""
        if not _is_sound(own):
            return False
        gold = {passage_code(p.passage) for p in paragraphs_of(own, self.joiner) if p.supporting}
        if not all(code in self.corpus.by_code for code in gold):
            return False
        if not self.judged.any or not question.question_id:
            return True
        return gold == {self.corpus.codes[place] for place in relevant}

    def _brings_passages(self, question: Question) -> bool:
        own = decoded(fields_of(question.metadata), EVIDENCE_FIELDS) if question.metadata else {}
        return self._agrees(own, question, [])

    def _put_aside(self, record: dict[str, Raw], name: str, question: Question, why: str) -> None:
        """A field that HippoRAG would take for something else is kept under another name."""
        self.tables.losses.add(
            "derived", "questions", "metadata", f"{why} {name}: it is now {ASIDE}{name}", question.question_id
        )
        kept = [(ASIDE + n if n == name else n, raw) for n, raw in record.items()]
        record.clear()
        record.update(kept)


def _is_sound(own: dict[str, Any]) -> bool:
    """Whether all fields with passages have the shapes that HippoRAG reads."""
    for name in ("contexts", "paragraphs"):
        if name in own and not (isinstance(own[name], list) and all(_is_paragraph(p, name) for p in own[name])):
            return False
    context, facts = own.get("context", []), own.get("supporting_facts", [])
    if not (isinstance(context, list) and isinstance(facts, list) and all(map(is_context, context))):
        return False
    if not all(isinstance(f, list) and f and isinstance(f[0], str) for f in facts):
        return False
    titles = {title for _, title, _ in contexts_of(own)}
    if "supporting_facts" in own:
        return "context" in own and supporting_titles(own) <= titles
    return "contexts" in own or "paragraphs" in own


def _is_paragraph(value: Any, name: str) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("title"), str):
        return False
    text = value.get("text", value.get("paragraph_text") if name == "paragraphs" else None)
    return isinstance(text, str) and (name == "paragraphs" or "is_supporting" in value)


def _steps_fit(steps: Any, paragraphs: Any) -> bool:
    """Whether each step of a question points to one of its supporting paragraphs."""
    if not isinstance(steps, list) or not isinstance(paragraphs, list):
        return True
    idx = [p.get("idx") for p in paragraphs if isinstance(p, dict) and p.get("is_supporting")]
    supporting = {i for i in idx if type(i) is int}
    named = [s["paragraph_support_idx"] for s in steps if isinstance(s, dict) and "paragraph_support_idx" in s]
    return all(type(i) is int and i in supporting for i in named)
