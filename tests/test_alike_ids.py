"""Ids of gold that are written otherwise than in the corpus, or shifted against it."""

from __future__ import annotations

import pytest

from ragdatakit.retrieval.gold_and_metrics.alike_ids import alike_ids, shifted_ids
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


def test_a_shift_is_that_of_many_questions() -> None:
    shifted = [((f"c{n + 1}",), f"c{n}") for n in range(5)]
    right = [((f"c{n}",), f"c{n}") for n in range(11)]

    found = shifted_ids([*shifted, *right])

    assert found is not None
    assert (found.shift, found.count, found.judged, found.gold, found.first) == (1, 5, 16, "c1", "c0")
    assert shifted_ids(shifted[:4]) is None
    assert shifted_ids([*shifted, *right, *right]) is None
    assert shifted_ids([((f"c{n * n}",), f"c{n}") for n in range(2, 9)]) is None
    assert shifted_ids([(("a",), "b"), (("9" * 30,), "8" * 30)] * 9) is None


@pytest.mark.parametrize("name", ["hd_1", "Doc 007", "31715818.0", "7", "notes.json", "harbour", "a.b-c/12"])
def test_what_is_looked_up_for_an_id_is_alike_when_ids_are_gone_through(name: str) -> None:
    """`validate`, which can only ask whether an id is there, and `eval`, which sees all of them, mean the same."""
    spellings = loosely_the_same(name)

    assert spellings and all(alike_ids([name], [other]) == {name: other} for other in spellings)
