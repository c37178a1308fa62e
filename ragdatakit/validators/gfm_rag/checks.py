"""The checks of a GFM-RAG dataset that its declaration cannot say: which module judges which kind of file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import Emit, FormatChecks
from ragdatakit.validators.gfm_rag.layout import layout_problems, mark_built
from ragdatakit.validators.gfm_rag.legacy import KINDS as LEGACY_KINDS
from ragdatakit.validators.gfm_rag.legacy import LegacyChecks
from ragdatakit.validators.gfm_rag.predictions import PredictionChecks
from ragdatakit.validators.gfm_rag.questions import NoTables, QuestionChecks
from ragdatakit.validators.gfm_rag.raw import RawChecks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import CellSuspects
    from ragdatakit.validators.csv_parts import CsvTable
    from ragdatakit.validators.gfm_rag.cells import TableChecks

TABLES = ("nodes", "relations", "edges")
RAW = ("documents", "built-documents", "raw-questions", "built-raw-questions")


class GfmRagChecks(FormatChecks):
    """Hands each kind of file to the checks that know it; the questions are asked about the graph of the tables."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        mark_built(dataset)
        tables = self._graph_tables()
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

    def record_checks(self, kind: str) -> bool:
        """As the part that knows the kind says."""
        return self._of(kind).record_checks(kind)

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one record."""
        return self._of(file.kind).record(file, value)

    def suspects(self, kind: str, table: pa.Table) -> npt.NDArray[np.intp] | None:
        """Rows to be looked at one by one."""
        return self._of(kind).suspects(kind, table)

    def cell_suspects(self, kind: str, table: pa.Table) -> CellSuspects | None:
        """Rows of a table to be looked at one by one."""
        return self._of(kind).cell_suspects(kind, table)

    def may_be_empty(self, kind: str, split: str | None) -> bool:
        """Whether a file without records is no fault by itself."""
        return self._of(kind).may_be_empty(kind, split)

    def text(self, file: DataFile, data: bytes) -> Iterable[Problem]:
        """The faults of a text file."""
        return self._of(file.kind).text(file, data)

    def key_columns(self, kind: str) -> tuple[str, ...]:
        """Further key columns."""
        return self._of(kind).key_columns(kind)

    def derive(self, kind: str, value: Any) -> dict[str, Any]:
        """Key columns made from a record."""
        return self._of(kind).derive(kind, value)

    def derive_codes(self, kind: str, table: pa.Table, batch: Any) -> bool:
        """The same for a clean columnar block."""
        return self._of(kind).derive_codes(kind, table, batch)

    def batch(self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any) -> Iterable[Any]:
        """Further set checks."""
        return self._of(kind).batch(kind, split, values, batch, sets)

    def needs_values(self, kind: str) -> bool:
        """Whether `batch` wants the decoded records."""
        return self._of(kind).needs_values(kind)

    def start(self, emit: Emit) -> None:
        """The layout, then what each part does first."""
        for file, problem in layout_problems(self.dataset):
            emit(file, problem)
        for part in self._all():
            part.start(emit)

    def start_file(self, file: DataFile) -> None:
        """Before the first record of a file."""
        self._of(file.kind).start_file(file)

    def finish_file(self, file: DataFile, records: int, emit: Emit) -> None:
        """After the last record of a file."""
        self._of(file.kind).finish_file(file, records, emit)

    def accepts(self, kind: str, column: str, inferred: str) -> bool:
        """Whether a column can match what it refers to."""
        return self._of(kind).accepts(kind, column, inferred)

    def finish_table(self, file: DataFile, table: CsvTable) -> Iterable[Any]:
        """After the last row of a table."""
        return self._of(file.kind).finish_table(file, table)

    def finish_sets(self) -> Iterable[Any]:
        """What can be told only when all files are read."""
        parts = list(self._all())
        for part in sorted(parts, key=lambda part: part is self._parts.get("edges")):  # which is busy meanwhile
            yield from part.finish_sets()

    def finish(self, emit: Emit) -> None:
        """After the last file."""
        for part in self._all():
            part.finish(emit)
