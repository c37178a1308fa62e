"""Edits of a record's text: characters in, bytes of the file out."""

from __future__ import annotations

from collections.abc import Iterable

from ragdatakit.files.containers.positions import Located, byte_positions
from ragdatakit.files.containers.strict_json import MOST_LOCATED, SURROGATE
from ragdatakit.files.detection.sniffing import beginning
from ragdatakit.schemas.fixes import Applicability, Edit, Fix, Part
from ragdatakit.validators.faults import Fault

_USUAL_LINE, _LONGEST_LINE = 1 << 12, 1 << 20
_SEPARATED = ("json-array", "json-object", "json-wrapped")
"""Containers whose records have commas between them."""


def safe(*edits: Edit | None) -> Fix | None:
    """A fix that changes nothing of what the framework reads; None where one of its edits is not known."""
    there = [edit for edit in edits if edit is not None]
    return Fix("safe", "", tuple(there)) if len(there) == len(edits) else None


def unsafe(*edits: Edit | None) -> Fix | None:
    """A fix that removes, renames or chooses something; None where one of its edits is not known."""
    there = [edit for edit in edits if edit is not None]
    return Fix("unsafe", "", tuple(there)) if len(there) == len(edits) else None


def rewritten(way: str, applicability: Applicability = "safe") -> Fix:
    """A fix that writes the file anew."""
    return Fix(applicability, "", rewrite=way)


def record_text(fault: Fault) -> str | None:
    """The text of a faulty record; None where it is not at hand as a whole, or is not UTF-8."""
    located = fault.located
    if located is None or located.cut or len(located.raw) >= MOST_LOCATED:
        return None
    try:
        return located.raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def edit_of(fault: Fault, text: str, start: int, end: int, new: str) -> Edit | None:
    """Put ``new`` in the place of these characters of the record; None where nothing would change, and where it has
    half a character (a lone surrogate, once unescaped), which UTF-8 has no bytes for."""
    located = fault.located
    if located is None or text[start:end] == new or SURROGATE.search(new):
        return None
    first, last = byte_positions(located.raw, text, (start, end))
    return Edit(located.byte_offset + first, located.byte_offset + last, new)


def edits_of(fault: Fault, text: str, changes: Iterable[tuple[int, int, str]]) -> list[Edit | None]:
    """The same for several places."""
    return [edit_of(fault, text, start, end, new) for start, end, new in changes]


def line_end(fault: Fault) -> str:
    """What ends the first line of the faulty file, and new lines in it, too."""
    for length in _USUAL_LINE, _LONGEST_LINE:
        data, _ = beginning(fault.file.path, length, fault.file.boundary)
        if end := data.find(b"\n") + 1:
            return "\r\n" if data[:end].endswith(b"\r\n") else "\n"
    return "\n"


def without_record(fault: Fault) -> Edit | None:
    """The record goes, with what parts it from the next one."""
    located = fault.located
    if located is None or located.cut:
        return None
    return edit_without(fault, located)


def edit_without(fault: Fault, record: Located) -> Edit:
    """A record of the faulty file goes."""
    return _without(record, fault.container)


def _without(record: Located, container: str) -> Edit:
    part: Part = "element" if container in _SEPARATED else "line"
    return Edit(record.byte_offset, record.byte_offset + len(record.raw), part=part)


def drop_record(fault: Fault) -> Fix | None:
    """Remove what says nothing, such as a blank line."""
    return safe(without_record(fault))


def remove_record(fault: Fault) -> Fix | None:
    """Remove a record that says something, unless it is known what its value means."""
    return unsafe(without_record(fault)) if not fault.problem.nearly else None


def remove_other(fault: Fault) -> Fix | None:
    """Remove the record that this one clashes with, in its file."""
    other, file = fault.other, fault.other_file
    if other is None or file is None or other.cut or not other.whole:
        return None
    path = "" if file is fault.file else file.display
    return Fix("unsafe", "", (_without(other, fault.other_container),), path=path)
