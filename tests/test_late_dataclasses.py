"""Classes of our own decorator behave as those of the standard library: each is made by both, and compared."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import InitVar, field
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from ragdatakit import late_dataclasses

OPTIONS: list[dict[str, bool]] = [
    {},
    {"slots": True},
    {"slots": True, "repr": False},
    {"slots": True, "eq": False},
    {"slots": True, "kw_only": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "kw_only": True},
    {"frozen": True, "slots": True, "kw_only": True},
]
both = pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(o) or "plain")
Made = tuple[Any, Any]


def made_twice(define: Callable[[Callable[..., Any]], Any], **options: bool) -> Made:
    """The class as our decorator makes it, and as the standard library does."""
    return define(late_dataclasses.dataclass(**options)), define(dataclasses.dataclass(**options))


def _all_kinds(decorate: Callable[..., Any]) -> Any:
    @decorate
    class Kinds:
        """With every kind of field."""

        plain: int
        listed: list[int] = field(default_factory=list)
        unseen: str = field(default="u", repr=False)
        uncompared: str = field(default="c", compare=False)
        named: float = field(default=1.5, kw_only=True)
        ours: int = field(default=7, init=False)
        LIMIT: "ClassVar[int]" = 3

        def twice(self) -> int:
            return 2 * self.plain

    return Kinds


def _written(decorate: Callable[..., Any]) -> Any:
    @decorate
    class Written:  # noqa: PLW1641 - which the decorator is to find out
        value: str
        other: str = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "other", self.value.upper())

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

    return Written


def _bare(decorate: Callable[..., Any]) -> Any:
    @decorate
    class Bare:
        pass

    return Bare


def _one(decorate: Callable[..., Any]) -> Any:
    @decorate
    class One:
        value: float

    return One


def _given(decorate: Callable[..., Any]) -> Any:
    @decorate
    class Given:
        first: InitVar[str] = field(default="x", kw_only=False)
        second: str = ""

        def __post_init__(self, first: str) -> None:
            object.__setattr__(self, "second", first)

    return Given


def _passed(decorate: Callable[..., Any]) -> Any:
    @decorate
    class Passed:
        first: "InitVar[str]" = field(default="x", kw_only=False)
        more: "InitVar[int | None]" = field(default=None, kw_only=False)
        second: str = ""
        third: list[int] = field(default_factory=list)

        def __post_init__(self, first: str, more: int | None) -> None:
            if first:
                object.__setattr__(self, "second", f"{first} {more}")

    return Passed


class _Plain:
    __slots__ = ("kept",)
    value: int = 3

    def twice(self) -> Any:
        return 2 * self.value


def _based(decorate: Callable[..., Any]) -> Any:
    @decorate
    class Based(_Plain):
        value: int
        kept: str = "k"
        other: int = 5

    return Based


_Kind = TypeVar("_Kind")


def _generic(decorate: Callable[..., Any]) -> Any:
    @decorate
    class Generic_(Generic[_Kind]):  # noqa: N801
        value: _Kind
        other: int = 5

    return Generic_


def _counted(decorate: Callable[..., Any]) -> Any:
    @decorate
    class Counted:
        LIMIT: "ClassVar[int]" = 3
        value: int
        names: "ClassVar[tuple[str, ...]]" = ()
        other: "int" = 5

        def twice(self) -> int:
            return 2 * self.LIMIT + len(self.names)

    return Counted


@both
@pytest.mark.parametrize("define", [_based, _generic, _counted])
def test_classes_that_are_no_dataclasses_have_no_fields(define: Callable[..., Any], options: dict[str, bool]) -> None:
    seen = []
    for kind in made_twice(define, **options):
        value, other = kind(value=4), kind(value=4, other=6)
        seen.append((
            str(inspect.signature(kind)),
            kind.__mro__[1:],
            getattr(kind, "__slots__", ()),
            getattr(kind, "__parameters__", ()),
            (value == other, value == kind(value=4), value.value, getattr(value, "twice", None) and value.twice()),
            dataclasses.asdict(dataclasses.replace(other, value=5)),
            _outcome(lambda value=value: setattr(value, "value", 5)),
            _outcome(lambda value=value: hash(value)),
            _outcome(lambda kind=kind: kind()),
        ))  # fmt: skip

    assert seen[0] == seen[1]


@both
@pytest.mark.parametrize("define", [_all_kinds, _written, _bare, _one, _given, _passed, _based, _generic, _counted])
def test_a_class_is_described_alike(define: Callable[..., Any], options: dict[str, bool]) -> None:
    ours, theirs = made_twice(define, **options)

    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__doc__ == theirs.__doc__ or ours.__doc__ is None
    assert ours.__match_args__ == theirs.__match_args__
    assert getattr(ours, "__slots__", ()) == getattr(theirs, "__slots__", ())
    assert repr(dataclasses.fields(ours)) == repr(dataclasses.fields(theirs))
    assert repr(ours.__dataclass_params__) == repr(theirs.__dataclass_params__)
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    assert {n for n in vars(theirs) if n.startswith("__")} - set(vars(ours)) == set()
    assert ours.__init__.__qualname__ == theirs.__init__.__qualname__
    assert str(ours.__init__.__annotations__) == str(theirs.__init__.__annotations__)


@both
def test_values_behave_alike(options: dict[str, bool]) -> None:
    seen = []
    for kind in made_twice(_all_kinds, **options):
        value, other = kind(plain=4), kind(plain=4, listed=[1], unseen="a", uncompared="b", named=2.0)
        like = kind(plain=4, uncompared="else")
        seen.append((
            repr(value).startswith(kind.__qualname__) and repr(value),
            (value == like, value == other, value == 4, value != like),
            value.listed is not like.listed,
            (value.twice(), kind.LIMIT, value.ours),
            dataclasses.asdict(dataclasses.replace(other, plain=5)),
            copy.copy(other) == other,
            _outcome(lambda value=value: setattr(value, "plain", 5)),
            _outcome(lambda value=value: delattr(value, "plain")),
            _outcome(lambda value=value: hash(value)),
            _outcome(lambda kind=kind: kind()),
            _outcome(lambda kind=kind: kind(plain=1, more=2)),
        ))  # fmt: skip

    if options.get("repr", True):
        assert seen[0] == seen[1]
    assert seen[0][1:] == seen[1][1:]


def _outcome(act: Callable[[], object]) -> str:
    """The error that it ends in, by name and text."""
    try:
        act()
    except (TypeError, AttributeError) as error:
        return f"{type(error).__name__} {error}"
    return "done"


@both
def test_what_a_class_says_itself_is_kept(options: dict[str, bool]) -> None:
    ours, theirs = made_twice(_written, **options)

    assert repr(ours(value="a")) == "mine" and ours(value="a").other == "A"
    assert ours(value="a") == 5
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)


@both
def test_values_of_a_call_alone(options: dict[str, bool]) -> None:
    ours, _ = made_twice(_given, **options)
    bare, _ = made_twice(_bare, **options)

    assert ours("given").second == "given"
    assert bare().__class__ is bare


def test_equal_values_have_one_hash() -> None:
    ours, theirs = made_twice(_all_kinds, frozen=True)
    one, _ = made_twice(_one, frozen=True)
    values = [kind(plain=1, listed=(2,), uncompared=text) for text in "ab" for kind in (ours, theirs)]

    assert len({hash(each) for each in values}) == 1
    nan = float("nan")
    assert one(nan) == one(nan)  # as tuples are, which look whether it is the same object first


@late_dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """One that can be pickled by its name."""

    value: object
    other: int = 0


def test_frozen_values_with_slots_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept("x", 4))) == Kept("x", 4)
    assert copy.deepcopy(Kept([1], 2)) == Kept([1], 2)


def test_a_value_within_itself_is_printed() -> None:
    within: list[object] = []
    value = Kept(within)
    within.append(value)

    assert repr(value) == "Kept(value=[...], other=0)"


def test_classes_that_are_derived() -> None:
    def derived(base: dict[str, bool], **options: bool) -> Any:
        def define(library: Callable[..., Any]) -> Any:
            class First:
                one: int = 1

            class Second(library(**base)(First)):  # type: ignore[misc]
                two: int = 2

            return library(**options)(Second)

        return [_outcome(partial(define, each)) for each in (late_dataclasses.dataclass, dataclasses.dataclass)]

    for base in ({}, {"frozen": True}):
        for own in ({}, {"frozen": True}):
            ours, theirs = derived(base, **own)
            assert ours == theirs, (base, own)


@both
def test_a_class_derived_from_one_of_the_standard_library(options: dict[str, bool]) -> None:
    def derived(decorate: Callable[..., Any]) -> Any:
        @dataclasses.dataclass(frozen="frozen" in options, kw_only=True)
        class First:
            given: InitVar[int]
            value: int = 1

        @decorate
        class Second(First):
            more: "InitVar[int]"
            other: int = 2

            def __post_init__(self, *given: int) -> None:
                object.__setattr__(self, "value", given)

        return Second

    ours, theirs = (cls(given=3, more=4, other=5) for cls in made_twice(derived, **options))

    assert (ours.value, ours.other) == (theirs.value, theirs.other) == ((3, 4), 5)
    assert list(map(str, dataclasses.fields(ours))) == list(map(str, dataclasses.fields(theirs)))


@both
def test_the_initializer_is_compiled_when_many_values_are_made(options: dict[str, bool]) -> None:
    ours, _ = made_twice(_all_kinds, **options)
    first = dataclasses.asdict(ours(plain=4, named=2.0))
    assert not inspect.isfunction(vars(ours)["__init__"])

    class Further(ours):
        pass

    for _ in range(100):
        last = Further(plain=4, named=2.0)

    assert inspect.isfunction(vars(ours)["__init__"])
    assert dataclasses.asdict(last) == first
    if options.get("frozen"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            last.plain = 5


@both
@pytest.mark.parametrize("number", [2, 100], ids=["few", "many"])
def test_what_is_passed_is_no_field(options: dict[str, bool], number: int) -> None:
    ours, theirs = (
        [
            *(cls("a", 3) for _ in range(number)),
            *(cls(), cls(first="", second="b"), cls("c", more=4, third=[1])),
            *(dataclasses.replace(cls("d"), third=[2]), copy.copy(cls("e"))),
        ]
        for cls in made_twice(_passed, **options)
    )

    told = ("first", "more", "second", "third")
    assert [[getattr(one, name) for name in told] for one in ours] == [[getattr(o, n) for n in told] for o in theirs]
    assert options.get("repr") is False or list(map(repr, ours)) == list(map(repr, theirs))
    assert [one == ours[0] for one in ours] == [other == theirs[0] for other in theirs]
    with pytest.raises(TypeError):
        type(ours[0])("a", 1, first="b")
