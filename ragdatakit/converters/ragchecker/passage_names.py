"""What passages are called that come row by row: as in the file, unless one id has several texts."""

from __future__ import annotations

from collections.abc import Sequence

from ragdatakit.converters.ragchecker.rows import target_of


class OfRowError(Exception):
    """One id has several texts, so that ids are those of their row."""


class PassageNames:
    """Names of passages, ``by_row`` with the ids of their questions."""

    def __init__(self, by_row: bool) -> None:
        self.by_row = by_row
        self._known: dict[str, int] = {}  # codes of texts by the ids that they have in the file
        self._made: set[str] = set()  # other names

    def named(
        self, question_ids: Sequence[str], places: Sequence[int], names: Sequence[str | None], codes: Sequence[int]
    ) -> tuple[Sequence[str], Sequence[int]]:
        """What passages are called, and which of them (places among these) were not there before. ``places`` are those
        in their rows, ``names`` their own ids, ``codes`` those of their texts. Raises `OfRowError`."""
        is_plain = not self.by_row and None not in names and len({*names}) == len(names)
        if is_plain and self._known.keys().isdisjoint(names) and self._made.isdisjoint(names):
            found = [name or "" for name in names]
            self._known.update(zip(found, codes, strict=True))
            return found, range(len(found))
        targets = [target_of(*each, self.by_row) for each in zip(question_ids, places, names, strict=True)]
        fresh = []
        for place, (name, target, code) in enumerate(zip(names, targets, codes, strict=True)):
            if target not in self._made and target not in self._known:
                fresh.append(place)
            if name is None or self.by_row:
                self._made.add(target)
            elif self._known.setdefault(name, code) != code:
                raise OfRowError
        return targets, fresh
