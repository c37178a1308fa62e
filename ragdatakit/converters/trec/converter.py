"""The converter of TREC collections: documents, topics, ``qrels.<split>.txt`` and a run for each stage.

The tag of a run is the stage of its results. Metadata of documents and topics are their further elements, where all are
texts with plain names, else one element with the JSON object.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache, partial
from pathlib import PurePosixPath
from typing import Any

from ragdatakit.converters import Converter, Option, Options, TableFiles
from ragdatakit.converters.judgements import (
    Judgements,
    SafeIds,
    Splits,
    judged_splits,
    numbered_questions,
    passage_ids,
    question_ids,
)
from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, object_text, string_of
from ragdatakit.files.containers.tagged_text import LABEL, UNCLOSED, escape
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.folders import size_of
from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.file_writers import LineWriter
from ragdatakit.outputs.written_files import Output
from ragdatakit.scanner.library import library
from ragdatakit.scanner.notes import BLANK
from ragdatakit.scanner.predicates import Changed, Unequal
from ragdatakit.schemas.canonical import Document, Qrel, Question, Run
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.trec.format import TREC

_SPLIT = re.compile(r"qrels[._-](.+?)(?:\.(?:txt|tsv|qrels|qrel))?(?:\.gz)?", re.I)
_ELEMENT = re.compile(r"[a-z][a-z0-9_-]*")
_NO_SPLITS = ("txt", "tsv", "qrels", "qrel", "trec", "gz")
_METADATA = "metadata"
_NO_END = "the element is not closed"
ODD_ITERATION = Unequal("iteration", "0")
_WORTH_SCANNING = 1 << 18
"""Bytes of judgements from which on reading all of them takes longer than to have the scanner look through them."""
_MOST_HELD = 1 << 23
"""Bytes of topics that are held, as they are gone through twice: of more they are read again."""
_TOPIC_NUMBER = "topic_number"
"""The member of the metadata that has the number of a topic which is called by its position."""
_LABELLED = {"desc": "Description", "narr": "Narrative"}
_ESCAPED = (
    "markup, and blanks at the edges, are written as entities (&lt; &amp; &#32;): ragdata and readers of HTML read the "
    "same text, tools that do not know entities see these"
)
_RESERVED = {
    "doc": {"doc", "docno", "title", "text", "dochdr", _METADATA},
    "top": {"top", "topic", "num", "number", "title", "query", "description", "narrative", _METADATA},
}


def _read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    by_position = options["topics"] == "position"
    splits = cache(lambda: judged_splits((q.question_id, q.split) for q in _judged(dataset, records)))
    topics: Callable[[], Iterable[Question]] = partial(_topics, dataset, records)
    if sum(size_of(file.path) for kind in ("topics", "topic-lines") for file in dataset.of_kind(kind)) < _MOST_HELD:
        topics = cache(lambda: [*_topics(dataset, records)])
    check = cache(lambda: _refuse_positions(dataset, topics(), splits()) if options["topics"] == "auto" else None)
    found: dict[str, RowSource] = {}
    if dataset.of_kind("documents"):
        found["documents"] = lambda: _documents(dataset, records)
    if dataset.of_kind("topics") or dataset.of_kind("topic-lines"):
        found["questions"] = lambda: _questions(dataset, records, topics, splits, check, by_position)
    if dataset.of_kind("qrels"):
        found["qrels"] = lambda: _qrels(dataset, records)
    if dataset.of_kind("run"):
        found["runs"] = lambda: _runs(dataset, records)
    return found


def _documents(dataset: Dataset, records: RecordReader) -> Iterator[Document]:
    for file in dataset.of_kind("documents"):
        rows = enumerate(records.elements(file, TREC.file("documents")))
        yield from filter(None, (document_of(records, file, number, fields) for number, fields in rows))


def document_of(records: RecordReader, file: DataFile, number: int, fields: dict[str, str]) -> Document | None:
    """The document that an element is; None, with an account, where it has no id or no end."""
    found = fields.pop("docno", "")
    text, title = fields.pop("text", ""), fields.pop("title", None)
    why = _NO_END if UNCLOSED in fields else "" if found else "it has no docno"
    if why:
        records.leave_out(file, number, why, text)
        return None
    return Document(found, text, title, metadata_of(fields))


def _topics(dataset: Dataset, records: RecordReader) -> Iterator[Question]:
    for file in dataset.of_kind("topics"):
        for number, fields in enumerate(records.elements(file, TREC.file("topics"))):
            found, title = fields.pop("num", ""), fields.pop("title", "")
            why = _NO_END if UNCLOSED in fields else "" if found else "it has no number"
            if why:
                records.leave_out(file, number, why, title)
            else:
                yield Question(found, title or fields.get("desc", ""), metadata=metadata_of(fields))
    for file in dataset.of_kind("topic-lines"):
        for record in records.cells(file, TREC.file("topic-lines")):
            yield Question(record["qid"], record["text"])


def _questions(
    dataset: Dataset,
    records: RecordReader,
    topics: Callable[[], Iterable[Question]],
    splits: Callable[[], Splits],
    check: Callable[[], None],
    by_position: bool,
) -> Iterator[Question]:
    check()
    for place, question in enumerate(topics()):
        if by_position:
            question = _by_position(question, dataset, records, place)
        yield question._replace(split=splits().get(question.question_id or ""))


def _by_position(question: Question, dataset: Dataset, records: RecordReader, place: int) -> Question:
    """The topic called by its position; its number goes to the metadata, where it is another one."""
    number, position = question.question_id, str(place + 1)
    if number == position:
        return question
    members = fields_of(question.metadata or "{}")
    name = _TOPIC_NUMBER
    while name in members:
        name += "_"
    file = (*dataset.of_kind("topics"), *dataset.of_kind("topic-lines"))[0]
    why = f"topics are called by their positions; the metadata have their numbers, as {_TOPIC_NUMBER}"
    records.tell_once("derived", "questions", "question_id", why, file, place, f"{number} became {position}")
    return question._replace(question_id=position, metadata=object_text({**members, name: Raw(dumps(number).encode())}))


def _refuse_positions(dataset: Dataset, topics: Iterable[Question], judged: Splits) -> None:
    """Raise `RagdataError` where the judgements go by the position of the topics, not by their numbers."""
    numbers = [q.question_id or "" for q in topics]
    if _count_positions(judged, numbers):
        missing = len(set(judged).difference(numbers))
        raise RagdataError(
            f"{dataset.display}: the judgements are for topics 1 to {len(numbers)}, but the {len(numbers)} topics have "
            f"other numbers (there is no topic for {missing} of those judged): the judgements seem to count the "
            "topics. Choose --option topics=position, or --option topics=number to take the numbers as they stand"
        )


def _count_positions(judged: Collection[str], numbers: Collection[str]) -> bool:
    """Whether the judged topics are exactly the positions of the topics, and not their numbers."""
    positions = {str(i) for i in range(1, len(numbers) + 1)}
    return bool(numbers) and set(judged) == positions != set(numbers)


def _qrels(dataset: Dataset, records: RecordReader) -> Iterator[Qrel]:
    for file in dataset.of_kind("qrels"):
        found = enumerate(records.cells(file, TREC.file("qrels")))
        yield from filter(None, (qrel_of(records, file, number, record) for number, record in found))


def _judged(dataset: Dataset, records: RecordReader) -> Iterator[Qrel]:
    """The judgements except those that are of the question of the one before, of a large file, as far as there is
    nothing to be said of them."""
    kind = TREC.file("qrels")
    for file in dataset.of_kind("qrels"):
        for found in records.cells_taken(file, kind, _question_scan(file)):
            if isinstance(found, tuple):
                block, scanned = found
                noted = (block.record(*place) for why, *place in scanned.notes if why != BLANK)
                found = filter(None, noted)
            yield from filter(None, (qrel_of(records, file, number, record) for number, record in found))


def _question_scan(file: DataFile) -> Callable[[bytes], Any] | None:
    """What notes the lines of judgements that have another question than the line before; None where that pays not."""
    if size_of(file.path) < _WORTH_SCANNING or library() is None:
        return None
    from ragdatakit.scanner.blocks import BlockScanner  # needs numpy

    kind = TREC.file("qrels")
    return BlockScanner(kind.record, {"qid": "qid"}, (Changed("qid"), ODD_ITERATION), cells=kind.columns).scan


def qrel_of(records: RecordReader, file: DataFile, number: int, record: Mapping[str, Any]) -> Qrel | None:
    """The judgement that a record is; None where it is left out."""
    grade = record["relevance"]
    if isinstance(grade, str):
        records.leave_out(file, number, "its relevance is not an integer", grade)
        return None
    if record["iteration"] not in ("0", "Q0"):
        why = "evaluators pass over the second column"
        records.tell_once("lost", "qrels", "iteration", why, file, number, record["iteration"])
    return Qrel(record["qid"], record["docno"], grade, "document", split_of(file))


def split_of(file: DataFile) -> str | None:
    """The split that the name of a file of judgements gives, as in ``qrels.train.txt``."""
    match = _SPLIT.fullmatch(PurePosixPath(file.name).name)
    return match.group(1) if match and match.group(1) not in _NO_SPLITS else None


def _runs(dataset: Dataset, records: RecordReader) -> Iterator[Run]:
    for file in dataset.of_kind("run"):
        shifted: set[tuple[str, str]] = set()
        counts: dict[tuple[str, str], int] = {}
        for number, record in enumerate(records.cells(file, TREC.file("run"))):
            key = (record["tag"], record["qid"])
            counts[key] = counts.get(key, 0) + 1
            rank = record["rank"]
            if counts[key] == 1 and rank == 0:
                shifted.add(key)
            if key in shifted and not isinstance(rank, str):
                rank += 1
                records.tell_once("coerced", "runs", "rank", "ranks that count from 0 count from 1", file, number, rank)
            elif isinstance(rank, str) or rank < 1:
                records.tell_once("coerced", "runs", "rank", "no rank from 1 on: its place", file, number, rank)
                rank = counts[key]
            if (run := run_of(records, file, number, record, rank)) is not None:
                yield run


def run_of(records: RecordReader, file: DataFile, number: int, record: Mapping[str, Any], rank: int) -> Run | None:
    """The result that a record is; None where it is left out."""
    score = record["score"]
    if isinstance(score, str):
        records.leave_out(file, number, "its score is not a number", score)
        return None
    return Run(record["qid"], record["tag"], rank, record["docno"], score=score)


def _in_parts(dataset: Dataset, _: Mapping[str, Any]) -> Mapping[str, TableFiles]:
    """The files of the tables: topics are checked as a whole, and the ranks of a run go by the lines above."""
    kinds = ("documents", "topics", "topic-lines", "qrels", "run")
    documents, topics, lines, qrels, runs = (tuple(dataset.of_kind(kind)) for kind in kinds)
    found = {
        "documents": TableFiles((documents,)),
        "questions": TableFiles(((*topics, *lines),), qrels, together=True),
        "qrels": TableFiles((qrels,)),
        "runs": TableFiles((runs,), cut=lambda *_: [None]),
    }
    return {table: files for table, files in found.items() if files.groups[0]}


def metadata_of(fields: dict[str, str]) -> str | None:
    """The further elements as an object; one called ``metadata`` that is such an object is taken as it is."""
    if list(fields) == [_METADATA]:
        try:
            return object_text(fields_of(fields[_METADATA])) or "{}"
        except ValueError:
            pass
    return dumps(fields) if fields else None


def _write(tables: CanonicalTables, out: Output, options: Options) -> None:
    if not any(map(tables.any, (tables.passages, "questions", "qrels", "runs"))):
        raise RagdataError("there are no documents, questions, judgements or runs, which is what TREC knows")
    passages, questions = passage_ids(tables, _is_safe), question_ids(tables, _is_safe)
    passages.tell(out, "passage")
    questions.tell(out, "question")
    if tables.any(tables.passages):
        _write_documents(tables, out, passages)
    splits = _write_topics(tables, out, questions, options["topic-file"]) if tables.any("questions") else {}
    judged = {questions[q.question_id] for q in tables.peek_passage_qrels()} if splits else ()
    # judgements of topics that are not there are kept, unless they would be taken for those of others, by position
    misleading = _count_positions(judged, [questions[found] for found in splits])
    judgements = Judgements(tables, passages, questions, None, splits if misleading else None, splits)
    _write_qrels(out, judgements)
    _write_runs(tables, out, passages, questions, {*splits, *judgements.judged})


def _is_safe(found: str) -> bool:
    """Whether an id is one word of a line that is no comment, and the same between tags."""
    one_word = found.split() == [found] and not found.startswith(("#", "\ufeff")) and "\0" not in found
    return one_word and escape(found) == found


def _write_documents(tables: CanonicalTables, out: Output, ids: SafeIds) -> None:
    written: set[str] = set()
    with out.lines("documents.trec") as lines:
        for document in tables.take_passages("doc_id", "title", "text", "metadata"):
            if document.doc_id in written:
                tables.drop(tables.passages, document, "duplicate id")
                continue
            written.add(document.doc_id)
            shown = _Shown(tables, tables.passages, document.doc_id)
            parts = ["<DOC>", f"<DOCNO>{ids[document.doc_id]}</DOCNO>"]
            # each tag on a line of its own: line by line is how ir_datasets and others read
            if document.title is not None:
                parts.append(f"<TITLE>\n{shown('title', document.title)}\n</TITLE>")
            parts.append(f"<TEXT>\n{shown('text', document.text)}\n</TEXT>")
            for name, value in _metadata_elements(document.metadata, "doc").items():
                parts.append(f"<{name}>{shown('metadata', value)}</{name}>")
            lines.write_line("\n".join((*parts, "</DOC>")))


@dataclass(slots=True)
class _Shown:
    """The texts of a record as they are written; what escaping changed is in the report."""

    tables: CanonicalTables
    table: str
    record: str

    def __call__(self, column: str, text: str) -> str:
        escaped = escape(text)
        if escaped != text:
            self.tables.losses.add("derived", self.table, column, _ESCAPED, self.record)
        return escaped


def _metadata_elements(metadata: str | None, tag: str, usable: bool = True) -> dict[str, str]:
    """Metadata as elements: one for each member, where all are texts with plain names and may be used; else one with
    the JSON object."""
    if metadata is None:
        return {}
    values = {name: string_of(raw) for name, raw in fields_of(metadata).items()}
    usable = usable and bool(values) and dumps(values) == metadata
    usable = usable and all(name not in _RESERVED[tag] and _ELEMENT.fullmatch(name) for name in values)
    plain = {name: value for name, value in values.items() if value is not None}
    return plain if usable and len(plain) == len(values) else {_METADATA: metadata}


def _write_topics(tables: CanonicalTables, out: Output, ids: SafeIds, form: str) -> dict[str, str | None]:
    """The ids that were written, with the splits of their questions."""
    write = {"txt": _classic_topic, "xml": _xml_topic, "tsv": _topic_line}[form]
    columns = ("question_id", "text", "split", *(("metadata",) if form != "tsv" else ()))
    written: dict[str, str | None] = {}
    with out.lines(f"topics.{form}") as lines:
        if form == "xml":
            lines.put(b"<topics>\n")
        for found, question in numbered_questions(tables, ids, *columns):
            written[found] = question.split
            lines.write_line(write(tables, ids[found], question))
        if form == "xml":
            lines.put(b"</topics>\n")
    return written


def _classic_topic(tables: CanonicalTables, found: str, question: Question) -> str:
    """A topic as TREC wrote them: tags that are not closed, with labels, and all four of them."""
    shown = _Shown(tables, "questions", found)
    title = shown("text", question.text)
    parts = [f"<num> Number: {found}", f"<title> {'Topic: ' if LABEL.match(title) else ''}{title}\n"]
    elements = _metadata_elements(question.metadata, "top", bool(question.text.strip()))
    if "" in (elements.get(name) for name in _LABELLED):  # an empty one means that there is none
        elements = {_METADATA: question.metadata or ""}
    for name, value in {**elements, **{name: "" for name in _LABELLED if name not in elements}}.items():
        escaped = shown("metadata", value)
        if name in _LABELLED:
            parts.append(f"<{name}> {_LABELLED[name]}:\n{escaped}\n")
        else:  # the next lines would be taken for the element before
            one_line = escaped.replace("\n", "&#10;")
            parts.append(f"<{name}>{one_line}</{name}>\n")
    return "\n".join(("<top>\n", *parts, "</top>\n"))


def _xml_topic(tables: CanonicalTables, found: str, question: Question) -> str:
    elements = _metadata_elements(question.metadata, "top", bool(question.text.strip()))
    fields = {"num": found, "title": question.text, **elements}
    return "\n".join(
        ("<top>", *(f"<{name}>{escape(text, xml=True)}</{name}>" for name, text in fields.items()), "</top>")
    )


def _topic_line(tables: CanonicalTables, found: str, question: Question) -> str:
    text = " ".join(re.split(r"[\t\r\n]+", question.text))
    if text != question.text:
        tables.losses.add("coerced", "questions", "text", "tabs and line ends became blanks", question.text)
    return f"{found}\t{text}"


def _write_qrels(out: Output, judgements: Judgements) -> None:
    def part_of(split: str) -> str:
        part = f"{split}-split" if split in _NO_SPLITS else split
        return out.free_part("qrels.{}.txt", part) if split else ""

    judgements.write(out, part_of, lambda part: f"qrels.{part}.txt" if part else "qrels.txt", "%s 0 %s %d")


def _write_runs(tables: CanonicalTables, out: Output, passages: SafeIds, questions: SafeIds, known: set[str]) -> None:
    files: dict[str, tuple[LineWriter, str]] = {}
    seen = _Seen(tables)
    with ExitStack() as opened:
        for run in tables.take("runs", "question_id", "stage", "rank", "target_id", "score"):
            why = "" if run.question_id in known or not known else "it is for a question that is not there"
            if run.target_id is None:
                why = "it names no passage"
            elif not why and not seen.add(run):
                why = "the passage is a result of this question before"
            if why:
                tables.drop("runs", run, why)
                continue
            if run.stage not in files:
                tag = out.free_part("run.{}.txt", run.stage)
                if tag != run.stage:
                    tables.losses.add("coerced", "runs", "stage", "it names a file", f"{run.stage} became {tag}")
                files[run.stage] = (opened.enter_context(out.lines(f"run.{tag}.txt")), tag)
            lines, tag = files[run.stage]
            score = _score(run, tables)
            names = (questions[run.question_id], passages[run.target_id])
            lines.write_line(f"{names[0]} Q0 {names[1]} {run.rank} {score!r} {tag}")


def _score(run: Run, tables: CanonicalTables) -> float:
    """The score, which gives the order; where there is none, one that falls with the rank."""
    if run.score is not None and math.isfinite(run.score):
        return float(run.score)
    if run.score is None:
        tables.losses.add("derived", "runs", "score", "one over the rank", f"{run.question_id} {run.rank}")
    else:
        tables.losses.add("coerced", "runs", "score", "a score must be finite: one over the rank", run.score)
    return 1 / max(run.rank, 1)


class _Seen:
    """Which passages a stage has for a question already; only the last question's are held, where they come in turn."""

    def __init__(self, tables: CanonicalTables) -> None:
        self._held: dict[tuple[str, str], set[str]] = {}
        last: dict[str, str] = {}
        done: set[tuple[str, str]] = set()
        self._in_turn = True
        for run in tables.peek("runs"):
            before = last.get(run.stage)
            if before != run.question_id:
                if before is not None:
                    done.add((run.stage, before))
                last[run.stage] = run.question_id
                if (run.stage, run.question_id) in done:
                    self._in_turn = False
                    break
        self._last: dict[str, str] = {}

    def add(self, run: Run) -> bool:
        """Take in a result; whether it is new."""
        if self._in_turn and self._last.get(run.stage) != run.question_id:
            self._held.pop((run.stage, self._last.get(run.stage, "")), None)
            self._last[run.stage] = run.question_id
        seen = self._held.setdefault((run.stage, run.question_id), set())
        if run.target_id is None or run.target_id in seen:
            return False
        seen.add(run.target_id)
        return True


_PASSAGES = ("doc_id", "title", "text", "metadata")
_QUESTIONS = ("question_id", "text", "split", "metadata")
_QRELS = ("question_id", "target_id", "grade", "target_kind", "split")
_RUNS = ("question_id", "stage", "rank", "target_id", "score")

CONVERTER = Converter(
    name="trec",
    split_of=split_of,
    read=_read,
    write=_write,
    in_parts=_in_parts,
    gives={"documents": _PASSAGES, "questions": _QUESTIONS, "qrels": _QRELS, "runs": _RUNS},
    holds={
        "documents": _PASSAGES,
        "chunks": ("chunk_id", "text", "metadata"),
        "questions": _QUESTIONS,
        "qrels": _QRELS,
        "runs": _RUNS,
    },
    options=(
        Option(
            "topics",
            "read",
            "what judgements and runs call a topic: its number, or its position, from 1; auto: its number, but where "
            "the judgements seem to go by positions, nothing is read",
            "auto",
            ("auto", "number", "position"),
        ),
        Option(
            "topic-file",
            "write",
            "how topics are written: topics.txt in TREC's classic form, topics.xml, or topics.tsv",
            "txt",
            ("txt", "xml", "tsv"),
        ),
    ),
)
