"""Faults of files of elements between tags: fields that are away or blank, tags that are not closed, whole files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.faults.drafts import BLANK, Cell, element
from tests.faults.file_faults import encoding_fault, mark_fault, packing_faults
from tests.faults.injections import Injection, Target


def element_faults(target: Target) -> Iterator[Injection]:
    """Every damage of the element, of what is in it, and of the file that it stands in."""
    for field in target.record.fields:
        if field.name in target.value:
            yield _away(target, field.name)
            yield from _contents(target, field.name)
    yield from _tags(target)
    yield from _copies(target)
    yield encoding_fault(target, b"<remark>h\xe4fen</remark>", {"remark": "h\N{REPLACEMENT CHARACTER}fen"}, at=-6)
    yield mark_fault(target)
    yield from packing_faults(target)
    yield from _line_ends(target)


def _tag(target: Target) -> str:
    return target.file.kind.tags[0]


def _away(target: Target, name: str) -> Injection:
    left = {k: v for k, v in target.value.items() if k != name}
    rule = target.record.rule_for("missing", name) if target.record.field(name).required else ""
    own = target.draft.own_rules(target.file.kind.kind, name, "missing")
    return target.injection(target.replaced(element(left, _tag(target))), "missing", name, target.places(rule, *own))


def _contents(target: Target, name: str) -> Iterator[Injection]:
    for variant, text in {"empty": "", "blank": " \t ", "two words": "high water", "an entity": "&lt;"}.items():
        by_name = {"&lt;": "<"}.get(text, text.strip())
        own = target.draft.own_rules(target.file.kind.kind, name, variant)
        cell = Cell({**target.value, name: by_name}, element({**target.value, name: text}, _tag(target)).raw)
        damage = "empty" if not by_name else "odd cell"
        yield target.injection(target.replaced(cell), damage, f"{name}: {variant}", target.places(*own))


def _tags(target: Target) -> Iterator[Injection]:
    raw, tag = target.file.cells[target.index].raw, _tag(target).encode()
    unclosed = Cell(target.value, raw.removesuffix(b"</%b>" % tag))
    own = target.draft.own_rules(target.file.kind.kind, "", "unclosed")
    yield target.injection(target.replaced(unclosed), "bad row", "not closed", target.places(*own))
    for name, damaged in {
        "in capitals": raw.replace(b"<%b>" % tag, b"<%b>" % tag.upper()).replace(
            b"</%b>" % tag, b"</%b>" % tag.upper()
        ),
        "with an attribute": raw.replace(b"<%b>" % tag, b'<%b lang="en">' % tag),
        "text behind it": raw + b" pear",
        "a further element": raw.replace(b"</%b>" % tag, b"<remark>pear</remark></%b>" % tag),
    }.items():
        yield target.injection(
            target.replaced(Cell(target.value, damaged)), "extra key", f"{name} (no fault)", frozenset()
        )


def _copies(target: Target) -> Iterator[Injection]:
    cells = target.file.cells
    copy = cells[target.index]
    for name, index in (("right behind", target.index + 1), ("at the end", len(cells))):
        file = replace(target.file, cells=(*cells[:index], Cell(copy.value, copy.raw), *cells[index:]))
        yield target.injection(file, "duplicate id", f"the whole element {name}", frozenset())
    gone = replace(target.file, cells=(*cells[: target.index], *cells[target.index + 1 :]))
    yield target.injection(gone, "record gone", "not there", frozenset())


def _line_ends(target: Target) -> Iterator[Injection]:
    """Nothing of this is a fault between tags."""
    cells = target.file.cells
    windows = replace(target.file, cells=tuple(replace(c, end=b"\r\n") for c in cells))
    yield target.injection(windows, "CR LF", "on every line (no fault)", frozenset())
    blank = (*cells[: target.index], Cell(BLANK, b""), *cells[target.index :])
    yield target.injection(replace(target.file, cells=blank), "blank line", "in the middle (no fault)", frozenset())
