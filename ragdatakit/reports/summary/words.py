"""The numbers of a summary in words, for every output that people read: counts, shares, amounts, small histograms."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.results import FileSummary
from ragdatakit.schemas.summaries import (
    Bin,
    ColumnSummary,
    Distribution,
    Frequencies,
    GraphSummary,
    Hub,
    IdSummary,
    LeftOut,
    Note,
    NotRead,
    Summary,
    TableSummary,
)
from ragdatakit.schemas.texts import many, size

_SINGULAR = {
    "summaries": "summary",
    "communities": "community",
    "qrels": "judgement",
    "triplets": "triplet",
    "indices": "index",
    "runs": "result",
}
_PLURAL = {"qrels": "judgements", "runs": "results"}
_MEASURES = ("characters", "tokens", "seconds")
_NO_COUNTS = ("seconds", "score", "share")


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs beyond letters that a screen uses; ``empty`` is a bar of no height."""

    bars: str = "▁▂▃▅▇"
    empty: str = " "
    more: str = "…"
    none: str = "–"
    point: str = "·"


PLAIN_SIGNS = Signs(bars=".:+*#", more="...", none="-", point="-")
"""For a terminal whose encoding has no others than those of ASCII."""


def counted(number: int, table: str) -> str:
    """A count of rows of a table, as ``5,183 documents``."""
    noun = table.replace("_", " ")
    singular = _SINGULAR.get(table, noun.removesuffix("s"))
    return f"{number:,} {singular if number == 1 else _PLURAL.get(table, noun)}"


def percent(part: float, whole: float = 1) -> str:
    """A share; what is not nothing is never shown as nothing, what is not all never as all."""
    if not whole or not math.isfinite(part / whole):
        return "–"
    share = part / whole
    if share <= 0:
        return "0%"
    if share >= 1:
        return "100%" if share == 1 else f"{share:,.0%}"
    if share < 0.001:
        return "<0.1%"
    return ">99.9%" if share > 0.999 else f"{share:.1%}" if share < 0.1 or share >= 0.995 else f"{share:.0%}"


def amount(value: float) -> str:
    """A number of a distribution, short: whole ones and large ones without decimals, others with three digits."""
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 1e6:
        return f"{value / 1e6:,.3g} M" if abs(value) < 1e9 else f"{value:.3g}"
    if 100 <= abs(value) < 1000 and value % 1 == 0.5:
        return f"{value:,.1f}"
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def quantile(shown: Distribution, percent: int) -> float:
    """A quantile as it is shown: of what is counted, such as characters, a whole number, or the median between two."""
    found = shown.quantiles[percent]
    if shown.unit in _NO_COUNTS or not math.isfinite(found) or (percent == 50 and found * 2 == round(found * 2)):
        return found
    return math.floor(found + 0.5)


def bars(bins: Sequence[Bin], most: int, signs: Signs) -> str:
    """A histogram of one line, of at most ``most`` characters; neighbouring bins are put together where they must."""
    together = max(math.ceil(len(bins) / max(most, 1)), 1)
    counts = [sum(b.count for b in bins[i : i + together]) for i in range(0, len(bins), together)]
    highest = max(counts, default=0)
    steps = len(signs.bars)
    return "".join(
        signs.bars[min(math.ceil(count / highest * steps), steps) - 1] if count > 0 else signs.empty for count in counts
    )


def headline(summary: Summary) -> str:
    """What the tables hold, in a line; of a dataset that could not be read, why."""
    if summary.unread:
        return f"could not be read: {'; '.join(summary.losses)}"
    counts = [counted(table.rows, table.name) for table in summary.tables if table.rows]
    return ", ".join(counts) or "no rows"


def losses_of(summary: Summary) -> list[str]:
    """What could not be read, files by their paths below that of the dataset."""
    return [loss.replace(f"{summary.path.rstrip('/')}/", "") for loss in summary.losses]


def rows_of(summary: Summary) -> int:
    """The rows of all tables."""
    return sum(table.rows for table in summary.tables)


def bytes_of(summary: Summary) -> int:
    """The size of all files."""
    return sum(file.bytes for file in summary.files)


def files_of(summaries: Iterable[Summary]) -> list[FileSummary]:
    """The files of all datasets, each once: data sets of one folder may share theirs."""
    return list({(summary.path, file.path): file for summary in summaries for file in summary.files}.values())


MOST_LEFT_OUT = 10
"""So many folders of unknown formats are reported by name where people read."""


def left_out_words(left_out: Sequence[LeftOut], most: int = MOST_LEFT_OUT) -> tuple[str, list[str]]:
    """That folders were left out and what to do, without a full stop; the names of the first ``most`` with their
    files."""
    paths = without_common_folder([each.path for each in left_out])
    listed = [
        f"{path} ({'permission denied' if each.files is None else many(each.files, 'file')})"
        for path, each in zip(paths, left_out, strict=True)
    ]
    rest = listed[most:]
    first = [*listed[:most], *([f"{len(rest):,} more"] if rest else [])]
    locked = sum(each.files is None for each in left_out)
    parts = [f"{many(locked, 'folder')} without permission"] if locked else []
    if unknown := len(left_out) - locked:
        what = f"{many(unknown, 'folder')} whose data is of no known format"
        parts.append(f"{what}; name one to read it as texts or tables")
    return f"Left out: {', '.join(parts)}", first


