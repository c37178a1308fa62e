"""Datasets in buckets: as on the disk, each byte fetched once, whatever the store does meanwhile."""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.files.paths import mirrors
from ragdatakit.remote import cache as remote_cache
from ragdatakit.remote import loading
from tests.command_line import FIXTURES, Outcome, run
from tests.object_store import BUCKET, Store, running_store

BEIR = FIXTURES / "beir" / "valid" / "folder"
JUNK = 1 << 20
URL = f"s3://{BUCKET}/data/scifact"


@pytest.fixture(scope="module")
def running() -> Iterator[Store]:
    with running_store() as store:
        yield store


@pytest.fixture
def store(running: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    running.reset()
    monkeypatch.setattr(loading, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(mirrors, "_MIRRORED", {})
    yield running
    client = running.client()
    for found in client.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        client.delete_object(Bucket=BUCKET, Key=found["Key"])


def run_with(store: Store, home: Path, *words: str | Path, **settings: str) -> Outcome:
    return run(*words, env=store.environment(home / "cache", **settings), cwd=home)


def large_set(folder: Path, documents: int = 12_000) -> Path:
    """BEIR files of which the corpus is larger than what detection looks at, and a file that belongs to nothing."""
    (folder / "qrels").mkdir(parents=True)
    lines = (json.dumps({"_id": f"d{n}", "title": "Reef", "text": f"Light {n} " * 10}) for n in range(documents))
    (folder / "corpus.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "queries.jsonl").write_text('{"_id":"q1","text":"Which light?"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td7\t1\n")
    (folder / "weights.safetensors").write_bytes(bytes(JUNK))
    return folder


def same_words(found: Any) -> Any:
    """A report without what differs by place and time."""
    document = {name: value for name, value in found.items() if name != "sources"}
    document["findings"] = [{**each, "fingerprint": ""} for each in document["findings"]]
    return document


def test_findings_are_those_of_the_disk_with_urls(store: Store, tmp_path: Path) -> None:
    broken = FIXTURES / "demo-broken"
    store.put_folder(broken, "data/demo")

    there = run_with(store, tmp_path, "validate", f"s3://{BUCKET}/data/demo", "--output-format", "json", "-v")
    here = run("validate", broken, "--output-format", "json", "-v")

    assert there.code == here.code == 1
    assert same_words(there.json) == json.loads(
        json.dumps(same_words(here.json)).replace(str(broken), f"s3://{BUCKET}/data/demo")
    )
    (source,) = there.json["sources"]
    assert source["url"] == f"s3://{BUCKET}/data/demo"
    assert set(map(len, source["files"].values())) == {32}
    assert str(tmp_path) not in there.out + there.err


@pytest.mark.broad(3)
def test_fingerprints_do_not_depend_on_the_cache(store: Store, tmp_path: Path) -> None:
    store.put_folder(FIXTURES / "demo-broken", "data/demo")
    words = ("validate", f"s3://{BUCKET}/data/demo", "--output-format", "json")

    found = [run_with(store, tmp_path, *words, "--cache-dir", tmp_path / name).json for name in ("one", "two")]

    assert found[0]["findings"] == found[1]["findings"]


def test_every_command_reads_a_bucket(store: Store, tmp_path: Path) -> None:
    total = store.put_folder(BEIR, "data/scifact")

    report = run_with(store, tmp_path, "report", URL, "--output-format", "json")
    asked = run_with(store, tmp_path, "query", URL, "select count(*) as n from documents", "--output-format", "json")
    same = run_with(store, tmp_path, "diff", URL, BEIR)
    found = run_with(store, tmp_path, "retrieve", URL, "Who mapped the reef?", "--output-format", "json")
    done = run_with(store, tmp_path, "convert", "--to", "trec", URL, tmp_path / "trec")

    assert [each.code for each in (report, asked, same, found, done)] == [0] * 5, [report, asked, same, found, done]
    assert report.json["datasets"][0]["path"] == URL
    assert report.json["sources"][0]["url"] == URL
    assert asked.json["rows"] == [{"n": 3}]
    assert done.out.startswith(f"{URL}: beir → trec\n")
    manifest = json.loads((tmp_path / "trec" / "ragdata.json").read_text())
    assert manifest["source"]["remote"]["url"] == URL
    assert set(manifest["source"]["remote"]["files"]) == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}
    assert store.sent == total, "what one command fetched is there for the next"


def test_from_python(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put_folder(BEIR, "data/scifact")
    for name, value in store.environment(tmp_path / "cache").items():
        monkeypatch.setenv(name, value)
    seen: list[str] = []

    report = ragdatakit.validate(Path(URL), tell=seen.append)  # a path has one slash less

    assert report.ok
    assert report.datasets[0].path == URL
    assert report.sources[0]["url"] == URL
    assert ragdatakit.read(URL).count("documents") == 3
    with pytest.raises(ragdatakit.RagdataError, match=f"no such file or folder: s3://{BUCKET}/nothing"):
        ragdatakit.validate(f"s3://{BUCKET}/nothing")


def test_only_what_belongs_is_fetched_and_only_once(store: Store, tmp_path: Path) -> None:
    folder = large_set(tmp_path / "set")
    total = store.put_folder(folder, "data/scifact") - JUNK

    first = run_with(store, tmp_path, "validate", URL)
    fetched = store.sent
    second = run_with(store, tmp_path, "validate", URL)
    third = run_with(store, tmp_path, "convert", "--to", "trec", "-q", URL, "out")

    assert first.code == second.code == third.code == 0
    assert fetched <= 1.1 * total
    assert store.sent == fetched
    assert "weights.safetensors" not in " ".join(store.gets)
    assert f"of {URL}: 1 file of 4" in first.err
    assert second.err == ""


def test_a_cut_file_is_taken_up_where_it_ended(store: Store, tmp_path: Path) -> None:
    total = store.put_folder(large_set(tmp_path / "set"), "data/scifact") - JUNK
    store.cuts["data/scifact/corpus.jsonl"] = [700_000, 1_000_000]
    store.refusals["data/scifact/queries.jsonl"] = 2

    outcome = run_with(store, tmp_path, "validate", URL)

    assert outcome.code == 0, outcome
    assert store.cuts["data/scifact/corpus.jsonl"] == []
    assert store.sent <= total + 1_700_000, "no more than the pieces that were cut comes twice"


def test_a_store_that_never_answers_is_an_error_of_one_line(store: Store, tmp_path: Path) -> None:
    store.put_folder(BEIR, "data/scifact")
    store.refusals["data/scifact/corpus.jsonl"] = 1000

    outcome = run_with(store, tmp_path, "validate", URL)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"ragdata: {URL}/corpus.jsonl cannot be fetched: ")
    assert outcome.err.endswith("; run the command again to go on\n")
    assert outcome.err.count("\n") == 1
    assert "not-to-be-printed" not in outcome.err


def test_a_file_that_changes_meanwhile_is_an_error(store: Store, tmp_path: Path) -> None:
    store.put_folder(large_set(tmp_path / "set"), "data/scifact")
    seen: list[str] = []

    def change(key: str) -> None:
        seen.append(key)
        if key.endswith("corpus.jsonl") and sum(each.endswith("corpus.jsonl") for each in seen) == 2:
            store.put(key, (tmp_path / "set" / "corpus.jsonl").read_bytes().replace(b"Reef", b"Reeg"))

    store.before = change
    outcome = run_with(store, tmp_path, "validate", URL)
    store.before = None
    again = run_with(store, tmp_path, "validate", URL)

    assert (outcome.code, outcome.out) == (2, "")
    errors = [line for line in outcome.err.splitlines() if "fetching" not in line]
    assert errors == [
        f"ragdata: {URL}/corpus.jsonl changed while it was fetched; run the command again for its new state"
    ]
    assert again.code == 0


@pytest.mark.broad(3)
def test_a_changed_file_is_fetched_anew(store: Store, tmp_path: Path) -> None:
    store.put_folder(BEIR, "data/scifact")
    before = run_with(store, tmp_path, "validate", URL, "--output-format", "json").json["sources"]
    store.put("data/scifact/corpus.jsonl", b'{"_id":1}\n')

    outcome = run_with(store, tmp_path, "validate", URL, "--output-format", "json")

    assert outcome.code == 1
    assert outcome.json["sources"] != before


@pytest.mark.broad(3)
def test_without_credentials_a_bucket_is_asked_as_anybody_may(store: Store, tmp_path: Path) -> None:
    store.put_folder(BEIR, "data/scifact")
    nobody = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}

    denied = run_with(store, tmp_path, "validate", URL, **nobody)
    store.open_to_all("data/scifact")
    public = run_with(store, tmp_path, "validate", URL, **nobody)

    assert denied.code == 2
    assert "access is denied; credentials come from AWS_PROFILE, AWS_ACCESS_KEY_ID or the machine's role" in denied.err
    assert public.code == 0, public
    assert store.gets
    assert store.authorised == []


