"""Problems of one rule at many rows: what set checks find, which know of a record no more than its row number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ragdatakit.late_dataclasses import dataclass


@dataclass(slots=True)
class RowProblems:
    """Rows that break one rule, in one field; ``values`` and ``firsts`` (the rows they clash with) where known.

    ``facts`` fill the message of each row, where its template asks for more than the value; one that is a function is
    given the decoded record (None where it cannot be read again), for words that need not be kept for every row.
    ``is_repeat``: the key of the row is that of the one it clashes with. ``are_keys`` says of each
    text whether a reference to it would lead somewhere.
    """

    rule: str
    kind: str
    field: str
    rows: Any
    values: Any = None
    firsts: Any = None
    first_kind: str = ""
    note: str = ""
    facts: Sequence[Mapping[str, Any]] | None = None
    are_keys: Callable[[Sequence[str]], list[bool]] | None = None
    is_repeat: bool = False

    def part(self, start: int, end: int) -> RowProblems:
        """The same of some of the rows."""
        rows, values, firsts, facts = (
            None if column is None else column[start:end]
            for column in (self.rows, self.values, self.firsts, self.facts)
        )
        return replace(self, rows=rows, values=values, firsts=firsts, facts=facts)


T = TypeVar("T")


def in_row_order(found: Iterable[T | RowProblems], most: int) -> Iterator[T | RowProblems]:
    """The same, but of a rule that several fields break the ``most`` first rows (0: as they are) first, whichever field
    that is: so what is shown does not depend on how many records were looked at together."""
    several: dict[tuple[str, str], list[RowProblems]] = {}
    for one in found:
        if most and isinstance(one, RowProblems):
            several.setdefault((one.rule, one.kind), []).append(one)
        else:
            yield one
    for those in several.values():
        if len(those) > 1:
            firsts = [(int(row), n, place) for n, one in enumerate(those) for place, row in enumerate(one.rows[:most])]
            for _, n, place in sorted(firsts):
                yield those[n].part(place, place + 1)
            those = [one.part(most, len(one.rows)) for one in those if len(one.rows) > most]
        yield from those


def unreliable_keys(kind: str, field: str, first: int, count: int) -> RowProblems:
    """What is reported, at the first of them, of rows whose key cannot be relied on while references lead nowhere."""
    more = f" (nor that of {count - 1:,} more)" if count > 1 else ""
    return RowProblems("unreliable-key", kind, field, [first], facts=[{"more": more}])
