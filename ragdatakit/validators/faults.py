"""Faults with all that a repair may look at, and what a run asks of the repairer, which is in a room above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import RecordForm
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import File, Rule
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.fixes import Fix

if TYPE_CHECKING:
    from ragdatakit.scanner.known_blocks import KnownBlocks


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem with all that a repair of it may look at.

    ``located`` is the record (None: the file as a whole is meant), ``other`` one that it clashes with, in
    ``other_file``. ``container`` is what the file was read as (``other_container`` the other one), ``declared`` what
    its kind is; ``may_fix``: it is reported, and its rule is one of those whose findings may be repaired.
    """

    rule: Rule
    problem: Problem
    dataset: Dataset
    file: DataFile
    declared: File
    container: str
    form: RecordForm
    located: Located | None = None
    other: Located | None = None
    other_file: DataFile | None = None
    may_fix: bool = True
    other_container: str = ""


class Fixer(Protocol):
    """Says of faults how they are repaired."""

    def wants(self, rule: str, reported: bool) -> bool:
        """Whether it has to see each fault of the rule, also those that are not shown; those of a rule that is not
        ``reported`` are not repaired, but they may forbid a repair."""

    def fix(self, fault: Fault) -> Fix | None:
        """What repairs a fault; None where nothing is known to do it. It is called in any thread."""

    def begin(self, dataset: Dataset) -> None:
        """Before a dataset is checked for the first time."""


class Foreseer(Fixer, Protocol):
    """A fixer of a run that repairs nothing."""

    def end(self, faults: Counter[tuple[str, str]], is_unasked: Callable[[str], bool]) -> None:
        """After a dataset was checked, in which there are so many ``faults`` by rule and kind of file; those of some
        rules were not asked for."""


class Repairer(Fixer, Protocol):
    """Repairs what it sees: a dataset is checked, with its files as they are then, as long as there is something to
    do."""

    def goes_on(self, dataset: Dataset, faults: Counter[tuple[str, str]]) -> bool:
        """After a dataset was checked, in which there are so many ``faults`` by rule and kind of file: whether it has
        to be checked once more. When it has not, its files are in their places."""

    def known_blocks(self, file: DataFile) -> KnownBlocks:
        """What the check before has found of the file as it is now, to be completed by this one."""
