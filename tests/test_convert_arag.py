"""A-RAG read and written: the published files come back byte for byte, whatever is written is valid."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ragdatakit.files.paths.own_files import RENAMED_IDS
from ragdatakit.outputs.renamed_ids import map_back, read_renamed
from ragdatakit.schemas.canonical import Answer, Chunk, Document, Edge, Qrel, Question
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.datamind_profiles import account, errors, read_repository, records
from tests.upstream_data import UPSTREAM_DATA, needs

PACKED = UPSTREAM_DATA / "2wiki-hipporag"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "arag" / "valid"
PUBLISHED = ("chunks.json", "questions.json")

needs_published = needs("2wiki-hipporag")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "2wikimultihop"
    folder.mkdir()
    for name in PUBLISHED:
        (folder / name).write_bytes(gzip.decompress((PACKED / f"{name}.gz").read_bytes()))
    return folder


@needs_published
def test_published_files_come_back_byte_for_byte(published: Path, tmp_path: Path) -> None:
    tables = read_tables(published)

    write_tables(tables, "arag", tmp_path / "again")

    assert not len(tables.losses)
    for name in PUBLISHED:
        assert (tmp_path / "again" / name).read_bytes() == (published / name).read_bytes()


@needs_published
def test_published_files_come_back_byte_for_byte_from_datamind(published: Path, tmp_path: Path) -> None:
    tables = read_tables(published)
    out = write_tables(tables, "datamind", tmp_path / "datamind")
    written = {name: file.records for name, file in out.files.items()}

    back = read_repository(tmp_path / "datamind")
    write_tables(back, "arag", tmp_path / "back")

    assert written == {
        "data/profiles/2wikimultihop/chunks/2wikimultihop.jsonl": 658,
        "data/bench/2wikimultihop.jsonl": 1000,
    }
    assert errors(tmp_path / "datamind") == []
    assert (len(tables.losses), len(back.losses)) == (0, 0)
    for name in PUBLISHED:
        assert (tmp_path / "back" / name).read_bytes() == (published / name).read_bytes()


@needs_published
def test_published_evidence_is_a_graph_where_it_is_asked_for(published: Path) -> None:
    plain = read_tables(published)
    found = rows(read_tables(published, **{"evidence-graph": "true"}))

    assert set(plain.sources) == {"chunks", "questions"}
    assert (len(found["edges"]), len({e[:3] for e in found["edges"]})) == (2507, 2437)
    assert (len(found["nodes"]), len({e.relation for e in found["edges"]})) == (3516, 27)
    assert found["edges"][0] == Edge(
        "Lothair II", "mother", "Ermengarde of Tours", provenance="83bf3b5a0bd911eba7f7acde48001122"
    )


@pytest.mark.parametrize("name", sorted(p.name for p in FIXTURES.iterdir()))
def test_every_valid_fixture_is_written_with_the_same_records(name: str, tmp_path: Path) -> None:
    tables = read_tables(FIXTURES / name)

    write_tables(tables, "arag", tmp_path)

    # Objects are written as strings, with nothing but id and text; predictions of several runs in folders of theirs.
    assert [loss for loss in tables.losses if loss.column != "metadata" and loss.kind != "derived"] == []
    before, after = rows(read_tables(FIXTURES / name)), rows(read_tables(tmp_path, "arag"))
    assert [c[:2] for c in before.get("chunks", [])] == [c[:2] for c in after.get("chunks", [])]
    assert before.get("questions") == after.get("questions")
    assert [a[:2] for a in before.get("answers", [])] == [a[:2] for a in after.get("answers", [])]
    assert errors(tmp_path) == []


def _corpus(folder: Path, chunks: Any, questions: Any = None) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "chunks.json").write_text(json.dumps(chunks), encoding="utf-8")
    (folder / "questions.json").write_text(
        questions if isinstance(questions, str) else json.dumps(questions or []), encoding="utf-8"
    )
    return folder


def test_strings_are_cut_at_the_first_colon_and_nothing_is_stripped(tmp_path: Path) -> None:
    tables = read_tables(_corpus(tmp_path / "skarn", ["0: Note: lit in 1871.", "1:a\n:b ", "no colon"]))

    assert rows(tables)["chunks"] == [Chunk("0", " Note: lit in 1871."), Chunk("1", "a\n:b ")]
    assert rows(tables)["chunks"]  # read once more: what is left out is counted once
    assert account(tables) == {("dropped", "chunks", None): 1}


def test_objects_keep_what_they_have_beside_as_it_stands(tmp_path: Path) -> None:
    folder = _corpus(tmp_path / "skarn", [])
    (folder / "chunks.json").write_text('[{"id": "0", "text": "Lit.", "page": 1.50, "big": 12345678901234567890}]')

    assert rows(read_tables(folder))["chunks"] == [
        Chunk("0", "Lit.", metadata='{"page":1.50,"big":12345678901234567890}')
    ]


QUESTIONS = [
    '{"id":"a","source":"s","question":"q","answer":"x","question_type":"","evidence":"","weight":1.50}',
    '{"question":"q","id":"é","answer":"\\ud83d\\ude00","evidence":[["t",["s1","s2"]]]}',
    '{"qid":"a","question":"q","answer":"x"}',
    '{"qid":"a","id":"b","question":"q","gold_answer":"x"}',
    '{"qid":"","id":"b","question":"q","answer":"x"}',
    '{"id":5,"question":"q","answer":"x","gold_answer":"x"}',
    '{"id":"a","question_id":"a","question":"q","answer":"x","reference_answer":"y"}',
    '{"id":"a","text":"t","metadata":{"k":[]},"split":5,"question":"q","answer":"x","aliases":["y","z"]}',
    '{"split":"dev","id":"a","question":"q","answer":"x","aliases":"not a list"}',
    '{"id":"a","meta.question_id":3,"question":"q","answer":"x"}',
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_fields_and_their_order_come_back_from_arag_and_from_datamind(text: str, tmp_path: Path) -> None:
    folder = _corpus(tmp_path / "skarn", ["0:It was lit in 1871."], f"[{text}]")

    write_tables(read_tables(folder), "arag", tmp_path / "arag")
    write_tables(read_tables(folder), "datamind", tmp_path / "datamind")
    write_tables(read_repository(tmp_path / "datamind", "skarn"), "arag", tmp_path / "back")

    if "\\u" not in text:
        expected = json.dumps([json.loads(text)], ensure_ascii=False, indent=2).replace("1.5", "1.50")
        assert (tmp_path / "arag" / "questions.json").read_text(encoding="utf-8") == expected
    for name in ("arag", "back"):
        found = (tmp_path / name / "questions.json").read_bytes()
        assert found == (tmp_path / "arag" / "questions.json").read_bytes()
        assert json.loads(found) == [json.loads(text)]
    assert errors(tmp_path / "datamind") == []


def test_an_id_that_a_colon_would_cut_makes_all_be_numbered(tmp_path: Path) -> None:
    documents = [Document("doc:1", "The lamp was lit."), Document("7", "It burned whale oil."), Document("2", "Out.")]
    tables = tables_of(documents=documents)

    write_tables(tables, "arag", tmp_path)

    assert json.loads((tmp_path / "chunks.json").read_text()) == [
        "0:The lamp was lit.",
        "1:It burned whale oil.",
        "2:Out.",
    ]
    assert [(r["id"], r["was"]) for r in records(tmp_path / RENAMED_IDS)] == [("0", "doc:1"), ("1", "7")]
    assert account(tables) == {("renumbered", "passages", None): 2}
    assert errors(tmp_path) == []


@pytest.mark.parametrize("ids", [["01"], [" 1"], [""], ["a", "a"], ["0", "1", "0"], ["doc-1"]])
def test_ids_that_would_not_be_found_are_numbered(ids: list[str], tmp_path: Path) -> None:
    write_tables(tables_of(documents=[Document(i, f"Lamp {n} was lit.") for n, i in enumerate(ids)]), "arag", tmp_path)

    assert [c.chunk_id for c in rows(read_tables(tmp_path))["chunks"]] == [str(n) for n in range(len(ids))]
    assert errors(tmp_path) == []


def test_usable_ids_stay_beside_questions(tmp_path: Path) -> None:
    tables = tables_of(documents=[Document("doc-1", "It was lit.")], questions=[Question("q", "When?", "1871")])

    write_tables(tables, "arag", tmp_path)

    assert json.loads((tmp_path / "chunks.json").read_text()) == ["doc-1:It was lit."]
    assert errors(tmp_path) == []


def test_titles_blank_texts_and_judgements_are_accounted_for(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("0", "It was lit.", "Skarn"), Document("1", " \n"), Document("2", "")],
        questions=[Question("q", "When?", "1871")],
        qrels=[Qrel("q", "0")],
    )

    write_tables(tables, "arag", tmp_path)

    assert json.loads((tmp_path / "chunks.json").read_text()) == ["0:It was lit."]
    assert account(tables) == {
        ("lost", "documents", "title"): 1,
        ("dropped", "documents", None): 2,
        ("dropped", "qrels", None): 1,
    }


def test_questions_that_cannot_be_judged_are_dropped_and_ids_are_made(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("0", "It was lit in 1871.")],
        questions=[
            Question("a", " ", "1871"),
            Question("b", "When?"),
            Question("c", "When?", "The ?"),
            Question(None, "Who lit it?", "Ada"),
            Question("d", "When was it lit?", "1871"),
            Question("d", "What burned?", "oil"),
            Question("d-2", "What else?", "wood"),
        ],
    )

    write_tables(tables, "arag", tmp_path)

    assert [q["id"] for q in json.loads((tmp_path / "questions.json").read_text())] == ["3", "d", "d-3", "d-2"]
    assert account(tables) == {
        ("dropped", "questions", None): 3,
        ("derived", "questions", "question_id"): 1,
        ("renumbered", "questions", None): 1,
    }
    assert errors(tmp_path) == []


def test_without_usable_questions_there_is_no_file_of_them(tmp_path: Path) -> None:
    tables = tables_of(documents=[Document("0", "It was lit in 1871.")], questions=[Question("a", "When?")])

    write_tables(tables, "arag", tmp_path)

    assert [p.name for p in tmp_path.iterdir()] == ["chunks.json"]
    assert errors(tmp_path) == []


@pytest.mark.parametrize("tables", [{}, {"documents": [Document("0", " ")]}, {"edges": [Edge("a", "r", "b")]}])
def test_nothing_to_write_is_an_error_of_the_run(tables: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match=r"neither|white space"):
        write_tables(tables_of(**tables), "arag", tmp_path)


def test_predictions_keep_their_costs_and_runs_their_folders(tmp_path: Path) -> None:
    before = read_tables(FIXTURES / "predictions")
    write_tables(before, "arag", tmp_path)

    found = rows(read_tables(tmp_path))["answers"]

    assert {a.question_id: a.text for a in found} == {a.question_id: a.text for a in rows(before)["answers"]}
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.jsonl")) == sorted(
        p.relative_to(FIXTURES / "predictions").as_posix() for p in (FIXTURES / "predictions").rglob("*.jsonl")
    )
    for path in tmp_path.rglob("*.jsonl"):
        assert records(path) == records(FIXTURES / "predictions" / path.relative_to(tmp_path))


def test_predictions_of_others_get_question_and_gold_and_no_costs_that_are_none(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("0", "It was lit in 1871.")],
        questions=[Question("a", "When?", "1871")],
        answers=[Answer("a", "In 1871", "Prompt", 0.5, '{"total_cost":"dear","chunks_read_ids":[1],"model":"m"}')],
    )

    write_tables(tables, "arag", tmp_path)

    assert records(tmp_path / "predictions.jsonl") == [
        {"qid": "a", "question": "When?", "gold_answer": "1871", "pred_answer": "In 1871", "model": "m"}
    ]
    assert account(tables) == {
        ("lost", "answers", "prompt"): 1,
        ("lost", "answers", "seconds"): 1,
        ("lost", "answers", "metadata"): 2,
    }
    assert errors(tmp_path) == []


def test_answers_alone_need_what_would_have_been_right(tmp_path: Path) -> None:
    """A-RAG judges predictions by the gold answers in them."""
    judged = Answer("q1", "the north reef", metadata=json.dumps({"gold_answer": "the north reef"}))

    write_tables(tables_of(answers=[judged]), "arag", tmp_path / "judged")

    assert (tmp_path / "judged" / "predictions.jsonl").is_file()
    with pytest.raises(RagdataError, match="answers without gold answers"):
        write_tables(tables_of(answers=[judged._replace(metadata=None)]), "arag", tmp_path / "bare")


def test_of_questions_without_texts_the_predictions_are_written(tmp_path: Path) -> None:
    """A-RAG judges predictions alone, and asks nothing where there is no chunks.json."""
    answers = [Answer("a", "In 1871")]
    tables = tables_of(questions=[Question("a", "When?", "1871"), Question("b", "Who?", "Ada")], answers=answers)

    write_tables(tables, "arag", tmp_path / "judged")

    assert [p.name for p in (tmp_path / "judged").iterdir()] == ["predictions.jsonl"]
    assert account(tables) == {("dropped", "questions", None): 2}
    assert errors(tmp_path / "judged") == []
    for bare in (
        {"questions": [Question("a", "When?", "1871")]},
        {"questions": [Question("a", "?")], "answers": answers},
    ):
        with pytest.raises(RagdataError, match="questions without texts"):
            write_tables(tables_of(**bare), "arag", tmp_path / "bare")


def test_evidence_of_both_shapes_becomes_edges(tmp_path: Path) -> None:
    questions = [
        {"id": "a", "question": "q", "answer": "x", "evidence": [["s", "r", "o"], ["s", "", "o"], ["t", ["one"]]]},
        {"id": "b", "question": "q2", "answer": "x", "evidence_triple": ["( Ada , lit,  the lamp, twice). ", "(a, b)"]},
    ]
    tables = read_tables(_corpus(tmp_path / "skarn", ["0:It was lit."], questions), **{"evidence-graph": "yes"})

    assert rows(tables)["edges"] == [
        Edge("s", "r", "o", provenance="a"),
        Edge("Ada", "lit", "the lamp, twice", provenance="b"),
    ]
    assert [n.name for n in rows(tables)["nodes"]] == ["s", "o", "Ada", "the lamp, twice"]
    assert account(tables) == {("dropped", "questions", None): 1, ("coerced", "edges", "target"): 1}


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
IDS = st.one_of(st.integers(0, 12).map(str), TEXTS, st.sampled_from(["doc:1", "01", " 1", "1 ", "http://x", "\n"]))
EXTRA_NAMES = st.one_of(TEXTS, st.sampled_from(["source", "evidence", "text", "question_id", "reference_answer"]))
EXTRAS = st.dictionaries(EXTRA_NAMES, st.recursive(st.none() | st.integers() | TEXTS, st.lists, max_leaves=4))


@st.composite
def _records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Questions as A-RAG may have them, with their fields in any order."""
    found = []
    for number in range(draw(st.integers(0, 3))):
        own = {"id": f"{number}{draw(TEXTS)}", "question": f"q{draw(TEXTS)}", "answer": f"x{draw(TEXTS)}"}
        extras = {
            k: v
            for k, v in draw(EXTRAS).items()
            if k not in ("qid", "id", "question", "answer", "gold_answer") and not k.startswith("meta")
        }
        fields = {**extras, **own}
        found.append({name: fields[name] for name in draw(st.permutations(list(fields)))})
    return found


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chunks=st.lists(TEXTS.map("x".__add__), min_size=1, max_size=5), questions=_records())
@example(chunks=["x" * 200_000, "x:\u2028\x7f\x00"], questions=[])
def test_arag_comes_back_from_datamind_byte_for_byte(chunks: list[str], questions: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "skarn"
        folder.mkdir()
        for name, value, indent in (
            ("chunks.json", [f"{n}:{t}" for n, t in enumerate(chunks)], 4),
            ("questions.json", questions, 2),
        ):
            (folder / name).write_bytes(json.dumps(value, ensure_ascii=False, indent=indent).encode())
        tables = read_tables(folder)
        write_tables(tables, "datamind", Path(scratch) / "datamind")
        back = read_repository(Path(scratch) / "datamind", "skarn")
        write_tables(back, "arag", Path(scratch) / "back")

        assert (len(tables.losses), len(back.losses)) == (0, 0)
        assert errors(Path(scratch) / "datamind") == []
        for name in PUBLISHED if questions else PUBLISHED[:1]:
            assert (Path(scratch) / "back" / name).read_bytes() == (folder / name).read_bytes()


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    documents=st.lists(st.builds(Document, IDS, TEXTS, st.none() | TEXTS), max_size=6, unique_by=lambda d: d.doc_id),
    questions=st.lists(
        st.builds(
            Question,
            st.none() | IDS,
            TEXTS,
            st.none() | TEXTS,
            st.lists(TEXTS).map(tuple),
            st.none() | TEXTS,
            st.none() | EXTRAS.map(lambda e: json.dumps(e) if e else None),
        ),
        max_size=4,
    ),
)
def test_whatever_is_written_is_valid_and_read_back(documents: list[Document], questions: list[Question]) -> None:
    usable = [d for d in documents if d.text.strip()]
    tables = tables_of(documents=[*documents, Document("last", "The lamp was lit.")], questions=questions)

    with TemporaryDirectory() as folder:
        write_tables(tables, "arag", Path(folder))
        back = read_tables(Path(folder))
        sources = map_back(back.sources, read_renamed(Path(folder)))

        assert errors(Path(folder)) == []
        assert [(c.chunk_id, c.text) for c in sources["chunks"]()] == [
            *((d.doc_id, d.text) for d in usable),
            ("last", "The lamp was lit."),
        ]
