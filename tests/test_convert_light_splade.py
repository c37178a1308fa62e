"""light-splade as source and target of conversions, with upstream's own loader as the judge of what is written."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.converters import Options, get_converter
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Chunk, Document, PairScore, Qrel, Question, Run, Triplet
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.light_splade_oracle import installed, silent_losses, verdict
from tests.light_splade_tables import OPTIONS, any_tables
from tests.upstream_data import published

MASTERS = ("query_master", "doc_master", "positive_lists")

DOCUMENTS = [
    Document("pear", "Cut pear branches in late winter.", "Pruning"),
    Document("tide", "Tide tables give high and low water.", "Tides"),
    Document("museum", "The museum opens at nine."),
    Document("office", "The harbour office is closed on Sundays."),
]
QUESTIONS = [
    Question("q-a", "how to prune a pear tree"),
    Question("q-b", "tide times"),
    Question("q-c", "museum hours"),
]
QRELS = [
    Qrel("q-a", "pear", split="train"),
    Qrel("q-b", "tide", split="train"),
    Qrel("q-c", "museum", split="validation"),
]
TRIPLETS = [Triplet("q-a", "pear", "tide", "train"), Triplet("q-b", "tide", "museum", "train")]


def small(**changed: list[Any]) -> CanonicalTables:
    """Tables of a small sound dataset, some of them replaced."""
    return tables_of(
        **{"documents": DOCUMENTS, "questions": QUESTIONS, "qrels": QRELS, "triplets": TRIPLETS, **changed}
    )


def losses_of(tables: CanonicalTables) -> set[tuple[str, str, str | None]]:
    """What the losses are about."""
    return {(loss.kind, loss.table, loss.column) for loss in tables.losses}


def reasons(tables: CanonicalTables, kind: str, table: str) -> Counter[str]:
    """The reasons of the losses of a kind in a table, with their counts."""
    return Counter({loss.reason: loss.count for loss in tables.losses if (loss.kind, loss.table) == (kind, table)})


def records(path: Path) -> list[Any]:
    """The records of a file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def faults(root: Path) -> list[str]:
    """What ragdata and the real loader find wrong with a written dataset."""
    found = [f.message for f in ragdatakit.validate(root).findings if f.severity == "error"]
    if (root / "data.yaml").exists():
        found += [f.message for f in ragdatakit.validate(root / "data.yaml").findings if f.severity == "error"]
    for split in ("train", "validation") if installed() else ():
        variants = ["triplet"] if (root / split / "triplets.ndjson").exists() else []
        variants += ["distil"] if list(root.glob("hard-negatives*")) else []
        for variant in variants if (root / split).exists() else ():
            loaded = verdict(root, variant, split)
            found += [loaded.error] if loaded.error else silent_losses(root, variant, split)
    return found


def write_lines(path: Path, *lines: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)


