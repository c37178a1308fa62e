"""A-RAG chunks give the same report in small parts and batches as in one, with both engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.validators.reading import file_runs
from tests.broad import examples

DOTTED = "0:The lamp of Skarn weighs 3.5 tons in all."
IDS = st.sampled_from(["1", "2", "3", "02", " 2", "x", "", "٣", "10"])
TEXTS = st.one_of(
    st.sampled_from([DOTTED[2:], "The keeper left.", "Short.", "Ten chars.", "Eleven chars.", " Blank before it all."]),
    st.text(alphabet=" ab.#!?\n\u3000\u3002é:", max_size=30),
    st.text(alphabet="ab #", min_size=490, max_size=510),
)
STRINGS = st.builds("{}:{}".format, IDS, TEXTS) | TEXTS
ELEMENTS: st.SearchStrategy[Any] = (
    STRINGS | st.builds(lambda i, t: {"id": i, "text": t}, IDS, TEXTS) | st.sampled_from([None, 7, [], {}])
)


@pytest.mark.parametrize("big", [False, True])
@given(st.lists(ELEMENTS, max_size=12), st.booleans(), st.sampled_from([0, 1, 1000]))
@settings(max_examples=examples(25), deadline=None)
def test_the_report_does_not_depend_on_parts_and_batches(
    big: bool, tmp_path_factory: pytest.TempPathFactory, elements: list[Any], dotted: bool, dots: int
) -> None:
    chunks = tmp_path_factory.mktemp("set") / "chunks.json"
    # one more behind them: the last element is never part of a whole part
    chunks.write_text(json.dumps([*[DOTTED] * dotted, *elements, DOTTED], indent=4))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragdatakit.validators.arag.checks.DOTS_LOOKED_FOR", dots)
        whole = _report(chunks)
        patch.setattr("ragdatakit.validators.dataset_run.ARRAY_PART_BYTES", 150)
        if big:
            patch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", 0)
        in_parts = _report(chunks)
        patch.setattr(file_runs, "BATCH_ROWS", 2)
        in_batches = _report(chunks)

    assert in_parts == whole
    assert in_batches == whole


def _report(chunks: Path) -> dict[str, Any]:
    report = ragdatakit.validate(chunks, format="arag", max_per_rule=0).as_dict()
    return {key: value for key, value in report.items() if key != "seconds"}
