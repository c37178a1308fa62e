"""What can be wrong with a row of a table by itself, as conditions in SQL that one pass over the table counts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Any

from ragdatakit.files.paths.sql_text import sql_name, sql_text
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.graphrag.tables import SECOND, Column
from ragdatakit.validators.graphrag.sql_tables import SqlTable

USUAL_LEVEL = 2
"""The level up to which queries read where nothing else is asked for."""
_NULL_PASSES = {
    ("entities", "human_readable_id"),
    ("entities", "frequency"),
    ("entities", "degree"),
    ("relationships", "human_readable_id"),
    ("relationships", "combined_degree"),
}
"""Integers in Parquet that may be null: ``data_model/dfs.py: _safe_int``."""
_UNREAD = {"x", "y", "parent", "source_degree", "target_degree"}
"""Numbers that no reader makes numbers of."""
_UNREAD_IN_2 = {"human_readable_id", "frequency", "size"}
_PLAIN_IN_2 = {
    ("text-units", "n_tokens"),
    ("entities", "degree"),
    ("relationships", "combined_degree"),
    ("communities", "level"),
    ("reports", "level"),
}
"""Numbers that 2.x takes as they are: a text stops it, in most of them a null, too."""
_ITEMS_READ = {
    ("relationships", "text_unit_ids"),
    ("text-units", "document_ids"),
    ("text-units", "entity_ids"),
    ("text-units", "relationship_ids"),
    ("communities", "text_unit_ids"),
}
"""Lists of which each member must be a text."""
_SHOWN_TEXTS = {"text-units": ("text",), "reports": ("full_content",), "entities": ("title",)}
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?"
_PERIOD_MATCH = re.compile(_DATE).fullmatch
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]").search


@dataclass(frozen=True, slots=True)
class RowCheck:
    """Rows where ``where`` holds break ``rule``; ``value`` and ``facts`` are expressions for the message.

    ``judge``, where given, has the last word: it takes the value, and gives further facts, or None where all is well.
    ``is_of_nulls``: it cannot be met where there is no null, neither of the column nor in its lists.
    ``is_kept``, where given, takes plain values of the columns it looks at, and says that no row breaks the rule.
    """

    rule: str
    column: str
    where: str
    value: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    judge: Callable[[Any], dict[str, Any] | None] | None = None
    is_of_nulls: bool = False
    is_kept: Callable[..., bool] | None = None
    hint: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at, its own first."""
        return _NAMES.get(self.rule, (self.column,))


def row_checks(kind: str, table: SqlTable, generation: str) -> Iterator[RowCheck]:
    """The checks of a table, as far as it has the columns."""
    declared = table.stored.table
    for column in declared.columns if declared is not None else ():
        if table.has(column.name):
            yield from _typed_checks(kind, table, column, generation)
    for check in _FURTHER.get(kind, ()):
        if table.has(*check.columns):
            yield check
    for name in _SHOWN_TEXTS.get(kind, ()):
        if table.has(name):
            empty = f"({sql_name(name)} is null or {sql_name(name)} = '')"
            yield RowCheck("no-text", name, empty, facts={"column": sql_text(name)}, is_kept=all)


def _typed_checks(kind: str, table: SqlTable, column: Column, generation: str) -> Iterator[RowCheck]:
    name, is_csv = column.name, table.stored.is_csv
    value, raw = sql_name(name), f"cast({sql_name(f'raw {name}')} as varchar)"
    facts_of_column = {"column": sql_text(name)}
    if column.type in ("integer", "number") and name not in _UNREAD:
        yield from _number_checks(kind, table, column, generation)
    if column.type not in ("texts", "integers"):
        return
    if not column.nullable and column.is_of(generation) and not is_csv:  # whose cells are lists, whatever they hold
        yield RowCheck("no-list", name, f"{value} is null", raw, facts_of_column, is_of_nulls=table.is_list(name))
    if table.is_text(name) and not is_csv:
        stops = generation in SECOND and column.type == "integers" and not column.nullable
        yield RowCheck("no-list" if stops else "list-as-text", name, f"{value} is not null", raw, facts_of_column)
    if table.is_list(name) and column.type == "texts" and (kind, name) in _ITEMS_READ:
        texts = table.types[name] == "VARCHAR[]"
        where = f"list_count({value}) <> len({value})" if texts else f"len({value}) > 0"
        facts = {**facts_of_column, "expected": sql_text("a list of texts")}
        hint = "write a list of texts, which may be empty"
        yield RowCheck("unusable-value", name, where, raw, facts, is_of_nulls=texts, hint=hint)


