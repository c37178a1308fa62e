"""Ranges judged, in whatever process: the job, and that codes are alike there."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ragdatakit.engines.same_everywhere import refuse_another_file, refuse_another_version
from ragdatakit.engines.sent_formats import send_by_name
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.library import code_seeds, library, take_seeds
from ragdatakit.schemas.errors import EngineError
from ragdatakit.validators import checks_of
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.dataset_run import DatasetRun
from ragdatakit.validators.ranges.plan import Range
from ragdatakit.validators.ranges.range_judges import Gathered, NoSets, Scanners, judge_of
from ragdatakit.validators.ranges.summaries import RangeSummary
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.version import __version__

if TYPE_CHECKING:
    from ragdatakit.validators.partitions.key_store import WantedKeys

_TEXT = "Is this text the same everywhere?"
_PROCESS = secrets.token_hex(8)
"""Of which no other process has the like, on whatever machine."""


send_by_name()


@dataclass(frozen=True, slots=True)
class Job:
    """What ranges of files of a dataset are judged by: the same for all of them, wherever that is. ``elsewhere``: on
    machines that have to read the same files. ``keys`` are those that are to be compared in partitions, ``carried``
    what the checks know of the files before, by the names of `Needs.carried`."""

    dataset: Dataset
    profiles: tuple[str, ...]
    checked: tuple[str, ...]
    selection: Selection
    memory_limit: int
    jobs: int
    splits: tuple[str | None, ...]
    big: bool
    fresh: bool
    seeds: tuple[int, int] = (0, 0)
    elsewhere: bool = False
    keys: WantedKeys | None = None
    carried: Mapping[str, Any] = field(default_factory=dict)
    scanners: Scanners = field(default_factory=Scanners)
    process: str = field(default_factory=lambda: _PROCESS)
    version: str = __version__
    code: bytes = b""

    @classmethod
    def of(cls, run: DatasetRun, file: DataFile, fresh: bool, keys: WantedKeys | None = None) -> Job:
        """The job of judging files of the kind of this one in a run."""
        selection, options = run.collector.selection, run.options
        plain = replace(selection, severities=dict(selection.severities), ignored_in=None, enough=None)
        elsewhere = options.engine is not None and options.engine.elsewhere
        dataset = replace(run.dataset, ignored=[], outside=[])
        return cls(
            dataset=_at_full_paths(dataset) if elsewhere else dataset,
            profiles=run.collector.profiles,
            checked=run.checks.profiles,
            selection=plain,
            memory_limit=options.memory_limit,
            jobs=options.jobs,
            splits=run.splits,
            big=run.big,
            fresh=fresh,
            seeds=code_seeds(),
            elsewhere=elsewhere,
            keys=keys,
            carried={name: getattr(run.checks, name) for name in run.checks.needs(file.kind, file.split).carried},
            code=_code() if run.big else b"",
        )


def _at_full_paths(dataset: Dataset) -> Dataset:
    """The dataset as processes in other folders find it."""
    files = []
    for file in dataset.files:
        files.append(replace(file, path=file.path.absolute()))
        files[-1].place = file.place.absolute()
    return replace(dataset, root=dataset.root.absolute(), files=files)


def judge_range(job: Job, part: Range) -> RangeSummary:
    """Judge the records that begin in a range. Raises `EngineError` where they could not be judged alike here."""
    return judge_ranges(job, (part,))[0]


def judge_ranges(job: Job, parts: Sequence[Range]) -> list[RangeSummary]:
    """The same of several, which are whole files where they are more than one."""
    _be_alike(job)
    found: list[RangeSummary] = []
    run, is_last = _run_of(job), False
    gathered: Gathered | None = None
    for part in parts:
        file = job.dataset.files[part.file]
        if job.elsewhere:
            refuse_another_file(file, part.state)
        if is_last:
            run, gathered = _run_of(job), None
        is_last = part is parts[-1] or not run.checks.needs(file.kind, file.split).by_file
        run.checks.start_file(file)
        if gathered is None and job.keys is not None and run.columns(file.kind).names:
            gathered = Gathered(job.keys, job.keys.checks())
        sets: Any = gathered.sets if gathered is not None else NoSets()
        judge = judge_of(run.container(file))(run, sets, file, job.fresh)
        judge.scanners = job.scanners
        found.append(judge.judge(part, gathered, is_last))
    return found


def _run_of(job: Job) -> DatasetRun:
    """A run of the dataset that has seen no file yet."""
    checks = checks_of(job.dataset.format.name)(job.dataset, job.checked)
    options = RunOptions(memory_limit=job.memory_limit, jobs=job.jobs)
    run = DatasetRun(job.dataset, checks, job.profiles, job.selection, options, Counter(), big=job.big)
    run.splits = job.splits
    for name, value in job.carried.items():
        setattr(checks, name, value)
    return run


def _be_alike(job: Job) -> None:
    """Make the same codes as the process that has the job."""
    refuse_another_version(job.version)
    if job.process != _PROCESS and job.big:
        take_seeds(job.seeds)
    if job.big and _code() != job.code:
        raise EngineError("texts do not have the same codes everywhere; install the same scanner everywhere")


def _code() -> bytes:
    from ragdatakit.arrays.text_codes import codes_of_texts

    return codes_of_texts([_TEXT]).tobytes()


def can_be_sent(big: bool) -> bool:
    """Whether ranges may be judged in another process: without the scanner codes of texts are those of one process."""
    return not big or library() is not None
