"""Big DataMind files, block by block: nothing that the record checks would say is overlooked, nothing counted twice."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.columnar.numpy_keys import NumpyBatch
from ragdatakit.columnar.string_hash import hash_strings
from ragdatakit.validators.datamind.chunks import chunk_problems, v2_hash, v2_id
from ragdatakit.validators.datamind.columns import Strings, chunk_candidates, column_traits, triple_candidates
from ragdatakit.validators.datamind.images import ImageFolder
from ragdatakit.validators.datamind.keys import fill_keys
from ragdatakit.validators.datamind.tallies import Trait, record_traits
from ragdatakit.validators.datamind.triples import triple_problems

NOWHERE = ImageFolder(None)
EDGES = ["", " ", "\t", "\x1c", "\x85", "\xa0", "\u1680", "\u2003", "\u2028", "\u3000", "é", "漢", "。", "“", "\u200b"]


def table(records: list[dict[str, Any]]) -> pa.Table:
    """A block as the columnar decoder makes it: one column per field, nulls where it is missing."""
    fields = list(dict.fromkeys(k for r in records for k in r))
    return pa.table({f: pa.array([r.get(f) for r in records]) for f in fields})


TEXTS = st.builds(
    lambda a, b, c: a + b + c, st.sampled_from(EDGES), st.text(max_size=12), st.sampled_from(EDGES)
).filter(lambda t: t.isprintable() or not any(0xD800 <= ord(c) < 0xE000 for c in t))
CHUNKS = st.lists(
    st.fixed_dictionaries(
        {"text": TEXTS},
        optional={
            "id": st.sampled_from(["", "a", "b"]),
            "source": st.sampled_from(["", "x.md", "a.jsonl"]),
            "modality": st.sampled_from(["text", "image", "text_image"]),
            "image_path": st.sampled_from(["a.png", "../b.png"]),
            "metadata": st.fixed_dictionaries(
                {},
                optional={
                    "source": st.sampled_from(["x.md", "a.jsonl"]),
                    "_x": st.integers(0, 5),
                    "doc_id": st.text(max_size=3),
                    "score": st.sampled_from([0.5, 1e19]),
                    "": st.integers(0, 1),
                    "nested": st.just({"k": 1}),
                },
            ),
        },
    ),
    min_size=1,
    max_size=8,
)
TRIPLES = st.lists(
    st.fixed_dictionaries(
        {"subject": TEXTS, "relation": TEXTS, "object": TEXTS},
        optional={
            "confidence": st.floats(0, 1),
            "source": st.text(max_size=3),
            "subject_properties": st.just({"image": "../a.png"}),
            "properties": st.just({"k": 1}),
        },
    ),
    min_size=1,
    max_size=8,
)


@given(TEXTS)
def test_edges_of_texts_are_seen_as_python_strips_them(text: str) -> None:
    edged = Strings(pa.chunked_array([pa.array(["x", text])])).edged()

    # A control character such as ESC may be taken for white space: the record check then says nothing.
    assert edged[1] or text == text.strip() != ""
    assert not edged[1] or not text or min(text[0], text[-1]) <= " " or text != text.strip()


@given(CHUNKS)
def test_no_faulty_chunk_is_overlooked(chunks: list[dict[str, Any]]) -> None:
    rows = chunk_candidates(table(chunks))

    for row, chunk in enumerate(chunks):
        assert row in rows or not list(chunk_problems(chunk, NOWHERE))


@given(TRIPLES)
def test_no_faulty_triple_is_overlooked(triples: list[dict[str, Any]]) -> None:
    rows = triple_candidates(table(triples))

    for row, triple in enumerate(triples):
        assert row in rows or not list(triple_problems(triple, NOWHERE))


@given(CHUNKS | TRIPLES, st.data())
def test_tallies_are_the_same_by_column_and_by_record(records: list[dict[str, Any]], data: st.DataObject) -> None:
    kind = "chunks" if "text" in records[0] else "triplets"
    # A chunk without text goes to the record check in any case, and an empty object is nothing for Arrow.
    records = [r for r in records if kind == "triplets" or (r["text"] and r.get("metadata", True))] or [{"text": "x"}]
    looked_at = data.draw(st.lists(st.integers(0, len(records) - 1), unique=True))

    by_record: Counter[Trait] = Counter()
    for record in records:
        by_record.update(record_traits(kind, record, "a.jsonl"))
    by_column = column_traits(kind, table(records), np.array(sorted(looked_at), dtype=np.intp), "a.jsonl")
    for row in looked_at:
        by_column.update(record_traits(kind, records[row], "a.jsonl"))
    assert by_column == by_record


@given(CHUNKS, st.booleans())
def test_keys_are_the_same_by_column_and_by_record(chunks: list[dict[str, Any]], all_texts: bool) -> None:
    batch = NumpyBatch(len(chunks), 0)

    assert fill_keys(table(chunks), batch, "a.jsonl", all_texts)

    for row, chunk in enumerate(chunks):
        chunk_id, text = v2_id(chunk), chunk["text"]
        wants_text = text.strip() and (all_texts or chunk_id is not None)
        expected = {"@v2_id": chunk_id, "@v2_hash": v2_hash(chunk, "a.jsonl"), "@text": text if wants_text else None}
        for name, value in expected.items():
            valid = batch.valid[name]
            assert (valid is None or bool(valid[row])) == (value is not None), name
            if value is not None:
                assert batch.columns[name][row] == hash_strings(pa.array([value]))[0], name


def test_numeric_ids_are_keys_as_text() -> None:
    batch = NumpyBatch(2, 0)

    assert fill_keys(pa.table({"text": ["a", "b"], "id": [0, 17]}), batch, "a.jsonl", all_texts=False)

    assert np.array_equal(batch.valid["@v2_id"], [False, True])  # type: ignore[arg-type]
    assert batch.columns["@v2_id"][1] == hash_strings(pa.array(["17"]))[0]


def write(root: Path, files: dict[str, list[dict[str, Any]]]) -> None:
    for name, rows in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")


def codes(path: Path, **options: Any) -> list[tuple[str, str, int | None]]:
    import ragdatakit

    return [(f.code, Path(f.path).name, f.line) for f in ragdatakit.validate(path, **options).findings]


@pytest.mark.parametrize("padding", [0, 4 << 20])
def test_small_and_big_profiles_give_the_same_findings(tmp_path: Path, padding: int) -> None:
    filler = [{"text": f"Tide table number {i}, " + "low water, " * 80 + "and high"} for i in range(padding // 900)]
    write(
        tmp_path,
        {
            "chunks/a.jsonl": [
                *filler,
                {"text": "Spring tides follow the moon.", "metadata": {"a": {"b": 1}}},
                {"text": "Neap tides follow the quarters."},
                {"text": "Neap tides follow the quarters.", "source": "a.jsonl"},
                {"id": "x", "text": " Tides of the bay"},
            ],
            "chunks/b.jsonl": [{"text": "Neap tides follow the quarters."}, {"id": "x", "text": "Another bay"}],
        },
    )
    n = len(filler)

    found = sorted(codes(tmp_path))

    assert [f for f in found if f[0] != "DM225"] == [
        ("DM207", "a.jsonl", n + 4),
        ("DM211", "a.jsonl", n + 1),
        ("DM218", "b.jsonl", 2),
        ("DM219", "a.jsonl", n + 3),
        ("DM222", "a.jsonl", None),
        ("DM222", "b.jsonl", None),
    ]
    assert bool(padding) == any(f[0] == "DM225" for f in found)


def test_an_index_older_than_its_data_is_told(tmp_path: Path) -> None:
    profile = tmp_path / "data" / "profiles" / "bay"
    write(profile, {"chunks/a.jsonl": [{"text": "Spring tides follow the moon."}]})
    storage = tmp_path / "storage" / "bay"
    storage.mkdir(parents=True)
    built = storage / "chroma.sqlite3"
    built.write_bytes(b"")

    os.utime(built, (1_000, 1_000))

    assert codes(tmp_path) == [("DM105", "a.jsonl", None)]
    os.utime(built)
    assert codes(tmp_path) == []
