"""Vectors of texts: from a server that fails in many ways, from a local library, and from the disk the second time."""

from __future__ import annotations

import importlib.util
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ragdatakit.retrieval.endpoint import Endpoint, EndpointError
from ragdatakit.retrieval.vectors.embedders import Embedder, EmbeddingError, OpenAIEmbedder, make_embedder
from ragdatakit.schemas.errors import MissingExtraError, RagdataError
from ragdatakit.schemas.options import SearchOptions
from tests.model_server import DIMENSIONS, Fault, ModelServer, refusal, running_models, vector_of

TEXTS = ["the ferry leaves", "fares and tickets", "the ferry leaves", "naïve 港 \ud800"]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running_models() as running:
        yield running


def embedder(server: ModelServer, cache: Path | None = None, model: str = "small") -> OpenAIEmbedder:
    return OpenAIEmbedder(model, Endpoint(server.url, retries=1, sleep=lambda _: None), cache)


def unit(text: str) -> np.ndarray[Any, Any]:
    values = np.asarray(vector_of(text))
    return values / np.linalg.norm(values)


def test_vectors_have_length_one_and_the_order_of_the_texts(server: ModelServer) -> None:
    mine = embedder(server)
    found = mine.embed(TEXTS)
    assert found.dtype == np.float32 and found.shape == (4, DIMENSIONS)
    assert mine.dimensions == DIMENSIONS
    for text, vector in zip(TEXTS[:3], found, strict=False):
        np.testing.assert_allclose(vector, unit(text), atol=1e-6)
    (call,) = server.calls
    assert call.path == "/v1/embeddings"
    assert call.payload == {"model": "small", "input": [*TEXTS[:2], "naïve 港 ?"], "encoding_format": "float"}


def test_no_texts_ask_nothing(server: ModelServer) -> None:
    assert embedder(server).embed([]).shape == (0, 0)
    assert server.calls == []


def test_base64_is_read(server: ModelServer) -> None:
    server.use_base64 = True
    np.testing.assert_allclose(embedder(server).embed(TEXTS[:1])[0], unit(TEXTS[0]), atol=1e-6)


def test_order_is_that_of_the_indexes(server: ModelServer) -> None:
    server.fail(Fault(change=lambda reply: {**reply, "data": reply["data"][::-1]}))
    np.testing.assert_allclose(embedder(server).embed(TEXTS[:2])[1], unit(TEXTS[1]), atol=1e-6)


def test_order_of_a_server_without_indexes(server: ModelServer) -> None:
    server.fail(Fault(change=lambda reply: {"data": [{"embedding": item["embedding"]} for item in reply["data"]]}))
    np.testing.assert_allclose(embedder(server).embed(TEXTS[:2])[1], unit(TEXTS[1]), atol=1e-6)


def with_first(value: Any) -> Fault:
    def change(reply: dict[str, Any]) -> dict[str, Any]:
        reply["data"][0]["embedding"] = value
        return reply

    return Fault(change=change)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(change=lambda r: {**r, "data": r["data"][:-1]}), "gave 1 vectors for 2 texts"),
        (Fault(change=lambda r: {**r, "data": [*r["data"], r["data"][0]]}), "gave 3 vectors for 2 texts"),
        (Fault(change=lambda r: {**r, "data": [r["data"][0], r["data"][0]]}), "indexes that are not those"),
        (Fault(change=lambda r: {"object": "list"}), "has no embeddings"),
        (Fault(change=lambda r: {"data": [1, 2]}), "has no embeddings"),
        (Fault(body=b"[]"), "no object"),
        (with_first([1.0, 2.0]), "of 2 and 16 dimensions"),
        (with_first([]), "of 0 and 16 dimensions"),
        (with_first([float("nan")] * DIMENSIONS), "a vector with NaN or infinity"),
        (with_first([1e300] * DIMENSIONS), "a vector with NaN or infinity"),
        (with_first([0.0] * DIMENSIONS), "a vector of zeros"),
        (with_first([None] * DIMENSIONS), "NaN or infinity|not a list of numbers"),
        (with_first([["a"]] * DIMENSIONS), "not a list of numbers"),
        (with_first("no base64!"), "not a list of numbers"),
        (with_first("AAA="), "not a list of numbers"),
        (with_first({"x": 1}), "not a list of numbers"),
    ],
    ids="fewer more repeated shape numbers array ragged empty nan overflow zeros nulls nested words bytes "
    "object".split(),
)
def test_replies_of_no_use_are_reported(server: ModelServer, fault: Fault, message: str) -> None:
    server.always = fault
    with pytest.raises(RagdataError, match=message) as error:
        embedder(server).embed(TEXTS[:2])
    assert "\n" not in str(error.value)