@settings(max_examples=examples(100))
@given(any_tables(), OPTIONS, st.sampled_from(["", "triplet", "distil"]))
def test_whatever_is_written_is_valid_and_accounted_for(
    tables: CanonicalTables, options: dict[str, str], profile: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        try:
            written = write_tables(tables, "light-splade", root, profile, **options)
        except RagdataError:
            return

        assert not faults(root)
        back = {table: len(found) for table, found in rows(read_tables(root)).items()}
        lost = Counter({t: sum(reasons(tables, "dropped", t).values()) for t in tables.counts})
        made = reasons(tables, "derived", "triplets")
        lost["triplets"] -= sum(count for reason, count in made.items() if reason.startswith("made of"))
        for table in ("documents", "questions", "triplets", "pair_scores"):
            if table in tables and not (table == "documents" and "chunks" in tables):
                assert back.get(table, 0) == tables.counts[table] - lost[table], (table, list(tables.losses))
        again = Output(None, Losses())
        converter = get_converter("light-splade")
        values = converter.values(options, "write")
        fresh = CanonicalTables(tables.name, tables.format, tables.sources, Losses())
        assert converter.write is not None
        converter.write(fresh, again, Options(tables.name, profile, tables.format, values=values))
        again.close()
        assert again.files == written.files


def test_a_small_dataset_as_it_is_written(tmp_path: Path) -> None:
    tables = small()

    out = write_tables(tables, "light-splade", tmp_path)

    assert records(tmp_path / "train/query_master.ndjson") == [
        {"qid": 0, "text": "how to prune a pear tree"},
        {"qid": 1, "text": "tide times"},
    ]
    assert records(tmp_path / "train/positive_lists.ndjson") == [
        {"qid": 0, "positive_doc_ids": [0]},
        {"qid": 1, "positive_doc_ids": [1]},
    ]
    assert records(tmp_path / "train/triplets.ndjson") == [
        {"qid": 0, "pos_doc_id": 0, "neg_doc_id": 1},
        {"qid": 1, "pos_doc_id": 1, "neg_doc_id": 2},
    ]
    assert [d["doc_id"] for d in records(tmp_path / "train/doc_master.ndjson")] == [0, 1, 2]
    assert records(tmp_path / "validation/doc_master.ndjson")[0] == {
        "doc_id": 0,
        "text": "Pruning Cut pear branches in late winter.",
    }
    assert len(records(tmp_path / "validation/doc_master.ndjson")) == 4
    assert {"kind": "passage", "id": 1, "was": "tide"} in records(tmp_path / "ragdata.ids.ndjson")
    assert not faults(tmp_path)
    assert out.files["train/triplets.ndjson"].records == 2
    assert reasons(tables, "coerced", "documents") == {"the title comes before the text, with a blank between": 2}
    assert reasons(tables, "renumbered", "passages") == {"the mapping is in ragdata.ids.ndjson": 4}
    assert not {kind for kind, _, _ in losses_of(tables)} & {"dropped", "lost"}


def test_ids_that_are_integers_are_kept(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("7", "a"), Document("3", "b"), Document("0", "c")],
        questions=[Question("12", "one"), Question("5", "two")],
        qrels=[Qrel("12", "3", split="train"), Qrel("5", "0", split="dev")],
        triplets=[Triplet("12", "3", "7")],
    )

    write_tables(tables, "light-splade", tmp_path)

    assert not (tmp_path / "ragdata.ids.ndjson").exists()
    assert records(tmp_path / "train/triplets.ndjson") == [{"qid": 12, "pos_doc_id": 3, "neg_doc_id": 7}]
    assert [d["doc_id"] for d in records(tmp_path / "validation/doc_master.ndjson")] == [7, 3, 0]
    assert not faults(tmp_path)


@pytest.mark.parametrize("late", ["01", "-4", "x", "9007199254740992", "1.0"])
def test_one_id_that_is_no_integer_renumbers_all(late: str, tmp_path: Path) -> None:
    documents = [Document(str(n), f"text {n}", "Title" if n < 2 else None) for n in (5, 9, 2)]
    tables = tables_of(
        documents=[*documents, Document("1", " "), Document(late, "last"), Document("8", "after")],
        questions=[Question("1", "one")],
        qrels=[Qrel("1", late)],
        triplets=[Triplet("1", late, "8")],
    )

    write_tables(tables, "light-splade", tmp_path)

    assert [d["doc_id"] for d in records(tmp_path / "train/doc_master.ndjson")] == [0, 1, 2, 3, 4]
    assert records(tmp_path / "train/triplets.ndjson") == [{"qid": 1, "pos_doc_id": 3, "neg_doc_id": 4}]
    assert reasons(tables, "dropped", "documents") == {"its text is empty": 1}
    assert not faults(tmp_path)


def test_of_a_repeated_integer_id_the_first_document_is_kept(tmp_path: Path) -> None:
    documents = [Document("1", "first"), Document("2", "other"), Document("1", "second")]
    tables = tables_of(
        documents=documents, questions=[Question("1", "q")], qrels=[Qrel("1", "1")], triplets=[Triplet("1", "1", "2")]
    )

    write_tables(tables, "light-splade", tmp_path)

    assert [d["text"] for d in records(tmp_path / "train/doc_master.ndjson")] == ["first", "other"]
    assert reasons(tables, "dropped", "documents") == {"a document with this id came before": 1}


def _many(split: str | None) -> CanonicalTables:
    numbers = range(200)
    return tables_of(
        documents=[Document(f"d{n}", f"text {n}") for n in numbers],
        questions=[Question(f"q{n}", f"question {n}") for n in numbers],
        qrels=[Qrel(f"q{n}", f"d{n}", split=split) for n in numbers],
    )


