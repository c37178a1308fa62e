"""Words for records that are not whole, or behind which something is, where the end of the file, or of the line, shows
it."""

from __future__ import annotations

from ragdatakit.files.containers.positions import Located, byte_positions
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.cut_files import AGAIN, CUT_HERE, ending_of, ends_file, is_cut, is_cut_line
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.findings import Problem


def word_end(file: DataFile, kind: File, problem: Problem, located: Located, is_json: bool) -> bool:
    """Say of what ``is_json`` no more, of a line without all its cells, and of an open element, that the file ends in
    it, where that is so, which is returned; and what is behind a record of JSON."""
    reason, before = problem.facts.get("reason", ""), ""
    if is_json:
        (byte,) = byte_positions(located.raw, located.raw.decode("utf-8", "replace"), (problem.position or 0,))
        found = is_cut(file, located, byte)
        if not found and reason == "extra data" and problem.position:
            problem.facts = {**problem.facts, "reason": _behind(located.raw[byte:].strip()) or reason}
    elif kind.container == "columns":
        found, before = is_cut_line(file, located, kind), f"{reason}: "
    else:
        found, before = kind.container == "tagged" and bool(reason) and ends_file(file, located), f"{reason}: "
    if found:
        stream, _, size = ending_of(file)
        stream.close()
        cut = "the file ends within a record and seems to be cut" if size else "the file is empty"
        problem.facts = {**problem.facts, "reason": f"{before}{cut}"}
        problem.hint = AGAIN if reason else CUT_HERE
    return found


def _behind(rest: bytes) -> str:
    if rest == b",":
        return "there is a comma behind the record"
    return "there is another record behind it on the line" if rest.startswith(b"{") else ""
