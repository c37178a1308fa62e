"""What must be reported of an index of GraphRAG 3, worked out from its rows in plain Python."""

from __future__ import annotations

import html
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa

from ragdatakit.schemas.graphrag.tables import BY_KIND, TABLES, Column
from tests.faults.drafts import Place

KINDS = {table.name: table.kind for table in TABLES}
LISTS = ("texts", "integers")
FREE_NUMBERS = {"x", "y", "parent", "source_degree", "target_degree"}
NULL_NUMBERS = {
    ("entities", "human_readable_id"),
    ("entities", "frequency"),
    ("entities", "degree"),
    ("relationships", "human_readable_id"),
    ("relationships", "combined_degree"),
}
READ_LISTS = {
    ("relationships", "text_unit_ids"),
    ("text-units", "entity_ids"),
    ("text-units", "relationship_ids"),
    ("communities", "text_unit_ids"),
}
FIRST_ONLY = {
    "number-unlike-place", "odd-id", "no-type", "report-below-usual-level", "odd-period", "odd-degree", "list-as-text",
    "repeated-number", "unknown-subject", "empty-claim", "stray-community-relationship", "entity-without-community",
}  # fmt: skip
"""Rules of which one finding a file is reported."""
REFERENCES = (
    ("text-units", "document_id", "documents", "id", "unknown-document"),
    ("entities", "text_unit_ids", "text-units", "id", "unknown-text-unit"),
    ("relationships", "text_unit_ids", "text-units", "id", "unknown-text-unit"),
    ("communities", "text_unit_ids", "text-units", "id", "unknown-text-unit"),
    ("communities", "entity_ids", "entities", "id", "unknown-member"),
    ("covariates", "text_unit_id", "text-units", "id", "unknown-text-unit"),
    ("covariates", "subject_id", "entities", "title", "unknown-subject"),
)
UNIQUE = (
    ("documents", "id", "repeated-id"),
    ("text-units", "id", "repeated-text-unit"),
    ("entities", "id", "repeated-id"),
    ("entities", "title", "repeated-title"),
    ("relationships", "id", "repeated-id"),
    ("communities", "community", "repeated-id"),
    ("communities", "title", "repeated-community-title"),
    ("reports", "community", "repeated-report"),
    ("entities", "human_readable_id", "repeated-number"),
    ("relationships", "human_readable_id", "repeated-number"),
    ("covariates", "human_readable_id", "repeated-number"),
)
MIRRORED = (
    ("text-units", "entity_ids", "entities", "text_unit_ids", "links-unlike-units"),
    ("text-units", "relationship_ids", "relationships", "text_unit_ids", "links-unlike-units"),
    ("text-units", "covariate_ids", "covariates", "text_unit_id", "links-unlike-units"),
    ("documents", "text_unit_ids", "text-units", "document_id", "documents-unlike-units"),
)
Fault = tuple[str, str, int]
"""A kind of table, a rule and a row."""
CORE = ("entities", "relationships", "communities", "reports", "text-units")


@dataclass(frozen=True, eq=False)
class Table:
    """A table as it is stored: raw values and read values by column, and the kinds of values that the columns hold."""

    path: str
    is_csv: bool
    kinds: dict[str, str]
    raw: dict[str, list[Any]]
    read: dict[str, list[Any]]
    size: int

    def has(self, *columns: str) -> bool:
        """Whether all these columns are there."""
        return all(column in self.raw for column in columns)

    def rows(self, *columns: str) -> Iterator[tuple[int, Any]]:
        """The rows with their numbers; one column alone as its values."""
        values = [self.read.get(column, [None] * self.size) for column in columns]
        return enumerate(values[0] if len(values) == 1 else zip(*values, strict=True))


def stored(kind: str, path: str, columns: dict[str, pa.Array]) -> Table:
    """A table of Parquet, or of CSV where the path says so (then all cells are texts)."""
    is_csv = path.endswith(".csv")
    raw = {name: values.to_pylist() for name, values in columns.items()}
    kinds = {name: "text" if is_csv else _kind(values.type) for name, values in columns.items()}
    declared = BY_KIND[kind]
    read = {
        name: [_read(column, kinds[name], value, is_csv) for value in values]
        for name, values in raw.items()
        if (column := declared.column(name)) is not None
    }
    return Table(path, is_csv, kinds, raw, read, len(next(iter(raw.values()), ())))


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"list of {_kind(kind.value_type)}"
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return "integer"
    return "fraction" if pa.types.is_floating(kind) else "text" if pa.types.is_string(kind) else "other"


