"""Named tuples made quickly behave as those of `typing`."""

from __future__ import annotations

import pickle
import typing
from typing import Any, get_type_hints

import pytest

from ragdatakit import quick_values


class Theirs(typing.NamedTuple):
    """Two fields."""

    first: int
    second: str | None = None

    def both(self) -> str:
        return f"{self.first} {self.second}"

    @property
    def twice(self) -> int:
        return 2 * self.first

    @classmethod
    def nothing(cls) -> Any:
        return cls(0)


class Ours(quick_values.NamedTuple):
    """Two fields."""

    first: int
    second: str | None = None

    def both(self) -> str:
        return f"{self.first} {self.second}"

    @property
    def twice(self) -> int:
        return 2 * self.first

    @classmethod
    def nothing(cls) -> Any:
        return cls(0)


def test_a_class_is_described_alike() -> None:
    assert Ours._fields == Theirs._fields and Ours._field_defaults == Theirs._field_defaults
    assert get_type_hints(Ours) == get_type_hints(Theirs) == {"first": int, "second": str | None}
    assert (Ours.__doc__, Ours.__module__, Ours.__qualname__) == (Theirs.__doc__, Theirs.__module__, "Ours")
    assert Ours.__mro__[1:] == Theirs.__mro__[1:] == (tuple, object)


def test_values_behave_alike() -> None:
    for kind in (Ours, Theirs):
        value = kind(3, second="x")
        assert value == (3, "x") and value == kind(first=3, second="x") and hash(value) == hash((3, "x"))
        assert (value.both(), value.twice, kind.nothing()) == ("3 x", 6, (0, None))
        assert value._replace(first=4)._asdict() == {"first": 4, "second": "x"}
        assert repr(value) == f"{kind.__name__}(first=3, second='x')"
        assert type(pickle.loads(pickle.dumps(value))) is kind
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(AttributeError):
            value.first = 4  # type: ignore[misc]
        with pytest.raises(AttributeError):
            value.third = 4  # type: ignore[attr-defined]
