"""Documents and chunks of contextual-retrieval data that are read together are those that are read one by one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.database.held_rows import HeldRows
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.tables_together import SharedRows
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import run
from tests.conversion_tools import read_tables

FIXTURES = Path(__file__).parent.parent / "fixtures" / "contextual-retrieval"
SETS = sorted(path for kind in ("valid", "broken") for path in (FIXTURES / kind).iterdir())
TABLES = ("documents", "chunks")
ODD: tuple[Any, ...] = (None, "", " ", "Ä\u2028 \\u", 0, -1, 7, 1.0, True, [], {}, ["a"], [{}], {"a": 10**20}, 2**63)


def read(path: Path, together: bool) -> tuple[Any, ...]:
    """The rows of both tables, what was lost, and the judgements, which are read with what is known of chunks."""
    tables = read_tables(path, "contextual-retrieval")
    tables.any("chunks")  # what is noted of its first row is not counted again
    source = tables.sources.get("documents")
    found: dict[str, list[Any]] = {table: [] for table in TABLES if table in tables.sources}
    try:
        if together and isinstance(source, SharedRows) and len(found) == len(TABLES):
            for rows in source.group.together(TABLES):
                for table, some in rows.items():
                    found[table] += some
        else:
            for table, some in found.items():
                some += tables.sources[table]()
        judged = [*tables.sources["qrels"]()] if "qrels" in tables.sources else []
    except RagdataError as error:
        return (str(error),)
    return found, judged, [loss.as_dict() for loss in tables.losses]


@pytest.mark.parametrize("path", SETS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_files_are_read_alike(path: Path) -> None:
    path = path / "data" if (path / "data").is_dir() else path

    assert read(path, True) == read(path, False)


def corpus(chance: random.Random, share: float) -> list[Any]:
    """Documents, in some of which something is odd."""

    def broken(fields: dict[str, Any]) -> Any:
        if chance.random() < share:
            name = chance.choice([*fields, "more"])
            if chance.random() < 0.3:
                fields.pop(name, None)
            else:
                fields[name] = chance.choice(ODD)
        return fields if chance.random() > share / 10 else chance.choice(ODD)

    def chunk(document: int, number: int) -> Any:
        index = number if chance.random() > share else chance.randrange(4)
        return broken({"chunk_id": f"doc_{document}_chunk_{index}", "original_index": index, "content": f"ä{number}\n"})

    return [
        broken({"doc_id": f"doc_{d}", "original_uuid": f"u{d % 40}", "content": f'Text "{d}"',
                "chunks": [chunk(d, number) for number in range(chance.randrange(5))]})
        for d in range(60)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_odd_documents_are_read_alike(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    text = json.dumps(corpus(chance, seed / 20), indent=chance.choice([None, 2]), ensure_ascii=chance.random() < 0.5)
    if seed % 3 == 2:
        text = text.replace('"original_index": 0', '"original_index": -0').replace("u1", "\\u0075\\u0031")
    (tmp_path / "codebase_chunks.json").write_text(text)
    golden = [{"uuid": f"u{n}", "content": "c", "chunks": [{"index": 1, "content": "d"}], "meta": {"source": n}}
              for n in range(0, 40, 7)]  # fmt: skip
    asked = [{"query": f"Which {n}?", "answer": "a", "golden_chunk_uuids": [[f"u{n}", n % 3]],
              "golden_documents": golden, "golden_chunks": [{"doc_uuid": f"u{n}", "index": n % 3, "meta": {"k": n}}]}
             for n in range(20)]  # fmt: skip
    (tmp_path / "evaluation_set.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in asked))

    assert read(tmp_path, True) == read(tmp_path, False)


def test_a_report_reads_its_documents_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "codebase_chunks.json").write_text(json.dumps(corpus(random.Random(1), 0)))
    opened: list[str] = []
    source = RecordReader.source
    monkeypatch.setattr(RecordReader, "source", lambda self, file: (opened.append(file.kind), source(self, file))[1])

    assert run("report", str(tmp_path)).code == 0
    assert opened.count("documents") == 1


def test_a_report_gives_the_database_only_the_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = corpus(random.Random(1), 0)[0]
    (tmp_path / "codebase_chunks.json").write_text(json.dumps([{**document, "source": "mine"}]))
    given: list[str] = []
    monkeypatch.setattr(HeldRows, "give", lambda rows, _: given.append(rows._table))

    found = run("report", str(tmp_path), "--output-format", "json").json

    assert "documents.metadata.source" in json.dumps(found)
    assert given == []
