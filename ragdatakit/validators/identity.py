"""What identifies a record, and a finding, from one run to the next, whatever was added before them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import REFUSED, JsonForm, MemberForm, RecordForm
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.declarations import Format
from ragdatakit.schemas.texts import hash_of
from ragdatakit.validators.excerpts import plain_value

LONG_RECORD = 1 << 20
"""Bytes of a record beyond which it is not decoded for its key."""
_NAME_BYTES = 1 << 12
"""Bytes within which the name of a member ends."""
_LONG_KEY = 200
_LONG_VALUE = 40
_NUMBER_IN_LIST = late_pattern(r"/\d+(?=/|\Z)")

Derive = Callable[[Any], dict[str, Any]]
"""The key columns that a format makes of a record, by their names (``@…``)."""


def key_fields(fmt: Format, kind: str) -> tuple[str, ...]:
    """The fields that identify the records of a kind in their file; empty where none is declared."""
    return next((key.within_file or key.fields for key in fmt.keys if key.kind == kind), ())


def record_key(fields: tuple[str, ...], located: Located, record: Any, form: RecordForm, derive: Derive) -> str:
    """The key of a record as text: ``qid=4``, or ``#`` and a digest of its bytes where it has no such values.

    ``record`` is what the record decodes to, if that is at hand.
    """
    if type(record) is dict and len(fields) == 1:  # as most are
        name, value = fields[0], record.get(fields[0])
        is_number = type(value) is int and -(2**63) <= value < 2**64
        if is_number or (type(value) is str and 0 < len(value) < _LONG_KEY and value.isascii()):
            key = f"{name}={value}"
            if len(key) <= _LONG_KEY and name[0] != "@":
                return key
    if record is None and isinstance(form, MemberForm) and fields == (form.name_field,):  # the value may be large
        record = {form.name_field: form.glimpse(located.raw[:_NAME_BYTES].decode("utf-8", "replace"), form.name_field)}
    elif fields and record is None and len(located.raw) <= LONG_RECORD:
        record = _decoded(form, located.raw)
    values = _values(fields, record, form, derive) if isinstance(record, dict) else []
    if not values or None in values or "" in values:
        return f"#{_digest(located.raw.strip())}"
    words = [f"{name.removeprefix('@')}={plain_value(value)}" for name, value in zip(fields, values, strict=True)]
    key = ", ".join(words)
    return key if len(key) <= _LONG_KEY else f"{key[: _LONG_KEY - 20]}…#{_digest(repr(values).encode())}"


def _decoded(form: RecordForm, raw: bytes) -> Any:
    plain = form.plain(raw) if isinstance(form, JsonForm) else REFUSED
    return form.value(raw.decode("utf-8", "replace")) if plain is REFUSED else plain


def _values(fields: tuple[str, ...], record: dict[str, Any], form: RecordForm, derive: Derive) -> list[Any]:
    """What the record has in the fields; fields of ours, which begin with ``@``, are derived from it."""
    values, derived = [], None
    for name in fields:
        if name[0] != "@":
            values.append(record.get(name))
        elif column := form.column_of(name):
            values.append(record.get(column))
        else:
            derived = derive(record) if derived is None else derived
            values.append(derived.get(name))
    return values


def fingerprint(names: str, key: str | None, pointer: str | None, value: Any) -> str:
    """16 hexadecimal digits for a finding with this rule, file (``names`` are the code, NUL, the path in the project),
    record and value."""
    return hash_of(_joined(names, key or "", place_in_record(pointer), value)).hex()


@lru_cache(1024)
def place_in_record(pointer: str | None) -> str:
    """A JSON Pointer without the numbers in lists: ``/positive_doc_ids/*``."""
    return _NUMBER_IN_LIST.sub("/*", pointer) if pointer else ""


def stored_value(value: Any) -> Any:
    """A value as baselines have it: a long text is ``#`` and a digest."""
    if isinstance(value, str) and len(value) > _LONG_VALUE:
        return f"#{hash_of(value.encode('utf-8', 'backslashreplace'), 6).hex()}"
    return value


def entry_digest(path: str, code: str, key: str, place: str, value: Any) -> int:
    """A number for what an entry of a baseline says of a finding."""
    return int.from_bytes(hash_of(_joined(f"{code}\0{path}", key, place, value)))


def numbered(first: str, before: int) -> str:
    """The fingerprint of a finding before which so many had this one."""
    return _digest(f"{first} {before}".encode()) if before else first


def _joined(names: str, key: str, place: str, value: Any) -> bytes:
    return f"{names}\0{key}\0{place}\0{value!r}".encode("utf-8", "backslashreplace")


def _digest(data: bytes) -> str:
    return hash_of(data).hex()
