"""Each fix over all broken fixtures: the finding goes, no other comes in its place, and twice is once."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.fixes.find import MODULES, repairs_of
from ragdatakit.schemas import all_formats, all_rules, rules_by_code
from ragdatakit.schemas.declarations import names_rule
from ragdatakit.schemas.findings import Finding
from ragdatakit.validators import dataset_run
from tests.broad import chosen
from tests.command_line import files_below
from tests.test_fixtures import BROKEN, Case, profiles

RULES = rules_by_code()
FIXABLE = [case for case in BROKEN if any(RULES[entry["code"]].fix for entry in (*case.findings, *case.infos))]
each = pytest.mark.parametrize("case", [case for case in FIXABLE if chosen(case.id, every=5)], ids=lambda c: c.id)


@dataclass(slots=True)
class Fixed:
    """A copy of a fixture before and after."""

    root: Path
    before: list[Finding]
    files: dict[str, bytes]
    result: ragdatakit.FixResult

    @property
    def after(self) -> list[Finding]:
        return self.result.report.findings


def fixed(case: Case, scratch: Path, unsafe: bool) -> Fixed:
    root = scratch / "case"
    shutil.copytree(case.stand(scratch / "stand"), root, symlinks=True)
    words: dict[str, Any] = {"profile": profiles(case.args), "max_per_rule": 0}
    before = ragdatakit.validate(root / case.target, **words)
    files = files_below(root)
    removed = scratch / "removed.ndjson"

    result = ragdatakit.fix(root / case.target, unsafe=unsafe, removed=removed, **words)

    now = files_below(root)
    again = ragdatakit.fix(root / case.target, unsafe=unsafe, removed=removed, **words)
    assert not again.changed
    assert again.report.as_dict() | {"seconds": 0} == result.report.as_dict() | {"seconds": 0}
    assert files_below(root) == now
    assert set(now) == set(files)
    return Fixed(root, before.findings, files, result)


def revealed(found: Fixed) -> set[str]:
    """Codes that may be there after the fixes that were made, as they were hidden."""
    made = {code for counts in found.result.fixed.values() for code in counts}
    return {code for code, rule in RULES.items() if any(RULES[each].may_reveal(rule) for each in made)}


def assert_kept(found: Fixed, name: str) -> None:
    """What had no fault in a file, and was read before, is there as it was, in its order."""
    mine = [f for f in found.before if f.path.endswith(name) and f.fix is not None]
    in_each_row = any(f.fix is not None and f.fix.rewrite == "without-last-comma" for f in mine)
    if in_each_row or any(f.line is None or f.count > 1 for f in mine):
        return
    old, new = (data.decode("utf-8", "replace") for data in (found.files[name], (found.root / name).read_bytes()))
    documents = decoded(old), decoded(new)
    sound: list[Any]
    if isinstance(documents[0], list) and isinstance(documents[1], list):
        numbers = {f.record for f in mine}
        sound, rest = [e for n, e in enumerate(documents[0]) if n not in numbers], iter(documents[1])
    elif isinstance(documents[1], list):  # lines have become an array
        sound, rest = [decoded(line) for line in old.splitlines() if decoded(line) is not None], iter(documents[1])
    elif isinstance(documents[0], list):
        sound, rest = documents[0], map(decoded, new.splitlines())
    else:
        lines = {n for f in mine for n in range(f.line or 0, (f.end_line or f.line or 0) + 1)}
        related = {other.line for f in mine for other in f.related}
        sound = [line for n, line in enumerate(old.splitlines(), 1) if n not in lines | related]
        rest = iter(new.splitlines())
    assert all(any(one == record for one in rest) for record in sound)


def decoded(text: str) -> Any:
    """What Python's reader makes of a text; None where it refuses it."""
    try:
        return json.loads(text)
    except ValueError:
        return None


@each
def test_safe_fixes(case: Case, tmp_path: Path) -> None:
    found = fixed(case, tmp_path, unsafe=False)

    left = {each.path for each in found.result.not_fixed}
    assert [f for f in found.after if f.fix and f.fix.applicability == "safe" and f.path not in left] == []
    more = Counter(f.code for f in found.after if f.severity != "info") - Counter(f.code for f in found.before)
    assert set(more) <= revealed(found)
    for name in found.files:
        assert_kept(found, name)
    assert found.result.removed == 0
    could = {f.path for f in found.before if f.fix and f.fix.applicability == "safe"}
    assert could - left <= found.result.fixed.keys()


@each
def test_unsafe_fixes(case: Case, tmp_path: Path) -> None:
    found = fixed(case, tmp_path, unsafe=True)

    left = {each.path for each in found.result.not_fixed}
    assert [f for f in found.after if f.fixable and f.path not in left] == []
    kept = tmp_path / "removed.ndjson"
    entries = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    assert len(entries) == found.result.removed
    for entry in entries:
        assert {"path", "line", "rule", "removed"} == entry.keys()
        assert any(entry["removed"].encode() in data for data in found.files.values())


@pytest.mark.parametrize("case", [c for c in FIXABLE if chosen(f"{c.id} as big", 12)], ids=lambda c: c.id)
def test_big_files_are_fixed_alike(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = fixed(case, tmp_path / "small", unsafe=True)
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)
    monkeypatch.setattr(dataset_run, "BLOCK_BYTES", 150)
    monkeypatch.setattr(dataset_run, "TEXT_BLOCK_BYTES", 150)
    big = fixed(case, tmp_path / "big", unsafe=True)

    assert files_below(big.root) == files_below(small.root)
    assert [*big.result.fixed.values()] == [*small.result.fixed.values()]


@pytest.mark.parametrize("name", [fmt.name for fmt in all_formats()])
def test_what_is_declared_is_done(name: str) -> None:
    rules = [rule for rule, fmt in all_rules() if fmt is None or fmt.name == name]

    assert {rule.name for rule in rules if rule.fix} == set(repairs_of(name))
    assert set(MODULES) <= {"", *(fmt.name for fmt in all_formats())}


def test_every_fix_is_tried_by_a_fixture() -> None:
    """Of those that are made, not only shown."""
    tried = {entry["code"] for case in FIXABLE for entry in (*case.findings, *case.infos)}
    assert {code for code, rule in RULES.items() if rule.fixes.keys() & {"safe", "unsafe"}} <= tried


def test_what_a_fix_may_reveal_is_named() -> None:
    for rule, fmt in all_rules():
        others = [other for other, of in all_rules() if fmt is None or of in (fmt, None)]
        for each in rule.reveals:
            assert any(names_rule(each, other.code, other.name) for other in others), (rule.code, each)
