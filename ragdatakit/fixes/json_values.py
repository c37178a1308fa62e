"""Repairs of one value in a JSON record. All bytes around it stay: order of keys, blanks, escapes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.record_forms import MemberForm
from ragdatakit.fixes.edits import edit_of, record_text, remove_record, safe, unsafe
from ragdatakit.schemas.declarations import INT64_MAX, INT64_MIN
from ragdatakit.schemas.fixes import Edit, Fix
from ragdatakit.validators.faults import Fault

_INTEGER = re.compile(r"-?(?:0|[1-9]\d*)", re.A)
_WHOLE = re.compile(r"(-?(?:0|[1-9]\d*))\.0+", re.A)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.A)

ValueText = Callable[[Any, str], str | None]
"""The text that a value is to have, given the value and its text; None where there is no sure one."""


def replaced(new_text: ValueText, make: Callable[..., Fix | None] = safe) -> Callable[[Fault], Fix | None]:
    """The repair that gives the faulty value another text."""

    def repair(fault: Fault) -> Fix | None:
        found = _value_at(fault)
        if found is None:
            return None
        text, start, end, value = found
        new = new_text(value, text[start:end])
        return None if new is None else make(edit_of(fault, text, start, end, new))

    return repair


def _value_at(fault: Fault) -> tuple[str, int, int, Any] | None:
    """The record, where the value at fault begins and ends in it, and the value."""
    text, pointer = record_text(fault), fault.problem.pointer
    if text is None or not pointer:
        return None
    span = fault.form.span(text, pointer)
    if span is None:
        return None
    start, end = span[0], span[0] + span[1]
    decoded = strict_json.decode(text[start:end])
    return None if decoded.error else (text, start, end, decoded.value)


def as_integer(value: Any, text: str) -> str | None:
    """``"3"`` and ``3.0`` as 3, where they are written as one writes an integer: not ``"007"``."""
    if isinstance(value, str):
        digits = value if _INTEGER.fullmatch(value) else None
    else:
        whole = _WHOLE.fullmatch(text) if isinstance(value, float) else None
        digits = whole[1] if whole else None
    if digits is None or digits == "-0" or not INT64_MIN <= int(digits) <= INT64_MAX:
        return None
    return digits


def as_number(value: Any, text: str) -> str | None:
    """``"0.9"`` as 0.9, where the text is a finite number as JSON writes it."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value) or abs(float(value)) == float("inf"):
        return None
    return value


