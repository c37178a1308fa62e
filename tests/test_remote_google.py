"""Datasets in a bucket of Google Cloud Storage, by gcsfs against a stand-in: findings, bytes fetched, faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragdatakit.files.paths import mirrors
from ragdatakit.remote import loading
from tests.command_line import FIXTURES, Outcome, run
from tests.google_store import BUCKET, GoogleStore, running_google_store
from tests.test_remote_stores import large_set, same_words

pytest.importorskip("gcsfs")
BEIR = FIXTURES / "beir" / "valid" / "folder"
URL = f"gs://{BUCKET}/data/scifact"


@pytest.fixture(scope="module")
def running() -> Iterator[GoogleStore]:
    with running_google_store() as store:
        yield store


@pytest.fixture
def store(running: GoogleStore, monkeypatch: pytest.MonkeyPatch) -> GoogleStore:
    monkeypatch.setattr(loading, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(mirrors, "_MIRRORED", {})
    running.objects, running.refusals, running.cuts = {}, {}, {}
    running.before, running.sent, running.locked = None, 0, False
    return running


def run_with(store: GoogleStore, home: Path, *words: str | Path) -> Outcome:
    return run(*words, env=store.environment(home / "cache"), cwd=home)


def test_findings_are_those_of_the_disk_with_urls(store: GoogleStore, tmp_path: Path) -> None:
    broken = FIXTURES / "demo-broken"
    store.put_folder(broken, "data/demo")

    there = run_with(store, tmp_path, "validate", f"gs://{BUCKET}/data/demo", "--output-format", "json", "-v")
    here = run("validate", broken, "--output-format", "json", "-v")

    assert there.code == here.code == 1, there
    assert same_words(there.json) == json.loads(
        json.dumps(same_words(here.json)).replace(str(broken), f"gs://{BUCKET}/data/demo")
    )
    (source,) = there.json["sources"]
    assert set(source["files"].values()) <= {str(generation) for _, generation in store.objects.values()} | {
        f"E{generation}" for _, generation in store.objects.values()
    }


def test_each_byte_is_fetched_once_whatever_the_store_does(store: GoogleStore, tmp_path: Path) -> None:
    folder = large_set(tmp_path / "set", 3000)
    store.put_folder(folder, "data/scifact")
    corpus = "data/scifact/corpus.jsonl"
    store.cuts, store.refusals = {corpus: 20_000}, {"data/scifact/queries.jsonl": 1}
    wanted = sum(path.stat().st_size for path in folder.rglob("*") if path.suffix in (".jsonl", ".tsv"))

    first = run_with(store, tmp_path, "validate", URL)
    sent = store.sent
    again = run_with(store, tmp_path, "validate", URL)

    assert (first.code, again.code) == (0, 0), first
    assert wanted <= sent <= 1.1 * wanted
    assert store.sent == sent


def test_what_changes_while_it_is_fetched_is_an_error(store: GoogleStore, tmp_path: Path) -> None:
    store.put_folder(BEIR, "data/scifact")
    name = "data/scifact/corpus.jsonl"

    def change(asked: str) -> None:
        if asked == name:
            store.put(name, store.objects[name][0] + b"\n")

    store.before = change
    outcome = run_with(store, tmp_path, "validate", URL)

    assert outcome.code == 2
    assert "corpus.jsonl" in outcome.err
    assert "changed" in outcome.err


def test_what_is_not_there_or_locked(store: GoogleStore, tmp_path: Path) -> None:
    missing = run_with(store, tmp_path, "validate", URL)
    store.put_folder(BEIR, "data/scifact")
    store.locked = True
    locked = run_with(store, tmp_path, "validate", URL)

    assert (missing.code, missing.err) == (2, f"ragdata: no such file or folder: {URL}\n")
    assert locked.code == 2
    assert locked.err.count("\n") == 1
    assert "GOOGLE_APPLICATION_CREDENTIALS" in locked.err


def test_one_object_and_a_conversion(store: GoogleStore, tmp_path: Path) -> None:
    store.put_folder(BEIR, "data/scifact")

    one = run_with(store, tmp_path, "validate", f"{URL}/corpus.jsonl")
    converted = run_with(store, tmp_path, "convert", "--to", "trec", URL, tmp_path / "out")

    assert (one.code, converted.code) == (0, 0), (one, converted)
    manifest = json.loads((tmp_path / "out" / "ragdata.json").read_text())
    assert URL in json.dumps(manifest["source"]["remote"])
