"""A row source that says what it had to change on reading, and says it once, however often it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragdatakit.schemas.conversions import Losses, LossKind

Note = tuple[LossKind, str, str | None, str, object]
"""Kind, table, column, reason and example, as `Losses.add` takes them."""


Numbers = tuple[str | None, Sequence[Any], Mapping[int, Sequence[str | None]]]
"""A block of rows of ids: split, columns of integers, and by row the ids that are none, with None for the others."""


class NotedRows:
    """Rows of one table. The reader appends to the list it is given what it notes about the row it is working on.

    Sources are read in part (is there a row?), whole (to collect ids) and again (to write): each row's notes are
    counted when it is reached for the first time.
    """

    def __init__(self, losses: Losses, read: Callable[[list[Note]], Iterator[Any]]) -> None:
        self._losses = losses
        self._read = read
        self._noted_to = 0

    def __call__(self) -> Iterator[Any]:
        """The rows, from the beginning."""
        reading = NotedReading(self)
        yield from reading.told(self._read(reading.notes))
        reading.end()

    def tell(self, notes: list[Note], place: int) -> None:
        """Count what is noted about the row at this place, from 1, and forget it."""
        if place > self._noted_to:
            self._noted_to = place
            for note in notes:
                self._losses.add(*note)
        if notes:
            notes.clear()


class NotedReading:
    """One reading of such rows, from the beginning. ``notes`` are those about the row that is worked on."""

    def __init__(self, rows: NotedRows) -> None:
        self.notes: list[Note] = []
        self._rows = rows
        self._place = 0

    def told(self, rows: Iterator[Any]) -> Iterator[Any]:
        """These rows, which are the next ones."""
        for row in rows:
            self._place += 1
            self._rows.tell(self.notes, self._place)
            yield row

    def passed(self, rows: int) -> None:
        """So many rows, which are the next ones, came in another way; nothing is noted of them."""
        if rows:
            self._rows.tell(self.notes, self._place + 1)
            self._place += rows
            self._rows.tell(self.notes, self._place)

    def end(self) -> None:
        """There are no more rows."""
        self._rows.tell(self.notes, self._place + 1)


class NumberedRows(NotedRows):
    """Rows of ids most of which are integers. ``numbers`` gives them so, read in so many threads; None where that
    cannot be."""

    def __init__(
        self,
        losses: Losses,
        read: Callable[[list[Note]], Iterator[Any]],
        numbers: Callable[[int], Iterator[Numbers] | None],
    ) -> None:
        super().__init__(losses, read)
        self.numbers = numbers


class FileRows(NotedRows):
    """Rows that are a file each; ``files`` has them by the rows' ids, for a writer that can copy them as they are."""

    def __init__(self, losses: Losses, read: Callable[[list[Note]], Iterator[Any]], files: Mapping[str, Path]) -> None:
        super().__init__(losses, read)
        self.files = files
