"""`dataclass` as in the standard library, but for when its methods are made.

That one looks at each field three times and compiles five methods of a frozen class when the class is made, most of
which no run calls: that was half of what a tiny dataset takes, and a quarter of `ragdata report`. Here a class is made
with what its fields are called, ``__init__`` is compiled when many values are made, and the other methods are functions
over the names of the fields, which take up to twice as long (0.3 µs). What `fields`, `replace` and the like ask is made
by the standard library when they ask. It also makes classes that have other bases or class variables.
A long module, as it is one thing: half of what the standard library's does.
"""

from __future__ import annotations

import dataclasses
import sys
from _thread import get_ident
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        *,
        frozen: bool = False,
        slots: bool = False,
        kw_only: bool = False,
        eq: bool = True,
        repr: bool = True,  # noqa: A002
    ) -> Callable[[type], type]:
        """The decorator of the standard library; of its options those that are used here."""

        def decorate(cls: type) -> type:
            kinds = " ".join(map(str, cls.__annotations__.values()))  # to ask each takes several times as long
            if "InitVar" in kinds and not all(
                "InitVar" not in str(k) or _is_passed(k) for k in cls.__annotations__.values()
            ):
                return dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, repr=repr)(cls)
            is_plain = "ClassVar" not in kinds and "KW_ONLY" not in kinds
            return _finished(cls, is_plain, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, repr=repr)

        return decorate


def _is_passed(kind: Any) -> bool:
    """Whether a field is none, but passed to ``__post_init__``."""
    return isinstance(kind, str) and kind.startswith("InitVar[")


def _passed(given: list[Any]) -> list[str]:
    """The names of those of these fields that are none, but passed to ``__post_init__``."""
    return [each.name for each in given if _is_passed(each.type)]


def _finished(cls: type, is_plain: bool, *, frozen: bool, slots: bool, kw_only: bool, eq: bool, repr: bool) -> type:  # noqa: A002
    options = {"frozen": frozen, "slots": slots, "kw_only": kw_only, "eq": eq, "repr": repr}
    kinds = cls.__annotations__
    given = _fields_of(cls, kinds, options) if is_plain else None
    if given is None:
        made: Any = _made_by_library(cls, options, is_plain)
        for name, method in _methods(made, list(dataclasses.fields(made)), options).items():
            setattr(made, name, method)
        return made  # type: ignore[no-any-return]
    made = _made_quickly(cls, given, options)
    _GIVEN[made] = given, frozen
    return made  # type: ignore[no-any-return]


def _methods(cls: type, given: list[Any], options: dict[str, bool]) -> dict[str, Any]:
    """The methods of a class with these fields that it does not have itself."""
    initializer = _Initializer(given, options["frozen"])
    methods: dict[str, Any] = {"__init__": initializer}
    if initializer.passed:
        given = [each for each in given if each.name not in initializer.passed]
    own, names = cls.__dict__, [each.name for each in given]
    if options["repr"]:
        methods["__repr__"] = _representation([each.name for each in given if each.repr])
    values = _values([each.name for each in given if each.compare])
    if options["eq"]:
        methods["__eq__"] = _equality(values)
    if options["frozen"]:
        methods |= _refusals(names) | (_state(names) if options["slots"] else {})
    methods = {name: method for name, method in methods.items() if name not in own}
    if options["eq"] and own.get("__hash__") is None:  # so it is, too, where the class has only an equality of its own
        methods["__hash__"] = _hash(values) if options["frozen"] else None
    return methods


_OF_A_CLASS = {"__dict__", "__weakref__"}
_GIVEN: WeakKeyDictionary[type, tuple[list[Any], bool]] = WeakKeyDictionary()
"""The fields of each class that was made quickly, and whether it is frozen."""


def _fields_of(cls: type, kinds: dict[str, Any], options: dict[str, bool]) -> list[Any] | None:
    """The fields of a class; None where the standard library has to look: at bases that are not made here or are frozen
    where it is not, and at defaults that can be changed."""
    found: dict[str, Any] = {}
    for base in cls.__mro__[-2:0:-1]:
        fields, frozen = _GIVEN.get(base, ((), None))
        if frozen is not options["frozen"]:
            return None
        found |= {each.name: each for each in fields}
    for name, kind in kinds.items():
        value = cls.__dict__.get(name, dataclasses.MISSING)
        if value.__class__.__hash__ is None:
            return None
        one: Any = value if isinstance(value, dataclasses.Field) else dataclasses.field(default=value)
        one.name, one.type = name, kind
        if one.kw_only is dataclasses.MISSING:
            one.kw_only = options["kw_only"]
        found[name] = one
    return list(found.values())


