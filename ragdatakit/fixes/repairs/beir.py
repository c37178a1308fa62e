"""Repairs of BEIR's files."""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.files.texts.near_names import nearest
from ragdatakit.fixes.edits import drop_record, edit_of, line_end, record_text, remove_record, safe
from ragdatakit.fixes.find import Repair
from ragdatakit.fixes.json_syntax import mend_syntax
from ragdatakit.fixes.json_values import add_member, name_as_missing, to_integer, to_text_id
from ragdatakit.fixes.records import drop_copy, is_trained_on, keep_last
from ragdatakit.fixes.whole_bytes import without_lines_of
from ragdatakit.schemas.fixes import Edit, Fix
from ragdatakit.validators.faults import Fault


def _title(fault: Fault) -> Fix | None:
    """An empty title, or the field that seems to hold the title."""
    text = record_text(fault)
    record = fault.form.value(text) if text is not None else None
    if not isinstance(record, dict):
        return None
    others = [name for name in record if name.casefold() in _TITLES]
    near = nearest("title", record)
    if not others and not near:
        return _add_empty_title(fault)
    found = near or (others[0] if len(others) == 1 else "")
    return name_as_missing(fault, found) if "title" not in record and isinstance(record.get(found), str) else None


_add_empty_title = add_member("title", '""')
_TITLES = frozenset({"caption", "heading", "headline", "name", "subject"})
"""What else a title may be called."""


def _with_header(fault: Fault) -> Fix | None:
    names = "\t".join(field.name for field in fault.declared.record.fields)
    text, place = record_text(fault), fault.problem.position
    if text is not None and place:  # where the judgement is behind it
        return safe(edit_of(fault, text, len(names), place, line_end(fault)))
    start = fault.located.byte_offset if fault.located is not None else 0
    return safe(Edit(start, start, f"{names}{line_end(fault)}"))


def _with_tabs(fault: Fault) -> Fix | None:
    """A judgement with blanks or other signs between its columns, one between quote marks, or one of TREC, whose second
    column is not used."""
    text = record_text(fault)
    if text is None:
        return None
    line = text.rstrip("\r\n")
    is_quoted = len(line) > 1 and line[0] == line[-1] == '"' and "\t" in line
    words = line[1:-1].split("\t") if is_quoted else _columns(line)
    if '"' in "".join(words) or ("\t" in line and not is_quoted and len(words) != 4):
        return None
    if len(words) == 4 and words[1].lower() in _UNUSED:
        del words[1]
    if len(words) != 3:
        return None
    score = words[2].removeprefix("-")
    if not (score.isascii() and score.isdigit()):
        return None
    return safe(edit_of(fault, text, 0, len(line), "\t".join(words)))


def _columns(text: str) -> list[str]:
    """What one sign is between, with or without blanks around it, or else what blanks are between."""
    for sign in ",;|":
        columns = [column.strip() for column in text.split(sign)]
        if len(columns) in (3, 4) and all(len(column.split()) == 1 for column in columns):
            return columns
    return text.split()


_UNUSED = frozenset({"0", "q0"})
"""What TREC's judgements have in their second column."""


def _out_of_training(fault: Fault) -> Fix | None:
    """All judgements of a query in the file that is trained on."""
    file, other = fault.file, fault.other_file
    if other is None or is_trained_on(file) == is_trained_on(other):
        return None
    there = file if is_trained_on(file) else other
    query = fault.problem.value
    edits = without_lines_of(there, query, b"\t") if isinstance(query, str) else ()
    return Fix("unsafe", "", edits, path="" if there is file else there.display) if edits else None


REPAIRS: Mapping[str, Repair] = {
    "invalid-json": mend_syntax,
    "blank-line": drop_record,
    "id-not-string": to_text_id,
    "missing-id": name_as_missing,
    "text-not-string": name_as_missing,
    "missing-title": _title,
    "no-header": _with_header,
    "wrong-columns": _with_tabs,
    "further-columns": _with_tabs,
    "score-not-integer": to_integer,
    "duplicate-id": keep_last,
    "dangling-query-id": remove_record,
    "dangling-corpus-id": remove_record,
    "conflicting-judgement": keep_last,
    "duplicate-judgement": drop_copy,
    "query-in-two-splits": _out_of_training,
}
