"""What the rules ask of every passage: of many at once by the compiled library, while the next ones are read; or in
Python, which means the same."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ragdatakit.converters.kept_texts import LookedAt, TextBlock
from ragdatakit.files.texts.cut_texts import TextLengths
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quality.near_copies import compared
from ragdatakit.quality.odd_characters import alphabet, ascii_alphabet
from ragdatakit.quality.sketches import sketches
from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.blocks import text_codes
from ragdatakit.scanner.library import library
from ragdatakit.scanner.measures import NOT_UTF8, Alphabet, Measures, looked_at
from ragdatakit.scanner.texts import Joined

if TYPE_CHECKING:
    from concurrent.futures import Future

    import numpy.typing as npt

    from ragdatakit.converters.kept_texts import Passages
    from ragdatakit.quality.near_copies import Compared, NearCopies
    from ragdatakit.scanner.texts import Sketches

    _Numbers = npt.NDArray[np.int64]

_MOST_CHARACTERS, _MOST_ROWS = 1 << 20, 4096
"""Of texts that are looked at together."""
_MOST_WAITING = 32 << 20
"""Bytes of texts that are looked at, or wait for it: a longer one is looked at before others are read."""
_FEWEST = 2
"""Of less than so many times as many the library would not be asked quicker than Python looks at them."""

_Found: TypeAlias = "tuple[Measured, Compared]"
_MAKING = threading.Lock()
"""Held by the thread that makes the tables of characters, which others then find made."""


class Measured(NamedTuple):
    """Of passages, codes of their ids, how many words each has, codes of its text without and with its white space (as
    in `TextMeasures`), and the lengths of all; and by their places those of which a rule may have something to say."""

    ids: _Numbers
    words: _Numbers
    squeezed: _Numbers
    exact: _Numbers
    lengths: TextLengths
    looks: Mapping[int, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """What is asked of passages: which have fewer words or more characters, and whether their characters matter, and
    those of their titles; ``near`` takes those of at least ``near_words`` words. The library looks at them in so many
    threads (``jobs``). Codes of ids are those that `key_of` gives where somebody looks them up (``hashed_ids``)."""

    least_words: int
    most_characters: int
    characters: bool
    garbled: bool
    titles: bool
    near_words: int
    near: NearCopies | None
    jobs: int
    hashed_ids: bool = True

    def each(self, passages: Iterator[Passages]) -> Iterator[Measured]:
        """Some thousands at a time, as they are given."""
        failed: list[Exception] = []
        batches = _without_failure(passages, failed)
        first = list(islice(batches, _FEWEST))
        is_small = len(first) < _FEWEST or library() is None
        all_batches = chain((first.pop(0) for _ in range(len(first))), batches)  # none is held that was looked at
        number = 0
        for found, sketched in map(self._in_python, all_batches) if is_small else self._beside(all_batches):
            if self.near is not None:
                self.near.add(number, sketched)
            number += len(found.words)
            yield found
        if failed:
            raise failed[0]

    def _beside(self, batches: Iterator[Passages]) -> Iterator[_Found]:
        """Passages as they were looked at where they were scanned, and from the first of others on in threads."""
        for rows in batches:
            if not isinstance(rows, LookedAt):
                left = chain((rows,), batches)
                del rows
                yield from self._in_threads(left)
                return
            yield rows.found

    def _in_threads(self, batches: Iterable[Passages]) -> Iterator[_Found]:
        """The library looks at passages in threads of its own, unless it did."""
        from concurrent.futures import Future, ThreadPoolExecutor

        with ThreadPoolExecutor(self.jobs) as beside:
            waiting: deque[tuple[Future[_Found], int]] = deque()
            held = 0
            for rows in batches:
                if isinstance(rows, LookedAt):
                    future: Future[_Found] = Future()
                    future.set_result(rows.found)
                else:
                    future = beside.submit(self.in_library, rows)
                waiting.append((future, size := _size_of(rows)))
                held += size
                del rows, future  # before one that is as long is read
                while len(waiting) > self.jobs + 1 or held > _MOST_WAITING:
                    held -= waiting[0][1]
                    yield waiting.popleft()[0].result()
            while waiting:
                yield waiting.popleft()[0].result()

    def _sketches(self, texts: Sequence[str], joined: Joined, measures: Measures | None = None) -> Sketches:
        """How many words passages have, and what those that are long enough are compared by."""
        return sketches(texts, joined, self.near_words if self.near is not None else sys.maxsize, measures)

    def _in_python(self, rows: Passages) -> _Found:
        if isinstance(rows, LookedAt):
            seen: _Found = rows.found
            return seen
        texts = [row.text or "" for row in rows]
        sketched = self._sketches(texts, Joined.of(texts))
        squeezed, exact = (np.array([*map(code, texts)], np.int64) for code in (squeezed_key, hash))
        lengths = TextLengths()
        for text in texts:
            lengths.add(text)
        found = Measured(_ids(rows), sketched.words, squeezed, exact, lengths, dict(enumerate(rows)))
        return found, compared(sketched, self.near_words)

    def in_library(self, rows: Passages) -> _Found:
        """What the library finds of passages, in any thread."""
        texts, joined = _column(rows, "text")
        measures = Measures(joined.number, _looked_for(joined, self.garbled))
        sketched = self._sketches(texts, joined, measures)
        found = measures.found()
        for place in np.flatnonzero(found.looked == NOT_UTF8).tolist():
            text = texts[place]
            found.squeezed[place], found.exact[place] = squeezed_key(text), hash(text)
        looks = (sketched.words < self.least_words) | (found.characters > self.most_characters)
        if self.characters:
            looks |= found.looked != 0
            if self.titles and not (isinstance(rows, TextBlock) and "title" not in rows.columns):
                of_titles = _column(rows, "title")[1]
                looks |= looked_at(of_titles, _looked_for(of_titles, self.garbled)) != 0
        looked = {place: rows[place] for place in np.flatnonzero(looks).tolist()}
        ids = _ids(rows) if self.hashed_ids else _codes(_column(rows)[1])
        lengths = TextLengths.seen(texts, found.characters, found.blanks, found.ends)
        measured = Measured(ids, sketched.words, found.squeezed, found.exact, lengths, looked)
        return measured, compared(sketched, self.near_words)


def named_texts(texts: Sequence[str], garbled: bool) -> Iterable[int]:
    """The places of texts whose characters a rule may have something to say of, and perhaps of others."""
    if library() is None:
        return range(len(texts))
    joined = Joined.of(texts)
    return np.flatnonzero(looked_at(joined, _looked_for(joined, garbled))).tolist()


def _looked_for(texts: Joined, garbled: bool) -> Alphabet:
    with _MAKING:
        has_all = alphabet.cache_info().currsize  # which are right for ASCII, too
        return ascii_alphabet() if not has_all and texts.is_ascii else alphabet(garbled)


def _ids(rows: Passages) -> _Numbers:
    return keys_of(next(iter(rows.columns.values())) if isinstance(rows, TextBlock) else [row[0] or "" for row in rows])


def _codes(texts: Joined) -> _Numbers:
    """Other codes, of texts that nobody looks up by them."""
    return np.ascontiguousarray(text_codes(texts.data, texts.offsets)["first"]).view(np.int64)


def _size_of(rows: Passages) -> int:
    """About how many bytes their texts have."""
    if isinstance(rows, LookedAt):
        return 0
    if isinstance(rows, TextBlock):
        return sum(len(column.joined.data) for column in rows.columns.values())
    return sum(len(row.text or "") + len(getattr(row, "title", None) or "") for row in rows)


def _column(rows: Passages, name: str = "") -> tuple[Sequence[str], Joined]:
    """The texts in a column, or in the first one, which is that of ids; an empty one where there is none."""
    if isinstance(rows, TextBlock):
        column = rows.columns[name or next(iter(rows.columns))]
        return column, column.joined
    texts = [(getattr(row, name) if name else row[0]) or "" for row in rows]
    return texts, Joined.of(texts)


def text_at(rows: Passages, place: int) -> str:
    """The text of a passage, alone."""
    found: str | None = rows.columns["text"][place] if isinstance(rows, TextBlock) else rows[place].text
    return found or ""


def in_batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Passages that are looked at together; also those that were read before something fails."""
    batch: list[Any] = []
    size = 0
    try:
        for row in rows:
            batch.append(row)
            size += len(row.text or "") + len(getattr(row, "title", None) or "")
            if size >= _MOST_CHARACTERS or len(batch) >= _MOST_ROWS:
                yield batch
                batch, size = [], 0
    except Exception:
        yield batch
        raise
    yield batch


def _without_failure(passages: Iterator[Passages], failed: list[Exception]) -> Iterator[Passages]:
    """Passages until something fails, which is kept: what was before is looked at."""
    try:
        yield from (rows for rows in passages if len(rows))
    except Exception as error:  # noqa: BLE001 - raised again
        failed.append(error)


def squeezed_key(text: str) -> int:
    """A code of a text with single blanks for white space."""
    return key_of(text.strip(" ") if "  " not in text and text.isprintable() else " ".join(text.split()))


def keys_of(texts: Sequence[str]) -> _Numbers:
    """The codes of texts, as `key_of` gives them."""
    found = np.fromiter(map(hash, texts), np.int64, len(texts))
    for place in np.flatnonzero(found == 0).tolist():
        found[place] = key_of(texts[place])
    return found


def key_of(text: str) -> int:
    """A code of a text, never 0 except for a blank one; equal texts have equal codes in this process."""
    return hash(text) or 1 if text else 0
