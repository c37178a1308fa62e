"""Faults of CSV files: cells, rows, headers, and what can happen to the file as a whole."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from dataclasses import replace

from tests.faults.drafts import BLANK, Cell, quoted, row
from tests.faults.expected import is_fault
from tests.faults.file_faults import LFS_POINTER
from tests.faults.injections import Injection, Target

_CELLS = {
    "empty": "",
    "blank": " ",
    "a number": "12",
    "a decimal": "12.5",
    "true": "true",
    "with a comma": "high, water",
    "with quotes": 'the "high" water',
    "over two lines": "high\nwater",
    "of no name": "null",
    "other letters": "высокая вода",
}


def csv_faults(target: Target) -> Iterator[Injection]:
    """Every damage of the row, of its cells, and of the file that it stands in."""
    for field in target.record.fields:
        if field.name in target.value:
            yield from _cells(target, field.name)
            yield _column_away(target, field.name)
            yield from _column_renamed(target, field.name)
    yield from _rows(target)
    yield from _files(target)


def _cells(target: Target, name: str) -> Iterator[Injection]:
    variants = target.draft.notes.get(f"cells {name}", _CELLS)
    sound = target.value[name]
    padded = {} if variants is not _CELLS else {"blanks before it": f" {sound}", "blanks behind it": f"{sound} "}
    for variant, text in {**variants, **padded}.items():
        rule = target.record.rule_for("empty", name) if not text and target.record.field(name).non_empty else ""
        own = target.draft.own_rules(target.file.kind.kind, name, variant)
        found = target.places(rule, *own)
        damaged = row({**target.value, name: text})
        yield target.injection(target.replaced(damaged), "odd cell", f"{name}: {variant}", found)
    # The loader reads such a cell up to the NUL, which is all of the sound one.
    cells = {k: quoted(v) + ("\0x" if k == name else "") for k, v in target.value.items()}
    found = target.places(target.record.rules.get("nul", ""))
    if not quoted(sound).startswith('"'):
        damaged = Cell(target.value, ",".join(cells.values()).encode())
        yield target.injection(target.replaced(damaged), "odd cell", f"{name}: NUL behind it", found)


def _column_away(target: Target, name: str) -> Injection:
    field = target.record.field(name)
    rule = target.record.rules.get("missing-column", "") if field.required and not _replaced(target, name) else ""
    rows = [list(target.file.cells[0].value), *(list(c.value.values()) for c in target.file.cells)]
    at = rows[0].index(name)
    text = "".join(",".join(map(quoted, r[:at] + r[at + 1 :])) + "\n" for r in rows)
    if not rule:
        cells = tuple(row({k: v for k, v in c.value.items() if k != name}) for c in target.file.cells)
        return target.injection(replace(target.file, cells=cells), "bad header", f"{name}: away", frozenset())
    file = replace(target.file, content=text.encode())
    return target.injection(file, "bad header", f"{name}: away", target.places(rule, line=1), alone=True)


def _replaced(target: Target, name: str) -> bool:
    """Whether another column of the file stands in for this one."""
    return any(f.replaces == name and f.name in target.value for f in target.record.fields)


def _column_renamed(target: Target, name: str) -> Iterator[Injection]:
    if not target.record.field(name).required or _replaced(target, name):
        return
    head, rest = target.file.data().split(b"\n", 1)
    names = head.decode().split(",")
    for how, other in (("in capitals", name.upper()), ("with a blank", f" {name}")):
        new = ",".join(other if n == name else n for n in names)
        file = replace(target.file, content=new.encode() + b"\n" + rest)
        rule = target.record.rules.get("missing-column", "")
        yield target.injection(file, "bad header", f"{name}: {how}", target.places(rule, line=1), alone=True)


def _rows(target: Target) -> Iterator[Injection]:
    rules, cells = target.record.rules, target.file.cells
    this = cells[target.index]
    found = list(target.value.items())
    for name, raw, rule in (
        ("a cell too many", this.raw + b",x", rules.get("long-row", "")),
        ("a comma too many", this.raw + b",", rules.get("long-row", "")),
        ("a cell too few", ",".join(quoted(v) for _, v in found[:-1]).encode(), rules.get("short-row", "")),
    ):
        value = this.value if rule != rules.get("short-row") else {**dict(found[:-1]), found[-1][0]: ""}
        places = target.places(rule)
        yield target.injection(target.replaced(Cell(value, raw)), "bad row", name, places)
    own = target.draft.own_rules(target.file.kind.kind, "", "copy")
    for name, index in (("right behind", target.index + 1), ("at the end", len(cells))):
        file = replace(target.file, cells=(*cells[:index], Cell(this.value, this.raw), *cells[index:]))
        places = target.places(*own, line=file.line(index))
        yield target.injection(file, "duplicate id", f"the whole record {name}", places)
    gone = replace(target.file, cells=(*cells[: target.index], *cells[target.index + 1 :]))
    yield target.injection(gone, "record gone", "not there", frozenset())
    extra = tuple(Cell(c.value, c.raw + b",x") for c in cells)
    wide = replace(target.file, content=target.file.header[:-1] + b",remark\n" + b"".join(c.raw + b"\n" for c in extra))
    yield target.injection(wide, "extra key", "a column at the end", frozenset())
    long = replace(target.file, cells=extra)
    shifted = target.places(rules.get("shifted", ""), line=2)
    yield target.injection(long, "bad row", "a cell too many in every row", shifted, alone=True)


def _files(target: Target) -> Iterator[Injection]:
    yield from _cut(target)
    yield from _encodings(target)
    yield from _line_ends(target)
    yield from _packing(target)


def _cut(target: Target) -> Iterator[Injection]:
    """The end of the file is missing, or all of it, or the closing quote of its last cell."""
    file, rules = target.file, target.record.rules
    last = len(file.cells) - 1
    cell = file.cells[last]
    names = list(cell.value)
    left = cell.raw[: len(cell.raw) // 2]
    value = dict(zip(names, next(csv.reader(io.StringIO(left.decode("utf-8", "ignore")))), strict=False))
    rule = rules.get("unclosed-quote" if left.count(b'"') % 2 else "short-row", "")
    cut = file.with_cell(last, Cell(value, left, b""))
    keys = [f.name for f in file.kind.record.fields if f.inferred and f.name not in value]
    cut_off = rules.get("cut-off", "") if keys and rule == rules.get("short-row") else ""
    places, ends = target.places(rule, cut_off, line=file.line(last)), left.count(b'"') % 2 > 0
    yield target.injection(cut, "cut file", "in the last record", places, alone=ends)
    whole = file.with_cell(last, replace(cell, end=b""))
    yield target.injection(whole, "cut file", "before the last line feed (no fault)", frozenset())
    raw = cell.raw[: cell.raw.rindex(b",") + 1] + b'"{}'
    unclosed = file.with_cell(last, Cell({**cell.value, names[-1]: "{}\n"}, raw))
    places = target.places(rules.get("unclosed-quote", ""), line=file.line(last))
    yield target.injection(unclosed, "bad row", "a quote that is not closed", places)
    for name, content, damage in (("empty", b"", "no-header"), ("only a header", file.header, "no-records")):
        own = target.draft.own_rules(file.kind.kind, "", name)
        places = target.places(f"!{rules[damage]}" if rules.get(damage) else "", *own)
        yield target.injection(replace(file, content=content), "cut file", name, places, alone=bool(places))


def _encodings(target: Target) -> Iterator[Injection]:
    file, this = target.file, target.file.cells[target.index]
    damaged = this.raw[: this.raw.rindex(b",") + 1] + b"\"{'a': 'h\xe4fen'}\""
    value = {**this.value, list(this.value)[-1]: "{'a': 'h\N{REPLACEMENT CHARACTER}fen'}"}
    places = target.places("invalid-utf8" if is_fault(target.draft.format, "invalid-utf8") else "")
    yield target.injection(target.replaced(Cell(value, damaged)), "invalid UTF-8", "Latin-1", places)
    marked = replace(file, head=b"\xef\xbb\xbf")
    yield target.injection(marked, "byte-order mark", "at the start (no fault)", frozenset())


def _line_ends(target: Target) -> Iterator[Injection]:
    """Nothing of this is a fault of a CSV file."""
    file, cells = target.file, target.file.cells
    this = cells[target.index]
    windows = replace(file, content=file.data().replace(b"\n", b"\r\n"))
    yield target.injection(windows, "CR LF", "on every line (no fault)", frozenset())
    for name, end in (("on one line (no fault)", b"\r\n"), ("a lone CR (no fault)", b"\r")):
        yield target.injection(target.replaced(replace(this, end=end)), "CR LF", name, frozenset())
    for name, blank in (("in the middle", b""), ("of spaces", b"  \t ")):
        with_blank = (*cells[: target.index], Cell(BLANK, blank), *cells[target.index :])
        yield target.injection(replace(file, cells=with_blank), "blank line", name, frozenset())


def _packing(target: Target) -> Iterator[Injection]:
    packed = gzip.compress(target.file.data(), mtime=0)
    for name, content, rule in (
        ("otherwise than the name says", packed, "mislabelled-compression"),
        ("Git LFS pointer", LFS_POINTER, "lfs-pointer"),
    ):
        places = target.places(f"!{rule}" if is_fault(target.draft.format, rule) else "")
        yield target.injection(replace(target.file, content=content), "wrong packing", name, places, alone=True)
