"""GraphRAG's indexes where a fixture shows too little: places, releases, settings, stores, hostile files."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.files.graphrag import settings
from ragdatakit.files.graphrag.lance import ManifestError, read_table
from ragdatakit.files.graphrag.settings import SettingsError, read_settings
from ragdatakit.files.paths.boundary import ANYWHERE
from ragdatakit.schemas.findings import Finding
from ragdatakit.validators.graphrag import sql_tables
from tests.command_line import FIXTURES, run
from tests.graphrag_cases import Index, sample
from tests.upstream_data import UPSTREAM_DATA

VALID = FIXTURES / "graphrag" / "valid"
SETTINGS = "output_storage:\n  base_dir: {}\ncompletion_models: {{}}\n"


def found(path: Path, **options: Any) -> list[Finding]:
    return validate(path, max_per_rule=0, **options).findings


def rules(path: Path, **options: Any) -> list[str]:
    return [finding.rule for finding in found(path, **options)]


def written(index: Index, folder: Path) -> Path:
    index.write(folder)
    return folder


@pytest.mark.parametrize(("separator", "words"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")])
def test_what_is_between_the_cells_of_a_table_in_place_of_commas(tmp_path: Path, separator: str, words: str) -> None:
    shutil.copytree(VALID / "csv", tmp_path, dirs_exist_ok=True)
    table = tmp_path / "relationships.csv"
    with table.open(newline="") as file:
        rows = list(csv.reader(file))
    with table.open("w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    messages = [f.message for f in found(tmp_path) if f.path.endswith("relationships.csv")]
    assert [words in message for message in messages] == [True], messages


@pytest.mark.parametrize(
    ("text", "code", "fault"),
    [
        ("[]\n", "GR004", 'column id is missing, and so are all others: the header is "[]"'),
        ("e1,0,Mara\n", "GR004", 'column id is missing, and so are all others: the header is "e1" and 2 more'),
        ("", "GR034", "the table entities has no rows"),
    ],
)
def test_a_table_without_header_or_rows_is_one_finding(text: str, code: str, fault: str, tmp_path: Path) -> None:
    shutil.copytree(VALID / "csv", tmp_path, dirs_exist_ok=True)
    table = tmp_path / "entities.csv"
    table.write_text(text or table.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    assert [(f.code, f.fault) for f in found(tmp_path)] == [(code, fault)]


def test_a_column_of_another_name_is_said_to_be_meant_for_the_one_that_is_missing(tmp_path: Path) -> None:
    index = sample()
    for row in index.tables["entities"]:
        row["name"] = row.pop("title")
    for row in index.tables["relationships"]:
        row["head"] = row.pop("source")
    index.schemas["entities"] = {{"title": "name"}.get(n, n): k for n, k in index.schemas["entities"].items()}
    index.schemas["relationships"] = {
        {"source": "head"}.get(n, n): k for n, k in index.schemas["relationships"].items()
    }
    missing = [(f.code, f.fault, f.hint) for f in found(written(index, tmp_path)) if f.severity == "error"]
    assert missing == [
        ("GR004", "column title is missing (there is name)", "rename name to title"),
        ("GR004", "column source is missing (there is head)", "rename head to source"),
    ]


def test_tables_of_a_graph_of_your_own_are_made_by_workflows(tmp_path: Path) -> None:
    index = sample()
    for name in ("communities", "community_reports"):
        del index.tables[name]
    hints = [f.hint for f in found(written(index, tmp_path)) if f.code == "GR002"]
    assert [hint.partition(",")[0] for hint in hints] == [
        "run the workflow create_communities",
        "run the workflow create_community_reports",
    ]


def test_a_table_in_csv_among_those_in_parquet_is_not_read(tmp_path: Path) -> None:
    shutil.copytree(VALID / "parquet", tmp_path, dirs_exist_ok=True)
    table = tmp_path / "entities.csv"
    table.write_text('id,title\n1,2,3\n1,"2')
    assert rules(tmp_path) == ["unused-table"]  # whatever is in it
    shutil.copy(VALID / "csv" / "entities.csv", table)
    (tmp_path / "entities.parquet").unlink()
    missing = [(f.fault, f.hint) for f in found(tmp_path) if f.rule == "missing-table"]
    assert missing == [
        (
            "there is no table entities.parquet (there is entities.csv)",
            "write entities.csv as Parquet, as the other tables are",
        )
    ]


def test_a_table_in_csv_at_which_pandas_stops_is_read_by_nothing(tmp_path: Path) -> None:
    shutil.copytree(VALID / "csv", tmp_path / "index")
    with (tmp_path / "index" / "entities.csv").open("a") as file:
        file.write('e9,9,"open\n')
    message = "entities.csv, line 6: a quote is not closed"
    done = run("convert", "--keep-going", "--to", "beir", tmp_path / "index", tmp_path / "out")
    assert done.code == 2
    assert message in done.err
    assert message in run("report", "--output-format", "json", tmp_path / "index").out


@pytest.mark.parametrize(
    ("table", "column", "value", "hint"),
    [
        ("text_units", "n_tokens", None, "write an integer, not null"),
        ("relationships", "weight", "strong", "write a number, or null"),
    ],
)
def test_what_to_write_in_place_of_an_unusable_value(
    tmp_path: Path, table: str, column: str, value: object, hint: str
) -> None:
    index = sample()
    index.tables[table][0][column] = value
    assert [f.hint for f in found(written(index, tmp_path)) if f.rule == "unusable-value"] == [hint]


def test_lists_that_differ_name_one_of_the_ids(tmp_path: Path) -> None:
    index = sample()
    units = index.tables["text_units"]
    lost, kept = units[0]["entity_ids"], units[1]["entity_ids"]
    units[0]["entity_ids"] = [*lost[1:], "e99", "e98"]
    index.tables["communities"][0]["relationship_ids"] = ["r77"]
    messages = {f.rule: f.fault for f in found(written(index, tmp_path))}
    assert kept
    assert f'lacks 1 entity ("{lost[0]}") that names it' in messages["links-unlike-units"]
    assert 'lists 2 entities ("e9' in messages["links-unlike-units"]
    assert (
        messages["stray-community-relationship"] == 'relationship_ids lists 1 relationship ("r77") that does not exist'
    )


def test_a_row_of_parquet_is_named_and_a_line_of_csv(tmp_path: Path) -> None:
    for ending in (".parquet", ".csv"):
        index = sample()
        index.ending = ending
        index.tables["entities"][0]["description"] = "two\nlines"
        index.tables["relationships"][1]["weight"] = "strong"
        index.tables["entities"][2]["degree"] = 9
        written(index, tmp_path / ending)

    parquet = {f.rule: (f.record, f.line, f.pointer) for f in found(tmp_path / ".parquet")}
    cells = {f.rule: (f.record, f.line, f.pointer) for f in found(tmp_path / ".csv")}

    assert parquet == {"unusable-value": (1, None, "/weight"), "odd-degree": (2, None, "/degree")}
    assert cells == {"unusable-value": (1, 3, "/weight"), "odd-degree": (2, 5, "/degree")}
    assert "row 2 GR005" in run("validate", tmp_path / ".parquet").out
    assert "\n  3 GR005" in run("validate", tmp_path / ".csv").out


@pytest.mark.parametrize(
    ("folder", "release"),
    [("parquet", "3.0"), ("csv", "3.0"), ("release-2", "2.3"), ("release-1", "1.0"), ("release-0.5", "0.5"),
     ("release-0.4", "0.1"), ("project", "3.0"), ("extraction", None)],
)  # fmt: skip
def test_the_release_is_reported_by_the_columns(folder: str, release: str | None) -> None:
    assert [d.profile for d in validate(VALID / folder).datasets] == [release]


def test_a_column_without_a_name_hides_no_release(tmp_path: Path) -> None:
    shutil.copytree(VALID / "csv", tmp_path, dirs_exist_ok=True)
    for table in tmp_path.iterdir():  # as pandas writes them with its index, of a release with metadata and x
        text = table.read_text().replace('"document_id"', '"document"').replace('"raw_data"', '"metadata"')
        text = text.replace('"type"', '"x"') if table.name == "entities.csv" else text
        table.write_text("".join(f"{place or ''},{line}\n" for place, line in enumerate(text.splitlines())))

    assert [d.profile for d in validate(tmp_path).datasets] == ["2.3"]
    unknown = [f for f in found(tmp_path) if f.rule == "unknown-column" and f.path.endswith("documents.csv")]
    assert unknown[0].message.startswith('the column "" is not one of GraphRAG')
    assert unknown[0].hint == "write the table without the index of its rows, as with index=False of pandas"


def test_a_release_can_be_asked_for() -> None:
    assert rules(VALID / "release-2", profile="3.0").count("missing-column") == 1
    assert [d.profile for d in validate(VALID / "extraction", profile="3.0").datasets] == ["3.0"]


def test_a_mixture_names_both_releases() -> None:
    message = found(FIXTURES / "graphrag" / "broken" / "mixed-releases" / "data")[0].message

    assert "create_final_entities.parquet is of GraphRAG 0.1 to 1.x" in message
    assert "is of 2.0 to 3.x" in message


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("a: [", "not YAML", 1),
        ("- a\n", "no mapping", 1),
        ("a: 1\n" * 300_000, "larger than", None),
        ("a: " + "{a: " * 60, "nested more than 40", 1),
        ("a: [" + "1, " * 1_200 + "1]", "more than 1,000 values", None),
        ("\x00", "not YAML", None),
    ],
    ids=["broken", "list", "large", "deep", "long", "nul"],
)
def test_settings_that_are_none(text: str, reason: str, line: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_MOST_EVENTS", 1_000)

    with pytest.raises(SettingsError) as shown:
        read_settings(text.encode())

    assert shown.value.reason.startswith(reason)
    assert line is None or shown.value.line == line


def test_settings_refer_to_themselves_without_end() -> None:
    text = "a: &a [x, x]\n" + "".join(
        f"b{n}: &b{n} [*{p}, *{p}]\n" for n in range(60) for p in [f"b{n - 1}" if n else "a"]
    )

    assert read_settings((text + SETTINGS.format("tables")).encode()).base_dir == "tables"


def test_settings_alone_are_known_by_their_keys(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("# mine\n" + SETTINGS.format("tables"))
    (tmp_path / "other.yaml").write_text("name: x\n")

    outcome = run("validate", tmp_path / "settings.yaml")

    assert [d.format for d in validate(tmp_path / "settings.yaml").datasets] == ["graphrag"]
    assert "light-splade" not in outcome.out + outcome.err
    assert "light-splade" in run("validate", tmp_path / "other.yaml").err


def test_settings_keep_their_keys(tmp_path: Path) -> None:
    written(sample(), tmp_path / "output")
    (tmp_path / "settings.yaml").write_text("api_key: secret-word\n" + SETTINGS.format("tables"))

    outcome = run("validate", tmp_path, "--output-format", "json")

    assert "GR042" in outcome.out
    assert "secret-word" not in outcome.out


def test_a_store_is_read_by_its_manifest(tmp_path: Path) -> None:
    store = VALID / "project" / "output" / "lancedb" / "entity_description.lance"
    table = read_table(store, ANYWHERE)
    copy = shutil.copytree(store, tmp_path / "copy.lance")
    manifest = next((copy / "_versions").glob("*.manifest"))

    assert (table.rows, table.length, len(table.files)) == (4, 3, 1)
    fields = [len(x).to_bytes(4, "little") + x + bytes(12) + b"LANC" for x in (b"\x12\x05a", b"\x12", b"\x13")]
    for damage in (b"", manifest.read_bytes()[:-30], manifest.read_bytes()[20:], b"LANC" * 9, *fields):
        manifest.write_bytes(damage)
        with pytest.raises(ManifestError):
            read_table(copy, ANYWHERE)


def test_a_list_of_millions_of_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql_tables, "MEMORY", 24 << 20)
    index = sample()
    index.tables["communities"][0]["entity_ids"] = ["e1"] * 1_500_000
    written(index, tmp_path / "index")

    enough = rules(tmp_path / "index")
    monkeypatch.setattr(sql_tables, "MOST_MEMORY", 24 << 20)

    assert "unchecked-table" not in enough and "odd-size" in enough
    assert "unchecked-table" in rules(tmp_path / "index")


def test_a_table_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(sample(), tmp_path / "index")
    close = sql_tables.SqlTables.close

    def touched(tables: sql_tables.SqlTables) -> None:
        close(tables)
        os.utime(folder / "entities.parquet", ns=(1, 1))

    monkeypatch.setattr(sql_tables.SqlTables, "close", touched)

    assert [(f.rule, Path(f.path).name) for f in found(folder)] == [("unreadable-file", "entities.parquet")]


@pytest.mark.parametrize("name", ["a'b", 'a"b;--', "[x]*?", "\u202eback", "%00"])
def test_a_folder_may_have_any_name(name: str, tmp_path: Path) -> None:
    assert rules(written(sample(), tmp_path / name)) == []


@pytest.mark.parametrize("cut", [0, 3, 11, 300, -1, -9, -300])
def test_a_damaged_parquet_file_is_one_error(cut: int, tmp_path: Path) -> None:
    folder = written(sample(), tmp_path / "index")
    table = folder / "relationships.parquet"
    data = table.read_bytes()
    table.write_bytes(data[:cut])

    assert rules(folder) == ["unreadable-table"]


def test_tables_with_a_link_out_are_not_followed(tmp_path: Path) -> None:
    folder = written(sample(), tmp_path / "index")
    (folder / "entities.parquet").rename(tmp_path / "entities.parquet")
    (folder / "entities.parquet").symlink_to(tmp_path / "entities.parquet")

    assert "link-leaves-dataset" in rules(folder)


KNOWN = {
    "carol-v0.4.1": {"GR013": 1, "GR114": 1, "GR124": 1},
    "carol-v0.5.0": {"GR010": 1, "GR013": 1, "GR016": 1, "GR109": 1, "GR114": 1, "GR115": 1, "GR124": 1},
    "carol-v3.1.2": {"GR032": 1, "GR103": 84, "GR112": 1, "GR114": 1, "GR115": 1, "GR124": 1, "GR027": 4},
    "operation-dulce": {"GR028": 1, "GR103": 2, "GR106": 1, "GR112": 1, "GR114": 1},
    "vectors": {},
}
"""The defects of real indexes, by code."""


@pytest.mark.parametrize("name", KNOWN)
def test_real_indexes_have_their_known_defects(name: str) -> None:
    folder = UPSTREAM_DATA / "graphrag" / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")

    report = validate(folder, max_per_rule=0)

    assert report.by_rule == KNOWN[name]
