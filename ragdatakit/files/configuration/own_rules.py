"""The rules that a configuration declares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragdatakit.files.configuration.chosen import Configuration
from ragdatakit.files.configuration.reading import Given, Section
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.settings.own_rules import OwnRule
from ragdatakit.visible_text import visible_text

_MOST_BYTES = 1 << 20


def own_rules(configuration: Configuration) -> list[OwnRule]:
    """All of them; of two with one code or name the later is refused. Raises `RagdataError` for what is wrong."""
    found: list[OwnRule] = []
    taken: dict[str, str] = {}
    for section in configuration.of_kind("rule"):
        own = _made(section)
        for name in (own.rule.code, own.rule.name):
            if name in taken:
                raise RagdataError(f"{section.place}: {name} is declared already, at {taken[name]}")
            taken[name] = section.place
        found.append(own)
    return found


def _made(section: Section) -> OwnRule:
    given = {name[0]: one for name, one in section.values.items()}
    values = {name: one.value for name, one in given.items()}
    kinds = [name for name in ("sql", "schema") if name in given]
    if len(kinds) != 1:
        told = "has both sql and schema: give one of them" if kinds else "has neither sql nor schema"
        raise RagdataError(f"{section.place}: the rule {values['code']} {told}")
    other = {"sql": ("records", "field"), "schema": ("timeout",)}[kinds[0]]
    for name in other:
        if name in given:
            raise RagdataError(f"{given[name].place}: {name} means nothing for a rule by {kinds[0]}")
    format_name = values.get("format", "")
    _refuse_unknown_kind(given, format_name)
    usual = "{value}" if "sql" in given else "{error}"
    return OwnRule(
        rule=Rule(
            code=values["code"],
            name=_line(values["name"]),
            severity=values.get("severity", "error"),
            summary=_line(values["summary"]),
            message=_line(values.get("message", usual)),
            upstream="",
            hint=_line(values.get("hint", "")),
        ),
        place=section.place,
        format=format_name,
        sql=values.get("sql", ""),
        seconds=values.get("timeout", 60),
        schema=_schema(given["schema"]) if "schema" in given else None,
        records=values.get("records", ""),
        field=values.get("field", ""),
    )


def _line(text: str) -> str:
    """A text of foreign settings as one line, of which a terminal obeys nothing."""
    return visible_text(" ".join(text.split()))


def _refuse_unknown_kind(given: dict[str, Given], format_name: str) -> None:
    if "records" not in given or not format_name:
        return
    kinds = [file.kind for file in get_format(format_name).files if file.records]
    if given["records"].value not in kinds:
        where = f"of {format_name}"
        raise UnknownNameError("kind of file", given["records"].value, kinds, where, place=given["records"].place)


def _schema(given: Given) -> dict[str, Any]:
    """The schema as it is written, or as the file has it."""
    if not isinstance(given.value, str):
        return dict(given.value)
    path = given.file.folder / given.value
    try:
        found = json.loads(_text(path, given))
    except (ValueError, RecursionError) as error:
        raise RagdataError(f"{given.place}: {given.value} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise RagdataError(f"{given.place}: {given.value} is not a JSON Schema, which is an object")
    return found


def _text(path: Path, given: Given) -> str:
    try:
        if not path.is_file():
            raise RagdataError(f"{given.place}: {given.value}: no such file")
        with path.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise RagdataError(f"{given.place}: {given.value} cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise RagdataError(f"{given.place}: {given.value} is too large to be a schema")
    return data.decode("utf-8")
