"""Findings that several outputs take are read once, and one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from ragdatakit.reports.findings.read_once import read_once
from ragdatakit.schemas.findings import Finding
from ragdatakit.validators.kept_findings import KeptFindings
from tests.command_line import DEMO, run

FINDINGS = [
    Finding(code="XX101", rule="odd", severity="error", message=str(number), path="a", line=number + 1)
    for number in range(5000)
]


class Source:
    """Findings that count how often they are read."""

    def __init__(self, broken_after: int = 0) -> None:
        self.times, self._broken_after = 0, broken_after

    def __iter__(self) -> Iterator[Finding]:
        self.times += 1
        yield from FINDINGS[: self._broken_after or None]
        if self._broken_after:
            raise OSError("the scratch file is gone")


def test_all_get_all_of_them_in_order() -> None:
    source, found = Source(), [[], [], []]  # type: tuple[Source, list[list[Finding]]]

    read_once(source, [of_one.extend for of_one in found])

    assert source.times == 1 and found == [FINDINGS] * 3


def test_one_that_takes_few_or_fails_does_not_stop_the_others() -> None:
    few: list[Finding] = []
    everything: list[Finding] = []

    def fails(findings: Iterable[Finding]) -> None:
        next(iter(findings))
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        read_once(Source(), [lambda found: few.extend(islice(found, 3)), fails, everything.extend])

    assert few == FINDINGS[:3] and everything == FINDINGS


def test_what_cannot_be_read_fails_for_all() -> None:
    seen: list[str] = []

    def writes(findings: Iterable[Finding]) -> None:
        try:
            list(findings)
        except OSError as error:
            seen.append(str(error))
            raise

    with pytest.raises(OSError, match="scratch file"):
        read_once(Source(broken_after=700), [writes, writes])

    assert seen == ["the scratch file is gone"] * 2


def test_the_command_reads_twice_whatever_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for the files, and once for what is printed, whose reader may go."""
    times: list[int] = []
    read = KeptFindings.__iter__
    monkeypatch.setattr(KeptFindings, "__iter__", lambda self: times.append(1) or read(self))  # type: ignore[func-returns-value]
    forms = ("json", "ndjson", "sarif", "junit", "gitlab", "checkstyle")

    run("validate", DEMO, *(f"--report={form}={tmp_path / form}" for form in forms))

    assert len(times) == 2
    for form in forms:
        alone = run("validate", DEMO, "--output-format", form).out
        together = (tmp_path / form).read_text("utf-8")
        assert len(together) == pytest.approx(len(alone), abs=40), form  # seconds differ
