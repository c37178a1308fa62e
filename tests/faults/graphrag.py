"""Clean indexes of GraphRAG 3, and every damage of their cells, columns, tables and files."""

from __future__ import annotations

import copy
import gzip
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from ragdatakit.schemas.declarations import Format
from ragdatakit.schemas.graphrag.format import GRAPHRAG
from ragdatakit.schemas.graphrag.tables import BY_KIND, Column
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run import validate_paths
from tests.faults.drafts import Place
from tests.faults.engines import engine
from tests.faults.graphrag_oracle import CORE, FIRST_ONLY, KINDS, Table, expected, stored
from tests.graphrag_cases import FINDINGS, INTEGERS, SCHEMAS, TEXTS

SIZE, TARGET = 12, 5
"""Rows of each table but that of the documents, and the one that is damaged."""
MEMBERS = [range(6), range(6, 12), range(3), range(3, 6), range(6, 9), range(9, 12), range(2), range(2, 3), range(3, 5),
           range(5, 6), range(6, 9), range(9, 12)]  # fmt: skip
PARENTS = [-1, -1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5]
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12\n"

Columns = dict[str, pa.Array]
Damage = tuple[str, str, Any]
"""The kind of damage, what is done, and what is put in place."""


def _relationship(number: int) -> str:
    return f"00000000-0000-4000-8000-{number % SIZE:012}"


