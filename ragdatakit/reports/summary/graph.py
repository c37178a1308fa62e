"""The graph of a dataset in numbers: its parts, hubs and degrees, and what questions reach from their start nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, packed, packed_numbers
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.summary.numbers import of_numbers
from ragdatakit.scanner.library import library
from ragdatakit.schemas.summaries import Distribution, GraphSummary, Hub, Note

if TYPE_CHECKING:
    import duckdb
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes
    from ragdatakit.arrays.graphs import NumpyGraph
    from ragdatakit.arrays.keys import NumpyIndex
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.database.edge_numbers import EdgeNumbers

    Numbers = npt.NDArray[np.int32]
    Rows = npt.NDArray[np.int64]

MOST_HUBS = 10
HOPS = (1, 2, 3)
_MOST_QUESTIONS = 2000
_AT_ONCE = 1 << 16


@dataclass(slots=True)
class Edges:
    """The edges of a dataset as numbers of nodes and relations: its nodes in order, then those that only edges name."""

    nodes: int
    source: Numbers
    target: Numbers
    relation: Numbers
    relations: int
    listed: int
    known: EdgeNumbers | None = None

    def degrees(self) -> tuple[Rows, dict[str, int]]:
        """How many edges each node has, and how many distinct values the columns of the table of edges have."""
        if self.known is not None:
            of_sources, of_targets = self.known.degrees
        else:
            of_sources, of_targets = (np.bincount(ends, minlength=self.nodes) for ends in (self.source, self.target))
        distinct = {"source": int(np.count_nonzero(of_sources)), "target": int(np.count_nonzero(of_targets))}
        return of_sources + of_targets, {**distinct, "relation": self.relations}


def read_edges(database: DatasetDatabase) -> Edges:
    """Number the nodes; the numbers of those that questions name, if there are such tables, stay in the database as the
    view ``node_numbers`` (name, number); of all of them, where they were not known before."""
    tables = [table for table in ("edges", "nodes") if table in database.tables]
    database.read(*tables)
    if (known := database.edge_numbers) is not None:
        listed = known.nodes - len(known.repeated)
        _name(database, known)
        nodes = listed + len(known.unlisted)
        return Edges(nodes, *known.ends, relations=known.relations, listed=listed, known=known)
    connection = database.load(*tables)
    index = _listed(connection, "nodes" in database.tables)
    listed = _count(connection, "node_numbers")
    ends = _ends(connection, index) if listed else None
    if ends is None:
        _add_unlisted(connection, listed)
        ends = _ends(connection, _numbered(connection, "node_numbers"))
        assert ends is not None
    connection.execute(
        "create or replace temp table relation_numbers as select relation as name, row_number() over () - 1 as number "
        f"from (select distinct coalesce(relation, '') as relation from main.edges {_WHOLE})"
    )
    relation = _numbers(connection, _numbered(connection, "relation_numbers"), "coalesce(relation, '')")
    return Edges(
        _count(connection, "node_numbers"), ends[0], ends[1], relation, _count(connection, "relation_numbers"), listed
    )


def _listed(connection: duckdb.DuckDBPyConnection, has_nodes: bool) -> NumpyIndex:
    """Number the nodes of the table of nodes, each name once, in order; their index."""
    whole = "select count(name) = count(*) and max(rowid) = count(*) - 1 from main.nodes"
    if has_nodes and connection.execute(whole).fetchall()[0][0]:
        _show(connection, _NODES)
        index = _numbered(connection, "node_numbers")
        if not len(index.repeats()[0]):
            return index
    connection.execute("create or replace temp table listed_nodes (name varchar, number integer)")
    if has_nodes:
        connection.execute(
            "insert into listed_nodes select name, row_number() over (order by place) - 1 "
            "from (select name, min(rowid) as place from main.nodes where name is not null group by name)"
        )
    _show(connection, "from temp.listed_nodes")
    return _numbered(connection, "node_numbers")


def _name(database: DatasetDatabase, known: EdgeNumbers) -> None:
    """The names of nodes that questions name, by their numbers."""
    from ragdatakit.arrays.text_codes import codes_of_texts

    named = (("start_nodes", "select node from main.start_nodes"), ("qrels", _TARGETS))
    there = [query for table, query in named if table in database.tables]
    if not there:
        return
    connection = database.load(*(table for table, _ in named if table in database.tables))
    connection.execute("create or replace temp table named_nodes (name varchar, number integer)")
    _show(connection, "from temp.named_nodes")
    found = connection.execute(f"select distinct name from ({' union all '.join(there)}) given(name)").fetchall()
    names = [name for (name,) in found if name is not None]
    columns = [packed(Kind.TEXT, names), packed_numbers(Kind.INTEGER, known.find(codes_of_texts(names)))]
    with incoming(connection, "given_nodes", {"name": Kind.TEXT, "number": Kind.INTEGER}, [columns]):
        connection.execute("insert into named_nodes select name, number from given_nodes where number >= 0")


def _show(connection: duckdb.DuckDBPyConnection, rows: str) -> None:
    connection.execute(f"create or replace temp view node_numbers as {rows}")


_NODES = "select name, rowid::integer as number from main.nodes"
_TARGETS = "select target_id from main.qrels where target_kind = 'node' and grade > 0"
_WHOLE = "where source is not null and target is not null"


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    return int(connection.execute(f"select count(*) from {table}").fetchall()[0][0])


def _ends(connection: duckdb.DuckDBPyConnection, index: NumpyIndex) -> list[Numbers] | None:
    """The numbers of sources and targets; None where one of them has none yet."""
    found = [_numbers(connection, index, end) for end in ("source", "target")]
    return None if any(len(numbers) and numbers.min() < 0 for numbers in found) else found


def _numbered(connection: duckdb.DuckDBPyConnection, table: str) -> NumpyIndex:
    """The names of a table by their numbers, by codes of 128 bits."""
    from ragdatakit.arrays.keys import NumpyIndex

    index = NumpyIndex(lookups=True, integers=False)
    known = _codes(connection, f"select name as text from {table} order by number")
    index.add(known, range(len(known)))
    index.freeze()
    return index


def _numbers(connection: duckdb.DuckDBPyConnection, index: NumpyIndex, column: str) -> Numbers:
    """The numbers of what is in a column of the edges, -1 for what has none."""
    asked = _codes(connection, f"select {column} as text from main.edges {_WHOLE}")
    numbers = np.empty(len(asked), np.int32)
    for first in range(0, len(asked), _AT_ONCE):  # a part at a time stays in the processor's cache
        numbers[first : first + _AT_ONCE] = index.find(asked[first : first + _AT_ONCE])
    return numbers


def _codes(connection: duckdb.DuckDBPyConnection, texts: str) -> Codes:
    """Codes of the texts that a query gives: the compiled library's, or DuckDB's."""
    from ragdatakit.arrays.codes import WIDE
    from ragdatakit.database.text_batches import text_batches
    from ragdatakit.files.paths.sql_text import hash_expression
    from ragdatakit.scanner.blocks import text_codes

    if library() is not None:
        found = [text_codes(batch.data, batch.offsets) for batch in text_batches(connection, texts)]
        return np.concatenate(found) if found else np.empty(0, WIDE)
    halves = f"{hash_expression('text')} as first, {hash_expression('text', 'ab')} as second"
    given = connection.execute(f"select {halves} from ({texts})").fetchnumpy()
    codes = np.empty(len(given["first"]), WIDE)
    for name in WIDE.names or ():
        codes[name] = given[name]
    return codes


def _add_unlisted(connection: duckdb.DuckDBPyConnection, listed: int) -> None:
    """Number the names that only edges have, in the order in which they come."""
    connection.execute(
        f"""
        create or replace temp table named_nodes as
        select name, number from node_numbers
        union all
        select name, {listed} + row_number() over (order by place) - 1
        from (
            select name, min(place) as place
            from (
                select source as name, rowid * 2 as place from main.edges {_WHOLE}
                union all select target, rowid * 2 + 1 from main.edges {_WHOLE}
            )
            where name not in (select name from node_numbers) group by name
        )
        """
    )
    _show(connection, "from temp.named_nodes")


def graph_summary(
    database: DatasetDatabase, edges: Edges, degrees: Rows
) -> tuple[GraphSummary, list[Distribution], list[Note]]:
    """The shape of the graph, the edges per node, and what is worth a note."""

    from ragdatakit.arrays.graphs import NumpyGraph

    graph = NumpyGraph(edges.nodes, edges.source, edges.target, edges.relation)
    parts = graph.components()
    isolated = edges.nodes - int(np.count_nonzero(degrees))
    loops = len(graph.self_loops())
    repeated = graph.repeated_edges()
    reachable, asked, notes = _reachable(database, graph)
    found = GraphSummary(
        nodes=edges.nodes,
        edges=len(edges.source),
        relations=edges.relations,
        components=parts.count,
        largest_component=parts.largest,
        isolated=isolated,
        self_loops=loops,
        parallel_edges=len(repeated.duplicates),
        hubs=_hubs(database, degrees),
        reachable=reachable,
        questions=asked,
    )
    degree = of_numbers(degrees, "nodes.degree", "Edges per node", "edges")
    if edges.nodes > edges.listed and "nodes" in database.tables:
        number = edges.nodes - edges.listed
        words = f"{number:,} node{'s appear' if number != 1 else ' appears'} in edges and not in the table of nodes"
        notes.append(Note("graph.unlisted", words, number, "warning"))
    if isolated:
        words = f"{isolated:,} of {edges.nodes:,} nodes {'has' if isolated == 1 else 'have'} no edge"
        notes.append(Note("graph.isolated", words, isolated, "warning" if isolated * 10 > edges.nodes else "info"))
    return found, [degree] if degree is not None else [], notes


def _hubs(database: DatasetDatabase, degrees: npt.NDArray[np.int64]) -> tuple[Hub, ...]:
    """The nodes with most edges; of several with as many the first."""
    most = min(MOST_HUBS, len(degrees))
    if not most:
        return ()
    least = np.partition(degrees, -most)[-most]
    above = np.flatnonzero(degrees > least)
    chosen = np.concatenate((above, np.flatnonzero(degrees == least)[: most - len(above)]))
    chosen = chosen[np.lexsort((chosen, -degrees[chosen]))]
    named = _named(database, np.sort(chosen))
    return tuple(Hub(named[n][0], int(degrees[n]), named[n][1]) for n in chosen.tolist() if degrees[n])


def _named(database: DatasetDatabase, numbers: Rows) -> dict[int, tuple[str, str | None]]:
    """The names and types of some nodes, in order."""
    if (known := database.edge_numbers) is not None:
        rows, unlisted = (found.tolist() for found in known.rows_of(numbers))
        nodes = database.rows_at("nodes", {"name": "name", "type": "type"}, rows) if rows else {}
        ends = {"source": "source", "target": "target"}
        edges = database.rows_at("edges", ends, {place // 2 for place in unlisted}) if unlisted else {}
        named = [(nodes[row]["name"], nodes[row]["type"]) for row in rows]
        named += [(edges[place // 2]["target" if place % 2 else "source"], None) for place in unlisted]
        return dict(zip(numbers.tolist(), named, strict=True))
    kind = "null"
    if "nodes" in database.tables:
        kind = "(select arg_min(type, n.rowid) from main.nodes n where n.name = k.name)"
    listed = ", ".join(map(str, numbers.tolist()))
    query = f"select number, name, {kind} from node_numbers k where number in ({listed})"
    return {number: (name, kind) for number, name, kind in database.load().execute(query).fetchall()}


def _reachable(database: DatasetDatabase, graph: NumpyGraph) -> tuple[dict[int, float], int, list[Note]]:
    """The share of questions with start nodes and targets all of whose targets are near enough to a start."""
    if "start_nodes" not in database.tables or "qrels" not in database.tables:
        return {}, 0, []
    connection = database.load("start_nodes", "qrels")
    query = """
        with starts as (
            select question_id, list(coalesce(number, -1)) as nodes
            from (select distinct question_id, node from main.start_nodes) left join node_numbers on name = node
            group by question_id
        ), targets as (
            select question_id, list(coalesce(number, -1)) as nodes
            from (select distinct question_id, target_id from main.qrels where target_kind = 'node' and grade > 0)
            left join node_numbers on name = target_id group by question_id
        )
        select starts.nodes, targets.nodes from starts join targets using (question_id) order by question_id
    """
    found = connection.execute(query).fetchall()
    if not found:
        return {}, 0, []
    notes = []
    if len(found) > _MOST_QUESTIONS:
        chosen = [found[round(n * (len(found) - 1) / (_MOST_QUESTIONS - 1))] for n in range(_MOST_QUESTIONS)]
        words = f"reachability is that of {len(chosen):,} of {len(found):,} questions, evenly spread by id"
        notes.append(Note("sampled.graph.reachable", words, len(chosen)))
        found = chosen
    starts, targets = [row[0] for row in found], [row[1] for row in found]
    known = [
        any(node >= 0 for node in begin) and all(node >= 0 for node in end)
        for begin, end in zip(starts, targets, strict=True)
    ]
    shares = {}
    for hops in HOPS:
        missed = graph.unreachable(starts, targets, hops)
        reached = sum(usable and not away for usable, away in zip(known, missed, strict=True))
        shares[hops] = reached / len(found)
    return shares, len(found), notes
