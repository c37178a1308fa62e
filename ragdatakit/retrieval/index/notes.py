"""Sentences about a dataset that is indexed: what the user should know of its passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables

GOLD = ("qrels", "questions", "queries", "topics", "topic-lines", "raw-questions", "built-raw-questions")
"""Tables, and kinds of files, with questions and their judgements."""
_PASSAGES = ("corpus", "doc", "chunk", "passage", "text")
"""What tables, and kinds of files, with passages have in their names."""
RUNS = ("runs", "run", "predictions")
_MOST_SHOWN = 5
_MOST_NAMED = 3
_LONGEST_ID = 80
_WORDS = {
    "repeated_ids": "{} have an id that came before{}; gold and paths mean the first one",
    "replaced_ids": "{} have an id that came before{}; the last one is read, as the framework does it",
    "without_text": "{} have no text and cannot be found{}",
}


def guess_note(path: Path, format_name: str, names: Sequence[str]) -> str:
    """That no format was recognised, and what is done about it."""
    shown = ", ".join(names[:_MOST_SHOWN]) + (f" and {len(names) - _MOST_SHOWN:,} more" if names[_MOST_SHOWN:] else "")
    what = "plain texts" if format_name == "text" else "tables"
    several = (
        "; a folder is read whole: give one file to search that alone"
        if len(names) > 1 and format_name == "table"
        else ""
    )
    return f"nothing in {path} is of a format that ragdata knows; it is read as {what}: {shown}{several}"


def faults_of(passages: Path, tables: CanonicalTables) -> dict[str, Any]:
    """Faults of the passages that were written to a folder, and of what was read so far."""
    hashes = np.load(passages / "id.hashes.npy", mmap_mode="r")
    empty = np.ones(len(hashes), np.bool_)
    for name in ("title", "context", "text"):
        empty &= np.diff(np.load(passages / f"{name}.offsets.npy", mmap_mode="r")) == 0
    order = np.load(passages / "id.order.npy", mmap_mode="r")
    repeated = np.sort(order[1:][hashes[1:] == hashes[:-1]])
    nothing = repeated[:0]
    found = {
        "repeated_ids": nothing if tables.replaces else repeated,
        "replaced_ids": repeated if tables.replaces else nothing,
        "without_text": np.flatnonzero(empty),
    }
    return {
        **{name: len(ordinals) for name, ordinals in found.items()},
        "examples": {name: _ids(passages, ordinals[:_MOST_NAMED].tolist()) for name, ordinals in found.items()},
        "left_out": left_out(tables),
        "coerced": left_out(tables, ("documents", "chunks"), "coerced"),
    }


def left_out(tables: CanonicalTables, names: Sequence[str] = (), kind: str = "dropped") -> list[str]:
    """What was not read of a dataset so far, one sentence a reason; of these tables, where any are named. With the kind
    ``coerced``: what was changed to be read."""
    return [
        f"{loss.count:,} of {loss.table}: {loss.reason}{_example(loss.examples)}"
        for loss in tables.losses
        if loss.kind == kind and (not names or loss.table in names)
    ]


def _example(examples: Sequence[object]) -> str:
    """The first one in brackets; empty where it is blank, as that of a missing id is."""
    shown = " ".join(str(examples[0]).split()) if examples else ""
    return f" ({shown})" if shown else ""


def lost_passages(tables: CanonicalTables) -> list[str]:
    """What was not read of a dataset's documents and chunks so far."""
    names = [loss.table for loss in tables.losses if any(word in loss.table for word in _PASSAGES)]
    return left_out(tables, names) if names else []


def _ids(passages: Path, ordinals: Sequence[int]) -> list[str]:
    """The ids of some passages."""
    ends = np.load(passages / "id.offsets.npy", mmap_mode="r")
    found = []
    with (passages / "id.bin").open("rb") as file:
        for ordinal in ordinals:
            file.seek(int(ends[ordinal]))
            found.append(file.read(int(ends[ordinal + 1] - ends[ordinal]))[:_LONGEST_ID].decode("utf-8", "replace"))
    return found


def fault_notes(faults: Mapping[str, Any], unit: str) -> list[str]:
    """What `faults_of` found, as sentences."""
    notes = []
    for name, words in _WORDS.items():
        if number := faults[name]:
            named = faults.get("examples", {}).get(name, ())
            more = f" and {number - len(named):,} more" if number > len(named) else ""
            text = words.format(many(number, unit), f" ({', '.join(named)}{more})" if named else "")
            notes.append(text if number != 1 else text.replace(" have ", " has ", 1))
    return notes + [f"left out: {text}" for text in faults["left_out"]]


def nothing_to_search(path: Path, filled: Sequence[str], lost: Sequence[str]) -> str:
    """That there are no passages, and why: none of the records could be read, as far as some are ``lost``, or there are
    none; then also what there is instead, the tables in which there are rows."""
    if lost:
        reason = f"{path} has no passages to search: nothing of its corpus could be read ({'; '.join(lost)})"
        return f"{reason}; `ragdata validate` shows what is wrong"
    has = f"it has {', '.join(n.replace('_', ' ') for n in filled)} only" if filled else "nothing could be read from it"
    reason = f"{path} has no passages to search: no documents and no chunks ({has})"
    return f"{reason}; give the folder that holds the corpus, too" if filled else reason
