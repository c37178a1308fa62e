"""What an output does not tell of its source comes back from the sidecar, whatever became of it on the way."""

from __future__ import annotations

import gzip
import json
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.outputs import sidecar_entries
from ragdatakit.outputs.sidecars import FOLDER, put_back, restored_format, write_sidecar
from ragdatakit.schemas.canonical import Asset, Chunk, Document, Edge, Qrel, Question, Trace
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples

Rows = dict[str, list[Any]]

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
SHORT = st.sampled_from(["", "a", "b", "c"])
DOCUMENTS = st.builds(Document, SHORT, TEXTS, st.none() | TEXTS, st.none() | st.just('{"a":1.50}'))
EDGES = st.builds(Edge, SHORT, SHORT, SHORT, st.none() | st.just('{"b":[2]}'), st.none() | st.floats(allow_nan=False))
OBJECTS = st.none() | st.sampled_from(['{"a":1.50}', "{}"])
LISTS = st.lists(TEXTS, max_size=2).map(tuple)
QUESTIONS = st.builds(Question, st.none() | SHORT, TEXTS, aliases=LISTS, metadata=OBJECTS, field_order=LISTS)
QRELS = st.builds(Qrel, SHORT, SHORT, st.integers(), st.sampled_from(["document", "chunk"]), st.none() | SHORT)
TRACES = st.builds(Trace, st.none() | SHORT, st.sampled_from(["{}", '{"a":1}']), st.none() | TEXTS)
ASSETS = st.builds(Asset, SHORT, st.binary(max_size=4))
ROWS = {"documents": DOCUMENTS, "edges": EDGES, "questions": QUESTIONS, "qrels": QRELS, "traces": TRACES}
ROWS["assets"] = ASSETS


def sources(rows: Rows) -> dict[str, Any]:
    return {table: (lambda listed=listed: iter(listed)) for table, listed in rows.items()}


def keep(folder: Path, source: Rows, output: Rows) -> dict[str, int]:
    return write_sidecar(folder / FOLDER, "beir", sources(source), sources(output))


def restored(folder: Path, output: Rows, losses: Losses | None = None) -> Rows:
    found = {table: list(rows()) for table, rows in put_back(sources(output), folder, losses).items()}
    return {table: rows for table, rows in found.items() if rows}


@st.composite
def changed_rows(draw: st.DrawFn) -> tuple[str, list[Any], list[Any]]:
    """A table's rows, and what may have become of them: left out, changed, repeated, new, in another order."""
    table = draw(st.sampled_from(sorted(ROWS)))
    rows = draw(st.lists(ROWS[table], max_size=8))
    others = draw(st.lists(st.sampled_from(rows) if rows else ROWS[table], max_size=8))
    if draw(st.booleans()):
        others = [row for row in rows if draw(st.booleans())]
    for number, row in enumerate(others):
        if draw(st.booleans()):
            other = draw(ROWS[table])
            columns = draw(st.sets(st.sampled_from(row._fields)))
            others[number] = row._replace(**{name: getattr(other, name) for name in columns})
    return table, rows, others


@given(changed_rows())
@settings(max_examples=examples(150))
def test_whatever_became_of_them_rows_come_back(case: tuple[str, list[Any], list[Any]]) -> None:
    table, rows, others = case
    with tempfile.TemporaryDirectory() as scratch:
        counts = keep(Path(scratch), {table: rows}, {table: others})

        assert restored(Path(scratch), {table: others}) == ({table: rows} if rows else {})
        assert bool(counts) == (rows != others)


def test_nothing_is_kept_of_what_the_output_tells(tmp_path: Path) -> None:
    rows: Rows = {"documents": [Document("d1", "one")], "questions": [Question("q1", "Who?")]}

    counts = keep(tmp_path, rows, {**rows, "questions": [Question("q1", "Who?", "Ada")]})

    assert counts == {"questions": 1}
    assert [p.name for p in (tmp_path / FOLDER).iterdir()] == ["questions.ndjson.gz"]
    assert restored_format(tmp_path) == "beir"


def test_a_table_that_was_not_written_comes_back(tmp_path: Path) -> None:
    rows: Rows = {"questions": [Question("q1", "Who?", "Ada", ("A.", "Brandt")), Question(None, "When?")]}
    keep(tmp_path, rows, {})

    assert restored(tmp_path, {}) == rows


def test_a_table_that_the_target_made_goes_away(tmp_path: Path) -> None:
    rows: Rows = {"documents": [Document("d1", "one")]}
    made: Rows = {**rows, "qrels": [Qrel("q1", "d1")]}
    keep(tmp_path, rows, made)

    assert restored(tmp_path, made) == rows


