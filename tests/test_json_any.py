"""Records in any JSON container: lines, an array, one record alone; told by the content and read the same."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.files.detection.sniffing import guess_kind, json_container, looks_like, read_head
from ragdatakit.schemas.declarations import File
from tests.arrays_of_elements import array
from tests.block_mutations import TOKENS, tries
from tests.json_containers import NOTE, TRACE, notebook, run, validate, written

SHAPES: tuple[tuple[bytes, str], ...] = (
    (b"", "ndjson"),
    (b" \n\n", "ndjson"),
    (b'{"title": "a"}', "ndjson"),
    (b'{"title": "a"}\n', "ndjson"),
    (b'\n\n{"title": "a"}\n{"title": "b"}\n', "ndjson"),
    (b'{"title": "a"}\r\n\r\n{"title": "b"}\r\n', "ndjson"),
    (b'\xef\xbb\xbf{"title": "a"}\n{"title": "b"}\n', "ndjson"),
    (b"{}\n{}\n", "ndjson"),
    (b'{"title": "a",}\n{"title": "b"}\n', "ndjson"),
    (b'{"title": "a",}\n{"title": "b",}\n', "ndjson"),
    (b'{"title": "a"\n', "ndjson"),
    (b'{"title": "a"\n{"title": "b"}\n{"title": "c"}\n', "ndjson"),
    (b"hello\n", "ndjson"),
    (b"12\n13\n", "ndjson"),
    (b'"a"\n"b"\n', "ndjson"),
    (b'["query", ["text"]]\n["query", ["text"]]\n', "ndjson"),
    (b'[{"title": "a"}, "b"]\n[{"title": "c"}, "d"]\n', "ndjson"),
    (b"[]\n", "json-array"),
    (b"[", "json-array"),
    (b'[{"title": "a"}]', "json-array"),
    (b'[{"title": "a"}, {"title": "b"}]\n', "json-array"),
    (b'[\n  {"title": "a"},\n  {"title": "b"}\n]\n', "json-array"),
    (b' \n[\n{\n"title": "a"\n}\n]', "json-array"),
    (b'[["query", ["text"]], ["query", ["text"]]]', "json-array"),
    (b'[{"title": "a"},\n{"title": "b"}', "json-array"),
    (b'["query", ["text"]]', "json-single"),
    (b'[\n  "query",\n  ["text"]\n]\n', "json-single"),
    (b'{\n  "title": "a"\n}\n', "json-single"),
    (b'{"title": "a",\n "cites": ["b"]}', "json-single"),
    (b'{\n"title": "a",\n"cites": [\n{}\n]\n}', "json-single"),
    (b'{\n  "title": "a",\n', "json-single"),
    (b'{\n  "title" "a"\n}\n', "json-single"),
    (b'{\r\n  "title": "a"\r\n}\r\n', "json-single"),
)


@pytest.mark.parametrize(("data", "container"), SHAPES)
@pytest.mark.parametrize("zipped", [False, True])
def test_the_container_is_reported_by_the_content(data: bytes, container: str, zipped: bool, tmp_path: Path) -> None:
    path = written(tmp_path / "t.json", data, zipped)

    assert json_container(path) == container
    assert run({"traces": path}).container(run({"traces": path}).dataset.files[0]) == container


def test_what_cannot_be_read_counts_as_lines(tmp_path: Path) -> None:
    assert json_container(tmp_path) == "ndjson"
    assert json_container(tmp_path / "none.json") == "ndjson"
    assert json_container(written(tmp_path / "t.json.gz", b"\x1f\x8b broken")) == "ndjson"


def test_long_first_records(tmp_path: Path) -> None:
    record = {"title": "a", "cites": ["text " * 1000] * 400}

    for text, container in (
        (json.dumps(record), "ndjson"),
        (json.dumps(record) + "\n" + json.dumps(record), "ndjson"),
        (json.dumps(record, indent=1), "json-single"),
        (json.dumps([record]), "json-array"),
        (json.dumps([record], indent=1), "json-array"),
    ):
        path = written(tmp_path / "t.json", text.encode())
        assert json_container(path) == container
        head = read_head(path)
        assert head is not None
        assert head.container == container
        assert looks_like(head, notebook("json").file("traces")) > 0
        assert validate({"traces": path}) == []


def texts(rng: Random, records: list[Any]) -> dict[str, str]:
    """The records in each container that can hold them."""
    lines = "\n".join(json.dumps(r) for r in records)
    found = {
        "ndjson": lines + rng.choice(("", "\n")),
        "json-array": json.dumps(records, indent=rng.choice((None, 0, 2))),
    }
    if len(records) == 1:
        found["json-single"] = json.dumps(records[0], indent=rng.choice((0, 1, 4)))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_same_records_give_the_same_findings(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    notes = written(tmp_path / "o.json", b'{"tide": "x", "moon": "y"}')
    titles: tuple[Any, ...] = ("a", "b", 7, None, "\ud800")
    cited: tuple[Any, ...] = (["tide"], ["sun", "moon"], [], "tide", None, [1])

    for _ in range(tries(120) // 4):
        records = [
            {"title": rng.choice(titles), "cites": rng.choice(cited), "more": {"a": rng.choice((1, 2**60, "é"))}}
            for _ in range(rng.choice((1, 1, 2, 5)))
        ]
        by_name = {}
        for container, text in texts(rng, records).items():
            traces = written(tmp_path / "t.json", text.encode())
            size, scanned = rng.choice((30, 1 << 19)), rng.random() < 0.5
            done = run({"notes": notes, "traces": traces}, size, scanned)
            assert done.container(done.dataset.files[1]) == container
            assert done.dataset.files[1].records == len(records)
            by_name[container] = sorted((f.rule, f.record, f.pointer, str(f.value)) for f in done.collector.kept)
        assert all(t == by_name["ndjson"] for t in by_name.values()), by_name


def test_one_record_alone_has_its_places(tmp_path: Path) -> None:
    data = b'\n {\n  "title": 7,\n  "cites": [\n   "sun"\n  ]\n}\n'
    notes = written(tmp_path / "o.json", b'{"tide": "x"}')

    for scanned in (False, True):
        files = {"notes": notes, "traces": written(tmp_path / "t.json", data)}
        found = validate(files, scanned=scanned)
        assert [(f.rule, f.line, f.column, f.byte_offset, f.record, f.pointer) for f in found] == [
            ("no-name", 3, 12, 2, 0, "/title"),
            ("unknown-title", 5, 4, 2, 0, "/cites/0"),
        ]


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b'{\n  "title": "a"\n', 2, 15),
        (b'{\n  "title": "a",\n}\n', 2, 15),
        (b'{\n  "title": "a"\n}\n{\n  "title": "b"\n}\n', 4, 1),
        (b'{\n  "title": nul\n}\n', 2, 12),
    ],
)
def test_one_broken_record_is_reported_where_it_breaks(data: bytes, line: int, column: int, tmp_path: Path) -> None:
    found = validate({"traces": written(tmp_path / "t.json", data)})

    assert [(f.rule, f.record) for f in found] == [("not-json", 0)]
    assert found[0].line == line
    assert found[0].column is not None
    assert abs(found[0].column - column) <= 1


def test_one_record_longer_than_the_memory_limit_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "t.json", b'{\n"title": "' + b"x" * 400_000 + b'"\n}')
    monkeypatch.setattr("tests.json_containers.RunOptions", lambda **_: _options())

    done = run({"traces": path})

    assert [f.rule for f in done.collector.kept] == ["line-too-long"]
    assert not done.dataset.files[0].readable


def _options() -> Any:
    from ragdatakit.validators.run_options import RunOptions

    return RunOptions(jobs=1, memory_limit=1 << 20)


def kind(container: str, *keys: str) -> File:
    record = NOTE if container == "json-object" else TRACE
    return File(kind="k", title="k", container=container, records=(record,), keys=keys)  # type: ignore[arg-type]


HEADS = (
    (b'{"tide": "x", "moon": "y"}', "json-object", True),
    (b'{\n"tide": "x",\n"moon": "y"\n}', "json-object", True),
    (b'{"tide": "' + b"x" * 200_000 + b'", "moon": "y"}', "json-object", True),
    (b'{\n"tide": "' + b"x" * 2_000_000, "json-object", True),
    (b'{"tide": "x", "moon": 1}', "json-object", False),
    (b'{"tide": ["x"]}', "json-object", False),
    (b"{}", "json-object", False),
    (b'{"tide": "x"}\n{"tide": "y"}\n', "json-object", False),
    (b'[{"tide": "x"}]', "json-object", False),
    (b'{"title": "x"}', "json", True),
    (b'{\n"title": "x"\n}', "json", True),
    (b'{"title": "x"}\n{"title": "x"}\n', "json", True),
    (b'[{"title": "x"}]', "json", True),
    (b'[\n{"title": "' + b"x" * 2_000_000, "json", True),
    (b'{"name": "x"}', "json", False),
    (b'{"title": "x"}\n', "ndjson", True),
    (b'[{"title": "x"}]', "ndjson", False),
    (b'{\n"title": "x"\n}', "ndjson", False),
)


@pytest.mark.parametrize(("data", "container", "fits"), HEADS)
def test_heads_of_containers(data: bytes, container: str, fits: bool, tmp_path: Path) -> None:
    head = read_head(written(tmp_path / "t.json", data))

    assert bool(head is not None and looks_like(head, kind(container, "title"))) == fits


def test_an_object_of_records_is_guessed_last(tmp_path: Path) -> None:
    fmt = notebook("json")
    head = read_head(written(tmp_path / "t.json", b'{"title": "a", "other": "b"}'))
    other = read_head(written(tmp_path / "o.json", b'{"tide": "a", "other": "b"}'))

    assert guess_kind(head, (fmt,)) == (fmt, fmt.file("traces"))
    assert guess_kind(other, (fmt,)) is None


@pytest.mark.parametrize("seed", range(4))
def test_an_array_that_is_no_json_is_reported_whatever_happened(seed: int, tmp_path: Path) -> None:
    """Damage that Python's reader refuses is an error of the file; without such damage there is none."""
    rng = Random(seed + 300)

    for _ in range(tries(400) // 4):
        data = array(rng, [{"title": f"tide {i}"} for i in range(rng.randrange(1, 8))]).data
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(len(data) + 1)
            data = data[:at] + rng.choice((*TOKENS, b"")) + data[at + rng.randrange(4) :]
        refused = True
        try:
            refused = not isinstance(json.loads(data.decode("utf-8-sig")), list)
        except (ValueError, RecursionError):
            pass
        files = {"traces": written(tmp_path / "a.json", data)}

        for size, scanned in ((rng.choice((1, 9, 40)), True), (1 << 19, False)):
            findings = validate(files, size, scanned, container="json-array")
            rules = {f.rule for f in findings} & {"not-json", "not-records", "only-text", "invalid-utf8"}
            assert bool(rules) == refused, data
