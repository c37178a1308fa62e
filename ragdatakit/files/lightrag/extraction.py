"""The text of an extraction as LightRAG's parser reads it: records, what becomes of each, and where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragdatakit.files.lightrag.names import normalised
from ragdatakit.quick_values import NamedTuple

DELIMITER = "<|#|>"
COMPLETE = "<|COMPLETE|>"
OLD = "##"
_ODD_TYPE = set("'()<>|/\\")
_RESERVED = {"__proto__", "constructor", "prototype"}
_BEGINS = re.compile(r"<\|#\|>(?:entity|relationship|relation)<\|#\|>")
_DAMAGED = re.compile(
    r"<\|#\|*#\|>|<\|\\#\|>|(?<=\S)<\|+>(?=\S)|<(?!\|#\|>).?\|#\|.?>|<#\|?>|<\|#>|<[^|]#\|>|<\|#[^|]>|<\|#\|+(?!>)"
    r"|<\|#:(?!>)|<\|+#>|(?<=\S)<\|\|(?!>)|(?<!<)\|#\|>"
)


class Record(NamedTuple):
    """One record: what it is (``entity``, ``relation`` or empty), its fields as they are stored, where it is.

    ``reason`` is why it is dropped; ``damaged`` the first delimiter that had to be repaired; ``renamed`` that it was
    called an entity and has the fields of a relation; ``inside`` that it begins inside its line.
    """

    kind: str
    fields: tuple[str, ...]
    line: int
    column: int
    text: str
    reason: str = ""
    damaged: str = ""
    renamed: bool = False
    inside: bool = False
    found: int = 0


def records(text: str) -> Iterator[Record]:
    """The records of an extraction, line by line."""
    for number, line in enumerate(text.split("\n"), 1):
        body = re.sub(re.escape(COMPLETE), "\n", line, flags=re.I).split("\n")[0]
        start = 0
        cuts = [m.start() for m in _BEGINS.finditer(body)]
        for place, end in enumerate([*cuts, len(body)]):
            piece = body[start:end]
            skipped = len(piece) - len(piece.lstrip())
            if piece.strip():
                yield _record(piece.strip(), number, start + skipped, place > 0)
            start = end + len(DELIMITER)


def _record(text: str, line: int, column: int, inside: bool) -> Record:
    damaged = _DAMAGED.search(text)
    repaired = _DAMAGED.sub(DELIMITER, text)
    fields = [field.strip() for field in repaired.split(DELIMITER) if field.strip()]
    tag = fields[0].lower() if fields else ""
    renamed = len(fields) == 5 and "entity" in tag and "relation" not in tag
    kind = "relation" if renamed or "relation" in tag else "entity" if "entity" in tag else ""
    shown = damaged.group() if damaged is not None and kind else ""
    wanted = {"entity": 4, "relation": 5}.get(kind, 0)
    if len(fields) != wanted:
        return Record(kind, (), line, column, text, "fields" if kind else "", shown, False, inside, len(fields))
    stored, reason = _entity(fields) if kind == "entity" else _relation(fields)
    return Record(kind, stored, line, column, text, reason, shown, renamed, inside, len(fields))


def _entity(fields: list[str]) -> tuple[tuple[str, ...], str]:
    name, kind, description = normalised(fields[1]), normalised(fields[2]), normalised(fields[3], quotes=False)
    if not name:
        return (), "nothing is left of its name"
    first = next((part.strip() for part in kind.split(",") if part.strip()), "")
    if not first or _ODD_TYPE & set(kind) or first.replace(" ", "").lower() in _RESERVED:
        return (), "its type cannot be used"
    if not description:
        return (), "it has no description"
    return (name, first.replace(" ", "").lower(), description), ""


def _relation(fields: list[str]) -> tuple[tuple[str, ...], str]:
    source, target = normalised(fields[1]), normalised(fields[2])
    if not source or not target:
        return (), "nothing is left of a name"
    if source == target:
        return (), "it relates an entity to itself"
    description = normalised(fields[4], quotes=False)
    if not description:
        return (), "it has no description"
    return (source, target, normalised(fields[3]).replace("，", ","), description), ""  # noqa: RUF001
