"""The quick ways of checking A-RAG chunks give the same report as the thorough one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.validators import file_runs
from ragdatakit.validators.arag.checks import ARagChecks
from ragdatakit.validators.arag.chunks import id_and_text, id_problems, is_ragged, is_sound, text_problems

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


@given(STRINGS)
@example("1:0123456789 .")
@example("1:0123456789a.")
@example("1:a         b .")
@example("1:##lus burned whale oil.")
@settings(max_examples=300, deadline=None)
def test_what_is_sound_at_first_sight_has_no_fault(value: str) -> None:
    chunk_id, text = id_and_text(value)

    if is_sound(value):
        assert list(id_problems(chunk_id, None)) == []
        assert list(text_problems(chunk_id, text, None)) == []
        assert not is_ragged(text)


def test_usual_chunks_are_sound_at_first_sight() -> None:
    assert is_sound("0:The lamp was lit in 1871. It burned whale oil.")
    assert is_sound("17:“Öl”, said the keeper\nand left.")
    assert not is_sound("0:Short. The lamp was lit in 1871.")  # told by a closer look only
    assert not is_sound({"id": "0", "text": "The lamp was lit in 1871."})


@pytest.mark.parametrize("big", [False, True])
@given(st.lists(ELEMENTS, max_size=12), st.booleans(), st.sampled_from([0, 1, 1000]))
@settings(max_examples=25, deadline=None)
def test_the_report_is_that_of_the_thorough_way(
    big: bool, tmp_path_factory: pytest.TempPathFactory, elements: list[Any], dotted: bool, dots: int
) -> None:
    chunks = tmp_path_factory.mktemp("set") / "chunks.json"
    # one more behind them: the last element is never part of a whole part
    chunks.write_text(json.dumps([*[DOTTED] * dotted, *elements, DOTTED], indent=4))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragdatakit.validators.arag.checks.DOTS_LOOKED_FOR", dots)
        patch.setattr("ragdatakit.validators.dataset_run.ARRAY_PART_BYTES", 150)
        if big:
            patch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", 0)
        quick = _report(chunks)
        patch.setattr(file_runs, "BATCH_ROWS", 2)
        in_batches = _report(chunks)
        patch.setattr(ARagChecks, "suspect_values", lambda *_: None)
        patch.setattr(ARagChecks, "derive_columns", lambda *_: None)
        thorough = _report(chunks)

    assert quick == thorough
    assert in_batches == thorough


def _report(chunks: Path) -> dict[str, Any]:
    report = ragdatakit.validate(chunks, format="arag", max_per_rule=0).as_dict()
    return {key: value for key, value in report.items() if key != "seconds"}
