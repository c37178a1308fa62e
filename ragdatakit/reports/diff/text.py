"""How two datasets differ, for people on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragdatakit.reports.summary.words import percent
from ragdatakit.reports.terminal import Painter, cut_to, painter
from ragdatakit.schemas.diffs import DatasetDiff, FileDiff, Metric, RecordChange, RecordShown, TableDiff
from ragdatakit.schemas.texts import size
from ragdatakit.visible_text import visible_text

_STATUS = {
    "added": ("+", "good"),
    "removed": ("-", "error"),
    "changed": ("~", "warning"),
    "form": ("=", "dim"),
    "moved": ("~", "warning"),
    "unread": ("?", "error"),
}
NOT_ALL = "Not all compared"
_MOST_METRICS = 10
_MOST_OTHERS = 20
_LEAST_MOVE = 0.001
_STATISTICS = ("mean", "p50", "p95", "maximum")
_UNITS = ("characters", "tokens")
_LONGEST_KEY = 80
_MOST_NAMED = 3


def diff_lines(diff: DatasetDiff, *, colour: bool = False, width: int = 100) -> Iterator[str]:
    """The screen, line by line."""
    paint = painter(colour)
    for mark, side in (("-", diff.before), ("+", diff.after)):
        yield paint("bold", f"{mark} {visible_text(side.path)} ({side.format})")
    yield ""
    if diff.pairs:
        yield from _pair_lines(diff, paint, width)
    for pair in diff.pairs:
        if pair.status == "changed":
            yield paint("bold", visible_text(pair.place))
            yield ""
            yield from _body_lines(pair.diff, paint, width)
            if pair.diff.notes:
                yield ""
    yield from _body_lines(diff, paint, width)
    yield from condition_lines(diff, paint)
    yield summary_line(diff, paint)


def condition_lines(diff: DatasetDiff, paint: Painter) -> Iterator[str]:
    """The conditions that are met, or that none is."""
    for one in diff.met:
        of = f" ({visible_text(one.dataset)})" if diff.pairs else ""
        yield f"{paint('error', 'fails')}: {visible_text(one.condition)}: it is {one.found}{of}"
    if diff.conditions and not diff.met:
        number = len(diff.conditions)
        verdict = "the condition is not met" if number == 1 else f"none of {number} conditions is met"
        yield paint("good", f"passes: {verdict}")


def _body_lines(diff: DatasetDiff, paint: Painter, width: int) -> Iterator[str]:
    if diff.differing or any(table.unread for table in diff.tables):
        yield from _table_lines(diff, paint)
        for table in diff.differing:
            yield from _record_lines(table, paint, width)
    yield from _file_lines(diff, paint)
    yield from _other_file_lines(diff, paint)
    yield from _metric_lines(diff, paint)
    for note in diff.notes:
        yield paint("dim", visible_text(note))


def _pair_lines(diff: DatasetDiff, paint: Painter, screen: int) -> Iterator[str]:
    """The datasets of two folders that hold several."""
    names = [cut_to(visible_text(pair.place), max(screen - 38, 12)) for pair in diff.pairs]
    width = max(len("dataset"), *map(len, names))
    heads = "".join(f"{head:>12}" for head in ("added", "removed", "changed"))
    yield paint("bold", f"  {'dataset':{width}}{heads}")
    for name, pair in zip(names, diff.pairs, strict=True):
        mark, style = _STATUS.get(pair.status, (" ", "dim"))
        differing = pair.diff
        counts = (
            paint("good" if differing.added else "dim", f"{differing.added:>12,}"),
            paint("error" if differing.removed else "dim", f"{differing.removed:>12,}"),
            paint("warning" if differing.changed else "dim", f"{differing.changed:>12,}"),
        )
        yield f"{paint(style, mark)} {name:{width}}{''.join(counts)}"
    yield ""


def pairs_verdict(diff: DatasetDiff) -> str:
    """What became of the datasets of two folders, in one sentence."""
    if not diff.different:
        return f"No record of {len(diff.pairs):,} datasets differs{same_others(diff)}."
    if all(pair.status == "same" for pair in diff.pairs):
        return f"No record of {len(diff.pairs):,} datasets differs, but {_named(diff.other_files_that_differ)}."
    counts = []
    for status in ("added", "removed", "changed", "same", "unread"):
        count = sum(pair.status == status for pair in diff.pairs)
        if count:
            counts.append(f"{count:,} {'the same' if status == 'same' else status}")
    records = ", ".join(f"{getattr(diff, word):,} {word}" for word in ("added", "removed", "changed"))
    return f"Datasets: {', '.join(counts)}; records: {records}{_others_words(diff)}."


def same_others(diff: DatasetDiff) -> str:
    """How many files of no dataset are the same, to be added to a sentence that nothing differs."""
    same = sum(file.status == "same" for file in diff.other_files)
    return f"; {same:,} other file{'s are' if same != 1 else ' is'} the same" if same else ""


def _others_words(diff: DatasetDiff) -> str:
    """The files of no dataset that differ, to be added to a sentence about records."""
    files = diff.other_files_that_differ
    return f"; other files: {_named(files)}" if files else ""


def _named(files: list[FileDiff]) -> str:
    """What became of the first files, and how many more there are."""
    named = ", ".join(f"{visible_text(file.path)} {file.status}" for file in files[:_MOST_NAMED])
    return named + (f" and {len(files) - _MOST_NAMED:,} more" if len(files) > _MOST_NAMED else "")


def unread_words(diff: DatasetDiff) -> str:
    """What could not be read at all, so that it was not compared; empty where all could."""
    named = [f"{visible_text(what)} of {visible_text(side.path)}" for side, what in diff.unread]
    more = f" and {len(named) - _MOST_NAMED:,} more" if len(named) > _MOST_NAMED else ""
    return f"{', '.join(named[:_MOST_NAMED])}{more} could not be read" if named else ""


def _table_lines(diff: DatasetDiff, paint: Painter) -> Iterator[str]:
    shown = tables_with_rows(diff)
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
        if table.unread:
            counts[2:] = [paint("error", f"  {not_read(table)}")]
        yield f"{table.called:{width}}{''.join(counts)}"
    yield ""


def tables_shown(diff: DatasetDiff) -> list[TableDiff]:
    """The tables with their counts: kinds of files where they say what no canonical table does."""
    return [*diff.tables, *(table for table in diff.differing if table not in diff.tables)]


def tables_with_rows(diff: DatasetDiff) -> list[TableDiff]:
    """Those of them that have anything to tell."""
    return [t for t in tables_shown(diff) if t.different or t.before or t.after or t.unread]


def not_read(table: TableDiff) -> str:
    """Why a table was not compared."""
    return f"not compared: unread {' and '.join(table.unread)}"


def _count(number: int | None) -> str:
    return f"{number:>12,}" if number is not None else f"{'—':>12}"


def _record_lines(table: TableDiff, paint: Painter, width: int) -> Iterator[str]:
    counts = [f"{n:,} {word}" for word in ("added", "removed", "changed") if (n := getattr(table, word))]
    yield f"{paint('bold', table.called)}: {', '.join(counts)}"
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
    yield paint(
        style, cut_to(f"{line}{gap}{values}".rstrip() if values or record.key else f"{line} (no values)", width)
    )


def _change_lines(change: RecordChange, paint: Painter, width: int) -> Iterator[str]:
    mark, style = _STATUS["changed"]
    yield paint(style, cut_to(f"  {mark} {key_text(change.key)}", width))
    for value in change.changes:
        place = f" at character {value.at:,}" if value.at is not None else ""
        yield f"      {value.column}{paint('dim', place)}"
        yield f"        {paint('error', cut_to('- ' + value_text(value.before), width - 8))}"
        yield f"        {paint('good', cut_to('+ ' + value_text(value.after), width - 8))}"


def key_text(key: Mapping[str, Any]) -> str:
    """A key as ``doc_id=12``."""
    return " ".join(
        f"{name}={cut_to(value_text(value), _LONGEST_KEY)}" for name, value in key.items() if value is not None
    )


def value_text(value: Any) -> str:
    """A value on one line; texts in quotes where they could be taken for something else."""
    if value is None:
        return "none"
    if not isinstance(value, str):
        return str(value)
    text = visible_text(value.replace("\n", "↵").replace("\t", "→"))
    return f'"{text}"' if not text or " " in text or text == "none" else text


def _file_lines(diff: DatasetDiff, paint: Painter) -> Iterator[str]:
    shown = [file for file in diff.files if file.status != "same"]
    same = len(diff.files) - len(shown)
    if not shown:
        return
    yield paint("bold", "Files")
    width = max(len(visible_text(file.path)) for file in shown)
    for file in shown:
        mark, style = _STATUS[file.status]
        name = visible_text(file.path)
        yield f"  {paint(style, mark)} {name:{width}}  {file_words(file)}"
    if fields := field_words(diff):
        yield paint("dim", f"    {fields}")
    if same:
        yield paint("dim", f"    {same:,} more {'are' if same != 1 else 'is'} the same, byte for byte")
    yield ""


def _other_file_lines(diff: DatasetDiff, paint: Painter) -> Iterator[str]:
    """The files of no dataset that are not the same."""
    shown = [file for file in diff.other_files if file.status != "same"]
    if not shown:
        return
    yield paint("bold", "Other files (of no dataset, compared by their bytes)")
    width = max(len(visible_text(file.path)) for file in shown[:_MOST_OTHERS])
    for file in shown[:_MOST_OTHERS]:
        mark, style = _STATUS[file.status]
        yield f"  {paint(style, mark)} {visible_text(file.path):{width}}  {file_words(file)}"
    if len(shown) > _MOST_OTHERS:
        yield paint("dim", f"    … and {len(shown) - _MOST_OTHERS:,} more (--output-format json has all)")
    if same := len(diff.other_files) - len(shown):
        yield paint("dim", f"    {same:,} more {'are' if same != 1 else 'is'} the same, byte for byte")
    yield ""


def field_words(diff: DatasetDiff) -> str:
    """The fields that are others in the records of files, where rows of tables are reported and do not say just
    that."""
    kinds = [
        kind for kind in diff.kinds if kind.columns and all(kind.columns != table.columns for table in diff.differing)
    ]
    words = "; ".join(f"{kind.name} {', '.join(f'{n} {c:,}' for n, c in kind.columns.items())}" for kind in kinds)
    return f"changed fields: {words}" if words else ""


def file_words(file: FileDiff) -> str:
    """What became of a file."""
    sizes = [size(n) for n in (file.before_bytes, file.after_bytes) if n is not None]
    records = [n for n in (file.before_records, file.after_records) if n is not None]
    words = " → ".join(dict.fromkeys(sizes)) if sizes else ""
    if records:
        counts = " → ".join(dict.fromkeys(f"{n:,}" for n in records))
        words += f", {counts} record{'s' * (records[-1] != 1)}"
    if file.status == "unread":
        return f"{words}; it could not be read".removeprefix("; ")
    if file.status == "form":
        return f"{words}; other bytes, the same records" if records else f"{words}; other bytes"
    if file.status == "moved":
        return f"{words}; records moved between files"
    parts = [f"{sign}{n:,}" for sign, n in (("+", file.added), ("-", file.removed), ("~", file.changed)) if n]
    if file.status == "changed" and not parts and len(set(sizes)) < 2 and file.after_bytes is not None:
        if file.before_bytes == file.after_bytes:
            return f"{words}, other bytes"
        return f"{words} ({file.before_bytes:,} → {file.after_bytes:,} B)"
    words += f"{': ' if parts else ''}{' '.join(parts)}"
    before, after = file.before_records, file.after_records
    moved = before is not None and after is not None and after - before != file.added - file.removed
    return f"{words}; records moved between files" if moved else words


def _metric_lines(diff: DatasetDiff, paint: Painter) -> Iterator[str]:
    shown, rest = metrics_shown(diff)
    if not shown:
        return
    yield paint("bold", "Numbers that moved")
    width = max(len(visible_text(metric.title)) for metric in shown)
    for metric in shown:
        yield f"  {visible_text(metric.title):{width}}  {metric_words(metric)}"
    if rest:
        yield paint("dim", f"    {rest_words(rest)}")
    yield ""


def metrics_shown(diff: DatasetDiff) -> tuple[list[Metric], int]:
    """The numbers that people are shown, those that moved most first, and how many others there are.

    Of numbers that move together, such as the mean, the median and the most of the same lengths in one unit or
    another, of all rows and of each split, it is one: the most telling.
    """
    groups: dict[str, Metric] = {}
    for metric in filter(_is_notable, diff.metrics):
        group = _group(metric)
        if group not in groups or _rank(metric) < _rank(groups[group]):
            groups[group] = metric
    shown = sorted(groups.values(), key=_weight)[:_MOST_METRICS]
    return shown, len(diff.metrics) - len(shown)


def rest_words(rest: int) -> str:
    """That there are more numbers."""
    return f"… and {rest:,} more (--output-format json has all)"


def _is_notable(metric: Metric) -> bool:
    if metric.name.endswith(".rows"):
        return True
    before, after = _values(metric)
    return before != after and (metric.moved is None or abs(metric.moved) >= _LEAST_MOVE)


def _group(metric: Metric) -> str:
    """What a number is about: lengths are those of a column, shares of values those of all its values."""
    name, _, statistic = metric.name.rpartition(".")
    if statistic in _STATISTICS:
        name = name.partition("[")[0]
        column, _, unit = name.rpartition(".")
        return f"{column} lengths" if unit in _UNITS else name
    return metric.name.partition("=")[0]


def _rank(metric: Metric) -> tuple[bool, int, int, float]:
    """All rows before those of a split, the mean before other statistics, characters before words; of shares of values
    the one that moved most."""
    name, _, statistic = metric.name.rpartition(".")
    unit = name.partition("[")[0].rpartition(".")[2]
    return (
        "[" in name,
        _STATISTICS.index(statistic) if statistic in _STATISTICS else 0,
        _UNITS.index(unit) if unit in _UNITS else 0,
        -abs(metric.after - metric.before),
    )


def _weight(metric: Metric) -> tuple[bool, float]:
    """Rows first, then by how far it moved."""
    return not metric.name.endswith(".rows"), -abs(metric.moved) if metric.moved is not None else -1.0


def metric_words(metric: Metric) -> str:
    """``12 → 15 (+25.0%)``, shares ``10% → 12%``."""
    before, after = _values(metric)
    moved = f"{metric.moved:+.1%}" if metric.moved is not None and not metric.is_share else ""
    share = f" ({moved})" if moved.strip("+-0.%") else ""
    return f"{before} → {after}{share}"


def _values(metric: Metric) -> tuple[str, str]:
    """Both values for people; of shares so much that they can be distinguished."""
    if not metric.is_share:
        return number(metric.before), number(metric.after)
    rounded = percent(metric.before), percent(metric.after)
    return rounded if rounded[0] != rounded[1] else (f"{metric.before:.2%}", f"{metric.after:.2%}")


def number(value: float) -> str:
    """A number for people: counts with commas, others with four digits."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


