"""How two datasets differ, for people on a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from ragdatakit.reports.text import Painter, painter, size, visible_path
from ragdatakit.schemas.diffs import DatasetDiff, FileDiff, Metric, RecordChange, RecordShown, TableDiff

_STATUS = {"added": ("+", "good"), "removed": ("-", "error"), "changed": ("~", "warning"), "form": ("=", "dim")}
_MOST_METRICS = 20
_LEAST_MOVE = 0.001
_LONGEST_KEY = 80


def diff_lines(diff: DatasetDiff, *, colour: bool = False, width: int = 100) -> Iterator[str]:
    """The screen, line by line."""
    paint = painter(colour)
    for mark, side in (("-", diff.before), ("+", diff.after)):
        yield paint("bold", f"{mark} {visible_path(side.path)} ({side.format})")
    yield ""
    if diff.different:
        yield from _table_lines(diff, paint)
        for table in (*diff.tables, *diff.kinds):
            if table.different:
                yield from _record_lines(table, paint, width)
    yield from _file_lines(diff, paint)
    yield from _metric_lines(diff, paint)
    for note in diff.notes:
        yield paint("dim", visible_path(note))
    yield summary_line(diff, paint)


def _table_lines(diff: DatasetDiff, paint: Painter) -> Iterator[str]:
    tables = [*diff.tables, *diff.kinds]
    shown = [t for t in tables if t.different or t.before or t.after]
    width = max(len("table"), *(len(t.called) for t in shown))
    heads = ("before", "after", "added", "removed", "changed")
    yield paint("bold", f"{'table':{width}}" + "".join(f"{h:>12}" for h in heads))
    for table in shown:
        counts = [
            _count(table.before),
            _count(table.after),
            paint("good" if table.added else "dim", f"{table.added:>12,}"),
            paint("error" if table.removed else "dim", f"{table.removed:>12,}"),
            paint("warning" if table.changed else "dim", f"{table.changed:>12,}"),
        ]
        yield f"{table.called:{width}}{''.join(counts)}"
    yield ""


def _count(number: int | None) -> str:
    return f"{number:>12,}" if number is not None else f"{'—':>12}"


def _record_lines(table: TableDiff, paint: Painter, width: int) -> Iterator[str]:
    told = [f"{n:,} {word}" for word in ("added", "removed", "changed") if (n := getattr(table, word))]
    yield f"{paint('bold', table.called)}: {', '.join(told)}"
    if table.columns:
        columns = sorted(table.columns.items(), key=lambda pair: -pair[1])
        yield paint("dim", f"  changed columns: {', '.join(f'{name} {count:,}' for name, count in columns)}")
    for use in table.used:
        what = "has values now" if use.after else "has no values any more"
        yield paint("warning", f"  {use.column} {what} ({use.before:,} → {use.after:,})")
    for record in table.removed_records:
        yield from _one_record(record, "removed", paint, width)
    yield from _rest(table.removed - len(table.removed_records), "removed", paint)
    for record in table.added_records:
        yield from _one_record(record, "added", paint, width)
    yield from _rest(table.added - len(table.added_records), "added", paint)
    for change in table.changed_records:
        yield from _change_lines(change, paint, width)
    yield from _rest(table.changed - len(table.changed_records), "changed", paint)
    yield ""


def _rest(number: int, word: str, paint: Painter) -> Iterator[str]:
    if number > 0:
        yield paint("dim", f"    … and {number:,} more {word} (--max-records)")


def _one_record(record: RecordShown, word: str, paint: Painter, width: int) -> Iterator[str]:
    mark, style = _STATUS[word]
    line = f"  {mark} {key_text(record.key)}" if record.key else f"  {mark}"
    gap = "  " if record.key else " "
    values = "  ".join(f"{name}={value_text(value)}" for name, value in record.row.items())
    yield paint(style, _cut(f"{line}{gap}{values}".rstrip() if values or record.key else f"{line} (no values)", width))


def _change_lines(change: RecordChange, paint: Painter, width: int) -> Iterator[str]:
    mark, style = _STATUS["changed"]
    yield paint(style, _cut(f"  {mark} {key_text(change.key)}", width))
    for value in change.changes:
        place = f" at character {value.at:,}" if value.at is not None else ""
        yield f"      {value.column}{paint('dim', place)}"
        yield f"        {paint('error', _cut('- ' + value_text(value.before), width - 8))}"
        yield f"        {paint('good', _cut('+ ' + value_text(value.after), width - 8))}"


def key_text(key: Mapping[str, Any]) -> str:
    """A key as ``doc_id=12``."""
    return " ".join(
        f"{name}={_cut(value_text(value), _LONGEST_KEY)}" for name, value in key.items() if value is not None
    )


def value_text(value: Any) -> str:
    """A value on one line; texts in quotes where they could be taken for something else."""
    if value is None:
        return "none"
    if not isinstance(value, str):
        return str(value)
    text = visible_path(value.replace("\n", "↵").replace("\t", "→"))
    return f'"{text}"' if not text or " " in text or text == "none" else text


def _cut(text: str, width: int) -> str:
    used = 0
    for place, character in enumerate(text):
        used += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used > width and place < len(text):
            return f"{text[: place - 1]}…"
    return text


def _file_lines(diff: DatasetDiff, paint: Painter) -> Iterator[str]:
    shown = [file for file in diff.files if file.status != "same"]
    same = len(diff.files) - len(shown)
    if not shown:
        return
    yield paint("bold", "Files")
    width = max(len(visible_path(file.path)) for file in shown)
    for file in shown:
        mark, style = _STATUS[file.status]
        name = visible_path(file.path)
        yield f"  {paint(style, mark)} {name:{width}}  {file_words(file)}"
    if same:
        yield paint("dim", f"    {same:,} more {'are' if same != 1 else 'is'} the same, byte for byte")
    yield ""


def file_words(file: FileDiff) -> str:
    """What became of a file."""
    sizes = [size(n) for n in (file.before_bytes, file.after_bytes) if n is not None]
    records = [n for n in (file.before_records, file.after_records) if n is not None]
    told = " → ".join(dict.fromkeys(sizes)) if sizes else ""
    if records:
        counts = " → ".join(dict.fromkeys(f"{n:,}" for n in records))
        told += f", {counts} record{'s' * (records[-1] != 1)}"
    if file.status == "form":
        return f"{told}; other bytes, the same records" if records else f"{told}; other bytes"
    parts = [f"{sign}{n:,}" for sign, n in (("+", file.added), ("-", file.removed), ("~", file.changed)) if n]
    return f"{told}{': ' if parts else ''}{' '.join(parts)}"


def _metric_lines(diff: DatasetDiff, paint: Painter) -> Iterator[str]:
    notable = [metric for metric in diff.metrics if _is_notable(metric)]
    if not notable:
        return
    yield paint("bold", "Numbers that moved")
    shown = sorted(notable, key=_weight)[:_MOST_METRICS]
    width = max(len(visible_path(metric.title)) for metric in shown)
    for metric in shown:
        yield f"  {visible_path(metric.title):{width}}  {metric_words(metric)}"
    if (rest := len(diff.metrics) - len(shown)) > 0:
        yield paint("dim", f"    … and {rest:,} more (--output-format json has all)")
    yield ""


def _is_notable(metric: Metric) -> bool:
    return metric.name.endswith(".rows") or metric.moved is None or abs(metric.moved) >= _LEAST_MOVE


def _weight(metric: Metric) -> tuple[bool, float]:
    """Rows first, then by how far it moved."""
    return not metric.name.endswith(".rows"), -abs(metric.moved) if metric.moved is not None else -1.0


def metric_words(metric: Metric) -> str:
    """``12 → 15 (+25 %)``."""
    share = f" ({metric.moved:+.1%})".replace("%", " %") if metric.moved is not None else ""
    return f"{number(metric.before)} → {number(metric.after)}{share}"


def number(value: float) -> str:
    """A number for people: counts with commas, others with four digits."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


def summary_line(diff: DatasetDiff, paint: Painter) -> str:
    """The verdict."""
    if not diff.different:
        form = sum(file.status == "form" for file in diff.files)
        told = "No record differs" + (f"; {form:,} file{'s' * (form != 1)} in another form" if form else "")
        return f"{paint('good', told)} ({diff.seconds:.2f} s)"
    tables = [t for t in (diff.tables if any(t.different for t in diff.tables) else diff.kinds) if t.different]
    parts = [f"{sum(getattr(t, word) for t in tables):,} {word}" for word in ("added", "removed", "changed")]
    names = ", ".join(table.called for table in tables)
    return f"{paint('warning', 'Different')}: {', '.join(parts)} in {names} ({diff.seconds:.2f} s)"
