"""The numbers that refining leaves in a SAGE record: two lengths and their ratio."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.sage.stages import Stage, is_finite

_NUMBERS = ("original_length", "refined_length", "compression_ratio")
TOLERANCE = 0.005
_ROUNDING = 1e-9  # 0.125 - 0.12 is a little more than 0.005


def refining_problems(stage: Stage, for_operators: bool) -> Iterator[Problem]:
    """The faults of the numbers of each refined text; ``for_operators``: today's operators are to read them, too."""
    objects = 0
    first = -1
    incomplete = unit_reported = False
    for i, element in enumerate(stage.results or ()):
        if not isinstance(element, dict):
            continue
        objects += 1
        first = i if first < 0 else first
        if not _are_usual(*map(element.get, _NUMBERS)):
            present = [name for name in _NUMBERS if name in element]
            if not present:
                continue
            if len(present) < len(_NUMBERS) and not incomplete:
                incomplete = True
                absent = [name for name in _NUMBERS if name not in element]
                facts = {"field": f"refining_results[{i}]", "present": ", ".join(present), "absent": ", ".join(absent)}
                yield Problem("incomplete-compression-numbers", f"/refining_results/{i}", element, facts)
            yield from _number_problems(i, element)
        if not unit_reported and (unit := _unit(element)):
            unit_reported = True
            yield _at("unit-of-lengths", i, "refined_length", element["refined_length"], unit=unit)
    if objects and for_operators:
        where = {"field": f"refining_results[{first}]", "count": objects}
        yield Problem("refined-as-object", f"/refining_results/{first}", (stage.results or ())[first], where)


def _are_usual(original: Any, refined: Any, ratio: Any) -> bool:
    """Whether the numbers are in order at first sight, as most are."""
    if type(original) is not int or type(refined) is not int or type(ratio) is not float:
        return False
    return 0 <= refined <= original != 0 and ratio >= 0 and abs(ratio - refined / original) <= TOLERANCE


def _at(rule: str, i: int, key: str, value: Any, **facts: Any) -> Problem:
    return Problem(rule, f"/refining_results/{i}/{key}", value, {"field": f"refining_results[{i}].{key}", **facts})


def _number_problems(i: int, element: dict[str, Any]) -> Iterator[Problem]:
    lengths: dict[str, int] = {}
    for key in _NUMBERS[:2]:
        value = element.get(key)
        if type(value) is int and value >= 0:
            lengths[key] = value
        elif key in element:
            yield _at("length-not-count", i, key, value)
    original, refined = lengths.get("original_length"), lengths.get("refined_length")
    if original is not None and refined is not None and refined > original:
        yield _at("refined-text-grew", i, "refined_length", refined, original=original)
    if "compression_ratio" not in element:
        return
    ratio = element["compression_ratio"]
    if not is_finite(ratio) or ratio < 0:
        yield _at("ratio-not-number", i, "compression_ratio", ratio)
    elif original == 0:
        yield _at("ratio-of-nothing", i, "compression_ratio", ratio)
    elif original is not None and refined is not None:
        yield from _ratio_problems(i, ratio, original, refined)


def _ratio_problems(i: int, ratio: float, original: int, refined: int) -> Iterator[Problem]:
    expected = _divided(refined, original)
    if abs(ratio - expected) <= TOLERANCE:
        return
    tolerance = max(TOLERANCE, _half_a_digit(ratio)) + _ROUNDING
    if abs(ratio - expected) <= tolerance:
        return
    inverted = ratio > 1 and refined > 0 and abs(ratio - _divided(original, refined)) <= tolerance
    rule = "inverted-compression-ratio" if inverted else "wrong-compression-ratio"
    facts = {"original": original, "refined": refined, "ratio": f"{expected:.3g}"}
    yield _at(rule, i, "compression_ratio", ratio, **facts)


def _divided(one: int, other: int) -> float:
    try:
        return one / other
    except OverflowError:
        return float("inf")


def _half_a_digit(value: float) -> float:
    """Half a unit of the last digit that a number is written with."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    return 0.5 * 10.0**exponent if isinstance(exponent, int) and exponent < 300 else 0.5


def _unit(element: dict[str, Any]) -> str:
    """Which unit of the text its refined_length counts, if that can be known."""
    text, length = element.get("text"), element.get("refined_length")
    if not isinstance(text, str) or type(length) is not int:
        return ""
    if length == len(text):
        return "characters"
    return "words" if 2 * length <= len(text) + 1 and length == len(text.split()) else ""
