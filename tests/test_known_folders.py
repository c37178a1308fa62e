"""Data of systems that are no formats yet is named where it is refused, and not taken twice silently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import run

FOLDERS = {
    "a LlamaIndex storage folder": ("docstore.json", "index_store.json", "default__vector_store.json"),
    "a Chroma database": ("chroma.sqlite3",),
}


@pytest.mark.parametrize("below", ["", "output"])
@pytest.mark.parametrize("what", FOLDERS)
def test_a_refusal_names_the_folder(what: str, below: str, tmp_path: Path) -> None:
    (tmp_path / below).mkdir(exist_ok=True)
    for name in FOLDERS[what]:
        (tmp_path / below / name).write_text("{}")

    outcome = run("validate", tmp_path)

    assert outcome.code == 2
    assert f"{tmp_path / below} looks like {what}, which ragdata cannot validate yet" in outcome.err


def test_texts_and_their_parts_are_not_one_corpus_silently(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    text = "The north reef was mapped in one summer. Two boats took the soundings."
    (work / "documents.json").write_text(json.dumps({"d1": {"content": text}}))
    parts = {f"c{n}": {"content": part} for n, part in enumerate(text.split(". "))}
    (work / "text_chunks.json").write_text(json.dumps(parts))

    given = run("convert", "--to", "beir", work, tmp_path / "beir")
    strict = run("convert", "--to", "beir", "--strict", work, tmp_path / "strict")

    assert (given.code, strict.code, (tmp_path / "strict").exists()) == (0, 1, False)
    assert "a file that looks like parts of the other texts" in given.out
    assert "text_chunks.json" in given.out
