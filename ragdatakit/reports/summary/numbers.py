"""Distributions and frequencies: of numbers in arrays, and of what a query gives."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.arrays.codes import counted
from ragdatakit.schemas.summaries import Bin, Distribution, Frequencies
from ragdatakit.schemas.texts import shortened

if TYPE_CHECKING:
    import duckdb
    import numpy.typing as npt

QUANTILES = (5, 25, 50, 75, 95, 99)
MOST_VALUES = 20
_MOST_BINS = 20
_MOST_DOUBLED = 63
_GREATEST = sys.float_info.max
_SKEWED = 8
_LONGEST_VALUE = 200


def of_query(
    connection: duckdb.DuckDBPyConnection, query: str, name: str, title: str, unit: str, by: str | None = None
) -> Distribution | None:
    """The distribution of the numbers in the first column of a query; None where it gives none.

    NULL and what is no finite number do not count.
    """
    grouped = f"""
        select value::double as value, count(*) as count from ({query}) given(value)
        where value is not null and isfinite(value::double) group by 1 order by 1
    """
    found = connection.execute(grouped).fetchnumpy()
    return of_counts(np.asarray(found["value"]), np.asarray(found["count"]), name, title, unit, by)


def of_numbers(
    values: npt.NDArray[Any], name: str, title: str, unit: str, by: str | None = None
) -> Distribution | None:
    """The distribution of the numbers in an array; None where it is empty."""
    distinct, counts = counted(values)
    if (zeros := distinct == 0).any():
        distinct[zeros] = values[(values == 0).argmax()]  # of 0.0 and -0.0 the first one
    return of_counts(distinct, counts, name, title, unit, by)


def of_counted_numbers(counts: Mapping[float, int], name: str, title: str, unit: str) -> Distribution | None:
    """The same of numbers and how often each occurs; what is not finite does not count."""
    found = sorted((value, count) for value, count in counts.items() if math.isfinite(value))
    values, numbers = zip(*found, strict=True) if found else ((), ())
    return of_counts(np.array(values), np.array(numbers), name, title, unit)


def of_counts(
    values: npt.NDArray[Any], counts: npt.NDArray[Any], name: str, title: str, unit: str, by: str | None = None
) -> Distribution | None:
    """The distribution of numbers that are given once each, in ascending order, and how often each occurs."""
    if not len(values):
        return None
    values = values.astype(np.float64)
    counts = counts.astype(np.int64)
    until = np.cumsum(counts)
    total = int(until[-1])
    quantiles = {q: _quantile(values, until, q / 100) for q in QUANTILES}
    logarithmic = _is_skewed(values, quantiles)
    edges = _growing(float(values[-1])) if logarithmic else _even(values)
    return Distribution(
        name,
        title,
        unit,
        total,
        float(values[0]),
        float(values[-1]),
        _mean(values, counts, total),
        quantiles,
        _bins(values, until, edges),
        logarithmic,
        by,
    )


def _mean(values: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], total: int) -> float:
    with np.errstate(over="ignore"):
        mean = float((values * counts).sum() / total)
    return mean if math.isfinite(mean) else float((values / total * counts).sum())


def _quantile(values: npt.NDArray[np.float64], until: npt.NDArray[np.int64], share: float) -> float:
    """Between the two values about that place, in proportion."""
    place = (int(until[-1]) - 1) * share
    low = float(values[np.searchsorted(until, math.floor(place), "right")])
    high = float(values[np.searchsorted(until, math.ceil(place), "right")])
    part = place - math.floor(place)
    if math.isfinite(high - low):
        return low + (high - low) * part
    return low * (1 - part) + high * part


def _is_skewed(values: npt.NDArray[np.float64], quantiles: dict[int, float]) -> bool:
    """Whether most values are so small beside the greatest that even bins would show one bar."""
    least, most = float(values[0]), float(values[-1])
    return least >= 0 and most > _MOST_BINS and most > _SKEWED * max(quantiles[75], 1)


def _growing(most: float) -> list[float]:
    """Edges that double: 0, 1, 2, 4 and so on; that grow by more where they would be more than 64."""
    factor = 2.0 ** -(-math.frexp(most)[1] // _MOST_DOUBLED)
    edges = [0.0, 1.0]
    while edges[-1] <= most and edges[-1] < _GREATEST:
        edges.append(min(edges[-1] * factor, _GREATEST))
    return edges


def _even(values: npt.NDArray[np.float64]) -> list[float]:
    """Edges at round numbers, so that there are at most 20 bins; a bin for each integer where these are few."""
    least, most = float(values[0]), float(values[-1])
    whole = bool((values == values.round()).all()) and abs(most) < 1 << 53 and abs(least) < 1 << 53
    if whole and most - least < _MOST_BINS:
        return [least + n for n in range(int(most - least) + 2)]
    spread = most - least
    step = _round_up(spread / _MOST_BINS if math.isfinite(spread) else most / _MOST_BINS - least / _MOST_BINS)
    if whole:
        step = max(1.0, step)
    if not step or least + step == least or most - step == most:
        return [least, most]  # one value, or values with no round number between them
    first = math.floor(least / step)
    number = math.floor(most / step) - first + 1
    return [max(-_GREATEST, min((first + n) * step, _GREATEST)) for n in range(number + 1)]


def _round_up(number: float) -> float:
    """The next of 1, 2, 2.5 and 5 times a power of ten; 0 where there is none that is as small."""
    power = 10.0 ** math.floor(math.log10(number)) if number > 0 else 0.0
    return next((power * factor for factor in (1, 2, 2.5, 5, 10, 20) if power * factor >= number > 0), 0.0)


def _bins(values: npt.NDArray[np.float64], until: npt.NDArray[np.int64], edges: Sequence[float]) -> tuple[Bin, ...]:
    before = np.concatenate(([0], until))
    places = np.searchsorted(values, edges, "left")
    places[0], places[-1] = 0, len(values)
    counts = np.diff(before[places])
    found = [Bin(low, high, int(n)) for low, high, n in zip(edges, edges[1:], counts, strict=False)]
    while len(found) > 1 and not found[0].count:
        del found[0]
    while len(found) > 1 and not found[-1].count:
        del found[-1]
    return tuple(found)


def frequencies(
    connection: duckdb.DuckDBPyConnection, query: str, name: str, title: str, most: int = MOST_VALUES
) -> Frequencies | None:
    """How often each value of the first column of a query occurs, as text; None where it gives none. NULL is left out.

    Of values that occur equally often the smaller text comes first.
    """
    grouped = f"""
        with counted as (
            select value::varchar as value, count(*) as count from ({query}) given(value)
            where value is not null group by 1
        )
        select value, count, count(*) over (), sum(count) over () from counted order by count desc, value limit {most}
    """
    return from_rows(connection.execute(grouped).fetchall(), name, title)


def of_counted(counts: Mapping[str, int], name: str, title: str) -> Frequencies | None:
    """The same of texts and how often each occurs."""
    most = nsmallest(MOST_VALUES, counts.items(), key=lambda pair: (-pair[1], pair[0].encode()))
    total = sum(counts.values())
    return from_rows([(value, count, len(counts), total) for value, count in most], name, title)


def from_rows(rows: Sequence[tuple[Any, ...]], name: str, title: str) -> Frequencies | None:
    """Frequencies of rows of value, count, number of distinct values and sum of all counts."""
    if not rows:
        return None
    values = tuple((shortened(str(value), _LONGEST_VALUE), int(count)) for value, count, _, _ in rows)
    return Frequencies(name, title, values, int(rows[0][2]), int(rows[0][3]) - sum(count for _, count in values))
