"""Names found by pattern are those that `fnmatch` finds."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.files.paths import name_patterns
from ragdatakit.files.paths.name_patterns import Names, is_name, noted

NAMES = st.sets(st.text("ab.cé_[]", min_size=1, max_size=6), max_size=12)
PATTERNS = st.text("ab.cé_**?[]!", min_size=1, max_size=7)


@given(NAMES, PATTERNS)
def test_names_that_match_are_those_of_fnmatch(names: set[str], pattern: str) -> None:
    if any(mark in pattern for mark in "*?["):
        hidden = pattern.startswith(".")
        expected = [n for n in sorted(names) if fnmatchcase(n, pattern) and (hidden or not n.startswith("."))]
    else:
        expected = [pattern] if pattern in names else []
    assert Names(names).matching(pattern) == expected


@given(NAMES, st.sampled_from(["*.a", "*.a.b", "a*", "*a*.b", "*_a", ".a*", "*", "*.a*"]))
def test_names_that_match_a_usual_pattern(names: set[str], pattern: str) -> None:
    hidden = pattern.startswith(".")
    expected = [n for n in sorted(names) if fnmatchcase(n, pattern) and (hidden or not n.startswith("."))]
    assert Names(names).matching(pattern) == expected


@given(NAMES, st.lists(PATTERNS, max_size=4), st.lists(PATTERNS, max_size=4), st.sampled_from([0, 64]))
def test_segments_that_names_begin_are_those_that_match(
    names: set[str], first: list[str], more: list[str], few: int
) -> None:
    listed = Names(names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_patterns, "_FEW", few)
        for segments in (noted(first), noted(more)):
            begun = listed.begun()
            assert begun >= names
            assert {s for s in segments if s in begun and not is_name(s)} - names == {
                s for s in segments if Names(names).matching(s) and not is_name(s)
            } - names