def _made_quickly(cls: Any, given: list[Any], options: dict[str, bool]) -> Any:
    """The class, with slots for its fields or their defaults."""
    body = {"__replace__": dataclasses.replace, **_methods(cls, given, options)}
    if "__match_args__" not in cls.__dict__:
        body["__match_args__"] = tuple(each.name for each in given if each.init and not each.kw_only)
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        body[name] = _Description(name, given, options)
    if options["slots"]:  # it is made anew, at once with its methods: to put them in later takes several times as long
        taken = {each.name for each in given} | _OF_A_CLASS
        left = {name: value for name, value in cls.__dict__.items() if name not in taken}
        known = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
        passed = _passed(given)
        slots = tuple(each.name for each in given if each.name not in known and each.name not in passed)
        for each in given if passed else ():
            if each.name in passed and each.default is not dataclasses.MISSING:
                body[each.name] = each.default
        made = type(cls)(cls.__name__, cls.__bases__, {**left, **body, "__slots__": slots})
        made.__qualname__ = cls.__qualname__
        return made
    for each in given:
        if each.name in cls.__dict__:
            if each.default is dataclasses.MISSING:
                delattr(cls, each.name)
            else:
                setattr(cls, each.name, each.default)
    for name, value in body.items():
        setattr(cls, name, value)
    return cls


def _made_by_library(cls: type, options: dict[str, bool], is_plain: bool) -> Any:
    """The class as the standard library makes it, without methods."""
    is_bare = cls.__doc__ is None
    if is_bare:
        cls.__doc__ = cls.__name__  # or it would be given a signature, which takes as long as all the rest
    # Whether frozen and other classes are mixed, the standard library finds out; only where there are bases.
    derived = any(hasattr(base, "__dataclass_params__") for base in cls.__bases__)
    kinds = cls.__annotations__
    if is_plain:  # or each is looked at three times for what it may stand for, a quarter of all this
        cls.__annotations__ = dict.fromkeys(kinds, object)
    without = {"init": False, "repr": False, "eq": False, "frozen": options["frozen"] and derived}
    made: Any = dataclasses.dataclass(**(options | without))(cls)
    if is_plain:
        made.__annotations__ = kinds
        for name, kind in kinds.items():
            made.__dataclass_fields__[name].type = kind
    if is_bare:
        made.__doc__ = None
    params = made.__dataclass_params__
    params.init, params.repr, params.eq, params.frozen = True, *(options[each] for each in ("repr", "eq", "frozen"))
    return made


def _having(cls: type, name: str, value: Any) -> Any:
    """The class, of those that one is derived from, which has this itself."""
    return next((each for each in cls.__mro__ if each.__dict__.get(name) is value), cls)


class _Description:
    """Stands for what the standard library knows of a class until it is asked for."""

    __slots__ = ("_given", "_name", "_options")

    def __init__(self, name: str, given: list[Any], options: dict[str, bool]) -> None:
        self._name, self._given, self._options = name, given, options

    def __get__(self, instance: object, owner: type) -> Any:
        cls = _having(owner, self._name, self)
        kinds = {each.name: each.type for each in self._given}
        if self._name == "__dataclass_fields__" and not _passed(self._given):  # what `replace` asks, too
            for each in self._given:
                each._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
            cls.__dataclass_fields__ = {each.name: each for each in self._given}
            return cls.__dataclass_fields__
        like = type(cls.__name__, (), {each.name: each for each in self._given})
        like.__annotations__, like.__module__ = kinds, cls.__module__
        like = _made_by_library(like, self._options, is_plain=not any(map(_is_passed, kinds.values())))
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            setattr(cls, name, getattr(like, name))
        return getattr(cls, self._name)


_MADE: Any = type("_Made", (), {"__repr__": lambda self: "<factory>"})()
"""The default of a parameter whose value is made for each object."""