def _read(column: Column, kind: str, value: Any, is_csv: bool) -> Any:
    """A value as GraphRAG's reader makes it; None where it is none or cannot be had."""
    if value is None:
        return None
    if column.type == "integer":
        if kind == "fraction" or is_csv:
            number = _number(value)
            return int(number) if number is not None and math.isfinite(number) else None
        if isinstance(value, str):
            return int(value) if re.fullmatch("[+-]?[0-9]+", value.strip()) else None
        return int(value) if isinstance(value, int) else None
    if column.type == "number":
        return _number(value)
    if column.type in LISTS:
        return _list(column, kind, value)
    return value if isinstance(value, str) or column.type != "text" else str(value)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _list(column: Column, kind: str, value: Any) -> list[Any] | None:
    if kind == "text":
        parts = value.replace("\n", ",").split(",")
        value = [part for each in parts if (part := each.strip("[] '\""))]
    elif not kind.startswith("list"):
        return None
    if column.type == "texts":
        return [None if each is None else str(each) for each in value]
    return [int(each) if re.fullmatch("[+-]?[0-9]+", str(each).strip()) else None for each in value]


def expected(tables: dict[str, Table], unread: frozenset[str] = frozenset()) -> set[Place]:
    """All findings on these tables by kind; those of ``unread`` are there, and cannot be read or have no row."""
    found = set(_of_tables(tables, unread))
    for kind, table in tables.items():
        found |= _within(kind, table)
    for kind, rule, row in (*_references(tables, unread), *_communities(tables, unread)):
        found.add(Place(rule, tables[kind].path, row))
    return found


@cache
def _within(kind: str, table: Table) -> frozenset[Place]:
    """The faults of a table by itself."""
    faults = (*_of_rows(kind, table), *_repeated(kind, table), *_odd_ids(kind, table))
    return frozenset(Place(rule, table.path, row) for rule, row in faults)


def _of_tables(tables: dict[str, Table], unread: frozenset[str]) -> Iterator[Place]:
    ending = ".csv" if any(table.is_csv for table in tables.values()) else ".parquet"
    home = next((tables[kind].path for kind in CORE if kind in tables), "")
    for kind in (*CORE, "documents"):
        if kind not in tables and kind not in unread:
            yield Place("missing-documents" if kind == "documents" else "missing-table", home, None)
    for kind, table in tables.items():
        declared = BY_KIND[kind]
        for column in declared.columns:
            if column.is_needed("3.0") and column.name not in table.raw:
                yield Place("missing-column", table.path, None)
        for name in table.raw:
            if declared.column(name) is None:
                yield Place("unknown-column", table.path, None)
        if not table.size:
            empty = {"reports": "no-reports", "relationships": "no-relationships"}
            rule = empty.get(kind, "empty-table" if kind in CORE else "")
            yield from (Place(rule, f"{BY_KIND[kind].name}{ending}", None),) if rule else ()


# A row by itself.


def _of_rows(kind: str, table: Table) -> Iterator[tuple[str, int]]:
    for name, values in table.read.items():
        column = BY_KIND[kind].column(name)
        assert column is not None
        for row, (value, raw) in enumerate(zip(values, table.raw[name], strict=True)):
            yield from ((rule, row) for rule in _of_cell(kind, table, column, value, raw))
    for row, rule in _further(kind, table):
        yield rule, row


def _of_cell(kind: str, table: Table, column: Column, value: Any, raw: Any) -> Iterator[str]:
    name, is_csv = column.name, table.is_csv
    stored_as = table.kinds[name]
    if column.type in ("integer", "number") and name not in FREE_NUMBERS:
        passes = column.type == "number" or (kind, name) in NULL_NUMBERS
        is_nan = isinstance(raw, float) and math.isnan(raw)
        if value is None and not (passes and not is_csv and (raw is None or is_nan)):
            yield "unusable-value"
    if column.type == "integer" and name not in FREE_NUMBERS and (stored_as == "fraction" or is_csv):
        number = _number(raw)
        if number is not None and math.isfinite(number) and number != math.trunc(number):
            yield "cut-number"
    if column.type in LISTS and not is_csv:
        if not column.nullable and value is None:
            yield "no-list"
        if stored_as == "text" and raw is not None:
            yield "list-as-text"
        is_odd = isinstance(raw, list) and bool(raw) and (None in raw or stored_as != "list of text")
        if (kind, name) in READ_LISTS and stored_as.startswith("list") and is_odd:
            yield "unusable-value"


