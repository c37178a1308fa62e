"""Records that are decoded together are the same as those that are decoded one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragdatakit.files.containers import record_runs
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.refused_records import Refused
from ragdatakit.schemas.conversions import Losses
from tests.broad import examples
from tests.conversion_tools import read_tables

LINES = st.lists(
    st.sampled_from(
        [
            b'{"_id": "d1", "text": "Skarn"}',
            b'{"_id": "d2", "text": "Kettle Reef \xc3\xa9", "n": 12345678901234567890}',
            b'{"_id": "d2", "text": "\xff"}',
            b'{"text": NaN}',
            b'{"a": 1}{"b": 2}',
            b'{"a":',
            b"1}",
            b"[1, 2]",
            b'"text"',
            b"7",
            b"",
            b" ",
            b"\r",
        ]
    ),
    max_size=8,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


class _Plain(msgspec.Struct, forbid_unknown_fields=True):
    doc_id: str = msgspec.field(name="_id")
    text: str


def _read(path: Path, container: str, refused: Refused | None = None) -> list[Any]:
    """What every way of reading gives, and what it tells of it."""
    file = DataFile(path, path.name, path.name, "corpus")
    found: list[Any] = []
    for way in ("objects", "values", "shaped"):
        reader = RecordReader(Losses(), refused)
        given = (msgspec.json.Decoder(_Plain),) if way == "shaped" else ()
        records = [_plain(r) for r in getattr(reader, way)(file, *given, container)]
        found.append((way, repr(records), [loss.as_dict() for loss in reader.losses]))
    return found


def _plain(record: Any) -> Any:
    if isinstance(record, _Plain):
        return {"_id": record.doc_id, "text": record.text}
    if isinstance(record, dict):
        return {k: msgspec.json.decode(v) if isinstance(v, msgspec.Raw) else v for k, v in record.items()}
    return record


def _one_by_one(patch: pytest.MonkeyPatch) -> None:
    for way in ("objects", "values", "shaped"):
        patch.setattr(record_runs.LineRun, way, lambda *_: None)
    patch.setattr(record_runs.PartRun, "values", lambda *_: None)


@given(LINES, st.booleans(), st.booleans())
@example([b'{"a": 1}{"b": 2}', b'{"a":', b"1}"], True, False)
@example([b'{"a": 1}\r', b'{"b": 2}\r', b'{"_id": "a", "text": "\xff"}\r'], True, False)
@example([b'{"a": 1}\r', b'{"b": 2}'], True, False)
@settings(max_examples=examples(80), deadline=None)
def test_lines_are_read_alike(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ended: bool, refuses: bool
) -> None:
    path = tmp_path_factory.mktemp("set") / "corpus.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n" * ended)
    refused = Refused()
    if refuses:
        refused.add(path.name, 2, None, "it is at fault")

    together = _read(path, "ndjson", refused)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_runs, "_PIECE", 20)
        in_pieces = _read(path, "ndjson", refused)
        _one_by_one(patch)
        singly = _read(path, "ndjson", refused)

    assert together == singly
    assert in_pieces == singly


@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 2]), st.booleans())
@settings(max_examples=examples(80), deadline=None)
def test_elements_are_read_alike(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], indent: int | None, refuses: bool
) -> None:
    path = tmp_path_factory.mktemp("set") / "corpus.json"
    path.write_text(json.dumps(values, indent=indent))
    refused = Refused()
    if refuses:
        refused.add(path.name, None, 1, "it is at fault")

    together = _read(path, "json-array", refused)
    with pytest.MonkeyPatch.context() as patch:
        _one_by_one(patch)
        singly = _read(path, "json-array", refused)

    assert together == singly


def test_only_the_lines_around_a_fault_are_read_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "corpus.jsonl"
    lines = [b'{"_id": "d%d", "text": "Skarn"}' % number for number in range(5000)]
    lines[1000], lines[4000] = b'{"_id": ', b'{"_id": "d4000"}'
    path.write_bytes(b"\n".join(lines))
    refused = Refused()
    refused.add(path.name, 4001, None, "it is at fault")
    closely: list[int] = []
    records = record_runs.LineRun.records

    def seen(run: record_runs.LineRun) -> Iterator[tuple[int, bytes]]:
        for place, raw in records(run):
            closely.append(place)
            yield place, raw

    monkeypatch.setattr(record_runs.LineRun, "records", seen)
    found = list(RecordReader(Losses(), refused).objects(DataFile(path, path.name, path.name, "corpus")))

    assert len(found) == 4998
    assert 1001 in closely
    assert 4001 not in closely
    assert 100 < len(closely) < 1000


def test_refused_lines_are_counted_through_all_blocks(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(f'{{"_id": "d{i}", "text": "{"x" * 1000}"}}\n' for i in range(3000)))
    refused = Refused()
    refused.add(path.name, 2501, None, "it is at fault")

    reader = RecordReader(Losses(), refused)
    found = [bytes(r["_id"]) for r in reader.objects(DataFile(path, path.name, path.name, "corpus"), "ndjson")]

    assert len(found) == 2999
    assert b'"d2500"' not in found


@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "_id": st.sampled_from(["d1", "d2", "", 7, None]),
                "title": st.sampled_from(["Skarn", "", None, 7]),
                "text": st.sampled_from(["It was lit in 1871.", "", None]),
                "metadata": st.sampled_from([{}, {"year": 1871}, None, [], "x"]),
                "url": st.just("u"),
            },
        ),
        min_size=1,
        max_size=4,
    )
)
@example([{"_id": "d1", "text": "a"}])
@example([{"text": "a", "metadata": {}, "title": None, "_id": "d1"}])
@settings(max_examples=examples(80), deadline=None)
def test_documents_of_beir_are_read_alike(
    tmp_path_factory: pytest.TempPathFactory, documents: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("set")
    usual = {"_id": "d0", "title": "Skarn", "text": "The lamp.", "metadata": {}}
    (folder / "corpus.jsonl").write_text("".join(json.dumps(d) + "\n" for d in (usual, *documents)))

    together = list(read_tables(folder, "beir").peek("documents"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_runs.LineRun, "shaped", lambda *_: None)
        singly = list(read_tables(folder, "beir").peek("documents"))

    assert together == singly


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False], ids=["the last line ends", "it does not"])
def test_lines_of_objects_are_decoded_at_once(end: str, last: bool) -> None:
    lines = ['{"a":1}', '{"a":[{"b":2},{"b":3}]}', '{"a":3}']
    decoder = msgspec.json.Decoder(dict[str, Any])

    for number in (1, 2, 3):
        data = end.join(lines[:number]) + (end if last else "")
        assert record_runs.object_lines(data.encode(), decoder) == [json.loads(line) for line in lines[:number]]
    for odd in (f"{lines[0]}{end}{end}{lines[1]}", f"{end}{lines[0]}", "[1]", f"{lines[0]}{lines[1]}", '{"a":1'):
        assert record_runs.object_lines((odd + (end if last else "")).encode(), decoder) is None
