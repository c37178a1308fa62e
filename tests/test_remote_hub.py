"""Datasets of the hub and of web servers by their URLs, against a hub of our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragdatakit.files.paths import mirrors
from ragdatakit.remote import loading
from tests.command_line import FIXTURES, run
from tests.hub_server import Hub, run_with, running_hub

BEIR = FIXTURES / "beir" / "valid" / "folder"
URL = "hf://datasets/reefs/scifact"
FILES = {path.relative_to(BEIR).as_posix(): path.read_bytes() for path in BEIR.rglob("*") if path.is_file()}
LARGE = b"".join(b'{"_id":"d%d","title":"","text":"%s"}\n' % (n, b"Light " * 20) for n in range(8_000))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(loading, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(mirrors, "_MIRRORED", {})
    with running_hub() as hub:
        hub.add("reefs/scifact", {**FILES, ".gitattributes": b"", "README.md": b"# Reefs\n"})
        yield hub


def words_of(tmp_path: Path, url: str = URL, *more: str) -> tuple[str, ...]:
    return ("validate", url, "--output-format", "json", "--cache-dir", str(tmp_path / "cache"), *more)


def test_a_repository_is_pinned_to_a_commit(hub: Hub, tmp_path: Path) -> None:
    first = hub.repos["reefs/scifact"].refs["main"]

    found = run_with(hub, tmp_path, *words_of(tmp_path))
    hub.repos["reefs/scifact"].commit({**FILES, "corpus.jsonl": b'{"_id":1}\n'})
    later = run_with(hub, tmp_path, *words_of(tmp_path))
    pinned = run_with(hub, tmp_path, *words_of(tmp_path, f"{URL}@{first}"))

    assert [found.code, later.code, pinned.code] == [0, 1, 0]
    assert found.json["sources"][0]["revision"] == first
    assert found.json["datasets"][0]["path"] == URL
    assert pinned.json["datasets"][0]["path"] == f"{URL}@{first}"
    assert later.json["findings"][0]["path"] == f"{URL}/corpus.jsonl"


@pytest.mark.parametrize("page", ["", "/tree/main"])
@pytest.mark.broad(3)
def test_the_address_of_its_page_is_one_of_it(hub: Hub, tmp_path: Path, page: str) -> None:
    outcome = run_with(hub, tmp_path, *words_of(tmp_path, f"{hub.url}/datasets/reefs/scifact{page}"))

    assert outcome.code == 0, outcome
    assert outcome.json["sources"][0]["url"] == f"hf://datasets/reefs/scifact{'@main' * bool(page)}"


def test_a_folder_and_a_file_of_it(hub: Hub, tmp_path: Path) -> None:
    hub.add("reefs/many", {f"sets/one/{name}": content for name, content in FILES.items()} | {"two.bin": b"0"})

    folder = run_with(hub, tmp_path, *words_of(tmp_path, "hf://datasets/reefs/many/sets/one"))
    file = run_with(hub, tmp_path, *words_of(tmp_path, "hf://datasets/reefs/many@main/sets/one/corpus.jsonl"))
    none = run_with(hub, tmp_path, *words_of(tmp_path, "hf://datasets/reefs/many/sets/two"))

    assert [folder.code, file.code, none.code] == [0, 0, 2]
    assert file.json["datasets"][0]["files"][0]["path"].endswith("many@main/sets/one/corpus.jsonl")
    assert none.err.startswith("ragdata: no such file or folder: hf://datasets/reefs/many/sets/two (at ")


@pytest.mark.broad(3)
def test_a_branch_whose_name_has_slashes(hub: Hub, tmp_path: Path) -> None:
    repo = hub.repos["reefs/scifact"]
    repo.refs["refs/convert/parquet"] = repo.refs["main"]

    for revision in ("~parquet", "refs/convert/parquet", "refs%2Fconvert%2Fparquet"):
        assert run_with(hub, tmp_path, *words_of(tmp_path, f"{URL}@{revision}")).code == 0
        assert run_with(hub, tmp_path, *words_of(tmp_path, f"{URL}@{revision}/corpus.jsonl")).code == 0


def test_a_cut_file_is_taken_up(hub: Hub, tmp_path: Path) -> None:
    hub.add("reefs/large", {**FILES, "corpus.jsonl": LARGE})
    hub.cuts["corpus.jsonl"] = [1000, 300_000, 50_000]

    outcome = run_with(hub, tmp_path, *words_of(tmp_path, "hf://datasets/reefs/large"))

    assert outcome.code == 0, outcome
    assert hub.cuts["corpus.jsonl"] == []
    ranges = [headers["range"] for headers in hub.gets("corpus.jsonl")]
    assert [each.split("=")[1].split("-")[0] for each in ranges][:2] == ["0", "1000"]


def test_bytes_that_are_others_are_an_error(hub: Hub, tmp_path: Path) -> None:
    hub.instead["corpus.jsonl"] = FILES["corpus.jsonl"].replace(b"Light", b"Lighs")

    outcome = run_with(hub, tmp_path, *words_of(tmp_path))

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"ragdata: {URL}: corpus.jsonl is not what it should be: git id ")


def test_offline_the_cache_of_the_hub_is_read(hub: Hub, tmp_path: Path) -> None:
    run_with(hub, tmp_path, "fetch", "hf:reefs/scifact", "data")  # leaves nothing in the hub's cache
    refused = run_with(hub, tmp_path, *words_of(tmp_path), HF_HUB_OFFLINE="1")
    commit = hub.repos["reefs/scifact"].refs["main"]
    store = tmp_path / "hf-home" / "hub" / "datasets--reefs--scifact"
    for name, content in FILES.items():
        place = store / "snapshots" / commit / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    (store / "refs").mkdir(parents=True)
    (store / "refs" / "main").write_text(commit)
    hub.requests.clear()

    outcome = run_with(hub, tmp_path, *words_of(tmp_path), HF_HUB_OFFLINE="1")

    assert refused.code == 2
    assert "HF_HUB_OFFLINE is set, and reefs/scifact at main is not whole in the hub's cache" in refused.err
    assert outcome.code == 0, outcome
    assert outcome.json["sources"][0]["revision"] == commit
    assert hub.requests == []


@pytest.mark.broad(3)
def test_a_private_repository_and_one_that_is_not_there(hub: Hub, tmp_path: Path) -> None:
    hub.add("reefs/hidden", FILES, private=True)

    for name in ("hidden", "nothing"):
        outcome = run_with(hub, tmp_path, *words_of(tmp_path, f"hf://datasets/reefs/{name}"), HF_TOKEN="hf_wrong")
        assert outcome.code == 2
        assert "hf_wrong" not in outcome.out + outcome.err
        assert f"no dataset reefs/{name}, or it is private" in outcome.err


@pytest.mark.parametrize("path", ["datasets/reefs", "reefs/scifact", "datasets/../x", "datasets/a/b@"])
@pytest.mark.broad(3)
def test_urls_that_name_no_dataset(tmp_path: Path, path: str) -> None:
    outcome = run("validate", f"hf://{path}", cwd=tmp_path)

    assert outcome.code == 2
    assert "expected" in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_file_of_a_web_server(hub: Hub, tmp_path: Path) -> None:
    hub.add("reefs/large", {"corpus.jsonl": LARGE})
    url = f"{hub.url}/datasets/reefs/large/resolve/main/corpus.jsonl"
    hub.cuts["corpus.jsonl"] = [1000, 300_000]

    outcome = run_with(hub, tmp_path, *words_of(tmp_path, f"{url}?token=hidden"))
    missing = run_with(hub, tmp_path, *words_of(tmp_path, f"{hub.url}/nothing.jsonl"))
    folder = run_with(hub, tmp_path, *words_of(tmp_path, f"{hub.url}/data/"))

    assert outcome.code == 0, outcome
    assert outcome.json["datasets"][0]["files"][0]["path"] == url
    assert outcome.json["sources"][0]["files"][""].startswith('"')
    assert "hidden" not in outcome.out + outcome.err
    assert missing.err == f"ragdata: no such file: {hub.url}/nothing.jsonl (the server answered 404)\n"
    assert "names no file; a web server does not say which files a folder has" in folder.err


@pytest.mark.broad(3)
def test_a_file_of_a_web_server_that_changes(hub: Hub, tmp_path: Path) -> None:
    repo = hub.add("reefs/large", {"corpus.jsonl": LARGE})
    url = f"{hub.url}/datasets/reefs/large/resolve/main/corpus.jsonl"
    hub.cuts["corpus.jsonl"] = [1000]
    answered = hub.requests.append

    class Requests(list[tuple[str, str, dict[str, str]]]):
        def append(self, request: tuple[str, str, dict[str, str]]) -> None:
            answered(request)
            if request[2].get("range", "").startswith("bytes=1000-"):
                repo.commit({"corpus.jsonl": LARGE.replace(b"d7", b"e7")})

    hub.requests = Requests()
    outcome = run_with(hub, tmp_path, *words_of(tmp_path, url))

    assert (outcome.code, outcome.out) == (2, "")
    rows = f"ragdata: {url} changed while it was fetched; run the command again for its new state\n"
    assert outcome.err.endswith(rows)


@pytest.mark.parametrize(
    "path", ["%2Ftmp%2Fcorpus.jsonl", "..%2F..%2Fcorpus.jsonl", "../../corpus.jsonl", "a%00.jsonl"]
)
def test_addresses_that_lead_out_of_the_cache(hub: Hub, tmp_path: Path, path: str) -> None:
    hub.says = LARGE

    outcome = run_with(hub, tmp_path, *words_of(tmp_path, f"{hub.url}/{path}"))

    assert outcome.code == 2
    assert outcome.err.endswith(" is not a file name that can be written\n")
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


def test_a_file_of_which_no_version_is_known_is_fetched_anew(hub: Hub, tmp_path: Path) -> None:
    words = words_of(tmp_path, f"{hub.url}/d\u00e9mo/corpus.jsonl", "--from", "beir")
    hub.says = b'{"_id": "d1", "title": "", "text": "pears"}\n'
    before = run_with(hub, tmp_path, *words)
    hub.says = b'{"_id": "d1", "title": "", "text": "pear"}?\n'
    after = run_with(hub, tmp_path, *words)

    assert (before.code, after.code) == (0, 1)


@pytest.mark.parametrize(
    "url", ["https://me:secret@[::1/corpus.jsonl", "https://" + "p\u00e9ar" * 20 + ".org/corpus.jsonl"]
)
def test_texts_that_are_no_urls(tmp_path: Path, url: str) -> None:
    outcome = run("validate", url, cwd=tmp_path)

    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "secret" not in outcome.err
    assert " is not a URL: " in outcome.err or " names no host: " in outcome.err


def test_what_is_converted_says_where_it_is_from(hub: Hub, tmp_path: Path) -> None:
    outcome = run_with(hub, tmp_path, "convert", "--to", "trec", URL, "out", "--cache-dir", "cache")

    assert outcome.code == 0, outcome
    remote = json.loads((tmp_path / "out" / "ragdata.json").read_text())["source"]["remote"]
    assert (remote["url"], remote["revision"]) == (URL, hub.repos["reefs/scifact"].refs["main"])
