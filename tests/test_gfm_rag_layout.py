"""How GFM-RAG datasets lie on disk: what is found where, what is missing, what a cache hides."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.find import detect
from ragdatakit.schemas import get_format
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.validators.gfm_rag.layout import DatasetFolders, layout_problems, mark_built
from tests.command_line import FIXTURES
from tests.gfm_rag_sets import changed, write

EXAMPLE: dict[str, Any] = dict(get_format("gfm-rag").example)
STAGE1 = "processed/stage1/"
CACHE = "processed/stage2/" + "0123456789abcdef" * 2 + "/"
TABLES = [STAGE1 + name for name in ("nodes.csv", "relations.csv", "edges.csv")]
LONG_AGO, LATER = 1_700_000_000, 1_700_400_000


def layouts(path: Path) -> list[tuple[str, Dataset]]:
    """The name of the layout of every dataset at a path."""
    return [(d.layout, d) for d in detect(path).datasets]


def reported(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Rules and facts that names, places and times of one dataset give."""
    ((_, found),) = layouts(path)
    mark_built(found)
    return [(problem.rule, problem.facts) for _, problem in layout_problems(found)]


def age(root: Path, **seconds: int) -> None:
    """Give files times: the tail of a name (with ``_`` for ``.``), and when it was changed."""
    for path in root.rglob("*.*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
        for tail, when in seconds.items():
            if path.name == tail.replace("_", "."):
                os.utime(path, (when, when))


def cached(*names: str) -> dict[str, Any]:
    """A cache with these files."""
    return {CACHE + name: "not read" for name in names}


WHOLE_CACHE = cached("graph.pt", "node2id.json", "rel2id.json", "test.pt", "config.json")


@pytest.mark.parametrize(
    ("part", "layout"), [("", "dataset"), ("processed", "processed"), ("processed/stage1", "stage1")]
)
def test_a_dataset_may_be_given_by_any_of_its_folders(tmp_path: Path, part: str, layout: str) -> None:
    write(tmp_path, EXAMPLE)

    assert [name for name, _ in layouts(tmp_path / part)] == [layout]
    assert reported(tmp_path / part) == []


@pytest.mark.parametrize("part", ["processed", "processed/stage1"])
def test_the_documents_are_looked_for_where_they_belong(tmp_path: Path, part: str) -> None:
    write(tmp_path, changed(EXAMPLE, {"raw/documents.json": ...}))
    expected = "../raw/documents.json" if part == "processed" else "../../raw/documents.json"

    assert reported(tmp_path / part) == [("missing-documents-file", {"file": expected})]
    assert reported(tmp_path) == [("missing-documents-file", {"file": "raw/documents.json"})]


def test_a_relative_path_hides_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, changed(EXAMPLE, {"raw/documents.json": ...}))
    monkeypatch.chdir(tmp_path / "processed" / "stage1")

    assert reported(Path()) == [("missing-documents-file", {"file": "../../raw/documents.json"})]


def test_three_tables_in_any_folder_have_no_place_for_documents(tmp_path: Path) -> None:
    write(tmp_path, {name.rsplit("/", 1)[1]: EXAMPLE[name] for name in TABLES})

    assert reported(tmp_path) == []


def test_the_folder_of_raw_files(tmp_path: Path) -> None:
    write(tmp_path, EXAMPLE)

    ((layout, found),) = layouts(tmp_path / "raw")
    mark_built(found)

    assert (layout, [f.kind for f in found.files]) == ("raw documents", ["built-documents"])


@pytest.mark.parametrize("gone", TABLES)
def test_a_table_is_missing(tmp_path: Path, gone: str) -> None:
    write(tmp_path, changed(EXAMPLE, {gone: ...}))
    others = " and ".join(n.rsplit("/", 1)[1] for n in TABLES if n != gone)

    expected = [("missing-graph-file", {"file": gone.rsplit("/", 1)[1], "others": others})]
    assert [reported(tmp_path / part) for part in ("", "processed", "processed/stage1")] == [expected] * 3


def test_questions_without_any_table(tmp_path: Path) -> None:
    write(tmp_path, changed(EXAMPLE, dict.fromkeys(TABLES, ...)))

    assert [rule for rule, _ in reported(tmp_path)] == ["missing-graph-file"] * 3


def test_questions_in_a_folder_of_their_own_need_no_tables(tmp_path: Path) -> None:
    write(tmp_path, {"test.json": EXAMPLE[STAGE1 + "test.json"]})

    assert reported(tmp_path) == []