def _further(kind: str, table: Table) -> Iterator[tuple[int, str]]:
    shown = {"text-units": "text", "reports": "full_content", "entities": "title"}.get(kind)
    if shown and table.has(shown):
        yield from ((row, "no-text") for row, text in table.rows(shown) if not text)
    if kind == "text-units" and table.has("human_readable_id"):
        numbers = table.rows("human_readable_id")
        yield from ((row, "number-unlike-place") for row, number in numbers if number not in (None, row))
    elif kind == "entities":
        for row, title in table.rows("title"):
            if title is not None and html.unescape(title).upper().strip() != title:
                yield row, "title-not-normal"
        if table.has("type"):
            yield from ((row, "no-type") for row, word in table.rows("type") if not word)
    elif kind == "communities":
        yield from _of_communities(table)
    elif kind == "reports":
        yield from _of_reports(table)
    elif kind == "covariates" and table.has("subject_id", "object_id", "type"):
        for row, (subject, target, word) in table.rows("subject_id", "object_id", "type"):
            if not subject or (target is None and word is None):
                yield row, "empty-claim"


def _periods(table: Table) -> Iterator[tuple[int, str]]:
    if table.has("period"):
        for row, day in table.rows("period"):
            if day is None or not re.fullmatch(r"\d{4}-\d{2}-\d{2}([T ].*)?", day):
                yield row, "odd-period"


def _of_communities(table: Table) -> Iterator[tuple[int, str]]:
    yield from _periods(table)
    if table.has("size", "entity_ids"):
        for row, (size, members) in table.rows("size", "entity_ids"):
            if size is not None and members is not None and size != len(members):
                yield row, "odd-size"
    if table.has("parent"):
        yield from ((row, "no-parent") for row, parent in enumerate(table.raw["parent"]) if parent is None)
    if table.has("title"):
        yield from ((row, "no-community-title") for row, title in table.rows("title") if title is None)


def _of_reports(table: Table) -> Iterator[tuple[int, str]]:
    yield from _periods(table)
    if table.has("rank"):
        for row, raw in enumerate(table.raw["rank"]):
            rank = table.read["rank"][row]
            if raw is None or str(raw).lower() == "nan":
                yield row, "no-rank"
            elif rank is not None and not 0 <= rank <= 10:
                yield row, "odd-rank"
    if table.has("level"):
        yield from ((row, "report-below-usual-level") for row, level in table.rows("level") if (level or 0) > 2)
    if table.has("full_content_json", "title", "summary"):
        for row, (text, title, summary) in table.rows("full_content_json", "title", "summary"):
            if text and not _is_in_report(text, title, summary):
                yield row, "report-unlike-json"


def _is_in_report(text: str, title: str | None, summary: str | None) -> bool:
    try:
        document = json.loads(text)
    except ValueError:
        return False
    if not isinstance(document, dict):
        return False
    for name, value in (("title", title), ("summary", summary)):
        if document.get(name) is not None and value is not None and document[name] != value:
            return False
    return True


def _repeated(kind: str, table: Table) -> Iterator[tuple[str, int]]:
    for of, column, rule in UNIQUE:
        if of == kind and table.has(column):
            seen: set[Any] = set()
            for row, value in table.rows(column):
                if value is not None and value in seen:
                    yield rule, row
                seen.add(value)
    if kind in ("documents", "text-units", "entities", "relationships") and table.has("id"):
        yield from (("repeated-id", row) for row, value in table.rows("id") if value is None)


def _odd_ids(kind: str, table: Table) -> Iterator[tuple[str, int]]:
    if kind not in ("text-units", "entities", "relationships", "communities") or not table.has("id"):
        return
    lengths = Counter(len(value) for _, value in table.rows("id") if value is not None).most_common(2)
    if len(lengths) == 2 and lengths[0][0] in (32, 36, 128) and lengths[0][1] > 2 * lengths[1][1]:
        for row, value in table.rows("id"):
            if value is not None and len(value) != lengths[0][0]:
                yield "odd-id", row


