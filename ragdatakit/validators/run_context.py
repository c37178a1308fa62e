"""What those who read the files of a dataset see of its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks
from ragdatakit.validators.collector import Collector
from ragdatakit.validators.columns import KeyColumns
from ragdatakit.validators.pending import PendingFindings, RowMap
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.validators.set_plan import FormatPlan
from ragdatakit.validators.sets import SetChecks

if TYPE_CHECKING:
    import threading

    from ragdatakit.validators.checks import Placed


@dataclass(slots=True)
class Group:
    """One split: its files by kind, its set checks, and the kinds of which files were read for it first."""

    split: str | None
    files: list[DataFile]
    sets: SetChecks
    fresh: set[str] = field(default_factory=set)


class RunContext(Protocol):
    """`DatasetRun` implements it; what its methods do is said there. ``big``: columns are worth their start."""

    dataset: Dataset
    checks: FormatChecks
    options: RunOptions
    collector: Collector
    rows: RowMap
    pending: PendingFindings
    big: bool
    plan: FormatPlan
    lock: threading.Lock

    @property
    def most_held(self) -> int: ...

    def kind(self, file: DataFile) -> File: ...
    def container(self, file: DataFile) -> str: ...
    def columns(self, kind: str) -> KeyColumns: ...
    def source(self, file: DataFile) -> Source: ...
    def progress(self, file: DataFile, done: int) -> None: ...
    def guarded(
        self, file: DataFile, check: Callable[[], Iterable[Problem]], more: Counter[str] | None = None
    ) -> list[Problem]: ...
    def needs_place(self, rule: str, file: DataFile) -> bool: ...
    def emit(self, file: DataFile, problem: Problem) -> None: ...
    def report(self, found: Iterable[Placed | RowProblems]) -> None: ...
    def emit_record(self, file: DataFile, problem: Problem, located: Located, record: Any = None) -> None: ...
    def report_copies(self, copies: Mapping[DataFile, DataFile]) -> None: ...
    def report_unchecked(self, group: Group) -> None: ...
    def find_fix(self, file: DataFile, problem: Problem, located: Located | None = None) -> None: ...
