"""Repairs of whole records that clash with another one."""

from __future__ import annotations

from pathlib import PurePath

from ragdatakit.files.datasets import DataFile
from ragdatakit.fixes.edits import edit_without, remove_other, remove_record, safe, unsafe, without_record
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault


def drop_copy(fault: Fault) -> Fix | None:
    """Remove a record that equals an earlier one in every field."""
    return safe(without_record(fault)) if _is_copy(fault) else None


def keep_last(fault: Fault) -> Fix | None:
    """Remove a record that equals an earlier one; else the earlier one, where both are in one file, as the loader
    takes the last."""
    other = fault.other
    if _is_copy(fault):
        return safe(without_record(fault))
    if other is None or fault.other_file is not fault.file or not other.whole:
        return None
    return unsafe(edit_without(fault, other))


def copy_or_last(fault: Fault) -> Fix | None:
    """The same, where the loader counts copies, so that even a copy says something."""
    fix = keep_last(fault)
    return unsafe(*fix.edits) if fix is not None else None


def lowest_score_goes(fault: Fault) -> Fix | None:
    """Of two results remove the copy, or the later one if its score is no better."""
    if (copy := drop_copy(fault)) is not None:
        return copy
    mine, its = _scores(fault)
    return unsafe(without_record(fault)) if mine is not None and its is not None and mine <= its else None


def out_of_training(fault: Fault) -> Fix | None:
    """Remove the one of two records that is trained on, as its file says; None where neither or both are."""
    mine, its = is_trained_on(fault.file), fault.other_file is not None and is_trained_on(fault.other_file)
    if mine == its:
        return None
    return remove_record(fault) if mine else remove_other(fault)


def is_trained_on(file: DataFile) -> bool:
    """Whether a file is of the training split."""
    from ragdatakit.retrieval.gold_and_metrics.gold import is_train  # it imports numpy

    return is_train(file.split or PurePath(file.name).name)


def _scores(fault: Fault) -> list[float | None]:
    found: list[float | None] = []
    for record in (fault.located, fault.other):
        value = fault.form.value(record.raw.decode("utf-8", "replace")) if record is not None else None
        score = value.get("score") if isinstance(value, dict) else None
        found.append(score if isinstance(score, int | float) else None)
    return found


def _is_copy(fault: Fault) -> bool:
    """Whether both records have the same fields with the same values, in any order."""
    located, other = fault.located, fault.other
    if located is None or other is None or not located.whole or not other.whole:
        return False
    if located.raw == other.raw:
        return True
    mine, its = (fault.form.value(each.raw.decode("utf-8", "replace")) for each in (located, other))
    if not isinstance(mine, dict) or not isinstance(its, dict):
        return False
    return repr(sorted(mine.items())) == repr(sorted(its.items()))  # 1 is not True here, nor 1.0