_MOST_NOT_READ = 5


def not_read_words(not_read: Sequence[NotRead], left_out: Sequence[LeftOut], most: int = _MOST_NOT_READ) -> list[str]:
    """The files that no dataset reads, each with its size, the first ``most`` of them; those of the folders that are
    left out are reported with these."""
    folders = tuple(f"{each.path.rstrip('/')}/" for each in left_out)
    alone = len({each.folder for each in not_read}) == 1
    lines = [
        f"{each.name if alone else each.path} ({size(each.bytes)})"
        for each in not_read
        if not each.path.startswith(folders)
    ]
    return [*lines[:most], *([f"{len(lines) - most:,} more"] if len(lines) > most else [])]


def formats_of(summaries: Iterable[Summary]) -> str:
    """The formats, with how many datasets have them: ``beir 14, sage 13``."""
    counts = Counter(summary.format for summary in summaries)
    return ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items(), key=lambda p: (-p[1], p[0])))


@dataclass(frozen=True, slots=True)
class FileRow:
    """A line about files: one of them, or several of one kind and split (``count``)."""

    kind: str
    split: str | None
    records: int | None
    bytes: int
    path: str
    count: int = 1


def without_common_folder(paths: Sequence[str]) -> list[str]:
    """The paths below the folder that all of them are in."""
    folders = [path.rstrip("/").split("/")[:-1] for path in paths]
    common = 0
    if len(paths) > 1:
        for parts in zip(*folders, strict=False):
            if len(set(parts)) > 1:
                break
            common += 1
    return ["/".join(path.split("/")[common:]) or path for path in paths]


def labels_of(summaries: Sequence[Summary], paths: Sequence[str]) -> list[str]:
    """What distinguishes each dataset from the others: its path, or its name where several have that path. Both are
    names by which other commands take it."""
    common = Counter(paths)
    return [s.name if common[path] > 1 else path for s, path in zip(summaries, paths, strict=True)]


def file_rows(summary: Summary, most: int) -> list[FileRow]:
    """The files in order; where there are more than ``most``, those of one kind and split together."""
    splits = [*summary.file_splits, *[None] * (len(summary.files) - len(summary.file_splits))]
    pairs = list(zip(summary.files, splits, strict=False))
    if len(pairs) <= most:
        return [FileRow(f.kind, split, f.records, f.bytes, _below(f, summary.path)) for f, split in pairs]
    found: dict[tuple[str, str | None], list[FileSummary]] = {}
    for file, split in pairs:
        found.setdefault((file.kind, split), []).append(file)
    rows = []
    for (kind, split), files in found.items():
        known = [f.records for f in files if f.records is not None]
        records = sum(known) if known else None
        path = _below(files[0], summary.path)
        rows.append(FileRow(kind, split, records, sum(f.bytes for f in files), path, len(files)))
    return rows


def _below(file: FileSummary, folder: str) -> str:
    """The path of a file below its dataset."""
    head = folder.rstrip("/") + "/"
    return file.path[len(head) :] if file.path.startswith(head) else file.path


def splits_of(table: TableSummary) -> list[tuple[str | None, int]]:
    """Rows by split; empty where there is no split."""
    named = list(table.by_split.items())
    return [] if all(split is None for split, _ in named) else named


def remarks(table: TableSummary) -> list[tuple[str, list[str]]]:
    """What is to be said of its columns: the name, and how many rows lack a value, have an empty or a repeated one.

    A column without any value is one that the format does not have.
    """
    found = [(column.name, _remarks_of(column, table.rows)) for column in table.columns if column.missing < table.rows]
    return [(name, words) for name, words in found if words]


def _remarks_of(column: ColumnSummary, rows: int) -> list[str]:
    counts = (("missing", column.missing), ("empty", column.empty), ("repeated", column.duplicates or 0))
    return [f"{number:,} {word} ({percent(number, rows)})" for word, number in counts if number]


def unused_columns(table: TableSummary) -> list[str]:
    """The columns that no row has a value of."""
    return [column.name for column in table.columns if table.rows and column.missing >= table.rows]


def id_words(ids: IdSummary) -> Iterator[tuple[str, str]]:
    """What is to be said of the ids of a table: pairs of a level (``info``, ``warning``) and words."""
    if not ids.count:
        return
    if ids.integers == ids.count:
        span = f" {ids.minimum}" if ids.minimum == ids.maximum else f"s from {ids.minimum} to {ids.maximum}"
        yield "info", "integers" if ids.minimum is None else f"integer{span}"
        if ids.gaps:
            yield "info", f"{ids.gaps:,} unused in between" if ids.gaps <= ids.count else "with large gaps"
    elif ids.integers:
        yield "info", f"texts, {ids.integers:,} of {ids.count:,} of them integers"
    else:
        yield "info", "texts"
    if ids.distinct < ids.count:
        yield "warning", f"{ids.count - ids.distinct:,} repeated"