def test_raw_files_are_judged_by_whether_they_are_still_needed(tmp_path: Path) -> None:
    raw: dict[str, Any] = {f"raw/{split}.json": [] for split in ("train", "test")}
    write(tmp_path, {**EXAMPLE, **raw})
    ((_, found),) = layouts(tmp_path)

    mark_built(found)

    kinds = {f.name: f.kind for f in found.files if f.name.startswith("raw/")}
    assert kinds == {
        "raw/documents.json": "built-documents",
        "raw/test.json": "built-raw-questions",
        "raw/train.json": "raw-questions",
    }


@pytest.mark.parametrize("content", ["[]", "{}", '"text"', "5", '{"Harbour log": null}'])
def test_beside_a_complete_graph_any_json_passes_for_documents(tmp_path: Path, content: str) -> None:
    write(tmp_path, {**EXAMPLE, "raw/documents.json": content})

    found = {f.rule for f in validate(tmp_path, severity="error").findings}

    assert not found & {"documents-not-object", "document-not-text", "no-documents", "unusable-documents"}


def test_raw_questions_without_documents(tmp_path: Path) -> None:
    write(tmp_path, {**changed(EXAMPLE, {"raw/documents.json": ...}), "raw/train.json": "[]"})

    assert [rule for rule, _ in reported(tmp_path)] == ["missing-documents-file"]


def test_questions_from_whose_documents_a_graph_is_still_to_be_built(tmp_path: Path) -> None:
    """The folder of the questions is still one of GFM-RAG, so that a hook does not pass over it."""
    shutil.copytree(FIXTURES / "gfm-rag/valid/raw-only", tmp_path / "data")
    (tmp_path / "data/raw/documents.json").unlink()

    (finding,) = validate(tmp_path / "data", skip_unrecognised=True).findings

    assert (finding.rule, finding.severity) == ("missing-documents-file", "error")


def test_many_datasets_below_one_root(tmp_path: Path) -> None:
    for name in ("harbour_train0", "harbour_train1", "harbour_test"):
        write(tmp_path / name, EXAMPLE)

    assert [(layout, d.root.name) for layout, d in layouts(tmp_path)] == [
        ("dataset", name) for name in ("harbour_test", "harbour_train0", "harbour_train1")
    ]


@pytest.mark.parametrize("name", [name for name in EXAMPLE if not name.endswith("documents.json")])
def test_a_lone_file_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    wanted = "questions" if name.endswith("test.json") else name.rsplit("/", 1)[1].removesuffix(".csv")
    path = write(tmp_path, {"lone" + name[name.rindex(".") :]: EXAMPLE[name]}) / ("lone" + name[name.rindex(".") :])

    ((layout, found),) = layouts(path)

    assert (layout, found.format.name, [f.kind for f in found.files]) == ("file", "gfm-rag", [wanted])
    assert reported(path) == []


def test_an_object_of_texts_is_documents_by_its_name_or_where_the_format_is_named(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(("documents.json", "package.json"), EXAMPLE["raw/documents.json"]))

    assert [found.format.name for _, found in layouts(tmp_path / "documents.json")] == ["gfm-rag"]
    assert validate(tmp_path / "package.json", format="gfm-rag").ok
    with pytest.raises(RagdataError, match="not recognised"):
        validate(tmp_path / "package.json")


def test_no_cache_no_words(tmp_path: Path) -> None:
    write(tmp_path, EXAMPLE)
    (tmp_path / CACHE).mkdir(parents=True)

    assert reported(tmp_path) == []


@pytest.mark.parametrize("part", ["", "processed", "processed/stage1"])
def test_a_cache_is_reported(tmp_path: Path, part: str) -> None:
    write(tmp_path, {**EXAMPLE, **WHOLE_CACHE})
    age(tmp_path)

    assert reported(tmp_path / part) == [("cache-exists", {})]


@pytest.mark.parametrize("changed_file", ["nodes_csv", "relations_csv", "edges_csv", "test_json"])
def test_a_cache_older_than_a_file(tmp_path: Path, changed_file: str) -> None:
    write(tmp_path, {**EXAMPLE, **WHOLE_CACHE})
    age(tmp_path, **{changed_file: LATER})

    facts = {"newer": changed_file.replace("_", "."), "age": "5 days"}
    assert reported(tmp_path) == [("cache-exists", {}), ("stale-cache", facts)]


def test_of_several_changed_files_the_last_is_named(tmp_path: Path) -> None:
    write(tmp_path, {**EXAMPLE, **WHOLE_CACHE})
    age(tmp_path, nodes_csv=LONG_AGO + 600, edges_csv=LONG_AGO + 7300)

    assert reported(tmp_path)[1] == ("stale-cache", {"newer": "edges.csv", "age": "2 hours"})


