"""Files of vectors: every form of them, and everything that may be wrong in them, counted and reported."""

from __future__ import annotations

import gzip
import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragdatakit.retrieval.vectors import vector_arrays, vector_lines
from ragdatakit.retrieval.vectors.dense import DensePart
from ragdatakit.retrieval.vectors.given_vectors import QueryVectors
from ragdatakit.retrieval.vectors.sparse import SparsePart
from ragdatakit.retrieval.vectors.vector_files import dense_blocks, vectors_kind
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import SearchOptions
from ragdatakit.schemas.retrieved import Query
from tests.upstream_data import published
from tests.vector_tools import built, passages_of, write_lines

ORDER = [3, 1, 0, 2, 4]
ROWS = np.eye(5)[ORDER]  # the passage p<n> has its 1 at n
NAMES = [f"p{i}" for i in ORDER]


def of_array(folder: Path, kind: str = "float32") -> Path:
    np.save(folder / "v.npy", ROWS.astype(kind))
    (folder / "v.ids.txt").write_text("\n".join(NAMES))
    return folder / "v.npy"


def of_array_with_json(folder: Path) -> Path:
    np.save(folder / "v.npy", np.asfortranarray(ROWS))
    (folder / "v.ids.json").write_text(json.dumps(NAMES))
    return folder / "v.npy"


def of_halves(folder: Path) -> Path:
    return of_array(folder, "float16")


def of_integers(folder: Path) -> Path:
    return of_array(folder, "int8")


def records() -> list[dict[str, Any]]:
    return [{"id": name, "vector": row.tolist()} for name, row in zip(NAMES, ROWS, strict=True)]


def of_lines(folder: Path) -> Path:
    return write_lines(folder / "v.jsonl", ["", *records(), "\t"])


def of_other_names(folder: Path) -> Path:
    return write_lines(folder / "v.json", [{"_id": r["id"], "embedding": r["vector"], "text": ""} for r in records()])


def of_compressed_lines(folder: Path) -> Path:
    data = "\ufeff" + "\n".join(json.dumps(r) for r in records())
    (folder / "v.jsonl.gz").write_bytes(gzip.compress(data.encode()))
    return folder / "v.jsonl.gz"


def of_folder(folder: Path) -> Path:
    (folder / "parts").mkdir()
    write_lines(folder / "parts" / "a.jsonl", records()[:2])
    write_lines(folder / "parts" / "b.jsonl", records()[2:])
    (folder / "parts" / "README.md").write_text("about")
    return folder / "parts"


def parquet(folder: Path, kind: pa.DataType, id_name: str = "id", vector_name: str = "vector", **more: Any) -> Path:
    table = pa.table({"n": range(5), id_name: NAMES, vector_name: pa.array(ROWS.tolist(), kind), **more})
    pq.write_table(table, folder / "v.parquet", row_group_size=2)
    return folder / "v.parquet"


def of_parquet(folder: Path) -> Path:
    return parquet(folder, pa.list_(pa.float64()))


def of_fixed_parquet(folder: Path) -> Path:
    return parquet(folder, pa.list_(pa.float16(), 5), "chunk_id", "mine")


def of_two_columns(folder: Path) -> Path:
    return parquet(folder, pa.large_list(pa.float32()), "doc_id", "embedding", tokens=[[1]] * 5)


