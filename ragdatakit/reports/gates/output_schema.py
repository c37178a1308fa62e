"""The JSON Schema of what ``ragdata gate --output-format json`` prints: docs/output-schema-gate.json.

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
    optional_text,
    place,
    text,
    truth,
)
from ragdatakit.schemas.gates import SEVERITIES

_VALUE = "A text, number, truth value or null, or lists and objects of them; long ones are cut, with … there."


def gate_schema() -> Schema:
    """The schema of the document."""
    told = "What `ragdata gate --output-format json` prints. Fields may be added; none is renamed or dropped."
    dataset = {
        "path": text("As it was given."),
        "name": text("What the dataset is called."),
        "format": text("Its format."),
    }
    library = {"name": {"const": "great_expectations"}, "version": text("Its version.")}
    severities = {word: count(f"Those of severity {word}.") for word in SEVERITIES}
    counts = {
        "expectations": count("All expectations."),
        "passed": count("Those that hold."),
        "failed": count("Those that do not hold."),
        "errors": count("Those that could not be checked."),
        "failed_by_severity": object_of("Those that do not hold.", severities),
    }
    properties = {
        "version": VERSION,
        "success": truth("Whether the data could be read, and all expectations were checked and hold."),
        "dataset": object_of("The dataset.", dataset),
        "library": object_of("What checked the expectations.", library),
        "counts": object_of("Numbers of expectations.", counts),
        "suites": list_of("The suites, in the order in which they were given.", "suite"),
        "tables": list_of("The tables of the dataset that expectations are about.", "table"),
        "results": list_of("What became of each expectation, suite by suite, in the order of the files.", "result"),
        "notes": list_of("What was sampled, and what of the data could not be read.", text("A sentence.")),
        "unread": list_of("The files that could not be read whole, and why: `success` is false.", text("A sentence.")),
        "seconds": number("How long it took."),
    }
    definitions = {"suite": _suite(), "table": _table(), "result": _result()}
    return {**head_of("output-gate", "Output of ragdata gate"), **object_of(told, properties), "$defs": definitions}


def _suite() -> Schema:
    return object_of(
        "A suite.",
        {
            "name": text("What it calls itself, or the name of its file."),
            "path": text("Its file."),
            "expectations": count("How many it has.", 1),
        },
    )


def _table() -> Schema:
    return object_of(
        "A table.",
        {
            "name": text("A canonical table, or files.KIND for the files as they are."),
            "rows": count("Its rows."),
            "checked": count("How many of them were looked at; rows are counted all."),
            "sampled": truth("Whether a sample of them was checked."),
        },
    )


def _result() -> Schema:
    value: Schema = {"description": _VALUE}
    return object_of(
        "What became of an expectation.",
        {
            "suite": text("The suite's name."),
            "number": count("Its place in the suite, from 1.", 1),
            "table": text("The table that it is about."),
            "type": text("Its type, as Great Expectations calls it."),
            "kwargs": map_of("Its arguments.", value),
            "severity": {"enum": list(SEVERITIES), "description": "How bad it is when it fails."},
            "description": optional_text("What the suite says about it."),
            "status": {
                "enum": ["pass", "fail", "error"],
                "description": "error: it could not be checked, and `fault` says why.",
            },
            "observed": {"description": f"What was found, where that is one value or a list. {_VALUE}"},
            "values": place("How many values were looked at; null where it is not about values.", 0),
            "unexpected": place("How many of them are not as expected.", 0),
            "examples": list_of("Some of these.", value),
            "missing": list_of("Some values of an expected set that are not there.", value),
            "fault": optional_text("Why it could not be checked, or that the dataset has no such table."),
        },
    )
