"""Files of a conversion: names that are safe, layouts that are Python's to the byte, counts that a dry run has, too."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.paths.own_files import RENAMED_IDS
from ragdatakit.outputs import file_writers
from ragdatakit.outputs.file_writers import encoded
from ragdatakit.outputs.written_files import Output, is_safe_name, safe_part
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError


def output(folder: Path | None) -> Output:
    return Output(folder, Losses())


OUTSIDE = ["../a", "a/../../b", "/etc/a", "..", "a/..", "\\\\host\\a", "a\\..\\b", "C:\\a", "C:a"]
ODD = [
    "",
    ".",
    "/",
    "./a",
    "a/",
    "a//b",
    "a/./b",
    "a\0b",
    "a\nb",
    "\ud800",
    "x" * 256,
    "é" * 128,
    "a?",
    "a*",
    "<a>",
    "|",
]
RESERVED = ["con", "NUL", "aux.txt", "a/Com1.jsonl", "lpt9", "PRN.a.b"]


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize("name", [*OUTSIDE, *ODD, *RESERVED])
def test_names_that_leave_the_folder_or_are_none_are_refused(name: str, dry: bool, tmp_path: Path) -> None:
    inside = tmp_path / "inside" / "out"
    inside.mkdir(parents=True)
    out = output(None if dry else inside)

    assert not is_safe_name(name)
    with pytest.raises(RagdataError, match="not a file name"):
        out.write(name, b"x")
    with pytest.raises(RagdataError, match="not a file name"), out.lines(name):
        pass
    with pytest.raises(RagdataError, match="not a file name"), out.path(name):
        pass
    assert not out.files
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


@pytest.mark.parametrize("name", ["a", "a/b.c", "..a", "a..", "ä/ö.json", "console", "com0", "x" * 255, ".hidden/a b"])
def test_usual_names_are_taken(name: str, tmp_path: Path) -> None:
    output(tmp_path).write(name, b"x")

    assert (tmp_path / name).read_bytes() == b"x"


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize(
    ("first", "second"),
    [("a.txt", "a.txt"), ("a.txt", "A.TXT"), ("x/é", "X/É"), ("a", "a/b"), ("a/b/c", "A"), ("a", "A/b")],
)
def test_no_file_takes_the_place_of_another(first: str, second: str, dry: bool, tmp_path: Path) -> None:
    out = output(None if dry else tmp_path)
    out.write(first, b"first")

    with pytest.raises(RagdataError, match=r"written twice|a file and a folder"):
        out.write(second, b"second")
    assert list(out.files) == [first]


def test_a_file_that_stands_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"mine")

    with pytest.raises(OSError, match="exists"):
        output(tmp_path).write("a", b"yours")

    assert (tmp_path / "a").read_bytes() == b"mine"


@given(st.text(max_size=300))
@example("con")
@example("COM1.txt")
@example("." * 300)
@example("a" * 119 + ".b")
@example("😀" * 100)
@example("../../etc/passwd")
@example("\ud800")
@example("")
def test_any_text_gives_a_usable_part(text: str) -> None:
    part = safe_part(text)

    assert is_safe_name(part)
    assert "/" not in part
    assert not part.startswith(".")
    assert not part.endswith((".", " "))
    assert len(part.encode()) <= 121
    assert safe_part(part) == part


@given(st.lists(st.text(st.sampled_from("aAä/.-é"), max_size=4), max_size=8))
def test_free_parts_are_never_the_same(texts: list[str]) -> None:
    out = output(None)

    for text in texts:
        out.write(f"{out.free_part('qrels/{}.tsv', text)}.x", b"")  # another name
        out.write(f"qrels/{out.free_part('qrels/{}.tsv', text)}.tsv", b"")

    assert len({name.lower() for name in out.files}) == 2 * len(texts)


_TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["\0", "\x7f", "\u2028", "\ufeff", '"\\/', "\b\f\n\r\t\x1f", "😀", "\n  ", "<&>"]
)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.sampled_from([0.5, -1.25, 0.0]) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=10,
)
_SIXTY_FOUR = st.integers(-(1 << 63), (1 << 64) - 1)
_INDENT = st.sampled_from([None, 1, 2, 4])


def _python(value: Any, indent: int | None) -> bytes:
    separators = (",", ":") if indent is None else None
    return json.dumps(value, indent=indent, ensure_ascii=False, separators=separators).encode()


def _raw(value: Any) -> Raw:
    """The value as it might stand in another file."""
    return Raw(json.dumps(value, indent=3, ensure_ascii=False, separators=(" ,\t", "\n:\r\n ")).encode())


def _written(values: list[Any] | dict[str, Any], indent: int | None, folder: Path) -> bytes:
    for old in folder.glob("*.json"):
        old.unlink()
    out = output(folder)
    if isinstance(values, list):
        with out.array("a.json", indent) as array:
            for value in values:
                array.write(value)
    else:
        with out.object("a.json", indent) as members:
            for name, value in values.items():
                members.write_member(name, value)
    assert out.files["a.json"].records == len(values)
    return (folder / "a.json").read_bytes()


@given(values=st.lists(_VALUE, max_size=4), indent=_INDENT)
@example(values=[], indent=2)
@example(values=[[], {}, [[]], {"": {}}], indent=4)
def test_arrays_are_laid_out_as_python_does_it(
    values: list[Any], indent: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()

    assert _written(list(map(_raw, values)), indent, folder) == _python(values, indent) or indent is None
    if all(_is_small(v) for v in values):
        assert _written(values, indent, folder) == _python(values, indent)
    assert json.loads(_written(list(map(_raw, values)), indent, folder)) == values


@given(values=st.dictionaries(_TEXT, _VALUE, max_size=4), indent=_INDENT)
@example(values={}, indent=2)
def test_objects_are_laid_out_as_python_does_it(
    values: dict[str, Any], indent: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    raw = {name: _raw(value) for name, value in values.items()}

    assert _written(raw, indent, folder) == _python(values, indent) or indent is None
    if all(_is_small(v) for v in values.values()):
        assert _written(values, indent, folder) == _python(values, indent)
    assert json.loads(_written(raw, indent, folder)) == values


@given(members=st.dictionaries(_TEXT, _TEXT, max_size=6), indent=_INDENT, together=st.integers(1, 3))
def test_members_that_are_texts_are_written_together_as_one_by_one(
    members: dict[str, str], indent: int | None, together: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    one_by_one = _written(members, indent, folder)
    names = list(members)
    out = output(folder)
    with out.object("many.json", indent) as file:
        for first in range(0, len(names), together):
            some = names[first : first + together]
            file.write_texts(some, [members[name] for name in some])

    assert (folder / "many.json").read_bytes() == one_by_one
    assert out.files["many.json"].records == len(members)


def test_an_element_of_many_megabytes_is_not_laid_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_writers, "MOST_LAID_OUT", 20)
    values = [{"ids": [1, 2]}, {"ids": list(range(20))}]

    written = _written(values, 2, tmp_path)

    assert json.loads(written) == values
    assert written == b'[\n  {\n    "ids": [\n      1,\n      2\n    ]\n  },\n  %b\n]' % (
        json.dumps(values[1], separators=(",", ":")).encode()
    )


def _is_small(value: Any) -> bool:
    """Whether the encoder takes it: integers of up to 64 bits."""
    if isinstance(value, dict):
        return all(map(_is_small, value.values()))
    if isinstance(value, list):
        return all(map(_is_small, value))
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 64


@pytest.mark.parametrize("text", ["1.00", "1e400", "-0", "1E+2", '"\\u00e9\\/"', str(1 << 80), "[1.0,{}]"])
def test_numbers_and_strings_of_others_stand_as_they_are(text: str, tmp_path: Path) -> None:
    out = output(tmp_path)
    with out.lines("a.jsonl") as lines:
        lines.write({"a": Raw(text.encode())})
    with out.array("a.json", None) as array:
        array.write([Raw(text.encode())])

    assert (tmp_path / "a.jsonl").read_text("utf-8") == f'{{"a":{text}}}\n'
    assert (tmp_path / "a.json").read_text("utf-8") == f"[[{text}]]"


_CELL = _TEXT | st.text(st.sampled_from("a\",;\r\n\t\0 '|\\"), max_size=6)


@given(
    rows=st.lists(st.lists(_CELL, min_size=2, max_size=2), max_size=5), delimiter=st.sampled_from([",", "\t", ";", "|"])
)
@example(rows=[["", ""], ["\r", "\n"], ['"', '""'], ["\ufeff", " x "]], delimiter=",")
def test_cells_are_read_again_as_they_were(
    rows: list[list[str]], delimiter: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "a.csv").unlink(missing_ok=True)
    out = output(folder)
    with out.csv("a.csv", ("a", "b\r"), delimiter) as table:
        for row in rows:
            table.write(row)

    data = (folder / "a.csv").read_bytes()

    read = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))
    assert read == [["a", "b\r"], *rows]
    assert data.endswith(b"\n")
    assert out.files["a.csv"].records == len(rows)


@given(
    rows=st.lists(st.tuples(_CELL, st.dictionaries(_TEXT, _TEXT, min_size=1, max_size=2)), max_size=6),
    cell=_CELL,
    delimiter=st.sampled_from([",", "\t", ";", "|"]),
    together=st.integers(1, 3),
)
@example(rows=[("a", {"b": '"'}), ("\r", {"\n": "c"}), ('"', {"": ""})], cell="document", delimiter=",", together=2)
def test_rows_with_objects_are_written_together_as_one_by_one(
    rows: list[tuple[str, dict[str, str]]],
    cell: str,
    delimiter: str,
    together: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for old in folder.glob("*.csv"):
        old.unlink()
    out = output(folder)
    with out.csv("one.csv", ("a", "b", "c"), delimiter) as table:
        for name, value in rows:
            table.write((name, cell, *map(bytes.decode, encoded([value]))))
    with out.csv("many.csv", ("a", "b", "c"), delimiter) as table:
        for first in range(0, len(rows), together):
            names, values = zip(*rows[first : first + together], strict=True)
            table.write_with_json(names, cell, encoded(values))

    assert out.files["many.csv"].records == len(rows)
    text = (folder / "many.csv").read_bytes().decode()
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) == list(
        csv.reader(io.StringIO((folder / "one.csv").read_bytes().decode(), newline=""), delimiter=delimiter)
    )


@given(
    rows=st.lists(st.tuples(_CELL, _CELL, _CELL), max_size=6),
    delimiter=st.sampled_from([",", "\t", ";", "|"]),
    together=st.integers(1, 3),
)
@example(rows=[("", "", ""), ("a", '"', "\n"), ("a", "\r", ",")], delimiter=",", together=2)
def test_columns_are_written_as_their_rows_are(
    rows: list[tuple[str, str, str]], delimiter: str, together: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for old in folder.glob("*.csv"):
        old.unlink()
    out = output(folder)
    with out.csv("many.csv", ("a", "b", "c"), delimiter) as table:
        table.write_columns(((), (), ()))
        for first in range(0, len(rows), together):
            table.write_columns(list(zip(*rows[first : first + together], strict=True)))

    text = (folder / "many.csv").read_bytes().decode()
    read = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    assert list(map(tuple, read)) == [("a", "b", "c"), *rows]
    assert out.files["many.csv"].records == len(rows)


def test_a_lone_empty_cell_is_no_blank_line(tmp_path: Path) -> None:
    out = output(tmp_path)
    with out.csv("a.csv", ("a",)) as table:
        table.write([""])
        table.write([None])
        table.write([1.5])

    assert (tmp_path / "a.csv").read_bytes() == b'a\n""\n""\n1.5\n'


def _write_all(out: Output, source: Path) -> None:
    """Something of everything that an output can do."""
    with out.lines("a.jsonl") as lines, out.array("deep/er/b.json") as array:
        for number in range(3):
            lines.write({"n": number, "t": "é" * 400_000})
            array.write({"n": number})
    with out.object("c.json", 4) as members:
        members.write_member("é", [1])
    with out.csv("d.tsv", ("a", "b"), "\t") as table:
        table.write(["\r", 1])
    with out.lines("e.txt") as lines:
        lines.put(b"head\n")
        lines.write_line("ä")
        lines.write_json("{}")
    out.write("f.bin", b"\0" * 3_000_000)
    out.write("g.txt", "é")
    out.write("h.bin", source)
    with out.path("i.db", 7) as path:
        path.write_bytes(b"database")
    out.moved("g.txt", "moved/g.txt")
    out.withdraw("f.bin")
    out.write("f.bin", b"again")
    for number in range(5):
        out.renamed("passage", number, f"p{number}")
    out.close()


def test_a_dry_run_counts_what_a_real_one_writes(tmp_path: Path) -> None:
    source = tmp_path / "source.bin"
    source.write_bytes(b"x" * 2_500_000)
    folder = tmp_path / "out"
    folder.mkdir()
    real, dry = output(folder), output(None)

    _write_all(real, source)
    _write_all(dry, source)

    assert dry.files == real.files
    assert [loss.as_dict() for loss in dry.losses] == [loss.as_dict() for loss in real.losses]
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} == set(real.files)
    for name, file in real.files.items():
        data = (folder / name).read_bytes()
        assert (file.name, file.bytes, file.sha256) == (name, len(data), hashlib.sha256(data).hexdigest())
    counted = {name: file.records for name, file in real.files.items()}
    assert counted == {
        "a.jsonl": 3,
        "deep/er/b.json": 3,
        "c.json": 1,
        "d.tsv": 1,
        "e.txt": 2,
        "f.bin": None,
        "h.bin": None,
        "i.db": 7,
        "moved/g.txt": None,
        RENAMED_IDS: 5,
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "source.bin"]


def test_renamed_ids_are_reported_and_counted(tmp_path: Path) -> None:
    out = output(tmp_path)

    for number in range(5):
        out.renamed("question", f"q{number}", f"old\n{number}")
    out.close()
    out.close()

    lines = (tmp_path / RENAMED_IDS).read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines][1] == {"kind": "question", "id": "q1", "was": "old\n1"}
    (*losses,) = out.losses
    assert [(loss.kind, loss.table, loss.count, len(loss.examples)) for loss in losses] == [
        ("renumbered", "questions", 5, 3)
    ]


def test_other_libraries_write_beside_and_what_fails_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    out = output(folder)
    with out.path("storage/a.db", 1) as path:
        assert not path.is_relative_to(folder)
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE harbour (name TEXT)")
        database.close()
    with pytest.raises(ValueError, match="broken"), out.path("b.db"):
        raise ValueError("broken")

    assert [p.name for p in folder.rglob("*") if p.is_file()] == ["a.db"]
    assert list(out.files) == ["storage/a.db"]
