"""The explorer: what its pages show, that every link of them works, and that it is for nobody but its user."""

from __future__ import annotations

import gzip
import html
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

import ragdatakit
from ragdatakit.api.explorer.checked import fix_shown, region
from ragdatakit.api.explorer.explore import Explorer
from ragdatakit.api.explorer.jobs import Jobs, Waiting
from ragdatakit.files.paths.boundary import ANYWHERE
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.fixes import Edit, Fix
from ragdatakit.schemas.options import SearchOptions
from tests.command_line import FIXTURES, interruptible, run
from tests.html_pages import EVIL

GRAPHS = ("gfm-rag/valid/minimal", "graphrag/valid", "raptor/valid")


def lines(path: Path, *records: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("explored")
    for name in ("demo-search", "demo-broken"):
        shutil.copytree(FIXTURES / name, root / name)
    shutil.copytree(FIXTURES / "gfm-rag/valid/minimal", root / "graph")
    evil = root / "evil"
    lines(
        evil / "corpus.jsonl",
        *({"_id": f"{EVIL}{n}", "title": EVIL, "text": EVIL, "metadata": {EVIL: EVIL}} for n in (1, 2)),
    )
    lines(evil / "queries.jsonl", {"_id": EVIL, "text": EVIL})
    judged = '"' + EVIL.replace('"', '""') + '"'
    (evil / "qrels").mkdir()
    (evil / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}\tgone\t1\n", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def explorer(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGDATA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        with ragdatakit.explore(data) as running:
            yield running


def get(explorer: Explorer, address: str = "") -> str:
    """A page, once all of it is there."""
    for _ in range(300):
        with urllib.request.urlopen(explorer.url + address, timeout=30) as answer:
            page: str = answer.read().decode()
        if "data-reload>" not in page:
            return page
        time.sleep(0.05)
    raise AssertionError("the page is never whole")


def number(explorer: Explorer, name: str) -> int:
    """The number of a dataset in addresses."""
    place = rf'id="dataset-(\d+)-heading"[^>]*>{name}<'
    return int(re.findall(place, get(explorer))[0])


def rows(page: str) -> list[str]:
    """The rows of all tables, as text."""
    found = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    return [" ".join(html.unescape(re.sub("<[^>]*>", " ", row)).split()) for row in found]


def test_it_begins_with_what_there_is(explorer: Explorer) -> None:
    page = get(explorer)

    assert "4 datasets" in page
    found = rows(page)
    assert "documents 30" in found and any(row.startswith("edges ") for row in found)
    assert any(row.startswith("SP201 dangling-qid error 1") for row in found)
    assert get(explorer) == page


def test_every_link_leads_somewhere(explorer: Explorer) -> None:
    root = urlsplit(explorer.url).path
    seen, todo = {root}, [root]
    while todo and len(seen) < 200:
        address = todo.pop()
        page = get(explorer, address.removeprefix(root))
        assert "This does not work" not in page, address
        assert "<script>window" not in page and "<img src=x" not in page and "<svg onload" not in page
        for link in re.findall(r'(?:href|action)="([^"#]+)', page):
            link = html.unescape(link)
            if not link.startswith("data:") and link not in seen:
                assert link.startswith(root), link
                seen.add(link)
                todo.append(link)
    assert len(seen) >= 200


def test_a_report_leads_to_the_records_of_its_values(explorer: Explorer) -> None:
    bench = number(explorer, "demo-search")
    page = get(explorer, f"{bench}/report")

    assert "Length of documents" in page
    address = re.search(rf'href="[^"]*/({bench}/documents\?doc_id=[^"]*)"', page)
    assert address, "an example of the documents leads to its record"
    assert len(rows(get(explorer, address[1]))) == 1 + 1
    assert "metadata." not in " ".join(re.findall(r'href="([^"]*)"', page)), "what is no column leads nowhere"


def test_a_report_has_the_labels_that_files_beside_a_graph_have(tmp_path: Path) -> None:
    edges = "".join(f"Q{n}\tP1\tQ{n + 1}\nQ{n}\tP2\tQ0\n" for n in range(9))
    (tmp_path / "train.tsv").write_text(edges, encoding="utf-8")
    (tmp_path / "nodes.json").write_text('{"Q0": {"label": "<b>pier"}, "Q99": "far"}', encoding="utf-8")

    with ragdatakit.explore(tmp_path) as running:
        page = get(running, "0/report")

    assert "&lt;b&gt;pier [Q0]" in page and "<b>pier" not in page


def test_records_are_searched_sorted_and_turned(explorer: Explorer) -> None:
    base = f"{number(explorer, 'demo-search')}/documents"
    texts = [json.loads(line) for line in (FIXTURES / "demo-search/corpus.jsonl").read_text("utf-8").splitlines()]

    wanted = [one["_id"] for one in texts if "harbour" in f"{one['title']} {one['text']}".lower()]
    found = rows(get(explorer, f"{base}?q=HARBOUR"))[1:]
    assert [row.split()[1] for row in found] == wanted
    found = rows(get(explorer, f"{base}?sort=title&down=1"))[1:]
    assert [row.split()[1] for row in found] == [
        one["_id"] for one in sorted(texts, key=lambda one: one["title"].encode(), reverse=True)
    ] or found[0].split()[1] == max(texts, key=lambda one: one["title"].encode())["_id"]
    assert [row.split()[1] for row in rows(get(explorer, f"{base}?title=Lena"))[1:]] == ["d04"]
    assert "No record is like that" in get(explorer, f"{base}?q=nothing+has+this")
    assert rows(get(explorer, f"{base}?from=29"))[1:][0].startswith("30 ")


def test_records_that_a_finding_is_about(explorer: Explorer) -> None:
    found = rows(get(explorer, f"{number(explorer, 'demo-broken')}/documents?rule=SP302"))[1:]

    assert found and all(row.split()[1] == "12" for row in found)


def test_from_a_question_to_why_its_gold_is_not_found(explorer: Explorer) -> None:
    dataset = number(explorer, "demo-search")
    ranked = get(explorer, f"{dataset}/ranks?mode=bm25")
    worst = rows(ranked)[1]
    address = re.search(r'href="[^"]*/(\d+/questions/\d+\?mode=bm25)"', ranked)
    assert address is not None and "not found" in worst
    assert "3 of 25 judged questions miss all of their gold" in ranked

    page = get(explorer, address[1])

    question = worst.split()[0]
    text = run_explained(question)
    (gold,) = [row for row in rows(page) if "not in the first" in row][:1]
    assert all("asked for in words that no passage has" in words for words in (worst, gold, text))
    assert "Passages that are found" in page or "Nothing." in page


def test_the_causes_of_gold_that_is_not_found_are_counted_and_chosen(tmp_path: Path) -> None:
    texts = {f"d{n}": f"harbour ferry {'tide ' * n}" for n in range(12)} | {
        "a": "gulls eat fish",
        "b": "gulls eat fish",
    }
    asked = {
        "gone": ("ferry", {"D-1": 1}),
        "lost": ("gulls", {"D-2": 1}),
        "deep": ("harbour", {"d11": 1}),
        "words": ("anchorage", {"d1": 1}),
        "found": ("gulls", {"a": 1}),
        "copied": ("gulls", {"b": 1}),
        "foreign": ("wann fahren schiffe morgen", {"d5": 1}),
        "cut": ("the museum", {"stub": 1}),
    }
    texts["stub"] = "Opens at"
    lines(tmp_path / "corpus.jsonl", *({"_id": name, "text": text} for name, text in texts.items()))
    lines(tmp_path / "queries.jsonl", *({"_id": name, "text": text} for name, (text, _) in asked.items()))
    judged = "".join(f"{name}\t{gold}\t1\n" for name, (_, golds) in asked.items() for gold in golds)
    judged += "elsewhere\td1\t1\n"
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", encoding="utf-8")

    with ragdatakit.explore(tmp_path) as running:
        every, missing = get(running, "0/ranks"), get(running, "0/ranks?why=missing")

    assert "1 more question is judged and is not among the questions of the dataset" in every
    assert ">All 8 questions</h2>" in every and "2 of 8 questions: the gold is not in the corpus" in missing
    assert re.findall(r"<b>(\d+)</b> ([^<]*)", every) == [
        ("8", "all questions"),
        ("2", "the gold is not in the corpus"),
        ("1", "the gold is asked for in words that no passage has"),
        ("2", "the gold shares no term with the question"),
        ("1", "the gold has a copy above it"),
        ("1", "the gold is below the first 10"),
    ]
    assert [row.split()[0] for row in rows(missing)[1:]] == ["gone", "lost"]
    assert [row for row in rows(every) if "d11 at rank 12, below the first 10" in row]
    for row in (
        "gone ferry D-1 not in the corpus; the corpus has d1 not found",
        "copied gulls b a at rank 1 has the same text 2",
        "cut the museum stub shares no term with the question; its whole text is “Opens at” not found",
    ):
        assert row in rows(every)


def test_vectors_of_the_user_are_searched(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    lines(folder / "corpus.jsonl", {"_id": "d1", "text": "harbour"}, {"_id": "d2", "text": "orchard"})
    lines(folder / "queries.jsonl", {"_id": "q1", "text": "apples"})
    np.save(tmp_path / "passages.npy", np.eye(2))
    np.save(tmp_path / "questions.npy", np.eye(2)[1:])
    (tmp_path / "questions.ids.txt").write_text("q1\n")
    search = SearchOptions(vectors=tmp_path / "passages.npy", query_vectors=tmp_path / "questions.npy")

    with ragdatakit.explore(folder, search=search, index_dir=tmp_path / "index") as running:
        page = get(running, "0/questions/0?mode=dense")

    assert [row.split()[2] for row in rows(page) if row.startswith("1 ")] == ["d2"]
    twice = [folder, FIXTURES / "demo-search"]
    with pytest.raises(ragdatakit.RagdataError, match="one index, and there are 2 datasets; choose one with --dataset"):
        ragdatakit.explore(twice, index_dir=tmp_path / "index")


def test_a_banner_in_the_place_of_texts_is_seen(tmp_path: Path) -> None:
    named = [{"_id": f"d{n}", "title": f"boat{n}", "text": "We use cookies."} for n in range(12)]
    lines(tmp_path / "corpus.jsonl", *named, {"_id": "whole", "text": "The ferries leave from the harbour."})
    lines(tmp_path / "queries.jsonl", {"_id": "q1", "text": "where is boat3"})
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td3\t1\n", encoding="utf-8")

    with ragdatakit.explore(tmp_path) as running:
        page = get(running, "0/ranks")

    assert "12 documents have the text “We use cookies.”, among them d3, gold for question q1" in page


def test_gold_whose_ids_are_shifted_is_seen(tmp_path: Path) -> None:
    words = ("ferry", "harbour", "tide", "gulls", "museum", "orchard", "cider", "barge")
    lines(tmp_path / "corpus.jsonl", *({"_id": f"c{n}", "text": word} for n, word in enumerate(words)))
    asked = [*({"_id": f"q{n}", "text": word} for n, word in enumerate(words[:-1])), {"_id": "d0", "text": "barge"}]
    lines(tmp_path / "queries.jsonl", *asked)
    judged = "".join(f"q{n}\tc{n + 1}\t1\n" for n in range(len(words) - 1))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}", encoding="utf-8")
    (tmp_path / "qrels/dev.tsv").write_text("query-id\tcorpus-id\tscore\nd0\tc7\t1\n", encoding="utf-8")

    with ragdatakit.explore(tmp_path) as running:
        page, dev = get(running, "0/ranks"), get(running, "0/ranks?split=dev")
    done = ragdatakit.evaluate(tmp_path)

    shifted = (
        "he ids of the gold are perhaps shifted: in 7 of 7 questions its number is 1 above that of the passage found "
        "first (c1 where c0 is found)"
    )
    assert f"test: t{shifted}" in page and f"test: t{shifted}" in dev
    assert [row.split()[0] for row in rows(dev)[1:]] == ["d0"]
    assert re.findall(r"<option[^>]*>(?:all|dev|test)</option>", dev) == [
        '<option value="">all</option>',
        "<option selected>dev</option>",
        "<option>test</option>",
    ]
    assert [f.code for f in done.findings if shifted in f.message] == ["EV101"]


def test_a_finding_about_a_judgement_leads_to_it_and_to_its_question(tmp_path: Path) -> None:
    lines(tmp_path / "corpus.jsonl", {"_id": "d", "text": "the ferry"})
    lines(tmp_path / "queries.jsonl", {"_id": "a, b=c", "text": "ferry"}, {"_id": "q", "text": "ferry"})
    (tmp_path / "qrels").mkdir()
    judged = "query-id\tcorpus-id\tscore\na, b=c\td\t1\nq\tgone\t1\n"
    (tmp_path / "qrels/test.tsv").write_text(judged, encoding="utf-8")

    with ragdatakit.explore(tmp_path) as running:
        listed = get(running, "findings?rule=BE203")
        address = re.search(r"findings/\d+", listed)
        assert address is not None
        page = get(running, address[0])

    assert rows(listed)[0] == "place what is wrong"
    assert "BE203" in listed and listed.count("dangling-") == 1
    named = re.findall(r'<li>(\w+): <a href="[^"]*/(0/\w+/\d+)"', page)
    assert named == [("qrels", "0/qrels/1"), ("questions", "0/questions/1")]
    tab = '<span class="tab">\t</span>'
    assert f"q{tab}<mark>gone</mark>{tab}1" in page
    for shown in (listed, page):
        assert ">Ranks of gold</a>" in shown and ">Documents</a>" in shown, "the only dataset stays in the bar"


def test_swapped_judgements_are_not_called_missing(tmp_path: Path) -> None:
    lines(tmp_path / "corpus.jsonl", {"_id": "d", "text": "the ferry"})
    lines(tmp_path / "queries.jsonl", {"_id": "q", "text": "ferry"})
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nd\tq\t1\n", encoding="utf-8")

    with ragdatakit.explore(tmp_path) as running:
        dataset = "0"
        assert "are the columns of the judgements swapped?" in get(running, f"{dataset}/ranks?mode=bm25")
        assert ", row 1 of 1 of questions" in get(running, f"{dataset}/questions/0")


def test_a_place_where_no_index_can_be_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/mine.txt").write_text("")

    for place, words in (("file", "is a file"), ("file/below", "is not a folder"), ("folder", "is not an index")):
        refused = run("explore", FIXTURES / "beir/valid/folder", "--index-dir", tmp_path / place, "--no-browser")
        assert (refused.code, words in refused.err) == (2, True)


def test_a_search_for_all_questions_says_how_many_are_done() -> None:
    jobs, held = Jobs(), threading.Event()

    def work() -> None:
        jobs.tell_count("searching, bm25", 1280, 3237)
        held.wait(20)

    with pytest.raises(Waiting):
        jobs.result("ranked", "ranks of gold", work)
    for _ in range(400):
        with pytest.raises(Waiting) as waiting:
            jobs.result("ranked", "ranks of gold", work)
        if ":" in str(waiting.value):
            break
        time.sleep(0.01)
    held.set()

    assert str(waiting.value) == "ranks of gold: searching, bm25, 1,280 of 3,237 questions"


def test_a_question_without_a_common_term_leads_to_the_docs_about_vectors(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = f"{number(explorer, 'demo-search')}/questions/7?mode=bm25"
    monkeypatch.setenv("RAGDATA_DOCS_URL", "https://docs.example")

    page = get(explorer, question)

    assert "<code>ragdata retrieve … --mode dense --embedder KIND:MODEL</code>" in page
    assert 'href="https://docs.example/retrieval.html"' in page


def run_explained(question: str) -> str:
    from tests.command_line import run

    return run("retrieve", FIXTURES / "demo-search", "--id", question, "--explain").out


def test_a_record_shows_what_it_is_connected_with(explorer: Explorer) -> None:
    graph = number(explorer, "graph")
    page = get(explorer, f"{graph}/nodes/10")
    assert "edges by source" in page and "was_followed_by" in page
    picture = get(explorer, f"{graph}/graph?node=osprey")
    assert '"osprey"' in picture and "The record of osprey" in picture
    assert "No node is called" in get(explorer, f"{graph}/graph?node=ospre")
    documents = get(explorer, f"{number(explorer, 'demo-search')}/documents/0")
    assert "qrels by target_id" in documents and "When was the lighthouse of Skarn lit?" in documents


def test_what_is_cut_of_a_connected_record_ends_with_an_ellipsis(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragdatakit.api.explorer.opened._LABEL", 10)
    assert ">When was …<" in get(explorer, f"{number(explorer, 'demo-search')}/documents/0")


def test_findings_are_filtered_and_shown_in_their_lines(explorer: Explorer) -> None:
    found = rows(get(explorer, "findings?severity=warning"))[1:]
    assert found and all(" warning " in row for row in found)
    assert len(rows(get(explorer, "findings?rule=SP121"))) == 2
    assert "No finding is like that" in get(explorer, "findings?q=nothing+says+this")

    address = re.search(r"findings/(\d+)", get(explorer, "findings?rule=SP121"))
    assert address is not None
    page = get(explorer, address[0])
    assert "<mark>&quot;3&quot;</mark>" in page
    assert "<del>- {&quot;qid&quot;: &quot;3&quot;" in page and "<ins>+ {&quot;qid&quot;: 3," in page
    assert "questions: <a" in page  # the record with this id


def test_the_lines_are_those_of_the_findings(data: Path) -> None:
    shown = 0
    for finding in ragdatakit.validate([data, FIXTURES / "beir/broken"], max_per_rule=3).findings:
        lines_of, fix = region(finding, ANYWHERE), fix_shown(finding, ANYWHERE)
        raw = Path(finding.path).read_bytes()
        raw = gzip.decompress(raw) if finding.path.endswith(".gz") else raw
        if finding.span is not None and finding.line is not None:
            assert lines_of is not None
            fault = raw[finding.span.start : finding.span.end].decode("utf-8", "replace")
            assert lines_of.text[lines_of.start : lines_of.end] == fault[: lines_of.end - lines_of.start]
            line = lines_of.first_line + lines_of.text[: lines_of.start].count("\n")
            assert line == finding.line
            shown += 1
        if fix is not None and fix.before:
            assert finding.fix is not None and fix.after != fix.before
            assert fix.before.encode() in (Path(finding.fix.path).read_bytes() if finding.fix.path else raw)
    assert shown > 20


def test_a_fix_in_another_file_is_shown_there_and_a_withheld_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("one\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text("two\n", encoding="utf-8")
    fix = Fix("unsafe", "write three", (Edit(0, 3, "three"),), path=str(tmp_path / "b.jsonl"))
    finding = Finding("BE207", "a-rule", "warning", "wrong", str(tmp_path / "a.jsonl"), fix=fix)

    shown = fix_shown(finding, ANYWHERE)
    assert shown is not None and (shown.before, shown.after) == ("two", "three")
    withheld = fix_shown(replace(finding, fix=replace(fix, withheld="another fault forbids it")), ANYWHERE)
    assert withheld is not None and (withheld.command, withheld.before) == ("", "")
    assert withheld.words == "write three; it is not made: another fault forbids it"


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("99/documents", 404),
        ("0/nothing", 404),
        ("0/documents/999999", 404),
        ("0/documents/-1", 404),
        ("0/documents/1e3", 404),
        ("0/documents/" + "9" * 30, 404),
        ("0/documents?from=x", 404),
        ("findings/999999", 404),
        ("../../../etc/passwd", 404),
        ("0/documents/%2e%2e%2f", 404),
        ("a/b/c/d/e", 404),
        ("0/documents?q=%00%ff';drop table documents", 200),
        ("0/documents?sort=text;drop", 200),
        ("0/documents?rule=NO1", 200),
        ("0/graph?node=%22", 404),
        ("0/qrels?rule=BE101", 200),
        ("0/questions/0?mode=nonsense", 200),
    ],
)
def test_odd_addresses(explorer: Explorer, address: str, status: int) -> None:
    get(explorer)
    answer = ask(explorer, urlsplit(explorer.url).path + address.replace(" ", "+"))
    assert answer[0] == status, answer[1][:300]
    assert "Traceback" not in answer[1] and "internal error" not in answer[1]


def ask(explorer: Explorer, path: str, method: str = "GET", host: str = "") -> tuple[int, str]:
    place = urlsplit(explorer.url)
    connection = HTTPConnection("127.0.0.1", place.port or 0, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or place.netloc)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def test_an_address_that_is_none_gets_an_answer(explorer: Explorer, capfd: pytest.CaptureFixture[str]) -> None:
    assert ask(explorer, "http://[/x")[0] == 404
    assert ask(explorer, "?")[0] == 404
    assert capfd.readouterr().err == ""


def test_closing_while_it_loads_leaves_no_thread(tmp_path: Path) -> None:
    lines(tmp_path / "corpus.jsonl", *({"_id": str(n), "title": "", "text": "x"} for n in range(20_000)))
    lines(tmp_path / "queries.jsonl", {"_id": "1", "text": "x"})
    for delay in (0.0, 0.02, 0.05):
        before = set(threading.enumerate())
        explorer = ragdatakit.explore(tmp_path)
        time.sleep(delay)
        explorer.close()
        for thread in set(threading.enumerate()) - before:
            thread.join(timeout=10)
        assert not [thread for thread in set(threading.enumerate()) - before if thread.is_alive()]


def test_the_browser_is_led_by_a_page_of_the_user(tmp_path: Path) -> None:
    from ragdatakit.cli.servers.explore import _leading_to

    page = _leading_to("http://127.0.0.1:1/token/", tmp_path)

    assert "url=http://127.0.0.1:1/token/" in page.read_text("utf-8")


def test_it_is_for_nobody_else(explorer: Explorer) -> None:
    path = urlsplit(explorer.url).path

    assert ask(explorer, path)[0] == 200
    assert ask(explorer, "/")[0] == 404
    assert ask(explorer, path[:-2] + "/")[0] == 404
    assert ask(explorer, path.upper())[0] == 404
    assert ask(explorer, path, host="example.org")[0] == 403
    assert ask(explorer, path, host="")[0] == 200
    assert ask(explorer, path, method="HEAD") == (200, "")
    assert ask(explorer, path, method="POST")[0] == 501
    assert ask(explorer, path, method="DELETE")[0] == 501
    with urllib.request.urlopen(explorer.url, timeout=30) as answer:
        policy = answer.read().decode()
        assert answer.headers["Cache-Control"] == "no-store" and answer.headers["Referrer-Policy"] == "no-referrer"
    assert "default-src &#x27;none&#x27;" in policy or "default-src 'none'" in policy


def test_nothing_is_changed(explorer: Explorer, data: Path) -> None:
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    get(explorer, "0/questions/0?mode=bm25")
    get(explorer, "findings/0")
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before


def test_a_table_that_is_still_read_shows_its_first_records(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.api.explorer.explored.Explored.load", lambda _: None)
    with ragdatakit.explore(data / "demo-search") as explorer:
        with urllib.request.urlopen(f"{explorer.url}0/documents", timeout=30) as answer:
            page = answer.read().decode()
        assert len(rows(page)) == 31 and "still being read" in page
        assert "still being read" in ask(explorer, urlsplit(explorer.url).path + "0/documents/3")[1]
        assert "reading questions" in ask(explorer, urlsplit(explorer.url).path + "0/questions/0")[1]


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ragdatakit.RagdataError, match="no such file or folder"):
        ragdatakit.explore(tmp_path / "gone")
    with pytest.raises(ragdatakit.RagdataError, match="port is 70,000, expected 0 to 65,535"):
        ragdatakit.explore(FIXTURES / "demo-search", port=70000)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_the_command() -> None:
    command = interruptible("explore", FIXTURES / "demo-search", "--no-browser")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().strip()
        with urllib.request.urlopen(url, timeout=30) as answer:
            assert b"demo-search" in answer.read()
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=20)
    assert running.returncode == 130 and error == "Ctrl-C stops it.\nragdata: stopped\n"


def test_a_port_in_use_is_named(data: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        outcome = run("explore", data, "--no-browser", "--port", str(port))

    assert outcome.code == 2
    assert outcome.err == f"ragdata: port {port} is in use; --port 0 takes any that is free\n"


def test_an_embedder_of_no_kind_is_refused_before_anything_is_served() -> None:
    outcome = run("explore", FIXTURES / "demo-search", "--no-browser", "--embedder", "foo:bar")

    assert (outcome.code, outcome.out) == (2, "")
    assert "'foo:bar' is not an embedder" in outcome.err
