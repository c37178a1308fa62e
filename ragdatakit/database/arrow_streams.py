"""Columns given to DuckDB, or to whoever reads Arrow, through Arrow's C interface: pyarrow is not needed for it.

What is here is the C stream interface as its specification has it (``arrow.apache.org/docs/format``): structures that
the reader asks for schema and arrays, and releases when it is done with them. Until then `_HELD` keeps what they show.
"""

from __future__ import annotations

import ctypes
import errno
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ragdatakit.database.columns import ITEMS, Kind, PackedColumn, Schema, in_parts, most_written, put_together
from ragdatakit.files.machine import DATABASE_MEMORY
from ragdatakit.schemas.errors import MachineError

if TYPE_CHECKING:
    import duckdb

_FORMATS = {
    Kind.TEXT: b"u",
    Kind.INTEGER: b"l",
    Kind.CODE: b"L",
    Kind.NUMBER: b"g",
    Kind.BYTES: b"Z",
    Kind.TEXTS: b"+l",
    Kind.INTEGERS: b"+l",
}
_NULLABLE = 2
_VECTOR = 2048
"""Rows that DuckDB reads at once."""
_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_int64
_HELD: dict[int, Any] = {}
"""By the number in ``private_data``, what a structure that was given away shows."""
_numbers = itertools.count(1)


class _Schema(ctypes.Structure):
    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", _SIZE),
        ("n_children", _SIZE),
        ("children", _POINTER),
        ("dictionary", _POINTER),
        ("release", _POINTER),
        ("private_data", _POINTER),
    )


class _Array(ctypes.Structure):
    _fields_ = (
        ("length", _SIZE),
        ("null_count", _SIZE),
        ("offset", _SIZE),
        ("n_buffers", _SIZE),
        ("n_children", _SIZE),
        ("buffers", _POINTER),
        ("children", _POINTER),
        ("dictionary", _POINTER),
        ("release", _POINTER),
        ("private_data", _POINTER),
    )


class _Stream(ctypes.Structure):
    _fields_ = (
        ("get_schema", _POINTER),
        ("get_next", _POINTER),
        ("get_last_error", _POINTER),
        ("release", _POINTER),
        ("private_data", _POINTER),
    )


def _release_schema(place: int) -> None:
    _release(_Schema.from_address(place))


def _release_array(place: int) -> None:
    _release(_Array.from_address(place))


def _release_stream(place: int) -> None:
    _Stream.from_address(place).release = None


_Release = ctypes.CFUNCTYPE(None, _POINTER)
_SCHEMA_RELEASE, _ARRAY_RELEASE, _STREAM_RELEASE = map(_Release, (_release_schema, _release_array, _release_stream))


def _release(given: Any) -> None:
    number, given.release = given.private_data, None
    below, _ = _HELD.pop(number)
    for child in below:
        if child.release:  # its reader did not take it for itself
            _release(child)


def _given(found: Any, release: Any, below: Sequence[Any], *shown: Any) -> Any:
    """A structure that shows these to whoever has it, until it is released."""
    number = next(_numbers)
    found.private_data = number
    found.release = _place_of(release)
    _HELD[number] = (below, shown)
    return found


def _place_of(function: Any) -> int | None:
    return ctypes.cast(function, _POINTER).value


def _addresses(places: Sequence[int | None]) -> tuple[Any, int]:
    """An array of addresses, and its own."""
    found = (ctypes.c_void_p * max(len(places), 1))(*places)
    return found, ctypes.addressof(found)


def _schema(form: bytes, name: str, below: Sequence[Any] = ()) -> Any:
    children, place = _addresses([ctypes.addressof(one) for one in below])
    found = _Schema(format=form, name=name.encode(), flags=_NULLABLE, n_children=len(below), children=place)
    return _given(found, _SCHEMA_RELEASE, below, children)


def _schema_of(name: str, kind: Kind) -> Any:
    below = [_schema_of("item", ITEMS[kind])] if kind in ITEMS else []
    return _schema(_FORMATS[kind], name, below)


def _array(length: int, buffers: Sequence[Any], below: Sequence[Any] = ()) -> Any:
    places, place = _addresses([_address(buffer) for buffer in buffers])
    children, of_children = _addresses([ctypes.addressof(one) for one in below])
    nulls = -1 if buffers[0] is not None else 0
    found = _Array(
        length=length,
        null_count=nulls,
        n_buffers=len(buffers),
        n_children=len(below),
        buffers=place,
        children=of_children,
    )
    return _given(found, _ARRAY_RELEASE, below, buffers, places, children)


def _array_of(column: PackedColumn) -> Any:
    below = [_array_of(column.items)] if column.items is not None else []
    return _array(column.length, column.buffers, below)


def _address(buffer: Any) -> int | None:
    if buffer is None:
        return None
    if isinstance(buffer, bytes):
        return ctypes.cast(ctypes.c_char_p(buffer), ctypes.c_void_p).value
    return int(buffer.ctypes.data)


_Get = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, _POINTER)
_Words = ctypes.CFUNCTYPE(_POINTER, _POINTER)


