"""How the scanner looks at a file that is one record with a long list, and what the checks get of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Problem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.scanner.plan import Asked
    from ragdatakit.schemas.declarations import Record


@dataclass(frozen=True, slots=True)
class Items:
    """How the scanner looks at a file that is one record with a long list of objects: the list, what one of its objects
    is, the text in it that is its key, and which values the rules may want to see.

    ``known`` are codes that those of the keys are looked up in: items with others are looked at. ``wanted`` gives the
    places of further items that must be looked at, as all of them together show; ``problems`` are those of the record,
    as `FormatChecks.record` finds them where it sees all of it.
    """

    field: str
    record: Record
    key: str
    asked: tuple[Asked, ...]
    known: Any = None
    wanted: Callable[[ScannedItems], Iterable[int]] = lambda _: ()
    problems: Callable[[ScannedItems], Iterable[Problem]] = lambda _: ()


@dataclass(slots=True)
class ScannedItems:
    """The objects of such a list.

    How many there are, those that must be looked at, by their places, what the predicates have counted of the others
    (``again`` are some of these that must be looked at nevertheless), and the codes of their keys, with the places of
    those that have one.
    """

    length: int = 0
    seen: dict[int, Any] = field(default_factory=dict)
    again: dict[int, Any] = field(default_factory=dict)
    counts: Counter[Any] = field(default_factory=Counter)
    codes: npt.NDArray[Any] = None  # type: ignore[assignment]  # numpy is not imported for this
    places: npt.NDArray[np.int64] = None  # type: ignore[assignment]
