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
_MOST_NAMED = 3


def diff_lines(diff: DatasetDiff, *, colour: bool = False, width: int = 100) -> Iterator[str]:
    """The screen, line by line."""
    paint = painter(colour)
    for mark, side in (("-", diff.before), ("+", diff.after)):
        yield paint("bold", f"{mark} {visible_path(side.path)} ({side.format})")
    yield ""
    if diff.pairs:
        yield from _pair_lines(diff, paint, width)
    for pair in diff.pairs:
        if pair.status == "changed":
            yield paint("bold", visible_path(pair.place))
            yield ""
            yield from _body_lines(pair.diff, paint, width)
            if pair.diff.notes:
                yield ""
    yield from _body_lines(diff, paint, width)
    yield summary_line(diff, paint)


def _body_lines(diff: DatasetDiff, paint: Painter, width: int) -> Iterator[str]:
    if diff.told:
        yield from _table_lines(diff, paint)
        for table in diff.told:
            yield from _record_lines(table, paint, width)
    yield from _file_lines(diff, paint)
    yield from _metric_lines(diff, paint)
    for note in diff.notes:
        yield paint("dim", visible_path(note))


def _pair_lines(diff: DatasetDiff, paint: Painter, screen: int) -> Iterator[str]:
    """The datasets of two folders that hold several."""
    names = [_cut(visible_path(pair.place), max(screen - 38, 12)) for pair in diff.pairs]
    width = max(len("dataset"), *map(len, names))
    heads = "".join(f"{head:>12}" for head in ("added", "removed", "changed"))
    yield paint("bold", f"  {'dataset':{width}}{heads}")
    for name, pair in zip(names, diff.pairs, strict=True):
        mark, style = _STATUS.get(pair.status, (" ", "dim"))
        told = pair.diff
        counts = (
            paint("good" if told.added else "dim", f"{told.added:>12,}"),
            paint("error" if told.removed else "dim", f"{told.removed:>12,}"),
            paint("warning" if told.changed else "dim", f"{told.changed:>12,}"),
        )
        yield f"{paint(style, mark)} {name:{width}}{''.join(counts)}"
    yield ""


def pairs_verdict(diff: DatasetDiff) -> str:
    """What became of the datasets of two folders, in one sentence."""
    if not diff.different:
        return f"No record of {len(diff.pairs):,} datasets differs."
    told = []
    for status in ("added", "removed", "changed", "same"):
        count = sum(pair.status == status for pair in diff.pairs)
        if count:
            told.append(f"{count:,} {'the same' if status == 'same' else status}")
    records = ", ".join(f"{getattr(diff, word):,} {word}" for word in ("added", "removed", "changed"))
    return f"Datasets: {', '.join(told)}; records: {records}."


def _table_lines(diff: DatasetDiff, paint: Painter) -> Iterator[str]:
    shown = [t for t in tables_shown(diff) if t.different or t.before or t.after]
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


def tables_shown(diff: DatasetDiff) -> list[TableDiff]:
    """The tables with their counts: kinds of files where they tell what no canonical table does."""
    return [*diff.tables, *(table for table in diff.told if table not in diff.tables)]


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
    if told := field_words(diff):
        yield paint("dim", f"    {told}")
    if same:
        yield paint("dim", f"    {same:,} more {'are' if same != 1 else 'is'} the same, byte for byte")
    yield ""


def field_words(diff: DatasetDiff) -> str:
    """The fields that are others in the records of files, where rows of tables are told and do not say just that."""
    kinds = [kind for kind in diff.kinds if kind.columns and all(kind.columns != table.columns for table in diff.told)]
    words = "; ".join(f"{kind.name} {', '.join(f'{n} {c:,}' for n, c in kind.columns.items())}" for kind in kinds)
    return f"changed fields: {words}" if words else ""


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
    if diff.pairs:
        style = "warning" if diff.different else "good"
        return f"{paint(style, pairs_verdict(diff).removesuffix('.'))} ({diff.seconds:.2f} s)"
    if not diff.different:
        form = sum(file.status == "form" for file in diff.files)
        told = "No record differs" + (f"; {form:,} file{'s' * (form != 1)} in another form" if form else "")
        return f"{paint('good', told)} ({diff.seconds:.2f} s)"
    return f"{paint('warning', 'Different')}: {difference_words(diff)} ({diff.seconds:.2f} s)"


def difference_words(diff: DatasetDiff) -> str:
    """How many records differ where; where none does, the files that do."""
    if diff.told:
        parts = [f"{sum(getattr(t, word) for t in diff.told):,} {word}" for word in ("added", "removed", "changed")]
        return f"{', '.join(parts)} in {', '.join(table.called for table in diff.told)}"
    files = diff.files_as_wholes
    named = ", ".join(f"{visible_path(file.path)} {file.status}" for file in files[:_MOST_NAMED])
    return f"no record, but {named}" + (f" and {len(files) - _MOST_NAMED:,} more" if len(files) > _MOST_NAMED else "")
