"""The whole grid: every injection of every clean dataset, and the verdict on what is reported of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run import validate_paths
from ragdatakit.validators.run_options import RunOptions
from tests.faults import (
    arag,
    beir,
    contextual_retrieval,
    datamind,
    gfm_rag,
    hipporag,
    light_splade,
    lightrag,
    ragchecker,
    raptor,
    sage,
    trec,
)
from tests.faults.csv_faults import csv_faults
from tests.faults.drafts import Draft, Place, write_file
from tests.faults.element_faults import element_faults
from tests.faults.engines import engine
from tests.faults.field_faults import field_faults
from tests.faults.file_faults import file_faults
from tests.faults.graphrag import TableInjection
from tests.faults.injections import Injection, targets
from tests.faults.line_faults import line_faults
from tests.faults.member_faults import member_faults
from tests.faults.record_faults import record_faults
from tests.faults.relation_faults import relation_faults

DRAFTS: tuple[Draft, ...] = (
    *light_splade.drafts(),
    *arag.drafts(),
    *datamind.drafts(),
    *gfm_rag.drafts(),
    *hipporag.drafts(),
    *beir.drafts(),
    *trec.drafts(),
    *sage.drafts(),
    *ragchecker.drafts(),
    *raptor.drafts(),
    *contextual_retrieval.drafts(),
    *lightrag.drafts(),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was expected of one injection and is not there, and what is there and was not expected."""

    injection: Injection | TableInjection
    missed: tuple[Place, ...] = ()
    lost: tuple[Place, ...] = ()
    unexpected: tuple[Place, ...] = ()
    unpointed: tuple[tuple[str, str], ...] = ()

    @property
    def right(self) -> bool:
        """Whether exactly the expected was reported."""
        return not (self.missed or self.lost or self.unexpected or self.unpointed)

    def __str__(self) -> str:
        return (
            f"{self.injection}\n  missed {[*self.missed]}\n  consequences missed {[*self.lost]}\n"
            f"  unexpected {[*self.unexpected]}\n  not pointed at {[*self.unpointed]}"
        )


def injections(draft: Draft) -> Iterator[Injection]:
    """All faults of one clean dataset."""
    for target in targets(draft):
        if target.file.is_table:
            yield from csv_faults(target)
        elif target.file.is_object:
            yield from member_faults(target)
        elif target.file.is_columns:
            yield from line_faults(target)
        elif target.file.is_tagged:
            yield from element_faults(target)
        else:
            yield from field_faults(target)
            yield from record_faults(target)
            yield from file_faults(target)
    yield from relation_faults(draft)


class Bench:
    """One clean dataset on disk, damaged and restored again and again."""

    def __init__(self, draft: Draft, root: Path) -> None:
        self.draft = draft
        self.root = root
        draft.write(root)

    def findings(self, injection: Injection | None, engine_name: str, threads: int = 1) -> list[dict[str, Any]]:
        """Everything that is reported of the damaged dataset (None: of the clean one), paths relative."""
        place = self.root / self.draft.notes.get("entry", "")
        if injection is not None:
            write_file(self.root, injection.draft.file(injection.path))
        try:
            with engine(engine_name):
                report = validate_paths(
                    [place],
                    self.draft.notes.get("format"),
                    selection=Selection(max_per_rule=0),
                    options=RunOptions(jobs=threads),
                )
        finally:
            if injection is not None:
                write_file(self.root, self.draft.file(injection.path))
        prefix = f"{self.root}/"
        found = [f.as_dict() for f in report.findings]
        for each in found:
            each["path"] = each["path"].removeprefix(prefix)
            each["related"] = [{**r, "path": r["path"].removeprefix(prefix)} for r in each["related"]]
        return found


def judge(injection: Injection | TableInjection, findings: list[dict[str, Any]]) -> Verdict:
    """Compare what is reported with what must be."""
    baseline = injection.draft.baseline
    found = {Place(f["rule"], f["path"], f["line"]) for f in findings if (f["rule"], f["path"]) not in baseline}
    if injection.alone:  # the file as a whole is at fault, and it is reported that nothing was compared with it
        found = {place for place in found if place.rule != "unchecked-references"}
    expected = injection.consequences()
    pointed = {(f["rule"], f["pointer"]) for f in findings}
    return Verdict(
        injection,
        tuple(injection.faults - found),
        tuple(expected - found),
        tuple(found - expected - injection.faults),
        tuple(injection.pointers - pointed),
    )
