"""Questions and judgements that are given in files or not read whole: what `retrieve` and `eval` make of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragdatakit.api.search import open_retriever
from ragdatakit.retrieval.terms.accents import accent_pattern, spelled_with_other_accents, without_accents
from tests.command_line import run

pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")
pytest.importorskip("Stemmer", reason="needs ragdatakit[retrieval]")
pytest.importorskip("scipy", reason="needs ragdatakit[retrieval]")

QUESTIONS = {"q1": "red fox", "q2": "the dancer Aschenbrodel", "q3": "blue whale"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Three questions, judged in two splits."""
    folder = tmp_path / "t-names"
    corpus = {"d1": "The red fox jumps.", "d2": "Aschenbrödel, a dancer.", "d3": "The blue whale sings."}
    lines(folder / "corpus.jsonl", *({"_id": name, "text": text} for name, text in corpus.items()))
    lines(folder / "queries.jsonl", *({"_id": name, "text": text} for name, text in QUESTIONS.items()))
    judged(folder / "qrels/test.tsv", "q1\td1\t1", "q2\td2\t1")
    judged(folder / "qrels/train.tsv", "q3\td3\t1")
    return folder


def lines(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def judged(path: Path, *rows: str, header: str = "query-id\tcorpus-id\tscore\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(header + "".join(f"{row}\n" for row in rows), "utf-8")


def asked(dataset: Path, *words: str) -> list[str]:
    done = run("retrieve", dataset, "--questions", "--output-format", "trec", "-k", "1", *words)
    assert done.code == 0, done.err
    return [line.split()[0] for line in done.out.splitlines()]


def test_all_questions_are_those_of_all_splits(dataset: Path) -> None:
    assert asked(dataset) == ["q1", "q2", "q3"]
    assert asked(dataset, "--split", "test") == ["q1", "q2"]
    assert asked(dataset, "--split", "train") == ["q3"]


def test_judgements_from_a_file_mark_gold(dataset: Path, tmp_path: Path) -> None:
    qrels = lines(tmp_path / "qrels.json", {"q1": {"d3": 1}})
    done = run("retrieve", dataset, "--id", "q1", "--explain", "--qrels", qrels)
    assert done.code == 0, done.err
    gold = done.out.split("Gold:")[1]
    assert "d3" in gold and "d1" not in gold


def test_a_question_of_a_file_is_asked_by_its_id(dataset: Path, tmp_path: Path) -> None:
    queries = lines(tmp_path / "more.jsonl", {"id": "m1", "question": "singing whale", "gold": ["d3"]})
    done = run("retrieve", dataset, "--queries", queries, "--id", "m1", "--explain")
    assert done.code == 0, done.err
    assert done.out.startswith("m1: singing whale\n")
    assert "Gold: 1 of 1" in done.out


def test_the_command_that_explains_names_the_files(dataset: Path, tmp_path: Path) -> None:
    queries = lines(tmp_path / "more.jsonl", {"id": "m1", "question": "red fox", "gold": ["d3"]})
    shown = run("eval", dataset, "--questions", queries, "--mode", "bm25")
    assert f"--questions {queries} --id m1 --explain" in shown.out.replace("\n", " ")


def test_judgements_need_a_question(dataset: Path, tmp_path: Path) -> None:
    qrels = lines(tmp_path / "qrels.json", {"q1": {"d3": 1}})
    done = run("retrieve", dataset, "red fox", "--qrels", qrels)
    assert done.code == 2
    assert "--qrels goes with --id" in done.err


def test_a_judgement_that_stands_where_the_header_should_is_reported_each_time(dataset: Path) -> None:
    judged(dataset / "qrels/test.tsv", "q1\td1\t1", "q2\td2\t1", header="")
    words = "left out: 1 of qrels: it is where the header should be (q1 d1 1)"
    for _ in range(2):  # also where the index is there
        done = run("eval", dataset, "--split", "test", "--mode", "bm25")
        assert words in done.out.splitlines()
    assert words in run("retrieve", dataset, "--id", "q2").err


def test_results_without_a_score_are_reported(dataset: Path, tmp_path: Path) -> None:
    judged(tmp_path / "a.run", "q1 Q0 d1 1 2.5 a", "q1 Q0 d2 2 nan a", header="")
    done = run("eval", dataset, "--split", "test", "--runs", tmp_path / "a.run")
    assert "left out of a.run: 1 of run: its score is not a number (nan)" in done.out.splitlines()


@pytest.mark.parametrize("score", ["nan", "-inf", "Infinity"])
def test_a_lone_result_without_a_number_is_a_run(tmp_path: Path, score: str) -> None:
    judged(tmp_path / "a.run", f"q1 Q0 d1 1 {score} a", header="")
    done = run("validate", tmp_path / "a.run")
    assert (done.code, "TR113" in done.out) == (1, True)


def test_faults_of_passages_name_ids(dataset: Path) -> None:
    with (dataset / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d2", "text": "again"}\n{"_id": "e1", "text": ""}\n{"_id": "e2", "text": ""}\n')
    output = run("index", dataset).out
    assert "1 document has an id that came before (d2); the last one is read, as the framework does it" in output
    assert "2 documents have no text and cannot be found (e1, e2)" in output


def test_the_last_of_equal_ids_counts_as_the_loader_has_it(tmp_path: Path) -> None:
    folder = tmp_path / "twice"
    (folder / "qrels").mkdir(parents=True)
    texts = {"d1": "cats sleep", "d2": "dogs guard"}
    lines(folder / "corpus.jsonl", *({"_id": i, "text": t} for i, t in texts.items()), {"_id": "d1", "text": "lava"})
    queries = (("q1", "cats"), ("q2", "dogs"), ("q1", "lava"))
    lines(folder / "queries.jsonl", *({"_id": i, "text": t} for i, t in queries))
    judged(folder / "qrels" / "test.tsv", "q1\td1\t1", "q2\td2\t1", "q2\td2\t0")

    answered = run("retrieve", folder, "--id", "q1", "--json").json["queries"][0]
    assert [hit["text"] for hit in answered["hits"]] == ["lava"]
    assert run("retrieve", folder, "cats", "--json").json["queries"][0]["hits"] == []
    done = run("eval", folder, "--metrics", "recall@1", "--json").json
    assert (done["passages"], done["judged"], done["runs"][0]["scores"]["recall@1"]["mean"]) == (2, 1, 1.0)


@pytest.mark.parametrize(
    ("command", "option"),
    [("eval", "-k"), ("eval", "--mode"), ("eval", "--split"), ("index", "--mode"), ("retrieve", "--split")],
)
def test_an_empty_option_is_not_the_default(dataset: Path, command: str, option: str) -> None:
    done = run(command, dataset, option, "")
    assert done.code == 2
    assert f"{option} is empty; leave it out for the default" in done.err


def test_the_head_has_the_name_that_was_typed(dataset: Path) -> None:
    assert run("retrieve", dataset, "fox").err.startswith("t-names (beir): 3 documents, mode bm25")
    (dataset.parent / "copy").symlink_to(dataset)
    assert run("retrieve", dataset.parent / "copy", "fox").err.startswith("copy")


def test_a_word_with_other_accents_is_named(dataset: Path) -> None:
    done = run("retrieve", dataset, "--id", "q2", "--explain")
    assert "Not in the index: Aschenbrodel (but Aschenbrödel is)." in done.out
    assert "Aschenbrodel (0, but has Aschenbrödel)" in done.out
    assert "(but" not in run("retrieve", dataset, "Ravenna fox").out


def test_accents(dataset: Path) -> None:
    assert without_accents("ångström") == "angstrom"
    assert accent_pattern("été") == accent_pattern("東京都庁") == accent_pattern("a.b.c") == ""
    tokenizer = open_retriever(dataset).tokenizer
    assert spelled_with_other_accents("A naïve view", "naiv", tokenizer) == "naïve"
    assert spelled_with_other_accents("A naive view", "naiv", tokenizer) is None


def test_many_lacking_terms_are_cut_to_the_rarest(dataset: Path) -> None:
    words = " ".join(f"word{letter}" for letter in "bcdfghjklmnpqrtvwxzy")
    lines(dataset / "queries.jsonl", {"_id": "q1", "text": f"jumps sings {words}"})
    shown = run("retrieve", dataset, "--id", "q1", "--explain").out
    lacks = next(line for line in shown.splitlines() if "lacks" in line)
    assert lacks.endswith("… and 13 more")  # 20 and one of those that another passage has
    assert lacks.count("(0)") == 8


def test_japanese_gets_an_advice(tmp_path: Path) -> None:
    folder = tmp_path / "ja"
    lines(folder / "corpus.jsonl", *({"_id": f"d{n}", "text": f"ごみの分別は第{n}日に行います"} for n in range(3)))
    lines(folder / "queries.jsonl", {"_id": "q1", "text": "ごみの分別"})
    judged(folder / "qrels/test.tsv", "q1\td1\t1")
    advice = "--analyzer ja searches by words"
    for done in (run("index", folder), run("eval", folder), run("retrieve", folder, "ごみの分別")):
        assert done.code == 0
        assert done.out.count(advice) == 1
    assert advice not in run("retrieve", folder, "42").out


def test_tables_beside_each_other_name_the_way_to_take_one(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    lines(folder / "corpus.jsonl", {"title": "Fox", "text": "The red fox jumps."})
    lines(folder / "asked.jsonl", {"id": "q1", "question": "Who jumps?", "answer": "fox"})
    lines(folder / "truth.jsonl", {"id": "q1", "supporting_documents": ["Fox"]})
    done = run("eval", folder)
    assert "a folder is read whole: give one file to search that alone" in done.err
    assert "where that is the gold, name the file: --qrels FILE" in done.out
