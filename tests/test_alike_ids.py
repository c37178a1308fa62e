"""Ids of gold that are written otherwise than in the corpus, or shifted against it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragdatakit.retrieval.gold_and_metrics.alike_ids import _ends, alike_ids, shifted_ids
from ragdatakit.schemas.search.id_spellings import loosely_the_same


@pytest.mark.parametrize(
    ("missing", "there", "found"),
    [
        ("007", ["7", "8"], "7"),
        ("Doc_7", ["doc-7"], "doc-7"),
        ("doc-7", ["7", "77"], "7"),
        ("doc7", ["7"], "7"),
        ("7", ["doc-7", "doc-8"], "doc-7"),
        ("7", ["a-7", "b-7"], None),
        ("guide.md", ["docs/guide.md"], "docs/guide.md"),
        ("d31-c3", ["d30-c3"], None),
        ("d9", ["d1", "d2"], None),
        ("7", ["07", "doc-7"], "07"),
        ("x-000", ["0", "00"], None),
        ("x-0", ["y", "00"], "00"),
        ("٧", ["doc-٧"], "doc-٧"),
        ("--", ["-"], None),
        ("31715818.0", ["31715818", "0"], "31715818"),
        ("31715818", ["31715818.0", "31715819.0"], "31715818.0"),
        ("31715818.0", ["0", "8"], None),
        ("v1.0", ["v1", "v2"], None),
        ("7.0", ["7", "007"], None),
        ("harbour.txt", ["harbour", "ferry"], "harbour"),
        ("harbour", ["harbour.MD", "ferry.md"], "harbour.MD"),
        ("harbour.txt", ["harbour.md"], None),
        ("harbour.txt", ["harbour", "Harbour"], None),
        ("node.js", ["node"], None),
        ("d7.json", ["d-007"], "d-007"),
    ],
)
def test_an_id_that_is_written_otherwise(missing: str, there: list[str], found: str | None) -> None:
    assert alike_ids([missing], there) == ({} if found is None else {missing: found})


@pytest.mark.parametrize(
    ("missing", "there", "found"),
    [
        (["5-0"], [str(n) for n in range(14)], {}),
        ([f"{n}-0" for n in range(1, 9)], [str(n) for n in range(14)], {}),
        (["2021-03-15"], ["15"], {}),
        (["15"], ["2021-03-15"], {}),
        (["a-7", "b-7"], ["7"], {}),
        (["x1", "x2", "gone"], ["1", "2"], {"x1": "1", "x2": "2"}),
        (["x1", "gone", "lost"], ["1"], {}),
        (["1", "gone", "lost"], ["x1"], {}),
        (["doc-1", "gone", "lost"], ["1"], {"doc-1": "1"}),
        (["a-x1"], ["1"], {}),
        (["d" * 600 + "-1"], ["1", "D" * 600 + "-1"], {}),
        (["1"], ["d" * 600 + "-1", "d-1"], {"1": "d-1"}),
        (["-".join("abcdefghij")], ["j", "d-j"], {"-".join("abcdefghij"): "j"}),
    ],
)
def test_what_may_be_another_id_is_not_claimed(missing: list[str], there: list[str], found: dict[str, str]) -> None:
    assert alike_ids(missing, there) == found


def test_long_ids_cost_no_more_than_they_are_long() -> None:
    words = "w " * 20_000
    short = "w " * 250

    assert alike_ids([f"{words}{n}" for n in range(3)], [f"{words}-{n}" for n in range(3)]) == {}
    assert sum(len(end) for end in _ends(short.strip())) < 8 * len(short)


def none_near(pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    return set()


def test_a_shift_is_that_of_most_questions_that_miss_their_gold() -> None:
    shifted = [((f"c{n + 1}",), (f"c{n}",)) for n in range(5)]
    right = [((f"c{n}",), (f"c{n}",)) for n in range(4)]

    found = shifted_ids([*shifted, *right], none_near)

    assert found is not None
    assert (found.shift, found.count, found.judged, found.gold, found.first) == (1, 5, 9, "c1", "c0")
    assert shifted_ids(shifted[:4], none_near) is None
    assert shifted_ids([*shifted, *right * 4], none_near) is not None
    assert shifted_ids([*shifted, *right * 5], none_near) is None
    assert shifted_ids([*shifted, *right], lambda pairs: set(pairs[:1])) is None
    assert shifted_ids([((f"c{n * n}",), (f"c{n}",)) for n in range(2, 9)], none_near) is None
    assert shifted_ids([(("a",), ("b",)), (("9" * 30,), ("8" * 30,))] * 9, none_near) is None


def test_gold_that_is_found_is_not_shifted() -> None:
    """The first hit is of the right topic, and the gold is behind it."""
    assert shifted_ids([((f"c{n + 1}",), (f"c{n}", f"c{n + 1}")) for n in range(9)], none_near) is None


def test_of_several_gold_all_are_shifted() -> None:
    topics = [(("c2", "c3", "c4"), ("c1", "c9")), (("c7", "c8", "c9"), ("c6", "c1"))] * 5
    shifted = [(("c2", "c8"), ("c1", "c5", "c7"))] * 5

    assert shifted_ids(topics, none_near) is None
    found = shifted_ids(shifted, none_near)
    assert found is not None and (found.shift, found.gold, found.first) == (1, "c2", "c1")


@pytest.mark.parametrize("name", ["hd_1", "Doc 007", "31715818.0", "7", "notes.json", "harbour", "a.b-c/12"])
def test_what_is_looked_up_for_an_id_is_alike_when_ids_are_gone_through(name: str) -> None:
    """`validate`, which can only ask whether an id is there, and `eval`, which sees all of them, mean the same."""
    spellings = loosely_the_same(name)

    assert spellings and all(alike_ids([name], [other]) == {name: other} for other in spellings)
