"""What the output of a conversion does not say of its source, kept next to it, and put back when it is read again.

``ragdata.sidecar/<table>.ndjson.gz``, one for each canonical table that comes back otherwise than it went in. It is the
difference between the two: the writer of the format need not know of it, and the reader's rows with the difference are
the source's rows, whatever was lost, changed, made up or put in another order on the way. The form of the entries is
in `sidecar_entries`.
"""

from __future__ import annotations

import gzip
import os
import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, Literal

from ragdatakit.files.paths.boundary import read_listed
from ragdatakit.files.paths.folders import not_looked_into
from ragdatakit.files.paths.own_files import SIDECAR as FOLDER
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.sidecar_entries import Entry, Head, encode, entries, key_bytes, read_head, short_digest
from ragdatakit.schemas.canonical import TABLES, Chunk, Document
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError

_KEPT = "changed since it was written; the sidecar's value was not used"
_UNUSED = "its row was changed or removed since it was written; what the sidecar keeps of it was not used"
_MADE = "changed since it was written; it stays next to what the sidecar keeps of the source"


_Unused = list[tuple[Literal["lost", "coerced"], str | None, str, str]]
"""What is to be reported: the kind of loss, the column, why, and an example."""


def _key_of(table: str) -> Callable[[Any], list[Any]]:
    """What gives the values of a row's key columns."""
    columns = [TABLES[table].columns.index(name) for name in TABLES[table].key]
    return lambda row: [row[i] for i in columns]


class _Keys:
    """Gives each row of a table a key that no other row of it has: its key columns, and how many of the same came.

    Keys are digests, as there may be very many rows.
    """

    def __init__(self, table: str) -> None:
        self.columns = _key_of(table)
        self._repeated: dict[bytes, int] = {}

    def first(self, rows: Iterable[Any], seen: Callable[[bytes], bool]) -> Iterator[tuple[bytes, int, Any]]:
        """Each row with its key and how many rows with the same values were before it; ``seen`` says whether a key
        was given before. After this, it is known which values come several times."""
        for row in rows:
            key, number = key_bytes(self.columns(row)), 0
            if seen(key):
                number = self._repeated[key] = self._repeated.get(key, 0) + 1
                key += number.to_bytes(8, "big")
            yield key, number, row

    def rows(self, rows: Iterable[Any]) -> Iterator[tuple[bytes, int, Any]]:
        """The same once more, with nothing held."""
        counts = dict.fromkeys(self._repeated, 0)
        for row in rows:
            key, number = key_bytes(self.columns(row)), 0
            if key in counts:
                number = counts[key]
                counts[key] += 1
            yield (key + number.to_bytes(8, "big") if number else key), number, row

    def listed(self, row: Any, number: int) -> tuple[Any, ...]:
        """The key as an entry has it."""
        return (*self.columns(row), number)


def _settled(row: Any) -> Any:
    """A row with the content of its file instead of the place where that is."""
    content = getattr(row, "content", None)
    return row._replace(content=read_listed(content)) if isinstance(content, Path) else row


def _none() -> Iterator[Any]:
    return iter(())


# Comparing and writing


def write_sidecar(
    folder: Path, format_name: str, source: Mapping[str, RowSource], output: Mapping[str, RowSource]
) -> dict[str, int]:
    """Keep below ``folder`` what ``output``, the tables as they are read from what was written, does not say of
    ``source``, which came from that format. Gives the number of entries of each table that differs."""
    taken = _other_passages(source, output)
    counts: dict[str, int] = {}
    for table in TABLES:
        start, there = source.get(table, _none), _table_of(output, table, taken)
        renamed = taken.get(table, "")
        if not renamed and all(_settled(a) == _settled(b) for a, b in zip_longest(start(), there())):
            continue
        first = next(start(), None)
        made = _digest_of(there) if first is None else ""
        folder.mkdir(parents=True, exist_ok=True)
        with (
            (folder / f"{table}.ndjson.gz").open("xb") as raw,
            # no name and no time in the header: the same content gives the same bytes
            gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw, mtime=0) as file,
        ):
            head = Head(1, format_name, table, renamed or table, False, made)
            counts[table] = _write_difference(file, head, start, there)
    return counts


