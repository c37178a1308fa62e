"""How a validation is to run, as one value, and what it asks of whoever checks quality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from ragdatakit.engines import Engine
from ragdatakit.files.configuration.chosen import Configurations
from ragdatakit.files.configuration.settings_below import SettingsBelow
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.machine import usual_jobs
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.options import Progress, ValidateOptions
from ragdatakit.validators.collector import Collector, Selection

if TYPE_CHECKING:
    from ragdatakit.schemas.settings.own_rules import OwnRule
    from ragdatakit.validators.baselines.new_findings import KnownBefore
    from ragdatakit.validators.faults import Foreseer, Repairer
    from ragdatakit.validators.stamps import Stamps

NO_THRESHOLDS: Mapping[str, float] = MappingProxyType({})


class QualityCheck(Protocol):
    """What a run asks of the room above, which it does not know."""

    def plain(self, path: Path, format_name: str, follow_links: bool, /) -> list[Dataset]:
        """The plain texts and tables at a path, of a format or (empty name) of any. Raises `RagdataError`."""

    def check(
        self,
        parts: Sequence[Dataset],
        options: RunOptions,
        selection: Selection,
        carried: Counter[str],
        alone: bool,
        thresholds: Mapping[str, float] = NO_THRESHOLDS,
    ) -> Collector:
        """Check datasets of one format, and give the collector that has the findings.

        ``carried`` counts what was kept of each rule in datasets before. ``alone``: nothing else is checked.
        ``thresholds`` are those of the configuration. Faults of the data are not raised, but `RagdataError` where
        nothing of plain data that is alone could be read.
        """


class TableCheck(Protocol):
    """What a run asks of the room above about the tables that a configuration names."""

    def find(self, path: Path, follow_links: bool, read_as: Mapping[str, str], /) -> list[Dataset]:
        """Those at a path, to be read with these options. Raises `RagdataError`."""

    def check_tables(
        self, dataset: Dataset, options: RunOptions, selection: Selection, carried: Counter[str]
    ) -> Collector:
        """Check such a dataset, and give the collector that has the findings."""


class OwnRuleCheck(Protocol):
    """What a run asks of the room above about the rules of a project."""

    def check_own(
        self,
        dataset: Dataset,
        rules: Sequence[OwnRule],
        options: RunOptions,
        selection: Selection,
        carried: Counter[str],
    ) -> Collector:
        """Check a dataset by these rules, and give the collector that has the findings. Raises `RagdataError` for what
        is wrong with a rule itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run: ``memory_limit`` in bytes sets the size of blocks and the longest record that is held;
    ``jobs`` is how many blocks of a large file are checked at a time.

    ``max_hops``: how many edges a graph's targets may be away from the start nodes of their question, ``fail_on``
    from which severity on findings fail (None: as the configuration says). ``configurations`` are those of the
    paths; without them there is none. ``quality``: what checks the quality of the data, too, ``tables`` those that
    the configuration names, ``own_rules`` all by its rules. ``strict_files``: the report is not ``ok`` where files
    were not checked. ``below`` notes settings further down than the paths. ``refused`` is called with the errors of
    paths that are missing or hold nothing recognised, if others do; without it the first is raised. ``known`` are
    findings that are not new. ``whole_datasets`` and ``skip_unrecognised`` are those of `ValidateOptions`. ``fixer``
    says how what is found is repaired, ``repairer`` does so. ``engine`` judges files of lines range by range (None:
    block by block, here). ``stamps`` say which datasets were valid and need not be checked again. ``forks``: this
    process does nothing else and may be copied, so that many small datasets are checked by ``jobs`` processes.
    """

    memory_limit: int = ValidateOptions.memory_limit
    jobs: int = field(default_factory=usual_jobs)
    follow_links: bool = False
    strict_files: bool = False
    whole_datasets: bool = False
    skip_unrecognised: bool = False
    refused: Callable[[RagdataError], None] | None = None
    max_hops: int | None = None
    fail_on: str | None = None
    configurations: Configurations = field(default_factory=partial(Configurations, False))
    progress: Progress | None = None
    on_finding: Callable[[Finding], None] | None = None
    quality: QualityCheck | None = None
    tables: TableCheck | None = None
    below: SettingsBelow | None = None
    own_rules: OwnRuleCheck | None = None
    known: KnownBefore | None = None
    stamps: Stamps | None = None
    fixer: Foreseer | None = None
    repairer: Repairer | None = None
    engine: Engine | None = None
    forks: bool = False
