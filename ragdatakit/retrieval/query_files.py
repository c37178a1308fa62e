"""Questions from a file of the user's: one a line, or JSON lines with ``id``, ``text`` and LightRAG's keywords."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.retrieved import Keywords, Query

IDS = ("id", "_id", "qid", "query_id", "question_id")
TEXTS = ("text", "query", "question")
KEYWORDS = ("ll_keywords", "hl_keywords")
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
        query = _parsed(line, f"{path}:{number}") if is_json else Query(line.strip())
        name = query.question_id or str(number)
        if name in seen:
            raise RagdataError(f"{path}:{number}: duplicate id {name!r}, already in line {seen[name]}")
        seen[name] = number
        found.append(replace(query, question_id=name))
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


def _parsed(line: str, place: str) -> Query:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise RagdataError(f"{place} is not JSON: {error}") from None
    if isinstance(record, str):
        return Query(record)
    if not isinstance(record, dict):
        raise RagdataError(f'{place}: expected an object such as {{"id": "q1", "text": "…"}}')
    text = _first(record, TEXTS)
    if not isinstance(text, str):
        raise RagdataError(f"{place} has no text of a question ({', '.join(TEXTS)})")
    question_id = _first(record, IDS)
    if question_id is not None and (not isinstance(question_id, str | int) or isinstance(question_id, bool)):
        raise RagdataError(f"{place}: its id is neither a text nor an integer")
    return Query(text, None if question_id is None else str(question_id), keywords=_keywords(record, place))


def _keywords(record: dict[str, Any], place: str) -> Keywords | None:
    """LightRAG's keywords, under the names that its own parameters have."""
    found = []
    for name in KEYWORDS:
        words = record.get(name)
        if words is not None and not (isinstance(words, list) and all(isinstance(word, str) for word in words)):
            raise RagdataError(f"{place}: {name} is not a list of texts")
        found.append(tuple(words or ()))
    return Keywords(*found) if any(record.get(name) is not None for name in KEYWORDS) else None


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)
