"""Keys of the oldest SAGE records, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.sage.older import LISTS, OLDER, stage_of_results
from ragdatakit.validators.sage.stages import text_of

_NOTHING = object()


def older_problems(record: dict[str, Any]) -> Iterator[Problem]:
    """Every older key: alone, or beside the key that replaced it."""
    for key in OLDER:
        if key in record:
            yield _judged(record, key)


def _judged(record: dict[str, Any], key: str) -> Problem:
    """Equal to its replacement, different from it, or alone."""
    value = record[key]
    meant, other, migration = _replacement(record, key, value)
    if other is _NOTHING:
        is_renamed = key not in ("results", "refine_metrics")
        return Problem("older-key", f"/{key}", value, {"migration": migration, "meant": meant if is_renamed else None})
    same = _plain(value if key != "refine_metrics" else value.get("refine_time")) == _plain(other)
    if same and key == "refine_metrics":  # it has more than the time that is there already
        return Problem("older-key", f"/{key}", value, {"migration": migration})
    return Problem(
        "redundant-older-key" if same else "conflicting-older-key", f"/{key}", value, {"meant": meant, "other": other}
    )


def _replacement(record: dict[str, Any], key: str, value: Any) -> tuple[str, Any, str]:
    """The key that replaces an older one, its value if there is one, and the migration in words."""
    if key == "pred":
        return "generated", record.get("generated", _NOTHING), "it becomes generated"
    if key == "golds":
        how = "references, as an array of one" if isinstance(value, str) else "references"
        return "references", record.get("references", _NOTHING), f"it becomes {how}"
    if key == "refine_metrics":
        return _of_metrics(record, value)
    if key == "results":
        return _of_results(record, value)
    name = f"{LISTS[key]}_docs"
    there, found = _stage_texts(record, LISTS[key])
    if there != name and _plain(found) == _plain(value):  # results have the texts, but the key of the texts is missing
        there, found = name, _NOTHING
    if found is _NOTHING and key == "retrieved_documents" and "retrieved_docs" in record:
        return "retrieved_docs", record["retrieved_docs"], ""
    return there, found, f"it becomes {name}"


def _of_metrics(record: dict[str, Any], value: Any) -> tuple[str, Any, str]:
    migration = "its refine_time becomes refining_time, the rest custom_refine_metrics"
    if isinstance(value, dict) and "refine_time" in value:
        for name in ("refining_time", "refine_time"):
            if name in record:
                return name, record[name], migration
    return "refining_time", _NOTHING, migration


def _of_results(record: dict[str, Any], value: Any) -> tuple[str, Any, str]:
    """Which stage results are of is known by their company: an empty list contradicts nothing."""
    stage = stage_of_results(record)
    objects = isinstance(value, list) and any(isinstance(v, dict) for v in value)
    kept = f"{stage}_results, with the texts as {stage}_docs" if objects else f"{stage}_docs"
    there, found = _stage_texts(record, stage)
    if objects and f"{stage}_results" not in record and _plain(found) == _plain(value):
        found = _NOTHING  # no other key has their scores
    return there, found if value else _NOTHING, f"it becomes {kept}"


def _stage_texts(record: dict[str, Any], stage: str) -> tuple[str, Any]:
    """Docs of a stage, or else its results: the key and its value."""
    keys = f"{stage}_docs", f"{stage}_results"
    return next(((key, record[key]) for key in keys if key in record), (keys[0], _NOTHING))


def _plain(value: Any) -> Any:
    """A value as it is compared: the texts of a list, a string as a list of one."""
    if isinstance(value, list):
        return [t if (t := text_of(v)) is not None else repr(v) for v in value]
    return [value] if isinstance(value, str) else value
