"""The rules of the tables that settings name (``TB…``): what a row must have, and what its ids refer to."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

LETTERS = "TB"
_SOURCE = "ragdata's own check of tables: no framework's loader reads them"

_rule = partial(Rule, since="0.2.0", source=_SOURCE)

RULES: tuple[Rule, ...] = (
    _rule(
        "TB101 missing-table-column error",
        summary="A table has no column of a name that its `[[table]]` gives.",
        message="has no column {column}, which {place} names; it has {columns}",
        upstream="nothing of the file is checked or read",
        hint="correct the name in `map` of that `[[table]]`, or the name in the file",
        bad='map = { text = "body" }   of a file that begins with: id,text',
        good='map = { text = "body" }   of a file that begins with: id,body',
    ),
    _rule(
        "TB102 missing-table-value error",
        summary="A row has no value in a column that it must have: its id, its text, an end of an edge.",
        message="the row has no value in column {column}",
        upstream="there is nothing that could be found, or referred to",
        hint="fill it in, or take the row out",
        bad="d1,",
        good="d1,The reef was mapped in one summer.",
    ),
    _rule(
        "TB103 grade-not-integer error",
        summary="A grade that is not an integer.",
        message="the grade is {value}, expected an integer",
        upstream="it is not known how relevant the document is",
        hint="write 0 for not relevant, 1 or more for relevant",
        bad="q1,d1,high",
        good="q1,d1,2",
    ),
    _rule(
        "TB104 unreadable-row error",
        summary="A line or an element of a JSON file that is no row: no JSON, cut off, or not an object.",
        message="cannot be read as a row: {reason}",
        upstream="the row is left out of whatever is made of the table",
        hint="write it as one JSON object, or take it out",
        bad='{"id": "d1", "text": "The reef was ma',
        good='{"id": "d1", "text": "The reef was mapped in one summer."}',
    ),
    _rule(
        "TB105 cells-without-column error",
        summary="A row has more cells than the header names columns.",
        message="the row has more cells than the file has columns",
        upstream="those behind the last column are not read, and others may be in a wrong column",
        hint="quote the cell in which a delimiter is part of the text, or take the cells out",
        bad="id,text\nd1,Dive at nine, and not later.",
        good='id,text\nd1,"Dive at nine, and not later."',
    ),
    _rule(
        "TB106 repeated-table-column warning",
        summary="Two columns have the same name.",
        message="column {column} has the name of an earlier one",
        upstream="only the first of them is read",
        hint="give each column a name of its own",
        bad="id,text,text",
        good="id,text,summary",
    ),
    _rule(
        "TB201 repeated-table-id error",
        summary="Two rows of one kind have the same id.",
        message="the id {value} is that of an earlier row",
        upstream="it is not clear which of them a judgement means",
        hint="give each row an id of its own",
        bad="d1,One text\nd1,Another text",
        good="d1,One text\nd2,Another text",
    ),
    _rule(
        "TB202 unknown-table-id error",
        summary="A judgement, or a question, names a document or question that is in no table.",
        message="{value} is the id of no {what}",
        upstream="the judgement counts for nothing, or as a document that is never found",
        hint="add the row that is missing, or take the reference out",
        bad="q1,d7   where no document is called d7",
        good="q1,d1",
    ),
)
