"""Ids that are written otherwise: gold that names `doc-7` or `007` where the corpus has `7`, and gold whose numbers are
shifted against those of the corpus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ragdatakit.schemas.search.gold_patterns import ShiftedIds
from ragdatakit.schemas.search.id_spellings import ENDINGS, loosened, without_ending

_DIGITS = "0123456789"
_NUMBERED = re.compile(r"(.*?)(\d{1,18})(\D*)", re.DOTALL)
_LONGEST_ENDING = -1 - max(map(len, ENDINGS))
_DIGIT = re.compile(r"\d")
_MOST_ENDS, _LONGEST = 8, 512
"""Ends of an id that are looked at, and characters of one beyond which it is not."""
_FEW, _SHARE, _OF_JUDGED, _FIRST = 5, 0.5, 0.2, 10
"""Questions whose gold has to be shifted alike, their share of those whose gold is not among so many first results, and
of all."""
_Pair = tuple[str, str]


def alike_ids(missing: Collection[str], there: Iterable[str]) -> dict[str, str]:
    """By missing id the one that is there and the same when both are loosened (`loosened`): in small letters, without
    punctuation and leading zeros; or of which one is the end of the other, as `doc-7` and `7`, or the name of a file
    without its ending. None where several are, or where it is that of several."""
    wanted = {name: loose for name in missing if len(name) <= _LONGEST and (loose := loosened(name))}
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
    return _likely({name: next(iter(names)) for name, names in found.items() if len(names) == 1}, len(missing))


def _by_the_end(lasts: Collection[str]) -> Callable[[str], bool]:
    """What says, quickly, that an id may end in one of these words and numbers, as two that are alike end in one, or be
    a number or a file's name with such an end; few others are loosened then."""
    letters = {last[-1] for last in lasts}

    def may_be(name: str) -> bool:
        if len(name) > _LONGEST:
            return False
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
    """The last words, the last two, and so on, a few of them, with no number before them: `12-0` does not mean `0`."""
    number = _DIGIT.search(loose)
    place = loose.rfind(" ", 0, number.start() if number else len(loose))
    for _ in range(_MOST_ENDS):
        if place < 0:
            return
        yield loose[place + 1 :]
        place = loose.rfind(" ", 0, place)


def _likely(found: dict[str, str], missing: int) -> dict[str, str]:
    """Without ids that are claimed for several, of which one at most is right; and without numbers that only letters
    are before (`x12` and `12`), where that is not so of most of the ids that are missing."""
    claimed = Counter(found.values())
    found = {name: other for name, other in found.items() if claimed[other] == 1}
    letters = {name: before for name, other in found.items() if (before := _before_number(name, other)) is not None}
    of_most = {before for before, count in Counter(letters.values()).items() if before and 2 * count > missing}
    return {name: other for name, other in found.items() if name not in letters or letters[name] in of_most}


def _before_number(name: str, other: str) -> str | None:
    """The letters that one id has right before the number with which the other begins; empty where there is more before
    them, None where no letter is."""
    longer, shorter = sorted((loosened(name), loosened(other)), key=len, reverse=True)
    if longer == shorter or not longer.endswith(f" {shorter}"):
        return None
    rest = longer.removesuffix(shorter).split()
    pattern = r"[\W_]*" + r"[\W_]+".join(map(re.escape, rest)) + r"\d"
    if not any(re.match(pattern, each.casefold()) for each in (name, other)):
        return None
    return rest[0] if len(rest) == 1 and rest[0].isalpha() else ""


def shifted_ids(
    found: Iterable[tuple[Sequence[str], Sequence[str]]], near: Callable[[Sequence[_Pair]], Collection[_Pair]]
) -> ShiftedIds | None:
    """That the gold of most questions that miss theirs has the number of the passage found first, and the same added to
    it, as `c8` for `c7`; None where it is not so.

    ``found`` has the gold of each judged question with what is found, best first. Where a question has several gold,
    all of it has to be shifted against what is found. One whose gold is among the first results does not count, nor
    one whose gold has nearly the text of what is found first, as ``near`` says of pairs of the two: that one is just
    ranked otherwise.
    """
    shifts: dict[int, list[_Pair]] = {}
    judged = missed = 0
    for gold, ranked in found:
        judged += 1
        first = ranked[:_FIRST]
        missed += set(gold).isdisjoint(first)
        for shift, target in _shifts(gold, first).items():
            shifts.setdefault(shift, []).append((target, first[0]))
    shift, pairs = max(shifts.items(), key=lambda one: len(one[1]), default=(0, []))
    least = max(_SHARE * missed, _OF_JUDGED * judged)
    if len(pairs) < _FEW or len(pairs) <= least:
        return None
    same = near(pairs)
    pairs = [pair for pair in pairs if pair not in same]
    if len(pairs) < _FEW or len(pairs) <= least:
        return None
    return ShiftedIds(shift, len(pairs), judged, *pairs[0])


def _shifts(gold: Sequence[str], first: Sequence[str]) -> dict[int, str]:
    """By how much all gold may be shifted against what is found first, each with the gold that is so against the very
    first."""
    if not first or not set(gold).isdisjoint(first):
        return {}
    of_first = {shift: target for target in gold if (shift := _shift(target, first[0]))}
    return {
        shift: target
        for shift, target in of_first.items()
        if len(gold) == 1 or all(any(_shift(each, name) == shift for name in first) for each in gold)
    }


def _shift(target: str, first: str) -> int:
    """How much the number in one id is above that in the other; 0 where they differ in more than that."""
    one, other = _NUMBERED.fullmatch(target), _NUMBERED.fullmatch(first)
    if one is None or other is None or (one[1], one[3]) != (other[1], other[3]):
        return 0
    return int(one[2]) - int(other[2])
