"""Tables of a GraphRAG index, in Parquet or CSV: their columns, and their rows as Python values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ragdatakit.files.containers.csv_cells import split_record
from ragdatakit.files.containers.csv_rows import CsvReader, RawRow
from ragdatakit.files.containers.parquet_tables import opened_parquet
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.sources import FileFault, Source
from ragdatakit.files.containers.strict_json import NOTHING
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.files.reading.cut_files import AGAIN, CUT_HERE, ends_file
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.graphrag.tables import BY_KIND, PREFIX

_ROWS = 1024
"""How many rows of a Parquet file become Python values together."""
_STRIPPED = "[] '\""
_QUOTE_IT = "put a cell with a comma in double quotes, or take out what is too much"


def split_list(cell: str) -> list[str]:
    """The members of a list in a cell of CSV, as GraphRAG parts them (``data_model/dfs.py: split_list_column``).

    A member that has a comma or a line end in it is torn apart.
    """
    return [item for part in cell.replace("\n", ",").split(",") if (item := part.strip(_STRIPPED))]


class HeldRows(NamedTuple):
    """``types`` of the columns as DuckDB names them, ``values`` of each column; ``lines``, in CSV, where rows begin;
    ``size`` is the number of rows."""

    types: dict[str, str]
    values: dict[str, tuple[Any, ...]]
    lines: tuple[int, ...] | None
    size: int


class CsvFault(NamedTuple):
    """What pandas does not read as it is meant in a table in CSV: the 1-based line, what is wrong with it, what to do,
    and the case of the rule, where pandas does not simply stop."""

    line: int
    reason: str
    hint: str
    case: str = ""


class StoredTable:
    """One file of a table. Raises `RagdataError` where it cannot be read.

    ``fault``: the first thing that pandas does not read as it is meant, once the rows of a CSV file were read;
    ``file_faults``: what is wrong with that file as a whole, as far as it was read last.
    """

    def __init__(self, file: DataFile) -> None:
        self.file = file
        self.is_csv = file.path.name.lower().endswith(".csv")
        self.is_old_name = file.path.name.startswith(PREFIX)
        self.table = BY_KIND.get(file.kind)
        self._columns: tuple[str, ...] | None = None
        self.held: HeldRows | None = None
        self.fault: CsvFault | None = None
        self.file_faults: list[FileFault] = []

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        if self._columns is None and self.held is not None:
            self._columns = tuple(self.held.types)
        if self._columns is None:
            if self.is_csv:
                reader = self._reader()
                self._columns = tuple(reader.header or ()) if reader.open() else ()
            else:
                with opened_parquet(self.file.path, self.file.boundary) as parquet:
                    self._columns = tuple(parquet.columns)
        return self._columns

    @columns.setter
    def columns(self, names: tuple[str, ...]) -> None:
        self._columns = names

    def declares(self, name: str) -> bool:
        """Whether GraphRAG has a column of that name; of a table of no known kind, any."""
        return self.table is None or self.table.column(name) is not None

    def places(self, names: Iterable[str]) -> dict[str, int]:
        """Where among these the columns are that GraphRAG has; of two of one name, the first, as of pandas."""
        return {name: place for name, place in _first_places(names).items() if self.declares(name)}

    def rows(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """The values of these columns, row by row; None for a column that is not there."""
        return self._csv_rows(names) if self.is_csv else self._parquet_rows(names)

    def _reader(self) -> CsvReader:
        source = Source(self.file.path, False, boundary=self.file.boundary)
        self.file_faults = source.faults
        return CsvReader(source)

    def cells(self) -> Iterator[tuple[int, list[str]]]:
        """The rows of a CSV file: the 1-based line on which each begins, and its cells as text."""
        reader = self._reader()
        if not reader.open():
            return
        assert reader.header is not None
        assert reader.header_row is not None
        self._text_of(reader.header_row)
        width, before, is_first = len(reader.header), 0, True
        for block in reader.blocks():
            for row in block.raw_rows():
                cells = [cell.text for cell in split_record(self._text_of(row))[0]]
                if len(cells) < width == before and self._is_last(row):
                    reason = f"the file ends within a row and seems to be cut, in cell {len(cells)} of {width}"
                    self._add(CsvFault(row.line, reason, AGAIN, "cut"))
                before = len(cells)
                if len(cells) > width:
                    of_row = "the first row" if is_first else "the row"
                    reason = f"{of_row} has {len(cells)} cells, the header {width} columns"
                    self._add(CsvFault(row.line, reason, _QUOTE_IT, "shifted" if is_first else ""))
                is_first = False
                yield row.line, cells

    def _text_of(self, row: RawRow) -> str:
        if not row.closed and self._is_last(row):  # where pandas stops
            self._add(CsvFault(row.line, "a quote is not closed", CUT_HERE))
        elif not row.closed:
            hint = "close the quote, or write it twice where it is part of a text"
            self._add(CsvFault(row.line, "a quote is not closed", hint, "open"))
        try:
            return row.raw.decode()
        except UnicodeDecodeError as error:
            reason = f"byte 0x{row.raw[error.start]:02x} is not UTF-8"
            self._add(CsvFault(row.line, reason, "write the table in UTF-8"))
            return row.raw.decode("utf-8", "replace")

    def _is_last(self, row: RawRow) -> bool:
        """Whether the file ends with this row, without a line end."""
        return ends_file(self.file, Located(0, row.line, row.offset, row.raw))

    def _add(self, fault: CsvFault) -> None:
        self.fault = self.fault or fault

    def _csv_rows(self, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        known = _first_places(self.columns)
        if not known:
            why = next((fault.why for fault in self.file_faults), NOTHING)
            raise RagdataError(f"{self.file.path}: {why}")
        places = [known.get(name) for name in names]
        kinds = [column.type if self.table and (column := self.table.column(name)) else "text" for name in names]
        for _, cells in self.cells():
            if self.fault is not None:  # at which GraphRAG's reader stops, and has nothing
                raise RagdataError(f"{self.file.path}, line {self.fault.line}: {self.fault.reason}")
            found = (cells[place] if place is not None and place < len(cells) else None for place in places)
            yield tuple(_typed(cell, kind) for cell, kind in zip(found, kinds, strict=True))

    def _parquet_rows(self, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        wanted = [sql_name(name) if name in self.columns else "null" for name in names]
        with opened_parquet(self.file.path, self.file.boundary) as parquet:
            for rows in parquet.chunks(wanted or ["null"], _ROWS):
                yield from rows if wanted else [()] * len(rows)


def _first_places(names: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, name in enumerate(names):
        found.setdefault(name, place)
    return found


def _typed(cell: str | None, kind: str) -> Any:
    """A cell of CSV as its column's type; as text where it cannot be."""
    if cell is None or kind == "text":
        return cell
    try:
        if kind in ("texts", "integers"):
            members = split_list(cell)
            return [int(member) for member in members] if kind == "integers" else members
        if kind in ("integer", "number"):
            return (int(float(cell)) if kind == "integer" else float(cell)) if cell else None
    except (ValueError, OverflowError):
        pass
    return cell or None
