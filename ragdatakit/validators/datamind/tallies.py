"""Fields that one loader throws away: in nearly every record of real data, so counted per file and reported once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.datamind.chunks import taken_keys
from ragdatakit.validators.datamind.triples import unused_fields
from ragdatakit.validators.excerpts import show

Trait = tuple[str, str]


class Tally:
    """How many records of the file being read have which trait: (rule, key of the metadata or nothing)."""

    def __init__(self) -> None:
        self._counts: Counter[Trait] = Counter()
        # Blocks are checked in several threads.
        self._lock = threading.Lock()

    def add(self, counts: Counter[Trait]) -> None:
        """Take in counts of some records."""
        if counts:
            with self._lock:
                self._counts.update(counts)

    def note(self, traits: Iterable[Trait]) -> None:
        """Count the traits of one record."""
        found = list(traits)
        if found:
            with self._lock:
                self._counts.update(found)

    def counts(self) -> Counter[Trait]:
        """What was counted so far."""
        with self._lock:
            return self._counts.copy()

    def problems(self) -> Iterator[Problem]:
        """One problem per trait, and start again."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        for (rule, key), count in sorted(counts.items()):
            yield Problem(rule, facts={"count": f"{count:,}", "key": show(key)})


def record_traits(kind: str, value: Any, file_name: str) -> Iterator[Trait]:
    """The traits of one record."""
    if kind == "triplets":
        for rule in unused_fields(value):
            yield rule, ""
    elif kind == "chunks" and isinstance(value, dict):
        if value.get("id") is not None or value.get("source") is not None:
            yield "unused-id-or-source", ""
        if value.get("text"):
            yield from taken_keys(value.get("metadata"), value.get("source"), file_name)
