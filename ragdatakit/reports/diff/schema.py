"""The JSON Schemas of what ``ragdata query`` and ``ragdata diff`` print as JSON: docs/output-schema-….json.

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

_ANY = "A text, number, truth value or null; lists and objects as JSON text; a long text is cut, with … at the cut."


def query_schemas() -> dict[str, Schema]:
    """The schemas by what stands behind ``output-schema-`` in the names of their files."""
    return {"query": _query(), "query-tables": _tables(), "diff": _diff()}


def _document(name: str, command: str, properties: dict[str, Schema], definitions: dict[str, Schema]) -> Schema:
    told = f"What `{command}` prints. Fields may be added; none is renamed or dropped."
    head = head_of(f"output-{name}", f"Output of ragdata {name}")
    return {**head, **object_of(told, {"version": VERSION, **properties}), "$defs": definitions}


def _column() -> Schema:
    return object_of(
        "A column.", {"name": text("Its name; repeated ones have a number."), "type": text("DuckDB's type.")}
    )


def _query() -> Schema:
    rows = {
        "columns": list_of("The columns of the rows.", "column"),
        "rows": list_of("The rows, values by the names of their columns.", map_of("A row.", {})),
    }
    return _document("query", "ragdata query --output-format json", rows, {"column": _column()})


def _tables() -> Schema:
    table = object_of(
        "A table that queries can name.",
        {
            "name": text("What it is called in a query."),
            "dataset": optional_text("Which of several datasets it belongs to; null where there is one."),
            "schema": {"enum": ["main", "files"], "description": "Canonical tables, or the files as they are."},
            "table": text("Its name without the schema; empty for a dataset that could not be read at all."),
            "rows": place("Its rows; null where they could not be read.", 0),
            "fault": optional_text("Why they could not be read."),
            "columns": list_of("Its columns.", "column"),
        },
    )
    command = "ragdata query --tables --output-format json"
    return _document(
        "query-tables", command, {"tables": list_of("All tables.", "table")}, {"table": table, "column": _column()}
    )


def _diff() -> Schema:
    properties = {
        "different": truth("Whether any record differs, or a file that has none."),
        "complete": truth("Whether all could be read; what could not has not_read, or is a file of status unread."),
        "before": _side("The first dataset."),
        "after": _side("The second dataset."),
        "counts": object_of("Records of all canonical tables.", _counts()),
        "tables": list_of("The canonical tables that a side has; empty where all files are the same.", "table"),
        "kinds": list_of("Records of files that differ, by kind of file, as the files have them.", "table"),
        "files": list_of("All files of both; empty where the formats are not the same.", "file"),
        "other_files": list_of("All files below both folders of no dataset; none where formats differ.", "file"),
        "metrics": list_of("Numbers of the two reports that are different.", "metric"),
        "notes": list_of("What could not be compared or was left out.", text("A sentence.")),
        "seconds": number("How long it took."),
        "datasets": list_of("Where the two are folders with several datasets: these, by place.", "pair"),
    }
    definitions = {
        "pair": _dataset_pair(),
        "table": _table(),
        "file": _file(),
        "metric": _metric(),
        "record": _record(),
        "change": _change(),
    }
    return _document("diff", "ragdata diff --output-format json", properties, definitions)


def _dataset_pair() -> Schema:
    states = ["same", "changed", "added", "removed", "unread"]
    return object_of(
        "A dataset of one place below the two folders.",
        {
            "place": text("Its path below the two folders."),
            "status": {
                "enum": states,
                "description": "same: no record differs; unread: one side may have it where permission is denied.",
            },
            "diff": {
                "type": "object",
                "description": "What differs, as this document has it of two datasets, without version; name and "
                "format are empty on the side that does not have it.",
            },
        },
    )


def _counts() -> dict[str, Schema]:
    return {word: count(f"Records that are {word}.") for word in ("added", "removed", "changed")}


def _side(told: str) -> Schema:
    names = {
        "path": text("As it was given."),
        "name": text("What the dataset is called."),
        "format": text("Its format."),
    }
    return object_of(told, names)


def _pair(told: str) -> Schema:
    return object_of(
        told, {word: place(f"Those {word}; null where there are none.", 0) for word in ("before", "after")}
    )


def _table() -> Schema:
    use = object_of(
        "A column that has values on one side only.",
        {"column": text("Its name."), "before": count("Values before."), "after": count("Values after.")},
    )
    return object_of(
        "How the records of a table differ.",
        {
            "schema": {"enum": ["main", "files"], "description": "Canonical tables, or records of a kind of file."},
            "name": text("The table, or the kind of file."),
            "key": list_of("The columns by which records are found again.", text("A column.")),
            "rows": _pair("Rows; null where a side has no such table, or none of it could be read."),
            "not_read": list_of(
                "The sides of which nothing could be read, so that the table is not compared.",
                {"enum": ["before", "after"]},
            ),
            **_counts(),
            "changed_columns": map_of("Changed records by the column that is another one.", count("Records.")),
            "columns_used": list_of("Columns that gained their first values or lost their last.", use),
            "added_records": list_of("The first ones.", "record"),
            "removed_records": list_of("The first ones.", "record"),
            "changed_records": list_of("The first ones.", "change"),
        },
    )


def _record() -> Schema:
    return object_of(
        "A record of one side.",
        {"key": map_of("Its key.", {"description": _ANY}), "values": map_of("Its values.", {"description": _ANY})},
    )


def _change() -> Schema:
    value = object_of(
        "A column that is another one.",
        {
            "column": text("Its name."),
            "before": {"description": _ANY},
            "after": {"description": _ANY},
            "at": place("The first character that differs, from 0; null where the values are whole.", 0),
        },
    )
    return object_of(
        "A record with other values.",
        {"key": map_of("Its key.", {"description": _ANY}), "changes": list_of("What is changed.", value)},
    )


def _file() -> Schema:
    states = ["same", "form", "changed", "added", "removed", "unread"]
    return object_of(
        "A file.",
        {
            "path": text("Its path below the folder of the dataset, or of both."),
            "kind": text("Its kind; empty for one of no dataset."),
            "status": {
                "enum": states,
                "description": "same: byte for byte; form: other bytes, the same records; unread: it cannot be read.",
            },
            "bytes": _pair(
                "Bytes, of a packed file of a dataset those that it holds; on the disk where both are the same."
            ),
            "records": _pair("Records; null where they were not read."),
            **_counts(),
        },
    )


def _metric() -> Schema:
    return object_of(
        "A number.",
        {
            "name": text("Its identifier."),
            "title": text("What it is."),
            "before": number("Before."),
            "after": number("After."),
            "moved": {"type": ["number", "null"], "description": "By what share of the first; null where that is 0."},
        },
    )
