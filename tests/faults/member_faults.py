"""Faults of files that are one JSON object: its members, their names, and the object as a whole."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace

from tests.faults.drafts import UNREADABLE, Cell, member_text
from tests.faults.expected import is_fault, rules_of_value
from tests.faults.file_faults import LFS_POINTER
from tests.faults.injections import Injection, Target
from tests.faults.values import field_variants

_NAMES = {"empty": '""', "blank": '" "', "surrogate": '"\\ud800 high water"', "a number": '"12"'}


def member_faults(target: Target) -> Iterator[Injection]:
    """Every damage of the member, and of the object that it stands in."""
    yield from _names(target)
    yield from _values(target)
    yield from _members(target)
    yield from _objects(target)
    yield from _files(target)


def _parts(target: Target) -> tuple[str, str, str, str]:
    """The names of the two fields, the member's name, its value as JSON text."""
    (first, name), (second, content) = target.value.items()
    return first, second, name, json.dumps(content, ensure_ascii=False)


def _names(target: Target) -> Iterator[Injection]:
    first, second, _, content = _parts(target)
    for variant, text in _NAMES.items():
        own = target.draft.own_rules(target.file.kind.kind, first, variant)
        rule = "lone-surrogate" if variant == "surrogate" else ""
        damage = "unpaired surrogate" if rule else "near type" if variant == "a number" else "empty"
        value = {first: json.loads(text), second: target.value[second]}
        damaged = Cell(value, f"{text}: {content}".encode())
        faults = target.places(rule if is_fault(target.draft.format, rule) else "", *own)
        yield target.injection(target.replaced(damaged), damage, f"{first}: {variant}", faults)


def _values(target: Target) -> Iterator[Injection]:
    first, second, name, _ = _parts(target)
    field = target.record.field(second)
    for variant in field_variants(field, target.value[second]):
        found = rules_of_value(target.draft.format, target.record, field, variant.text)
        own = target.draft.own_rules(target.file.kind.kind, second, variant.name)
        damaged = Cell({first: name, second: json.loads(variant.text)}, member_text(name, variant.text))
        faults = target.places(*(rule for rule, _ in found), *own)
        yield target.injection(
            target.replaced(damaged), variant.damage, f"{second}: {variant.name}", faults, pointers=frozenset(found)
        )


def _members(target: Target) -> Iterator[Injection]:
    _, _, name, content = _parts(target)
    cells, syntax = target.file.cells, target.record.rules.get("syntax", "")
    this = cells[target.index]
    for how, raw in {
        "Python's quotes": f"'{name}': {content}",
        "name without quotes": f"pear: {content}",
        "no colon": f'"{name}" {content}',
        "None for null": f'"{name}": None',
        "leading zero": f'"{name}": 012',
        "raw tab": f'"{name}": "a\tb"',
        "bad escape": f'"{name}": "a\\x41"',
        "a comment": f'/* pear */ "{name}": {content}',
        "no value": f'"{name}":',
        "no name": content,
    }.items():
        faults = target.places(syntax)
        yield target.injection(target.replaced(Cell(UNREADABLE, raw.encode())), "bad JSON", how, faults)
    for how, index in (("right behind", target.index + 1), ("at the end", len(cells))):
        file = replace(target.file, cells=(*cells[:index], Cell(this.value, this.raw), *cells[index:]))
        own = target.draft.own_rules(target.file.kind.kind, "", "copy")
        places = target.places(*own, line=file.line(index))
        yield target.injection(file, "duplicate id", f"the whole record {how}", places)
    gone = replace(target.file, cells=(*cells[: target.index], *cells[target.index + 1 :]))
    yield target.injection(gone, "record gone", "not there", frozenset())


def _objects(target: Target) -> Iterator[Injection]:
    """Commas and brackets between the members; each costs no member."""
    file, rules = target.file, target.record.rules
    syntax = rules.get("syntax", "")
    last = len(file.cells) - 1
    doubled = target.replaced(replace(file.cells[target.index], end=b",,\n"))
    yield target.injection(doubled, "bad JSON", "two commas", target.places(syntax))
    final = file.with_cell(last, replace(file.cells[last], end=b",\n"))
    faults = target.places(syntax, line=file.line(last))
    yield target.injection(final, "bad JSON", "a comma before the brace", faults)
    data, below = file.data(), file.line(last) + 1
    for name, content, line in (
        ("object not closed", data.removesuffix(b"}\n"), below),
        ("text behind the object", data + b"pear\n", below + 1),
        ("a second object", data + b"{}\n", below + 1),
    ):
        damaged = replace(file, content=content)
        yield target.injection(damaged, "bad JSON", name, target.places(syntax, line=line), alone=True)
    for name, content in (
        ("an array", b"[%b]\n" % data),
        ("a number", b"12\n"),
        ("a text", b'"pear"\n'),
        ("null", b"null\n"),
    ):
        if f"{name} is another kind" in target.draft.notes.get(file.kind.kind, ()):
            continue
        rule = rules.get("top-level", "")
        if name == "a text":
            rule = rules.get("top-level-string", rule)
        damaged = replace(file, content=content)
        yield target.injection(damaged, "not an array", name, target.places(rule, line=1), alone=True)


def _files(target: Target) -> Iterator[Injection]:
    file, fmt = target.file, target.draft.format
    syntax = target.record.rules.get("syntax", "")
    cells = file.cells
    last = len(cells) - 1
    raw = cells[last].raw
    middle = file.with_cell(last, Cell(UNREADABLE, raw[: len(raw) // 2], b""))
    middle = replace(middle, content=middle.data().removesuffix(b"}\n"))
    yield target.injection(
        middle, "cut file", "in the last record", target.places(syntax, line=file.line(last)), alone=True
    )
    empty = target.record.rules.get("no-records", "")
    if "never empty" not in target.draft.notes.get(file.kind.kind, ()):
        nothing = replace(file, content=b"{}\n")
        places = target.places(f"!{empty}" if empty else "")
        yield target.injection(nothing, "cut file", "no member", places, alone=True)

    this = cells[target.index]
    if (at := this.raw.find(b"harbour")) >= 0:
        damaged = this.raw[:at] + b"h\xe4fen" + this.raw[at + 7 :]
        first, second, _, _ = _parts(target)
        name, content = json.loads("{" + damaged.decode("utf-8", "replace") + "}").popitem()
        faults = target.places("invalid-utf8" if is_fault(fmt, "invalid-utf8") else "")
        latin = target.replaced(Cell({first: name, second: content}, damaged))
        yield target.injection(latin, "invalid UTF-8", "Latin-1", faults)
    mark = target.places("byte-order-mark" if is_fault(fmt, "byte-order-mark") else "", line=1)
    yield target.injection(replace(file, head=b"\xef\xbb\xbf"), "byte-order mark", "at the start", mark)
    windows = replace(file, content=file.data().replace(b"\n", b"\r\n"))
    yield target.injection(windows, "CR LF", "on every line (no fault)", frozenset())
    for name, content, rule in (
        ("otherwise than the name says", gzip.compress(file.data(), mtime=0), "mislabelled-compression"),
        ("Git LFS pointer", LFS_POINTER, "lfs-pointer"),
    ):
        places = target.places(f"!{rule}" if is_fault(fmt, rule) else "")
        yield target.injection(replace(file, content=content), "wrong packing", name, places, alone=True)
