"""How two datasets differ, as JSON and Markdown."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import orjson

from ragdatakit.reports.diff.text import (
    field_words,
    file_words,
    key_text,
    metric_words,
    metrics_shown,
    not_read,
    rest_words,
    tables_with_rows,
    value_text,
    verdict,
)
from ragdatakit.reports.markdown import escaped, table_of
from ragdatakit.schemas.diffs import DatasetDiff, FileDiff, RecordShown, Side, TableDiff

VERSION = 1
_MOST_OTHERS = 100
_PAIR_HEADS = ("dataset", "", "added", "removed", "changed")
_HEADS = ("table", "before", "after", "added", "removed", "changed")


def diff_json(diff: DatasetDiff) -> bytes:
    """The JSON document, version 1."""
    return orjson.dumps(diff_dict(diff), option=orjson.OPT_INDENT_2) + b"\n"


def diff_dict(diff: DatasetDiff) -> dict[str, Any]:
    """The JSON form."""
    met = [{"condition": one.condition, "dataset": one.dataset, "found": one.found} for one in diff.met]
    return {"version": VERSION, **_comparison(diff), "conditions": list(diff.conditions), "met": _finite(met)}


def _comparison(diff: DatasetDiff) -> dict[str, Any]:
    document: dict[str, Any] = _finite(
        {
            "different": diff.different,
            "complete": not diff.unread,
            "before": _side(diff.before),
            "after": _side(diff.after),
            "counts": {"added": diff.added, "removed": diff.removed, "changed": diff.changed},
            "tables": [_table(table) for table in diff.tables],
            "kinds": [_table(table) for table in diff.kinds],
            "files": [_file(file) for file in diff.files],
            "other_files": [_file(file) for file in diff.other_files],
            "metrics": [
                {"name": m.name, "title": m.title, "before": m.before, "after": m.after, "moved": m.moved}
                for m in diff.metrics
            ],
            "notes": diff.notes,
            "seconds": diff.seconds,
        }
    )
    pairs = [{"place": _finite(p.place), "status": p.status, "diff": _comparison(p.diff)} for p in diff.pairs]
    return {**document, "datasets": pairs}


def _side(side: Side) -> dict[str, str]:
    return {"path": side.path, "name": side.name, "format": side.format}


def _file(file: FileDiff) -> dict[str, Any]:
    return {
        "path": file.path,
        "kind": file.kind,
        "status": file.status,
        "bytes": {"before": file.before_bytes, "after": file.after_bytes},
        "records": {"before": file.before_records, "after": file.after_records},
        "added": file.added,
        "removed": file.removed,
        "changed": file.changed,
    }


def _table(table: TableDiff) -> dict[str, Any]:
    return {
        "schema": table.schema,
        "name": table.name,
        "key": list(table.key),
        "rows": {"before": table.before, "after": table.after},
        "not_read": list(table.unread),
        "added": table.added,
        "removed": table.removed,
        "changed": table.changed,
        "changed_columns": table.columns,
        "columns_used": [{"column": u.column, "before": u.before, "after": u.after} for u in table.used],
        "added_records": [_record(record) for record in table.added_records],
        "removed_records": [_record(record) for record in table.removed_records],
        "changed_records": [
            {
                "key": dict(record.key),
                "changes": [
                    {"column": c.column, "before": c.before, "after": c.after, "at": c.at} for c in record.changes
                ],
            }
            for record in table.changed_records
        ],
    }


def _record(record: RecordShown) -> dict[str, Any]:
    return {"key": dict(record.key), "values": dict(record.row)}


def _finite(value: Any) -> Any:
    """Numbers that JSON does not have as null, texts that UTF-8 cannot hold with U+FFFD."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, dict):
        return {_finite(name): _finite(member) for name, member in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _counts(diff: DatasetDiff) -> Iterator[tuple[str, ...]]:
    for table in tables_with_rows(diff):
        rows = (f"{n:,}" if n is not None else "—" for n in (table.before, table.after))
        counts = (f"{table.added:,}", f"{table.removed:,}", f"{table.changed:,}")
        yield (table.called, *rows, *((not_read(table), "", "") if table.unread else counts))


def _pair_cells(diff: DatasetDiff) -> Iterator[tuple[str, ...]]:
    for pair in diff.pairs:
        counts = (f"{getattr(pair.diff, word):,}" for word in ("added", "removed", "changed"))
        yield (pair.place, pair.status, *counts)


def diff_markdown(diff: DatasetDiff) -> bytes:
    """Markdown as GitHub has it, for a comment on a pull request."""
    return "".join(f"{line}\n" for line in _markdown_lines(diff)).encode("utf-8", "replace")


def _markdown_lines(diff: DatasetDiff) -> Iterator[str]:
    yield f"## {escaped(diff.before.path)} → {escaped(diff.after.path)}"
    yield ""
    yield f"**{escaped(verdict(diff))}**"
    yield ""
    if diff.pairs:
        yield from _texts(_PAIR_HEADS, _pair_cells(diff), numbers=range(2, 5))
    for pair in diff.pairs:
        if pair.status == "changed":
            yield f"## {escaped(pair.place)}"
            yield ""
            yield from _markdown_body(pair.diff)
            yield ""
    yield from _markdown_body(diff)


def _markdown_body(diff: DatasetDiff) -> Iterator[str]:
    if diff.differing or any(table.unread for table in diff.tables):
        yield from _texts(_HEADS, _counts(diff), numbers=range(1, 6))
    for table in diff.differing:
        yield f"### {escaped(table.called)}"
        yield ""
        for word, records in (("removed", table.removed_records), ("added", table.added_records)):
            for record in records:
                values = ", ".join(f"{escaped(n)} {escaped(value_text(v))}" for n, v in record.row.items())
                yield f"- {word} {escaped(key_text(record.key))}{': ' if values else ''}{values}"
            yield from _markdown_rest(getattr(table, word) - len(records), word)
        for change in table.changed_records:
            yield f"- changed {escaped(key_text(change.key))}"
            for value in change.changes:
                place = f" (at character {value.at:,})" if value.at is not None else ""
                old, new = escaped(value_text(value.before)), escaped(value_text(value.after))
                yield f"  - {escaped(value.column)}{place}: {old} → {new}"
        yield from _markdown_rest(table.changed - len(table.changed_records), "changed")
        yield ""
    files = [(file.status, file.path, file_words(file)) for file in diff.files if file.status != "same"]
    if files:
        yield from _texts(("file", "path", "what"), files)
        if words := field_words(diff):
            yield escaped(words)
            yield ""
    others = [(file.status, file.path, file_words(file)) for file in diff.other_files if file.status != "same"]
    if others:
        yield from _texts(("file", "path (of no dataset)", "what"), others[:_MOST_OTHERS])
        yield from _markdown_rest(len(others) - _MOST_OTHERS, "other files")
    shown, rest = metrics_shown(diff)
    if shown:
        yield from _texts(("number", "before → after"), ((m.title, metric_words(m)) for m in shown))
        yield from (f"{escaped(rest_words(n))}  " for n in (rest,) if n)
    yield from (f"{escaped(note)}  " for note in diff.notes)


def _markdown_rest(number: int, word: str) -> Iterator[str]:
    if number > 0:
        yield f"- … and {number:,} more {word}"


def _texts(heading: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = ()) -> Iterator[str]:
    return table_of(heading, ([*map(escaped, row)] for row in rows), numbers)
