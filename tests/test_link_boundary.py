"""One rule for links in all commands and in Python: what a link leads to out of the named path is not read."""

from __future__ import annotations

import ast
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.files.paths.boundary import ANYWHERE, LeadsOutError, boundary_of, open_listed
from ragdatakit.files.paths.manifest import read_manifest
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES, ROOT, run

BEIR = FIXTURES / "demo-search"
SECRET = "zqxsecret"


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A BEIR dataset whose corpus is a link to a file beside it."""
    folder = Path(shutil.copytree(BEIR, tmp_path / "set"))
    text = (folder / "corpus.jsonl").read_text("utf-8").replace("the ", f"{SECRET} ")
    (tmp_path / "private.jsonl").write_text(text, "utf-8")
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl").symlink_to("../private.jsonl")
    return folder


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("validate {set}", 1),
        ("report {set}", 0),
        ("query {set} --tables", 0),
        ("query {set} count", 2),
        ("diff {set} {good}", 1),
        ("index {set} --index-dir {tmp}/index", 2),
        ("retrieve {set} tides --index-dir {tmp}/index", 2),
        ("eval {set} --index-dir {tmp}/index", 2),
        ("gate {set} --init", 2),
        ("convert {set} {tmp}/out --to arag", 1),
        ("convert {set} {tmp}/out --to arag --keep-going", 2),
        ("push {set} a/b --dry-run --keep-going", 0),
    ],
)
def test_each_command_says_that_it_was_not_read(tmp_path: Path, linked: Path, words: str, code: int) -> None:
    given = [
        {"count": "select count(*) from documents"}.get(w, w.format(set=linked, tmp=tmp_path, good=BEIR))
        for w in words.split()
    ]

    refused, followed = run(*given), run(*given, "--follow-links")

    errors = " ".join((refused.out + refused.err).split())
    assert refused.code == code, errors
    assert "corpus.jsonl" in errors and "link" in errors
    assert SECRET not in errors
    assert followed.code in (0, 1), followed.err
    assert "that leads" not in followed.out + followed.err


def test_the_same_in_python(linked: Path, tmp_path: Path) -> None:
    calls: list[Callable[..., Any]] = [
        lambda **w: ragdatakit.read(linked, **w),
        lambda **w: ragdatakit.connect(linked, **w),
        lambda **w: ragdatakit.query(linked, "select * from documents", **w),
        lambda **w: ragdatakit.retrieve(linked, "tides", index_dir=tmp_path / "index", **w),
    ]
    for call in calls:
        with pytest.raises(RagdataError, match="leads out of the dataset"):
            call()
        call(follow_links=True)
    assert "link-leaves-dataset" in {f.rule for f in ragdatakit.validate(linked).findings}


@pytest.mark.parametrize("named", ["folder", "file"])
def test_what_is_named_itself_may_be_a_link(tmp_path: Path, named: str) -> None:
    source = BEIR if named == "folder" else BEIR / "corpus.jsonl"
    link = tmp_path / source.name
    link.symlink_to(source)

    assert run("query", link, "select count(*) from documents", "--output-format", "csv").out.split()[-1] == "30"


def snapshot(tmp_path: Path, owner: str = "datasets--a--b") -> Path:
    """A dataset as the hub's cache keeps it: a folder of links to blobs."""
    repository = tmp_path / "hub" / owner
    (repository / "blobs").mkdir(parents=True)
    folder = repository / "snapshots" / ("0" * 40)
    for number, path in enumerate(p for p in BEIR.rglob("*") if p.is_file()):
        shutil.copy(path, repository / "blobs" / f"{number:040}")
        place = folder / path.relative_to(BEIR)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(repository / "blobs" / f"{number:040}", place.parent))
    return folder


@pytest.mark.parametrize("below", ["", "qrels/.."])
def test_a_snapshot_of_the_hub_has_its_blobs(tmp_path: Path, below: str) -> None:
    folder = snapshot(tmp_path) / below

    assert "link-leaves-dataset" not in {f.rule for f in ragdatakit.validate(folder).findings}
    assert len(ragdatakit.read(folder).arrow("documents")) == 30


def test_blobs_that_are_links_or_of_no_cache_are_not_read(tmp_path: Path) -> None:
    folder = snapshot(tmp_path, "other")
    with pytest.raises(RagdataError, match="leads out"):
        ragdatakit.read(folder)

    folder = snapshot(tmp_path)
    blobs = folder.parents[1] / "blobs"
    blobs.rename(tmp_path / "elsewhere")
    blobs.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RagdataError, match="leads out"):
        ragdatakit.read(folder)


def test_a_hard_link_is_a_file_and_no_output_writes_through_one(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(BEIR, tmp_path / "set"))
    private = tmp_path / "private.jsonl"
    (folder / "corpus.jsonl").rename(private)
    (folder / "corpus.jsonl").hardlink_to(private)
    before = private.read_bytes()
    assert len(ragdatakit.read(folder).arrow("documents")) == 30
    (tmp_path / "out").mkdir()
    for name in ("report.json", "rows.csv", "target"):
        (tmp_path / "out" / name).mkdir() if name == "target" else (tmp_path / "out" / name).hardlink_to(private)
    (tmp_path / "out" / "target" / "chunks.json").hardlink_to(private)

    run("report", folder, "--output-format", "json", "--output-file", tmp_path / "out" / "report.json")
    words = ("--output-format", "csv", "--output-file", tmp_path / "out" / "rows.csv")
    run("query", folder, "select doc_id from documents", *words)
    done = run("convert", folder, tmp_path / "out" / "target", "--to", "arag", "--overwrite", "--keep-going")

    assert done.code == 0, done.err
    assert private.read_bytes() == before
    for path in ("report.json", "rows.csv", "target/chunks.json"):
        assert (tmp_path / "out" / path).read_bytes() != before


