"""A regular expression that is compiled late is asked as one that is compiled at once."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from ragdatakit.late_patterns import late_pattern


def test_it_answers_as_a_compiled_one() -> None:
    late, compiled = late_pattern(r"(?P<name>[a-z]+)=(\d)", re.I), re.compile(r"(?P<name>[a-z]+)=(\d)", re.I)
    text = "a=1, B=2"

    assert late.findall(text) == late.findall(text) == compiled.findall(text)
    assert late.sub(r"\2", text) == compiled.sub(r"\2", text)
    found = late.search(text, 3)
    assert found is not None
    assert found.re is compiled
    assert (late.pattern, late.flags, late.groupindex) == (compiled.pattern, compiled.flags, compiled.groupindex)


def test_what_is_wrong_with_it_shows_when_it_is_asked() -> None:
    late = late_pattern(rb"(")

    with pytest.raises(re.error):
        late.match(b"x")


def test_it_can_be_copied_and_sent() -> None:
    late = late_pattern(r"[a-z]+", re.I)

    assert [each.findall("A1b") for each in (copy.copy(late), pickle.loads(pickle.dumps(late)))] == [["A", "b"]] * 2
