"""The JSON Schema of ``ragdata report --output-format json``: published as docs/output-schema-report.json.

Version 1 may gain fields, so readers should pass over those they do not know; none is renamed or dropped.
"""

from __future__ import annotations

from ragdatakit.reports.schema_parts import (
    VERSION,
    Schema,
    count,
    head_of,
    list_of,
    map_of,
    number,
    object_of,
    optional,
    optional_text,
    place,
    share,
    text,
    truth,
)
from ragdatakit.reports.search_output_schema import claims_schema
from ragdatakit.schemas.findings import SEVERITIES


def summary_schema() -> Schema:
    """The schema of the whole document."""
    findings = object_of(
        "With --findings: what `ragdata validate` counts.",
        {
            "counts": object_of(
                "All findings by severity.", {severity: count(f"Findings: {severity}.") for severity in SEVERITIES}
            ),
            "by_rule": map_of("All findings by the code of the rule.", count("Findings of this rule.")),
            "datasets": list_of("Errors and warnings by dataset, profile and split.", "checked"),
            "unrecognised": list_of("Data files that belong to no dataset.", text("A path.")),
        },
    )
    left_out = object_of(
        "A folder.",
        {
            "path": text("Its path."),
            "files": optional(count("Its data files, those of its subfolders, too; null where permission is denied.")),
        },
    )
    not_read = object_of("A file.", {"path": text("Its path."), "bytes": count("Its size as it is.")})
    body = object_of(
        "What `ragdata report --output-format json` prints. Fields may be added; none is renamed or dropped.",
        {
            "version": VERSION,
            "datasets": list_of("What was found, in the order of the paths.", "dataset"),
            "left_out": list_of(
                "Folders whose data is of no known format, or without permission to read, where other data is of one.",
                left_out,
            ),
            "not_read": list_of("Files at the paths that no dataset reads.", not_read),
            "findings": optional(findings),
        },
    )
    head = head_of("output-report", "Output of ragdata report")
    definitions = {
        "dataset": _dataset(),
        "table": _table(),
        "ids": _ids(),
        "distribution": _distribution(),
        "frequencies": _frequencies(),
        "example": _example(),
        "checked": _checked(),
    }
    return {**head, **body, "$defs": definitions}


def _dataset() -> Schema:
    file = object_of(
        "One file.",
        {
            "path": text("The path."),
            "kind": text("The kind of file, see `ragdata formats`."),
            "records": place("Records in it; null where a file has none, or could not be read.", 0),
            "bytes": count("Its size, uncompressed."),
            "split": optional_text("The split it belongs to."),
        },
    )
    note = object_of(
        "A fact in words.",
        {
            "name": text("What it is about: an identifier."),
            "words": text("A sentence."),
            "value": optional(number("The share or count in it.")),
            "level": {"enum": ["info", "warning"], "description": "Whether something is to be done about it."},
        },
    )
    return object_of(
        "One dataset.",
        {
            "path": text("Its folder or file."),
            "name": text("What it is called."),
            "format": text("Its format, see `ragdata formats`."),
            "files": list_of("Its files.", file),
            "tables": list_of("Its canonical tables.", "table"),
            "ids": list_of("The ids of its tables.", "ids"),
            "distributions": list_of("How numbers are distributed.", "distribution"),
            "frequencies": list_of("The most frequent values of columns that have few.", "frequencies"),
            "graph": optional(_graph()),
            "claims": optional(claims_schema()),
            "notes": list_of("What a reader should know.", note),
            "examples": list_of("Rows to look at.", "example"),
            "losses": list_of("What could not be read, in sentences.", text("A sentence.")),
            "unread": truth("Whether nothing of it could be read; the losses say why."),
            "seconds": number("What the summary took."),
        },
    )


def _table() -> Schema:
    split = object_of("Rows of a split.", {"split": optional_text("The split."), "rows": count("Its rows.")})
    column = object_of(
        "A column.",
        {
            "name": text("Its name."),
            "missing": count("Rows without a value."),
            "empty": count("Rows with an empty value."),
            "distinct": place("Distinct values; null where they were not counted.", 0),
            "duplicates": place("Rows whose value stood before; null where this says nothing.", 0),
        },
    )
    return object_of(
        "A canonical table.",
        {
            "name": text("Its name."),
            "rows": count("Its rows."),
            "splits": list_of("Its rows by split.", split),
            "columns": list_of("Its columns.", column),
        },
    )


