"""The client of model servers: deadlines, retries, the cache, and servers that fail in the ways of the field."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.retrieval.endpoint import Endpoint, EndpointError, EndpointFailure
from ragdatakit.schemas.errors import RagdataError
from tests.model_server import Fault, ModelServer, refusal, running_models

CHAT = "chat/completions"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running_models() as running:
        yield running


class Waits(list[float]):
    """Waits that are noted and not done."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def asking(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"model": "small", "messages": [{"role": "user", "content": text}], **more}


def said(reply: Any) -> str:
    return str(reply["choices"][0]["message"]["content"])


def client(server: ModelServer, **options: Any) -> Endpoint:
    return Endpoint(server.url, options.pop("api_key", None), sleep=options.pop("sleep", Waits()), seed=1, **options)


def test_reply_key_and_tokens(server: ModelServer) -> None:
    server.key = "sk-right"
    endpoint = client(server, api_key=" sk-right\n")
    assert said(endpoint.post(CHAT, asking("naïve 港 \ud800"))) == "naïve 港 ?"
    assert server.calls[0].path == "/v1/chat/completions"
    assert endpoint.counts.requests == 1
    assert endpoint.counts.prompt_tokens > 0
    assert endpoint.counts.completion_tokens == len("naïve 港 ?")


def test_no_key_is_sent_where_there_is_none(server: ModelServer) -> None:
    client(server).post(CHAT, asking())
    assert "Authorization" not in server.calls[0].headers


def test_query_of_the_address_stays_and_is_not_shown(server: ModelServer) -> None:
    endpoint = Endpoint(f"{server.url}/?api-version=7&sig=secret", sleep=Waits())
    endpoint.post(CHAT, asking())
    assert server.calls[0].path == "/v1/chat/completions?api-version=7&sig=secret"
    server.fail(refusal(400))
    with pytest.raises(EndpointError) as found:
        endpoint.post(CHAT, asking())
    assert "secret" not in str(found.value)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_passing_refusals_are_tried_again(server: ModelServer, status: int) -> None:
    waits = Waits()
    server.fail(refusal(status), refusal(status))
    endpoint = client(server, sleep=waits)
    assert said(endpoint.post(CHAT, asking())) == "hello"
    assert len(server.calls) == 3
    assert 0.25 <= waits[0] <= 0.5 and 0.5 <= waits[1] <= 1.0
    assert (endpoint.counts.requests, endpoint.counts.retries, endpoint.counts.failures) == (3, 2, 0)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_final_refusals_are_not(server: ModelServer, status: int) -> None:
    server.fail(refusal(status, "too\x1b[31m long\nfor this model"))
    with pytest.raises(EndpointError, match=rf"/v1/chat/completions: {status} too \[31m long for this model") as found:
        client(server).post(CHAT, asking())
    assert found.value.status == status
    assert len(server.calls) == 1
    assert str(found.value).isprintable()


def test_attempts_end(server: ModelServer) -> None:
    server.always = refusal(503, "busy")
    waits = Waits()
    with pytest.raises(EndpointError, match="503 busy, after 4 attempts"):
        client(server, sleep=waits, retries=3).post(CHAT, asking())
    assert len(server.calls) == 4
    assert len(waits) == 3


def test_spent_quota_is_final(server: ModelServer) -> None:
    server.always = refusal(429, "You exceeded your current quota", code="insufficient_quota")
    with pytest.raises(EndpointError, match=r"429 You exceeded your current quota$"):
        client(server).post(CHAT, asking())
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"retry-after-ms": "2500"}, 2.5, 2.5),
        ({"Retry-After": "86400"}, 60, 60),
        ({"Retry-After": "-5"}, 0.25, 0.5),
        ({"Retry-After": "nan"}, 0.25, 0.5),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.25, 0.5),
        ({"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}, 60, 60),
        ({"Retry-After": "soon"}, 0.25, 0.5),
    ],
    ids=["seconds", "milliseconds", "a-day", "negative", "nan", "past-date", "future-date", "words"],
)
def test_wait_that_is_asked_for(server: ModelServer, headers: dict[str, str], least: float, most: float) -> None:
    waits = Waits()
    server.fail(refusal(429, headers=headers))
    client(server, sleep=waits).post(CHAT, asking())
    assert least <= waits[0] <= most


