"""Problems of one rule at many rows: what set checks find, which know of a record no more than its row number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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


def unreliable_keys(kind: str, field: str, rows: Iterable[int]) -> RowProblems:
    """What is reported, at the first of them, of rows whose key cannot be relied on while references lead nowhere."""
    rows = set(rows)
    more = f" (nor that of {len(rows) - 1:,} more)" if len(rows) > 1 else ""
    return RowProblems("unreliable-key", kind, field, [min(rows)], facts=[{"more": more}])
