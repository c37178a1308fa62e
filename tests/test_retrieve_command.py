"""`ragdata index` and `ragdata retrieve`: the screens, JSON, runs, records of SAGE, and what is refused."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.api.search import open_retriever
from ragdatakit.reports.retrieval import path_text
from ragdatakit.retrieval.explaining import gold_places
from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
from ragdatakit.schemas.retrieved import PathStep
from ragdatakit.schemas.search.modes import FRAMEWORK_MODES
from tests.command_line import FIXTURES, run
from tests.search_tools import BLANK, DOCUMENTS, QRELS, QUESTIONS, ranking, write_beir

pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")
pytest.importorskip("Stemmer", reason="needs ragdatakit[retrieval]")
pytest.importorskip("scipy", reason="needs ragdatakit[retrieval]")

GRAPH = FIXTURES / "gfm-rag" / "valid" / "minimal"


pytestmark = pytest.mark.usefixtures("shared_cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_cache: None) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_beir(tmp_path / "notes", DOCUMENTS | BLANK)


def test_index(dataset: Path, cache: Path) -> None:
    first, second = run("index", dataset), run("index", dataset)

    assert (first.code, first.err) == (second.code, second.err) == (0, "")
    lines = first.out.splitlines()
    assert lines[0] == f"{dataset}: beir, 4 documents"
    assert lines[1].startswith(f"  index    {cache}/indexes/notes-")
    assert "  lexical  built in" in first.out and "  lexical  was there" in second.out
    assert "  1 document has no text and cannot be found (blank)" in second.out.splitlines()
    assert "  modes    bm25\n" in first.out
    assert "  no graph: the dataset has no graph (--graph names makes one of the names in its texts)\n" in first.out


def test_index_says_which_modes_of_frameworks_there_are() -> None:
    folder = FIXTURES / "graphrag" / "valid" / "parquet"

    shown, document = run("index", folder).out, run("index", folder, "--json").json

    (line,) = (line for line in shown.splitlines() if line.startswith("  by name  "))
    named = line.removeprefix("  by name  ").split(", ")
    assert named[1:] == list(FRAMEWORK_MODES) and named[0] == "contextual"
    assert document["modes"][-len(named) :] == named
    assert not {*named} & {*document["unavailable"]}


def test_index_as_json(dataset: Path) -> None:
    document = run("index", dataset, "--json", "--graph", "names").json

    assert {n: document[n] for n in ("version", "dataset", "name", "format", "unit", "passages")} == {
        "version": 1,
        "dataset": str(dataset),
        "name": "notes",
        "format": "beir",
        "unit": "document",
        "passages": 4,
    }
    assert [part["kind"] for part in document["parts"]] == ["lexical", "graph"]
    assert document["modes"] == ["bm25", "graph", "hybrid"]
    assert set(document["unavailable"]) == {"sparse", "dense", "contextual"}


@pytest.mark.usefixtures("cache")
def test_index_for_one_mode(dataset: Path) -> None:
    document = run("index", dataset, "--json", "--graph", "names", "--mode", "graph").json

    assert [part["kind"] for part in document["parts"]] == ["graph"]
    assert run("index", dataset, "--mode", "bm52").code == 2
    assert "mode dense is not available for notes" in run("index", dataset, "--mode", "dense").err


@pytest.mark.usefixtures("cache")
def test_a_guess_is_said(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    for name in "abcdefg":
        (tmp_path / "texts" / f"{name}.txt").write_text(f"The text {name}.")

    outcome = run("retrieve", tmp_path / "texts", "text")

    words = "is of a format that ragdata knows; it is read as plain texts: a.txt, b.txt, c.txt, d.txt, e.txt and 2 more"
    assert outcome.err.startswith(f"ragdata: nothing in {tmp_path / 'texts'} {words}\n")
    assert "nothing in" not in run("retrieve", tmp_path / "texts", "text", "--from", "text", "--rebuild").err


def test_the_screen(dataset: Path) -> None:
    outcome = run("retrieve", dataset, "when does the ferry leave the harbour", "-k", "2")

    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["1", lines[0].split()[1], "ferry", "The", "ferry"]
    assert lines[1] == "    The «ferry» «leaves» the «harbour» at nine and crosses the strait."
    assert lines[3] == "    A tunnel is planned below the «harbour»."
    assert lines[4] == "Not in the index: when, does."
    assert any(line.startswith("notes (beir): 4 documents, mode bm25") for line in outcome.err.splitlines())
    assert re.fullmatch(r"Found 2 in \d+\.\d ms", outcome.err.splitlines()[-1])


def test_where_the_index_lies_is_said_when_it_is_built(dataset: Path, cache: Path) -> None:
    first, second = run("retrieve", dataset, "ferry").err, run("retrieve", dataset, "ferry").err

    assert re.search(
        rf"\nnotes \(beir\): 4 documents, mode bm25; index built in \d+\.\d s: {cache}/indexes/notes-\w+\n", first
    )
    assert second.splitlines()[0] == "notes (beir): 4 documents, mode bm25"


def test_the_screen_in_colour(dataset: Path) -> None:
    outcome = run("retrieve", dataset, "ferry", terminal=True)

    assert "The \x1b[1mferry\x1b[0m leaves" in outcome.out
    assert "«" not in outcome.out


def test_long_texts_are_cut_into_lines(tmp_path: Path) -> None:
    words = "ferry " * 30 + "渡し船" * 40
    folder = write_beir(tmp_path / "long", {"a": ("t" * 300, words)})

    outcome = run("retrieve", folder, "ferry 渡し船", env={"COLUMNS": "60"})

    lines = outcome.out.splitlines()
    assert all(sum(2 if ord(c) > 0x3000 else 1 for c in line) <= 70 for line in lines[1:])
    assert lines[0].endswith("…") and len(lines[0]) < 150
    assert "".join(lines[1:]).count("«") == "".join(lines[1:]).count("»")


def test_a_question_of_the_dataset_with_its_gold(dataset: Path) -> None:
    outcome = run("retrieve", dataset, "--id", "q2", "-k", "1", "--explain")

    lines = outcome.out.splitlines()
    assert lines[0] == "q2: who planned the tunnel"
    assert lines[1].endswith("tunnel  gold")
    assert lines[-9:] == [
        "Not in the index: who.",
        "",
        "Gold: 1 of 3 within the first 1",
        "    tunnel  rank 1",
        "        has    planned (1), tunnel (1)",
        "        lacks  who (0)",
        "    gone  not in the corpus",
        "    blank  has no text",
        "    (numbers: how many passages have the term)",
    ]


def test_gold_beyond_the_first(tmp_path: Path) -> None:
    documents = {f"d{n}": ("", "ferry " * (20 - n)) for n in range(15)} | {"boat": ("Boats", "A boat.")}
    folder = write_beir(tmp_path / "many", documents, {"q": "ferry"}, {"q": {"d12": 2, "boat": 1}})

    document = run("retrieve", folder, "--id", "q", "-k", "5", "--json").json["queries"][0]["gold"]

    assert [(place["id"], place["grade"], place["rank"], place["depth"]) for place in document] == [
        ("d12", 2, 13, 1000),
        ("boat", 1, None, 1000),
    ]
    assert document[1]["title"] == "Boats" and document[1]["missing"] == [{"text": "ferry", "passages": 15}]
    screen = run("retrieve", folder, "--id", "q", "-k", "5").out
    assert "    d12  rank 13\n    boat  not within the first 1,000  Boats\n" in screen


WHY = {
    "ferry": ("", "ferry strait"),
    "strait": ("", "The strait is deep and its harbour is old."),
    "boat": ("Boats", "A boat lies there, blue and white."),
    "twice": ("", "ferry strait, and words about much else beside, on and on"),
}


NO_TERM = "shares no term with the question: bm25 cannot find it. Do the question and its gold belong together? If so"
BY_VECTORS = "vectors may find it (`ragdata retrieve … --mode dense --embedder KIND:MODEL`)"


def why_of(folder: Path, gold: str, question: str, *words: str) -> str | None:
    found = run("retrieve", write_beir(folder, WHY, {"q": question}, {"q": {gold: 1}}), "--id", "q", "--json", *words)
    document: str | None = found.json["queries"][0]["gold"][0]["why"]
    return document


@pytest.mark.parametrize(
    ("gold", "question", "message"),
    [
        ("boat", "ferry", f"{NO_TERM}, {BY_VECTORS}"),
        ("strait", "which ferry crosses the strait", "rank 1 has ferry (2), which it lacks"),
        ("twice", "ferry strait", "rank 1 has no term that it lacks, but has them more often, or in a shorter text"),
        ("boat", "the", "the question has no terms"),
        ("ferry", "ferry", None),
    ],
    ids=["no-term", "a-term-more", "the-same-terms", "no-terms", "found"],
)
def test_why_gold_is_not_found(tmp_path: Path, gold: str, question: str, message: str | None) -> None:
    assert why_of(tmp_path / "why", gold, question, "-k", "1") == message


def test_gold_of_another_question_that_is_found_first_is_named(tmp_path: Path) -> None:
    judged = {"q1": {"boat": 1}, "q2": {"strait": 1, "ferry": 1}, "q3": {"twice": 1}}
    folder = write_beir(
        tmp_path / "joined", WHY, {"q1": "is the strait deep", "q2": "white strait", "q3": "strait"}, judged
    )

    joined, other = (run("retrieve", folder, "--id", name, "-k", "1", "--explain").out for name in ("q1", "q3"))

    assert "cannot find it; rank 1 is the gold of question q2. Do the question and its gold belong" in joined
    assert "rank 1, the gold of question q2, has no term" in other


@pytest.mark.parametrize(("text", "same"), [("one  two three", "the same"), ("one, two: three", "nearly the same")])
def test_a_copy_above_the_gold_is_named(tmp_path: Path, text: str, same: str) -> None:
    folder = write_beir(
        tmp_path / "copies", {"a": ("", text), "b": ("", "one two three")}, {"q": text}, {"q": {"b": 1}}
    )

    (place,) = run("retrieve", folder, "--id", "q", "-k", "1", "--json").json["queries"][0]["gold"]

    assert place["cause"] == {"kind": "copy", "words": f"a at rank 1 has {same} text"}
    assert place["why"] == place["cause"]["words"]


def test_why_gold_is_not_found_in_a_graph(tmp_path: Path) -> None:
    words = ("-k", "1", "--graph", "names", "--mode")

    assert why_of(tmp_path / "a", "boat", "ferry", *words, "graph") == (
        "the question names no node of the graph, so that there is nowhere to start"
    )
    assert why_of(tmp_path / "b", "boat", "ferry", *words, "hybrid") == (f"{NO_TERM}, only the other modes can")


def test_the_text_of_gold_that_is_not_found_is_shown(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "why", WHY, {"q": "ferry strait white"}, {"q": {"boat": 1, "ferry": 1}})

    lines = run("retrieve", folder, "--id", "q", "-k", "1", "--explain").out.splitlines()

    assert "        text   A boat lies there, blue and «white»." in lines
    assert sum(line.startswith("        text") for line in lines) == 1


def test_fused_gold_has_its_rank_in_each_mode(tmp_path: Path) -> None:
    texts = {"a": ("Dorn", "Dorn set sail."), "b": ("Dorn", "Dorn came home."), "c": ("", "A sail was torn.")}
    folder = write_beir(tmp_path / "fused", texts, {"q": "the sail of Dorn"}, {"q": {"b": 1, "c": 1}})

    found = run("retrieve", folder, "--id", "q", "--mode", "hybrid", "--graph", "names", "--json").json["queries"][0]

    ranks = {place["id"]: place["ranks"] for place in found["gold"]}
    assert ranks == {"b": {"bm25": 2, "graph": 2}, "c": {"bm25": 3, "graph": None}}
    assert {hit["id"]: hit["rank"] for hit in found["hits"]} == {"a": 1} | {p["id"]: p["rank"] for p in found["gold"]}
    assert (
        "rank by bm25 3, graph —\n"
        in run("retrieve", folder, "--id", "q", "--mode", "hybrid", "--graph", "names", "--explain").out
    )


def test_a_path_is_shown_as_it_is_walked() -> None:
    towed = PathStep("Osprey", "was towed by", "Lena")
    home = PathStep("Lena", "is home of", "Skarn", forward=False)
    found = PathStep("Skarn", "is_mentioned_in", "letter")

    assert path_text((towed, home, found)) == ("Osprey —was towed by→ Lena ←is home of— Skarn —is_mentioned_in→ letter")
    assert path_text((home, found)) == "Lena ←is home of— Skarn —is_mentioned_in→ letter"


def test_gold_has_the_ranks_that_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # what is fused deeper may come in another order
    retriever = open_retriever(write_beir(tmp_path / "deep", WHY))
    monkeypatch.setattr(retriever, "rank", lambda _, __, k: [ranking([0, 1, 2][:k] if k < 100 else [3, 2, 1, 0])])
    question = GoldQuestion("q", "ferry", dict.fromkeys(WHY, 1))

    places = gold_places(retriever, question, Gold("document", None, (question,), {}, {}), k=2)

    assert [(place.target_id, place.rank) for place in places] == [
        (name, rank) for rank, name in enumerate(("ferry", "strait", "twice", "boat"), 1)
    ]


def test_a_graph_of_names_without_names(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "small", {"a": ("", "small letters only")}, {}, {})

    outcome = run("retrieve", folder, "letters", "--mode", "graph", "--graph", "names")

    assert outcome.out.splitlines() == [
        "Nothing was found.",
        "No names were found in the texts (recognised by capital letters): the graph has nothing to search.",
    ]


def test_passages_without_terms_are_counted(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "odd", {"a": ("", "ferry"), "b": ("", " "), "c": ("", "?!"), "d": ("", "")}, {}, {})

    assert ", 3 without terms\n" in run("index", folder).out


def test_long_ids_are_shortened(tmp_path: Path) -> None:
    long = "x" * 10_000
    folder = write_beir(tmp_path / "long", {long: ("", "ferry"), "b": ("", "boat")}, {long: "boat"}, {long: {long: 1}})

    outcome = run("retrieve", folder, "--id", long, "--explain", "-k", "1")

    assert max(map(len, outcome.out.splitlines())) < 250


def test_a_question_without_gold(dataset: Path) -> None:
    assert run("retrieve", dataset, "--id", "q3").out.endswith("\nThe dataset has no gold for this question.\n")


def test_a_question_of_another_split(dataset: Path) -> None:
    (dataset / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq3\tbridge\t1\n")

    assert "    bridge  not within the first 1,000" in run("retrieve", dataset, "--id", "q3").out
    assert "rank 1" in run("retrieve", dataset, "--id", "q1").out
    assert run("retrieve", dataset, "--id", "q3", "--split", "test").code == 2


def test_gold_of_documents_that_were_cut(dataset: Path) -> None:
    words = ("retrieve", dataset, "--id", "q1", "--chunk-by", "characters", "--chunk-size", "20")
    document = run(*words, "--json").json

    assert document["unit"] == "chunk"
    (place,) = document["queries"][0]["gold"]
    assert place["rank"] == 1
    assert run(*words).out.count("  gold\n") >= 1


def test_gold_of_nodes_in_graph_mode() -> None:
    question = next(row for row in ragdatakit.read(GRAPH).rows("questions"))

    graph = run("retrieve", GRAPH, "--id", question.question_id, "--mode", "graph", "--json")
    terms = run("retrieve", GRAPH, "--id", question.question_id)

    assert graph.code == terms.code == 0
    assert graph.json["queries"][0]["seeds"]
    assert graph.json["queries"][0]["hits"][0]["path"]
    assert run("retrieve", GRAPH, "--id", question.question_id, "--mode", "graph").out.count("→") > 0
    assert "rank by " in run("retrieve", GRAPH, "--id", question.question_id, "--mode", "hybrid").out


def test_json(dataset: Path) -> None:
    got = run("retrieve", dataset, "ferry", "--json").json

    assert {name: got[name] for name in ("version", "dataset", "name", "format", "unit", "passages", "mode", "k")} == {
        "version": 1,
        "dataset": str(dataset),
        "name": "notes",
        "format": "beir",
        "unit": "document",
        "passages": 4,
        "mode": "bm25",
        "k": 10,
    }
    (query,) = got["queries"]
    (hit,) = query.pop("hits")
    assert math.isfinite(query.pop("seconds"))
    assert query == {"id": None, "text": "ferry", "seeds": [], "notes": []}
    assert hit.pop("score") > 0
    assert hit == {
        "rank": 1,
        "id": "ferry",
        "title": "The ferry",
        "document": None,
        "text": DOCUMENTS["ferry"][1],
        "snippet": {"text": DOCUMENTS["ferry"][1], "marks": [[4, 9]], "before": False, "after": False},
        "ranks": {},
        "path": [],
    }


def test_all_questions_as_a_run(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.run"
    outcome = run("retrieve", dataset, "--questions", "--output-format", "trec", "--output-file", out, "--tag", "mine")

    assert (outcome.code, outcome.out) == (0, "")
    rows = [line.split(" ") for line in out.read_text().splitlines()]
    assert {row[0] for row in rows} == set(QRELS)  # of the one split with judgements, and with hits
    assert {(row[1], row[5]) for row in rows} == {("Q0", "mine")}
    assert next(row[2:4] for row in rows if row[0] == "q1") == ["ferry", "1"]
    assert ragdatakit.validate(out, format="trec").ok


def test_a_run_keeps_the_order_of_equal_scores(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "same", dict.fromkeys("bca", ("", "the same text")), {"q": "text"}, {})
    lines = run("retrieve", folder, "--questions", "--output-format", "trec").out.splitlines()

    assert [line.split()[2] for line in lines] == ["b", "c", "a"]
    scores = [float(line.split()[4]) for line in lines]
    assert scores[0] > scores[1] > scores[2] > scores[0] * 0.999999


def test_ids_that_no_run_can_hold(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "blank", {"a b": ("", "ferry"), "": ("", "ferry")}, {"q 1": "ferry"}, {})
    out = tmp_path / "out.run"
    out.write_text("old")

    outcome = run("retrieve", folder, "ferry", "--output-format", "trec", "--output-file", out)
    assert outcome.code == 2
    assert "the passage id 'a b' has white space or control characters in it, which a TREC run cannot" in outcome.err
    assert out.read_text() == "old"
    assert "the question id 'q 1'" in run("retrieve", folder, "--questions", "--output-format", "trec").err


def test_records_of_sage(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "records.jsonl"
    assert run("retrieve", dataset, "--questions", "--output-format", "sage", "--output-file", out).code == 0

    record = json.loads(out.read_text().splitlines()[0])
    assert record["query"] == QUESTIONS["q1"]
    assert record["question"] == {"id": "q1"}
    assert record["retrieval_results"][0]["id"] == "ferry"
    assert record["retrieval_docs"][0] == record["retrieval_results"][0]["text"] == DOCUMENTS["ferry"][1]
    assert record["retrieval_time"] >= 0
    assert ragdatakit.validate(out).ok
    runs = list(ragdatakit.read(out).rows("runs"))
    assert [(r.question_id, r.rank, r.target_id) for r in runs][:1] == [("q1", 1, "ferry")]


def test_questions_of_a_file(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_bytes(b"\xef\xbb\xbfferry\r\n\r\n  tunnel  \n")
    (tmp_path / "q.jsonl").write_text('{"id": 7, "text": "ferry"}\n{"_id": "b", "query": "tunnel"}\n"strait"\n')

    plain = run("retrieve", dataset, "--queries", tmp_path / "q.txt", "--json").json["queries"]
    lines = run("retrieve", dataset, "--queries", tmp_path / "q.jsonl", "--json").json["queries"]

    assert [(q["id"], q["text"]) for q in plain] == [("1", "ferry"), ("3", "tunnel")]
    assert [(q["id"], q["text"]) for q in lines] == [("7", "ferry"), ("b", "tunnel"), ("3", "strait")]
    assert [q["hits"][0]["id"] for q in lines] == ["ferry", "tunnel", "bridge"]
    screen = run("retrieve", dataset, "--queries", tmp_path / "q.jsonl").out
    assert "7: ferry\n" in screen and "\n\nb: tunnel\n" in screen


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.txt", b"", "has no questions"),
        ("q.txt", b"\n \n", "has no questions"),
        ("q.txt", b"a\n\xff\n", "q.txt:2 is not UTF-8"),
        ("q.jsonl", b"{\n", "q.jsonl:1 is not JSON"),
        ("q.jsonl", b"[1]\n", "q.jsonl:1: expected an object"),
        ("q.jsonl", b'{"id": "a"}\n', "q.jsonl:1 has no text"),
        ("q.jsonl", b'{"id": [], "text": "x"}\n', "q.jsonl:1: its id is neither"),
        (
            "q.jsonl",
            b'{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n',
            "q.jsonl:2: duplicate id 'a', already in line 1",
        ),
    ],
    ids=["empty", "blank", "bytes", "no JSON", "a list", "no text", "id", "twice"],
)
def test_files_of_questions_that_are_refused(
    dataset: Path, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)

    outcome = run("retrieve", dataset, "--queries", tmp_path / name)

    assert outcome.code == 2 and message in outcome.err and outcome.out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "what to search for?"),
        (("ferry", "--all-questions"), "QUESTION and --all-questions do not go together"),
        (("",), "the question is empty"),
        (("ferry", "--explain"), "--explain goes with --id"),
        (("ferry", "--split", "test"), "--split goes with --all-questions or --id"),
        (("ferry", "--json", "--output-format", "trec"), "give --json or --output-format trec, not both"),
        (("ferry", "--tag", "a"), "--tag is one word, for --output-format trec"),
        (("ferry", "--tag", "a b", "--output-format", "trec"), "--tag is one word"),
        (("ferry", "-k", "0"), "'0' is not a whole number from 1"),
        (("ferry", "--output-file", "none/there.txt"), "--output-file: there is no folder"),
        (("ferry", "--fuse", "bm52=1"), "unknown mode to fuse 'bm52', did you mean bm25"),
        (("ferry", "--fuse", "bm25=0"), "expected MODE=WEIGHT with a weight above 0"),
        (("ferry", "--fuse", "bm25=x"), "expected MODE=WEIGHT with a weight above 0"),
        (("ferry", "--fuse", "bm25,bm25"), "bm25 is given twice"),
        (("ferry", "-o", "novalue"), "expected NAME=VALUE"),
        (("ferry", "--damping", "1"), "'1' is not a number from 0 to 1, 0 and 1 excepted"),
        (("--id", "q9"), "unknown question 'q9' of"),
        (("--questions", "--split", "tset"), "did you mean test?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_words_that_do_not_go_together(dataset: Path, words: tuple[str, ...], message: str) -> None:
    outcome = run("retrieve", dataset, *words)

    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())
    assert outcome.out == ""


def test_a_dataset_without_questions(dataset: Path) -> None:
    outcome = run("retrieve", write_beir(dataset.parent / "bare", questions={}, qrels={}), "--questions")

    assert outcome.code == 2 and "has no questions; give one, or a file of them" in outcome.err


def test_hostile_texts(tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    texts = ["ferry \x1b[2J\x07 \u202e drawkcab", "ferry \ud800 half", "ferry\x00nul", "ferry " * 100_000]
    rows = [{"_id": f"d\x1b{n}", "title": "a\nb\x1b[1m", "text": text} for n, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    screen = run("retrieve", folder, "ferry \x1b[31m half \ud800")
    outcome = run("retrieve", folder, "ferry half", "--json")
    record = run("retrieve", folder, "ferry half", "--output-format", "sage")

    assert screen.code == outcome.code == record.code == 0
    assert "\x1b" not in screen.out + screen.err and "\u202e" not in screen.out and "\0" not in screen.out
    assert len(outcome.json["queries"][0]["hits"]) >= 3
    assert json.loads(record.out)["retrieval_docs"]


@pytest.mark.usefixtures("cache")
def test_a_full_disk_is_said_in_one_line(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ragdatakit.retrieval.index.store.write_passages", full)
    outcome = run("retrieve", dataset, "ferry")

    assert outcome.code == 2
    assert outcome.err.startswith("ragdata: ") and outcome.err.endswith(
        ": no space left on the disk; make room, or write elsewhere\n"
    )
    assert str(dataset.parent) in outcome.err and outcome.err.count("\n") == 1


def test_a_missing_library_is_named(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tantivy", None)

    outcome = run("retrieve", dataset, "ferry")

    assert outcome.code == 2
    assert outcome.err.endswith("this needs tantivy: pip install 'ragdatakit[retrieval]'\n")


def test_a_read_only_place_is_said(dataset: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "indexes").mkdir(parents=True)
    monkeypatch.setattr("os.access", lambda *_: False)

    outcome = run("retrieve", dataset, "ferry")

    words = (
        f"the index cannot be built, as {cache}/indexes cannot be written to; give another place with --index-dir, or"
    )
    assert outcome.code == 2 and words in outcome.err


def test_an_index_that_cannot_be_removed_is_said(dataset: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "text.bin")

    run("index", dataset)
    (dataset / "corpus.jsonl").unlink()
    monkeypatch.setattr("shutil.rmtree", refuse)

    outcome = run("index", "--prune")

    assert outcome.code == 2 and f"{cache}/indexes/notes-" in outcome.err
    assert outcome.err.endswith(" cannot be removed: Permission denied\n")