class _Initializer:
    """Stands for ``__init__`` until many values were made; the first ones it fills itself."""

    __slots__ = ("_calls", "_frozen", "_given", "_plan", "passed")

    def __init__(self, given: list[Any], frozen: bool) -> None:
        self._given, self._frozen, self._calls = given, frozen, 0
        self._plan: Any = None
        self.passed = _passed(given)

    def __get__(self, instance: object, owner: type) -> Any:
        self._calls += 1
        if instance is None or self._calls > _MANY:
            cls = _having(owner, "__init__", self)
            cls.__init__ = function = _initializer(cls, self._given, self._frozen)
            return function.__get__(instance, owner)
        return partial(self._fill, instance)

    def _planned(self) -> Any:
        """The names of all fields that have a value, of those that may be given, of those by their place; usual values;
        and what makes the others."""
        made = {e.name: e.default_factory for e in self._given if e.default_factory is not dataclasses.MISSING}
        usual = {e.name: e.default for e in self._given if e.default is not dataclasses.MISSING}
        names = [e.name for e in self._given if e.init or e.name in usual or e.name in made]
        may_be_given = {e.name for e in self._given if e.init}
        return names, may_be_given, [e.name for e in self._given if e.init and not e.kw_only], usual, made

    def _fill(self, made: Any, /, *values: Any, **named: Any) -> None:
        self._plan = self._plan or self._planned()
        names, may_be_given, by_place, usual, factories = self._plan
        placed = dict(zip(by_place, values, strict=False)) if values else {}
        found = {**usual, **placed, **named}
        for name, factory in factories.items():
            if name not in found:
                found[name] = factory()
        is_sound = len(placed) == len(values) and named.keys() <= may_be_given and placed.keys().isdisjoint(named)
        if not is_sound or len(found) < len(names):
            cls = _having(type(made), "__init__", self)
            _initializer(cls, self._given, self._frozen)(made, *values, **named)  # which says what is wrong
            return
        put = object.__setattr__ if self._frozen else setattr
        for name in names:
            if name not in self.passed:
                put(made, name, found[name])
        if hasattr(made, "__post_init__"):
            made.__post_init__(*(found[name] for name in names if name in self.passed))


_MANY = 64
"""Values from which on it pays to compile the initializer of a class (0.4 ms)."""


def _initializer(cls: Any, given_fields: list[Any], frozen: bool) -> Any:
    given: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    known: dict[str, Any] = {"_made": _MADE, "_set": object.__setattr__}
    passed = _passed(given_fields)
    for each in given_fields:
        name, value = each.name, each.name
        has_factory = each.default_factory is not dataclasses.MISSING
        has_default = has_factory or each.default is not dataclasses.MISSING
        if not each.init and not has_default:
            continue
        known[f"_of_{name}"] = each.default_factory if has_factory else each.default
        if not each.init:
            value = f"_of_{name}()" if has_factory else f"_of_{name}"
        else:
            default = ("=_made" if has_factory else f"=_of_{name}") if has_default else ""
            (by_name if each.kw_only else given).append(name + default)
            if has_factory:
                value = f"_of_{name}() if {name} is _made else {name}"
        if name not in passed:
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(f"self.__post_init__({', '.join(passed)})")
    words = ", ".join(["self", *given, *(["*", *by_name] if by_name else [])])
    body = "".join(f"  {line}\n" for line in lines or ["pass"])
    text = f"def make({', '.join(known)}):\n def __init__({words}):\n{body} return __init__"
    made: dict[str, Any] = {}
    exec(text, sys.modules[cls.__module__].__dict__, made)  # noqa: S102 - as the standard library does
    function = made["make"](**known)
    function.__qualname__ = f"{cls.__qualname__}.__init__"
    taken = {each.name: each.type for each in given_fields if each.init}
    function.__annotations__ = {**taken, "return": None}
    return function


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What takes the values of these fields out of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda made: (getattr(made, names[0]),)) if names else lambda made: ()


def _equality(values: Callable[[Any], tuple[Any, ...]]) -> Any:
    def __eq__(self: Any, other: Any) -> bool:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Any:
    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


_SHOWN: set[tuple[int, int]] = set()
"""Objects of which a representation is being made, each with the thread that makes it: they may hold themselves."""


def _representation(names: list[str]) -> Any:
    def __repr__(self: Any) -> str:  # noqa: N807
        key = id(self), get_ident()
        if key in _SHOWN:
            return "..."
        _SHOWN.add(key)
        try:
            return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"
        finally:
            _SHOWN.discard(key)

    return __repr__


def _refusals(names: list[str]) -> dict[str, Any]:
    """What freezes the fields."""

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        cls = _having(type(self), "__setattr__", __setattr__)
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        cls = _having(type(self), "__delattr__", __delattr__)
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state(names: list[str]) -> dict[str, Any]:
    """What pickles a frozen object with slots."""

    def __getstate__(self: Any) -> list[Any]:  # noqa: N807
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:  # noqa: N807
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}