def _validated(tables: CanonicalTables, folder: Path, **options: str) -> set[str]:
    """The texts of the validation queries."""
    write_tables(tables, "light-splade", folder, **{"random-negatives": "1", **options})
    path = folder / "validation/query_master.ndjson"
    return {q["text"] for q in records(path)} if path.exists() else set()


def test_without_two_given_splits_one_is_made_by_hashes_of_ids(tmp_path: Path) -> None:
    chosen = _validated(_many(None), tmp_path / "a")
    tables = _many("test")
    tables.sources["questions"] = lambda: iter([Question(f"q{n}", f"question {n}") for n in reversed(range(200))])

    assert len(chosen) == 20
    assert _validated(tables, tmp_path / "b") == chosen
    assert reasons(tables, "coerced", "qrels") == {"test is written as train": 180, "test is written as validation": 20}
    assert len(_validated(_many(None), tmp_path / "c", **{"validation-ratio": "0.5"}) & chosen) == 20
    assert not faults(tmp_path / "b")


@pytest.mark.parametrize(("ratio", "train", "validation"), [("0", 200, 0), ("0.001", 199, 1), ("1", 0, 200)])
def test_ratios_at_the_edge(ratio: str, train: int, validation: int, tmp_path: Path) -> None:
    assert len(_validated(_many(None), tmp_path, **{"validation-ratio": ratio})) == validation

    assert (tmp_path / "train").exists() is bool(train)
    assert (tmp_path / "data.yaml").exists() is bool(train and validation)
    assert not faults(tmp_path)


def test_a_ratio_beyond_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match=r"validation-ratio=1\.5: expected a number from 0 to 1"):
        write_tables(small(), "light-splade", tmp_path, **{"validation-ratio": "1.5"})


def test_dev_and_test_go_to_validation_or_test_is_dropped(tmp_path: Path) -> None:
    qrels = [Qrel("q-a", "pear", split="train"), Qrel("q-b", "tide", split="dev"), Qrel("q-c", "museum", split="test")]

    both = small(qrels=qrels)
    write_tables(both, "light-splade", tmp_path / "both")
    dropped = small(qrels=qrels)
    write_tables(dropped, "light-splade", tmp_path / "dropped", test="drop")

    assert len(records(tmp_path / "both/validation/query_master.ndjson")) == 2
    assert [q["text"] for q in records(tmp_path / "dropped/validation/query_master.ndjson")] == ["tide times"]
    assert reasons(dropped, "dropped", "qrels") == {"it belongs to the test split, which was to be dropped": 1}
    assert reasons(dropped, "dropped", "questions") == {"no document is relevant for it that could be written": 1}
    assert not faults(tmp_path / "both")
    assert not faults(tmp_path / "dropped")


@pytest.mark.parametrize(("which", "train", "validation"), [("pool", 3, 4), ("all", 4, 4), ("split", 3, 1)], ids=str)
def test_who_has_which_documents(which: str, train: int, validation: int, tmp_path: Path) -> None:
    tables = small()

    write_tables(tables, "light-splade", tmp_path, documents=which)

    assert len(records(tmp_path / "train/doc_master.ndjson")) == train
    assert len(records(tmp_path / "validation/doc_master.ndjson")) == validation
    lost = {"no list, triplet or score of a split names it": 1} if which == "split" else {}
    assert reasons(tables, "dropped", "documents") == lost
    assert not faults(tmp_path)