def _number_checks(kind: str, table: SqlTable, column: Column, generation: str) -> Iterator[RowCheck]:
    """What stops the readers of a number, or is cut."""
    name, is_csv, is_2 = column.name, table.stored.is_csv, generation in SECOND
    value, raw = sql_name(name), f"cast({sql_name(f'raw {name}')} as varchar)"
    facts = {"column": sql_text(name)}
    what = "an integer" if column.type == "integer" else "a number"
    is_plain_in_2 = is_2 and (kind, name) in _PLAIN_IN_2
    passes = column.type == "number" or generation < "2.0" or ((kind, name) in _NULL_PASSES and not is_plain_in_2)
    where = f"{value} is null"  # an empty cell of CSV is an empty text, which is no number
    if passes and not is_csv:
        where += f" and {raw} is not null"
        if table.is_fraction(name):
            where += f" and {raw} <> 'nan'"
    stops_at_texts = is_plain_in_2 and table.is_text(name)
    if stops_at_texts:
        where = f"{raw} is not null"
    plain = table.types[name] == ("BIGINT" if column.type == "integer" else "DOUBLE")
    if not (plain and passes) and not (is_2 and name in _UNREAD_IN_2):  # of such a column only nulls are no numbers
        named = {**facts, "expected": sql_text(what)}
        is_kept = None if stops_at_texts else _is_plain
        hint = f"write {what}" + ("; not an empty cell" if is_csv else ", or null" if passes else ", not null")
        yield RowCheck("unusable-value", name, where, raw, named, is_of_nulls=plain, is_kept=is_kept, hint=hint)
    if column.type == "integer" and (table.is_fraction(name) or is_csv):
        number = f"try_cast({raw} as double)"
        yield RowCheck("cut-number", name, f"{number} <> trunc({number})", number, facts, is_kept=_is_plain)


def _is_plain(*columns: Sequence[Any]) -> bool:
    return True


def _are_normal(titles: Sequence[str]) -> bool:
    return all(title.isascii() and "&" not in title and title == title.strip().upper() for title in titles)


def _have_periods(periods: Sequence[str]) -> bool:
    return all(map(_PERIOD_MATCH, periods))


def _is_like_json(contents: Sequence[str], titles: Sequence[str], summaries: Sequence[str]) -> bool:
    """Whether each content, if there is one, is an object with that title and summary."""
    try:
        for content, title, summary in zip(contents, titles, summaries, strict=True):
            if not content:
                continue
            found = json.loads(content, object_pairs_hook=_first_of_each, parse_constant=_refused)
            if (found["title"], found["summary"]) != (title, summary) or _HALF_CHARACTER(content):
                return False
    except (ValueError, RecursionError, TypeError, KeyError):
        return False
    return True


def _first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _normal(title: Any) -> dict[str, Any] | None:
    normal = html.unescape(title).upper().strip()
    return {"normal": normal} if normal != title else None


_NAMES = {
    "empty-claim": ("subject_id", "object_id", "type"),
    "odd-size": ("size", "entity_ids"),
    "report-unlike-json": ("full_content_json", "title", "summary"),
}
_IN_CONTENT = "json_extract_string(full_content_json, ['$.title', '$.summary'])"
_JSON = (
    "case when not json_valid(full_content_json) then 'no JSON' "
    "when json_type(full_content_json) <> 'OBJECT' then 'no object' "
    f"when {_IN_CONTENT}[1] is not null and {_IN_CONTENT}[1] <> title then 'another title' "
    f"when {_IN_CONTENT}[2] is not null and {_IN_CONTENT}[2] <> summary then 'another summary' end"
)
_REASONS = {
    "no JSON": "full_content_json is not JSON",
    "no object": "full_content_json is not a JSON object",
    "another title": "full_content_json has another title than the report",
    "another summary": "full_content_json has another summary than the report",
}
_NAN = "cast(rank as varchar) = 'nan'"
"""Not ``isnan``: that trusts the statistics of the file, which leave NaN out."""
_PERIOD = RowCheck(
    "odd-period",
    "period",
    f"period is null or not regexp_full_match(period, '{_DATE}')",
    "period",
    is_kept=_have_periods,
)
_FURTHER: dict[str, tuple[RowCheck, ...]] = {
    "text-units": (
        RowCheck("number-unlike-place", "human_readable_id", "human_readable_id <> row", "human_readable_id",
                 {"expected": "row"}, is_kept=lambda numbers: list(numbers) == [*range(len(numbers))]),
    ),
    "entities": (
        RowCheck("title-not-normal", "title",
                 "title <> upper(trim(title)) or contains(title, '&') or length(title) <> strlen(title)", "title",
                 judge=_normal, is_kept=_are_normal),
        RowCheck("no-type", "type", "type is null or type = ''", "title", is_kept=all),
    ),
    "communities": (
        _PERIOD,
        RowCheck("odd-size", "size", "size <> len(entity_ids)", "size", {"members": "len(entity_ids)"}),
        RowCheck("no-parent", "parent", '"raw parent" is null', is_of_nulls=True),
        RowCheck("no-community-title", "title", "title is null", is_of_nulls=True),
    ),
    "reports": (
        _PERIOD,
        RowCheck("no-rank", "rank", f'"raw rank" is null or {_NAN}', is_kept=_is_plain),
        RowCheck("odd-rank", "rank", f"rank < 0 or (rank > 10 and not {_NAN})", "rank",
                 is_kept=lambda ranks: all(0 <= rank <= 10 for rank in ranks)),
        RowCheck("report-below-usual-level", "level", f"level > {USUAL_LEVEL}", "level",
                 is_kept=lambda levels: max(levels, default=0) <= USUAL_LEVEL),
        RowCheck("report-unlike-json", "full_content_json",
                 f"full_content_json <> '' and try({_IN_CONTENT}) is distinct from [title, summary]", _JSON,
                 judge=lambda found: {"reason": _REASONS[found]} if found is not None else None, is_kept=_is_like_json),
    ),
    "covariates": (
        RowCheck("empty-claim", "subject_id",
                 "subject_id is null or subject_id = '' or (object_id is null and type is null)", "subject_id",
                 {"missing": "case when subject_id <> '' then 'object and type' else 'a subject' end"},
                 is_kept=lambda subjects, *_: all(subjects)),
    ),
}  # fmt: skip
