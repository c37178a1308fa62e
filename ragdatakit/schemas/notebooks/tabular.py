"""Results as a table: an excerpt of it in a notebook, all of it as a pandas frame or an Arrow table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from ragdatakit.schemas.errors import MissingExtraError
from ragdatakit.schemas.texts import as_text, shortened
from ragdatakit.visible_text import visible_text

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_SHOWN = 20
"""Rows that a notebook shows."""
_WIDEST = 200
"""Characters that it shows of a cell."""
_PANDAS = {str: "str", int: "Int64", float: "float64", bool: "boolean"}
_ARROW = {str: "string", int: "int64", float: "float64", bool: "bool"}


class Tabular:
    """A result that has rows. Its subclasses name the columns of its table, with their types, and give the rows.

    Columns have their type in an empty table, too, and any value of them may be missing. ``_IN_NOTEBOOKS`` are those
    that a notebook shows (none named: all); of these it leaves out what is empty.
    """

    __slots__ = ()
    _COLUMNS: ClassVar[Mapping[str, type]]
    _IN_NOTEBOOKS: ClassVar[Sequence[str]] = ()

    def _rows(self) -> Iterable[Sequence[Any]]:
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame. Raises `MissingExtraError` without pandas (the extra ``frames``)."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("frames", "pandas") from None
        columns = self._values(self._rows())
        return pd.DataFrame({name: pd.Series(v, dtype=_PANDAS[self._COLUMNS[name]]) for name, v in columns.items()})

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table. Raises `MissingExtraError` without pyarrow (the extra ``parquet``)."""
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingExtraError("parquet", "pyarrow") from None
        types = {name: pa.type_for_alias(_ARROW[kind]) for name, kind in self._COLUMNS.items()}
        return pa.table({name: pa.array(values, types[name]) for name, values in self._values(self._rows()).items()})

    def _values(self, rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
        """The values of each column."""
        columns: dict[str, list[Any]] = {name: [] for name in self._COLUMNS}
        for row in rows:
            for values, value in zip(columns.values(), row, strict=True):
                values.append(as_text(value) if isinstance(value, str) else value)
        return columns

    def _repr_html_(self) -> str:
        """What Jupyter shows: the line of `repr`, and the first rows. It has no script, and no markup of the data."""
        from html import escape

        rows = iter(self._rows())
        first = list(islice(rows, _SHOWN))
        number = len(first) + sum(1 for _ in rows)
        columns = self._values(first)
        shown = [name for name in self._IN_NOTEBOOKS or columns if any(value is not None for value in columns[name])]
        attributes = {name: ' style="text-align:left"' if self._COLUMNS[name] is str else "" for name in shown}
        head = "".join(f"<th{attributes[name]}>{name}</th>" for name in shown)
        cells = ([f"<td{attributes[n]}>{escape(_words(value))}</td>" for value in columns[n]] for n in shown)
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""
        more = f"<p>{_SHOWN} of {number:,} rows; <code>to_pandas()</code> gives all</p>" if number > _SHOWN else ""
        return f"<div><p>{escape(visible_text(repr(self)[1:-1]))}</p>{table}{more}</div>"


def _words(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_count else visible_text(shortened(str(value), _WIDEST))
