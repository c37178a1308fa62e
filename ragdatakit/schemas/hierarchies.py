"""Texts made of texts: communities with their reports, or trees of summaries; as much of them as a report shows."""

from __future__ import annotations

from typing import Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.bounds import Signed


@dataclass(frozen=True, slots=True)
class HierarchyNode:
    """A node that is shown: a community with its report, a summary, or a chunk at the bottom of a tree.

    ``text`` and ``title`` are cut. ``size`` counts the members of a community, ``rank`` is how important its report
    says that it is; both are null where the dataset does not show. ``children`` are all nodes directly below it and
    ``leaves`` the chunks that it names itself. ``parent`` is the position of the node that it is drawn below (null: it
    is a root), ``parents`` how many it has.
    """

    node_id: str
    level: Signed
    text: str
    title: str | None = None
    size: int | None = None
    rank: float | None = None
    children: int = 0
    leaves: int = 0
    parent: int | None = None
    parents: int = 0


@dataclass(frozen=True, slots=True)
class HierarchyLevel:
    """The nodes of one level: how many there are, how many have a text, and how large they are.

    ``smallest``, ``median`` and ``largest`` count members, or children where sizes are not known; null where there are
    neither. ``examples`` are the positions of the largest that are shown.
    """

    level: Signed
    nodes: int
    with_text: int
    smallest: int | None = None
    median: float | None = None
    largest: int | None = None
    examples: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The hierarchy of a dataset. Levels of ``communities`` count from the coarsest, those of a ``tree`` from its
    leaves, which are chunks and have level 0.

    ``nodes`` are those that are shown, each behind its parent; ``all_nodes`` counts all, ``roots`` those without a
    parent. ``unreached`` counts chunks that no summary of a tree names, ``shared`` the nodes with several parents.
    ``measure`` is what sizes count.
    """

    kind: Literal["communities", "tree"]
    levels: tuple[HierarchyLevel, ...]
    nodes: tuple[HierarchyNode, ...]
    all_nodes: int
    roots: int
    unreached: int = 0
    shared: int = 0
    measure: Literal["entities", "children"] = "children"

    @property
    def counted(self) -> str:
        """What its nodes are called."""
        return "communities" if self.kind == "communities" else "nodes"
