"""One fault of a file is one finding, by the plain engine and by that of big datasets: nothing that follows from it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ragdatakit.validators import dataset_run
from tests.command_line import FIXTURES, run

Damage = Callable[[str], str]
ENGINES = pytest.mark.parametrize("words", [(), ("--engine", "local")], ids=["here", "ranges"])
BIG = pytest.mark.parametrize("big", [False, True], ids=["small", "big"])


def single(text: str) -> str:
    return text.replace('"', "'")


def with_commas(text: str) -> str:
    return "".join(f"{line},\n" for line in text.splitlines())


def with_brace(text: str, number: int = 1) -> str:
    """The first of these braces is there twice, or the one with this number."""
    parts = text.split("}")
    return "}".join([*parts[:number], "", *parts[number:]])


def found(folder: Path, big: bool, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[tuple[str, str]]:
    if big:
        monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)
    findings = run("validate", folder, "--output-format", "json", *words).json["findings"]
    return [(f["code"], f["message"].partition(";")[0]) for f in findings if f["severity"] != "info"]


def damaged(source: str, name: str, change: Damage, folder: Path) -> Path:
    made = Path(shutil.copytree(FIXTURES / source, folder / "set"))
    path = made / name
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    return made


@BIG
@ENGINES
@pytest.mark.parametrize(
    ("source", "name", "change", "code"),
    [
        ("lightrag/valid/ingested", "kv_store_text_chunks.json", single, "LR101"),
        ("lightrag/valid/ingested", "kv_store_full_docs.json", single, "LR101"),
        ("light-splade/valid/triplet", "train/triplets.ndjson", single, "SP111"),
        ("light-splade/valid/triplet", "train/positive_lists.ndjson", with_commas, "SP111"),
        ("lightrag/valid/ingested", "vdb_chunks.json", with_brace, "LR301"),
        ("ragchecker/valid/outputs", "checking_outputs.json", lambda text: with_brace(text, 3), "RC014"),
        ("ragchecker/valid/outputs", "checking_outputs.json", with_brace, "RC014"),
    ],
)
def test_what_cannot_be_read_is_not_missing_elsewhere(
    source: str,
    name: str,
    change: Damage,
    code: str,
    words: tuple[str, ...],
    big: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes = {code for code, _ in found(damaged(source, name, change, tmp_path), big, monkeypatch, *words)}

    assert codes == {code}


@BIG
def test_of_lines_some_of_which_can_be_read_the_others_are_missed(
    big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(text: str) -> str:
        first, rest = text.split("\n", 1)
        return f"{first},\n{rest}"

    folder = damaged("light-splade/valid/triplet", "train/positive_lists.ndjson", change, tmp_path)

    assert [code for code, _ in found(folder, big, monkeypatch)] == ["SP205", "SP111"]


@BIG
def test_a_cut_corpus_that_no_question_refers_to(big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "set_corpus.json").write_text('[{"title": "a", "text": "b", "idx": 0}, {"ti')
    (tmp_path / "set.json").write_text("[\n {'id': 'q1'},\n {'id': 'q2'}\n]\n")
    if big:
        monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)

    findings = run("validate", tmp_path, "--from", "hipporag", "--output-format", "json").json["findings"]

    assert [f["code"] for f in findings] == ["HR020", "HR024", "HR024"]


@BIG
@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("[[]]", ["LR502"]),
        ("[[], 3]", ["LR502", "LR502"]),
        ("[{}]", ["LR502"]),
        ('[{"chunks": []}]', ["LR502", "LR504", "LR504", "LR504"]),
    ],
)
def test_a_payload_in_a_list(
    written: str, codes: list[str], big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "custom_kg.json").write_text(written)

    assert [code for code, _ in found(tmp_path, big, monkeypatch, "--from", "lightrag")] == codes


@BIG
@pytest.mark.parametrize(
    ("value", "there"),
    [
        ({"docs": [{"title": "a"}]}, "an object"),
        ("hello", '"hello"'),
        (5, "5"),
        (None, "several values, one after the other"),
    ],
)
@pytest.mark.parametrize(
    ("source", "name", "code"),
    [
        ("contextual-retrieval/valid/cookbook", "codebase_chunks.json", "CR013"),
        ("hipporag/valid/generic", "reefs_corpus.json", "HR021"),
    ],
)
def test_what_is_there_in_place_of_a_list(
    source: str,
    name: str,
    code: str,
    value: object,
    there: str,
    big: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = '{"title": "a"}\n{"title": "b"}\n'
    folder = damaged(source, name, lambda _: lines if value is None else json.dumps(value), tmp_path)

    assert found(folder, big, monkeypatch) == [(code, f"the file is {there}")]


def under_data(text: str) -> str:
    return "".join(f'{{"data": {line}}}\n' for line in text.splitlines())


def all_under_data(text: str) -> str:
    return f'{{"data": {text}}}'


@BIG
@ENGINES
@pytest.mark.parametrize(
    ("source", "name", "change", "codes"),
    [
        ("contextual-retrieval/valid/cookbook", "evaluation_set.jsonl", under_data, {"CR020"}),
        ("contextual-retrieval/valid/with-contexts", "contextualized_chunks.jsonl", under_data, {"CR022"}),
        ("light-splade/valid/triplet", "train/query_master.ndjson", under_data, {"SP115"}),
        ("ragchecker/valid/benchmark", "corpus.jsonl", lambda text: f'{{"data": [{text.splitlines()[0]}]}}', {"RC206"}),
        ("raptor/valid/json", "tree.json", all_under_data, {"RP002"}),
        ("lightrag/valid/ingested", "vdb_chunks.json", all_under_data, {"LR302"}),
        ("lightrag/valid/ingested", "vdb_entities.json", all_under_data, {"LR302"}),
        ("lightrag/valid/ingested", "vdb_relationships.json", all_under_data, {"LR302"}),
    ],
)
def test_what_is_under_one_name_is_not_said_to_be_missing_field_by_field(
    source: str,
    name: str,
    change: Damage,
    codes: set[str],
    words: tuple[str, ...],
    big: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = damaged(source, name, change, tmp_path)
    lines = len((folder / name).read_text().splitlines()) if change is under_data else 1

    errors = found(folder, big, monkeypatch, *words, "--severity", "error")

    assert [code for code, _ in errors] == [*codes] * lines
    assert all("(it is under data)" in message or "each of embedding_dim" in message for _, message in errors)


def test_of_some_fields_under_one_name_the_others_are_still_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = damaged(
        "light-splade/valid/triplet",
        "train/query_master.ndjson",
        lambda text: '{"data": {"qid": 1}}\n' + text.partition("\n")[2],
        tmp_path,
    )

    codes = [code for code, _ in found(folder, False, monkeypatch) if code.startswith("SP11")]

    assert codes == ["SP115", "SP115", "SP114"]


@BIG
@pytest.mark.parametrize(
    ("source", "name", "code", "lines"),
    [
        ("arag/valid/strings", "chunks.json", "AR101", 1),
        ("arag/valid/objects", "chunks.json", "AR101", 3),
        ("gfm-rag/valid/minimal", "raw/documents.json", "GF102", 1),
    ],
)
def test_a_bracket_that_a_broken_element_took_is_not_missed(
    source: str, name: str, code: str, lines: int, big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [code for code, _ in found(damaged(source, name, single, tmp_path), big, monkeypatch)] == [code] * lines


def test_an_array_that_is_broken_and_not_closed_is_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = damaged("arag/valid/objects", "chunks.json", lambda text: text[:-2].replace('"', "'", 2), tmp_path)

    messages = [message for _, message in found(folder, False, monkeypatch)]

    assert len(messages) == 2 and "the array is not closed" in messages[1]


def test_topics_between_tags_are_called_otherwise(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FIXTURES / "trec/valid/sgml-topics", tmp_path / "set"))
    (folder / "topics.301-302.txt").rename(folder / "topics.tsv")

    findings = run("validate", folder, "--output-format", "json").json["findings"]
    (folder / "topics.tsv").rename(folder / "topics.txt")

    assert any(f["code"] == "TR111" and "call a file of <top> elements .txt" in f["hint"] for f in findings)
    assert run("validate", folder).code == 0
