"""The engine of a name, with its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragdatakit.files.machine import usual_jobs
from ragdatakit.schemas.errors import RagdataError, UnknownNameError

if TYPE_CHECKING:
    from ragdatakit.engines import Engine


def engine_named(name: str, settings: Mapping[str, str], jobs: int | None) -> Engine:
    """One of `ENGINES`. Raises `UnknownNameError` for a setting that it has not, `MissingExtraError` where its library
    is not installed."""
    jobs = jobs or usual_jobs()
    if name == "ray":
        from ragdatakit.engines import ray_engine

        _refuse_unknown(settings, ray_engine.SETTINGS)
        return ray_engine.RayEngine(settings, jobs)
    if name == "spark":
        from ragdatakit.engines import spark_engine

        _refuse_unknown([each for each in settings if not each.startswith("spark.")], spark_engine.SETTINGS)
        return spark_engine.SparkEngine(settings, jobs)
    from ragdatakit.engines.local_engine import LocalEngine

    if settings:
        raise RagdataError(f"the engine local has no option {min(settings)}")
    return LocalEngine(jobs)


def _refuse_unknown(given: Mapping[str, str] | list[str], known: tuple[str, ...]) -> None:
    for each in given:
        if each not in known:
            raise UnknownNameError("option of the engine", each, known)
