"""The rules that a configuration declares, and those of the plug-ins that it names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragdatakit.files.configuration.chosen import Configuration
from ragdatakit.files.configuration.plugins import Plugin, are_forbidden
from ragdatakit.files.configuration.reading import Given, Section
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.settings.own_rules import OwnRule
from ragdatakit.schemas.settings.plugins import RulePlugin
from ragdatakit.visible_text import visible_text

_MOST_BYTES = 1 << 20


def own_rules(configuration: Configuration) -> list[OwnRule]:
    """All of them, but no models where plug-ins are forbidden; of two with one code or name the later is refused.

    Raises `RagdataError` for what is wrong."""
    found: list[OwnRule] = []
    taken: dict[str, str] = {}
    of_plugins = (_of_plugin(plugin, rule) for plugin in configuration.plugins for rule in plugin.rules)
    for own in (*of_plugins, *map(_made, configuration.of_kind("rule"))):
        for name in (own.rule.code, own.rule.name):
            if name in taken:
                raise RagdataError(f"{own.place}: {name} is declared already, at {taken[name]}")
            taken[name] = own.place
        if own.model:
            if are_forbidden():
                continue
            _refuse_unnamed_model(own, configuration)
        found.append(own)
    return found


def _of_plugin(plugin: Plugin, found: RulePlugin) -> OwnRule:
    rule = _rule({name: getattr(found, name) for name in ("code", "name", "severity", "summary", "message", "hint")})
    place = f"the plug-in {plugin}"
    return OwnRule(rule=rule, place=place, format=found.format, records=found.records, plugin=found)


def _refuse_unnamed_model(own: OwnRule, configuration: Configuration) -> None:
    """Models are code: they come from what is installed, and only from modules that a plug-in offers."""
    module = own.model.partition(":")[0]
    offered = [name for plugin in configuration.plugins for name in plugin.models]
    if module not in offered:
        reason = f"the module {module} of the model is not one of a plug-in that `plugins` names"
        remedy = f"; they offer {', '.join(offered)}" if offered else "; see docs/plugins.md"
        raise RagdataError(f"{own.place}: {reason}{remedy}")


_MEANINGLESS = {"sql": ("records", "field", "table"), "schema": ("table",), "model": ("records", "field", "timeout")}
"""What has no meaning for a rule of a kind."""


def _made(section: Section) -> OwnRule:
    given = {name[0]: one for name, one in section.values.items()}
    values = {name: one.value for name, one in given.items()}
    kinds = [name for name in _MEANINGLESS if name in given]
    if len(kinds) != 1:
        reason = f"has both {kinds[0]} and {kinds[1]}: give one of them" if kinds else "has no sql, schema or model"
        raise RagdataError(f"{section.place}: the rule {values['code']} {reason}")
    for name in _MEANINGLESS[kinds[0]]:
        if name in given:
            raise RagdataError(f"{given[name].place}: {name} means nothing for a rule by {kinds[0]}")
    if "model" in given and "table" not in given:
        raise RagdataError(f"{section.place}: the rule {values['code']} has a model, but no table that it is of")
    format_name = values.get("format", "")
    _refuse_unknown_kind(given, format_name)
    usual = "{value}" if "sql" in given else "{error}"
    return OwnRule(
        rule=_rule({"message": usual, **values}),
        place=section.place,
        format=format_name,
        sql=values.get("sql", ""),
        seconds=values.get("timeout", 60 if "sql" in given else 10),
        schema=_schema(given["schema"]) if "schema" in given else None,
        records=values.get("records", ""),
        field=values.get("field", ""),
        model=values.get("model", ""),
        table=values.get("table", ""),
    )


def _rule(words: Mapping[str, Any]) -> Rule:
    return Rule(
        code=words["code"],
        name=_line(words["name"]),
        severity=words.get("severity", "error"),
        summary=_line(words["summary"]),
        message=_line(words["message"]),
        upstream="",
        hint=_line(words.get("hint", "")),
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