def _clean() -> dict[str, list[dict[str, Any]]]:
    """A ring of entities: each is in two text units, related to two others, and in a community of each level."""
    levels = [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]
    communities: list[dict[str, Any]] = [
        {
            "id": f"c{n}", "human_readable_id": n, "community": n, "level": levels[n], "parent": PARENTS[n],
            "children": [c for c in range(SIZE) if PARENTS[c] == n], "title": f"Community {n}",
            "entity_ids": [f"e{m}" for m in MEMBERS[n]],
            "relationship_ids": [_relationship(m) for m in MEMBERS[n] if m + 1 in MEMBERS[n]],
            "text_unit_ids": [f"t{m}" for m in MEMBERS[n]], "period": "2026-01-05", "size": len(MEMBERS[n]),
        }
        for n in range(SIZE)
    ]  # fmt: skip
    return {
        "documents": [
            {
                "id": f"d{n}", "human_readable_id": n, "title": f"coast-{n}.txt", "text": f"The coast, part {n}.",
                "text_unit_ids": [f"t{3 * n + m}" for m in range(3)], "creation_date": "2026-01-05 00:00:00 +0000",
                "raw_data": None,
            }
            for n in range(SIZE // 3)
        ],
        "text_units": [
            {
                "id": f"t{n}", "human_readable_id": n, "text": f"Light {n} stands by the sea.", "n_tokens": 7,
                "document_id": f"d{n // 3}", "entity_ids": [f"e{n}", f"e{(n + 1) % SIZE}"],
                "relationship_ids": [_relationship(n)], "covariate_ids": [f"k{n}"],
            }
            for n in range(SIZE)
        ],
        "entities": [
            {
                "id": f"e{n}", "human_readable_id": n, "title": f"LIGHT {n}", "type": "GEO",
                "description": f"Light {n} of the coast", "text_unit_ids": [f"t{(n - 1) % SIZE}", f"t{n}"],
                "frequency": 2, "degree": 2,
            }
            for n in range(SIZE)
        ],
        "relationships": [
            {
                "id": _relationship(n), "human_readable_id": n, "source": f"LIGHT {n}",
                "target": f"LIGHT {(n + 1) % SIZE}", "description": "One is seen from the other.", "weight": 2.0,
                "combined_degree": 4, "text_unit_ids": [f"t{n}"],
            }
            for n in range(SIZE)
        ],
        "communities": communities,
        "community_reports": [
            {
                **{name: c[name] for name in ("human_readable_id", "community", "level", "parent", "children", "size")},
                "id": f"p{n}", "title": f"Coast {n}", "summary": f"Lights of part {n}.", "full_content": f"# Coast {n}",
                "rank": 5.0, "rating_explanation": "Local.", "findings": [{"explanation": "Seen.", "summary": "Lit"}],
                "full_content_json": f'{{"title": "Coast {n}", "summary": "Lights of part {n}."}}',
                "period": "2026-01-05",
            }
            for n, c in enumerate(communities)
        ],
        "covariates": [
            {
                "id": f"k{n}", "human_readable_id": n, "covariate_type": "claim", "type": "SURVEY",
                "description": "It was lit.", "subject_id": f"LIGHT {n}", "object_id": "NONE", "status": "TRUE",
                "start_date": "2026-01-05T00:00:00", "end_date": "NONE", "source_text": "Lit.", "text_unit_id": f"t{n}",
            }
            for n in range(SIZE)
        ],
    }  # fmt: skip


ROWS = _clean()


@dataclass(frozen=True, eq=False)
class TableDraft:
    """A clean index, in files that end so."""

    name: str
    ending: str
    format: Format = GRAPHRAG
    baseline: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def columns(self) -> dict[str, Columns]:
        """The columns of each table."""
        found: dict[str, Columns] = {}
        for table, rows in ROWS.items():
            kinds = SCHEMAS[table]
            found[table] = {c: self.column([row[c] for row in rows], kind) for c, kind in kinds.items()}
        return found

    def column(self, values: list[Any], kind: pa.DataType) -> pa.Array:
        """Values as a column of that type; in CSV as texts."""
        if self.ending == ".csv":
            return pa.array(["" if value is None else str(value) for value in values], pa.string())
        return pa.array(values, kind)

    def file(self, table: str) -> str:
        """The name of a table's file."""
        return table + self.ending

    def data(self, columns: Columns) -> bytes:
        """The bytes of a table."""
        made = io.BytesIO()
        if self.ending == ".csv":
            pc.write_csv(pa.table(columns), made, pc.WriteOptions(quoting_style="needed"))
        else:
            pq.write_table(pa.table(columns), made)
        return made.getvalue()

    @cached_property
    def stored(self) -> dict[str, Table]:
        """What the oracle knows of the clean tables, by kind."""
        return {KINDS[t]: stored(KINDS[t], self.file(t), columns) for t, columns in self.columns.items()}


@dataclass(frozen=True, slots=True)
class TableInjection:
    """A damaged table: its ``columns`` (None: it is gone) or ``content``, and what must be reported."""

    draft: TableDraft
    kind: str
    damage: str
    name: str
    table: str
    columns: Columns | None
    content: bytes | None
    all_faults: frozenset[Place]
    alone: bool = False
    pointers: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    @property
    def path(self) -> str:
        """The damaged file."""
        return self.draft.file(self.table)

    @property
    def faults(self) -> frozenset[Place]:
        """What must be reported; where a rule has one finding a file, no row of it."""
        return frozenset(Place(p.rule, p.path, None) if p.rule in FIRST_ONLY else p for p in self.all_faults)

    def consequences(self) -> set[Place]:
        """All that follows is among the faults."""
        return set()

    def __str__(self) -> str:
        return f"{self.draft.name}: {self.path}: {self.damage}: {self.name}"


TABLE_DRAFTS = TableDraft("graphrag parquet", ".parquet"), TableDraft("graphrag csv", ".csv")
"""An index in Parquet, and one in CSV."""


@cache
def table_injections(draft: TableDraft) -> tuple[TableInjection, ...]:
    """All faults of one index."""
    return tuple(_injections(draft))


def _injections(draft: TableDraft) -> Iterator[TableInjection]:
    for table, columns in draft.columns.items():
        for name in columns:
            declared = BY_KIND[KINDS[table]].column(name)
            assert declared is not None
            yield _changed(draft, table, "missing", name, {c: v for c, v in columns.items() if c != name})
            for damage, variant, new in _damages(draft, table, declared):
                yield _changed(draft, table, damage, f"{name}: {variant}", {**columns, name: new})
        yield from _whole_tables(draft, table)
        yield from _files(draft, table)


def _changed(draft: TableDraft, table: str, damage: str, name: str, columns: Columns | None) -> TableInjection:
    kind = KINDS[table]
    tables = {of: each for of, each in draft.stored.items() if of != kind}
    unread: set[str] = set()
    if columns is not None:
        tables = {of: tables.get(of) or stored(kind, draft.file(table), columns) for of in draft.stored}
        if not tables[kind].size and kind in CORE:
            unread.add(kind)
    faults = frozenset(expected(tables, frozenset(unread)))
    return TableInjection(draft, kind, damage, name, table, columns, None, faults)


def _damages(draft: TableDraft, table: str, column: Column) -> Iterator[Damage]:
    """A column with another value in one row, or with values of another type in all."""
    of_type = {"text": _texts, "any": _texts, "integer": _integers, "number": _numbers, "texts": _lists,
               "integers": _number_lists, "findings": _findings}[column.type]  # fmt: skip
    values = [row[column.name] for row in ROWS[table]]
    for damage, variant, change, kind in of_type(values):
        changed = [change(value) for value in values] if callable(change) else copy.copy(values)
        if not callable(change):
            changed[min(TARGET, len(values) - 1)] = change
        if draft.ending != ".csv" or kind is None:  # cells have no types
            yield damage, variant, draft.column(changed, kind or SCHEMAS[table][column.name])


Change = tuple[str, str, Any, pa.DataType | None]


def _texts(values: list[Any]) -> Iterator[Change]:
    yield "null", "null", None, None
    yield "null", "all null", lambda value: None, None
    for variant, value in (("empty", ""), ("blank", " ")):
        yield "empty", variant, value, None
    yield "out of range", "other text", "Öther &amp; text|x", None
    yield "dangling reference", "unknown word", "zz", None
    yield "duplicate id", "that of the first row", values[0], None
    yield "wrong type", "integers", lambda value: 7, pa.int64()
    yield "wrong type", "numbers of the rows", _counted(), pa.int64()
    yield "wrong type", "truth values", lambda value: True, pa.bool_()


def _counted() -> Callable[[Any], int]:
    numbers = iter(range(1 << 20))
    return lambda value: next(numbers)


def _integers(values: list[Any]) -> Iterator[Change]:
    yield "null", "null", None, None
    yield "null", "all null", lambda value: None, None
    for value in (-1, 99, 7):
        yield "out of range", str(value), value, None
    yield "huge integer", "2^62", 1 << 62, None
    yield "duplicate id", "that of the first row", values[0], None
    yield "near type", "digits", str, pa.string()
    yield "near type", "digits with blanks", lambda value: f" {value} ", pa.string()
    yield "near type", "fractions", float, pa.float64()
    yield "near type", "half more", lambda value: value + 0.5, pa.float64()
    yield "wrong type", "words", lambda value: "x", pa.string()
    yield "wrong type", "truth values", bool, pa.bool_()
    yield "not finite", "NaN", lambda value: float("nan"), pa.float64()
    yield "not finite", "Infinity", lambda value: float("inf"), pa.float64()


def _numbers(values: list[Any]) -> Iterator[Change]:
    yield "null", "null", None, None
    yield "null", "all null", lambda value: None, None
    for value in (-1.0, 99.0, 0.0):
        yield "out of range", str(value), value, None
    yield "not finite", "NaN", float("nan"), None
    yield "not finite", "Infinity", float("inf"), None
    yield "near type", "integers", int, pa.int64()
    yield "near type", "digits", str, pa.string()
    yield "wrong type", "words", lambda value: "x", pa.string()


def _lists(values: list[Any]) -> Iterator[Change]:
    yield "null", "null", None, None
    yield "null", "all null", lambda value: None, None
    yield "empty", "no members", [], None
    yield "empty", "none has members", lambda value: [], None
    yield "dangling reference", "unknown member", ["zz"], None
    yield "dangling reference", "one more, unknown", [*values[-1], "zz"], None
    yield "duplicate id", "a member twice", [*values[-1], *values[-1]], None
    yield "contradiction", "that of the first row", values[0], None
    yield "record gone", "first member gone", values[min(TARGET, len(values) - 1)][1:], None
    yield "wrong list", "null among the members", [*values[-1], None], None
    yield "wrong list", "integers", lambda value: [7 for _ in value], INTEGERS
    yield "wrong list", "as text", str, pa.string()
    yield "wrong list", "one text", lambda value: value[0] if value else "", pa.string()
    yield "wrong type", "integers in place of lists", lambda value: 7, pa.int64()


def _number_lists(values: list[Any]) -> Iterator[Change]:
    yield "null", "null", None, None
    yield "null", "all null", lambda value: None, None
    yield "empty", "none has members", lambda value: [], None
    yield "dangling reference", "unknown member", [99], None
    yield "duplicate id", "a member twice", [11, 11], None
    yield "contradiction", "that of the first row", values[0], None
    yield "wrong list", "digits", lambda value: [str(each) for each in value], TEXTS
    yield "wrong list", "words", lambda value: ["x" for _ in value], TEXTS
    yield "wrong list", "as text", str, pa.string()
    yield "wrong type", "integers in place of lists", lambda value: 7, pa.int64()


def _findings(values: list[Any]) -> Iterator[Change]:
    yield "null", "null", None, None
    yield "empty", "none", [], None
    yield "wrong type", "words", lambda value: "x", pa.string()
    yield "wrong list", "without summaries", [{"explanation": "Seen.", "summary": None}], FINDINGS


def _whole_tables(draft: TableDraft, table: str) -> Iterator[TableInjection]:
    columns = draft.columns[table]
    size = len(next(iter(columns.values())))
    taken = {
        ("missing table", "gone"): None,
        ("record gone", "no rows"): [],
        ("record gone", "first row"): [*range(1, size)],
        ("record gone", "one row"): [n for n in range(size) if n != min(TARGET, size - 1)],
        ("duplicate id", "a row twice"): [*range(size), 0],
        ("other order", "last row first"): [*range(size)][::-1],
    }
    for (damage, name), rows in taken.items():
        changed = (
            None if rows is None else {c: values.take(pa.array(rows, pa.int64())) for c, values in columns.items()}
        )
        yield _changed(draft, table, damage, name, changed)
    further = pa.array(["x"] * size)
    yield _changed(draft, table, "extra key", "further column", {**columns, "further": further})


def _files(draft: TableDraft, table: str) -> Iterator[TableInjection]:
    """Files that are no tables."""
    data, path = draft.data(draft.columns[table]), draft.file(table)

    def damaged(damage: str, name: str, content: bytes, rule: str) -> TableInjection:
        faults = frozenset({Place(rule, path, None)})
        return TableInjection(draft, KINDS[table], damage, name, table, None, content, faults, alone=True)

    yield damaged("wrong packing", "Git LFS pointer", POINTER, "lfs-pointer")
    if draft.ending == ".csv":
        return
    for name, content in {
        "no bytes": b"",
        "four bytes": data[:4],
        "half": data[: len(data) // 2],
        "without the last byte": data[:-1],
    }.items():
        yield damaged("cut file", name, content, "unreadable-table")
    length = int.from_bytes(data[-8:-4], "little")
    begin = len(data) - 8 - length
    for name, content in {
        "footer of zeros": data[:begin] + bytes(length) + data[-8:],
        "footer longer than the file": data[:-8] + b"\xff\xff\xff\x7f" + data[-4:],
        "footer of length 0": data[:-8] + bytes(4) + data[-4:],
        "pages of zeros": data[:4] + bytes(begin - 4) + data[begin:],
        "other magic": data[:-4] + b"PARX",
        "text": b"id,title\n1,x\n",
    }.items():
        yield damaged("damaged file", name, content, "unreadable-table")
    yield damaged("wrong packing", "gzip", gzip.compress(data, mtime=0), "unreadable-table")


class TableBench:
    """One clean index on disk, damaged and restored again and again."""

    def __init__(self, draft: TableDraft, root: Path) -> None:
        self.draft, self.root = draft, root
        self._clean = {table: draft.data(columns) for table, columns in draft.columns.items()}
        for table, data in self._clean.items():
            (root / draft.file(table)).write_bytes(data)

    def findings(self, injection: TableInjection | None, engine_name: str) -> list[dict[str, Any]]:
        """Everything that is reported of the damaged index (None: of the clean one), paths relative."""
        if injection is not None:
            self._damage(injection)
        try:
            with engine(engine_name):
                found = validate_paths([self.root], "graphrag", selection=Selection(max_per_rule=0)).findings
        finally:
            if injection is not None:
                (self.root / injection.path).write_bytes(self._clean[injection.table])
        return self._placed(injection, [finding.as_dict() for finding in found])

    def _damage(self, injection: TableInjection) -> None:
        path = self.root / injection.path
        if injection.content is None and injection.columns is None:
            path.unlink()
        else:
            content = injection.content
            path.write_bytes(self.draft.data(injection.columns or {}) if content is None else content)

    def _placed(self, injection: TableInjection | None, findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Findings with rows for lines, as the injection has them."""
        known = injection.all_faults if injection is not None else frozenset()
        found = []
        for each in findings:
            path, row = each["path"].removeprefix(f"{self.root}/"), each["record"]
            is_first = each["rule"] in FIRST_ONLY and Place(each["rule"], path, row) in known
            found.append({**each, "path": path, "line": None if is_first else row})
        return found