def test_files_come_back(tmp_path: Path) -> None:
    (tmp_path / "moon.png").write_bytes(b"\x89PNG")
    rows = [Asset("images/moon.png", tmp_path / "moon.png", "image"), Asset("notes.sql", b"\x00\xff", "sql")]
    keep(tmp_path, {"assets": rows}, {})

    found = restored(tmp_path, {})["assets"]

    assert [(a.path, a.content) for a in found] == [("images/moon.png", b"\x89PNG"), ("notes.sql", b"\x00\xff")]


def test_files_of_the_same_content_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "one.png").write_bytes(b"\x89PNG")
    (tmp_path / "other.png").write_bytes(b"\x89PNG")
    rows, others = ([Asset("moon.png", tmp_path / name, "image")] for name in ("one.png", "other.png"))

    assert keep(tmp_path, {"assets": rows}, {"assets": others}) == {}


def kept_titles(folder: Path) -> list[Document]:
    """Four documents, their titles in the sidecar; what is left of them."""
    rows = [Document(f"d{i}", f"text {i}", f"title {i}") for i in range(4)]
    left = [Document(d.doc_id, d.text) for d in rows]
    keep(folder, {"documents": rows}, {"documents": left})
    return left


def test_rows_that_were_moved_added_and_removed(tmp_path: Path) -> None:
    left = kept_titles(tmp_path)

    found = restored(tmp_path, {"documents": [left[3], left[1], Document("new", "text"), left[0]]})["documents"]

    assert [(d.doc_id, d.title) for d in found] == [
        ("d3", "title 3"),
        ("d1", "title 1"),
        ("new", None),
        ("d0", "title 0"),
    ]


def test_a_row_whose_key_was_changed_and_that_was_removed_stays_away(tmp_path: Path) -> None:
    rows = [Question(None, "Who?"), Question(None, "When?"), Question("q7", "Where?")]
    output = [Question("1", "Who?"), Question("2", "When?"), Question("q7", "Where?")]
    keep(tmp_path, {"questions": rows}, {"questions": output})

    assert restored(tmp_path, {"questions": output})["questions"] == rows
    assert restored(tmp_path, {"questions": output[1:]})["questions"] == rows[1:]


def test_rows_in_another_order_that_were_added_and_removed(tmp_path: Path) -> None:
    rows = [Document("d2", "two", "Two"), Document("d1", "one", "One"), Document("d3", "three", "Three")]
    output = [Document("d1", "one"), Document("d2", "two"), Document("d3", "three")]
    keep(tmp_path, {"documents": rows}, {"documents": output})

    assert restored(tmp_path, {"documents": output})["documents"] == rows
    assert restored(tmp_path, {"documents": [output[2], Document("new", "x"), output[1]]})["documents"] == [
        rows[0],
        rows[2],
        Document("new", "x"),
    ]


def test_chunks_written_as_documents_come_back_as_chunks(tmp_path: Path) -> None:
    rows = [Chunk("c1", "one", "d1", 0), Chunk("c2", "two", "d1", 1)]
    output = [Document(c.chunk_id, c.text) for c in rows]
    counts = keep(tmp_path, {"chunks": rows}, {"documents": output})

    assert counts == {"chunks": 2}
    assert restored(tmp_path, {"documents": output}) == {"chunks": rows}
    assert restored(tmp_path, {"documents": output[1:]}) == {"chunks": rows[1:]}


def test_chunks_that_are_nothing_but_texts_come_back_as_chunks(tmp_path: Path) -> None:
    rows, output = [Chunk("c1", "one")], [Document("c1", "one")]
    keep(tmp_path, {"chunks": rows}, {"documents": output})

    assert restored(tmp_path, {"documents": output}) == {"chunks": rows}


def test_documents_written_as_chunks_come_back_as_documents(tmp_path: Path) -> None:
    rows: Rows = {"documents": [Document("d1", "one", "One")]}
    keep(tmp_path, rows, {"chunks": [Chunk("d1", "one")]})

    assert restored(tmp_path, {"chunks": [Chunk("d1", "one")]}) == rows


def test_documents_that_were_cut_come_back_whole(tmp_path: Path) -> None:
    rows: Rows = {"documents": [Document("d1", "one two", "One")]}
    output: Rows = {"chunks": [Chunk("d1#0", "one", "d1", 0), Chunk("d1#1", "two", "d1", 1)]}
    keep(tmp_path, rows, output)

    assert restored(tmp_path, output) == rows


def losses_of(losses: Losses) -> list[tuple[str, str, str | None, int, list[str]]]:
    return [(loss.kind, loss.table, loss.column, loss.count, loss.examples) for loss in losses]


