"""The file of renamed ids is read with care, as somebody may have edited it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragdatakit.files.paths.own_files import RENAMED_IDS
from ragdatakit.outputs.renamed_ids import read_renamed
from ragdatakit.schemas.errors import RagdataError


def test_questions_and_passages_may_have_had_one_id(tmp_path: Path) -> None:
    (tmp_path / RENAMED_IDS).write_text(
        '{"kind":"question","id":"q-2","was":"q"}\n{"kind":"question","id":"q-3","was":"q"}\n'
        '{"kind":"passage","id":0,"was":"d"}\n{"kind":"passage","id":1,"was":"d"}\n'
    )

    assert read_renamed(tmp_path) == {"question": {"q-2": "q", "q-3": "q"}, "passage": {"0": "d", "1": "d"}}


@pytest.mark.parametrize(
    ("content", "told"),
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
def test_a_damaged_file_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / RENAMED_IDS).write_bytes(content)

    with pytest.raises(RagdataError, match=told):
        read_renamed(tmp_path)
