"""Columns of a Parquet file of a GraphRAG index as expressions in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragdatakit.converters.graphrag.columns import READ, SAID_ELSEWHERE
from ragdatakit.converters.sql_files import paths
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.sql_text import sql_name

if TYPE_CHECKING:
    import duckdb

PLACE = "file_row_number"
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
NUMBERS = (*_WHOLE, "FLOAT", "DOUBLE")
NO_TEXTS = "([]::varchar[])"
UNPROVED = "error('unproved')"
"""What makes a statement fail where the reader would have another value."""
_NOTHING, _NO_ITEMS = '"NULL"', '"NULL"[]'


class StoredColumns:
    """A file of a table: expressions of its columns as the reader has their values, where an empty text is none."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, file: DataFile, kind: str) -> None:
        self._connection = connection
        self.all = f"from read_parquet({paths([file])}, {PLACE} = true)"
        found = connection.execute(f"describe {self.all}").fetchall()
        self.types: dict[str, str] = {name: type_ for name, type_, *_ in found if type_ != _NOTHING}
        if [name.lower() for name, *_ in found].count(PLACE) > 1:
            raise Unproved
        known = {*READ[kind], *SAID_ELSEWHERE.get(kind, ()), PLACE}
        others = [self.has(name) for name in self.types if name not in known]
        if others and self.any(" or ".join(others)):
            raise Unproved

    def any(self, condition: str) -> bool:
        """Whether there is a row of which this holds."""
        return bool(self._connection.execute(f"select 1 {self.all} where {condition} limit 1").fetchall())

    def has(self, name: str) -> str:
        """Whether a column has a value."""
        return f"{self._given(name)} is not null"

    def _given(self, name: str) -> str:
        return f"nullif({sql_name(name)}, '')" if self.types[name] == "VARCHAR" else sql_name(name)

    def value(self, name: str, *types: str) -> str:
        """A column that has to be of one of these types."""
        if name not in self.types:
            return "null"
        if self.types[name] not in types:
            raise Unproved
        return self._given(name)

    def text(self, name: str) -> str:
        """A text, null where there is none."""
        return f"{self.value(name, 'VARCHAR')}::varchar"

    def id(self, *names: str) -> str:
        """An id, of the first of these columns that has one; it may be a number there."""
        found = (f"{self.value(name, 'VARCHAR', *_WHOLE)}::varchar" for name in names)
        return f"coalesce({', '.join(found)}, '')"

    def number(self, name: str) -> str:
        """An integer, null where there is none."""
        return f"{self.value(name, *_WHOLE)}::bigint"

    def members(self, name: str) -> str:
        """Texts, each of which is there once."""
        if self.types.get(name, _NO_ITEMS) == _NO_ITEMS:
            return NO_TEXTS
        column = self.value(name, "VARCHAR[]")
        alone = f"when list_unique({column}) = len({column}) then {column}"
        return f"case when {column} is null then {NO_TEXTS} {alone} else {UNPROVED} end"

    def first(self, name: str) -> str:
        """The first text of a list."""
        return (
            "null"
            if self.types.get(name, _NO_ITEMS) == _NO_ITEMS
            else f"list_any_value({self.value(name, 'VARCHAR[]')})"
        )

    def beside(self, others: str, condition: str) -> str:
        """All rows, each with the row of ``others`` for which the condition holds, if there is one; long texts are not
        sorted for it."""
        beside = f"select given.*, {PLACE} as place {self.all} left join ({others}) given on {condition} order by place"
        return f"from ({self.all}) positional join ({beside})"

    def names(self, *columns: str, **further: str) -> str:
        """What stands for an object of these columns, as far as they have values, and of what is there under a
        condition: one with the same names."""
        held = {name: self.has(name) for name in columns if name in self.types} | further
        parts = ", ".join(f"case when {condition} then '\"{name}\":0' end" for name, condition in held.items())
        return f"nullif('{{' || concat_ws(',', {parts}) || '}}', '{{}}')" if held else "null"

    def values(self, among: Sequence[str], *columns: str) -> str:
        """What stands for an object of columns ``among`` which are these: it has their values only. `Unproved` where it
        is not certain that each row has one."""
        sure = (n for n in among if self.types.get(n) in _WHOLE and not self.any(f"{sql_name(n)} is null"))
        if (name := next(sure, None)) is None:
            raise Unproved
        held = ", ".join(f"'{n}', {self.value(n, 'VARCHAR', *NUMBERS)}" for n in dict.fromkeys((name, *columns)))
        return f"json_object({held})::varchar"