def test_a_value_that_was_changed_since_is_the_users(tmp_path: Path) -> None:
    rows = [Document("d1", "one", "One", '{"a":1}'), Document("d2", "two", "Two"), Document("d3", "three", "Three")]
    output = [Document("d1", "One: one", "d1"), Document("d2", "Two: two"), Document("d3", "Three: three")]
    keep(tmp_path, {"documents": rows}, {"documents": output})
    edited, losses = [output[0]._replace(text="my one"), output[1]._replace(title="Mine"), output[2]], Losses()

    found = put_back({"documents": lambda: iter(edited)}, tmp_path, losses)["documents"]

    for _ in range(2):  # rows may be read repeatedly: what is reported is counted once
        assert list(found()) == [rows[0]._replace(text="my one"), rows[1]._replace(title="Mine"), rows[2]]
        assert losses_of(losses) == [
            ("coerced", "documents", "text", 1, ["d1"]),
            ("coerced", "documents", "title", 1, ["d2"]),
        ]


def test_a_value_that_was_changed_to_the_sources_is_no_loss(tmp_path: Path) -> None:
    keep(tmp_path, {"documents": [Document("d1", "one")]}, {"documents": [Document("d1", "ONE")]})
    losses = Losses()

    assert restored(tmp_path, {"documents": [Document("d1", "one")]}, losses) == {"documents": [Document("d1", "one")]}
    assert losses_of(losses) == []


def test_a_change_among_rows_in_another_order_is_the_users(tmp_path: Path) -> None:
    rows = [Document("d2", "two", "Two"), Document("d1", "one", "One")]
    output = [Document("d1", "ONE"), Document("d2", "TWO")]
    keep(tmp_path, {"documents": rows}, {"documents": output})
    losses = Losses()

    found = restored(tmp_path, {"documents": [Document("d1", "mine"), Document("d2", "TWO")]}, losses)

    assert found == {"documents": [rows[0], Document("d1", "mine", "One")]}
    assert losses_of(losses) == [("coerced", "documents", "text", 1, ["d1"])]


@pytest.mark.parametrize("moved", [False, True])
def test_values_of_a_row_whose_key_was_changed_since_are_reported(tmp_path: Path, moved: bool) -> None:
    rows = [Question("q1", "Who?", "Ada"), Question("q2", "When?", "Never")]
    output = [question._replace(answer=None) for question in rows]
    if moved:
        output.reverse()
    keep(tmp_path, {"questions": rows}, {"questions": output})
    edited, losses = [output[0]._replace(text="Why?"), output[1]], Losses()

    found = restored(tmp_path, {"questions": edited}, losses)["questions"]

    assert sorted(found) == sorted([edited[0], rows[0] if moved else rows[1]])
    assert losses_of(losses) == [("lost", "questions", None, 1, [f"{output[0].question_id} {output[0].text}"])]


@pytest.mark.parametrize("moved", [False, True])
def test_a_row_that_the_target_made_and_the_user_changed_stays(tmp_path: Path, moved: bool) -> None:
    rows = [Document("d1", "one", "One"), Document("d2", "two", "Two")]
    made = [Document("x1", "made"), Document("x2", "made")]
    output = [*([rows[1], rows[0]] if moved else rows), *made, Document("x3", "made")]
    keep(tmp_path, {"documents": rows}, {"documents": output})

    assert restored(tmp_path, {"documents": output})["documents"] == rows
    output[-1] = Document("x3", "mine")
    assert restored(tmp_path, {"documents": output})["documents"] == [*rows, Document("x3", "mine")]


def test_a_table_that_the_target_made_and_the_user_changed_stays_whole(tmp_path: Path) -> None:
    """Some of its rows would be another thing than all of them."""
    rows: Rows = {"documents": [Document("d1", "one")]}
    qrels = [Qrel("q1", "d1"), Qrel("q2", "d1")]
    assert keep(tmp_path, rows, {**rows, "qrels": qrels}) == {"qrels": 0}
    edited, losses = [qrels[0], qrels[1]._replace(grade=2)], Losses()

    assert restored(tmp_path, {**rows, "qrels": edited}, losses) == {**rows, "qrels": edited}
    assert losses_of(losses) == [("coerced", "qrels", None, 1, ["2 rows"])]


def test_no_sidecar_changes_nothing(tmp_path: Path) -> None:
    def rows() -> Iterator[Document]:
        yield Document("a", "b")

    assert put_back({"documents": rows}, tmp_path) == {"documents": rows}
    assert restored_format(tmp_path) == ""


HEAD = {"version": 1, "format": "beir", "table": "documents", "from": "documents", "ordered": False}


def packed(*lines: object, **head: object) -> bytes:
    """A sidecar's file with these entries; texts are put in as they are."""
    listed = ({**HEAD, **head}, *lines)
    return gzip.compress(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in listed).encode()
    )