def test_no_secret_is_printed(store: Store, tmp_path: Path) -> None:
    outcomes = [
        run_with(store, tmp_path, "validate", "https://me:hidden@127.0.0.1:9/corpus.jsonl?X-Amz-Signature=hidden"),
        run_with(store, tmp_path, "validate", "ftp://me:hidden@host/x"),
    ]

    for outcome in outcomes:
        assert outcome.code == 2
        assert "hidden" not in outcome.out + outcome.err
        assert outcome.err.count("\n") == 1


def test_no_room_is_said_before(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put_folder(large_set(tmp_path / "set"), "data/scifact")
    usage = namedtuple("usage", "total used free")  # noqa: PYI024 - as shutil has it
    monkeypatch.setattr(remote_cache.shutil, "disk_usage", lambda _: usage(1, 1, (64 << 20) + 600_000))

    outcome = run_with(store, tmp_path, "validate", URL)

    assert (outcome.code, outcome.out) == (2, "")
    last = outcome.err.splitlines()[-1]
    assert last.startswith(f"ragdata: {URL}: ")
    assert last.endswith("--cache-dir names another folder")
    assert store.sent == 0


@pytest.mark.broad(3)
def test_room_is_made_of_what_no_run_uses(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put_folder(BEIR, "data/scifact")
    store.put_folder(BEIR, "data/other")
    run_with(store, tmp_path, "validate", f"s3://{BUCKET}/data/other")
    for handle in remote_cache.IN_USE:
        remote_cache.os.close(handle)
    remote_cache.IN_USE.clear()
    usage, free = namedtuple("usage", "total used free"), [0, 1 << 40]  # noqa: PYI024 - as shutil has it
    monkeypatch.setattr(
        remote_cache.shutil, "disk_usage", lambda _: usage(1, 1, free[0] if len(free) == 1 else free.pop(0))
    )

    outcome = run_with(store, tmp_path, "validate", URL)

    assert outcome.code == 0, outcome
    assert len(list((tmp_path / "cache" / "remote" / "trees").iterdir())) == 1


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("data/x/a:b.jsonl", "is not a file name that can be written"),
        ("data/x/corpus.jsonl/part", "corpus.jsonl is a file and a folder"),
    ],
)
def test_names_that_no_disk_has(store: Store, tmp_path: Path, key: str, words: str) -> None:
    store.put_folder(BEIR, "data/x")
    store.put(key, b"{}")

    outcome = run_with(store, tmp_path, "validate", f"s3://{BUCKET}/data/x")

    assert outcome.code == 2
    assert words in outcome.err