def test_what_cannot_be_written_is_reported(tmp_path: Path) -> None:
    tables = small(
        documents=[*DOCUMENTS, Document("blank", "\u3000\n")],
        questions=[
            *QUESTIONS,
            Question(None, "nameless"),
            Question("q-a", "again"),
            Question("q-d", ""),
            Question("q-e", "x"),
        ],
        qrels=[
            *QRELS,
            Qrel("q-a", "nowhere", split="train"),
            Qrel("q-a", "blank", split="train"),
            Qrel("q-d", "pear"),
            Qrel("q-a", "tide", 0, split="train"),
            Qrel("q-b", "office", 2, split="train"),
            Qrel("q-b", "entity", 1, "node"),
        ],
        triplets=[
            *TRIPLETS,
            Triplet("q-a", "pear", "nowhere"),
            Triplet("q-a", "museum", "tide"),
            Triplet("q-b", "tide", "office"),
            Triplet("q-e", "pear", "tide"),
        ],
    )

    write_tables(tables, "light-splade", tmp_path, title="drop")

    assert reasons(tables, "dropped", "documents") == {"its text is empty": 1}
    assert reasons(tables, "dropped", "questions") == {
        "it has no id by which something could be judged for it": 1,
        "a question with this id came before": 1,
        "its text is empty": 1,
    }
    assert reasons(tables, "dropped", "qrels") == {
        "its document is not there, or has no text": 2,
        "its question is not there, or has no text": 1,
        "graded below 1, which makes no positive": 1,
        "it judges a node, not a passage": 1,
    }
    assert reasons(tables, "dropped", "triplets") == {
        "one of its documents is not there, or has no text": 1,
        "its positive is not among those of the question in this split": 1,
        "its negative is a positive of the question": 1,
    }
    assert reasons(tables, "coerced", "qrels") == {"a positive list knows no grades": 1}
    assert reasons(tables, "lost", "documents") == {"the target has no place for it": 2}
    assert not faults(tmp_path)


def test_negatives_come_from_judgements_then_runs_then_chance(tmp_path: Path) -> None:
    qrels = [*QRELS, Qrel("q-a", "museum", 0, split="train")]
    runs = [Run("q-b", "bm25", n, d) for n, d in enumerate(("tide", "office", "gone", "museum"), 1)]
    documents = [*DOCUMENTS, *(Document(f"d{n}", f"further text {n}") for n in range(20))]
    qrels.append(Qrel("q-d", "d1", split="train"))
    questions = [*QUESTIONS, Question("q-d", "further")]
    tables = small(documents=documents, questions=questions, qrels=qrels, triplets=[], runs=runs)

    write_tables(tables, "light-splade", tmp_path, **{"random-negatives": "5"})

    triplets = records(tmp_path / "train/triplets.ndjson")
    assert triplets[:3] == [
        {"qid": 0, "pos_doc_id": 0, "neg_doc_id": 2},
        {"qid": 1, "pos_doc_id": 1, "neg_doc_id": 3},
        {"qid": 1, "pos_doc_id": 1, "neg_doc_id": 2},
    ]
    assert len({t["neg_doc_id"] for t in triplets[3:]} - {5}) == 5
    assert reasons(tables, "derived", "triplets") == {
        "made of documents that are judged not to be relevant": 1,
        "made of retrieved documents that are not judged to be relevant": 2,
        "made of random documents": 5,
    }
    assert not faults(tmp_path)


def test_every_positive_and_every_negative_gets_a_triplet(tmp_path: Path) -> None:
    qrels = [Qrel("q-a", d, g, split="train") for d, g in (("pear", 1), ("tide", 1), ("museum", 0), ("office", 0))]
    tables = small(qrels=[*qrels[:3], QRELS[2]], triplets=[])

    write_tables(tables, "light-splade", tmp_path)

    assert [(t["pos_doc_id"], t["neg_doc_id"]) for t in records(tmp_path / "train/triplets.ndjson")] == [(0, 2), (1, 2)]


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("documents", "light-splade needs documents, and the source has none"),
        ("questions", "light-splade needs questions, and the source has none"),
        ("qrels", "light-splade needs questions with relevant documents, and the source has no judgements"),
    ],
)
def test_what_is_missing_is_named(missing: str, message: str, tmp_path: Path) -> None:
    tables = small(triplets=[])
    del tables.sources[missing]

    with pytest.raises(RagdataError, match=message):
        write_tables(tables, "light-splade", tmp_path)


def test_triplets_tell_the_positives_where_nothing_is_judged(tmp_path: Path) -> None:
    tables = small(qrels=[])

    write_tables(tables, "light-splade", tmp_path)

    assert len(list(chain(*(records(p) for p in tmp_path.glob("*/positive_lists.ndjson"))))) == 2
    assert sum(reasons(tables, "derived", "qrels").values()) >= 2
    assert not faults(tmp_path)