def test_times_that_unpacking_left_are_no_age(tmp_path: Path) -> None:
    write(tmp_path, {**EXAMPLE, **WHOLE_CACHE})
    age(tmp_path, nodes_csv=LONG_AGO + 30)

    assert reported(tmp_path) == [("cache-exists", {})]


def test_a_changed_question_file_that_is_not_cached(tmp_path: Path) -> None:
    write(tmp_path, {**EXAMPLE, **WHOLE_CACHE, STAGE1 + "train.json": "[]"})
    age(tmp_path, train_json=LATER)

    assert reported(tmp_path) == [("cache-exists", {})]


def test_half_a_cache_keeps_masks_of_other_nodes(tmp_path: Path) -> None:
    write(tmp_path, {**EXAMPLE, **cached("node2id.json", "rel2id.json", "test.pt")})
    age(tmp_path)

    assert reported(tmp_path) == [("cache-exists", {}), ("partial-cache", {"missing": "graph.pt"})]


def test_a_cache_without_masks_is_built_anew(tmp_path: Path) -> None:
    write(tmp_path, {**EXAMPLE, **cached("node2id.json", "rel2id.json")})

    assert reported(tmp_path) == []


def test_cached_questions_without_their_file(tmp_path: Path) -> None:
    write(tmp_path, {**changed(EXAMPLE, {STAGE1 + "test.json": ...}), **WHOLE_CACHE})
    age(tmp_path)

    assert reported(tmp_path)[1:] == [("cache-without-questions", {"cached": "test.pt", "file": "test.json"})]


def test_every_cache_is_looked_at(tmp_path: Path) -> None:
    other = {name.replace("0123", "3210"): content for name, content in WHOLE_CACHE.items()}
    write(tmp_path, {**EXAMPLE, **WHOLE_CACHE, **other})
    age(tmp_path, nodes_csv=LATER)

    assert [rule for rule, _ in reported(tmp_path)] == ["cache-exists", "stale-cache"] * 2


def test_places_of_a_folder_that_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"nodes.csv": EXAMPLE[TABLES[0]]})
    ((_, found),) = layouts(tmp_path)

    folders = DatasetFolders(found)

    assert (folders.stage1, folders.raw, folders.stage2) == (tmp_path, None, None)
    assert not folders.graph_is_built()


@pytest.mark.parametrize("name", [*TABLES, STAGE1 + "test.json", "raw/documents.json"])
def test_a_folder_in_the_place_of_a_file(name: str, tmp_path: Path) -> None:
    write(tmp_path, changed(EXAMPLE, {name: ...}))
    (tmp_path / name).mkdir(parents=True)

    (finding,) = validate(tmp_path, severity="warning").findings

    assert (finding.rule, finding.path) == ("unreadable-file", str(tmp_path / name))
    assert "it is a folder, not a file" in finding.message
    with pytest.raises(RagdataError, match="is a folder, and has the name of a file"):
        validate(tmp_path / name)


def test_a_missing_table_is_reported_where_it_should_be(tmp_path: Path) -> None:
    write(tmp_path, changed(EXAMPLE, {TABLES[0]: ..., STAGE1 + "Nodes.csv": EXAMPLE[TABLES[0]]}))

    (finding,) = [f for f in validate(tmp_path).findings if f.severity == "error"]

    assert (finding.rule, finding.path) == ("missing-graph-file", str(tmp_path / TABLES[0]))
    assert "only relations.csv and edges.csv (there is Nodes.csv)" in finding.message


def test_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    write(tmp_path, changed(EXAMPLE, {TABLES[0]: ...}))
    (tmp_path / TABLES[0]).symlink_to("/nowhere/nodes.csv")

    (finding,) = validate(tmp_path, severity="warning").findings

    assert (finding.rule, "leads nowhere" in finding.message) == ("unreadable-file", True)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("records.jsonl", '{"query": "q"}\n', "not recognised as a file of gfm-rag"),
        ("prediction.jsonl", '{"id": 1}\n', "is never checked"),
        ("notes.json", "", "is empty: there is no record by which to recognise it"),
    ],
)
def test_a_file_in_which_nothing_would_be_checked_is_refused(
    name: str, content: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)

    with pytest.raises(RagdataError, match=words):
        validate(tmp_path / name, format="gfm-rag")


def test_a_packed_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv.gz"
    path.write_bytes(gzip.compress(EXAMPLE[TABLES[0]].encode()))

    with pytest.raises(RagdataError, match="unpack it with gunzip"):
        validate(path)
