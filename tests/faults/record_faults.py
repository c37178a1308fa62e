"""Faults of whole records: no JSON, no object, a key too many, a copy, a record that is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from tests.faults.drafts import Cell
from tests.faults.injections import Injection, Target, broken_cell, object_text, readable_cell

_NO_OBJECTS = {"a number": "12", "true": "true", "null": "null", "a text": '"pear"', "a list": '[{"a": 1}]'}


def record_faults(target: Target) -> Iterator[Injection]:
    """Every damage of the record as a whole."""
    yield from _no_json(target)
    if not target.file.is_array:
        yield from _no_json_line(target)
    yield from _no_objects(target)
    yield from _copies(target)
    if isinstance(target.value, dict):
        members = {**target.members(), "remark": '"pear"'}
        rule = target.record.rules.get("extra", "") if target.record.extra == "forbid" else ""
        own = target.draft.own_rules(target.file.kind.kind, "", "extra key")
        yield target.injection(
            target.replaced(readable_cell(object_text(members))), "extra key", "at the end", target.places(rule, *own)
        )
    yield from _gone(target)


def _no_json(target: Target) -> Iterator[Injection]:
    syntax = target.record.rules.get("syntax", "")
    sound = json.dumps(target.value, ensure_ascii=False)
    for name, raw in _broken_texts(target).items():
        if raw == sound:
            continue
        yield target.injection(target.replaced(broken_cell(raw)), "bad JSON", name, target.places(syntax))


def _broken_texts(target: Target) -> dict[str, str]:
    sound = json.dumps(target.value, ensure_ascii=False)
    if isinstance(target.value, str):
        return {"Python's quotes": f"'{target.value}'", "no quotes": "pear", "raw tab": f'"{target.value}\t"'}
    if not isinstance(target.value, dict):
        return {"None for a value": "None", "leading zero": f"0{target.value}", "text without quotes": "pear"}
    members = target.members()
    first, value = next(iter(members.items()))
    return {
        "trailing comma": sound.removesuffix("}") + ",}",
        "no comma between members": sound.replace(", ", " ", 1),
        "Python's quotes": repr(target.value),
        "name without quotes": sound.replace(f'"{first}"', first, 1),
        "no colon": sound.replace(": ", " ", 1),
        "None for null": object_text({**members, first: "None"}),
        "leading zero": object_text({**members, first: "012"}),
        "raw tab": object_text({**members, first: '"a\tb"'}),
        "bad escape": object_text({**members, first: '"a\\x41"'}),
        "a value too many": f"{sound.removesuffix('}')}, {value}}}",
        "a comment": sound.removesuffix("}") + " /* pear */}",
    }


def _no_json_line(target: Target) -> Iterator[Injection]:
    """What only a line can suffer: in an array the next elements would be drawn in."""
    syntax = target.record.rules.get("syntax", "")
    sound = json.dumps(target.value, ensure_ascii=False)
    for name, raw in {
        "cut": sound[: len(sound) // 2],
        "begun late": sound[len(sound) // 2 :],
        "text behind": f"{sound} pear",
        "comma behind": f"{sound},",
        "two on a line": f"{sound} {sound}",
        "text": "pear tree",
        "a bracket too many": sound + "}",
    }.items():
        yield target.injection(target.replaced(broken_cell(raw)), "bad JSON", name, target.places(syntax))
    spread = sound.replace(", ", ",\n", 1)
    if "\n" in spread:
        halves = target.places(syntax) | target.places(syntax, line=target.line + 1)
        cell, faults = (readable_cell(spread), frozenset()) if target.is_whole_file else (broken_cell(spread), halves)
        yield target.injection(target.replaced(cell), "bad JSON", "over two lines", faults)


def _no_objects(target: Target) -> Iterator[Injection]:
    shapes = {r.shape for r in target.file.kind.records}
    for name, text in _NO_OBJECTS.items():
        own = target.draft.own_rules(target.file.kind.kind, "", f"{name} among {target.record.shape}s")
        rules = target.file.kind.record.rules
        rule = "" if name == "a text" and "string" in shapes else rules.get("not-object", "")
        if name == "a list":
            rule = "" if target.is_whole_file else rules.get("array", rule)
        faults = target.places(rule, *own)
        yield target.injection(target.replaced(readable_cell(text)), "not an object", name, faults)
    if target.record.shape == "string":
        faults = target.places(*target.draft.own_rules(target.file.kind.kind, "", "an object"))
        yield target.injection(
            target.replaced(readable_cell('{"id": "20", "text": "The lighthouse number 20 was lit again."}')),
            "not an object",
            "an object",
            faults,
        )


def _copies(target: Target) -> Iterator[Injection]:
    cells = target.file.cells
    copy = cells[target.index]
    for name, index in (("right behind", target.index + 1), ("at the end", len(cells))):
        file = replace(target.file, cells=(*cells[:index], Cell(copy.value, copy.raw), *cells[index:]))
        own = target.draft.own_rules(target.file.kind.kind, "", "copy")
        yield target.injection(
            file, "duplicate id", f"the whole record {name}", target.places(*own, line=file.line(index))
        )


def _gone(target: Target) -> Iterator[Injection]:
    cells = target.file.cells
    file = replace(target.file, cells=(*cells[: target.index], *cells[target.index + 1 :]))
    own = target.draft.own_rules(target.file.kind.kind, "", "gone")
    yield target.injection(file, "record gone", "not there", target.places(*own))