FORMS = [
    of_array, of_array_with_json, of_halves, of_integers, of_lines, of_other_names, of_compressed_lines, of_folder,
    of_parquet, of_fixed_parquet, of_two_columns,
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_dense_vectors(form: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (vector_lines, vector_arrays):
        monkeypatch.setattr(module, "ROWS", 2)
    path = form(tmp_path)
    assert vectors_kind(path) == "dense"
    write_lines(tmp_path / "q.jsonl", [{"id": f"q{i}", "vector": np.eye(5)[i].tolist()} for i in range(5)])
    options = SearchOptions(vectors=path, query_vectors=tmp_path / "q.jsonl")
    facts, ranker = built(DensePart(options), tmp_path / "part", passages_of(tmp_path / "passages"))
    assert facts == {"store": "numpy", "dimensions": 5, "vectors": 5, "without_vector": 0}
    found = ranker.rank([Query("?", f"q{i}") for i in range(5)], 1)
    assert [r.ordinals.tolist() for r in found] == [[0], [1], [2], [3], [4]]
    asked = QueryVectors(path)
    vector = asked.dense("p3", "")
    assert vector is not None and vector.tolist() == [0, 0, 0, 1, 0]
    assert asked.dense("p9", "nothing") is None


def test_array_without_ids_goes_by_the_order_of_the_passages(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(5))
    passages = passages_of(tmp_path / "passages")
    facts, _ = built(DensePart(SearchOptions(vectors=tmp_path / "v.npy")), tmp_path / "part", passages)
    assert facts["vectors"] == 5
    for count in (4, 6):
        np.save(tmp_path / "v.npy", np.eye(count))
        with pytest.raises(RagdataError, match=rf"has {count} vectors for 5 passages: put the ids.*v\.ids\.txt"):
            built(DensePart(SearchOptions(vectors=tmp_path / "v.npy")), tmp_path / f"part{count}", passages)
    with pytest.raises(RagdataError, match="which question a vector belongs to"):
        QueryVectors(tmp_path / "v.npy")


def test_faults_are_counted(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "v.jsonl",
        [
            *records()[:3],
            records()[0],
            {"id": "elsewhere", "vector": [1] * 5},
            {"id": "p2", "vector": [1.0, 2.0]},
            {"id": "p2", "vector": [0.0] * 5},
            '{"id": "p2", "vector": [NaN, 1, 1, 1, 1]}',
            {"id": "p2", "vector": [1e200] * 5},
            {"id": "p2", "vector": []},
            {"id": "p2", "vector": ["1"] * 5},
            {"id": "p2", "vector": [[1]] * 5},
            {"id": "p2", "vector": {"a": 1}},
            {"id": True, "vector": [1] * 5},
            {"vector": [1] * 5},
            "[1]",
            "{no json",
            "[" * 5000,
        ],
    )
    passages = passages_of(tmp_path / "passages")
    facts, _ = built(DensePart(SearchOptions(vectors=path)), tmp_path / "part", passages)
    assert facts == {
        "store": "numpy",
        "dimensions": 5,
        "vectors": 3,
        "without_vector": 2,
        "duplicates": 1,
        "malformed": 9,
        "not_finite": 2,
        "unknown_ids": 1,
        "wrong_dimension": 1,
        "zeros": 1,
    }
    vectors_of_passages = np.load(tmp_path / "part" / "vectors.npy")
    assert np.isfinite(vectors_of_passages).all()
    assert np.load(tmp_path / "part" / "missing.npy").tolist() == [2, 4]


def test_faults_of_parquet_are_counted(tmp_path: Path) -> None:
    rows = [[1.0, 0, 0], [0.0, 1, 0], [0.0, 0, 1], None, [1.0, 2], [float("nan"), 1, 1], [1.0, None, 1], [1.0, 1, 1]]
    ids = ["p0", "p1", "p2", "p3", "p3", "p3", "p3", None]
    pq.write_table(pa.table({"id": ids, "vector": rows}), tmp_path / "v.parquet")
    passages = passages_of(tmp_path / "passages")
    facts, _ = built(DensePart(SearchOptions(vectors=tmp_path / "v.parquet")), tmp_path / "part", passages)
    assert facts["vectors"] == 3
    assert (facts["malformed"], facts["not_finite"], facts["wrong_dimension"]) == (2, 2, 1)


def test_faults_of_sparse_vectors_are_counted(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "v.jsonl",
        [
            *({"id": f"p{i}", "vector": {"a": 1.0}} for i in range(3)),
            {"id": "p3", "vector": {"a": "1"}},
            {"id": "p3", "vector": {"a": None}},
            {"id": "p3", "vector": {"a": True}},
            {"id": "p3", "vector": [1.0]},
            '{"id": "p3", "vector": {"a": Infinity}}',
            {"id": "p3", "vector": {"a": 10**400}},
            {"id": "p3", "vector": {"a": 1e39}},
            {"id": "p3", "vector": {"indices": [1, 1], "values": [1, 2]}},
            {"id": "p3", "vector": {"indices": [1, 2], "values": [1]}},
            {"id": "p9", "vector": {"a": 1}},
        ],
    )
    passages = passages_of(tmp_path / "passages")
    facts, _ = built(SparsePart(SearchOptions(vectors=path)), tmp_path / "part", passages)
    assert (facts["malformed"], facts["not_finite"], facts["unknown_ids"]) == (7, 2, 1)
    assert np.isfinite(np.load(tmp_path / "part" / "weights.npy")).all()


def test_too_few_vectors_are_refused_with_both_kinds_of_ids(tmp_path: Path) -> None:
    passages = passages_of(tmp_path / "passages")
    path = write_lines(tmp_path / "v.jsonl", [{"id": f"doc-{i}", "vector": [1.0]} for i in range(5)])
    found = r"no passage has a vector in .*v\.jsonl \(unknown ids: 5\); its ids are like 'doc-0', .* passages like 'p0'"
    with pytest.raises(RagdataError, match=found):
        built(DensePart(SearchOptions(vectors=path)), tmp_path / "part", passages)
    write_lines(path, [{"id": f"p{i}", "vector": [1.0]} for i in range(2)])
    with pytest.raises(RagdataError, match=r"only 2 of 5 passages have a vector"):
        built(DensePart(SearchOptions(vectors=path)), tmp_path / "part2", passages)


def pickled(path: Path) -> None:
    np.save(path, np.asarray([{"a": 1}, None], object), allow_pickle=True)


def pickled_alone(path: Path) -> None:
    path.write_bytes(pickle.dumps([1, 2]))


def of_letters(path: Path) -> None:
    np.save(path, np.asarray([["a", "b"]]))


def of_one_row(path: Path) -> None:
    np.save(path, np.ones(5))


def of_three(path: Path) -> None:
    np.save(path, np.ones((2, 2, 2)))


def of_complex(path: Path) -> None:
    np.save(path, np.ones((2, 2), complex))


def of_nothing(path: Path) -> None:
    path.write_bytes(b"")


def of_lies(path: Path) -> None:
    np.save(path, np.ones((2, 2)))
    path.write_bytes(path.read_bytes().replace(b"(2, 2), }" + b" " * 8, b"(2, 2000000000), }"[:17]))


def of_a_cut(path: Path) -> None:
    np.save(path, np.ones((50, 5)))
    path.write_bytes(path.read_bytes()[:300])


def zipped(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, vectors=np.eye(3))


BAD_ARRAYS = [
    pickled,
    pickled_alone,
    of_letters,
    of_one_row,
    of_three,
    of_complex,
    of_nothing,
    of_lies,
    of_a_cut,
    zipped,
]


@pytest.mark.parametrize("make", BAD_ARRAYS)
def test_arrays_that_are_none(make: Any, tmp_path: Path) -> None:
    make(tmp_path / "v.npy")
    passages = passages_of(tmp_path / "passages")
    with pytest.raises(RagdataError, match=r"v\.npy") as found:
        built(DensePart(SearchOptions(vectors=tmp_path / "v.npy")), tmp_path / "part", passages)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.ids.txt", "a\nb\n", "has 5 vectors, and the file next to it 2 ids"),
        ("v.ids.json", "{}", "not a JSON array of ids"),
        ("v.ids.json", "[", "cannot be read"),
        ("v.ids.json", "[1, null]", "not a JSON array of ids"),
    ],
    ids=["fewer", "object", "cut", "null"],
)
def test_ids_beside_that_are_none(name: str, content: str, message: str, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(5))
    (tmp_path / name).write_text(content)
    with pytest.raises(RagdataError, match=message):
        QueryVectors(tmp_path / "v.npy")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("v.jsonl", b""),
        ("v.jsonl", b"\x00\x01\x02"),
        ("v.jsonl", b'{"id": 1}\n'),
        ("v.jsonl.gz", b"no gzip"),
        ("v.jsonl.gz", gzip.compress(b'{"id": "p0", "vec' * 999)[:40]),
        ("v.parquet", b"PAR1"),
    ],
    ids=["empty", "bytes", "no-vector", "no-gzip", "cut-gzip", "cut-parquet"],
)
def test_files_without_vectors(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RagdataError, match=name):
        QueryVectors(tmp_path / name)


