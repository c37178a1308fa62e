"""Rows of clean columnar blocks of light-splade files that the closer checks should see."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragdatakit.columnar.numpy_keys import mix
from ragdatakit.files.containers.arrow_columns import int64_values, one_array

# First bytes of a white-space text: ASCII white space and the lead bytes of U+0085..U+00A0, U+1680, U+2000.., U+3000.
_SPACE_FIRST = np.zeros(256, np.bool_)
_SPACE_FIRST[[9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 0xC2, 0xE1, 0xE2, 0xE3]] = True

_NUMBER_FIRST = np.zeros(256, np.bool_)
_NUMBER_FIRST[list(b"0123456789+-. \t")] = True


def master_candidates(table: pa.Table, long_text: int) -> npt.NDArray[np.intp]:
    """Texts that are empty, begin like white space and are short, or are very long; texts that look like numbers."""
    array = one_array(table, "text")
    offsets = np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1]
    widths = np.diff(offsets)
    data = np.frombuffer(array.buffers()[2], np.uint8) if array.buffers()[2] is not None else np.empty(0, np.uint8)
    chosen = (widths == 0) | (widths > long_text)
    filled = np.flatnonzero(widths)
    first = data[offsets[:-1][filled]]
    space = filled[_SPACE_FIRST[first]]
    if len(space):
        chosen[[row for row in space.tolist() if not array[row].as_py().strip()]] = True
    chosen[0] = True  # one row of each block gives the order of the fields ...
    if len(filled):  # ... and one that is no number that not all texts are
        chosen[filled[np.argmin(_NUMBER_FIRST[first])]] = True
    return np.flatnonzero(chosen)


def positive_candidates(table: pa.Table) -> npt.NDArray[np.intp]:
    """Lists of more than one document: one may appear twice."""
    column = one_array(table, "positive_doc_ids")
    lists = int64_values(pc.list_value_length(column))
    several = np.flatnonzero(lists > 1)
    if not len(several):
        return several
    owners = int64_values(pc.list_parent_indices(column))
    items = int64_values(pc.list_flatten(column))
    pairs = np.sort(mix(owners.astype(np.uint64), items.view(np.uint64)))
    if not (pairs[1:] == pairs[:-1]).any():
        return several[:0]
    order = np.lexsort((items, owners))
    owners, items = owners[order], items[order]
    twice = (owners[1:] == owners[:-1]) & (items[1:] == items[:-1])
    return np.unique(owners[1:][twice])
