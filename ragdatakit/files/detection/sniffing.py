"""What a lone file is, recognised from its first records; and in which container a JSON file holds them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ragdatakit.files.containers.beginnings import HEAD_BYTES, unpacked
from ragdatakit.files.containers.parquet_rows import RECODED, is_parquet
from ragdatakit.files.detection.sniffed_text import Beginning
from ragdatakit.files.paths.boundary import ANYWHERE, Boundary
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.declarations import File, Format
from ragdatakit.schemas.errors import RagdataError

_FIRST_BYTES = 16
_PARQUET = "parquet"
_TEXT_TYPES = ("VARCHAR", "BLOB")
"""As DuckDB calls them."""
LONG_HEAD_BYTES = 1 << 20
"""What is looked at where the first records do not end before."""

Read = Callable[[int], tuple[bytes, bool]]
"""Gives so many of the first uncompressed bytes of a file, and whether there are more."""

_CUT_STRING = late_pattern(r'"((?:[^"\\]|\\.){200})')
_NAME_AHEAD = late_pattern(r"\s*(?=\")")
_COLON = late_pattern(r"\s*:\s*(?=\S)")
_COMMA = late_pattern(r"\s*,")
_LINES = 20
"""How many lines are looked at."""
_DEEPEST = 8
"""Objects in each other, the first ones of arrays that are cut, of which the members are looked at."""
_LINE_ENDS = late_pattern(r"[\r\n]+")
_EMPTY: dict[str, Any] = {"{": {}, "[": [], '"': ""}
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file: its container and its first readable records.

    ``container`` is ``ndjson``, ``json-array``, ``json-single`` (one object over several lines), ``csv`` or ``parquet``
    (the last two have one record without values: the columns; of ``parquet`` with their types). ``alone``:
    the one record is all that the file has, so that it may be an object of records. ``cut``: the one record does not
    end in what was looked at, and has its first members only.
    """

    container: str
    records: tuple[Any, ...]
    alone: bool = False
    cut: bool = False


def read_head(path: Path, boundary: Boundary = ANYWHERE) -> Head | None:
    """The first records of a file; None if it is no regular file, or neither JSON in any container nor a table."""
    if not is_regular(path, boundary):
        return None
    if is_parquet(path):
        return parquet_head(path, boundary)
    return head_of_beginning(lambda length: beginning(path, length, boundary))


def parquet_head(path: Path, boundary: Boundary) -> Head | None:
    """The columns of a Parquet file; None where it is not one."""
    from ragdatakit.files.containers.parquet_tables import opened_parquet

    try:
        with opened_parquet(path, boundary) as table:
            return Head(_PARQUET, (table.columns,))
    except RagdataError:
        return None


def head_of_beginning(read: Read) -> Head | None:
    """The same of what ``read`` gives."""
    head, text = None, ""
    for length in (HEAD_BYTES, LONG_HEAD_BYTES):
        data, more = read(length)
        text = data.decode("utf-8", "replace")
        head = _head_of(text, more)
        if not more or (head is not None and not head.cut):
            break
    return head or _header_of(text)


def _header_of(text: str) -> Head | None:
    """The columns of a CSV file, as a record with nothing in it; None where the first line names no two."""
    line = text.lstrip("\r\n").split("\n", 1)[0].rstrip("\r")
    if "," not in line or len(line) > HEAD_BYTES:
        return None
    import csv

    try:
        columns = next(csv.reader([line]), [])
    except csv.Error:
        return None
    return Head("csv", (dict.fromkeys(columns, ""),))


def beginning(path: Path, length: int, boundary: Boundary = ANYWHERE) -> tuple[bytes, bool]:
    """The first uncompressed bytes of a file without a byte-order mark, and whether there are more."""
    try:
        with boundary.open(path) as file:
            data = file.read(length + 1)
    except OSError:
        return b"", False
    return unpacked(data, length)


def _head_of(text: str, more: bool) -> Head | None:
    stripped = text.lstrip()
    if stripped.startswith("[") and (pair := _saved_pair(stripped)) is not None:
        return Head("json-single", (pair,))
    if stripped.startswith("[") and _container_of(text, more) != "ndjson":
        first = stripped[1:].lstrip()
        element = _first_value(first)
        if element is not None:
            return Head("json-array", (element,))
        members = dict(_members(first))
        if members:
            return Head("json-array", (members,), cut=True)
    container = _container_of(text, more)
    lines = list(islice(_lines(text), _LINES))
    records = [] if container == "json-single" else list(_whole_lines(lines))
    if records:
        return Head("ndjson", tuple(records), alone=len(lines) == 1 and not more)
    if container == "json-single" or len(lines) == 1:
        members = dict(_members(stripped))
        if members:
            return Head(container, (members,), alone=True, cut=more)
    return None


