"""The Python interface: what ``import ragdatakit`` offers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.findings import Finding, Severity
from ragdatakit.schemas.results import Report

if TYPE_CHECKING:
    import duckdb

PathLike = str | os.PathLike[str]

LEAST_MEMORY = 16 << 20
MOST_HOPS = 64


def validate(
    path: PathLike | Iterable[PathLike],
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    profile: str | Iterable[str] = (),
    select: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    severity: Severity = "info",
    max_per_rule: int = 20,
    memory_limit: int = 1 << 30,
    follow_links: bool = False,
    max_hops: int = 3,
    on_finding: Callable[[Finding], None] | None = None,
) -> Report:
    """Say what a framework would reject, drop or misread in the datasets at ``path`` (one path, or several).

    ``format`` and ``profile`` are those of ``ragdata formats``; ``select`` and ``ignore`` take codes, prefixes of
    codes and rule names. ``max_per_rule`` limits the findings that are kept (0: none are dropped), never the counts.
    ``severity`` is the least severe level that counts (the command line leaves out ``info`` unless told otherwise).
    ``memory_limit`` is in bytes, at least 16 MiB. ``max_hops``: in graphs, how many edges (1 to 64) the target nodes of
    a question may be away from its start nodes. ``on_finding`` is called for each finding as it is found, before the
    report is put in order.

    Raises `RagdataError` if a path is missing or holds nothing recognised or a number is out of range, and
    `UnknownNameError` for unknown names.
    Faults of the data are never raised.
    """
    from ragdatakit.validators.collector import Selection, known_rules
    from ragdatakit.validators.dataset_run import RunOptions
    from ragdatakit.validators.run import validate_paths

    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths or any(not os.fspath(p) for p in paths):
        raise RagdataError("no path given" if not paths else "an empty path was given")
    _refuse_number("max_per_rule", max_per_rule, 0)
    _refuse_number("memory_limit", memory_limit, LEAST_MEMORY, unit="a number of bytes, such as 1 << 30")
    _refuse_number("max_hops", max_hops, 1, MOST_HOPS)
    profiles = (profile,) if isinstance(profile, str) else tuple(profile)
    return validate_paths(
        [Path(p) for p in paths],
        format,
        tuple(p for p in profiles if p),
        Selection(
            select=known_rules([select] if isinstance(select, str) else select),
            ignore=known_rules([ignore] if isinstance(ignore, str) else ignore),
            severity=severity,
            max_per_rule=max_per_rule,
        ),
        RunOptions(memory_limit=memory_limit, follow_links=follow_links, max_hops=max_hops, on_finding=on_finding),
    )


def _refuse_number(name: str, value: object, least: int, most: int | None = None, unit: str = "an integer") -> None:
    """Raise where an argument is no integer from ``least`` to ``most``."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise RagdataError(f"{name} is {value!r}, expected {unit}")
    if value < least or (most is not None and value > most):
        span = f"at least {least:,}" if most is None else f"{least:,} to {most:,}"
        raise RagdataError(f"{name} is {value:,}, expected {span}")


def connect(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
) -> duckdb.DuckDBPyConnection:
    """A DuckDB database in memory, with one view for each kind of file of the datasets at ``path``.

    A view has the fields of the records, and the columns ``split`` and ``file``; the view ``datasets`` tells the schema
    of each dataset (``main`` where there is only one). The views read the files anew with every query and coerce what
    is damaged: they are for looking; what is wrong, `validate` tells. Raises `RagdataError` as `validate` does.
    """
    from ragdatakit.tables.views import open_views

    return open_views(Path(path), format)
