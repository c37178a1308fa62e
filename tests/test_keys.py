"""Keys as typed arrays give the same answers as Python's own sets and dicts."""

from __future__ import annotations

import os
import pickle
import string
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.arrays import code_tables
from ragdatakit.arrays.code_tables import HashTable
from ragdatakit.arrays.codes import WIDE as WIDE_CODES
from ragdatakit.arrays.codes import mix
from ragdatakit.arrays.growing import GrowingArray
from ragdatakit.arrays.keys import NumpyBatch, NumpyConsistency, NumpyIndex
from ragdatakit.arrays.pairs import PairIndex
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.files.paths.sql_text import hash_expression
from ragdatakit.scanner.keys import FirstValues, mark, mixed, tally
from ragdatakit.scanner.library import ScannerError, library
from ragdatakit.schemas import get_format
from ragdatakit.validators.coded_columns import coded_values
from ragdatakit.validators.columns import KeyColumns
from ragdatakit.validators.python_keys import PythonConsistency, PythonIndex
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.set_plan import key_columns, plan_sets
from ragdatakit.validators.sets import SetChecks
from tests.broad import examples

DENSE = st.integers(0, 9)
WIDE = st.one_of(st.integers(-3, 9), st.integers(-(2**63), 2**63 - 1), st.sampled_from([2**31, -(2**63), 2**63 - 1]))
TEXTS = st.one_of(
    st.sampled_from(["", "a", "b", "é", "漢"]), st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
)
KEYS = st.sampled_from([(DENSE, True), (WIDE, True), (TEXTS, False)])
WHOLE_BITS = NumpyConsistency._BITS
"""As they are outside of tests (see conftest.py)."""


@st.composite
def batches(draw: Any, keys: Any) -> list[tuple[list[Any], list[int]]]:
    """Keys with their rows, batch by batch; a row may have several keys, or none."""
    found = []
    row = 0
    for _ in range(draw(st.integers(0, 4))):
        values, rows = [], []
        for _ in range(draw(st.integers(0, 6))):
            for key in draw(st.lists(keys, min_size=1, max_size=2)) if draw(st.booleans()) else [draw(keys)]:
                values.append(key)
                rows.append(row)
            row += draw(st.sampled_from([1, 1, 1, 2]))
        found.append((values, rows))
    return found


def codes(values: list[Any], integers: bool) -> Any:
    if integers:
        return np.array(values, np.int64).view(np.uint64)
    return codes_of_texts(values)


def rows_of(rows: list[int]) -> Any:
    """As the engine gives them: a range where they are consecutive."""
    if rows and rows == list(range(rows[0], rows[0] + len(rows))):
        return range(rows[0], rows[0] + len(rows))
    return np.array(rows, np.int64)


def filled(message: list[tuple[list[Any], list[int]]], integers: bool) -> tuple[PythonIndex, NumpyIndex]:
    plain, typed = PythonIndex(), NumpyIndex(True, integers)
    for values, rows in message:
        plain.add(values, rows)
        typed.add(codes(values, integers), rows_of(rows))
    plain.freeze()
    typed.freeze()
    return plain, typed


def pairs(found: Iterable[Any]) -> list[tuple[int, int]]:
    rows, firsts = found
    return sorted((int(r), int(f)) for r, f in zip(rows, firsts, strict=True))


def numbers(found: Any) -> list[int]:
    return sorted(map(int, found))


@given(st.data())
@settings(max_examples=examples(120), deadline=None)
def test_indexes_agree(data: st.DataObject) -> None:
    keys, integers = data.draw(KEYS)
    plain, typed = filled(data.draw(batches(keys)), integers)
    earlier, typed_earlier = filled(data.draw(batches(keys)), integers)
    asked = data.draw(st.lists(keys, max_size=8))
    marked = data.draw(st.lists(keys, max_size=8))

    looked_up, typed_looked_up = plain.find(asked), typed.find(codes(asked, integers))
    marks, typed_marks = plain.new_marks(), typed.new_marks()
    plain.mark(plain.find(marked), marks)
    typed.mark(typed.find(codes(marked, integers)), typed_marks)

    assert pairs(typed.repeats()) == pairs(plain.repeats())
    assert numbers(typed.missing(typed_looked_up)) == numbers(plain.missing(looked_up))
    assert numbers(typed.present(typed_looked_up)) == numbers(plain.present(looked_up))
    assert numbers(typed.unmarked(typed_marks)) == numbers(plain.unmarked(marks))
    assert set(pairs(typed.common(typed_earlier))) == set(pairs(plain.common(earlier)))