def distribution_groups(summary: Summary) -> list[list[Distribution]]:
    """Distributions of one name together: that of all first, then those by split or stage."""
    groups: dict[str, list[Distribution]] = {}
    for shown in summary.distributions:
        groups.setdefault(shown.name, []).append(shown)
    return [sorted(group, key=lambda d: d.by is not None) for group in groups.values()]


def is_constant(group: Sequence[Distribution]) -> bool:
    """Whether all values are the same."""
    return group[0].by is None and group[0].count > 0 and group[0].minimum == group[0].maximum


def constant_words(shown: Distribution) -> str:
    """Its one value, with the unit where the title does not say what is counted."""
    words = f"{shown.title} {amount(shown.minimum)}"
    if shown.unit not in _MEASURES:
        return words
    return f"{words} {shown.unit.removesuffix('s') if shown.minimum == 1 else shown.unit}"


def value_counts(shown: Frequencies) -> list[tuple[str, str]]:
    """Each listed value with how many rows have it, and what share that is.

    Of the keys in metadata and attributes no share is reported: a row has several.
    """
    whole = rows_counted(shown)
    keys = shown.name.endswith((".metadata", ".attributes"))
    return [
        (labelled(value, shown.labels.get(value)), f"{n:,}" if keys else f"{n:,} ({percent(n, whole)})")
        for value, n in shown.values
    ]


def labelled(name: str, label: str | None) -> str:
    """A name with what a file next to the data calls it."""
    return f"{label} [{name}]" if label else name


def rest_words(shown: Frequencies, listed: int) -> str:
    """What is not listed of the values; empty where all are."""
    others = shown.distinct - listed
    rows = shown.rest + sum(number for _, number in shown.values[listed:])
    return f"{many(others, 'other')}: {rows:,}" if others > 0 else ""


def rows_counted(shown: Frequencies) -> int:
    """The rows that have a value."""
    return shown.rest + sum(number for _, number in shown.values)


def graph_words(graph: GraphSummary) -> list[tuple[str, str]]:
    """What is to be said of a graph: pairs of a level and a sentence."""
    size = f"{many(graph.nodes, 'node')}, {many(graph.edges, 'edge')}, {many(graph.relations, 'relation')}"
    lines = [("info", size)]
    if graph.components == 1:
        lines.append(("info", "all nodes are connected"))
    elif graph.components:
        share = percent(graph.largest_component, graph.nodes)
        lines.append(("info", f"{many(graph.components, 'component')}, the largest has {share} of the nodes"))
    odd = [
        many(number, noun)
        for number, noun in (
            (graph.isolated, "node without an edge"),
            (graph.self_loops, "self-loop"),
            (graph.parallel_edges, "parallel edge"),
        )
        if number
    ]
    odd = [words.replace("node without an edges", "nodes without an edge") for words in odd]
    if odd:
        lines.append(("info", ", ".join(odd)))
    if graph.reachable:
        level = "info" if max(graph.reachable.values()) >= 0.5 else "warning"
        reached = sorted(graph.reachable.items())
        whole = next((number for number, (_, share) in enumerate(reached, 1) if share == 1), len(reached))
        parts = [f"{percent(share)} within {many(edges, 'edge')}" for edges, share in reached[:whole]]
        of = f" of {many(graph.questions, 'question')}" if graph.questions else ""
        lines.append((level, f"targets reached from the start nodes{of}: {', '.join(parts)}"))
    return lines


def hubs_of(graph: GraphSummary) -> list[Hub]:
    """The nodes with most edges; none where no node has two."""
    return [hub for hub in graph.hubs if hub.degree > 1]


_AFTER = {"reading": 1, "sampled": 2}


def notes_in_order(summary: Summary) -> list[Note]:
    """The notes: warnings, facts about the data, then how it was read and what was sampled."""
    return sorted(summary.notes, key=lambda n: (n.level != "warning", _AFTER.get(n.name.partition(".")[0], 0)))


def warnings_of(summary: Summary) -> int:
    """How many warnings there are, with what could not be read."""
    return len(summary.losses) + sum(note.level == "warning" for note in summary.notes)


def value_text(value: object) -> str:
    """A value of an example row as text."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | int | float):
        return str(value) if value is not None else ""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


_PLACES = {"text": 2, "field_order": 3}


def shown_values(row: Iterable[tuple[str, object]], most: int = 0) -> list[tuple[str, str]]:
    """The columns of an example that have a value, as text, long texts last; at most this many (0: all)."""
    shown = [(name, value_text(value)) for name, value in row if value not in (None, "", [], {}, ())]
    shown.sort(key=lambda pair: _PLACES.get(pair[0], 1))
    names = {name for name, _ in shown}
    if most and {"context", "text"} <= names and len(shown) > most:  # a context is looked at next to its chunk
        return [pair for place, pair in enumerate(shown) if place < most - 1 or pair[0] in ("context", "text")]
    return shown[:most] if most else shown
