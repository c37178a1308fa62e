"""What the compiled scanner takes for clean is clean line by line, with the same keys; the rest goes to Python.

``RAGDATA_FUZZ=100000`` tries that many blocks a kind instead of the usual number.
"""

from __future__ import annotations

import ctypes
import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import ragdatakit
from ragdatakit.api import engine
from ragdatakit.files.containers.record_forms import JSON
from ragdatakit.files.containers.record_forms import REFUSED as UNLIKE
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.scanner import library as loading
from ragdatakit.scanner.blocks import BlockScanner
from ragdatakit.scanner.library import FUNCTIONS, engine_words, library, missing_reason
from ragdatakit.scanner.notes import BLANK, CANDIDATE
from ragdatakit.scanner.plan import plan_blob
from ragdatakit.scanner.predicates import (
    WHITE_SPACE,
    Blank,
    Edged,
    Equal,
    FewLetters,
    Holds,
    ItemTwice,
    Longer,
    NotFirst,
    OneUnlikeNumber,
    Predicate,
    is_plain,
    plain_ranges,
)
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import Field, File, Record
from ragdatakit.validators import checks_of, dataset_run
from ragdatakit.validators.gfm_rag.raw import ASCII_SHARE, ascii_percent
from ragdatakit.validators.python_keys import spelling
from tests.block_mutations import TOKENS, block, mutated, tries
from tests.command_line import run
from tests.scanner_tools import KINDS, BothWays, cut_anywhere, needs_scanner

pytestmark = needs_scanner
WITH_PREDICATES = [
    ("light-splade", "queries"),
    ("light-splade", "documents"),
    ("light-splade", "positives"),
    ("beir", "queries"),
    ("beir", "corpus"),
    ("sage", "documents"),
    ("datamind", "chunks"),
    ("datamind", "triplets"),
]
DOCUMENTS = get_format("light-splade").file("documents")
POSITIVES = get_format("light-splade").file("positives")


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_blocks_are_checked_as_line_by_line(kind: File) -> None:
    rng = Random(kind.kind)
    ways = BothWays(kind)

    for _ in range(tries(80)):
        data = mutated(kind.record, rng)
        for part in cut_anywhere(data, rng) if rng.random() < 0.3 else [data]:
            wrong = [*ways.differences(part)]
            assert not wrong, f"{wrong[0]}\n{part!r}"


@pytest.mark.parametrize(("name", "kind"), WITH_PREDICATES)
def test_rules_see_what_they_find_something_in(name: str, kind: str) -> None:
    rng = Random(f"{name} {kind}")
    fmt = get_format(name)
    file = DataFile(Path("x"), "x", "x", kind)
    checks = checks_of(name)(Dataset(Path(), "", fmt, "file", [file]), ())
    predicates = checks.scanning(file).predicates or ()
    ways = BothWays(fmt.file(kind), predicates, lambda value: checks.record(file, value), checks)

    for _ in range(tries(150)):
        data = mutated(fmt.file(kind).record, rng)
        wrong = [*ways.differences(data)]
        assert not wrong, f"{wrong[0]}\n{data!r}"


@pytest.mark.parametrize("kind", KINDS)
def test_sound_lines_are_proved(kind: File) -> None:
    """Else the speed would be gone without a word."""
    rng = Random(1)
    scanner = BlockScanner(kind.record, {})

    blocks = [b"".join(block(kind.record, rng).splitlines(keepends=True)) for _ in range(200)]
    found = [scanner.scan(data) for data in blocks]
    rows = sum(f.rows for f in found if f)
    noted = sum(len(f.notes) for f in found if f)

    assert noted < rows / 2 or kind.kind in ("scores", "chunks", "tree")


def test_each_token_at_each_place_of_a_line() -> None:
    ways = BothWays(DOCUMENTS)
    line = b'{"doc_id": 12, "text": "tide \\"\xc3\xa9"}'

    for token in TOKENS:
        for at in range(len(line) + 1):
            data = line[:at] + token + line[at:] + b"\n" + line
            wrong = [*ways.differences(data)]
            assert not wrong, f"{wrong[0]}\n{data!r}"


