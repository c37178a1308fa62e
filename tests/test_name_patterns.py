"""Names found by pattern are those that `fnmatch` finds."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.files.paths import name_patterns
from ragdatakit.files.paths.folders import Tree, name_below
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


NAMED = ["a", "b.x", ".h"]
SEGMENTS = st.sampled_from([*NAMED, "*", "*.x", "?", ".*"])


@given(
    st.sets(st.tuples(st.lists(st.sampled_from(NAMED), max_size=2).map(tuple), st.booleans()), max_size=5),
    st.lists(st.tuples(st.lists(SEGMENTS, min_size=1, max_size=3), st.booleans()), max_size=6),
)
def test_patterns_that_may_match_are_those_that_lead_to_something(
    made: set[tuple[tuple[str, ...], bool]], patterns: list[tuple[list[str], bool]]
) -> None:
    """Files, or folders in the place of files, at up to three levels."""
    asked = tuple(dict.fromkeys("/".join(segments) + "/" * is_folder for segments, is_folder in patterns))
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for parents, is_file in made:
            within = root.joinpath(*parents)
            within.mkdir(parents=True, exist_ok=True)
            if is_file:
                (within / "c.x").touch()
        tree = Tree(root)
        may_match = tree.may_match(root, asked)
        assert [p for p in asked if p in may_match] == list(may_match)
        leading = {p for p in asked if tree.match(root, p) or tree.match(root, f"{p.rstrip('/')}/")}
        assert leading <= set(may_match)
        assert set(may_match) - leading <= {p for p in asked if p.endswith("/") and tree.match(root, p.rstrip("/"))}
        instead = tree.may_match(root, asked, instead=True)
        assert list(instead) == [p for p in asked if tree.match(root, f"{p.rstrip('/')}/")]


@pytest.mark.parametrize("folder", [".", "/", "a", "a/b c", "/a", "..", "../a", ".a"])
@pytest.mark.parametrize("name", ["x", "x/y.json", ".h/..z", "a"])
def test_what_a_path_is_called_below_a_folder(folder: str, name: str) -> None:
    path = Path(folder) / name

    assert name_below(Path(folder), path) == path.relative_to(folder).as_posix() == name
