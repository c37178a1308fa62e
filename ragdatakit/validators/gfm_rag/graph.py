"""The checks of a GFM-RAG graph once all its tables are read: unusable, unreachable, repeated, badly named parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.schemas.canonical import MENTION
from ragdatakit.schemas.cells import MISSING
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.gfm_rag.tables import ENDS, LIKE_MENTION, GraphTables
from ragdatakit.validators.row_problems import RowProblems

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Placed

ENTITY, DOCUMENT = "entity", "document"
FEW_NODES = 10
"""Nodes that a type must have for the trainer to predict as many (``predict_top_k``)."""

TYPES_SHOWN, TYPES_REPORTED = 6, 100
"""How many types a message lists, and how many (the most frequent) get a finding that no loader asks for them."""

INVERSE = "inverse_"


class GraphFindings:
    """The problems of one graph: at rows, and at files as wholes."""

    def __init__(self, dataset: Dataset, tables: GraphTables) -> None:
        self._dataset = dataset
        self._tables = tables
        self._files: dict[str, DataFile] = {
            kind: files[0] for kind in ("nodes", "relations", "edges") if (files := dataset.of_kind(kind))
        }

    def _whole(self, *kinds: str) -> bool:
        return all(k in self._tables.read and k in self._files and self._files[k].readable for k in kinds)

    def of_rows(self) -> Iterator[RowProblems]:
        """Problems at rows of the tables."""
        tables = self._tables
        if self._whole("relations"):
            yield from self._relation_names()
        if not self._whole("nodes", "relations", "edges") or tables.stored is None or not tables.edge_rows:
            return
        yield from self._missing_names()
        yield from self._backwards()
        yield from self._repeated_edges()

    def of_files(self) -> Iterator[Placed]:
        """Problems of files as wholes."""
        tables = self._tables
        if self._whole("nodes") and tables.types:
            yield from self._of_types()
        if self._whole("nodes", "relations", "edges") and tables.stored is not None:
            yield from self._of_edges()

    # relations

    def _relation_names(self) -> Iterator[RowProblems]:
        rows = dict(zip(self._tables.relation_names, self._tables.relation_rows, strict=True))
        inverse = [(row, n.removeprefix(INVERSE)) for n, row in rows.items() if n.startswith(INVERSE)]
        taken = [(row, name) for row, name in inverse if name in rows]
        facts = [{"relation": name} for _, name in taken]
        yield RowProblems("reserved-inverse-name", "relations", "@key", [row for row, _ in taken], facts=facts)
        if MENTION not in rows:
            like = [(row, name) for name, row in rows.items() if LIKE_MENTION.search(name)]
            facts = [{"relation": name} for _, name in like]
            yield RowProblems("no-mention-relation", "relations", "@key", [row for row, _ in like], facts=facts)

    # edges

    def _missing_names(self) -> Iterator[RowProblems]:
        """Names that pandas' defaults take for missing values, in edges that the graph loader keeps."""
        stored = self._tables.stored
        assert stored is not None
        if is_parquet(self._files["edges"].path):  # where a text is one
            return
        for end in ENDS:
            numbers = stored.numbers_of(MISSING, relations=end == "relation")
            for name, number in sorted(numbers.items()):
                rows = stored.edges_with(end, number)
                if len(rows):
                    yield RowProblems("name-read-as-missing", "edges", f"@{end}", rows, [name] * len(rows))

    def _backwards(self) -> Iterator[RowProblems]:
        stored, tables = self._tables.stored, self._tables
        assert stored is not None
        document, entity = tables.type_number(DOCUMENT), tables.type_number(ENTITY)
        number = stored.numbers_of([MENTION], relations=True).get(MENTION, -1)
        if min(document, entity, number) >= 0:
            yield RowProblems("mention-backwards", "edges", "@relation", stored.edges_between(document, number, entity))

    def _repeated_edges(self) -> Iterator[RowProblems]:
        graph, repeated = self._tables.graph(), self._tables.repeated_edges()
        yield self._at_edges("duplicate-edge", repeated.duplicates, repeated.duplicate_firsts, "first listed here")
        yield self._at_edges("edge-both-ways", repeated.reversals, repeated.reversal_firsts, "the other way here")
        yield self._at_edges("self-loop", graph.self_loops())

    def _at_edges(self, rule: str, rows: Any, firsts: Any = None, note: str = "") -> RowProblems:
        first_row = self._tables.stored.row_of_edge(0) if self._tables.stored is not None else 0
        rows = [int(r) + first_row for r in rows] if isinstance(rows, list) else rows + first_row
        if firsts is None:
            return RowProblems(rule, "edges", "@source", rows)
        firsts = [int(r) + first_row for r in firsts] if isinstance(firsts, list) else firsts + first_row
        return RowProblems(rule, "edges", "@target", rows, None, firsts, "edges", note)

    # files

    def _of_types(self) -> Iterator[Placed]:
        types, nodes = self._tables.types, self._files["nodes"]
        listed = ", ".join(name[:40] for name in sorted(types)[:TYPES_SHOWN] if name) or "none with a name"
        if len(types) > TYPES_SHOWN:
            listed += f" and {len(types) - TYPES_SHOWN:,} more"
        if ENTITY not in types:
            yield nodes, Problem("no-entity-node", facts={"types": listed})
        if DOCUMENT not in types:
            yield nodes, Problem("no-document-node", facts={"types": listed})
        for name in (DOCUMENT, ENTITY):
            if self._dataset.of_kind("questions") and 0 < types.get(name, 0) < FEW_NODES:
                yield nodes, Problem("few-nodes-of-type", facts={"type": name, "nodes": types[name]})
        for name, number in sorted(types.items(), key=lambda t: (-t[1], t[0]))[:TYPES_REPORTED]:
            if name and name not in (DOCUMENT, ENTITY):
                yield nodes, Problem("unasked-node-type", facts={"type": name, "nodes": number})

    def _of_edges(self) -> Iterator[Placed]:
        tables, edges = self._tables, self._files["edges"]
        rows = tables.edge_rows
        if not tables.types or not tables.relation_names:  # a table without rows is reported as such
            return
        graph = tables.graph()
        if not rows or not graph.usable():
            yield edges, Problem("no-usable-edge", facts={"rows": rows})
            return
        assert tables.stored is not None
        entity, document = tables.type_number(ENTITY), tables.type_number(DOCUMENT)
        if entity >= 0 and not tables.stored.leads(entity, entity):
            yield edges, Problem("no-entity-edge", facts={"rows": rows})
        if entity >= 0 and document >= 0 and not tables.stored.leads(entity, document):
            yield edges, Problem("no-mention-edge", facts={"rows": rows})
        yield from self._of_components()

    def _of_components(self) -> Iterator[Placed]:
        """Parts that no message passes between; nodes without any edge are reported one by one."""
        graph = self._tables.graph()
        parts = graph.components()
        connected = [int(size) for size in parts.sizes if size > 1] if isinstance(parts.sizes, list) else None
        if connected is None:
            sizes = parts.sizes
            several, largest = int((sizes > 1).sum()), int(sizes.max(initial=0))
        else:
            several, largest = len(connected), max(connected, default=0)
        if several > 1:
            share = 100 * largest / max(graph.node_count, 1)
            facts = {"components": several, "largest": largest, "share": share}
            yield self._files["edges"], Problem("disconnected-graph", facts=facts)
