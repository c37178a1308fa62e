"""Every fault of the grid is found at its line, nothing else is reported, and both engines say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragdatakit.schemas import all_formats
from tests.broad import ALL, some
from tests.faults.drafts import Draft
from tests.faults.engines import SCANNED, SMALL
from tests.faults.graphrag import TABLE_DRAFTS, TableBench, TableDraft, TableInjection, table_injections
from tests.faults.grid import DRAFTS, Bench, injections, judge
from tests.faults.injections import Injection
from tests.faults.score import DAMAGES, PAGE, all_injections, page, perfect, sections

SLICES = 4 if ALL else 1
"""Each dataset's grid is cut into so many tests, for several processes."""

EVERY = 1 if ALL else 30
"""One in so many faults of a grid is injected, others for each commit; `python -m tests.faults` injects all of them."""

TABLES_EVERY = 1 if ALL else 300
"""The same of the grids of tables, of which each fault takes a database."""

BOTH = 1 if ALL else 4
"""One in so many of those runs through the second engine, too; `python -m tests.faults` runs all through both."""

THREADED = 19
"""One in so many of those is run with threads."""


@pytest.mark.parametrize("draft", DRAFTS, ids=lambda draft: draft.name)
def test_a_clean_dataset_has_no_findings_but_those_it_is_known_for(draft: Draft, tmp_path: Path) -> None:
    bench = Bench(draft, tmp_path)

    found = {(f["rule"], f["path"]) for f in bench.findings(None, SMALL)}

    assert found == draft.baseline
    assert bench.findings(None, SCANNED) == bench.findings(None, SMALL)


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("draft", DRAFTS, ids=lambda draft: draft.name)
def test_every_fault_is_found_and_nothing_else(draft: Draft, part: int, tmp_path: Path) -> None:
    bench = Bench(draft, tmp_path)

    wrong = []
    grid = list(injections(draft))
    for number, injection in enumerate(grid[n] for n in some(len(grid), EVERY, draft.name)):
        turn, rest = divmod(number, BOTH)
        if turn % SLICES != part:
            continue
        found = bench.findings(injection, SMALL)
        verdict = judge(injection, found)
        if not verdict.right:
            wrong.append(str(verdict))
        if not rest and bench.findings(injection, SCANNED, 1 + (turn % THREADED == 0)) != found:
            wrong.append(f"the engines differ: {injection}")

    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("draft", TABLE_DRAFTS, ids=lambda draft: draft.name)
def test_every_fault_of_tables_is_found_and_nothing_else(draft: TableDraft, tmp_path: Path) -> None:
    bench = TableBench(draft, tmp_path)
    grid = table_injections(draft)

    wrong = [] if bench.findings(None, SMALL) == [] else ["the clean index has findings"]
    for number, place in enumerate(some(len(grid), TABLES_EVERY, draft.name)):
        found = bench.findings(grid[place], SMALL)
        verdict = judge(grid[place], found)
        if not verdict.right:
            wrong.append(str(verdict))
        if number % BOTH == 0 and bench.findings(grid[place], SCANNED) != found:
            wrong.append(f"the engines differ: {grid[place]}")

    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def every() -> list[Injection | TableInjection]:
    return list(all_injections())


def test_every_declared_field_is_damaged(every: list[Injection | TableInjection]) -> None:
    damaged = {(i.draft.format.name, i.kind, i.name.split(":")[0]) for i in every}
    declared = {
        (draft.format.name, file.kind.kind, field.name)
        for draft in DRAFTS
        for file in draft.files
        for record in file.kind.records
        for field in record.fields
    }

    assert declared <= damaged


def test_every_file_of_records_is_in_the_grid() -> None:
    # Tables have a grid of their own.
    files = [(fmt.name, file) for fmt in all_formats() for file in fmt.files]
    kinds = {(name, file.kind) for name, file in files if file.records and file.container != "table"}

    assert kinds == {(d.format.name, f.kind.kind) for d in DRAFTS for f in d.files if f.kind.records}


def test_every_kind_of_damage_has_words(every: list[Injection | TableInjection]) -> None:
    assert {i.damage for i in every} == set(DAMAGES)


def test_the_score_page_is_what_the_grid_gives(every: list[Injection | TableInjection]) -> None:
    """If all faults are found, the score is perfect; `python -m tests.faults` tries them all and writes the page.
    What is output of a fifth of the formats is made anew each time."""
    output = PAGE.read_text(encoding="utf-8")
    titles = list(dict.fromkeys(i.draft.format.title for i in every))
    wanted = [titles[number] for number in some(len(titles), 5, "score")]

    score = perfect(i for i in every if i.draft.format.title in wanted)

    assert all(section in output for section in sections(score))
    assert not ALL or output == page(score)


@pytest.mark.parametrize(
    ("draft", "fault"),
    [
        ("beir", "qrels/train.tsv: bad row: one word"),
        ("beir", "qrels/test.tsv: bad row: a quote mark that is not closed"),
        ("trec", "run.bm25.txt: cut file: in the last record"),
    ],
)
@pytest.mark.parametrize("engine_name", [SMALL, SCANNED])
def test_what_a_damaged_line_may_name_is_not_said_to_be_unnamed(
    draft: str, fault: str, engine_name: str, tmp_path: Path
) -> None:
    injection = _injection(f"{draft}: {fault}")

    verdict = judge(injection, Bench(injection.draft, tmp_path).findings(injection, engine_name))

    assert verdict.right, str(verdict)


@pytest.mark.parametrize(
    ("draft", "fault"),
    [
        ("arag strings", "predictions.jsonl: wrong packing: Git LFS pointer"),
        ("gfm-rag by uid", "processed/stage1/nodes.csv: bad header: name: away"),
    ],
)
def test_files_without_what_the_scanner_codes_are_judged_as_in_plain_python(
    draft: str, fault: str, tmp_path: Path
) -> None:
    injection = _injection(f"{draft}: {fault}")
    bench = Bench(injection.draft, tmp_path)

    assert bench.findings(injection, SCANNED) == bench.findings(injection, SMALL)


def _injection(name: str) -> Injection:
    return next(
        i for draft in DRAFTS if name.startswith(f"{draft.name}: ") for i in injections(draft) if str(i) == name
    )