@given(st.data())
@settings(max_examples=examples(100), deadline=None)
def test_consistencies_agree(data: st.DataObject) -> None:
    keys, integers = data.draw(KEYS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NumpyConsistency, "_BITS", WHOLE_BITS)
        agree(data, keys, integers)


def agree(data: st.DataObject, keys: Any, integers: bool) -> None:
    plain, typed = PythonConsistency(), NumpyConsistency()
    for values, rows in data.draw(batches(keys)):
        given_values = data.draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=len(values), max_size=len(values)))
        plain.add(values, given_values, rows)
        typed.add(codes(values, integers), codes(given_values, False), rows_of(rows))

    assert pairs(typed.disagreements()) == pairs(plain.disagreements())


@pytest.mark.parametrize("quick", [True, False])
@given(data=st.data())
@settings(max_examples=examples(100), deadline=None)
def test_consistencies_agree_where_names_share_places(quick: bool, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NumpyConsistency, "_BITS", 1)
        if not quick:
            patch.setattr("ragdatakit.arrays.keys.library", lambda: None)
        plain, typed = PythonConsistency(), NumpyConsistency()
        typed._limit = 3
        for values, rows in data.draw(batches(TEXTS)):
            given_values = data.draw(st.lists(st.sampled_from("xyz"), min_size=len(values), max_size=len(values)))
            plain.add(values, given_values, rows)
            typed.add(codes(values, False), codes(given_values, False), rows_of(rows))

        assert pairs(typed.disagreements()) == pairs(plain.disagreements())


@pytest.mark.parametrize("compiled", [True, False])
@given(data=st.data())
@settings(max_examples=examples(200), deadline=None)
def test_rows_without_a_name_change_nothing(compiled: bool, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr("ragdatakit.arrays.keys.library", lambda: None)
        _compare_pairs_with_gaps(data)


def _compare_pairs_with_gaps(data: st.DataObject) -> None:
    sides = (("subject", "subject type"), ("object", "object type"))
    plain, typed = PythonConsistency(), NumpyConsistency()
    first = 0
    for _ in range(3):
        length = data.draw(st.integers(1, 12))
        texts = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=length, max_size=length)
        full = st.lists(st.sampled_from("abc"), min_size=length, max_size=length)
        columns = {name: data.draw(st.one_of(full, texts)) for side in sides for name in side}
        batch = NumpyBatch(length, first)
        batch.columns = {name: codes_of_texts(column) for name, column in columns.items()}
        batch.valid = {
            name: np.array([v is not None for v in column]) if None in column else None
            for name, column in columns.items()
        }
        triples = [
            (first + i, columns[name][i], columns[value][i] or "z")
            for i in range(length)
            for name, value in sides
            if columns[name][i] is not None
        ]
        plain.add([t[1] for t in triples], [t[2] for t in triples], [t[0] for t in triples])
        if data.draw(st.booleans()):
            batch.look_up_pairs(typed, sides, "z")
        batch.give_pairs(typed, sides, "z")
        first += length

    assert pairs(typed.disagreements()) == pairs(plain.disagreements())


def test_what_a_batch_has_made_is_in_the_rows_where_it_stands_later() -> None:
    batch = NumpyBatch(4, 0)
    batch.columns = {"name": codes_of_texts([None, "a", None, "b"]), "value": codes_of_texts(["w", None, "x", "y"])}
    batch.valid = {"name": np.array([False, True, False, True]), "value": np.array([True, False, True, True])}

    before = batch.pairs("name", "value", "z")
    batch.first_row = 10
    names, values, rows = batch.pairs("name", "value", "z")

    assert before[2] == range(1, 4)
    assert rows == range(11, 14)
    assert names.tolist() == codes_of_texts(["a", "a", "b"]).tolist()
    assert values.tolist() == codes_of_texts(["z", "z", "y"]).tolist()
    assert batch.columns["value"][2:].tolist() == codes_of_texts(["x", "y"]).tolist()


@pytest.mark.skipif(library() is None, reason="it is the library that has tables of pairs")
@pytest.mark.parametrize("apart", [3, 30])
def test_pairs_whose_numbers_are_far_apart_have_no_table_by_number(apart: int) -> None:
    count = 1 << 18
    firsts = np.arange(count, dtype=np.uint64) * np.uint64(apart)
    seconds = firsts[::-1].copy()
    index = PairIndex()

    index.add(firsts, seconds, range(count))
    index.freeze()

    assert isinstance(index._finder, HashTable) == (apart == 30)
    assert index.find(firsts, seconds).all() and not index.find(firsts, firsts + np.uint64(1)).any()