@pytest.mark.parametrize("length", [1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100])
def test_texts_of_each_length_have_the_codes_that_python_gives_them(length: int) -> None:
    ways = BothWays(DOCUMENTS)
    lines = [{"doc_id": n, "text": (c * length)[:length]} for n, c in enumerate(("a", "é", "漢", "\U0001f311", '"'))]

    for ascii_only in (False, True):
        data = "\n".join(json.dumps(line, ensure_ascii=ascii_only) for line in lines).encode()
        assert not [*ways.differences(data)]


@pytest.mark.parametrize("found", ["7", "-7", "0", "-0", '"7"', '""', "7.0", "null", "true", "[7]", '"\\u0037"', "1e3"])
def test_a_field_of_any_type_is_a_key_as_text(found: str) -> None:
    fmt = get_format("sage")
    file = DataFile(Path("x"), "x", "x", "documents")
    checks = checks_of("sage")(Dataset(Path(), "", fmt, "file", [file]), ())
    ways = BothWays(fmt.file("documents"), checks=checks)

    assert not [*ways.differences(f'{{"contents": "a", "id": {found}}}\n{{"contents": "b", "id": 7}}'.encode())]


def test_long_objects_deep_values_and_many_keys() -> None:
    kind = get_format("beir").file("corpus")
    ways = BothWays(kind)
    many = {f"key {n}": n for n in range(300)}
    deep: Any = 0
    for _ in range(40):
        deep = [deep]
    for metadata in (many, {"a": many}, {"deep": deep}, {"twice": 1}):
        line = json.dumps({"_id": "1", "title": "", "text": "x", "metadata": metadata})
        for text in (line, line.replace('"key 7"', '"key 8"'), line.replace('"twice": 1', '"twice": 1, "twice": 1')):
            assert not [*ways.differences(text.encode())]


TEXTS = (
    *("", " ", "\t\n", "\u3000", "\x1c\u2009", " a", "a\u00a0", "a", "é", "a\tb", "x" * 30),
    *("１２", "12.5e3", "1-2", "①", "٣"),
)


def named(predicate: Predicate, record: dict[str, Any], kind: File = DOCUMENTS) -> bool:
    """Whether a line is shown to its rule, in each way of the scanner."""
    names = [f.name for f in kind.record.fields]
    found = set()
    for ascii_only in (False, True):
        for portable in (False, True):
            line = json.dumps(record, ensure_ascii=ascii_only).encode()
            scanned = BlockScanner(kind.record, {n: n for n in names}, (predicate,), portable).scan(line)
            assert scanned is not None
            found.add([note[0] for note in scanned.notes] == [CANDIDATE])
    if isinstance(predicate, Longer):
        return True in found  # the bytes count as they stand in the file
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize("text", TEXTS)
def test_predicates_name_the_texts_that_their_rules_look_for(text: str) -> None:
    record = {"doc_id": 1, "text": text}

    assert named(Blank("text"), record) == (not text.strip())
    assert named(Edged("text"), record) == (not text or text != text.strip())
    assert named(Holds("text", "\t\n"), record) == ("\t" in text or "\n" in text)
    assert len(text) <= 20 or named(Longer("text", 20), record)


def test_characters_that_spelling_leaves_as_they_are() -> None:
    ends = plain_ranges()
    codes = (c for first, last in zip(ends[::2], ends[1::2], strict=True) for c in range(ord(first), ord(last) + 1))

    for character in map(chr, codes):
        assert is_plain(character)
        assert spelling(f"A{character}") == f"a{character}"


def test_white_space_is_what_python_strips() -> None:
    assert set(WHITE_SPACE) == {chr(c) for c in range(0x110000) if chr(c).isspace()}


