"""The findings that the datasets had at a git revision, so that only new ones count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.configuration.chosen import Configuration, Configurations
from ragdatakit.files.configuration.sources import SettingsFile
from ragdatakit.schemas.errors import MachineError, RagdataError

if TYPE_CHECKING:
    from ragdatakit.files.configuration.reading import Given, Name, Section
    from ragdatakit.files.datasets import Dataset
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.validators.baselines.known import OlderFindings
    from ragdatakit.validators.run_options import RunOptions


class SinceRevision:
    """What was found at a revision; `look` reads and checks it. ``arguments`` are those of the run, without its
    paths."""

    def __init__(self, revision: str, arguments: tuple[Any, ...]) -> None:
        if not revision or ":" in revision:
            raise RagdataError(f"since is {revision!r}, expected a git revision such as HEAD~1 or main")
        self._revision = revision
        self._arguments = arguments
        self._older: OlderFindings | None = None
        self._top = self._folder = Path()
        self.notes: list[str] = []

    def look(self, datasets: Sequence[Dataset]) -> None:
        """Check the same datasets as they were. Raises `RagdataError` where there is no such revision."""
        from ragdatakit.outputs.scratch import ScratchFolder
        from ragdatakit.validators.baselines.known import OlderFindings

        tops = {_top(dataset.root) for dataset in datasets}
        if not tops:
            return
        if len(tops) > 1 or None in tops:
            where = "no git repository" if None in tops else "several git repositories"
            raise RagdataError(f"since {self._revision}: the data are in {where}")
        top = next(iter(tops))
        assert top is not None
        with ScratchFolder() as folder:
            self._top, self._folder = top, folder.resolve()
            self._older = OlderFindings(folder)
            places = [place for dataset in datasets for place in self._extracted(dataset, folder, top)]
            if places:
                self._check(list(dict.fromkeys(places)))
            self._older.move(top)

    def takes(self, finding: Finding, once: bool) -> bool:
        """As `Older` says."""
        return self._older is not None and self._older.takes(finding, once)

    def _extracted(self, dataset: Dataset, folder: Path, top: Path) -> Iterator[Path]:
        """Where the files of a dataset are, as they were; nothing where it was not there."""
        from ragdatakit.files.git.revisions import NotInRevisionError, Revision, extract_revision

        alone = dataset.layout in ("file", "config")
        parts = [file.path for file in dataset.files] if alone else [dataset.root]
        if dataset.config is not None and alone:
            parts.insert(0, dataset.config.path)
        places = []
        for part in parts:
            path = part.resolve()
            if not path.is_relative_to(top):
                raise RagdataError(f"since {self._revision}: {part} is not in the git repository of the dataset")
            name = path.relative_to(top).as_posix()
            revision = Revision(f"{self._revision}:{name}", self._revision, "" if name == "." else name)
            try:
                place, notes = extract_revision(revision, folder, top)
            except NotInRevisionError:
                continue
            self.notes += notes
            places.append(place)
        yield from places[:1] if dataset.config is not None and alone else places

    def _check(self, places: list[Path]) -> None:
        from ragdatakit.validators.baselines.new_findings import KnownBefore
        from ragdatakit.validators.run import check_paths

        assert self._older is not None
        format_name, profiles, selection, options = self._arguments
        run: RunOptions = replace(
            options,
            known=KnownBefore(older=_Learning(self._older)),
            on_finding=None,
            whole_datasets=False,
            below=None,
            refused=lambda error: None,
            configurations=_MovedConfigurations(options.configurations, self._top, self._folder),
        )
        try:
            _, findings = check_paths(places, format_name, profiles, selection, run)
        except MachineError:
            raise
        except RagdataError as error:
            self.notes.append(f"at {self._revision} nothing could be checked, so that all findings are new: {error}")
        else:
            findings.close()


class _Learning:
    """Takes all findings, to know them later."""

    def __init__(self, older: OlderFindings) -> None:
        self._older = older

    def takes(self, finding: Finding, once: bool) -> bool:
        self._older.learn(finding, once)
        return True


class _MovedConfigurations(Configurations):
    """The configurations as they are now, for files that lie below another folder than that of the repository."""

    def __init__(self, now: Configurations, top: Path, folder: Path) -> None:
        super().__init__(config=False)
        self._now, self._top, self._folder = now, top, folder

    def of(self, path: Path) -> Configuration:
        """That of the same path in the repository."""
        found = self._now.of(self._top / path.resolve().relative_to(self._folder))
        return Configuration(
            tuple(map(self._moved, found.files)),
            self._values(found.values),
            tuple(map(self._section, found.sections)),
            found.plugins,
        )

    def _section(self, section: Section) -> Section:
        return replace(section, file=self._moved(section.file), values=self._values(section.values))

    def _values(self, values: Mapping[Name, Given]) -> dict[Name, Given]:
        return {name: replace(given, file=self._moved(given.file)) for name, given in values.items()}

    def _moved(self, file: SettingsFile) -> SettingsFile:
        real = file.path.resolve()
        if not real.is_relative_to(self._top):
            return file
        return replace(file, path=self._folder / real.relative_to(self._top))


def _top(folder: Path) -> Path | None:
    """The folder of the git repository that a folder is in."""
    real = folder.resolve()
    return next((place for place in (real, *real.parents) if (place / ".git").exists()), None)