def test_parquet_without_the_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"], "a": [[1.0]], "b": [[1.0]]}), tmp_path / "v.parquet")
    with pytest.raises(RagdataError, match=r"no one column of vectors .* its columns are id, a, b"):
        QueryVectors(tmp_path / "v.parquet")
    pq.write_table(pa.table({"name": ["a"], "vector": [[1.0]]}), tmp_path / "v.parquet")
    with pytest.raises(RagdataError, match="no id column"):
        QueryVectors(tmp_path / "v.parquet")


def test_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("v.npy", "v.parquet", "v.jsonl"):
        with pytest.raises(RagdataError, match=f"{name} does not exist"):
            vectors_kind(tmp_path / name)
    with pytest.raises(RagdataError, match="no files of JSON lines"):
        vectors_kind(tmp_path)


def test_line_without_end_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_lines, "LONGEST_LINE", 1000)
    (tmp_path / "v.jsonl.gz").write_bytes(gzip.compress(b" " * 100_000))
    with pytest.raises(RagdataError, match="a line longer than 1,000 bytes"):
        vectors_kind(tmp_path / "v.jsonl.gz")


def test_ids_are_looked_up_as_text(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "v.jsonl", [{"id": i, "vector": [1.0, i]} for i in range(5)])
    passages = passages_of(tmp_path / "passages", ids=map(str, range(5)))
    facts, _ = built(DensePart(SearchOptions(vectors=path)), tmp_path / "part", passages)
    assert facts["vectors"] == 5


def test_counts_of_blocks(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    assert [len(b.vectors) for b in dense_blocks(of_lines(tmp_path), counts)] == [5]
    assert not counts


def test_sparse_vectors_as_two_lists(tmp_path: Path) -> None:
    asked = QueryVectors(
        write_lines(tmp_path / "q.jsonl", [{"id": "a", "vector": {"indices": [7, 9], "values": [1, 0.5]}}])
    )
    assert asked.kind == "sparse"
    assert asked.sparse("a", "") == {"7": 1.0, "9": 0.5}


def test_vectors_that_graphrag_wrote() -> None:
    folder = published("graphrag/vectors")
    names = pq.read_table(folder / "text_units.parquet")["id"].to_pylist()
    found = QueryVectors(folder / "embeddings.text_unit_text.parquet")
    shapes = {vector.shape for name in names if (vector := found.dense(name, "")) is not None}
    assert len(names) == 42 and len(shapes) == 1
    assert not found.counts.total()
