"""One range judged: what its records and its lines are, as a value that can be sent to who asked."""

from __future__ import annotations

import copyreg
import os
import pickle
import platform
import secrets
from collections import Counter
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.sources import CHANGED, FileFault, HeadedSource, RangeSource, Source, file_state
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.library import code_seeds, library, take_seeds
from ragdatakit.schemas import FORMATS, get_format
from ragdatakit.schemas.declarations import Format
from ragdatakit.schemas.errors import EngineError
from ragdatakit.validators import checks_of
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.dataset_run import DatasetRun
from ragdatakit.validators.ranges.plan import Range
from ragdatakit.validators.reading.blocks import CheckedBlock, Faulty, few_of_each
from ragdatakit.validators.reading.file_runs import LinesRun
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.validators.sets import SetChecks
from ragdatakit.version import __version__

if TYPE_CHECKING:
    from ragdatakit.validators.partitions.key_runs import KeylessRows, PackedKeys, Run
    from ragdatakit.validators.partitions.key_store import WantedKeys
    from ragdatakit.validators.partitions.known_keys import Probed

_TEXT = "Is this text the same everywhere?"
_RUN_ROWS = 1 << 20
"""Of records whose keys are written at once, about."""
_PROCESS = secrets.token_hex(8)
"""Of which no other process has the like, on whatever machine."""


def _reduced(fmt: Format) -> Any:
    """A format that is known by its name goes by it; that of named tables, say, goes as it is."""
    if fmt.name in FORMATS and get_format(fmt.name) is fmt:
        return get_format, (fmt.name,)
    return fmt.__reduce_ex__(pickle.HIGHEST_PROTOCOL)


copyreg.pickle(Format, _reduced)


@dataclass(frozen=True, slots=True)
class Job:
    """What ranges of files of a dataset are judged by: the same for all of them, wherever that is. ``elsewhere``: on
    machines that have to read the same files. ``keys`` are those that are to be compared in partitions."""

    dataset: Dataset
    profiles: tuple[str, ...]
    checked: tuple[str, ...]
    selection: Selection
    memory_limit: int
    jobs: int
    big: bool
    fresh: bool
    seeds: tuple[int, int] = (0, 0)
    elsewhere: bool = False
    keys: WantedKeys | None = None
    process: str = field(default_factory=lambda: _PROCESS)
    version: str = __version__
    code: bytes = b""

    @classmethod
    def of(cls, run: DatasetRun, fresh: bool, keys: WantedKeys | None = None) -> Job:
        """The job of judging files in a run."""
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
            big=run.big,
            fresh=fresh,
            seeds=code_seeds(),
            elsewhere=elsewhere,
            keys=keys,
            code=_code() if run.big else b"",
        )


@dataclass(slots=True)
class RangeSummary:
    """What a range is: its blocks, each with its offset and, where it is a line too long to be held, its length; in
    place of the lines are what is wrong with them and their key columns. ``more`` counts problems of single records
    beyond those that may be shown, ``state`` is what the format's checks have kept. ``key`` are the numbers of the file
    and of the range. Of a file that was read from its beginning, or of row groups: whether it has a byte-order mark,
    its header, its ``bytes`` unpacked, where its row groups begin, and where the text ends that was made of rows.
    ``runs`` have its keys, where these are compared in partitions: each begins with a record, and says which records
    have none; ``probed`` is what looking up known keys gave."""

    key: tuple[int, int]

    blocks: list[tuple[int, int, CheckedBlock]] = field(default_factory=list)
    more: Counter[str] = field(default_factory=Counter)
    faults: list[FileFault] = field(default_factory=list)
    state: Any = None
    bom: bool = False
    header: bytes | None = None
    bytes: int = 0
    row_groups: list[int] = field(default_factory=list)
    end: int = 0
    runs: list[tuple[int, Run | PackedKeys, KeylessRows]] | None = None
    probed: Probed | None = None


def _at_full_paths(dataset: Dataset) -> Dataset:
    """The dataset as processes in other folders find it."""
    files = []
    for file in dataset.files:
        files.append(replace(file, path=file.path.absolute()))
        files[-1].place = file.place.absolute()
    return replace(dataset, root=dataset.root.absolute(), files=files)


def judge_range(job: Job, part: Range) -> RangeSummary:
    """Judge the records that begin in a range. Raises `EngineError` where they could not be judged alike here."""
    _be_alike(job)
    file = job.dataset.files[part.file]
    if job.elsewhere:
        _refuse_another_file(file, part)
    checks = checks_of(job.dataset.format.name)(job.dataset, job.checked)
    options = RunOptions(memory_limit=job.memory_limit, jobs=job.jobs)
    run = DatasetRun(job.dataset, checks, job.profiles, job.selection, options, Counter(), big=job.big)
    checks.start_file(file)
    sets: Any = _NoSets() if job.keys is None else job.keys.checks()
    return _Judge(run, sets, file, job.fresh).judge(part, job.keys)


def source_of(source: Source, part: Range) -> Source:
    """The lines of a range of a file that is read from its beginning by this source."""
    if part.whole:
        source.rows = part.rows
        return source
    found = RangeSource(
        source.path, False, source.block_bytes, max_line_bytes=source.max_line_bytes, boundary=source.boundary
    )
    found.quoted = source.quoted
    found.start, found.end, found.exact, found.state = part.start, part.end, not part.number, part.state
    return found


