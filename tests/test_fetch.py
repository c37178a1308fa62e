"""`ragdata fetch` against a hub on this machine: pinned, resumed, checked, put in place whole, or not at all."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("huggingface_hub")

from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.manifest import compare, read_manifest
from ragdatakit.schemas import public_datasets
from ragdatakit.schemas.public_datasets import ARAG_REPO, ARAG_REVISION, PUBLIC_DATASETS
from tests.command_line import files_below
from tests.hub_server import (
    COMMAND,
    ROOT,
    TOKEN,
    Hub,
    Repo,
    environment,
    run_with,
    running_hub,
    running_storage,
    spawn_with,
)

CHUNKS = json.dumps([f"{n}:The ferry of pier {n} leaves at {n % 24} o'clock." for n in range(4000)]).encode()
QUESTIONS = json.dumps(
    [{"id": "q1", "source": "harbour", "question": "When does the ferry of pier 7 leave?", "answer": "at 7 o'clock"}]
).encode()
FILES = {
    ".gitattributes": b"*.json filter=lfs\n",
    "README.md": b"# Harbour\n",
    "harbour/chunks.json": CHUNKS,
    "harbour/questions.json": QUESTIONS,
    "harbour/notes/empty.txt": b"",
}
REPO = "keeper/harbour"
RELEASED = Path(__file__).parents[2] / "shared/upstream-data/2wiki-hipporag"
WORDS = ("fetch", f"hf:{REPO}", "data")


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub with one dataset, whose chunks are a large file."""
    with running_hub() as hub:
        hub.add(REPO, FILES, large={"harbour/chunks.json"})
        yield hub


def litter(home: Path) -> list[str]:
    return sorted(p.name for p in home.iterdir() if p.name not in ("data", "hf-home"))


def test_all_files_come_with_a_manifest(hub: Hub, tmp_path: Path) -> None:
    outcome = spawn_with(hub, tmp_path, *WORDS)

    sha = hub.repos[REPO].refs["main"]
    found = files_below(tmp_path / "data")
    manifest = json.loads(found.pop("ragdata.json"))
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"fetched {REPO} at {sha[:12]} into data (4 files, ")
    assert "ragdata validate data" in outcome.out
    assert found == {k: v for k, v in FILES.items() if k != ".gitattributes"}
    assert manifest["source"] == {
        "hub": hub.url,
        "repo": REPO,
        "requested": "main",
        "include": [],
        "exclude": [],
        "revision": sha,
    }
    assert {f["path"]: f["sha256"] for f in manifest["files"]} == {
        name: hashlib.sha256(content).hexdigest() for name, content in found.items()
    }
    assert litter(tmp_path) == []
    read = read_manifest(tmp_path / "data")
    assert read is not None and compare(tmp_path / "data", read, boundary_of(tmp_path / "data")) == []


def test_patterns_choose_and_folders_above_are_made(hub: Hub, tmp_path: Path) -> None:
    words = ("--include", "*.json", "--include", "README.md", "--exclude", "*chunks*")
    outcome = run_with(hub, tmp_path, "fetch", f"hf:{REPO}", "some/where/data", *words)

    assert outcome.code == 0, outcome.err
    names = set(files_below(tmp_path / "some/where/data"))
    assert names == {"README.md", "harbour/questions.json", "ragdata.json"}


def test_a_public_dataset_with_other_bytes_than_released(hub: Hub, tmp_path: Path) -> None:
    hub.add(ARAG_REPO, {"2wikimultihop/chunks.json": CHUNKS, "2wikimultihop/questions.json": b"[]"}, sha=ARAG_REVISION)

    outcome = run_with(hub, tmp_path, "fetch", "arag/2wikimultihop", "data")

    published = next(d for d in PUBLIC_DATASETS if d.name == "arag/2wikimultihop")
    assert outcome.code == 2  # these are not the released bytes
    assert "2wikimultihop/" in outcome.err
    assert any(digest in outcome.err for digest in published.files.values())
    assert "nothing was put in place" in outcome.err
    assert not (tmp_path / "data").exists()
    assert litter(tmp_path) == []