def whole(**values: object) -> dict[str, object]:
    return {"row": 0, "whole": True, "values": values}


def changed(**values: object) -> dict[str, object]:
    return {"row": 0, "key": ["d0", 0], "values": values}


DAMAGES = {
    "nothing": b"",
    "no gzip": b"no gzip",
    "cut": b"\x1f\x8b\x08\x00cut",
    "head a list": gzip.compress(b"[]"),
    "head deep": gzip.compress(b"[" * 100_000),
    "head long": gzip.compress(b"a" * 100_000),
    "version": packed(version=9),
    "format": packed(format="\x1b[31m"),
    "another table's": packed(table="assets"),
    "from nowhere": packed(**{"from": "nowhere"}),
    "from judgements": packed(**{"from": "qrels"}),
    "unknown word": packed(colour="red"),
    "entry a list": packed([]),
    "entry cut": packed('{"row"', ordered=True),
    "entry deep": packed('{"row":0,"values":{"text":' + "[" * 100_000 + "}}"),
    "no such column": packed(changed(colour="red")),
    "key of lists": packed({"row": 0, "key": [["a"], 0]}),
    "key of objects": packed({"row": 0, "key": [{"a": 1}, 0]}, ordered=True),
    "key empty": packed({"row": 0, "key": []}),
    "key null": packed({"row": 0, "key": None}),
    "key long": packed({"row": 0, "key": ["d0", "d1", 0]}),
    "key negative": packed({"row": 0, "key": ["d0", -1]}),
    "row a text": packed({"row": "z", "whole": True, "values": {"doc_id": "n", "text": "x"}}),
    "whole of nothing": packed({"row": 0, "whole": True}),
    "whole with a key": packed({**whole(doc_id="n", text="x"), "key": ["d0", 0]}),
    "text a number": packed(changed(text=6)),
    "id a list": packed(whole(doc_id=["a"], text="z")),
    "metadata no JSON": packed(changed(metadata="{bad")),
    "metadata a list": packed(changed(metadata="[1]")),
    "surrogate": packed(changed(text="\ud800")),
    "digest a number": packed({**changed(text="x"), "was": {"text": 5}}),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_sidecar_is_reported(tmp_path: Path, damage: bytes) -> None:
    left = kept_titles(tmp_path)
    (tmp_path / FOLDER / "documents.ndjson.gz").write_bytes(damage)

    with pytest.raises(RagdataError, match="is damaged"):
        restored(tmp_path, {"documents": left})


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("../../a.png", {"base64": "aGk="}),
        ("/a.png", {"base64": "aGk="}),
        ("a.png", "/a.png"),
        ("a.png", {"base64": "a"}),
        ("a.png", {"base64": "aGk=*"}),
        ("a.png", {}),
    ],
)
def test_a_damaged_file_that_goes_along_is_reported(tmp_path: Path, path: str, content: object) -> None:
    (tmp_path / FOLDER).mkdir()
    entry = whole(path=path, content=content, kind="image")
    (tmp_path / FOLDER / "assets.ndjson.gz").write_bytes(packed(entry, table="assets", **{"from": "assets"}))

    with pytest.raises(RagdataError, match="is damaged"):
        restored(tmp_path, {})


def test_a_line_that_never_ends_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = kept_titles(tmp_path)
    monkeypatch.setattr(sidecar_entries, "_MOST_LINE", 1000)
    (tmp_path / FOLDER / "documents.ndjson.gz").write_bytes(packed(changed(text="x" * 2000)))

    with pytest.raises(RagdataError, match="too long"):
        restored(tmp_path, {"documents": left})
    with pytest.raises(RagdataError, match="larger than a sidecar can keep"):
        keep(tmp_path / "other", {"documents": [Document("d", "x" * 2000)]}, {})


def test_keys_take_little_memory(tmp_path: Path) -> None:
    """Many rows with long keys, in another order, some of them changed: their texts are not held."""
    name, number = "entity " * 40, 4000

    def edges(start: int, attributes: str | None) -> Iterator[Edge]:
        places = ((i * 7 + start) % number for i in range(number))
        return (Edge(f"{name}{i}", f"{name}{i} is", f"of {name}{i}", attributes) for i in places)

    tracemalloc.start()
    try:
        write_sidecar(tmp_path, "beir", {"edges": lambda: edges(0, "{}")}, {"edges": lambda: edges(1, None)})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < number * 400 + (1 << 20)  # a key's texts alone are 840 bytes


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        kept_titles(tmp_path / name)

    one, two = ((tmp_path / name / FOLDER / "documents.ndjson.gz").read_bytes() for name in ("one", "two"))
    assert one == two
