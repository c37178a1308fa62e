"""The findings of a run in the order of the report: few in memory, more than that in a scratch file."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ragdatakit.outputs.sorted_entries import SortedEntries
from ragdatakit.schemas.findings import Finding

IN_MEMORY = 20_000
"""Findings that are held in memory: about 1 kB each."""

Key = tuple[int, int, str, bool, int, int, str]
"""The dataset, the file, its path, whether the rule follows from others, line, column, code."""


class KeptFindings:
    """Findings by their keys; those with the same key in the order in which they came. What `__iter__` gives is the
    same every time. Of those with one fingerprint, all but the first get another."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._entries: SortedEntries[Key, Finding] = SortedEntries(in_memory, Finding.as_values, Finding.with_values)
        self._fingerprints = array("Q")

    def add(self, key: Key, finding: Finding) -> None:
        """Keep one more. Raises `OSError` where the disk is full."""
        self._entries.add(key, finding)
        if finding.fingerprint:
            self._fingerprints.append(int(finding.fingerprint, 16))

    def __iter__(self) -> Iterator[Finding]:
        if not _repeated(self._fingerprints):
            return self._entries.values()
        return (finding for _, finding in self.entries())

    def entries(self) -> Iterator[tuple[Key, Finding]]:
        """The findings with their keys."""
        from ragdatakit.validators.identity import numbered

        repeated, before = _repeated(self._fingerprints), Counter[str]()
        for key, finding in self._entries:
            first = finding.fingerprint
            if repeated and first and int(first, 16) in repeated:
                if before[first]:
                    finding = replace(finding, fingerprint=numbered(first, before[first]))
                before[first] += 1
            yield key, finding

    def close(self) -> None:
        """Remove what is not in memory."""
        self._entries.close()


def _repeated(fingerprints: array[int]) -> set[int]:
    """Those that are there more than once."""
    if len(fingerprints) < IN_MEMORY:
        return {number for number, count in Counter(fingerprints).items() if count > 1}
    import numpy as np

    ordered = np.sort(np.frombuffer(fingerprints, np.uint64))
    return set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
