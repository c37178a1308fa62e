"""Reading records for converters: what is hostile is left out with an account, and only `RagdataError` is raised."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import HALVES, Raw
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading import record_reading
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.refused_records import Refused
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.declarations import Columns, Field, File, Record
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples

_FIELDS = (Field(name="a", type="any", description=""), Field(name="b", type="any", description=""))
_RECORD = Record(name="r", title="R", description="", fields=_FIELDS)
CELLS = File(kind="c", title="C", container="columns", records=(_RECORD,), columns=Columns(separator="\t"))
ELEMENTS = File(kind="e", title="E", container="tagged", records=(_RECORD,), tags=("doc",))
DEEP = 100_000
BIG = 1 << 70


def _stream(reader: RecordReader, file: DataFile) -> Iterator[bytes]:
    with reader.stream(file) as stream:
        yield stream.read()


READERS: dict[str, Callable[[RecordReader, DataFile], Iterator[Any]]] = {
    "objects": lambda reader, file: reader.objects(file),
    "objects of an array": lambda reader, file: reader.objects(file, "json-array"),
    "objects, one alone": lambda reader, file: reader.objects(file, "json-single"),
    "objects and arrays": lambda reader, file: (value for _, value in reader.objects_and_arrays(file)),
    "values": lambda reader, file: reader.values(file),
    "values of an array": lambda reader, file: reader.values(file, "json-array"),
    "members": lambda reader, file: reader.members(file),
    "rows": lambda reader, file: reader.rows(file),
    "lines": lambda reader, file: reader.lines(file),
    "cells": lambda reader, file: reader.cells(file, CELLS),
    "elements": lambda reader, file: reader.elements(file, ELEMENTS),
    "text": lambda reader, file: iter([reader.text(file)]),
    "content": lambda reader, file: iter([reader.content(file)]),
    "stream": _stream,
}
every_reader = pytest.mark.parametrize("way", READERS)


def put(folder: Path, name: str, data: bytes) -> DataFile:
    (folder / name).write_bytes(data)
    return DataFile(folder / name, name, name, "records")


def plain(value: Any) -> Any:
    """A value in which `Raw` is told by its text."""
    if isinstance(value, Raw):
        return bytes(value).decode()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


def account(losses: Losses) -> dict[tuple[str, str], int]:
    """How often, by kind and the beginning of the reason."""
    found: dict[tuple[str, str], int] = {}
    for loss in losses:
        key = (loss.kind, loss.reason.split(":")[0])
        found[key] = found.get(key, 0) + loss.count
    return found


def read(folder: Path, data: bytes, way: str, name: str = "a.jsonl") -> tuple[list[Any], dict[tuple[str, str], int]]:
    """What one way of reading gives, and its account; the second time both are the same."""
    losses = Losses()
    reader, file = RecordReader(losses), put(folder, name, data)
    first = [plain(r) for r in READERS[way](reader, file)]
    counted = account(losses)
    assert [plain(r) for r in READERS[way](reader, file)] == first
    assert account(losses) == counted
    return first, counted


DROPPED = ("dropped", "no JSON")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"a": "\xff"}', "no JSON"),
        (b'{"a": {"b\xed\xa0\x80": 1}}', "no JSON"),
        (b'{"\xff": 1}', "no JSON"),
        (b'{"a": "\x00"}', "no JSON"),
        (b'{"a": 1}\x00', "no JSON"),
        (b"\x00{\x00}\x00", "no JSON"),
        (b'{"a": 01}', "no JSON"),
        (b'{"a": 1,}', "no JSON"),
        (b'{"a": 1', "no JSON"),
        (b"{'a': 1}", "no JSON"),
        (b"lit", "no JSON"),
        (b'{"a": ' + b"[" * DEEP + b"]" * DEEP + b"}", "its values are nested too deeply"),
        (b'{"a":' * DEEP + b"1" + b"}" * DEEP, "its values are nested too deeply"),
        (b"1", "no JSON object"),
        (b'"text"', "no JSON object"),
        (b"[1]", "no JSON object"),
        (b"null", "no JSON object"),
        (b"NaN", "no JSON"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_a_broken_record_is_dropped_once_and_the_others_stay(line: bytes, why: str, tmp_path: Path) -> None:
    data = b'{"a": 1}\n' + line + b'\n{"a": 2}\n' + line + b"\n"

    found, rows = read(tmp_path, data, "objects")

    assert found == [{"a": "1"}, {"a": "2"}]
    assert rows == {("dropped", why): 2}


NO_NUMBERS = "NaN or Infinity, which JSON does not have, became null"


@pytest.mark.parametrize("way", ["objects", "objects and arrays"])
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\\ud800", "a\\ufffd"),
        ("\\uDC00 more", "\\ufffd more"),
        ("\\\\ud800 \\ud83d\\ude00 \\ud83d\\u0041", "\\\\ud800 \\ud83d\\ude00 \\ufffd\\u0041"),
        ("\\ud83d\\ud83d\\ude00\\ude00", "\\ufffd\\ud83d\\ude00\\ufffd"),
    ],
)
def test_half_a_character_is_replaced_and_all_else_keeps_its_form(
    text: str, kept: str, way: str, tmp_path: Path
) -> None:
    data = f'{{"a": "{text}", "b": [1.00, "\\u00e9"]}}\n{{"a": NaN, "b": "{text}"}}\n'.encode()

    found, rows = read(tmp_path, data, way)

    assert found == [{"a": f'"{kept}"', "b": '[1.00, "\\u00e9"]'}, {"a": "null", "b": f'"{kept}"'}]
    assert rows == {("coerced", HALVES): 2, ("coerced", NO_NUMBERS): 1}
    assert json_text.loads(f'"{kept}"') == json.loads(f'"{text}"').encode("utf-16", "surrogatepass").decode(
        "utf-16", "replace"
    )


@pytest.mark.parametrize("text", ["\\ud8", "\\ud8zz", "\\ud800 \\x"])
def test_an_escape_that_is_none_is_not_taken_for_half_a_character(text: str, tmp_path: Path) -> None:
    found, rows = read(tmp_path, f'{{"a": "{text}", "b": "c"}}\n'.encode(), "objects")

    assert (found, rows) == ([], {("dropped", "no JSON"): 1})


@pytest.mark.parametrize("way", ["objects", "objects and arrays"])
@pytest.mark.parametrize(
    "value",
    ["1e400", "-1E+400", str(BIG), "-0", "-0.0", "1.00", "1e5", '"\\u00e9"', '"\\/"', '" NaN"', "[1, 2]", "9" * 5000],
)
def test_values_keep_their_form(value: str, way: str, tmp_path: Path) -> None:
    data = f'{{"a": {value}, "b": {value}}}\r\n{{"a": {value}}}'.encode()

    found, rows = read(tmp_path, data, way)

    assert found == [{"a": value, "b": value}, {"a": value}]
    assert rows == {}
    json_text.loads(value)  # whoever takes the value gets one


@pytest.mark.parametrize("way", ["objects", "objects and arrays", "objects, one alone"])
def test_nan_becomes_null_and_all_else_keeps_its_form(way: str, tmp_path: Path) -> None:
    data = b'{"a": NaN, "b": [-Infinity, 1.00, "NaN \\" Infinity", Infinity], "c": 1e400, "a": 7}'

    found, document = read(tmp_path, data, way, "a.json")

    assert found == [{"a": "7", "b": '[null, 1.00, "NaN \\" Infinity", null]', "c": "1e400"}]
    assert document == {("coerced", NO_NUMBERS): 1}


def test_values_are_decoded_exactly(tmp_path: Path) -> None:
    data = b'%d\n[1e400]\n%s\nNaN\n"\\ud800"\n"x"\n' % (BIG, b"1" * 5000)

    found, rows = read(tmp_path, data, "values")

    assert found == [BIG, [float("inf")], float("inf"), None, "\ufffd", "x"]
    assert rows == {
        ("coerced", "a number that no float holds became infinite"): 2,
        ("coerced", NO_NUMBERS): 1,
        ("coerced", HALVES): 1,
    }


@pytest.mark.parametrize("way", ["objects", "values"])
def test_blank_lines_marks_and_line_ends_are_no_records(way: str, tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"a":1}\r\n\r\n \t\n\n{"a":1,"a":2}\r\n  {"b":3}'

    found, rows = read(tmp_path, data, way)

    expected: list[dict[str, Any]] = [{"a": 1}, {"a": 2}, {"b": 3}]
    assert [{k: int(v) for k, v in r.items()} for r in found] == expected
    assert rows == {}


def test_broken_elements_of_an_array_do_not_hide_the_others(tmp_path: Path) -> None:
    data = b'[{"a": 1}, {"a": "\\ud800"}, {"a": tru}, 7, {"a": NaN}, {"a": 2},\n {"a": 3}'

    found, document = read(tmp_path, data, "objects", "a.json")

    assert found[:3] == [{"a": "1"}, {"a": '"\\ufffd"'}, {"a": "null"}]
    assert {"a": "2"} in found
    assert document["dropped", "no JSON object"] == 1
    assert sum(count for (kind, _), count in document.items() if kind == "dropped") == 3  # and that it is not closed


def test_broken_members_of_an_object_do_not_hide_the_others(tmp_path: Path) -> None:
    data = b'{"a": 1, "a": 1e400, "b": "\\ud800", "c\xff": 1, "d": NaN, "e": {"x": [2]}}'

    found, document = read(tmp_path, data, "members", "a.json")

    assert found == [["a", "1"], ["a", "1e400"], ["b", '"\\ufffd"'], ["d", "null"], ["e", '{"x": [2]}']]
    assert {kind: sum(n for (k, _), n in document.items() if k == kind) for kind in ("dropped", "coerced")} == {
        "dropped": 1,
        "coerced": 2,
    }


def test_cells_keep_every_character(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbfa,b,a\r\n"x\r\ny","1,""2""",z\r\nshort\r\n1,2,3,4\n\n"H\xf6rn",\x00,'

    found, rows = read(tmp_path, data, "rows", "a.csv")

    assert found[0] == {"a": "x\r\ny", "b": '1,"2"'}
    assert found[1] == {"a": "short"}
    assert found[2] == {"a": "1", "b": "2"}
    assert found[-1]["a"] == "H\ufffdrn"
    assert rows == {("coerced", "bytes that are not UTF-8 became U+FFFD"): 1}


