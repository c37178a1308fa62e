"""Negatives of training triplets that are copies of positives, against what comparing each with each finds."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ftfy", reason="needs ragdatakit[quality]")

from ragdatakit import validate
from ragdatakit.quality.training import _Numbered

WORDS = [f"It is the {n}th" for n in range(12)]
IDS: tuple[int | str, ...] = (*range(30), -4, 1 << 24, 1 << 40, "x", "y y")


def write(folder: Path, files: Mapping[str, Sequence[dict[str, Any]]]) -> None:
    folder.mkdir(parents=True)
    for name, records in files.items():
        (folder / f"{name}.ndjson").write_text("".join(json.dumps(record) + "\n" for record in records))


def drawn(rng: random.Random, sizes: tuple[int, int] = (40, 300)) -> dict[str, list[dict[str, Any]]]:
    """A split in which some ids are there twice, and some triplets are broken."""
    documents, number = sizes
    questions: list[int | str] = [101, 102, -103, "q"]
    golds = {question: rng.sample(IDS, 5) for question in questions}
    triplets = dict.fromkeys(
        (question, rng.choice(golds[question][1:]), rng.choice([*IDS, None]))
        for question in rng.choices(questions, k=number)
    )
    return {
        "doc_master": [
            {"doc_id": rng.choice(IDS), "text": rng.choice(["", " ", *WORDS]).replace(" ", rng.choice([" ", "  "]))}
            for _ in range(documents)
        ],
        "query_master": [{"qid": question, "text": f"What is {question}?"} for question in questions],
        "positive_lists": [{"qid": question, "positive_doc_ids": ids[:2]} for question, ids in golds.items()],
        "triplets": [dict(zip(("qid", "pos_doc_id", "neg_doc_id"), ids, strict=True)) for ids in triplets],
    }


def compared(files: Mapping[str, Sequence[dict[str, Any]]]) -> Iterator[tuple[int, str, str]]:
    """The line of each such triplet, the id of the negative, and that of the first positive it is a copy of."""
    texts: dict[str, str] = {}
    for document in files["doc_master"]:
        texts.setdefault(str(document["doc_id"]), " ".join(document["text"].split()))
    triplets = [
        (line, str(one["qid"]), str(one["pos_doc_id"]), str(one["neg_doc_id"]))
        for line, one in enumerate(files["triplets"], 1)
        if one["neg_doc_id"] is not None
    ]
    positives = [(question, positive) for _, question, positive, _ in triplets]
    positives += [(str(one["qid"]), str(name)) for one in files["positive_lists"] for name in one["positive_doc_ids"]]
    for line, question, _, negative in triplets:
        own = [positive for asked, positive in positives if asked == question]
        text = texts.get(negative)
        alike = [positive for positive in own if text and texts.get(positive) == text]
        if alike and negative not in own:
            yield line, negative, alike[0]


def found(path: Path) -> list[tuple[int | None, Any, str]]:
    findings = validate(path, format="light-splade", quality=True, select=["QU401"], max_per_rule=0).findings
    return [(f.line, f.value, f.message) for f in findings]


@pytest.mark.parametrize("as_numbers", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_negatives_are_those_of_comparing_all(
    seed: int, as_numbers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not as_numbers:
        monkeypatch.setattr("ragdatakit.converters.light_splade.converter._numbers", lambda *_: None)
    files = drawn(random.Random(seed), (40, 300) if seed % 3 else (400, 3000))
    write(tmp_path / "train", files)

    wanted = list(compared(files))

    reported = found(tmp_path)
    assert [(line, value) for line, value, _ in reported] == [(line, negative) for line, negative, _ in wanted]
    assert wanted
    for (_, _, message), (_, _, positive) in zip(reported, wanted, strict=True):
        assert positive in message


def test_negatives_like_positives_whatever_their_ids_are(tmp_path: Path) -> None:
    """Integers of any size, and texts."""
    base = tmp_path / "train"
    base.mkdir()
    texts, ids = ("One and the same text.", "One  and the same text.", "Another."), (7, 1 << 40, "x")
    documents = [{"doc_id": i, "text": text} for i, text in zip(ids, texts, strict=True)]
    pairs = ((7, 1 << 40), (7, -5), ("x", 1 << 40), (7, 7))
    triplets = [{"qid": -1, "pos_doc_id": positive, "neg_doc_id": negative} for positive, negative in pairs]
    files: dict[str, list[dict[str, Any]]] = {
        "doc_master": documents,
        "query_master": [{"qid": -1, "text": "What?"}],
        "triplets": triplets,
    }
    files["positive_lists"] = [{"qid": -1, "positive_doc_ids": [7]}]
    for name, records in files.items():
        (base / f"{name}.ndjson").write_text("".join(json.dumps(record) + "\n" for record in records))

    found = validate(tmp_path, format="light-splade", quality=True, select=["QU401"]).findings

    assert [(f.line, f.value) for f in found] == [(1, str(1 << 40)), (3, str(1 << 40))]


def test_the_same_triplet_is_named_once_and_counted_each_time(tmp_path: Path) -> None:
    triplets = [{"qid": 1, "pos_doc_id": 7, "neg_doc_id": 8}] * 3 + [{"qid": 1, "pos_doc_id": 7, "neg_doc_id": 9}]
    documents = [{"doc_id": i, "text": "One and the same text."} for i in (7, 8, 9)]
    questions = [{"qid": 1, "text": "What?"}]
    write(tmp_path / "train", {"doc_master": documents, "query_master": questions, "triplets": triplets})

    assert [(line, value) for line, value, _ in found(tmp_path)] == [(1, "8"), (4, "9")]
    assert validate(tmp_path, format="light-splade", quality=True).by_rule["QU401"] == 4


@pytest.mark.skipif(sys.platform != "linux", reason="the measure is that of Linux")
def test_one_large_id_takes_no_memory() -> None:
    import resource  # which not every system has

    def held() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    codes, before = _Numbered(lambda found: found), held()

    assert codes.of(np.array([7, (1 << 24) - 1])).tolist() == [hash("7"), hash(str((1 << 24) - 1))]
    assert held() - before < 1 << 25