def test_a_large_file_listed_with_another_digest_than_released_is_not_loaded(hub: Hub, tmp_path: Path) -> None:
    files = {"novel/chunks.json": CHUNKS, "novel/questions.json": QUESTIONS}
    hub.add(ARAG_REPO, files, sha=ARAG_REVISION, large=set(files))

    outcome = run_with(hub, tmp_path, "fetch", "arag/novel", "data")

    assert outcome.code == 2
    assert "34f05833f0cab3956f2066f709b697ec4ee7b4b46c5474cd92d7d95e30e9d738" in outcome.err
    assert hub.gets("/resolve/") == []


def test_a_public_dataset_loses_its_folder(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"novel/chunks.json": CHUNKS, "novel/questions.json": QUESTIONS}
    hub.add(ARAG_REPO, {**files, "README.md": b"# All\n"}, sha=ARAG_REVISION)
    ours = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    named = tuple(replace(d, files=ours) for d in PUBLIC_DATASETS if d.name == "arag/novel")
    monkeypatch.setattr(public_datasets, "PUBLIC_DATASETS", named)

    outcome = run_with(hub, tmp_path, "fetch", "arag/novel", "data")
    again = run_with(hub, tmp_path, "fetch", "arag/novel", "data", HF_HUB_OFFLINE="1")

    assert outcome.code == 0, outcome.err
    assert "licence: Apache-2.0" in outcome.out
    assert set(files_below(tmp_path / "data")) == {"chunks.json", "questions.json", "ragdata.json"}
    assert "already" in again.out
    assert json.loads((tmp_path / "data/ragdata.json").read_bytes())["source"]["dataset"] == "arag/novel"


@pytest.mark.skipif(not RELEASED.is_dir(), reason=f"the released files are not in {RELEASED}")
def test_the_released_files_pass(hub: Hub, tmp_path: Path) -> None:
    files = {
        f"2wikimultihop/{name}": gzip.decompress((RELEASED / f"{name}.gz").read_bytes())
        for name in ("chunks.json", "questions.json")
    }
    hub.add(ARAG_REPO, files, sha=ARAG_REVISION, large={"2wikimultihop/chunks.json"})

    outcome = run_with(hub, tmp_path, "fetch", "arag/2wikimultihop", "data")

    assert outcome.code == 0, outcome.err
    assert (tmp_path / "data/chunks.json").read_bytes() == files["2wikimultihop/chunks.json"]