def _other_passages(source: Mapping[str, RowSource], output: Mapping[str, RowSource]) -> dict[str, str]:
    """The table of passages of the source that is as the other one in the output, and that one's name."""

    def holds(tables: Mapping[str, RowSource], table: str) -> bool:
        return table in tables and next(iter(tables[table]()), None) is not None

    wanted = "chunks" if holds(source, "chunks") else "documents"
    found = "chunks" if holds(output, "chunks") else "documents"
    if wanted == found or holds(output, wanted) or not (holds(output, found) and holds(source, wanted)):
        return {}
    return {wanted: found}


def _table_of(tables: Mapping[str, RowSource], table: str, taken: Mapping[str, str]) -> RowSource:
    """The rows of a table, or of the one that was written in its place."""
    if table in taken:
        return _as_passages(tables[taken[table]], table)
    return _none if table in taken.values() else tables.get(table, _none)


def _as_passages(source: RowSource, table: str) -> RowSource:
    def rows() -> Iterator[Any]:
        for row in source():
            if table == "chunks":
                yield Chunk(row.doc_id, row.text, metadata=row.metadata)
            else:
                yield Document(row.chunk_id, row.text, metadata=row.metadata)

    return rows


def _digest_of(source: RowSource) -> str:
    """A digest over all rows of a table."""
    digest = blake2b(digest_size=16)
    for row in source():
        digest.update(encode(list(_settled(row))) + b"\n")
    return digest.hexdigest()


def _write_difference(file: BinaryIO | gzip.GzipFile, head: Head, source: RowSource, output: RowSource) -> int:
    table = head.table
    if head.made:  # all of it is to go away: nothing need be kept of its rows
        file.write(head.encoded())
        return 0
    keys = _Keys(table)
    aligned = None if _same_keys(keys, source, output) else _Alignment.of(table, source, output)
    head.ordered = aligned is not None and aligned.ordered
    file.write(head.encoded())
    count = 0
    for entry in _in_step(keys, source, output) if aligned is None else aligned.entries(table, source, output):
        if head.ordered or entry.whole or entry.gone or entry.values:
            file.write(entry.encoded(table))
            count += 1
    return count


def _same_keys(keys: _Keys, source: RowSource, output: RowSource) -> bool:
    seen: set[bytes] = set()
    others = output()
    for key, _, row in keys.first(source(), seen.__contains__):
        seen.add(key)
        there = next(others, None)
        if there is None or keys.columns(there) != keys.columns(row):
            return False
    return next(others, None) is None


def _in_step(keys: _Keys, source: RowSource, output: RowSource) -> Iterator[Entry]:
    for number, ((_, nth, row), there) in enumerate(zip(keys.rows(source()), output(), strict=True)):
        yield _differing(number, keys.listed(there, nth), there, row)


def _differing(number: int, key: tuple[Any, ...], there: Any, row: Any) -> Entry:
    """The values of a row of the source that are others in the output, with digests of what is there."""
    old, new = _settled(there), _settled(row)
    entry, bare = Entry(number, key), row._field_defaults
    for name, was, value in zip(row._fields, old, new, strict=True):
        if was != value:
            entry.values[name] = value
            if was != bare.get(name):
                entry.was[name] = short_digest(was)
    return entry


@dataclass(frozen=True, slots=True)
class _Alignment:
    """Which row of the output is which of the source; keys only are held, as digests.

    ``gone`` are rows of the output that the source does not have, ``pairs`` those that have another key there,
    ``wholes`` rows of the source that the output does not have; ``ordered``: the others are in another order.
    """

    here: _Keys
    there: _Keys
    gone: frozenset[bytes]
    pairs: dict[bytes, bytes]
    wholes: frozenset[bytes]
    ordered: bool

    @classmethod
    def of(cls, table: str, source: RowSource, output: RowSource) -> _Alignment:
        here, there = _Keys(table), _Keys(table)
        places: dict[bytes, int] = {}
        for key, _, _ in there.first(output(), places.__contains__):
            places[key] = len(places)
        found = bytearray(len(places))
        missing: dict[bytes, None] = {}

        def seen(key: bytes) -> bool:
            return bool(found[places[key]]) if key in places else key in missing

        for key, _, _ in here.first(source(), seen):
            if key in places:
                found[places[key]] = 1
            else:
                missing[key] = None
        gone = [key for key, place in places.items() if not found[place]]
        pairs: dict[bytes, bytes] = {}
        if len(missing) == len(gone):  # the same rows with other keys, it seems
            pairs, gone, missing = dict(zip(missing, gone, strict=True)), [], {}
        last, ordered = -1, False
        for key, _, _ in here.rows(source()):
            place = places.get(pairs.get(key, key), last)
            ordered, last = ordered or place < last, place
        return cls(here, there, frozenset(gone), pairs, frozenset(missing), ordered)

    def entries(self, table: str, source: RowSource, output: RowSource) -> Iterator[Entry]:
        """What is to be kept."""
        if self.gone:
            for key, nth, row in self.there.rows(output()):
                if key in self.gone:
                    yield Entry(-1, self.there.listed(row, nth), gone=short_digest(list(_settled(row))))
        rows = _RowsAside(_Keys(table), output()) if self.ordered else _RowsInTurn(self.there, output())
        with closing(rows):
            for number, (key, _, row) in enumerate(self.here.rows(source())):
                if key in self.wholes:
                    bare = row._field_defaults
                    settled = _settled(row)._asdict()
                    values = {n: v for n, v in settled.items() if n not in bare or v != bare[n]}
                    yield Entry(number, values=values, whole=True)
                else:
                    nth, there = rows[self.pairs.get(key, key)]
                    yield _differing(number, self.there.listed(there, nth), there, row)


