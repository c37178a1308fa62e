"""A comparison lists exactly what differs: by records, files and numbers, in every form."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.reports.diff.datasets import Compared, CompareOptions, compare_datasets
from ragdatakit.reports.diff.metrics import moved_metrics
from ragdatakit.reports.diff.tables import value_change
from ragdatakit.reports.diff.text import diff_lines
from ragdatakit.reports.html.diff import marked
from ragdatakit.reports.summary.numbers import QUANTILES
from ragdatakit.schemas.canonical import TABLES, Asset, Document, Edge, Qrel, Question, Trace
from ragdatakit.schemas.diffs import DatasetDiff, Side, TableDiff
from ragdatakit.schemas.errors import UnknownNameError
from ragdatakit.schemas.summaries import Distribution, GraphSummary, Note, Summary, TableSummary
from tests.broad import examples
from tests.browser_tools import launched, open_page
from tests.command_line import FIXTURES, GOOD, run
from tests.conversion_tools import tables_of

SEVERAL = ("many", "two-sets")
VALID = sorted(path for path in FIXTURES.glob("*/valid/*") if path.is_dir() and path.name not in SEVERAL)
DOCUMENTS = {"d1": "The reef.", "d2": "The harbour.", "d3": "The light."}
QUESTIONS = {"q1": "where?", "q2": "when?"}


def write_beir(folder: Path, documents: dict[str, str] = DOCUMENTS, questions: dict[str, str] = QUESTIONS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, texts in (("corpus", documents), ("queries", questions)):
        lines = [json.dumps({"_id": key, "title": "", "text": text}) + "\n" for key, text in texts.items()]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n")
    return folder


def compared(before: dict[str, Iterable[Any]], after: dict[str, Iterable[Any]], **options: Any) -> DatasetDiff:
    with DatasetDatabase(tables_of(**before)) as old, DatasetDatabase(tables_of(**after)) as new:
        return compare_datasets(Compared(old, (), "a"), Compared(new, (), "b"), CompareOptions(**options))


def table(diff: DatasetDiff, name: str) -> TableDiff:
    return next(t for t in (*diff.tables, *diff.kinds) if t.called == name)


ID, TEXT = (
    st.sampled_from(["a", "b", "c", "", "é", "0", "a\x00"]),
    st.sampled_from(["x", "y", "", "x ", "\n", "雨" * 200]),
)
ROWS = {
    "documents": st.builds(Document, ID, TEXT, st.none() | TEXT, st.none() | st.just("{}")),
    "edges": st.builds(Edge, ID, ID, ID, confidence=st.none() | st.sampled_from([0.5, float("nan"), 1.0])),
    "questions": st.builds(Question, st.none() | ID, TEXT, aliases=st.lists(TEXT, max_size=2).map(tuple)),
    "traces": st.builds(Trace, st.none() | ID, TEXT),
}


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Any], list[Any]]:
    """A table before and after random edits: rows are removed, added, moved, doubled or get another value."""
    name = draw(st.sampled_from(sorted(ROWS)))
    before = draw(st.lists(ROWS[name], max_size=8))
    after = list(before)
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(after)))
        edit = draw(st.sampled_from(["add", "remove", "replace", "double", "move"]))
        if edit == "add" or not after:
            after.insert(place, draw(ROWS[name]))
            continue
        place = min(place, len(after) - 1)
        if edit == "remove":
            after.pop(place)
        elif edit == "double":
            after.append(after[place])
        elif edit == "move":
            after.append(after.pop(place))
        else:
            column = draw(st.sampled_from([c for c in after[place]._fields if c != "field_order"]))
            after[place] = after[place]._replace(**{column: getattr(draw(ROWS[name]), column)})
    return name, before, after


def expected_of(name: str, before: list[Any], after: list[Any]) -> tuple[int, int, int]:
    """Added, removed and changed rows, told apart in Python."""
    old, new = Counter(map(repr, before)), Counter(map(repr, after))
    key = TABLES[name].key
    keys = {repr(row): tuple(getattr(row, c) for c in key) for row in (*before, *after)}
    if name == "questions":
        keys = {repr(q): (q.question_id,) if q.question_id is not None else (None, q.text) for q in (*before, *after)}
    removed: dict[Any, int] = defaultdict(int)
    added: dict[Any, int] = defaultdict(int)
    for row, count in (old - new).items():
        removed[keys[row]] += count
    for row, count in (new - old).items():
        added[keys[row]] += count
    changed = sum(min(count, added[k]) for k, count in list(removed.items())) if key else 0
    return sum(added.values()) - changed, sum(removed.values()) - changed, changed


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edited())
def test_random_edits_are_found_exactly(case: tuple[str, list[Any], list[Any]]) -> None:
    name, before, after = case

    diff = compared({name: before}, {name: after}, records=100)

    found = table(diff, name)
    assert (found.added, found.removed, found.changed) == expected_of(name, before, after)
    assert (found.before, found.after) == (len(before), len(after))
    assert len(found.added_records) == found.added and len(found.removed_records) == found.removed
    assert len(found.changed_records) == found.changed
    for change in found.changed_records:
        assert change.changes and not {c.column for c in change.changes} & set(change.key)
    shown = Counter(c.column for change in found.changed_records for c in change.changes)
    assert shown == found.columns
    assert diff.different == bool(Counter(map(repr, before)) != Counter(map(repr, after)))


def test_a_seeded_change_is_listed_and_nothing_else(tmp_path: Path) -> None:
    a = write_beir(tmp_path / "a")
    b = write_beir(tmp_path / "b", {"d1": "The reef.", "d3": "The high light.", "d4": "A ferry."})

    diff = ragdatakit.diff(a, b, metrics=False)

    documents = table(diff, "documents")
    assert [(t.name, t.added, t.removed, t.changed) for t in diff.tables if t.different] == [("documents", 1, 1, 1)]
    assert [dict(r.key) for r in documents.added_records] == [{"doc_id": "d4"}]
    assert [dict(r.key) for r in documents.removed_records] == [{"doc_id": "d2"}]
    (change,) = documents.changed_records
    assert dict(change.key) == {"doc_id": "d3"}
    assert [(c.column, c.before, c.after) for c in change.changes] == [("text", "The light.", "The high light.")]
    files = {f.path: (f.status, f.added, f.removed, f.changed) for f in diff.files}
    assert files == {
        "corpus.jsonl": ("changed", 1, 1, 1),
        "queries.jsonl": ("same", 0, 0, 0),
        "qrels/test.tsv": ("same", 0, 0, 0),
    }


@pytest.mark.broad
@pytest.mark.parametrize("folder", VALID, ids=lambda p: p.relative_to(FIXTURES).as_posix())
def test_a_copy_is_equal(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    for path in copy.rglob("*.jsonl"):
        path.write_bytes(path.read_bytes() + b"\n")  # other bytes, so that the records are compared

    diff = ragdatakit.diff(folder, copy, metrics=False)

    assert not diff.different, [t for t in (*diff.tables, *diff.kinds) if t.different]


def test_a_folder_in_place_of_a_file_is_not_a_difference(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(FIXTURES / "beir/valid/folder", folder)
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl").mkdir()

    assert run("diff", folder, folder).code == 2


def test_equal_files_are_not_read(tmp_path: Path) -> None:
    diff = ragdatakit.diff(write_beir(tmp_path / "a"), write_beir(tmp_path / "b"))

    assert (diff.different, diff.tables, {f.status for f in diff.files}) == (False, [], {"same"})
    assert diff.notes == ["All files of the dataset are the same, byte for byte; their records were not read."]


def test_another_order_and_spelling_is_no_difference(tmp_path: Path) -> None:
    a = write_beir(tmp_path / "a")
    b = write_beir(tmp_path / "b", dict(reversed(DOCUMENTS.items())))
    shown = run("diff", a, b)

    assert shown.code == 0
    assert "corpus.jsonl  148 B, 3 records; other bytes, the same records" in shown.out
    assert shown.out.splitlines()[-1].startswith("No record differs; 1 file in another form (")


@pytest.mark.parametrize("swapped", [False, True], ids=["moved", "swapped"])
def test_judgements_that_move_between_splits_are_no_other_form(swapped: bool, tmp_path: Path) -> None:
    a, b = write_beir(tmp_path / "a"), write_beir(tmp_path / "b")
    head, first, second = (a / "qrels/test.tsv").read_text().splitlines(keepends=True)
    for folder, test, train in ((a, first, second), (b, second if swapped else first + second, first * swapped)):
        (folder / "qrels/test.tsv").write_text(head + test)
        (folder / "qrels/train.tsv").write_text(head + train)

    diff = ragdatakit.diff(a, b)

    status = {file.path: file.status for file in diff.files if file.status != "same"}
    assert status == {"qrels/test.tsv": "moved", "qrels/train.tsv": "moved"}
    assert "qrels/train.tsv" in run("diff", a, b).out and "records moved between files" in run("diff", a, b).out


def test_a_file_with_records_that_moved_and_others_that_changed(tmp_path: Path) -> None:
    a, b = write_beir(tmp_path / "a"), write_beir(tmp_path / "b")
    head, first, second = (a / "qrels/test.tsv").read_text().splitlines(keepends=True)
    for folder, test, train in ((a, first, second), (b, first + second.replace("\t1\n", "\t2\n"), "")):
        (folder / "qrels/test.tsv").write_text(head + test)
        (folder / "qrels/train.tsv").write_text(head + train)

    assert "1 → 2 records: ~1; records moved between files" in run("diff", a, b).out


def test_datasets_of_two_formats_are_compared_by_their_tables(tmp_path: Path) -> None:
    source = write_beir(tmp_path / "a")
    ragdatakit.convert(source, tmp_path / "trec", to="trec")

    assert run("diff", source, tmp_path / "trec").code == 0
    changed = write_beir(tmp_path / "b", {**DOCUMENTS, "d3": "Changed."})
    diff = ragdatakit.diff(changed, tmp_path / "trec", metrics=False)
    assert [(t.name, t.added, t.removed, t.changed) for t in diff.tables if t.different] == [("documents", 0, 0, 1)]
    assert (diff.before.format, diff.files) == ("beir", [])


def test_a_table_that_one_side_lacks(tmp_path: Path) -> None:
    diff = compared(
        {"documents": [Document("d", "x")]}, {"documents": [Document("d", "x")], "edges": [Edge("a", "r", "b")]}
    )

    edges = table(diff, "edges")
    assert (edges.before, edges.after, edges.added, diff.different) == (None, 1, 1, True)


def test_ignored_columns_and_other_keys() -> None:
    before = {"documents": [Document("d1", "x", "A"), Document("d2", "y", "B")]}
    after = {"documents": [Document("e1", "x", "A"), Document("d2", "y", "C")]}

    plain = table(compared(before, after), "documents")
    assert (plain.added, plain.removed, plain.changed) == (1, 1, 1)
    by_text = table(compared(before, after, keys={"documents": ("text",)}), "documents")
    assert (by_text.added, by_text.removed, by_text.columns) == (0, 0, {"doc_id": 1, "title": 1})
    assert not compared(before, after, ignored=("doc_id", "documents.title")).different
    for options in ({"ignored": ("nope",)}, {"ignored": ("nope.text",)}, {"keys": {"documents": ("nope",)}}):
        with pytest.raises(UnknownNameError):
            compared(before, after, **options)


def test_repeated_keys_are_paired_in_their_order() -> None:
    before = [Document("d", "one"), Document("d", "two"), Document("d", "three")]
    after = [Document("d", "one"), Document("d", "2"), Document("d", "three"), Document("d", "four")]

    found = table(compared({"documents": before}, {"documents": after}), "documents")

    assert (found.added, found.removed, found.changed) == (1, 0, 1)
    assert [(c.before, c.after) for r in found.changed_records for c in r.changes] == [("two", "2")]
    assert found.added_records[0].row == {"text": "four"}


def test_columns_that_gain_or_lose_all_their_values() -> None:
    diff = compared({"documents": [Document("d", "x")]}, {"documents": [Document("d", "x", "T")]})

    assert [(u.column, u.before, u.after) for u in table(diff, "documents").used] == [("title", 0, 1)]


def test_files_that_go_along_are_compared_by_their_bytes(tmp_path: Path) -> None:
    big, other = tmp_path / "a.png", tmp_path / "b.png"
    big.write_bytes(b"x" * (3 << 20))
    other.write_bytes(b"x" * (3 << 20) + b"y")

    diff = compared({"assets": [Asset("i.png", big)]}, {"assets": [Asset("i.png", other)]})

    assert table(diff, "assets").columns == {"bytes": 1, "sha256": 1}
    assert not compared({"assets": [Asset("i.png", big)]}, {"assets": [Asset("i.png", big.read_bytes())]}).different


def test_records_of_files_that_no_table_holds(tmp_path: Path) -> None:
    """A record that moves to another shard is no difference; the files tell it."""
    a, b = tmp_path / "a", tmp_path / "b"
    for folder, cut in ((a, 1), (b, 2)):
        shutil.copytree(FIXTURES / "light-splade" / "valid" / "shards", folder)
        kept = folder / "train" / "triplets"
        for shard in kept.iterdir():
            shard.unlink()
        lines = [f'{{"qid": 1, "pos_doc_id": 10, "neg_doc_id": {n}}}\n' for n in (11, 12, 13)]
        (kept / "part-1.ndjson").write_text("".join(lines[:cut]))
        (kept / "part-2.ndjson").write_text("".join(lines[cut:]))

    diff = ragdatakit.diff(a, b)

    assert not diff.different
    assert {f.status for f in diff.files if f.kind == "triplets"} == {"moved"}


def test_another_text_of_a_question_is_a_change() -> None:
    before = [Question("q1", "where?"), Question(None, "when?"), Question(None, "who?")]
    after = [Question("q1", "whence?"), Question(None, "when?", "now"), Question(None, "why?")]

    found = table(compared({"questions": before}, {"questions": after}), "questions")

    assert (found.added, found.removed, found.changed) == (1, 1, 2)
    shown = [(dict(r.key), [(c.column, c.before, c.after) for c in r.changes]) for r in found.changed_records]
    assert shown == [
        ({"question_id": "q1"}, [("text", "where?", "whence?")]),
        ({"text": "when?"}, [("answer", None, "now")]),
    ]
    assert [dict(r.key) for r in found.added_records] == [{"text": "why?"}]


def test_texts_that_differ_at_the_ends_of_words_only() -> None:
    """DuckDB's hash of texts alone takes one in some hundred of such pairs for equal."""
    places = [(chr(n), chr(m)) for n in range(33, 97) for m in range(33, 65)]
    ends = [f"The har{a}our lig{b}t was built in one summer." for a, b in places]
    before = [Document(f"d{n}", text) for n, text in enumerate(ends)]
    after = [Document(f"d{n}", text) for n, text in enumerate((*ends[5:], *ends[:5]))]

    assert table(compared({"documents": before}, {"documents": after}), "documents").changed == len(ends)


