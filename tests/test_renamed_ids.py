"""The file of renamed ids is read with care, as somebody may have edited it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragdatakit.files.paths.own_files import RENAMED_IDS
from ragdatakit.outputs.renamed_ids import map_back, read_renamed
from ragdatakit.schemas.canonical import Chunk, Document, Edge, Node, Summary
from ragdatakit.schemas.errors import RagdataError


def test_questions_and_passages_may_have_had_one_id(tmp_path: Path) -> None:
    (tmp_path / RENAMED_IDS).write_text(
        '{"kind":"question","id":"q-2","was":"q"}\n{"kind":"question","id":"q-3","was":"q"}\n'
        '{"kind":"passage","id":0,"was":"d"}\n{"kind":"passage","id":1,"was":"d"}\n'
    )

    assert read_renamed(tmp_path) == {"question": {"q-2": "q", "q-3": "q"}, "passage": {"0": "d", "1": "d"}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"kind":"passage","id":"d1","was":"\xff"}\n', r"ids\.ndjson:1: no renamed id"),
        (b'{"kind":"node","id":"a","was":"z"}\n{"kind":"node","id":"b","was":"z"}\n', "2: 'z' has two new ids"),
        (b'{"kind":"passage","id":"a","was":"y"}\n{"kind":"passage","id":"a","was":"z"}\n', "2: 'a' has two old ids"),
        (b'{"kind":"colour","id":"a","was":"y"}\n', "no renamed id"),
        (b'{"kind":"node","id":"a","was":"y","more":1}\n', "no renamed id"),
        (b'{"kind":"node","id":' + b"[" * 100_000 + b"\n", "no renamed id"),
        (b"\n", "no renamed id"),
    ],
)
def test_a_damaged_file_is_reported(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / RENAMED_IDS).write_bytes(content)

    with pytest.raises(RagdataError, match=message):
        read_renamed(tmp_path)


def test_passages_are_called_as_before_wherever_they_are_named() -> None:
    renamed = {"passage": {"doc-1": "d", "doc-1-chunk-0": "d#0"}}
    listed = '{"weight":1.50,"passages":["doc-1-chunk-0","other",7]}'
    rows = {
        "documents": [Document("doc-1", "x")],
        "chunks": [Chunk("doc-1-chunk-0", "x", "doc-1")],
        "nodes": [Node("a", None, listed), Node("b", None, '{"told":"passages"}'), Node("c")],
        "edges": [Edge("a", "r", "b", listed, None, "doc-1-chunk-0")],
        "summaries": [Summary("s", 1, "x", ("doc-1-chunk-0", "t"))],
    }
    found = {
        table: list(read())
        for table, read in map_back({t: lambda r=r: iter(r) for t, r in rows.items()}, renamed).items()  # type: ignore[misc]
    }

    back = '{"weight":1.50,"passages":["d#0","other",7]}'
    assert found["chunks"] == [Chunk("d#0", "x", "d")]
    assert [node.attributes for node in found["nodes"]] == [back, '{"told":"passages"}', None]
    assert found["edges"] == [Edge("a", "r", "b", back, None, "d#0")]
    assert found["summaries"][0].children == ("d#0", "t")