def summary_line(diff: DatasetDiff, paint: Painter) -> str:
    """The verdict."""
    unread = unread_words(diff)
    if unread:
        rest = _rest_words(diff)
        return f"{paint('error', NOT_ALL)}: {unread}; {rest} ({diff.seconds:.2f} s)"
    if diff.pairs:
        style = "warning" if diff.different else "good"
        return f"{paint(style, pairs_verdict(diff).removesuffix('.'))} ({diff.seconds:.2f} s)"
    if not diff.different:
        form = sum(file.status == "form" for file in diff.files)
        words = "No record differs" + (f"; {form:,} file{'s' * (form != 1)} in another form" if form else "")
        return f"{paint('good', words + same_others(diff))} ({diff.seconds:.2f} s)"
    return f"{paint('warning', 'Different')}: {difference_words(diff)} ({diff.seconds:.2f} s)"


def verdict(diff: DatasetDiff) -> str:
    """The result in one sentence."""
    if unread := unread_words(diff):
        return f"{NOT_ALL}: {unread}; {_rest_words(diff)}."
    if diff.pairs:
        return pairs_verdict(diff)
    return f"{difference_words(diff)}." if diff.different else f"No record differs{same_others(diff)}."


def _rest_words(diff: DatasetDiff) -> str:
    """Beside what was not compared."""
    if not diff.different:
        return "nothing else differs"
    if diff.pairs:
        return f"d{pairs_verdict(diff).removesuffix('.')[1:]}"
    return f"different: {difference_words(diff)}"


def difference_words(diff: DatasetDiff) -> str:
    """How many records differ where; where none does, the files that do."""
    if diff.differing:
        parts = [
            f"{sum(getattr(t, word) for t in diff.differing):,} {word}" for word in ("added", "removed", "changed")
        ]
        tables = ", ".join(table.called for table in diff.differing)
        return f"{', '.join(parts)} in {tables}{_others_words(diff)}"
    return f"no record, but {_named([*diff.files_as_wholes, *diff.other_files_that_differ])}"
