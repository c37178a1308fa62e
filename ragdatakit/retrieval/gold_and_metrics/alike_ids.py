"""Ids that are written otherwise: gold that names `doc-7` or `007` where the corpus has `7`, and gold whose numbers are
shifted against those of the corpus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ragdatakit.schemas.search.id_spellings import ENDINGS, loosened, without_ending
from ragdatakit.schemas.search.shifted_ids import ShiftedIds

_DIGITS = "0123456789"
_NUMBERED = re.compile(r"(.*?)(\d{1,18})(\D*)", re.DOTALL)
_LONGEST_ENDING = -1 - max(map(len, ENDINGS))
_FEW, _SHARE = 5, 0.3
"""Questions, and the share of them, whose gold has to be shifted alike: by chance hardly two are."""


def alike_ids(missing: Collection[str], there: Iterable[str]) -> dict[str, str]:
    """By missing id the one that is there and the same when both are loosened (`loosened`): in small letters, without
    punctuation and leading zeros; or of which one is the end of the other, as `doc-7` and `7`, or the name of a file
    without its ending. None where several are."""
    wanted = {name: loose for name in missing if (loose := loosened(name))}
    if not wanted:
        return {}
    same: dict[str, set[str]] = {loose: set() for loose in wanted.values()}
    ends: dict[str, set[str]] = {loose: set() for loose in wanted.values()}
    shorter: dict[str, list[str]] = {}
    for name, loose in wanted.items():
        for end in (*_ends(loose), *_stem(name)):
            shorter.setdefault(end, []).append(loose)
    may_be = _by_the_end({loose.rpartition(" ")[2] for loose in (*same, *shorter)})
    for name in filter(may_be, there):
        loose = loosened(name)
        if loose in same:
            _put(same[loose], name)
        for longer in shorter.get(loose, ()):
            _put(ends[longer], name)
        for end in (*_ends(loose), *_stem(name)):
            if end in ends:
                _put(ends[end], name)
    found = {name: same[loose] or ends[loose] for name, loose in wanted.items()}
    return {name: next(iter(names)) for name, names in found.items() if len(names) == 1}


def _by_the_end(lasts: Collection[str]) -> Callable[[str], bool]:
    """What says, quickly, that an id may end in one of these words and numbers, as two that are alike end in one, or be
    a number or a file's name with such an end; few others are loosened then."""
    letters = {last[-1] for last in lasts}

    def may_be(name: str) -> bool:
        rest = name.rstrip(_DIGITS)
        if rest != name and not rest[-1:].isdigit():  # other digits are part of the number
            number = name[len(rest) :].lstrip("0")
            return (number or "0") in lasts or (not number and name.endswith(".0"))
        if "." in name[_LONGEST_ENDING:] and (stem := without_ending(name)) != name:
            return name[len(stem) + 1 :].lower() in lasts or may_be(stem)
        end = name[-1:]
        return not (end.isascii() and end.isalpha()) or end.lower() in letters

    return may_be


def _put(names: set[str], name: str) -> None:
    if len(names) < 2:  # as two are not one
        names.add(name)


def _stem(name: str) -> Iterator[str]:
    """The name of a file without its ending, loosened."""
    stem = without_ending(name)
    if stem != name and (loose := loosened(stem)):
        yield loose


def _ends(loose: str) -> Iterator[str]:
    """The last words, the last two, and so on; not all of them."""
    place = loose.rfind(" ")
    while place >= 0:
        yield loose[place + 1 :]
        place = loose.rfind(" ", 0, place)


def shifted_ids(found: Iterable[tuple[Sequence[str], str]]) -> ShiftedIds | None:
    """That the gold of many questions has the number of the passage found first, and the same added to it, as `c8`
    for `c7`; None where it is not so. ``found`` has the gold of each judged question with what is found first."""
    shifts: Counter[int] = Counter()
    examples: dict[int, tuple[str, str]] = {}
    judged = 0
    for gold, first in found:
        judged += 1
        if first in gold:
            continue
        of_question = {shift: target for target in gold if (shift := _shift(target, first))}
        shifts.update(of_question.keys())
        for shift, target in of_question.items():
            examples.setdefault(shift, (target, first))
    for shift, count in shifts.most_common(1):
        if count >= max(_FEW, _SHARE * judged):
            return ShiftedIds(shift, count, judged, *examples[shift])
    return None


def _shift(target: str, first: str) -> int:
    """How much the number in one id is above that in the other; 0 where they differ in more than that."""
    one, other = _NUMBERED.fullmatch(target), _NUMBERED.fullmatch(first)
    if one is None or other is None or (one[1], one[3]) != (other[1], other[3]):
        return 0
    return int(one[2]) - int(other[2])
