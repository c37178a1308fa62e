"""The numbers of reports, against pandas; what is said of splits, coverage, texts and ids; data that is broken."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.api.report import report
from ragdatakit.database.columns import packed_texts
from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.database.row_batches import row_batches
from ragdatakit.database.text_facts import TextFacts, step_of
from ragdatakit.reports.summaries import loss_words, summarize
from ragdatakit.reports.summary.texts import facts_wanted
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import (
    Answer,
    Chunk,
    Document,
    Edge,
    Node,
    PairScore,
    Qrel,
    Question,
    Run,
    StartNode,
    Triplet,
)
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.summaries import Summary
from tests.conversion_tools import tables_of
from tests.stage1_sets import graph_of, knowledge_graph
from tests.upstream_data import UPSTREAM_DATA, published

np, pd = pytest.importorskip("numpy"), pytest.importorskip("pandas")
from tests import summary_oracle as oracle  # noqa: E402 - it needs pandas

FIXTURES = Path(__file__).parents[1] / "fixtures"
VALID = sorted(p for p in FIXTURES.glob("*/valid/*") if p.name != "two-sets")
REAL: list[tuple[str, dict[str, Any]]] = [
    ("scifact-beir", {}),
    ("light-splade-toy", {}),
    ("2wiki-hipporag/2wikimultihopqa_corpus.json.gz", {}),
]


def check(summary: Summary, path: Path, **words: Any) -> None:
    """Every number that pandas can tell, and no other."""
    with ragdatakit.read(path, **words) as dataset:
        frames = oracle.frames_of(dataset)
    assert {t.name: t.rows for t in summary.tables if t.rows} == {name: len(f) for name, f in frames.items()}
    for table in summary.tables:
        if table.rows:
            check_columns(table, frames[table.name])
    check_distributions(summary, oracle.distributions(frames))
    check_frequencies(summary, oracle.frequencies(frames))
    check_ids(summary, frames)
    if summary.graph is not None:
        graph = summary.graph
        by_name = {name: getattr(graph, name) for name in oracle.graph(frames) if name != "hubs"}
        by_name |= {"hubs": [(hub.name, hub.degree) for hub in graph.hubs], "reachable": dict(graph.reachable)}
        assert by_name == oracle.graph(frames)
    assert (summary.graph is not None) == ("edges" in frames)


def check_columns(table: Any, frame: Any) -> None:
    for column in table.columns:
        values = frame[column.name]
        lists = values.map(lambda v: isinstance(v, tuple))
        missing = values.isna() | (lists & (values == ()))
        assert column.missing == missing.sum(), (table.name, column.name)
        empty = values[~missing].map(lambda v: isinstance(v, str) and not v.strip(" \t\n\r"))
        objects = column.name in ("metadata", "attributes")
        if column.name != "content":
            assert column.empty == (values[~missing].eq("{}").sum() if objects else empty.sum())
        if column.distinct is not None:
            assert column.distinct == values[~missing].nunique(), (table.name, column.name)
        if column.duplicates is not None:
            assert column.duplicates == values[~missing].duplicated().sum()
    if "split" in frame:
        assert sum(table.by_split.values()) == len(frame)
        assert {k: v for k, v in table.by_split.items() if k} == dict(frame["split"].value_counts())


def check_distributions(summary: Summary, expected: dict[oracle.Key, Any]) -> None:
    mine = [d for d in summary.distributions if not d.name.startswith("answers.ragchecker.")]  # tests of their own
    by_name = {(d.name, d.by): d for d in mine}
    assert by_name.keys() == expected.keys()
    assert len(by_name) == len(mine)
    for key, values in expected.items():
        oracle.check_distribution(by_name[key], values)


def check_frequencies(summary: Summary, expected: dict[str, Any]) -> None:
    by_name = {f.name: f for f in summary.frequencies}
    assert expected.keys() <= by_name.keys()
    for name, counts in expected.items():
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        assert list(by_name[name].values) == ordered[:20]
        assert (by_name[name].distinct, by_name[name].rest) == (len(counts), sum(n for _, n in ordered[20:]))


def check_ids(summary: Summary, frames: dict[str, Any]) -> None:
    for ids in summary.ids:
        values = frames[ids.table][ids.column].dropna()
        numbers = {int(v) for v in values if v.lstrip("-").isascii() and v.lstrip("-").isdigit() and str(int(v)) == v}
        numbers = {n for n in numbers if -(2**63) <= n < 2**63}
        assert (ids.count, ids.distinct) == (len(values), values.nunique())
        assert ids.integers == values.isin(set(map(str, numbers))).sum()
        if numbers:
            assert (ids.minimum, ids.maximum) == (min(numbers), max(numbers))
            assert ids.gaps == max(numbers) - min(numbers) + 1 - len(numbers)


@pytest.mark.broad
@pytest.mark.broad
@pytest.mark.parametrize("path", VALID, ids=lambda p: f"{p.parents[1].name}-{p.name}")
def test_fixtures_agree_with_pandas(path: Path) -> None:
    summaries = report(path)
    for summary in summaries:
        place = path if len(summaries) == 1 else Path(summary.path)
        check(summary, place)
        assert json.dumps([e.row for e in summary.examples])


@pytest.mark.broad
@pytest.mark.parametrize(("name", "words"), REAL, ids=[name.split("/")[0] for name, _ in REAL])
def test_real_data_agrees_with_pandas(name: str, words: dict[str, Any]) -> None:
    path = published(name)
    (summary,) = report(path, **words)
    check(summary, path, **words)


@pytest.mark.broad(5)
def test_a_real_graph_agrees_with_pandas(tmp_path: Path) -> None:
    if not (UPSTREAM_DATA / "kg-triples-small").is_dir():
        pytest.skip(f"the public data set is not there ({UPSTREAM_DATA / 'kg-triples-small'})")
    folder = graph_of(knowledge_graph("umls").train).write(tmp_path)
    (summary,) = report(folder)
    check(summary, folder)


@pytest.mark.broad
@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*/broken/*"))[::23], ids=lambda p: f"{p.parents[1].name}-{p.name}"
)
def test_broken_data_gives_a_report(path: Path) -> None:
    summaries = report(path)
    assert summaries
    for summary in summaries:
        assert summary.files
        assert all(isinstance(loss, str) and loss for loss in summary.losses)


def test_each_set_of_a_folder_has_its_report() -> None:
    summaries = report(FIXTURES / "hipporag" / "valid" / "two-sets")
    assert [s.name for s in summaries] == ["harbours", "reefs"]
    assert all(s.table("questions") is not None for s in summaries)
    files = [[Path(f.path).name for f in s.files] for s in summaries]
    assert files == [["harbours_corpus.json", "harbours.json"], ["reefs_corpus.json", "reefs.json"]]


def test_a_folder_of_many_formats(tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    for name in ("beir/valid/folder", "light-splade/valid/triplet"):
        shutil.copytree(FIXTURES / name, copied / name.split("/")[0])
    assert [s.format for s in report(copied)] == ["beir", "light-splade"]
    assert len(report([copied / "beir", copied / "light-splade"])) == 2


def test_files_have_their_records_and_splits() -> None:
    (summary,) = report(FIXTURES / "light-splade" / "valid" / "both")
    checked = ragdatakit.validate(FIXTURES / "light-splade" / "valid" / "both")
    files = {f.path: (f.records, f.bytes) for d in checked.datasets for f in d.files}
    assert {f.path.removeprefix(f"{summary.path}/"): (f.records, f.bytes) for f in summary.files} == files
    splits = {f.path.split("/")[-2]: split for f, split in zip(summary.files, summary.file_splits, strict=True)}
    assert splits["train"] == "train"
    assert splits["validation"] == "validation"


def summary_of(**rows: Any) -> Summary:
    words = {name: rows.pop(name) for name in ("examples", "seed") if name in rows}
    with DatasetDatabase(tables_of(**rows)) as database:
        return summarize(database, **words)


def notes(summary: Summary) -> dict[str, tuple[float, str]]:
    return {note.name: (note.value, note.level) for note in summary.notes}


def test_leakage_between_splits() -> None:
    questions = [
        Question("1", "Who lit the lamp?", split="train"),
        Question("2", "  who lit the LAMP? ", split="test"),
        Question("3", "When?", split="test"),
    ]
    qrels = [Qrel("1", "a", split="train"), Qrel("2", "a", split="test"), Qrel("3", "b", split="test")]
    found = notes(summary_of(questions=questions, qrels=qrels, documents=[Document("a", "x"), Document("b", "y")]))
    assert found["leakage.questions"] == (1, "warning")
    assert found["leakage.positives"] == (1, "info")


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("Who lit it?", "\tWho lit it?\r\n"),
        ("Who lit it?", "\u00a0WHO lit it?\u3000"),
        ("Où est le phare été ?", "OÙ EST LE PHARE e\u0301te\u0301 ?"),
    ],
    ids=["tabs-and-lines", "other-blanks", "normal-forms"],
)
def test_a_question_that_is_spelled_otherwise_leaks(text: str, copy: str) -> None:
    found = notes(summary_of(questions=[Question("1", text, split="train"), Question("2", copy, split="test")]))
    assert found["leakage.questions"] == (1, "warning")


def test_blank_questions_do_not_leak() -> None:
    questions = [Question("1", "\n", split="train"), Question("2", " \n", split="test")]
    assert not [name for name in notes(summary_of(questions=questions)) if name.startswith("leakage")]


def test_no_leakage() -> None:
    questions = [Question("1", "Who?", split="train"), Question("2", "When?", split="test")]
    qrels = [Qrel("1", "a", split="train"), Qrel("2", "b", split="test")]
    assert not [name for name in notes(summary_of(questions=questions, qrels=qrels)) if name.startswith("leakage")]


@pytest.mark.parametrize("ids", ["123", "abc"], ids=["integers", "names"])
def test_coverage(ids: str) -> None:
    first, second, third = ids
    documents = [Document(i, "x") for i in ids]
    questions = [Question("q1", "a"), Question("q2", "b"), Question("q3", "c")]
    triplets = [Triplet("q1", first, second), Triplet("q1", first, second), Triplet("q2", first, "9")]
    summary = summary_of(documents=documents, questions=questions, triplets=triplets)
    found = notes(summary)
    assert found["coverage.questions"] == (pytest.approx(2 / 3), "warning")
    assert found["coverage.documents"] == (pytest.approx(2 / 3), "info")
    messages = {note.name: note.words for note in summary.notes}
    assert messages["coverage.questions"] == "2 of 3 questions have a positive, 1 has none"
    assert messages["coverage.documents"] == "2 of 3 documents are named by a triplet"
    by_name = {d.name: d for d in summary.distributions}
    assert by_name["triplets.per_question"].maximum == 2
    assert by_name["triplets.negatives"].maximum == 1
    (table,) = [t for t in summary.tables if t.name == "triplets"]
    assert {c.name: c.distinct for c in table.columns}["negative_id"] == 2
    assert third not in {row.negative_id for row in triplets}


@pytest.mark.parametrize("ids", ["1234", "abcd"], ids=["integers", "names"])
def test_positives_that_are_not_there_cover_nothing(ids: str) -> None:
    first, second, gone, far = ids
    questions = [Question(i, i) for i in ids]
    qrels = [
        Qrel(first, first), Qrel(first, gone), Qrel(second, gone), Qrel(second, first, grade=0), Qrel("other", far),
        Qrel(gone, far, target_kind="chunk"), Qrel(far, "n", target_kind="node"), Qrel(far, gone), Qrel(None, gone),
    ]  # fmt: skip
    summary = summary_of(documents=[Document(first, "x"), Document(second, "y")], questions=questions, qrels=qrels)

    assert {note.words for note in summary.notes} >= {
        "every question has a positive; 1 question has only positives that are not there"
    }
    assert notes(summary)["coverage.questions"] == (pytest.approx(3 / 4), "warning")


def test_positives_without_any_document_are_a_warning() -> None:
    alone = summary_of(questions=[Question("q", "a")], qrels=[Qrel("q", "a")])

    (note,) = alone.notes
    assert note.words == "every question has a positive; there is no document at all"
    assert notes(alone)["coverage.questions"] == (0, "warning")


def test_whole_coverage_needs_no_numbers() -> None:
    rows = {"documents": [Document("a", "x")], "questions": [Question("q", "a")], "qrels": [Qrel("q", "a")]}
    summary = summary_of(**rows, pair_scores=[PairScore("q", "a", 1.0)])
    assert {note.words for note in summary.notes} == {
        "every question has a positive", "every document is named by a judgement or a score",
    }  # fmt: skip


def test_judgements_of_another_corpus_are_a_warning() -> None:
    rows = {"documents": [Document("a", "x")], "questions": [Question("q", "a")]}
    elsewhere = summary_of(**rows, qrels=[Qrel("q", "b")])
    assert notes(elsewhere)["coverage.documents"] == (0, "warning")
    assert "no document is named by a judgement" in {note.words for note in elsewhere.notes}
    assert "coverage.documents" not in notes(summary_of(**rows, qrels=[Qrel("q", "n", target_kind="node")]))
    negatives = summary_of(**rows, qrels=[Qrel("q", "a", grade=0)])
    assert notes(negatives)["coverage.questions"] == (0, "warning")
    assert "no question has a positive" in {note.words for note in negatives.notes}


def test_keys_that_are_data_are_a_note() -> None:
    """SciFact's questions have metadata whose keys are ids of documents."""
    by_id = [Question(str(n), "x", metadata=json.dumps({str(1000 + n): ["type"]})) for n in range(30)]
    summary = summary_of(questions=by_id)
    assert "questions.metadata" not in {f.name for f in summary.frequencies}
    (note,) = [n for n in summary.notes if n.name == "keys.questions.metadata"]
    assert (note.value, note.level) == (30, "info")
    assert note.words.endswith("30 keys, none in more than 1 of 30 rows")

    fields = [Question(str(n), "x", metadata=json.dumps({f"f{k}": n for k in range(30)})) for n in range(30)]
    summary = summary_of(questions=fields)
    assert {f.name: f.distinct for f in summary.frequencies}["questions.metadata"] == 30
    assert not [n for n in summary.notes if n.name.startswith("keys.")]


