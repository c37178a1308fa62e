"""The numbers of two summaries that are different."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from ragdatakit.schemas.diffs import Metric
from ragdatakit.schemas.summaries import Summary

_QUANTILES = (50, 95)
_MOST_VALUES = 20
_LEAST_SHARE = 0.0005
"""Shares that differ by less are not shown: they move with every record."""
_SHARES = ("note.coverage.", "graph.reachable.")


def moved_metrics(before: Summary, after: Summary) -> list[Metric]:
    """The numbers that both summaries have, or one of them where the other then has 0, and that differ."""
    old, new = dict(_numbers(before)), dict(_numbers(after))
    found = []
    for name in dict.fromkeys((*old, *new)):
        title = (new.get(name) or old[name])[0]
        if name in old and name in new:
            a, b = old[name][1], new[name][1]
        elif name.endswith(".rows"):
            a, b = (side[name][1] if name in side else 0.0 for side in (old, new))
        else:
            continue
        is_share = "share" in title or name.startswith(_SHARES)
        if not math.isclose(a, b, rel_tol=1e-9, abs_tol=_LEAST_SHARE if is_share else 1e-12):
            found.append(Metric(name, title, a, b, is_share))
    return found


def _numbers(summary: Summary) -> Iterator[tuple[str, tuple[str, float]]]:
    """Identifier, words and value of each number."""
    for table in summary.tables:
        yield f"{table.name}.rows", (f"{table.name}: rows", float(table.rows))
        if set(table.by_split) - {None}:
            for split, rows in table.by_split.items():
                which = f"of split {split}" if split is not None else "without a split"
                yield f"{table.name}.{split or 'no split'}.rows", (f"{table.name}: rows {which}", float(rows))
        for column in table.columns:
            name = f"{table.name}.{column.name}"
            if table.rows:
                yield f"{name}.missing", (f"{name}: share without a value", column.missing / table.rows)
                yield f"{name}.empty", (f"{name}: share empty", column.empty / table.rows)
            if table.rows and column.duplicates is not None:
                yield f"{name}.duplicates", (f"{name}: share repeated", column.duplicates / table.rows)
    yield from _lengths(summary)
    for frequencies in summary.frequencies:
        if frequencies.distinct > _MOST_VALUES:
            continue  # shares of rare values move with every record
        total = sum(count for _, count in frequencies.values) + frequencies.rest
        for value, count in frequencies.values:
            share = count / total if total else 0.0
            yield f"{frequencies.name}={value}", (f"{frequencies.title}: share of {value}", share)
    for note in summary.notes:
        if note.name.startswith("sampled.") or note.name == "graph.isolated":  # which the graph's numbers have
            continue
        yield f"note.{note.name}", (_words(note.name), note.value)
    yield from _graph_numbers(summary)


def _lengths(summary: Summary) -> Iterator[tuple[str, tuple[str, float]]]:
    for one in summary.distributions:
        name = one.name if one.by is None else f"{one.name}[{one.by}]"
        title = one.title if one.by is None else f"{one.title} ({one.by})"
        yield f"{name}.mean", (f"{title}: mean {one.unit}", one.mean)
        for quantile in _QUANTILES:
            words = "median" if quantile == 50 else f"{quantile} % quantile of"
            yield f"{name}.p{quantile}", (f"{title}: {words} {one.unit}", one.quantiles[quantile])
        yield f"{name}.maximum", (f"{title}: most {one.unit}", one.maximum)


def _words(name: str) -> str:
    """``coverage.documents`` as ``coverage of documents``."""
    if name == "graph.unlisted":
        return "graph: nodes that the table of nodes lacks"
    about, _, of = name.partition(".")
    if about == "reading":
        return f"{of}: added or renamed on reading"
    return name.replace("-", " ").replace("_", " ").replace(".", " of ", 1)


def _graph_numbers(summary: Summary) -> Iterator[tuple[str, tuple[str, float]]]:
    graph = summary.graph
    if graph is None:
        return
    counts: Mapping[str, int] = {
        "components": graph.components,
        "largest component": graph.largest_component,
        "isolated nodes": graph.isolated,
        "self-loops": graph.self_loops,
        "parallel edges": graph.parallel_edges,
    }
    for words, count in counts.items():
        yield f"graph.{words}", (f"graph: {words}", float(count))
    for hops, share in graph.reachable.items():
        yield f"graph.reachable.{hops}", (f"graph: targets reached within {hops} edges", share)
