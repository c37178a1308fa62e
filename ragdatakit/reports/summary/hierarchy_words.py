"""What is said of a hierarchy, whatever shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragdatakit.schemas.hierarchies import Hierarchy, HierarchyLevel, HierarchyNode


@dataclass(frozen=True, slots=True)
class LevelWords:
    """A level in words: the smallest, median and largest of its sizes (empty where there are none), and positions and
    names of the largest nodes that are shown."""

    name: str
    nodes: int
    sizes: tuple[str, str, str]
    examples: tuple[tuple[int, str], ...]


def section_title(found: Hierarchy) -> str:
    """What the part of a report is called."""
    return "Communities" if found.kind == "communities" else "Tree of summaries"


def level_word(found: Hierarchy, level: int) -> str:
    """What a level is called."""
    if found.kind == "tree" and level == 0:
        return "Leaves"
    return f"Level {level}" if found.kind == "communities" else f"Layer {level}"


def levels_of(found: Hierarchy) -> Iterator[LevelWords]:
    """The levels, from the top."""
    for level in found.levels:
        examples = tuple((place, node_name(found.nodes[place])) for place in level.examples)
        yield LevelWords(level_word(found, level.level), level.nodes, _sizes(level), examples)


def _sizes(level: HierarchyLevel) -> tuple[str, str, str]:
    if level.smallest is None or level.largest is None or level.median is None:
        return "", "", ""
    return f"{level.smallest:,}", f"{level.median:,.6g}", f"{level.largest:,}"


def node_name(node: HierarchyNode) -> str:
    """The title of a node, else how its text begins, else its id."""
    return node.title or " ".join(node.text.split())[:200] or node.node_id


def node_size(found: Hierarchy, node: HierarchyNode) -> str:
    """How large a community is; empty where that is not known."""
    return f"{node.size:,}" if found.kind == "communities" and node.size is not None else ""


def hierarchy_words(found: Hierarchy) -> Iterator[str]:
    """Sentences about the whole: how many nodes there are, and what is odd."""
    if found.kind == "communities":
        words = f"{many(found.all_nodes, 'community', 'communities')} on {many(len(found.levels), 'level')}"
        words += f", {found.roots:,} of them part of no other" if found.roots < found.all_nodes else ""
    else:
        layers = sum(level.level > 0 for level in found.levels)
        leaves = next((level.nodes for level in found.levels if level.level == 0), 0)
        words = f"{many(found.all_nodes - leaves, 'summary', 'summaries')} in {many(layers, 'layer')} above "
        words += many(leaves, "leaf", "leaves")
    yield f"{words}."
    without = found.all_nodes - sum(level.with_text for level in found.levels)
    if without and found.kind == "communities":
        yield f"{many(without, 'community', 'communities')} without a report."
    if found.unreached:
        yield f"{many(found.unreached, 'chunk')} below no summary: retrieval by traversal cannot find them."
    if found.shared:
        yield f"{many(found.shared, 'node')} below several others; each is drawn once."


def left_out_words(found: Hierarchy) -> str:
    """A sentence about the nodes of which a page has no more than a number; empty where it has all."""
    shown, left = len(found.nodes), found.all_nodes - found.unreached - len(found.nodes)
    if not left:
        return ""
    return f"{shown:,} of them {'is' if shown == 1 else 'are'} shown, {left:,} {'is' if left == 1 else 'are'} not."
