"""A comparison with a git revision: its files as git has them, no harm by odd names, the working tree untouched."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.files.git.revisions import extract_revision, parse_revision
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import run
from tests.test_diff import DOCUMENTS, write_beir

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the command git is not there")
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "n",
    "GIT_AUTHOR_EMAIL": "n@example.org",
    "GIT_COMMITTER_NAME": "n",
    "GIT_COMMITTER_EMAIL": "n@example.org",
}


def git(folder: Path, *words: str, given: bytes = b"") -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        input=given,
        capture_output=True,
        check=True,
        env={**os.environ, **ENVIRONMENT},
    )
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two revisions of a dataset in ``sets/data``; the current folder is its top."""
    top = tmp_path / "repository"
    write_beir(top / "sets" / "data")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "one")
    write_beir(top / "sets" / "data", {**DOCUMENTS, "d2": "The old harbour."})
    git(top, "commit", "-qam", "two")
    monkeypatch.chdir(top)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return top


def changes(before: str | Path, after: str | Path, **words: Any) -> list[tuple[str, int, int, int]]:
    diff = ragdatakit.diff(before, after, metrics=False, **words)
    return [(t.name, t.added, t.removed, t.changed) for t in diff.tables if t.different]


def files(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes().decode("latin-1")
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def extracted(revision: str, folder: Path) -> tuple[Path, list[str]]:
    parsed = parse_revision(revision)
    assert parsed is not None
    return extract_revision(parsed, folder)


def test_a_revision_and_the_working_tree(repository: Path) -> None:
    assert changes("HEAD~1:sets/data", "sets/data") == [("documents", 0, 0, 1)]
    assert changes("HEAD:sets/data", "sets/data") == []
    assert changes("HEAD~1:sets/data", "HEAD:sets/data") == [("documents", 0, 0, 1)]
    assert changes("main^:./sets/data/", Path("sets/data")) == [("documents", 0, 0, 1)]
    assert changes("HEAD~1:", "sets") == [("documents", 0, 0, 1)]
    assert changes("HEAD~1:sets/data/corpus.jsonl", "sets/data/corpus.jsonl") == [("documents", 0, 0, 1)]


def test_paths_from_a_folder_below(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "sets" / "data")

    assert changes("HEAD~1:./", ".") == [("documents", 0, 0, 1)]
    assert changes("HEAD~1:../data", ".") == [("documents", 0, 0, 1)]
    assert changes("HEAD~1:sets/data", ".") == [("documents", 0, 0, 1)]


def test_the_index(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = repository / "sets" / "data"
    write_beir(data, {**DOCUMENTS, "d2": "The old harbour.", "d3": "Added."})
    git(repository, "add", "-A")
    write_beir(data, {**DOCUMENTS, "d2": "Not added.", "d3": "Added."})
    before = files(repository)

    assert changes("HEAD:sets/data", ":sets/data") == [("documents", 0, 0, 1)]
    assert changes(":sets/data", "sets/data") == [("documents", 0, 0, 1)]
    monkeypatch.chdir(data)
    assert changes(":./", ".") == [("documents", 0, 0, 1)]
    assert files(repository) == before


def test_a_revision_that_a_shallow_clone_lacks(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    monkeypatch.chdir(tmp_path / "shallow")

    shown = run("diff", "HEAD~1:sets/data", "sets/data")

    assert shown.code == 2 and "in this shallow clone; `git fetch --unshallow`" in shown.err


def test_the_screen_names_the_revision(repository: Path) -> None:
    shown = run("diff", "HEAD~1:sets/data", "sets/data", "--no-metrics")

    assert (shown.code, shown.err) == (1, "")
    assert shown.out.splitlines()[:2] == ["- HEAD~1:sets/data (beir)", "+ sets/data (beir)"]
    assert '+ "The old harbour."' in shown.out


def test_the_working_tree_and_the_index_stay_as_they_are(repository: Path) -> None:
    (repository / "sets" / "data" / "corpus.jsonl").write_text('{"_id": "d1", "text": "uncommitted"}\n')
    git(repository, "status", "--porcelain")
    before = files(repository)

    assert changes("HEAD~1:sets/data", "HEAD:sets/data") == [("documents", 0, 0, 1)]

    assert files(repository) == before


@pytest.mark.parametrize(
    "text",
    [
        "nope:sets/data",
        ":",
        ":nope",
        ":../..",
        "-x:sets/data",
        "--output=pwned:sets/data",
        "--upload-pack=touch pwned:sets/data",
        "HEAD;touch pwned:sets/data",
        "$(touch pwned):sets/data",
        "HEAD\n--output=pwned:sets/data",
        "HEAD\x1b[2J:sets/data",
        "HEAD..main:sets/data",
        "HEAD:nope",
        "HEAD:/etc",
        "HEAD:../..",
        "HEAD:sets/../../..",
        "HEAD:*",
        "HEAD::(glob)**",
        "HEAD:sets/data/nope.jsonl",
        "HEAD@{9}:sets/data",
        "HEAD\udcff:sets/data",
    ],
    ids=ascii,
)
def test_names_that_are_none_are_refused(repository: Path, text: str) -> None:
    before = files(repository)
    shown = run("diff", "--", text, "sets/data")

    assert shown.code == 2 and shown.out == ""
    assert shown.err.startswith("ragdata: ") and shown.err.count("\n") == 1 and "\x1b" not in shown.err
    assert files(repository) == before


def test_a_path_with_a_colon_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_beir(tmp_path / "a:b")
    write_beir(tmp_path / "c")

    assert parse_revision("a:b") is None and changes("a:b", "c") == []
    shown = run("diff", "x:y", "c")
    assert shown.code == 2 and "there is no such path, and this folder is in no git repository" in shown.err


def test_files_come_as_git_has_them(repository: Path, tmp_path: Path) -> None:
    """No line ends are converted, nothing is filtered, left out or filled in."""
    data = repository / "sets" / "data"
    (repository / ".gitattributes").write_text("*.jsonl text eol=crlf export-ignore\n*.tsv export-subst filter=evil\n")
    (data / "note.tsv").write_text("$Format:%H$\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "attributes")
    git(repository, "config", "filter.evil.smudge", f"touch {tmp_path}/pwned")
    git(repository, "config", "core.fsmonitor", f"touch {tmp_path}/pwned")

    place, notes = extracted("HEAD:sets/data", tmp_path / "out")

    assert (place, notes) == (tmp_path / "out" / "sets" / "data", [])
    assert files(place)["note.tsv"] == "$Format:%H$\n"
    assert b"\r" not in (place / "corpus.jsonl").read_bytes()
    assert not (tmp_path / "pwned").exists()


def test_odd_names_of_files(repository: Path, tmp_path: Path) -> None:
    names = ["with space.jsonl", "été.jsonl", "tab\there.jsonl", 'quote".jsonl', "-x.jsonl"]
    for name in names:
        (repository / "sets" / "data" / name).write_text("{}\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "names")

    place, _ = extracted("HEAD:sets/data", tmp_path / "out")

    assert set(names) < set(files(place))


def test_links_are_replaced_by_what_they_lead_to(repository: Path, tmp_path: Path) -> None:
    data = repository / "sets" / "data"
    (data / "again.jsonl").symlink_to("corpus.jsonl")
    (data / "outside").symlink_to("/etc/passwd")
    (data / "above").symlink_to("../../../../etc/passwd")
    (data / "self").symlink_to("self")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "links")

    place, notes = extracted("HEAD:sets/data", tmp_path / "out")

    assert files(place)["again.jsonl"] == files(place)["corpus.jsonl"]
    assert not any(path.is_symlink() for path in place.rglob("*"))
    assert not {"outside", "above", "self"} & set(files(place))
    words = "3 links are left out: they lead to a folder, nowhere or out of the repository"
    assert notes == [f"HEAD:sets/data: {words}"]


def test_links_lead_out_of_the_path_and_over_folders(repository: Path, tmp_path: Path) -> None:
    shared, data = repository / "shared", repository / "linked"
    shared.mkdir()
    data.mkdir()
    (shared / "c.jsonl").write_text((repository / "sets/data/corpus.jsonl").read_text())
    (repository / "alias").symlink_to("sets/data")
    (data / "corpus.jsonl").symlink_to("../shared/c.jsonl")
    (data / "queries.jsonl").symlink_to("../alias/queries.jsonl")
    (data / "more").symlink_to("../shared")
    git(repository, "add", "-A")

    assert changes(":linked", "linked", follow_links=True) == []
    git(repository, "commit", "-qm", "links")
    assert changes("HEAD:linked", "linked", follow_links=True) == []
    place, notes = extracted("HEAD:linked", tmp_path / "out")

    assert sorted(files(place)) == ["corpus.jsonl", "queries.jsonl"]
    assert notes == ["HEAD:linked: 1 link is left out: it leads to a folder, nowhere or out of the repository"]


def test_path_may_be_a_link(repository: Path, tmp_path: Path) -> None:
    (repository / "alias").symlink_to("sets/data")
    (repository / "one.jsonl").symlink_to("alias/corpus.jsonl")
    (repository / "gone").symlink_to("../gone")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "links")

    assert changes("HEAD:alias", "alias") == changes("HEAD:alias/corpus.jsonl", "sets/data/corpus.jsonl") == []
    assert changes("HEAD:one.jsonl", "one.jsonl") == []
    assert extracted("HEAD:one.jsonl", tmp_path / "out")[0].name == "one.jsonl"
    shown = run("diff", "HEAD:gone", "sets/data")
    assert (shown.code, shown.err) == (2, "ragdata: HEAD:gone: gone is a link to ../gone, which is not in HEAD\n")


def test_index_by_the_name_that_git_has_for_it(repository: Path) -> None:
    assert changes(":0:sets/data", "sets/data") == []
    shown = run("diff", ":2:sets/data", "sets/data")

    words = "ragdata: :2:sets/data: stages of a merge cannot be compared; :PATH is what was added\n"
    assert (shown.code, shown.err) == (2, words)


def test_a_crafted_tree_cannot_leave_the_folder(repository: Path, tmp_path: Path) -> None:
    blob = git(repository, "hash-object", "-w", "--stdin", given=b"evil")
    inner = _raw_tree(repository, b"100644", b"pwned", blob)
    for name in (b"..", b".git"):
        tree = _raw_tree(repository, b"40000", name, inner)
        with pytest.raises(RagdataError, match="which no working tree can have"):
            extracted(f"{tree}:", tmp_path / "out")
    assert not list(tmp_path.rglob("pwned"))


def _raw_tree(repository: Path, mode: bytes, name: bytes, child: str) -> str:
    entry = mode + b" " + name + b"\0" + bytes.fromhex(child)
    return git(repository, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=entry)


@pytest.mark.parametrize("path", ["linked", "linked/data", "linked/data/corpus.jsonl"])
def test_a_path_in_a_submodule_is_reported(repository: Path, tmp_path: Path, path: str) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{commit},linked")
    git(repository, "commit", "-qm", "three")

    rest = path.removeprefix("linked").strip("/")
    got = f"HEAD:{path}: linked is a submodule, which has a repository of its own; compare there: {commit[:12]}:{rest}"
    with pytest.raises(RagdataError) as caught:
        extracted(f"HEAD:{path}", tmp_path / "out")
    assert str(caught.value) == got


def test_files_of_git_lfs(repository: Path, tmp_path: Path) -> None:
    corpus = repository / "sets" / "data" / "corpus.jsonl"
    content = corpus.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"
    corpus.write_text(pointer)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "pointer")
    corpus.write_bytes(content)

    shown = run("diff", "HEAD:sets/data", "sets/data")
    assert shown.code == 2 and "is kept by Git LFS" in shown.err and "git lfs fetch origin HEAD" in shown.err
    stored = repository / ".git" / "lfs" / "objects" / digest[:2] / digest[2:4] / digest
    stored.parent.mkdir(parents=True)
    stored.write_bytes(content)
    assert run("diff", "HEAD:sets/data", "sets/data").code == 0
    stored.write_bytes(content[:-1] + b" ")
    shown = run("diff", "HEAD:sets/data", "sets/data")
    assert shown.code == 2 and "is damaged" in shown.err


def test_contents_that_the_repository_lacks(repository: Path, tmp_path: Path) -> None:
    blob = git(repository, "rev-parse", "HEAD~1:sets/data/corpus.jsonl")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    shown = run("diff", "HEAD~1:sets/data", "sets/data")

    assert shown.code == 2 and "lacks contents" in shown.err


def test_git_is_not_there(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))

    shown = run("diff", "HEAD~1:sets/data", "sets/data")

    assert shown.code == 2 and "needs the command git" in shown.err


def test_nothing_stays_behind(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    changes("HEAD~1:sets/data", "sets/data")
    run("diff", "HEAD:nope", "sets/data")

    assert list(scratch.iterdir()) == []
