"""Parquet files, read by DuckDB within their boundary; what is wrong with one is a `RagdataError`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.beginnings import HEAD_BYTES, why_not_text
from ragdatakit.files.memory_database import memory_database
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.files.paths.sql_text import is_sql_path, sql_text, unglobbed
from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import duckdb


_MEMORY = "192 MB"
_ROWS = 1024
"""How many rows become Python values together."""
_OBJECT = 64
"""Bytes that a value takes in Python at least."""
_NAN = "NaN"
_MAGIC = b"PAR1"
_NUMBER = "file_row_number"
"""What DuckDB calls the number of a row in its file."""


PART_ROWS, PART_BYTES = 1 << 16, 8 << 20


class RowPart(NamedTuple):
    """Rows of a file, from the ``first`` number up to the ``end``; ``begin`` is where they begin, of all bytes."""

    first: int
    end: int
    begin: int


class ParquetTable:
    """A file that is open. Each question to it takes a plan: for a small table, more than to read it."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._connection = connection
        self._file = sql_text(unglobbed(path))

    @cached_property
    def columns(self) -> dict[str, str]:
        """Its columns with DuckDB's types."""
        return {name: kind for name, kind, *_ in self._all(f"describe select * from read_parquet({self._file})")}

    @cached_property
    def rows(self) -> int:
        """How many rows its footer tells."""
        (found,) = self._all(f"select num_rows from parquet_file_metadata({self._file})")[0]
        return int(found)

    def notes(self) -> dict[bytes, bytes]:
        """What its writer noted in the footer, such as `pandas`."""
        return dict(self._all(f"select key, value from parquet_kv_metadata({self._file})"))

    def _all(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query).fetchall()

    def value_count(self, names: Sequence[str]) -> int:
        """How many values these columns have, members of lists included, as the footer says."""
        found = self._all(f"select path_in_schema, num_values from parquet_metadata({self._file})")
        return sum(count for path, count in found if path.split(",")[0].strip() in names)

    def chunks(
        self, expressions: Sequence[str], at_once: int, rows: tuple[int, int] | None = None
    ) -> Iterator[list[tuple[Any, ...]]]:
        """The values of expressions over the columns, so many rows at a time: those of all ``rows``, or of the ones
        from the first number up to the second; row groups without such are not read."""
        of_rows = f"read_parquet({self._file})" if rows is None else self._between(*rows)
        result = self._connection.execute(f"select {', '.join(expressions)} from {of_rows}")
        while some := result.fetchmany(at_once):
            yield some

    def whole(self) -> tuple[dict[str, str], Iterator[tuple[Any, ...]]]:
        """Its columns with DuckDB's types, and all rows, one by one, as one may be very long."""
        result = self._connection.execute(f"select * from read_parquet({self._file})")
        return {name: str(kind) for name, kind, *_ in result.description or ()}, iter(result.fetchone, None)

    def group_rows(self) -> list[int]:
        """How many rows each row group has."""
        return [rows for rows, _ in self.groups]

    @cached_property
    def groups(self) -> list[tuple[int, int]]:
        """How many rows each row group has, and how many bytes of the file it takes."""
        found = self._all(
            "select row_group_id, any_value(row_group_num_rows), sum(total_compressed_size) "
            f"from parquet_metadata({self._file}) group by row_group_id order by 1"
        )
        return [(rows, int(size)) for _, rows, size in found]

    def parts(self) -> list[RowPart]:
        """Consecutive row groups that are read at once, small ones together: what is wrong with one costs the rows of
        its part, and of those behind it."""
        found, first, at, rows, size = list[RowPart](), 0, 0, 0, 0
        for rows_of, size_of in self.groups if self._has_numbers else ():
            rows, size = rows + rows_of, size + size_of
            if rows >= PART_ROWS or size >= PART_BYTES:
                found.append(RowPart(first, first + rows, at))
                first, at, rows, size = first + rows, at + size, 0, 0
        if rows or not found:
            found.append(RowPart(first, first + rows if self._has_numbers else self.rows, at))
        return found

    def streams(self, query: str, counts: Sequence[int]) -> Iterator[Any]:
        """What a query gives, as streams in Arrow's form, one row group after the other; ``{}`` in it stands for the
        rows, ``counts`` are those of `group_rows`."""
        for of_group in self._of_groups(query, counts):
            yield self._connection.sql(of_group).__arrow_c_stream__()

    def _of_groups(self, query: str, counts: Sequence[int]) -> Iterator[str]:
        first = 0
        if len(counts) == 1:
            yield query.format(f"read_parquet({self._file})")
            return
        for count in counts:
            yield query.format(self._between(first, first + count))
            first += count

    def _between(self, first: int, end: int) -> str:
        """The rows with these numbers."""
        rows = f"read_parquet({self._file}, {_NUMBER} = true)"
        return f"(from {rows} where {_NUMBER} >= {first} and {_NUMBER} < {end})"

    @property
    def _has_numbers(self) -> bool:
        """Whether rows can be asked for by their numbers: not where a column has the name of these."""
        return _NUMBER not in map(str.lower, self.columns)


