"""Graphs by a language model: a server that answers, fails, stalls, and answers nonsense; reruns that cost nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.retrieval.endpoint import EndpointError
from ragdatakit.retrieval.extraction.asking import Asker, ModelOptions
from ragdatakit.retrieval.extraction.graph_tables import ExtractOptions, count_requests, extract_graph
from ragdatakit.retrieval.extraction.prompts import SYSTEM
from ragdatakit.schemas.canonical import Document
from ragdatakit.schemas.conversions import ExtractionEstimate
from ragdatakit.schemas.errors import RagdataError
from tests.conversion_tools import rows, tables_of
from tests.model_server import KEY, Fault, ModelServer, refusal, running_models

NAMES = ("Ada", "Bob", "Carl", "Dora", "Eve", "Finn")
TEXTS = tuple(Document(f"d{n}", f"{name} met Zoe.", name) for n, name in enumerate(NAMES))


def answer(payload: dict[str, Any]) -> str:
    """What a good model says: who met whom."""
    name = payload["messages"][1]["content"].split()[1]
    entities = [{"name": name, "type": "person", "description": f"{name}, a guest"}, {"name": "Zoe"}]
    return json.dumps({"entities": entities, "triples": [[name, "met", "Zoe"]]})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running_models() as running:
        running.chat = answer
        yield running


def asked(server: ModelServer, cache: Path, **more: Any) -> ExtractOptions:
    given: dict[str, Any] = {"model": "m", "base_url": server.url, "cache": cache, "retries": 0, "timeout": 5}
    prices, progress = more.pop("prices", (None, None)), more.pop("progress", None)
    asker = Asker(ModelOptions(**(given | more)), progress, prices=prices)
    return ExtractOptions(extractor="openai", asker=asker)


def texts(number: int = len(TEXTS)) -> CanonicalTables:
    return tables_of(documents=TEXTS[:number])


def estimated(options: ExtractOptions) -> ExtractionEstimate:
    assert options.asker is not None
    count_requests(texts(), options)
    return options.asker.estimate()


def lost(tables: CanonicalTables) -> list[str]:
    return [example for loss in tables.losses if loss.kind == "lost" for example in loss.examples]


def test_every_passage_is_asked_for_once(server: ModelServer, tmp_path: Path) -> None:
    made = rows(extract_graph(texts(), asked(server, tmp_path)))
    assert [node.name for node in made["nodes"]] == ["ada", "zoe", "bob", "carl", "dora", "eve", "finn"]
    assert made["nodes"][0].attributes == '{"entity_type":"person","description":"Ada, a guest"}'
    assert [e[:3] for e in made["edges"] if e.relation == "met"] == [(n.casefold(), "met", "zoe") for n in NAMES]
    assert {e.target for e in made["edges"] if e.source == "zoe"} == {d.doc_id for d in TEXTS}
    assert len(server.calls) == len(TEXTS)
    sent = server.calls[0].payload
    assert (sent["model"], sent["temperature"], sent["messages"][0]["content"]) == ("m", 0, SYSTEM)
    assert sorted(call.payload["messages"][1]["content"].split()[1] for call in server.calls) == list(NAMES)


def test_a_rerun_asks_nothing_and_makes_the_same(server: ModelServer, tmp_path: Path) -> None:
    first = rows(extract_graph(texts(), asked(server, tmp_path)))
    server.calls.clear()
    assert rows(extract_graph(texts(), asked(server, tmp_path, concurrency=1))) == first
    assert not server.calls
    rows(extract_graph(texts(), asked(server, tmp_path, model="other")))
    assert len(server.calls) == len(TEXTS)


def test_a_stopped_run_goes_on_where_it_was(server: ModelServer, tmp_path: Path) -> None:
    def stop(_: str, done: int, __: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    options = asked(server, tmp_path, concurrency=1, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        rows(extract_graph(texts(), options))
    done = len(server.calls)
    assert 3 <= done < len(TEXTS)
    rows(extract_graph(texts(), asked(server, tmp_path, concurrency=1)))
    assert len(server.calls) <= len(TEXTS) + 1  # the one that was under way may be asked for again


def test_damaged_replies_in_the_cache_are_asked_for_again(server: ModelServer, tmp_path: Path) -> None:
    rows(extract_graph(texts(), asked(server, tmp_path)))
    kept = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    kept[0].write_bytes(b"{")
    kept[1].write_bytes(b"")
    server.calls.clear()
    rows(extract_graph(texts(), asked(server, tmp_path)))
    assert len(server.calls) == 2


def test_a_reply_that_cannot_be_read_is_asked_for_once_more(server: ModelServer, tmp_path: Path) -> None:
    def chat(payload: dict[str, Any]) -> str:
        return "Certainly!" if len(payload["messages"]) == 2 else answer(payload)

    server.chat = chat
    made = rows(extract_graph(texts(1), asked(server, tmp_path)))
    assert [node.name for node in made["nodes"]] == ["ada", "zoe"]
    again = server.calls[1].payload["messages"]
    assert again[2] == {"role": "assistant", "content": "Certainly!"}
    assert "no whole JSON object" in again[3]["content"]


def test_passages_that_fail_are_counted_and_named(server: ModelServer, tmp_path: Path) -> None:
    def chat(payload: dict[str, Any]) -> str:
        return "nonsense" if "Bob" in payload["messages"][1]["content"] else answer(payload)

    server.chat = chat
    tables = texts()
    made = rows(extract_graph(tables, asked(server, tmp_path)))
    assert "bob" not in {node.name for node in made["nodes"]}
    (found,) = lost(tables)
    assert found.startswith("d1: the reply could not be read, nor the one after it: there is no whole JSON object")
    server.calls.clear()
    server.chat = answer
    assert "bob" in {node.name for node in rows(extract_graph(texts(), asked(server, tmp_path)))["nodes"]}
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (refusal(400, "context\nlength exceeded\x1b[31m"), "400 context length exceeded"),
        (Fault(stall=60), "no whole answer within"),
        (Fault(cut=20), "cut before the answer was whole"),
        (Fault(body=b"<html>"), "not JSON"),
        (Fault(body=b"[]"), "no object"),
        (Fault(change=lambda _: {"choices": []}), "it has no text"),
        (Fault(change=lambda _: {"choices": [{"message": {"content": None}}]}), "it has no text"),
        (Fault(change=lambda _: {"choices": [{"message": {"content": "[" * 5000}}]}), "no whole JSON object"),
    ],
    ids=["refused", "stalled", "cut", "html", "a list", "no choice", "no content", "nested"],
)
def test_faults_of_the_server_fail_one_passage(server: ModelServer, tmp_path: Path, fault: Fault, why: str) -> None:
    server.fail(fault, fault)
    tables = texts()
    options = asked(server, tmp_path, timeout=1 if fault.stall else 30, concurrency=1, most_failures=0.5)
    made = rows(extract_graph(tables, options))
    found = lost(tables)
    assert found
    assert all(why in each for each in found), found
    assert "\x1b" not in "".join(found)
    assert "finn" in {node.name for node in made["nodes"]}


def test_faults_that_pass_are_tried_again(server: ModelServer, tmp_path: Path) -> None:
    server.fail(refusal(503, headers={"Retry-After": "0"}), Fault(cut=0))
    tables = texts(1)
    made = rows(extract_graph(tables, asked(server, tmp_path, retries=3)))
    assert [node.name for node in made["nodes"]] == ["ada", "zoe"]
    assert len(server.calls) == 3
    assert not lost(tables)


def test_a_wrong_key_stops_at_once(server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.key = KEY
    monkeypatch.setenv("OWN_KEY", "sk-wrong-0000000000")
    options = asked(server, tmp_path, api_key_env="OWN_KEY", concurrency=1)
    with pytest.raises(EndpointError, match="401 Incorrect API key") as caught:
        rows(extract_graph(texts(), options))
    assert "sk-wrong" not in str(caught.value)
    assert len(server.calls) <= 2
    monkeypatch.setenv("OWN_KEY", KEY)
    assert rows(extract_graph(texts(), asked(server, tmp_path, api_key_env="OWN_KEY")))["nodes"]


def test_too_many_failures_stop_the_run(server: ModelServer, tmp_path: Path) -> None:
    server.always = refusal(400, "no")
    with pytest.raises(RagdataError, match=r"6 of 6 passages failed.*most-failures=0\.2.*d5: .*400 no"):
        rows(extract_graph(texts(), asked(server, tmp_path)))
    many = [Document(f"d{n}", f"Text {n}.") for n in range(200)]
    server.calls.clear()
    with pytest.raises(RagdataError, match=r"^11 of 11 passages that were asked for \(of 50 at least\) failed"):
        rows(extract_graph(tables_of(documents=many), asked(server, tmp_path)))
    assert len(server.calls) < 50


def test_empty_passages_are_not_asked_for(server: ModelServer, tmp_path: Path) -> None:
    blank = Document("blank", " \n", "Blank")
    made = rows(extract_graph(tables_of(documents=(blank, *TEXTS[:1])), asked(server, tmp_path)))
    assert len(server.calls) == 1
    assert {e.target for e in made["edges"] if e.relation == "is_mentioned_in"} == {"d0"}


def test_an_estimate_asks_nothing(server: ModelServer, tmp_path: Path) -> None:
    found = estimated(asked(server, tmp_path, prices=(2.0, 10.0)))
    assert (found.passages, found.cached, found.model) == (6, 0, "m")
    assert found.prompt_tokens > 6 * 50
    assert found.completion_tokens == 6 * 4
    assert found.cost == pytest.approx((found.prompt_tokens * 2 + found.completion_tokens * 10) / 1e6)
    assert not server.calls
    rows(extract_graph(texts(4), asked(server, tmp_path)))
    after = estimated(asked(server, tmp_path))
    assert (after.cached, after.cost) == (4, None)
    assert after.prompt_tokens * 3 == found.prompt_tokens


@pytest.mark.parametrize(
    "given",
    [{"concurrency": 0}, {"retries": -1}, {"timeout": 0}, {"max_tokens": -1}, {"most_failures": 2}, {"base_url": "x"}],
    ids=lambda given: next(iter(given)),
)
def test_options_that_make_no_sense(given: dict[str, Any]) -> None:
    with pytest.raises(RagdataError):
        ModelOptions(**({"model": "m", "base_url": "http://127.0.0.1:1/v1"} | given)).endpoint()
