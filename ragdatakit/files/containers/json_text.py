"""JSON as text: values are passed on as they stand, so that numbers and strings keep their exact form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ragdatakit.late_patterns import late_pattern

Raw = msgspec.Raw
_ENCODER = msgspec.json.Encoder()
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_ANY = msgspec.json.Decoder()
_STRING = msgspec.json.Decoder(str)
HALVES = "half a character (an unpaired surrogate) became U+FFFD"
"""What is reported where that was done."""
_HEX = rb"[0-9a-fA-F]"
_HALF = late_pattern(
    rb"\\u[dD][89abAB]%b{2}\\u[dD][c-fC-F]%b{2}|(\\u[dD][89a-fA-F]%b{2})|\\." % (_HEX, _HEX, _HEX), re.DOTALL
)
_NAN = late_pattern(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|NaN|-?Infinity', re.DOTALL)


def dumps(value: Any) -> str:
    """A value as compact JSON; ``Raw`` values in it are as they are."""
    return _ENCODER.encode(value).decode()


def loads(text: str | bytes | Raw) -> Any:
    """The value; integers are exact, a number that no float holds is infinite. Raises `ValueError` if it is not JSON,
    `RecursionError` where it is nested too deeply."""
    try:
        return _ANY.decode(text)
    except msgspec.ValidationError:  # a number is out of range
        data = text if isinstance(text, str) else bytes(text).decode()
        return json.loads(data, parse_int=_integer)


def _integer(digits: str) -> int | float:
    """Python reads integers of a limited length."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def without_nan(data: bytes) -> bytes:
    """Text that is JSON except for NaN and Infinity, which become null; all else stays as it stands."""
    if b"NaN" not in data and b"Infinity" not in data:
        return data
    return _NAN.sub(lambda found: found[0] if found[0][:1] == b'"' else b"null", data)


def without_halves(data: bytes) -> bytes:
    """JSON in which half a character (an escaped surrogate without its other half) became U+FFFD; all else stays as it
    is."""
    return _HALF.sub(lambda found: b"\\ufffd" if found[1] else found[0], data) if b"\\u" in data else data


def first_half(data: bytes) -> str | None:
    """The escape of the first half of a character in JSON; None where there is none."""
    return next((found[1].decode() for found in _HALF.finditer(data) if found[1]), None)


def fields_of(text: str | bytes | Raw) -> dict[str, Raw]:
    """The fields of a JSON object, each value as it stands. Raises `msgspec.DecodeError` where it is not an object."""
    return _OBJECT.decode(text)


def begins(raw: Raw, mark: bytes) -> bool:
    """Whether the text of a value begins with this byte; the value, which may be long, is not copied."""
    return bytes(memoryview(raw)[:1]) == mark


def is_null(raw: Raw | None) -> bool:
    """Whether there is no value, or null in place of one."""
    return raw is None or (begins(raw, b"n") and bytes(raw) == b"null")


def items_of(raw: Raw | None) -> list[Raw] | None:
    """The items of a JSON array, each as it stands; None where there is no value or it is not an array."""
    return _ITEMS.decode(raw) if raw is not None and begins(raw, b"[") else None


def string_of(raw: Raw | None) -> str | None:
    """The text of a JSON string; None where there is no value or it is not a string."""
    if raw is None:
        return None
    try:
        return _STRING.decode(raw)
    except msgspec.DecodeError:
        if begins(raw, b'"'):
            raise
        return None


def compact(raw: Raw | bytes | str) -> str:
    """JSON without white space between its parts; strings and numbers as they stand."""
    return _compact(raw.encode() if isinstance(raw, str) else raw).decode()


def _compact(raw: Raw | bytes) -> bytes:
    return msgspec.json.format(raw, indent=-1)


def compact_values(values: Sequence[bytes]) -> list[bytes] | None:
    """The same of each of these values, all at once; None where one of them must be looked at alone."""
    try:
        return list(map(bytes, _ITEMS.decode(_compact(b"[%b]" % b",".join(values)))))
    except (ValueError, RecursionError):
        return None


def object_text(fields: Mapping[str, Raw] | Sequence[tuple[str, Raw]]) -> str | None:
    """A JSON object of these fields, of which pairs may have a name twice, as compact text; None where there are
    none."""
    if not fields:
        return None
    if isinstance(fields, Mapping):
        return _compact(_ENCODER.encode(fields)).decode()
    return _compact(b"{%b}" % b",".join(b"%b:%b" % (_ENCODER.encode(name), raw) for name, raw in fields)).decode()
