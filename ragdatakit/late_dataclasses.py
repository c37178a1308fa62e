"""`dataclass` as in the standard library, but for when its methods are made.

That one looks at each field three times and compiles five methods of a frozen class when the class is made, most of
which no run calls: that was half of what a tiny dataset takes, and a quarter of `ragdata report`. Here a class is made
with what its fields are called, ``__init__`` is compiled when many values are made, and the other methods are functions
over the names of the fields, which take up to twice as long (0.3 µs). What `fields`, `replace` and the like ask is made
by the standard library when they ask. It also makes classes that are derived from its own, and other rare ones.
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

        options = {"frozen": frozen, "slots": slots, "kw_only": kw_only, "eq": eq, "repr": repr}

        def decorate(cls: type) -> type:
            kinds = " ".join(map(str, cls.__annotations__.values()))  # to ask each takes several times as long
            if "InitVar" in kinds and not _are_plain("InitVar", cls):
                return dataclasses.dataclass(**options)(cls)
            return _finished(cls, kinds, options)

        return decorate


def _is_passed(kind: Any) -> bool:
    """Whether a field is none, but passed to ``__post_init__``."""
    return isinstance(kind, str) and kind.startswith("InitVar[")


def _are_plain(mark: str, cls: type) -> bool:
    """Whether all types that have this mark are texts that begin with it."""
    kinds = cls.__annotations__.values()
    return not any(mark in str(kind) and not (isinstance(kind, str) and kind.startswith(f"{mark}[")) for kind in kinds)


class _Plan:
    """What is known of the fields of a class: ``kinds`` and ``values``, its own annotations and what it has of these
    names, and ``bases``, the plans of what it is derived from, the nearest last. All else is made when it is asked:
    ``given``, the fields as the standard library has them, with those that are none; ``passed``, the names of these;
    ``names``, those of the others; ``shown``, those of them in a representation; and ``compared``, what takes the
    values out of an object that make it equal to another one."""

    __slots__ = ("bases", "compared", "given", "kinds", "names", "options", "passed", "shown", "values")
    given: list[Any]

    def __init__(
        self, kinds: dict[str, Any], values: dict[str, Any], bases: list[Any], options: dict[str, bool]
    ) -> None:
        self.kinds, self.values, self.bases, self.options = kinds, values, bases, options

    def __getattr__(self, name: str) -> Any:  # of a slot that holds nothing yet
        made = getattr(type(self), f"_{name}_of")(self)
        setattr(self, name, made)
        return made

    def _given_of(self) -> list[Any]:
        found = {each.name: each for base in self.bases for each in base.given}
        for name, kind in self.kinds.items():
            value = self.values.get(name, dataclasses.MISSING)
            one: Any = value if isinstance(value, dataclasses.Field) else dataclasses.field(default=value)
            one.name, one.type = name, kind
            if one.kw_only is dataclasses.MISSING:
                one.kw_only = self.options["kw_only"]
            found[name] = one
        return list(found.values())

    def _passed_of(self) -> list[str]:
        return [each.name for each in self.given if _is_passed(each.type)]

    def _names_of(self) -> list[str]:
        return [each.name for each in self.given if each.name not in self.passed]

    def _shown_of(self) -> list[str]:
        return [each.name for each in self.given if each.repr and each.name not in self.passed]

    def _compared_of(self) -> Callable[[Any], tuple[Any, ...]]:
        names = [each.name for each in self.given if each.compare and each.name not in self.passed]
        if len(names) > 1:
            return attrgetter(*names)
        return (lambda made: (getattr(made, names[0]),)) if names else lambda made: ()


def _finished(cls: Any, kinds: str, options: dict[str, bool]) -> type:
    is_plain = "ClassVar" not in kinds and "KW_ONLY" not in kinds
    known = is_plain or ("KW_ONLY" not in kinds and _are_plain("ClassVar", cls))
    plan = _plan_of(cls, options, is_plain) if known else None
    if plan is None:
        return dataclasses.dataclass(**options)(cls)
    return _made_quickly(cls, plan, "InitVar" in kinds)  # type: ignore[no-any-return]


BECOMES = "__becomes__"
"""What a class calls the one that its values are of once their fields are set."""
_PLAN = "__dataclass_plan__"
"""What a class that was made quickly calls its plan."""


def _plan_of(cls: Any, options: dict[str, bool], is_plain: bool) -> _Plan | None:
    """The plan of a class, all of whose annotations are fields where it ``is_plain``; None where the standard library
    has to look: at bases that are not made here or are frozen where it is not, and at defaults that can be changed."""
    bases, kinds, own = [], cls.__annotations__, cls.__dict__
    if not is_plain:
        kinds = {name: kind for name, kind in kinds.items() if not str(kind).startswith("ClassVar[")}
    for base in cls.__mro__[-2:0:-1]:
        if "__dataclass_fields__" not in base.__dict__ and not any(hasattr(base, name) for name in kinds):
            continue  # no fields are taken from it, and no defaults
        plan = base.__dict__.get(_PLAN)
        if plan is None or plan.options["frozen"] is not options["frozen"]:
            return None
        bases.append(plan)
    values = {name: own[name] for name in kinds if name in own}
    if any(value.__class__.__hash__ is None for value in values.values()):
        return None
    return _Plan(kinds, values, bases, options)


def _made_quickly(cls: Any, plan: _Plan, passes: bool) -> Any:
    """The class, with slots for its fields or their defaults; ``passes``: some of these may be none."""
    body = {**_OF_ALL, _PLAN: plan, **_methods(cls, plan)}
    if "__match_args__" in cls.__dict__:
        del body["__match_args__"]
    if not plan.options["slots"]:
        for name, value in plan.values.items():
            if isinstance(value, dataclasses.Field):
                if value.default is dataclasses.MISSING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, value.default)
        for name, value in body.items():
            setattr(cls, name, value)
        return cls
    # It is made anew, at once with its methods: to put them in later takes several times as long.
    left = dict(cls.__dict__)
    for name in (*_OF_A_CLASS, *plan.values, *(name for base in plan.bases for name in base.kinds)):
        left.pop(name, None)
    known = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    if passes:
        known.update(plan.passed)
        defaults = {each.name: each.default for each in plan.given if each.name in plan.passed}
        left |= {name: value for name, value in defaults.items() if value is not dataclasses.MISSING}
    left["__slots__"] = tuple(name for name in plan.kinds if name not in known)
    left["__qualname__"] = cls.__qualname__
    return type(cls)(cls.__name__, cls.__bases__, left | body)


def _methods(cls: type, plan: _Plan) -> dict[str, Any]:
    """The methods of a class with these fields that it does not have itself."""
    options, made, own = plan.options, _functions(plan), cls.__dict__
    names = ["__init__"]
    if options["repr"]:
        names.append("__repr__")
    if options["eq"]:
        names.append("__eq__")
    if options["frozen"]:
        names += ("__setattr__", "__delattr__", "__getstate__", "__setstate__")[: 4 if options["slots"] else 2]
    methods = {name: made[name] for name in names if name not in own}
    if options["eq"] and own.get("__hash__") is None:  # so it is, too, where the class has only an equality of its own
        methods["__hash__"] = made["__hash__"] if options["frozen"] else None
    return methods


def _functions(plan: _Plan) -> dict[str, Any]:
    """All methods that a class may be given, by name."""

    def __repr__(self: Any) -> str:  # noqa: N807
        key = id(self), get_ident()
        if key in _SHOWN:
            return "..."
        _SHOWN.add(key)
        try:
            return (
                f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in plan.shown)})"
            )
        finally:
            _SHOWN.discard(key)

    def __eq__(self: Any, other: Any) -> bool:  # noqa: N807
        return plan.compared(self) == plan.compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(plan.compared(self))

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        cls = _having(type(self), "__setattr__", __setattr__)
        if type(self) is cls or name in plan.names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        cls = _having(type(self), "__delattr__", __delattr__)
        if type(self) is cls or name in plan.names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    def __getstate__(self: Any) -> list[Any]:  # noqa: N807
        return [getattr(self, name) for name in plan.names]

    def __setstate__(self: Any, state: list[Any]) -> None:  # noqa: N807
        for name, value in zip(plan.names, state, strict=True):
            object.__setattr__(self, name, value)

    return {**locals(), "__init__": _Initializer(plan)}


_OF_A_CLASS = ("__dict__", "__weakref__")
_SHOWN: set[tuple[int, int]] = set()
"""Objects of which a representation is being made, each with the thread that makes it: they may hold themselves."""


def _made_by_library(cls: type, plan: _Plan) -> Any:
    """A class of these fields as the standard library makes it, without methods."""
    kinds = {each.name: each.type for each in plan.given}
    like = type(cls.__name__, (), {each.name: each for each in plan.given})
    like.__doc__ = cls.__name__  # or it would be given a signature, which takes as long as all the rest
    # Without those, each type is looked at three times for what it may stand for, a quarter of all this.
    like.__annotations__, like.__module__ = kinds if plan.passed else dict.fromkeys(kinds, object), cls.__module__
    made: Any = dataclasses.dataclass(**(plan.options | dict.fromkeys(("init", "repr", "eq", "frozen"), False)))(like)
    for name, kind in kinds.items():
        made.__dataclass_fields__[name].type = kind
    params = made.__dataclass_params__
    params.init = True
    for name in ("repr", "eq", "frozen"):
        setattr(params, name, plan.options[name])
    return made


def _having(cls: type, name: str, value: Any) -> Any:
    """The class, of those that one is derived from, which has this itself."""
    return next((each for each in cls.__mro__ if each.__dict__.get(name) is value), cls)


class _Description:
    """Stands for what the standard library knows of a class until it is asked for."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        cls = _having(owner, self._name, self)
        plan: _Plan = cls.__dict__[_PLAN]
        if self._name == "__match_args__":
            setattr(cls, self._name, tuple(each.name for each in plan.given if each.init and not each.kw_only))
        elif self._name == "__dataclass_fields__" and not plan.passed:  # what `replace` asks, too
            for each in plan.given:
                each._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
            cls.__dataclass_fields__ = {each.name: each for each in plan.given}
        else:
            like = _made_by_library(cls, plan)
            for name in ("__dataclass_fields__", "__dataclass_params__"):
                setattr(cls, name, getattr(like, name))
        return getattr(cls, self._name)


