"""Repairs of a file as a whole: another container for the same values, which are copied byte by byte."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from ragdatakit.files.containers.beginnings import BOM
from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.sources import Source
from ragdatakit.fixes.edits import rewritten, safe
from ragdatakit.fixes.json_syntax import mend_syntax
from ragdatakit.fixes.whole_bytes import LONGEST
from ragdatakit.schemas.fixes import Edit, Fix
from ragdatakit.validators.faults import Fault


def without_mark(fault: Fault) -> Fix | None:
    """Remove a byte-order mark, if that is what the fault is."""
    return safe(Edit(0, len(BOM))) if _beginning(fault, len(BOM)) == BOM else None


def as_array(fault: Fault, kind: type = dict) -> Fix | None:
    """Lines, each of which is a JSON value of this type, as one array; an empty value is nothing, as some loaders read
    it."""
    number = 0
    for line in _lines(fault):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
            if not isinstance(record, kind) or not record:
                return None
        except ValueError:
            return None
        number += 1
    return rewritten("array-of-lines") if number else None


def array_or_syntax(fault: Fault) -> Fix | None:
    """The same; of a file that is no lines, what makes its text JSON."""
    return as_array(fault) or mend_syntax(fault)


def array_or_list(fault: Fault) -> Fix | None:
    """The same, or the list that is all there is in an object."""
    return as_array(fault) or unwrapped(fault)


def as_lines(fault: Fault) -> Fix | None:
    """The elements of an array, or objects that are spread over lines, each on a line."""
    from ragdatakit.fixes.rewriting import can_be_lines

    return rewritten("lines-of-values") if can_be_lines(fault.file.path, fault.file.boundary) else None


def in_a_list(fault: Fault) -> Fix | None:
    """One JSON value as the one element of an array."""
    return rewritten("in-a-list")


def unwrapped(fault: Fault) -> Fix | None:
    """The list that is all there is in an object."""
    from ragdatakit.fixes.rewriting import is_wrapped

    return rewritten("unwrapped", "unsafe") if is_wrapped(fault.file.path, fault.file.boundary) else None


def rows_without_last_comma(fault: Fault) -> Fix | None:
    """The rows of a table without the comma that ends each of them, if nothing is behind it."""
    from ragdatakit.fixes.csv_rewriting import ends_in_commas

    is_sure = ends_in_commas(fault.file.path, fault.file.boundary)
    return rewritten("without-last-comma") if is_sure else None


def rows_with_commas(fault: Fault) -> Fix | None:
    """The rows of a table whose cells have semicolons or tabs between them."""
    from ragdatakit.fixes.csv_rewriting import rewrite_with_commas

    names = {field.name for field in fault.declared.record.fields if field.required}
    way = rewrite_with_commas(fault.file.path, fault.file.boundary, names)
    return rewritten(way, "unsafe") if way else None


def parts_trimmed(fault: Fault) -> Fix | None:
    """The names of lines of triples without blanks around them."""
    from ragdatakit.fixes.triple_lines import can_be_trimmed

    return rewritten("trimmed-parts", "unsafe") if can_be_trimmed(fault.file.path, fault.file.boundary) else None


def _lines(fault: Fault) -> Iterator[bytes]:
    path, boundary = fault.file.path, fault.file.boundary
    source = Source(path, path.name.endswith(".gz"), max_line_bytes=LONGEST, boundary=boundary)
    for block in source.blocks():
        if block.skipped:
            yield b"?"
        for _, line, _ in iter_lines(block.data):
            yield bytes(line)
    if source.faults:
        yield b"?"


def _beginning(fault: Fault, length: int) -> bytes:
    with fault.file.boundary.open(fault.file.path) as file:
        return file.read(length)
