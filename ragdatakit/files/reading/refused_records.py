"""Records in which a check found errors, which are left out of what is read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.datasets import DataFile


class Refused:
    """Records in which a check found errors: by file, their physical lines and their 0-based numbers."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[int, str]] = {}
        self._records: dict[str, dict[int, str]] = {}
        self._files: dict[str, str] = {}
        self._sorted: dict[str, list[int]] = {}

    def add(self, path: str, line: int | None, record: int | None, why: str) -> None:
        """Leave out this record; a finding without a place is about a whole file, which reading itself reports, or
        who takes it whole."""
        self._files.setdefault(path, why)
        if line is not None:
            self._lines.setdefault(path, {}).setdefault(line, why)
        if record is not None:
            self._records.setdefault(path, {}).setdefault(record, why)

    def has(self, path: str, line: int | None, record: int | None) -> bool:
        """Whether this record is left out; many may be on one line."""
        return line in self._lines.get(path, ()) if record is None else record in self._records.get(path, ())

    def __bool__(self) -> bool:
        return bool(self._files)

    def of_parts(self, parts: Iterable[tuple[DataFile, int]]) -> Refused:
        """The same for parts of files, of which each has so many lines: by the numbers that these have in it."""
        found = Refused()
        for file, lines in parts:
            name, of_file, before = file.display, self._lines.get(file.display, {}), 0
            if file.part is not None:
                before, numbers = file.part.lines, self._numbers(name)
                of_part = numbers[bisect_right(numbers, before) : bisect_right(numbers, before + lines)]
                of_file = {number: of_file[number] for number in of_part}
            for number, why in of_file.items():
                found.add(name, number - before, None, why)
            for number, why in self._records.get(name, {}).items() if file.part is None else ():
                found.add(name, None, number, why)
        return found

    def _numbers(self, name: str) -> list[int]:
        """The lines of a file, in order."""
        if name not in self._sorted:
            self._sorted[name] = sorted(self._lines.get(name, ()))
        return self._sorted[name]

    def lines(self, file: DataFile, header: bool = False) -> Mapping[int, str]:
        """Line to reason; of a Parquet file those as which its rows are read, below a ``header``."""
        if is_parquet(file.path):
            return {record + 1 + header: why for record, why in self.records(file).items()}
        return self._lines.get(file.display, {})

    def records(self, file: DataFile) -> Mapping[int, str]:
        """Number to reason."""
        return self._records.get(file.display, {})

    def file(self, file: DataFile) -> str | None:
        """Why a file that is taken whole (SQL, a skill) is to be left out; None where no error was found in it."""
        return self._files.get(file.display)