def test_the_form_of_json_is_no_difference() -> None:
    def rows(first: str, second: str) -> dict[str, Iterable[Any]]:
        return {"documents": [Document("d1", "x", None, first), Document("d2", "y", None, second)]}

    before = rows('{"a":[1,{"x":1,"y":2}],"b":1.50}', '{"a":1}')
    assert not compared(before, rows('{"b":1.5,"a":[1,{"y":2,"x":1}]}', '{"a": 1}')).different
    diff = compared(before, rows('{"b":1.5,"a":[{"y":2,"x":1},1]}', '{ "a": 1}'))
    assert [dict(r.key) for r in table(diff, "documents").changed_records] == [{"doc_id": "d1"}]
    assert table(diff, "documents").columns == {"metadata": 1}
    assert not compared({"traces": [Trace("q", '{"a":1,"b":2}')]}, {"traces": [Trace("q", '{"b":2,"a":1}')]}).different


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"doc_id": 11, "text": "Harbour.", "extra": 1}', {"other_fields": 1}),
        ('{"doc_id": "11", "text": "Harbour."}', {}),
        ('{"doc_id": 11, "text": 5}', {"text": 1}),
        ('{"doc_id": 11}', {"text": 1}),
        ('{"doc_id": 11, "text": null}', {"text": 1}),
        ("nonsense", {}),
    ],
)
def test_what_a_file_has_beyond_its_tables(tmp_path: Path, line: str, words: dict[str, int]) -> None:
    """Fields that are not declared, types that are others, lines that are no JSON: none is "the same records"."""
    for name, changed in (("a", '{"text": "Harbour.", "doc_id": 11}'), ("b", line)):
        shutil.copytree(FIXTURES / "light-splade" / "valid" / "triplet", tmp_path / name)
        file = tmp_path / name / "train" / "doc_master.ndjson"
        file.write_text(file.read_text() + changed.replace("11", "911") + "\n")

    diff = ragdatakit.diff(tmp_path / "a", tmp_path / "b", metrics=False)

    assert diff.different
    assert [f.path for f in diff.files if f.status != "same"] == ["train/doc_master.ndjson"]
    documents = table(diff, "files.documents")
    assert (documents.columns, documents.added, documents.removed) == (words, int(not words), int(not words))
    others = [c.after for r in documents.changed_records for c in r.changes if c.column == "other_fields"]
    assert others == (['{"extra":1}'] if "extra" in line else [])
    assert run("diff", tmp_path / "a", tmp_path / "b", "--no-metrics").code == 1


