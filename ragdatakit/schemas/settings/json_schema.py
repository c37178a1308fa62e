"""The JSON Schema (draft-07, which editors want) of ragdata.toml, made of the declaration of the settings."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas import FORMATS
from ragdatakit.schemas.settings.declared import PATTERNS, TOP, Setting

_ID = "https://ragdata.example/ragdata.schema.json"
_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_WORD = {"type": ["string", "number", "boolean"]}


def settings_schema() -> dict[str, Any]:
    """The schema of the whole file, and of the table ``[tool.ragdata]``."""
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "$id": _ID, "title": "Settings of ragdata"}
    return {**head, **_section(TOP)}


def pyproject_schema(tool: str) -> dict[str, Any]:
    """The same, as the package validate-pyproject asks for it."""
    return settings_schema()


def _section(section: Setting) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": {one.name: _value(one) for one in section.within}}
    if required := [one.name for one in section.within if one.required]:
        found["required"] = required
    return {**found, "additionalProperties": False}


def _value(setting: Setting) -> dict[str, Any]:
    found = _type(setting)
    if setting.meaning:
        found = {"description": setting.meaning, **found}
    if setting.default.replace(".", "").isdigit() and setting.kind in ("integer", "share"):
        found["default"] = float(setting.default) if setting.kind == "share" else int(setting.default)
    return found


def _type(setting: Setting) -> dict[str, Any]:
    match setting.kind:
        case "section":
            return _section(setting)
        case "sections":
            return {"type": "array", "items": _section(setting)}
        case "texts" | "globs" | "within" | "rules" | "conditions":
            return dict(_TEXTS)
        case "choice":
            return {"enum": list(setting.choices)}
        case "format":
            return {**_TEXT, "examples": [*FORMATS, "text", "table"]}
        case "flag":
            return {"type": "boolean"}
        case "integer" | "share":
            bounds = {"minimum": setting.least, "maximum": setting.most}
            bounds = {name: int(n) for name, n in bounds.items() if n is not None}
            return {"type": "integer" if setting.kind == "integer" else "number", **bounds}
        case "severities":
            return _by_name({"enum": list(setting.choices)})
        case "budgets":
            return _by_name({"type": "integer", "minimum": 0})
        case "ignores" | "columns":
            return _by_name(_TEXTS)
        case "code" | "model" | "table":
            return {"type": "string", "pattern": PATTERNS[setting.kind]}
        case "document":
            return {"anyOf": [_TEXT, {"type": "object"}]}
        case "words":
            return _by_name(_WORD)
        case _:
            return dict(_TEXT)


def _by_name(value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value}
