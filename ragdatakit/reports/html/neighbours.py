"""The view in which one walks through a graph: the data for the script of the page, bounded, and its controls."""

from __future__ import annotations

from typing import Any

from ragdatakit.reports.html.parts import data_block, escape, json_text
from ragdatakit.reports.summary.words import labelled
from ragdatakit.schemas.neighbourhoods import Neighbourhoods
from ragdatakit.schemas.texts import many, shortened

_NAME = 200


def walk(graph: Neighbourhoods, identity: str, most_bytes: int, level: int = 3) -> str:
    """The controls and the data. Edges that would make it larger than ``most_bytes`` are left out, the last first."""
    shown = _fitting(graph, most_bytes)
    head = f"{escape(identity)}-heading"
    label = f"{escape(identity)}-input"
    return (
        f'<section aria-labelledby="{head}"><h{level} id="{head}">Neighbourhood of a node</h{level}>'
        f"<p>{escape(_what_is_here(shown))}</p>"
        f'<div class="walk" id="{escape(identity)}" data-graph="{escape(identity)}-data" hidden>'
        f'<div class="tools"><div class="combo field"><label for="{label}">Node</label>'
        f'<input type="text" id="{label}" role="combobox" aria-expanded="false" aria-autocomplete="list" '
        f'aria-controls="{escape(identity)}-choices" autocomplete="off" spellcheck="false" '
        'placeholder="type a part of a name">'
        f'<ul class="choices" id="{escape(identity)}-choices" role="listbox" aria-label="Nodes" hidden>'
        "</ul></div></div>"
        '<ol class="trail" aria-label="Nodes you came by"></ol><p class="status" role="status"></p>'
        '<p class="about small" dir="auto"></p>'
        '<div class="drawing"></div>'
        '<p class="small muted no-print">Click a neighbour to walk there. In the picture the arrow keys go from one '
        'to the next, and Enter walks there.</p><div class="neighbours"></div></div>'
        "<noscript><p>Walking through the graph needs JavaScript, which is off.</p></noscript>"
        f"{data_block(identity + '-data', _data(shown))}</section>"
    )


def _what_is_here(graph: Neighbourhoods) -> str:
    if graph.whole:
        return f"All {many(len(graph.names), 'node')} and {many(len(graph.edges), 'edge')} are on this page."
    return (
        f"This page takes along {len(graph.names):,} of {many(graph.all_nodes, 'node')} and {len(graph.edges):,} of "
        f"{many(graph.all_edges, 'edge')}: those around the nodes with the most edges and around the start and target "
        "nodes of questions. A node's number of edges is that of the whole graph."
    )


def _data(graph: Neighbourhoods) -> dict[str, Any]:
    types = list(dict.fromkeys(t for t in graph.types if t is not None))
    ordinals = {name: n for n, name in enumerate(types)}
    return {
        "names": [_label(graph, name) for name in graph.names],
        "degrees": graph.degrees,
        "typeNames": [shortened(name, 80) for name in types],
        "types": [-1 if t is None else ordinals[t] for t in graph.types],
        "marks": {str(n): mark for n, mark in enumerate(graph.marks) if mark},
        "relations": [_label(graph, name) for name in graph.relations],
        "edges": [number for edge in graph.edges for number in edge],
        "texts": {str(n): text for n, text in graph.texts.items()},
        "first": graph.names.index(graph.first) if graph.first in graph.names else -1,
    }


def _label(graph: Neighbourhoods, name: str) -> str:
    return labelled(shortened(name, _NAME), shortened(label, _NAME) if (label := graph.labels.get(name)) else None)


def _fitting(graph: Neighbourhoods, most_bytes: int) -> Neighbourhoods:
    """As many of the first edges as fit, with the nodes that they connect, and lone nodes where all edges fit."""
    if len(json_text(_data(graph))) <= most_bytes:
        return graph
    names = [
        len(json_text([_label(graph, name), graph.texts.get(n, "")]).encode()) + 12
        for n, name in enumerate(graph.names)
    ]
    words = [len(json_text(_label(graph, name)).encode()) + 1 for name in graph.relations]
    nodes: dict[int, int] = {}
    relations: dict[int, int] = {}
    edges: list[tuple[int, int, int]] = []
    used = 0
    for source, relation, target in graph.edges:
        used += 16 + sum(names[n] for n in {source, target} - nodes.keys())
        used += 0 if relation in relations else words[relation]
        if used > most_bytes:
            break
        edge = (nodes.setdefault(source, len(nodes)), relations.setdefault(relation, len(relations)))
        edges.append((*edge, nodes.setdefault(target, len(nodes))))
    return Neighbourhoods(
        names=tuple(graph.names[n] for n in nodes),
        degrees=tuple(graph.degrees[n] for n in nodes),
        types=tuple(graph.types[n] for n in nodes),
        marks=tuple(graph.marks[n] for n in nodes),
        relations=tuple(graph.relations[n] for n in relations),
        edges=tuple(edges),
        all_nodes=graph.all_nodes,
        all_edges=graph.all_edges,
        labels=graph.labels,
        texts={place: graph.texts[n] for n, place in nodes.items() if n in graph.texts},
        first=graph.first,
    )