# What tables say of each other.


def _has(tables: dict[str, Table], kind: str, *columns: str) -> bool:
    return kind in tables and tables[kind].has(*columns)


def _references(tables: dict[str, Table], unread: frozenset[str]) -> Iterator[Fault]:
    for kind, column, to, key, rule in REFERENCES:
        if _has(tables, kind, column) and _has(tables, to, key) and to not in unread:
            known = {value for _, value in tables[to].rows(key) if value is not None}
            known |= {""} if rule == "unknown-subject" else set()
            for row, value in tables[kind].rows(column):
                members = value if isinstance(value, list) else [value]
                if any(m is not None and m not in known for m in members):
                    yield kind, rule, row
    for kind, column, other, named, rule in MIRRORED:
        if _has(tables, kind, column, "id") and _has(tables, other, named, "id") and other not in unread:
            yield from _unlike(tables[kind], column, tables[other], named, (kind, rule))
    if _has(tables, "entities", "id") and _has(tables, "communities", "entity_ids"):
        yield from _numeric(tables["entities"], tables["communities"])
    if _has(tables, "entities", "text_unit_ids"):
        yield from _named(tables["entities"])
    if _has(tables, "relationships", "source", "target") and _has(tables, "entities", "title"):
        if "entities" not in unread:
            yield from _ends(tables)
        if unread.isdisjoint({"entities", "relationships"}):
            yield from _degrees(tables)


def _numeric(entities: Table, communities: Table) -> Iterator[Fault]:
    """Ids that pandas takes for numbers."""
    if entities.is_csv:
        ids = entities.raw["id"]
        is_odd = bool(ids) and all(_number(value) is not None for value in ids)
    else:
        is_odd = (entities.kinds["id"] == "text") != communities.kinds["entity_ids"].endswith("text")
    if is_odd:
        yield "entities", "numeric-ids", 0


def _named(entities: Table) -> Iterator[Fault]:
    """The text units of entities."""
    if entities.size and not any(units for _, units in entities.rows("text_unit_ids")):
        yield "entities", "no-named-text-unit", 0
    if entities.has("frequency"):
        for row, (number, units) in entities.rows("frequency", "text_unit_ids"):
            if number is not None and units is not None and number != len(units):
                yield "entities", "odd-degree", row


def _unlike(table: Table, column: str, other: Table, named: str, given: tuple[str, str]) -> Iterator[Fault]:
    naming: dict[Any, set[Any]] = {}
    for _, (key, value) in other.rows("id", named):
        for member in (value if isinstance(value, list) else [value]) if value is not None else ():
            if key is not None:
                naming.setdefault(member, set()).add(key)
    for row, (key, members) in table.rows("id", column):
        there = naming.get(key, set()) if key is not None else set()
        if {m for m in members or () if m is not None} != there:
            yield *given, row


def _ends(tables: dict[str, Table]) -> Iterator[Fault]:
    titles = {title for _, title in tables["entities"].rows("title") if title is not None}
    ids = {value for _, value in tables["entities"].rows("id") if value is not None}
    for row, ends in tables["relationships"].rows("source", "target"):
        unknown = [end for end in ends if end not in titles]
        misnamed = [end is not None and (end in ids or end.strip(" ").upper() in titles) for end in unknown]
        if any(misnamed):
            yield "relationships", "misnamed-endpoint", row
        if len(unknown) == 2 and not any(misnamed):
            yield "relationships", "stray-relationship", row
        elif not all(misnamed):
            yield "relationships", "unknown-endpoint", row


def _degrees(tables: dict[str, Table]) -> Iterator[Fault]:
    pairs = {tuple(sorted(ends)) for _, ends in tables["relationships"].rows("source", "target") if None not in ends}
    degrees = Counter(end for pair in pairs for end in pair)
    if tables["entities"].has("degree"):
        for row, (title, degree) in tables["entities"].rows("title", "degree"):
            if degree is not None and degree != degrees[title]:
                yield "entities", "odd-degree", row
    if tables["relationships"].has("combined_degree"):
        for row, (source, target, degree) in tables["relationships"].rows("source", "target", "combined_degree"):
            if degree is not None and degree != degrees[source] + degrees[target]:
                yield "relationships", "odd-degree", row


