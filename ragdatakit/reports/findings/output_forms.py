"""The forms in which `ragdata validate` writes what it found: their names, who writes them, how they are escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from importlib import import_module
from itertools import filterfalse
from operator import attrgetter
from typing import Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.findings.text import TextOptions
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.results import Report


@dataclass(frozen=True, slots=True)
class OutputForm:
    """One form: the function ``module:function`` that writes it, the endings of file names that stand for it.

    ``escapes``: how commands to a CI runner are broken up where it is printed (``commands``: the writer does it).
    ``baselined``: it can say of a finding that a baseline accepts it; the others leave those out. ``for_programs``:
    what reads it compares it with the last run, and wants all findings. ``quiet``: it may be no more than a summary.
    """

    writer: str
    escapes: Literal["text", "json", "html", "commands"]
    endings: tuple[str, ...] = ()
    baselined: bool = False
    for_programs: bool = True
    quiet: bool = False


_HERE = "ragdatakit.reports.findings"
OUTPUT_FORMS: dict[str, OutputForm] = {
    "full": OutputForm(f"{_HERE}.for_people:full", "text", for_programs=False, quiet=True),
    "concise": OutputForm(f"{_HERE}.for_people:concise", "text", for_programs=False, quiet=True),
    "grouped": OutputForm(f"{_HERE}.for_people:grouped", "text", for_programs=False, quiet=True),
    "json": OutputForm(f"{_HERE}.for_programs:document", "json", (".json",), baselined=True),
    "ndjson": OutputForm(f"{_HERE}.for_programs:lines", "json", (".ndjson", ".jsonl"), baselined=True),
    "github": OutputForm(f"{_HERE}.runner_commands:github", "commands", for_programs=False),
    "gitlab": OutputForm(f"{_HERE}.for_programs:gitlab", "json"),
    "junit": OutputForm(f"{_HERE}.xml_reports:junit", "html"),
    "sarif": OutputForm(f"{_HERE}.sarif:sarif", "json", (".sarif",)),
    "rdjson": OutputForm(f"{_HERE}.reviewdog:rdjson", "json", (".rdjson",)),
    "rdjsonl": OutputForm(f"{_HERE}.reviewdog:rdjsonl", "json", (".rdjsonl",)),
    "azure": OutputForm(f"{_HERE}.runner_commands:azure", "commands", for_programs=False),
    "checkstyle": OutputForm(f"{_HERE}.xml_reports:checkstyle", "html"),
    "github-summary": OutputForm(f"{_HERE}.for_people:github_summary", "text", for_programs=False),
}
OLD_NAMES = {"text": "full"}
"""Names that older versions have for some of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """A report with its findings, which are read once, in order.

    ``options`` are for what people read. ``notes`` takes what the user has to know besides, such as a limit of those
    who read the form. At most ``most`` of each rule are written (0: all).
    """

    report: Report
    findings: Iterable[Finding]
    options: TextOptions = field(default_factory=TextOptions)
    notes: list[str] = field(default_factory=list)
    most: int = 0


def written(form: str, found: Found) -> Iterator[bytes]:
    """The output in the form of that name, piece by piece: no piece ends within a value."""
    declared = OUTPUT_FORMS[form]
    module, name = declared.writer.split(":")
    if not declared.baselined:
        found = replace(found, findings=filterfalse(attrgetter("baselined"), found.findings))
    if found.most:
        found = replace(found, findings=_first_of_rules(found.findings, found.most))
    writer: Callable[[Found], Iterator[bytes]] = getattr(import_module(module), name)
    return writer(found)


def _first_of_rules(findings: Iterable[Finding], most: int) -> Iterator[Finding]:
    number: Counter[str] = Counter()
    for finding in findings:
        number[finding.code] += not finding.baselined  # all of those are shown, where they are
        if finding.baselined or number[finding.code] <= most:
            few = len(finding.records) <= most
            yield finding if few else replace(finding, records=finding.records[:most])
