"""What the columns of a table usually are called, and which of several is the id."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from ragdatakit.files.detection import triple_files

EDGE = ("source", "relation", "target")
"""What a row needs to be an edge."""
OF_QUESTION = " (of the question)"
OF_TEXT = " (of the text)"
OF_OTHERS = " (of other documents)"
USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "text": ("text", "body", "content", "contents", "passage", "passage_text", "page_content", "document", "context"),
    "question": ("question", "query", "question_text", "query_text"),
    "title": ("title", "headline"),
    "answer": ("answer", "answers", "gold_answer", "expected_answer", "reference_answer"),
    "aliases": ("aliases", "answer_aliases"),
    "split": ("split",),
    "grade": ("grade", "relevance", "rel", "score", "label"),
    "question_id": ("question_id", "query_id", "query-id", "questionid", "queryid", "qid", "q_id"),
    "doc_id": (
        "doc_id",
        "docid",
        "docno",
        "document_id",
        "corpus_id",
        "corpus-id",
        "passage_id",
        "passageid",
        "psg_id",
        "pid",
    ),
    "id": ("id", "_id"),
    "source": triple_files.SOURCES,
    "relation": triple_files.RELATIONS,
    "target": triple_files.TARGETS,
}
_PASSAGE_IDS = (
    "chunk_id",
    "chunkid",
    "segment_id",
    "node_id",
    "text_unit_id",
    "text_id",
    "paragraph_id",
    "article_id",
    "uuid",
    "guid",
    "idx",
    "index",
    "_key",
    "hash",
)
"""Further names of a text's id, where the values are unique."""
_LAST_IDS = ("key", "url", "uri", "link")
"""What a text is known by where nothing else shows its id, and the values are unique."""
_GOLD_IDS = (
    *("chunk_id", "chunkid", "segment_id", "node_id", "gold_id", "gold_doc_id", "gold_chunk_id", "gold_passage_id"),
    *("doc_ids", "document_ids", "passage_ids", "chunk_ids", "gold_ids", "gold_doc_ids", "gold_chunk_ids"),
    *("relevant_ids", "relevant_doc_ids", "relevant_docs", "positive_ids", "positive_doc_ids", "gold_passage_ids"),
)
"""Further names of the documents that answer a question."""
_OTHERS = frozenset(name for name in _GOLD_IDS if name.startswith(("gold", "relevant", "positive")) or name[-1] == "s")
"""Those that hardly name the text of their own row."""
_QUESTION_IDS = ("uuid", "guid", "key")
_QUESTION_FILE = re.compile(r"(?:^|[^a-z])(?:quer(?:y|ies)|questions?|topics?)(?:[^a-z]|$)")
_DOCUMENT_FILE = re.compile(r"(?:^|[^a-z])(?:corpus|collection|doc(?:ument)?s?|passages?|chunks?)(?:[^a-z]|$)")


class Columned(Protocol):
    """A file with columns."""

    @property
    def name(self) -> str:
        """Its path in the folder."""

    @property
    def stem(self) -> str:
        """Its name without endings, in small letters."""

    def column_names(self) -> Sequence[str]:
        """Its columns."""

    def says_the_same(self, columns: Sequence[str]) -> bool:
        """Whether these columns hold the same texts in each of the first rows."""

    def identifies(self, column: str) -> bool:
        """Whether a column has a value in each row, and none twice."""


def usual_columns(file: Columned) -> dict[str, list[str]] | None:
    """The targets that a file has by the usual names, each with the columns that may be meant."""
    names = list(file.column_names())
    lowered = {name.lower(): name for name in reversed(names)}
    lowered = {**{re.sub("[ -]", "_", name): column for name, column in lowered.items()}, **lowered}
    found = {target: _present(usual, lowered) for target, usual in USUAL_NAMES.items()}
    if not found["question"] and found["text"] and _names_questions(file):
        found["question"], found["text"] = found["text"], []
    if not found["doc_id"] and (found["question"] or found["question_id"]):
        gold = _present(_GOLD_IDS, lowered)
        if found["text"] and found["question"] and any(name.lower() in _OTHERS for name in gold):
            gold = [f"{gold[0]}{OF_TEXT}", f"{gold[0]}{OF_OTHERS}"]
        found["doc_id"] = gold
    triples = triple_files.triple_columns(names)
    found |= {target: list(dict.fromkeys(t[n] for t in triples)) for n, target in enumerate(EDGE)}
    wanted = _wanted(found)
    if wanted is not None and found["text"] and not found["question"]:
        wanted["id"] = _ids(file, wanted["id"], _present(_PASSAGE_IDS, lowered), _present(_LAST_IDS, lowered))
    elif wanted is not None and found["question"] and not found["text"]:
        wanted["question_id"] = _ids(file, wanted["question_id"], [], _present(_QUESTION_IDS, lowered))
    return wanted


def _present(names: Sequence[str], lowered: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(lowered[name] for name in names if name in lowered))


def _ids(file: Columned, usual: list[str], further: list[str], last: list[str]) -> list[str]:
    """The column that is the id, or all that may be: one that identifies the rows goes before one that does not, as
    ``chunk_id`` before the ``doc_id`` of the text that was cut."""
    if len(usual) == 1 and not further:
        return usual
    named = [*usual, *further]
    unique = [column for column in named if file.identifies(column)]
    if named:
        return unique or named
    unique = [column for column in last if file.identifies(column)]
    return unique if len(unique) == 1 else []


def are_one(file: Columned, columns: Sequence[str]) -> bool:
    """Whether columns of ids are the same one twice, as the name of a JSON object's member and its field ``_id``."""
    return set(columns) <= set(file.column_names()) and file.says_the_same(columns)


def _names_questions(file: Columned) -> bool:
    """Whether a file, or a folder in which it is, is called after questions."""
    return not _DOCUMENT_FILE.search(file.stem) and bool(_QUESTION_FILE.search(file.name.lower()))


def _wanted(found: Mapping[str, list[str]]) -> dict[str, list[str]] | None:
    """The targets that a file of these columns has, each with the columns that may be meant."""
    text, question = bool(found["text"]), bool(found["question"])
    judged = bool(found["question_id"] and found["doc_id"])
    names = ["split"]
    wanted: dict[str, list[str]] = {}
    if text and question:
        names += ["text", "question", "title", "answer", "aliases", "question_id", "grade"]
        wanted["id"] = found["doc_id"]
        if found["id"] and not judged:
            # Of the document or the question? Of the one whose id has no name of its own.
            known = [t for t in ("question_id", "doc_id") if found[t]]
            wanted["id"] = found["id"] if known == ["question_id"] else found["doc_id"]
            if known == ["doc_id"]:
                return {**{n: found[n] for n in names}, **wanted, "question_id": found["id"]}
            if not known:
                wanted["id"] = [f"{found['id'][0]}{OF_TEXT}", f"{found['id'][0]}{OF_QUESTION}"]
    elif text:
        names += ["text", "title"]
        wanted["id"] = found["id"] + found["doc_id"]
    elif question:
        names += ["question", "answer", "aliases", *(["doc_id", "grade"] if found["doc_id"] else [])]
        wanted["question_id"] = found["question_id"] + found["id"]
    elif judged:
        names += ["question_id", "doc_id", "grade"]
    elif found["source"]:
        names += EDGE
    else:
        return None
    return {**{name: found[name] for name in names}, **wanted}
