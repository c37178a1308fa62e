"""Columns of ids as arrays of codes, for `Proofs`: of a large table in Parquet read once, column by column, as memory
is dear; of a small one by one query, as queries are."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragdatakit.database.text_batches import WordBatch, word_batches
from ragdatakit.files.containers.parquet_tables import ParquetTable, opened_parquet
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.validators.graphrag.sql_tables import SqlTable, SqlTables, code_of

if TYPE_CHECKING:
    from ragdatakit.files.graphrag.tables import StoredTable

MOST = 32_000_000
"""Values of all columns together beyond which they are not held in memory (8 bytes each)."""
_MOST_IN_SMALL = 1_000_000
"""The same of a small table: some bytes in Parquet may stand for very many values."""
_PIECE = 1 << 12
Codes = npt.NDArray[np.uint64]


@dataclass(slots=True)
class Coded:
    """A column without a null anywhere.

    ``codes`` are those of its texts or of the members of its lists, or its integers; ``counts`` how many members each
    list has (None: no lists); ``lengths`` of ids the least and the greatest length in a large table, else all.
    ``size`` is the number of codes; ``has_words``: one is certain to be a text that is not a number.
    """

    codes: Codes
    counts: npt.NDArray[np.int32] | None
    lengths: frozenset[int]
    size: int
    has_words: bool = False


def coded_columns(stored: StoredTable, names: list[str]) -> dict[str, Coded]:
    """The columns of these names that are texts, integers, or lists of them, and have no null; others are left out."""
    try:
        with opened_parquet(stored.file.path, stored.file.boundary) as parquet:
            kinds = {name: kind for name, kind in parquet.columns.items() if name in names and kind in _KINDS}
            groups = parquet.group_rows()
    except RagdataError:  # damaged: the check of the table words it
        return {}

    def read(together: list[str]) -> dict[str, Coded]:
        try:
            with opened_parquet(stored.file.path, stored.file.boundary) as parquet:
                return _read(parquet, {name: kinds[name] for name in together}, groups)
        except RagdataError:
            return {}

    found: dict[str, Coded] = {}
    with ThreadPoolExecutor(2) as pool:
        for some in pool.map(read, _read_together(kinds)):
            found |= some
    return found


def _read_together(kinds: Mapping[str, str]) -> list[list[str]]:
    """The names of the columns by the passes that read them: integers in one, as to begin a pass takes longer than to
    read some; each of the others in its own, as a reader holds a piece of each."""
    integers = [name for name, kind in kinds.items() if kind == "BIGINT"]
    return [*([integers] if integers else []), *([name] for name in kinds if name not in integers)]


def viewed_columns(tables: SqlTables, table: SqlTable, names: list[str]) -> dict[str, Coded]:
    """The same of a small table, with the types that its view gives them. Raises `duckdb.Error`."""
    declared = {name: column for name in names if table.stored.table and (column := table.stored.table.column(name))}
    codes = {name: _code_in_view(name, column.type) for name, column in declared.items()}
    lengths = ["length(id)"] if "id" in codes else []
    are_lists = [*(column.type in ("texts", "integers") for column in declared.values()), *(False for _ in lengths)]
    if not codes:
        return {}
    held: list[list[Any]] = [[] for _ in (*codes, *lengths)]
    rows, size = tables.rows(f"select {', '.join([*codes.values(), *lengths])} from {table.name}"), 0
    while piece := list(islice(rows, _PIECE)):
        for kept, values, is_list in zip(held, zip(*piece, strict=True), are_lists, strict=True):
            kept += values
            size += sum(len(v) for v in values if v is not None) if is_list else len(values)
        if size > _MOST_IN_SMALL:
            return {}
    shapes = frozenset(held.pop()) if lengths else frozenset()
    found = zip(codes, map(_of_values, held), strict=True)
    return {
        name: Coded(*coded, shapes if name == "id" else frozenset(), len(coded[0])) for name, coded in found if coded
    }


def has_sizes(columns: Mapping[str, Coded]) -> bool:
    """Whether each community is proved to have the size of its list of members."""
    size, members = columns.get("size"), columns.get("entity_ids")
    counts = members.counts if members is not None else None
    return size is not None and counts is not None and np.array_equal(size.codes.view(np.int64), counts)


def _code_in_view(name: str, kind: str) -> str:
    """The code of a text, the codes of a list of texts, or the integers themselves, in SQL."""
    column = sql_name(name)
    if kind == "texts":
        return f"list_transform({column}, lambda x: {code_of('x')})"
    return code_of(column) if kind == "text" else column


def _of_values(values: list[Any]) -> tuple[Codes, npt.NDArray[np.int32] | None] | None:
    """Codes or integers, and how many each list has, where they are in lists; None where there is a null."""
    if None in values:
        return None
    if not values or not isinstance(values[0], list):
        return _as_codes(values), None
    members = list(chain.from_iterable(values))
    return None if None in members else (_as_codes(members), np.fromiter(map(len, values), np.int32, len(values)))


def _as_codes(values: list[int]) -> Codes:
    is_signed = bool(values) and min(values) < 0
    return np.array(values, np.int64).view(np.uint64) if is_signed else np.array(values, np.uint64)


def value_count(stored: StoredTable, names: list[str]) -> int:
    """How many values these columns have, members of lists included, as the footer says."""
    with opened_parquet(stored.file.path, stored.file.boundary) as parquet:
        return parquet.value_count(names)


def _read(parquet: ParquetTable, kinds: Mapping[str, str], groups: list[int]) -> dict[str, Coded]:
    """Codes, and how many each list has, come out of one pass."""
    wanted = [_code_in_view(name, _KINDS[kind]) for name, kind in kinds.items()]
    if kinds.get("id") == "VARCHAR":
        wanted.append("strlen(id)")
    parts = {name: _Parts() for name in kinds}
    lengths: set[int] = set()
    for stream in parquet.streams(f"select {', '.join(wanted)} from {{}}", groups):
        for batch in word_batches(stream):
            for part, words in zip(parts.values(), batch, strict=False):
                part.add(words)
            for given in batch[len(parts) :] if len(batch[0].words) else ():
                lengths |= {int(given.words.min()), int(given.words.max())}
        if all(part.has_nulls for part in parts.values()):
            return {}
    return {
        name: part.coded(kinds[name].endswith("[]"), frozenset(lengths if name == "id" else ()))
        for name, part in parts.items()
        if not part.has_nulls
    }


@dataclass(slots=True)
class _Parts:
    """What came of a column, until there is a null in it."""

    has_nulls: bool = False
    codes: list[Codes] = field(default_factory=list)
    counts: list[npt.NDArray[np.int32]] = field(default_factory=list)

    def add(self, batch: WordBatch) -> None:
        """Take the words of a batch, which are gone when the next one comes."""
        self.has_nulls = self.has_nulls or batch.has_nulls
        if self.has_nulls:
            self.codes, self.counts = [], []
            return
        self.codes.append(batch.words.copy())
        self.counts += [] if batch.counts is None else [batch.counts]

    def coded(self, are_lists: bool, lengths: frozenset[int]) -> Coded:
        """The whole column."""
        whole = np.concatenate(self.codes) if self.codes else np.empty(0, np.uint64)
        self.codes = []
        counts = np.concatenate([np.empty(0, np.int32), *self.counts]) if are_lists else None
        return Coded(whole, counts, lengths, len(whole))


_KINDS = {"VARCHAR": "text", "BIGINT": "integer", "VARCHAR[]": "texts", "BIGINT[]": "integers"}
"""What DuckDB's types are called in a declaration."""
