"""Front matter: the YAML mapping between two ``---`` lines with which a Markdown file may begin, as JSON.

Only what is a number, a truth value or null in JSON is taken for one: ``007``, ``2024-01-05``, ``yes`` and ``12:30``
stay the texts that they are, where YAML 1.1 would make ``7``, a date, true and 750 of them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ragdatakit.files.containers.json_text import Raw, dumps

LONGEST = 1 << 16
"""Characters: what is longer is no front matter."""
DEEPEST = 50
_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.M)
_RESOLVED = {
    "null": (r"(?:null|Null|NULL|~|)\Z", ["n", "N", "~", ""]),
    "bool": (r"(?:true|True|TRUE|false|False|FALSE)\Z", list("tTfF")),
    "float": (r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\Z", list("-0123456789")),
}
_TAG = "tag:yaml.org,2002:"


def split_front_matter(text: str, repeated: list[str] | None = None) -> tuple[dict[str, Raw], str] | None:
    """(its fields, the text behind it); None where a text does not begin with such a mapping.

    Of fields of one name the last one counts; ``repeated`` takes the names, one for each field that does not.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end(), opening.end() + LONGEST)
    if closing is None:
        return None
    fields = _fields(text[opening.end() : closing.start()], [] if repeated is None else repeated)
    return None if fields is None else (fields, text[closing.end() :])


def yaml_fields(text: str) -> dict[str, Raw] | None:
    """The members of a YAML mapping; None where it is none, refers to parts of itself or is nested too deeply."""
    return _fields(text, [])


def _fields(text: str, repeated: list[str]) -> dict[str, Raw] | None:
    import yaml

    loader = _loader()
    try:
        if not _is_modest(text):
            return None
        node = yaml.compose(text, loader)
        if node is None:
            return {}
        if not isinstance(node, yaml.MappingNode):
            return None
        again: list[str] = []
        fields = {name: Raw(value.encode()) for name, value in _members(node, again).items()}
        repeated += again
        return fields
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _is_modest(text: str) -> bool:
    """Whether it is neither nested deeply (the parser would end the process) nor refers to parts of itself (its size as
    JSON would have no bound)."""
    import yaml

    depth = 0
    for event in yaml.parse(text, _loader()):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST or isinstance(event, yaml.AliasEvent):
            return False
    return True


def _key(node: Any) -> str:
    return str(node.value) if isinstance(node.value, str) else _json(node, [])


def _members(node: Any, repeated: list[str]) -> dict[str, str]:
    """The members of a mapping as JSON; of several of one name the last one."""
    members: dict[str, str] = {}
    for key, value in node.value:
        name = _key(key)
        if name in members:
            repeated.append(name)
        members[name] = _json(value, repeated)
    return members


def _json(node: Any, repeated: list[str]) -> str:
    import yaml

    if isinstance(node, yaml.MappingNode):
        members = _members(node, repeated)
        return "{" + ",".join(f"{dumps(key)}:{value}" for key, value in members.items()) + "}"
    if isinstance(node, yaml.SequenceNode):
        return "[" + ",".join(_json(item, repeated) for item in node.value) + "]"
    kind, value = node.tag.removeprefix(_TAG), str(node.value)
    if kind in _RESOLVED and re.match(_RESOLVED[kind][0], value):
        return {"null": "null", "bool": value.lower(), "float": value}[kind]
    return dumps(value)


@cache
def _loader() -> Any:
    """YAML's safe loader, with rules of our own for what is not text."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = type("FrontMatterLoader", (base,), {"yaml_implicit_resolvers": {}})
    for kind, (pattern, first) in _RESOLVED.items():
        loader.add_implicit_resolver(_TAG + kind, re.compile(pattern), first)  # type: ignore[attr-defined]
    return loader
