"""Names found by pattern are those that `fnmatch` finds."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.files.paths.name_patterns import Names

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
