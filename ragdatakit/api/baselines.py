"""Which baseline holds for a run, and what is done with it afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.schemas.baselines import BASELINE_NAME
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import ValidateOptions

if TYPE_CHECKING:
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.schemas.results import Report
    from ragdatakit.validators.baselines.known import BaselineMatch
    from ragdatakit.validators.baselines.scope import Checked


class Baselines:
    """The baselines of a run, each for the files below its folder; one that was named for all."""

    def __init__(self, options: ValidateOptions, paths: Sequence[Path]) -> None:
        from ragdatakit.validators.baselines.file import Baseline, read_baseline
        from ragdatakit.validators.baselines.known import BaselineMatch

        _refuse_odd(options)
        self._options = options
        writes = options.write_baseline or options.update_baseline
        named = options.baseline if not isinstance(options.baseline, bool) else None
        files = [Path(named)] if named is not None else _found(paths)
        if not files and writes:
            files = [_shortest(_project(paths) / BASELINE_NAME)]
        if writes and len(files) > 1:
            those = " and ".join(map(str, files))
            raise RagdataError(f"the paths have several baselines, {those}; say which one is to be written")
        self.matches: list[BaselineMatch] = []
        for file in files:
            if not file.exists() and options.write_baseline:
                baseline = Baseline.at(file)
            elif named is not None and not file.exists():
                raise RagdataError(f"there is no baseline {file}; --write-baseline makes it")
            elif not file.exists():
                raise RagdataError(f"there is no baseline to update; --write-baseline makes {file}")
            else:
                baseline = read_baseline(file)
            self.matches.append(BaselineMatch(baseline, accept_all=options.write_baseline))
        self._of_path: dict[str, BaselineMatch | None] = {}

    def takes(self, finding: Finding, once: bool) -> bool | None:
        """As `Accepted` says."""
        match = self._match(finding)
        return match.takes(finding, once) if match is not None else False

    def settled(self, finding: Finding) -> bool:
        """As `Accepted` says."""
        match = self._match(finding)
        return match is not None and match.settled(finding)

    def _match(self, finding: Finding) -> BaselineMatch | None:
        if not isinstance(self._options.baseline, bool):
            return self.matches[0]
        if finding.path not in self._of_path:
            real = Path(os.path.realpath(finding.path))
            mine = [match for match in self.matches if real.is_relative_to(match.baseline.folder)]
            nearest = max(mine, key=lambda match: len(match.baseline.folder.parts), default=None)
            self._of_path[finding.path] = nearest
        return self._of_path[finding.path]

    def finish(self, report: Report, checked: Checked) -> None:
        """Say in the report what became of the entries, and write what is to be written. Raises `OSError`."""
        from dataclasses import replace

        from ragdatakit.validators.baselines.file import write_baseline
        from ragdatakit.validators.baselines.scope import lowered, rewritten, use_of

        report.strict_baseline = self._options.strict_baseline
        for match in self.matches:
            use = use_of(match, checked)
            if self._options.write_baseline:
                baseline = rewritten(match, checked)
                use = replace(
                    use, stale=(), lower=(), exceeded=(), expired=(), ending=(), written=len(baseline.entries)
                )
                write_baseline(baseline)
            elif self._options.update_baseline and (use.stale or use.lower):
                baseline = lowered(match, use)
                use = replace(use, stale=(), lower=(), written=len(baseline.entries))
                write_baseline(baseline)
            report.baselines.append(use)


def _refuse_odd(options: ValidateOptions) -> None:
    if options.write_baseline and options.update_baseline:
        raise RagdataError("write_baseline accepts all findings, update_baseline none: give one of them")
    writes = options.write_baseline or options.update_baseline
    if writes and os.environ.get("CI", "").lower() not in ("", "0", "false"):
        raise RagdataError(
            "a baseline is not written in CI (the variable CI is set); write it on your machine, and commit it"
        )


def _found(paths: Iterable[Path]) -> list[Path]:
    """The nearest baseline from each path upwards."""
    found: dict[Path, Path] = {}
    for path in paths:
        for folder in _upwards(path):
            if (folder / BASELINE_NAME).is_file():
                found.setdefault((folder / BASELINE_NAME).resolve(), _shortest(folder / BASELINE_NAME))
                break
    return list(found.values())


def _upwards(path: Path) -> list[Path]:
    """The folder of a path, and those above it up to that of the git repository; outside of one, up to the current
    folder, or no further if that is not above it."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links are not followed
    folder = absolute if absolute.is_dir() else absolute.parent
    above = [folder, *folder.parents]
    for number, place in enumerate(above, 1):
        if (place / ".git").exists():
            return above[:number]
    here = Path.cwd()
    return above[: above.index(here) + 1] if here in above else [folder]


def _project(paths: Sequence[Path]) -> Path:
    """Where a first baseline goes: the folder of the git repository, or else the current one."""
    last = _upwards(paths[0])[-1]
    return last if (last / ".git").exists() else Path.cwd()


def _shortest(file: Path) -> Path:
    """The file as the user would call it."""
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file
