"""The JSON Schema of ``ragdata validate --output-format json``: a contract, published as docs/output-schema.json.

Version 1 may gain fields, so readers should pass over those they do not know; none is renamed or dropped.
"""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.findings import SEVERITIES
from ragdatakit.schemas.json_schema import DIALECT

Schema = dict[str, Any]


def _object(description: str, properties: dict[str, Schema]) -> Schema:
    """Every property is always there; what is not known is null."""
    return {"type": "object", "description": description, "properties": properties, "required": list(properties)}


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _optional_text(description: str) -> Schema:
    return {"type": ["string", "null"], "description": description}


def _count(description: str) -> Schema:
    return {"type": "integer", "minimum": 0, "description": description}


def _place(description: str, minimum: int) -> Schema:
    return {"type": ["integer", "null"], "minimum": minimum, "description": description}


def _list(description: str, of: str) -> Schema:
    return {"type": "array", "description": description, "items": {"$ref": f"#/$defs/{of}"}}


_FILE = _object(
    "One file that was checked.",
    {
        "path": _text("The path, as it was given or found below the path that was given."),
        "kind": _text("The kind of file, see `ragdata formats`."),
        "records": _place("Records in it; null where a file has none, or could not be read.", 0),
        "bytes": _count("Its size, uncompressed."),
    },
)

_DATASET = _object(
    "One dataset, or one split of it.",
    {
        "path": _text("The dataset's folder or file."),
        "format": _text("The format, see `ragdata formats`."),
        "profile": _optional_text("The loaders it was checked for, separated by commas."),
        "split": _optional_text("The split, such as train."),
        "files": _list("Its files.", "file"),
        "errors": _count("Findings of this dataset or split that are errors."),
        "warnings": _count("Findings of this dataset or split that are warnings."),
    },
)

_RELATED = _object(
    "A further place that a finding speaks of, such as the line that used an id first.",
    {
        "path": _text("The file."),
        "line": _place("1-based line.", 1),
        "message": _text("What is there."),
    },
)

_FINDING = _object(
    "One violation of one rule at one place.",
    {
        "code": {
            "type": "string",
            "pattern": "^[A-Z]{2}[0-9]{3}$",
            "description": "The code of the rule; never reused.",
        },
        "rule": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "description": "The name of the rule."},
        "severity": {"enum": list(SEVERITIES), "description": "How bad it is."},
        "message": _text("What is wrong, what was expected, and what the framework does with it; one line."),
        "path": _text("The file (or folder) it is in."),
        "line": _place("1-based physical line; null where the file as a whole is meant.", 1),
        "column": _place("1-based, in characters of the line.", 1),
        "byte_offset": _place("0-based offset of the record in the uncompressed file.", 0),
        "record": _place("0-based number of the record in the file.", 0),
        "pointer": _optional_text("JSON Pointer (RFC 6901) into the record."),
        "value": {"description": "The value at fault, shortened where it is long; null where there is none."},
        "hint": _text("What to do."),
        "fixable": {"type": "boolean", "description": "Whether ragdata could repair it by itself."},
        "related": _list("Further places.", "related"),
    },
)

_SEVERITY_COUNTS = _object(
    "All findings by severity, shown or not.", {severity: _count(f"Findings: {severity}.") for severity in SEVERITIES}
)


def output_schema() -> Schema:
    """The schema of the whole document."""
    body = _object(
        "What `ragdata validate --output-format json` prints. Fields may be added; none is renamed or dropped.",
        {
            "version": {"const": 1, "description": "Version of this contract."},
            "datasets": _list("What was checked.", "dataset"),
            "findings": _list("What is wrong, by file and line; at most --max-per-rule of one rule.", "finding"),
            "counts": _SEVERITY_COUNTS,
            "by_rule": {
                "type": "object",
                "description": "All findings by code, shown or not.",
                "propertyNames": {"pattern": "^[A-Z]{2}[0-9]{3}$"},
                "additionalProperties": _count("Findings of this rule."),
            },
            "shown": _count("How many findings are listed in `findings`."),
            "unrecognised": {
                "type": "array",
                "description": "Data files below the paths that belong to no dataset; they were not checked.",
                "items": {"type": "string"},
            },
        },
    )
    head = {"$schema": DIALECT, "$id": "urn:ragdata:output:1", "title": "Output of ragdata validate"}
    definitions = {"file": _FILE, "dataset": _DATASET, "related": _RELATED, "finding": _FINDING}
    return {**head, **body, "$defs": definitions}
