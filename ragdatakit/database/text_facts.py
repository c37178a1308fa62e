"""What a report wants to know of each text of a table, counted while the table is filled. Texts of which their files
say where they are stay out of the table: the few that are shown are read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.database.columns import Kind, PackedColumn, bits_of, packed_same, packed_texts, texts_of
from ragdatakit.files.containers.beginnings import GZIP_MAGIC
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.files.paths.folders import size_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.library import library

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.database.text_places import ApartTexts, KnownTexts, RecordPlaces, TextPlaces
    from ragdatakit.scanner.blocks import Sampling

    Numbers = npt.NDArray[np.int64]

A = TypeVar("A", bound="np.generic")
COLUMN = "text"
"""The column that has facts."""
_MOST_TEXTS = 1 << 14
"""Texts of a table that are counted, where not all are; half as many are at least, unless these are long."""
_UNSURE = 0.03
"""How far the bytes of the texts that are still to come may be from what those before say."""


@dataclass(frozen=True, slots=True)
class FactsWanted:
    """What is wanted of the texts of a table. ``numbers`` counts tokens and scripts of some; of more than
    ``most_bytes`` of texts those of every n-th are wanted, and of those for which ``begins`` gives places, by tokens
    and scripts, the first ``beginning`` characters. ``apart``: texts may stay out of the table, and whole tables out of
    the database; ``shown``: values may have what stands for them, except that so many characters are shown of those of
    a few rows (0: they have themselves)."""

    numbers: Callable[..., tuple[Numbers, npt.NDArray[np.uint8]] | None]
    most_bytes: int
    begins: Callable[[Numbers, npt.NDArray[np.uint8]], Numbers]
    beginning: int
    apart: bool = False
    shown: int = 0

    def step(self, size: int, rows: int) -> int:
        """Every how many-th text is wanted, where there are so many ``rows``, of so many bytes together."""
        return step_of(size, rows, self.most_bytes)


def step_of(size: int, rows: int, most_bytes: int) -> int:
    """Every how many-th text of so many rows is counted, of more than so many bytes in all: a power of two, which is
    known before all of them are; those that a lower one has chosen meanwhile have all that are wanted among them."""
    if size <= most_bytes:
        return 1
    return 1 << (max(-(-size // most_bytes), -(-rows // _MOST_TEXTS)) - 1).bit_length()


@dataclass(frozen=True, slots=True)
class CountedTexts:
    """Tokens and scripts of every so many-th text of a table, and how some of these begin, by row."""

    step: int
    tokens: Numbers
    scripts: npt.NDArray[np.uint8]
    beginnings: dict[int, str]


class TextFacts:
    """The numbers of the texts of a table: ``characters`` of each row, -1 where it has none, ``codes`` (texts with one
    code are the same), ``size`` in bytes, and how many are ``missing`` or ``empty``: blanks only.

    They are there (``known``) where they were ``wanted`` before the table was filled, and there is a scanner.
    ``places`` are where the texts are that are not in the table, ``beginnings`` those of some of them.
    """

    def __init__(self) -> None:
        self.wanted: FactsWanted | None = None
        self.places: TextPlaces | None = None
        self._expected = 0
        self._forget()

    def _forget(self) -> None:
        self._place: int | None = None
        self.size = self.missing = self.empty = self._rows = self._read = 0
        self.places = None
        self.beginnings: dict[int, str] = {}
        self._characters: list[Numbers] = []
        self._codes: list[npt.NDArray[Any]] = []
        self._numbers: list[tuple[Numbers, Numbers, npt.NDArray[np.uint8]]] = []

    @property
    def known(self) -> bool:
        """Whether there are any."""
        return bool(self._characters)

    @property
    def rows(self) -> int:
        """How many rows there are so far."""
        return self._rows

    def apart(self, files: Sequence[DataFile]) -> bool:
        """Whether texts of these files, which are all that the table is made of, may stay out of it."""
        self._expected = 0
        if self.wanted is None or not self.wanted.apart or library() is None or not all(map(is_plain, files)):
            return False
        self._expected = sum(size_of(file.path) for file in files)
        return True

    def sampling(self, rows: int | None = None) -> Sampling:
        """Which of the next rows are probably wanted, or of those behind so many ``rows``."""
        from ragdatakit.scanner.blocks import Sampling

        share = min(self._read / self._expected, 1) if self._expected else 0
        return Sampling(self._rows if rows is None else rows, self._step(share))

    def _step(self, share: float) -> int:
        """Every how many-th row is probably wanted, or more are, where this share of all was read."""
        assert self.wanted is not None
        if not share:
            return self.wanted.step(self._expected // 2, 0)
        sure = (1 - _UNSURE * (1 - share)) / share
        return self.wanted.step(int(self.size * sure), int(self._rows * sure))

    def watched(
        self, names: Iterable[str], batches: Iterable[Sequence[PackedColumn]]
    ) -> Iterator[Sequence[PackedColumn]]:
        """The batches of all rows of a table with columns of these names, as they are."""
        self.begin(names)
        for columns in batches:
            self.add(columns)
            yield columns

    def begin(self, names: Iterable[str]) -> None:
        """The rows of a table with columns of these names come; an attempt before this one may have failed."""
        self._forget()
        if self.wanted is not None and library() is not None:
            self._place = {name: place for place, name in enumerate(names)}.get(COLUMN)

    def add(self, columns: Sequence[PackedColumn]) -> None:
        """Some more rows."""
        if self._place is None:
            return
        column = columns[self._place]
        if column.apart is not None:
            self._add_apart(column.apart)
            return
        known, (_, offsets) = known_of(column), texts_of(column)
        before = self._rows
        self._take(known.lengths, known.codes, int(offsets[-1]) - int(offsets[0]), known.empty)
        if known.share:
            self._count(column, known)
        for first, records in known.places:
            self._add_places(before + first, records)

    def _count(self, column: PackedColumn, known: KnownTexts) -> None:
        """Count those of the texts that probably are wanted, or more: the thread that reads is ahead of this one."""
        import numpy as np

        assert self.wanted is not None
        before, step = self._rows - column.length, self._step(known.share)
        first = -before % step
        found = known.counted.get((first, step))
        if found is None:
            found = self.wanted.numbers(*texts_of(column), first, step)
            assert found is not None
            found[0][known.lengths[first::step] < 0] = -1
            known.counted[first, step] = found
        self._numbers.append((np.arange(before + first, self._rows, step), *found))

    def _add_apart(self, texts: ApartTexts) -> None:
        import numpy as np

        assert self.wanted is not None
        self._add_places(self._rows, texts.places)
        self._read += int(texts.places.behind[-1] - texts.places.starts[0])
        if len(texts.sample.rows):
            found = self.wanted.numbers(np.frombuffer(texts.sample.data, np.uint8), texts.sample.offsets)
            assert found is not None
            self._numbers.append((texts.sample.rows + self._rows, *found))
        self._take(texts.lengths, texts.codes, texts.size, texts.empty)

    def add_counted(
        self, size: int, empty: int, lengths: list[Numbers], codes: list[npt.NDArray[Any]], counted: CountedTexts
    ) -> None:
        """All rows, whose texts stay where they are, in parts."""
        import numpy as np

        self._forget()
        self._characters, self._codes = lengths, codes
        self.size, self.empty = size, empty
        rows = np.arange(len(counted.tokens)) * counted.step
        self._numbers.append((rows, counted.tokens, counted.scripts))
        self.beginnings = counted.beginnings

    def _add_places(self, row: int, records: RecordPlaces) -> None:
        if self.places is None:
            from ragdatakit.database.text_places import TextPlaces

            self.places = TextPlaces()
        self.places.add(row, records)

    def _take(self, lengths: Numbers, codes: npt.NDArray[Any], size: int, empty: int) -> None:
        import numpy as np

        self.size += size
        self.empty += empty
        self.missing += int(np.count_nonzero(lengths < 0))
        self._rows += len(lengths)
        self._characters.append(lengths)
        self._codes.append(codes)

    @property
    def counted(self) -> bool:
        """Whether tokens and scripts of any texts were."""
        return bool(self._numbers)

    @property
    def characters(self) -> Numbers:
        """Of each row."""
        return _joined(self._characters)

    @property
    def codes(self) -> npt.NDArray[Any]:
        """Of each row; those of rows without a text say nothing."""
        return _joined(self._codes)

    def numbers_of(self, rows: Numbers) -> tuple[Numbers, npt.NDArray[np.uint8], Numbers]:
        """Tokens and scripts of the texts of rows, in ascending order, as far as they were counted; and which of them
        (places among ``rows``) were not."""
        import numpy as np

        tokens, scripts = np.full(len(rows), -1), np.zeros(len(rows), np.uint8)
        there = np.zeros(len(rows), np.bool_)
        if self._numbers:
            counted, *found = (np.concatenate(parts) for parts in zip(*self._numbers, strict=True))
            if np.array_equal(counted, rows):
                return found[0], found[1], counted[:0]
            places = np.minimum(np.searchsorted(counted, rows), len(counted) - 1)
            there = counted[places] == rows
            tokens[there], scripts[there] = (numbers[places[there]] for numbers in found)
        return tokens, scripts, np.flatnonzero(~there & (self.characters[rows] >= 0))


def known_of(column: PackedColumn) -> KnownTexts:
    """What is known of the texts in a column, or found."""
    return column.known if column.known is not None else known_together([column])


def known_together(columns: Sequence[PackedColumn]) -> KnownTexts:
    """The same of the texts in several columns, one behind the other."""
    import numpy as np

    from ragdatakit.arrays.codes import WIDE, flat_words
    from ragdatakit.database.text_places import KnownTexts
    from ragdatakit.scanner.texts import put_lengths_and_codes

    rows = sum(column.length for column in columns)
    lengths, words = np.empty(rows, np.int64), np.empty(2 * rows, np.uint64)
    empty = first = 0
    integers = 0.0
    for column in columns:
        last = first + column.length
        own, own_words = lengths[first:last], words[2 * first : 2 * last]
        missing = bits_of(column) == 0 if column.buffers[0] is not None else None
        some: tuple[int, float] = 0, 0
        if column.known is not None:
            own[:], own_words[:] = column.known.lengths, flat_words(column.known.codes)
            some = column.known.empty, column.known.integers
        elif missing is not None and missing.all():
            own[:], own_words[:] = -1, 0
        else:
            some = put_lengths_and_codes(*texts_of(column), own, own_words)
            if missing is not None:
                own[missing] = -1
                empty -= int(np.count_nonzero(missing))
        empty += some[0]
        integers += some[1]
        first = last
    return KnownTexts(lengths, words.view(WIDE), empty, integers=integers)


def without_texts(column: PackedColumn, places: Sequence[tuple[int, RecordPlaces]]) -> PackedColumn:
    """The column without texts that are in these records, as if they were missing."""
    if sum(len(those.starts) for _, those in places) == column.length:
        return packed_same(Kind.TEXT, None, column.length)
    import numpy as np

    from ragdatakit.scanner.texts import gathered
    from ragdatakit.scanner.views import offsets_of

    kept = bits_of(column) != 0
    for first, those in places:
        kept[first : first + len(those.starts)] = False
    rows = np.flatnonzero(kept)
    data, offsets = texts_of(column)
    bounds = offsets.astype(np.int64)
    held, _ = gathered(data, bounds[rows], bounds[rows + 1])
    return packed_texts(held, offsets_of(np.diff(bounds) * kept), np.flatnonzero(~kept))


def _joined(parts: list[npt.NDArray[A]]) -> npt.NDArray[A]:
    """All parts as one array, which takes their place."""
    from ragdatakit.arrays.codes import together

    if len(parts) > 1:
        parts[:] = [together(parts)]
    return parts[0]


def is_plain(file: DataFile) -> bool:
    """Whether places in a file are those that its reader counts. Of one that cannot be opened there are none."""
    if file.part is not None or is_parquet(file.path) or file.path.name.lower().endswith(".gz"):
        return False
    try:
        with file.boundary.open(file.path) as opened:
            return not opened.read(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
    except OSError as error:
        refuse_machine_fault(error)
        return False