def _ids() -> Schema:
    integer: Schema = {"type": ["integer", "string", "null"]}  # a string where it has more than 64 bits
    return object_of(
        "The ids of a table.",
        {
            "table": text("The table."),
            "column": text("The column."),
            "count": count("Rows that have an id."),
            "distinct": count("Distinct ids."),
            "integers": count("Ids that are integers."),
            "minimum": {**integer, "description": "The smallest integer, where all are integers."},
            "maximum": {**integer, "description": "The largest."},
            "gaps": {**integer, "description": "Integers in between that are not an id."},
            "examples": list_of("Some ids.", text("An id.")),
        },
    )


def _distribution() -> Schema:
    value = {"type": ["number", "null"]}
    bin_ = object_of(
        "A bar.",
        {
            "low": {**value, "description": "Where it begins."},
            "high": {**value, "description": "Where it ends (not in it, but for the last)."},
            "count": count("Values in it."),
        },
    )
    return object_of(
        "How a number is distributed.",
        {
            "name": text("An identifier, as documents.text.characters."),
            "title": text("The same in words."),
            "unit": text("What is counted."),
            "by": optional_text("The split or stage; null for all together."),
            "count": count("How many values there are."),
            "minimum": {**value, "description": "The smallest."},
            "maximum": {**value, "description": "The largest."},
            "mean": {**value, "description": "The mean."},
            "quantiles": map_of("By per cent: 5, 25, 50, 75, 95, 99.", {**value, "description": "The quantile."}),
            "bins": list_of("The histogram.", bin_),
            "logarithmic": truth("Whether each bin is larger by a factor than the one before."),
        },
    )


def _frequencies() -> Schema:
    value = object_of(
        "A value.",
        {
            "value": text("The value."),
            "count": count("How many rows have it."),
            "label": optional_text("What a file beside the data calls it."),
        },
    )
    return object_of(
        "How often values occur.",
        {
            "name": text("An identifier, as edges.relation."),
            "title": text("The same in words."),
            "values": list_of("The most frequent, in this order.", value),
            "distinct": count("How many values there are."),
            "rest": count("Rows that have another value than those listed."),
        },
    )


def _graph() -> Schema:
    hub = object_of(
        "A node with many edges.",
        {
            "name": text("The node."),
            "degree": count("Its edges."),
            "type": optional_text("Its type."),
            "label": optional_text("What a file beside the data calls it."),
        },
    )
    reached = object_of(
        "How many questions reach their targets.",
        {"edges": count("Within so many edges."), "share": share("The share of the questions.")},
    )
    return object_of(
        "The graph, where there is one.",
        {
            "nodes": count("Nodes."),
            "edges": count("Edges."),
            "relations": count("Distinct relations."),
            "components": count("Connected components, without regard to direction."),
            "largest_component": count("Nodes of the largest."),
            "isolated": count("Nodes without an edge."),
            "self_loops": count("Edges from a node to itself."),
            "parallel_edges": count("Edges whose ends and relation stood before."),
            "hubs": list_of("The nodes with most edges.", hub),
            "reachable": list_of("By the number of edges.", reached),
            "questions": count("Questions with start nodes and targets."),
        },
    )


def _example() -> Schema:
    return object_of(
        "A row to look at.",
        {
            "table": text("Its table."),
            "why": text("Why it is shown: first, longest, shortest, random."),
            "row": {"type": "object", "description": "Its columns."},
            "cut": list_of("The columns whose texts are cut.", text("A column.")),
        },
    )


def _checked() -> Schema:
    return object_of(
        "What was checked together.",
        {
            "path": text("The dataset's folder or file."),
            "format": text("The format."),
            "profile": optional_text("The loaders it was checked for."),
            "split": optional_text("The split."),
            "errors": count("Findings that are errors."),
            "warnings": count("Findings that are warnings."),
        },
    )
