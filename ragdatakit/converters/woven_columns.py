"""Some of the rows of columns, with the rows of others between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.database.columns import ITEMS, NUMBERS, PackedColumn, bits_of, bounds_of_lists, numbers_in, texts_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.views import offsets_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.database.text_places import KnownTexts

    Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Runs:
    """Rows of two batches of columns, in an order in which all are taken from the first of each run (``starts``) up to
    its last one (``ends``: the one behind): those of the second batch have numbers behind the ``length`` of the first
    one."""

    starts: Numbers
    ends: Numbers
    length: int
    rows: Numbers

    @classmethod
    def of(cls, starts: Numbers, ends: Numbers, length: int) -> Runs:
        """Those of the runs that have any rows."""
        filled = starts < ends
        starts, ends = starts[filled], ends[filled]
        sizes = ends - starts
        rows = np.arange(sizes.sum()) + np.repeat(starts - offsets_of(sizes)[:-1], sizes)
        return cls(starts, ends, length, rows)

    def woven(self, one: Sequence[PackedColumn], other: Sequence[PackedColumn]) -> list[PackedColumn]:
        """The columns with these rows of both batches. None has bytes, or texts that are apart. Where there are facts
        of texts, these count as empty only rows that are taken."""
        return [self._column(pair) for pair in zip(one, other, strict=True)]

    def _chosen(self, parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return np.concatenate(parts)[self.rows]

    def _column(self, pair: tuple[PackedColumn, PackedColumn]) -> PackedColumn:
        kind, valid = pair[0].kind, None
        if any(column.buffers[0] is not None for column in pair):
            valid = np.packbits(self._chosen([*map(bits_of, pair)]), bitorder="little")
        if kind in NUMBERS:
            return PackedColumn(kind, len(self.rows), (valid, self._chosen([*map(numbers_in, pair)])))
        bounds = [bounds_of_lists(column).astype(np.int64) for column in pair]
        offsets = offsets_of(self._chosen([*map(np.diff, bounds)])).astype(np.int32)
        of_other = self.starts >= self.length
        starts, ends = (np.concatenate(bounds)[rows + of_other] for rows in (self.starts, self.ends))
        if kind in ITEMS:
            own, others = (column.items for column in pair)
            assert own is not None
            assert others is not None
            inside = Runs.of(starts + own.length * of_other, ends + own.length * of_other, own.length)
            return PackedColumn(kind, len(self.rows), (valid, offsets), inside._column((own, others)))
        data = [texts_of(column)[0].data for column in pair]
        runs = zip(of_other.tolist(), starts.tolist(), ends.tolist(), strict=True)
        held = b"".join(data[which][start:end] for which, start, end in runs)
        if len(held) >= 1 << 31:
            raise OverflowError("texts of more than 2 GiB")
        known = [column.known for column in pair if column.known is not None]
        chosen = self._known(*known) if len(known) == len(pair) else None
        return PackedColumn(kind, len(self.rows), (valid, offsets, held), known=chosen)

    def _known(self, one: KnownTexts, other: KnownTexts) -> KnownTexts:
        known, places, moved = one.together([one, other]), [], offsets_of(self.ends - self.starts).tolist()
        for row, some in known.places:
            last = row + len(some.starts)
            for start, end, place in zip(self.starts.tolist(), self.ends.tolist(), moved, strict=False):
                first, behind = max(start, row), min(end, last)
                if first < behind:
                    places.append((place + first - start, some.between(first - row, behind - row)))
        return replace(known, lengths=known.lengths[self.rows], codes=known.codes[self.rows], places=places)
