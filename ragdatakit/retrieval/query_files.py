"""Questions from a file of the user's: one a line, or JSON lines with ``id`` and ``text``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.retrieved import Query

IDS = ("id", "_id", "qid", "query_id", "question_id")
TEXTS = ("text", "query", "question")
_JSON = (".jsonl", ".ndjson")
_LONGEST = 1 << 24


def read_queries(path: Path) -> list[Query]:
    """The questions of a file, in order; those without an id are called by their line.

    A file ``*.jsonl`` or ``*.ndjson`` has an object a line, any other file the question itself. Empty lines are passed
    over. Raises `RagdataError` for what is no such file, and for an id that appears twice.
    """
    found: list[Query] = []
    seen: dict[str, int] = {}
    is_json = path.suffix.lower() in _JSON
    for number, line in _lines(path):
        question_id, text = _parsed(line, f"{path}:{number}") if is_json else ("", line.strip())
        name = question_id or str(number)
        if name in seen:
            raise RagdataError(f"{path}:{number}: duplicate id {name!r}, already in line {seen[name]}")
        seen[name] = number
        found.append(Query(text, name))
    if not found:
        raise RagdataError(f"{path} has no questions")
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST):
            number += 1
            if len(line) >= _LONGEST:
                raise RagdataError(f"{path}:{number} is longer than {_LONGEST:,} bytes: no question is")
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise RagdataError(f"{path}:{number} is not UTF-8") from None
            if text.strip():
                yield number, text


def _parsed(line: str, place: str) -> tuple[str, str]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise RagdataError(f"{place} is not JSON: {error}") from None
    if isinstance(record, str):
        return "", record
    if not isinstance(record, dict):
        raise RagdataError(f'{place}: expected an object such as {{"id": "q1", "text": "…"}}')
    text = _first(record, TEXTS)
    if not isinstance(text, str):
        raise RagdataError(f"{place} has no text of a question ({', '.join(TEXTS)})")
    question_id = _first(record, IDS)
    if question_id is not None and (not isinstance(question_id, str | int) or isinstance(question_id, bool)):
        raise RagdataError(f"{place}: its id is neither a text nor an integer")
    return "" if question_id is None else str(question_id), text


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)
