"""One record against its declaration: a quick yes, or every fault in it.

`RecordChecker.examine` is the only place where faults of records arise, so the quick paths before it need no messages.
"""

from __future__ import annotations

import re
import sys
from _thread import allocate_lock
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import inf
from typing import Any, ClassVar

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.record_forms import JSON, REFUSED, JsonForm
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.cells import is_within
from ragdatakit.schemas.declarations import Damage, Field, Record
from ragdatakit.schemas.findings import Problem

MAX_FLOAT = sys.float_info.max
_NUMERIC_TEXT = late_pattern(
    r"\s*[+-]?(\d+(_?\d+)*\.?\d*|\.\d+)([eE][+-]?\d+)?\s*|\s*[+-]?(inf|infinity|nan)\s*", re.I | re.A
)
_INTEGER_TEXT = late_pattern(r"[+-]?\d{1,19}")

_ABSENT = object()
_FEW = 1 << 12
"""Bytes that are decoded before orjson is imported."""
Members = frozenset[str] | None
"""The members of a record without which nothing is wrong; None: any."""
Extra = Callable[[Any], Iterable[Problem]]


class RecordChecker:
    """Checks raw records (bytes of one line or element) of one kind.

    ``records`` are the shapes the record may have (the first that fits by JSON type is taken). ``extra`` adds the
    format's own checks of a decoded record. ``form`` is what the text of a record is. ``few`` takes the problems of the
    items of one field, which may be millions, and gives those that may be shown. ``in_part``, set where members
    at fault are known, finds what ``extra`` does. Whoever examines records in threads holds ``judging``: threads that
    compute in turns, a few milliseconds each, take longer than one after the other.
    """

    _read: ClassVar[int] = 0
    in_part: Callable[[Any, frozenset[str]], Iterable[Problem]]

    def __init__(
        self,
        records: tuple[Record, ...],
        extra: Extra | None = None,
        form: JsonForm = JSON,
        few: Callable[[Iterable[Problem]], list[Problem]] = list,
    ) -> None:
        self.records = records
        self._few = few
        self.judging = allocate_lock()
        self.extra = extra
        self._texts = _names_of_texts(records)
        self.form = form
        self.by_shape: dict[str, Record] = {r.shape: r for r in reversed(records)}
        record = self.by_shape.get("object")
        self._fields = [(f, f.name, *_usual(f)) for f in record.fields] if record is not None else []

    def taking(self, extra: Extra | None, few: Callable[[Iterable[Problem]], list[Problem]]) -> RecordChecker:
        """Who checks records of the same kind, those of one file, with these."""
        found = object.__new__(RecordChecker)
        found.__dict__.update(self.__dict__, extra=extra, _few=few, judging=allocate_lock())
        return found

    def examine(self, raw: bytes, alike: bool | None = None, members: Members = None) -> tuple[Any, list[Problem]]:
        """The decoded record (None if it is not JSON) and all its faults; ``alike``: whether every reader reads it the
        same, where that is known; ``members``: see `Members`."""
        value = REFUSED if self._are_few(len(raw)) else self.form.plain(raw, alike)
        if value is REFUSED:
            return self._examine_closely(raw)
        return value, self.problems(value, members)

    def _are_few(self, length: int) -> bool:
        """Whether so little was read yet that Python's own reader takes less time than to import orjson."""
        if RecordChecker._read > _FEW or type(self.form) is not JsonForm:
            return False
        RecordChecker._read += length
        return RecordChecker._read <= _FEW

    def all_plain_texts(self, values: list[Any]) -> bool:
        """Whether these decoded records, objects whose fields may be any text, are in order at first sight."""
        names = self._texts if self.extra is None else None
        if names is None:
            return False
        return all(
            type(v) is dict and len(v) == len(names) and all(type(v.get(n)) is str for n in names) for v in values
        )

    def problems(self, value: Any, members: Members = None) -> list[Problem]:
        """All faults of a decoded record that every reader reads the same."""
        problems = self.declared_problems(value, members)
        if self.extra is not None:
            problems += self.extra(value) if members is None else self.in_part(value, members)
        return problems

    def _examine_closely(self, raw: bytes) -> tuple[Any, list[Problem]]:
        """With Python's own reader, and whatever other readers would see differently."""
        text, problem = decoded_text(bytes(raw))  # a very long line comes as a view
        problems = [problem] if problem is not None else []
        decoded = self.form.decode(text)
        if decoded.error:
            rule = self.records[0].rules.get("syntax", "")
            if rule:
                facts = {"reason": decoded.error, "case": decoded.case}
                shown = text[decoded.position : decoded.position + 40]
                problems.append(Problem(rule, value=shown, facts=facts, position=decoded.position, length=1))
            return None, problems
        problems += self.declared_problems(decoded.value)
        problems += _portability(decoded, {p.pointer for p in problems if p.pointer is not None})
        problems += [self._surrogate(pointer, text) for pointer, text in decoded.surrogates]
        if self.extra is not None:
            problems += self.extra(decoded.value)
        return decoded.value, problems

    def _surrogate(self, pointer: str, text: str) -> Problem:
        """Half a character, which is another fault where the format says so of what is none of its texts."""
        texts = {f"/{f.name}" for f in self.records[0].fields if f.type == "string"}
        unread = "" if pointer in texts else self.records[0].rules.get("unread-surrogate", "")
        return Problem(unread or "lone-surrogate", pointer=pointer, value=None, facts={"surrogate": text})

    def declared_problems(self, value: Any, members: Members = None) -> list[Problem]:
        """The faults that the declaration names; ``value`` as decoded."""
        shape = "object" if isinstance(value, dict) else "string" if isinstance(value, str) else "any"
        record = self.by_shape.get(shape) or self.by_shape.get("any")
        if record is None:
            rules = self.records[0].rules
            rule = (rules.get("array", "") if isinstance(value, list) else "") or rules.get("not-object", "")
            return [Problem(rule, pointer="", value=value)] if rule else []
        if shape != "object":
            return []
        problems: list[Problem] = []
        known = 0
        for field, name, usual, may_be_empty, usual_items, bounds in self._fields:
            if members is not None and name not in members:
                continue
            found: Any = value.get(name, _ABSENT)
            if found is _ABSENT:
                if field.required and (rule := record.rule_for("missing", name)):
                    problems.append(_missing(rule, record, name, value))
                continue
            known += 1
            is_usual = type(found) is usual and (may_be_empty or found)
            is_usual = is_usual and (usual_items is None or usual_items.issuperset(map(type, found)))
            if is_usual and (bounds is None or _are_within(found, *bounds)):
                continue  # as most are
            items = _check_field(record, field, found, problems)
            if items is not None and (first := next(items, None)) is not None:
                problems += self._few(chain((first,), items))
        if problems and not known and members is None:
            from ragdatakit.validators.lacking import holder_of, said_once  # which few datasets need

            if holder := holder_of(value, {field.name for field in record.fields if field.required}):
                return said_once(problems, holder)
        if members is None and known < len(value) and (rule := record.rules.get("extra", "")):
            names = {f.name for f in record.fields}
            problems += [_unexpected(rule, record, k, value) for k in value if k not in names]
        return problems


