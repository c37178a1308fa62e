"""The part of a graph that a page takes along: the neighbours of what has most edges and of what questions ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.schemas.neighbourhoods import Neighbourhoods, NodeAround, NodeNeighbour
from ragdatakit.schemas.texts import shortened

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.database.dataset_database import DatasetDatabase

_MOST_EDGES, _MOST_NODES = 5000, 5000
_HUBS, _ASKED, _EACH = 150, 100, 24
"""Hubs, start nodes and targets (of each so many) whose edges are taken, and how many edges of each."""
_AROUND, _MOST_AROUND = 400, 40
"""Edges of a node that was asked for, that a page takes along and that are listed."""
_DESCRIPTION, _LONGEST = "coalesce(object ->> '$.description', object ->> '$.summary')", 300
_SIMILAR = 5


def find_node(database: DatasetDatabase, name: str) -> tuple[str, list[str]]:
    """The node that is called so, whatever its case and quotes; or an empty name, and what some others are called."""
    if "edges" not in database.tables:
        return "", []
    wanted = [table for table in ("edges", "nodes") if table in database.tables]
    at = database.load(*wanted).cursor()
    every = "select source as name from main.edges union all select target from main.edges"
    every += " union all select name from main.nodes" if "nodes" in wanted else ""
    query = f"""select name, count(*) as edges, name = ? as exact, trim(lower(name), '"') = trim(lower(?), '"') as alike
                from ({every}) where contains(lower(name), trim(lower(?), '"')) group by name
                order by exact desc, alike desc, edges desc, name limit {_SIMILAR}"""
    rows = at.execute(query, [name, name, name]).fetchall()
    at.close()
    if rows and (rows[0][2] or rows[0][3]):
        return rows[0][0], []
    return "", [row[0] for row in rows]


def read_node(database: DatasetDatabase, name: str) -> NodeAround:
    """A node with its first neighbours."""
    wanted = [table for table in ("edges", "nodes", "communities") if table in database.tables]
    at = database.load(*wanted).cursor()
    kind = text = None
    types = {}
    edges = """select source, target, coalesce(relation, '') as relation, rowid as place from main.edges
               where (source = ? or target = ?) and source is not null and target is not null"""
    rows = at.execute(f"{edges} order by place limit {_MOST_AROUND}", [name, name]).fetchall()
    near = [(target if source == name else source, relation, source == name) for source, target, relation, _ in rows]
    if "nodes" in wanted:
        query = f"""select name, first(type), first({_DESCRIPTION}) from (
                      select name, type, case when json_valid(attributes) then attributes end as object from main.nodes
                    ) where name in (select unnest(?::varchar[])) group by name"""
        found = {n: (t, d) for n, t, d in at.execute(query, [[name, *(n for n, _, _ in near)]]).fetchall()}
        types = {n: t for n, (t, _) in found.items()}
        kind, text = found.get(name, (None, None))
    communities: list[str] = []
    if "communities" in wanted:
        query = (
            "select coalesce(title, community_id) from main.communities where list_contains(members, ?) order by level"
        )
        communities = [title for (title,) in at.execute(query, [name]).fetchall()]
    degree = _counted(at, f"select count(*) + count(*) filter (source = target) from ({edges})", [name, name])
    at.close()
    return NodeAround(
        name,
        kind,
        shortened(text, _LONGEST * 4) if text else None,
        degree,
        tuple(NodeNeighbour(other, relation, forward, types.get(other)) for other, relation, forward in near),
        tuple(communities),
    )


def _counted(at: duckdb.DuckDBPyConnection, query: str, values: list[str]) -> int:
    row = at.execute(query, values).fetchone()
    return int(row[0]) if row else 0


def read_neighbourhoods(database: DatasetDatabase, node: str = "") -> Neighbourhoods | None:
    """The graph of a dataset, whole where it has at most 5,000 nodes and edges; None where it has none.

    Of a larger one: edges of ``node``, the one to begin with, of the nodes with the most edges and of the first start
    and target nodes of questions, then edges between the nodes that came along, 5,000 in all. The same graph gives the
    same part.
    """
    if "edges" not in database.tables:
        return None
    wanted: list[str] = [name for name in ("edges", "nodes", "start_nodes", "qrels") if name in database.tables]
    at = database.load(*wanted).cursor()
    try:
        return _read(at, wanted, node)
    finally:
        at.close()


def _read(at: duckdb.DuckDBPyConnection, tables: list[str], node: str) -> Neighbourhoods | None:
    at.execute(
        """create or replace temp table walk_degrees as select name, count(*) as degree from (
             select source as name from main.edges where target is not null
             union all select target from main.edges where source is not null
           ) where name is not null group by name"""
    )
    all_edges = _number(at, "select count(*) from main.edges where source is not null and target is not null")
    if not all_edges:
        return None
    lone = "select name from main.nodes where name is not null except select name from walk_degrees"
    without = _number(at, f"select count(*) from ({lone})") if "nodes" in tables else 0
    all_nodes = _number(at, "select count(*) from walk_degrees") + without
    marks = _marks(at, tables)
    if all_edges <= _MOST_EDGES and all_nodes <= _MOST_NODES:
        edges = at.execute(
            "select source, coalesce(relation, ''), target from main.edges "
            "where source is not null and target is not null order by rowid"
        ).fetchall()
        others = at.execute(f"select name from ({lone}) order by name").fetchall() if without else []
    else:
        edges, others = _part(at, marks, node), []
    names = list(dict.fromkeys([n for source, _, target in edges for n in (source, target)] + [n for (n,) in others]))
    relations = list(dict.fromkeys(relation for _, relation, _ in edges))
    ordinals, kinds = _ordinals(names), _ordinals(relations)
    at.execute("create or replace temp table walk_names (name varchar)")
    _insert(at, names)
    degrees = dict(at.execute("select name, degree from walk_degrees semi join walk_names using (name)").fetchall())
    types = {}
    texts: dict[str, str] = {}
    if "nodes" in tables:
        of = "select name, first(type order by rowid) from main.nodes semi join walk_names using (name) group by name"
        types = dict(at.execute(of).fetchall())
        texts = _descriptions(at)
    at.execute("drop table walk_names; drop table walk_degrees")
    return Neighbourhoods(
        names=tuple(names),
        degrees=tuple(degrees.get(name, 0) for name in names),
        types=tuple(types.get(name) for name in names),
        marks=tuple(marks.get(name, "") for name in names),
        relations=tuple(relations),
        edges=tuple((ordinals[s], kinds[r], ordinals[t]) for s, r, t in edges),
        all_nodes=all_nodes,
        all_edges=all_edges,
        texts={ordinals[name]: text for name, text in texts.items()},
        first=node if node in ordinals else "",
    )


def _descriptions(at: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """What the graph says of the nodes of the page."""
    query = f"""select name, left(first({_DESCRIPTION} order by place), {_LONGEST + 1}) from (
                  select rowid as place, name, case when json_valid(attributes) then attributes end as object
                  from main.nodes semi join walk_names using (name)
                ) group by name"""
    return {name: shortened(text, _LONGEST) for name, text in at.execute(query).fetchall() if text}


def _insert(at: duckdb.DuckDBPyConnection, names: list[str]) -> None:
    at.execute("insert into walk_names select unnest(?::varchar[])", [names])


def _ordinals(names: list[str]) -> dict[str, int]:
    return {name: n for n, name in enumerate(names)}


def _number(at: duckdb.DuckDBPyConnection, query: str) -> int:
    row = at.execute(query).fetchone()
    return int(row[0]) if row else 0


def _marks(at: duckdb.DuckDBPyConnection, tables: list[str]) -> dict[str, str]:
    """The first start nodes and targets of questions."""
    found: dict[str, str] = {}
    for table, column, word, where in (
        ("start_nodes", "node", "start", "true"),
        ("qrels", "target_id", "target", "target_kind = 'node'"),
    ):
        if table not in tables:
            continue
        rows = at.execute(
            f"""select {column} from (select {column}, min(rowid) as place from main.{table}
                where {where} and {column} is not null group by 1) order by place limit {_MOST_NODES}"""
        ).fetchall()
        for (name,) in rows:
            found[name] = "start, target" if found.get(name, word) != word else word
    return found


def _part(at: duckdb.DuckDBPyConnection, marks: dict[str, str], node: str) -> list[tuple[str, str, str]]:
    """Edges of the seeds, one of each after the other; then edges between the nodes that have come along."""
    most = f"select name from walk_degrees order by degree desc, name limit {_HUBS}"
    hubs = [n for (n,) in at.execute(most).fetchall()]
    asked = [n for word in ("start", "target") for n in [n for n, mark in marks.items() if word in mark][:_ASKED]]
    in_turns = [n for pair in zip(hubs, asked, strict=False) for n in pair]
    seeds = list(dict.fromkeys([*([node] if node else []), *in_turns, *hubs, *asked]))
    at.execute("create or replace temp table walk_seeds as select unnest(?::varchar[]) as name", [seeds])
    at.execute(
        f"""create or replace temp table walk_edges as
            select id, min(turn) as turn, min(seed) as seed from (
              select id, seed, row_number() over (partition by seed order by id) as turn from (
                select e.rowid as id, s.rowid as seed from main.edges e join walk_seeds s on e.source = s.name
                where e.target is not null
                union all select e.rowid, s.rowid from main.edges e join walk_seeds s on e.target = s.name
                where e.source is not null and e.source <> e.target
              ) qualify turn <= case when seed = 0 and {bool(node)} then {_AROUND} else {_EACH} end
            ) group by id"""
    )
    edges = at.execute(
        f"""select source, coalesce(relation, ''), target from main.edges e join walk_edges w on e.rowid = w.id
            order by turn, seed, id limit {_MOST_EDGES}"""
    ).fetchall()
    room = _MOST_EDGES - len(edges)
    if room > 0:
        at.execute("create or replace temp table walk_names (name varchar)")
        _insert(at, list({n for source, _, target in edges for n in (source, target)}))
        edges += at.execute(
            f"""select source, coalesce(relation, ''), target from main.edges e
                where source in (select name from walk_names) and target in (select name from walk_names)
                and rowid not in (select id from walk_edges) order by rowid limit {room}"""
        ).fetchall()
    at.execute("drop table walk_seeds; drop table walk_edges")
    return edges