class TestInterrupted:
    def test_a_cut_connection_is_taken_up_again(self, hub: Hub, tmp_path: Path) -> None:
        hub.cuts["harbour/chunks.json"] = [100_000, 1000]

        outcome = run_with(hub, tmp_path, *WORDS)

        assert (outcome.code, outcome.err) == (0, "")
        assert [h.get("range") for h in hub.gets("chunks.json")] == [None, "bytes=100000-", "bytes=101000-"]
        assert (tmp_path / "data/harbour/chunks.json").read_bytes() == CHUNKS

    def test_the_next_run_goes_on(self, hub: Hub, tmp_path: Path) -> None:
        hub.cuts["harbour/chunks.json"] = [100_000, 0, 0, 0, 0, 0, 0]

        first = run_with(hub, tmp_path, *WORDS)
        before = len(hub.gets("/resolve/"))
        hub.cuts.clear()
        second = run_with(hub, tmp_path, *WORDS)

        assert first.code == 2
        assert "run the command again to resume" in first.err
        assert len(first.err.splitlines()) == 1
        assert second.code == 0, second.err
        loaded = [h.get("range") for h in hub.gets("/resolve/")[before:]]
        assert loaded == ["bytes=100000-"]  # all else was there
        assert (tmp_path / "data/harbour/chunks.json").read_bytes() == CHUNKS
        assert litter(tmp_path) == []

    def test_what_was_left_of_another_commit_is_not_used(self, hub: Hub, tmp_path: Path) -> None:
        hub.cuts["harbour/chunks.json"] = [100_000, 0, 0, 0, 0, 0, 0]
        assert run_with(hub, tmp_path, *WORDS).code == 2
        hub.cuts.clear()
        new = {**FILES, "harbour/chunks.json": CHUNKS.replace(b"ferry", b"yacht")}
        hub.repos[REPO].commit(new)

        outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 0, outcome.err
        assert (tmp_path / "data/harbour/chunks.json").read_bytes() == new["harbour/chunks.json"]

    def test_a_killed_run_leaves_the_target_as_it_was(self, hub: Hub, tmp_path: Path) -> None:
        """The server stops answering after the first bytes; the run is killed while it waits."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            hub.storage = f"http://127.0.0.1:{silent.getsockname()[1]}"
            process = subprocess.Popen(
                [*COMMAND, *WORDS],
                cwd=tmp_path,
                env={**environment(hub, tmp_path), "PYTHONPATH": str(ROOT)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            silent.settimeout(30)
            connection, _ = silent.accept()  # the large file is asked for
            deadline = time.monotonic() + 20
            wanted = tmp_path / ".data.fetching/files/harbour/questions.json"
            while not wanted.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
            process.wait()
            connection.close()
        assert not (tmp_path / "data").exists()

        hub.storage = ""
        asked = len(hub.gets("questions.json"))
        outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 0, outcome.err
        assert len(hub.gets("questions.json")) == asked  # it was whole
        assert litter(tmp_path) == []

    def test_two_runs_at_once_do_not_mix(self, hub: Hub, tmp_path: Path) -> None:
        from filelock import FileLock

        (tmp_path / ".data.fetching").mkdir()
        with FileLock(tmp_path / ".data.fetching/lock"):
            outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 2
        assert "another run is loading into data" in outcome.err


class TestDamaged:
    @pytest.mark.parametrize("name", ["harbour/chunks.json", "harbour/questions.json"], ids=["large", "small"])
    def test_other_bytes_of_the_same_length(self, hub: Hub, tmp_path: Path, name: str) -> None:
        hub.instead[name] = FILES[name].replace(b"ferry", b"fairy")

        outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 2
        assert outcome.err.startswith(f"ragdata: {name} is not what it should be: ")
        assert outcome.err.endswith("; nothing was put in place\n")
        assert not (tmp_path / "data").exists()
        assert litter(tmp_path) == []

    def test_more_bytes_than_listed(self, hub: Hub, tmp_path: Path) -> None:
        hub.instead["README.md"] = b"#" * 100_000

        outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 2
        assert "README.md is not what it should be: more bytes come" in outcome.err
        assert litter(tmp_path) == []

    def test_fewer_bytes_than_listed(self, hub: Hub, tmp_path: Path) -> None:
        hub.instead["README.md"] = b"# Har"

        outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 2
        assert "README.md is not what it should be: at most 5 bytes, expected 10 bytes" in outcome.err
        assert litter(tmp_path) == []

    def test_the_old_content_stays_when_the_new_one_is_damaged(self, hub: Hub, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data/mine.txt").write_text("mine")
        hub.instead["README.md"] = b"# Harlots!"[: len(FILES["README.md"])]

        outcome = run_with(hub, tmp_path, *WORDS, "--overwrite")

        assert outcome.code == 2
        assert files_below(tmp_path / "data") == {"mine.txt": b"mine"}

    @pytest.mark.parametrize(
        "name",
        [
            "../outside.json",
            "/etc/outside.json",
            "a/../../outside.json",
            "a\\..\\outside.json",
            "C:/x.json",
            ".",
            "\ud800.json",
        ],
    )
    def test_names_that_lead_out_are_refused(self, hub: Hub, tmp_path: Path, name: str) -> None:
        hub.add(REPO, {**FILES, name: b"[]"})

        outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 2
        assert "is not a file name that can be written" in outcome.err
        assert hub.gets("/resolve/") == []
        assert litter(tmp_path) == []

    def test_names_that_are_one_on_other_systems_are_refused(self, hub: Hub, tmp_path: Path) -> None:
        hub.add(REPO, {"a.json": b"[]", "A.json": b"[]"})

        assert "are one name here" in run_with(hub, tmp_path, *WORDS).err


class TestTarget:
    def test_the_same_again_loads_nothing(self, hub: Hub, tmp_path: Path) -> None:
        run_with(hub, tmp_path, *WORDS)
        before = len(hub.gets("/resolve/"))

        outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 0, outcome.err
        assert "holds keeper/harbour at" in outcome.out and "already" in outcome.out
        assert len(hub.gets("/resolve/")) == before

    def test_a_pinned_one_again_asks_nobody(self, hub: Hub, tmp_path: Path) -> None:
        source = f"hf:{REPO}@{hub.repos[REPO].refs['main']}"
        assert run_with(hub, tmp_path, "fetch", source, "data").code == 0
        before = len(hub.requests)

        outcome = run_with(hub, tmp_path, "fetch", source, "data")

        assert "already" in outcome.out
        assert len(hub.requests) == before

    def test_only_what_is_missing_is_loaded_again(self, hub: Hub, tmp_path: Path) -> None:
        run_with(hub, tmp_path, *WORDS)
        (tmp_path / "data/README.md").unlink()
        before = len(hub.gets("/resolve/"))

        outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 0, outcome.err
        assert len(hub.gets("/resolve/")) == before + 1
        assert (tmp_path / "data/README.md").read_bytes() == FILES["README.md"]

    @pytest.mark.parametrize("change", ["changed", "added"])
    def test_what_somebody_changed_is_not_overwritten(self, hub: Hub, tmp_path: Path, change: str) -> None:
        run_with(hub, tmp_path, *WORDS)
        (tmp_path / "data" / {"changed": "README.md", "added": "mine.md"}[change]).write_text("mine")

        refused = run_with(hub, tmp_path, *WORDS)
        replaced = run_with(hub, tmp_path, *WORDS, "--overwrite")

        assert refused.code == 2
        assert "data is not empty" in refused.err
        assert replaced.code == 0, replaced.err
        assert b"mine" not in files_below(tmp_path / "data").values()

    def test_a_branch_that_moved_on_needs_overwrite(self, hub: Hub, tmp_path: Path) -> None:
        run_with(hub, tmp_path, *WORDS)
        old = hub.repos[REPO].refs["main"]
        new = hub.repos[REPO].commit({"README.md": b"# New\n"})

        refused = run_with(hub, tmp_path, *WORDS)
        replaced = run_with(hub, tmp_path, *WORDS, "--overwrite")

        assert refused.code == 2
        assert f"holds {REPO} at {old[:12]}, and main is {new[:12]} now" in refused.err
        assert replaced.code == 0, replaced.err
        assert set(files_below(tmp_path / "data")) == {"README.md", "ragdata.json"}

    def test_a_folder_with_something_in_it(self, hub: Hub, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data/mine.txt").write_text("mine")

        outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 2
        assert hub.requests == []  # said before anything is asked

    def test_the_publishers_own_manifest_gives_way(self, hub: Hub, tmp_path: Path) -> None:
        hub.add(REPO, {"chunks.json": CHUNKS, "ragdata.json": b"{}"})

        outcome = run_with(hub, tmp_path, *WORDS)

        assert "left out: ragdata.json" in outcome.out
        assert json.loads((tmp_path / "data/ragdata.json").read_bytes())["source"]["repo"] == REPO


class TestAccess:
    def test_a_private_dataset_needs_a_token(self, hub: Hub, tmp_path: Path) -> None:
        hub.repos[REPO].private = True

        without = run_with(hub, tmp_path, *WORDS)
        wrong = run_with(hub, tmp_path, *WORDS, HF_TOKEN="hf_aWrongOne")
        right = spawn_with(hub, tmp_path, *WORDS, HF_TOKEN=TOKEN)

        assert without.code == 2
        assert f"{hub.url} has no dataset {REPO}, or it is private: no token is set (HF_TOKEN)" in without.err
        assert "the token in HF_TOKEN does not allow it" in wrong.err
        assert "hf_aWrongOne" not in wrong.err + wrong.out
        assert right.code == 0, right.err
        assert TOKEN not in right.out + right.err
        assert not any(TOKEN.encode() in data for data in files_below(tmp_path).values())

    def test_another_host_does_not_get_the_token(self, hub: Hub, tmp_path: Path) -> None:
        with running_storage(hub):
            outcome = run_with(hub, tmp_path, *WORDS, HF_TOKEN=TOKEN)

        (stored,) = hub.gets("/storage/")
        assert outcome.code == 0, outcome.err
        assert "authorization" not in stored
        assert hub.gets("/resolve/")[0]["authorization"] == f"Bearer {TOKEN}"
        assert (tmp_path / "data/harbour/chunks.json").read_bytes() == CHUNKS

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("hf:keeper/nothing", "has no dataset keeper/nothing, or it is private"),
            (f"hf:{REPO}@v9", f"{REPO} has no revision 'v9'"),
            ("hf:a/b/c", "'a/b/c' is not the name of a repository, expected OWNER/NAME"),
            ("hf:../x", "is not the name of a repository"),
            ("hf:", "is not the name of a repository"),
            ("arag/2wiki", "unknown dataset 'arag/2wiki', did you mean arag/2wikimultihop"),
        ],
    )
    def test_what_is_not_there(self, hub: Hub, tmp_path: Path, source: str, message: str) -> None:
        outcome = run_with(hub, tmp_path, "fetch", source, "data")

        assert outcome.code == 2
        assert message in outcome.err
        assert len(outcome.err.splitlines()) == 1
        assert litter(tmp_path) == []

    def test_no_hub_at_the_address(self, tmp_path: Path) -> None:
        outcome = run_with(None, tmp_path, *WORDS)

        assert outcome.code == 2
        assert "the connection to http://127.0.0.1:9 failed: " in outcome.err
        assert len(outcome.err.splitlines()) == 1

    def test_an_address_that_is_none(self, tmp_path: Path) -> None:
        outcome = run_with(None, tmp_path, *WORDS, HF_ENDPOINT="nowhere")

        assert outcome.code == 2
        assert "the connection to nowhere failed: " in outcome.err

    def test_a_server_that_is_no_hub(self, tmp_path: Path) -> None:
        with running_hub() as hub:
            hub.repos[REPO] = Repo(refs={"main": "x"}, commits={"x": {}})
            hub.says = b"<html>hello</html>"
            outcome = run_with(hub, tmp_path, *WORDS)

        assert outcome.code == 2
        assert "does not answer as a hub does" in outcome.err

    def test_a_password_in_the_address_is_not_shown(self, hub: Hub, tmp_path: Path) -> None:
        address = hub.url.replace("http://", "http://me:secret@")
        outcome = run_with(hub, tmp_path, *WORDS, HF_ENDPOINT=address)

        assert "secret" not in outcome.out + outcome.err
        assert not any(b"secret" in data for data in files_below(tmp_path).values())


class TestOffline:
    def test_nothing_is_asked(self, hub: Hub, tmp_path: Path) -> None:
        outcome = spawn_with(hub, tmp_path, *WORDS, HF_HUB_OFFLINE="1")

        assert outcome.code == 2
        assert f"HF_HUB_OFFLINE is set, and {REPO} at main is not whole in the hub's cache" in outcome.err
        assert hub.requests == []

    def test_what_is_there_already_is_enough(self, hub: Hub, tmp_path: Path) -> None:
        run_with(hub, tmp_path, *WORDS)

        outcome = run_with(hub, tmp_path, *WORDS, HF_HUB_OFFLINE="1")

        assert outcome.code == 0, outcome.err

    def test_the_cache_of_the_hub_is_used(self, hub: Hub, tmp_path: Path) -> None:
        cache(hub, tmp_path)
        before = len(hub.requests)

        outcome = run_with(hub, tmp_path, *WORDS, HF_HUB_OFFLINE="1")

        assert outcome.code == 0, outcome.err
        assert len(hub.requests) == before
        assert (tmp_path / "data/harbour/chunks.json").read_bytes() == CHUNKS
        assert not (tmp_path / "data/harbour/chunks.json").is_symlink()

    def test_online_the_cache_saves_the_way(self, hub: Hub, tmp_path: Path) -> None:
        cache(hub, tmp_path)
        before = len(hub.gets("/resolve/"))

        assert run_with(hub, tmp_path, *WORDS).code == 0
        assert len(hub.gets("/resolve/")) == before


def cache(hub: Hub, home: Path) -> None:
    """Let the library itself load everything into its cache."""
    script = f"import huggingface_hub; huggingface_hub.snapshot_download({REPO!r}, repo_type='dataset')"
    subprocess.run(
        [COMMAND[0], "-c", script], cwd=home, env=environment(hub, home), check=True, stderr=subprocess.DEVNULL
    )


def test_dry_run_loads_nothing(hub: Hub, tmp_path: Path) -> None:
    outcome = run_with(hub, tmp_path, *WORDS, "--dry-run", "--include", "*.json")

    assert outcome.code == 0, outcome.err
    assert "harbour/chunks.json" in outcome.out and f"{len(CHUNKS):,}" in outcome.out
    assert "2 files" in outcome.out and "nothing was loaded" in outcome.out
    assert hub.gets("/resolve/") == []
    assert litter(tmp_path) == []


def test_an_empty_folder_name_is_not_the_current_folder(hub: Hub, tmp_path: Path) -> None:
    outcome = run_with(hub, tmp_path, "fetch", f"hf:{REPO}", "")

    assert outcome.code == 2
    assert "an empty path was given" in outcome.err


def test_a_limit_of_size(hub: Hub, tmp_path: Path) -> None:
    refused = run_with(hub, tmp_path, *WORDS, "--max-size", "10kB")
    taken = run_with(hub, tmp_path, *WORDS, "--max-size", "10kB", "--exclude", "*chunks*")

    assert refused.code == 2
    assert "more than --max-size allows (10,000)" in refused.err
    assert taken.code == 0, taken.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("fetch",), "Missing argument 'NAME'"),
        (("fetch", "hf:a/b"), "Missing argument 'DIR'"),
        (("fetch", "arag/novel", "data", "--include", "*.json"), "choose among the files of a repository"),
        (("fetch", "hf:a/b", "data", "--max-size", "many"), "is not a size"),
    ],
)
def test_words_that_do_not_fit(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    outcome = run_with(None, tmp_path, *words)

    assert outcome.code == 2
    assert message in outcome.err


def test_the_list_needs_no_library(tmp_path: Path) -> None:
    outcome = run_with(None, tmp_path, "fetch", "--list")

    assert outcome.code == 0
    assert [line.split()[0] for line in outcome.out.split("\n\n")[0].splitlines()] == [d.name for d in PUBLIC_DATASETS]


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from ragdatakit.hub.client import hub_api
    from ragdatakit.schemas.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"ragdatakit\[hub\]"):
        hub_api()


def test_the_words_of_the_public_datasets() -> None:
    assert len({dataset.name for dataset in PUBLIC_DATASETS}) == len(PUBLIC_DATASETS)
    for dataset in PUBLIC_DATASETS:
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in dataset.files.values())
        assert re.fullmatch("[0-9a-f]{40}", dataset.revision), "a commit, not a branch"
        assert dataset.format == dataset.name.split("/")[0]
        assert dataset.licence


def test_a_set_of_beir_comes_whole_at_its_commit_and_is_sound(hub: Hub, tmp_path: Path) -> None:
    scifact = next(d for d in PUBLIC_DATASETS if d.name == "beir/scifact")
    fixture = ROOT / "fixtures/beir/valid/folder"
    files = {path.relative_to(fixture).as_posix(): path.read_bytes() for path in fixture.rglob("*") if path.is_file()}
    hub.add(scifact.repo, {**files, "README.md": b"# SciFact\n", ".gitattributes": b""}, sha=scifact.revision)

    outcome = run_with(hub, tmp_path, "fetch", "beir/scifact", "data")
    chosen = run_with(hub, tmp_path, "fetch", "beir/scifact", "some", "--include", "corpus*")

    assert outcome.code == 0, outcome.err
    assert "mteb/scifact at d56462d0e63a" in outcome.out
    assert "licence: CC BY-NC 4.0" in outcome.out
    assert set(files_below(tmp_path / "data")) == {*files, "README.md", "ragdata.json"}
    assert run_with(None, tmp_path, "validate", "data").code == 0
    assert chosen.code == 0, chosen.err
    assert set(files_below(tmp_path / "some")) == {"corpus.jsonl", "ragdata.json"}


def test_a_set_of_hipporag_with_other_bytes_than_released(hub: Hub, tmp_path: Path) -> None:
    dataset = next(d for d in PUBLIC_DATASETS if d.name == "hipporag/musique")
    hub.add(dataset.repo, {**dict.fromkeys(dataset.files, b"[]"), "nq_rear.json": b"[]"}, sha=dataset.revision)

    outcome = run_with(hub, tmp_path, "fetch", "hipporag/musique", "data")

    assert outcome.code == 2
    assert "nothing was put in place" in outcome.err
    assert [get for get in hub.gets("/resolve/") if "nq_rear" in get] == []