def _missing(rule: str, record: Record, name: str, value: dict[str, Any]) -> Problem:
    from ragdatakit.validators.lacking import lacking  # which few datasets need

    problem = Problem(rule, pointer="", facts={"field": name})
    return lacking(problem, name, value, {field.name for field in record.fields}, record.field(name).elsewhere)


def _unexpected(rule: str, record: Record, name: str, value: dict[str, Any]) -> Problem:
    """A field that the record does not have; it may be meant for one that is missing, if no other field is."""
    from ragdatakit.validators.lacking import meant_for

    problem = Problem(rule, f"/{strict_json.escape(name)}", value[name], {"field": name})
    known = {field.name for field in record.fields}
    lacked = (field for field in record.fields if field.required and field.name not in value)
    if meant := next((f.name for f in lacked if meant_for(f.name, value, known, f.elsewhere) == name), ""):
        problem.facts["meant"] = meant
        problem.hint = f"rename it to {meant}"
    return problem


_USUAL: dict[str, type] = {"string": str, "integer": int, "array": list, "object": dict}
_USUAL_ITEMS: dict[str | None, set[type] | None] = {None: None, "any": None, "string": {str}, "integer": {int}}


def _usual(field: Field) -> tuple[type | None, bool, set[type] | None, tuple[float, float] | None]:
    """The type of which a value of the field needs no closer look (None: all do), whether it may be empty, the types
    of which the items of a list need none (None: all), and between what an integer, or those in a list, must lie."""
    is_plain = not field.enum and field.items in _USUAL_ITEMS and field.values in (None, "any")
    bounds = None
    if "integer" in (field.type, field.items) and (field.minimum is not None or field.maximum is not None):
        bounds = -inf if field.minimum is None else field.minimum, inf if field.maximum is None else field.maximum
    return _USUAL.get(field.type) if is_plain else None, not field.non_empty, _USUAL_ITEMS.get(field.items), bounds


def _are_within(found: Any, least: float, most: float) -> bool:
    """Whether an integer, or each of a list of them, lies between two numbers."""
    if type(found) is int:
        return least <= found <= most
    return not found or (least <= min(found) and max(found) <= most)


def decoded_text(raw: bytes) -> tuple[str, Problem | None]:
    """A record as text, and the place of the first byte that is no UTF-8."""
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError as error:
        position = len(raw[: error.start].decode("utf-8", "replace"))
        problem = Problem("invalid-utf8", facts={"byte": raw[error.start]}, position=position, length=1)
        return raw.decode("utf-8", "replace"), problem


