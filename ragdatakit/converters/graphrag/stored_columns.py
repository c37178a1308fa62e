"""Columns of a Parquet file of a GraphRAG index as expressions in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ragdatakit.converters.graphrag.columns import READ, SAID_ELSEWHERE, TEXTS
from ragdatakit.converters.sql_files import paths
from ragdatakit.database.apart_rows import ColumnFacts, CountedMembers
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.sql_text import sql_name, sql_text

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
        self._kind, self._paths = kind, paths([file])
        self.all = f"from read_parquet({self._paths}, {PLACE} = true)"
        found = connection.execute(f"describe {self.all}").fetchall()
        self.types: dict[str, str] = {name: type_ for name, type_, *_ in found if type_ != _NOTHING}
        if [name.lower() for name, *_ in found].count(PLACE) > 1:
            raise Unproved

    def refuse_others(self) -> None:
        """`Unproved` where there are values in columns that are not read."""
        known = {*READ[self._kind], *SAID_ELSEWHERE.get(self._kind, ()), PLACE}
        others = [self.has(name) for name in self.types if name not in known]
        if others and self.any(" or ".join(others)):
            raise Unproved

    def texts(self) -> str:
        """The texts of the rows, empty ones where there are none."""
        return f"coalesce({', '.join(map(self.text, TEXTS[self._kind]))}, '')"

    def size_of_texts(self) -> tuple[int, int]:
        """How many rows there are, and the bytes in which the columns of their texts are stored, unpacked."""
        names = ", ".join(map(sql_text, TEXTS[self._kind][:1]))
        query = f"""select (select count(*) {self.all}), sum(total_uncompressed_size) - 4 * sum(num_values)
            from parquet_metadata({self._paths}) where path_in_schema in ({names})"""
        rows, size = self._connection.execute(query).fetchall()[0]
        return rows, max(size or 0, 0)

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
        if not self.has_items(name):
            return NO_TEXTS
        column = self.value(name, "VARCHAR[]")
        alone = f"when list_unique({column}) = len({column}) then {column}"
        return f"case when {column} is null then {NO_TEXTS} {alone} else {UNPROVED} end"

    def first(self, name: str) -> str:
        """The first text of a list."""
        return f"list_any_value({self.value(name, 'VARCHAR[]')})" if self.has_items(name) else "null"

    def has_items(self, name: str) -> bool:
        """Whether lists may have any items."""
        return self.types.get(name, _NO_ITEMS) != _NO_ITEMS

    def number_of_members(self, name: str) -> str:
        """How many different texts there are in a list."""
        return f"coalesce(list_unique({self.value(name, 'VARCHAR[]')}), 0)" if self.has_items(name) else "0"

    def beside(self, others: str, condition: str) -> str:
        """All rows, each with the row of ``others`` for which the condition holds, if there is one; long texts are not
        sorted for it."""
        beside = f"select given.*, {PLACE} as place {self.all} left join ({others}) given on {condition} order by place"
        return f"from ({self.all}) positional join ({beside})"

    def facts_of(self, columns: Sequence[str], further: Mapping[str, str] = MappingProxyType({})) -> ColumnFacts:
        """What is known of objects of these columns, as far as they have values, and of what is there under a
        condition."""
        held = {name: self.has(name) for name in columns if name in self.types} | {**further}
        asked = ["count(*)", *held.values(), f"not ({' or '.join(held.values())})"] if held else ["count(*)"]
        numbers = ", ".join(f"count(*) filter ({one})" if place else one for place, one in enumerate(asked))
        rows, *counts = self._connection.execute(f"select {numbers} {self.all}").fetchall()[0]
        found = {name: count for name, count in zip(held, counts, strict=False) if count}
        return ColumnFacts(counts[-1] if counts else rows, objects=CountedMembers(found))

    def object(self, *among: str) -> str:
        """What stands for an object of columns, of which it is certain that each row has one. Raises `Unproved`."""
        if any(self.types.get(n) in _WHOLE and not self.any(f"{sql_name(n)} is null") for n in among):
            return "'{\"\":0}'"
        raise Unproved
