"""Files as pandas tables, read so that no cell changes on the way.

pandas' own readers take ``NA`` for a missing value, ``007`` for 7, ``"12"`` in JSON for 12, integers for floats as soon
as one is missing, and the first column for the index where all rows are too long. Here none of that happens.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.declarations import Container, File, Record
from ragdatakit.schemas.errors import MissingExtraError, RagdataError
from ragdatakit.schemas.line_cells import LineError, LineReader, hide_breaks

if TYPE_CHECKING:
    import pandas as pd

_LFS = b"version https://git-lfs"
_HINT = "`ragdata validate` shows what is wrong with it"


def read_table(path: str | os.PathLike[str], file: File | None) -> pd.DataFrame:
    """The table in a file; ``file`` is its kind, where it is known. Raises `RagdataError` where it is no table."""
    path = Path(path)
    container: Container | None = file.container if file else None
    try:
        with path.open("rb") as opened:
            if opened.read(len(_LFS)) == _LFS:
                raise RagdataError(f"{path} is a Git LFS pointer, not the data: run `git lfs pull`")
        if container == "csv" or (container in (None, "table") and _ending(path) == ".csv"):
            return _read_csv(path)
        if container == "table":
            return _read_parquet(path)
        text = _text(path)
    except UnicodeDecodeError as error:
        raise RagdataError(f"{path} is not UTF-8 (byte {error.start}); {_HINT}") from None
    except (OSError, EOFError) as error:
        raise RagdataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return _frame(path, _records(path, text, file), file)


def row_record(file: File) -> Record | None:
    """The record whose fields are the columns; None where there are no such records, or they are marked up text."""
    if file.container == "tagged":
        return None
    return next((r for r in file.records if r.shape == "object" and r.fields), None)


def _ending(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return name[name.rfind(".") :] if "." in name else ""


def _text(path: Path) -> str:
    data = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        if not data:
            raise EOFError("it is empty, which gzip files never are")
        data = gzip.decompress(data)
    return data.decode("utf-8")


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("frames", "pyarrow") from None
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, ValueError) as error:
        raise RagdataError(f"{path} is not a table: {str(error).splitlines()[0][:200]}; {_HINT}") from None
    return pd.DataFrame({n: pd.Series(table.column(n).to_pylist(), dtype=object) for n in table.column_names})


def _read_csv(path: Path) -> pd.DataFrame:
    import pandas as pd
    from pandas.errors import EmptyDataError, ParserError

    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False)
    except EmptyDataError:
        raise RagdataError(f"{path} has no header; {_HINT}") from None
    except ParserError as error:
        words = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise RagdataError(f"{path} is not a table: {words}; {_HINT}") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise RagdataError(
            f"{path}: the rows have more cells than the header; pandas would take the first column for the index and "
            f"shift all others; {_HINT}"
        )
    return frame


def _records(path: Path, text: str, file: File | None) -> Iterable[Any]:
    container = file.container if file else None
    start = text.lstrip()[:1]
    if container == "json-object" and file is not None:
        return _members(path, text, file)
    if container == "json-wrapped" and file is not None:
        return _wrapped(path, text, file)
    if container == "columns" and file is not None:
        return _cells(path, text, file)
    if container == "ndjson":
        return _lines(path, text)
    if container == "json-array" or start == "[":
        value = _decoded(path, text)
        if not isinstance(value, list):
            raise RagdataError(f"{path} is not a JSON array; {_HINT}")
        return value
    if _ending(path) not in (".jsonl", ".ndjson"):
        try:
            return [cells_of(text)]
        except ValueError:
            pass  # lines, then
    return _lines(path, text)


def _members(path: Path, text: str, file: File) -> Iterator[dict[str, Any]]:
    """Every member of the one object, repeated names, too."""
    name, content = (f.name for f in file.record.fields[:2])
    for key, item in _outer_members(path, text):
        yield {name: key, content: item}


def _wrapped(path: Path, text: str, file: File) -> list[Any]:
    """The array in the member of the one object that the framework reads."""
    member = file.wrapper[0]
    found = [value for name, value in _outer_members(path, text) if name == member]
    if len(found) > 1:
        raise RagdataError(f"{path} has {member} {len(found)} times, of which only one counts; {_HINT}")
    if not found or not isinstance(found[0], list):
        raise RagdataError(f"{path} is not a JSON object with a list {member}; {_HINT}")
    return found[0]


def _lines(path: Path, text: str) -> Iterator[Any]:
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if line.strip():
            try:
                yield cells_of(line)
            except ValueError as error:
                raise RagdataError(f"{path}: line {number} is not JSON: {error}; {_HINT}") from None


def _cells(path: Path, text: str, file: File) -> Iterator[dict[str, Any]]:
    """The lines below the header."""
    reader = LineReader(file)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    data = text.encode("utf-8", "surrogatepass")
    cut = data
    if reader.columns.quoted and '"' in text:
        cut, *_, added = hide_breaks(data, True, len(reader.names))
        data += added
    offset = 0
    for i, hidden in enumerate(cut.split(b"\n")):
        line = data[offset : offset + len(hidden)].decode("utf-8", "surrogatepass")
        if i >= reader.columns.header and line.strip():
            try:
                yield reader.record(line)
            except LineError as error:
                number = 1 + data.count(b"\n", 0, offset)
                raise RagdataError(f"{path}: line {number} has {error}; {_HINT}") from None
        offset += len(hidden) + 1


def _outer_members(path: Path, text: str) -> list[tuple[str, Any]]:
    """The members of the one object, repeated names, too."""
    outer: list[tuple[str, Any]] = []

    def of_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal outer
        outer = members  # the outermost object ends last
        return dict(members)

    if not isinstance(_decoded(path, text, of_object), dict):
        raise RagdataError(f"{path} is not a JSON object; {_HINT}")
    return outer


def _decoded(path: Path, text: str, of_object: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    try:
        return cells_of(text, of_object)
    except ValueError as error:
        raise RagdataError(f"{path} is not JSON: {error}; {_HINT}") from None


def cells_of(text: str, of_object: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """JSON as it stands. NaN comes as a decimal: a float NaN would mean that the field is not there."""
    if text.startswith("\ufeff"):
        raise ValueError("it begins with a byte-order mark")
    try:
        return json.loads(text, parse_constant=_constant, object_pairs_hook=of_object)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _constant(name: str) -> Any:
    return Decimal(name) if name == "NaN" else float(name)


def _frame(path: Path, records: Iterable[Any], file: File | None) -> pd.DataFrame:
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            found = "a string" if isinstance(record, str) else "a list" if isinstance(record, list) else "no object"
            raise RagdataError(f"{path}: record {number} (from 0) is {found}, not an object; {_way(file, record)}")
        rows.append(record)
    names = dict.fromkeys(name for row in rows for name in row)
    declared = row_record(file) if file else None
    if not rows and declared is not None:
        names = dict.fromkeys(f.name for f in declared.fields)
    columns = {name: pd.Series([row.get(name, pd.NA) for row in rows], dtype=object) for name in names}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(rows)), columns=list(names))


def _way(file: File | None, record: Any) -> str:
    """What to do about a record that is no row."""
    if isinstance(record, str) and file is not None and any(r.shape == "string" for r in file.records):
        return "`ragdatakit.connect` shows such records as a table"
    return _HINT