def test_chunks_are_documents_with_the_titles_of_theirs(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("d", "whole", "Harbour")],
        chunks=[Chunk("d-0", "first", "d", 0), Chunk("d-1", "second", "d", 1), Chunk("e", "alone")],
        questions=[Question("1", "q"), Question("2", "r")],
        qrels=[Qrel("1", "d"), Qrel("2", "e", target_kind="chunk")],
        triplets=[Triplet("1", "d-0", "e"), Triplet("2", "e", "d-0")],
    )

    write_tables(tables, "light-splade", tmp_path)

    texts = [d["text"] for d in records(tmp_path / "validation/doc_master.ndjson")]
    assert texts == ["Harbour first", "Harbour second", "alone"]
    lists = [r["positive_doc_ids"] for p in tmp_path.glob("*/positive_lists.ndjson") for r in records(p)]
    assert sorted(lists) == [[0, 1], [2]]
    assert not faults(tmp_path)


def scored(*left_out: tuple[str, str]) -> list[PairScore]:
    pairs = [(q.question_id or "", d.doc_id) for q in QUESTIONS for d in DOCUMENTS]
    return [PairScore(q, d, n - 3.5) for n, (q, d) in enumerate(pairs) if (q, d) not in left_out]


def test_scores_are_written_for_both_splits(tmp_path: Path) -> None:
    tables = small(pair_scores=scored())

    write_tables(tables, "light-splade", tmp_path)

    first = records(tmp_path / "hard-negatives-cross-encoder-scores.ndjson")[0]
    assert first == {"qid": 0, "scores": {"0": -3.5, "1": -2.5, "2": -1.5, "3": -0.5}}
    assert "hard_negative_scores: ${.DATA_PATH}/hard-negatives" in (tmp_path / "data.yaml").read_text()
    assert not faults(tmp_path)
    assert rows(read_tables(tmp_path))["pair_scores"][-1] == PairScore("2", "3", 7.5)


def test_scores_that_do_not_cover_all_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    incomplete = scored(("q-a", "pear"))
    tables, distil = small(pair_scores=incomplete), small(pair_scores=incomplete)

    write_tables(tables, "light-splade", tmp_path / "usual")
    write_tables(distil, "light-splade", tmp_path / "distil", "distil")

    assert not list((tmp_path / "usual").glob("hard*"))
    ((reason, count),) = reasons(tables, "dropped", "pair_scores").items()
    assert reason.endswith("(the teacher did not score it); --profile distil keeps those that have") and count == 11
    assert reasons(distil, "dropped", "qrels") == {"the teacher did not score it": 1}
    assert [q["text"] for q in records(tmp_path / "distil/train/query_master.ndjson")] == ["tide times"]
    assert not faults(tmp_path / "usual")
    assert not faults(tmp_path / "distil")


def test_scores_in_any_order_give_one_line_for_each_question(tmp_path: Path) -> None:
    pairs = [
        *scored(),
        PairScore("q-a", "pear", 9.0),
        PairScore("q-b", "tide", float("nan")),
        PairScore("q-x", "tide", 1),
    ]
    pairs.sort(key=lambda row: row.doc_id)
    tables = small(pair_scores=pairs, triplets=[])

    write_tables(tables, "light-splade", tmp_path, "distil")

    lines = records(tmp_path / "hard-negatives-cross-encoder-scores.ndjson")
    assert sorted(line["qid"] for line in lines) == [0, 1, 2]
    assert {len(line["scores"]) for line in lines} == {4}
    assert sum(reasons(tables, "dropped", "pair_scores").values()) == 3
    assert not (tmp_path / "train/triplets.ndjson").exists()
    assert not faults(tmp_path)


def test_distil_without_scores_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="distil needs a teacher's scores"):
        write_tables(small(), "light-splade", tmp_path, "distil")


def test_the_held_out_samples_are_fewer_than_all(tmp_path: Path) -> None:
    tables = small(triplets=TRIPLETS[:1])

    write_tables(tables, "light-splade", tmp_path)

    assert (tmp_path / "data.yaml").read_text().endswith("eval_loss_size: 0\n")
    assert not faults(tmp_path)


