"""What a format may add to its declaration: checks of one record, of one text file, of the dataset as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.findings import Problem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.files.positions import Located
    from ragdatakit.files.sources import Source
    from ragdatakit.validators.csv_parts import CsvTable

    CellSuspects = tuple[npt.NDArray[np.int64], Mapping[str, npt.NDArray[np.int64]]]

Emit = Callable[["DataFile", Problem], None]


class FormatChecks:
    """The rules of a format that its declaration cannot say; one object per dataset and run.

    The base class adds nothing. The engine calls, in this order: ``start``; per file, in the declared order of kinds,
    ``record`` for records or ``text`` for text files, then ``finish_file``; at the end ``finish``.

    ``profiles`` are the chosen ones (a subset of the format's); a check need not filter by them: the engine drops
    findings of rules that apply to none of them.
    """

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        self.dataset = dataset
        self.profiles = profiles

    def record_checks(self, kind: str) -> bool:
        """Whether ``record`` has anything to say about records of this kind (else it is never called for it)."""
        return False

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one decoded record that the declaration does not cover; called once a record, in any order.

        ``value`` is what the framework's JSON reader gives. It may be damaged (fields missing or of another type,
        reported already by the declared checks): look before using it, and do not report such damage again.
        """
        return ()

    def suspects(self, kind: str, table: pa.Table) -> npt.NDArray[np.intp] | None:
        """Rows of a clean columnar block in which ``record`` may find something (a superset); None: any row may.

        Only for big files; the rows named are decoded and given to ``record``, the others are taken as clean.
        """
        return None

    def suspect_values(self, kind: str, values: list[Any]) -> Iterable[int] | None:
        """Places of the decoded records in which the declaration or ``record`` may find something (a superset).

        ``values`` are elements of a JSON array or object, as every reader reads them. None: any may be at fault.
        """
        return None

    def may_be_empty(self, kind: str, split: str | None) -> bool:
        """Whether a file of this kind without records is no fault."""
        return False

    def text(self, file: DataFile, data: bytes) -> Iterable[Problem]:
        """The faults of one text file (container ``text``), whole."""
        return ()

    def stream(self, file: DataFile, source: Source) -> Iterable[tuple[Problem, Located | None]]:
        """The faults of one ``streamed`` file, each with the record it is in (None: the file as a whole).

        It sets ``file.records``, and ``file.to_end`` to false where it does not reach the end.
        """
        return ()

    def key_columns(self, kind: str) -> tuple[str, ...]:
        """Columns that `batch` needs besides those of the declared set checks."""
        return ()

    def derive(self, kind: str, value: Any) -> dict[str, Any]:
        """Key columns made from a whole record: a name starting with ``@`` to a text, integer, list or None."""
        return {}

    def derive_columns(self, kind: str, values: list[Any]) -> dict[str, list[Any]] | None:
        """The same for consecutive records (None: one that cannot be read), where that is quicker.

        The keys may be others than those of `derive`, but must be equal where those are. None: `derive` is asked.
        """
        return None

    def derive_codes(self, kind: str, table: pa.Table, batch: Any) -> bool:
        """The same for a clean columnar block: fill the batch's columns; False where only `derive` can tell."""
        return False

    def batch(self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any) -> Iterable[Any]:
        """Further set checks over consecutive records; ``values`` are the decoded records where they were needed."""
        return ()

    def needs_values(self, kind: str) -> bool:
        """Whether `batch` wants the decoded records of this kind."""
        return False

    def start(self, emit: Emit) -> None:
        """Checks of the layout, before any file is read."""

    def start_file(self, file: DataFile) -> None:
        """Before the first record of a file; files are read one after the other."""

    def finish_file(self, file: DataFile, records: int, emit: Emit) -> None:
        """After the last record of a file."""

    def cell_suspects(self, kind: str, table: pa.Table) -> CellSuspects | None:
        """Rows of a block of a CSV file in which ``record`` may find something; None: any row may.

        With them, by rule, the rows of findings that are told once a file: the first is among the suspects, the others
        are only counted.
        """
        return None

    def accepts(self, kind: str, column: str, inferred: str) -> bool:
        """Whether a CSV column that pandas turned into ``inferred`` can match what it refers to at all.

        Where it cannot, the cells take no part in the set checks: the column is at fault, not each cell.
        """
        return True

    def finish_table(self, file: DataFile, table: CsvTable) -> Iterable[Any]:
        """After the last row of a CSV file: `Hits` in the file as a whole."""
        return ()

    def finish_sets(self) -> Iterable[Any]:
        """Further set checks that can be told only when all files are read: `Hits`, as `batch` gives them."""
        return ()

    def finish(self, emit: Emit) -> None:
        """After the last file."""
