"""What people really get wrong with GFM-RAG's tables: one mistake is one finding, and it says what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.schemas import get_format
from ragdatakit.schemas.findings import Finding
from ragdatakit.validators import dataset_run
from tests.gfm_rag_sets import changed, write

EXAMPLE: dict[str, Any] = dict(get_format("gfm-rag").example)
STAGE1 = "processed/stage1/"
NODES, EDGES, TEST = (STAGE1 + name for name in ("nodes.csv", "edges.csv", "test.json"))


@pytest.fixture(params=["small", "big"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either engine."""
    if request.param == "big":
        monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)


def reported(root: Path, name: str, content: Any) -> list[Finding]:
    """Errors and warnings of the example with one other file."""
    write(root, changed(EXAMPLE, {name: ...}))
    data = content if isinstance(content, bytes) else content.encode()
    (root / name).write_bytes(data)
    return validate(root, severity="warning", max_per_rule=0).findings


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("separator", "words"), [(";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")])
@pytest.mark.parametrize("name", [NODES, EDGES])
def test_another_separator_is_named_once(name: str, separator: str, words: str, tmp_path: Path) -> None:
    (finding,) = reported(tmp_path, name, EXAMPLE[name].replace(",", separator))

    assert (finding.rule, finding.line) == ("missing-column", 1)
    assert f"{words} separate the columns, and pandas splits at commas" in finding.message


@pytest.mark.usefixtures("engine")
def test_a_table_without_header_is_reported_once(tmp_path: Path) -> None:
    (finding,) = reported(tmp_path, EDGES, EXAMPLE[EDGES].split("\n", 1)[1])

    assert finding.rule == "missing-column"
    assert "source, relation, target or attributes" in finding.message
    assert "which is the first row if the header was left out" in finding.message


@pytest.mark.usefixtures("engine")
def test_a_spreadsheet_is_no_text(tmp_path: Path) -> None:
    (finding,) = reported(tmp_path, NODES, b"PK\x03\x04" + b"\x00\x01" * 400 + b"\n")

    assert finding.rule == "not-text"
    assert "it holds a zip archive" in finding.message
    assert len(finding.message) < 250


def test_a_header_in_capitals_says_nothing_of_separators(tmp_path: Path) -> None:
    (finding,) = reported(tmp_path, NODES, EXAMPLE[NODES].replace("name,type", "Name,Type", 1))

    assert "no column is called name or type; the header is Name,Type,attributes; both" in finding.message


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", [NODES, EDGES])
def test_latin_1_is_reported_and_nothing_else(name: str, tmp_path: Path) -> None:
    text = EXAMPLE[name].replace("osprey", "ospréy", 2)

    found = {f.rule: f for f in reported(tmp_path, name, text.encode("latin-1"))}

    assert (found.keys() == {"invalid-utf8"}) == (name == EDGES)
    if name == NODES:  # the nodes have another name now, and where it stands is named
        assert {"dangling-endpoint", "unknown-start-node"} & found.keys()
        assert found["unreliable-key"].line == found["invalid-utf8"].line


@pytest.mark.usefixtures("engine")
def test_a_name_in_latin_1_is_found_by_edges_in_utf_8(tmp_path: Path) -> None:
    write(tmp_path, EXAMPLE)
    for name, encoding in ((NODES, "latin-1"), (EDGES, "utf-8"), (TEST, "utf-8"), ("raw/documents.json", "utf-8")):
        (tmp_path / name).write_bytes(EXAMPLE[name].replace("osprey", "ospréy").encode(encoding))

    found = validate(tmp_path, severity="warning", max_per_rule=0).findings

    assert {f.rule for f in found} == {"invalid-utf8"}


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "row", [b"a,b,c,d", b"h\xe4fen,entity,{}", b"x,entity,\"{'a': 'h\xe4fen'}\"", b'x,entity,"{}', b'"x,entity,{}']
)
def test_one_unreadable_row_hides_no_dangling_edge(row: bytes, tmp_path: Path) -> None:
    write(tmp_path, EXAMPLE)
    (tmp_path / NODES).write_bytes(EXAMPLE[NODES].encode() + row + b"\n")
    edges = EXAMPLE[EDGES] + "nobody,was_followed_by,lena,{}\n"
    (tmp_path / EDGES).write_text(edges)

    found = validate(tmp_path, severity="warning").findings

    places = {f.rule: f.line for f in found}
    assert places["dangling-endpoint"] == len(edges.splitlines())
    last = len(EXAMPLE[NODES].splitlines()) + 1
    is_sure = row.startswith(b"x,")
    assert {f.line for f in found if f.path.endswith("nodes.csv")} == {last}
    assert ("unreliable-key" in places) == (not is_sure or row.endswith(b'"{}')), places


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("\nlena,entity,{}", '\n"lena,entity,{}', "unclosed-quote"),
        ("\nlena,entity,{}", "\nlena,entity,{},b", "long-row"),
    ],
)
def test_a_row_at_which_pandas_stops_leaves_nothing_else_to_say(old: str, new: str, rule: str, tmp_path: Path) -> None:
    found = reported(tmp_path, NODES, EXAMPLE[NODES].replace(old, new, 1))

    assert [f.rule for f in found] == [rule]


def test_the_cause_comes_before_its_consequence(tmp_path: Path) -> None:
    first, second = reported(tmp_path, TEST, EXAMPLE[TEST].replace('["osprey"]', '["Osprey"]'))

    assert (first.rule, second.rule) == ("no-known-start-node", "no-usable-sample")
    assert second.hint.startswith("repair the node names")


def test_fields_that_are_missing_count_by_question(tmp_path: Path) -> None:
    write(tmp_path, EXAMPLE)
    bare = '{"id": %d, "question": "q%d", "start_nodes": {"entity": ["lena"]}, "target_nodes": {"entity": ["osprey"]}}'
    (tmp_path / TEST).write_text("[" + ",".join(bare % (i, i) for i in range(3)) + "]")

    found = [f for f in validate(tmp_path).findings if f.rule == "missing-evaluation-field"]

    assert ["no supporting_documents and no answer_aliases (in 3 records" in f.message for f in found] == [True]
