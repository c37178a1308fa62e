"""The scanner's parser beside Python's ``json`` and ``csv``: a line or row that it proves is one to them, with the same
values.

A case has a thousand lines of JSON and some hundred tables. ``python -m tests.fuzz --part parsers --seconds 600``
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.scanner.blocks import BlockScanner
from ragdatakit.scanner.notes import BLANK, REFUSED
from ragdatakit.scanner.sheets import SheetColumn, SheetScanner, cut_records
from ragdatakit.schemas.declarations import Field, Record
from tests.fuzz.cases import Case

LINES, TABLES = 1000, 200
RECORD = Record(
    name="Line",
    title="a line",
    description="",
    fields=(Field("id: integer", ""), Field("text: string", ""), Field("more?: any | null", "")),
)
_NUMBERS = (
    *("0", "-0", "7", "-12", "1.5", "2e3", "1E+5", "0.1e-7", "01", "1.", ".5", "-", "+1", "1e", "1e+", "0x1", "1_0"),
    *("1e400", "-1e999", "NaN", "Infinity", "-Infinity", "9007199254740993", "9223372036854775807", "1" * 400),
    *("9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "0" * 20),
)
_PIECES = (
    *(b"a", b"tide ", "é".encode(), "漢".encode(), "\U0001f311".encode(), "\u2028".encode(), b"\x7f", b"/", b"'"),
    *(b'\\"', b"\\\\", b"\\/", b"\\b\\f", b"\\n", b"\\t", b"\\u0041", b"\\u00e9", b"\\ud83c\\udf11", b"\\u0000"),
    *(b"\\ud800", b"\\udc00", b"\\ud800\\u0041", b"\\uD83C", b"\\u12", b"\\x41", b"\\", b"\x00", b"\x1f", b"\t"),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xef\xbb\xbf", b'"', b"\xe2\x80"),
)
_PLAIN = 6  # so many pieces, from the first on, are nothing special
_BLANKS = (b"", b"", b" ", b"  ", b"\t", b"\x0b", b"\xc2\xa0")
_CELLS = (
    *("a", "tide", "", " ", "é", "漢", "7", "1.5", "NA", '""', '"a,b"', '"a\nb"', '"say ""x"""', '"', 'a"b', '"a"b'),
    *('" a"', "\0", "\ufeff", "\x1c", "'", "\\", '"\r\n"', "\t"),
)


def _text(rng: Random, odd: float) -> bytes:
    pieces = _PIECES if rng.random() < odd else _PIECES[:_PLAIN]
    return b'"' + b"".join(rng.choice(pieces) for _ in range(rng.choice((0, 1, 2, 5, 40)))) + b'"'


def _value(rng: Random, odd: float, depth: int = 0) -> bytes:
    kind = rng.randrange(8 if depth < 4 else 5)
    if kind < 2:
        return _text(rng, odd)
    if kind < 4:
        return (rng.choice(_NUMBERS) if rng.random() < odd else str(rng.randrange(999))).encode()
    if kind == 4:
        return rng.choice((b"true", b"false", b"null", *((b"True", b"nul", b"") if rng.random() < odd else ())))
    if kind == 5 and rng.random() < odd / 20:
        deep = rng.choice((60, 130, 600, 3000))
        return b"[" * deep + b"]" * deep
    items = [_value(rng, odd, depth + 1) for _ in range(rng.randrange(4))]
    if kind < 7:
        return b"[" + b",".join(items) + rng.choice((b"]", b"]", b"]", b",]") if rng.random() < odd else (b"]",))
    return _object([(_text(rng, odd), item) for item in items], rng, odd)


def _object(members: list[tuple[bytes, bytes]], rng: Random, odd: float) -> bytes:
    def blank() -> bytes:
        return rng.choice(_BLANKS) if rng.random() < odd else b""

    if members and rng.random() < odd / 4:
        members.append(rng.choice(members))
    found = [blank() + name + blank() + b":" + blank() + value + blank() for name, value in members]
    return b"{" + b",".join(found) + b"}"


def _line(rng: Random, odd: float) -> bytes:
    members = [(b'"id"', str(rng.randrange(99)).encode()), (b'"text"', _text(rng, odd))]
    for name in (b'"id"', b'"text"'):
        if rng.random() < odd / 4:
            members = [(n, _value(rng, odd) if n == name else v) for n, v in members]
    if rng.random() < 0.5:
        members.append((b'"more"', _value(rng, odd)))
    members += [(_text(rng, odd), _value(rng, odd)) for _ in range(rng.choice((0, 0, 1, 3)))]
    rng.shuffle(members)
    line = _object(members, rng, odd)
    if rng.random() < odd / 4:
        at = rng.randrange(len(line))
        line = line[:at] + rng.choice((b"", rng.choice(_PIECES))) + line[at + rng.randrange(3) :]
    return line.replace(b"\n", b"").replace(b"\r", b"")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name appears twice")
    return dict(pairs)


