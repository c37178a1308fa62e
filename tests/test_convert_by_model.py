"""Contexts, summaries and described graphs by a language model: what is asked, kept, lost, written, and asked again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.files.texts import plain_tokens
from ragdatakit.retrieval.extraction.described_graph import parse_described
from ragdatakit.retrieval.extraction.replies import UnreadableReplyError, parse_text
from ragdatakit.retrieval.extraction.reports import MOST_TOKENS, Subject, parse_report
from tests.command_line import ROOT, Outcome, run
from tests.model_server import ModelServer, refusal, running_models
from tests.upstream_data import UPSTREAM_DATA

PEOPLE = ("Ada", "Bob", "Carl", "Dora", "Eve", "Finn")
MARKDOWN = UPSTREAM_DATA / "markdown-docs-graphrag" / "docs"


def graph_of(asked: str) -> str:
    """The records of a good model: who met Zoe."""
    names = [name for name in PEOPLE if name in asked]
    lines = [f"entity<|#|>{name}<|#|>person<|#|>{name} is a guest." for name in (*names, "Zoe")]
    lines += [f"relation<|#|>{name}<|#|>Zoe<|#|>meeting, party<|#|>{name} met Zoe." for name in names]
    return "\n".join((*lines, "<|COMPLETE|>"))


def good(payload: dict[str, Any]) -> str:
    """What a good model says to each kind of request."""
    first, asked = payload["messages"][0]["content"], payload["messages"][-1]["content"]
    if "entity<|#|>NAME" in first:
        return graph_of(payload["messages"][1]["content"])
    if "<chunk>" in first:
        return f"Of a document of {len(first)} signs."
    return "All of it, shorter." if first.startswith("Write a summary") else f"One of many: {asked[:30]}"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running_models() as running:
        running.chat = good
        yield running


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Two documents of three sentences each."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, some in enumerate((PEOPLE[:3], PEOPLE[3:])):
        (folder / f"party{number}.txt").write_text(" ".join(f"{name} met Zoe there." for name in some), "utf-8")
    return folder


def convert(server: ModelServer, source: Path, target: Path, to: str, *more: str, model: str = "m") -> Outcome:
    asking = ("--extractor", "openai", "--model", model, "--base-url", server.url)
    place = {"RAGDATA_CACHE_DIR": str(target.parent / "cache")}
    return run("convert", "--from", "text", "--to", to, *asking, *more, source, target, env=place)


SENTENCES = ("--chunk-size", "1", "--chunk-by", "sentences")


def contexts(folder: Path) -> dict[str, str]:
    lines = (folder / "contextualized_chunks.jsonl").read_text("utf-8").splitlines()
    return {row["chunk_id"]: row["contextualized_content"] for row in map(json.loads, lines)}


def loads(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_bytes())


# contexts


def test_each_chunk_is_asked_for_with_its_document(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    done = convert(server, texts, tmp_path / "out", "contextual-retrieval", *SENTENCES)
    assert done.code == 0, done.err
    assert len(server.calls) == 6
    asked = sorted(call.payload["messages"][0]["content"] for call in server.calls)
    assert asked[0].startswith("<document>\nAda met Zoe there. Bob met Zoe there. Carl met Zoe there.\n</document>\n")
    assert "<chunk>\nAda met Zoe there.\n</chunk>" in asked[0]
    assert server.calls[0].payload["max_tokens"] == 1000
    found = contexts(tmp_path / "out")
    assert list(found) == [f"party{d}.txt_chunk_{n}" for d in (0, 1) for n in range(3)]
    assert all(text.startswith("Of a document of 38") for text in found.values())
    report = ragdatakit.validate(tmp_path / "out", severity="warning")
    assert report.ok
    chunks = loads(tmp_path / "out", "codebase_chunks.json")[0]["chunks"]
    assert chunks[0]["content"] == "Ada met Zoe there."  # the context is kept apart
    assert "chunks.context  6 values: written by m" in done.out


def test_what_it_takes_is_said_before_anything_is_sent(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    words = (*SENTENCES, "--price-in", "1", "--price-out", "4")
    dry = convert(server, texts, tmp_path / "out", "contextual-retrieval", *words, "--dry-run")
    assert not server.calls and not (tmp_path / "out").exists()
    assert "6 chunks, 0 of them with a reply in the cache\n  6 requests to send" in dry.out
    assert "about 600 tokens in replies" in dry.out
    assert "cost about 0.00" in dry.out
    server.fail(refusal(401, "no"))
    done = convert(server, texts, tmp_path / "out", "contextual-retrieval", *words)
    assert done.code == 2
    found, _, fault = done.err.partition("ragdata: ")
    assert found.startswith(f"Asking m at {server.url}:\n  6 chunks, 0 of them")
    assert "cost about" in found and "401 no" in fault
    done = convert(server, texts, tmp_path / "out", "contextual-retrieval", *words, "--quiet")
    assert (done.code, done.err) == (0, "")
    again = convert(server, texts, tmp_path / "again", "contextual-retrieval", *words)
    assert "6 of them with a reply in the cache\n  0 requests to send" in again.err
    assert (tmp_path / "again/contextualized_chunks.jsonl").read_bytes() == (
        tmp_path / "out/contextualized_chunks.jsonl"
    ).read_bytes()


def test_the_api_gives_estimates(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    extraction = {"model": "m", "base_url": server.url, "cache": str(tmp_path / "cache"), "price_out": 1e4}
    found = ragdatakit.convert(
        texts, tmp_path / "out", source_format="text", to="contextual-retrieval", extractor="openai",
        extraction=extraction, chunking={"by": "sentences", "size": 1}, dry_run=True,
    )  # fmt: skip
    (estimate,) = found.as_dict()["estimates"]
    assert (estimate["what"], estimate["passages"], estimate["cost"]) == ("chunks", 6, 6.0)
    assert not server.calls


def test_a_chunk_without_context_is_lost_and_named(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    server.chat = lambda p: " " if "<chunk>\nBob" in p["messages"][0]["content"] else good(p)
    done = convert(server, texts, tmp_path / "out", "contextual-retrieval", *SENTENCES)
    assert done.code == 0, done.err
    assert "chunks.context  1 value: the model gave no context of it" in done.out
    assert "party0.txt#1: the reply could not be read, nor the one after it: it is empty" in done.out
    assert "party0.txt_chunk_1" not in contexts(tmp_path / "out")
    assert [call.payload["messages"][-1]["content"] for call in server.calls if len(call.payload["messages"]) > 1] == [
        "This cannot be used: it is empty. Answer again with the text that was asked for, and nothing else."
    ]
    assert convert(server, texts, tmp_path / "no", "contextual-retrieval", *SENTENCES, "--strict").code == 1
    words = (*SENTENCES, "-o", "contexts=extractive")
    assert convert(server, texts, tmp_path / "whole", "contextual-retrieval", *words).code == 0
    assert contexts(tmp_path / "whole")["party0.txt_chunk_1"] == "Ada met Zoe there.\nCarl met Zoe there."
    server.chat = good
    server.calls.clear()
    assert convert(server, texts, tmp_path / "out2", "contextual-retrieval", *SENTENCES).code == 0
    assert len(server.calls) == 1


def test_a_limit_of_rates_is_waited_for(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    server.fail(*(refusal(429, "slow down", {"Retry-After": "0"}) for _ in range(2)))
    done = convert(server, texts, tmp_path / "out", "contextual-retrieval", *SENTENCES, "--extract", "concurrency=1")
    assert done.code == 0, done.err
    assert len(contexts(tmp_path / "out")) == 6
    assert len(server.calls) == 8


def test_long_documents_are_sent_in_part(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    words = (*SENTENCES, "--extract", "document-tokens=6")
    done = convert(server, texts, tmp_path / "out", "contextual-retrieval", *words)
    assert "written by m, of a part of its document" in done.out
    asked = [call.payload["messages"][0]["content"] for call in server.calls]
    (of_bob,) = [text.split("</document>")[0] for text in asked if "<chunk>\nBob" in text]
    assert "Bob met Zoe" in of_bob and len(of_bob) < 60


@pytest.mark.parametrize(
    ("to", "words", "message"),
    [
        ("contextual-retrieval", (), "cut them into chunks with --chunk-size N"),
        ("contextual-retrieval", ("--extract", "start-nodes=2"), "start-nodes goes with a graph"),
        ("contextual-retrieval", ("--extract", "document-tokens=-1"), "document_tokens is -1, expected 0 or more"),
        ("raptor", ("--price-in", "nan"), "price"),
        ("raptor", ("--embedder", "word2vec"), "is not an embedder"),
    ],
)
def test_what_makes_no_sense_is_refused(
    server: ModelServer, texts: Path, tmp_path: Path, to: str, words: tuple[str, ...], message: str
) -> None:
    if "word2vec" in words:  # found out where vectors are made
        (texts / "long.txt").write_text(long_text(), "utf-8")
        words = (*words, "-o", "leaf-tokens=12", "--quiet")
    done = convert(server, texts, tmp_path / "out", to, *words)
    assert done.code == 2
    assert message in done.err
    assert not server.calls


# stopped and started again


def test_a_killed_run_goes_on_and_pays_no_reply_twice(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    for number in range(20):
        (texts / f"more{number}.txt").write_text(f"The Lark {number} sailed. It sank in {1900 + number}.", "utf-8")
    answered: list[str] = []

    def slow(payload: dict[str, Any]) -> str:
        time.sleep(0.02)
        answered.append(json.dumps(payload))
        return good(payload)

    server.chat = slow
    asking = ["--extractor", "openai", "--model", "m", "--base-url", server.url, "--extract", "concurrency=1"]
    words = ["convert", "--from", "text", "--to", "contextual-retrieval", *asking, *SENTENCES]
    command = [sys.executable, "-m", "ragdatakit", *words, str(texts), str(tmp_path / "out")]
    place = {**os.environ, "RAGDATA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(answered) < 8 and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "out").exists()
    before = len(answered)
    assert 8 <= before < 46
    done = convert(server, texts, tmp_path / "out", "contextual-retrieval", *SENTENCES)
    assert done.code == 0, done.err
    assert len(contexts(tmp_path / "out")) == 46
    assert len(set(answered)) == 46
    assert len(answered) <= 46 + 1  # the one that was under way


# trees


def long_text() -> str:
    return " ".join(f"The ship Lark {n} sailed to port {n % 7} in the year {1800 + n}." for n in range(90))


@pytest.fixture
def story(tmp_path: Path) -> Path:
    folder = tmp_path / "tale"
    folder.mkdir()
    (folder / "tale.txt").write_text(long_text(), "utf-8")
    return folder


def nodes(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = loads(folder, "tale.json")["nodes"]
    return found


def test_clusters_are_summarized_layer_by_layer(server: ModelServer, story: Path, tmp_path: Path) -> None:
    words = ("-o", "leaf-tokens=12")
    dry = convert(server, story, tmp_path / "out", "raptor", *words, "--dry-run", "--json").json["estimates"][0]
    assert (dry["what"], dry["cached"], len(server.calls)) == ("clusters", 0, 0)
    done = convert(server, story, tmp_path / "out", "raptor", *words)
    assert done.code == 0, done.err
    assert len({json.dumps(call.payload) for call in server.calls}) <= dry["passages"]
    found = nodes(tmp_path / "out")
    assert {node["text"] for node in found if node["layer"]} == {"All of it, shorter."}
    assert max(node["layer"] for node in found) == 2
    assert len([node for node in found if node["layer"]]) == dry["passages"]
    asked = [call.payload["messages"][0]["content"] for call in server.calls]  # several at a time, in any order
    begin = "Write a summary of the following, including as many key details as possible: The ship"
    assert any(text.startswith(begin) for text in asked)
    assert ragdatakit.validate(tmp_path / "out").ok
    assert "summaries were made by m" in done.out
    server.calls.clear()
    assert convert(server, story, tmp_path / "again", "raptor", *words).code == 0
    assert not server.calls
    assert nodes(tmp_path / "again") == found


def test_sentences_take_the_place_of_a_summary_that_fails(server: ModelServer, story: Path, tmp_path: Path) -> None:
    words = ("-o", "leaf-tokens=12", "--extract", "retries=0", "--extract", "concurrency=1")
    server.fail(refusal(400, "too long"))
    done = convert(server, story, tmp_path / "out", "raptor", *words)
    assert done.code == 0, done.err
    assert "summaries.text  1 value: the model gave no summary; sentences of the texts take its place" in done.out
    assert "tale, layer 1, cluster 0: " in done.out
    made = [node["text"] for node in nodes(tmp_path / "out") if node["layer"] == 1]
    assert made[0].startswith("The ship Lark") and set(made[1:]) == {"All of it, shorter."}
    server.always = refusal(400, "no")
    stopped = convert(server, story, tmp_path / "no", "raptor", *words, model="other")
    assert stopped.code == 2
    assert "clusters" in stopped.err and "failed" in stopped.err
    assert not (tmp_path / "no").exists()


def test_vectors_come_from_the_embedder(server: ModelServer, story: Path, tmp_path: Path) -> None:
    words = ("-o", "leaf-tokens=12", "--embedder", "openai:e", "-o", "embedding-key=OpenAI")
    dry = convert(server, story, tmp_path / "out", "raptor", *words, "--dry-run")
    assert "by openai:e" in dry.out and "which the vectors will show" in dry.out and not server.calls
    done = convert(server, story, tmp_path / "out", "raptor", *words)
    assert done.code == 0, done.err
    assert all(len(node["embeddings"]["OpenAI"]) == 16 for node in nodes(tmp_path / "out"))
    assert loads(tmp_path / "out", "tale.json")["embedding_key"] == "OpenAI"
    assert ragdatakit.validate(tmp_path / "out").ok
    sent = [text for call in server.calls if call.path.endswith("embeddings") for text in call.payload["input"]]
    assert len(sent) == len(set(sent))
    server.calls.clear()
    pickled = convert(server, story, tmp_path / "pkl", "raptor", *words, "-o", "form=pickle")
    assert pickled.code == 0, pickled.err
    assert not server.calls
    assert ragdatakit.validate(tmp_path / "pkl").ok


def _forgetful(payload: dict[str, Any]) -> str:
    """A model that names the guest only when it is asked what it has missed."""
    whole = good(payload)
    if len(payload["messages"]) < 4:
        kept = [line for line in whole.split("\n") if not line.startswith("relation") and "Zoe" not in line]
        return "\n".join(kept)
    assert payload["messages"][2] == {"role": "assistant", "content": _forgetful({"messages": payload["messages"][:2]})}
    if "Bob" in payload["messages"][1]["content"]:
        return "<|COMPLETE|>"
    return whole.replace("is a guest", "is a guest of the party") + "\nentity<|#|>Yak<|#|>thing"


def test_what_was_missed_is_asked_for_once_more(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    server.chat = _forgetful
    words = (*SENTENCES, "--extract", "gleaning=1", "-o", "form=directory")
    dry = convert(server, texts, tmp_path / "out", "lightrag", *words, "--dry-run")
    assert "a second request for each passage" in dry.out and not server.calls
    done = convert(server, texts, tmp_path / "out", "lightrag", *words)
    assert done.code == 0, done.err
    assert len(server.calls) == 12
    graph = (tmp_path / "out" / "graph_chunk_entity_relation.graphml").read_text("utf-8")
    assert graph.count("<edge ") == 5
    assert "Ada is a guest of the party." in graph and "Bob is a guest." in graph and "Yak" not in graph
    server.calls.clear()
    assert convert(server, texts, tmp_path / "again", "lightrag", *words).code == 0
    assert not server.calls
    refused = convert(server, texts, tmp_path / "no", "datamind", *SENTENCES, "--extract", "gleaning=1")
    assert (refused.code, "gleaning goes with graphs" in refused.err) == (2, True)


def embed(server: ModelServer, source: Path, target: Path, *more: str) -> Outcome:
    words = ("--from", "text", "--embedder", "openai:e", "--base-url", server.url)
    return run("convert", *words, *more, source, target, env={"RAGDATA_CACHE_DIR": str(target.parent / "cache")})


@pytest.mark.parametrize("words", [("raptor", "-o", "leaf-tokens=12"), ("lightrag", "-o", "form=directory")])
def test_an_embedder_alone_makes_vectors(
    server: ModelServer, story: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    dry = embed(server, story, tmp_path / "out", "--to", *words, "--dry-run")
    assert (dry.code, server.calls) == (0, [])
    done = embed(server, story, tmp_path / "out", "--to", *words)
    assert done.code == 0, done.err
    assert {call.path.rsplit("/", 1)[-1] for call in server.calls} == {"embeddings"}
    assert ragdatakit.validate(tmp_path / "out").ok
    if words[0] == "lightrag":
        assert loads(tmp_path / "out", "vdb_chunks.json")["embedding_dim"] == 16
    else:
        assert all(len(vector) == 16 for node in nodes(tmp_path / "out") for vector in node["embeddings"].values())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("beir",), "--embedder makes vectors, and beir has no place for them"),
        (("lightrag",), "a payload has none: --option form=directory"),
        (("raptor", "--model", "m"), "model goes with --extractor names or openai"),
    ],
)
def test_an_embedder_without_a_place_for_vectors_is_refused(
    server: ModelServer, story: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = embed(server, story, tmp_path / "out", "--to", *words)
    assert (done.code, server.calls) == (2, [])
    assert message in done.err
    assert not (tmp_path / "out").exists()


# graphs with descriptions


def test_a_described_graph_of_lightrag(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    done = convert(server, texts, tmp_path / "out", "lightrag", *SENTENCES, "-o", "form=directory")
    assert done.code == 0, done.err
    assert len(server.calls) == 6
    report = ragdatakit.validate(tmp_path / "out", severity="warning")
    assert not report.findings, report.findings
    found = {node.name: node for node in ragdatakit.read(tmp_path / "out").rows("nodes")}
    assert list(found) == ["Ada", "Zoe", "Bob", "Carl", "Dora", "Eve", "Finn"]
    zoe = json.loads(found["Zoe"].attributes or "")
    assert (found["Zoe"].type, zoe["description"], len(zoe["passages"])) == ("person", "Zoe is a guest.", 6)
    edges = list(ragdatakit.read(tmp_path / "out").rows("edges"))
    assert {edge.relation for edge in edges} == {"meeting,party"}
    assert json.loads(edges[0].attributes or "")["weight"] == 1.0
    payload = convert(server, texts, tmp_path / "payload", "lightrag", *SENTENCES)
    assert payload.code == 0
    assert len(server.calls) == 6
    assert ragdatakit.validate(tmp_path / "payload").ok
    document = loads(tmp_path / "payload", "custom_kg.json")["relationships"][0]
    assert (document["description"], document["keywords"]) == ("Ada met Zoe.", "meeting,party")


def test_many_descriptions_become_one(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    for number in range(9):
        (texts / f"more{number}.txt").write_text(f"Ada met Zoe on day {number}.", "utf-8")
    server.chat = lambda p: good(p).replace("Zoe is", f"Zoe, of {p['messages'][-1]['content'][-20:]!r}, is")
    done = convert(server, texts, tmp_path / "out", "lightrag")
    assert done.code == 0, done.err
    merged = [call for call in server.calls if "descriptions of Zoe" in call.payload["messages"][0]["content"]]
    assert len(merged) == 1
    entities = {each["entity_name"]: each for each in loads(tmp_path / "out", "custom_kg.json")["entities"]}
    assert entities["Zoe"]["description"].startswith("One of many: These are descriptions")
    assert entities["Ada"]["description"] == "Ada is a guest."


def test_records_that_lightrag_drops_are_counted(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    server.chat = lambda p: good(p).replace("<|COMPLETE|>", "entity<|#|>Half\nrelation<|#|>A<|#|>A<|#|>k<|#|>d")
    done = convert(server, texts, tmp_path / "out", "lightrag")
    assert done.code == 0, done.err
    assert "chunks  4 values: a record of a reply that LightRAG's parser drops" in done.out
    server.chat = lambda _: "I would rather talk about the weather."
    words = ("--extract", "most-failures=1")
    refused = convert(server, texts, tmp_path / "no", "lightrag", *words, model="chatty")
    assert "no entity was found in the texts" in refused.err
    assert (refused.code, (tmp_path / "no").exists()) == (2, False)


JSON = """{"entities": [{"name": "Ada", "type": "person", "description": "x"}, "y"],
"relationships": [{"source": "Ada", "target": "Zoe", "keywords": "k", "description": "d"}]}"""


@pytest.mark.parametrize(
    ("reply", "entities", "relations", "left_out"),
    [
        (graph_of("Ada"), ["Ada", "Zoe"], [("Ada", "Zoe")], 0),
        ("<think>entity<|#|>No<|#|>x<|#|>y</think>" + graph_of("Bob"), ["Bob", "Zoe"], [("Bob", "Zoe")], 0),
        ("```\n" + graph_of("Ada") + "\n```", ["Ada", "Zoe"], [("Ada", "Zoe")], 0),
        ("entity<|#|>A b<|#|>t<|#|>d<|#|>more<|#|>x\nentity<|#|>B c<|#|>t<|#|>d", ["B c"], [], 1),
        (JSON, ["Ada"], [("Ada", "Zoe")], 1),
        ("<|COMPLETE|>", [], [], 0),
        (f"entity<|#|>{'n' * 300}<|#|>t<|#|>d", ["n" * 256], [], 0),
    ],
)
def test_replies_are_read_by_lightrags_rules(
    reply: str, entities: list[str], relations: list[tuple[str, str]], left_out: int
) -> None:
    found = parse_described(reply)
    assert [each[0] for each in found.entities] == entities
    assert [each[:2] for each in found.relations] == relations
    assert found.left_out == left_out


@pytest.mark.parametrize("reply", ["", "Certainly!", "entity<|#|>x", '{"entities": 7}', "[" * 9000])
def test_replies_without_a_record_are_asked_for_again(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        parse_described(reply)


def test_texts_of_replies_are_clean() -> None:
    assert parse_text("<think>well</think>\n A\x1b[31m context\x00\nof two lines \ud800 ") == (
        "A [31m context \nof two lines �"
    )
    for empty in ("", " \n", "<think>only this</think>", "\x00"):
        with pytest.raises(UnreadableReplyError):
            parse_text(empty)


LIGHTRAG = os.environ.get("RAGDATA_LIGHTRAG_PYTHON", "")
ASK = """import asyncio, json, sys
from pathlib import Path
import tests.lightrag_oracle as oracle
oracle.QUERY, oracle.HIGH, oracle.LOW = "Who met Zoe?", "meeting, party", "Dora"
print(json.dumps(asyncio.run(oracle.outcome(Path(sys.argv[1])))))
"""


@pytest.mark.skipif(not LIGHTRAG, reason="RAGDATA_LIGHTRAG_PYTHON is no interpreter with lightrag-hku 1.5.7")
def test_lightrag_itself_finds_what_is_written(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    words = (*SENTENCES, "-o", "form=directory", "-o", "dimension=64")
    assert convert(server, texts, tmp_path / "out", "lightrag", *words).code == 0
    done = subprocess.run(
        [LIGHTRAG, "-c", ASK, tmp_path / "out"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["local"][0][0].split("|")[:3] == ["Dora", "person", "Dora is a guest."]
    assert ["Dora", "Zoe", "meeting,party"] in [relation.split("|")[:3] for relation in found["local"][1]]
    assert len(found["global"][1]) == 5 and len(found["naive"][2]) == 5
    assert all(chunk.split("|")[1].endswith("met Zoe there.") for chunk in found["mix"][2])
    assert found["statuses"]["processed"] == 2


# GraphRAG

REPORT = {
    "title": "Ada and Zoe",
    "summary": "They met.",
    "rating": 7,
    "rating_explanation": "It was a party.",
    "findings": [{"summary": "A party", "explanation": "All met Zoe."}, "Zoe came", 7],
}


def reported(payload: dict[str, Any]) -> str:
    asked = payload["messages"][0]["content"]
    return json.dumps(REPORT) if asked.startswith("Write a report on a community") else good(payload)


def test_an_index_of_graphrag_with_reports(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    server.chat = reported
    done = convert(server, texts, tmp_path / "out", "graphrag")
    assert done.code == 0, done.err
    assert "a report on each community" in done.err
    assert ragdatakit.validate(tmp_path / "out").ok
    (report,) = ragdatakit.read(tmp_path / "out").rows("summaries")
    assert report.text == ("# Ada and Zoe\n\nThey met.\n\n## A party\n\nAll met Zoe.\n\n## Zoe came\n\n")
    found = json.loads(report.metadata or "")
    assert (found["title"], found["rank"], found["rating_explanation"]) == ("Ada and Zoe", 7.0, "It was a party.")
    asked = server.calls[-1].payload["messages"][0]["content"]
    assert "ZOE: Zoe is a guest." in asked and "ADA, ZOE: meeting,party: Ada met Zoe." in asked
    server.calls.clear()
    assert convert(server, texts, tmp_path / "again", "graphrag").code == 0
    assert not server.calls


def test_reports_on_a_graph_that_is_there(server: ModelServer, texts: Path, tmp_path: Path) -> None:
    assert convert(server, texts, tmp_path / "lightrag", "lightrag", *SENTENCES, "-o", "form=directory").code == 0
    server.calls.clear()
    server.chat = lambda _: "no report"
    words = ("convert", "--to", "graphrag", "--extractor", "openai", "--model", "m", "--base-url", server.url)
    place = {"RAGDATA_CACHE_DIR": str(tmp_path / "cache")}
    dry = run(*words, "--dry-run", tmp_path / "lightrag", tmp_path / "out", env=place)
    assert "1 community, 0 of them with a reply in the cache" in dry.out
    extract = ("--extract", "most-failures=1")
    done = run(*words, *extract, tmp_path / "lightrag", tmp_path / "out", env=place)
    assert done.code == 0, done.err
    assert "the model gave no report; sentences of the texts take its place" in done.out
    assert len(server.calls) == 2  # the report, and once more
    units = [chunk.chunk_id for chunk in ragdatakit.read(tmp_path / "out").rows("chunks")]
    (edge, *_) = ragdatakit.read(tmp_path / "out").rows("edges")
    assert edge.provenance in units


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({**REPORT, "rating": "9"}, 9.0),
        ({**REPORT, "rating": 99}, 10.0),
        ({**REPORT, "rating": None, "findings": None}, 0.0),
        ({**REPORT, "rating": "NaN"}, 0.0),
    ],
)
def test_reports_are_read(reply: dict[str, Any], message: float) -> None:
    assert parse_report(f"Here it is:\n```json\n{json.dumps(reply)}\n```").rating == message


def test_a_report_is_asked_for_with_as_many_lines_as_may_be_sent() -> None:
    entities = [f"entity {number}" for number in range(MOST_TOKENS)]
    relationships = [f"relationship {number}" for number in range(MOST_TOKENS)]

    lines = Subject(0, entities, relationships).data().split("\n")

    assert lines.count("Relationships:") == 1
    assert MOST_TOKENS * 0.9 < sum(plain_tokens.count(line) for line in lines) <= MOST_TOKENS + 10


@pytest.mark.parametrize("reply", ["", "{}", '{"title": "x"}', '{"title": "", "summary": "x"}', '["title"]'])
def test_what_is_no_report_is_asked_for_again(reply: str) -> None:
    with pytest.raises(UnreadableReplyError):
        parse_report(reply)


# without a model


def test_names_have_passages_and_sentences(texts: Path, tmp_path: Path) -> None:
    words = ("--extractor", "names", "--extract", "least=1", "-o", "form=directory", *SENTENCES)
    done = run("convert", "--from", "text", "--to", "lightrag", *words, texts, tmp_path / "out")
    assert done.code == 0, done.err
    assert not ragdatakit.validate(tmp_path / "out", severity="warning").findings
    found = {node.name: json.loads(node.attributes or "") for node in ragdatakit.read(tmp_path / "out").rows("nodes")}
    assert found["ada"]["description"] == "Ada met Zoe there."
    assert len(found["zoe"]["passages"]) == 6
    edges = {(e.source, e.target): e for e in ragdatakit.read(tmp_path / "out").rows("edges")}
    assert json.loads(edges["ada", "zoe"].attributes or "")["description"] == "Ada met Zoe there."


@pytest.mark.skipif(not MARKDOWN.is_dir(), reason="needs the public datasets beside the project")
@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("lightrag", ("--extractor", "names", "-o", "form=directory", "--chunk-size", "1200")),
        ("raptor", ()),
        ("contextual-retrieval", ("-o", "contexts=extractive", "--chunk-size", "200")),
    ],
)
def test_real_documents_without_a_model(to: str, words: tuple[str, ...], tmp_path: Path) -> None:
    done = run("convert", "--from", "text", "--to", to, *words, MARKDOWN / "query", tmp_path / "out")
    assert done.code == 0, done.err
    report = ragdatakit.validate(tmp_path / "out", severity="warning")
    assert report.ok
    assert set(report.by_rule) <= {"RP010", "CR007", "CR024", "LR015"}