def _two_splits(root: Path, ending: str = ".ndjson") -> None:
    """Two splits that share query 3 and document 12; 4 and 13 mean something else in each."""
    for split, qid, own in (("train", 1, 10), ("validation", 2, 20)):
        write_lines(
            root / split / f"query_master{ending}",
            {"qid": qid, "text": f"own of {split}"},
            {"qid": 3, "text": "shared"},
            {"qid": 4, "text": f"query 4 of {split}"},
        )
        write_lines(
            root / split / f"doc_master{ending}",
            {"doc_id": own, "text": f"document of {split}"},
            {"doc_id": 12, "text": "shared"},
            {"doc_id": 13, "text": f"document 13 of {split}"},
        )
        write_lines(
            root / split / f"positive_lists{ending}",
            {"qid": qid, "positive_doc_ids": [own, 13]},
            {"qid": 3, "positive_doc_ids": [12]},
            {"qid": 4, "positive_doc_ids": [13]},
        )
    write_lines(root / f"train/triplets{ending}", {"qid": 4, "pos_doc_id": 13, "neg_doc_id": 12})
    write_lines(
        root / f"hard_negative_scores{ending}",
        {"qid": 1, "scores": {"13": 1, "12": 0.25}},
        {"qid": 2, "scores": {"13": 2.5, "012": -1}},
    )


@pytest.mark.parametrize("ending", [".ndjson", ".ndjson.gz"])
def test_both_splits_are_read_into_one(ending: str, tmp_path: Path) -> None:
    _two_splits(tmp_path, ending)

    tables = read_tables(tmp_path)
    found = rows(tables)

    assert [d.doc_id for d in found["documents"]] in (
        ["20", "12", "validation-13", "10", "13"],
        ["10", "12", "13", "20", "validation-13"],
    )
    assert [(q.question_id, q.split) for q in found["questions"]] == [
        ("1", "train"),
        ("3", "train"),
        ("4", "train"),
        ("2", "validation"),
        ("validation-4", "validation"),
    ]
    assert Qrel("validation-4", "validation-13", split="validation") in found["qrels"]
    assert Qrel("3", "12", split="validation") in found["qrels"]
    assert found["triplets"] == [Triplet("4", "13", "12", "train")]
    assert found["pair_scores"] == [
        PairScore("1", "13", 1),
        PairScore("1", "12", 0.25),
        PairScore("2", "validation-13", 2.5),
        PairScore("2", "12", -1),
    ]
    assert {(loss.kind, loss.table, loss.count) for loss in tables.losses} == {
        ("renumbered", "documents", 1),
        ("renumbered", "questions", 1),
    }


def test_what_was_read_twice_is_reported_once(tmp_path: Path) -> None:
    _two_splits(tmp_path)
    tables = read_tables(tmp_path)

    for _ in range(3):
        rows(tables)

    assert {loss.count for loss in tables.losses} == {1}


def test_shards_and_single_splits_are_read(tmp_path: Path) -> None:
    for number, name in enumerate(("b.ndjson", "a.ndjson", "c.ndjson.gz")):
        write_lines(tmp_path / "doc_master" / name, {"doc_id": number, "text": f"text {number}"})
    write_lines(tmp_path / "query_master.ndjson", {"qid": 1, "text": "q"})
    write_lines(tmp_path / "positive_lists.ndjson", {"qid": 1, "positive_doc_ids": [0, 2]})

    found = rows(read_tables(tmp_path))

    assert sorted(d.doc_id for d in found["documents"]) == ["0", "1", "2"]
    assert found["questions"] == [Question("1", "q")]
    assert [(q.target_id, q.split) for q in found["qrels"]] == [("0", None), ("2", None)]


def test_ids_of_any_size_are_exact(tmp_path: Path) -> None:
    big = 9223372036854775807
    write_lines(tmp_path / "doc_master.ndjson", {"doc_id": big, "text": "a"}, {"doc_id": -3, "text": "b"})
    write_lines(tmp_path / "query_master.ndjson", {"qid": big - 1, "text": "q"})
    write_lines(tmp_path / "positive_lists.ndjson", {"qid": big - 1, "positive_doc_ids": [big, -3]})

    found = rows(read_tables(tmp_path))

    assert [d.doc_id for d in found["documents"]] == [str(big), "-3"]
    assert [q.target_id for q in found["qrels"]] == [str(big), "-3"]


def test_by_products_are_not_read(tmp_path: Path) -> None:
    _two_splits(tmp_path)
    write_lines(tmp_path / "hard-negatives-init-scores.ndjson", {"qid": 1, "scores": {"10": 1.0}})

    tables = read_tables(tmp_path)

    assert reasons(tables, "dropped", "initial-scores") == {"a by-product that no trainer reads": 1}