def test_dimension_that_changes(server: ModelServer) -> None:
    mine = embedder(server)
    mine.embed(TEXTS[:1])
    server.fail(with_first([1.0, 2.0]))
    with pytest.raises(EmbeddingError, match="2 dimensions, and 16 before"):
        mine.embed(TEXTS[1:2])


def test_failure_names_the_text(server: ModelServer) -> None:
    server.fail(Fault(), refusal(500), refusal(500))
    mine = embedder(server)
    mine.embed(["a"])
    with pytest.raises(EndpointError, match="500 no, after 2 attempts"):
        mine.embed(["b"])
    server.fail(Fault(change=lambda r: (r["data"][1].update(embedding=[0.0] * DIMENSIONS), r)[1]))
    with pytest.raises(EmbeddingError) as error:
        mine.embed(["b", "b", "c"])
    assert error.value.position == 2


@pytest.mark.parametrize("status", [400, 413, 422])
def test_batches_get_smaller_where_the_server_refuses_them(server: ModelServer, status: int) -> None:
    texts = [f"text {i}" for i in range(64)]
    server.fail(refusal(status), refusal(status), Fault(), Fault(), refusal(status))
    mine = embedder(server)
    found = mine.embed(texts)
    np.testing.assert_allclose(found, [unit(t) for t in texts], atol=1e-6)
    assert [len(c.payload["input"]) for c in server.calls] == [64, 32, 16, 16, 32, 16, 16]
    mine.embed([f"more {i}" for i in range(64)])
    assert {len(c.payload["input"]) for c in server.calls[7:]} == {16}


def test_text_that_is_too_long_is_cut_and_reported(server: ModelServer) -> None:
    long = "word " * 2000
    server.fail(*[refusal(400, "maximum context length is 8192 tokens")] * 4)
    cut: list[int] = []
    found = embedder(server).embed([long, "short"], cut=cut)
    lengths = [[len(text) for text in call.payload["input"]] for call in server.calls]
    assert lengths == [[10000, 5], [10000], [5000], [2500], [1250], [5]]
    assert cut == [0]
    np.testing.assert_allclose(found[1], unit("short"), atol=1e-6)


def test_text_that_is_refused_at_any_length(server: ModelServer) -> None:
    server.always = refusal(400, "I will not")
    with pytest.raises(EmbeddingError, match="400 I will not") as error:
        embedder(server).embed(["x" * 5000, "y"])
    assert error.value.position == 0
    assert len(server.calls) < 8


def test_wrong_key_is_reported_at_once(server: ModelServer) -> None:
    server.key = "sk-right"
    mine = OpenAIEmbedder("small", Endpoint(server.url, api_key="sk-wrong", retries=1, sleep=lambda _: None), None)
    with pytest.raises(EndpointError, match=r"401 .*is the key right"):
        mine.embed([f"text {i}" for i in range(500)])
    assert len(server.calls) <= 8


def test_a_missing_key_is_named(server: ModelServer) -> None:
    server.key = "sk-right"
    with pytest.raises(EndpointError, match=r"401 .*no key was sent: the variable OPENAI_API_KEY"):
        embedder(server).embed(["text"])


def test_second_run_asks_nothing(server: ModelServer, tmp_path: Path) -> None:
    first = embedder(server, tmp_path / "cache").embed(TEXTS)
    calls = len(server.calls)
    again = embedder(server, tmp_path / "cache")
    np.testing.assert_array_equal(again.embed(TEXTS), first)
    assert len(server.calls) == calls
    again.embed([*TEXTS, "another"])
    assert server.calls[-1].payload["input"] == ["another"]


def test_run_that_failed_goes_on(server: ModelServer, tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(200)]
    server.fail(Fault(), Fault(), *[refusal(500)] * 20)
    with pytest.raises(EndpointError):
        embedder(server, tmp_path).embed(texts)
    server.faults.clear()
    server.calls.clear()
    embedder(server, tmp_path).embed(texts)
    assert sum(len(c.payload["input"]) for c in server.calls) < 200


