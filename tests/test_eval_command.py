"""`ragdata eval`: the screen, JSON, files, exit codes, and what it says where it cannot be done."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import orjson
import pytest

import ragdatakit
from ragdatakit.reports.evaluation import EvaluationOptions, evaluation_lines
from ragdatakit.schemas.evaluations import Ceiling, Evaluation, RunResult, Sanity, Score
from tests.command_line import FIXTURES, Outcome, run, spawn
from tests.evaluation_tools import QRELS, QUESTIONS, REEFS, write_beir, write_lines, write_run

pytest.importorskip("pytrec_eval", reason="needs ragdatakit[retrieval]")
pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")


pytestmark = pytest.mark.usefixtures("cache_of_the_module")


@pytest.fixture(scope="module")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_beir(tmp_path_factory.mktemp("sets") / "reefs", types={"q1": "who", "q2": "what", "q3": "what"})


def evaluated(*words: str | Path, code: int = 0) -> Outcome:
    done = run("eval", *words)
    assert done.code == code, done.out + done.err
    return done


def test_faults_that_cost_nothing_are_not_said_to_keep_the_ceiling_down(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "set", splits={"test": {"q1": {"d1": 1}}})
    with (folder / "qrels/test.tsv").open("a") as file:
        file.write("q1\td1\t1\n")

    lines = evaluated(folder).out.splitlines()

    place = lines.index("  Faults that do not lower the ceiling:")
    assert lines[place + 1].startswith("    judgements that appear more than once")
    assert "  What keeps the ceiling below 1:" not in lines


def test_the_screen(reefs: Path) -> None:
    lines = evaluated(reefs, "--metrics", "recall@1,mrr").out.splitlines()

    assert lines == [
        f"{reefs}: beir",
        "3 questions with gold, 1 without it are left out; 6 passages; documents are judged",
        "",
        "                     bm25   ceiling   reached",
        "  recall@1   0.833 ±0.250     0.833      100%",
        "  mrr        1.000 ±0.000     1.000      100%",
        "  ± is half the 95 % interval of the mean (bootstrap over 3 questions)",
        "  What keeps the ceiling below 1:",
        "    more gold than results that are looked at (for precision: less); arithmetic, no defect: 1",
        "      question, recall@1 −0.167",
        "",
        *lines[11:13],
        "  self-retrieval: 100.0% of 6 passages come first when their first words are the question",
        "",
        "recall@1 by type of question:",
        "         questions           bm25",
        "  what           2   0.750 ±0.250",
        "  who            1          1.000",
        "",
        "Worst questions of bm25 (recall@1):",
        "  q2  what were lighthouses lit with before gas",
        "    gold       rank 1  d2  Lighthouses were lit with oil before the gas works came to the harbour.",
        "    gold       rank 2  d6  The gas works closed when electric lamps were put up along the quay.",
        "    found      rank 3  d4  The keeper of the lighthouse wrote the weather into a log book.",
        f"  `ragdata retrieve {reefs} --id q2 --explain` shows why",
        "",
        lines[-1],
    ]
    assert lines[-1].startswith("Evaluated: 1 run on 3 questions in ")


def test_quiet_and_without_worst(reefs: Path) -> None:
    short = evaluated(reefs, "-q").out

    assert "Worst" not in short
    assert "by type" not in short
    assert "Worst" not in evaluated(reefs, "--worst", "0").out
    assert "by type" not in evaluated(reefs, "--no-by-type").out


def test_quiet_counts_the_findings_by_rule(tmp_path: Path) -> None:
    golden = {"q1": {"d1": 1}} | {q: {f"gone{n}": 1} for n, q in enumerate(QUESTIONS) if n}
    folder = write_beir(tmp_path / "reefs", splits={"test": golden})

    lines = evaluated(folder, "-q", "--max-per-rule", "1", code=1).out.splitlines()

    assert lines[-3:-1] == ["EV201 error gold-not-in-corpus, 3 times", ""]
    assert lines[-1].endswith(" s (3 errors)")
    shown = evaluated(folder, "--max-per-rule", "1", code=1).out.splitlines()
    assert shown[-1].endswith(" s (3 errors, 1 shown)")


def test_minimums_decide_the_exit_code(reefs: Path) -> None:
    good = evaluated(reefs, "--min", "recall@10=0.8", "--min", "mrr=1")
    bad = evaluated(reefs, "--min", "recall@1=0.9", code=1)

    assert "recall@10 1.000 ≥ 0.8: as demanded" in good.out
    assert "recall@1 0.833 < 0.9: below what was demanded" in bad.out
    assert "EV102" in bad.out
    assert "Evaluated, with errors" in bad.out


def test_a_minimum_without_words_fails_and_of_two_the_higher_counts(reefs: Path) -> None:
    for empty in ("", " ", ","):
        assert "--min" in evaluated(reefs, "--min", empty, code=2).err
    twice = ("--min", "recall@1=0.9", "--min", "recall@1=0.1", "--min", "r@1=0.2")
    assert "recall@1 0.833 < 0.9: below what was demanded" in evaluated(reefs, *twice, code=1).out


def test_a_minimum_that_is_met_but_for_rounding_is_met(reefs: Path) -> None:
    assert "≥ 0.833333: as" in evaluated(reefs, "--min", "recall@1=0.8333333333333334", "-q").out


def test_what_follows_from_findings_of_one_kind_is_said_once(tmp_path: Path) -> None:
    golden = {q: {f"gone{n}": 1} for n, q in enumerate(QUESTIONS)}
    out = evaluated(write_beir(tmp_path / "reefs", splits={"test": golden}), "--max-per-rule", "2", code=1).out

    assert "None of the 4 gold documents is in the corpus: gold names 'gone0', the corpus has 'd1'." in out
    assert out.count("no retriever can find it") == 1
    assert "EV201 error gold-not-in-corpus, 4 times: no retriever can find it" in out
    assert "    … and 2 more of EV201 gold-not-in-corpus (--max-per-rule 0 shows all)" in out


def test_three_runs_stand_side_by_side_and_the_last_ones_beside_the_ceiling(reefs: Path, tmp_path: Path) -> None:
    runs = [write_run(tmp_path / f"{n}.run", {"q1": ["d1"]}, f"run-{n}") for n in range(7)]
    words = [word for path in runs for word in ("--runs", path)]

    three = evaluated(reefs, *words[:6], "-q").out.splitlines()
    seven = evaluated(reefs, *words, "-q").out.splitlines()

    heading = next(line.split() for line in three if "run-0 " in line)
    assert heading == ["run-0", "run-1", "run-2", "ceiling", "reached"]
    assert sum("ceiling" in line and "reached" in line for line in seven) == 1


def test_more_than_the_ceiling_is_said_to_be_luck(tmp_path: Path) -> None:
    copies = write_beir(
        tmp_path / "copies", {"a": "the reef", "b": "the reef"}, {"q": "reef"}, {"test": {"q": {"a": 1}}}
    )
    lucky = (
        "  more than the ceiling is luck: of identical texts the gold one came first, or a question's own text did not"
    )

    assert lucky in evaluated(copies).out.splitlines()
    assert lucky not in evaluated(write_beir(tmp_path / "reefs")).out.splitlines()


def test_a_little_more_than_the_ceiling_is_said_to_be_luck_where_it_is_shown() -> None:
    def lines(mean: float) -> str:
        score = {"mrr": Score(mean, mean, mean, 2)}
        run_ = RunResult("bm25", score, {}, (), Sanity({}, None, None), 100)
        ceiling = Ceiling({"mrr": 0.3}, ())
        done = Evaluation("d", "d", "beir", "document", None, 2, 2, 2, 0, runs=[run_], ceiling=ceiling)
        return "\n".join(evaluation_lines(done, EvaluationOptions()))

    assert "101%" in lines(0.302)
    assert "more than the ceiling is luck" in lines(0.302)
    assert "101%" not in lines(0.301)
    assert "more than the ceiling is luck" not in lines(0.301)


def test_the_command_that_explains_a_question_searches_as_it_was_searched(reefs: Path, tmp_path: Path) -> None:
    words = ("--stemmer", "none", "--graph", "names", "--fuse", "bm25=1,graph=3")
    walk = write_run(tmp_path / "walk.run", {"q1": ["d4", "d1"]}, "walk")

    def hint(*given: str | Path) -> str:
        return next(line for line in evaluated(reefs, *given).out.splitlines() if "--explain" in line)

    hybrid = hint("--mode", "hybrid", "--metrics", "recall@1", *words)
    assert hybrid == (
        f"  `ragdata retrieve {reefs} --stemmer none --graph names --fuse bm25=1,graph=3 --mode hybrid "
        "--id q2 --explain` shows why"
    )
    asked = hybrid.split("`")[1].split()[1:]
    assert run(*asked).code == 0
    assert "--split test" in hint("--split", "test", "--chunk-size", "50", "--metrics", "recall@1")
    assert "--chunk-size 50" in hint("--chunk-size", "50", "--metrics", "recall@1")
    found = hint("--runs", walk)
    assert "--mode" not in found
    assert found.endswith("shows what bm25 finds here (the run itself cannot be asked)")


def test_a_graph_that_was_made_is_said_to_be(reefs: Path) -> None:
    note = "graph: The dataset has no graph: this one was made of the names in its texts."

    assert note in evaluated(reefs, "--mode", "graph").out
    assert note not in evaluated(reefs, "--mode", "graph", "--graph", "names").out
    assert "The dataset has no graph" not in evaluated(reefs, "--mode", "bm25").out


def test_what_was_changed_to_be_read_is_said_each_time(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs", splits={"test": {"q1": {"1": 1}}})
    write_lines(folder / "corpus.jsonl", [{"_id": n, "text": text} for n, text in enumerate(REEFS.values(), 1)])
    note = "read leniently: 6 of documents: a number as _id became text (1); `ragdata validate` shows what is wrong"

    assert [note in evaluated(folder).out.splitlines() for _ in range(2)] == [True, True]


def test_questions_in_another_language_are_said_first(tmp_path: Path) -> None:
    documents = {f"d{n}": f"the {chr(97 + n) * 5}ing harbour" for n in range(24)}
    questions = {f"q{n}": f"dove si trova {chr(97 + n) * 7}o" for n in range(24)}
    folder = write_beir(tmp_path / "porti", documents, questions, {"test": {f"q{n}": {f"d{n}": 1} for n in range(24)}})

    out = evaluated(folder, code=1).out

    assert out.splitlines()[3] == (
        "Most questions have no term in the index: are they in the language of the passages?"
    )
    assert "EV105 error 24 of 24 questions have no term in the index;" in out
    assert "not aligned" not in out
    assert "topics=position" not in out


def test_an_evaluation_prints_as_one_line(reefs: Path) -> None:
    done = ragdatakit.evaluate(reefs, modes="bm25", metrics="mrr")

    assert (
        repr(done)
        == f"<Evaluation of {str(reefs)!r} (beir): 3 judged questions, bm25 mrr 1.000, findings {done.by_rule}>"
    )
    assert "QuestionResult" not in repr(done.runs)


def test_judgements_without_a_grade_above_0(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs", splits={"test": {"q1": {"d1": 0}}})

    assert "none of its judgements has a grade above 0" in evaluated(folder, code=2).err


def test_judgements_with_other_ids(reefs: Path, tmp_path: Path) -> None:
    other = tmp_path / "qrels.tsv"
    other.write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n2\td2\t1\n")

    errors = evaluated(reefs, "--qrels", other, "--min", "mrr=0.1", code=2).err
    assert "none of the 2 judged questions is among its 4 (such as 'q1'): the judgements have other ids" in errors


def test_the_judged_questions_of_several_splits(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs", splits={"train": {"q1": {"d1": 1}}, "dev": {"q3": {"d3": 1}}})

    words = "the judged questions of all splits are taken together: dev 1, train 1 (--split takes one)"
    assert words in evaluated(folder).out
    assert words not in evaluated(folder, "--split", "dev").out


def test_json(reefs: Path, tmp_path: Path) -> None:
    shown = evaluated(reefs, "--json", "--report", tmp_path / "report.json", "-k", "2,5").json

    assert shown["version"] == 1
    assert (shown["dataset"], shown["format"], shown["unit"], shown["judged"]) == (str(reefs), "beir", "document", 3)
    (found,) = shown["runs"]
    assert set(found["scores"]) >= {"recall@2", "recall@5", "ndcg@2", "mrr"}
    assert set(found["scores"]["mrr"]) == {"mean", "low", "high", "count"}
    assert found["sanity"]["self_retrieval"] == 1.0
    assert set(found["by_type"]) == {"who", "what"}
    assert shown["ceiling"]["scores"]["recall@2"] == 1.0
    assert shown["ok"] is True
    on_disk = orjson.loads((tmp_path / "report.json").read_bytes())
    assert on_disk == shown


def test_every_member_of_the_evaluation_is_in_the_json(reefs: Path) -> None:
    document = evaluated(reefs, "--json", "--metrics", "recall@1").json

    assert set(Evaluation.__slots__) - set(document) == {"titles"}
    assert "version" in document
    assert document["runs"][0]["worst"][0]["titles"]


def test_each_question_in_a_file(reefs: Path, tmp_path: Path) -> None:
    evaluated(reefs, "--metrics", "mrr", "--per-question", tmp_path / "q.csv", "--worst", "0")
    evaluated(reefs, "--metrics", "mrr", "--per-question", tmp_path / "q.jsonl", "--worst", "0")

    rows = list(csv.DictReader(io.StringIO((tmp_path / "q.csv").read_text())))
    lines = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    assert [row["question_id"] for row in rows] == [line["question_id"] for line in lines] == list(QRELS)
    assert (rows[1]["run"], rows[1]["mrr"], rows[1]["gold"]) == ("bm25", "1.0", '["d2","d6"]')
    assert lines[1]["values"] == {"mrr": 1.0}
    assert lines[1]["gold_ranks"] == json.loads(rows[1]["gold_ranks"]) == [1, 2]


def test_runs_and_their_comparison(reefs: Path, tmp_path: Path) -> None:
    one = write_run(tmp_path / "one.run", {q: list(g) for q, g in QRELS.items()}, "one")
    two = write_run(tmp_path / "two.run", {"q1": ["d4", "d1"], "q2": ["d2"]}, "two")

    out = evaluated(reefs, "--compare", one, two, "--metrics", "mrr").out

    assert "two against one, 3 questions, paired tests:" in out
    row = next(line for line in out.splitlines() if line.startswith("  mrr") and "to" in line)
    assert row.split()[:7] == ["mrr", "1.000", "0.500", "-0.500", "-1.000", "to", "+0.000"]
    assert row.split()[-3:] == ["0", "2", "1"]
    assert "two: 1 of 3 questions with gold are not in the run; they count 0" in out
    assert "bm25" not in out


def test_a_run_of_the_dataset_is_called_by_its_file_and_taken_once() -> None:
    folder = FIXTURES / "trec/valid/collection"

    beside = evaluated(folder, "--metrics", "mrr").out
    alone = evaluated(folder, "--runs", folder / "run.bm25.txt", "--metrics", "mrr").out

    assert beside.splitlines()[3].split() == ["bm25", "run.bm25.txt", "ceiling", "reached"]
    assert alone.splitlines()[3].split() == ["bm25", "ceiling", "reached"]


def test_an_unaligned_set_is_said_first(tmp_path: Path) -> None:
    documents = {f"d{n}": f"thing{n} and its companion{n} of number{n}" for n in range(60)}
    questions = {f"q{n}": f"what about thing{n} and companion{n}" for n in range(60)}
    shifted = {f"q{n}": {f"d{(n + 7) % 60}": 1} for n in range(60)}
    folder = write_beir(tmp_path / "things", documents, questions, {"test": shifted})

    done = evaluated(folder, code=1)

    assert (
        done.out.splitlines()[3] == "Your gold is not aligned: no run finds it better than the gold of other questions."
    )
    assert "EV101 error" in done.out
    assert "topics=position" not in done.out


def test_no_gold(tmp_path: Path) -> None:
    done = evaluated(FIXTURES / "arag" / "valid" / "predictions")

    assert "No gold: no judgement says what is relevant, so retrieval is not scored." in done.out
    assert "How often the answer is in the first k passages (3 questions" in done.out
    assert "contain_arag" in done.out
    assert "ceiling 1.000: how often it is anywhere in the corpus" in done.out


def test_answers_of_a_file(tmp_path: Path) -> None:
    questions = [{"id": "1", "question": "When?", "answer": "1871"}, {"id": "2", "question": "Who?", "answer": "Ada"}]
    folder = write_beir(tmp_path / "lights", questions={"1": "When?", "2": "Who?"}, splits={})
    predictions = write_lines(
        tmp_path / "predictions.jsonl",
        [
            {"qid": q["id"], "question": q["question"], "gold_answer": q["answer"], "pred_answer": "In 1871"}
            for q in questions
        ],
    )

    document = evaluated(folder, "--answers", predictions, "--json").json

    (scores,) = document["answers"]
    assert scores["scores"]["contain_arag"]["mean"] == 0.5
    assert document["runs"] == []
    one = write_lines(tmp_path / "one.jsonl", [json.loads(predictions.read_text("utf-8").splitlines()[0])])
    assert (
        "1 answer, 1 question of the dataset not among them"
        in evaluated(folder, "--answers", one, "--questions", write_lines(tmp_path / "questions.jsonl", questions)).out
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--min", "recall@10"], "--min recall@10: expected NAME=VALUE"),
        (["--min", "mrr=high"], "--min mrr=high: expected NAME=VALUE"),
        (["--min", "recall@10>=0.8"], "--min recall@10>=0.8: expected NAME=VALUE"),
        (["--min", "mrr=nan"], "--min mrr=nan: expected NAME=VALUE"),
        (["--min", "mrr=0,8"], "--min mrr=0,8: expected NAME=VALUE, as recall@10=0.8 (with a point in the value)"),
        (["--mode", "bm25", "graph"], "several modes have a comma between them, and no blank: --mode bm25,graph"),
        (["--mode=bm25", "graph"], "and no blank: --mode bm25,graph"),
        (["-k", "5,x"], "-k x: expected numbers"),
        (["-k", "0"], "-k 0: expected numbers"),
        (["-k", "٣"], "expected numbers"),
        (["--per-question", "q.txt"], "--per-question writes .csv or .jsonl"),
        (["--report", "nowhere/report.json"], "--report: there is no folder"),
        (["--metrics", "ndgc@10"], "unknown metric 'ndgc@10', did you mean ndcg@10"),
        (["--mode", "bm26"], "unknown mode 'bm26', did you mean bm25"),
        (["--split", "dev"], "unknown split"),
        (["--mode", "graph,dense"], "mode dense is not available"),
    ],
    ids=lambda value: "-".join(value).strip("-") if isinstance(value, list) else None,
)
def test_words_that_make_no_sense(
    reefs: Path, words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    done = evaluated(reefs, *words, code=2)

    assert message in " ".join(done.err.split())
    assert done.out == ""


def test_what_cannot_be_done_is_one_line(tmp_path: Path) -> None:
    done = evaluated(write_beir(tmp_path / "reefs", splits={}), code=2)

    assert done.err.startswith("ragdata: ")
    assert done.err.endswith("its questions have neither gold nor answers; --qrels FILE gives judgements\n")
    assert done.err.count("\n") == 1


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    questions = {**QUESTIONS, "q\x1b[31m": "red\x07 \u202e reef"}
    folder = write_beir(tmp_path / "reefs", questions=questions, splits={"test": {**QRELS, "q\x1b[31m": {"d\x1b5": 1}}})

    done = evaluated(folder, code=1)

    assert "\x1b" not in done.out
    assert "\x07" not in done.out
    assert "\u202e" not in done.out
    assert "q<U+001B>[31m" in done.out


def test_wide_characters_are_cut_to_the_screen(tmp_path: Path) -> None:
    folder = write_beir(
        tmp_path / "ja",
        {"d1": "港の灯台は油で照らされた。" * 20, "d2": "渡し船は一日に二度。" * 20},
        {"q1": "灯台は何で照らされたか" * 20},
        {"test": {"q1": {"d2": 1}}},
    )

    lines = evaluated(folder).out.splitlines()

    worst = lines[next(n for n, line in enumerate(lines) if line.startswith("Worst")) + 1 :][:4]
    assert worst.pop(2).strip() == "shares no term with the question"
    assert all(line.endswith("…") and len(line) < 70 for line in worst)


def test_colour_only_where_it_is_wanted(reefs: Path) -> None:
    assert "\x1b[" in run("eval", reefs, terminal=True).out
    assert "\x1b[" not in run("eval", reefs).out


def test_as_a_process_of_its_own(reefs: Path) -> None:
    done = spawn("eval", reefs, "-q", "--min", "mrr=0.5")

    assert done.code == 0
    assert "mrr 1.000 ≥ 0.5: as demanded" in done.out


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys; sys.argv = ['ragdata', 'eval', '--help']\n"
        "from ragdatakit.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'tantivy', 'pytrec_eval', 'duckdb', 'pyarrow'} & set(sys.modules)\n"
        "sys.exit(f'{heavy}' if heavy else 0)"
    )

    done = spawn(code=("-c", code))

    assert (done.code, done.err) == (0, "")
    assert "--min" in done.out


def test_a_relevance_beyond_64_bits_is_refused(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs", types={"q1": "who", "q2": "what", "q3": "what"})
    qrels = next((folder / "qrels").glob("*.tsv"))
    header, first, *rest = qrels.read_text().splitlines()
    qrels.write_text("\n".join([header, "\t".join([*first.split("\t")[:2], "1" * 200]), *rest]) + "\n")

    done = evaluated(folder, "--mode", "bm25", "--index-dir", tmp_path / "index", code=2)

    assert "beyond 64 bits" in done.err


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("corpus.jsonl", "nothing of its corpus could be read (6 of corpus: it has no _id); `ragdata validate` shows"),
        (
            "queries.jsonl",
            "none of its questions could be read (4 of queries: it has no _id); `ragdata validate` shows",
        ),
    ],
)
def test_records_without_ids_are_named_as_the_reason(file: str, reason: str, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs")
    (folder / file).write_text((folder / file).read_text().replace('"_id"', '"id"'))

    assert f"nothing can be evaluated: {reason} what is wrong, and --" in evaluated(folder, code=2).err


def test_blanks_at_the_ends_of_ids_are_seen(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "beir/valid/folder", tmp_path / "set")
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2 \t1\n", encoding="utf-8")

    out = run("eval", folder).out

    assert 'document "d2 " is gold for question q1' in out and 'not in the corpus  "d2 "\n' in out
