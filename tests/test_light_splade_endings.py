"""A file of light-splade whose ending the loader refuses is reported, not passed over as if it was not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.schemas import get_format


@pytest.mark.parametrize("split", ["train", "."])
@pytest.mark.parametrize("name", ["triplets", "triplets.ndjson.GZ", "triplets/part-1.ndjson"])
def test_triplets_with_another_ending(split: str, name: str, tmp_path: Path) -> None:
    for path, content in get_format("light-splade").example.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    folder = tmp_path / "train"
    triplets = (folder / "triplets.ndjson").read_bytes()
    (folder / "triplets.ndjson").unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(triplets)
    if split == ".":
        shutil.rmtree(tmp_path / "validation")
    errors = {
        f.rule for f in ragdatakit.validate(tmp_path if split != "." else folder).findings if f.severity == "error"
    }
    assert ("wrong-suffix" in errors) == (not name.startswith("triplets/"))
