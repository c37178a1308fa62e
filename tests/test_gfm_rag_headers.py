"""Headers of tables that cannot be read, and first rows that move all columns."""

from __future__ import annotations

from pathlib import Path

from ragdatakit import validate
from ragdatakit.schemas import get_format


def stage1(tmp_path: Path) -> Path:
    for name, text in get_format("gfm-rag").example.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "processed" / "stage1"


def rules(root: Path) -> list[tuple[str, str, int | None]]:
    report = validate(root, severity="error")
    return [(f.rule, Path(f.path).name, f.line) for f in report.findings]


def test_a_column_name_that_is_not_utf8(tmp_path: Path) -> None:
    folder = stage1(tmp_path)
    nodes = (folder / "nodes.csv").read_bytes().splitlines(keepends=True)
    (folder / "nodes.csv").write_bytes(
        b"name,type,attributes,gr\xf6\xdfe\n" + b"".join(line[:-1] + b",1\n" for line in nodes[1:])
    )
    assert rules(tmp_path) == [("invalid-utf8", "nodes.csv", 1)]


def test_a_table_in_utf16(tmp_path: Path) -> None:
    folder = stage1(tmp_path)
    (folder / "nodes.csv").write_bytes((folder / "nodes.csv").read_text().encode("utf-16"))
    assert rules(tmp_path) == [("not-text", "nodes.csv", None)]


def test_an_unquoted_comma_in_the_first_row(tmp_path: Path) -> None:
    """Nobody can say which cell of that row is which; the others are judged as they were meant."""
    folder = stage1(tmp_path)
    edges = (folder / "edges.csv").read_text().splitlines(keepends=True)
    (folder / "edges.csv").write_text("".join([edges[0], "Smith, John,was_followed_by,lena,{}\n", *edges[1:]]))
    assert rules(tmp_path) == [("shifted-columns", "edges.csv", 2)]
