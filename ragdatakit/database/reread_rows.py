"""Held rows of which some columns are not held: these are read again for the few rows that are shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.outputs.file_states import WatchedFiles
from ragdatakit.schemas.conversions import Losses

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.database.columns import PackedColumn


class RereadRows(HeldRows):
    """Rows whose texts are apart: what the ``reread`` columns hold in the rows whose texts are is not their values, but
    what stands for these (an object with the same names). ``row_of`` makes a row again, given its place and its record;
    ``rows_of`` all rows."""

    def __init__(
        self,
        table: str,
        reread: Collection[str],
        facts: TextFacts,
        row_of: Callable[[int, bytes], Any],
        rows_of: Callable[[], Iterator[Any]],
    ) -> None:
        super().__init__(table)
        self.watched = WatchedFiles(())
        self._reread, self._text_facts = frozenset(reread), facts
        self._row_of, self._rows_of = row_of, rows_of

    def texts(self, name: str) -> list[PackedColumn] | None:
        """The texts in a column, some rows after the others; None where they, or some of them, are not held."""
        return None if name in self._reread else super().texts(name)

    def rows_at(self, places: Sequence[int], names: Iterable[str] = ()) -> dict[int, dict[str, Any]]:
        """Rows by their places, with these columns (none: all). Raises `RagdataError` where a file was changed."""
        import numpy as np

        wanted = [*(names or self._schema)]
        found = super().rows_at(places, wanted)
        again = self._reread.intersection(wanted)
        rows = np.array(sorted(places), np.int64)
        if again and self._text_facts.places is not None and len(rows):
            rows = rows[self._text_facts.places.has(rows)]
            records = self._text_facts.places.records(rows, self._text_facts.codes)
            for place, (record, _) in zip(rows.tolist(), records, strict=True):
                row = self._row_of(place, record)
                found[place].update((name, getattr(row, name)) for name in again)
        return found

    def give(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Have the database hold them. Raises as `rows_at`."""
        batches = row_batches(self._table, self._rows_of(), Losses())
        with self.watched, incoming(connection, "held_rows", schema_of(self._table), batches):
            connection.execute(f'create table main."{self._table}" as select * from held_rows')