def _saved_pair(text: str) -> Any:
    """A pair of a text and a list of texts that is all a file has; None where it has anything else."""
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value if not text[end:].strip() and is_pair(value) and isinstance(value[1], list) else None


def is_pair(value: Any) -> bool:
    """Whether a value is what a record was that is now an object: a text, and texts or one more."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and isinstance(value[0], str)
        and (isinstance(value[1], str) or (isinstance(value[1], list) and all(isinstance(v, str) for v in value[1])))
    )


def _lines(text: str) -> Iterator[str]:
    """The lines that have anything in them; JSON may hold other separators as they are."""
    start = 0
    for end in _LINE_ENDS.finditer(text):
        if (line := text[start : end.start()]).strip():
            yield line
        start = end.end()
    if text[start:].strip():
        yield text[start:]


def _whole_lines(lines: list[str]) -> Iterator[Any]:
    """The first three lines that are JSON."""
    found = 0
    for line in lines:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        yield value
        found += 1
        if found == 3:
            return


def _first_value(text: str) -> Any:
    try:
        return _DECODER.raw_decode(text)[0]
    except (ValueError, RecursionError):
        cut = _CUT_STRING.match(text)
        return cut.group(1) if cut else None


def _members(text: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The first members of an object, so deep in others; of the last one, if its value is cut or broken, what kind of
    value it has."""
    position = 1 if text.startswith("{") else len(text)
    while opening := _NAME_AHEAD.match(text, position):
        try:
            name, end = _DECODER.raw_decode(text, opening.end())
        except (ValueError, RecursionError):
            return
        colon = _COLON.match(text, end)
        if colon is None:
            return
        try:
            value, end = _DECODER.raw_decode(text, colon.end())
        except (ValueError, RecursionError):
            mark = text[colon.end()]
            if mark == "[" and (first := _first_of_cut(text[colon.end() + 1 :].lstrip(), depth + 1)):
                yield name, [first]
            elif mark in _EMPTY:
                yield name, _EMPTY[mark]
            return
        yield name, value
        comma = _COMMA.match(text, end)
        if comma is None:
            return
        position = comma.end()


def _first_of_cut(text: str, depth: int) -> dict[str, Any] | None:
    """The object that the elements of an array begin with, or its first members; None where it is none."""
    if not text.startswith("{") or depth > _DEEPEST:
        return None
    try:
        found = _DECODER.raw_decode(text)[0]
    except (ValueError, RecursionError):
        found = dict(_members(text, depth))
    return found if isinstance(found, dict) else None


def emptiness(path: Path, boundary: Boundary = ANYWHERE) -> str:
    """How a file is empty, as ``is an empty JSON array``; ``""`` where something is in it, or nobody can read it."""
    if not is_regular(path, boundary):
        return ""
    try:
        if path.stat().st_size == 0:
            return "is empty"
        data, more = beginning(path, 1 << 10, boundary)
    except OSError:
        return ""
    text = "".join(data.decode("utf-8", "replace").split())
    words = {"": "holds nothing but blanks", "[]": "is an empty JSON array", "{}": "is an empty JSON object"}
    return words.get(text, "") if not more and (text or data) else ""


def json_container(path: Path, boundary: Boundary = ANYWHERE) -> str:
    """In which container a file holds JSON records: ``ndjson``, ``json-array``, or ``json-single``, one record alone.

    A file that cannot be read, or holds no JSON, counts as ``ndjson``.
    """
    if not is_regular(path, boundary) or is_parquet(path):
        return "ndjson"
    data, more = beginning(path, LONG_HEAD_BYTES, boundary)
    return _container_of(data.decode("utf-8", "replace"), more)


