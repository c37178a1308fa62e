"""Summaries for people at a terminal: what is here, its shares and distributions, what to look at.

One module: each section is a method of one class, and all share its width, signs and colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragdatakit.reports.summary.claims import claim_words
from ragdatakit.reports.summary.hierarchy_words import hierarchy_words, levels_of, node_name, node_size, section_title
from ragdatakit.reports.summary.words import (
    PLAIN_SIGNS,
    Signs,
    amount,
    bars,
    bytes_of,
    constant_words,
    distribution_groups,
    file_rows,
    files_of,
    formats_of,
    graph_words,
    headline,
    hubs_of,
    id_words,
    is_constant,
    labelled,
    labels_of,
    left_out_words,
    losses_of,
    not_read_words,
    notes_in_order,
    remarks,
    rest_words,
    rows_of,
    shown_values,
    splits_of,
    unused_columns,
    value_counts,
    warnings_of,
    without_common_folder,
)
from ragdatakit.reports.terminal import (
    Painter,
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
from ragdatakit.schemas.evaluations import ClaimScores
from ragdatakit.schemas.hierarchies import Hierarchy
from ragdatakit.schemas.neighbourhoods import NodeAround
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.summaries import (
    ContextSummary,
    Distribution,
    Example,
    Frequencies,
    GraphSummary,
    LeftOut,
    NotRead,
    Summary,
    TableSummary,
)
from ragdatakit.schemas.texts import many, size

FEW = 3
"""Up to so many datasets are shown whole without being asked for."""
_MOST_FILES, _MOST_BY, _MOST_VALUE_LINES, _MOST_COLUMNS, _MOST_HUBS = 12, 6, 2, 4, 5
_MOST_CLAIMS = 5
_MOST_CONTEXTS = 2
_MOST_NEIGHBOURS = 12
_MOST_NODES, _MOST_PARTS = 5, 3
"""Roots of a hierarchy, and what is below one of them, that are shown without ``verbose``."""
_WIDE, _NARROW = 96, 76
_IN = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTextOptions:
    """How to print. ``details``: each dataset whole (None: where there are at most three); ``plain``: ASCII signs;
    ``whole``: what each of several datasets holds is not cut to the width.

    ``verbose`` adds all files, values, examples and the columns without a value; ``quiet`` leaves what a dataset has
    and its warnings.
    """

    colour: bool = False
    width: int = 100
    quiet: bool = False
    verbose: bool = False
    details: bool | None = None
    plain: bool = False
    whole: bool = False


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


class _Screen:
    """The parts of the screen, in one width and one set of signs."""

    def __init__(self, options: SummaryTextOptions) -> None:
        self.paint: Painter = painter(options.colour)
        self.signs = PLAIN_SIGNS if options.plain else Signs()
        self.width = options.width
        self.verbose = options.verbose
        self.whole = options.whole

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
            yield f"{_IN}{line}"

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

    def section(self, title: str) -> Iterator[str]:
        yield ""
        yield self.paint("bold", title)

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
            head = f"{_IN}{table.name:{names}}  {table.rows:>{counts},}  "
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

    def value(self, text: str) -> str:
        """A value of the data, short."""
        return cut_to(one_line(text), 32, self.signs.more) or "(empty)"

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
            yield self.fitted(f"{_IN}{ids.table + '.' + ids.column:{names}}  {text}")

    def fitted(self, line: str) -> str:
        """A line cut to the width, unless it has colours."""
        return line if "\x1b" in line else cut_to(line, self.width, self.signs.more)

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
        room = max(self.width - width_of(_IN) - sum(width + 2 for width in others if width), 16)
        rows = [[cut_to(row[0], room, self.signs.more), *row[1:]] for row in rows]
        left = (0, 1, 2) if log else (0, 1)
        if len(rows) > 1:
            yield from column_lines(rows, self.paint, left=(*left, len(rows[0]) - 1))
        if log:
            yield self.paint("dim", f"{_IN}log: each bar is wider by a factor than the one before")
        if same:
            yield from flowing(f"{_IN}always the same: ", same, self.width, ",")

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
                name = f"{_IN}{one_line(shown.by)}"
            numbers = [shown.minimum, shown.quantiles.get(50, shown.mean), shown.quantiles.get(95, shown.maximum)]
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
            yield [f"{_IN}{self.signs.more} {len(group) - most:,} more"]

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
            yield from self.frequency_lines(f"{_IN}{padded(title, names)}  ", one)
        constants = [f"{one_line(f.title)}: {self.value(f.values[0][0])}" for f in same]
        if constants:
            yield from flowing(f"{_IN}always the same: ", constants, self.width, ",")

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

    def hierarchy(self, found: Hierarchy) -> Iterator[str]:
        """Its levels, and the largest nodes with what is directly in them."""
        yield from self.section(section_title(found))
        for words in hierarchy_words(found):
            yield from (f"{_IN}{line}" for line in wrapped(words, self.width - 2))
        rows = [["level", found.counted, f"fewest {found.measure}", "median", "most"]]
        rows += [[level.name, f"{level.nodes:,}", *level.sizes] for level in levels_of(found)]
        lines = column_lines(rows, painter(False), left=(0,))
        yield from (self.paint("dim", line) if number == 0 else line for number, line in enumerate(lines))
        below: dict[int | None, list[int]] = {}
        for place, node in enumerate(found.nodes):
            below.setdefault(node.parent, []).append(place)
        yield from self.nodes(found, below, None, _IN)

    def nodes(
        self, found: Hierarchy, below: Mapping[int | None, list[int]], parent: int | None, lead: str
    ) -> Iterator[str]:
        """What is shown below a node, each with what is below it; the first of them, or all with ``verbose``."""
        listed = below.get(parent, [])
        most = len(listed) if self.verbose else _MOST_NODES if parent is None else _MOST_PARTS
        for place in listed[:most]:
            node = found.nodes[place]
            size = node_size(found, node)
            yield cut_to(
                f"{lead}{f'{size:>5}  ' if size else ''}{one_line(node_name(node))}", self.width, self.signs.more
            )
            if self.verbose or len(lead) < len(_IN) * 2:
                yield from self.nodes(found, below, place, f"{lead}{_IN}{_IN}")
        every = found.roots if parent is None else found.nodes[parent].children
        if listed and every > most:
            yield self.paint("dim", f"{lead}{self.signs.more} {every - most:,} more")

    def graph(self, graph: GraphSummary) -> Iterator[str]:
        yield from self.section("Graph")
        for level, words in graph_words(graph):
            for number, line in enumerate(wrapped(words, self.width - 4)):
                text = f"{_IN}{'' if number == 0 else _IN}{line}"
                yield self.paint("warning", text) if level == "warning" else text
        hubs = hubs_of(graph)[: None if self.verbose else _MOST_HUBS]
        parts = [
            f"{self.value(labelled(h.name, h.label))}{f' ({self.value(h.type)})' if h.type else ''}: {h.degree:,}"
            for h in hubs
        ]
        if parts:
            yield from flowing(f"{_IN}hubs, with their edges: ", parts, self.width, ",")

    def around(self, found: NodeAround) -> Iterator[str]:
        """A node with its neighbours."""
        yield from self.section(f"Neighbourhood of {self.value(found.name)}")
        facts = [*([f"type {self.value(found.type)}"] if found.type else []), many(found.degree, "edge")]
        yield f"{_IN}{', '.join(facts)}"
        if found.communities:
            yield from flowing(f"{_IN}in ", [one_line(name) for name in found.communities], self.width, ";")
        if found.description:
            yield from (f"{_IN}{line}" for line in wrapped(one_line(found.description), self.width - 2))
        for near in found.neighbours if self.verbose else found.neighbours[:_MOST_NEIGHBOURS]:
            relation = cut_to(one_line(near.relation), self.width // 2, self.signs.more)
            line = f"-{relation}-" if relation else "--"
            arrow = f"{line}>" if near.forward else f"<{line}"
            yield cut_to(f"{_IN}{_IN}{arrow} {one_line(near.name)}", self.width, self.signs.more)
        shown = len(found.neighbours) if self.verbose else min(len(found.neighbours), _MOST_NEIGHBOURS)
        if found.degree > shown:
            yield self.paint("dim", f"{_IN}{_IN}{self.signs.more} {found.degree - shown:,} more edges")

    def contexts(self, found: ContextSummary) -> Iterator[str]:
        """Chunks with their contexts."""
        yield from self.section("Contexts")
        for pair in found.pairs if self.verbose else found.pairs[:_MOST_CONTEXTS]:
            yield self.fitted(f"{_IN}{one_line(pair.chunk_id)}{'' if pair.why == 'random' else f' ({pair.why})'}")
            for name, text in (("context", pair.context), ("text", pair.text)):
                yield cut_to(f"{_IN}{_IN}{name:7}  {one_line(text)}", self.width, self.signs.more)

    def claims(self, scores: ClaimScores) -> Iterator[str]:
        yield from self.section("RAGChecker")
        yield f"{_IN}{claim_words(scores)}"
        for group, name, value in scores.metric_rows():
            yield f"{_IN}{group:<10} {name:<31} {value:6.1f} %"
        for failed in scores.failed[: None if self.verbose else _MOST_CLAIMS]:
            text = f"{one_line(failed.question_id)}: {failed.of}, {failed.why}: {one_line(failed.claim)}"
            text += f" ({', '.join(map(self.value, failed.passages))})" if failed.passages else ""
            yield self.paint("dim", cut_to(f"{_IN}{text}", self.width, self.signs.more))

    def examples(self, examples: Sequence[Example]) -> Iterator[str]:
        """The first row of each table; with ``verbose`` the others, too."""
        shown = examples if self.verbose else [e for e in examples if e.why == "first"]
        if not shown:
            return
        yield from self.section("Examples")
        for example in shown:
            values = shown_values(example.row.items(), 0 if self.verbose else _MOST_COLUMNS)
            on_one_line = [(one_line(name), one_line(text)) for name, text in values]
            head = f"{_IN}{example.table}, {example.why}"
            pairs = [f"{name}={text}" for name, text in on_one_line]
            point = f" {self.signs.point} "
            if width_of(f"{head}: {point.join(pairs)}") <= self.width:
                yield f"{head}: {point.join(self.paint('dim', f'{name}=') + text for name, text in on_one_line)}"
                continue
            yield head
            names = min(max((width_of(name) for name, _ in on_one_line), default=0), 20)
            for name, text in on_one_line:
                yield from self.example_lines(f"{_IN * 2}{padded(cut_to(name, 20, self.signs.more), names)}  ", text)
        if len(shown) < len(examples):
            yield self.paint("dim", f"{_IN}-v shows {len(examples) - len(shown):,} more: longest, shortest, random")

    def example_lines(self, head: str, text: str) -> Iterator[str]:
        room = self.width - width_of(head)
        if not self.verbose:
            yield head + cut_to(text, room, self.signs.more)
            return
        lines = wrapped(text, room)
        for number, line in enumerate(lines[:4]):
            more = self.signs.more if number == 3 and len(lines) > 4 else ""
            yield (head if number == 0 else " " * width_of(head)) + cut_to(line + more, room, self.signs.more)

    def notes(self, summary: Summary, warnings_only: bool = False) -> Iterator[str]:
        listed = [(note.level, note.words) for note in notes_in_order(summary)]
        listed = [("warning", loss) for loss in losses_of(summary)] + listed
        for level, words in listed:
            warning = level == "warning"
            if warnings_only and not warning:
                continue
            for number, line in enumerate(wrapped(one_line(words), self.width - 4)):
                sign = ("!" if warning else self.signs.point) if number == 0 else " "
                text = f"{_IN}{sign} {line}"
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
            yield self.paint("dim", f"{_IN}{many(len(most) - 5, 'rule')} more; `ragdata validate` shows each finding")
        yield ""

    def left_out(self, left_out: Sequence[LeftOut]) -> Iterator[str]:
        """The folders that no dataset has."""
        if not left_out:
            return
        words, listed = left_out_words(left_out)
        yield from (self.paint("bold", line) for line in wrapped(words, self.width))
        yield from flowing(_IN, [*map(one_line, listed)], self.width, ",")
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