@pytest.mark.parametrize("way", ["lines", "cells", "elements", "text", "rows"])
def test_bytes_that_are_no_text_are_reported(way: str, tmp_path: Path) -> None:
    data = b"a\tb\n<doc><a>\xff</a></doc>\tx y\n"

    found, rows = read(tmp_path, data, way, "a.txt")

    assert "\ufffd" in str(found)
    assert rows == {("coerced", "bytes that are not UTF-8 became U+FFFD"): 1}


def test_lines_that_are_broken_alike_have_one_reason(tmp_path: Path) -> None:
    losses = Losses()
    file = put(tmp_path, "a.jsonl", b'{"a": 1},\n{"a": 100},\n')

    assert list(RecordReader(losses).objects(file)) == []
    assert [(loss.count, len(loss.places)) for loss in losses] == [(2, 2)]


@every_reader
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_packed_or_not_whatever_the_name_says(name: str, way: str, tmp_path: Path) -> None:
    data = b'{"a": {"b": 1}}'

    expected, rows = read(tmp_path, data, way, "plain.jsonl")
    packed, said_packed = read(tmp_path, gzip.compress(data), way, name)
    as_it_is, said_as_it_is = read(tmp_path, data, way, name)

    assert packed == as_it_is == expected
    assert said_packed == said_as_it_is == rows


