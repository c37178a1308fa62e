"""The engine that the options of a command name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.engines import Engine
    from ragdatakit.schemas.options import ConvertOptions, ReportOptions, ValidateOptions


def chosen_engine(options: ValidateOptions | ReportOptions | ConvertOptions) -> Engine | None:
    """What works off parts of large files; None where nothing else than this process does."""
    if options.engine is None:
        if options.engine_options:
            raise RagdataError(f"{min(options.engine_options)} is an option of an engine, and none is chosen")
        return None
    from ragdatakit.engines.choice import engine_named

    return engine_named(options.engine, options.engine_options or {}, options.jobs)
