"""Keys as they are written, and as workers share them: what is read is what was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragdatakit.arrays.codes import WIDE, counted, distinct, first_of_each, narrowed
from ragdatakit.arrays.mapped import read_mapped, write_mapped
from ragdatakit.schemas import get_format
from ragdatakit.schemas.beir.format import BEIR
from ragdatakit.validators.partitions.known_keys import KnownIndex, add_marks, answered, written
from ragdatakit.validators.partitions.packing import packed, partition_of, unpacked
from ragdatakit.validators.set_plan import NO_CHECKS, plan_sets


def some_codes(count: int, wide: bool, most: int = 1 << 62) -> Any:
    numbers = np.random.default_rng(count)
    words = numbers.integers(0, most, (count, 1 + wide)).astype(np.uint64)
    return words.ravel().view(WIDE) if wide else words.ravel()


@pytest.mark.parametrize("count", [0, 1, 900])
@pytest.mark.parametrize("partitions", [1, 2, 16])
@pytest.mark.parametrize("wide", [False, True])
def test_what_is_packed_comes_back(count: int, partitions: int, wide: bool) -> None:
    codes, rows = some_codes(count, wide), np.sort(np.random.default_rng(1).integers(0, 70_000, count)).astype(np.int32)
    items, truths = rows % 300, rows % 2 == 0

    found = list(packed(codes, rows, [codes, items, truths], partitions))

    numbers = partition_of(codes, partitions)
    assert len(found) == partitions
    for number, piece in enumerate(found):
        of_piece = numbers == number
        if not of_piece.any():
            assert piece == ()
            continue
        its_rows, (its_codes, its_items, its_truths) = unpacked(piece)
        assert its_rows.tolist() == rows[of_piece].tolist()
        assert its_codes.tolist() == narrowed(codes)[of_piece].tolist()
        assert its_items.tolist() == items[of_piece].tolist()
        assert its_truths.tolist() == truths[of_piece].tolist()


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("most", [1 << 62, 5000, 400])
def test_known_keys_are_found_by_whoever_reads_the_file(wide: bool, most: int, tmp_path: Path) -> None:
    codes = some_codes(1000, wide, most)
    index = KnownIndex(narrowed(codes), np.arange(7, 1007))

    there = read_mapped(Path(written(index, tmp_path / "index")))

    firsts, numbers = first_of_each(codes)
    assert there.find(codes).tolist() == index.find(codes).tolist() == firsts[numbers].tolist()
    assert (there.find(some_codes(999, wide) | np.uint64(1 << 63) if not wide else some_codes(999, wide)) < 0).all()
    marks = there.new_marks()
    there.mark(there.find(codes[:500]), marks)
    assert index.unmarked(marks).tolist() == sorted(row + 7 for row in set(firsts.tolist()) if row >= 500)


@pytest.mark.parametrize("marked", [0, 3, 700])
def test_marks_of_ranges_are_joined(marked: int) -> None:
    from ragdatakit.validators.partitions.known_keys import _few

    marks, more = np.zeros(1001, np.bool_), np.zeros(1001, np.bool_)
    marks[[2, 999]] = more[np.arange(marked)] = True

    add_marks(marks, _few(more))

    assert np.flatnonzero(marks).tolist() == sorted({*range(marked), 2, 999})


def test_arrays_lie_in_the_pages_of_the_file(tmp_path: Path) -> None:
    value = {"some": np.arange(5000), "no": np.empty(0, np.uint8), "word": "a"}
    write_mapped(tmp_path / "value", value)

    found = read_mapped(tmp_path / "value")

    assert found["word"] == "a" and not len(found["no"])
    assert found["some"].tolist() == list(range(5000))
    assert not found["some"].flags.writeable and not found["some"].flags.owndata


def test_what_is_answered_where_files_are_read() -> None:
    """References of a rule together; memberships and all references, or none."""
    everything = plan_sets(BEIR, None, {"queries", "corpus", "qrels"}, lambda rule: True, False)
    queries, corpus = ("queries", ("_id",)), ("corpus", ("_id",))
    assert [r.rule for r in answered(everything, "qrels", {queries}, ()).references] == ["dangling-query-id"]
    assert len(answered(everything, "qrels", {queries, corpus}, ()).references) == 2
    assert len(answered(everything, "qrels", {queries}, {"corpus"}).references) == 2

    splade = get_format("light-splade")
    plan = plan_sets(splade, None, {"queries", "documents", "positives", "triplets"}, lambda rule: True, False)
    ids = {("queries", ("qid",)), ("documents", ("doc_id",))}
    assert answered(plan, "triplets", ids, ()) == NO_CHECKS
    found = answered(plan, "triplets", {*ids, ("positives", ("qid", "positive_doc_ids"))}, ())
    assert (len(found.references), len(found.memberships)) == (3, 2)


@pytest.mark.parametrize("values", [[], [3, 1, 3], [1, 0, 1, 1], [0.0, -0.0, np.nan, 2.5, np.nan], [np.nan]])
def test_different_values_are_counted_as_numpy_does(values: list[float]) -> None:
    given = np.array(values)

    expected = np.unique(given, return_counts=True)

    for found, of_numpy in zip(counted(given), expected, strict=True):
        np.testing.assert_array_equal(found, of_numpy)
    np.testing.assert_array_equal(distinct(given), expected[0])