class _RowsInTurn:
    """Rows by their keys, asked for in the order in which they are; nothing is held."""

    def __init__(self, keys: _Keys, rows: Iterator[Any]) -> None:
        self._rows = keys.rows(rows)

    def __getitem__(self, key: bytes) -> tuple[int, Any]:
        return next((nth, row) for found, nth, row in self._rows if found == key)

    def close(self) -> None:
        """There is nothing to close."""


class _RowsAside:
    """Rows by their keys, in any order: put aside in a file, as there may be many."""

    def __init__(self, keys: _Keys, rows: Iterator[Any]) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `close`
        self._places: dict[bytes, int] = {}
        for key, nth, row in keys.first(rows, self._places.__contains__):
            self._places[key] = self._file.tell()
            pickle.dump((nth, row), self._file)

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._places)

    def __getitem__(self, key: bytes) -> tuple[int, Any]:
        self._file.seek(self._places[key])
        found: tuple[int, Any] = pickle.load(self._file)  # noqa: S301  # our own, of a moment ago, and nobody else's
        return found

    def close(self) -> None:
        """Remove the file."""
        self._file.close()


# Reading and putting back


def put_back(sources: Mapping[str, RowSource], folder: Path, losses: Losses | None = None) -> dict[str, RowSource]:
    """The tables of an output together with what its sidecar keeps; without one they are given back as they are.

    Rows that were removed from the output since stay away, new ones are passed on as they are, and so are values that
    were changed: `losses` says what of the sidecar was not used. Raises `RagdataError` for a damaged sidecar.
    """
    restored = dict(sources)
    heads = _heads(folder)
    taken = {t: head.other for t, (head, _) in heads.items() if head.other != t and head.other in sources}
    for table in taken.values():
        restored.pop(table)
    for table, (head, path) in heads.items():
        there = _table_of(sources, table, taken)
        restored[table] = _Restoring(head, path, there, losses if losses is not None else Losses()).rows
    return restored


def restored_format(folder: Path) -> str:
    """The format of the rows that `put_back` gives; empty where there is no sidecar."""
    return next((head.format for head, _ in _heads(folder).values()), "")


def _heads(folder: Path) -> dict[str, tuple[Head, Path]]:
    files = {table: folder / FOLDER / f"{table}.ndjson.gz" for table in TABLES}
    try:
        with os.scandir(folder / FOLDER) as listed:
            there = {entry.name for entry in listed if entry.is_file()}
    except PermissionError:
        raise RagdataError(not_looked_into(folder / FOLDER)) from None
    except OSError:
        return {}
    return {table: (read_head(path, table), path) for table, path in files.items() if path.name in there}