def _container_of(text: str, more: bool) -> str:
    """By the beginning of a file; ``more``: it continues.

    Several lines of which the first is a whole value are lines of records. An array holds records if its first element
    is an object or array; else it is itself one (such as a tuple that was saved). An object over several lines is one
    record, if no line by itself is an object, too.
    """
    stripped = text.lstrip()
    lines = [line for line in stripped.split("\n", 200)[:200] if line.strip()]
    if not lines or stripped[0] not in "[{" or (stripped[0] == "{" and len(lines) == 1):
        return "ndjson"  # nothing, or only the rest of a long line, is behind an object in one line
    if _is_value(lines[0]):
        following = lines[1].lstrip()[:1] if len(lines) > 1 else ""
        if stripped[0] == "{" or following in ("{", "["):
            return "ndjson"
    if stripped[0] == "[":
        return "json-array" if stripped[1:].lstrip()[:1] in ("{", "[", "]", "") else "json-single"
    whole = lines[:-1] if more else lines
    if _starts_with_value(stripped):
        return "json-single"
    begun = [line for line in whole[1:] if line.startswith('{"')]
    return "ndjson" if any(map(_is_value, begun)) or (begun and lines[0].startswith('{"')) else "json-single"


def _is_value(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _starts_with_value(text: str) -> bool:
    try:
        _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def guess(path: Path, formats: tuple[Format, ...], boundary: Boundary = ANYWHERE) -> tuple[Format, File] | None:
    """The format and kind of a file by its content; None where it shows none, or it is no regular file."""
    if not is_regular(path, boundary):
        return None
    if is_parquet(path):
        return guess_kind(parquet_head(path, boundary), formats)
    return guess_beginning(lambda length: beginning(path, length, boundary), formats)


def guess_beginning(read: Read, formats: tuple[Format, ...]) -> tuple[Format, File] | None:
    """The same by the beginning that ``read`` gives."""
    if (found := guess_kind(head_of_beginning(read), formats)) is not None:
        return found
    if (found := _by_bytes(read, formats)) is not None:
        return found
    kinds = _signs(formats).of_text
    text = Beginning(read(HEAD_BYTES)[0].decode("utf-8", "replace")) if kinds else None
    return next(((fmt, kind) for fmt, kind in kinds if text is not None and text.fits(kind)), None)


def _by_bytes(read: Read, formats: tuple[Format, ...]) -> tuple[Format, File] | None:
    """The kind that the first bytes of a file show, of those that are known by them."""
    kinds = _signs(formats).of_bytes
    start = read(_FIRST_BYTES)[0] if kinds else b""
    begun = [pair for pair in kinds if start.startswith(pair[1].begins)]
    data = read(HEAD_BYTES)[0] if begun else b""
    return next((pair for pair in begun if all(mark in data for mark in pair[1].holds)), None)


def looks_like(head: Head, kind: File) -> int:
    """How well a file's head fits a kind: 0 not at all, else the number of fields that count."""
    if head.container == _PARQUET and not _may_be_table(head.records[0], kind):
        return 0
    if kind.container == "json-object" and head.container != _PARQUET:
        return _looks_like_members(head, kind)
    if kind.container == "json-wrapped":
        return max(
            (_likeness(r, kind) for r in _wrapped(head, kind) if not any(k in r for k in kind.without)), default=0
        )
    if head.container not in (kind.container, _PARQUET) and kind.container != "json":
        return 0
    best = 0
    for record in head.records:
        if isinstance(record, dict) and kind.keys:
            if not any(k in record for k in kind.without):
                best = max(best, _likeness(record, kind))
        elif isinstance(record, list) and any("array" in r.rules for r in kind.records):
            best = max(best, int(is_pair(record)))
        elif isinstance(record, str) and any(
            r.shape == "string" and r.pattern and re.match(r.pattern, record) for r in kind.records
        ):
            best = max(best, 1)
    return max(best, 0)


def _may_be_parquet(kind: File) -> bool:
    return kind.container in RECODED and f".{_PARQUET}" in kind.suffixes


def _may_be_table(columns: Mapping[str, str], kind: File) -> bool:
    """Whether a table of columns with these types may have the records of a kind: those that have to be integers are
    no texts, and there are no others where these are a fault."""
    if not _may_be_parquet(kind):
        return False
    fields = {f.name: f for f in kind.record.fields}
    texts = [name for name, of_type in columns.items() if of_type in _TEXT_TYPES]
    if any(name in fields and fields[name].type == "integer" for name in texts):
        return False
    return kind.record.extra != "forbid" or columns.keys() <= fields.keys()


def _wrapped(head: Head, kind: File) -> list[dict[str, Any]]:
    """The first records in the array that one object holds in a member."""
    outer = head.records[0] if head.alone else None
    if not isinstance(outer, dict):
        return []
    rows: list[Any] = next((outer[name] for name in kind.wrapper if isinstance(outer.get(name), list)), [])
    return [row for row in rows[:3] if isinstance(row, dict)]


def _likeness(record: dict[str, Any], kind: File) -> int:
    """Twice the fields that count less the unknown ones; at least 1 where a sign is there."""
    groups = [kind.keys, *kind.signs]
    found = [all(k in record for k in group) for group in groups]
    telling = {k for group, there in zip(groups, found, strict=True) if there for k in group}
    if not telling:
        return 0
    unknown = len(record.keys() - {f.name for f in kind.record.fields} - telling)
    return max(len(telling) * 2 - unknown, int(any(found[1:])))


_TYPES: dict[str, type] = {"string": str, "array": list, "object": dict}


def _looks_like_members(head: Head, kind: File) -> int:
    """1 where the file is one object whose values are what the records of the kind have; names prove nothing."""
    if not head.alone or not isinstance(head.records[0], dict) or not head.records[0]:
        return 0
    field = kind.record.fields[1]
    wanted, of_items = _TYPES.get(field.type, object), _TYPES.get(field.items or "any", object)
    values = list(head.records[0].values())
    if not all(isinstance(value, wanted) for value in values):
        return 0
    items = [item for value in values if isinstance(value, list) for item in value]
    return int(not items or any(isinstance(item, of_items) for item in items))


def has_members(head: Head, kind: File) -> bool:
    """Whether a file that has the name of a kind is the object of records which that is, by its first member: the
    value has the type, and is not a list of objects."""
    if not head.alone or not isinstance(head.records[0], dict):
        return False
    first = next(iter(head.records[0].values()), None)
    wanted = _TYPES.get(kind.record.fields[1].type, object)
    return isinstance(first, wanted) and not (isinstance(first, list) and any(isinstance(i, dict) for i in first))


class _Signs:
    """The kinds of some formats by what tells them: made once for the same formats, as there may be very many files.

    ``of_text`` are those of cells and of elements between tags, ``of_bytes`` those that are known by their first
    bytes. The others have a place each; ``named`` has those of which a record has such a member, ``any_way`` those that
    need none.
    """

    def __init__(self, formats: tuple[Format, ...]) -> None:
        self.formats = formats  # which live as long as this does: it is known by their identities
        kinds = [(fmt, kind) for fmt in formats for kind in fmt.files]
        self.of_text = [(fmt, kind) for fmt, kind in kinds if kind.container in ("columns", "tagged")]
        self.of_bytes = [(fmt, kind) for fmt, kind in kinds if kind.begins]
        self.kinds = [(fmt, kind) for fmt, kind in kinds if kind.container != "json-object" or kind.keys]
        self.any_way = [i for i, (_, kind) in enumerate(self.kinds) if kind.container == "json-object"]
        self.named: dict[str, list[int]] = {}
        for i, (_, kind) in enumerate(self.kinds):
            for name in kind.wrapper or {group[0] for group in (kind.keys, *kind.signs) if group}:
                self.named.setdefault(name, []).append(i)

    def candidates(self, head: Head) -> list[tuple[Format, File]]:
        """The kinds that are worth a closer look: few of them."""
        if all(isinstance(record, dict) for record in head.records):
            names = {name for record in head.records for name in record}
            places = sorted({*self.any_way, *(i for name in names & self.named.keys() for i in self.named[name])})
            among = [self.kinds[i] for i in places]
        else:
            among = self.kinds
        if head.container == _PARQUET:
            return [pair for pair in among if _may_be_parquet(pair[1])]
        return [pair for pair in among if pair[1].container in ("json-object", "json-wrapped", "json", head.container)]


_SIGNS: dict[tuple[int, ...], _Signs] = {}


def _signs(formats: tuple[Format, ...]) -> _Signs:
    key = tuple(map(id, formats))
    if key not in _SIGNS:
        _SIGNS[key] = _Signs(formats)
    return _SIGNS[key]


def guess_kind(head: Head | None, formats: tuple[Format, ...]) -> tuple[Format, File] | None:
    """The format and kind that fit best; None if none does.

    A kind that is an object of records is only taken if it has ``keys``, and nothing else fits.
    """
    if head is None:
        return None
    candidates = _signs(formats).candidates(head)
    ranked = [(looks_like(head, kind), kind.container != "json-object", fmt, kind) for fmt, kind in candidates]
    ranked = [r for r in ranked if r[0] > 0]
    if not ranked:
        return None
    best = max(ranked, key=lambda r: (r[1], r[0]))
    return best[2], best[3]
