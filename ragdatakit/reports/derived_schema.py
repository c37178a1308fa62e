"""JSON Schemas of outputs, derived by msgspec from the types of what is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

import msgspec

from ragdatakit.schemas.json_schema import DIALECT

Schema = dict[str, Any]


def schema_of(form: type, name: str, command: str) -> Schema:
    """The document that describes what a command prints, a dataclass or typed dictionary; ``name`` identifies it."""
    _, definitions = msgspec.json.schema_components([_bounded(form)])
    body = definitions.pop(_name(form))
    head = {"$schema": DIALECT, "$id": f"urn:ragdata:{name}:1"}
    schema = {**head, **body, "title": f"Output of ragdata {command}"}
    return {**schema, "$defs": definitions} if definitions else schema


@cache  # a class becomes one definition, however many others have it
def _bounded(kind: Any) -> Any:
    """The same type in terms of msgspec: integers are 0 or more except for `Bounds` of their own, and a dataclass is an
    object that always has all its fields, without those that are not compared."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is int:
        return Annotated[int, msgspec.Meta(ge=0)]
    if origin is Annotated:
        return Annotated[arguments[0], msgspec.Meta(**asdict(arguments[1]))]
    if origin in (Union, UnionType):
        return Union[tuple(map(_bounded, arguments))]  # noqa: UP007 - made of a tuple
    if origin in (dict, Mapping):  # JSON has texts for keys
        return dict[_bounded(arguments[0]) if get_origin(arguments[0]) else str, _bounded(arguments[1])]  # type: ignore[misc]
    if arguments and origin is not Literal:
        inner = tuple(map(_bounded, arguments))
        return origin[inner if len(inner) > 1 else inner[0]]
    if not (is_dataclass(kind) or is_typeddict(kind)):
        return kind
    left_out = {field.name for field in fields(kind) if not field.compare} if is_dataclass(kind) else ()
    hints = get_type_hints(kind, include_extras=True)
    made: Any = TypedDict(_name(kind), {n: _bounded(hint) for n, hint in hints.items() if n not in left_out})  # type: ignore[misc]
    made.__doc__ = " ".join((kind.__doc__ or "").replace("``", "`").split())
    return made


def _name(kind: type) -> str:
    return kind.__name__.lstrip("_")