def test_lines_that_cannot_be_read_are_compared_as_they_are(tmp_path: Path) -> None:
    a, b = write_beir(tmp_path / "a"), write_beir(tmp_path / "b")
    for folder, line in ((a, "nonsense\n"), (b, "rubbish\n")):
        with (folder / "corpus.jsonl").open("a") as file:
            file.write(line)

    shown = run("diff", a, b, "--no-metrics")

    assert shown.code == 1 and "files.corpus: 1 changed" in shown.out
    assert "- nonsense" in shown.out and "+ rubbish" in shown.out


def test_every_change_of_a_file_is_reported_beside_those_of_tables(tmp_path: Path) -> None:
    """A field that no table holds does not hide behind a record that a table tells."""
    for name, weight, text in (("a", 1, "x"), ("b", 2, "y")):
        folder = tmp_path / name
        shutil.copytree(FIXTURES / "light-splade" / "valid" / "triplet", folder)
        for kind, line in (
            ("doc_master", f'{{"doc_id": 911, "text": "{text}"}}'),
            ("positive_lists", f'{{"qid": 911, "positive_doc_ids": [911], "w": {weight}}}'),
        ):
            with (folder / "train" / f"{kind}.ndjson").open("a") as file:
                file.write(line + "\n")

    diff = ragdatakit.diff(tmp_path / "a", tmp_path / "b", metrics=False)
    shown = run("diff", tmp_path / "a", tmp_path / "b", "--no-metrics")

    assert [(t.called, t.changed) for t in diff.differing] == [("documents", 1)]
    assert table(diff, "files.positives").columns == {"other_fields": 1}
    assert "changed fields: positives other_fields 1" in shown.out


