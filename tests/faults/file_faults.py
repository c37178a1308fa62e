"""Faults of a file: cut, in another encoding, with a byte-order mark, with odd line ends, packed otherwise."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from tests.faults.drafts import BLANK, UNREADABLE, Cell
from tests.faults.expected import is_fault
from tests.faults.injections import Injection, Target

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%b\nsize 1508\n" % (b"9b" * 32)

_IN_ANOTHER_ENCODING = (
    ("Latin-1", b"number", b"n\xfcmber"),
    ("Latin-1", b"harbour", b"h\xe4fen"),
    ("cut character", b"moon", b"mo\xe2\x82n"),
)


def file_faults(target: Target) -> Iterator[Injection]:
    """Every damage of the file that the record stands in."""
    yield from _cut(target)
    yield from _not_utf8(target)
    yield mark_fault(target)
    if target.file.is_array:
        yield from _array_faults(target)
    else:
        yield from _line_ends(target)
    yield from _blank_lines(target)
    yield from _packing(target)


def line_file_faults(target: Target) -> Iterator[Injection]:
    """Every damage of a file of lines of cells."""
    first = target.file.cells[target.index].raw.split(None, 1)[0]
    name = next(iter(target.value))
    damaged = {name: first[:-1].decode() + "\N{REPLACEMENT CHARACTER}"}
    yield encoding_fault(target, b"\xfc", damaged, at=len(first) - 1, length=1)
    yield from _cut_lines(target)
    if not target.file.header:
        yield mark_fault(target)
    yield from _line_ends(target)
    yield from _blank_lines(target)
    yield from _packing(target)


def _cut_lines(target: Target) -> Iterator[Injection]:
    file, separator = target.file, (target.file.kind.columns.separator or " ").encode()
    last = len(file.cells) - 1
    raw, value = file.cells[last].raw, file.cells[last].value
    left = raw[: len(raw) // 2]
    if left.count(separator) == raw.count(separator):
        cut = Cell({**value, list(value)[-1]: left.decode().rsplit(separator.decode(), 1)[1]}, left, b"")
        yield target.injection(file.with_cell(last, cut), "cut file", "in the last cell (no fault)", frozenset())
    else:
        faults = target.places(target.record.rules.get("syntax", ""), line=file.line(last))
        middle = file.with_cell(last, Cell(UNREADABLE, left, b""))
        yield target.injection(middle, "cut file", "in the last record", faults)
    whole = file.with_cell(last, replace(file.cells[last], end=b""))
    yield target.injection(whole, "cut file", "before the last line feed (no fault)", frozenset())


def encoding_fault(target: Target, new: bytes, value: dict[str, str], at: int, length: int = 0) -> Injection:
    """Bytes in Latin-1 at a place of the record, which then has this value there."""
    raw = target.file.cells[target.index].raw
    at %= len(raw)
    cell = Cell({**target.value, **value}, raw[:at] + new + raw[at + length :])
    faults = target.places(_shared(target, "invalid-utf8"))
    return target.injection(target.replaced(cell), "invalid UTF-8", "Latin-1", faults)


def mark_fault(target: Target) -> Injection:
    """A byte-order mark before the first record."""
    own = target.draft.own_rules(target.file.kind.kind, "", "byte-order mark")
    faults = target.places(_shared(target, "byte-order-mark"), line=1) | target.places(*own)
    return target.injection(replace(target.file, head=b"\xef\xbb\xbf"), "byte-order mark", "at the start", faults)


def packing_faults(target: Target) -> Iterator[Injection]:
    """What is packed is told by the name; a pointer stands for a file that is elsewhere."""
    yield from _packing(target)


def _shared(target: Target, rule: str) -> str:
    return rule if is_fault(target.draft.format, rule) else ""


def _cut(target: Target) -> Iterator[Injection]:
    file, syntax = target.file, target.record.rules.get("syntax", "")
    last = len(file.cells) - 1
    raw = file.cells[last].raw
    faults = target.places(syntax, line=file.line(last))
    middle = file.with_cell(last, Cell(UNREADABLE, raw[: len(raw) // 2], b""))
    if file.is_array:
        middle = replace(middle, content=middle.data().removesuffix(file.closing))
    # of a file that ends within a record nothing is said to be missing
    yield target.injection(middle, "cut file", "in the last record", faults, alone=True)
    if not file.is_array:
        short = file.with_cell(last, Cell(UNREADABLE, raw[:-1], b""))
        yield target.injection(short, "cut file", "before its last byte", faults, alone=True)
        whole = file.with_cell(last, replace(file.cells[last], end=b""))
        yield target.injection(whole, "cut file", "before the last line feed (no fault)", frozenset())
    if file.path.endswith(".gz"):
        data = file.data()
        for name, left in (("gzip data in the middle", data[: len(data) // 2]), ("gzip data at the end", data[:-4])):
            cut = replace(file, content=left)
            yield target.injection(cut, "cut file", name, target.places("!broken-compression"), alone=True)


def _not_utf8(target: Target) -> Iterator[Injection]:
    """Latin-1 in a text; where the record has none, a stray byte behind it, which is no JSON either."""
    rule = _shared(target, "invalid-utf8")
    raw = target.file.cells[target.index].raw
    for name, old, new in _IN_ANOTHER_ENCODING:
        if (at := raw.lower().find(old)) >= 0:
            damaged = raw[:at] + new + raw[at + len(old) :]
            text = damaged.decode("utf-8", "replace")
            yield target.injection(
                target.replaced(Cell(json.loads(text), damaged)), "invalid UTF-8", name, target.places(rule)
            )
            break
    if not target.file.is_array:
        faults = target.places(rule, target.record.rules.get("syntax", ""))
        damaged = raw.removesuffix(b"}") + b"\xff}"
        yield target.injection(target.replaced(Cell(UNREADABLE, damaged)), "invalid UTF-8", "stray byte", faults)


def _line_ends(target: Target) -> Iterator[Injection]:
    file = target.file
    this = file.cells[target.index]
    mixed = target.places(_shared(target, "mixed-line-endings") if len(file.cells) > 1 else "")
    yield target.injection(target.replaced(replace(this, end=b"\r\n")), "CR LF", "on one line", mixed)
    lone = target.places(_shared(target, "lone-carriage-return"))
    yield target.injection(target.replaced(replace(this, end=b"\r")), "CR LF", "a lone CR", lone)
    yield target.injection(replace(file, line_end=b"\r\n"), "CR LF", "on every line (no fault)", frozenset())


def _blank_lines(target: Target) -> Iterator[Injection]:
    cells = target.file.cells
    rule = target.record.rules.get("blank", "") if not target.file.is_array else ""
    for name, index, raw in (
        ("in the middle", target.index, b""),
        ("of spaces", target.index, b"  \t "),
        ("at the end", len(cells), b""),
    ):
        end = b"\n" if target.file.is_array else None
        if target.file.is_array and index == len(cells):
            continue
        file = replace(target.file, cells=(*cells[:index], Cell(BLANK, raw, end), *cells[index:]))
        yield target.injection(file, "blank line", name, target.places(rule, line=file.line(index)))


def _array_faults(target: Target) -> Iterator[Injection]:
    """Commas and brackets between the elements; each costs no element."""
    file = target.file
    syntax = target.record.rules.get("syntax", "")
    this = file.cells[target.index]
    last = len(file.cells) - 1
    doubled = target.replaced(replace(this, end=b",,\n"))
    yield target.injection(doubled, "bad JSON", "two commas", target.places(syntax))
    final = file.with_cell(last, replace(file.cells[last], end=b",\n"))
    yield target.injection(final, "bad JSON", "a comma before the bracket", target.places(syntax, line=file.line(last)))
    data = file.data()
    below = file.line(last) + 1
    for name, content, line in (
        ("array not closed", data.removesuffix(file.closing), below),
        ("text behind the array", data + b"pear\n", below + 1),
        ("a second array", data + b"[]\n", below + 1),
    ):
        yield target.injection(
            replace(file, content=content), "bad JSON", name, target.places(syntax, line=line), alone=True
        )
    for name, content, damage in (
        ("an object", b'{"records": %b}\n' % data, "unwrapped" if file.kind.wrapper else "top-level"),
        ("a number", b"12\n", "top-level"),
        ("a text", b'"pear"\n', "top-level-string"),
        ("null", b"null\n", "top-level"),
    ):
        rules = file.kind.record.rules
        rule = rules.get(damage, rules.get("top-level", ""))
        yield target.injection(
            replace(file, content=content), "not an array", name, target.places(rule, line=1), alone=True
        )


def _packing(target: Target) -> Iterator[Injection]:
    """What is packed is told by the name; a pointer stands for a file that is elsewhere."""
    data = target.file.data()
    packed = gzip.decompress(data) if target.file.path.endswith(".gz") else gzip.compress(data, mtime=0)
    for name, content, rule in (
        ("otherwise than the name says", packed, _shared(target, "mislabelled-compression")),
        ("Git LFS pointer", LFS_POINTER, "lfs-pointer"),
    ):
        if content is LFS_POINTER and not _is_known_by_name(target):
            continue
        file = replace(target.file, content=content)
        yield target.injection(file, "wrong packing", name, target.places(f"!{rule}" if rule else ""), alone=True)


def _is_known_by_name(target: Target) -> bool:
    """Whether the file is taken for what it is, whatever is in it."""
    layouts = target.draft.format.layouts
    named = any(fnmatchcase(target.file.path, pattern) for layout in layouts for pattern in layout.files)
    return named or not (target.file.is_columns or target.file.is_tagged)
