"""The JSON Schema of ``ragdata validate --output-format json``: a contract, published as docs/output-schema.json.

Version 1 may gain fields, so readers should pass over those they do not know; none is renamed or dropped.
"""

from __future__ import annotations

from ragdatakit.reports.schema_parts import Schema, count, list_of, object_of, optional_text, place, text
from ragdatakit.schemas.findings import SEVERITIES
from ragdatakit.schemas.json_schema import DIALECT

_FILE = object_of(
    "One file that was checked.",
    {
        "path": text("The path, as it was given or found below the path that was given."),
        "kind": text("The kind of file, see `ragdata formats`."),
        "records": place("Records in it; null where a file has none, or could not be read.", 0),
        "bytes": count("Its size, uncompressed."),
    },
)

_DATASET = object_of(
    "One dataset, or one split of it.",
    {
        "path": text("The dataset's folder or file."),
        "format": text("The format, see `ragdata formats`."),
        "profile": optional_text("The loaders it was checked for, separated by commas."),
        "split": optional_text("The split, such as train."),
        "files": list_of("Its files.", "file"),
        "errors": count("Findings of this dataset or split that are errors."),
        "warnings": count("Findings of this dataset or split that are warnings."),
    },
)

RELATED = object_of(
    "A further place that a finding speaks of, such as the line that used an id first.",
    {
        "path": text("The file."),
        "line": place("1-based line.", 1),
        "message": text("What is there."),
    },
)

FINDING = object_of(
    "One violation of one rule at one place.",
    {
        "code": {
            "type": "string",
            "pattern": "^[A-Z]{2}[0-9]{3}$",
            "description": "The code of the rule; never reused.",
        },
        "rule": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "description": "The name of the rule."},
        "severity": {"enum": list(SEVERITIES), "description": "How bad it is."},
        "message": text("What is wrong, what was expected, and what the framework does with it; one line."),
        "path": text("The file (or folder) it is in."),
        "line": place("1-based physical line; null where the file as a whole is meant.", 1),
        "column": place("1-based, in characters of the line.", 1),
        "byte_offset": place("0-based offset of the record in the uncompressed file.", 0),
        "record": place("0-based number of the record in the file.", 0),
        "pointer": optional_text("JSON Pointer (RFC 6901) into the record."),
        "value": {"description": "The value at fault, shortened where it is long; null where there is none."},
        "hint": text("What to do."),
        "fixable": {"type": "boolean", "description": "Whether ragdata could repair it by itself."},
        "related": list_of("Further places.", "related"),
    },
)

_SEVERITY_COUNTS = object_of(
    "All findings by severity, shown or not.", {severity: count(f"Findings: {severity}.") for severity in SEVERITIES}
)


def output_schema() -> Schema:
    """The schema of the whole document."""
    body = object_of(
        "What `ragdata validate --output-format json` prints. Fields may be added; none is renamed or dropped.",
        {
            "version": {"const": 1, "description": "Version of this contract."},
            "datasets": list_of("What was checked.", "dataset"),
            "findings": list_of("What is wrong, by file and line; at most --max-per-rule of one rule.", "finding"),
            "counts": _SEVERITY_COUNTS,
            "by_rule": {
                "type": "object",
                "description": "All findings by code, shown or not.",
                "propertyNames": {"pattern": "^[A-Z]{2}[0-9]{3}$"},
                "additionalProperties": count("Findings of this rule."),
            },
            "shown": count("How many findings are listed in `findings`."),
            "unrecognised": {
                "type": "array",
                "description": "Data files below the paths that belong to no dataset; they were not checked.",
                "items": {"type": "string"},
            },
        },
    )
    head = {"$schema": DIALECT, "$id": "urn:ragdata:output:1", "title": "Output of ragdata validate"}
    definitions = {"file": _FILE, "dataset": _DATASET, "related": RELATED, "finding": FINDING}
    return {**head, **body, "$defs": definitions}
