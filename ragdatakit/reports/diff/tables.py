"""Compare the rows of a table in two databases: by hashes, so that neither has to fit into memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragdatakit.database.arrow_streams import incoming, passed
from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_numbers
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.diff.file_records import comparable
from ragdatakit.schemas.diffs import ColumnUse, RecordChange, RecordShown, TableDiff, ValueChange

if TYPE_CHECKING:
    import duckdb

_AT_ONCE = 1 << 13
_SHOWN = 120
_BEFORE = 40
_JSON_COLUMNS = frozenset(("metadata", "attributes", "record", "before"))
"""Columns of canonical tables that hold JSON, whose form says nothing."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table on one side: ``relation`` is a query or table whose column ``rid`` numbers them in order.
    ``json`` are the columns whose texts are JSON, compared as values."""

    connection: duckdb.DuckDBPyConnection
    relation: str
    columns: tuple[str, ...]
    json: frozenset[str] = frozenset()


def stored_rows(connection: duckdb.DuckDBPyConnection, table: str) -> Rows:
    """The rows of a table that is stored in the database."""
    columns = _columns(connection, f"main.{sql_name(table)}")
    relation = f"(select *, rowid as rid from main.{sql_name(table)})"
    return Rows(connection, relation, columns, _JSON_COLUMNS.intersection(columns))


def _columns(connection: duckdb.DuckDBPyConnection, source: str) -> tuple[str, ...]:
    return tuple(name for name, *_ in connection.execute(f"describe {source}").fetchall())


class TableComparison:
    """Compares tables one after the other in a database of its own, ``work``, which holds hashes and row numbers only.

    Rows are the same where the hashes (64 bits each) of their keys and of all their values are. Of what then is left,
    JSON is compared once more as values, whatever its form. The rest is paired by key, in order; a pair is a changed
    record.
    """

    def __init__(self, work: duckdb.DuckDBPyConnection, most: int) -> None:
        self._work, self._most = work, most
        self._same = False

    def compare(
        self,
        schema: str,
        name: str,
        before: Rows | None,
        after: Rows | None,
        key: Sequence[str],
        ignored: Iterable[str] = (),
        apart: str = "",
        instead: str = "",
    ) -> TableDiff:
        """How ``after`` differs from ``before``; a side may lack the table. ``apart`` is a column that is no part of
        the comparison, but stays at hand for `by_group`; ``instead`` is the key of rows without a value in the key."""
        left_out = {column.lower() for column in (*ignored, apart)}
        sides = [side for side in (before, after) if side is not None]
        columns = [c for c in sides[0].columns if c.lower() not in left_out]
        key = tuple(column for column in key if column in columns)
        diff = TableDiff(schema, name, key, None, None)
        for side, rows in (("before", before), ("after", after)):
            count = self._hash(side, rows, _key_code(key, instead), columns, apart)
            setattr(diff, side, count)
        self._same = diff.before == diff.after and self._are_same()
        if self._same:
            return diff
        self._match(bool(key))
        json = [c for c in columns if before is not None and after is not None and c in before.json]
        if before is not None and after is not None and json and self._one("select count(*) from pairs"):
            for side, rows in (("before", before), ("after", after)):
                self._take_forms(side, rows, [c for c in columns if c not in json], json)
            self._match(bool(key))
        counts = "select count(l) - count(pair), count(r) - count(pair), count(pair) from pairs"
        diff.removed, diff.added, diff.changed = self._row(counts)
        if diff.different:
            self._describe(diff, before, after, columns, instead)
        return diff

    def by_group(self) -> dict[str, tuple[int, int, int]]:
        """The removed, added and changed records of the last comparison by the value of its column ``apart``; a changed
        record counts where it is after."""
        if self._same:
            return {}
        query = """
            select coalesce(a.grouped, b.grouped), count(p.l) - count(p.pair), count(p.r) - count(p.pair), count(p.pair)
            from pairs p left join before_rows b on b.rid = p.l left join after_rows a on a.rid = p.r group by 1
        """
        found = self._work.execute(query).fetchall()
        return {str(name): (removed, added, changed) for name, removed, added, changed in found}

    def _are_same(self) -> bool:
        """Whether both sides have the same rows, by the sums of their hashes; as most tables have."""
        sums = ", ".join(f"(select sum(hash(kh, rh)) from {side}_rows)" for side in ("before", "after"))
        before, after = self._row(f"select {sums}")
        return bool(before == after)

    def _hash(self, side: str, rows: Rows | None, by: str, columns: Sequence[str], apart: str) -> int | None:
        """Take the hashes of the rows of a side; how many these are."""
        grouped = f"{sql_name(apart)}::varchar" if apart else "null::varchar"
        if rows is None:
            query = "select 0::bigint as rid, 0::ubigint as kh, 0::ubigint as rh, null::varchar as grouped where false"
            self._work.execute(f"create or replace temp table {side}_rows as {query}")
            return None
        row = _hash_of(columns)
        query = f"select rid::bigint as rid, {by} as kh, {row} as rh, {grouped} as grouped from {rows.relation}"
        return self._take(rows.connection, query, f"{side}_rows")

    def _take(self, source: duckdb.DuckDBPyConnection, query: str, table: str) -> int:
        """The rows of a query of another database as a table; how many these are."""
        with passed(self._work, "taken", source.sql(query)):
            return self._one(f"create or replace temp table {table} as select * from taken")

    def _take_forms(self, side: str, rows: Rows, plain: Sequence[str], json: Sequence[str]) -> None:
        """Of the rows that are left, codes of the values that their JSON means in place of those of its text; the
        rows that are the same are needed no more."""
        texts = [f"t.{sql_name(c)} as j{i}" for i, c in enumerate(json)]
        wanted = ", ".join(["t.rid::bigint as rid", f"{_hash_of(plain, 't.')} as ph", *texts])
        names = [f"f{i}" for i in range(len(json))]
        schema = {"rid": Kind.INTEGER, "ph": Kind.CODE, **dict.fromkeys(names, Kind.INTEGER)}

        def coded(query: str) -> Iterator[list[PackedColumn]]:
            result = rows.connection.execute(query)
            while chunk := result.fetchmany(_AT_ONCE):
                numbers, plain_codes, *values = zip(*chunk, strict=True)
                codes = ([_form(value) for value in column_values] for column_values in values)
                columns = zip(schema.values(), (numbers, plain_codes, *codes), strict=True)
                yield [packed(kind, given) for kind, given in columns]

        with (
            self._joined(rows, f"select rid as number from {side}_only", wanted) as query,
            incoming(self._work, "taken", schema, coded(query)),
        ):
            self._work.execute(f"create or replace temp table {side}_forms as select * from taken")
        row = f"hash({', '.join(('f.ph', *(f'f.{name}' for name in names)))})"
        query = f"select t.rid, t.kh, {row} as rh, t.grouped from {side}_rows t join {side}_forms f on f.rid = t.rid"
        self._work.execute(f"create or replace temp table {side}_left as {query}")
        self._work.execute(f"create or replace temp table {side}_rows as select * from {side}_left")

    @contextmanager
    def _joined(self, rows: Rows, numbers: str, wanted: str) -> Iterator[str]:
        """A query for values of the rows that a query of the work database numbers; ``w`` is what it gives, ``t`` the
        rows."""
        given = self._work.execute(numbers).fetchnumpy()
        columns = [packed_numbers(Kind.INTEGER, values) for values in given.values()]
        with incoming(rows.connection, "wanted_rows", dict.fromkeys(given, Kind.INTEGER), [columns]):
            yield f"select {wanted} from {rows.relation} t join wanted_rows w on t.rid = w.number"

    def _match(self, keyed: bool) -> None:
        grouped = "(select kh, rh, count(*) as n from {}_rows group by all)"
        self._work.execute(f"""
            create or replace temp table surplus as
            select coalesce(a.kh, b.kh) as kh, coalesce(a.rh, b.rh) as rh, coalesce(a.n, 0) - coalesce(b.n, 0) as n
            from {grouped.format("before")} a full join {grouped.format("after")} b on a.kh = b.kh and a.rh = b.rh
            where coalesce(a.n, 0) != coalesce(b.n, 0)
        """)
        for side, sign in (("before", ""), ("after", "-")):
            self._work.execute(f"""
                create or replace temp table {side}_only as
                select rid, kh, row_number() over (partition by kh order by rid) as place from (
                    select t.rid, t.kh, {sign}s.n as n,
                        row_number() over (partition by t.kh, t.rh order by t.rid desc) as k
                    from {side}_rows t join surplus s on t.kh = s.kh and t.rh = s.rh where {sign}s.n > 0
                ) where k <= n
            """)
        on = "b.kh = a.kh and b.place = a.place" if keyed else "false"
        self._work.execute(f"""
            create or replace temp table pairs as
            select b.rid as l, a.rid as r, case when b.rid is not null and a.rid is not null then 1 end as pair
            from before_only b full join after_only a on {on}
        """)

    def _describe(
        self, diff: TableDiff, before: Rows | None, after: Rows | None, columns: Sequence[str], instead: str
    ) -> None:
        if before is not None and after is not None:
            diff.used = _uses(before, after, columns)
            if diff.changed:
                diff.columns = self._changed_columns(before, after, [c for c in columns if c not in diff.key])
        wanted = [c for c in columns if c not in diff.key]
        for rows, count, mine, other, records in (
            (before, diff.removed, "l", "r", diff.removed_records),
            (after, diff.added, "r", "l", diff.added_records),
        ):
            if rows is not None and count:
                numbers = self._numbers(f"select {mine} from pairs where {other} is null order by 1")
                for row in _fetch(rows, columns, numbers):
                    key = _key_shown(diff.key, row, instead)
                    values = {c: _shown_value(row[c]) for c in wanted if c not in key and row[c] not in (None, [], ())}
                    records.append(RecordShown(key, values))
        if before is not None and after is not None and diff.changed:
            pairs = self._work.execute(
                f"select l, r from pairs where pair = 1 order by l limit {self._most}"
            ).fetchall()
            old = _fetch(before, columns, [left for left, _ in pairs])
            new = _fetch(after, columns, [right for _, right in pairs])
            diff.changed_records = [
                RecordChange(
                    _key_shown(diff.key, a, instead),
                    tuple(value_change(c, a[c], b[c]) for c in wanted if not _same(a[c], b[c], c in before.json)),
                )
                for a, b in zip(old, new, strict=True)
            ]

    def _changed_columns(self, before: Rows, after: Rows, columns: Sequence[str]) -> dict[str, int]:
        if not columns:
            return {}
        json = [c for c in before.columns if c in before.json and c in columns]
        plain = [c for c in columns if c not in json]
        for side, rows, number in (("before", before, "l"), ("after", after, "r")):
            pairs = f"select {number} as number, row_number() over (order by l) as p from pairs where pair = 1"
            wanted = ", ".join(["w.p", "w.number", *(f"{_hash_of([c], 't.')} as h{i}" for i, c in enumerate(plain))])
            with self._joined(rows, pairs, wanted) as query:
                self._take(rows.connection, query, f"{side}_columns")
        sums = [f"count_if(b.h{i} != a.h{i})" for i in range(len(plain))]
        joined = "before_columns b join after_columns a on a.p = b.p"
        if json:
            sums += [f"count_if(bf.f{i} != af.f{i})" for i in range(len(json))]
            joined += " join before_forms bf on bf.rid = b.number join after_forms af on af.rid = a.number"
        counts = dict(zip((*plain, *json), self._row(f"select {', '.join(sums)} from {joined}"), strict=True))
        return {name: counts[name] for name in columns if counts[name]}

    def _numbers(self, query: str) -> list[int]:
        return [number for (number,) in self._work.execute(f"{query} limit {self._most}").fetchall()]

    def _one(self, query: str) -> int:
        return int(self._row(query)[0])

    def _row(self, query: str) -> tuple[Any, ...]:
        return tuple(self._work.execute(query).fetchall()[0])


def _hash_of(columns: Sequence[str], of: str = "") -> str:
    """One code for the values of all these columns, in SQL."""
    # DuckDB's hash takes texts for equal that differ only at the ends of two 8-byte words, once in 256 times: each
    # value is hashed a second time, moved by half a word (`sql_text.hash_expression`).
    given = ", ".join(f"{of}{sql_name(c)}, 'abcd' || {of}{sql_name(c)}::varchar" for c in columns)
    return f"hash({given})" if columns else "0::ubigint"


def _key_code(key: Sequence[str], instead: str) -> str:
    if not instead or len(key) != 1:
        return _hash_of(key)
    own, other = sql_name(key[0]), sql_name(instead)
    value = f"coalesce({own}, {other})"
    return f"hash({value}, 'abcd' || {value}, {own} is null)"


def _key_shown(key: Sequence[str], row: Mapping[str, Any], instead: str) -> dict[str, Any]:
    if instead and all(row[column] is None for column in key):
        key = (instead,)
    return {column: _shown_value(row[column]) for column in key}


def _uses(before: Rows, after: Rows, columns: Sequence[str]) -> list[ColumnUse]:
    """Columns that have values on one side only."""
    counts = ", ".join(f"count({sql_name(c)})" for c in columns)
    old, new = (
        rows.connection.execute(f"select {counts} from {rows.relation}").fetchall()[0] for rows in (before, after)
    )
    pairs = zip(columns, old, new, strict=True)
    return [ColumnUse(c, a, b) for c, a, b in pairs if bool(a) != bool(b)]


def _fetch(rows: Rows, columns: Sequence[str], numbers: Sequence[int]) -> list[dict[str, Any]]:
    """These rows, in the order of the numbers."""
    if not numbers:
        return []
    listed = ", ".join(map(sql_name, columns))
    given = ", ".join(map(str, sorted(numbers)))
    found = rows.connection.execute(f"select rid, {listed} from {rows.relation} where rid in ({given})").fetchall()
    by_number = {row[0]: dict(zip(columns, row[1:], strict=True)) for row in found}
    return [by_number[number] for number in numbers]


def _same(a: Any, b: Any, json: bool) -> bool:
    return bool(a == b or (a != a and b != b) or (json and _form(a) == _form(b)))


def _form(text: str | None) -> int:
    """A code of what JSON means; 0 where there is none."""
    return hash(comparable(text.encode("utf-8", "surrogatepass"))) if text is not None else 0


def value_change(column: str, before: Any, after: Any) -> ValueChange:
    """The change of a value, long texts cut around the first difference."""
    old, new = _plain(before), _plain(after)
    if not (isinstance(old, str) and isinstance(new, str)) or max(len(old), len(new)) <= _SHOWN:
        return ValueChange(column, _shown_value(old), _shown_value(new))
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(at - _BEFORE, 0)
    return ValueChange(column, _window(old, start), _window(new, start), at)


def _window(text: str, start: int) -> str:
    end = start + _SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def _shown_value(value: Any) -> Any:
    """A value as JSON can hold it, a long text cut."""
    value = _plain(value)
    return f"{value[:_SHOWN]}…" if isinstance(value, str) and len(value) > _SHOWN else value


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"{len(value):,} bytes, SHA-256 {hashlib.sha256(value).hexdigest()[:16]}"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
