"""The graph of a GraphRAG index in Parquet as numbers, for a report: its nodes and edges stay in their files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragdatakit.converters.graphrag.reading import RELATED
from ragdatakit.converters.graphrag.stored_columns import StoredColumns
from ragdatakit.database.apart_rows import ApartRows, ColumnFacts
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.database.edge_numbers import EdgeNumbers

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.arrays.codes import Codes
    from ragdatakit.database.text_batches import TextBatch

_MOST_TYPES = 1 << 12


class HeldGraph:
    """What a report wants of nodes and edges, whose columns expressions give."""

    def __init__(self) -> None:
        self.numbers = EdgeNumbers()
        self._has_nodes = False

    def nodes(
        self, connection: duckdb.DuckDBPyConnection, rows: StoredColumns, given: dict[str, str], apart: ApartRows
    ) -> bool:
        """Whether all is known of the nodes, which is not so of very many types. Raises `Unproved` where two have one
        name, or one has none."""
        from ragdatakit.database.text_batches import text_batches

        self._has_nodes = False
        self.numbers.begin_nodes()
        blank = 0
        for batch in text_batches(connection, f"select {given['name']} {rows.all}"):
            if (batch.offsets[1:] == batch.offsets[:-1]).any():
                raise Unproved
            codes, empty = _codes(batch)
            self.numbers.add_nodes(codes)
            blank += empty
        if len(self.numbers.repeated):
            raise Unproved
        types = f"select {given['type']}, count(*) {rows.all} group by 1 limit {_MOST_TYPES + 2}"
        counts: dict[Any, int] = dict(connection.execute(types).fetchall())
        counts.pop(None, None)
        if len(counts) > _MOST_TYPES:
            return False
        apart.rows = self.numbers.nodes
        apart.count("type", counts)
        apart.end()
        apart.columns["name"] = ColumnFacts(0, blank, apart.rows)
        self._has_nodes = True
        return True

    def edges(
        self, connection: duckdb.DuckDBPyConnection, rows: StoredColumns, given: dict[str, str], apart: ApartRows
    ) -> bool:
        """Whether all is known of the edges, as it is where it is of the nodes."""
        import numpy as np

        from ragdatakit.arrays.codes import WIDE, codes_of, number_of_distinct, together
        from ragdatakit.arrays.text_codes import codes_of_texts
        from ragdatakit.database.text_batches import batches_of_texts

        if not self._has_nodes:
            return False
        self.numbers.begin_edges()
        related = codes_of_texts([RELATED])
        empty, provenances = [0, 0, 0], [np.empty(0, WIDE)]
        columns = ", ".join(f"({given[name]})::varchar" for name in ("source", "target", "provenance"))
        for batch in batches_of_texts(connection, f"select {columns} {rows.all}"):
            found = [_codes(column) for column in batch]
            source, target, provenance = (codes for codes, _ in found)
            self.numbers.add_edges(source, target, np.repeat(related, len(source)))
            empty = [number + more for number, (_, more) in zip(empty, found, strict=True)]
            missing = batch[2].missing
            provenances.append(provenance if missing is None else codes_of(provenance, ~missing))
        if not self.numbers.few:
            return False
        apart.rows = number = self.numbers.edges
        apart.count("relation", {RELATED: number} if number else {})
        apart.end()
        all_provenances = together(provenances)
        apart.columns |= {
            "source": ColumnFacts(0, empty[0]),
            "target": ColumnFacts(0, empty[1]),
            "attributes": ColumnFacts(),  # each has some
            "confidence": ColumnFacts(number, numbers=(np.empty(0), np.empty(0, np.int64)), distinct=0),
            "provenance": ColumnFacts(number - len(all_provenances), empty[2], number_of_distinct(all_provenances)),
        }
        return True


def _codes(batch: TextBatch) -> tuple[Codes, int]:
    """The codes of texts, and how many have nothing but blanks."""
    from ragdatakit.scanner.texts import lengths_and_codes

    _, codes, empty = lengths_and_codes(batch.data, batch.offsets)
    return codes, empty - int(batch.missing.sum()) if batch.missing is not None else empty