class ColumnStream:
    """Columns, batch by batch, that may be read once: by `duckdb.DuckDBPyConnection.register`, by
    ``pyarrow.RecordBatchReader.from_stream``. It must be there for as long as its reader is. ``raised`` is what stopped
    the batches, where something did."""

    def __init__(self, schema: Schema, batches: Iterable[Sequence[PackedColumn]]) -> None:
        self._schema = schema
        self._batches = itertools.chain.from_iterable(map(in_parts, batches))
        self._functions = (_Get(self._put_schema), _Get(self._put_next), _Words(lambda _: None))
        self._streams: list[_Stream] = []
        self.raised: BaseException | None = None

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """What Arrow's interface for Python asks for; a reader that wants the schema only asks for one, too."""
        schema, following, words = map(_place_of, self._functions)
        stream = _Stream(schema, following, words, _place_of(_STREAM_RELEASE))
        self._streams.append(stream)
        return _new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)

    def _put_schema(self, _: int, out: int) -> int:
        found = _schema(b"+s", "", [_schema_of(name, kind) for name, kind in self._schema.items()])
        ctypes.memmove(out, ctypes.addressof(found), ctypes.sizeof(_Schema))
        return 0

    def _put_next(self, _: int, out: int) -> int:
        try:
            columns = next(self._batches, None)
            if columns is None:
                _Array.from_address(out).release = None  # which says that there are no more
                return 0
            found = _array(columns[0].length, (None,), [_array_of(one) for one in columns])
        except BaseException as error:  # noqa: BLE001 - it is raised where the stream was given away
            self.raised = error
            return errno.EIO
        ctypes.memmove(out, ctypes.addressof(found), ctypes.sizeof(_Array))
        return 0


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, (_POINTER, ctypes.c_char_p, _POINTER)


class GivenArray:
    """An array of a stream of somebody else's, until the next one is asked for."""

    def __init__(self, found: _Array) -> None:
        self._found = found
        self.length, self.offset, self.null_count = found.length, found.offset, found.null_count

    def children_of(self) -> list[GivenArray]:
        """The columns, or the members of lists; none where these are numbers or texts."""
        if not self._found.n_children:
            return []
        places = (ctypes.c_void_p * self._found.n_children).from_address(self._found.children)
        return [GivenArray(_Array.from_address(place or 0)) for place in places]

    def buffers_of(self) -> list[int | None]:
        """Where the buffers are."""
        return list((ctypes.c_void_p * self._found.n_buffers).from_address(self._found.buffers))


class GivenStream:
    """A stream of columns that somebody else gives."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule  # which releases the stream
        place = _stream_in(capsule, b"arrow_array_stream")
        stream = _Stream.from_address(place)
        self._place = place
        self._get_schema, self._get_next = _Get(stream.get_schema), _Get(stream.get_next)

    def arrays(self, *wanted: bytes) -> Iterator[GivenArray]:
        """The batches, one after the other, all of whose columns must be of one of the ``wanted`` forms."""
        schema = _Schema()
        self._ask(self._get_schema, schema)
        try:
            columns = (ctypes.c_void_p * schema.n_children).from_address(schema.children)
            forms = {_Schema.from_address(place or 0).format for place in columns}
        finally:
            _Release(schema.release)(ctypes.addressof(schema))
        if not forms <= {*wanted}:
            raise TypeError(f"columns of the forms {forms}")
        while True:
            found = _Array()
            self._ask(self._get_next, found)
            if not found.release:
                return
            try:
                yield GivenArray(found)
            finally:
                _Release(found.release)(ctypes.addressof(found))

    def _ask(self, function: Any, into: ctypes.Structure) -> None:
        if function(self._place, ctypes.addressof(into)):
            raise OSError("a stream of columns ended in an error")


_stream_in = ctypes.pythonapi.PyCapsule_GetPointer
_stream_in.restype, _stream_in.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


@contextmanager
def incoming(
    connection: duckdb.DuckDBPyConnection, name: str, schema: Schema, batches: Iterable[Sequence[PackedColumn]]
) -> Iterator[None]:
    """Batches of columns as a relation that a query may read once. What stops them is raised, not what DuckDB makes
    of it: `MachineError` of rows that it could not read again."""
    import duckdb

    batches = (_readable(connection, columns) for columns in batches)
    ahead = list(itertools.islice(batches, 2))
    stream = ColumnStream(schema, put_together(itertools.chain(ahead, batches)))
    connection.register(name, stream)
    try:
        with _one_thread(connection) if len(ahead) > 1 else nullcontext():
            yield
    except duckdb.Error:
        if stream.raised is not None:
            raise stream.raised from None
        raise
    finally:
        connection.unregister(name)


def _readable(connection: duckdb.DuckDBPyConnection, columns: Sequence[PackedColumn]) -> Sequence[PackedColumn]:
    """Raise where the long ids of the rows that DuckDB reads at once take all the memory that it may have: it would put
    gigabytes on the disk first, and never read them."""
    if most := most_written(columns, _VECTOR):
        another = connection.cursor()  # of this one a query may be reading the rows
        number, unit = another.execute("select current_setting('memory_limit')").fetchall()[0][0].split()
        if most > float(number) * (1 << 10 * "bKMGTP".index(unit[0])):
            raise MachineError(DATABASE_MEMORY)
    return columns


@contextmanager
def _one_thread(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """More threads only wait for the batches: measured, twice the time."""
    threads = connection.execute("select current_setting('threads')").fetchall()[0][0]
    connection.execute("set threads = 1")
    try:
        yield
    finally:
        connection.execute(f"set threads = {threads}")


@contextmanager
def passed(connection: duckdb.DuckDBPyConnection, name: str, rows: duckdb.DuckDBPyRelation) -> Iterator[None]:
    """The rows of a relation of another connection as a relation of this one that a query may read once."""
    connection.register(name, rows.__arrow_c_stream__())
    try:
        yield
    finally:
        connection.unregister(name)