@pytest.mark.parametrize(
    "fault", [Fault(cut=0), Fault(cut=20), Fault(stall=60), Fault(drip=0.1), Fault(drip_head=0.1)],
    ids=["cut-at-once", "cut-in-body", "stall", "drip", "drip-head"],
)  # fmt: skip
def test_connection_that_fails_is_tried_again(server: ModelServer, fault: Fault) -> None:
    server.fail(fault)
    assert said(client(server, timeout=1).post(CHAT, asking())) == "hello"
    assert len(server.calls) == 2


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        (Fault(stall=60), "no whole answer within 0.2 s, after 2 attempts"),
        (Fault(drip=0.1), "no whole answer within 0.2 s, after 2 attempts"),
        (Fault(cut=0), "the connection was cut before the answer was whole, after 2 attempts"),
        (Fault(body=b"<html>busy"), "the reply is not JSON: <html>busy"),
        (Fault(body=b""), "the reply is empty"),
        (Fault(body=b"[1]"), "the reply is JSON, but no object: [1]"),
        (Fault(body=b"[" * 3_900), "the reply is not JSON: [[["),
        (Fault(body=b"\xff\xfe{}"), "the reply is not JSON"),
        (Fault(body=b'{"choices": "' + b"x" * 5000 + b'"}'), "the reply is larger than 4,000 bytes"),
        (Fault(307, {"Location": "http://elsewhere.example/v1?key=1"}), "sends on to http://elsewhere.example/v1;"),
        (Fault(302, {"Location": "http://[::1"}), "sends on to another address"),
        (Fault(400, body=b"\x00plain words\x07"), "400 plain words"),
        (Fault(400, body=b""), "400 Bad Request"),
        (Fault(422, body=b'{"detail": [{"loc": ["body"], "msg": "field required"}]}'), "422 .*field required"),
        (Fault(body=b'{"error": {"message": "no such model"}}'), "no such model"),
        (Fault(body=b'{"error": {"message": "upstream", "code": 502}}'), "upstream, after 2 attempts"),
        (Fault(404, body=b"not here"), "404 not here"),
    ],
    ids="stall drip cut html empty array bomb bytes huge redirect bad-redirect plain no-body detail error "
    "error-code not-found".split(),
)
def test_failures_are_reported(server: ModelServer, fault: Fault, found: str) -> None:
    server.always = fault
    slow = bool(fault.stall or fault.drip)
    endpoint = client(server, timeout=0.2 if slow else 30, retries=1, max_reply=4000, api_key="sk-secret")
    with pytest.raises(EndpointError, match=found.replace("[", r"\[") if ".*" not in found else found) as error:
        endpoint.post(CHAT, asking())
    message = str(error.value)
    assert message.isprintable() and len(message) < 500
    assert endpoint.counts.failures == 1
    assert {call.headers["Host"] for call in server.calls} == {server.url.split("/")[2]}


def test_key_is_never_shown(server: ModelServer) -> None:
    server.fail(refusal(401, "Incorrect API key provided: sk-secret-99"))
    with pytest.raises(EndpointError) as found:
        client(server, api_key="sk-secret-99").post(CHAT, asking())
    assert "sk-secret-99" not in str(found.value) and "***" in str(found.value)


@pytest.mark.parametrize("key", ["sk-\nX: y", "sk-港"], ids=["line", "letters"])
def test_key_that_no_header_holds(key: str) -> None:
    with pytest.raises(RagdataError) as found:
        Endpoint("http://localhost:1/v1", key)
    assert "sk-" not in str(found.value)


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000", "ftp://host/v1", "file:///etc/passwd", "http://", "http://a b/v1", "http://host:99999/v1",
     "http://user:open-sesame@host/v1", "http://[::1/v1", "http://host/\x01"],
    ids="empty bare ftp file no-host blank port user bracket control".split(),
)  # fmt: skip
def test_address_that_is_none(url: str) -> None:
    with pytest.raises(RagdataError) as found:
        Endpoint(url)
    assert "sesame" not in str(found.value) and str(found.value).isprintable()


def test_nobody_answers() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(EndpointError, match="no server answers there, after 3 attempts"):
        Endpoint(f"http://127.0.0.1:{port}/v1", sleep=Waits()).post(CHAT, asking())


def test_proxy_of_the_environment_is_not_asked_for_this_machine(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert said(client(server, retries=0).post(CHAT, asking())) == "hello"


def test_proxy_of_the_environment_is_asked_for_others(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "")
    assert said(Endpoint("http://models.example/v1", retries=0).post(CHAT, asking())) == "hello"
    assert server.calls[0].headers["Host"] == "models.example"


def test_rerun_asks_nothing(server: ModelServer, tmp_path: Path) -> None:
    payloads = [asking(f"text {i} \ud83d") for i in range(6)]
    first = client(server, cache=tmp_path / "cache")
    replies = list(first.map(CHAT, payloads))
    assert len(server.calls) == 6 and first.counts.cached == 0
    again = client(server, cache=tmp_path / "cache")
    assert list(again.map(CHAT, payloads)) == replies
    assert len(server.calls) == 6
    assert (again.counts.requests, again.counts.cached, again.counts.prompt_tokens) == (0, 6, 0)
    assert again.is_cached(CHAT, payloads[0]) and not again.is_cached(CHAT, asking("other"))


def test_cache_tells_servers_and_payloads_apart(server: ModelServer, tmp_path: Path) -> None:
    client(server, cache=tmp_path).post(CHAT, asking())
    client(server, cache=tmp_path).post(CHAT, asking(temperature=0))
    Endpoint(server.url.replace("127.0.0.1", "localhost"), cache=tmp_path).post(CHAT, asking())
    assert len(server.calls) == 3


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"url": 1}', b"\xff" * 9], ids="empty cut list foreign bytes".split()
)
def test_damaged_entries_are_asked_for_again(server: ModelServer, tmp_path: Path, damage: bytes) -> None:
    client(server, cache=tmp_path).post(CHAT, asking())
    (entry,) = tmp_path.rglob("*.json")
    whole = entry.read_bytes()
    entry.write_bytes(damage)
    assert said(client(server, cache=tmp_path).post(CHAT, asking())) == "hello"
    assert len(server.calls) == 2
    assert entry.read_bytes() == whole