@contextmanager
def opened_parquet(path: Path, boundary: Boundary) -> Iterator[ParquetTable]:
    """A Parquet file. What fails while it is read is raised as `RagdataError`, too."""
    import duckdb

    try:
        if not is_sql_path(path):
            raise ValueError("its path is not UTF-8; rename the file or folder")
        with boundary.open(path), _reader().cursor() as connection:
            yield ParquetTable(connection, path)
    except duckdb.OutOfMemoryException:
        reason = (
            f"a part of it takes more than the {_MEMORY} that may be held at once, such as a row with a very long list"
        )
        raise RagdataError(f"{path}: it cannot be read: {reason}") from None
    except (duckdb.Error, OSError, ValueError) as error:
        reason = damage(path, boundary) or _reason(error, path)
        raise RagdataError(f"{path}: no Parquet file that can be read: {reason}") from None


def expanded_size(paths: Sequence[Path]) -> int:
    """How many bytes the values of these files may take once they are read, as the footers say: a column stores a text
    once that many rows have. Raises `RagdataError` where one cannot be read."""
    import duckdb

    listed = ", ".join(sql_text(unglobbed(path)) for path in paths)
    query = f"select sum(num_values * (total_uncompressed_size + {_OBJECT})) from parquet_metadata([{listed}])"
    try:
        with _reader().cursor() as connection:
            (found,) = connection.execute(query).fetchall()[0]
    except duckdb.Error as error:
        raise RagdataError(str(error)) from None
    return int(found or 0)


@cache
def _reader() -> duckdb.DuckDBPyConnection:
    """The database that reads all of them: to open one takes longer than to read a small file."""
    connection = memory_database({"memory_limit": _MEMORY, "threads": 1})
    connection.execute("set global disable_parquet_prefetching = true")  # which holds a whole column at once
    return connection


def damage(path: Path, boundary: Boundary) -> str:
    """How the ends of a file show that it is no whole Parquet file; empty where they do not, or it cannot be opened."""
    try:
        with boundary.open(path) as file:
            head, size = file.read(HEAD_BYTES), file.seek(0, SEEK_END)
            file.seek(max(size - len(_MAGIC), 0))
            tail = file.read()
    except OSError:
        return ""
    if not size:
        return "it is empty"
    if not head.startswith(_MAGIC):
        return f"it does not begin as Parquet does{f'; {why}' if (why := why_not_text(head)) else ''}"
    return "" if tail == _MAGIC else f"it is cut off, or not written whole: after {size:,} bytes there is no footer"


def _reason(error: Exception, path: Path) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    words = " ".join(str(error).split("\n", 1)[0].split())
    for spelling in (unglobbed(path), str(path)):
        words = (
            words.replace(f"'{spelling}'", "the file")
            .replace(f'"{spelling}"', "the file")
            .replace(spelling, "the file")
        )
    return words[:200]


def rows_as_json(path: Path, boundary: Boundary) -> Iterator[bytes]:
    """The rows as JSON objects; NaN is a text in them. Raises `RagdataError` where they cannot be read."""
    import msgspec

    encode = msgspec.json.Encoder(enc_hook=str).encode
    with opened_parquet(path, boundary) as parquet:
        names = list(parquet.columns)
        for rows in parquet.chunks("*", at_once=_ROWS):
            for values in rows:
                plain = (_NAN if value != value else value for value in values)
                yield encode(dict(zip(names, plain, strict=True)))


def row_count(path: Path, boundary: Boundary) -> int:
    """How many rows a Parquet file has, as its footer says. Raises `RagdataError` where there is none."""
    with opened_parquet(path, boundary) as parquet:
        return parquet.rows