def test_well_known_keys_count_beside_many_others() -> None:
    """They are reported also where twenty other keys stand in more rows."""
    many = {f"f{k}": 1 for k in range(25)}
    rows = [many | ({"type": "fact", "evidence": []} if n == 0 else {}) for n in range(4)]
    questions = [Question(str(n), "x", metadata=json.dumps(row)) for n, row in enumerate(rows)]
    found = {f.name: f.values for f in summary_of(questions=questions).frequencies}
    assert found["questions.metadata.type"] == (("fact", 1),)
    assert found["questions.metadata.evidence.shape"] == (("list", 1),)


def test_long_values_of_metadata_are_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ({"type": "fact", "claims": [["a", "b"]] * 500}, {"type": "fact", "evidence": [1]}, {"type": "x" * 2000})
    given = [Question(str(n), "x", metadata=json.dumps(row)) for n, row in enumerate(rows)]
    names = ("questions.metadata", "questions.metadata.type")
    whole = {f.name: f.values for f in summary_of(questions=given).frequencies}
    monkeypatch.setattr("ragdatakit.reports.summary.metadata._LONG", 1000)

    found = {f.name: f.values for f in summary_of(questions=given).frequencies}

    assert found[names[0]] == whole[names[0]] == (("type", 3), ("claims", 1), ("evidence", 1))
    assert found[names[1]] == (("fact", 2),), "the long text is not among the values"


