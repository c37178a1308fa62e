"""The text of one extraction: records that LightRAG drops, repairs or reads as something else."""

from __future__ import annotations

from collections.abc import Iterator

from ragdatakit.files.lightrag.extraction import COMPLETE, DELIMITER, OLD, Record, records
from ragdatakit.schemas.findings import Problem

_SHOWN = 80


def extraction_problems(data: bytes) -> Iterator[Problem]:
    """The faults of one text."""
    text = data.decode("utf-8", "replace")
    if DELIMITER not in text and OLD in text and "<|>" in text:
        yield Problem("old-delimiters", line=1, position=0, length=1)
        return
    found = 0
    for record in records(text):
        found += bool(record.fields)
        yield from _record(record)
    if not found:
        yield Problem("no-records")
    if COMPLETE.lower() not in text.lower():
        yield Problem("incomplete-extraction")


def _record(record: Record) -> Iterator[Problem]:
    def problem(rule: str, value: object = None, **facts: str) -> Problem:
        length = len(record.text)
        return Problem(rule, None, value, facts, position=record.column, length=length, line=record.line)

    if record.inside:
        yield problem("several-records-in-line", record.text[:_SHOWN])
    if record.damaged:
        yield problem("damaged-delimiter", record.damaged)
    if record.renamed:
        yield problem("relation-called-entity", record.text[:_SHOWN])
    if record.reason == "fields":
        yield problem("wrong-number-of-fields", record.found)
    elif record.reason:
        yield problem("dropped-record", record.text[:_SHOWN], reason=record.reason)
