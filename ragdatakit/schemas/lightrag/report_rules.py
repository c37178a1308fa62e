"""The rules of LightRAG data: the community reports of nano-graphrag."""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule

REPORT_RULES: tuple[Rule, ...] = (
    Rule(
        "LR701 unusable-report error",
        since="0.2.0",
        summary="A community report that lacks its text, its level or its place among the others.",
        message="{field} is {value}; expected {expected}",
        upstream={"nano-graphrag": "global queries stop with KeyError or TypeError, or leave it out"},
        hint="generate the reports again",
        bad='{"0": {"report_string": "A harbour", "report_json": {}}}',
        good=(
            '{"0": {"report_string": "A harbour", "report_json": {"rating": 5.0}, "level": 0, '
            '"occurrence": 1.0, "nodes": [], "edges": [], "chunk_ids": []}}'
        ),
        source="nano_graphrag: _op.py, global_query",
    ),
    Rule(
        "LR702 report-without-cluster warning",
        since="0.2.0",
        summary="A report of a cluster that no node belongs to.",
        message="no node is in cluster {value}",
        upstream={"nano-graphrag": "it is never found by local queries; global ones look at clusters of the graph"},
        hint="generate the reports again",
        bad='report "7", and no node with "cluster": 7',
        good='report "7", and a node with [{"level": 0, "cluster": 7}]',
        source="nano_graphrag: _storage/gdb_networkx.py, community_schema",
    ),
    Rule(
        "LR703 cluster-without-report warning",
        since="0.2.0",
        summary="A cluster of the graph without a report.",
        message="cluster {value} has no report",
        upstream={"nano-graphrag": "global queries pass over it"},
        hint="generate the reports again",
        bad='a node with [{"level": 0, "cluster": 7}], and no report "7"',
        good='report "7"',
        source="nano_graphrag: _op.py, global_query",
    ),
    Rule(
        "LR704 unreadable-clusters error",
        since="0.2.0",
        summary="The clusters of a node are not a JSON list of levels and clusters.",
        message="clusters is {value}; expected a list of objects with level and cluster",
        upstream={"nano-graphrag": "local queries stop with JSONDecodeError or KeyError when they come upon the node"},
        hint="cluster the graph again",
        bad='<data key="clusters">7</data>',
        good='<data key="clusters">[{"level": 0, "cluster": 7}]</data>',
        source="nano_graphrag: _op.py, _find_most_related_community_from_entities",
    ),
    Rule(
        "LR705 unknown-member warning",
        since="0.2.0",
        summary="A report names a node or a chunk that is not stored.",
        message="{value} is not in the {expected}",
        upstream={"nano-graphrag": "it counts in the report's size, and leads nowhere"},
        hint="generate the reports again",
        bad='"nodes": ["Ghost"]',
        good='"nodes": ["Joss Alder"]',
        source="nano_graphrag: _storage/gdb_networkx.py, community_schema",
    ),
)
