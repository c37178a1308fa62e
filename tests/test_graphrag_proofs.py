"""What arrays prove changes no finding: the same data, judged as small and as large, and with nothing proved.

The fixtures are judged both ways by `test_fixtures.py`.
"""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ragdatakit import validate
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.graphrag import held_rows
from ragdatakit.files.graphrag.held_rows import hold_rows
from ragdatakit.files.graphrag.tables import HeldRows, StoredTable
from ragdatakit.files.paths.boundary import ANYWHERE
from ragdatakit.schemas.graphrag.tables import BY_KIND
from ragdatakit.validators.graphrag import coded_columns, row_faults, sql_tables
from ragdatakit.validators.graphrag.array_proofs import ArrayProofs
from ragdatakit.validators.graphrag.plain_columns import holds, plain_columns
from ragdatakit.validators.graphrag.row_checks import row_checks
from ragdatakit.validators.graphrag.sql_tables import SqlTables
from tests.broad import chosen
from tests.command_line import FIXTURES
from tests.graphrag_cases import Index, cases, sample


def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every index for a large one."""
    monkeypatch.setattr(sql_tables, "_SMALL", 0)
    monkeypatch.setattr(row_faults, "LARGE", 0)


def read_by_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take no index for one whose rows are held."""
    monkeypatch.setattr(sql_tables, "_TINY", 0)


def judged(path: Path) -> list[Any]:
    findings = validate(path, max_per_rule=0).findings
    return sorted((f.path, f.rule, f.record or 0, f.pointer or "", f.message) for f in findings)


def test_damaged_indexes_are_judged_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []
    for name, index in cases():
        if chosen(name, every=400):
            folders.append(tmp_path / str(len(folders)))
            index.write(folders[-1])
    small = [judged(folder) for folder in folders]

    def judged_otherwise() -> list[Path]:
        return [folder for folder, before in zip(folders, small, strict=True) if judged(folder) != before]

    read_by_the_database(monkeypatch)
    not_held = judged_otherwise()
    monkeypatch.setattr(coded_columns, "viewed_columns", lambda *_: {})
    unproved = judged_otherwise()
    large(monkeypatch)

    assert (not_held, unproved, judged_otherwise()) == ([], [], [])


def test_a_column_of_ids_that_is_no_list_names_no_text_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = sample()
    index.schemas["entities"]["text_unit_ids"] = pa.int64()
    for number, row in enumerate(index.tables["entities"]):
        row["text_unit_ids"] = number
    index.write(tmp_path)
    small = judged(tmp_path)
    large(monkeypatch)

    assert judged(tmp_path) == small
    assert "no-named-text-unit" in {rule for _, rule, *_ in small}


def test_ids_of_one_list_are_reported_in_its_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = sample()
    unknown, entities = [f"x{n}" for n in range(60)], index.tables["entities"]
    for row in entities:
        row["text_unit_ids"] = unknown
    index.write(tmp_path)
    large(monkeypatch)

    found = [f for f in validate(tmp_path, max_per_rule=0).findings if f.rule == "unknown-text-unit"]

    assert [(f.record, f.value) for f in found] == [(n, id_) for n in range(len(entities)) for id_ in unknown]


