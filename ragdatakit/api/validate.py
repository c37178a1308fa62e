"""The Python interface of `ragdata validate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ragdatakit.api.arguments import PathLike, given_paths, refuse_memory, refuse_number
from ragdatakit.schemas.findings import Finding, Severity
from ragdatakit.schemas.results import Report

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
    strict_files: bool = False,
    max_hops: int = 3,
    quality: bool | Mapping[str, object] = False,
    on_finding: Callable[[Finding], None] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Say what a framework would reject, drop or misread in the datasets at ``path`` (one path, or several).

    ``format`` and ``profile`` are those of ``ragdata formats``; ``select`` and ``ignore`` take codes, prefixes of
    codes and rule names. ``max_per_rule`` limits the findings that are kept (0: none are dropped), never the counts.
    ``severity`` is the least severe level that counts (the command line leaves out ``info`` unless told otherwise).
    ``memory_limit`` is in bytes, at least 16 MiB. ``strict_files``: the report is not ``ok`` either where data files
    below ``path`` belong to no dataset and were not checked (``unrecognised`` names them). ``max_hops``: in graphs, how
    many edges (1 to 64) the target nodes of a question may be away from its start nodes. ``quality``: also look for
    what loads and is worse all the same (rules QU…), with thresholds by name in place of True; selecting such rules
    asks for it, too, and reads plain texts and tables where nothing is recognised (``format`` may be ``text`` or
    ``table`` then). ``on_finding`` is called for each finding as it is found, before the report is put in order;
    ``progress`` with the file that is read, the bytes that are done and those there are.

    Raises `RagdataError` if a path is missing or holds nothing recognised or a number is out of range, and
    `UnknownNameError` for unknown names.
    Faults of the data are never raised.
    """
    from ragdatakit.api.quality import checked_quality
    from ragdatakit.validators.collector import Selection, known_rules
    from ragdatakit.validators.run import validate_paths
    from ragdatakit.validators.run_options import RunOptions

    paths = given_paths(path)
    refuse_number("max_per_rule", max_per_rule, 0)
    refuse_memory(memory_limit)
    refuse_number("max_hops", max_hops, 1, MOST_HOPS)
    profiles = (profile,) if isinstance(profile, str) else tuple(profile)
    selection = Selection(
        select=known_rules([select] if isinstance(select, str) else select),
        ignore=known_rules([ignore] if isinstance(ignore, str) else ignore),
        severity=severity,
        max_per_rule=max_per_rule,
    )
    options = RunOptions(
        memory_limit=memory_limit,
        follow_links=follow_links,
        strict_files=strict_files,
        max_hops=max_hops,
        on_finding=on_finding,
        progress=progress,
        quality=checked_quality(selection, quality),
    )
    return validate_paths(paths, format, tuple(p for p in profiles if p), selection, options)
