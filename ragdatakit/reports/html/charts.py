"""Charts as inline SVG, each with its numbers as text below and as a table behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ragdatakit.reports.html.parts import (
    Cell,
    Linked,
    axis_numbers,
    bar,
    details,
    escape,
    linked_html,
    number,
    short_number,
    table,
)
from ragdatakit.reports.summary.words import labelled, percent, rest_words, rows_counted
from ragdatakit.schemas.summaries import Bin, Distribution, Frequencies
from ragdatakit.schemas.texts import shortened

_TOP, _BASE, _STRIP = 18, 112, 118
_LABELS, _UNIT, _HEIGHT = 139, 155, 160
_MOST_TICKS, _MOST_WHOLE = 5, 8
_LEAST_APART = 9.0
"""Per cent of the width between two ticks of a logarithmic axis: less than that and their numbers touch."""
_STEPS = (1, 2, 2.5, 5, 10)
_MOST_VALUES, _FEW_VALUES = 15, 5
_LITTLE = 0.2


def histogram(one: Distribution, identity: str) -> str:
    """A distribution: bars, below them where the middle of the values lies, and the table behind."""
    if not one.bins or not one.count:
        return ""
    title = f'<figcaption id="{escape(identity)}">{escape(one.title)}{_further(one)}</figcaption>'
    described = f"{escape(identity)}-readout"
    svg = (
        f'<svg class="chart" role="img" tabindex="0" width="100%" height="{_HEIGHT}" '
        f'aria-labelledby="{escape(identity)}" aria-describedby="{described}">{_bars(one)}{_spread(one)}'
        f"{_axis(one)}</svg>"
    )
    readout = f'<p class="readout" id="{described}" aria-live="polite">{escape(_in_words(one))}</p>'
    return f"<figure>{title}{svg}{readout}{details('As a table', _histogram_table(one))}</figure>"


def _further(one: Distribution) -> str:
    """What the title does not say: the unit, and which part of the rows it is."""
    parts = [] if one.title.lower().startswith(one.unit.lower()) else [escape(one.unit)]
    if one.by is not None:
        parts.append(_text(one.by))
    return f' <span class="by">{" · ".join(parts)}</span>' if parts else ""


def constants(found: Iterable[Distribution]) -> str:
    """Distributions that have one value only: a row of a table each."""
    rows = [(Cell(f"{escape(d.title)}{_further(d)}"), d.minimum, d.count) for d in found]
    return table("Always the same", ("number", "value", "rows"), rows) if rows else ""


def _in_words(one: Distribution) -> str:
    low, middle, high = (number(one.quantiles[q]) for q in (5, 50, 95))
    most = f"Median {middle}, mean {number(one.mean)}, 90\u2009% from {low} to {high}"
    return f"{most}; all from {number(one.minimum)} to {number(one.maximum)} {one.unit}"


def _bars(one: Distribution) -> str:
    top = max(b.count for b in one.bins) or 1
    slot = 100 / len(one.bins)
    gap = min(slot * 0.12, 0.6)
    out = []
    for ordinal, b in enumerate(one.bins):
        height = max((_BASE - _TOP) * b.count / top, 1.5) if b.count else 0
        values = _range(one, ordinal)
        unit = one.unit.removesuffix("s") if values == "1" else one.unit
        value = f"{values} {unit}: {b.count:,} ({percent(b.count, one.count)})"
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
    return "start" if place < 6 else "end" if place > 94 else "middle"


def _spread(one: Distribution) -> str:
    """A strip: from the 5th to the 95th per cent of the values, the middle half, the median."""
    places = {q: _place(one, v) for q, v in one.quantiles.items()}
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
            part = min(max(_part(one, b, value), 0.0), 1.0)
            return 100 * min(max(ordinal + part + shift, 0.0), len(bins)) / len(bins)
    return 0.0


def _part(one: Distribution, b: Bin, value: float) -> float:
    """How far a value lies into a bar."""
    if b.high <= b.low:
        return 0.5
    if one.logarithmic and b.low > 0 and value > 0:
        return math.log(value / b.low) / math.log(b.high / b.low)
    return (value - b.low) / (b.high - b.low)


def _axis(one: Distribution) -> str:
    """Ticks at round numbers, and what they count."""
    values = _ticks(one)
    drawn = []
    labels = list(map(short_number, values)) if one.logarithmic else axis_numbers(values)
    for value, words in zip(values, labels, strict=True):
        place = _place(one, value)
        drawn.append(
            f'<line class="tick" x1="{place:.2f}%" x2="{place:.2f}%" y1="{_BASE}" y2="{_BASE + 4}"></line>'
            f'<text x="{place:.2f}%" y="{_LABELS}" text-anchor="{_anchor(place)}">{words}</text>'
        )
    scale = ", logarithmic scale" if one.logarithmic else ""
    return (
        f'{"".join(drawn)}<text class="unit" x="50%" y="{_UNIT}" text-anchor="middle">{escape(one.unit)}{scale}</text>'
    )


def _ticks(one: Distribution) -> list[float]:
    low, high = one.bins[0].low, one.bins[-1].high
    if one.logarithmic:
        return _growing_ticks(one, low, high)
    if _one_by_one(one):
        high -= 1
        step = max(_round_step(high - low, _MOST_WHOLE), 1.0)
    else:
        step = _round_step(high - low, _MOST_TICKS)
    if all(b.low == int(b.low) for b in one.bins) and step != int(step):
        step = 5.0 if step > 1 else 1.0
    if not step or not math.isfinite(step):
        return [low]
    first = math.ceil(low / step - 1e-9)
    return [float(f"{n * step:.12g}") for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _round_step(span: float, most: int) -> float:
    """The least round step of which at most ``most`` fit into a span."""
    least = span / most
    if least <= 0 or not math.isfinite(least):
        return 0.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * factor for factor in _STEPS if power * factor >= least * (1 - 1e-9))


def _growing_ticks(one: Distribution, low: float, high: float) -> list[float]:
    """Powers of ten, with what is between them where they are few; none so near to another that they touch."""
    factors = (1, 2, 5) if high <= max(low, 1) * 40 else (1, 5) if high <= max(low, 1) * 1500 else (1,)
    first, last = math.floor(math.log10(max(low, 1))), math.ceil(math.log10(max(high, 1)))
    found = [0.0] if low <= 0 else []
    for exponent in range(first, last + 1):
        for factor in factors:
            value = float(factor * 10**exponent)
            near = found and _place(one, value) - _place(one, found[-1]) < _LEAST_APART
            if low <= value <= high and not near:
                found.append(value)
    return found


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
        f"{one.title}: the values", ("measure", one.unit), values, hidden_caption=True
    )


def frequencies(one: Frequencies, linked: Linked | None = None) -> str:
    """The most frequent values of a column, as a table with bars in it; ``linked`` leads to the rows with a value."""
    whole = rows_counted(one)
    listed = one.values[:_MOST_VALUES]
    if sum(count for _, count in listed) < _LITTLE * whole:
        listed = one.values[:_FEW_VALUES]  # nearly as many values as rows: a long list of them shows no more
    # A row has several keys: their shares of all keys would say nothing.
    keys = one.name.endswith(_KEYS)
    of, _, column = one.name.partition(".")
    labels = (
        (
            labelled(value, one.labels.get(value)),
            count,
            linked(of, column, value) if linked and value and not keys else "",
        )
        for value, count in listed
    )
    shown = bar_table(one.title, ("key" if keys else "value", "rows", "share"), labels, whole, shares=not keys)
    rest = rest_words(one, len(listed))
    more = f'<p class="small muted">And {escape(rest)}</p>' if rest else ""
    return f"<figure>{shown}{more}</figure>"


_KEYS = (".metadata", ".attributes")


def single_values(found: Iterable[Frequencies]) -> str:
    """Columns that have one value only: a row of a table each."""
    rows = [(f.title, Cell(_text(value)), count) for f in found for value, count in f.values[:1]]
    return table("One value only", ("what", "value", "rows"), rows) if rows else ""


def bar_table(
    caption: str,
    columns: tuple[str, str, str],
    rows: Iterable[tuple[str, int, str]],
    whole: float,
    *,
    shares: bool = True,
) -> str:
    """Values with their counts and where they lead (empty: nowhere), and a bar for each, the longest at full width.
    ``whole`` is what the shares are of."""
    listed = list(rows)
    most = max((count for _, count, _ in listed), default=0)
    cells = (
        (
            Cell(linked_html(_text(value), address)),
            count,
            *([Cell(percent(count, whole), numeric=True)] if shares else []),
            Cell(bar(count, most, track=False)),
        )
        for value, count, address in listed
    )
    heads = [*columns[: 3 if shares else 2], ""]
    return table(caption, heads, cells, classes="bars")


def _text(value: str) -> str:
    if not value:
        return '<span class="empty">empty</span>'
    return f"<bdi>{escape(shortened(value, 120))}</bdi>"