def _communities(tables: dict[str, Table], unread: frozenset[str]) -> Iterator[Fault]:
    if "communities" not in tables:
        return
    table = tables["communities"]
    reports = tables.get("reports")
    reported: set[Any] | None = None
    if reports is not None and reports.has("community") and table.has("community"):
        reported = {number for _, number in reports.rows("community") if number is not None}
        numbers = {number for _, number in table.rows("community") if number is not None}
        if "communities" not in unread:
            yield from (("reports", "unknown-community", row) for row, n in reports.rows("community")
                        if n is not None and n not in numbers)  # fmt: skip
        if "reports" not in unread:
            yield from (("communities", "community-without-report", row) for row, n in table.rows("community")
                        if n is not None and n not in reported)  # fmt: skip
    if "communities" in unread:
        return
    yield from _levels(table, reported if "reports" not in unread else None)
    if table.has("community", "level", "parent"):
        yield from _hierarchy(table)
    if table.has("entity_ids") and "entities" in tables and tables["entities"].has("id"):
        yield from _members(tables, unread)


def _levels(table: Table, reported: set[Any] | None) -> Iterator[Fault]:
    if not table.has("level"):
        return
    found = list(table.rows("level", "community"))
    levels = [(level, row) for row, (level, _) in found if level is not None]
    if levels and not any(level == 0 and (reported is None or number in reported) for _, (level, number) in found):
        lowest, row = min(levels)
        yield "communities", "no-community-in-reach" if lowest > 2 else "no-top-level", row


def _hierarchy(table: Table) -> Iterator[Fault]:
    rows = list(table.rows("community", "level", "parent"))
    levels: dict[Any, int] = {}
    for _, (number, level, _) in rows:
        if number is not None and level is not None:
            levels[number] = min(levels.get(number, level), level)
    lowest = min((level for _, (_, level, _) in rows if level is not None), default=0)
    for row, (_, level, parent) in rows:
        if table.raw["parent"][row] is None or level is None:
            continue
        above = levels.get(parent)
        if parent is None or (level != lowest if parent == -1 else above is None or above != level - 1):
            yield "communities", "broken-hierarchy", row
    if table.has("children"):
        inside: dict[Any, set[Any]] = {}
        for _, (number, _, parent) in rows:
            if number is not None and parent not in (None, -1):
                inside.setdefault(parent, set()).add(number)
        for row, (number, children) in table.rows("community", "children"):
            if set(children or ()) != inside.get(number, set()):
                yield "communities", "children-unlike-parents", row


def _first(table: Table, column: str) -> dict[Any, int]:
    """The first row of each value."""
    found: dict[Any, int] = {}
    for row, value in table.rows(column):
        if value is not None:
            found.setdefault(value, row)
    return found


def _members(tables: dict[str, Table], unread: frozenset[str]) -> Iterator[Fault]:
    table, entities = tables["communities"], tables["entities"]
    first = _first(entities, "id")
    within = {row: {first[m] for m in members or () if m in first} for row, members in table.rows("entity_ids")}
    inside = set().union(*within.values())
    if "entities" not in unread and inside:
        for row, key in entities.rows("id"):
            if key is not None and row not in inside:
                yield "entities", "entity-without-community", row
    if "entities" not in unread and table.has("community", "parent"):
        place = _first(table, "community")
        for row, parent in table.rows("parent"):
            if parent in place and within[row] - within[place[parent]]:
                yield "communities", "member-not-in-parent", row
    are_there = _has(tables, "relationships", "id", "source", "target") and table.has("relationship_ids")
    if are_there and entities.has("title") and unread.isdisjoint({"entities", "relationships"}):
        yield from _strays(table, tables["relationships"], _first(entities, "title"), within)


def _strays(table: Table, relationships: Table, titles: dict[Any, int], within: dict[int, set[int]]) -> Iterator[Fault]:
    """Relationships whose ends are not both members."""
    ends: dict[Any, list[set[int | None]]] = {}
    for _, (key, source, target) in relationships.rows("id", "source", "target"):
        if key is not None:
            ends.setdefault(key, []).append({titles.get(source), titles.get(target)})
    for row, listed in table.rows("relationship_ids"):
        known = [ends.get(key) for key in listed or () if key is not None]
        if any(pairs is None or any(not pair <= within[row] for pair in pairs) for pairs in known):
            yield "communities", "stray-community-relationship", row
