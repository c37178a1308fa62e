"""Rows of columns between those of others: the same as of lists."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from ragdatakit.converters.woven_columns import Runs
from ragdatakit.database.columns import Kind, packed, packed_same, values_in
from ragdatakit.database.text_facts import known_of
from ragdatakit.scanner.library import library

VALUES: dict[Kind, list[Any]] = {
    Kind.TEXT: ["", "a", "é漢", " ", None, "longer than the others"],
    Kind.INTEGER: [0, -7, 1 << 40, None],
    Kind.NUMBER: [0.5, -1e300, None],
    Kind.TEXTS: [[], ["x"], ["", "é", "xyz"], None],
    Kind.INTEGERS: [[], [1, 2, 3], [-4]],
}


def runs_of(rng: Random, own: int, others: int) -> list[tuple[int, int]]:
    """Some of the rows, in order, with the other ones between them."""
    cuts = sorted(rng.choices(range(own + 1), k=2 * others + 2))
    between = [*pairwise(range(own, own + others + 1))]
    plain = [*zip(cuts[::2], cuts[1::2], strict=True)]
    return [run for pair in zip(plain, [*between, (0, 0)], strict=True) for run in pair]


def chosen_runs(runs: list[tuple[int, int]], own: int) -> Runs:
    starts, ends = np.array(runs).T
    return Runs.of(starts, ends, own)


@pytest.mark.parametrize("kind", VALUES)
def test_rows_are_those_of_lists(kind: Kind) -> None:
    rng = Random(1)
    for _ in range(200):
        own, others = (rng.choices(VALUES[kind], k=rng.randrange(12)) for _ in range(2))
        runs = runs_of(rng, len(own), len(others))
        chosen = chosen_runs(runs, len(own))
        (column,) = chosen.woven([packed(kind, own)], [packed(kind, others)])
        assert values_in(column) == [(own + others)[row] for start, end in runs for row in range(start, end)]


@pytest.mark.skipif(library() is None, reason="without a scanner nothing is known of texts")
def test_what_is_known_of_texts_goes_with_them() -> None:
    rng = Random(2)
    for _ in range(50):
        own, others = (rng.choices(VALUES[Kind.TEXT], k=9) for _ in range(2))
        runs = [(0, 4), (9, 15), (4, 9), (15, 18)]
        columns = [packed(Kind.TEXT, values) for values in (own, others)]
        known = [replace(column, known=known_of(column)) for column in columns]
        chosen = chosen_runs(runs, len(own))
        (column,) = chosen.woven(known[:1], known[1:])
        expected = known_of(packed(Kind.TEXT, values_in(column)))
        assert column.known is not None
        assert column.known.lengths.tolist() == expected.lengths.tolist()
        assert column.known.codes.tolist() == expected.codes.tolist()
        assert column.known.empty == expected.empty


def test_columns_of_one_value_and_of_none() -> None:
    runs = chosen_runs([(1, 2), (3, 5), (2, 3)], 3)
    same, nothing = packed_same(Kind.TEXT, "é", 3), packed_same(Kind.TEXT, None, 2)
    (column,) = runs.woven([same], [nothing])
    assert values_in(column) == ["é", None, None, "é"]