def test_texts_of_other_scripts_are_named() -> None:
    for text, is_named in (("漢字", True), ("漢字 of Skarn", False), ("tide", False), ("é", True), ("1234", False)):
        assert named(FewLetters("text"), {"doc_id": 1, "text": text}) == is_named
    for text in ("漢字a", "Ærø", "αβγδεζη ab", "“” … x", "a" + "é" * 4, "a" + "é" * 3):
        percent = ascii_percent(text)
        is_few = percent is not None and percent < 100 * ASCII_SHARE
        assert not is_few or named(FewLetters("text"), {"doc_id": 1, "text": text})


def test_a_list_with_an_item_twice_is_named() -> None:
    for items in ([1, 2, 1], [*range(100), 5], [7, 7]):
        assert named(ItemTwice("positive_doc_ids"), {"qid": 1, "positive_doc_ids": items}, POSITIVES)
    for items in ([1, 2, 3], [*range(100)], [-1, 1]):
        assert not named(ItemTwice("positive_doc_ids"), {"qid": 1, "positive_doc_ids": items}, POSITIVES)


def test_equal_fields_are_named() -> None:
    record = Record(
        name="Pair", title="", description="", fields=(Field(name="a", type="string"), Field(name="b", type="string"))
    )
    kind = replace(DOCUMENTS, records=(record,))

    assert named(Equal("a", "b"), {"a": "tide", "b": "tide"}, kind)
    assert named(Equal("b", "a"), {"b": "é\n", "a": "é\n"}, kind)
    assert not named(Equal("a", "b"), {"a": "tide", "b": "tides"}, kind)


def test_the_first_field_is_looked_at() -> None:
    assert not named(NotFirst("doc_id"), {"doc_id": 1, "text": "a"})
    assert named(NotFirst("doc_id"), {"text": "a", "doc_id": 1})


def test_of_each_block_a_text_is_named_that_is_no_number() -> None:
    scanner = BlockScanner(DOCUMENTS.record, {"text": "text"}, (OneUnlikeNumber("text"),))

    def rows(*texts: str) -> list[int]:
        data = "\n".join(json.dumps({"doc_id": n, "text": t}) for n, t in enumerate(texts)).encode()
        found = scanner.scan(data)
        assert found is not None
        return [note[1] for note in found.notes if note[0] == CANDIDATE]

    assert rows("tide", "pier") == [0]
    assert rows("12", "tide", "pier") == [1]
    assert rows("12", "１２", " 1.5e3 ", "1-2") == [0, 1, 2, 3]


def test_numbers_as_texts_are_found_as_in_small_sets(tmp_path: Path) -> None:
    for texts in (["12", "1-2", "13"], ["1", "2"], ["１２", "7"]):
        (tmp_path / "doc_master.ndjson").write_text(
            "".join(json.dumps({"doc_id": n, "text": t}) + "\n" for n, t in enumerate(texts))
        )
        found = []
        for small in (dataset_run.SMALL_DATASET, -1):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(dataset_run, "SMALL_DATASET", small)
                found.append(sorted(f.rule for f in ragdatakit.validate(tmp_path).findings))
        assert found[0] == found[1]


def test_the_library_has_what_is_called_and_is_no_debug_build() -> None:
    found = library()
    assert found is not None

    assert all(hasattr(found, name) for name in FUNCTIONS)
    assert "debug" not in engine_words()