def test_files_without_records_are_compared_as_wholes(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    for folder in (a, b):
        shutil.copytree(FIXTURES / "light-splade" / "valid" / "by-products", folder)
    (name,) = (path.name for path in b.glob("*.pkl.gz"))
    (b / name).write_bytes((b / name).read_bytes() + b"X")

    diff = ragdatakit.diff(a, b)
    shown = run("diff", a, b)

    assert diff.different and not diff.differing
    assert {f.path: f.status for f in diff.files if f.status != "same"} == {name: "changed"}
    assert shown.code == 1 and f"Different: no record, but {name} changed" in shown.out
    assert f"no record, but {name} changed" in run("diff", a, b, "--output-format", "markdown").out.replace("\\", "")
    (b / name).unlink()
    assert f"no record, but {name} removed" in run("diff", a, b, "-q").out


def test_ignored_columns_of_tables_are_ignored_in_files(tmp_path: Path) -> None:
    a = write_beir(tmp_path / "a")
    b = write_beir(tmp_path / "b", {**DOCUMENTS, "d3": "Changed."})

    shown = run("diff", a, b, "--ignore", "documents.text")

    assert shown.code == 0, shown.out
    assert "~ corpus.jsonl" in shown.out and "Columns of tables were left out" in shown.out
    assert run("diff", a, b, "--ignore", "documents.title").code == 1


def test_parts_of_a_dataset_have_names_that_do_not_depend_on_its_folder(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "datamind" / "valid" / "repository", tmp_path / "elsewhere")
    (chunks,) = (tmp_path / "elsewhere").rglob("chunks/notes.jsonl")
    chunks.write_bytes(chunks.read_bytes() + b"\n")

    diff = ragdatakit.diff(FIXTURES / "datamind" / "valid" / "repository", tmp_path / "elsewhere")

    assert not diff.different
    assert [(f.path, f.status) for f in diff.files if f.status != "same"] == [("chunks/notes.jsonl", "form")]


def test_lone_files_are_one_file_whatever_they_are_called(tmp_path: Path) -> None:
    a = write_beir(tmp_path / "a")
    (tmp_path / "old.jsonl").write_bytes((a / "corpus.jsonl").read_bytes())
    (tmp_path / "new.jsonl.gz").write_bytes(gzip.compress((a / "corpus.jsonl").read_bytes()))

    diff = ragdatakit.diff(tmp_path / "old.jsonl", tmp_path / "new.jsonl.gz")

    assert not diff.different
    assert [(f.path, f.status, f.before_records) for f in diff.files] == [("new.jsonl.gz", "form", 3)]


def test_examples_are_limited_and_all_are_counted(tmp_path: Path) -> None:
    a = write_beir(tmp_path / "a", {f"d{n}": "x" for n in range(100)})
    b = write_beir(tmp_path / "b", {f"d{n}": "y" for n in range(50)})

    shown = run("diff", a, b, "--max-records", 3, "--no-metrics")

    assert shown.code == 1
    assert "documents: 50 removed, 50 changed" in shown.out
    assert "… and 47 more removed (--max-records)" in shown.out
    assert shown.out.count("  ~ doc_id=") == 3


def test_long_values_are_cut_around_the_first_difference() -> None:
    change = value_change("text", "a" * 1000 + "b" + "c" * 1000, "a" * 1000 + "B" + "c" * 1000)

    assert change.at == 1000
    assert change.before == "…" + "a" * 40 + "b" + "c" * 79 + "…"
    assert change.after == "…" + "a" * 40 + "B" + "c" * 79 + "…"
    assert value_change("text", "a" * 500, "a" * 500 + "b").at == 500
    assert value_change("grade", 1, 2).at is None


def test_the_screen(tmp_path: Path) -> None:
    a = write_beir(tmp_path / "a")
    b = write_beir(tmp_path / "b", {"d1": "The reef.", "d2": "The \x1b[31mharbour.", "d3": "The light."})

    shown = run("diff", a, b, "--no-metrics")

    assert (shown.code, shown.err) == (1, "")
    lines = [line for line in shown.out.splitlines() if str(tmp_path) not in line]
    assert lines[0] == ""
    assert lines[1:12] == [
        "table          before       after       added     removed     changed",
        "documents           3           3           0           0           1",
        "questions           2           2           0           0           0",
        "qrels               2           2           0           0           0",
        "",
        "documents: 1 changed",
        "  changed columns: text 1",
        "  ~ doc_id=d2",
        "      text",
        '        - "The harbour."',
        '        + "The <U+001B>[31mharbour."',
    ]
    assert lines[-1].startswith("Different: 0 added, 0 removed, 1 changed in documents (")
    assert run("diff", a, b, "-q", "--exit-zero").out.count("\n") == 1
    assert run("diff", a, b, "-q", terminal=True).out.startswith("\x1b[33mDifferent\x1b[0m: ")


def test_json_has_everything(tmp_path: Path) -> None:
    a = write_beir(tmp_path / "a")
    b = write_beir(tmp_path / "b", {**DOCUMENTS, "d3": "Changed."})

    shown = run("diff", a, b, "--output-format", "json", "--no-metrics")

    found = shown.json
    assert (shown.code, found["version"], found["different"]) == (1, 1, True)
    assert found["counts"] == {"added": 0, "removed": 0, "changed": 1}
    (documents,) = [t for t in found["tables"] if t["name"] == "documents"]
    assert documents["changed_records"] == [
        {
            "key": {"doc_id": "d3"},
            "changes": [{"column": "text", "before": "The light.", "after": "Changed.", "at": None}],
        }
    ]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "onload", "onclick")]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (
            "built in summer, so",
            "built in winter, so",
            ("built in <mark>summer</mark>, so", "built in <mark>winter</mark>, so"),
        ),
        ("a b", "a c b", ("a b", "a <mark>c </mark>b")),
        ("灯台の光", "灯台の明かり", ("灯台の<mark>光</mark>", "灯台の<mark>明かり</mark>")),
        ("one", "two", ("one", "two")),
        ("x <b>", "x <i>", ("x &lt;<mark>b</mark>&gt;", "x &lt;<mark>i</mark>&gt;")),
        ("x \u202e", "x \ud800", ("x &lt;U+<mark>202E</mark>&gt;", "x &lt;U+<mark>D800</mark>&gt;")),
        ("", "x", ("", "x")),
    ],
    ids=["word", "more", "no-blanks", "nothing-in-common", "markup", "hidden", "empty"],
)
def test_what_is_another_in_a_value_is_marked(before: str, after: str, shown: tuple[str, str]) -> None:
    assert marked(before, after) == shown


