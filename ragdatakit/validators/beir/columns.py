"""Rows of clean columnar blocks of BEIR files that the closer checks should see."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragdatakit.files.containers.arrow_columns import mask_of, one_array
from ragdatakit.files.texts.flat_text import INVISIBLE

# What Python calls white space (RE2's \\s is ASCII only).
_SPACE = r"\s\x0b\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_INVISIBLE = "".join(rf"\x{{{ord(c):x}}}" for c in INVISIBLE)
_BLANK = rf"\A[{_SPACE}{_INVISIBLE}]*\z"
_ODD_ID = rf'\A\z|\A["{_SPACE}]|[\t\n\r]|[{_SPACE}]\z'


def record_candidates(table: pa.Table) -> npt.NDArray[np.intp]:
    """Texts that are blank, and ids that are empty, begin or end oddly, or hold what ends a cell."""
    blank = pc.match_substring_regex(one_array(table, "text"), _BLANK)
    odd = pc.match_substring_regex(one_array(table, "_id"), _ODD_ID)
    return np.flatnonzero(mask_of(pc.fill_null(pc.or_(blank, odd), True)))


def judgement_candidates(table: pa.Table, measured: range) -> npt.NDArray[np.intp]:
    """Scores that are not among those that can be measured."""
    scores = one_array(table, "score")
    return np.flatnonzero(mask_of(pc.fill_null(pc.greater_equal(scores, measured.stop), True)))
