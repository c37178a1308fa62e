"""Descriptions of datasets: valid by the libraries of the standards, which read the same records."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from tests.broad import chosen
from tests.command_line import FIXTURES, run

SETS = [
    path
    for form in sorted(FIXTURES.iterdir())
    if (form / "valid").is_dir()
    for path in sorted((form / "valid").iterdir())
    if path.is_dir() and path.name not in ("many", "two-sets")
]
ALWAYS = ("beir/valid/splits", "light-splade/valid/shards", "gfm-rag/valid/minimal", "graphrag/valid/parquet")


TABLES = ("beir/valid/splits", "beir/valid/packed", "gfm-rag/valid/minimal", "light-splade/valid/gz")


def read_by(library: str, folders: list[Path]) -> list[Any]:
    """What a library finds in described datasets."""
    pytest.importorskip(library)
    command = [sys.executable, "-W", "ignore", "-m", "tests.export_readers", library, *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=FIXTURES.parent, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def described(name: str, to: str, place: Path) -> dict[str, Any]:
    """A copy of a fixture, with its description in its folder."""
    shutil.copytree(FIXTURES / name, place)
    found = ragdatakit.export(place, to=to, license="CC-BY-4.0", description="what it is", url="https://example.org/")
    (place / f"{to}.json").write_text(json.dumps(found), encoding="utf-8")
    return found


def test_mlcroissant_reads_every_record(tmp_path: Path) -> None:
    names = [name for path in SETS if (name := path.relative_to(FIXTURES).as_posix())]
    names = [name for name in names if name in ALWAYS or chosen(name, every=12)]
    folders = [tmp_path / str(number) for number, _ in enumerate(names)]
    made = [described(name, "croissant", folder) for name, folder in zip(names, folders, strict=True)]

    for document, folder, read in zip(made, folders, read_by("mlcroissant", folders), strict=True):
        for each in document["distribution"]:
            data = (folder / each["contentUrl"]).read_bytes()
            assert each["sha256"] == hashlib.sha256(data).hexdigest() and each["contentSize"] == f"{len(data)} B"
        with ragdatakit.open_database(folder) as database:
            files = {f.path: f for part in database.parts for f in part.files}
            for records in document["recordSet"]:
                file = files[folder / records["field"][0]["source"]["fileObject"]["@id"]]
                query = f'select count(*) from files."{file.kind.replace("-", "_")}" where file = ?'
                expected = database.load().execute(query, [file.name]).fetchone()
                columns = sorted(field["@id"] for field in records["field"])
                assert expected is not None and read[records["@id"]] == [expected[0], columns]
        assert set(read) == {records["@id"] for records in document["recordSet"]}


def test_frictionless_finds_what_is_wrong_and_nothing_else(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number, _ in enumerate(TABLES)]
    for name, folder in zip(TABLES, folders, strict=True):
        described(name, "datapackage", folder)
    described("beir/valid/splits", "datapackage", tmp_path / "wrong")
    qrels = tmp_path / "wrong/qrels/test.tsv"
    qrels.write_text(qrels.read_text("utf-8").replace("d2", "d7"), encoding="utf-8")

    *sound, wrong = read_by("frictionless", [*folders, tmp_path / "wrong"])

    assert sound == [[]] * len(TABLES)
    assert {"hash-count", "foreign-key"} <= {kind for _, kind, _ in wrong}


@pytest.mark.parametrize("names", [("日本", "中文"), ("a b", "A-b"), ("a-b", "a/b")])
def test_names_are_unique(names: tuple[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(FIXTURES / "beir/valid/splits", folder)
    judged = (folder / "qrels/test.tsv").read_bytes()
    shutil.rmtree(folder / "qrels")
    for name in names:
        place = folder / "qrels" / f"{name}.tsv"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(judged)

    resources = [each["name"] for each in ragdatakit.export(folder, to="datapackage")["resources"]]
    records = [each["@id"] for each in ragdatakit.export(folder)["recordSet"]]

    assert len(set(resources)) == len(resources) and len(set(records)) == len(records)


@pytest.mark.parametrize(
    "name",
    [
        "hipporag/broken/aliases-not-list",
        "arag/broken/questions-not-json",
        "graphrag/broken/unreadable-table",
        "shared/broken/broken-compression",
        "gfm-rag/broken/documents-not-json",
        "lightrag/broken/store-not-json",
        "shared/broken/not-text",
    ],
)
def test_damaged_data_is_refused_in_plain_words(name: str) -> None:
    done = run("export", FIXTURES / name / "data")

    assert done.code == 2 and "`ragdata validate` says what is wrong" in done.err and "report it" not in done.err


def test_a_name_may_begin_with_dots(tmp_path: Path) -> None:
    place = tmp_path / "..corpus.jsonl"
    place.write_text('{"_id": "1", "title": "", "text": "x"}\n', encoding="utf-8")

    assert ragdatakit.export(place, source_format="beir")["distribution"][0]["contentUrl"] == "..corpus.jsonl"


def test_the_command_writes_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(FIXTURES / "beir/valid/splits", folder)

    done = run("export", folder, "--cite", "A., 2020", "--output-file", folder / "croissant.json")

    assert done.code == 0
    expected: Any = ragdatakit.export(folder, cite="A., 2020")
    assert json.loads((folder / "croissant.json").read_text("utf-8")) == expected and expected["citeAs"] == "A., 2020"
    assert "not checked" not in run("validate", folder).out
    assert json.loads(run("export", folder, "--to", "datapackage").out)["resources"]
    assert run("export", folder, "--to", "dcat").code == 2
    assert "give one of them with --dataset" in run("export", FIXTURES / "beir/valid").err
