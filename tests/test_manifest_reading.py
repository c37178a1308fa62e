"""A manifest that somebody has edited is an error that is reported, never a crash, nor a way out of the folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.files.paths.manifest import NAME, Manifest, read_manifest
from ragdatakit.schemas.errors import RagdataError

FILE = {"path": "corpus.jsonl", "records": 1, "bytes": 30, "sha256": "ab"}


def write(folder: Path, **changes: Any) -> None:
    (folder / "corpus.jsonl").write_text('{"_id":"d1","text":"A lamp."}\n')
    document = {"version": 1, "ragdata": "1", "source": {}, "target": {}, "files": [FILE], **changes}
    (folder / NAME).write_text(json.dumps(document))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    source = {
        "format": "beir",
        "name": "lamps",
        "sha256": "cd",
        "files": [{"path": "a/b.tsv", "bytes": 1, "sha256": "e"}],
    }
    manifest = Manifest("1", source, {"format": "trec"}, {"seed": 13}, {"documents": 1}, [{"kind": "lost"}], [FILE])
    manifest.write(tmp_path)

    assert read_manifest(tmp_path) == manifest


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"version": "1"},
        {"ragdata": None},
        {"source": "text"},
        {"source": {"format": ["beir"]}},
        {"source": {"files": 5}},
        {"source": {"files": [5]}},
        {"source": {"files": [{"path": "a"}]}},
        {"source": {"files": [{"path": "../a", "sha256": "b"}]}},
        {"target": []},
        {"options": 1},
        {"counts": {"documents": "one"}},
        {"losses": 3},
        {"losses": [3]},
        {"files": None},
        {"files": "corpus.jsonl"},
        {"files": {"a": 1}},
        *(
            {"files": [{**FILE, "path": p}]}
            for p in (5, ["a"], "", "/etc/x", "../x", "a/../../x", "a\\..\\..\\x", "a\0b")
        ),
        {"files": [{**FILE, "path": "x" * 300}]},
        {"files": [{**FILE, "path": "\ud800"}]},
        {"files": [{**FILE, "bytes": "30"}]},
        {"files": [{**FILE, "bytes": -1}]},
        {"files": [{**FILE, "sha256": 5}]},
        {"files": [{**FILE, "records": "one"}]},
    ],
)
def test_a_wrong_manifest_is_reported(tmp_path: Path, changes: dict[str, Any]) -> None:
    write(tmp_path, **changes)

    with pytest.raises(RagdataError, match="cannot be read"):
        ragdatakit.verify(tmp_path)
    with pytest.raises(RagdataError, match="cannot be read"):
        ragdatakit.verify(tmp_path, source=tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "[" * 100_000, '{"version":1,"ragdata":"1","source":' + '{"a":' * 100_000]
)
def test_a_manifest_that_is_none_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)

    with pytest.raises(RagdataError, match="cannot be read"):
        read_manifest(tmp_path)


def test_a_path_that_is_too_long_for_the_disk_is_missing(tmp_path: Path) -> None:
    name = "/".join(["x" * 200] * 40)
    write(tmp_path, files=[{**FILE, "path": name}])

    assert [(d.path, d.state) for d in ragdatakit.verify(tmp_path)] == [("corpus.jsonl", "unlisted"), (name, "missing")]
