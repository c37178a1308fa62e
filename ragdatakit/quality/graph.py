"""Quality of a graph: nodes in which everything meets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.arrays.codes import are_among, counted
from ragdatakit.converters.kept_texts import TextBlock, TextColumn
from ragdatakit.quality.findings import Checked, RecordLookup, shown_id
from ragdatakit.scanner.blocks import text_codes
from ragdatakit.scanner.texts import Joined
from ragdatakit.schemas.canonical import Edge

if TYPE_CHECKING:
    import numpy.typing as npt

    _Codes = npt.NDArray[np.int64]

_NAMES = ("source", "target")


def check_graph(run: Checked) -> None:
    """Count how many edges every node takes part in. Memory: 16 bytes an edge, three times that for a moment."""
    if not run.findings.wants("hub-node"):
        return
    ends = [np.zeros(0, np.int64)]
    number = 0
    for names in _ends(run):
        sources, targets = map(_codes_of, names)
        ends += [sources, targets[targets != sources]]
        number += len(sources)
    least = max(run.options.least_hub_edges, run.options.most_hub_share * number)
    if number < least:
        return
    codes, counts = counted(np.concatenate(ends))
    del ends
    is_hub = counts >= max(least, run.options.least_hub_ratio * float(counts.mean()))
    found = _named(run, codes[is_hub], counts[is_hub])
    for name, edges in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        share = f"{100 * edges / number:.0f} %"
        facts = {"id": shown_id(name), "edges": edges, "all": number, "share": share}
        run.findings.keep("hub-node", RecordLookup((name,)), name, facts)


def _named(run: Checked, hubs: _Codes, counts: _Codes) -> dict[str, int]:
    """The names of nodes by their codes, with the counts."""
    found: dict[int, str] = {}
    for names in _ends(run) if len(hubs) else ():
        for texts in names:
            codes, places = np.unique(_codes_of(texts), return_index=True)
            for place in np.flatnonzero(are_among(codes, hubs)).tolist():
                found.setdefault(int(codes[place]), texts[int(places[place])])
        if len(found) == len(hubs):
            break
    edges = dict(zip(hubs.tolist(), counts.tolist(), strict=True))
    return {name: edges[code] for code, name in found.items()}


def _ends(run: Checked) -> Iterator[list[Sequence[str]]]:
    """The names of the sources and of the targets of some edges after the others; all as `TextColumn`, or none."""
    if (blocks := run.tables.blocks.get("edges")) is None:
        places = [Edge._fields.index(name) for name in _NAMES]
        yield from ([columns[place] for place in places] for columns in run.tables.peek_columns("edges"))
        return
    for rows in blocks(run.jobs, lambda _: None):
        if isinstance(rows, TextBlock):
            yield [rows.columns[name] for name in _NAMES]
        else:
            yield [TextColumn(Joined.of([getattr(row, name) for row in rows])) for name in _NAMES]


def _codes_of(texts: Sequence[str]) -> _Codes:
    if isinstance(texts, TextColumn):
        return np.ascontiguousarray(text_codes(*texts.joined)["first"]).view(np.int64)
    return np.fromiter(map(hash, texts), np.int64, len(texts))