def wrapper_problems(raw: bytes) -> tuple[str, list[Problem]]:
    """The name of a member, ``"name": value``, and what readers of JSON see differently in its value."""
    text, problem = decoded_text(raw)
    decoded = strict_json.decode(f"{{{text}}}")
    problems = [problem] if problem is not None else []
    problems += _portability(decoded, set())
    problems += [
        Problem("lone-surrogate", pointer, None, {"surrogate": found}) for pointer, found in decoded.surrogates
    ]
    for each in problems:
        span = strict_json.locate(f"{{{text}}}", each.pointer) if each.pointer else None
        if span is not None:
            each.position, each.length = span[0] - 1, span[1]
    return next(iter(decoded.value or {}), ""), problems


def _names_of_texts(records: tuple[Record, ...]) -> tuple[str, ...] | None:
    """The fields of a record that is nothing but texts of any kind; None if it is not."""
    if len(records) != 1 or records[0].shape != "object":
        return None
    fields = records[0].fields
    plain = all(f.type == "string" and not (f.non_empty or f.enum) for f in fields)
    return tuple(f.name for f in fields) if plain else None


def _portability(decoded: strict_json.Decoded, reported: set[str]) -> list[Problem]:
    found = [
        Problem("duplicate-key", pointer=pointer, value=key, facts={"key": key}) for pointer, key in decoded.repeated
    ]
    found += [
        Problem("non-finite-number", pointer=pointer, value=None, facts={"value": text})
        for pointer, text in decoded.non_finite
        if pointer not in reported
    ]
    found += [
        Problem("number-out-of-range", pointer=pointer, value=None, facts={"value": text})
        for pointer, text in decoded.overflow
        if pointer not in reported
    ]
    found += [
        Problem("integer-beyond-2-53", pointer=pointer, value=number)
        for pointer, number in decoded.large
        if pointer not in reported
    ]
    return found


def _check_field(record: Record, field: Field, value: Any, problems: list[Problem]) -> Iterator[Problem] | None:
    """The problem of a value goes to ``problems``; those of its items are given back."""
    damage: Damage | None = None
    if value is None:
        if not field.nullable:
            damage = "null"
    elif not fits_type(value, field.type, field.lax_number):
        damage = "type"
    elif field.non_empty and not value and field.type in ("string", "array", "object"):
        damage = "empty"
    elif field.enum and value not in field.enum:
        damage = "enum"
    elif field.type in ("integer", "number") and not is_within(value, field):
        damage = "range"
    if damage is not None:
        rule = record.rule_for(damage, field.name)
        if rule:
            problems.append(Problem(rule, f"/{field.name}", value, {"field": field.name}))
    elif field.items is not None and isinstance(value, list):
        return _item_problems(record, field, field.items, enumerate(value))
    elif field.values is not None and isinstance(value, dict):
        return _item_problems(record, field, field.values, value.items())
    return None


def _item_problems(
    record: Record, field: Field, kind: str, items: Iterable[tuple[str | int, Any]]
) -> Iterator[Problem]:
    for key, item in items:
        if not fits_type(item, kind, field.lax_number):
            damage = "item-type"
        elif kind in ("integer", "number") and not is_within(item, field):
            damage = "item-range"
        else:
            continue
        rule = record.rule_for(damage, field.name)
        if rule:
            name = f"{field.name}[{key}]" if isinstance(record.field(field.name).items, str) else field.name
            pointer = f"/{field.name}/{strict_json.escape(str(key))}"
            yield Problem(rule, pointer, item, {"field": name, "key": str(key)})


def fits_type(value: Any, kind: str, lax_number: bool = False) -> bool:
    """Whether a decoded value is of a declared type; non-finite numbers are no numbers."""
    if kind == "any":
        return True
    if kind == "integer":
        return type(value) is int
    if kind == "string":
        return isinstance(value, str)
    if kind == "number":
        if isinstance(value, bool):
            return lax_number
        if isinstance(value, str):
            return lax_number and _NUMERIC_TEXT.fullmatch(value) is not None
        if isinstance(value, float) and lax_number:
            return True
        return isinstance(value, int | float) and -MAX_FLOAT <= value <= MAX_FLOAT
    if kind == "boolean":
        return isinstance(value, bool)
    return isinstance(value, dict if kind == "object" else list)


def readable_key(value: Any, kind: str) -> Any:
    """A key's value for set checks, read leniently where it is damaged (``"12"`` and ``12.0`` mean 12); else None.

    The damage is reported by the record's own check; here a readable key keeps one fault from causing others.
    """
    if kind == "integer":
        if type(value) is int:
            return value if -(2**63) <= value < 2**63 else None
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
            return int(value)
        if isinstance(value, str) and _INTEGER_TEXT.fullmatch(value):
            number = int(value)
            return number if -(2**63) <= number < 2**63 else None
        return None
    return value if isinstance(value, str) else None