def test_forgotten_replies_are_asked_for_again(server: ModelServer, tmp_path: Path) -> None:
    endpoint = client(server, cache=tmp_path)
    endpoint.post(CHAT, asking())
    endpoint.forget(CHAT, asking())
    endpoint.forget(CHAT, asking("never asked"))
    endpoint.post(CHAT, asking())
    assert len(server.calls) == 2


def test_failures_are_not_kept(server: ModelServer, tmp_path: Path) -> None:
    server.fail(refusal(400))
    endpoint = client(server, cache=tmp_path)
    with pytest.raises(EndpointError):
        endpoint.post(CHAT, asking())
    assert said(endpoint.post(CHAT, asking())) == "hello"


def test_cache_that_cannot_be_written(server: ModelServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RagdataError, match="cannot be kept"):
        client(server, cache=tmp_path / "file").post(CHAT, asking())


def test_series_is_in_order_and_bounded(server: ModelServer) -> None:
    server.fail(Fault(stall=0.2), Fault(stall=0.1), *[Fault(stall=0.02)] * 10)
    endpoint = client(server, concurrency=3)
    taken: list[int] = []

    def payloads() -> Iterator[dict[str, Any]]:
        for i in range(12):
            taken.append(i)
            yield asking(f"text {i}")

    replies = endpoint.map(CHAT, payloads())
    assert said(next(replies)) == "text 0"
    assert len(taken) <= 6
    assert [said(r) for r in replies] == [f"text {i}" for i in range(1, 12)]
    assert 1 < server.most_at_once <= 3


def test_series_goes_on_after_a_failure(server: ModelServer) -> None:
    server.fail(Fault(), refusal(400, "too long"), Fault())
    replies = list(client(server, concurrency=1).map(CHAT, [asking(str(i)) for i in range(3)]))
    failure = replies[1]
    assert isinstance(failure, EndpointFailure)
    assert failure.status == 400 and "too long" in failure.message
    assert [said(replies[0]), said(replies[2])] == ["0", "2"]


def test_series_ends_where_the_key_is_wrong(server: ModelServer) -> None:
    server.key = "sk-right"
    with pytest.raises(EndpointError, match="401 Incorrect API key provided"):
        list(client(server, api_key="sk-wrong", concurrency=2).map(CHAT, [asking(str(i)) for i in range(50)]))
    assert len(server.calls) < 10


def test_series_ends_where_all_fails(server: ModelServer) -> None:
    server.always = refusal(500, "down")
    seen: list[Any] = []
    with pytest.raises(EndpointError, match=r"20 requests in a row failed, the last one so: .*500 down"):
        seen.extend(client(server, retries=0).map(CHAT, [asking(str(i)) for i in range(50)]))
    assert len(server.calls) < 40


def test_series_that_nobody_reads_on_ends(server: ModelServer) -> None:
    replies = client(server, concurrency=2).map(CHAT, (asking(str(i)) for i in range(1000)))
    next(replies)
    replies.close()  # type: ignore[attr-defined]
    time.sleep(0.05)
    before = len(server.calls)
    assert before <= 6
    time.sleep(0.05)
    assert len(server.calls) == before


def test_fault_of_the_caller_comes_through(server: ModelServer) -> None:
    with pytest.raises(TypeError):
        list(client(server).map(CHAT, [{"model": object()}]))


def test_surrogates_and_nan_in_replies(server: ModelServer) -> None:
    server.fail(Fault(body=b'{"choices": [{"message": {"content": "half \\ud83d"}}], "score": NaN}'))
    reply = client(server).post(CHAT, asking())
    assert said(reply) == "half \ufffd"
    assert json.dumps(reply["score"]) == "NaN"


@pytest.mark.parametrize("proxy", ["socks9://me:open-sesame@host:1", "http://me:open-sesame@[::1"])
def test_proxy_that_is_none_is_not_shown(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(RagdataError, match="the proxy that http_proxy names cannot be used"):
        Endpoint("http://models.example/v1", sleep=Waits()).post(CHAT, asking())


def test_where_an_event_loop_runs_already(server: ModelServer) -> None:
    """Notebooks run one."""

    async def cell() -> str:
        return said(client(server).post(CHAT, asking()))

    assert asyncio.run(cell()) == "hello"
