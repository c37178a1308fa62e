"""Quality of a graph: nodes in which everything meets."""

from __future__ import annotations

from array import array

import numpy as np

from ragdatakit.quality.findings import Checked, RecordLookup, shown_id


def check_graph(run: Checked) -> None:
    """Count how many edges every node takes part in. Memory: 16 bytes an edge, twice that for a moment."""
    if not run.findings.wants("hub-node"):
        return
    ends = array("q")
    number = 0
    for row in run.tables.peek("edges"):
        number += 1
        source, target = hash(row.source), hash(row.target)
        ends.append(source)
        if source != target:
            ends.append(target)
    least = max(run.options.least_hub_edges, run.options.most_hub_share * number)
    if number < least:
        return
    codes, counts = np.unique(np.array(ends, np.int64), return_counts=True)
    least = max(least, run.options.least_hub_ratio * float(counts.mean()))
    hubs = dict(zip(codes[counts >= least].tolist(), counts[counts >= least].tolist(), strict=True))
    names: dict[int, str] = {}
    for row in run.tables.peek("edges") if hubs else ():
        for name in (row.source, row.target):
            if hash(name) in hubs:
                names.setdefault(hash(name), name)
        if len(names) == len(hubs):
            break
    for code, name in sorted(names.items(), key=lambda item: (-hubs[item[0]], item[1])):
        share = f"{100 * hubs[code] / number:.0f} %"
        facts = {"id": shown_id(name), "edges": hubs[code], "all": number, "share": share}
        run.findings.keep("hub-node", RecordLookup((name,)), name, facts)
