"""Every format to every other one and back, by the fixtures: what comes back, with a sidecar and without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.converters import get_converter
from ragdatakit.converters.format_pairs import EXACT, pair_of, readable, writable
from ragdatakit.reports.format_pairs import pair_lines
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import ConversionResult
from ragdatakit.schemas.errors import RagdataError
from tests import broad

pytestmark = pytest.mark.usefixtures("outputs_of_a_sound_machine")

FIXTURES = Path(__file__).parent.parent / "fixtures"
BOTH_WAYS = [name for name in readable() if name in writable()]
SEVERAL = {"gfm-rag/many": "three datasets", "hipporag/two-sets": "two sets, of which one is chosen by an option"}
"""Fixtures that are not one dataset."""
NOT_WRITTEN = {
    "contextual-retrieval/contexts-alone": "documents that are not there are made of their chunks",
    "datamind/results": "the results of its benchmark are what DataMind itself writes: ragdata does not",
    "graphrag/csv": "the findings of a report are a text in CSV, and a list in Parquet",
    "graphrag/extraction": "an index has texts, and a text of extractions has none",
    "graphrag/release-0.4": "its tables become those of 3.x, which have further columns",
    "graphrag/release-0.5": "its tables become those of 3.x, which have further columns",
    "graphrag/release-1": "its tables become those of 3.x, which have further columns",
    "light-splade/one-split": "light-splade is written with both splits, and the set has none: validation is split off",
    "lightrag/extraction": "a graph is written as a payload: its chunks are named by it, and are not there",
    "lightrag/ingested": "a payload, the usual form, has no documents, and names one chunk as a source",
    "lightrag/nano-graphrag": "a payload has neither documents nor community reports",
}
"""Fixtures that come back otherwise from their own format, too, and why."""
NOT_EXACT_TO_ITSELF = {"lightrag": "a payload, the usual form, has no documents, and names one chunk as a source"}
"""Formats whose own datasets do not come back, and why."""
ASKED_IN_ANSWERS = ("arag/results-alone", "sage")
"""Predictions without their questions, which repeat them: the questions come back by themselves, too."""
ORDER_BY_EDGES = ("gfm-rag", "datamind")
"""The pair whose nodes come back in the order of the edges that name them."""


def fixtures() -> Iterator[str]:
    for name in BOTH_WAYS:
        yield from (f"{name}/{p.name}" for p in sorted((FIXTURES / name / "valid").iterdir()))


def path_of(fixture: str) -> Path:
    name, own = fixture.split("/")
    return FIXTURES / name / "valid" / own


def rows_of(path: Path, name: str) -> dict[str, list[Any]]:
    """All rows by table; files by their contents."""
    with ragdatakit.read(path, source_format=name) as dataset:
        found = {table: [settled(row) for row in dataset.rows(table)] for table in dataset.tables}
    return {table: rows for table, rows in found.items() if rows}


def settled(row: Any) -> Any:
    content = getattr(row, "content", None)
    return row._replace(content=content.read_bytes()) if isinstance(content, Path) else row


def converted(source: Path, target: Path, name: str, to: str, sidecar: bool = False) -> ConversionResult | None:
    """What was converted, and is valid; None where the target has no place for anything of it."""
    try:
        done = ragdatakit.convert(source, target, to=to, source_format=name, sidecar=sidecar)
    except RagdataError as error:
        if "fault of ragdata" in str(error):
            raise
        return None
    assert done.written, done.invalid or done.source_report
    return done


def differing(before: dict[str, list[Any]], after: dict[str, list[Any]]) -> list[str]:
    return [table for table in TABLES if before.get(table) != after.get(table)]


def without_order(rows: dict[str, list[Any]], nodes: bool) -> dict[str, list[Any]]:
    """The rows without the order of the fields of their records; nodes in no order where that is said."""
    found = {
        table: [row._replace(field_order=()) if "field_order" in row._fields else row for row in listed]
        for table, listed in rows.items()
    }
    return {**found, "nodes": sorted(rows.get("nodes", ()), key=repr)} if nodes else found


def chosen_pairs() -> Iterator[tuple[str, str]]:
    """A fixture and a target: of every pair of formats the fixtures that are chosen, or one."""
    of_a_pair: dict[tuple[str, str], list[str]] = {}
    for fixture in fixtures():
        for to in BOTH_WAYS if fixture not in SEVERAL and fixture not in NOT_WRITTEN else ():
            of_a_pair.setdefault((fixture.split("/")[0], to), []).append(fixture)
    for (name, to), listed in of_a_pair.items():
        taken = [fixture for fixture in listed if broad.chosen(f"{fixture} {to}", every=20)]
        one = broad.some(len(listed), every=len(listed), of=f"{name} {to}")
        for fixture in taken or [listed[number] for number in one]:
            yield fixture, to


@pytest.mark.parametrize(("fixture", "to"), list(chosen_pairs()))
def test_with_a_sidecar_everything_comes_back(tmp_path: Path, fixture: str, to: str) -> None:
    name = fixture.split("/", maxsplit=1)[0]

    there = converted(path_of(fixture), tmp_path / "there", name, to, sidecar=True)

    assert there or to != name
    if there:
        assert converted(tmp_path / "there", tmp_path / "back", to, name)
        assert differing(rows_of(path_of(fixture), name), rows_of(tmp_path / "back", name)) == []


@pytest.mark.broad
@pytest.mark.parametrize("fixture", [f for f in fixtures() if f not in SEVERAL and f not in NOT_WRITTEN])
def test_exact_pairs_give_the_same_rows_where_nothing_is_lost(tmp_path: Path, fixture: str) -> None:
    name = fixture.split("/", maxsplit=1)[0]
    before = rows_of(path_of(fixture), name)
    for to in BOTH_WAYS:
        if (name, to) not in EXACT or (fixture, to) == ASKED_IN_ANSWERS:
            continue
        done = converted(path_of(fixture), tmp_path / to / "there", name, to)
        if done is None or not done.lossless:
            continue
        assert converted(tmp_path / to / "there", tmp_path / to / "back", to, name)

        after = rows_of(tmp_path / to / "back", name)

        by_edges = (name, to) == ORDER_BY_EDGES
        assert differing(without_order(before, by_edges), without_order(after, by_edges)) == [], to


@pytest.mark.broad(3)
@pytest.mark.parametrize("fixture", NOT_WRITTEN)
def test_what_does_not_come_back_is_still_so(tmp_path: Path, fixture: str) -> None:
    name = fixture.split("/", maxsplit=1)[0]

    done = converted(path_of(fixture), tmp_path / "there", name, name, sidecar=True)

    assert done is None or rows_of(tmp_path / "there", name) == rows_of(path_of(fixture), name)
    assert done is None or converted(tmp_path / "there", tmp_path / "back", name, name)
    assert done is None or differing(rows_of(tmp_path / "back", name), rows_of(path_of(fixture), name))


@pytest.mark.parametrize(("source", "target"), EXACT)
def test_exact_pairs_are_pairs(source: str, target: str) -> None:
    assert pair_of(source, target).mark == "exact"
    assert get_converter(source).write and get_converter(target).read


def test_every_format_is_exact_to_itself() -> None:
    assert {name for name in BOTH_WAYS if (name, name) not in EXACT} == NOT_EXACT_TO_ITSELF.keys()


def test_the_condition_of_an_exact_pair_is_reported() -> None:
    lines = list(pair_lines(pair_of("gfm-rag", "datamind")))

    assert lines[0].startswith("gfm-rag → datamind: exact")
    assert lines[1] == f"  {EXACT['gfm-rag', 'datamind']}"


@pytest.mark.parametrize("edit", ["answer", "removed"])
def test_an_edited_output_is_not_overruled_by_the_records_of_the_sidecar(tmp_path: Path, edit: str) -> None:
    """SAGE's records as a whole are in the sidecar, but what was changed beside them since counts."""
    assert converted(path_of("sage/documented"), tmp_path / "there", "sage", "datamind", sidecar=True)
    (path,) = (tmp_path / "there" / "data" / "bench").iterdir()
    lines = path.read_text().splitlines(keepends=True)
    if edit == "answer":
        lines[0] = lines[0].replace('"question":"', '"question":"And ')
    else:
        del lines[0]
    path.write_text("".join(lines))
    before = rows_of(path_of("sage/documented"), "sage")["questions"]

    assert converted(tmp_path / "there", tmp_path / "back", "datamind", "sage")

    texts = [q.text for q in rows_of(tmp_path / "back", "sage")["questions"]]
    given = [q.text for q in before]
    assert texts == ([f"And {given[0]}", *given[1:]] if edit == "answer" else given[1:])