_DESCRIBED = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")
_OF_ALL = {"__replace__": dataclasses.replace, **{name: _Description(name) for name in _DESCRIBED}}
"""What is the same in all classes that are made quickly."""

_MADE: Any = type("_Made", (), {"__repr__": lambda self: "<factory>"})()
"""The default of a parameter whose value is made for each object."""


class _Initializer:
    """Stands for ``__init__`` until many values were made; the first ones it fills itself."""

    __slots__ = ("_calls", "_parts", "_plan")

    def __init__(self, plan: _Plan) -> None:
        self._plan, self._calls = plan, 0
        self._parts: Any = None

    def __get__(self, instance: object, owner: type) -> Any:
        self._calls += 1
        if instance is None or self._calls > _MANY:
            cls = _having(owner, "__init__", self)
            cls.__init__ = function = _initializer(cls, self._plan)
            return function.__get__(instance, owner)
        return partial(self._fill, instance)

    def _taken_apart(self) -> Any:
        """The names of all fields that have a value, of those that may be given, of those by their place; usual values;
        and what makes the others."""
        given = self._plan.given
        made = {e.name: e.default_factory for e in given if e.default_factory is not dataclasses.MISSING}
        usual = {e.name: e.default for e in given if e.default is not dataclasses.MISSING}
        names = [e.name for e in given if e.init or e.name in usual or e.name in made]
        may_be_given = {e.name for e in given if e.init}
        return names, may_be_given, [e.name for e in given if e.init and not e.kw_only], usual, made

    def _fill(self, made: Any, /, *values: Any, **named: Any) -> None:
        self._parts = self._parts or self._taken_apart()
        names, may_be_given, by_place, usual, factories = self._parts
        placed = dict(zip(by_place, values, strict=False)) if values else {}
        found = {**usual, **placed, **named}
        for name, factory in factories.items():
            if name not in found:
                found[name] = factory()
        is_sound = len(placed) == len(values) and named.keys() <= may_be_given and placed.keys().isdisjoint(named)
        if not is_sound or len(found) < len(names):
            cls = _having(type(made), "__init__", self)
            _initializer(cls, self._plan)(made, *values, **named)  # which says what is wrong
            return
        put = object.__setattr__ if self._plan.options["frozen"] else setattr
        passed = self._plan.passed
        for name in names:
            if name not in passed:
                put(made, name, found[name])
        if hasattr(made, "__post_init__"):
            made.__post_init__(*(found[name] for name in names if name in passed))
        if BECOMES in type(made).__dict__:
            made.__class__ = type(made).__dict__[BECOMES]


_MANY = 64
"""Values from which on it pays to compile the initializer of a class (0.4 ms)."""


def _initializer(cls: Any, plan: _Plan) -> Any:
    given: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    known: dict[str, Any] = {"_made": _MADE, "_set": object.__setattr__}
    passed, frozen = plan.passed, plan.options["frozen"]
    for each in plan.given:
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
    if BECOMES in cls.__dict__:
        known["_kind"] = cls.__dict__[BECOMES]
        lines.append("self.__class__ = _kind")
    words = ", ".join(["self", *given, *(["*", *by_name] if by_name else [])])
    body = "".join(f"  {line}\n" for line in lines or ["pass"])
    text = f"def make({', '.join(known)}):\n def __init__({words}):\n{body} return __init__"
    made: dict[str, Any] = {}
    exec(text, sys.modules[cls.__module__].__dict__, made)  # noqa: S102 - as the standard library does
    function = made["make"](**known)
    function.__qualname__ = f"{cls.__qualname__}.__init__"
    taken = {each.name: each.type for each in plan.given if each.init}
    function.__annotations__ = {**taken, "return": None}
    return function
