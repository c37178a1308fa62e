"""Texts whose codes are half the same are told apart: nothing is reported of them that is not so, nothing is hidden."""

from __future__ import annotations

import functools
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import ragdatakit
from ragdatakit.arrays import text_codes
from ragdatakit.arrays.codes import WIDE, SortedCodes, codes_of, mix, together
from ragdatakit.arrays.keys import NumpyConsistency, NumpyIndex
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.scanner import library as loading
from ragdatakit.validators import dataset_run
from tests.broad import chosen
from tests.scanner_tools import needs_scanner

FIXTURES = Path("fixtures")
CASES = [
    *(p for kind in ("valid", "broken") for p in sorted(FIXTURES.glob(f"*/{kind}/*")) if chosen(str(p), every=60)),
    *(FIXTURES / name for name in ("light-splade/broken/dangling-qid", "hipporag/broken/gold-passage-not-in-corpus")),
    *(FIXTURES / name for name in ("datamind/broken/conflicting-entity-type", "gfm-rag/broken/dangling-endpoint")),
    *(FIXTURES / name for name in ("trec/broken/judged-twice", "beir/broken/dangling-corpus-id")),
]


def found(root: Path) -> list[str]:
    """What is reported of a dataset, or why it cannot be read."""
    try:
        return [repr(finding) for finding in ragdatakit.validate(root, max_per_rule=0).findings]
    except ragdatakit.RagdataError as error:
        return [str(error)]


@functools.cache
def expectations() -> dict[Path, list[str]]:
    """What is reported where each dataset is read as the small one that it is."""
    return {case: found(case) for case in CASES}


@pytest.mark.parametrize("compiled", [True, False])
def test_the_first_halves_of_all_codes_are_the_same(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = expectations()
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)
    monkeypatch.setattr(loading, "KEPT", 0)
    if not compiled:
        monkeypatch.setattr(loading, "_loaded", lambda: (None, "not wanted"))

    assert len(set(codes_of_texts(["tide", "harbour"])["first"].tolist())) == 1
    assert {case: found(case) for case in CASES} == expected


def test_texts_with_half_characters_are_not_those_with_their_escapes() -> None:
    assert len(set(codes_of_texts(["\ud800", "\\ud800", "?", "\ufffd"]).tolist())) == 4


@needs_scanner
@pytest.mark.parametrize("most", [4, 9, 30])
def test_texts_of_more_bytes_than_are_asked_for_together_have_the_same_codes(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["tide", None, "é", "", "reef", "\ud800", "moon", "tide", ""]
    whole = codes_of_texts(texts)
    monkeypatch.setattr(text_codes, "_MOST", most)

    assert np.array_equal(codes_of_texts(texts), whole)
    if most == 4:
        with pytest.raises(loading.ScannerError, match="2 GB"):
            text_codes.code_of_text("harbour")


def test_each_pair_of_integers_has_a_code_of_its_own() -> None:
    numbers = np.array([0, 1, 2, 2**63, 2**64 - 1], np.uint64)
    first, second = np.repeat(numbers, 5), np.tile(numbers, 5)

    assert len(set(mix(first, second).tolist())) == 25


def test_codes_of_several_columns_are_put_together() -> None:
    wide, integers = np.array([(1, 2), (3, 4)], WIDE), np.array([-1, 5], np.int64)

    assert together([wide, wide[:0], wide[1:]]).tolist() == [(1, 2), (3, 4), (3, 4)]
    assert together([integers, integers[1:]]).tolist() == [-1, 5, 5]
    assert codes_of(wide, np.array([False, True])).tolist() == [(3, 4)]


def test_codes_that_share_a_word_are_other_keys() -> None:
    halves = list(chain.from_iterable([(7, n), (n, 7)] for n in range(100, 200)))
    codes = np.array(halves, WIDE)
    index = NumpyIndex(True, False)
    index.add(codes[:-1], range(len(codes) - 1))
    index.freeze()
    values = NumpyConsistency()
    values.add(codes, np.repeat(codes[:2], 100), range(len(codes)))
    in_order = SortedCodes(codes)

    assert len(index.repeats()[0]) == 0
    assert index.find(codes).tolist() == [*range(len(codes) - 1), -1]
    assert len(values.disagreements()[0]) == 0
    assert [in_order.position(code) for code in codes] == [*range(len(codes))]
    assert in_order.position(np.array((7, 7), WIDE)) == -1


@pytest.mark.parametrize("numbers", [[3, 4, 5], [3, 1 << 60]], ids=["by value", "in a table"])
def test_texts_are_not_found_among_integers(numbers: list[int]) -> None:
    index = NumpyIndex(True, True)
    index.add(np.array(numbers, np.uint64), range(len(numbers)))
    index.freeze()

    assert index.find(codes_of_texts(["3", "reef"])).tolist() == [-1, -1]


def test_columns_without_a_value_go_with_those_of_texts() -> None:
    from ragdatakit.validators.hipporag.known_passages import KnownPassages

    known = KnownPassages()
    for passages in (np.empty(0, np.uint64), codes_of_texts(["tide"]), codes_of_texts(["tide", "reef"])):
        known.add_codes(passages)

    assert len(known) == 2
    assert known.code("reef") in known
