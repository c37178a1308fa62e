"""What a named change to a light-splade dataset is: the kind of file it acts on, the rules that it breaks.

The codes are those of upstream's behaviour as we describe it: ``E…`` where its loader raises, drops or misreads,
``W…`` where it loads; ``E`` alone is a fault that has no code of its own. A mutation without a code is legal.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.light_splade_drafts import DraftFile, DraftSet, Row

ID_FIELD = {"queries": "qid", "documents": "doc_id", "positives": "qid", "triplets": "qid", "scores": "qid"}
UNKNOWN = 987_654_321


@dataclass(slots=True)
class Target:
    """Where a mutation acts: one file of a draft, and one record of it."""

    draft: DraftSet
    file: DraftFile
    kind: str
    rng: Random

    @property
    def rows(self) -> list[Row]:
        """The lines of the file."""
        return self.file.rows

    def shuffled(self) -> list[tuple[int, dict[str, Any]]]:
        """The lines that are still records with a usable id, with their indexes, in random order."""
        name = ID_FIELD[self.kind]
        known = [(i, r) for i, r in enumerate(self.rows) if isinstance(r, dict) and isinstance(r.get(name), int | str)]
        return self.rng.sample(known, len(known))

    def pick(self) -> tuple[int, dict[str, Any]]:
        """A record that is still one, and its index."""
        for index, row in self.shuffled():
            return index, row
        raise NothingToChange

    def find(self, kind: str, value: Any) -> dict[str, Any]:
        """The record of the training split's ``kind`` with that id."""
        file = self.draft.files[self.draft.training, kind]
        for row in file.rows:
            if isinstance(row, dict) and row.get(ID_FIELD[kind]) == value:
                return row
        raise NothingToChange


class NothingToChange(Exception):
    """Earlier mutations left nothing that this one could act on."""


Change = Callable[[Target], None]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of one kind of file, and the codes of the rules that it breaks when it stands alone."""

    name: str
    kind: str
    codes: tuple[str, ...]
    change: Change

    @property
    def is_fault(self) -> bool:
        """Whether upstream raises, drops or misreads."""
        return any(code.startswith("E") for code in self.codes)

    def applies(self, draft: DraftSet) -> bool:
        """Whether the draft has such a file; rules of training sets are not tried where no folder says training."""
        training_only = {"E24", "E32"} & set(self.codes)
        return any(kind == self.kind for _, kind in draft.files) and not (training_only and draft.training == "")

    def apply(self, draft: DraftSet, rng: Random) -> None:
        """Change the draft, if there is still something to change."""
        files = [file for (split, kind), file in draft.files.items() if kind == self.kind and self._meant(split)]
        try:
            self.change(Target(draft, rng.choice(files), self.kind, rng))
        except (NothingToChange, LookupError, TypeError, ValueError, AttributeError):
            return  # an earlier mutation took away what this one needs; what it left is what is judged
        draft.mutations.append(f"{self.name} in {self.kind}")

    def _meant(self, split: str) -> bool:
        return split != "validation" or self.kind != "triplets"


def mutation(into: list[Mutation], name: str, **codes: str) -> Callable[[Change], Change]:
    """Add a change to the list for the kinds named, each with its codes (several with a space between)."""

    def register(change: Change) -> Change:
        into.extend(Mutation(name, kind, tuple(given.split()), change) for kind, given in codes.items())
        return change

    return register


def every(codes: str) -> dict[str, str]:
    """The same codes for all five kinds."""
    return dict.fromkeys(ID_FIELD, codes)


def dumped(row: Row) -> str:
    """The line of a record."""
    return row if isinstance(row, str) else json.dumps(row)