def test_blobs_that_are_not_understood_make_no_plan() -> None:
    found = library()
    assert found is not None
    rng = Random(3)
    blob = plan_blob(DOCUMENTS.record, ("doc_id", "text"), (Blank("text"), Holds("text", "\t")))

    for _ in range(2000):
        data = bytearray(blob[: rng.randrange(len(blob) + 1)])
        for _ in range(rng.randrange(3)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        plan = found.rd_plan_new(bytes(data), len(data))
        if plan:
            found.rd_plan_free(plan)
    assert not found.rd_plan_new(blob + b"\0", len(blob) + 1)
    assert not found.rd_plan_new(None, 10)


@pytest.mark.parametrize("portable", [False, True])
def test_noted_records_that_all_readers_read_alike_are_named(portable: bool) -> None:
    lines = [
        *('{"doc_id": 1, "text": ""}', '{"doc_id": "1", "text": "a"}', '  {"doc_id": 1, "other": [{"a": 1.5}]} ', "[]"),
        *('{"doc_id": 1, "doc_id": 2}', '{"doc_id": 1, "text": "\\ud800"}', '{"doc_id": 9007199254740993}', "{", " "),
        *(
            '{"doc_id": NaN}',
            '{"doc_id": 1, "text": "a"}',
            '{"doc_id": 1, "t\\u0065xt": 1}',
            '"\x01"',
            '{"doc_id": 1} 1',
        ),
    ]
    data = "\n".join(lines).encode()
    scanned = BlockScanner(DOCUMENTS.record, {"doc_id": "doc_id"}, (Blank("text"),), portable).scan(data)
    assert scanned is not None
    rows = {note[1]: data[note[3] : note[4]] for note in scanned.notes if note[0] != BLANK}
    assert scanned.alike == dict.fromkeys((0, 1, 2, 3))
    assert {row for row, raw in rows.items() if JSON.plain(raw) is not UNLIKE} == {
        0,
        1,
        2,
        3,
        10,
    }  # a name with escapes


def test_lines_far_from_each_other_are_marked() -> None:
    lines = [b"" if n % 7 == 3 else b'{"doc_id": %d, "text": "%b"}' % (n, b"x" * (n % 90)) for n in range(20_000)]
    data = b"\n".join(lines)
    scanned = BlockScanner(DOCUMENTS.record, {"doc_id": "doc_id"}).scan(data)
    assert scanned is not None
    assert len(scanned.marks) == len(data) >> 18
    for row, line, at in scanned.marks:
        assert data[:at].count(b"\n") == line and data[at - 1 : at] == b"\n"
        assert row == sum(map(bool, lines[:line]))


def test_what_is_misused_is_refused() -> None:
    found = library()
    assert found is not None
    scanner = BlockScanner(DOCUMENTS.record, {"text": "text"})
    count = scanner._views
    view = (loading.View * count)()
    block_ = found.rd_block_new()

    assert found.rd_scan(None, block_, b"", 0, 0, view, count) < 0
    assert found.rd_scan(scanner._plan, None, b"", 0, 0, view, count) < 0
    assert found.rd_scan(scanner._plan, block_, None, 5, 0, view, count) < 0
    assert found.rd_scan(scanner._plan, block_, b"", 0, 0, view, count - 1) < 0
    assert found.rd_scan(scanner._plan, block_, b"", 0, 0, None, count) < 0
    assert found.rd_scan(scanner._plan, block_, b"", 0, 0, view, count) == 0
    offsets = (ctypes.c_int32 * 3)(0, 5, 3)
    codes = (ctypes.c_uint64 * 4)()
    assert found.rd_hash(1, 1, ctypes.cast(b"abcde", ctypes.c_void_p), 5, offsets, 2, codes) < 0
    found.rd_block_free(block_)


def test_without_the_library_python_reads_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "compiled.so"
    for content, reason in ((None, "built without cargo"), (b"no library", "cannot be loaded")):
        if content is not None:
            wrong.write_bytes(content)
        monkeypatch.setattr(loading, "_PATH", wrong)
        loading._loaded.cache_clear()
        try:
            assert library() is None
            assert reason in missing_reason()
            assert reason in run("--version", "-v").out
            monkeypatch.setattr(engine, "_LARGE", 1)
            outcome = run("validate", "fixtures/light-splade/valid/triplet")
            assert outcome.code == 0
            assert outcome.err.startswith("ragdata: read without the compiled scanner (")
            assert reason in outcome.err
        finally:
            monkeypatch.undo()
            loading._loaded.cache_clear()
    assert "compiled scanner" in run("--version", "-v").out
    assert not run("validate", "fixtures/light-splade/valid/triplet").err