def test_documents_that_were_cut_come_back_from_the_sidecar(tmp_path: Path) -> None:
    source = path_of("beir/with-metadata")
    done = ragdatakit.convert(
        source, tmp_path / "there", to="datamind", chunking={"by": "tokens", "size": 4}, sidecar=True
    )

    back = ragdatakit.convert(tmp_path / "there", tmp_path / "back", to="beir")

    assert done.written and back.written
    assert done.conversions[0].counts["chunks"] > done.conversions[0].counts["documents"]
    assert rows_of(tmp_path / "back", "beir") == rows_of(source, "beir")


def test_a_sidecar_goes_along_over_several_formats(tmp_path: Path) -> None:
    source = path_of("beir/with-metadata")
    assert converted(source, tmp_path / "one", "beir", "arag", sidecar=True)
    assert converted(tmp_path / "one", tmp_path / "two", "arag", "hipporag", sidecar=True)

    assert converted(tmp_path / "two", tmp_path / "back", "hipporag", "beir")

    assert rows_of(tmp_path / "back", "beir") == rows_of(source, "beir")


def test_line_separators_in_texts_do_not_hide_a_format(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text('{"id":"0","contents":"low\u2028tide"}\n', encoding="utf-8")

    report = ragdatakit.validate(tmp_path, format="sage")

    assert report.ok
