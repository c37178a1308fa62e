"""Big files that are one record with a long list, item by item through the scanner: what plain Python finds.

``RAGDATA_FUZZ=100000`` tries that many files instead of the usual number.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.files.containers.sources import Block
from ragdatakit.scanner.blocks import BlockScanner
from ragdatakit.validators.hipporag.openie import processed
from ragdatakit.validators.hipporag.predicates import DOCS
from ragdatakit.validators.reading import scanned_items
from ragdatakit.validators.reading.blocks import BlockChecker, CheckedBlock, Take
from tests.block_mutations import tries
from tests.broad import some
from tests.scanner_tools import needs_scanner
from tests.test_scanner_records import PASSAGES, found_in
from tests.value_mutations import damaged_line, damaged_value, line_of

pytestmark = needs_scanner
SEEDS = range(4)
NAMES = (
    "Joss Alder",
    "Kettle Reef",
    "reef",
    "kettle_reef",
    "é",
    "\u212aelvin",
    "kelvin",
    "İ",
    "i",
    "漢字",
    "7",
    " ",
    "",
)


def results(rng: Random, passage: str) -> dict[str, Any]:
    """The results of a passage, most of them sound."""
    names = [f"{rng.choice(NAMES[:3])} {rng.randrange(9)}" for _ in range(rng.randrange(1, 5))]
    odd = NAMES if rng.random() < 0.1 else names
    triples = [[rng.choice(odd), rng.choice(("mapped", "é", "")), rng.choice(odd)] for _ in range(rng.randrange(4))]
    if rng.random() < 0.7:
        triples = [[a, "lies near", f"{b} x"] for a, b in zip(names, reversed(names), strict=True)]
        triples = [triple for i, triple in enumerate(triples) if triple not in triples[:i]]
        names += [triple[2] for triple in triples]
    digest = hashlib.md5(passage.encode()).hexdigest()
    return {"idx": f"chunk-{digest}", "passage": passage, "extracted_entities": names, "extracted_triples": triples}


def file_of_results(rng: Random, many: int) -> bytes:
    """A file of results, whole or damaged, in one of its layouts."""
    passages = [f"{title}\n{text}" for title, text in PASSAGES]
    chosen = rng.sample(passages, min(many, len(passages))) if rng.random() < 0.7 else rng.choices(passages, k=many)
    docs: list[Any] = [results(rng, passage) for passage in chosen]
    if rng.random() < 0.4:
        docs = [damaged_value(doc, rng, rng.choice((0, 0, 0, 1, 2))) for doc in docs]
    value: Any = {"docs": docs, "avg_ent_chars": 10.5, "avg_ent_words": 2.0}
    if rng.random() < 0.2:
        value = damaged_value(value, rng, 1)
    if rng.random() < 0.2:
        value = dict(reversed(list(value.items()))) if isinstance(value, dict) else value
    data = line_of(value, rng) if rng.random() < 0.6 else json.dumps(value, indent=rng.choice((0, 2))).encode()
    if rng.random() < 0.15:
        data = damaged_line(data, rng)
    ends = (b"", b"", b"\n", b"\n\n", b"\r\n", b" \n", b"\n{}", b" x", b"\r", b"\n \n")
    return rng.choice((b"", b"", b"", b"\xef\xbb\xbf", b"\n", b" ")) + data + rng.choice(ends)


@pytest.mark.parametrize("seed", SEEDS)
def test_results_are_checked_as_in_plain_python(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    corpus = [{"title": title, "text": text} for title, text in PASSAGES]
    (tmp_path / "d_corpus.json").write_text(json.dumps(corpus))
    path = tmp_path / "openie_d_results_ner_m.json"

    for _ in range(tries(80) // len(SEEDS)):
        path.write_bytes(file_of_results(rng, rng.choice((0, 1, 3, 12))))
        plain = found_in(tmp_path, "hipporag", 1 << 40, 1 << 20, 1)
        size, jobs = rng.choice((1, 40, 150, 600, 1 << 19)), rng.choice((1, 2, 7))
        assert found_in(tmp_path, "hipporag", -1, size, jobs) == plain, (size, jobs, path.read_bytes())


@pytest.mark.parametrize("indent", [None, 2])
def test_faults_do_not_make_python_read_the_file_whole(
    indent: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = [results(Random(i), f"{title}\n{text}") for i, (title, text) in enumerate(PASSAGES)]
    docs[3]["idx"] = "chunk-1"
    docs[5]["passage"] = docs[2]["passage"]
    docs[7]["extracted_triples"] = [["Reef", "is", "reef!"]]
    corpus = [{"title": title, "text": text} for title, text in PASSAGES]
    (tmp_path / "d_corpus.json").write_text(json.dumps(corpus))
    (tmp_path / "openie_d_results_ner_m.json").write_text(json.dumps({"docs": docs}, indent=indent))
    plain = found_in(tmp_path, "hipporag", 1 << 40, 1 << 20, 1)

    monkeypatch.setattr(scanned_items, "_DoubtfulError", AssertionError)

    assert found_in(tmp_path, "hipporag", -1, 300, 2) == plain
    assert sum("openie_d" in finding or "/docs/" in finding for finding in plain) >= 3


def test_results_in_lines_are_compared_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the first line takes longer than the others, which would be ahead of it in other threads."""
    made = [results(Random(i), f"Reef {i}\nIt lies north.") for i in range(3)]
    path = tmp_path / "openie_d_results_ner_m.json"
    path.write_text("".join(json.dumps({"docs": docs}) + "\n" for docs in (made, made[:1], made[1:])))
    check = BlockChecker.check

    def check_slowly(self: BlockChecker, given: Block, take: Take, at_once: bool = True) -> CheckedBlock:
        time.sleep(0 if given.offset else 0.05)
        return check(self, given, take, at_once)

    monkeypatch.setattr(BlockChecker, "check", check_slowly)

    found = found_in(path, "hipporag", -1, 100, 7)

    assert found == found_in(path, "hipporag", 1 << 40, 1 << 20, 1)
    assert sum("appear twice" in finding for finding in found) == 3


