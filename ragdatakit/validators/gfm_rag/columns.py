"""The quick look at blocks of GFM-RAG's tables: which rows need to be checked one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc

from ragdatakit.columnar.literal_cells import LearntForms, has_content, plain_cells
from ragdatakit.columnar.string_hash import hash_strings
from ragdatakit.files.containers.arrow_columns import int64_array, int64_values, mask_of, offsets_of, one_array, scalar
from ragdatakit.files.containers.csv_columns import first_and_last_bytes
from ragdatakit.validators.checks import Candidates
from ragdatakit.validators.gfm_rag.graph import DOCUMENT

_PLAIN_ENDS = np.ones(256, np.bool_)
_PLAIN_ENDS[[9, 10, 11, 12, 13, 28, 29, 30, 31, 32]] = False
_BEYOND_ASCII = 128  # from here on a byte may belong to a blank that only Unicode knows
_BRACES = b"{}"


def candidates(kind: str, table: Any, learnt: LearntForms) -> Candidates:
    """Rows of a clean block that `TableChecks.record` must see (a superset of those with problems)."""
    names = {"nodes": ("uid", "name", "type"), "relations": ("uid", "name")}.get(kind, ())
    found = [_untrimmed(one_array(table, n)) for n in names if n in table.column_names]
    counted: dict[str, Any] = {}
    if "attributes" in table.column_names:
        found += _attributes(kind, table, counted, learnt)
    named = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
    return Candidates(named, counted)


def _untrimmed(column: Any) -> Any:
    first, last = first_and_last_bytes(column)
    found = np.flatnonzero(~(_PLAIN_ENDS[first] & _PLAIN_ENDS[last]))
    doubtful = np.flatnonzero((first >= _BEYOND_ASCII) | (last >= _BEYOND_ASCII))
    if not len(doubtful):
        return found
    cells = column.take(int64_array(doubtful))
    lengths = (int64_values(pc.binary_length(c)) for c in (cells, pc.utf8_trim_whitespace(cells)))
    return np.concatenate([found, doubtful[next(lengths) != next(lengths)]])


def _attributes(kind: str, table: Any, counted: dict[str, Any], learnt: LearntForms) -> list[Any]:
    """Rows with suspicious attributes; of what is reported once a file the first row, and all rows in ``counted``."""
    column = one_array(table, "attributes")
    rows = _not_braces(column)
    cells = column.take(int64_array(rows)) if len(rows) < len(column) else column
    plain = plain_cells(cells, learnt)
    found = [rows[plain.suspects]]
    counted["attributes-not-portable"] = rows[plain.python_only[plain.filled[plain.python_only]]]
    if kind == "edges":
        counted["edge-attributes-unused"] = rows[plain.filled]
    found += [of_rule[:1] for of_rule in counted.values()]
    if kind == "nodes" and "type" in table.column_names:
        documents = _documents(table)
        bare = documents.copy()
        bare[rows] = False
        places = np.flatnonzero(documents[rows])
        if len(places):
            found.append(rows[places[~has_content(cells, places, plain)]])
        found.append(np.flatnonzero(bare))
    return found


def _not_braces(column: Any) -> Any:
    """Rows of the cells that are not ``{}``."""
    if column.null_count or not len(column) or column.buffers()[2] is None:
        return np.arange(len(column))
    offsets = offsets_of(column)
    data = np.frombuffer(column.buffers()[2], np.uint8)
    other = np.diff(offsets) != 2
    two = np.flatnonzero(~other)
    begins = offsets[:-1][two]
    other[two] = (data[begins] != _BRACES[0]) | (data[begins + 1] != _BRACES[1])
    return np.flatnonzero(other)


def _documents(table: Any) -> Any:
    return mask_of(pc.fill_null(pc.equal(one_array(table, "type"), scalar(DOCUMENT)), scalar(False)))


def fill_documents(table: Any, batch: Any) -> None:
    """``@document`` and ``@title``: the codes of the key and of the name where the type is document."""
    if "type" not in table.column_names:
        return
    documents, valid = _documents(table), batch.valid["@key"]
    batch.columns["@document"] = batch.columns.get("@spelled", batch.columns["@key"])
    batch.valid["@document"] = documents if valid is None else documents & valid
    batch.columns["@title"], batch.valid["@title"] = batch.columns["@document"], batch.valid["@document"]
    if "uid" in table.column_names and "name" in table.column_names:
        names = one_array(table, "name")
        batch.columns["@title"] = hash_strings(names)
        batch.valid["@title"] = documents & mask_of(pc.is_valid(names)) if names.null_count else documents