def _content_for(way: str) -> bytes:
    """Thousands of records of the kind that a way of reading takes."""
    pairs = [(i, f"{i * 0x9E3779B97F4A7C15:032x}") for i in range(400)]
    if way == "elements":
        return "".join(f"<doc><a>{a}</a><b>{b}</b></doc>\n" for a, b in pairs).encode()
    if way == "cells":
        return "".join(f"{a}\t{b}\n" for a, b in [("a", "b"), *pairs]).encode()
    if way == "members":
        return json.dumps({b: a for a, b in pairs}).encode()
    records = [json.dumps({"a": a, "b": b}) for a, b in pairs]
    return f"[{','.join(records)}]".encode() if "array" in way.split() else "\n".join(records).encode()


@pytest.mark.parametrize("way", [w for w in READERS if w != "objects, one alone"])
def test_what_stands_before_a_cut_is_read(way: str, tmp_path: Path) -> None:
    data = gzip.compress(_content_for(way))

    found, rows = read(tmp_path, data[: len(data) // 2], way, "a.jsonl.gz")

    assert found
    assert rows["dropped", "a.jsonl.gz could not be read whole"] == 1


@pytest.mark.parametrize(
    ("way", "data"), [("objects of an array", b'{"a": 1}'), ("values of an array", b"7"), ("members", b"[1, 2]")]
)
def test_a_file_that_is_something_else_is_reported(way: str, data: bytes, tmp_path: Path) -> None:
    found, rows = read(tmp_path, data, way)

    assert found == []
    assert rows == {("dropped", f"the file is not a JSON {'object' if way == 'members' else 'array'}"): 1}


@every_reader
def test_a_file_that_cannot_be_read_is_an_error_of_the_run(way: str, tmp_path: Path) -> None:
    file = DataFile(tmp_path / "gone.jsonl", "gone.jsonl", "gone.jsonl", "records")

    with pytest.raises(RagdataError, match=r"gone\.jsonl: "):
        list(READERS[way](RecordReader(Losses()), file))


@pytest.mark.parametrize("way", ["objects", "values", "objects and arrays"])
def test_refused_lines_are_left_out(way: str, tmp_path: Path) -> None:
    losses, refused = Losses(), Refused()
    file = put(tmp_path, "a.jsonl", b'{"a": 1}\n\n{"a": 2}\n{"a": 3}\n')
    refused.add("a.jsonl", 3, None, "AR999 says so")
    refused.add("a.jsonl", 3, None, "and another")
    refused.add("a.jsonl", None, None, "of the whole file")
    reader = RecordReader(losses, refused)

    for _ in range(2):
        assert [int(plain(r)["a"]) for r in READERS[way](reader, file)] == [1, 3]
    assert account(losses) == {("dropped", "AR999 says so"): 1}


@pytest.mark.parametrize(("way", "name"), [("objects", "a.json"), ("values", "a.json"), ("elements", "a.xml")])
def test_refused_records_are_left_out(way: str, name: str, tmp_path: Path) -> None:
    losses, refused = Losses(), Refused()
    data = b'[{"a": 1}, {"a": 2}, {"a": 3}]' if name == "a.json" else b"<doc><a>1</a></doc>" * 3
    file = put(tmp_path, name, data)
    refused.add(name, None, 1, "refused")
    reader = RecordReader(losses, refused)

    for _ in range(2):
        assert len(list(READERS[way](reader, file))) == 2
    assert account(losses) == {("dropped", "refused"): 1}


@pytest.mark.parametrize(("way", "data"), [("rows", b'a,b\n"1\n2",x\n3,4\n'), ("lines", b"1\n2\n3\n")])
def test_refused_rows_and_lines_are_left_out(way: str, data: bytes, tmp_path: Path) -> None:
    losses, refused = Losses(), Refused()
    file = put(tmp_path, "a.csv", data)
    refused.add("a.csv", 2, None, "refused")
    reader = RecordReader(losses, refused)

    for _ in range(2):
        found = list(READERS[way](reader, file))
    assert found == ([{"a": "3", "b": "4"}] if way == "rows" else ["1", "3"])
    assert account(losses) == {("dropped", "refused"): 1}


def test_a_line_longer_than_memory_allows_is_an_error_of_the_run(tmp_path: Path) -> None:
    file = put(tmp_path, "a.jsonl", b'{"a": "' + b"x" * (1 << 24) + b'"}\n')

    with pytest.raises(RagdataError, match="memory-limit"):
        list(RecordReader(Losses(), memory_limit=1).objects(file))


_PIECES = st.sampled_from(
    [
        *(b'{}[]",: \t\r\n\\' + b"\x00\xff\xef\xbb\xbf<>/a1-.e'").decode("latin-1"),
        '{"a": 1}\n',
        '{"a": "\\ud800"}\n',
        '"a": ',
        "NaN",
        "-Infinity",
        "1e400",
        "null",
        "<doc>",
        "</doc>",
        "<a>",
        "[{",
        "\r\n",
    ]
)
_CONTENT = st.lists(_PIECES, max_size=14).map(lambda pieces: "".join(pieces).encode("latin-1")) | st.binary(max_size=60)


@every_reader
@settings(max_examples=examples(60))
@given(data=_CONTENT, name=st.sampled_from(["a.jsonl", "a.json", "a.csv", "a.jsonl.gz"]), packed=st.booleans())
@example(data=b"[" * DEEP, name="a.json", packed=False)
@example(data=b'{"a":' * DEEP, name="a.jsonl", packed=False)
@example(data=b"", name="a.jsonl.gz", packed=False)
@example(data=b"\x1f\x8b", name="a.jsonl", packed=False)
def test_nothing_makes_a_reader_fail(
    way: str, data: bytes, name: str, packed: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()

    found, _ = read(folder, gzip.compress(data, mtime=0) if packed else data, way, name)

    for record in found:
        assert isinstance(record, dict | list | str | int | float | bytes | type(None))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(values=st.lists(st.dictionaries(st.text(), _JSON, max_size=4), max_size=5), indent=st.sampled_from([None, 1]))
def test_objects_are_given_as_they_stand(
    values: list[dict[str, Any]], indent: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    name = "a.jsonl" if indent is None else "a.json"
    text = "\n".join(map(json.dumps, values)) if indent is None else json.dumps(values, indent=indent)
    file = put(folder, name, text.encode())
    losses = Losses()

    objects = list(RecordReader(losses).objects(file, "" if indent is None else "json-array"))

    assert [{k: msgspec.json.decode(v) for k, v in o.items()} for o in objects] == values
    assert list(RecordReader(losses).values(file, "" if indent is None else "json-array")) == values
    assert not len(losses)


@pytest.mark.parametrize(
    ("container", "data"),
    [
        ("", b'{"a": 0}\n\n{"a": 1\n[2]\n{"a": 3}\n' + b'{"a": 9}\n' * 2000 + b"{}}\n" + b'{"a": 7}\n' * 2000),
        ("json-array", b'[{"a": 0}, {"a": 1,,}, [2], {"a": 3}, ' + b'{"a": 9}, ' * 2000 + b'{"a" 1}, {"a": 7}]'),
    ],
)
def test_records_that_are_dropped_have_numbers(container: str, data: bytes, tmp_path: Path) -> None:
    """As the records of findings do: blank lines are no records."""
    found = [n for n, _ in RecordReader(Losses()).numbered(put(tmp_path, "records", data), container)]
    values = [n for n, _ in RecordReader(Losses()).numbered_values(put(tmp_path, "records", data), container)]

    assert found == [0, *range(3, 2004), *range(2005, 2006 if container else 4005)]
    assert values == sorted({*found, 2})


@pytest.mark.parametrize("most", [0, 1 << 25])
def test_long_blocks_are_not_read_ahead(most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_reading, "LONG_BLOCK", most)
    file = put(tmp_path, "a.jsonl", b'{"a": 1}\n' * 400_000)
    begun: list[int] = []
    ahead: list[int] = []

    def take(data: bytes) -> Any:
        begun.append(len(data))
        return SimpleNamespace(lines=data.count(b"\n"), rows=data.count(b"\n"))

    for number, _ in enumerate(RecordReader(Losses()).taken(file, take, 3), 1):
        time.sleep(0.01)
        ahead.append(len(begun) - number)

    assert len(ahead) > 2
    assert any(ahead) == (most > 0)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("place", range(2, 14))
def test_refused_rows_of_large_tables_are_the_same_ones(
    end: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By blocks that are plain, as row by row: places are those of the first lines of rows."""
    cells = ["1", '"two\nlines"', '"a, ""b"""', "", '"\n\n"', "é", '"x"', "7"]
    data = "".join(f"{cell},{number}\n" for number, cell in enumerate(cells))
    file = put(tmp_path, "a.csv", f"a,b\n{data}".replace("\n", end).encode())
    refused, found, losses = Refused(), [], []
    refused.add("a.csv", place, None, "refused")
    refused.add("a.csv", 3, None, "refused, too")
    for worth in (1 << 20, 0):
        monkeypatch.setattr(record_reading, "_WORTH_COLUMNS", worth)
        losses.append(Losses())
        found.append(list(RecordReader(losses[-1], refused).rows(file)))
    assert found[0] == found[1]
    assert [*losses[0]] == [*losses[1]]
    assert len(found[0]) == len(cells) - (2 if place in (2, 5, 6, 7, 10, 11, 12) else 1)
