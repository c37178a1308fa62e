"""Files of text that a check gets whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.files.containers.beginnings import HEAD_BYTES
from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.sources import head_fault
from ragdatakit.files.datasets import DataFile
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.collector import NO_RECORD, Place

if TYPE_CHECKING:
    from ragdatakit.validators.run_context import RunContext

TEXT_LIMIT = 64 << 20
"""Bytes that such a file may have."""


def check_text(run: RunContext, file: DataFile) -> bool:
    """Read a file and let the format check it; whether it could be read."""
    if not file.path.is_file():
        reason = "it is a folder, not a file" if file.path.is_dir() else "it is not a regular file"
        run.emit(file, Problem("unreadable-file", facts={"reason": reason}))
        return False
    try:
        with file.boundary.open(file.path) as stream:
            data = stream.read(TEXT_LIMIT + 1)
    except OSError as error:
        run.emit(file, Problem("unreadable-file", facts={"reason": error.strerror or str(error)}))
        return False
    if len(data) > TEXT_LIMIT:
        run.emit(file, Problem("line-too-long", facts={"bytes": TEXT_LIMIT}))
        return False
    file.bytes = len(data)
    if (fault := head_fault(data[:HEAD_BYTES], len(data), prose=run.kind(file).prose)) is not None:
        run.emit(file, Problem(fault.rule, facts=fault.facts, hint=fault.hint))
        return False
    lines: list[tuple[int, bytes]] = []
    for problem in run.guarded(file, lambda: run.checks.text(file, data)):
        if problem.line is not None and not lines and run.needs_place(problem.rule, file):
            lines = [*((begin, bytes(line)) for begin, line, _ in iter_lines(data)), (len(data), b"")]
        _emit(run, file, problem, lines)
    run.report(run.checks.finish_file(file, 0))
    return True


def _emit(run: RunContext, file: DataFile, problem: Problem, lines: list[tuple[int, bytes]]) -> None:
    """A problem in a text file; its lines, as Python's text mode cuts them, where the place may be needed."""
    place = Place.of(problem)
    if problem.line is not None and problem.line <= len(lines) and run.needs_place(problem.rule, file):
        start, raw = lines[problem.line - 1]
        located = Located(NO_RECORD, problem.line, start, raw)
        run.find_fix(file, problem, located)
        place = Place.within(located, raw.decode("utf-8", "replace"), problem.position, problem.length)
    run.collector.add(file, problem, place)
