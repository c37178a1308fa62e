"""A graph in the making: names once each, mentions and edges as numbers, so that a million passages need no objects."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

OCCURS = "occurs_with"
"""Between names of one sentence."""
TOPIC = "occurs_in_text_about"
"""From a name to the title of its passage."""
ENTITY = "entity"
NEAR = 8
"""Names of a sentence that are further apart than this many are not connected."""
_YEAR_DIGITS = 4
Triple = tuple[int, int, int]
"""Numbers of an entity, a relation and an entity."""
_MANY = 1 << 23
"""New edges after which repeated ones are left out."""


def spelled_as_name(name: str) -> str:
    """A name that does not look like a number."""
    if not name.isdecimal():
        return name
    return f"year {name}" if len(name) == _YEAR_DIGITS else f"{name} (entity)"


class _Numbered:
    """Texts by number, in the order in which they came."""

    def __init__(self) -> None:
        self.listed: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.listed)
            self.listed.append(text)
        return number

    def get(self, text: str) -> int | None:
        return self._numbers.get(text)


@dataclass(slots=True)
class GraphStore:
    """Entities and edges, passage by passage. An edge belongs to the first passage that has it."""

    entities: _Numbered = field(default_factory=_Numbered)
    relations: _Numbered = field(default_factory=_Numbered)
    attributes: dict[int, str] = field(default_factory=dict)
    _mentioned: array[int] = field(default_factory=lambda: array("i"))
    _ends: array[int] = field(default_factory=lambda: array("q", [0]))
    _new: array[int] = field(default_factory=lambda: array("i"))
    _edges: npt.NDArray[np.int32] | None = None

    @property
    def passages(self) -> int:
        """How many passages were added."""
        return len(self._ends) - 1

    def add(self, mentioned: Iterable[int], triples: Iterable[Triple]) -> None:
        """The next passage: the entities that it mentions, and its edges; repeated ones and loops are left out."""
        ordinal = self.passages
        self._mentioned.extend(dict.fromkeys(mentioned))
        self._ends.append(len(self._mentioned))
        for source, relation, target in dict.fromkeys(triples):
            if source != target:
                self._new.extend((source, relation, target, ordinal))
        if len(self._new) >= 4 * _MANY:
            self._settle()

    def _settle(self) -> npt.NDArray[np.int32]:
        """All edges, each once: rows of source, relation, target, first passage, in the order of the passages."""
        parts = [np.frombuffer(self._new, np.int32).reshape(-1, 4)] if self._new else []
        if self._edges is not None:
            parts.insert(0, self._edges)
        rows = np.concatenate(parts) if parts else np.empty((0, 4), np.int32)
        if len(self._new):
            order = np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0]))
            ends = rows[order, :3]
            first = np.ones(len(rows), bool)
            first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
            rows = rows[np.sort(order[first])]
            self._new = array("i")
        self._edges = rows
        return rows

    def edges(self) -> Iterator[list[tuple[int, int, int]]]:
        """For each passage its edges."""
        rows = self._settle()
        bounds = np.searchsorted(rows[:, 3], np.arange(self.passages + 1)).tolist()
        for ordinal in range(self.passages):
            part = rows[bounds[ordinal] : bounds[ordinal + 1], :3]
            yield [tuple(row) for row in part.tolist()]

    def used(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which entities have an edge, and which relations."""
        rows = self._settle()
        entities = np.zeros(len(self.entities.listed), bool)
        relations = np.zeros(len(self.relations.listed), bool)
        entities[rows[:, 0]] = entities[rows[:, 2]] = True
        relations[rows[:, 1]] = True
        return entities, relations

    def mentioned(self, ordinal: int) -> Sequence[int]:
        """The entities that a passage mentions."""
        return self._mentioned[self._ends[ordinal] : self._ends[ordinal + 1]]
