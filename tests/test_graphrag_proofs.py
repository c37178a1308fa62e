"""What arrays prove changes no finding: the same data, judged as small and as large, and with nothing proved.

The fixtures are judged both ways by `test_fixtures.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ragdatakit import validate
from ragdatakit.validators.graphrag import coded_columns, row_faults, sql_tables
from ragdatakit.validators.graphrag.array_proofs import ArrayProofs
from tests.broad import chosen
from tests.command_line import FIXTURES
from tests.graphrag_cases import cases, sample


def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every index for a large one."""
    monkeypatch.setattr(sql_tables, "_SMALL", 0)
    monkeypatch.setattr(row_faults, "LARGE", 0)


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
    monkeypatch.setattr(coded_columns, "viewed_columns", lambda *_: {})

    unproved = [folder for folder, before in zip(folders, small, strict=True) if judged(folder) != before]
    large(monkeypatch)
    wrong = [folder for folder, before in zip(folders, small, strict=True) if judged(folder) != before]

    assert (unproved, wrong) == ([], [])


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
    monkeypatch.setattr(coded_columns, "viewed_columns", lambda *_: {})

    assert judged(FIXTURES / "graphrag" / "valid" / name) == proved


def test_few_bytes_that_stand_for_many_values_are_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample().write(tmp_path)
    proved = judged(tmp_path)
    monkeypatch.setattr(coded_columns, "_MOST_IN_SMALL", 2)

    assert judged(tmp_path) == proved


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
