"""What is told of a GFM-RAG graph when all its tables are read: unusable, unreachable, repeated, badly named parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.missing import MISSING
from ragdatakit.validators.gfm_rag.tables import ENDS, MENTION, GraphTables
from ragdatakit.validators.sets import Hits

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.validators.checks import Emit

ENTITY, DOCUMENT = "entity", "document"
MENTION_RELATION = "is_mentioned_in"
FEW_NODES = 10
"""Nodes that a type must have for the trainer to predict as many (``predict_top_k``)."""

TYPES_SHOWN, TYPES_TOLD = 6, 100
"""How many types a message lists, and of how many (the most frequent) it is said that nobody asks for them."""

INVERSE = "inverse_"


class GraphFindings:
    """The findings of one graph: `hits` at rows, `tell` at files."""

    def __init__(self, dataset: Dataset, tables: GraphTables) -> None:
        self._dataset = dataset
        self._tables = tables
        self._files: dict[str, DataFile] = {
            kind: files[0] for kind in ("nodes", "relations", "edges") if (files := dataset.of_kind(kind))
        }

    def _whole(self, *kinds: str) -> bool:
        return all(k in self._tables.read and k in self._files and self._files[k].readable for k in kinds)

    def hits(self) -> Iterator[Hits]:
        """Findings at rows of the tables."""
        tables = self._tables
        if self._whole("relations"):
            yield from self._relation_names()
        if not self._whole("nodes", "relations", "edges") or tables.held is None or not tables.edge_rows:
            return
        yield from self._missing_names()
        yield from self._backwards()
        yield from self._repeated_edges()

    def tell(self, emit: Emit) -> None:
        """Findings at files as wholes."""
        tables = self._tables
        if self._whole("nodes") and tables.types:
            self._tell_types(emit)
        if self._whole("nodes", "relations", "edges") and tables.held is not None:
            self._tell_edges(emit)

    # relations

    def _relation_names(self) -> Iterator[Hits]:
        rows = dict(zip(self._tables.relation_names, self._tables.relation_rows, strict=True))
        inverse = [(row, n.removeprefix(INVERSE)) for n, row in rows.items() if n.startswith(INVERSE)]
        taken = [(row, name) for row, name in inverse if name in rows]
        facts = [{"relation": name} for _, name in taken]
        yield Hits("reserved-inverse-name", "relations", "@key", [row for row, _ in taken], facts=facts)
        if MENTION_RELATION not in rows:
            like = [(row, name) for name, row in rows.items() if MENTION.search(name)]
            facts = [{"relation": name} for _, name in like]
            yield Hits("no-mention-relation", "relations", "@key", [row for row, _ in like], facts=facts)

    # edges

    def _missing_names(self) -> Iterator[Hits]:
        """Names that pandas' defaults take for missing values, in edges that the graph loader keeps."""
        held = self._tables.held
        assert held is not None
        for end in ENDS:
            numbers = held.numbers_of(MISSING, relations=end == "relation")
            for name, number in sorted(numbers.items()):
                rows = held.edges_with(end, number)
                if len(rows):
                    yield Hits("name-read-as-missing", "edges", f"@{end}", rows, [name] * len(rows))

    def _backwards(self) -> Iterator[Hits]:
        held, tables = self._tables.held, self._tables
        assert held is not None
        document, entity = tables.type_number(DOCUMENT), tables.type_number(ENTITY)
        number = held.numbers_of([MENTION_RELATION], relations=True).get(MENTION_RELATION, -1)
        if min(document, entity, number) >= 0:
            yield Hits("mention-backwards", "edges", "@relation", held.edges_between(document, number, entity))

    def _repeated_edges(self) -> Iterator[Hits]:
        graph, repeated = self._tables.graph(), self._tables.repeated_edges()
        yield self._edge_hits("duplicate-edge", repeated.duplicates, repeated.duplicate_firsts, "first listed here")
        yield self._edge_hits("edge-both-ways", repeated.reversals, repeated.reversal_firsts, "the other way here")
        yield self._edge_hits("self-loop", graph.self_loops())

    def _edge_hits(self, rule: str, rows: Any, firsts: Any = None, note: str = "") -> Hits:
        first_row = self._tables.held.row_of_edge(0) if self._tables.held is not None else 0
        rows = [int(r) + first_row for r in rows] if isinstance(rows, list) else rows + first_row
        if firsts is None:
            return Hits(rule, "edges", "@source", rows)
        firsts = [int(r) + first_row for r in firsts] if isinstance(firsts, list) else firsts + first_row
        return Hits(rule, "edges", "@target", rows, None, firsts, "edges", note)

    # files

    def _tell_types(self, emit: Emit) -> None:
        types, nodes = self._tables.types, self._files["nodes"]
        listed = ", ".join(name[:40] for name in sorted(types)[:TYPES_SHOWN] if name) or "none with a name"
        if len(types) > TYPES_SHOWN:
            listed += f" and {len(types) - TYPES_SHOWN:,} more"
        if ENTITY not in types:
            emit(nodes, Problem("no-entity-node", facts={"types": listed}))
        if DOCUMENT not in types:
            emit(nodes, Problem("no-document-node", facts={"types": listed}))
        for name in (DOCUMENT, ENTITY):
            if self._dataset.of_kind("questions") and 0 < types.get(name, 0) < FEW_NODES:
                emit(nodes, Problem("few-nodes-of-type", facts={"type": name, "nodes": types[name]}))
        for name, number in sorted(types.items(), key=lambda t: -t[1])[:TYPES_TOLD]:
            if name and name not in (DOCUMENT, ENTITY):
                emit(nodes, Problem("unasked-node-type", facts={"type": name, "nodes": number}))

    def _tell_edges(self, emit: Emit) -> None:
        tables, edges = self._tables, self._files["edges"]
        rows = tables.edge_rows
        if not tables.types or not tables.relation_names:  # a table without rows is told as such
            return
        graph = tables.graph()
        if not rows or not graph.usable():
            emit(edges, Problem("no-usable-edge", facts={"rows": rows}))
            return
        assert tables.held is not None
        entity, document = tables.type_number(ENTITY), tables.type_number(DOCUMENT)
        if entity >= 0 and not tables.held.leads(entity, entity):
            emit(edges, Problem("no-entity-edge", facts={"rows": rows}))
        if entity >= 0 and document >= 0 and not tables.held.leads(entity, document):
            emit(edges, Problem("no-mention-edge", facts={"rows": rows}))
        self._tell_components(emit)

    def _tell_components(self, emit: Emit) -> None:
        """Parts that no message passes between; nodes without any edge are told one by one."""
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
            emit(
                self._files["edges"],
                Problem("disconnected-graph", facts={"components": several, "largest": largest, "share": share}),
            )