ODD_OBJECTS = [
    '{"a": 1, "a": 2, "é": []}',
    ' {"a": 1}',
    '{"a": 1} x',
    '{"a": 1, }',
    '{"\\u0061": 12345678901234567890, "b": NaN}',
    '{"a": {"c": 1, "c": 2}, "level": "easy"}',
    '{"a": ' + "[" * 40 + "]" * 40 + "}",
    "{",
    "[1]",
    "{}",
    "",
    None,
]


def test_texts_and_objects_are_counted_alike_without_a_scanner(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["é漢😀", "", " \t\r\n", "\x0b", "x" * 300, "x" * 300, "one", "one", "one", None]
    rows = [Question(str(n), texts[n % 10] or "", metadata=ODD_OBJECTS[n % 12]) for n in range(60)]
    documents = [Document(f"d{n % 9}", text) for n, text in enumerate(texts)]  # type: ignore[arg-type]
    answers = [Answer(str(n), text) for n, text in enumerate(texts)]  # type: ignore[arg-type]
    given: dict[str, Any] = {"questions": rows, "documents": documents, "answers": answers}
    given["qrels"] = [Qrel(f"{n % 7}", f"d{n % 3}") for n in range(9)] + [Qrel("x", None)]  # type: ignore[arg-type]
    quick = summary_of(**given)
    for place in ("database.text_facts", "reports.summary.ids", "reports.summary.metadata", "reports.summary.texts"):
        monkeypatch.setattr(f"ragdatakit.{place}.library", lambda: None)

    assert summary_of(**given) == quick
    assert "coverage.documents" in notes(quick)

    table = quick.table("documents")
    assert table is not None
    (text,) = [column for column in table.columns if column.name == "text"]
    assert (text.missing, text.empty, text.distinct) == (1, 2, 6)


def test_texts_are_measured_where_they_are_in_a_block() -> None:
    texts = packed_texts(b"a block\xc3\xa9 ", np.array([2, 7, 9, 9, 10]), np.array([2]))
    facts = TextFacts()
    facts.wanted = facts_wanted(apart=False) if library() is not None else None
    assert list(facts.watched(["text"], [[texts]])) == [[texts]]
    if facts.known:
        assert (facts.size, facts.missing, facts.empty, facts.characters.tolist()) == (8, 1, 1, [5, 1, -1, 1])


@pytest.mark.parametrize(
    ("size", "rows", "step"),
    [
        (1000, 10**6, 1),
        (1001, 9, 2),
        (3001, 9, 4),
        (1001, 1 << 15, 2),
        (1001, (1 << 15) + 1, 4),
        (4000, 9, 4),
        (4001, 1 << 15, 8),
    ],
)
def test_of_many_bytes_of_texts_some_are_counted(size: int, rows: int, step: int) -> None:
    assert step_of(size, rows, 1000) == step


def test_what_reading_adds_is_no_loss(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Skarn\n\nThe lamp was lit in 1871.\n")
    (summary,) = report(tmp_path, source_format="text")
    assert summary.losses == []
    (note,) = [n for n in summary.notes if n.name.startswith("reading.")]
    assert (note.name, note.value, note.level) == ("reading.documents.title", 1, "info")
    assert note.words == "documents.title: 1 value added on reading: taken from the first heading"


def test_a_table_that_ends_early_is_not_one_record() -> None:
    def rows() -> Iterator[Question]:
        yield Question("1", "x")
        raise RagdataError("the topics have other numbers")

    losses = Losses()
    assert sum(batch[0].length for batch in row_batches("questions", rows(), losses)) == 1
    assert loss_words(losses) == [
        "questions: it could not be read further than 1 record: the topics have other numbers"
    ]


def test_contexts_and_prompts_have_lengths() -> None:
    summary = summary_of(
        chunks=[Chunk("1", "text", context="four"), Chunk("2", "text")], answers=[Answer("q", "a", prompt="x y")]
    )
    found = {d.name: d for d in summary.distributions}
    assert (found["chunks.context.characters"].count, found["chunks.context.characters"].mean) == (1, 4)
    assert (found["answers.prompt.tokens"].title, found["answers.prompt.tokens"].maximum) == ("Length of prompts", 2)
    assert "chunks.context.characters" not in {d.name for d in summary_of(chunks=[Chunk("1", "x")]).distributions}


def test_uneven_splits() -> None:
    questions = [Question(str(n), f"q{n}", split="train") for n in range(300)] + [Question("x", "z", split="test")]
    assert notes(summary_of(questions=questions))["splits.questions"] == (pytest.approx(1 / 300), "warning")


def test_reachability_counts_unknown_nodes_as_missed() -> None:
    edges = [Edge("a", "r", "b"), Edge("b", "r", "c"), Edge("c", "r", "d")]
    starts = [StartNode("1", "a"), StartNode("2", "a"), StartNode("3", "nowhere"), StartNode("4", "a")]
    targets = {"1": "b", "2": "d", "3": "a", "4": "nowhere"}
    qrels = [Qrel(q, t, target_kind="node") for q, t in targets.items()]
    graph = summary_of(edges=edges, start_nodes=starts, qrels=qrels).graph
    assert graph is not None
    assert (dict(graph.reachable), graph.questions) == ({1: 0.25, 2: 0.25, 3: 0.5}, 4)


def test_a_graph_with_everything_odd() -> None:
    nodes = [Node("a", "x"), Node("a", "y"), Node("lone", "x")]
    edges = [Edge("a", "r", "a"), Edge("a", "r", "b"), Edge("a", "r", "b"), Edge("a", "s", "b")]
    summary = summary_of(nodes=nodes, edges=edges)
    graph = summary.graph
    assert graph is not None
    assert (graph.nodes, graph.edges, graph.relations) == (3, 4, 2)
    assert (graph.components, graph.largest_component, graph.isolated) == (2, 2, 1)
    assert (graph.self_loops, graph.parallel_edges) == (1, 1)
    assert [(h.name, h.degree, h.type) for h in graph.hubs] == [("a", 5, "x"), ("b", 3, None)]
    assert notes(summary)["graph.unlisted"] == (1, "warning")


def test_compression_is_against_the_stage_before() -> None:
    runs = [
        Run("1", "retrieval", 1, text="x" * 100, seconds=0.5),
        Run("1", "reranking", 1, text="x" * 50, seconds=0.25),
        Run("1", "refining", 1, text="x" * 10, seconds=1.5),
        Run("2", "retrieval", 1, text="x" * 40),
        Run("2", "refining", 1, text="x" * 10),
    ]
    found = {(d.name, d.by): d for d in summary_of(runs=runs).distributions}
    one = found["runs.compression", None]
    assert (one.minimum, one.maximum, one.count) == (0.2, 0.25, 2)
    assert found["runs.seconds", "reranking"].mean == 0.25


def test_scripts_and_languages() -> None:
    texts = [
        "The lamp of the lighthouse was lit in the evening.",
        "Die Lampe des Turms wurde nicht von der Wache entzündet.",
        "灯台の明かりは夜に点く。",
        "灯塔的灯在晚上点亮。",
        "Маяк был построен для того, чтобы его было видно, как и другие.",
        "등대의 불빛",
        "12 34",
        "",
    ]
    found = {
        f.name: dict(f.values)
        for f in summary_of(documents=[Document(str(i), t) for i, t in enumerate(texts)]).frequencies
    }
    assert found["documents.text.script"] == {
        "Latin": 2, "none": 2, "Cyrillic": 1, "Han": 1, "Hangul": 1, "Japanese": 1,
    }  # fmt: skip
    assert found["documents.text.language"] == {
        "English": 1, "German": 1, "Japanese": 1, "Chinese": 1, "Russian": 1, "Korean": 1,
    }  # fmt: skip


def test_examples_are_chosen_by_the_seed() -> None:
    documents = [Document(str(n), "x" * (50 - n) if n else "middle") for n in range(50)] + [Document("e", "")]
    first, again = (summary_of(documents=documents, examples=4, seed=7).examples for _ in range(2))
    other = summary_of(documents=documents, examples=4, seed=8).examples
    assert first == again
    assert [e.row["doc_id"] for e in first[:3]] == ["0", "1", "49"]
    assert [e.why for e in first] == ["first", "longest", "shortest", *["random"] * 4]
    assert len({e.row["doc_id"] for e in first}) == 7
    assert [e.row["doc_id"] for e in first[3:]] != [e.row["doc_id"] for e in other[3:]]
    assert len(summary_of(documents=documents, examples=0).examples) == 3
    assert len(summary_of(documents=documents, examples=1000).examples) == 51


def test_long_texts_of_examples_are_cut() -> None:
    (example,) = summary_of(documents=[Document("1", "x" * 5000)]).examples
    assert len(example.row["text"]) == 400
    assert example.cut == ("text",)


@pytest.mark.parametrize("number", [10, 11])
def test_long_lists_of_examples_are_cut(number: int) -> None:
    aliases = tuple(f"alias {n}" for n in range(number))

    (example,) = summary_of(questions=[Question("1", "x", aliases=aliases)]).examples[:1]

    assert (example.row["aliases"], "aliases" in example.cut) == (list(aliases[:10]), number > 10)


def test_values_that_are_no_numbers() -> None:
    runs = [Run("1", "retrieval", n, score=s) for n, s in enumerate((1.0, math.nan, math.inf, None, 2.0), 1)]
    summary = summary_of(runs=runs)
    (scores,) = [d for d in summary.distributions if d.name == "runs.score"]
    assert (scores.count, scores.minimum, scores.maximum) == (2, 1, 2)
    assert json.dumps([e.row for e in summary.examples], allow_nan=False)


def test_hostile_values() -> None:
    odd = [
        "'; drop table documents; --",
        "<script>",
        "\x00\x1b[31m",
        "a\ud800",
        "\u202e",
        " \t",
        "x" * 70_000,
        "ｆｕｌｌ",
    ]
    documents = [Document(t, t, metadata=json.dumps({t: t, "type": t})) for t in odd]
    qrels = [Qrel(t, t, split=t, target_kind=t) for t in odd]
    questions = [Question(t, t, split=t) for t in odd]
    edges = [Edge(t, t, t) for t in odd]
    runs = [Run(t, t, 1, text=t, metadata="{") for t in odd]
    summary = summary_of(documents=documents, qrels=qrels, questions=questions, edges=edges, runs=runs)
    assert summary.table("documents") is not None
    assert summary.graph is not None
    assert summary.graph.self_loops == len(odd)
    assert max(d.maximum for d in summary.distributions if d.name == "documents.text.characters") == 70_000


def test_nothing_in_it() -> None:
    summary = summary_of(documents=[], edges=[], questions=[])
    assert [t.rows for t in summary.tables] == [0, 0, 0]
    assert (summary.distributions, summary.graph, summary.examples) == ([], None, [])


def test_the_same_data_gives_the_same_summary() -> None:
    first, second = (report(FIXTURES / "gfm-rag" / "valid" / "both-loaders")[0] for _ in range(2))
    second.seconds = first.seconds
    assert first == second


def test_progress_is_reported() -> None:
    seen: list[str] = []
    report(FIXTURES / "beir" / "valid" / "folder", progress=lambda what, done, total: seen.append(what))
    assert any(what.startswith("summing up") for what in seen)


def test_wrong_words() -> None:
    with pytest.raises(ragdatakit.RagdataError, match="no path"):
        report([])
    with pytest.raises(ragdatakit.RagdataError, match="no such file"):
        report(FIXTURES / "missing")
    with pytest.raises(ragdatakit.RagdataError, match="examples"):
        report(FIXTURES / "beir" / "valid" / "folder", examples=-1)
    with pytest.raises(ragdatakit.UnknownNameError):
        report(FIXTURES / "beir" / "valid" / "folder", options={"nonsense": 1})


@pytest.mark.parametrize("odd", ["qx", "1000000000000000", "777"])
def test_an_odd_id_stands_for_no_question_that_was_judged_otherwise(odd: str, tmp_path: Path) -> None:
    """Ids that are no integers have the number of another row in their columns; that row may not be chosen."""
    asked = [*map(str, range(1, 401)), odd]
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d", "title": "", "text": "a text"}\n')
    (tmp_path / "queries.jsonl").write_text("".join(f'{{"_id": "{name}", "text": "why {name}"}}\n' for name in asked))
    (tmp_path / "qrels").mkdir()
    judged = "".join(f"{name}\td\t{int(name != '1')}\n" for name in asked)
    (tmp_path / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")

    (found,) = ragdatakit.report(tmp_path, source_format="beir")

    words = {note.name: note.words for note in found.notes}
    assert words["coverage.questions"] == "400 of 401 questions have a positive, 1 has none"
