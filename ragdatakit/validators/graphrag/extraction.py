"""The text of an extraction: what GraphRAG's parsers would make of each record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragdatakit.files.graphrag.extraction import CLAIM_FIELDS, COMPLETE, FIELDS, Record, claims, records
from ragdatakit.schemas.findings import Problem

_NEEDED = {"entity": 4, "relationship": 5}
_INSIDE = re.compile(r'\(\s*"(?:entity|relationship)"\s*<\|>')
_STATUSES = ("TRUE", "FALSE", "SUSPECTED")


def extraction_problems(data: bytes) -> Iterator[Problem]:
    """The faults of an answer with entities and relationships."""
    text = data.decode("utf-8", "replace")
    found = False
    for record in records(text) if FIELDS in text else ():
        found = True
        yield from _record_problems(record)
    yield from _end_problems(text, found)


def _end_problems(text: str, found: bool) -> Iterator[Problem]:
    if not found:
        yield Problem("no-record", line=1)
    elif not text.rstrip().endswith(COMPLETE):
        yield Problem("no-end-mark", line=text.rstrip().count("\n") + 1)


def _record_problems(record: Record) -> Iterator[Problem]:
    inside = _INSIDE.search(record.text, 1)
    if inside is not None:
        yield _at(record, "glued-records", inside.start())
    if not record.kind:
        yield _at(record, "dropped-record", reason=_reason(record))
        return
    if COMPLETE in record.text:
        yield _at(record, "glued-end-mark", record.text.index(COMPLETE))
    expected = _NEEDED[record.kind]
    if len(record.cells) > expected and inside is None:
        yield _at(record, "surplus-fields", found=len(record.cells), expected=expected)
    names = record.fields[: 1 if record.kind == "entity" else 2]
    for place, name in enumerate(names, 1):
        if not name:
            yield _at(record, "nameless-record")
        elif len(name) > 1 and name[0] in "\"'" and name[-1] == name[0]:
            yield _at(record, "quoted-name", record.text.find(record.cells[place]), value=name)
    if record.kind == "relationship" and COMPLETE not in record.text and inside is None:
        try:
            float(record.cells[-1])
        except ValueError:
            place = record.text.rfind(FIELDS) + len(FIELDS)
            yield _at(record, "odd-strength", place, value=record.cells[-1])


def _reason(record: Record) -> str:
    tag = record.tag
    kind = tag.strip().strip("\"'“”").lower()
    if kind not in _NEEDED:
        return f'{tag[:60]!r} is neither "entity" nor "relationship"'
    if tag != f'"{kind}"':
        return f'the tag {tag[:60]} is not "{kind}" in double quotes'
    return f"{_NEEDED[kind]} fields are needed, and there are {len(record.cells)}"


def claim_problems(data: bytes) -> Iterator[Problem]:
    """The faults of an answer with claims."""
    text = data.decode("utf-8", "replace")
    for record in claims(text):
        if not record.fields or not record.fields[0]:
            yield _at(record, "empty-claim", missing="a subject")
            continue
        if len(record.cells) < len(CLAIM_FIELDS):
            yield _at(record, "short-claim", found=len(record.cells))
        status = record.fields[3] if len(record.fields) > 3 else None
        if status is not None and status not in _STATUSES:
            yield _at(record, "odd-claim-status", value=status)
    if not text.rstrip().endswith(COMPLETE):
        yield Problem("no-end-mark", line=text.rstrip().count("\n") + 1)


def _at(record: Record, rule: str, offset: int = 0, value: object = None, **facts: object) -> Problem:
    """A fault at a place in a record, in characters from its beginning."""
    before = record.text[:offset]
    line = record.line + before.count("\n")
    column = offset - before.rfind("\n") - 1 if "\n" in before else record.column + offset
    return Problem(rule, None, value, facts, column, line=line)
