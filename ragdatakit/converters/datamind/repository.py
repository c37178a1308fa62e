"""The folders of a DataMind repository that belong together: a profile, its question set, the skills of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ragdatakit.files.datasets import Dataset


def group(datasets: list[Dataset]) -> list[list[Dataset]]:
    """Each profile with what is next to it in its repository.

    Nothing in the format links a question set to a profile. Where a repository has one profile, all sets and skills
    are its own; else a set goes with the profile of its name, and what goes with none stands by itself.
    """
    groups: list[list[Dataset]] = []
    rest = list(datasets)
    for repository in dict.fromkeys(r for d in datasets if (r := _repository(d)) is not None):
        inside = [d for d in datasets if _repository(d) == repository]
        profiles = [d for d in inside if d.layout == "profile"]
        shared = [d for d in inside if d.layout in ("data", "repository")]
        if not profiles:
            groups.append(shared)
        elif len(profiles) == 1:
            groups.append([*profiles, *shared])
        else:
            groups += _by_name(profiles, shared)
        rest = [d for d in rest if d not in inside]
    return [*groups, *([d] for d in rest)]


def _repository(dataset: Dataset) -> Path | None:
    """The folder that holds ``data/``; None for a profile or results that stand alone."""
    root = dataset.root.resolve()
    if dataset.layout == "repository":
        return root
    if dataset.layout == "data":
        return root.parent
    if dataset.layout == "profile" and root.parent.name == "profiles":
        return root.parent.parent.parent
    return None


def _by_name(profiles: list[Dataset], shared: list[Dataset]) -> Iterable[list[Dataset]]:
    names = {p.root.name for p in profiles}
    for profile in profiles:
        own = [_only(d, {profile.root.name}) for d in shared]
        yield [profile, *(d for d in own if d.files)]
    others = [replace(d, files=[f for f in d.files if _stem(f.name) not in names or f.kind != "bench"]) for d in shared]
    if any(d.files for d in others):
        yield [d for d in others if d.files]


def _only(dataset: Dataset, names: set[str]) -> Dataset:
    return replace(dataset, files=[f for f in dataset.files if f.kind == "bench" and _stem(f.name) in names])


def _stem(name: str) -> str:
    return PurePosixPath(name).stem
