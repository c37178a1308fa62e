"""Names and ids that nothing else has: the one that is wanted, or that with a number."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence


class FreeNames:
    """Gives each name once. ``form`` puts a number behind one that is taken, from 2 on; names that ``folded`` makes
    equal are one name; those in ``taken``, which may grow, are not given.

    Where 40,000 records have the same id, counting from 2 again for each of them takes minutes, so the last number
    that a name got is kept.
    """

    def __init__(
        self, taken: Container[str] = (), form: str = "{}-{}", folded: Callable[[str], str] | None = None
    ) -> None:
        self._taken, self._form, self._folded = taken, form, folded
        self._given: set[str] = set()
        self._numbers: dict[str, int] = {}

    def takes_all(self, wanted: Sequence[str]) -> bool:
        """Whether all of these are free and different; they are taken from now on. Only where names are not folded."""
        new = {*wanted}
        if len(new) < len(wanted) or not self._given.isdisjoint(new) or any(map(self._taken.__contains__, new)):
            return False
        self._given |= new
        return True

    def __call__(self, wanted: str) -> str:
        """A free name, which is taken from now on."""
        name, number = wanted, self._numbers.get(wanted, 1)
        while (key := self._folded(name) if self._folded else name) in self._given or key in self._taken:
            number += 1
            name = self._form.format(wanted, number)
        self._given.add(key)
        if number > 1:
            self._numbers[wanted] = number
        return name
