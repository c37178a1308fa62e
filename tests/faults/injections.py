"""One injected fault: the damaged dataset, the rules that it breaks and where, all that follows from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragdatakit.schemas.declarations import Record
from tests.faults.drafts import UNREADABLE, Cell, Draft, DraftFile, Place
from tests.faults.set_oracle import broken_sets, once_per_file

TARGET = 20
"""The record that is damaged, of forty; of one, that one."""


@dataclass(frozen=True, slots=True)
class Injection:
    """A damaged draft. ``faults`` is empty where the damage is declared to be none.

    ``pointers`` are the JSON Pointers that the findings must carry; ``alone``: nothing follows, since what is known
    of the file's kind is known to be incomplete.
    """

    draft: Draft
    path: str
    kind: str
    damage: str
    name: str
    faults: frozenset[Place]
    pointers: frozenset[tuple[str, str]] = frozenset()
    alone: bool = False

    def consequences(self) -> set[Place]:
        """What else a reader of the whole dataset sees."""
        if self.alone:
            return set()
        found = broken_sets(self.draft) | self.draft.consequences(self.draft) | self.faults
        return once_per_file(self.draft, found) - self.faults

    def __str__(self) -> str:
        return f"{self.draft.name}: {self.path}: {self.damage}: {self.name}"


@dataclass(frozen=True, slots=True)
class Target:
    """The record to be damaged."""

    draft: Draft
    file: DraftFile
    index: int = TARGET

    @property
    def record(self) -> Record:
        """Its declaration: that of the shape which the file has."""
        shape = "string" if isinstance(self.value, str) else "object"
        return next(r for r in self.file.kind.records if r.shape in (shape, "any"))

    @property
    def value(self) -> Any:
        """The sound value."""
        return self.file.cells[self.index].value

    @property
    def line(self) -> int:
        """Its line."""
        return self.file.line(self.index)

    @property
    def is_whole_file(self) -> bool:
        """Whether the file is one JSON document, and this record all of it."""
        return self.file.kind.container == "json" and len(self.file.cells) == 1

    def members(self) -> dict[str, str]:
        """The members of the object as JSON texts."""
        return {k: json.dumps(v, ensure_ascii=False) for k, v in self.value.items()}

    def places(self, *rules: str, line: int | None = None) -> frozenset[Place]:
        """These rules at the record (a leading ``!``: at the file as a whole); empty names are none."""
        at = self.line if line is None else line
        return frozenset(
            Place(r.removeprefix("!"), self.file.path, None if r.startswith("!") else at) for r in rules if r
        )

    def replaced(self, new: Cell) -> DraftFile:
        """The file with another cell in the record's place."""
        return self.file.with_cell(self.index, new)

    def injection(self, file: DraftFile, damage: str, name: str, faults: frozenset[Place], **more: Any) -> Injection:
        """A fault of this file."""
        return Injection(self.draft.with_file(file), file.path, file.kind.kind, damage, name, faults, **more)


def targets(draft: Draft) -> Iterator[Target]:
    """One record in the middle of each file, or its only one."""
    for file in draft.files:
        if file.cells:
            yield Target(draft, file, min(TARGET, len(file.cells) - 1))


def readable_cell(raw: str) -> Cell:
    """A cell with that text, and the value that Python reads from it."""
    return Cell(json.loads(raw), raw.encode("utf-8", "surrogatepass"))


def broken_cell(raw: str | bytes) -> Cell:
    """A cell that is no JSON."""
    return Cell(UNREADABLE, raw if isinstance(raw, bytes) else raw.encode())


def object_text(members: dict[str, str]) -> str:
    """An object of these members."""
    return "{" + ", ".join(f"{json.dumps(k)}: {v}" for k, v in members.items()) + "}"
