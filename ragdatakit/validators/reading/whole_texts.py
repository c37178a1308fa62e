"""Files of text that a check gets whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.files.containers.beginnings import HEAD_BYTES
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
    if (fault := head_fault(data[:HEAD_BYTES], len(data))) is not None:
        run.emit(file, Problem(fault.rule, facts=fault.facts))
        return False
    for problem in run.guarded(file, lambda: run.checks.text(file, data)):
        _emit(run, file, problem, data)
    run.report(run.checks.finish_file(file, 0))
    return True


def _emit(run: RunContext, file: DataFile, problem: Problem, data: bytes) -> None:
    """A problem in a text file; the excerpt comes from its data."""
    place = Place.of(problem)
    if problem.line is not None and run.needs_place(problem.rule, file):
        lines = data.split(b"\n", problem.line)
        if problem.line <= len(lines):
            raw = lines[problem.line - 1].rstrip(b"\r")
            start = sum(len(line) + 1 for line in lines[: problem.line - 1])
            located = Located(NO_RECORD, problem.line, start, raw)
            run.find_fix(file, problem, located)
            place = Place.within(located, raw.decode("utf-8", "replace"), problem.position, problem.length)
    run.collector.add(file, problem, place)
