"""Faults of files of cells: cells that are no numbers, lines with too few cells or too many, headers, whole files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.faults.drafts import BLANK, UNREADABLE, Cell, line_of
from tests.faults.expected import is_fault
from tests.faults.file_faults import line_file_faults
from tests.faults.injections import Injection, Target

_NO_INTEGERS = {"text": "high", "a decimal": "1.0", "an exponent": "1e2", "a word": "true"}
_NO_NUMBERS = {"text": "high", "not a number": "nan", "infinite": "-inf", "two points": "1.2.3"}
_ODD_INTEGERS = {"with a sign": "+1", "with zeros": "001", "with an underscore": "0_1"}


def line_faults(target: Target) -> Iterator[Injection]:
    """Every damage of the line, of its cells, and of the file that it stands in."""
    for field in target.record.fields:
        if field.type in ("integer", "number"):
            yield from _no_numbers(target, field.name, field.type)
        else:
            yield from _other_words(target, field.name)
    yield from _counts(target)
    yield from _copies(target)
    yield from line_file_faults(target)
    if target.file.header:
        yield from _headers(target)


def _changed(target: Target, name: str, text: str, value: object) -> Cell:
    raw = line_of({**target.value, name: text}, target.file.kind.columns.separator).raw
    return Cell({**target.value, name: value}, raw)


def _no_numbers(target: Target, name: str, kind: str) -> Iterator[Injection]:
    rule = target.record.rule_for("type", name)
    for variant, text in (_NO_INTEGERS if kind == "integer" else _NO_NUMBERS).items():
        cell = _changed(target, name, text, text)
        yield target.injection(target.replaced(cell), "odd cell", f"{name}: {variant}", target.places(rule))
    if kind != "integer":
        return
    for variant, text in _ODD_INTEGERS.items():
        cell = _changed(target, name, text, int(text))
        yield target.injection(target.replaced(cell), "odd cell", f"{name}: {variant}", frozenset())
    field = target.record.field(name)
    for variant, number in (("too small", field.minimum), ("too large", field.maximum)):
        if number is not None:
            found = int(number) + (-1 if variant == "too small" else 1)
            cell = _changed(target, name, str(found), found)
            places = target.places(target.record.rule_for("range", name))
            yield target.injection(target.replaced(cell), "out of range", f"{name}: {variant}", places)


def _other_words(target: Target, name: str) -> Iterator[Injection]:
    """Whatever follows from an unknown word, the sets tell."""
    for variant, text in {"another word": "pear", "other letters": "гавань", "a quote mark inside": 'pe"ar'}.items():
        own = target.draft.own_rules(target.file.kind.kind, name, variant)
        cell = _changed(target, name, text, text)
        yield target.injection(target.replaced(cell), "odd cell", f"{name}: {variant}", target.places(*own))


def _counts(target: Target) -> Iterator[Injection]:
    raw, columns = target.file.cells[target.index].raw, target.file.kind.columns
    separator = (columns.separator or " ").encode()
    wrong = target.places(target.record.rules.get("syntax", ""))
    broken = {"a cell too few": raw[: raw.rindex(separator)], "one word": b"pear"}
    if columns.separator:
        broken["blanks for tabs"] = raw.replace(separator, b" ")
    if columns.quoted:
        broken["a quote mark that is not closed"] = b'"' + raw
    for name, damaged in broken.items():
        yield target.injection(target.replaced(Cell(UNREADABLE, damaged)), "bad row", name, wrong)
    more = raw + separator + b"pear"
    if columns.further:
        places = target.places(target.record.rules.get("extra", ""))
        yield target.injection(target.replaced(Cell(target.value, more)), "extra key", "a cell too many", places)
    else:
        yield target.injection(target.replaced(Cell(UNREADABLE, more)), "bad row", "a cell too many", wrong)
    if columns.quoted:
        cell = Cell(target.value, b'"' + raw.replace(separator, b'"' + separator + b'"') + b'"')
        yield target.injection(target.replaced(cell), "odd cell", "all quoted (no fault)", frozenset())
    if not columns.separator:
        cell = Cell(target.value, b" " + raw.replace(b" ", b"\t  ") + b" ")
        yield target.injection(target.replaced(cell), "odd cell", "more blanks (no fault)", frozenset())
    if columns.comment:
        comment = Cell({"comment": "# pear"}, f"{columns.comment} pear".encode())
        places = target.places(target.record.rules.get("extra", ""))
        yield target.injection(target.replaced(comment), "bad row", "a comment", places)


def _copies(target: Target) -> Iterator[Injection]:
    cells = target.file.cells
    copy = cells[target.index]
    for name, index in (("right behind", target.index + 1), ("at the end", len(cells))):
        file = replace(target.file, cells=(*cells[:index], Cell(copy.value, copy.raw), *cells[index:]))
        yield target.injection(file, "duplicate id", f"the whole line {name}", frozenset())
    numbers = [f.name for f in target.record.fields if f.type in ("integer", "number")]
    for name in numbers:
        other = {**copy.value, name: copy.value[name] + 1}
        line = line_of(other, target.file.kind.columns.separator)
        file = replace(target.file, cells=(*cells, line))
        rule = target.record.rule_for("range", name) if other[name] > (target.record.field(name).maximum or 9) else ""
        places = target.places(rule, line=file.line(len(cells)))
        yield target.injection(file, "contradiction", f"the line with another {name}", places)
    for twin in target.draft.files:
        if twin.kind is target.file.kind and twin.path != target.file.path:
            first = next(iter(target.value))
            cell = _changed(target, first, twin.cells[target.index].value[first], twin.cells[target.index].value[first])
            yield target.injection(target.replaced(cell), "in two splits", first, frozenset())
    gone = replace(target.file, cells=(*cells[: target.index], *cells[target.index + 1 :]))
    yield target.injection(gone, "record gone", "not there", frozenset())


def _headers(target: Target) -> Iterator[Injection]:
    """The first line is passed over, whatever it is."""
    file = target.file
    rule = target.record.rules.get("no-header", "")
    first, *rest = file.cells
    lost = replace(file, cells=(Cell(BLANK, first.raw), *rest), content=file.data().split(b"\n", 1)[1])
    yield target.injection(lost, "bad header", "away", target.places(rule, line=1))
    body = file.data().split(b"\n", 1)[1]
    for name, header in {"other names": b"a\tb\tc", "one word": b"pear", "blank": b"", "four": b"a\tb\tc\td"}.items():
        other = replace(file, content=header + b"\n" + body)
        odd = target.record.rules.get("odd-header", "") if header else ""
        yield target.injection(other, "bad header", name, target.places(odd, line=1))
    marked = replace(file, head=b"\xef\xbb\xbf")
    yield target.injection(marked, "byte-order mark", "before the header (no fault)", frozenset())
    empty = replace(file, cells=(), content=file.header)
    found = target.places(f"!{target.record.rules['no-records']}")
    yield target.injection(empty, "cut file", "only a header", found)
    assert is_fault(target.draft.format, rule)