def _be_alike(job: Job) -> None:
    """Make the same codes as the process that has the job."""
    if job.version != __version__:
        words = f"ragdata {__version__} is asked to work for ragdata {job.version}"
        raise EngineError(f"{words}; install the same everywhere")
    if job.process != _PROCESS and job.big:
        take_seeds(job.seeds)
    if job.big and _code() != job.code:
        raise EngineError("texts do not have the same codes everywhere; install the same scanner everywhere")


def _refuse_another_file(file: DataFile, part: Range) -> None:
    """Raises `EngineError` where a file cannot be read on this machine, or is not the one that was planned."""
    where = f"{file.path} on {platform.node()}"
    try:
        with file.boundary.open(file.path) as opened:
            state = file_state(os.fstat(opened.fileno()))
    except OSError as error:
        words = f"{where} cannot be read ({error.strerror})"
        raise EngineError(f"{words}; put the data where all workers find it at this path") from None
    if state != part.state:
        raise EngineError(f"{where} is not the file that is here, or it has changed; all workers have to read the same")


def _code() -> bytes:
    from ragdatakit.arrays.text_codes import codes_of_texts

    return codes_of_texts([_TEXT]).tobytes()


def can_be_sent(big: bool) -> bool:
    """Whether ranges may be judged in another process: without the scanner codes of texts are those of one process."""
    return not big or library() is not None


class _NoSets:
    """Set checks that know nothing: what refers to what is looked at where all is known."""

    split: str | None = None

    def probe(self, kind: str, batch: Any) -> list[RowProblems]:
        """Nothing is found."""
        return []


class _Gathered:
    """The keys of a range."""

    def __init__(self, keys: WantedKeys, key: tuple[int, int]) -> None:
        from ragdatakit.validators.partitions.key_runs import RunWriter
        from ragdatakit.validators.partitions.known_keys import Probed

        self._keys, self._key, self._writer, self._probed = keys, key, RunWriter(keys.plan), Probed()
        self._records = self._written = 0
        self._runs: list[tuple[int, Run | PackedKeys, KeylessRows]] = []

    def take(self, checked: CheckedBlock) -> None:
        """Those of the next block."""
        for first, batch, _, found in checked.batches:
            self._writer.add(batch, self._records + first - self._written)
            self._probed.take(found, self._records + first, self._keys.known.most)
        checked.batches = [] if self._keys.alone else [(*one[:3], []) for one in checked.batches]
        self._records += checked.records
        if self._records - self._written > _RUN_ROWS:
            self._write()

    def _write(self) -> None:
        """Put them where they are wanted."""
        self._runs.append((self._written, *self._keys.kept(self._writer.packed(), (*self._key, len(self._runs)))))
        self._written = self._records

    def end(self, found: RangeSummary, sets: SetChecks) -> None:
        """After the last block."""
        self._write()
        found.runs = self._runs
        self._probed.end(sets)
        found.probed = self._probed


class _Judge(LinesRun):
    """Reads a range."""

    def judge(self, part: Range, keys: WantedKeys | None) -> RangeSummary:
        """What it is."""
        source = source_of(self.source, part)
        found, kept, checker = RangeSummary((part.file, part.number)), Counter[str](), self._block_checker()
        if part.whole and file_state(source.path.stat()) != part.state:
            found.faults.append(FileFault("unreadable-file", {"reason": CHANGED}))
            return found
        gathered = _Gathered(keys, found.key) if keys is not None and self.columns else None
        first = None
        for block in source.blocks():
            if first is None:  # rows behind others are counted from 0, without a header
                first = block.offset if part.rows is not None and part.number else 0
            checked = CheckedBlock() if block.skipped else self._work(checker, block)
            self._trim(checked, kept)
            if gathered is not None:
                gathered.take(checked)
            elif not self.run_.big:
                checked.batches = [self._columns_of(first, values) for first, _, values, _ in checked.batches]
            found.blocks.append((block.offset - first, block.skipped, checked))
            found.end = block.offset - first + (block.skipped or len(block.data))
        found.more, found.faults = self.more, source.faults
        found.state = self.run_.checks.state(self.file)
        found.bom, found.bytes, found.row_groups = source.bom, source.bytes_read, source.row_groups
        found.header = source.header if isinstance(source, HeadedSource) else None
        if gathered is not None:
            gathered.end(found, self.sets)
        return found

    def _trim(self, checked: CheckedBlock, kept: Counter[str]) -> None:
        """Keep no more problems of a rule in a range than may be shown; the others are counted."""
        faulty: list[Faulty] = []
        for located, problems, _ in checked.faulty:
            if few := few_of_each(problems, kept, checked.excess, self.run_.most_held):
                faulty.append((located, few, None))
        checked.faulty, checked.kept = faulty, Counter()

    def _columns_of(self, first: int, values: list[Any]) -> tuple[int, Any, list[Any] | None, list[RowProblems]]:
        assert self.columns is not None
        return first, self.columns.of_values(values, 0), values if self.needs.values else None, []
