"""Charts as inline SVG, each with its numbers as text below and as a table behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ragdatakit.reports.html_parts import Cell, bar, cut, details, escape, number, short_number, table
from ragdatakit.reports.summary_words import percent, rest_words, rows_counted
from ragdatakit.schemas.summaries import Distribution, Frequencies

_TOP, _BASE, _STRIP, _HEIGHT = 18, 112, 117, 144
_MOST_LABELS = 4
_MOST_VALUES = 15


def histogram(one: Distribution, identity: str) -> str:
    """A distribution: bars, below them where the middle of the values lies, and the table behind."""
    if not one.bins or not one.count:
        return ""
    scale = ", logarithmic" if one.logarithmic else ""
    by = f' <span class="by">{escape(one.unit)}{scale}{_by(one)}</span>'
    title = f'<figcaption id="{escape(identity)}">{escape(one.title)}{by}</figcaption>'
    described = f"{escape(identity)}-readout"
    svg = (
        f'<svg class="chart" role="img" tabindex="0" width="100%" height="{_HEIGHT}" '
        f'aria-labelledby="{escape(identity)}" aria-describedby="{described}">{_bars(one)}{_spread(one)}'
        f"{_axis(one)}</svg>"
    )
    readout = f'<p class="readout" id="{described}" aria-live="polite">{escape(_in_words(one))}</p>'
    return f"<figure>{title}{svg}{readout}{details('As a table', _histogram_table(one))}</figure>"


def constants(found: Iterable[Distribution]) -> str:
    """Distributions that have one value only: a row of a table each."""
    rows = [
        (Cell(f'{escape(d.title)} <span class="muted">{escape(d.unit)}{_by(d)}</span>'), d.minimum, d.count)
        for d in found
    ]
    return table("Always the same", ("number", "value", "rows"), rows) if rows else ""


def _by(one: Distribution) -> str:
    return f" · {_text(one.by)}" if one.by is not None else ""


def _in_words(one: Distribution) -> str:
    low, middle, high = (one.quantiles.get(q) for q in (5, 50, 95))
    words = f"Median {number(middle)}, mean {number(one.mean)}" if middle is not None else f"Mean {number(one.mean)}"
    if low is not None and high is not None:
        words += f", 90\u2009% from {number(low)} to {number(high)}"
    return f"{words}; all from {number(one.minimum)} to {number(one.maximum)} {one.unit}"


def _bars(one: Distribution) -> str:
    top = max(b.count for b in one.bins) or 1
    slot = 100 / len(one.bins)
    gap = min(slot * 0.12, 0.6)
    out = []
    for ordinal, b in enumerate(one.bins):
        height = max((_BASE - _TOP) * b.count / top, 1.5) if b.count else 0
        value = f"{_range(one, ordinal)} {one.unit}: {b.count:,} ({percent(b.count, one.count)})"
        out.append(
            f'<g data-value="{escape(value)}">'
            f'<rect class="hit" x="{ordinal * slot:.3f}%" width="{slot:.3f}%" height="{_BASE}"></rect>'
            f'<rect class="bin" x="{ordinal * slot + gap / 2:.3f}%" y="{_BASE - height:.1f}" '
            f'width="{slot - gap:.3f}%" height="{height:.1f}"></rect><title>{escape(value)}</title></g>'
        )
    highest = max(range(len(one.bins)), key=lambda n: one.bins[n].count)
    centre = (highest + 0.5) * slot
    label = f'<text x="{centre:.2f}%" y="{_TOP - 5}" text-anchor="{_anchor(centre)}">{short_number(top)}</text>'
    return "".join(out) + label + f'<line class="base" x2="100%" y1="{_BASE}" y2="{_BASE}"></line>'


def _anchor(place: float) -> str:
    return "start" if place < 8 else "end" if place > 92 else "middle"


def _spread(one: Distribution) -> str:
    """A strip: from the 5th to the 95th per cent of the values, the middle half, the median."""
    places = {q: _place(one, v) for q, v in one.quantiles.items()}
    if not {5, 25, 50, 75, 95} <= places.keys():
        return ""
    spans = ((5, 95, "spread", 0.4), (25, 75, "middle", 0.4))
    drawn = "".join(
        f'<rect class="{name}" x="{places[low]:.2f}%" y="{_STRIP}" '
        f'width="{max(places[high] - places[low], least):.2f}%" height="5" rx="1"></rect>'
        for low, high, name, least in spans
    )
    return drawn + f'<rect class="median" x="{places[50]:.2f}%" y="{_STRIP - 2}" width="2" height="9"></rect>'


def _one_by_one(one: Distribution) -> bool:
    """Whether each bar stands for one whole number."""
    whole = all(b.high - b.low == 1 and b.low == int(b.low) for b in one.bins)
    return whole and one.maximum == one.bins[-1].low


def _place(one: Distribution, value: float) -> float:
    """Where a value lies along the axis, in per cent; every bar is as wide as the others."""
    bins = one.bins
    shift = 0.5 if _one_by_one(one) else 0.0
    for ordinal, b in enumerate(bins):
        if value < b.high or ordinal == len(bins) - 1:
            part = (value - b.low) / (b.high - b.low) if b.high > b.low else 0.5
            return 100 * min(max(ordinal + min(max(part, 0.0), 1.0) + shift, 0.0), len(bins)) / len(bins)
    return 0.0


def _axis(one: Distribution) -> str:
    bins, count = one.bins, len(one.bins)
    if _one_by_one(one):
        step = math.ceil(count / (2 * _MOST_LABELS))
        places = [(100 * (n + 0.5) / count, bins[n].low) for n in range(0, count, step)]
    else:
        step = math.ceil(count / _MOST_LABELS)
        edges = [b.low for b in bins] + [bins[-1].high]
        places = [(100 * n / count, edges[n]) for n in range(0, count, step) if n + step * 0.6 < count]
        places.append((100.0, edges[-1]))
    return "".join(
        f'<text x="{place:.2f}%" y="{_HEIGHT - 6}" text-anchor="{_side(place)}">{short_number(value)}</text>'
        for place, value in places
    )


def _side(place: float) -> str:
    return "start" if place == 0 else "end" if place == 100 else "middle"


def _range(one: Distribution, ordinal: int) -> str:
    """The values of a bar; where whole numbers are counted one by one, the number."""
    b = one.bins[ordinal]
    last = ordinal == len(one.bins) - 1
    if b.low == b.high or (not last and b.high - b.low == 1 and b.low == int(b.low)) or _one_by_one(one):
        return number(b.low)
    return f"{number(b.low)} to {'' if last else 'below '}{number(b.high)}"


def _histogram_table(one: Distribution) -> str:
    values: list[tuple[str, float]] = [("smallest", one.minimum)]
    values += [(f"{q} % are at most", v) for q, v in sorted(one.quantiles.items())]
    values += [("largest", one.maximum), ("mean", one.mean)]
    rows = ((_range(one, n), b.count, Cell(percent(b.count, one.count), numeric=True)) for n, b in enumerate(one.bins))
    return table(f"{one.title}: how many", (one.unit, "count", "share"), rows, hidden_caption=True) + table(
        f"{one.title}: the values", ("", one.unit), values, hidden_caption=True
    )


def frequencies(one: Frequencies) -> str:
    """The most frequent values of a column, as a table with bars in it."""
    whole = rows_counted(one)
    listed = one.values[:_MOST_VALUES]
    shown = bar_table(one.title, ("value", "count", "share"), listed, whole)
    rest = rest_words(one, len(listed))
    more = f'<p class="small muted">And {escape(rest)}</p>' if rest else ""
    return f"<figure>{shown}{more}</figure>"


def single_values(found: Iterable[Frequencies]) -> str:
    """Columns that have one value only: a row of a table each."""
    rows = [(f.title, Cell(_text(value)), count) for f in found for value, count in f.values[:1]]
    return table("One value only", ("column", "value", "rows"), rows) if rows else ""


def bar_table(
    caption: str, columns: tuple[str, str, str], rows: Iterable[tuple[str, int]], whole: float, *, shares: bool = True
) -> str:
    """Values with their counts, and a bar for each. ``whole`` is what the full width means."""
    listed = list(rows)
    most = max((count for _, count in listed), default=0)
    cells = (
        (
            Cell(_text(value)),
            count,
            *([Cell(percent(count, whole), numeric=True)] if shares else []),
            Cell(bar(count, most)),
        )
        for value, count in listed
    )
    heads = [*columns[: 3 if shares else 2], ""]
    return table(caption, heads, cells, classes="bars")


def _text(value: str) -> str:
    if not value:
        return '<span class="empty">empty</span>'
    return f"<bdi>{escape(cut(value, 120))}</bdi>"
