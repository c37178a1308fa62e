"""Conditions that choose rows of a table by one of its columns: in SQL, and of values that no database holds."""

from __future__ import annotations

from typing import Literal

from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.quick_values import NamedTuple


class Condition(NamedTuple):
    """What is asked of a column; a row without a value never is what is asked for."""

    column: str
    test: Literal["=", ">", "<=", "not in", "is not null"]
    value: str | int | tuple[str, ...] | None = None

    @property
    def sql(self) -> str:
        """The same in SQL."""
        value = self.value
        listed = f"({', '.join(map(sql_text, value))})" if isinstance(value, tuple) else value
        words = sql_text(value) if isinstance(value, str) else "" if value is None else str(listed)
        return f"{self.column} {self.test} {words}".rstrip()

    def holds(self, value: str | int | None) -> bool:
        """Whether it holds for a value of the column."""
        if value is None or self.test == "is not null":
            return value is not None
        if isinstance(self.value, tuple):
            return value not in self.value
        if self.test == "=":
            return value == self.value
        assert isinstance(value, int)
        assert isinstance(self.value, int)
        return value > self.value if self.test == ">" else value <= self.value
