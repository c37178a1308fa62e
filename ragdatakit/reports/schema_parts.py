"""The parts that JSON Schemas of outputs are made of."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.json_schema import DIALECT

Schema = dict[str, Any]

VERSION: Schema = {"const": 1, "description": "Version of this contract."}


def head_of(name: str, title: str) -> Schema:
    """The first members of a document that describes an output; ``name`` makes its identifier."""
    return {"$schema": DIALECT, "$id": f"urn:ragdata:{name}:1", "title": title}


def object_of(description: str, properties: dict[str, Schema], also: dict[str, Schema] | None = None) -> Schema:
    """An object whose ``properties`` are always there (what is not known is null); those of ``also`` may be missing."""
    known = {**properties, **(also or {})}
    return {"type": "object", "description": description, "properties": known, "required": list(properties)}


def map_of(description: str, of: Schema) -> Schema:
    """An object whose members have names of their own and values of one kind."""
    return {"type": "object", "description": description, "additionalProperties": of}


def text(description: str) -> Schema:
    """A string."""
    return {"type": "string", "description": description}


def optional_text(description: str) -> Schema:
    """A string or null."""
    return {"type": ["string", "null"], "description": description}


def truth(description: str) -> Schema:
    """A boolean."""
    return {"type": "boolean", "description": description}


def number(description: str) -> Schema:
    """A number."""
    return {"type": "number", "description": description}


def share(description: str) -> Schema:
    """A number from 0 to 1."""
    return {"type": "number", "minimum": 0, "maximum": 1, "description": description}


def count(description: str, least: int = 0) -> Schema:
    """An integer, 0 or above."""
    return {"type": "integer", "minimum": least, "description": description}


def place(description: str, minimum: int) -> Schema:
    """An integer or null."""
    return {"type": ["integer", "null"], "minimum": minimum, "description": description}


def optional(of: Schema) -> Schema:
    """The same, or null."""
    kinds = of["type"] if isinstance(of["type"], list) else [of["type"]]
    return {**of, "type": [*kinds, "null"]}


def list_of(description: str, of: str | Schema) -> Schema:
    """An array of a definition (by its name), or of values of a schema."""
    items: Schema = {"$ref": f"#/$defs/{of}"} if isinstance(of, str) else of
    return {"type": "array", "description": description, "items": items}
