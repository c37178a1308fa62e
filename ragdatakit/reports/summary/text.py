"""Summaries for people at a terminal: what is here, its shares and distributions, what to look at.

One module: each section is a method of one class, and all share its width, signs and colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragdatakit.reports.summary.text_sections import IN, Sections, SummaryTextOptions
from ragdatakit.reports.summary.words import (
    amount,
    bars,
    bytes_of,
    constant_words,
    distribution_groups,
    file_rows,
    files_of,
    formats_of,
    headline,
    id_words,
    is_constant,
    labels_of,
    left_out_words,
    losses_of,
    not_read_words,
    notes_in_order,
    quantile,
    remarks,
    rest_words,
    rows_of,
    splits_of,
    unused_columns,
    value_counts,
    warnings_of,
    without_common_folder,
)
from ragdatakit.reports.terminal import (
    column_lines,
    cut_head,
    cut_to,
    flowing,
    one_line,
    padded,
    painter,
    width_of,
    wrapped,
)
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.summaries import Distribution, Frequencies, LeftOut, NotRead, Summary, TableSummary
from ragdatakit.schemas.texts import many, size

FEW = 3
"""Up to so many datasets are shown whole without being asked for."""
_MOST_FILES, _MOST_BY, _MOST_VALUE_LINES = 12, 6, 2
_WIDE, _NARROW = 96, 76


def summary_lines(
    summaries: Sequence[Summary],
    options: SummaryTextOptions,
    findings: Report | None = None,
    left_out: Sequence[LeftOut] = (),
    not_read: Sequence[NotRead] = (),
) -> Iterator[str]:
    """The whole screen, line by line; ``left_out`` are folders of unknown formats, ``not_read`` files that no dataset
    reads."""
    screen = _Screen(options)
    whole = options.details if options.details is not None else len(summaries) <= FEW
    if len(summaries) > 1:
        yield from screen.totals(summaries)
    if whole or options.quiet:
        for summary in summaries:
            yield from screen.quiet(summary) if options.quiet else screen.dataset(summary)
            if not options.quiet:
                yield ""
    else:
        yield from screen.overview(summaries)
    if findings is not None:
        yield from screen.findings(findings)
    if left_out and not whole and not options.quiet:
        yield ""
    others = [*screen.left_out(left_out), *screen.not_read(not_read, left_out)]
    if options.quiet:
        yield from filter(None, others)
    else:
        yield from others
        yield from screen.last(summaries)


class _Screen(Sections):
    """All parts of the screen."""

    def totals(self, summaries: Sequence[Summary]) -> Iterator[str]:
        files = files_of(summaries)
        rows = sum(map(rows_of, summaries))
        words = f"{many(len(summaries), 'dataset')} ({formats_of(summaries)})"
        whole = f"{words}: {many(len(files), 'file')}, {size(sum(f.bytes for f in files))}, {many(rows, 'row')}"
        for line in wrapped(one_line(whole), self.width):
            yield self.paint("bold", line)
        yield ""

    def overview(self, summaries: Sequence[Summary]) -> Iterator[str]:
        """A line for each dataset."""
        narrow = self.width < _NARROW
        longest = max(self.width * 2 // 5, 20)
        paths = without_common_folder([s.path for s in summaries])
        rows = [["dataset", "format", *(() if narrow else ("size",)), "warnings"]]
        for label, summary in zip(labels_of(summaries, paths), summaries, strict=True):
            name = cut_head(one_line(label), longest, self.signs.more)
            warned = f"{warnings_of(summary):,}" if warnings_of(summary) else ""
            rows.append([name, one_line(summary.format), *(() if narrow else (size(bytes_of(summary)),)), warned])
        lines = list(column_lines(rows, painter(False), left=(0, 1), indent=""))
        used = max(map(width_of, lines)) + 2
        yield self.paint("dim", f"{padded(lines[0], used)}holds")
        for line, summary in zip(lines[1:], summaries, strict=True):
            space = " " * (used - width_of(line))
            text = self.paint("warning", line) if warnings_of(summary) else line
            held = one_line(headline(summary))
            yield f"{text}{space}{held if self.whole else cut_to(held, max(self.width - used, 0), self.signs.more)}"
        yield ""
        hint = "--details shows each of them whole, --output-format html makes a page of them"
        yield from (self.paint("dim", line) for line in wrapped(hint, self.width))

    def head(self, summary: Summary) -> Iterator[str]:
        name = cut_to(one_line(summary.name), self.width // 2, self.signs.more)
        kind = f": {one_line(summary.format)}"
        path = cut_to(one_line(summary.path), self.width - width_of(name + kind) - 2, self.signs.more)
        place = f"  {self.paint('dim', path)}" if path and path != name else ""
        yield f"{self.paint('bold', name)}{kind}{place}"
        count = f"{many(len(summary.files), 'file')}, {size(bytes_of(summary))}"
        for line in wrapped(f"{headline(summary)}; {count}", self.width - 2):
            yield f"{IN}{line}"

    def quiet(self, summary: Summary) -> Iterator[str]:
        yield from self.head(summary)
        yield from self.notes(summary, warnings_only=True)

    def dataset(self, summary: Summary) -> Iterator[str]:
        """All about one dataset."""
        yield from self.head(summary)
        yield from self.files(summary)
        yield from self.tables(summary)
        yield from self.ids(summary)
        yield from self.distributions(summary)
        yield from self.frequencies(summary)
        if summary.hierarchy is not None:
            yield from self.hierarchy(summary.hierarchy)
        if summary.graph is not None:
            yield from self.graph(summary.graph)
        if summary.around is not None:
            yield from self.around(summary.around)
        if summary.contexts is not None:
            yield from self.contexts(summary.contexts)
        if summary.claims is not None:
            yield from self.claims(summary.claims)
        yield from self.examples(summary.examples)
        if summary.notes or summary.losses:
            yield from self.section("Notes")
            yield from self.notes(summary)

    def files(self, summary: Summary) -> Iterator[str]:
        rows = file_rows(summary, len(summary.files) if self.verbose else _MOST_FILES)
        if not rows:
            return
        yield from self.section("Files")
        table = [["kind", "split", "records", "size", "file"]]
        for row in rows:
            others = f" and {row.count - 1:,} more" if row.count > 1 else ""
            table.append(
                [
                    one_line(row.kind),
                    cut_to(one_line(row.split or ""), 16, self.signs.more),
                    f"{row.records:,}" if row.records is not None else self.signs.none,
                    size(row.bytes),
                    one_line(row.path) + others,
                ]
            )
        if all(not row.split for row in rows):
            table = [[cells[0], *cells[2:]] for cells in table]
        last = len(table[0]) - 1
        lines = column_lines(table, painter(False), left=(0, 1, last) if last == 4 else (0, last))
        for number, line in enumerate(lines):
            fitted = cut_to(line, self.width, self.signs.more)
            yield self.paint("dim", fitted) if number == 0 else fitted

    def tables(self, summary: Summary) -> Iterator[str]:
        shown = [table for table in summary.tables if table.rows] or summary.tables
        if not shown:
            return
        yield from self.section("Tables")
        names = max(width_of(t.name) for t in shown)
        counts = max(len(f"{t.rows:,}") for t in shown)
        for table in shown:
            head = f"{IN}{table.name:{names}}  {table.rows:>{counts},}  "
            parts = self.table_parts(table)
            if parts:
                yield from flowing(head, parts, self.width, ";")
            else:
                yield head.rstrip()

    def table_parts(self, table: TableSummary) -> list[str]:
        """What follows the rows of a table: splits, then what is to be said of its columns."""
        splits = [f"{self.value(split or 'no split')} {number:,}" for split, number in splits_of(table)]
        parts = [", ".join(splits)] if splits else []
        parts += [f"{one_line(name)}: {', '.join(words)}" for name, words in remarks(table)]
        unused = unused_columns(table) if self.verbose else []
        return [*parts, f"without a value: {', '.join(map(one_line, unused))}"] if unused else parts

    def ids(self, summary: Summary) -> Iterator[str]:
        shown = [ids for ids in summary.ids if ids.count]
        if not shown:
            return
        yield from self.section("Ids")
        names = max(width_of(f"{i.table}.{i.column}") for i in shown)
        for ids in shown:
            words = [self.paint("warning", w) if level == "warning" else w for level, w in id_words(ids)]
            text = ", ".join(words)
            if ids.examples and ids.integers < ids.count:
                text += f", such as {', '.join(self.value(e) for e in ids.examples[:3])}"
            yield self.fitted(f"{IN}{ids.table + '.' + ids.column:{names}}  {text}")

    def distributions(self, summary: Summary) -> Iterator[str]:
        groups = distribution_groups(summary)
        if not groups:
            return
        yield from self.section("Distributions")
        wide = self.width >= _WIDE
        log = any(d.logarithmic for d in summary.distributions)
        rows = [["", "", *([""] if log else []), *(("min",) if wide else ()), "median", "95%", "max", ""]]
        same = [] if self.verbose else [one_line(constant_words(g[0])) for g in groups if is_constant(g)]
        for group in groups:
            if self.verbose or not is_constant(group):
                rows += self.distribution_rows(group, log, wide)
        others = [max((width_of(row[i]) for row in rows if i < len(row)), default=0) for i in range(1, len(rows[0]))]
        room = max(self.width - width_of(IN) - sum(width + 2 for width in others if width), 16)
        rows = [[cut_to(row[0], room, self.signs.more), *row[1:]] for row in rows]
        left = (0, 1, 2) if log else (0, 1)
        if len(rows) > 1:
            yield from column_lines(rows, self.paint, left=(*left, len(rows[0]) - 1))
        if log:
            yield self.paint("dim", f"{IN}log: each bar is wider by a factor than the one before")
        if same:
            yield from flowing(f"{IN}always the same: ", same, self.width, ",")

    def distribution_rows(self, group: list[Distribution], log: bool, wide: bool) -> Iterator[list[str]]:
        most_bars = 16 if wide else 10 if self.width >= _NARROW else 8
        unit = 12 if self.width >= _NARROW else 0
        if len(group) > 1 and group[0].by is not None:
            yield [one_line(group[0].title)]
        most = len(group) if self.verbose else _MOST_BY + 1
        for shown in group[:most]:
            if shown.by is None:
                name = one_line(shown.title)
            elif len(group) == 1:
                name = one_line(f"{shown.title}: {shown.by}")
            else:
                name = f"{IN}{one_line(shown.by)}"
            numbers = [shown.minimum, quantile(shown, 50), quantile(shown, 95)]
            yield [
                name,
                bars(shown.bins, most_bars, self.signs),
                *(["log" if shown.logarithmic else ""] if log else []),
                *map(amount, (numbers if wide else numbers[1:]) if shown.count else ()),
                *(
                    [amount(shown.maximum), cut_to(one_line(shown.unit), unit, self.signs.more) if unit else ""]
                    if shown.count
                    else []
                ),
            ]
        if len(group) > most:
            yield [f"{IN}{self.signs.more} {len(group) - most:,} more"]

    def frequencies(self, summary: Summary) -> Iterator[str]:
        shown = [f for f in summary.frequencies if f.values]
        if not shown:
            return
        yield from self.section("Values")
        same = [] if self.verbose else [f for f in shown if f.distinct == 1]
        several = [f for f in shown if f not in same]
        names = max((width_of(one_line(f.title)) for f in several), default=0)
        for one in several:
            title = one_line(one.title)
            yield from self.frequency_lines(f"{IN}{padded(title, names)}  ", one)
        constants = [f"{one_line(f.title)}: {self.value(f.values[0][0])}" for f in same]
        if constants:
            yield from flowing(f"{IN}always the same: ", constants, self.width, ",")

    def frequency_lines(self, head: str, shown: Frequencies) -> Iterator[str]:
        """As many values as fit into two lines, all with ``verbose``; a line more rather than one that is not named."""
        parts = [f"{self.value(value)}: {number}" for value, number in value_counts(shown)]
        listed = len(parts)
        longer: list[str] = []
        while True:
            rest = rest_words(shown, listed)
            lines = list(flowing(head, [*parts[:listed], *([rest] if rest else [])], self.width, ","))
            if self.verbose or len(lines) <= _MOST_VALUE_LINES or listed <= 1:
                yield from longer if longer and shown.distinct == listed + 1 else lines
                return
            listed, longer = listed - 1, lines

    def notes(self, summary: Summary, warnings_only: bool = False) -> Iterator[str]:
        listed = [(note.level, note.words) for note in notes_in_order(summary)]
        listed = [("warning", loss) for loss in losses_of(summary)] + listed
        for level, words in listed:
            warning = level == "warning"
            if warnings_only and not warning:
                continue
            for number, line in enumerate(wrapped(one_line(words), self.width - 4)):
                sign = ("!" if warning else self.signs.point) if number == 0 else " "
                text = f"{IN}{sign} {line}"
                yield self.paint("warning", text) if warning else text

    def findings(self, report: Report) -> Iterator[str]:
        """What `ragdata validate` counts."""
        counts = [many(report.counts[s], s) for s in ("error", "warning") if report.counts[s]]
        style = "error" if report.counts["error"] else "warning" if counts else "good"
        text = f"{self.paint(style, 'validate')}: {', '.join(counts) or 'no errors, no warnings'}"
        most = sorted(report.by_rule.items(), key=lambda pair: (-pair[1], pair[0]))
        names = {f.code: f.rule for f in report.findings}
        yield text
        for code, number in most if self.verbose else most[:5]:
            yield f"{number:>10,}  {code}  {names.get(code, '')}".rstrip()
        if len(most) > 5 and not self.verbose:
            yield self.paint("dim", f"{IN}{many(len(most) - 5, 'rule')} more; `ragdata validate` shows each finding")
        yield ""

    def left_out(self, left_out: Sequence[LeftOut]) -> Iterator[str]:
        """The folders that no dataset has."""
        if not left_out:
            return
        words, listed = left_out_words(left_out)
        yield from (self.paint("bold", line) for line in wrapped(words, self.width))
        yield from flowing(IN, [*map(one_line, listed)], self.width, ",")
        yield ""

    def not_read(self, not_read: Sequence[NotRead], left_out: Sequence[LeftOut]) -> Iterator[str]:
        """The files that no dataset reads."""
        listed = not_read_words(not_read, left_out, *([len(not_read)] if self.verbose else []))
        if listed:
            yield from flowing("Not read: ", [*map(one_line, listed)], self.width, ",")
            yield ""

    def last(self, summaries: Sequence[Summary]) -> Iterator[str]:
        seconds = sum(s.seconds for s in summaries)
        warned = sum(map(warnings_of, summaries))
        what = f"{many(len(summaries), 'dataset')}, {many(len(files_of(summaries)), 'file')}"
        what += f", {many(sum(map(rows_of, summaries)), 'row')}"
        warnings = many(warned, "warning")
        words = f"Reported: {what}{f', {warnings}' if warned else ''} in {seconds:.2f} s"
        for line in wrapped(words, self.width):
            line = line.replace("Reported", self.paint("good", "Reported"))
            yield line.replace(warnings, self.paint("warning", warnings)) if warned else line
