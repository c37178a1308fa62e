"""Sentences about a dataset that is indexed: what the user should know of its passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragdatakit.tables.canonical_tables import CanonicalTables

_MOST_SHOWN = 5
_WORDS = {
    "repeated_ids": "{} have an id that stood before; gold and paths mean the first one",
    "without_text": "{} have no text and cannot be found",
}


def guess_note(path: Path, format_name: str, names: Sequence[str]) -> str:
    """That no format was recognised, and what is done about it."""
    shown = ", ".join(names[:_MOST_SHOWN]) + (f" and {len(names) - _MOST_SHOWN:,} more" if names[_MOST_SHOWN:] else "")
    what = "plain texts" if format_name == "text" else "tables"
    return f"nothing in {path} is of a format that ragdata knows; it is read as {what}: {shown}"


def faults_of(passages: Path, tables: CanonicalTables) -> dict[str, Any]:
    """Faults of the passages that were written to a folder, and of what was read so far."""
    import numpy as np

    hashes = np.load(passages / "id.hashes.npy", mmap_mode="r")
    empty = np.ones(len(hashes), np.bool_)
    for name in ("title", "context", "text"):
        empty &= np.diff(np.load(passages / f"{name}.offsets.npy", mmap_mode="r")) == 0
    return {
        "repeated_ids": int(np.count_nonzero(hashes[1:] == hashes[:-1])),
        "without_text": int(np.count_nonzero(empty)),
        "left_out": [
            f"{loss.count:,} of {loss.table}: {loss.reason}{f' ({loss.examples[0]})' if loss.examples else ''}"
            for loss in tables.losses
            if loss.kind == "dropped"
        ],
    }


def fault_notes(faults: Mapping[str, Any], unit: str) -> list[str]:
    """What `faults_of` found, as sentences."""
    told = []
    for name, words in _WORDS.items():
        if number := faults[name]:
            text = words.format(f"{number:,} {unit}{'s' * (number != 1)}")
            told.append(text if number != 1 else text.replace(" have ", " has ", 1))
    return told + [f"left out: {text}" for text in faults["left_out"]]


def nothing_to_search(path: Path, filled: Sequence[str]) -> str:
    """That there are no passages, and what there is instead: the tables in which there are rows."""
    has = f"it has {', '.join(n.replace('_', ' ') for n in filled)} only" if filled else "nothing could be read from it"
    told = f"{path} has no passages to search: no documents and no chunks ({has})"
    return f"{told}; give the folder that holds the corpus, too" if filled else told