def test_sound_results_are_proved() -> None:
    """Else the speed would be gone, and nothing else would show it."""
    docs = [results(Random(0), f"{title}\n{text}") for title, text in PASSAGES]
    for doc in docs:
        doc |= {
            "extracted_entities": ["Reef", "é"],
            "extracted_triples": [["Reef", "has", "é 1"], ["pier", "é", "Reef"]],
        }
    data = b",".join(json.dumps(doc).encode() for doc in docs)

    for portable in (False, True):
        block, done = BlockScanner(DOCS.record, {"key": DOCS.key}, DOCS.asked, portable).scan_elements(data, False)
        assert (block.rows, block.notes, done) == (len(docs), [], len(data))


def test_names_are_reduced_as_in_python() -> None:
    """All characters, or those of some pages: two names of which the same remains are noted."""
    scanner = BlockScanner(DOCS.record, {"key": DOCS.key}, DOCS.asked)
    noted = 0
    pages = range(0x80, 0x110000, 64)
    taken = sorted({*range(64), *some(len(pages), every=8)})
    for first in (pages[number] for number in taken):
        letters = [chr(code) for code in range(first, first + 64) if not 0xD800 <= code < 0xE000]
        for reduced in {processed(f"a{letter}b") for letter in letters}:
            own = [letter for letter in letters if processed(f"a{letter}b") == reduced]
            triples = [[f"a{letter}b", "is", reduced] for letter in own]
            doc = {"passage": "p", "extracted_entities": [], "extracted_triples": triples}
            for triple in triples if reduced != "a b" else triples[:1]:
                line = json.dumps({**doc, "extracted_triples": [triple]}).encode()
                block, _ = scanner.scan_elements(line, False)
                assert block.notes, triple
                noted += 1
    assert noted > 1500
