"""Training samples read from the files: the same as the real loader draws, in bounded memory, in any order."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.files.light_splade import training_samples
from ragdatakit.files.light_splade.training_samples import Sample, TrainingSamples, permuted
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.light_splade_oracle import installed, verdict

QUERIES = [{"qid": 2, "text": "tide times é"}, {"qid": 1, "text": "how to prune a pear tree"}]
DOCUMENTS = [{"doc_id": n, "text": f"document {n} \u2028 雨"} for n in (10, 12, 11)]
TRIPLETS = [(1, 10, 12), (2, 11, 12), (1, 10, 11), (1, 10, 12)]


def _lines(values: list[Any], end: str = "\n") -> bytes:
    return "".join(f"{json.dumps(v, ensure_ascii=False)}{end}" for v in values).encode()


def write(root: Path, ending: str = ".ndjson", **changed: bytes) -> Path:
    """A small dataset; files can be replaced."""
    files = {
        "query_master": _lines(QUERIES),
        "doc_master": _lines(DOCUMENTS),
        "positive_lists": _lines([{"qid": 1, "positive_doc_ids": [10]}, {"qid": 2, "positive_doc_ids": [11]}]),
        "triplets": _lines([{"qid": q, "pos_doc_id": p, "neg_doc_id": n} for q, p, n in TRIPLETS]),
        **changed,
    }
    (root / "train").mkdir(parents=True)
    for stem, data in files.items():
        packed = gzip.compress(data) if ending.endswith(".gz") else data
        (root / "train" / f"{stem}{ending}").write_bytes(packed)
    return root


def expected() -> list[Sample]:
    queries = {q["qid"]: q["text"] for q in QUERIES}
    documents = {d["doc_id"]: d["text"] for d in DOCUMENTS}
    return [Sample(str(queries[q]), str(documents[p]), str(documents[n])) for q, p, n in TRIPLETS]


@pytest.mark.parametrize("ending", [".ndjson", ".ndjson.gz"])
def test_samples_come_in_the_order_of_the_file(ending: str, tmp_path: Path) -> None:
    root = write(tmp_path / "set", ending)

    with TrainingSamples(root) as samples:
        assert len(samples) == 4
        assert list(samples) == expected()
        assert list(samples) == expected()
        assert [samples[i] for i in range(-4, 4)] == expected() * 2
        assert samples[0].negative == expected()[0][2]


def test_they_are_those_of_the_real_loader(tmp_path: Path) -> None:
    if not installed():
        pytest.skip("light-splade is not installed")
    root = write(tmp_path / "set")

    with TrainingSamples(root) as samples:
        assert [tuple(s) for s in samples] == [s[:3] for s in verdict(root, "triplet", "train").samples]


@pytest.mark.parametrize("index", [4, -5, 10**20])
def test_an_index_beyond_the_end_is_refused(index: int, tmp_path: Path) -> None:
    with TrainingSamples(write(tmp_path / "set")) as samples, pytest.raises(IndexError, match=f"sample {index} of 4"):
        samples[index]


def test_a_seed_tells_the_order(tmp_path: Path) -> None:
    triplets = [{"qid": 1 + n % 2, "pos_doc_id": 10 + n % 3, "neg_doc_id": 10 + n % 2} for n in range(97)]
    with TrainingSamples(write(tmp_path / "set", triplets=_lines(triplets))) as samples:
        first, again, other = (list(samples.shuffled(seed)) for seed in (3, 3, 4))

        assert first == again
        assert first != other
        assert first != list(samples)
        assert Counter(first) == Counter(other) == Counter(samples)


@given(st.integers(0, 3000), st.integers(-(2**70), 2**70))
def test_a_permutation_has_every_number_once(count: int, seed: int) -> None:
    assert sorted(permuted(count, seed)) == list(range(count))


def test_permutations_are_the_same_on_every_machine() -> None:
    assert list(permuted(8, 13)) == [5, 7, 3, 6, 0, 2, 4, 1]
    assert list(permuted(16, 13)) == [14, 15, 5, 7, 3, 13, 6, 8, 12, 0, 2, 4, 10, 11, 9, 1]
    assert next(iter(permuted(40_000_000, 13))) == 19_532_603


def test_every_place_gets_every_number_about_as_often() -> None:
    found = Counter((place, number) for seed in range(2000) for place, number in enumerate(permuted(6, seed)))

    assert len(found) == 36
    assert all(250 < count < 420 for count in found.values())


def test_single_splits_shards_and_validation_are_found(tmp_path: Path) -> None:
    root = write(tmp_path / "set")
    shards = root / "train/doc_master"
    (root / "train/doc_master.ndjson").unlink()
    shards.mkdir()
    (shards / "b.ndjson").write_bytes(_lines(DOCUMENTS[:1]))
    (shards / "a.ndjson.gz").write_bytes(gzip.compress(_lines(DOCUMENTS[1:])))
    (root / "train").rename(root / "validation")

    with TrainingSamples(root, "validation") as samples:
        assert list(samples) == expected()
    with TrainingSamples(root / "validation") as samples:
        assert list(samples) == expected()


def test_line_ends_of_any_kind_and_none_at_the_end(tmp_path: Path) -> None:
    triplets = b"\r\n".join(_lines([{"neg_doc_id": n, "qid": q, "pos_doc_id": p}]).strip() for q, p, n in TRIPLETS)
    root = write(
        tmp_path / "set", doc_master=_lines(DOCUMENTS, "\r"), query_master=_lines(QUERIES, "\r\n"), triplets=triplets
    )

    with TrainingSamples(root) as samples:
        assert list(samples) == expected()


def test_lines_across_the_blocks_of_reading(tmp_path: Path) -> None:
    documents = [{"doc_id": n, "text": f"{n} " + "long " * 40_000} for n in (12, 10, 11)] + [
        {"doc_id": n, "text": "x" * (n % 977)} for n in range(100, 6000)
    ]
    triplets = [{"qid": 1, "pos_doc_id": 100 + n % 5900, "neg_doc_id": 10 + n % 3} for n in range(40_000)]
    root = write(tmp_path / "set", doc_master=_lines(documents), triplets=_lines(triplets))

    with TrainingSamples(root) as samples:
        assert len(samples) == 40_000
        for n in (0, 1, 17_000, 39_999):
            assert samples[n].positive == "x" * ((100 + n % 5900) % 977)
            assert samples[n].negative.startswith(f"{10 + n % 3} long")


def test_of_an_id_that_stands_twice_the_last_text_counts(tmp_path: Path) -> None:
    root = write(tmp_path / "set", doc_master=_lines([*DOCUMENTS, {"doc_id": 10, "text": "new"}]))

    with TrainingSamples(root) as samples:
        assert samples[0].positive == "new"


@pytest.mark.parametrize(
    ("stem", "data", "message"),
    [
        ("triplets", b'{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 99}', "neg_doc_id 99 is not in the document master"),
        ("triplets", b'{"qid": 7, "pos_doc_id": 10, "neg_doc_id": 12}', "qid 7 is not in the query master"),
        ("triplets", b'{"qid": 1, "pos_doc_id": 10}', "no triplet: Object missing required field `neg_doc_id`"),
        ("triplets", b"", "no triplet"),
        ("triplets", b'{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 99999999999999999999}', "no triplet"),
        ("doc_master", b'{"doc_id": "10", "text": "x"}', "no record of the document master"),
        ("doc_master", b"[]", "no record of the document master"),
        ("query_master", b'{"qid": true, "text": "x"}', "no record of the query master"),
    ],
)
def test_a_bad_line_is_named(stem: str, data: bytes, message: str, tmp_path: Path) -> None:
    root = write(tmp_path / "set")
    path = root / "train" / f"{stem}.ndjson"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], data, *lines[1:]]))

    with pytest.raises(RagdataError) as caught:
        TrainingSamples(root)

    assert f"{path}:2: {message}" in str(caught.value)


def test_a_text_that_is_none_is_reported_when_it_is_drawn(tmp_path: Path) -> None:
    root = write(tmp_path / "set", query_master=_lines([{"qid": 1, "text": None}, QUERIES[0]]))

    with TrainingSamples(root) as samples:
        assert samples[1] == expected()[1]
        with pytest.raises(RagdataError, match=r"query_master.ndjson: the text of 1 \(at byte 0\): Expected `str`"):
            samples[0]


@pytest.mark.parametrize(("stem", "word"), [("triplets", "triplets"), ("doc_master", "document master")])
def test_a_missing_file_is_named(stem: str, word: str, tmp_path: Path) -> None:
    root = write(tmp_path / "set")
    (root / f"train/{stem}.ndjson").unlink()

    with pytest.raises(RagdataError, match=f"has no {word} for the split train"):
        TrainingSamples(root)


def test_damaged_gzip_data_is_refused(tmp_path: Path) -> None:
    root = write(tmp_path / "set", ".ndjson.gz")
    path = root / "train/doc_master.ndjson.gz"
    path.write_bytes(path.read_bytes()[:-9])

    with pytest.raises(RagdataError, match=r"doc_master\.ndjson\.gz: broken compression"):
        TrainingSamples(root)


def test_closed_samples_say_so(tmp_path: Path) -> None:
    samples = TrainingSamples(write(tmp_path / "set"))
    samples.close()

    with pytest.raises(RagdataError, match="closed"):
        samples[0]


def test_texts_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_samples, "_KEPT_TEXTS", 16)
    documents = [{"doc_id": n, "text": f"{n} " * 2000} for n in range(3000)]
    triplets = [{"qid": 1, "pos_doc_id": n, "neg_doc_id": (n * 7 + 1) % 3000} for n in range(3000)]
    root = write(tmp_path / "set", doc_master=_lines(documents), triplets=_lines(triplets))
    size = (root / "train/doc_master.ndjson").stat().st_size

    tracemalloc.start()
    try:
        with TrainingSamples(root) as samples:
            assert sum(1 for _ in samples.shuffled(1)) == 3000
            _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert size > 20 << 20
    assert peak < 8 << 20


@settings(max_examples=examples(40))
@given(data=st.data())
def test_any_order_of_ids(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    ids = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30, unique=True))
    chosen = data.draw(st.lists(st.tuples(*[st.sampled_from(ids)] * 3), max_size=40))
    root = write(
        tmp_path_factory.mktemp("any") / "set",
        query_master=_lines([{"qid": i, "text": f"q{i}"} for i in ids]),
        doc_master=_lines([{"text": f"d{i}", "doc_id": i} for i in ids]),
        triplets=_lines([{"qid": q, "pos_doc_id": p, "neg_doc_id": n} for q, p, n in chosen]),
    )

    with TrainingSamples(root) as samples:
        assert [tuple(s) for s in samples] == [(f"q{q}", f"d{p}", f"d{n}") for q, p, n in chosen]
