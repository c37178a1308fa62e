"""`ragdata convert` with a graph made of the texts, and with mined negatives: what is written, told and refused."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

import ragdatakit
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from tests.command_line import run
from tests.model_server import running_models
from tests.upstream_data import UPSTREAM_DATA, needs

DOCUMENTS = {
    "Harbour log": "The tug Osprey towed the barge Lena into Port Hale. Captain Jane Moor signed.",
    "Jane Moor": "Jane Moor was born in 1950. She sailed the Osprey.",
    "Port Hale": "Port Hale is a harbour. The Lena sank there in 1950.",
}
QUESTIONS = [
    {
        "id": "h1",
        "question": "Which barge did the Osprey tow?",
        "answer": "Lena",
        "supporting_documents": ["Harbour log"],
    },
    {"id": "h2", "question": "Who sailed with Jane Moor?", "answer": "she", "supporting_documents": ["Jane Moor"]},
]
RAW = ("convert", "--from", "gfm-rag-raw", "--to", "gfm-rag")


def raw(folder: Path, questions: Any = QUESTIONS, documents: Any = DOCUMENTS) -> Path:
    (folder / "raw").mkdir(parents=True)
    (folder / "raw/documents.json").write_bytes(orjson.dumps(documents))
    (folder / "raw/test.json").write_bytes(orjson.dumps(questions))
    return folder


def beir(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": f"d{n}", "title": t, "text": text} for n, (t, text) in enumerate(DOCUMENTS.items())]
    corpus += [{"_id": f"x{n}", "title": "", "text": f"The Osprey and barge number {n}."} for n in range(9)]
    (folder / "corpus.jsonl").write_bytes(b"".join(orjson.dumps(d) + b"\n" for d in corpus))
    asked = [{"_id": q["id"], "text": q["question"]} for q in QUESTIONS]
    (folder / "queries.jsonl").write_bytes(b"".join(orjson.dumps(q) + b"\n" for q in asked))
    (folder / "qrels/train.tsv").write_text("query-id\tcorpus-id\tscore\nh1\td0\t1\nh2\td1\t1\n", "utf-8")
    return folder


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"processed/stage1/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def options(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / "ragdata.json").read_bytes())["options"]
    return found


def test_raw_becomes_a_dataset_with_a_graph(tmp_path: Path) -> None:
    done = run(*RAW, raw(tmp_path / "src"), tmp_path / "out")
    assert done.code == 0, done.err
    assert "Nothing is lost." in done.out
    out = tmp_path / "out"
    report = ragdatakit.validate(out, severity="warning")
    assert set(report.by_rule) == {"GF318"}  # fewer than ten documents
    kinds = {row["name"]: row["type"] for row in table(out, "nodes")}
    assert [name for name, kind in kinds.items() if kind == "document"] == list(DOCUMENTS)
    assert kinds["osprey"] == kinds["jane moor (entity)"] == kinds["year 1950"] == "entity"
    mentions = {(row["source"], row["target"]) for row in table(out, "edges") if row["relation"] == "is_mentioned_in"}
    assert ("osprey", "Jane Moor") in mentions
    (first, second) = json.loads((out / "processed/stage1/test.json").read_bytes())
    assert first["start_nodes"] == {"entity": ["osprey"]}
    assert first["target_nodes"]["document"] == ["Harbour log"]
    assert "lena" in first["target_nodes"]["entity"]
    assert second["start_nodes"] == {"entity": ["jane moor (entity)"]}
    assert json.loads((out / "raw/documents.json").read_bytes()) == DOCUMENTS
    assert options(out)["extractor"] == "names"


def test_the_same_twice_and_from_its_own_output(tmp_path: Path) -> None:
    run(*RAW, raw(tmp_path / "src"), tmp_path / "a")
    run(*RAW, tmp_path / "src", tmp_path / "b")
    done = run(*RAW, tmp_path / "a", tmp_path / "c")  # its graph is left aside and made again
    assert done.code == 0, done.err
    for name in ("nodes.csv", "edges.csv", "relations.csv", "test.json"):
        made = [(tmp_path / x / "processed/stage1" / name).read_bytes() for x in "abc"]
        assert made[0] == made[1] == made[2], name


def test_a_broken_graph_beside_raw_does_not_matter(tmp_path: Path) -> None:
    source = raw(tmp_path / "src", [{"id": "h1", "question": "Osprey?", "supporting_documents": ["Port Hale"]}])
    (source / "processed/stage1").mkdir(parents=True)
    (source / "processed/stage1/nodes.csv").write_text("name\n\x00broken,,,\n", "utf-8")
    (source / "processed/stage1/test.json").write_text("[{]", "utf-8")
    assert run("convert", "--from", "gfm-rag", "--to", "gfm-rag", source, tmp_path / "no").code == 1
    done = run(*RAW, source, tmp_path / "out")
    assert done.code == 0, done.out + done.err
    broken = raw(tmp_path / "broken", [{"id": "h1", "question": 7}])
    assert run(*RAW, broken, tmp_path / "out2").code == 1


def test_a_question_that_names_nothing_is_reported(tmp_path: Path) -> None:
    asked = [*QUESTIONS, {"id": "h3", "question": "why?", "answer": "x", "supporting_documents": ["Port Hale"]}]
    done = run(*RAW, raw(tmp_path / "src", asked), tmp_path / "out", "--strict")
    assert done.code == 0, done.err
    assert "questions  1 value: it is in raw/ only: the graph has no start node and no target node" in done.out
    assert len(json.loads((tmp_path / "out/raw/test.json").read_bytes())) == 3
    assert len(json.loads((tmp_path / "out/processed/stage1/test.json").read_bytes())) == 2


def test_any_documents_will_do(tmp_path: Path) -> None:
    source = beir(tmp_path / "src")
    done = run("convert", "--to", "gfm-rag", "--extractor", "names", source, tmp_path / "ids")
    assert done.code == 0, done.err
    assert "osprey" in {row["name"] for row in table(tmp_path / "ids", "nodes")}
    titled = tmp_path / "titled"
    titles = (source / "corpus.jsonl").read_bytes().splitlines(keepends=True)[:3]
    (source / "corpus.jsonl").write_bytes(b"".join(titles))
    done = run("convert", "--to", "gfm-rag", "--extractor", "names", "-o", "key=title", source, titled)
    assert done.code == 0, done.err
    targets = {row["target"] for row in table(titled, "edges") if row["relation"] == "is_mentioned_in"}
    assert targets == set(DOCUMENTS)
    assert set(ragdatakit.validate(titled).by_rule) <= {"GF318", "GF322", "GF424"}


def test_chunks_of_documents_are_the_passages(tmp_path: Path) -> None:
    words = ("--extractor", "names", "--chunk-size", "1", "--chunk-by", "sentences")
    done = run("convert", "--to", "gfm-rag", *words, beir(tmp_path / "src"), tmp_path / "out")
    assert done.code == 0, done.err
    targets = {row["target"] for row in table(tmp_path / "out", "edges") if row["relation"] == "is_mentioned_in"}
    assert {"d0#0", "d0#1"} <= targets


def test_triples_for_datamind(tmp_path: Path) -> None:
    done = run("convert", "--to", "datamind", "--from", "gfm-rag-raw", raw(tmp_path / "src"), tmp_path / "out")
    assert done.code == 0, done.err
    (path,) = (tmp_path / "out").glob("data/profiles/*/triplets/*.jsonl")
    triples = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert {t["relation"] for t in triples} == {"occurs_with", "occurs_in_text_about"}
    assert triples[0]["source"] == "Harbour log"
    assert "start_nodes" not in done.out


def test_a_sidecar_gives_the_source_back(tmp_path: Path) -> None:
    source = beir(tmp_path / "src")
    words = ("--extractor", "names", "--sidecar")
    assert run("convert", "--to", "gfm-rag", *words, source, tmp_path / "out").code == 0
    assert run("convert", "--to", "beir", tmp_path / "out", tmp_path / "back").code == 0
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/train.tsv"):
        given, back = ((folder / name).read_text("utf-8").splitlines() for folder in (source, tmp_path / "back"))
        if name.endswith("jsonl"):
            rows = [[json.loads(x) | {"metadata": {}} for x in lines] for lines in (given, back)]
            assert rows[0] == rows[1], name
        else:
            assert given == back, name


REPLY = '{"entities": [{"name": "Osprey", "type": "boat"}, "Lena"], "triples": [["Osprey", "towed", "Lena"]]}'


def test_a_model_is_asked_once(tmp_path: Path) -> None:
    source, place = raw(tmp_path / "src"), {"RAGDATA_CACHE_DIR": str(tmp_path / "cache")}
    with running_models() as server:
        server.chat = lambda _: REPLY
        words = (*RAW, "--extractor", "openai", "--model", "m", "--base-url", server.url)
        dry = run(*words, "--dry-run", "--price-in", "1", "--price-out", "4", source, tmp_path / "out", env=place)
        assert dry.code == 0, dry.err
        assert "3 passages, 0 of them with a reply in the cache" in dry.out
        assert "cost about 0.00" in dry.out
        assert not server.calls
        assert not (tmp_path / "out").exists()
        done = run(*words, source, tmp_path / "out", env=place)
        assert done.code == 0, done.err
        assert len(server.calls) == 3
        again = run(*words, source, tmp_path / "again", env=place)
        assert (again.code, len(server.calls)) == (0, 3)
        document = run(*words, "--dry-run", "--output-format", "json", source, tmp_path / "x", env=place).json
        assert document["estimates"][0]["cached"] == 3
        assert document["estimates"][0]["cost"] is None
    nodes = {row["name"]: row["attributes"] for row in table(tmp_path / "out", "nodes")}
    assert nodes["osprey"] == '{"entity_type":"boat"}'
    assert ragdatakit.validate(tmp_path / "out").ok
    written = options(tmp_path / "out")
    assert (written["extractor"], written["extract-model"], written["extract-base-url"]) == ("openai", "m", server.url)


def test_strict_writes_nothing_where_a_passage_failed(tmp_path: Path) -> None:
    source = raw(tmp_path / "src")
    with running_models() as server:
        server.chat = lambda p: "hm" if "Port Hale is" in p["messages"][1]["content"] else REPLY
        extract = ("--extract", "most-failures=0.5", "--extract", f"cache={tmp_path / 'cache'}")
        words = (*RAW, "--extractor", "openai", "--model", "m", "--base-url", server.url, *extract)
        strict = run(*words, "--strict", source, tmp_path / "out")
        assert (strict.code, (tmp_path / "out").exists()) == (1, False)
        done = run(*words, source, tmp_path / "out")
    assert done.code == 0, done.err
    assert "documents  1 value: the model gave no graph of it" in done.out
    assert "Port Hale: the reply could not be read" in done.out


def test_questions_are_linked_by_vectors(tmp_path: Path) -> None:
    pytest.importorskip("ragdatakit.retrieval.vectors.embedders")
    asked = [{"id": "h1", "question": "which hale?", "answer": "x", "supporting_documents": ["Port Hale"]}]
    with running_models() as server:
        words = ("--linker", "embeddings", "--embedder", "openai:e", "--base-url", server.url)
        place = {"RAGDATA_CACHE_DIR": str(tmp_path / "cache")}
        done = run(*RAW, *words, raw(tmp_path / "src", asked), tmp_path / "out", env=place)
    assert done.code == 0, done.err
    (question,) = json.loads((tmp_path / "out/processed/stage1/test.json").read_bytes())
    assert question["start_nodes"]["entity"][0] == "port hale (entity)"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "beir", "--extractor", "names"), "beir has no place for one"),
        (("--to", "gfm-rag", "--extractor", "openai"), "needs a model"),
        (("--to", "gfm-rag", "--model", "m"), "model goes with --extractor"),
        (("--to", "gfm-rag", "--extractor", "names", "--model", "m"), "model goes with --extractor openai"),
        (("--to", "gfm-rag", "--extractor", "names", "--extract", "leest=1"), "unknown extraction option 'leest'"),
        (("--to", "gfm-rag", "--extractor", "names", "--extract", "least"), "expected NAME=VALUE"),
        (("--to", "gfm-rag", "--extractor", "names", "--extract", "least=x"), "expected an integer"),
        (("--to", "gfm-rag", "--extractor", "names", "--extract", "least=0"), "expected 1 or more"),
        (("--to", "gfm-rag", "--extractor", "names", "--linker", "embeddings"), "needs an embedder"),
        (("--to", "gfm-rag", "--extractor", "openai", "--model", "m", "--base-url", "ftp://x"), "ftp://x"),
        (("--to", "gfm-rag", "--negatives", "bm25"), "gfm-rag has no place for them"),
        (("--to", "light-splade", "--negatives", "dense"), "unknown method to mine negatives 'dense'"),
        (("--to", "light-splade", "--negatives", "bm25:depth=0"), "depth=0"),
        (("--to", "light-splade", "--negatives", "bm25", "--extractor", "names"), "no format holds both"),
        (("--to", "gfm-rag", "--from", "gfm-rag-raw"), "no dataset"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = run("convert", *words, beir(tmp_path / "src"), tmp_path / "out")
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "out").exists()


def test_a_graph_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    run(*RAW, raw(tmp_path / "src"), tmp_path / "a")
    done = run("convert", "--to", "gfm-rag", "--extractor", "names", tmp_path / "a", tmp_path / "b")
    assert done.code == 2
    assert "has a graph already" in done.err
    assert "--from gfm-rag-raw" in done.err


def test_mined_negatives_are_the_only_triplets(tmp_path: Path) -> None:
    words = ("--negatives", "bm25:depth=9,per_query=3", "-o", "validation-ratio=0")
    done = run("convert", "--to", "light-splade", *words, beir(tmp_path / "src"), tmp_path / "out")
    assert done.code == 0, done.err
    assert "random documents" not in done.out
    rows = [json.loads(x) for x in (tmp_path / "out/train/triplets.ndjson").read_text("utf-8").splitlines()]
    assert rows
    assert all(row["pos_doc_id"] != row["neg_doc_id"] for row in rows)
    assert len(rows) <= 6
    assert options(tmp_path / "out")["negatives"] == "bm25:depth=9,per_query=3"
    again = run("convert", "--to", "light-splade", *words, tmp_path / "src", tmp_path / "again")
    assert again.code == 0
    made = [(tmp_path / x / "train/triplets.ndjson").read_bytes() for x in ("out", "again")]
    assert made[0] == made[1]


def test_the_list_tells_of_graphs() -> None:
    assert "--extractor makes a graph of the texts" in run("convert", "--list").out
    one = run("convert", "--list", "--from", "gfm-rag-raw", "--to", "gfm-rag").out
    assert one.startswith("gfm-rag-raw → gfm-rag: lossy")
    assert "edges" not in one.split("--profile")[0]


def test_raw_files_of_the_older_layout(tmp_path: Path) -> None:
    raw(tmp_path / "old")
    asked = [{**q, "supporting_facts": q["supporting_documents"]} for q in QUESTIONS]
    (tmp_path / "old/raw/documents.json").rename(tmp_path / "old/raw/dataset_corpus.json")
    (tmp_path / "old/raw/test.json").write_bytes(orjson.dumps(asked))
    for name in ("old", "new"):
        source = tmp_path / "old" if name == "old" else raw(tmp_path / "src")
        done = run(*RAW, source, tmp_path / name / "out")
        assert done.code == 0, done.err + done.out
    assert table(tmp_path / "old/out", "edges") == table(tmp_path / "new/out", "edges")


def test_raw_files_without_documents_are_named(tmp_path: Path) -> None:
    run(*RAW, raw(tmp_path / "src"), tmp_path / "built")
    (tmp_path / "built/raw/documents.json").unlink()
    (tmp_path / "built/ragdata.json").unlink()
    done = run(*RAW, tmp_path / "built", tmp_path / "out")
    assert done.code == 2
    assert "raw/documents.json" in done.err and "raw/dataset_corpus.json" in done.err


def test_raw_files_become_what_has_no_graph(tmp_path: Path) -> None:
    done = run("convert", "--from", "gfm-rag-raw", "--to", "beir", raw(tmp_path / "src"), tmp_path / "out")
    assert done.code == 0, done.err
    assert len((tmp_path / "out/corpus.jsonl").read_bytes().splitlines()) == len(DOCUMENTS)


def test_raw_files_are_a_source_like_others(tmp_path: Path) -> None:
    assert any(line.startswith("gfm-rag-raw ") for line in run("convert", "--list").out.splitlines())
    done = run("convert", "--from", "gfm-raw", "--to", "beir", tmp_path, tmp_path / "out")
    assert "did you mean gfm-rag or gfm-rag-raw?" in done.err
    aimed = run("convert", "--from", "beir", "--to", "gfm-rag-raw", beir(tmp_path / "src"), tmp_path / "out")
    assert aimed.code == 2
    assert "did you mean gfm-rag?" in aimed.err


def test_an_index_of_raw_files_has_a_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")
    pytest.importorskip("scipy", reason="needs ragdatakit[retrieval]")
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))
    source = raw(tmp_path / "src")
    assert "modes    bm25, graph, hybrid" in run("index", "--from", "gfm-rag-raw", source).out
    given = run("index", "--from", "gfm-rag-raw", "--graph", "given", source)
    assert "modes    bm25\n" in given.out


def test_from_python(tmp_path: Path) -> None:
    source = raw(tmp_path / "src")
    made = ragdatakit.convert(source, tmp_path / "out", to="gfm-rag", extractor="names", extraction={"least": 1})
    assert made.ok
    with pytest.raises(UnknownNameError, match="extractor"):
        ragdatakit.convert(source, tmp_path / "no", to="gfm-rag", extractor="spacy")
    for wrong in ({"least": 1.5}, {"least": True}, {"analyzer": 7}, {"linker": "x"}):
        with pytest.raises(RagdataError):
            ragdatakit.convert(source, tmp_path / "no", to="gfm-rag", extractor="names", extraction=wrong)
    with pytest.raises(RagdataError, match="extractor is 7"):
        ragdatakit.convert(source, tmp_path / "no", to="gfm-rag", extractor=7)  # type: ignore[arg-type]


WIKI = UPSTREAM_DATA / "2wiki-hipporag"


@needs("2wiki-hipporag")
def test_a_real_corpus(tmp_path: Path) -> None:
    """A part of 2WikiMultihopQA: the passages of sixty questions, and others."""

    def read(name: str) -> Any:
        return json.loads(gzip.decompress((WIKI / name).read_bytes()))

    lines = gzip.decompress((WIKI / "derived_gold_titles.jsonl.gz").read_bytes()).splitlines()[:60]
    gold = {row["id"]: row["supporting_documents"] for row in map(json.loads, lines)}
    wanted = {title for titles in gold.values() for title in titles}
    corpus = {p["title"]: p["text"] for p in read("2wikimultihopqa_corpus.json.gz")}
    some = {title: text for n, (title, text) in enumerate(corpus.items()) if title in wanted or n % 20 == 0}
    asked = [q for q in read("questions.json.gz") if q["id"] in gold]
    questions = [
        {"id": q["id"], "question": q["question"], "answer": q["answer"], "supporting_documents": gold[q["id"]]}
        for q in asked
    ]
    done = run(*RAW, raw(tmp_path / "src", questions, some), tmp_path / "out", "--strict")
    assert done.code == 0, done.out
    report = ragdatakit.validate(tmp_path / "out")
    assert report.ok
    assert report.counts["warning"] <= 2
    made = json.loads((tmp_path / "out/processed/stage1/test.json").read_bytes())
    assert len(made) == len(questions)
    mentions = [row for row in table(tmp_path / "out", "edges") if row["relation"] == "is_mentioned_in"]
    pairs = {(row["source"], row["target"]) for row in mentions}
    near = [
        any((start, title) in pairs for start in q["start_nodes"]["entity"] for title in q["supporting_documents"])
        for q in made
    ]
    assert sum(near) >= 0.95 * len(near)


def test_negatives_without_words_are_refused(tmp_path: Path) -> None:
    """As where a variable of a script is not set: random negatives would look like mined ones."""
    done = run(
        "convert", "--to", "light-splade", str(beir(tmp_path / "beir")), str(tmp_path / "out"), "--negatives", ""
    )

    assert (done.code, (tmp_path / "out").exists()) == (2, False)
    assert "--negatives is empty" in done.err


def test_questions_that_raw_does_not_have_are_reported(tmp_path: Path) -> None:
    """Only raw/ is read: a file of questions that stands in processed/ alone is not part of the output."""
    source = raw(tmp_path / "harbour")
    (source / "processed/stage1").mkdir(parents=True)
    for name in ("test", "train"):
        (source / f"processed/stage1/{name}.json").write_bytes(orjson.dumps(QUESTIONS))

    out = run(*RAW, str(source), str(tmp_path / "out"), "--extract", "least=1").out

    assert "questions  1 file: a whole file that is not read, and raw/ has none of its name" in out
    assert "for example processed/stage1/train.json" in out
    assert run(*RAW, str(source), str(tmp_path / "strict"), "--extract", "least=1", "--strict").code == 1