def test_a_data_config_leads_to_the_same_tables(tmp_path: Path) -> None:
    write_tables(small(), "light-splade", tmp_path)

    assert rows(read_tables(tmp_path / "data.yaml")) == rows(read_tables(tmp_path))


@pytest.mark.broad(5)
def test_the_toy_dataset_comes_back_byte_for_byte(tmp_path: Path) -> None:
    source = published("light-splade-toy")

    write_tables(read_tables(source), "light-splade", tmp_path / "split", documents="split")
    write_tables(read_tables(source), "light-splade", tmp_path / "pool")

    names = [p.relative_to(source) for p in source.rglob("*.ndjson")]
    assert len(names) == 8
    assert all((source / n).read_bytes() == (tmp_path / "split" / n).read_bytes() for n in names)
    assert rows(read_tables(tmp_path / "pool")) == rows(read_tables(source))
    assert not faults(tmp_path / "split")
    assert not faults(tmp_path / "pool")


def _beir(root: Path) -> CanonicalTables:
    """Canonical tables of a BEIR folder, without the converter of that format."""

    def lines(path: Path) -> Iterator[Any]:
        if not path.exists():
            path = path.with_name(f"{path.name}.gz")
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)

    def qrels() -> Iterator[Qrel]:
        for path in sorted(root.glob("qrels/*.tsv")):
            for line in path.read_text("utf-8").splitlines()[1:]:
                question_id, doc_id, grade = line.split("\t")
                yield Qrel(question_id, doc_id, int(grade), split=path.stem)

    return CanonicalTables(
        root.name,
        "beir",
        {
            "documents": lambda: (
                Document(str(d["_id"]), d["text"], d["title"] or None) for d in lines(root / "corpus.jsonl")
            ),
            "questions": lambda: (Question(str(q["_id"]), q["text"]) for q in lines(root / "queries.jsonl")),
            "qrels": qrels,
        },
        Losses(),
    )


@pytest.mark.broad(5)
def test_scifact(tmp_path: Path) -> None:
    tables = _beir(published("scifact-beir"))

    write_tables(tables, "light-splade", tmp_path, **{"random-negatives": "2"})

    assert len(records(tmp_path / "train/query_master.ndjson")) == 809
    assert len(records(tmp_path / "validation/query_master.ndjson")) == 300
    assert sum(len(r["positive_doc_ids"]) for r in records(tmp_path / "train/positive_lists.ndjson")) == 919
    assert len(records(tmp_path / "validation/doc_master.ndjson")) == 5183
    assert not (tmp_path / "ragdata.ids.ndjson").exists()
    assert not faults(tmp_path)


@pytest.mark.broad(5)
def test_nfcorpus(tmp_path: Path) -> None:
    source = published("nfcorpus-beir")
    with ZipFile(source / "nfcorpus.zip") as packed:
        packed.extractall(tmp_path)
    tables = _beir(tmp_path / "nfcorpus")

    write_tables(tables, "light-splade", tmp_path / "out", **{"random-negatives": "1"})

    back = rows(read_tables(tmp_path / "out"))
    assert len(back["qrels"]) == 110575 + 11385 + 12334
    assert len(back["questions"]) == 3237
    assert reasons(tables, "renumbered", "questions") == {"the mapping is in ragdata.ids.ndjson": 3237}
    assert not [f for f in ragdatakit.validate(tmp_path / "out").findings if f.severity == "error"]
    shutil.rmtree(tmp_path / "out")


@pytest.mark.broad(5)
def test_the_faq_of_a_japanese_city(tmp_path: Path) -> None:
    source = published("localgovfaq-ja")

    def load(name: str) -> Any:
        return json.loads(gzip.decompress((source / f"{name}.json.gz").read_bytes()))

    tables = tables_of(
        documents=[Document(k, text) for k, text in load("corpus").items()],
        questions=[Question(k, text) for k, text in load("queries").items()],
        qrels=[Qrel(q, d, grade) for q, judged in load("qrels").items() for d, grade in judged.items()],
    )

    write_tables(tables, "light-splade", tmp_path, **{"random-negatives": "1", "positive-grade": "2"})

    assert reasons(tables, "dropped", "qrels").keys() == {"graded below 2, which makes no positive"}
    assert len(records(tmp_path / "validation/doc_master.ndjson")) == 1786
    assert not faults(tmp_path)