class _Restoring:
    """A table with what the sidecar keeps of it."""

    def __init__(self, head: Head, path: Path, source: RowSource, losses: Losses) -> None:
        self._head = head
        self._table = head.table
        self._path = path
        self._source = source
        self._losses = losses
        self._noted = False
        self._bare = TABLES[self._table].row._field_defaults

    def rows(self) -> Iterator[Any]:
        """The rows. What was not used is reported when they were first read to their end: they may be read
        repeatedly."""
        unused: _Unused = []
        if self._head.made:
            yield from self._made(unused)
        else:
            yield from self._in_order(unused) if self._head.ordered else self._in_turn(unused)
        if not self._noted:
            self._noted = True
            for kind, column, why, shown in unused:
                self._losses.add(kind, self._table, column, why, shown)

    def _made(self, unused: _Unused) -> Iterator[Any]:
        """A table that the target made: none of it, unless the user has changed it since, then all."""
        if _digest_of(self._source) == self._head.made:
            return
        number = 0
        for row in self._source():
            number += 1
            yield row
        if number:
            unused.append(("coerced", None, _MADE, f"{number:,} rows"))

    def _whole(self, entry: Entry) -> Any:
        return TABLES[self._table].row(**entry.values)

    def _changed(self, row: Any, entry: Entry | None, unused: _Unused) -> Any:
        if entry is None or not entry.values:
            return row
        values, settled = {}, _settled(row)
        for name, value in entry.values.items():
            was = getattr(settled, name)
            known = entry.was.get(name)
            if was == self._bare.get(name) if known is None else short_digest(was) == known:
                values[name] = value
            elif was != value:
                unused.append(("coerced", name, _KEPT, entry.shown))
        return row._replace(**values) if values else row

    def _stays_away(self, row: Any, entry: Entry) -> bool:
        """Whether a row that the source does not have is as it was written."""
        return entry.gone == short_digest(list(_settled(row)))

    def _in_order(self, unused: _Unused) -> Iterator[Any]:
        done: set[bytes] = set()
        with closing(_RowsAside(_Keys(self._table), self._source())) as rows:
            for entry in entries(self._path, self._table):
                if entry.whole:
                    yield self._whole(entry)
                    continue
                key = entry.key_bytes
                if entry.gone:
                    if key in rows and self._stays_away(rows[key][1], entry):
                        done.add(key)
                    continue
                if key in done:
                    continue
                if key in rows:
                    done.add(key)
                    yield self._changed(rows[key][1], entry, unused)
                elif entry.values:
                    unused.append(("lost", None, _UNUSED, entry.shown))
            yield from (rows[key][1] for key in rows if key not in done)

    def _in_turn(self, unused: _Unused) -> Iterator[Any]:
        kept, key_of = _KeptInTurn(self._path, self._table), _key_of(self._table)
        number = 0
        for row in self._source():
            entry = kept.of(key_bytes(key_of(row)))
            if entry is not None and entry.gone:
                if self._stays_away(row, entry):
                    continue
                entry = None
            for missing in kept.wholes(number):
                yield self._whole(missing)
                number += 1
            yield self._changed(row, entry, unused)
            number += 1
        yield from map(self._whole, kept.wholes(None))
        unused += (("lost", None, _UNUSED, entry.shown) for entry in kept.unused())


class _KeptInTurn:
    """The entries of one file, taken in step with the rows of the table: nothing is held while no row was moved."""

    def __init__(self, path: Path, table: str) -> None:
        self._waiting: set[bytes] = set()
        self._repeats: dict[bytes, int] = {}
        self._passed: dict[bytes, Entry] = {}
        self._wholes: deque[Entry] = deque()
        for entry in entries(path, table):
            if entry.whole:
                continue
            key = entry.key_bytes
            self._waiting.add(key)
            if entry.key[-1]:
                self._repeats[key[:-8]] = 0
            if entry.gone:
                self._passed[key] = entry
        self._rest = (entry for entry in entries(path, table) if not entry.gone)
        self._next = next(self._rest, None)

    def wholes(self, number: int | None) -> Iterator[Entry]:
        """The rows that the output does not have and that were at this place; at the end (None) all that are left."""
        while True:
            if self._wholes:
                if number is not None and self._wholes[0].row > number:
                    return
                yield self._wholes.popleft()
            elif self._next is not None and (number is None or (self._next.whole and self._next.row <= number)):
                self._advance()
                continue
            else:
                return
            number = None if number is None else number + 1

    def of(self, found: bytes) -> Entry | None:
        """What is kept for the next row of the output with these values in its key columns."""
        number = self._repeats.get(found, 0)
        if found in self._repeats:
            self._repeats[found] += 1
        key = found + number.to_bytes(8, "big") if number else found
        if key not in self._waiting:
            return None
        self._waiting.discard(key)
        while key not in self._passed:
            self._advance()
        return self._passed.pop(key)

    def unused(self) -> Iterator[Entry]:
        """At the end, the values whose rows did not come."""
        return (entry for entry in self._passed.values() if entry.values)

    def _advance(self) -> None:
        """Put the next entry where it is found."""
        assert self._next is not None
        if self._next.whole:
            self._wholes.append(self._next)
        else:
            self._passed[self._next.key_bytes] = self._next
        self._next = next(self._rest, None)