def _number(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ValueError("beyond all numbers")
    return float(text)


def _read(line: bytes) -> dict[str, Any] | None:
    """The record that Python reads, None where it is none."""
    try:
        value = json.loads(line.decode(), parse_constant=_number, parse_float=_number, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    fits = isinstance(value, dict) and type(value.get("id")) is int and type(value.get("text")) is str
    return value if fits and -(2**63) <= value["id"] < 2**63 else None


def _lines(rng: Random) -> Iterator[str]:
    odd = rng.choice((0, 0.3, 1))
    lines = [_line(rng, odd) for _ in range(LINES)]
    data = rng.choice((b"\n", b"\r\n")).join(lines)
    for portable in (False, True):
        found = BlockScanner(RECORD, {"id": "id", "text": "text"}, portable=portable).scan(data)
        if found is None:
            yield f"no line ends with a carriage return: {data!r}"
            continue
        refused = {note[2] for note in found.notes if note[0] in (REFUSED, BLANK)}
        proved = [number for number in range(len(lines)) if number not in refused]
        values = [_read(lines[number]) for number in proved]
        for number, value in zip(proved, values, strict=True):
            if value is None:
                yield f"proved, and Python reads no such record: {lines[number]!r}"
                return
        there = np.ones(found.rows, np.bool_)
        there[[note[1] for note in found.notes if note[0] == REFUSED]] = False
        expected = codes_of_texts([value["text"] for value in values if value is not None])
        for name, codes in (
            ("id", np.array([v["id"] for v in values if v is not None], np.int64).view(np.uint64)),
            ("text", expected),
        ):
            wrong = np.flatnonzero(found.columns[name].codes[there] != codes)
            if len(wrong):
                yield f"another {name} than Python reads: {lines[proved[wrong[0]]]!r}"
        sound = [] if odd else [number for number in refused if _read(lines[number]) is not None]
        if sound:
            yield f"nothing is wrong, yet refused: {lines[sound[0]]!r}"


def _rows(rng: Random) -> Iterator[str]:
    cells = _CELLS if rng.random() < 0.7 else _CELLS[:13]
    end = rng.choice(("\n", "\n", "\r\n", "\r"))
    text = "".join(
        ",".join(rng.choice(cells) for _ in range(rng.choice((3, 3, 3, 3, 2, 4)))) + rng.choice((end, end, end * 2))
        for _ in range(rng.randrange(12))
    )
    portable = rng.random() < 0.5
    data = text.encode()
    _, used, _ = cut_records(data, 1 << 40, True, (3,), portable)
    data = data[:used]
    columns = [SheetColumn(name, place, key=True, distinct=True) for place, name in enumerate("abc")]
    found = SheetScanner(3, columns, portable=portable).scan(data)
    expected = list(csv.reader(io.StringIO(data.decode(), newline="")))
    rows = [row for row in expected if len(row) > 1 or "".join(row).strip(" \t")]
    if len(rows) != found.rows:
        if not any(len(row) == 1 for row in expected):  # quotes around blanks are not seen any more
            yield f"{found.rows} rows instead of {len(rows)}: {data!r}"
        return
    refused = {note[1] for note in found.notes if note[0] == REFUSED}
    proved = [number for number in range(len(rows)) if number not in refused]
    for place, name in enumerate("abc"):
        shown = found.cells[name]
        texts = [rows[number][place] if len(rows[number]) == 3 else "" for number in proved]
        if any(len(rows[number]) != 3 for number in proved):
            yield f"proved with another number of cells: {data!r}"
        elif (shown.codes[proved] != codes_of_texts(texts)).any():
            yield f"other cells than Python reads in {name}: {data!r}"
        elif [shown.texts[n] for n in shown.numbers[proved].tolist()] != texts:
            yield f"other texts than Python reads in {name}: {data!r}"


def check(case: Case) -> Iterator[str]:
    """Where the scanner reads what Python does not, or otherwise."""
    yield from _lines(case.rng)
    for _ in range(TABLES):
        yield from _rows(case.rng)
