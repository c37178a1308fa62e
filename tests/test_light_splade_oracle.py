"""ragdata and light-splade's own loader give the same verdict on datasets made at random.

Whatever the loader raises on, drops or misreads, ragdata reports as an error; whatever ragdata passes, the loader
loads, and every sample can be drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import ragdatakit
from tests.broad import chosen
from tests.light_splade_drafts import DraftSet
from tests.light_splade_minimal import ROWS, Row, unchanged
from tests.light_splade_oracle import Variant, installed, silent_losses, verdict
from tests.light_splade_sets import MUTATIONS, generate, mutated

pytestmark = pytest.mark.skipif(
    not installed(), reason="light-splade is not installed (pip install --no-deps light-splade==0.1.3)"
)

RULES: dict[str, set[str]] = {
    "E01": {"missing-path", "wrong-suffix", "missing-file", "ignored-shard"},
    "E02": {"mislabelled-compression", "broken-compression"},
    "E03": {"invalid-utf8", "byte-order-mark", "not-text"},
    "E04": {"invalid-json", "blank-line", "line-not-object", "array-for-lines"},
    "E05": {"unexpected-field", "missing-field"},
    "E06": {"id-not-integer", "positives-not-list"},
    "E07": {"text-not-string", "lone-surrogate"},
    "E08": {"dangling-positive-qid"},
    "E09": {"query-without-positives"},
    "E10": {"empty-positive-list"},
    "E11": {"dangling-positive-doc-id"},
    "E12": {"duplicate-qid", "duplicate-doc-id", "repeated-file"},
    "E13": {"duplicate-positive-list", "duplicate-scores", "repeated-file"},
    "E14": {"duplicate-key"},
    "E20": {"dangling-doc-id"},
    "E21": {"dangling-qid"},
    "E22": {"positive-not-listed"},
    "E23": {"negative-is-positive"},
    "E24": {"no-records"},
    "E30": {"query-without-scores"},
    "E31": {"positive-without-score"},
    "E32": {"no-negative"},
    "E33": {"score-key-not-integer", "colliding-score-keys"},
    "E34": {"score-not-number"},
    "W01": {"blank-text"},
    "W05": {"duplicate-triplet"},
    "W10": {"constant-scores"},
    "W12": {"scores-for-unknown"},
    "W13": {"suspicious-score-scale"},
    "W14": {"very-long-text"},
    "W15": {"integer-beyond-2-53", "id-beyond-int64"},
    "W16": {"loaded-twice"},
    "W17": {"field-order"},
    "W18": {"duplicate-positive"},
    "W20": {"lone-carriage-return"},
}

# Errors of ragdata where the loader itself does not mind: every tool around it does.
STRICTER = {"id-beyond-int64"}

BATCHES, SEEDS = 24, 25
KINDS = sorted({m.kind for m in MUTATIONS})


def upstream_faults(draft: DraftSet, root: Path) -> list[str]:
    """What upstream raises, drops or misreads, in any variant and split."""
    return [
        f"{variant} {split or 'alone'}: {fault}"
        for variant in draft.variants
        for split in draft.splits
        for fault in _faults(root, variant, split)
    ]


def _faults(root: Path, variant: Variant, split: str) -> Iterator[str]:
    loaded = verdict(root, variant, split)
    if loaded.kind == "raises":
        yield loaded.error
    else:
        yield from silent_losses(root, variant, split)


def disagreement(draft: DraftSet, root: Path) -> str:
    """Where ragdata and upstream differ about the dataset; empty where they do not."""
    draft.write(root)
    faults = upstream_faults(draft, root)
    errors = [f for f in ragdatakit.validate(root).findings if f.severity == "error"]
    if faults and not errors:
        return f"{draft.mutations}: ragdata finds no error, upstream: {faults[0][:200]}"
    if errors and not faults and not {f.rule for f in errors} & STRICTER:
        return f"{draft.mutations}: upstream loads everything, ragdata: {errors[0].rule}: {errors[0].message[:200]}"
    return ""


@pytest.mark.broad
@pytest.mark.parametrize("batch", range(BATCHES))
def test_verdicts_agree_on_generated_datasets(batch: int, tmp_path: Path) -> None:
    seeds = range(batch * SEEDS, (batch + 1) * SEEDS)

    differences = {seed: disagreement(generate(seed), tmp_path / str(seed)) for seed in seeds}

    assert not {seed: text for seed, text in differences.items() if text}


@pytest.mark.parametrize("kind", KINDS)
def test_each_mutation_breaks_the_rules_it_names(kind: str, tmp_path: Path) -> None:
    wrong = []
    for number, mutation in enumerate(m for m in MUTATIONS if m.kind == kind):
        if not chosen(f"{kind} {number}", every=4):
            continue
        root = tmp_path / str(number)
        draft = mutated(mutation, seed=1)
        if text := disagreement(draft, root):
            wrong.append(text)
        if bool(upstream_faults(draft, root)) is not mutation.is_fault:
            wrong.append(f"{draft.mutations}: upstream does not do what the mutation says")
        found = {f.rule for f in ragdatakit.validate(root).findings}
        wrong += [f"{draft.mutations}: no {code}, but {found}" for code in mutation.codes if not _broken(code, found)]

    assert not wrong, "\n".join(wrong)


def _broken(code: str, found: set[str]) -> bool:
    return code == "E" or bool(RULES[code] & found)


def test_valid_datasets_have_no_error(tmp_path: Path) -> None:
    for seed in range(0, 160, 4):
        root = tmp_path / str(seed)
        generate(seed).write(root)

        report = ragdatakit.validate(root)

        assert report.counts["error"] == 0, (seed, report.findings[:3])


@pytest.mark.broad
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.number}-{row.kind}-{row.code}")
def test_one_changed_line_breaks_one_rule(row: Row, tmp_path: Path) -> None:
    row.write(tmp_path)

    loaded = verdict(tmp_path, row.variant, "train")
    report = ragdatakit.validate(tmp_path)

    assert loaded.error.startswith(row.upstream), loaded
    assert bool(loaded.error) is bool(row.upstream), loaded
    assert RULES[row.code] & {f.rule for f in report.findings if f.severity == "error"}, report.findings


@pytest.mark.parametrize("variant", ["triplet", "distil"])
def test_the_minimal_dataset_is_valid_for_both(variant: Variant, tmp_path: Path) -> None:
    Row(0, "queries", unchanged, "").write(tmp_path)

    loaded = verdict(tmp_path, variant, "train")

    assert loaded.kind == "accepts"
    assert len(loaded.samples) == 2
    assert not loaded.failures
    assert not silent_losses(tmp_path, variant, "train")
    assert ragdatakit.validate(tmp_path).counts["error"] == 0


def test_an_unknown_query_is_found_when_the_sample_is_drawn(tmp_path: Path) -> None:
    next(row for row in ROWS if row.code == "E21").write(tmp_path)

    loaded = verdict(tmp_path, "triplet", "train")

    assert loaded.failures == ("0: IndexError: The id 77 does not exist in the master data",)


def test_the_generator_is_reproducible(tmp_path: Path) -> None:
    for place in ("a", "b"):
        for seed in range(20):
            generate(seed).write(tmp_path / place / str(seed))

    first, again = (
        {p.relative_to(tmp_path / place): p.read_bytes() for p in (tmp_path / place).rglob("*") if p.is_file()}
        for place in ("a", "b")
    )
    assert first == again


def test_enough_kinds_of_mutations_are_tried() -> None:
    tried = {name.split(" in ")[0] for seed in range(BATCHES * SEEDS) for name in generate(seed).mutations}

    assert len(tried) >= 40
    assert {seed % 4 for seed in range(BATCHES * SEEDS)} == {0, 1, 2, 3}
