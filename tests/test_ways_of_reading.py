"""Small datasets are read in plain Python, big ones in columns: both find the same, whatever is wrong.

The light-splade sets are small, so the limits are moved: to columns for all, and to blocks of a line or two, so that
every kind of fault meets the ends of a block.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.api.validating.check import check
from ragdatakit.schemas.options import ValidateOptions
from ragdatakit.validators import dataset_run
from tests.broad import chosen
from tests.command_line import FIXTURES
from tests.light_splade_drafts import DraftSet
from tests.light_splade_sets import MUTATIONS, generate, mutated

# Datasets below SMALL_DATASET bytes are read in plain Python; BLOCK_BYTES is what is read at once.
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "columns": {"SMALL_DATASET": -1},
    "small-blocks": {"SMALL_DATASET": -1, "BLOCK_BYTES": 150},
}
KINDS = sorted({m.kind for m in MUTATIONS})
BATCHES, SEEDS = 6, 40

Place = tuple[str, str, int | None, int | None, int | None, str | None]


def found(root: Path, way: str, jobs: int = 1) -> list[Place]:
    """What is reported, and where, when read that way."""
    with pytest.MonkeyPatch.context() as patch:
        for constant, value in WAYS[way].items():
            patch.setattr(dataset_run, constant, value)
        findings = ragdatakit.validate(root, max_per_rule=0, jobs=jobs).findings
    # How much of a damaged gzip file can be unpacked depends on how much is asked for at once.
    damaged = {f.path for f in findings if f.rule == "broken-compression"}
    findings = [f for f in findings if f.path not in damaged or f.rule == "broken-compression"]
    return sorted(((f.rule, f.path, f.line, f.byte_offset, f.record, f.pointer) for f in findings), key=repr)


def differences(draft: DraftSet, root: Path, ways: list[str]) -> list[str]:
    """How the findings of those ways differ from those of the plain one."""
    draft.write(root)
    plain = found(root, "plain")
    texts = []
    for way in ways:
        other = found(root, way)
        if other != plain:
            missed, more = [f for f in plain if f not in other], [f for f in other if f not in plain]
            texts.append(f"{way} {draft.mutations}: missed {missed}, more {more}")
    return texts


@pytest.mark.parametrize("kind", KINDS)
def test_each_mutation_is_found_by_all(kind: str, tmp_path: Path) -> None:
    wrong = []
    for number, mutation in enumerate(m for m in MUTATIONS if m.kind == kind):
        if not chosen(f"{kind} {number}", every=10):
            continue
        way = ["columns", "small-blocks"][number % 2]
        wrong += differences(mutated(mutation, seed=2), tmp_path / str(number), [way])

    assert not wrong, "\n".join(wrong)


@pytest.mark.broad
@pytest.mark.parametrize("batch", range(BATCHES))
def test_mixed_mutations_are_found_by_all(batch: int, tmp_path: Path) -> None:
    wrong = []
    for seed in range(batch * SEEDS, (batch + 1) * SEEDS):
        way = ["columns", "small-blocks"][seed // 4 % 2]
        wrong += differences(generate(seed), tmp_path / str(seed), [way])

    assert not wrong, "\n".join(wrong)


def test_what_is_only_counted_is_as_much(tmp_path: Path) -> None:
    counted = ValidateOptions(jobs=2)
    for number, broken in enumerate(sorted((FIXTURES / "light-splade" / "broken").iterdir())[::4]):
        with pytest.MonkeyPatch.context() as patch:
            for constant, value in [*WAYS.values()][number % 3].items():
                patch.setattr(dataset_run, constant, value)
            whole = ragdatakit.validate(broken, jobs=2)
            report, findings = check(broken, counted, counted=True)

        assert list(findings) == []
        assert (report.counts, report.by_rule) == (whole.counts, whole.by_rule), broken
        assert (report.ok, report.datasets) == (whole.ok, whole.datasets), broken


@pytest.mark.parametrize("name", ["arag", "hipporag"])
def test_how_many_are_shown_changes_no_count(name: str) -> None:
    broken = FIXTURES / name / "broken"
    one, whole = (ragdatakit.validate(broken, max_per_rule=most) for most in (1, 0))
    report, _ = check(broken, ValidateOptions(), counted=True)

    assert (one.counts, one.by_rule) == (whole.counts, whole.by_rule)
    assert (report.counts, report.by_rule) == (whole.counts, whole.by_rule)


def test_the_number_of_jobs_changes_nothing(tmp_path: Path) -> None:
    for seed in range(3, 60, 4):
        root = tmp_path / str(seed)
        generate(seed).write(root)

        assert found(root, "small-blocks", jobs=(2, 7)[seed % 2]) == found(root, "plain")


@pytest.mark.parametrize("cut", ["train/doc_master.ndjson", "train/positive_lists.ndjson"])
def test_scores_are_on_a_scale_where_what_they_refer_to_is_cut_off(cut: str, tmp_path: Path) -> None:
    records: dict[str, list[dict[str, Any]]] = {
        "train/query_master.ndjson": [{"qid": n, "text": f"Which tug is {n}?"} for n in range(50)],
        "train/doc_master.ndjson": [{"doc_id": n, "text": f"The tug {n}."} for n in range(100)],
        "train/positive_lists.ndjson": [{"qid": n, "positive_doc_ids": [2 * n]} for n in range(50)],
        "hard_negative_scores.ndjson": [{"qid": n, "scores": {2 * n: 0.9, 2 * n + 1: 0.1}} for n in range(50)],
    }
    (tmp_path / "train").mkdir()
    for name, those in records.items():
        data = "".join(json.dumps(record) + "\n" for record in those).encode()
        if name == cut:
            packed = gzip.compress(data, mtime=0)
            (tmp_path / f"{name}.gz").write_bytes(packed[: len(packed) // 2])
        else:
            (tmp_path / name).write_bytes(data)
    plain = found(tmp_path, "plain")

    assert {"broken-compression", "suspicious-score-scale"} <= {rule for rule, *_ in plain}
    assert [found(tmp_path, way) for way in ("columns", "small-blocks")] == [plain, plain]
