"""Who reads ranges: what all have in common, and lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.sources import CHANGED, FileFault, HeadedSource, RangeSource, Source, file_state
from ragdatakit.validators.ranges.plan import Range
from ragdatakit.validators.ranges.summaries import JudgedBlock, RangeSummary
from ragdatakit.validators.reading.blocks import CheckedBlock, Faulty, few_of_each
from ragdatakit.validators.reading.file_runs import FileRun, LinesRun
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.sets import SetChecks

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.scanner.blocks import BlockScanner
    from ragdatakit.validators.checks import FormatChecks, Needs
    from ragdatakit.validators.partitions.key_store import WantedKeys

_RUN_ROWS = 1 << 20
"""Of records whose keys are written at once, about."""


def source_of(source: Source, part: Range) -> Source:
    """A range of a file that is read from its beginning by this source."""
    if part.whole:
        source.rows = part.rows
        return source
    return RangeSource.of(source, part.start, part.end, part.state, not part.number)


def passed_on(checks: FormatChecks, needs: Needs) -> dict[str, Any]:
    """With what the checks go to the next range."""
    return {name: getattr(checks, name) for name in needs.passed_on}


def take_passed_on(checks: FormatChecks, given: Mapping[str, Any]) -> None:
    """The checks come with it from the range before."""
    for name, value in given.items():
        setattr(checks, name, value)


class NoSets:
    """Set checks that know nothing: what refers to what is looked at where all is known."""

    split: str | None = None

    def probe(self, kind: str, batch: Any) -> list[RowProblems]:
        """Nothing is found."""
        return []

    def prepare(self, kind: str, batch: Any) -> None:
        """No keys are wanted."""


class Gathered:
    """The keys of ranges, of several in one run where they may be ``together``; ``sets`` is what they are looked up
    in."""

    def __init__(self, keys: WantedKeys, sets: SetChecks) -> None:
        from ragdatakit.validators.partitions.key_runs import RunWriter

        self._keys, self.sets, self._writer = keys, sets, RunWriter(keys.plan)
        self._records = self._written = 0  # of the range that is being read; below 0: a run began before it

    def begin(self, found: RangeSummary) -> None:
        """Before the first block of a range."""
        from ragdatakit.validators.partitions.known_keys import Probed

        self._written -= self._records
        self._records, self._key = 0, found.key
        found.runs, found.probed = [], Probed()
        self._runs, self._probed = found.runs, found.probed

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

    def end(self, is_last: bool) -> None:
        """After the last block of a range, which may be the last of all."""
        if is_last or not self._keys.together:
            self._write()
        if is_last:
            self._probed.end(self.sets)


class Scanners:
    """Of what is judged in this process for a job the last scanner, as what it looks keys up in takes long to make; it
    goes nowhere else."""

    def __init__(self) -> None:
        self._last: tuple[DataFile, BlockScanner | None] | None = None

    def __reduce__(self) -> tuple[type[Scanners], tuple[()]]:
        return Scanners, ()

    def of(self, file: DataFile, make: Callable[[], BlockScanner | None]) -> BlockScanner | None:
        """That of a file."""
        if self._last is None or self._last[0] is not file:
            self._last = file, make()
        return self._last[1]


class RangeJudge(FileRun):
    """Reads a range. Of its problems no more of a rule are kept than may be shown: ``kept`` counts those.
    ``scanners`` are for other ranges, too."""

    scanners: Scanners

    def _scanner(self) -> BlockScanner | None:
        return self.scanners.of(self.file, super()._scanner)

    def judge(self, part: Range, gathered: Gathered | None, is_last: bool) -> RangeSummary:
        """What it is. Its keys are ``gathered``, with those of others where it is not the last one."""
        self._kept = Counter[str]()
        found = RangeSummary((part.file, part.number))
        self.source = source_of(self.source, part)
        if gathered is not None:
            gathered.begin(found)
        if self._has_changed(part):
            found.faults.append(FileFault("unreadable-file", {"reason": CHANGED}))
        else:
            self._judge(part, found, gathered)
        if gathered is not None:
            gathered.end(is_last)
        return found

    def _judge(self, part: Range, found: RangeSummary, gathered: Gathered | None) -> None:
        for block in self._judged(part, found):
            checked = block.checked
            self._trim(checked)
            if gathered is not None:
                gathered.take(checked)
            elif not self.run_.big:
                checked.batches = [self._columns_of(first, values) for first, _, values, _ in checked.batches]
            found.blocks.append(block)
        found.more, found.faults = self.more, self.source.faults
        found.state = self.run_.checks.state(self.file)
        found.bom, found.bytes, found.row_groups = self.source.bom, self.source.bytes_read, self.source.row_groups
        found.header = self.source.header if isinstance(self.source, HeadedSource) else None

    def begun(self, part: Range, blocks: int | None) -> Iterator[CheckedBlock]:
        """Its first so many blocks (None: all)."""
        self._kept = Counter[str]()
        self.source = source_of(self.source, part)
        for block in islice(self._judged(part, RangeSummary((part.file, part.number))), blocks):
            yield block.checked

    def _has_changed(self, part: Range) -> bool:
        """Whether the file is not, or no longer, the one that was planned."""
        try:
            return file_state(self.source.path.stat()) != part.state
        except OSError:
            return True

    def _judged(self, part: Range, found: RangeSummary) -> Iterator[JudgedBlock]:
        """Its blocks in order, read from the source; what is known behind the last one goes into ``found``."""
        raise NotImplementedError

    def _trim(self, checked: CheckedBlock) -> None:
        faulty: list[Faulty] = []
        for located, problems, _ in checked.faulty:
            if few := few_of_each(problems, self._kept, checked.excess, self.run_.most_held):
                faulty.append((located, few, None))
        checked.faulty, checked.kept = faulty, Counter()

    def _columns_of(self, first: int, values: list[Any]) -> tuple[int, Any, list[Any] | None, list[RowProblems]]:
        assert self.columns is not None
        return first, self.columns.of_values(values, 0), values if self.needs.values else None, []


class LinesJudge(RangeJudge, LinesRun):
    """Reads a range of lines."""

    def _judged(self, part: Range, found: RangeSummary) -> Iterator[JudgedBlock]:
        checker, first = self._block_checker(), None
        for block in self.source.blocks():
            if first is None:  # rows behind others are counted from 0, without a header
                first = block.offset if part.rows is not None and part.number else 0
            checked = CheckedBlock() if block.skipped else self._work(checker, block)
            found.end = block.offset - first + (block.skipped or len(block.data))
            yield JudgedBlock(block.offset - first, checked, block.skipped)


ELEMENTS = ("json-array", "json-object", "json-wrapped")
_JUDGES = dict.fromkeys(("ndjson", "columns"), ("range_judges", "LinesJudge")) | dict.fromkeys(
    ELEMENTS, ("element_judges", "ElementsJudge")
)
_JUDGES |= {"csv": ("csv_judges", "CsvJudge"), "tagged": ("tagged_judges", "TaggedJudge")}
"""By container: module and class."""


def is_ranged(container: str) -> bool:
    """Whether files in a container are cut into ranges whose keys go to partitions."""
    return container in _JUDGES and container != "csv"


def judge_of(container: str) -> type[RangeJudge]:
    """The class whose objects read ranges of files in a container."""
    module, name = _JUDGES[container]
    kind: type[RangeJudge] = getattr(import_module(f"ragdatakit.validators.ranges.{module}"), name)
    return kind
