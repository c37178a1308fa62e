"""Summaries as Markdown, for a pull request or a dataset card; whatever is in the data is shown, never obeyed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragdatakit.reports.markdown import code, prose, table_of
from ragdatakit.reports.summary.hierarchy_words import (
    hierarchy_words,
    level_word,
    levels_of,
    node_name,
    node_size,
    section_title,
)
from ragdatakit.reports.summary.text import FEW
from ragdatakit.reports.summary.words import (
    Signs,
    amount,
    bars,
    bytes_of,
    distribution_groups,
    file_rows,
    files_of,
    formats_of,
    graph_words,
    headline,
    hubs_of,
    id_words,
    labelled,
    labels_of,
    left_out_words,
    losses_of,
    not_read_words,
    notes_in_order,
    quantile,
    remarks,
    rest_words,
    rows_of,
    shown_values,
    splits_of,
    value_counts,
    warnings_of,
)
from ragdatakit.reports.terminal import cut_head, cut_to, one_line
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.summaries import Example, Frequencies, LeftOut, NotRead, Summary
from ragdatakit.schemas.texts import many, size

_SIGNS = Signs(empty="·")
_MOST_CONTEXTS = 3
_BARS, _MOST_FILES, _MOST_VALUES = 16, 20, 8
_PATH, _LONG_VALUE = 100, 240


def summary_markdown(
    summaries: Sequence[Summary],
    details: bool | None = None,
    findings: Report | None = None,
    left_out: Sequence[LeftOut] = (),
    not_read: Sequence[NotRead] = (),
) -> Iterator[str]:
    """The document, line by line. ``details``: each dataset whole (None: where there are at most three); ``left_out``
    are folders of unknown formats, ``not_read`` files that no dataset reads."""
    whole = details if details is not None else len(summaries) <= FEW
    if len(summaries) > 1:
        yield from _overview(summaries)
    if whole:
        for summary in summaries:
            yield from _dataset(summary)
    if findings is not None:
        yield from _findings(findings)
    if left_out:
        words, listed = left_out_words(left_out)
        yield f"{words}: {prose(', '.join(listed))}."
        yield ""
    if listed := not_read_words(not_read, left_out):
        yield f"Not read: {prose(', '.join(listed))}."
        yield ""
    yield "Made by `ragdata report`."


def _overview(summaries: Sequence[Summary]) -> Iterator[str]:
    files = files_of(summaries)
    yield f"## {many(len(summaries), 'dataset')}"
    yield ""
    rows_in_all = many(sum(map(rows_of, summaries)), "row")
    words = f"{many(len(files), 'file')}, {size(sum(f.bytes for f in files))}, {rows_in_all}"
    yield f"{words}; formats: {prose(formats_of(summaries))}"
    yield ""
    rows = [
        [
            code(cut_head(one_line(label), _PATH), _PATH),
            prose(s.format),
            size(bytes_of(s)),
            _holds(s),
            str(warnings_of(s) or ""),
        ]
        for label, s in zip(labels_of(summaries, [s.path for s in summaries]), summaries, strict=True)
    ]
    yield from table_of(["Dataset", "Format", "Size", "Holds", "Warnings"], rows, (2, 4))


def _holds(summary: Summary) -> str:
    return prose(cut_to(headline(summary), _LONG_VALUE)) if summary.unread else headline(summary)


def _dataset(summary: Summary) -> Iterator[str]:
    yield f"## {prose(cut_to(one_line(summary.name), 80)) or 'dataset'}"
    yield ""
    files = f"{many(len(summary.files), 'file')}, {size(bytes_of(summary))}"
    yield f"Format {prose(summary.format)}, {_holds(summary)}; {files}; {code(summary.path, 120)}"
    yield ""
    yield from _notes(summary)
    yield from _files(summary)
    yield from _tables(summary)
    yield from _ids(summary)
    yield from _distributions(summary)
    yield from _values(summary.frequencies)
    yield from _hierarchy(summary)
    yield from _graph(summary)
    yield from _around(summary)
    yield from _contexts(summary)
    yield from _claims(summary)
    yield from _examples(summary.examples)


def _notes(summary: Summary) -> Iterator[str]:
    rows = [["**warning**", prose(loss)] for loss in losses_of(summary)]
    rows += [
        ["**warning**" if note.level == "warning" else prose(note.level), prose(note.words)]
        for note in notes_in_order(summary)
    ]
    if rows:
        yield from table_of(["", "Note"], rows)


def _files(summary: Summary) -> Iterator[str]:
    shown = file_rows(summary, _MOST_FILES)
    if not shown:
        return
    rows = []
    for row in shown:
        others = f" and {row.count - 1:,} more" if row.count > 1 else ""
        split = code(row.split, 24) if row.split else ""
        records = f"{row.records:,}" if row.records is not None else "–"
        rows.append([code(row.path, 100) + others, prose(row.kind), split, records, size(row.bytes)])
    yield from table_of(["File", "Kind", "Split", "Records", "Size"], rows, (3, 4))


def _tables(summary: Summary) -> Iterator[str]:
    rows = []
    for table in summary.tables:
        splits = ", ".join(f"{code(split or 'no split', 24)} {number:,}" for split, number in splits_of(table))
        noted = "; ".join(f"{code(name)}: {', '.join(words)}" for name, words in remarks(table))
        if table.rows:
            rows.append([prose(table.name), f"{table.rows:,}", splits, noted])
    if rows:
        yield from table_of(["Table", "Rows", "By split", "Columns"], rows, (1,))


def _ids(summary: Summary) -> Iterator[str]:
    rows = []
    for ids in summary.ids:
        words = [f"**{w}**" if level == "warning" else w for level, w in id_words(ids)]
        examples = ", ".join(code(example) for example in ids.examples[:3])
        if ids.count:
            rows.append([f"{prose(ids.table)}.{prose(ids.column)}", ", ".join(words), examples])
    if rows:
        yield from table_of(["Ids", "What they are", "Such as"], rows)


def _distributions(summary: Summary) -> Iterator[str]:
    rows = []
    for group in distribution_groups(summary):
        for shown in group:
            drawn = bars(shown.bins, _BARS, _SIGNS) + (" (log)" if shown.logarithmic else "")
            middle, high = quantile(shown, 50), quantile(shown, 95)
            numbers = [shown.minimum, middle, shown.mean, high, shown.maximum] if shown.count else [float("nan")] * 5
            split = code(shown.by, 24) if shown.by is not None else ""
            rows.append([prose(shown.title), split, drawn, *map(amount, numbers), prose(shown.unit)])
    if rows:
        heading = ["Distribution", "Of", "Histogram", "Min", "Median", "Mean", "95%", "Max", "Unit"]
        yield from table_of(heading, rows, (3, 4, 5, 6, 7))


def _values(frequencies: Sequence[Frequencies]) -> Iterator[str]:
    rows = []
    for shown in frequencies:
        listed = shown.values[:_MOST_VALUES]
        counted = [f"{code(value)} {number}" for value, number in value_counts(shown)[: len(listed)]]
        rest = rest_words(shown, len(listed))
        if listed:
            rows.append([prose(shown.title), f"{shown.distinct:,}", ", ".join([*counted, *([rest] if rest else [])])])
    if rows:
        yield from table_of(["Column", "Values", "Most frequent"], rows, (1,))


def _hierarchy(summary: Summary) -> Iterator[str]:
    found = summary.hierarchy
    if found is None:
        return
    yield f"{section_title(found)}: {prose(' '.join(hierarchy_words(found)))}"
    yield ""
    rows = [
        [level.name, f"{level.nodes:,}", *level.sizes, ", ".join(code(name) for _, name in level.examples)]
        for level in levels_of(found)
    ]
    heads = ["Level", found.counted.capitalize(), f"Fewest {found.measure}", "Median", "Most", "Largest"]
    yield from table_of(heads, rows, (1, 2, 3, 4))
    rows = [
        [level_word(found, node.level), node_size(found, node), code(node_name(node)), code(node.text, _LONG_VALUE)]
        for node in found.nodes
        if node.parent is None
    ]
    yield from table_of(["Level", "Entities", "Name", "Text"], rows[:_MOST_FILES], (1,))


def _graph(summary: Summary) -> Iterator[str]:
    graph = summary.graph
    if graph is None:
        return
    rows = [[f"**{words}**" if level == "warning" else words] for level, words in graph_words(graph)]
    hubs = [f"{code(labelled(hub.name, hub.label))} {hub.degree:,}" for hub in hubs_of(graph)[:_MOST_VALUES]]
    rows += [[f"hubs, with their edges: {', '.join(hubs)}"]] if hubs else []
    yield from table_of(["Graph"], rows)


def _around(summary: Summary) -> Iterator[str]:
    found = summary.around
    if found is None:
        return
    yield f"Neighbourhood of {code(found.name)}: {many(found.degree, 'edge')}"
    yield ""
    rows = []
    for near in found.neighbours:
        ends = [code(found.name), code(near.name)]
        source, target = ends if near.forward else ends[::-1]
        rows.append([source, code(near.relation), target])
    yield from table_of(["From", "Relation", "To"], rows)


def _contexts(summary: Summary) -> Iterator[str]:
    if summary.contexts is None:
        return
    rows = [
        [code(pair.chunk_id), code(pair.context, _LONG_VALUE), code(pair.text, _LONG_VALUE)]
        for pair in summary.contexts.pairs[:_MOST_CONTEXTS]
    ]
    yield from table_of(["Chunk", "Context", "Text"], rows)


def _claims(summary: Summary) -> Iterator[str]:
    if summary.claims is None:
        return
    rows = [[group, name, f"{value:.1f}"] for group, name, value in summary.claims.metric_rows()]
    yield from table_of(["RAGChecker", "Metric", "%"], rows, (2,))
    failed = [
        [
            code(f.question_id),
            f.of,
            f.why,
            code(f.claim, _LONG_VALUE),
            ", ".join(code(passage) for passage in f.passages),
        ]
        for f in summary.claims.failed[:_MOST_VALUES]
    ]
    if failed:
        yield from table_of(["Question", "Claim of", "Why it failed", "Claim", "Passages that say it"], failed)


def _examples(examples: Sequence[Example]) -> Iterator[str]:
    if not examples:
        return
    yield f"<details><summary>{many(len(examples), 'example')}</summary>"
    yield ""
    rows = []
    for example in examples:
        values = [f"{code(name, 24)}: {code(text, _LONG_VALUE)}" for name, text in shown_values(example.row.items())]
        rows.append([prose(example.table), prose(example.why), "<br>".join(values)])
    yield from table_of(["Table", "Which", "Row"], rows)
    yield "</details>"
    yield ""


def _findings(report: Report) -> Iterator[str]:
    names = {f.code: (f.severity, f.rule) for f in report.findings}
    counts = [many(report.counts[s], s) for s in ("error", "warning") if report.counts[s]]
    yield f"`ragdata validate`: {', '.join(counts) or 'no errors, no warnings'}"
    yield ""
    ordered = sorted(report.by_rule.items(), key=lambda pair: (-pair[1], pair[0]))
    rows = [[number, f"{count:,}", *names.get(number, ("", ""))] for number, count in ordered]
    if rows:
        yield from table_of(["Rule", "Findings", "Severity", "Name"], rows, (1,))
