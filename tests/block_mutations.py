"""Blocks of NDJSON and what may befall them: the material of tests of the scanner."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from random import Random
from typing import Any

from ragdatakit.schemas.declarations import Field, Record
from tests.broad import ALL
from tests.faults.values import field_variants

WORDS = ("tide", "mo on", 'a "pier"', "\\", "é", "漢字", "\U0001f311", "tab\there", "", " ", "2020-01-01", "a/b", "12")
TOKENS = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\r", b"\r\n", b" ", b"\t", b"0", b"-", b".", b"e9"),
    *(b"null", b"true", b"NaN", b"-Infinity", b"1e400", b"00", b"-0", b"1.0", b"1e3", b"9223372036854775808"),
    *(b"9007199254740993", b"{}", b"[]", b'""', b"{},", b'"":0,', b"\x00", b"\x1f", b"\x7f", b"\xff", b"\xc3"),
    *(b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85", b"\\ud800", b"\\u0000", b"\\u0022", b"\\x41"),
    *(b"/**/", b"//", b"'", b"}{", b"}\n{", b"},{", b"}\n\n{", b'\\"', b"\\\\", b'"}\n{"', b"},\n{", b"[{}]"),
)
Mutation = Callable[[bytes, Random, Record], bytes]


def record_value(record: Record, rng: Random, plain: bool) -> dict[str, Any]:
    """A sound record; ``plain``: every field is there, and texts are short words."""
    value: dict[str, Any] = {}
    for field in record.fields:
        if field.required or (plain and field.type != "any") or rng.random() < 0.4:
            value[field.name] = _field_value(field, rng, plain)
    if not plain and rng.random() < 0.1:
        names = list(value)
        rng.shuffle(names)
        value = {name: value[name] for name in names}
    return value


def _field_value(field: Field, rng: Random, plain: bool) -> Any:
    if field.enum:
        return rng.choice(field.enum)
    if not plain and field.nullable and rng.random() < 0.2:
        return None
    return _of_type(field.type, field, rng, plain)


def _of_type(kind: str, field: Field, rng: Random, plain: bool) -> Any:
    if kind == "integer":
        return rng.choice((0, 7, rng.randrange(10**6), rng.randrange(2**53), -3))
    if kind == "number":
        return rng.choice((0.5, 1, 0, round(rng.random(), 6)))
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "array":
        if field.items == "array":
            return [[rng.choice(WORDS), rng.randrange(9)] for _ in range(rng.randrange(1, 4))]
        return [_of_type(field.items or "string", field, rng, plain) for _ in range(rng.randrange(1, 4))]
    if kind == "object":
        return {} if not plain and rng.random() < 0.2 else {"page": rng.randrange(99), "by": rng.choice(WORDS)}
    if kind == "any" and not plain:
        return rng.choice((1, 0.5, True, None, [1], {"a": "b"}, rng.choice(WORDS)))
    return "tide " + " ".join(rng.choice(WORDS) for _ in range(rng.randrange(3)))


def block(record: Record, rng: Random) -> bytes:
    """A few sound lines."""
    plain = rng.random() < 0.7
    separators = rng.choice(((", ", ": "), (",", ":"), (" , ", " : ")))
    ascii_only = rng.random() < 0.5
    end = rng.choice((b"\n", b"\n", b"\r\n"))
    values = [record_value(record, rng, plain) for _ in range(rng.randrange(1, 7))]
    lines = [json.dumps(v, ensure_ascii=ascii_only, separators=separators).encode() for v in values]
    data = end.join(lines)
    return data + end if rng.random() < 0.9 else data


def _flip(data: bytes, rng: Random, record: Record) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _insert(data: bytes, rng: Random, record: Record) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _replace(data: bytes, rng: Random, record: Record) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(TOKENS) + data[at + rng.randrange(1, 4) :]


def _delete(data: bytes, rng: Random, record: Record) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randrange(1, 6) :]


def _copy(data: bytes, rng: Random, record: Record) -> bytes:
    start = rng.randrange(len(data))
    piece = data[start : start + rng.randrange(1, 40)]
    at = rng.randrange(len(data) + 1)
    return data[:at] + piece + data[at:]


def _line_gone_wrong(data: bytes, rng: Random, record: Record) -> bytes:
    """A field of one line gets a value that it must not have, stands twice, or is gone."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        return data
    if not isinstance(value, dict):
        return data
    field = rng.choice(record.fields)
    members = {k: json.dumps(v, ensure_ascii=False) for k, v in value.items()}
    variant = rng.choice(list(field_variants(field, value.get(field.name))))
    how = rng.randrange(4)
    pairs = [(k, v) for k, v in members.items() if how != 0 or k != field.name]
    if how == 1:
        pairs.insert(rng.randrange(len(pairs) + 1), (field.name, variant.text))
    elif how >= 2:
        pairs = [(k, variant.text if k == field.name else v) for k, v in pairs]
    lines[at] = ("{" + ", ".join(f'"{k}": {v}' for k, v in pairs) + "}").encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _lines_moved(data: bytes, rng: Random, record: Record) -> bytes:
    lines = data.splitlines(keepends=True)
    how = rng.randrange(4)
    at = rng.randrange(len(lines))
    if how == 0:
        lines.insert(at, rng.choice((b"\n", b"\r\n", b" \n", b"null\n", b"12\n", b"{}\n", b"[]\n", b"\r")))
    elif how == 1:
        lines[at] = lines[at].rstrip(b"\r\n")
    elif how == 2:
        lines[at] = lines[at].replace(b"\r\n", b"\n") if b"\r" in lines[at] else lines[at].replace(b"\n", b"\r\n")
    else:
        lines[at] = lines[at].replace(b", ", b",\n", 1)
    return b"".join(lines)


MUTATIONS: tuple[Mutation, ...] = (
    *(_flip, _insert, _insert, _replace, _delete, _copy, _line_gone_wrong, _line_gone_wrong, _lines_moved),
)


def mutated(record: Record, rng: Random) -> bytes:
    """A block with none to three mutations."""
    data = block(record, rng)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        if data:
            data = rng.choice(MUTATIONS)(data, rng, record)
    return data


def tries(number: int) -> int:
    """How many mutations: ``RAGDATA_FUZZ`` says, else the number given, of which `make test` tries a third."""
    return int(os.environ.get("RAGDATA_FUZZ", number if ALL else -(-number // 3)))
