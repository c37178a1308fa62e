"""An index of GraphRAG 3.x in Parquet, as its own writer lays it out: a row group a table; no error.

Entities form a ring, in which each is related to those behind it. Communities are stretches of the ring, of three
levels, each of which cuts the one above into pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sets.words import Prose

ENTITIES, RELATIONSHIPS, UNITS = 300_000, 1_000_000, 60_000
WIDTHS = (15, 5, 2.5)
"""Entities of a community on each level: 20,000, 60,000 and 120,000 communities, each with a report."""
DAY = "2026-01-05"

Integers = npt.NDArray[np.int64]


def write_graphrag(root: Path, scale: float, seed: int) -> None:
    """Write the six tables of an index."""
    root.mkdir(parents=True)
    size = max(60, round(ENTITIES * scale) // 30 * 30)
    relationships = round(size * RELATIONSHIPS / ENTITIES)
    units = max(4, size * UNITS // ENTITIES)
    prose = Prose(seed)
    text = " ".join(prose.texts(2_000, 80, 120)).encode("ascii", "ignore").decode().replace("\\", "").replace('"', "")
    places = prose.random.integers(0, len(text) - 4_000, 1 << 16).tolist()

    def found(number: int, length: int) -> str:
        start = places[number & 0xFFFF]
        return text[start : start + length]

    source = np.arange(relationships) % size
    target = (source + 1 + np.arange(relationships) // size) % size
    of_relationship = source * units // size
    of_entity = np.arange(size) * units // size
    degree = np.bincount(source, minlength=size) + np.bincount(target, minlength=size)
    ids = {kind: [_uuid(n, kind) for n in range(count)] for kind, count in (("e", size), ("r", relationships))}
    unit_ids = [f"{n:0128x}" for n in range(units)]
    titles = [f"NAME {n:06d} OF THE COAST" for n in range(size)]
    numbers = np.arange(max(relationships, size))
    _write(
        root,
        "entities",
        id=ids["e"],
        human_readable_id=numbers[:size],
        title=titles,
        type=["PERSON"] * size,
        description=[found(n, 180) for n in range(size)],
        text_unit_ids=_lists(unit_ids, of_entity),
        frequency=np.ones(size, np.int64),
        degree=degree,
    )
    _write(
        root,
        "relationships",
        id=ids["r"],
        human_readable_id=numbers[:relationships],
        source=_taken(titles, source),
        target=_taken(titles, target),
        description=[found(n * 3, 160) for n in range(relationships)],
        weight=np.full(relationships, 2.0),
        combined_degree=degree[source] + degree[target],
        text_unit_ids=_lists(unit_ids, of_relationship),
    )
    _write(
        root,
        "text_units",
        id=unit_ids,
        human_readable_id=numbers[:units],
        text=[found(n * 7, 3_000) for n in range(units)],
        n_tokens=np.full(units, 700),
        document_id=["d1"] * units,
        entity_ids=_grouped(ids["e"], of_entity, units),
        relationship_ids=_grouped(ids["r"], of_relationship, units),
        covariate_ids=[[]] * units,
    )
    _write(
        root,
        "documents",
        id=["d1"],
        human_readable_id=[0],
        title=["coast.txt"],
        text=["The coast."],
        text_unit_ids=[unit_ids],
        creation_date=[f"{DAY} 00:00:00 +0000"],
        raw_data=pa.nulls(1),
    )
    _write_communities(root, ids, unit_ids, (source, target, of_relationship, of_entity), found)


def _write_communities(
    root: Path, ids: dict[str, list[str]], unit_ids: list[str], graph: tuple[Integers, ...], given: Any
) -> None:
    source, target, _, of_entity = graph
    size, rows, first = len(of_entity), [], 0
    for level, width in enumerate(WIDTHS):
        own = (np.arange(size) / width).astype(np.int64)
        count, above, below = own[-1] + 1, first - round(size / WIDTHS[level - 1]), first + own[-1] + 1
        within = own[source] == own[target]
        of_inner = np.where(within, own[source], -1)
        members = _grouped(ids["e"], own, count)
        relationships = _grouped(ids["r"], of_inner, count)
        pieces = round(width / WIDTHS[level + 1]) if level + 1 < len(WIDTHS) else 0
        parts = round(WIDTHS[level - 1] / width) if level else 1
        starts = np.searchsorted(own, np.arange(count))
        for n in range(count):
            parent = above + n // parts if level else -1
            children = list(range(below + n * pieces, below + (n + 1) * pieces))
            units = sorted({unit_ids[of_entity[starts[n]]]})
            rows.append((first + n, level, parent, children, members[n], relationships[n], units))
        first += int(count)
    number, level_, parent_, children_, members_, relationships_, units_ = zip(*rows, strict=True)
    sizes = [len(m) for m in members_]
    same = {
        "human_readable_id": number,
        "community": number,
        "level": level_,
        "parent": parent_,
        "children": pa.array(children_, pa.list_(pa.int64())),
    }
    _write(
        root,
        "communities",
        id=[_uuid(n, "c") for n in number],
        **same,
        title=[f"Community {n}" for n in number],
        entity_ids=members_,
        relationship_ids=relationships_,
        text_unit_ids=units_,
        period=[DAY] * first,
        size=sizes,
    )
    titles, summaries = [given(n, 40) for n in number], [given(n * 5, 300) for n in number]
    contents = [f"# {t}\n\n{s}\n\n{given(n * 9, 1500)}" for n, t, s in zip(number, titles, summaries, strict=True)]
    findings = [[{"explanation": given(n * k, 250), "summary": given(n + k, 40)} for k in range(1, 5)] for n in number]
    stored = [
        f'{{"title": "{t}", "summary": "{s}", "rating": 6.0, "findings": [{{"summary": "{given(n, 40)}", '
        f'"explanation": "{given(n * 2, 1200)}"}}]}}'
        for n, t, s in zip(number, titles, summaries, strict=True)
    ]
    _write(
        root,
        "community_reports",
        id=[f"{n:0128x}" for n in number],
        **same,
        title=titles,
        summary=summaries,
        full_content=contents,
        rank=np.full(first, 6.0),
        rating_explanation=[given(n, 80) for n in number],
        findings=findings,
        full_content_json=stored,
        period=[DAY] * first,
        size=sizes,
    )


def _uuid(number: int, kind: str) -> str:
    return f"{number:08x}-{ord(kind):04x}-4000-8000-{number * 2654435761 % (1 << 48):012x}"


def _taken(names: Sequence[str], places: Integers) -> pa.Array:
    return pa.array(names).take(pa.array(places))


def _lists(names: Sequence[str], places: Integers) -> pa.Array:
    """A list of one name a row."""
    return pa.ListArray.from_arrays(np.arange(len(places) + 1, dtype=np.int32), _taken(names, places))


def _grouped(names: Sequence[str], owner: Integers, count: int) -> list[list[str]]:
    """The names by owner; those of owner -1 have none."""
    found: list[list[str]] = [[] for _ in range(count)]
    for name, place in zip(names, owner.tolist(), strict=True):
        if place >= 0:
            found[place].append(name)
    return found


def _write(root: Path, name: str, **columns: Any) -> None:
    pq.write_table(
        pa.table({n: c if isinstance(c, pa.Array) else pa.array(c) for n, c in columns.items()}),
        root / f"{name}.parquet",
    )
