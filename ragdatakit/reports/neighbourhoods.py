"""The part of a graph that a page takes along: the neighbours of what has most edges and of what questions ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.schemas.neighbourhoods import Neighbourhoods

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.database.dataset_database import DatasetDatabase

_MOST_EDGES, _MOST_NODES = 5000, 5000
_HUBS, _ASKED, _EACH = 150, 100, 24
"""Hubs, start nodes and targets (of each so many) whose edges are taken, and how many edges of each."""


def read_neighbourhoods(database: DatasetDatabase) -> Neighbourhoods | None:
    """The graph of a dataset, whole where it has at most 5,000 nodes and edges; None where it has none.

    Of a larger one: edges of the nodes with the most edges and of the first start and target nodes of questions, then
    edges between the nodes that came along, 5,000 in all. The same graph gives the same part.
    """
    if "edges" not in database.tables:
        return None
    wanted: list[str] = [name for name in ("edges", "nodes", "start_nodes", "qrels") if name in database.tables]
    at = database.load(*wanted).cursor()
    try:
        return _read(at, wanted)
    finally:
        at.close()


def _read(at: duckdb.DuckDBPyConnection, tables: list[str]) -> Neighbourhoods | None:
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
        edges, others = _part(at, marks), []
    names = list(dict.fromkeys([n for source, _, target in edges for n in (source, target)] + [n for (n,) in others]))
    relations = list(dict.fromkeys(relation for _, relation, _ in edges))
    ordinals, kinds = _ordinals(names), _ordinals(relations)
    at.execute("create or replace temp table walk_names (name varchar)")
    _insert(at, names)
    degrees = dict(at.execute("select name, degree from walk_degrees semi join walk_names using (name)").fetchall())
    types = {}
    if "nodes" in tables:
        of = "select name, first(type order by rowid) from main.nodes semi join walk_names using (name) group by name"
        types = dict(at.execute(of).fetchall())
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
    )


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


def _part(at: duckdb.DuckDBPyConnection, marks: dict[str, str]) -> list[tuple[str, str, str]]:
    """Edges of the seeds, one of each after the other; then edges between the nodes that have come along."""
    most = f"select name from walk_degrees order by degree desc, name limit {_HUBS}"
    hubs = [n for (n,) in at.execute(most).fetchall()]
    asked = [n for word in ("start", "target") for n in [n for n, mark in marks.items() if word in mark][:_ASKED]]
    seeds = list(dict.fromkeys([n for pair in zip(hubs, asked, strict=False) for n in pair] + hubs + asked))
    at.execute("create or replace temp table walk_seeds as select unnest(?::varchar[]) as name", [seeds])
    at.execute(
        f"""create or replace temp table walk_edges as
            select id, min(turn) as turn, min(seed) as seed from (
              select id, seed, row_number() over (partition by seed order by id) as turn from (
                select e.rowid as id, s.rowid as seed from main.edges e join walk_seeds s on e.source = s.name
                where e.target is not null
                union all select e.rowid, s.rowid from main.edges e join walk_seeds s on e.target = s.name
                where e.source is not null and e.source <> e.target
              ) qualify turn <= {_EACH}
            ) group by id"""
    )
    edges = at.execute(
        f"""select source, coalesce(relation, ''), target from main.edges e join walk_edges w on e.rowid = w.id
            order by turn, seed limit {_MOST_EDGES}"""
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
