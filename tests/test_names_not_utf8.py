"""Conversions of datasets whose files have names with bytes that are not UTF-8."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.command_line import FIXTURES, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a disk with names that are any bytes")


@pytest.mark.parametrize("target", ["beir", "trec", "light-splade", "hipporag", "gfm-rag", "datamind"])
def test_a_split(target: str, tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "beir" / "valid" / "folder", tmp_path / "set")
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / os.fsdecode(b"t\xe9st.tsv"))

    ran = run("convert", folder, tmp_path / "out", "--to", target, "--output-format", "json")

    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["conversions"]
    assert run("verify", tmp_path / "out", "--source", folder).code == 0


def test_documents_and_folders(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "datamind" / "valid" / "raw-documents", tmp_path / "set")
    profile = folder / "data" / "profiles" / "harbour"
    (profile / "tides.md").rename(profile / os.fsdecode(b"t\xefdes.md"))
    (profile / "manuals").rename(profile / os.fsdecode(b"m\xe4nuals"))

    for target in ("beir", "datamind"):
        assert run("convert", folder, tmp_path / target, "--to", target).code == 0

    corpus = (tmp_path / "beir" / "corpus.jsonl").read_text(encoding="utf-8")
    assert {json.loads(line)["_id"] for line in corpus.splitlines()} >= {"t\\udcefdes.md", "m\\udce4nuals/old/LAMP.TXT"}