@pytest.mark.parametrize("name", ["ragdata.json", "ragdata.ids.ndjson", "ragdata.sidecar"])
def test_what_ragdata_keeps_beside_a_dataset_is_no_way_out(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "made"
    ragdatakit.convert(BEIR, folder, to="arag", sidecar=True, keep_going=True)
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(f"../{name}")

    for words in (("report",), ("query", "select 1 from documents"), ("verify",)):
        outcome = run(words[0], folder, *words[1:])
        assert "failed on its own" not in outcome.err
    with pytest.raises(RagdataError, match="link that leads out"):
        ragdatakit.verify(folder) if name == "ragdata.json" else ragdatakit.read(folder)
    ragdatakit.read(folder, follow_links=True)


def test_a_manifest_names_no_file_above_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    ragdatakit.convert(BEIR, folder, to="arag", keep_going=True)
    text = (folder / "ragdata.json").read_text("utf-8").replace('"chunks.json"', '"../private.json"')
    (folder / "ragdata.json").write_text(text, "utf-8")

    with pytest.raises(RagdataError, match="no path below the folder"):
        read_manifest(folder)


def test_a_link_that_is_moved_after_it_was_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "private").write_text(SECRET)
    inside = tmp_path / "set" / "a"
    inside.write_text("inside")
    boundary = boundary_of(tmp_path / "set")
    opened = os.open

    def moving(path: Any, flags: int, *words: Any, **more: Any) -> int:
        if Path(path) == inside and not inside.is_symlink():
            inside.unlink()
            inside.symlink_to(tmp_path / "private")
        return opened(path, flags, *words, **more)

    monkeypatch.setattr(os, "open", moving)

    with pytest.raises(LeadsOutError):
        boundary.read_bytes(inside)
    with pytest.raises(LeadsOutError):
        open_listed(inside)


def test_without_descriptors_in_proc_the_rule_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.files.paths.boundary._DESCRIPTORS", "/nowhere")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a").write_text("inside")
    (tmp_path / "set" / "b").symlink_to("a")
    (tmp_path / "set" / "c").symlink_to("../private")
    (tmp_path / "private").write_text(SECRET)
    boundary = boundary_of(tmp_path / "set")

    assert boundary.read_bytes(tmp_path / "set" / "b") == b"inside"
    with pytest.raises(LeadsOutError):
        boundary.read_bytes(tmp_path / "set" / "c")
    assert ANYWHERE.read_bytes(tmp_path / "set" / "c") == SECRET.encode()


BOUNDED = {"Source": 2, "HeadedSource": 2, "read_head": 1, "beginning": 2, "json_container": 1, "emptiness": 1}
"""What opens a file of a dataset, and how many arguments come before the boundary."""
OPENING = re.compile(rf"\b(?:{'|'.join([*BOUNDED, 'read_bytes', 'read_text', 'open'])})\(")
NOT_OF_DATASETS = {
    "api/editor/server.py", "cli/config.py", "cli/output_place.py",
    "files/paths/boundary.py", "files/paths/folder_locks.py",
    "files/configuration/own_rules.py", "files/configuration/sources.py", "validators/baselines/file.py",
    "validators/stamps.py", "validators/partitions/comparing.py", "validators/partitions/key_runs.py",
    "arrays/mapped.py", "remote/cache.py", "remote/object_stores.py",
    "fixes/applying.py", "fixes/csv_rewriting.py",
    "own_modules.py", "fixes/difference.py", "fixes/removed.py", "fixes/rewriting.py", "fixes/staged_files.py",
    "files/git/revisions.py", "files/light_splade/config.py", "files/paths/writing.py",
    "hub/fetch.py", "outputs/renamed_ids.py",
    "outputs/sealed_json.py", "outputs/sidecar_entries.py", "outputs/staging.py", "outputs/sidecars.py",
    "database/database_file.py", "database/memory_bound.py",
    "reports/other_files.py", "reports/gates/suites.py", "reports/html/frame.py",
    "converters/chunking.py", "converters/datamind/tables.py", "converters/light_splade/documents.py",
    "schemas/frame/reading.py", "validators/datamind/images.py", "validators/datamind/shapes.py",
}  # fmt: skip
"""Modules that open what the user names one by one, what ragdata wrote or is made of, or what was looked at before."""


def test_every_opening_of_a_dataset_has_its_boundary() -> None:
    found: list[str] = []
    for path in sorted((ROOT / "ragdatakit").rglob("*.py")):
        name = path.relative_to(ROOT / "ragdatakit").as_posix()
        if name.startswith("retrieval/") or name in NOT_OF_DATASETS:
            continue
        text = path.read_text("utf-8")
        if OPENING.search(text) is None:
            continue
        calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        found += [f"{name}:{call.lineno}" for call in calls if not _is_bounded(call)]

    assert found == []


def _is_bounded(call: ast.Call) -> bool:
    """Whether a call opens no file by its path alone."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if isinstance(call.func, ast.Attribute) and called in ("read_bytes", "read_text", "open"):
        owner = ast.unparse(call.func.value)
        modes = [a.value for a in call.args if isinstance(a, ast.Constant)]
        reads = called != "open" or "rb" in modes or owner in ("os", "gzip")
        return not reads or "boundary" in owner.lower()
    if called == "beginning" and isinstance(call.func, ast.Attribute):
        return True  # of a SniffedTree, which has the boundary of its dataset
    if called not in BOUNDED or not call.args or isinstance(call.args[0], ast.Call | ast.Tuple):
        return True
    return len(call.args) > BOUNDED[called] or any(k.arg == "boundary" for k in call.keywords)