def test_cache_knows_models_and_kinds(server: ModelServer, tmp_path: Path) -> None:
    embedder(server, tmp_path).embed(["a"])
    embedder(server, tmp_path).embed(["a"], "query")
    embedder(server, tmp_path, model="large").embed(["a"])
    assert len(server.calls) == 3
    assert len(list(tmp_path.iterdir())) == 2


def test_cut_is_remembered(server: ModelServer, tmp_path: Path) -> None:
    server.fail(refusal(413))
    embedder(server, tmp_path).embed(["word " * 1000])
    cut: list[int] = []
    embedder(server, tmp_path).embed(["word " * 1000], cut=cut)
    assert cut == [0]


def broken(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def odd_rows(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("UPDATE vectors SET vector = x'00'")
    base.close()


@pytest.mark.parametrize("damage", [broken, truncated, odd_rows])
def test_damaged_cache_is_asked_for_again(server: ModelServer, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    first = embedder(server, tmp_path).embed(TEXTS)
    (file,) = tmp_path.iterdir()
    damage(file)
    np.testing.assert_array_equal(embedder(server, tmp_path).embed(TEXTS), first)
    np.testing.assert_array_equal(embedder(server, tmp_path).embed(TEXTS), first)
    assert len(server.calls) == 2


@pytest.mark.parametrize("name", ["small", "cohere:x", "openai:", "openai", ":x", "openai: "])
def test_unknown_embedder_is_reported_with_examples(name: str) -> None:
    with pytest.raises(RagdataError, match=r"is not an embedder; .*openai:.*sentence-transformers:"):
        make_embedder(SearchOptions(embedder=name))


def test_openai_needs_a_key(monkeypatch: pytest.MonkeyPatch, server: ModelServer) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(RagdataError, match="put it in MY_KEY"):
        make_embedder(SearchOptions(embedder="openai:small", api_key_env="MY_KEY"))
    monkeypatch.setenv("MY_KEY", "sk-mine")
    server.key = "sk-mine"
    made = make_embedder(SearchOptions(embedder="openai:small", api_key_env="MY_KEY", base_url=server.url))
    assert made.embed(["a"]).shape == (1, DIMENSIONS)
    assert made.settings == {"embedder": "openai", "model": "small", "base_url": server.url}


class Model:
    """What a sentence-transformers model does, as far as it is used."""

    max_seq_length = 256
    fails = ""

    def __init__(self, name: str, trust_remote_code: bool = True) -> None:
        assert not trust_remote_code
        if self.fails:
            raise OSError(self.fails)
        self.asked: list[list[str]] = []

    def encode_document(self, texts: list[str], **options: Any) -> np.ndarray[Any, Any]:
        self.asked.append(texts)
        assert options["show_progress_bar"] is False
        return np.asarray([vector_of(text) for text in texts], np.float32) * 3

    def encode_query(self, texts: list[str], **options: Any) -> np.ndarray[Any, Any]:
        return self.encode_document([f"query: {text}" for text in texts], **options)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> type[Model]:
    module = ModuleType("sentence_transformers")
    own = type("Own", (Model,), {})
    module.SentenceTransformer = own  # type: ignore[attr-defined]
    module.__version__ = "5.0"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return own


def local(cache: Path | None = None) -> Embedder:
    return make_embedder(SearchOptions(embedder="sentence-transformers:tiny"), cache)


def test_local_model(library: type[Model], tmp_path: Path) -> None:
    mine = local(tmp_path)
    np.testing.assert_allclose(mine.embed(TEXTS)[:3], [unit(t) for t in TEXTS[:3]], atol=1e-6)
    np.testing.assert_allclose(mine.embed(TEXTS[:1], "query")[0], unit(f"query: {TEXTS[0]}"), atol=1e-6)
    assert mine.facts == {"most_tokens": 256}
    again = local(tmp_path)
    again.embed(TEXTS)
    assert again.facts == {}  # the model was not even loaded


def test_local_model_that_is_not_there(library: type[Model]) -> None:
    library.fails = "tiny is not a local folder\nand is not a model"
    with pytest.raises(
        RagdataError, match="the model tiny cannot be loaded: tiny is not a local folder and is not a model"
    ):
        local().embed(["a"])


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="sentence-transformers is installed"
)
def test_local_model_without_its_library() -> None:
    with pytest.raises(MissingExtraError, match=r"ragdatakit\[sentence-transformers\]"):
        local().embed(["a"])
    with pytest.raises(MissingExtraError, match=r"ragdatakit\[sentence-transformers\]"):
        _ = local().settings
