"""What the compiled scanner says of CSV is what Python says, cell by cell; what it does not prove goes to Python.

``RAGDATA_FUZZ=100000`` tries that many tables instead of the usual number.
"""

from __future__ import annotations

import csv
import io
import json
import random
from typing import Any

import numpy as np
import pytest

from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.converters.gfm_rag.attributes import json_of_cell
from ragdatakit.files.containers.csv_cells import ColumnScan, split_record
from ragdatakit.files.containers.csv_rows import cut_rows
from ragdatakit.files.containers.python_literals import judge
from ragdatakit.scanner.library import library
from ragdatakit.scanner.notes import CANDIDATE, REFUSED
from ragdatakit.scanner.predicates import PythonDict
from ragdatakit.scanner.sheets import SheetColumn, SheetScanner, cut_records
from ragdatakit.schemas.cells import MISSING
from ragdatakit.validators.python_keys import spelling
from tests.block_mutations import tries
from tests.scanner_tools import needs_scanner
from tests.test_python_literals import mutated_cells

pytestmark = needs_scanner

COLUMNS = (
    SheetColumn("name", 0, key=True, non_empty=True, inferred=True, spelled=True, edged=True),
    SheetColumn("type", 1, key=True, distinct=True),
    SheetColumn("attributes", 2),
)
DICTS = PythonDict("attributes", "attributes-not-portable", "edge-attributes-unused", ("type", "document"))
CELLS = ["osprey", "lena hale", " x", "x\u3000", "", "a,b", 'say "x"', "é t", "漢字", "line\nbreak", "\r\n", "NA"]
CELLS += [
    "nan",
    "1901",
    "007",
    "-5",
    "+7 ",
    "1.5",
    ".5e3",
    "5.",
    "1e",
    "inf",
    "-Infinity",
    "ınf",
    "True",
    "FALSE",
    "1_000",
]
CELLS += ["9223372036854775808", "-9223372036854775808", "18446744073709551616", "0" * 30 + "7", "１２"]
CELLS += ["\x1c", "\t3\n"]
NUMBERS = [c for c in CELLS if ColumnScan.is_number(c)] + ["inf", "true"]
ATTRIBUTES = ["{}", "None", "{'a': 'b'}", '{"a": 1}', '{"content": "x"}', "{'content': \"\"}", "", "5", '{"a":1,"a":2}']
DAMAGE = ['"', "\n", ",", "\r", "\0", " ", "x", "\n\n", "7", "\r\n", '""', "\ufeff", "\t\n"]


