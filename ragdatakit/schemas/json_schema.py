"""JSON Schema 2020-12 documents derived from the declarations.

A schema describes one record (one line, one array element) and gives the verdict of the declared checks on its decoded
value. What only the text shows (a key twice, NaN, a blank line) no JSON Schema can tell. JSON Schema takes 12.0 for an
integer; the loaders' ids are not: a validator that is to agree must be told so (see the agreement test).
"""

from __future__ import annotations

import sys
from typing import Any

from ragdatakit.schemas.declarations import Field, File, Format, Record

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DIGITS = r"[+-]?([0-9]+(_?[0-9]+)*\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_NOT_FINITE = r"[+-]?([iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])"
_NUMERIC_TEXT = rf"^\s*({_DIGITS}|{_NOT_FINITE})\s*$"
_FINITE = {"minimum": -sys.float_info.max, "maximum": sys.float_info.max}


def file_schema(fmt: Format, file: File) -> dict[str, Any]:
    """The schema of the records of one kind of file."""
    schemas = [record_schema(r) for r in file.records]
    document: dict[str, Any] = {"$schema": DIALECT, "$id": f"urn:ragdata:{fmt.name}:{file.kind}"}
    if len(schemas) == 1:
        return {**document, **schemas[0]}
    return {**document, "title": f"{fmt.title} {file.title}", "description": file.description, "anyOf": schemas}


def record_schema(record: Record) -> dict[str, Any]:
    """The schema of one record."""
    schema: dict[str, Any] = {"title": record.title, "description": record.description}
    if record.examples:
        schema["examples"] = list(record.examples)
    if record.shape == "any":
        return schema
    schema["type"] = record.shape
    if record.shape == "string":
        return schema
    schema["properties"] = {f.name: _field_schema(record, f) for f in record.fields}
    required = [f.name for f in record.fields if f.required and record.rule_for("missing", f.name)]
    if required:
        schema["required"] = required
    if record.extra == "forbid" and record.rules.get("extra"):
        schema["additionalProperties"] = False
    return schema


def _field_schema(record: Record, field: Field) -> dict[str, Any]:
    """Only what breaks a rule is restricted: a damage without a rule is no fault."""
    told: dict[str, Any] = {}
    if field.description:
        told["description"] = field.description
    if field.examples:
        told["examples"] = list(field.examples)
    typed = bool(record.rule_for("type", field.name))
    null_is_fault = not field.nullable and bool(record.rule_for("null", field.name))
    body = _typed(record, field) if typed else {}
    if not typed:
        if null_is_fault:
            body = {"not": {"type": "null"}}
    elif not null_is_fault and field.type != "any":
        body = {"anyOf": [body, {"type": "null"}]}
    return {**told, **body}


def _typed(record: Record, field: Field) -> dict[str, Any]:
    if field.type == "any":
        return {"not": {"type": "null"}} if not field.nullable and record.rule_for("null", field.name) else {}
    if field.type in ("integer", "number"):
        return _number(record, field)
    body: dict[str, Any] = {"type": field.type}
    filled = field.non_empty and bool(record.rule_for("empty", field.name))
    if filled and field.type in _LEAST:
        body[_LEAST[field.type]] = 1
    if field.enum and record.rule_for("enum", field.name):
        body["enum"] = list(field.enum)
    below, key = (field.items, "items") if field.type == "array" else (field.values, "additionalProperties")
    if below is not None and (items := _items(record, field, below)):
        body[key] = items
    return body


_LEAST = {"string": "minLength", "array": "minItems", "object": "minProperties"}


def _number(record: Record, field: Field) -> dict[str, Any]:
    body: dict[str, Any] = {"type": field.type}
    if field.type == "number":
        body.update(_FINITE)
    if record.rule_for("range", field.name):
        body.update(_bounds(field))
    if field.lax_number:
        return {"anyOf": [body, {"type": "boolean"}, {"type": "string", "pattern": _NUMERIC_TEXT}]}
    return body


def _items(record: Record, field: Field, kind: str) -> dict[str, Any]:
    if not record.rule_for("item-type", field.name):
        return {}
    body: dict[str, Any] = {"type": kind}
    if kind in ("integer", "number") and record.rule_for("item-range", field.name):
        body.update(_bounds(field))
    if kind == "number":
        body = {**_FINITE, **body}
    return body


def _bounds(field: Field) -> dict[str, Any]:
    bounds: dict[str, Any] = {}
    if field.minimum is not None:
        bounds["minimum"] = field.minimum
    if field.maximum is not None:
        bounds["maximum"] = field.maximum
    return bounds
