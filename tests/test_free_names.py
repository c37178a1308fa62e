"""Names that are given once each, in whatever number the same one is wanted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.converters.free_names import FreeNames
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import Document
from ragdatakit.schemas.conversions import Losses

WORDS = st.lists(st.sampled_from(["a", "A", "a-2", "a-2-2", "b", ""]), max_size=20)


class Counting(set[str]):
    """How often a set was asked."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


@given(WORDS, st.sets(st.sampled_from(["a", "a-2", "a-3", "b"])))
def test_as_counting_from_the_beginning_each_time(wanted: list[str], taken: set[str]) -> None:
    free, known = FreeNames(taken), set(taken)
    for name in wanted:
        expected, number = name, 1
        while expected in known:
            number += 1
            expected = f"{name}-{number}"
        known.add(expected)
        assert free(name) == expected


@given(WORDS)
def test_names_that_differ_in_case_are_one(wanted: list[str]) -> None:
    free = FreeNames(form="{}_{}", folded=str.lower)

    found = [free(name).lower() for name in wanted]

    assert len(set(found)) == len(found)


def test_no_number_is_tried_twice() -> None:
    taken = Counting({"d-7"})
    free = FreeNames(taken)

    names = [free("d") for _ in range(30_000)]

    assert (names[0], names[1], names[-1]) == ("d", "d-2", "d-30001") and taken.asked < 90_000


def test_what_is_retrieved_is_asked_once() -> None:
    """It was asked anew, with the file opened, for each passage that has an id of another."""
    opened = 0

    def rows() -> list[Document]:
        nonlocal opened
        opened += 1
        return [Document("d", "a text")]

    tables = CanonicalTables("set", "beir", {"chunks": lambda: iter(rows())}, Losses())
    assert [tables.passages for _ in range(100)] == ["chunks"] * 100 and opened == 1