@pytest.mark.parametrize("name", ["csv", "parquet", "project", "release-0.5", "release-1"])
def test_questions_find_nothing_in_a_sound_index(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proved = judged(FIXTURES / "graphrag" / "valid" / name)
    read_by_the_database(monkeypatch)
    monkeypatch.setattr(coded_columns, "viewed_columns", lambda *_: {})

    assert judged(FIXTURES / "graphrag" / "valid" / name) == proved


def test_few_bytes_that_stand_for_many_values_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = sample()
    index.tables["relationships"][0]["target"] = "NOBODY"
    index.write(tmp_path)
    held = judged(tmp_path)

    monkeypatch.setattr(held_rows, "_MOST", 100)
    assert judged(tmp_path) == held

    read_by_the_database(monkeypatch)
    monkeypatch.setattr(coded_columns, "_MOST_IN_SMALL", 2)
    assert judged(tmp_path) == held


def test_short_rows_under_a_wide_header_take_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index(sample().tables, ending=".csv")
    index.write(tmp_path)
    path = tmp_path / "entities.csv"
    header = path.read_text().partition("\n")[0]
    path.write_text(header + "".join(f",more_{n}" for n in range(8_000)) + "\n" + "1\n" * 2_000)
    stored = StoredTable(DataFile(path, path.name, path.name, "entities", boundary=ANYWHERE))

    tracemalloc.start()
    hold_rows([stored])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 20 << 20  # with all columns of the header: 250 MiB
    assert stored.held is not None
    assert [len(values) for values in stored.held.values.values()] == [2_000] * 8
    assert len(stored.columns) == 8_008
    held = judged(tmp_path)
    monkeypatch.setattr(held_rows, "_MOST", 64 * 2_000 * 9 - 1)
    again = StoredTable(stored.file)
    hold_rows([again])
    assert again.held is None
    assert judged(tmp_path) == held


def test_members_of_lists_count_as_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = sample()
    index.tables["communities"][0]["children"] = [*range(1_000)]
    index.write(tmp_path)
    path = tmp_path / "communities.parquet"
    stored = StoredTable(DataFile(path, path.name, path.name, "communities", boundary=ANYWHERE))
    monkeypatch.setattr(held_rows, "expanded_size", lambda _: 0)
    monkeypatch.setattr(held_rows, "_MOST", 64 * 1_000)

    assert not hold_rows([stored])


ODD_VALUES: dict[str, dict[str, list[str]]] = {
    "reports": {
        "full_content_json": [
            '{"title": "T", "summary": "S", "title": "U"}', '{"title": "U", "summary": "S", "title": "T"}',
            '{"title": "T", "summary": "S", "x": NaN}', '{"title": "T", "summary": "S", "x": "\\ud800"}',
            '{"title": "T", "summary": "S",}', '["T", "S"]', '{"t\\u0069tle": "T", "summary": "S"}', '{"title": "T"}',
            '{"title": null, "summary": "S"}', "[" * 5000, "", " ", '{"title": "T", "summary": "S", "x": 1e999}',
        ],
        "period": ["2026-01-05", "2026-01-05T", "2026-01-05 x\ny", "2026-01-05x", "٢٠٢٦-01-05", ""],
        "rank": ["10", "10.1", "-0", "-0.5", "1e1", " 5", "0x5", "5.", ".5", "nan", "inf", "٥", ""],
        "level": ["2", "3", "02", "-0", "2.0", "2.9", "1e0", "9" * 15, "9" * 16, "9" * 30, "٢", "x", ""],
    },
    "entities": {
        "title": ["A", "A ", "\tA", "a", "A&B", "Ä", "ß", "A\u00a0", "", "A\u2003"],
        "type": ["A", " ", ""],
        "degree": ["0", "1", "-1", "1.5", "", "x", "1 "],
    },
    "text-units": {"text": ["a", " ", ""], "n_tokens": ["7", "7.5", ""]},
    "communities": {"title": ["", "x"], "size": ["1", "1.5", "x"], "period": ["2026-01-05", "x"]},
    "covariates": {"subject_id": ["", "x"], "object_id": ["", "x"]},
}  # fmt: skip
"""Cells at which a look at the values and the database might differ, by table and column."""


@pytest.mark.parametrize("kind", ODD_VALUES)
def test_what_a_look_at_the_values_passes_the_database_passes(kind: str, tmp_path: Path) -> None:
    sound = sample().tables[BY_KIND[kind].name][0] | ({"title": "T", "summary": "S"} if kind == "reports" else {})
    odd = [sound | {column: value} for column, values in ODD_VALUES[kind].items() for value in values]
    index = Index({BY_KIND[kind].name: odd}, ending=".csv")
    index.write(tmp_path)
    path = tmp_path / f"{BY_KIND[kind].name}.csv"
    stored = StoredTable(DataFile(path, path.name, path.name, kind, boundary=ANYWHERE))
    hold_rows([stored])
    held = stored.held
    assert held is not None
    tables, passed = SqlTables(0), 0
    table = tables.add(kind, stored, old=False)
    try:
        for check in row_checks(kind, table, "3.0"):
            broken = {row for (row,) in tables.rows(f"select row from {table.name} where {check.where}")}
            if check.is_kept is None or check.rule == "number-unlike-place":  # which looks at all rows
                continue
            for row in range(held.size):
                stored.held = HeldRows(held.types, {c: v[row : row + 1] for c, v in held.values.items()}, None, 1)
                is_passed = holds(plain_columns(table, old=False), check.columns, check.is_kept)

                assert not (is_passed and row in broken), (check.rule, odd[row])
                passed += is_passed
    finally:
        tables.close()
    assert passed > len(odd)


@pytest.mark.parametrize("size", ["small", "large"])
def test_of_a_sound_index_everything_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    unproved = []
    for name in [n for n in vars(ArrayProofs) if not n.startswith("_") and n not in ("has", "forget")]:
        asked = getattr(ArrayProofs, name)

        def shown(self: Any, *of: Any, asked: Any = asked, name: str = name) -> bool:
            found: bool = asked(self, *of)
            if not found:
                unproved.append((name, *of))
            return found

        monkeypatch.setattr(ArrayProofs, name, shown)
    if size == "large":
        large(monkeypatch)
    index = sample()
    index.tables.pop("covariates", None)
    index.write(tmp_path)

    assert judged(tmp_path) == []
    assert unproved == []
