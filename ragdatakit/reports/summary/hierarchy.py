"""The hierarchy of a dataset: its communities with their reports, or the tree of its summaries; its levels in numbers,
and the part of it that can be shown.

Communities name their parent; those of old versions, which do not, lie in the community of the level above that has
their first member. Summaries make a tree by their children, down to chunks. Levels decide which way a link goes, so
that no circle is drawn.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.summary.hierarchy_queries import (
    CHILDREN,
    COMMUNITIES,
    GIVEN,
    GIVEN_CHILDREN,
    KEYS,
    LEAVES,
    NO_REPORTS,
    PARENTS,
    READ_CHILDREN,
    REPORTS,
    SIZE,
    SUMMARIES,
)
from ragdatakit.reports.summary.shown_texts import beginnings_at
from ragdatakit.schemas.hierarchies import Hierarchy, HierarchyLevel, HierarchyNode

if TYPE_CHECKING:
    import duckdb
    import numpy.typing as npt

    from ragdatakit.database.dataset_database import DatasetDatabase

    Numbers = npt.NDArray[np.int64]

_ROWS, _EACH, _DEEP = 64, 20, 8
"""Rows of the picture, children of one node and levels that are shown at most."""
_TEXT, _TITLE = 1200, 160
_LARGEST = 3


def read_hierarchy(database: DatasetDatabase) -> Hierarchy | None:
    """The communities, else the summaries; None where there are neither."""
    wanted = [name for name in ("communities", "summaries", "chunks") if _has(database, name)]
    if not {"communities", "summaries"} & set(wanted):
        return None
    if "communities" in wanted:
        wanted = [name for name in wanted if name != "chunks"]  # which are not drawn then
    at = database.load(*wanted).cursor()
    try:
        return _Reading(database, at, wanted).run()
    finally:
        at.close()


def _has(database: DatasetDatabase, table: str) -> bool:
    return table in database.tables and database.count(table) > 0


@dataclass(frozen=True, slots=True)
class _Links:
    """Children by parent: those of node n are ``target[starts[n]:starts[n + 1]]``, in the order of the dataset."""

    starts: Numbers
    target: Numbers
    parents: Numbers

    def of(self, node: int) -> list[int]:
        """The children of a node."""
        found: list[int] = self.target[self.starts[node] : self.starts[node + 1]].tolist()
        return found


class _Reading:
    def __init__(self, database: DatasetDatabase, at: duckdb.DuckDBPyConnection, tables: Sequence[str]) -> None:
        self._database = database
        self._at = at
        self._tables = tables
        self.kind: Literal["communities", "tree"] = "communities" if "communities" in tables else "tree"

    def run(self) -> Hierarchy:
        at = self._at
        if self.kind == "tree":
            at.execute(SUMMARIES)
        else:
            at.execute(self._communities())
        columns = at.execute("select level, size, filled from tree_nodes order by n").fetchnumpy()
        self._above = len(columns["level"])
        self._levels: Numbers = columns["level"].astype(np.int64)
        self._filled = columns["filled"].astype(bool)
        leaves = self._add_leaves()
        sizes = np.ma.filled(np.ma.asarray(columns["size"]).astype(np.float64), np.nan)
        self._sizes = np.concatenate([sizes, np.full(leaves, np.nan)])
        self._links = self._read_links()
        counts = np.diff(self._links.starts)
        measured = bool(np.isfinite(self._sizes).any())
        self._weights = np.where(np.isfinite(self._sizes), self._sizes, 0.0) if measured else self._below()
        roots = np.flatnonzero(self._links.parents == 0)
        unreached = int((roots >= self._above).sum())
        roots = roots[roots < self._above] if self._above else roots
        order, parents = self._choose(roots)
        nodes = self._nodes_shown(order, parents, counts)
        at.execute("drop table tree_nodes")
        return Hierarchy(
            self.kind,
            tuple(self._levels_of(nodes, counts, measured)),
            nodes,
            len(self._levels),
            len(roots),
            unreached,
            int((self._links.parents > 1).sum()),
            "entities" if measured else "children",
        )

    def _communities(self) -> str:
        """The statement that makes nodes of communities and their reports."""
        size = self._database.members("communities", "attributes").get(SIZE, f"try(attributes ->> '$.{SIZE}')")
        reports = NO_REPORTS
        if "summaries" in self._tables:
            known = self._database.members("summaries", "metadata")
            names = [known.get(key, f"found[{place}]") for place, key in enumerate(KEYS, start=1)]
            given = ", ".join(names) if len(known) == len(KEYS) else GIVEN
            reports = REPORTS.format(*names, given=given)
        return COMMUNITIES.format(reports=reports, size=size)

    def _add_leaves(self) -> int:
        """The chunks at the bottom of a tree; those of communities are not drawn."""
        if "chunks" not in self._tables or self.kind == "communities":
            return 0
        self._at.execute(LEAVES, [self._above])
        found = self._at.execute("select filled from tree_nodes where n >= ? order by n", [self._above]).fetchnumpy()
        leaves = len(found["filled"])
        self._levels = np.concatenate([self._levels, np.zeros(leaves, np.int64)])
        self._filled = np.concatenate([self._filled, found["filled"].astype(bool)])
        return leaves

    def _read_links(self) -> _Links:
        query = PARENTS
        if self.kind == "tree":
            query = CHILDREN.format(children=self._children(), above=self._above)
        found = self._at.execute(f"select distinct p, c from ({query}) order by p, c").fetchnumpy()
        source, target = found["p"].astype(np.int64), found["c"].astype(np.int64)
        down = self._levels[source] > self._levels[target]
        keep = down if self.kind == "tree" else self._levels[source] < self._levels[target]
        source, target = source[keep], target[keep]
        count = len(self._levels)
        starts = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=count))])
        return _Links(starts, target, np.bincount(target, minlength=count))

    def _children(self) -> str:
        """A query of the children of the summaries, which are read again where the table has something else: as it does
        where there should be communities, of which nothing can be read."""
        if not self._database.has_others("summaries", "children"):
            return GIVEN_CHILDREN
        rows = self._database.rows_at("summaries", {"children": "children"}, range(self._database.count("summaries")))
        self._at.execute(READ_CHILDREN, [[*rows], [row["children"] for row in rows.values()]])
        return "from temp.tree_children"

    def _below(self) -> npt.NDArray[np.float64]:
        """How many nodes are below each, those with several parents counted with each of them."""
        weights = np.zeros(len(self._levels))
        source = np.repeat(np.arange(len(self._levels)), np.diff(self._links.starts))
        for level in np.unique(self._levels[source]):
            here = self._levels[source] == level
            np.add.at(weights, source[here], 1 + weights[self._links.target[here]])
        return weights

    def _heaviest(self, nodes: Sequence[int], most: int) -> list[int]:
        """The nodes with the greatest weight; those of a tree in the order of their text, where all fit."""
        if len(nodes) <= most and self.kind == "tree":
            return list(nodes)
        return heapq.nsmallest(most, nodes, key=lambda n: (-self._weights[n], n))

    def _choose(self, roots: Numbers) -> tuple[list[int], list[int]]:
        """The nodes to show, parents before children, and the position of each one's parent (-1: none).

        The heaviest nodes are opened first, as long as there are rows for what is in them.
        """
        by_weight = roots[np.lexsort((roots, -self._weights[roots]))]
        shown = by_weight[: _ROWS - 1 if len(by_weight) > _ROWS else _ROWS].tolist()
        order, parents, depths = list(shown), [-1] * len(shown), [0] * len(shown)
        rows = len(shown) + (len(shown) < len(by_weight))
        seen = set(shown)
        queue = [(-self._weights[node], place) for place, node in enumerate(shown)]
        heapq.heapify(queue)
        while queue:
            _, place = heapq.heappop(queue)
            children = [c for c in self._links.of(order[place]) if c not in seen]
            room = _ROWS - rows + 1  # the first child is in the row of its parent
            if not children or depths[place] + 1 >= _DEEP or room < min(len(children), 2):
                continue
            best = self._heaviest(children, min(_EACH, room if len(children) <= room else room - 1))
            rows += len(best) - 1 + (len(best) < len(children))
            for child in best:
                seen.add(child)
                heapq.heappush(queue, (-self._weights[child], len(order)))
                order.append(child)
                parents.append(place)
                depths.append(depths[place] + 1)
        return order, parents

    def _nodes_shown(self, order: list[int], parents: list[int], counts: Numbers) -> tuple[HierarchyNode, ...]:
        rows = self._at.execute(
            f"""select n, id, left(title, {_TITLE + 1}), size, rank, leaves
                from tree_nodes where n in (select unnest(?::bigint[]))""",
            [order],
        ).fetchall()
        texts = self._texts(order)
        by_number = {row[0]: row[1:] for row in rows}
        found = []
        for node, parent in zip(order, parents, strict=True):
            name, title, size, rank, leaves = by_number[node]
            text = texts.get(node)
            found.append(
                HierarchyNode(
                    name,
                    int(self._levels[node]),
                    _cut(text or "", _TEXT),
                    _cut(title or _heading(text or ""), _TITLE) or None,
                    size,
                    rank,
                    int(counts[node]),
                    leaves or 0,
                    parent if parent >= 0 else None,
                    int(self._links.parents[node]),
                )
            )
        return tuple(found)

    def _texts(self, order: list[int]) -> dict[int, str]:
        """The texts of nodes, cut."""
        query = (
            "select place, n from tree_nodes where n in (select unnest(?::bigint[])) and place is not null order by 1"
        )
        given = self._at.execute(query, [order]).fetchall()
        found: dict[int, str] = {}
        for table, is_leaf in (("summaries", False), ("chunks", True)):
            nodes = [(place, n) for place, n in given if (n >= self._above) is is_leaf]
            places = np.array([place for place, _ in nodes], np.int64)
            texts = beginnings_at(self._database, table, "text", places, _TEXT + 1) if nodes else ()
            found |= {n: text for (_, n), (_, text) in zip(nodes, texts, strict=True) if text is not None}
        return found

    def _levels_of(self, nodes: Sequence[HierarchyNode], counts: Numbers, measured: bool) -> list[HierarchyLevel]:
        shown: dict[int, list[int]] = {}
        for place, node in enumerate(nodes):
            shown.setdefault(node.level, []).append(place)
        levels = []
        for level in sorted(set(self._levels.tolist()), reverse=self.kind == "tree"):
            here = self._levels == level
            values = self._sizes[here] if measured else counts[here].astype(np.float64)
            values = values[np.isfinite(values)]
            spread = bool(values.any())
            levels.append(
                HierarchyLevel(
                    level,
                    int(here.sum()),
                    int(self._filled[here].sum()),
                    int(values.min()) if spread else None,
                    float(np.median(values)) if spread else None,
                    int(values.max()) if spread else None,
                    tuple(sorted(shown.get(level, ()), key=lambda place: _importance(nodes[place]))[:_LARGEST])
                    if spread
                    else (),
                )
            )
        return levels


def _importance(node: HierarchyNode) -> tuple[Any, ...]:
    return -(node.size or 0), -(node.rank or 0.0), -node.children


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _heading(text: str) -> str:
    """The first line of a report, where it is a heading."""
    first = text.lstrip().partition("\n")[0]
    return first.lstrip("# ").strip() if first.startswith("#") else ""
