"""Questions and judgements in files apart from their corpus, in the JSON forms in which people keep them.

Judgements: one object by question, ``{"q1": {"d1": 2}, "q2": ["d3"]}``. Questions, with their judgements or without:
one object a line (or an array of them) with ``id`` (``_id``, ``question_id``, ``query_id``, ``qid``), ``question``
(``query``, ``text``), ``answer``, ``aliases``, and ``gold`` (``supporting_documents``): ids, or ids with grades.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from ragdatakit.schemas.canonical import Qrel, Question
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.texts import shortened

IDS = ("id", "_id", "question_id", "query_id", "qid")
TEXTS = ("question", "query", "text")
ANSWERS = ("answer", "reference_answer", "gold_answer")
ALIASES = ("aliases", "answer_aliases")
GOLDS = ("gold", "supporting_documents")


MOST_BYTES = 1 << 30


def is_json(path: Path) -> bool:
    """Whether the file begins as JSON does, or its content where it is packed by gzip. Raises `OSError`."""
    return _read(path, 4096).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def _read(path: Path, most: int) -> bytes:
    """The first bytes of a file, unpacked. Raises `RagdataError` where it is damaged."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if not packed:
        with path.open("rb") as file:
            return file.read(most)

    try:
        with gzip.open(path) as unpacked:
            return unpacked.read(most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RagdataError(f"{path} is damaged: {error}") from None


def read_gold_file(path: Path) -> tuple[list[Question], list[Qrel]]:
    """The questions and judgements of a JSON file; either may be empty.

    Raises `RagdataError` where it is not JSON, or has something else in it; `OSError` where it cannot be read.
    """
    data = _read(path, MOST_BYTES + 1).removeprefix(b"\xef\xbb\xbf")
    if len(data) > MOST_BYTES:
        raise RagdataError(f"{path} has more than a gigabyte, which is too much for questions and judgements")
    try:
        whole: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        whole = None
    if isinstance(whole, dict) and not any(name in whole for name in IDS):
        return [], [qrel for question, gold in whole.items() for qrel in _judgements(question, gold, str(path))]
    questions: list[Question] = []
    qrels: list[Qrel] = []
    for where, record in _records(whole, data, path):
        question, judged = _record(record, where)
        if question.text:
            questions.append(question)
        qrels += judged
    if not questions and not qrels:
        raise RagdataError(f"{path} has no questions and no judgements")
    return questions, qrels


def _records(whole: Any, data: bytes, path: Path) -> Iterator[tuple[str, Any]]:
    if isinstance(whole, dict | list):
        for number, record in enumerate(whole if isinstance(whole, list) else [whole]):
            yield f"{path}, record {number}", record
        return
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                yield f"{path}:{number}", orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise RagdataError(f"{path}:{number} is not JSON: {error}") from None


def _record(record: Any, where: str) -> tuple[Question, list[Qrel]]:
    if not isinstance(record, dict):
        raise RagdataError(f"{where}: expected an object with an id and a question, or with gold")
    value = next((record[name] for name in IDS if record.get(name) not in (None, "")), None)
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise RagdataError(f"{where}: a question without an id ({', '.join(IDS)})")
    text = next((record[name] for name in TEXTS if isinstance(record.get(name), str)), "")
    answer = next((record[name] for name in ANSWERS if isinstance(record.get(name), str)), None)
    aliases = next((record[name] for name in ALIASES if isinstance(record.get(name), list)), ())
    gold = next((record[name] for name in GOLDS if record.get(name) is not None), ())
    metadata = {k: v for k, v in record.items() if k not in (*IDS, *TEXTS, *ANSWERS, *ALIASES, *GOLDS)}
    question = Question(
        str(value),
        text,
        answer,
        tuple(a for a in aliases if isinstance(a, str)),
        metadata=orjson.dumps(metadata).decode() if metadata else None,
    )
    return question, list(_judgements(str(value), gold, where))


def _judgements(question: str, gold: Any, where: str) -> Iterator[Qrel]:
    if isinstance(gold, str):
        gold = [gold]
    if not isinstance(gold, list | tuple | Mapping):
        raise RagdataError(f"{where}: the gold of {question!r} is {_short(gold)}, expected ids, or ids with grades")
    for target, grade in gold.items() if isinstance(gold, Mapping) else ((target, 1) for target in gold):
        if isinstance(target, int) and not isinstance(target, bool):
            target = str(target)
        if isinstance(grade, float) and grade.is_integer():
            grade = int(grade)
        if not isinstance(target, str) or not isinstance(grade, int):
            found = _short(target if not isinstance(target, str) else grade)
            raise RagdataError(
                f"{where}: the gold of {question!r} has {found}, expected ids, or ids with integer grades"
            )
        yield Qrel(question, target, int(grade))


def _short(value: Any) -> str:
    text = repr(value)
    return shortened(text, 60)
