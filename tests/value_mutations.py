"""Sound records of nested values, and what may befall them: a value gone, twice, moved, or another one."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

from tests.block_mutations import TOKENS

ODD = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        0.5,
        2,
        7,
        1e300,
        2**60,
        10000,
        "",
        " ",
        "\n",
        "a",
        "the",
        "tide",
        "é",
        "漢字\u3000",
    ),
    *([], {}, [[]], ["tide"], ["a", "a"], [None], {"id": "t1"}, {"text": "tide"}, [{"text": "tide"}], [1], "\ud800"),
)


def damaged_value(value: Any, rng: Random, times: int) -> Any:
    """The value with some of what is in it changed."""
    if times and isinstance(value, str):
        return deepcopy(
            rng.choice((value[rng.randrange(4) :], value[:9], value.replace(":", rng.choice((" :", "", "::"))), *ODD))
        )
    value = deepcopy(value)
    for _ in range(times):
        places = _places(value)
        own = [place for place in places if place[0] is value]
        holder, key = rng.choice(own if rng.random() < 0.5 else places)
        other, its = rng.choice(places)
        how = rng.randrange(7)
        if how == 0:
            del holder[key]
        elif how == 1:
            holder[key] = deepcopy(rng.choice(ODD))  # which the next change may be made in
        elif how == 2:
            holder[key] = deepcopy(other[its])
        elif how == 3 and isinstance(holder, list):
            holder.insert(key, deepcopy(holder[key]))
        elif how == 3:
            holder[rng.choice(("tide", "custom_tide", "custom_", f"{key}s"))] = holder[key]
        elif how == 4 and isinstance(holder[key], str):
            holder[key] += rng.choice((" ", "x", "\n", '"', "é"))
        elif how == 4 and isinstance(holder[key], int | float):
            holder[key] = rng.choice((holder[key] + 1, -holder[key], holder[key] * 1.001, str(holder[key])))
        elif how == 5 and isinstance(holder, list):
            rng.shuffle(holder)
        elif how == 6 and isinstance(holder[key], list | dict):
            holder[key] = [] if isinstance(holder[key], list) else {}
        if not value:
            break
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        found.append((value, key))
        found += _places(value[key])
    return found


def line_of(value: Any, rng: Random) -> bytes:
    """A value as one of the ways of writing JSON has it."""
    separators = rng.choice(((", ", ": "), (", ", ": "), (",", ":")))
    text = json.dumps(value, ensure_ascii=rng.random() < 0.4, separators=separators)
    return text.encode("utf-8", "surrogatepass")


def damaged_line(line: bytes, rng: Random) -> bytes:
    """The line with a token in it, or a few bytes gone."""
    at = rng.randrange(len(line))
    return line[:at] + (rng.choice(TOKENS) + line[at:] if rng.random() < 0.5 else line[at + rng.randrange(1, 5) :])
