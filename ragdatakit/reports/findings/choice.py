"""A few of many findings: those that say most, for readers that take no more than so many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragdatakit.schemas.findings import SEVERITIES, Finding, Severity

_Group = tuple[Severity, str]
"""A severity and the code of a rule."""


class Choice:
    """At most so many findings: errors before warnings, of each rule about as many as of any other.

    Of the groups in ``full`` no further one is taken. Memory: about four times as many findings as are chosen.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._groups: dict[_Group, list[tuple[int, Finding]]] = {}
        self._shares_now: dict[_Group, int] = {}
        self.full: set[_Group] = set()
        self._seen = self._kept = 0

    def add(self, finding: Finding) -> None:
        """One more, in the order of the report."""
        group = finding.severity, finding.code
        if group in self.full:
            return
        those = self._groups.setdefault(group, [])
        self._seen += 1
        those.append((self._seen, finding))
        self._kept += 1
        if self._kept > 4 * self._most:  # shares only shrink: what is beyond one now is never chosen
            self._shares_now = self._shares()
            for each, share in self._shares_now.items():
                del self._groups[each][share:]
            self._kept = sum(map(len, self._groups.values()))
            self.full = {each for each in self._groups if self._is_full(each)}
        elif self._is_full(group):
            self.full.add(group)

    def _is_full(self, group: _Group) -> bool:
        return len(self._groups[group]) >= self._shares_now.get(group, self._most)

    def chosen(self) -> list[Finding]:
        """Those that are chosen, in their order."""
        shares = self._shares()
        found = [one for group, those in self._groups.items() for one in those[: shares[group]]]
        return [finding for _, finding in sorted(found, key=lambda one: one[0])]

    def _shares(self) -> dict[_Group, int]:
        shares: dict[_Group, int] = {}
        most = self._most
        for severity in SEVERITIES:
            mine = [group for group in self._groups if group[0] == severity]
            mine.sort(key=lambda group: len(self._groups[group]))
            found = divided([len(self._groups[group]) for group in mine], most)
            shares |= dict(zip(mine, found, strict=True))
            most -= sum(found)
        return shares


def divided(lengths: Sequence[int], most: int) -> list[int]:
    """How many of each group are taken, where the groups come by their lengths: equal shares as far as there are."""
    shares: list[int] = []
    for place, length in enumerate(lengths):
        shares.append(min(length, -(-most // (len(lengths) - place))))
        most -= shares[-1]
    return shares


def choose(findings: Iterable[Finding], most: int) -> list[Finding]:
    """At most so many of them."""
    choice = Choice(most)
    for finding in findings:
        choice.add(finding)
    return choice.chosen()
