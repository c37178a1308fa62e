"""JSON Schema 2020-12 documents derived from the declarations.

A schema describes one record (one line, one array element, one row) and gives the verdict of the declared checks on its
decoded value; that of a whole file, which editors want, wraps it. What only the text shows (a key twice, NaN, a blank
line) no JSON Schema can say. JSON Schema takes 12.0 for an integer; the loaders' ids are not: a validator that is to
agree must be set to do so (see the agreement test).
"""

from __future__ import annotations

import sys
from typing import Any

from ragdatakit.schemas.cells import NUMERIC_TEXT
from ragdatakit.schemas.declarations import Field, File, Format, Record

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FINITE = {"minimum": -sys.float_info.max, "maximum": sys.float_info.max}


def file_schema(fmt: Format, file: File) -> dict[str, Any]:
    """The schema of the records of one kind of file."""
    schemas = [_row(record_schema(r)) if file.container == "csv" else record_schema(r) for r in file.records]
    document: dict[str, Any] = {"$schema": DIALECT, "$id": f"urn:ragdata:{fmt.name}:{file.kind}"}
    if len(schemas) == 1:
        return {**document, **schemas[0]}
    return {**document, **_heading(fmt, file, [e for r in file.records for e in r.examples]), "anyOf": schemas}


def whole_file_schema(fmt: Format, file: File) -> dict[str, Any]:
    """The schema of one whole file, as an editor sees it: an array, an object of records, or either of the two.

    A file of lines, and a table, is not a JSON document: its schema is that of a record.
    """
    if file.container not in ("json-array", "json-object", "json-wrapped", "json"):
        return file_schema(fmt, file)
    document: dict[str, Any] = {"$schema": DIALECT, "$id": f"urn:ragdata:{fmt.name}:{file.kind}:file"}
    examples = [e for r in file.records for e in r.examples]
    if file.container == "json-object":
        name, content = file.record.fields[:2]
        document |= _heading(fmt, file, [{e[name.name]: e[content.name]} for e in examples])
        document |= {"type": "object", "additionalProperties": _field_schema(file.record, content)}
        return document | ({"minProperties": 1} if file.record.rules.get("no-records") else {})
    refs: list[dict[str, Any]] = [{"$ref": f"#/$defs/{r.name}"} for r in file.records]
    record = refs[0] if len(refs) == 1 else {"anyOf": refs}
    array: dict[str, Any] = {"type": "array", "items": record}
    if any(r.rules.get("no-records") for r in file.records):
        array["minItems"] = 1
    if file.container == "json-wrapped":
        document |= _heading(fmt, file, [{file.wrapper[0]: [e]} for e in examples])
        document |= {"type": "object", "properties": {file.wrapper[0]: array}, "required": [file.wrapper[0]]}
        return document | {"$defs": {r.name: record_schema(r) for r in file.records}}
    document |= _heading(fmt, file, [[e] for e in examples])
    document |= array if file.container == "json-array" else {"anyOf": [array, *refs]}
    return document | {"$defs": {r.name: record_schema(r) for r in file.records}}


def _row(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a CSV row as an object: every cell is text."""
    cells = {name: {**column, "type": "string"} for name, column in schema["properties"].items()}
    heading = {name: value for name, value in schema.items() if name in ("title", "description", "examples")}
    return {**heading, "type": "object", **schema, "properties": cells}


def _heading(fmt: Format, file: File, examples: list[Any]) -> dict[str, Any]:
    heading: dict[str, Any] = {"title": f"{fmt.title}: {file.title}", "description": file.description or file.title}
    return {**heading, "examples": examples} if examples else heading


def record_schema(record: Record) -> dict[str, Any]:
    """The schema of one record."""
    schema: dict[str, Any] = {"title": record.title, "description": record.description}
    if record.examples:
        schema["examples"] = list(record.examples)
    if record.shape == "any":
        return schema
    if record.shape == "string" or record.rule_for("not-object"):
        schema["type"] = record.shape
    if record.shape == "string":
        return schema
    schema["properties"] = {f.name: _field_schema(record, f) for f in record.fields}
    required = [f.name for f in record.fields if f.required and _missed(record, f)]
    stand_ins = {f.replaces: f.name for f in record.fields if f.replaces in required}
    if required:
        schema["required"] = [name for name in required if name not in stand_ins]
    if stand_ins:
        schema["allOf"] = [{"anyOf": [{"required": [a]}, {"required": [b]}]} for a, b in stand_ins.items()]
    if record.extra == "forbid" and record.rules.get("extra"):
        schema["additionalProperties"] = False
    return schema


def _missed(record: Record, field: Field) -> bool:
    """Whether it is a fault that the field is not there; in a table, that is its column."""
    return any(record.rule_for(damage, field.name) for damage in ("missing", "missing-column"))


def _field_schema(record: Record, field: Field) -> dict[str, Any]:
    """Only what breaks a rule is restricted: a damage without a rule is no fault."""
    heading: dict[str, Any] = {}
    if field.description:
        heading["description"] = field.description
    if field.examples:
        heading["examples"] = list(field.examples)
    typed = bool(record.rule_for("type", field.name))
    null_is_fault = not field.nullable and bool(record.rule_for("null", field.name))
    body = _typed(record, field) if typed else _contents(record, field)
    if not typed:
        if null_is_fault:
            body["not"] = {"type": "null"}
    elif not null_is_fault and field.type != "any":
        body = {"anyOf": [body, {"type": "null"}]}
    return {**heading, **body}


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
    return body | _contents(record, field)


def _contents(record: Record, field: Field) -> dict[str, Any]:
    """What the items of a list or the values of an object are, whatever else the field may be."""
    below, key = (field.items, "items") if field.type == "array" else (field.values, "additionalProperties")
    return {key: items} if below is not None and (items := _items(record, field, below)) else {}


_LEAST = {"string": "minLength", "array": "minItems", "object": "minProperties"}


def _number(record: Record, field: Field) -> dict[str, Any]:
    body: dict[str, Any] = {"type": field.type}
    if field.type == "number":
        body.update(_FINITE)
    if record.rule_for("range", field.name):
        body.update(_bounds(field))
    if field.lax_number:
        return {"anyOf": [body, {"type": "boolean"}, {"type": "string", "pattern": NUMERIC_TEXT}]}
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
