"""Every command over every odd file in a dataset's place: it answers, never fails on its own, and tells no secret.

One in a hundred of the matrix is run, others for each commit (`tests/broad.py`); every command over a link that leads
out, and over one name that is not UTF-8. `make test-all` runs all.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from tests import broad
from tests.command_line import FIXTURES, Outcome, run

pytestmark = pytest.mark.timeout(120)
SECRET = "zqxsecret"
_WORD = re.compile(rb"(?<![\w\"/_.<-])[a-z]{4,}(?![\w\":/_.>-])")

DATASETS = {
    "arag": ("arag/valid/predictions", "chunks.json", "questions.json"),
    "beir": ("demo-search", "corpus.jsonl", "queries.jsonl", "qrels/test.tsv"),
    "datamind": ("datamind/valid/both-loaders", "chunks/notes.jsonl", "tables/01_schema.sql", "images/moon.png"),
    "gfm-rag": ("gfm-rag/valid/both-loaders", "raw/documents.json", "processed/stage1/nodes.csv"),
    "hipporag": ("hipporag/valid/generic", "reefs_corpus.json", "reefs.json"),
    "light-splade": ("light-splade/valid/both", "train/doc_master.ndjson", "train/triplets.ndjson"),
    "sage": ("sage/valid/corpus", "records.jsonl", "documents.jsonl"),
    "trec": ("trec/valid/collection", "documents.trec", "qrels.txt"),
    "texts": ("plain/texts", "harbour/tides.md"),
    "tables": ("plain/graphs/orchard", "edges.csv"),
    "cookbook": ("contextual-retrieval/valid/cookbook", "codebase_chunks.json"),
}
"""Name to a fixture and the files that are replaced, one at a time."""
TARGETS = {"beir": "arag", "texts": "beir", "tables": "gfm-rag", "cookbook": "beir"}


def _loop(path: Path, _secret: Path) -> None:
    path.symlink_to(path.name)


def _loop_of_two(path: Path, _secret: Path) -> None:
    other = path.with_name(f"other-{path.name}")
    path.symlink_to(other.name)
    other.symlink_to(path.name)


def _link_out(path: Path, secret: Path) -> None:
    path.symlink_to(os.path.relpath(secret, path.parent))


def _link_to_link_out(path: Path, secret: Path) -> None:
    between = path.with_name("between")
    between.symlink_to(secret)
    path.symlink_to("between")


def _nowhere(path: Path, _secret: Path) -> None:
    path.symlink_to("gone")


def _fifo(path: Path, _secret: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path, _secret: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's path may have some hundred bytes only
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def _device(path: Path, _secret: Path) -> None:
    path.symlink_to("/dev/zero")


def _empty(path: Path, _secret: Path) -> None:
    path.touch()


def _folder(path: Path, _secret: Path) -> None:
    path.mkdir()


def _folder_out(path: Path, secret: Path) -> None:
    path.symlink_to(secret.parent)


ODD: dict[str, Callable[[Path, Path], None]] = {
    "loop": _loop,
    "loop-of-two": _loop_of_two,
    "link-out": _link_out,
    "link-to-link-out": _link_to_link_out,
    "nowhere": _nowhere,
    "fifo": _fifo,
    "socket": _socket,
    "device": _device,
    "empty": _empty,
    "folder": _folder,
    "folder-out": _folder_out,
    "denied": _empty,
}
COMMANDS = {
    "validate": "validate {set} -v",
    "quality": "validate {set} --quality",
    "report": "report {set} -v",
    "page": "report {set} --output-format html --output-file {out}/page.html",
    "tables": "query {set} --tables",
    "views": "query {set} --tables --output-format json",
    "query": "query {set} {sql}",
    "files": "query {set} {files}",
    "diff": "diff {good} {set}",
    "diff-back": "diff {set} {good} --output-format json",
    "index": "index {set} --index-dir {out}/index",
    "retrieve": "retrieve {set} tides --index-dir {out}/index",
    "eval": "eval {set} --mode bm25 --index-dir {out}/index",
    "gate": "gate {set} --init",
    "convert": "convert {set} {out}/target --to {target}",
    "convert-on": "convert {set} {out}/target --to {target} --keep-going --sidecar",
    "push": "push {set} owner/name --dry-run --keep-going",
    "verify": "verify {set}",
}


def _cases() -> Iterator[tuple[str, str, str, str]]:
    for name, (_, *files) in DATASETS.items():
        for file in files:
            for odd in ODD:
                for command in COMMANDS:
                    case = (name, file, odd, command)
                    wanted = file == files[0] and odd == "link-out" and name == "beir"
                    if wanted or broad.chosen("/".join(case), every=100):
                        yield case


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    return tmp_path / "outside"


def _words(command: str, tmp_path: Path, folder: Path, target: str) -> list[str]:
    (tmp_path / "out").mkdir(exist_ok=True)
    sql = "select * from documents"
    places = {"set": folder, "out": tmp_path / "out", "good": tmp_path / "good", "target": target}
    texts = {"{sql}": sql, "{files}": "select * from files.documents"}
    return [texts.get(word) or word.format(**places) for word in COMMANDS[command].split(" ")]


def _held(outcome: Outcome, tmp_path: Path) -> None:
    errors = outcome.out + outcome.err
    assert outcome.code in (0, 1, 2), errors
    for bad in ("Traceback", "failed on its own", "a fault of ragdata", "RD112", "rule-crashed"):
        assert bad not in errors, errors
    assert SECRET not in errors
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(("name", "file", "odd", "command"), list(_cases()))
def test_a_command_over_an_odd_file(
    tmp_path: Path, outside: Path, name: str, file: str, odd: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "set"
    shutil.copytree(FIXTURES / DATASETS[name][0], folder)
    shutil.copytree(folder, tmp_path / "good")
    (path,) = folder.glob(file)
    secret = outside / path.name
    secret.write_bytes(_WORD.sub(SECRET.encode(), path.read_bytes()))
    path.unlink()
    ODD[odd](path, secret)
    if odd == "denied":
        _deny(path, monkeypatch)

    outcome = run(*_words(command, tmp_path, folder, TARGETS.get(name, "beir")))

    _held(outcome, tmp_path)


def _deny(denied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the right to read a file, from an administrator, too."""
    opened = os.open

    def refusing(path: object, *words: int, **more: object) -> int:
        if str(path) == str(denied):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *words, **more)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(os, "open", refusing)


NOT_UTF8 = os.fsdecode(b"r\xe9sum\xe9")


def _names() -> Iterator[tuple[str, str, str]]:
    places = list(product(DATASETS, ["folder", "below", "file"]))
    for command in COMMANDS:
        for number in broad.some(len(places), every=len(places), of=command):
            yield *places[number], command


@pytest.mark.parametrize(("name", "where", "command"), list(_names()))
def test_a_command_over_names_that_are_not_utf8(tmp_path: Path, name: str, where: str, command: str) -> None:
    fixture, first, *_ = DATASETS[name]
    folder = tmp_path / (NOT_UTF8 if where == "folder" else "set")
    shutil.copytree(FIXTURES / fixture, folder / NOT_UTF8 if where == "below" else folder)
    if where == "file":
        path = folder / first
        shutil.copy(path, path.with_name(NOT_UTF8 + path.suffix))
    shutil.copytree(FIXTURES / fixture, tmp_path / "good")

    _held(run(*_words(command, tmp_path, folder, TARGETS.get(name, "beir"))), tmp_path)
