"""DataMind's chunks, triples and questions read and written: valid for both loaders, and back as they were."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragdatakit.files.paths.own_files import RENAMED_IDS
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import Asset, Chunk, Document, Edge, Node, Qrel, Question, Relation
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.datamind_profiles import account, errors, read_repository, records

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8
CHUNKS = "data/profiles/notes/chunks/notes.jsonl"
TRIPLETS = "data/profiles/notes/triplets/notes.jsonl"
BENCH = "data/bench/notes.jsonl"


def _profile(folder: Path, **files: list[Any]) -> Path:
    """A profile ``harbour`` with these files of lines, such as ``chunks__notes``; texts stand as they are."""
    for name, lines in files.items():
        path = folder / "data" / "profiles" / "harbour" / f"{name.replace('__', '/')}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return folder


def test_chunks_come_in_the_order_of_files_with_the_ids_of_v2(tmp_path: Path) -> None:
    _profile(
        tmp_path,
        chunks__b=[{"text": "Ebb.", "source": "tides.md", "id": 7}],
        chunks__a=[
            {"text": " Spring tides. ", "source": "tides.md", "metadata": {"page": 3.50}},
            {"text": "Neap tides.", "id": "t-1", "source": "tides.md", "extra": [1], "modality": None},
            {"text": "Alone.", "metadata": {"source": "moon.md"}},
            {"text": "", "image_path": "images/moon.png", "modality": "image", "image_description": "A moon."},
            {"text": ""},
        ],
    )

    tables = read_repository(tmp_path)

    found = rows(tables)["chunks"]
    assert [(c.chunk_id, c.doc_id, c.ordinal) for c in found] == [
        (hashlib.sha1(b"tides.md\0Spring tides.").hexdigest()[:16], "tides.md", 0),
        ("t-1", "tides.md", 1),
        (found[2].chunk_id, "moon.md", 0),
        (found[3].chunk_id, None, None),
        ("7", "tides.md", 2),
    ]
    assert (found[0].text, found[0].metadata) == (" Spring tides. ", '{"page":3.5}')
    assert (found[1].metadata, found[2].metadata) == ('{"extra":[1]}', '{"source":"moon.md"}')
    assert found[3][5:8] == ("image", "images/moon.png", "A moon.")
    assert account(tables) == {("dropped", "chunks", None): 1}


def test_v2_makes_an_id_of_source_and_stripped_text(tmp_path: Path) -> None:
    _profile(tmp_path, chunks__notes=[{"text": " a ", "source": "s"}, {"text": "b", "id": 0}, {"text": "c", "id": ""}])

    assert [c.chunk_id for c in rows(read_repository(tmp_path))["chunks"]] == [
        hashlib.sha1(text.encode()).hexdigest()[:16] for text in ("s\0a", "notes.jsonl\0b", "notes.jsonl\0c")
    ]


def test_triples_become_edges_and_nodes_of_which_the_first_counts(tmp_path: Path) -> None:
    _profile(
        tmp_path,
        triplets__notes=[
            {"subject": "Tide", "relation": "follows", "object": " Moon ", "subject_properties": {"n": 1.50}},
            {"subject": "Moon", "relation": "is", "object": "Body", "subject_type": "Late", "object_type": "Class"},
            {"subject": "A", "relation": "r", "object": "B", "properties": {"k": []}, "confidence": "0.9", "note": 1},
            {"subject": "A", "relation": " ", "object": "B"},
        ],
    )

    tables = read_repository(tmp_path)

    assert rows(tables)["nodes"][:3] == [Node("Tide", None, '{"n":1.5}'), Node("Moon"), Node("Body", "Class")]
    assert rows(tables)["edges"] == [
        Edge("Tide", "follows", "Moon"),
        Edge("Moon", "is", "Body"),
        Edge("A", "r", "B", '{"k":[],"note":1}', 0.9),
    ]
    assert account(tables) == {("coerced", "edges", None): 1, ("dropped", "triplets", None): 1}


def test_lines_that_are_no_json_are_questions(tmp_path: Path) -> None:
    bench = tmp_path / "data" / "bench" / "notes.jsonl"
    bench.parent.mkdir(parents=True)
    bench.write_text(
        '{"question": "Who?", "reference_answer": null, "level": 1.50}\n\nWhat is a tide?\n{"question": " "}\n'
    )

    tables = read_repository(tmp_path)

    assert rows(tables)["questions"] == [
        Question(
            None,
            "Who?",
            metadata='{"reference_answer":null,"level":1.50}',
            field_order=("text", "reference_answer", "level"),
        ),
        Question(None, "What is a tide?"),
    ]
    assert account(tables) == {("dropped", "bench", None): 1}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"question": "Who? NaN", "level": NaN, "cost": 1.50}', '{"level":null,"cost":1.50}'),
        ('{"question": "Who? NaN", "level": 1e400}', '{"level":1e400}'),
        ('{"question": "\\ud800"}', None),
        ("[1]", None),
        ('{"a":' * 100_000, None),
    ],
)
def test_lines_that_are_almost_json_are_no_plain_questions(line: str, expected: str | None, tmp_path: Path) -> None:
    bench = tmp_path / "data" / "bench" / "notes.jsonl"
    bench.parent.mkdir(parents=True)
    bench.write_text(f'{{"question": "First?"}}\n{line}\n')

    questions = rows(read_repository(tmp_path))["questions"]

    assert [(q.text, q.metadata) for q in questions[1:]] == ([("Who? NaN", expected)] if expected else [])


def test_results_become_answers(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[1] / "fixtures" / "datamind" / "valid" / "results"

    found = rows(read_tables(fixture))["answers"]

    given = json.loads((fixture / "benchmark_results.json").read_text())
    assert [(a.question_id, a.text, a.seconds) for a in found] == [
        (str(r.get("question_id", r["index"])), r["answer"], r["latency_s"]) for r in given
    ]
    assert json.loads(found[0].metadata or "")["question"] == given[0]["question"]


def test_chunks_of_arag_are_written_as_the_page_says(tmp_path: Path) -> None:
    tables = tables_of(format_name="arag", chunks=[Chunk("0", " It: was lit."), Chunk("1", "\n")])

    write_tables(tables, "datamind", tmp_path)

    assert records(tmp_path / CHUNKS) == [
        {"id": "notes-0", "text": " It: was lit.", "source": "notes", "metadata": {"source": "notes", "arag_id": "0"}}
    ]
    assert account(tables) == {("dropped", "chunks", None): 1}


def test_documents_are_chunks_with_a_title_and_come_back_as_documents(tmp_path: Path) -> None:
    documents = [
        Document("d:1", "It was lit.", "Skarn", '{"page":1.50,"source":"book","_x":true}'),
        Document("d2", "Out."),
    ]
    tables = tables_of(documents=documents, qrels=[Qrel("q", "d2")])

    write_tables(tables, "datamind", tmp_path)

    assert records(tmp_path / CHUNKS)[0] == {
        "id": "notes-d:1",
        "text": "It was lit.",
        "source": "notes",
        "metadata": {
            "source": "notes",
            "source_id": "d:1",
            "title": "Skarn",
            "page": 1.5,
            "meta.source": "book",
            "meta._x": True,
        },
    }
    assert rows(read_repository(tmp_path)) == {"documents": documents}
    assert account(tables) == {("dropped", "qrels", None): 1}
    assert errors(tmp_path) == []


def test_nested_metadata_is_kept_as_text(tmp_path: Path) -> None:
    tables = tables_of(documents=[Document("d", "It was lit.", None, '{"tags":["a", 1.50],"k":{},"n":null}')])

    write_tables(tables, "datamind", tmp_path)

    metadata = records(tmp_path / CHUNKS)[0]["metadata"]
    assert metadata == {"source": "notes", "source_id": "d", "tags": '["a",1.50]', "k": "{}", "n": None}
    assert account(tables) == {("coerced", "documents", "metadata"): 2}
    assert errors(tmp_path) == []


def test_without_metadata_only_the_mapping_tells_the_ids(tmp_path: Path) -> None:
    chunk = Chunk("c", "It was lit.", "skarn.md", 4, "A lighthouse.", metadata='{"page":1}')
    tables = tables_of(chunks=[chunk])

    write_tables(tables, "datamind", tmp_path, metadata="none")

    assert records(tmp_path / CHUNKS) == [{"id": "notes-c", "text": "It was lit.", "source": "skarn.md"}]
    assert records(tmp_path / RENAMED_IDS) == [{"kind": "passage", "id": "notes-c", "was": "c"}]
    assert rows(read_repository(tmp_path))["chunks"] == [Chunk("c", "It was lit.", "skarn.md", 0)]
    assert {key: n for key, n in account(tables).items() if key[0] == "lost"} == {
        ("lost", "chunks", "ordinal"): 1,
        ("lost", "chunks", "context"): 1,
        ("lost", "chunks", "metadata"): 1,
    }


def test_two_chunks_of_one_id_do_not_stop_v2(tmp_path: Path) -> None:
    for format_name in ("arag", "beir"):
        folder = tmp_path / format_name
        chunks = [Chunk("0", "It was lit."), Chunk("0", "It burned."), Chunk("1", "Out."), Chunk("0~2", "Dark.")]
        write_tables(tables_of(format_name=format_name, chunks=chunks), "datamind", folder)

        assert [r["id"] for r in records(folder / CHUNKS)] == ["notes-0", "notes-0~2", "notes-1", "notes-0~2~2"]
        assert errors(folder) == []


def test_images_go_along_and_modalities_without_one_do_not(tmp_path: Path) -> None:
    chunks = [
        Chunk("0", "A lamp.", modality="text_image", image_path="pictures/lamp.png", image_description="Lit."),
        Chunk("1", "", modality="image", image_path="pictures/lamp.png", image_description="A lamp."),
        Chunk("2", "", modality="image", image_path="pictures/lamp.png"),
        Chunk("3", "No lamp.", modality="image", image_path="pictures/none.png"),
        Chunk("4", "Text.", modality="text"),
        Chunk("5", "Sound.", modality="audio"),
    ]
    tables = tables_of(chunks=chunks, assets=[Asset("pictures/lamp.png", PNG, "image")])

    write_tables(tables, "datamind", tmp_path)

    found = [{k: v for k, v in r.items() if k not in ("id", "source", "metadata")} for r in records(tmp_path / CHUNKS)]
    image = "images/pictures/lamp.png"
    assert found == [
        {"text": "A lamp.", "image_path": image, "image_description": "Lit.", "modality": "text_image"},
        {"text": "A lamp.", "image_path": image, "image_description": "A lamp.", "modality": "image"},
        {"text": "No lamp."},
        {"text": "Text.", "modality": "text"},
        {"text": "Sound."},
    ]
    assert (tmp_path / "data/profiles/notes" / image).read_bytes() == PNG
    assert account(tables) == {
        ("coerced", "chunks", "image_path"): 3,
        ("coerced", "chunks", "text"): 1,
        ("coerced", "assets", "path"): 1,
        ("dropped", "chunks", None): 1,
        ("lost", "chunks", "image_path"): 1,
        ("lost", "chunks", "modality"): 2,
    }
    assert errors(tmp_path) == []


def test_triples_are_written_for_both_loaders(tmp_path: Path) -> None:
    tables = tables_of(
        nodes=[Node("A", "Lamp", '{"since":1871,"k":[1.50]}'), Node("B"), Node("A", "Other"), Node("Lone")],
        relations=[Relation("lit", '{"k":1}'), Relation("never")],
        edges=[
            Edge("A", "lit", "B", '{"by":"Ada"}', 0.5, "book"),
            Edge("B", "lit", "C"),
            Edge("A", " ", "B"),
            Edge("A", "lit", "A", confidence=float("nan")),
        ],
    )

    write_tables(tables, "datamind", tmp_path)

    assert records(tmp_path / TRIPLETS) == [
        {
            "subject": "A",
            "relation": "lit",
            "object": "B",
            "subject_type": "Lamp",
            "subject_properties": {"since": 1871, "k": [1.5]},
            "properties": {"by": "Ada"},
            "confidence": 0.5,
            "source": "book",
        },
        {"subject": "B", "relation": "lit", "object": "C"},
        {
            "subject": "A",
            "relation": "lit",
            "object": "A",
            "subject_type": "Lamp",
            "object_type": "Lamp",
            "subject_properties": {"since": 1871, "k": [1.5]},
            "object_properties": {"since": 1871, "k": [1.5]},
        },
    ]
    assert account(tables) == {
        ("dropped", "nodes", None): 2,
        ("dropped", "relations", None): 1,
        ("dropped", "edges", None): 1,
        ("lost", "relations", "attributes"): 1,
        ("lost", "edges", "confidence"): 1,
    }
    assert errors(tmp_path) == []


QUESTIONS = [
    Question("a", "When?", "1871", ("in 1871",), "dev", '{"level":1.50,"question":"taken","id":7}'),
    Question(None, "Who?", "…"),
    Question("c", " "),
    Question("d", "What?"),
]


def _bench(folder: Path, **given: str) -> tuple[list[Any], CanonicalTables]:
    tables = tables_of(questions=QUESTIONS)
    write_tables(tables, "datamind", folder, **given)
    assert errors(folder) == []
    return records(folder / BENCH), tables


def test_names_that_differ_in_white_space_stay_apart(tmp_path: Path) -> None:
    nodes = [Node("pier "), Node("pier", "place"), Node("\tlamp", None, '{"lit":1}')]
    edges = [
        Edge(" pier", "near ", "pier "),
        Edge("pier~2", "near", "pier"),
        Edge("pier", "near~2", "\tlamp"),
        Edge("pier ", "near ", "\tlamp"),
    ]
    tables = tables_of(nodes=nodes, edges=edges, relations=[Relation("near ")])

    write_tables(tables, "datamind", tmp_path)
    found = rows(read_repository(tmp_path))

    (path,) = tmp_path.glob("data/profiles/*/triplets/*.jsonl")
    assert all(v == v.strip() for r in records(path) for v in (r["subject"], r["relation"], r["object"]))
    assert found["edges"] == edges
    assert set(found["nodes"]) == {*nodes, Node(" pier"), Node("pier~2")}
    assert account(tables) == {("renumbered", "nodes", None): 4, ("renumbered", "relations", None): 3}


def test_questions_keep_what_they_have_beside(tmp_path: Path) -> None:
    found, tables = _bench(tmp_path)

    assert found == [
        {
            "question": "When?",
            "reference_answer": "1871",
            "question_id": "a",
            "aliases": ["in 1871"],
            "split": "dev",
            "level": 1.5,
            "meta.question": "taken",
            "id": 7,
        },
        {"question": "Who?", "meta.reference_answer": "…"},
        {"question": "What?", "question_id": "d"},
    ]
    assert list(found[0])[:3] == ["question", "reference_answer", "question_id"]
    assert [q._replace(field_order=()) for q in rows(read_repository(tmp_path))["questions"]] == [
        q for q in QUESTIONS if q.text != " "
    ]
    assert account(tables) == {("dropped", "questions", None): 1, ("coerced", "questions", "answer"): 1}


def test_questions_without_extras_joined_and_numbered(tmp_path: Path) -> None:
    found, tables = _bench(tmp_path, **{"drop-extra": "true", "answer": "join", "assign-ids": "true"})

    assert found == [
        {"question": "When?", "reference_answer": "1871; in 1871", "question_id": "a"},
        {"question": "Who?", "question_id": "0"},
        {"question": "What?", "question_id": "d"},
    ]
    assert account(tables) == {
        ("dropped", "questions", None): 1,
        ("lost", "questions", "aliases"): 1,
        ("lost", "questions", "split"): 1,
        ("lost", "questions", "metadata"): 1,
        ("lost", "questions", "answer"): 1,
        ("coerced", "questions", "answer"): 1,
        ("derived", "questions", "question_id"): 1,
    }


def test_nothing_to_write_is_an_error_of_the_run(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="has no chunks"):
        write_tables(tables_of(qrels=[Qrel("q", "d")]), "datamind", tmp_path)


@pytest.mark.parametrize("name", ["a/b: c", "..", "CON", "ü" * 200, "chunks"])
def test_any_name_of_a_dataset_gives_usable_files(name: str, tmp_path: Path) -> None:
    tables = tables_of(name, documents=[Document("d", "It was lit.")], questions=[Question("q", "When?")])

    write_tables(tables, "datamind", tmp_path)

    assert rows(read_repository(tmp_path))["documents"] == [Document("d", "It was lit.")]
    assert errors(tmp_path) == []


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = st.one_of(TEXTS, st.sampled_from(["source", "source_id", "arag_id", "title", "document", "meta.x", "", "_a"]))
SCALARS = st.none() | st.booleans() | st.integers() | TEXTS
OBJECTS = st.none() | st.dictionaries(NAMES, SCALARS, min_size=1).map(
    lambda d: json.dumps(d, ensure_ascii=False, separators=(",", ":"))
)
NON_BLANK = TEXTS.map("x".__add__)
OPTIONAL = st.none() | TEXTS


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.builds(
            Chunk,
            TEXTS,
            NON_BLANK,
            st.none() | st.sampled_from(["notes", "book.md"]) | NON_BLANK,
            st.none() | st.integers(0, 9),
            OPTIONAL,
            image_path=st.none(),
            image_description=OPTIONAL,
            modality=st.sampled_from([None, "text"]),
            metadata=OBJECTS,
        ),
        min_size=1,
        max_size=5,
        unique_by=lambda c: c.chunk_id,
    ),
    st.sampled_from(["arag", "beir"]),
)
def test_chunks_come_back_as_they_were(chunks: list[Chunk], format_name: str) -> None:
    with TemporaryDirectory() as folder:
        tables = tables_of(format_name=format_name, chunks=chunks)
        write_tables(tables, "datamind", Path(folder))

        assert errors(Path(folder)) == []
        assert rows(read_repository(Path(folder))) == {"chunks": chunks}
        assert not len(tables.losses)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.builds(Document, TEXTS, NON_BLANK, OPTIONAL, OBJECTS, st.just(())),
        min_size=1,
        max_size=5,
        unique_by=lambda d: d.doc_id,
    )
)
def test_documents_come_back_as_they_were(documents: list[Document]) -> None:
    with TemporaryDirectory() as folder:
        tables = tables_of(documents=documents)
        write_tables(tables, "datamind", Path(folder))

        assert errors(Path(folder)) == []
        assert rows(read_repository(Path(folder))) == {"documents": documents}


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.builds(
            Edge,
            NON_BLANK.map(str.strip),
            NON_BLANK.map(str.strip),
            NON_BLANK.map(str.strip),
            OBJECTS,
            st.none() | st.floats(0, 1),
            st.none() | NON_BLANK,
        ),
        min_size=1,
        max_size=5,
    ),
    st.none() | TEXTS,
    OBJECTS,
)
def test_graphs_come_back_as_they_were(edges: list[Edge], kind: str | None, attributes: str | None) -> None:
    names = list(dict.fromkeys(n for e in edges for n in (e.source, e.target)))
    nodes = [Node(name, kind, attributes) for name in names]

    with TemporaryDirectory() as folder:
        tables = tables_of(nodes=nodes, edges=edges)
        write_tables(tables, "datamind", Path(folder))

        assert errors(Path(folder)) == []
        assert rows(read_repository(Path(folder))) == {"nodes": nodes, "edges": edges}


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.builds(
            Question,
            st.none() | NON_BLANK,
            NON_BLANK,
            st.none() | TEXTS,
            st.lists(TEXTS).map(tuple),
            OPTIONAL,
            st.none()
            | st.dictionaries(
                TEXTS.filter(lambda n: not n.startswith("meta.")), SCALARS | st.lists(SCALARS), min_size=1
            ).map(lambda d: json.dumps(d, ensure_ascii=False, separators=(",", ":"))),
            field_order=st.just(()),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_questions_come_back_as_they_were(questions: list[Question]) -> None:
    with TemporaryDirectory() as folder:
        write_tables(tables_of(questions=questions), "datamind", Path(folder))

        assert errors(Path(folder)) == []
        found = rows(read_repository(Path(folder)))["questions"]
        assert [q._replace(field_order=()) for q in found] == questions
