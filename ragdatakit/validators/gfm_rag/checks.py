"""The checks of a GFM-RAG dataset that its declaration cannot say: which module checks which kind of file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.ages import COPYING_SECONDS
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning
from ragdatakit.validators.gfm_rag.layout import DatasetFolders, layout_problems, mark_built
from ragdatakit.validators.gfm_rag.legacy import KINDS as LEGACY_KINDS
from ragdatakit.validators.gfm_rag.legacy import LegacyChecks
from ragdatakit.validators.gfm_rag.predictions import PredictionChecks
from ragdatakit.validators.gfm_rag.questions import NoTables, QuestionChecks
from ragdatakit.validators.gfm_rag.raw import RawChecks

if TYPE_CHECKING:
    from ragdatakit.files.containers.csv_cells import Kind
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.csv_parts import CsvTable
    from ragdatakit.validators.gfm_rag.cells import TableChecks
    from ragdatakit.validators.row_problems import RowProblems

TABLES = ("nodes", "relations", "edges")
RAW = ("documents", "built-documents", "raw-questions", "built-raw-questions")


class GfmRagChecks(FormatChecks):
    """Hands each kind of file to the checks that know it; the questions are asked about the graph of the tables."""

    age_seconds = COPYING_SECONDS

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        mark_built(dataset)
        self._tables = tables = self._graph_tables()
        self._parts: dict[str, FormatChecks] = {}
        self._add(RawChecks(dataset, profiles), RAW)
        if tables is not None:
            self._add(tables, TABLES)
        self._add(QuestionChecks(dataset, profiles, tables or NoTables()), ("questions",))
        self._add(LegacyChecks(dataset, profiles), LEGACY_KINDS)
        self._add(PredictionChecks(dataset, profiles), ("predictions",))
        self._none = FormatChecks(dataset, profiles)

    def _graph_tables(self) -> TableChecks | None:
        if not any(file.kind in TABLES for file in self.dataset.files):
            return None
        from ragdatakit.validators.gfm_rag.cells import TableChecks

        return TableChecks(self.dataset, self.profiles)

    def _add(self, checks: FormatChecks, kinds: tuple[str, ...]) -> None:
        self._parts.update(dict.fromkeys(kinds, checks))

    def _of(self, kind: str) -> FormatChecks:
        return self._parts.get(kind, self._none)

    def _all(self) -> Iterator[FormatChecks]:
        yield from dict.fromkeys(self._parts.values())

    @property
    def key_kinds(self) -> dict[str, list[Kind]]:
        """As `TableChecks` has them."""
        return self._tables.key_kinds if self._tables is not None else {}

    @key_kinds.setter
    def key_kinds(self, kinds: dict[str, list[Kind]]) -> None:
        if self._tables is not None:
            self._tables.key_kinds = kinds

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """As the part that knows the kind says."""
        return self._of(kind).needs(kind, split)

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one record."""
        return self._of(file.kind).record(file, value)

    def scanning(self, file: DataFile) -> Scanning:
        """What the scanner does with a file."""
        return self._of(file.kind).scanning(file)

    def text(self, file: DataFile, data: bytes) -> Iterable[Problem]:
        """The faults of a text file."""
        return self._of(file.kind).text(file, data)

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        """Key columns made from a record."""
        return self._of(kind).derive(kind, value, to_show)

    def batch(self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any) -> Iterable[Any]:
        """Further set checks."""
        return self._of(kind).batch(kind, split, values, batch, sets)

    @property
    def beside(self) -> Iterable[Path]:
        """The folders of the stages, where these are given alone."""
        folders = DatasetFolders(self.dataset)
        return [folder for folder in (folders.stage1, folders.raw, folders.stage2) if folder is not None]

    def start(self) -> Iterator[Placed]:
        """The layout, then what each part does first."""
        yield from layout_problems(self.dataset)
        for part in self._all():
            yield from part.start()

    def start_file(self, file: DataFile) -> None:
        """Before the first record of a file."""
        self._of(file.kind).start_file(file)

    def finish_file(
        self, file: DataFile, records: int, table: CsvTable | None = None
    ) -> Iterable[Placed | RowProblems]:
        """After the last record of a file."""
        return self._of(file.kind).finish_file(file, records, table)

    def finish(self) -> Iterator[Placed | RowProblems]:
        """After the last file; the tables come last: their repeated edges are looked for in another thread."""
        for part in sorted(self._all(), key=lambda part: part is self._parts.get("edges")):
            yield from part.finish()