@pytest.fixture(params=[False, True], ids=["quick", "portable"])
def portable(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def table(rng: random.Random) -> bytes:
    """Rows of three cells, some of them damaged."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=rng.choice(["\n", "\n", "\r\n", "\r"]))
    cells = rng.choice([CELLS, CELLS, NUMBERS, [*NUMBERS, "x"]])
    for _ in range(rng.randrange(8)):
        row = [rng.choice(cells), rng.choice(["entity", "document", "", "a\nb"]), rng.choice(ATTRIBUTES)]
        writer.writerow(rng.choice([row[:2], [*row, "more"], [*row, ""]]) if rng.random() < 0.1 else row)
    text = out.getvalue()
    for _ in range(rng.choice([0, 0, 1, 2])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(DAMAGE) + text[at:]
    data = text.encode()
    if rng.random() < 0.05:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + b"\xff" + data[at:]
    return data


def test_records_are_cut_as_python_cuts_them(portable: bool) -> None:
    rng = random.Random(1)

    for _ in range(tries(500)):
        data, ended = table(rng), rng.random() < 0.5
        most, widths = rng.choice([1, 3, 100]), rng.choice([(), (3,), (3, 4)])
        rows, used, lines = cut_records(data, most, ended, widths, portable)
        if widths:
            expected, _, _ = cut_rows(data, 0, 1, ended, widths, most)
            sound = next((n for n, row in enumerate(expected) if not row.closed), len(expected))
            assert rows <= sound, data
        part, its_used, its_lines = cut_rows(data[:used], 0, 1, True, (), most)
        assert (rows, used, lines) == (len(part), its_used, its_lines), data
        assert all(row.closed for row in part), data


def test_most_of_a_table_is_cut_at_once(portable: bool) -> None:
    data = b'name,entity,"{""k"": ""line\nbreak""}"\r\n\n \t\n"a ""b"" c",x"y,z\rlast,a,b\n' * 50

    assert cut_records(data, 1000, False, (3,), portable) == (150, len(data), 300)
    assert cut_records(data + b'"open,a,b\nx,y,z\n', 1000, True, (3,), portable) == (150, len(data), 300)
    assert cut_records(data + b"x,y", 1000, True, (3,), portable)[0] == 151


def expected_scan(cells: list[str]) -> ColumnScan:
    scan = ColumnScan(bare=ColumnScan())
    scan.add(cells)
    return scan


def as_scan(kinds: Any) -> ColumnScan:
    return ColumnScan(*kinds[:6], None, *kinds[6:])


def test_rows_are_what_python_reads(portable: bool) -> None:
    rng = random.Random(2)
    scanner = SheetScanner(3, COLUMNS, DICTS, portable)

    for _ in range(tries(500)):
        data = table(rng)
        _, used, _ = cut_records(data, 1 << 40, True, (3,), portable)
        data = data[:used]
        rows, _, lines = cut_rows(data, 0, 1, True)
        found = scanner.scan(data)
        assert (found.rows, found.lines) == (len(rows), lines), data
        notes = {note[1]: note for note in found.notes}
        for number, why in ((n, note[0]) for n, note in notes.items()):
            _, _, line, start, end = notes[number]
            assert (line + 1, data[start:end]) == (rows[number].line, rows[number].raw), (data, why)
        proved = [n for n in range(len(rows)) if notes.get(n, [CANDIDATE])[0] != REFUSED]
        cells = {n: [f.text for f in split_record(rows[n].raw.decode())[0]] for n in proved}
        assert all(len(row) == 3 and "\0" not in "".join(row) for row in cells.values()), data
        check_columns(found, cells, data)
        check_notes(found, cells, data)


def check_columns(found: Any, cells: dict[int, list[str]], data: bytes) -> None:
    proved = list(cells)
    names = [cells[n][0] for n in proved]
    name, kind = found.cells["name"], found.cells["type"]
    assert name.codes[proved].tolist() == codes_of_texts(names).tolist(), data
    for n, late in zip(name.late.tolist(), name.late_texts, strict=True):
        assert cells[n][0] == late
        name.spelled[n] = codes_of_texts([spelling(late)])[0]
    assert name.spelled[proved].tolist() == codes_of_texts([spelling(c) for c in names]).tolist(), data
    assert [kind.texts[n] for n in kind.numbers[proved].tolist()] == [cells[n][1] for n in proved], data
    for place, column in enumerate(("name", "type", "attributes")):
        all_cells = [cells[n][place] for n in proved]
        scan = expected_scan(all_cells)
        shown, bare = as_scan(found.cells[column].kinds), as_scan(found.cells[column].bare)
        scan_bare, scan.bare = scan.bare, None
        assert (shown.kind, shown.texts, shown.cells) == (scan.kind, scan.texts, scan.cells), data
        if scan.texts < 2:
            assert shown == scan, data
        assert scan_bare is not None
        assert (bare.kind, bool(bare.cells)) == (scan_bare.kind, any(c not in MISSING for c in all_cells)), data
    if name.kinds.texts < 2:
        assert name.texts == names, data
    assert name.number_like == sum(ColumnScan.is_number(c) for c in names), data


def check_notes(found: Any, cells: dict[int, list[str]], data: bytes) -> None:
    candidates = {note[1] for note in found.notes if note[0] == CANDIDATE}
    python_only = filled = 0
    for n, (name, kind, attributes) in cells.items():
        if n in candidates:
            continue
        judged = judge(attributes)
        assert name == name.strip() != "", data
        assert judged.clean, data
        assert kind != "document" or judged.has_content, data
        python_only += judged.kind == "dict" and not judged.portable
        filled += judged.kind == "dict"
    assert (found.python_only, found.filled) == (python_only, filled), data
    shown = [judge(cells[n][2]) for n in candidates]
    assert not python_only or any(j.kind == "dict" and not j.portable for j in shown), data
    assert not filled or any(j.kind == "dict" for j in shown), data


def cells_of(texts: list[str], portable: bool, dicts: PythonDict | None = None) -> Any:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[text, "x"] for text in texts])
    columns = (SheetColumn("cell", 0, key=True, spelled=True), SheetColumn("type", 1, key=True))
    return SheetScanner(2, columns, dicts, portable).scan(out.getvalue().encode())


def test_attributes_are_judged_as_python_reads_them(portable: bool) -> None:
    # a CR in a cell would be written without quotes
    cells = [c for c in mutated_cells(tries(3000), seed=2) if "\r" not in c and "\0" not in c and c.strip(" \t")]
    found = cells_of(cells, portable, PythonDict("cell", "a", "b", ("type", "x")))
    shown = {note[1] for note in found.notes}
    judged = [judge(cell) for cell in cells]

    assert [c for n, c in enumerate(cells) if n not in shown and not judged[n].clean] == []
    assert [c for n, c in enumerate(cells) if n not in shown and not judged[n].has_content] == []
    quiet = [judged[n] for n in range(len(cells)) if n not in shown]
    assert found.python_only == sum(not j.portable for j in quiet)
    assert found.filled == len(quiet)

    found = cells_of(cells, portable, PythonDict("cell", "a", "b"))
    shown = {note[1] for note in found.notes}
    assert [c for n, c in enumerate(cells) if n not in shown and not judged[n].clean] == []
    assert found.python_only == sum(j.kind == "dict" and not j.portable for n, j in enumerate(judged) if n not in shown)
    assert len(cells) - len(shown) > sum(j.clean for j in judged) * 0.7  # most of what is clean needs no second look


def test_dicts_are_written_as_python_writes_their_json(portable: bool) -> None:
    cells = [c for c in mutated_cells(tries(3000), seed=3) if "\r" not in c and "\0" not in c and c.strip(" \t")]
    cells += ["{}", "None", "{'a': 1.50}", "{'a': 0.00001}", '{"a": 1.50}', "{'a': -0.0, 'b': 2.0}"]
    scanner = SheetScanner(2, [SheetColumn("cell", 0, kept=True, json=True), SheetColumn("type", 1, kept=True)])
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([cell, "é" * (n % 3)] for n, cell in enumerate(cells))
    found = scanner.scan(out.getvalue().encode())

    kept, types = found.cells["cell"].kept, found.cells["type"].kept
    there = np.unpackbits(kept.valid, bitorder="little")[: len(cells)].tolist()
    late = set(kept.late.tolist())
    for n, cell in enumerate(cells):
        text = kept.data[kept.offsets[n] : kept.offsets[n + 1]].decode() if there[n] else None
        assert text == (cell if n in late else json_of_cell(cell, lambda *_: None)), cell
        assert types.data[types.offsets[n] : types.offsets[n + 1]].decode() == "é" * (n % 3)
    assert len(late) < sum(not judge(cell).clean for cell in cells) * 1.3  # most need no second look


def test_a_dict_of_many_or_deep_values_is_read_in_time(portable: bool) -> None:
    wide = json.dumps({f"k{n}": n for n in range(60_000)})
    deep = '{"a": ' * 50_000 + "1" + "}" * 50_000
    found = cells_of([wide, deep, "{'k': 1}"], portable, PythonDict("cell", "a"))

    assert [note[1] for note in found.notes] == [0, 1, 2]


def test_names_are_spelled_as_python_spells_them(portable: bool) -> None:
    letters = [chr(c) for c in range(1, 0x3100) if c not in (10, 13) and not 0xD800 <= c < 0xE000]
    letters += [chr(c) for c in (*range(0x4E00, 0xA000, 99), *range(0xAC00, 0xD7A4, 99), 0x1F311)]
    names = [text for c in letters for text in (c, f"Aé{c}B", f" {c}  {c}\u0301", f"{c}{c}")]
    found = cells_of(names, portable).cells["cell"]
    late = set(found.late.tolist())

    assert found.late_texts == [names[n] for n in sorted(late)]
    expected = codes_of_texts([spelling(name) for name in names])
    assert [name for n, name in enumerate(names) if n not in late and found.spelled[n] != expected[n]] == []
    for plain in ("ørland", "漢字 かな", 'Port  "Hale"', "한글"):
        assert not len(cells_of([plain], portable).cells["cell"].late), plain


def test_what_is_misused_is_refused() -> None:
    found = library()
    assert found is not None
    scanner = SheetScanner(3, COLUMNS, DICTS)
    rows = found.rd_rows_new()

    assert found.rd_rows_scan(None, rows, b"", 0, 0, None, 0) < 0
    assert found.rd_rows_scan(scanner._sheet, rows, b"", 0, 0, None, 41) < 0
    assert found.rd_rows_cut(None, 5, 1, 1, 3, 3, 0, None) < 0
    assert found.rd_mark(None, 0, None, 0) < 0 and found.rd_mark(None, 1, None, 1) < 0
    found.rd_rows_free(rows)
    for blob in (b"", b"\x01" * 40):
        assert not found.rd_sheet_new(blob, len(blob))
