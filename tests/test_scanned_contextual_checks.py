"""Documents of contextual retrieval in big sets: what the scanner takes for clean is clean in plain Python.

``RAGDATA_FUZZ=100000`` tries that many sets instead of the usual number.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pytest

from ragdatakit.arrays.text_codes import code_of_text, codes_of_texts, numbers_of
from ragdatakit.scanner.blocks import BlockScanner
from ragdatakit.scanner.predicates import WHITE_SPACE, Stripped
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import Field, Record
from ragdatakit.validators import dataset_run
from ragdatakit.validators.contextual_retrieval.corpus import Corpus
from ragdatakit.validators.contextual_retrieval.scanned_documents import ASKED, MADE_OF
from tests.block_mutations import tries
from tests.scanner_tools import needs_scanner
from tests.test_scanned_contextual import document, question, with_contexts
from tests.test_scanner_records import found_in
from tests.value_mutations import damaged_line, damaged_value, line_of

pytestmark = needs_scanner
SEEDS = range(4)
RECORD = get_format("contextual-retrieval").file("documents").record


def disturb(documents: list[dict[str, Any]], rng: Random) -> None:
    """Have a document or a chunk say what another one says, or nearly so."""
    one, other = rng.choice(documents), rng.choice(documents)
    chunks = [chunk for each in (one, other) for chunk in each["chunks"]]
    how = rng.randrange(10)
    if how == 0:
        one["doc_id"] = other["doc_id"]
    elif how == 1:
        one["original_uuid"] = other["original_uuid"]
    elif how == 2:
        one["doc_id"] = rng.choice((f"{other['doc_id']}_chunk_0", "doc_7_chunk_", "", "a\n"))
    elif how == 3:
        one["content"] = rng.choice((one["content"].replace("\n", " "), one["content"][1:], f" {one['content']}"))
    elif chunks and how == 4:
        chunk = rng.choice(chunks)
        rng.choice(chunks)["chunk_id"] = rng.choice((chunk["chunk_id"], f"{chunk['chunk_id']}0", "c_chunk_01"))
    elif chunks and how in (5, 6):
        chunk, blanks = rng.choice(chunks), rng.choice(("", " ", "\n", "\u3000", "\u200b"))
        rng.choice(chunks)["content"] = chunk["content"] + blanks
        one["content"] += chunk["content"] + blanks
    elif how == 7:
        documents.insert(rng.randrange(len(documents)), deepcopy(one) | {"original_uuid": rng.choice(("u", "v"))})
    elif one["chunks"] and other["chunks"] and how == 8:  # of the one that comes first
        first, last = sorted((one, other), key=documents.index)
        first["chunks"][0]["chunk_id"] = last["chunks"][-1]["chunk_id"]
    else:
        rng.shuffle(one["chunks"])


def spoilt(values: list[Any], rng: Random, share: float) -> list[bytes]:
    """The values as lines, some of them damaged."""
    lines = [line_of(damaged_value(v, rng, rng.choice((1, 2))) if rng.random() < share else v, rng) for v in values]
    return [damaged_line(line, rng) if rng.random() < share / 5 else line for line in lines]


def found(folder: Path, small: int, size: int, jobs: int) -> list[Any]:
    with mock.patch.object(dataset_run, "ARRAY_PART_BYTES", size):
        return found_in(folder, "contextual-retrieval", small, size, jobs)


@pytest.mark.parametrize("seed", SEEDS)
def test_documents_are_checked_as_in_plain_python(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    for number in range(tries(80) // len(SEEDS)):
        documents = [document(place, rng) for place in range(rng.choice((1, 5, 30)))]
        for _ in range(rng.choice((0, 1, 3))):
            disturb(documents, rng)
        share = rng.choice((0, 0, 0.02, 0.2))
        folder = tmp_path / str(number)
        folder.mkdir()
        rows = rng.choice((b", ", b",\n")).join(spoilt(documents, rng, share))
        (folder / "codebase_chunks.json").write_bytes(b"[" + rows + b"]")
        if rng.random() < 0.5:
            with_contexts(folder, documents, rng)
        if rng.random() < 0.7:
            asked = [question(place, documents, rng) for place in range(3)]
            (folder / "evaluation_set.jsonl").write_bytes(b"\n".join(spoilt(asked, rng, share)))
        plain = found(folder, 1 << 40, 1 << 20, 1)
        size, jobs = rng.choice((1, 700, 3000, 1 << 19)), rng.choice((1, 2, 7))
        assert found(folder, -1, size, jobs) == plain, (folder, size, jobs)


def test_usual_documents_are_taken_as_they_are() -> None:
    """Else the speed would be gone, and nothing else would show it."""
    rng, corpus = Random(1), Corpus()
    corpus.scanned = True
    documents = [{**document(number, rng), "chunks": document(number, rng)["chunks"] or [1]} for number in range(99)]
    documents = [one for one in documents if one["chunks"] != [1]]
    for one in documents:
        one["content"] = "\n\n".join(chunk["content"] for chunk in one["chunks"])
    scanner = BlockScanner(RECORD, {name: name for name in MADE_OF}, ASKED)
    first, last = (b",".join(line_of(one, rng) for one in some) for some in (documents[:50], documents[50:]))
    block, _ = scanner.scan_elements(first, members=False)
    assert (block.rows, block.notes) == (50, [])
    assert corpus.takes(block, first)
    assert not corpus.takes(block, first)  # all of them are there
    others, _ = scanner.scan_elements(last, members=False)
    assert corpus.takes(others, last)
    assert next(corpus.problems(documents[0])).rule == "duplicate-chunk-id"


@pytest.mark.parametrize("called", ["d3_chunk_9", "d9_chunk_0", "d9_chunk_7", "other"])
def test_chunks_of_noted_documents_that_are_called_after_others(tmp_path: Path, called: str) -> None:
    """Which of two chunks has the id first depends on the order of their documents."""
    documents = [
        {
            "doc_id": f"d{number}",
            "original_uuid": f"u{number}",
            "content": f"text {number} of it",
            "chunks": [{"chunk_id": f"d{number}_chunk_0", "original_index": 0, "content": f"text {number}"}],
        }
        for number in range(12)
    ]
    documents[6]["chunks"][0] |= {"chunk_id": called, "content": "not in it"}  # type: ignore[index]
    documents[8]["doc_id"] = "d3"
    (tmp_path / "codebase_chunks.json").write_text(json.dumps(documents))
    plain = found(tmp_path, 1 << 40, 1 << 20, 1)
    assert "CR003" in str(plain)
    for size in (1, 300, 700, 1 << 19):
        assert found(tmp_path, -1, size, 2) == plain


def test_a_large_set_is_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(2)
    documents = [one for number in range(99) if (one := document(number, rng))["chunks"]]
    documents[7]["chunks"][0]["content"] = documents[6]["chunks"][0]["content"] + " "
    documents[7]["content"] += documents[7]["chunks"][0]["content"]
    (tmp_path / "codebase_chunks.json").write_text(json.dumps(documents))
    plain = found(tmp_path, 1 << 40, 1 << 20, 1)
    seen: list[Any] = []
    problems = Corpus.problems
    monkeypatch.setattr(Corpus, "problems", lambda self, value: seen.append(value) or problems(self, value))
    assert found(tmp_path, -1, 2000, 2) == plain
    assert "CR007" in str(plain)
    assert len(seen) == 1


def test_codes_of_texts_without_the_blanks_at_their_ends() -> None:
    record = Record(name="text", title="", description="", fields=(Field("a: string"), Field("b: string")))
    scanner = BlockScanner(record, {"a": "a", "b": "b"}, [Stripped("a")])
    pieces = (*WHITE_SPACE, "a", "é", "\u200b", "\u180e", "漢", '"', "\\", "\0")
    rng = Random(5)
    texts = ["", " ", "".join(WHITE_SPACE), *("".join(rng.choices(pieces, k=rng.randrange(6))) for _ in range(2000))]
    block = scanner.scan(b"\n".join(line_of({"a": text, "b": text}, rng) for text in texts))
    assert block is not None
    assert numbers_of(block.columns["a"].codes) == [code_of_text(text.strip()) for text in texts]
    assert numbers_of(block.columns["b"].codes) == [code_of_text(text) for text in texts]
    assert np.array_equal(codes_of_texts(texts), block.columns["b"].codes)
