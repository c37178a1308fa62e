"""Fields and files that are not there, or of no use: what is in their places, and which name is meant for theirs."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from ragdatakit.files.detection.odd_beginnings import PACKED
from ragdatakit.files.texts.near_names import nearest
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.excerpts import show, visible

_PACKED = (*PACKED, ".gz")
_DATA = (".csv", ".json", ".jsonl", ".tsv", ".txt")


def lacking(
    problem: Problem, name: str, there: Iterable[str], read: Container[str], elsewhere: Iterable[str] = ()
) -> Problem:
    """The problem of a name that is missing: of those that are ``there`` and that nothing reads, it says which one
    seems to be meant for it: it is spelt much like it, or is what this is called ``elsewhere``."""
    near = meant_for(name, there, read, elsewhere)
    problem.facts["fault"] = f"missing (there is {visible(near)})" if near else "missing"
    if near:
        problem.facts["near"] = near
        problem.hint = f"rename {visible(near)} to {name}"
    return problem


def meant_for(name: str, there: Iterable[str], read: Container[str], elsewhere: Iterable[str]) -> str:
    """The one of several names, of which some are ``read``, that seems to be meant for one that is missing: it is spelt
    much like it, or is what this is called ``elsewhere``; empty where none does."""
    unread = [other for other in there if other not in read]
    by_name = {other.casefold(): other for other in reversed(unread)}
    return nearest(name, unread) or next((by_name[other] for other in elsewhere if other in by_name), "")


def unusable(
    rule: str,
    pointer: str,
    record: Mapping[str, Any],
    name: str,
    read: Container[str],
    called: str = "",
    elsewhere: Iterable[str] = (),
) -> Problem:
    """The problem of a field, ``called`` so in the message, of the object at a pointer: it is missing or of no use.
    ``read`` are the names that something reads there, ``elsewhere`` what others call it."""
    facts: dict[str, Any] = {"field": called or name}
    if name in record:
        return Problem(rule, f"{pointer}/{name}", record[name], facts)
    return lacking(Problem(rule, pointer, None, facts), name, record, read, elsewhere)


def holder_of(record: Mapping[str, Any], names: Iterable[str]) -> str:
    """The name of what is in place of all these names: an object that has them, or a list whose first item is one;
    empty where there is none."""
    for name, held in record.items():
        inner = held[0] if isinstance(held, list) and held else held
        if isinstance(inner, dict) and all(wanted in inner for wanted in names):
            return name
    return ""


def said_once(problems: Iterable[Problem], holder: str) -> list[Problem]:
    """Of the problems of all fields of a record, which are under one name, the first of each rule."""
    firsts: dict[str, Problem] = {}
    for problem in problems:
        if firsts.setdefault(problem.rule, problem) is problem:
            problem.facts.pop("near", None)
            problem.facts["fault"] = f"missing (it is under {visible(holder)})"
            problem.hint = f"write what is under {visible(holder)} without the object around it"
    return list(firsts.values())


def missing_file(problem: Problem, folder: Path, expected: str, known: Iterable[Path] = ()) -> Problem:
    """The problem of a file, or of one in a folder below, that is missing: of those that lie there in its place, and
    that are not ``known`` as others, it says which one seems to be meant for it."""
    wanted, below, _ = expected.partition("/")
    others = {path.name for path in known}
    there = [name for name in _names_in(folder, bool(below)) if name != wanted and name not in others]
    stem = wanted.rpartition(".")[0].casefold()
    packed = [name for name in there if not below and _unpacked(name) in (wanted.casefold(), stem)]
    misnamed = [name for name in there if not below and name.rpartition(".")[0].casefold() == stem]
    near = next(iter(packed or misnamed), "") or nearest(wanted, there) or _named_nearly(wanted, there)
    if near:
        problem.facts["beside"] = f" (there is {visible(near)}{below})"
        problem.hint = f"rename {visible(near)}{below} to {wanted}{below}, if that is what it is"
    elif below and (near := _instead_of_folder(folder, wanted, others)):
        problem.facts["beside"] = f" (there is {visible(near)})"
        problem.hint = f"write {visible(near)} as {expected}, if that is what it is"
    if is_packed(near):
        problem.hint = f"unpack {visible(near)}"
    return problem


def _instead_of_folder(folder: Path, wanted: str, known: Container[str]) -> str:
    """The first file that lies in place of those of a folder: in it, or beside it with its name; empty where none
    does."""
    inside = [f"{wanted}/{name}" for name in _names_in(folder / wanted, False) if name not in known]
    beside = [name for name in _names_in(folder, False) if name.partition(".")[0] == wanted and name not in known]
    return next((name for name in (*inside, *beside) if name.casefold().endswith((*_DATA, *_PACKED))), "")


def _named_nearly(wanted: str, there: Iterable[str]) -> str:
    """The first file of the same ending whose name is spelt much like that of the one that is wanted."""
    stem, dot, ending = wanted.rpartition(".")
    alike = {name.removesuffix(dot + ending): name for name in there if dot and name.endswith(dot + ending)}
    return alike.get(nearest(stem, alike), "")


def is_packed(name: str) -> bool:
    """Whether a name is that of a packed file, or of an archive."""
    return name.casefold().endswith(_PACKED)


def _unpacked(name: str) -> str:
    """What a file is called once it is unpacked, in lower case; empty where it is not packed."""
    name = name.casefold()
    return next((name.removesuffix(ending) for ending in _PACKED if name.endswith(ending)), "")


def _names_in(folder: Path, folders: bool) -> list[str]:
    """The names of files, or of folders, in a folder."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() == folders)
    except OSError:
        return []


def fault_of(value: Any) -> str:
    """What a value is that is of no use."""
    if isinstance(value, str) and not value.strip():
        return "blank" if value else "empty"
    if isinstance(value, list):
        return "an array" if value else "an empty array"
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    return show(value)