def test_nothing_is_written_to_a_url(tmp_path: Path) -> None:
    outcome = run("convert", "--to", "trec", BEIR, f"s3://{BUCKET}/out", cwd=tmp_path)

    assert outcome.code == 2
    assert outcome.err == f"ragdata: s3://{BUCKET}/out is a URL: what is converted goes to a folder of this machine\n"
    assert list(tmp_path.iterdir()) == []

    outcome = run("validate", "--fix", URL, cwd=tmp_path)

    assert outcome.code == 2
    assert f"{URL} is a URL: nothing is repaired there" in outcome.err


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "s3fs", None)

    outcome = run("validate", URL, cwd=tmp_path)

    assert (outcome.code, outcome.err) == (2, "ragdata: this needs s3fs: pip install 'ragdatakit[remote]'\n")


@pytest.mark.broad(3)
def test_a_run_that_was_ended_goes_on(store: Store, tmp_path: Path) -> None:
    total = store.put_folder(large_set(tmp_path / "set"), "data/scifact") - JUNK
    seen: list[str] = []

    def fail_later(key: str) -> None:
        seen.append(key)
        if seen.count("data/scifact/corpus.jsonl") == 2:
            store.refusals["data/scifact/corpus.jsonl"] = 1000

    store.before = fail_later
    failed = run_with(store, tmp_path, "validate", URL)
    store.before, store.refusals = None, {}
    again = run_with(store, tmp_path, "validate", URL)

    assert failed.code == 2
    assert again.code == 0
    assert store.sent <= 1.1 * total


@pytest.mark.broad(3)
def test_a_comparison_sees_all_files(store: Store, tmp_path: Path) -> None:
    folder = large_set(tmp_path / "set", 10)
    store.put_folder(folder, "data/scifact")
    (folder / "weights.safetensors").write_bytes(bytes(JUNK - 1) + b"1")

    outcome = run_with(store, tmp_path, "diff", URL, folder)

    assert outcome.code == 1
    assert "weights.safetensors" in outcome.out