@pytest.mark.parametrize(
    ("name", "begins"), [("x.html", "<!doctype html>"), ("x.md", "## "), ("x.JSON", "{"), ("x", "- ")]
)
def test_the_name_of_the_file_says_the_form(name: str, begins: str, tmp_path: Path) -> None:
    a, b = write_beir(tmp_path / "a"), write_beir(tmp_path / "b", {"d1": "other"})

    assert run("diff", a, b, "--no-metrics", "--output-file", tmp_path / name).code == 1
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


def test_a_page_is_not_for_the_terminal(tmp_path: Path) -> None:
    shown = run("diff", tmp_path, tmp_path, "--output-format", "html", terminal=True)

    assert (shown.code, shown.out) == (2, "") and "--output-file diff.html" in shown.err


def test_page_and_markdown_escape_what_the_data_says(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)> | [x](javascript:y) `z` \x1b[2J"
    a = write_beir(tmp_path / "a")
    b = write_beir(tmp_path / "b<i>", {**DOCUMENTS, "<b>&\"'": evil, "d3": evil})
    out = tmp_path / "page.html"

    assert run("diff", a, b, "--output-file", out, "--no-metrics").code == 1
    page = out.read_text(encoding="utf-8")
    tags = _Tags()
    tags.feed(page)
    assert not {"img", "i", "iframe"} & set(tags.tags) and tags.tags["script"] == 1  # the page's own
    assert {address[0] for address in tags.addresses if address != "data:,"} == {"#"}
    assert tags.tags["article"] == 2 and "&lt;script&gt;" in page and "\x1b" not in page
    markdown = run("diff", a, b, "--output-format", "markdown", "--no-metrics").out
    assert "<script>" not in markdown and "\\[x\\]" in markdown and "\\`z\\`" in markdown and "\\|" in markdown


def test_numbers_that_moved() -> None:
    def summary(rows: int, mean: float) -> Summary:
        quantiles = dict.fromkeys(QUANTILES, 5.0)
        shown = Distribution("documents.text.characters", "Length", "characters", rows, 1, 9, mean, quantiles, ())
        return Summary(
            "p", "n", "beir", tables=[TableSummary("documents", rows, {None: rows}, ())], distributions=[shown]
        )

    found = {m.name: (m.before, m.after) for m in moved_metrics(summary(4, 5.0), summary(5, 5.5))}

    assert found == {"documents.rows": (4, 5), "documents.text.characters.mean": (5.0, 5.5)}
    assert moved_metrics(summary(4, 5.0), summary(4, 5.0)) == []
    diff = DatasetDiff(Side("a", "a", "beir"), Side("b", "b", "beir"))
    diff.metrics = moved_metrics(summary(4, 5.0), summary(5, 5.001))
    lines = list(diff_lines(diff))
    assert lines[3:6] == ["Numbers that moved", "  documents: rows  4 → 5 (+25.0%)", lines[5]]
    assert "1 more" in lines[5]


def test_a_number_of_a_graph_moves_once_and_has_a_name_that_reads_well() -> None:
    def summary(isolated: int) -> Summary:
        notes = [
            Note("graph.isolated", f"{isolated} nodes have no edge", isolated),
            Note("graph.unlisted", "", 3 + isolated),
            Note("reading.edges.relation", "", 5 + isolated),
        ]
        graph = GraphSummary(9, 9, 0, 1, 9, isolated, 0, 0, ())
        return Summary("p", "n", "graphrag", graph=graph, notes=notes)

    assert [m.title for m in moved_metrics(summary(1), summary(2))] == [
        "graph: nodes that the table of nodes lacks",
        "edges.relation: added or renamed on reading",
        "graph: isolated nodes",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--key", "documents"), "expected TABLE=COLUMN"),
        (("--ignore", "nope"), "unknown column 'nope'"),
        (("--output-file", "/nowhere/x"), "there is no folder"),
        (("--from", "nope"), "nope"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_reported(words: tuple[str, ...], message: str) -> None:
    shown = run("diff", GOOD, FIXTURES / "light-splade" / "valid" / "distil", *words)

    assert shown.code == 2 and message in shown.err and "Traceback" not in shown.err


def test_a_missing_path_and_damaged_data(tmp_path: Path) -> None:
    a, b = write_beir(tmp_path / "a"), write_beir(tmp_path / "b")
    assert run("diff", a, tmp_path / "nope").code == 2
    with (b / "corpus.jsonl").open("a") as file:
        file.write("nonsense\n[1]\n")
    shown = run("diff", a, b, "--no-metrics")
    assert shown.code == 1  # the tables are the same; two lines of the file are not
    assert "files.corpus: 2 added" in shown.out
    assert f"{b}: corpus: 1 record left out: no JSON object" in shown.out


def test_rows_that_were_judged_twice_are_reported_apart() -> None:
    before = [Qrel("q", "d", 1), Qrel("q", "d", 1)]

    found = table(compared({"qrels": before}, {"qrels": before[:1]}), "qrels")

    assert (found.added, found.removed, found.changed) == (0, 1, 0)


def test_the_published_schemas_hold(tmp_path: Path) -> None:
    from jsonschema import Draft202012Validator

    from ragdatakit.reports.diff.schema import query_schemas
    from tests.test_output_schema import accepted_damage, undocumented

    a = write_beir(tmp_path / "a")
    b = write_beir(tmp_path / "b", {"d1": "x" * 500, "d9": "new"}, {"q1": "where?"})
    shown = {
        "diff": run("diff", a, b, "--output-format", "json").json,
        "query": run("query", a, "select 1 as a, 2 as a, [1] as b", "--output-format", "json").json,
        "query-tables": run("query", a, "--tables", "--output-format", "json").json,
    }
    assert set(shown) == set(query_schemas())
    for name, schema in query_schemas().items():
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(shown[name])
        assert undocumented(shown[name], schema, schema) == []
        assert accepted_damage(shown[name], schema) == []
    assert shown["diff"]["metrics"]


def test_the_page_in_a_browser(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>" + "long" * 100
    a = write_beir(tmp_path / "a")
    b = write_beir(tmp_path / "b", {**DOCUMENTS, evil: evil, "d3": evil})
    out = tmp_path / "page.html"
    assert run("diff", a, b, "--output-format", "html", "--output-file", out).code == 1

    with launched() as browser:
        for scheme, width in (("light", 1100), ("dark", 360)):
            opened = open_page(browser, out, width=width, scheme=scheme)
            assert opened.quiet, opened.noise
            assert opened.texts("article .badge") == ["added", "changed"]
            assert opened.texts("nav a") == ["Overview", "documents", "Files", "Numbers that moved"]
            for name in ("Dark", "Light") if scheme == "light" else ("Light", "Dark"):
                opened.page.get_by_role("button", name=name).click()
            assert "<script>alert(1)</script><img src=x" in opened.one("ins")
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
            dark = opened.page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
            assert dark == (scheme == "dark")


def test_packed_files_have_the_size_of_what_they_hold(tmp_path: Path) -> None:
    text = "".join(f'{{"_id": "d{n}", "text": "the same words again and again"}}\n' for n in range(200))
    for side, kept in (("a", text), ("b", text[: text.rindex('{"_id"')])):
        (tmp_path / side).mkdir()
        (tmp_path / side / "corpus.jsonl.gz").write_bytes(gzip.compress(kept.encode()))
        (tmp_path / side / "queries.jsonl").write_text('{"_id": "q1", "text": "which words?"}\n')

    found = ragdatakit.diff(tmp_path / "a", tmp_path / "b")

    (file,) = [file for file in found.files if file.status != "same"]
    last = len(text) - text.rindex('{"_id"')
    assert (file.before_bytes, file.after_bytes) == (len(text), len(text) - last)
    (shown,) = [f.bytes for f in ragdatakit.report(tmp_path / "a")[0].files if f.kind == "corpus"]
    assert shown == len(text)
