"""Which baseline holds for a run, and what is done with it afterwards."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.configuration import configuration_of
from ragdatakit.files.configuration.baseline_places import baseline_of, folders_upwards, from_here
from ragdatakit.schemas.baselines import BASELINE_NAME, BaselineUse
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import PathLike, ValidateOptions

if TYPE_CHECKING:
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.schemas.results import Report
    from ragdatakit.validators.baselines.known import BaselineMatch
    from ragdatakit.validators.baselines.scope import Checked


class Baselines:
    """The baselines of a run, each for the files below its folder; one that was named for all."""

    def __init__(self, options: ValidateOptions, paths: Sequence[Path]) -> None:
        _refuse_odd(options)
        self._options = options
        writes = options.write_baseline or options.update_baseline
        named = options.baseline if not isinstance(options.baseline, bool) else None
        of_path = {
            path: Path(named) if named is not None else baseline_of(path, configuration_of(path, options.config))
            for path in paths
        }
        if writes and set(of_path.values()) == {None}:
            of_path[paths[0]] = from_here(_project(paths[0], options.config) / BASELINE_NAME)
        files = {file.resolve(): file for file in of_path.values() if file is not None}
        if writes and len(files) > 1:
            those = " and ".join(map(str, files.values()))
            raise RagdataError(f"the paths have several baselines, {those}; say which one is to be written")
        made = {real: self._match_of(file, options) for real, file in files.items()}
        self.matches: list[BaselineMatch] = list(made.values())
        self._below = [(Path(os.path.realpath(p)), made[f.resolve()]) for p, f in of_path.items() if f is not None]
        self._known: dict[str, BaselineMatch] = {}

    @staticmethod
    def _match_of(file: Path, options: ValidateOptions) -> BaselineMatch:
        from ragdatakit.validators.baselines.file import Baseline, read_baseline
        from ragdatakit.validators.baselines.known import BaselineMatch

        if file.exists():
            baseline = read_baseline(file)
        elif options.write_baseline:
            baseline = Baseline.at(file)
        else:
            raise RagdataError(
                f"there is no baseline {file}; give the PATH that it was written for, or make it with --write-baseline"
            )
        return BaselineMatch(baseline, accept_all=options.write_baseline)

    def takes(self, finding: Finding, once: bool) -> bool | None:
        """As `Accepted` says."""
        return self._match(finding.path).takes(finding, once)

    def settled(self, finding: Finding) -> bool:
        """As `Accepted` says."""
        return self._match(finding.path).settled(finding)

    def enough(self, code: str, path: str, shown: int) -> int:
        """As `Accepted` says."""
        return self._match(path).enough(code, path, shown)

    def count(self, code: str, path: str, times: int) -> bool:
        """As `Accepted` says."""
        return self._match(path).count(code, path, times)

    def _match(self, path: str) -> BaselineMatch:
        """That of the path that was given, or else of the nearest folder."""
        if len(self.matches) == 1:
            return self.matches[0]
        if path not in self._known:
            real = Path(os.path.realpath(path))
            folders = [*self._below, *((match.baseline.folder, match) for match in self.matches)]
            mine = [(len(folder.parts), match) for folder, match in folders if real.is_relative_to(folder)]
            self._known[path] = max(mine, key=lambda one: one[0], default=(0, self.matches[0]))[1]
        return self._known[path]

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
                use = BaselineUse(
                    use.file,
                    powerless=use.powerless,
                    written=len(baseline.entries),
                    refused=tuple(sorted(match.refused.items())),
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
    if writes and options.each_record:
        raise RagdataError("a baseline has one entry for what is reported once a file: write it without --each-record")
    if writes and os.environ.get("CI", "").lower() not in ("", "0", "false"):
        raise RagdataError(
            "a baseline is not written in CI (the variable CI is set); write it on your machine, and commit it"
        )


def _project(path: Path, config: PathLike | bool) -> Path:
    """Where a first baseline goes: beside the configuration, into the folder of the git repository, or else into the
    current one."""
    if (settings := configuration_of(path, config).file) is not None:
        return settings.folder
    last = folders_upwards(path)[-1]
    return last if (last / ".git").exists() else Path.cwd()
