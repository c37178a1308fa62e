"""After a safe fix the frameworks' readers read what they read before, or accept what they refused.

light-splade's own loader and pytrec_eval run here; the others are restated in `tests.framework_readers`.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

import ragdatakit
from tests.broad import chosen
from tests.framework_readers import READERS, held_by, lost_by
from tests.light_splade_oracle import Variant, installed, records, silent_losses
from tests.test_fixes import FIXABLE
from tests.test_fixtures import Case

Held = TypeVar("Held")
Read = dict[str, Any] | str
"""What a reader holds, by the name of the part, or why it refuses."""


def cases(format_name: str, every: int) -> Any:
    found = [case for case in FIXABLE if case.id.startswith(f"{format_name}/") and not case.args]
    return pytest.mark.parametrize(
        "case", [case for case in found if chosen(f"{case.id} loaded", every)], ids=lambda case: case.id
    )


def around(case: Case, tmp_path: Path, reader: Callable[[Path], Held]) -> tuple[Held, Held, ragdatakit.FixResult]:
    """What is read before the safe fixes and after them."""
    root = Path(shutil.copytree(case.folder, tmp_path / "case", symlinks=True)) / case.target
    before = reader(root)
    result = ragdatakit.fix(root, max_per_rule=0)
    return before, reader(root), result


def assert_the_same(before: Read, after: Read, result: ragdatakit.FixResult) -> None:
    """What was read before is there after, with the same values, ids as text; nothing is refused that was not."""
    errors = [f for f in result.report.findings if f.severity == "error"]
    if isinstance(before, str):
        assert errors or not isinstance(after, str), after
        return
    assert not isinstance(after, str), after
    for part, held in before.items():
        if isinstance(held, dict):
            there = {plain(name): plain(value) for name, value in after[part].items()}
            assert {plain(name): plain(value) for name, value in held.items()}.items() <= there.items(), part
        else:
            assert plain(held) == plain(after[part]), part


def plain(value: Any) -> str:
    """A value in which ids of all types are alike, and what is missing is empty."""
    return re.sub(r"\b(\d+)\.0\b", r"\1", repr(value).replace("'", "").replace("None", ""))


@pytest.mark.skipif(not installed(), reason="light-splade is not installed")
@cases("light-splade", 3)
def test_light_splade(case: Case, tmp_path: Path) -> None:
    before, after, result = around(case, tmp_path, loaded_by_light_splade)

    assert before or not after  # there is something to look at
    for split in after:
        assert_the_same(before[split], after[split], result)


def loaded_by_light_splade(root: Path) -> dict[str, Read]:
    """By split; a split without errors is one of which nothing is lost or misread."""
    variant: Variant = "distil" if any(root.rglob("hard_negative_scores*")) else "triplet"
    splits = [split for split in ("train", "validation") if any(root.rglob(split))]
    home = next((path.parent for split in splits for path in root.rglob(split)), root)
    held = {split: records(home, variant, split) for split in splits}
    if not any(finding.severity == "error" for finding in ragdatakit.validate(root).findings):
        assert not [loss for split in splits for loss in silent_losses(home, variant, split)]
    return held


@pytest.mark.skipif(importlib.util.find_spec("pytrec_eval") is None, reason="pytrec_eval is not installed")
@cases("trec", 1)
def test_pytrec_eval(case: Case, tmp_path: Path) -> None:
    assert_the_same(*around(case, tmp_path, measured))


def measured(root: Path) -> Read:
    import pytrec_eval

    held: dict[str, Any] = {}
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".txt", ".run", ".qrels")):
        parse = pytrec_eval.parse_run if "run" in path.name else pytrec_eval.parse_qrel
        try:
            with path.open(encoding="utf-8") as file:
                held[path.name] = parse(file)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
            return f"{path.name}: {type(error).__name__}: {error}"
    return held


@pytest.mark.parametrize(
    "case",
    [c for c in FIXABLE if c.id.split("/")[0] in READERS and not c.args and chosen(f"{c.id} loaded", 4)],
    ids=lambda case: case.id,
)
def test_restated_readers(case: Case, tmp_path: Path) -> None:
    """All that the framework could use before is there after; it refuses nothing that it took."""
    name = case.id.split("/")[0]
    before, after, result = around(case, tmp_path, lambda root: held_by(name, root))

    errors = [finding for finding in result.report.findings if finding.severity == "error"]
    assert list(lost_by(before, after)) == []
    assert not isinstance(after, str) or errors or not result.changed, after
