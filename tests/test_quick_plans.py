"""Little data is asked without DuckDB's optimizer, but for SQL of others, and with the same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragdatakit.api.report import open_database
from ragdatakit.database import quick_plans
from tests.command_line import FIXTURES, run

if TYPE_CHECKING:
    import pytest

GOOD = FIXTURES / "gfm-rag/valid/both-loaders"


def test_reports_and_differences_are_those_of_better_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []
    ask = quick_plans.size_of
    monkeypatch.setattr(quick_plans, "size_of", lambda path: planned.append(path) or ask(path))

    def answers() -> list[Any]:
        report = run("report", "--output-format", "json", GOOD).json
        for each in report["datasets"]:
            each.pop("seconds", None)
        diff = run("diff", "--exit-zero", "--output-format", "json", GOOD, FIXTURES / "gfm-rag/valid/minimal").json
        return [report["datasets"], diff["tables"], diff["kinds"], diff["metrics"], diff["counts"]]

    little = answers()
    assert planned
    monkeypatch.setattr(quick_plans, "_LITTLE", -1)
    assert little == answers()


def test_sql_of_others_is_planned() -> None:
    with open_database(GOOD) as database:
        off = database.connection().execute("select current_setting('disabled_optimizers')").fetchall()

    assert off == [("",)]
