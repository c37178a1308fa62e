"""Repairs of one cell of a CSV file, and of its header."""

from __future__ import annotations

from collections.abc import Callable

from ragdatakit.files.containers.csv_cells import CsvForm, split_record
from ragdatakit.fixes.edits import edit_of, edits_of, record_text, safe
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault

CellText = Callable[[str], str | None]
"""What a cell is to hold, given what it holds; None where there is nothing sure."""


def cell_replaced(new_text: CellText, make: Callable[..., Fix | None] = safe) -> Callable[[Fault], Fix | None]:
    """The repair that gives the faulty cell another content; quote marks stay, and come where they are needed."""

    def repair(fault: Fault) -> Fix | None:
        text, name = record_text(fault), (fault.problem.pointer or "").removeprefix("/")
        span = fault.form.span(text, f"/{name}") if text is not None and name else None
        if text is None or span is None:
            return None
        start, end = span[0], span[0] + span[1]
        cells, _, _ = split_record(text)
        cell = next((cell.text for cell in cells if (cell.start, cell.end) == (start, end)), None)
        new = new_text(cell) if cell is not None else None
        return None if new is None else make(edit_of(fault, text, start, end, _quoted(new, text[start:end])))

    return repair


def _quoted(cell: str, before: str) -> str:
    needed = before.startswith('"') or any(mark in cell for mark in ',"\r\n')
    return '"' + cell.replace('"', '""') + '"' if needed else cell


def with_last_cell(name: str, cell: str) -> Callable[[Fault], Fix | None]:
    """The repair of a row that ends before the cell of this column, the only one that it needs and lacks."""

    def repair(fault: Fault) -> Fix | None:
        text, form = record_text(fault), fault.form
        if text is None or not isinstance(form, CsvForm) or name not in form.header:
            return None
        if fault.problem.facts.get("missing") != name:
            return None
        place, there = form.header.index(name), len(split_record(text)[0])
        if place < there:
            return None
        return safe(edit_of(fault, text, len(text), len(text), "," * (place - there + 1) + cell))

    return repair


def named_as_declared(fault: Fault) -> Fix | None:
    """Names of columns that differ from those that are declared in their case, or in blanks around them."""
    text = record_text(fault)
    if text is None or not isinstance(fault.form, CsvForm):
        return None
    cells, _, _ = split_record(text)
    there = {cell.text for cell in cells}
    known = {field.name for field in fault.declared.record.fields} - there
    changes: list[tuple[int, int, str]] = []
    for cell in cells:
        name = cell.text.strip().lower()
        if cell.text != name and name in known:
            known.discard(name)
            changes.append((cell.start, cell.end, _quoted(name, text[cell.start : cell.end])))
    return safe(*edits_of(fault, text, changes)) if changes else None
