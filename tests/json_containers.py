"""A format of two files for tests of containers: an object of texts, and records in any JSON container."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.scanner.predicates import Longer
from ragdatakit.schemas.declarations import Container, Field, File, Format, Key, Record, Reference, Rule
from ragdatakit.schemas.findings import Finding, Problem
from ragdatakit.validators import dataset_run
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.dataset_run import DatasetRun
from ragdatakit.validators.run_options import RunOptions

NAMES = (
    *("not-json", "not-records", "only-text", "nothing-there", "no-text", "no-name", "no-object", "title-twice"),
    *("unknown-title", "shouted"),
)


def _rule(number: int, name: str) -> Rule:
    message = {"not-json": "{reason}", "title-twice": "{value} is there before"}.get(name, "{field}: {value}")
    return Rule(
        code=f"NB{number}", name=name, severity="error", summary="", message=message, upstream="it is lost", hint="mend"
    )


_FILE_RULES = {
    "syntax": "not-json",
    "top-level": "not-records",
    "top-level-string": "only-text",
    "no-records": "nothing-there",
    "not-object": "no-object",
}
_TITLE = Field(name="title", type="string", rules={"empty": "no-name"}, non_empty=True)
_TEXT = Field(name="text", type="string", rules={"type": "no-text", "null": "no-text", "missing": "no-text"})
NOTE = Record(name="Note", title="note", description="", fields=(_TITLE, _TEXT), rules=_FILE_RULES)
CITED = Field(name="cites", type="array", items="string", required=False, rules={"type": "no-text"})
TRACE = Record(
    name="Trace",
    title="trace",
    description="",
    fields=(Field(name="title", type="string", rules={"missing": "no-name", "type": "no-name"}), CITED),
    rules=_FILE_RULES,
)


def notebook(container: Container) -> Format:
    """The format; ``container`` is that of the notes, if they are no object."""
    files = (
        File(kind="notes", title="notes", container="json-object", records=(NOTE,), suffixes=(".json",)),
        File(
            kind="traces", title="traces", container=container, records=(TRACE,), suffixes=(".json",), keys=("title",)
        ),
    )
    return Format(
        name="notebook",
        title="Notebook",
        letters="NB",
        description="",
        homepage="",
        files=files,
        rules=tuple(_rule(100 + i, name) for i, name in enumerate(NAMES)),
        keys=(Key(kind="notes", fields=("title",), rule="title-twice"),),
        references=(Reference(kind="traces", field="cites", to_kind="notes", to_field="title", rule="unknown-title"),),
    )


class Shouting(FormatChecks):
    """A check in code: texts in capitals."""

    def needs(self, kind: str, split: str | None = None) -> Needs:
        return Needs(records=kind == "notes")

    def scanning(self, file: DataFile) -> Scanning:
        return Scanning((Longer("text", 3),) if file.kind == "notes" else ())

    def record(self, file: DataFile, value: Any) -> list[Problem]:
        text = value.get("text") if isinstance(value, dict) else None
        if isinstance(text, str) and len(text) > 3 and text.isupper():
            return [Problem("shouted", "/text", text)]
        return []


def validate(
    files: dict[str, Path],
    block_bytes: int = 1 << 19,
    scanned: bool = False,
    container: Container = "json",
    jobs: int = 1,
) -> list[Finding]:
    """All findings in files by kind, read by that engine in parts of that size."""
    return run(files, block_bytes, scanned, container, jobs).collector.kept


def run(
    files: dict[str, Path],
    block_bytes: int = 1 << 19,
    scanned: bool = False,
    container: Container = "json",
    jobs: int = 1,
) -> DatasetRun:
    """The run after it is done."""
    fmt = notebook(container)
    found = [DataFile(path, path.name, path.name, kind) for kind, path in files.items()]
    dataset = Dataset(found[0].path.parent, "set", fmt, "file", found)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ARRAY_PART_BYTES", "BLOCK_BYTES", "TEXT_BLOCK_BYTES"):
            patch.setattr(dataset_run, name, block_bytes)
        if scanned:
            patch.setattr(dataset_run, "SMALL_DATASET", -1)
        done = DatasetRun(
            *(dataset, Shouting(dataset, ()), (), Selection(max_per_rule=0), RunOptions(jobs=jobs)), carried=Counter()
        )
        done.run()
    done.collector.kept.sort(key=lambda f: (f.path, f.line or 0, f.column or 0, f.code))
    return done


def written(path: Path, data: bytes, zipped: bool = False) -> Path:
    """A file of those bytes."""
    path.write_bytes(gzip.compress(data, mtime=0) if zipped else data)
    return path