@pytest.mark.parametrize("widths", [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_codes_of_pairs_are_the_same_without_the_library(widths: tuple[int, int], monkeypatch: Any) -> None:
    words = np.random.default_rng(5).integers(0, 2**64, (2, 2000), np.uint64)
    first, second = (
        column[: 1000 * w].view(np.uint64 if w == 1 else WIDE_CODES) for column, w in zip(words, widths, strict=True)
    )
    quick = mix(first, second)
    monkeypatch.setattr("ragdatakit.scanner.keys.library", lambda: None)

    assert np.array_equal(mix(first, second), quick)
    assert np.array_equal(mix(first[:0], second[:0]), quick[:0])


ID = st.one_of(st.integers(0, 6), st.sampled_from([-1, 2**53 + 1, 2**63, "3", 3.0, 3.5, True, None, [1]]))
NAME = st.sampled_from(
    ["Moon", "moon", "MOON ", '"Moon"', "Tide", "tide  x", "Tide x", "é", "É", "", 7, None, "e\u0301"]
)
TYPE = st.sampled_from(["Body", "Event", "entity", None, 5])
TEXT = st.sampled_from(["one", "two", "three", None, 4])


def records(**fields: Any) -> Any:
    """Objects with those fields, or without some of them, and now and then something that is no object."""
    return st.lists(st.one_of(st.fixed_dictionaries({}, optional=fields), st.none(), st.just("x")), max_size=8)


KINDS = {
    "light-splade": {
        "queries": records(qid=ID, text=TEXT),
        "documents": records(doc_id=ID, text=TEXT),
        "positives": records(qid=ID, positive_doc_ids=st.one_of(st.lists(ID, max_size=3), ID)),
        "triplets": records(qid=ID, pos_doc_id=ID, neg_doc_id=ID),
    },
    "datamind": {"triplets": records(subject=NAME, relation=NAME, object=NAME, subject_type=TYPE, object_type=TYPE)},
}


@pytest.mark.skipif(library() is None, reason="it is the library that would read behind them")
def test_the_library_is_not_given_fewer_codes_than_it_reads() -> None:
    two, four = np.zeros(2, np.uint64), np.zeros(4, np.uint64)
    firsts = FirstValues(2, 1, 4)

    for names, values, count in (([two], [two], 2), ([four], [two], 3), ([four], [], 2)):
        with pytest.raises(ScannerError):
            firsts.add(names, values, count, range(count))
        with pytest.raises(ScannerError):
            firsts.find_open(names, values, count)
    with pytest.raises(ScannerError):
        mixed(two, 2, two, 1)

    assert len(firsts.add([four], [two], 2, range(2))) == 0


@pytest.mark.parametrize("format_name", KINDS)
@given(data=st.data())
@settings(max_examples=examples(150), deadline=None)
def test_set_checks_agree(format_name: str, data: st.DataObject) -> None:
    kinds = KINDS[format_name]
    several = format_name == "light-splade"
    drawn = [{k: [data.draw(s) for _ in range(data.draw(st.integers(1, 3)))] for k, s in kinds.items()} for _ in "ab"]

    def hits(typed: bool) -> list[Any]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(code_tables.RepeatSieve, "_BITS", 4)
            patch.setattr("ragdatakit.arrays.keys._MANY", 2)
            patch.setattr(code_tables.RepeatSieve, "_BLOCK_BITS", 3)
            return run_checks(format_name, drawn, typed, several)

    assert hits(typed=True) == hits(typed=False)


def run_checks(format_name: str, splits: list[dict[str, Any]], typed: bool, several: bool) -> list[Any]:
    """Every hit over the batches of two splits."""
    fmt = get_format(format_name)
    kinds = set(splits[0])
    columns = {
        k: KeyColumns(
            fmt.file(k),
            [n for n in key_columns(fmt, k) if n[0] != "@"],
            no_keys,
            [f for v in fmt.variants if v.kind == k for f in v.fields],
        )
        for k in kinds
    }

    def new_index(kind: str, fields: tuple[str, ...], lookups: bool) -> Any:
        types = {**columns[kind].types, **columns[kind].item_types}
        return NumpyIndex(lookups, len(fields) == 1 and types.get(fields[0]) == "integer")

    factories = (new_index, NumpyConsistency, lambda kind, fields: PairIndex()) if typed else ()
    found: list[RowProblems] = []
    checks: list[SetChecks] = []
    next_row = dict.fromkeys(kinds, 0)
    for name, batches_of in zip(("train", "validation"), splits, strict=True):
        one = SetChecks(plan_sets(fmt, name, kinds, lambda rule: True, several), name, kinds, *factories)
        for kind, each in batches_of.items():
            for values in each:
                own, row = columns[kind], next_row[kind]
                batch: Any = coded_values(own, values) if typed else own.of_values(values, row)
                batch.first_row = row
                next_row[kind] += len(values)
                found += one.probe(kind, batch)
                one.absorb(kind, batch)
            found += one.freeze(kind)
        found += one.finish()
        for earlier in checks:
            found += one.compare(earlier)
        checks.append(one)
    each = set()
    for one_hit in found:
        firsts = [None] * len(one_hit.rows) if one_hit.firsts is None else map(int, one_hit.firsts)
        each |= {
            (one_hit.rule, one_hit.kind, one_hit.field, int(r), f) for r, f in zip(one_hit.rows, firsts, strict=True)
        }
    return sorted(each, key=str)


def no_keys(kind: str, value: Any) -> dict[str, Any]:
    return {}


def test_hashes_of_texts_that_differ_at_the_ends_of_words() -> None:
    """DuckDB's own hash has 256 values for some of these."""
    letters = string.ascii_letters + string.digits
    for head, middle in (("abcdefg", "abcdefg"), ("", "abcdefg"), ("abc", "abcdefgabcdefg"), ("abcdefgh", "abc")):
        texts = [f"{head}{a}{middle}{b}" for a in letters for b in letters]
        query = f"select count(distinct {hash_expression('t')}) from (select unnest(?::varchar[]) as t)"
        assert duckdb.execute(query, [texts]).fetchall() == [(len(texts),)]
        assert len(set(codes_of_texts(texts).tolist())) == len(texts)


@pytest.mark.parametrize("scanner", ["", "off"])
def test_a_table_is_found_in_by_another_process(scanner: str) -> None:
    find = "import pickle, sys; table, keys = pickle.load(sys.stdin.buffer); print((table.positions(keys) >= 0).sum())"
    keys = np.arange(0, 1 << 40, 1_000_003, np.uint64)[:5000]
    make = "import pickle, sys; from ragdatakit.arrays.code_tables import HashTable; "
    make += "keys = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(pickle.dumps((HashTable(keys), keys)))"
    given: bytes = pickle.dumps(keys)
    for code in (make, find):
        command = [sys.executable, "-c", code]
        given = subprocess.run(
            command, input=given, stdout=-1, check=True, env=os.environ | {"RAGDATA_SCANNER": scanner}
        ).stdout

    assert given.split() == [b"5000"]


@pytest.mark.parametrize("quick", [True, False], ids=["library", "numpy"])
def test_marks_of_what_is_not_there_are_the_last_one(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not quick:
        monkeypatch.setattr("ragdatakit.scanner.keys.library", lambda: None)
    marks = np.zeros(6, np.bool_)

    mark(marks, np.array([3, 9, 0, 9, 3], np.int32)[::2])
    assert marks.tolist() == [True, False, False, True, False, False]
    mark(marks, np.array([-1], np.int32))
    assert marks.tolist() == [True, False, False, True, False, True]


@pytest.mark.parametrize("quick", [True, False], ids=["library", "numpy"])
def test_numbers_are_tallied(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not quick:
        monkeypatch.setattr("ragdatakit.scanner.keys.library", lambda: None)

    assert tally(np.array([3, 7, 0, 7, 3, 7, -1, 7, 4], np.int32)[::2], 4).tolist() == [1, 0, 0, 2]
    assert tally(np.empty(0, np.int32), 2).tolist() == [0, 0]


@pytest.mark.parametrize("held", [False, True], ids=["alone", "looked at"])
def test_parts_become_one_array(held: bool) -> None:
    grown, parts = GrowingArray(), [np.arange(n, n + n % 7 * 5000, dtype=np.int32) for n in range(200)]
    views = []

    assert len(grown.whole) == 0
    for part in parts:
        grown.extend(part)
        if held:
            views.append(grown.whole)
    assert np.array_equal(grown.whole, np.concatenate(parts))
    assert all(np.array_equal(view, grown.whole[: len(view)]) for view in views)