def as_text(value: Any, text: str) -> str | None:
    """``3`` as ``"3"``: the digits as they are written, but -0 as the 0 that it is read as."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _NUMBER.fullmatch(text):
        return None
    return f'"{text if text != "-0" else "0"}"'


def as_id(value: Any, text: str) -> str | None:
    """The same of an integer: other numbers are written in more than one way."""
    return as_text(value, text) if isinstance(value, int) else None


_SEPARATORS = frozenset(";|\n")
"""What is between the items of a list that is written as a text."""


def as_list(kind: type | tuple[type, ...]) -> ValueText:
    """A value of this type as the one item of a list; a list of texts that is written as a text is that list, and
    what looks like another list is nothing sure, as ``a; b`` is."""

    def new_text(value: Any, text: str) -> str | None:
        if not isinstance(value, kind) or isinstance(value, bool):
            return None
        if not isinstance(value, str) or not value.lstrip().startswith("["):
            is_open = isinstance(value, str) and not _SEPARATORS.isdisjoint(value.strip())
            return f"[{text}]" if not is_open else None
        items = strict_json.decode(value).value
        is_texts = isinstance(items, list) and all(isinstance(item, str) for item in items)
        return json.dumps(items, ensure_ascii=False) if is_texts else None

    return new_text


def stripped(value: Any, text: str) -> str | None:
    """``" a"`` as ``"a"``, with the escapes that it has."""
    bare = value.strip() if isinstance(value, str) else ""
    if not bare or bare == value:
        return None
    as_written = f'"{text[1:-1].strip()}"'
    return as_written if strict_json.decode(as_written).value == bare else json.dumps(bare, ensure_ascii=False)


def lower(allowed: frozenset[str]) -> ValueText:
    """A text in lower case, where that is one of those that are allowed."""

    def new_text(value: Any, text: str) -> str | None:
        if not isinstance(value, str) or value == value.strip().lower() or value.strip().lower() not in allowed:
            return None
        return json.dumps(value.strip().lower())

    return new_text


def only_item(value: Any, text: str) -> str | None:
    """``["a"]`` as ``"a"``."""
    return text[1:-1].strip() if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str) else None


def null_as(new: str) -> ValueText:
    """The same in the place of null."""
    return lambda value, text: new if value is None and text == "null" else None


def either(*texts: ValueText) -> ValueText:
    """What the first of them says that says something."""
    return lambda value, text: next((new for each in texts if (new := each(value, text)) is not None), None)


to_integer = replaced(as_integer)
to_number = replaced(as_number)
to_text = replaced(as_text)
to_text_id = replaced(as_id)
to_lone_text = replaced(either(as_text, only_item))
list_of_texts = replaced(either(as_list(str), null_as("[]")))
to_empty_list = replaced(null_as("[]"))
text_to_list = replaced(as_list(str))
integer_to_list = replaced(as_list(int))


def without_member(fault: Fault) -> Edit | None:
    """The member of an object that the fault points at goes, with its comma."""
    found = _container_of(fault)
    if found is None:
        return None
    text, parts, place = found
    return edit_of(fault, text, *_cut(text, parts, place), "")


def drop_null(fault: Fault) -> Fix | None:
    """Remove a member whose value is null."""
    found = _value_at(fault)
    return safe(without_member(fault)) if found is not None and found[3] is None else None


def drop_if(says_nothing: Callable[[Any], bool]) -> Callable[[Fault], Fix | None]:
    """The repair that removes a member whose value says nothing."""

    def repair(fault: Fault) -> Fix | None:
        found = _value_at(fault)
        return safe(without_member(fault)) if found is not None and says_nothing(found[3]) else None

    return repair


def drop_item(fault: Fault) -> Fix | None:
    """Remove an item of a list that says nothing more than another one."""
    return safe(without_member(fault))


def add_member(name: str, value: str) -> Callable[[Fault], Fix | None]:
    """The repair that gives an object the member that it lacks, as the last one; a null there gets the value."""

    def repair(fault: Fault) -> Fix | None:
        text = record_text(fault)
        parts = _members_of(text) if text is not None else []
        if text is None or not parts:
            return None
        there = [(start, end) for each, start, end in parts if each == name]
        if not there:
            last = parts[-1][2]
            return safe(edit_of(fault, text, last, last, f', "{name}": {value}'))
        if len(there) > 1 or not text[slice(*there[0])].endswith("null"):
            return None
        return safe(edit_of(fault, text, there[0][1] - len("null"), there[0][1], value))

    return repair


def rename_member(new: Callable[[Fault], str | None]) -> Callable[[Fault], Fix | None]:
    """The repair that gives the member at fault another name, where the object has none of that name."""

    def repair(fault: Fault) -> Fix | None:
        found, name = _container_of(fault), new(fault)
        if found is None or not name or any(each == name for each, _, _ in found[1]):
            return None
        text, parts, place = found
        start = parts[place][1]
        return unsafe(edit_of(fault, text, start, strict_json.end_of(text, start), json.dumps(name)))

    return repair


def name_as_missing(fault: Fault, other: str = "") -> Fix | None:
    """The member that seems to be meant for the missing one of a record, or the ``other``, gets its name."""
    near, name = other or fault.problem.facts.get("near"), fault.problem.facts.get("field")
    text = record_text(fault)
    if text is None or not isinstance(name, str) or fault.problem.pointer:
        return None
    for called, start, _ in _members_of(text):
        if called == near:
            return unsafe(edit_of(fault, text, start, strict_json.end_of(text, start), json.dumps(name)))
    return None


def _members_of(text: str) -> list[tuple[str, int, int]]:
    """The members of a record that is an object; none where it is not."""
    try:
        begin = strict_json.solid(text, 0)
        return list(_parts(text, begin)) if text[begin] == "{" else []
    except (ValueError, IndexError, RecursionError):
        return []


def remove_member(fault: Fault) -> Fix | None:
    """Remove a member, or an item of a list."""
    return unsafe(without_member(fault))


def remove_item(fault: Fault) -> Fix | None:
    """Remove an item of a list, unless it is known what it means; where it is the only one, the record."""
    found = _container_of(fault)
    if found is None or fault.problem.nearly:
        return None
    return remove_record(fault) if len(found[1]) == 1 else unsafe(without_member(fault))


def reorder(first: str) -> Callable[[Fault], Fix | None]:
    """The repair that puts the member of this name before the others."""

    def repair(fault: Fault) -> Fix | None:
        text = record_text(fault)
        parts = _members_of(text) if text is not None else []
        place = next((i for i, (name, _, _) in enumerate(parts) if name == first), 0)
        if text is None or not place or len({name for name, _, _ in parts}) < len(parts):
            return None
        spans = [(start, end) for _, start, end in parts[: place + 1]]
        between = [text[end:start] for (_, end), (start, _) in pairwise(spans)]
        moved = [text[start:end] for start, end in (spans[-1], *spans[:-1])]
        new = "".join(piece for pair in zip(moved, [*between, ""], strict=True) for piece in pair)
        return safe(edit_of(fault, text, spans[0][0], spans[-1][1], new))

    return repair


def moved_to(name: Callable[[Fault], str | None]) -> Callable[[Fault], Fix | None]:
    """The repair that moves an item of a list to the end of another list, which is next to it under this name or is
    made."""

    def repair(fault: Fault) -> Fix | None:
        found, target, pointer = _container_of(fault), name(fault), fault.problem.pointer or ""
        if found is None or not target:
            return None
        text, parts, place = found
        span = fault.form.span(text, pointer.rsplit("/", 2)[0])
        beside = list(_parts(text, span[0])) if span is not None else []
        item = text[parts[place][1] : parts[place][2]]
        there = [end for each, _, end in beside if each == target]
        if len(there) > 1 or not beside or (there and text[there[0] - 1] != "]"):
            return None
        if there:
            is_empty = text[: there[0] - 1].rstrip().endswith("[")
            at, new = there[0] - 1, item if is_empty else f", {item}"
        else:
            at, new = beside[-1][2], f", {json.dumps(target, ensure_ascii=False)}: [{item}]"
        return safe(edit_of(fault, text, *_cut(text, parts, place), ""), edit_of(fault, text, at, at, new))

    return repair


def _container_of(fault: Fault) -> tuple[str, list[tuple[str, int, int]], int] | None:
    """The record, the parts of the object or list that has the value at fault, and which of them that is."""
    text, pointer = record_text(fault), fault.problem.pointer
    if text is None or not pointer or (isinstance(fault.form, MemberForm) and pointer.count("/") < 2):
        return None
    above, _, name = pointer.rpartition("/")
    name = name.replace("~1", "/").replace("~0", "~")
    span = fault.form.span(text, above)
    if span is None:
        return None
    try:
        parts = list(_parts(text, span[0]))
    except (ValueError, IndexError, RecursionError):
        return None
    places = [i for i, (each, _, _) in enumerate(parts) if each == name]
    return (text, parts, places[0]) if len(places) == 1 else None


def _parts(text: str, begin: int) -> Iterator[tuple[str, int, int]]:
    """The members of an object, names included, or the elements of an array: name or number, begin and end."""
    begin = strict_json.solid(text, begin)
    if text[begin] == "[":
        for number, (start, end) in strict_json.elements(text, begin):
            yield number, start, end
        return
    before = begin
    for name, (_, end) in strict_json.members(text, begin):
        yield name, text.index('"', before + 1), end
        before = end - 1


def _cut(text: str, parts: list[tuple[str, int, int]], place: int) -> tuple[int, int]:
    """What goes with a part: the comma behind it and the blanks up to the next one; of the last the comma before it."""
    _, start, end = parts[place]
    if place + 1 < len(parts):
        return start, parts[place + 1][1]
    if place:
        return parts[place - 1][2], end
    return start, end


drop_empty_text = drop_if(lambda value: value == "")
