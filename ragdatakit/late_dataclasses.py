"""`dataclass` as in the standard library, but for when its methods are made.

That one compiles five methods of a frozen class when the class is made, most of which no run calls: that was two fifths
of what a tiny dataset takes, and a quarter of `ragdata report`. Here `__init__` is compiled when the first value is
made, and the others are functions over the names of the fields, which take up to twice as long (0.3 µs). Fields, slots,
`replace`, `fields` and what a type checker sees come from the standard library, which also makes classes with an
`InitVar`.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
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

        def decorate(cls: type) -> type:
            if any("InitVar" in str(kind) for kind in cls.__annotations__.values()):
                return dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, repr=repr)(cls)
            return _finished(cls, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, repr=repr)

        return decorate


def _finished(cls: type, *, frozen: bool, slots: bool, kw_only: bool, eq: bool, repr: bool) -> type:  # noqa: A002
    is_bare = cls.__doc__ is None
    if is_bare:
        cls.__doc__ = cls.__name__  # or it would be given a signature, which takes as long as all the rest
    # Whether frozen and other classes are mixed, the standard library finds out; only where there are bases.
    derived = any(hasattr(base, "__dataclass_params__") for base in cls.__bases__)
    kinds = cls.__annotations__
    is_plain = not any("ClassVar" in str(kind) or "KW_ONLY" in str(kind) for kind in kinds.values())
    if is_plain:  # or each is looked at three times for what it may stand for, a quarter of all this
        cls.__annotations__ = dict.fromkeys(kinds, object)
    made: Any = dataclasses.dataclass(
        init=False, repr=False, eq=False, frozen=frozen and derived, slots=slots, kw_only=kw_only
    )(cls)
    if is_plain:
        made.__annotations__ = kinds
        for name, kind in kinds.items():
            made.__dataclass_fields__[name].type = kind
    if is_bare:
        made.__doc__ = None
    params = made.__dataclass_params__
    params.init, params.repr, params.eq, params.frozen = True, repr, eq, frozen
    own, fields = made.__dict__, dataclasses.fields(made)
    names = [each.name for each in fields]
    methods: dict[str, Any] = {"__init__": _Initializer(made, frozen)}
    if repr:
        methods["__repr__"] = _representation([each.name for each in fields if each.repr])
    if eq:
        values = _values([each.name for each in fields if each.compare])
        methods["__eq__"] = _equality(values)
        if own.get("__hash__") is None:  # so it is, too, where the class has only an equality of its own
            made.__hash__ = _hash(values) if frozen else None
    if frozen:
        methods |= _refusals(made, frozenset(names)) | (_state(names) if slots else {})
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


class _Initializer:
    """Stands for ``__init__`` until it is asked for."""

    __slots__ = ("_cls", "_frozen")

    def __init__(self, cls: type, frozen: bool) -> None:
        self._cls = cls
        self._frozen = frozen

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        function = _initializer(self._cls, self._frozen)
        self._cls.__init__ = function  # type: ignore[misc]
        return function.__get__(instance, owner)


_MADE: Any = type("_Made", (), {"__repr__": lambda self: "<factory>"})()
"""The default of a parameter whose value is made for each object."""


def _initializer(cls: Any, frozen: bool) -> Any:
    given: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    known: dict[str, Any] = {"_made": _MADE, "_set": object.__setattr__}
    for each in dataclasses.fields(cls):
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
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    words = ", ".join(["self", *given, *(["*", *by_name] if by_name else [])])
    body = "".join(f"  {line}\n" for line in lines or ["pass"])
    text = f"def make({', '.join(known)}):\n def __init__({words}):\n{body} return __init__"
    made: dict[str, Any] = {}
    exec(text, sys.modules[cls.__module__].__dict__, made)  # noqa: S102 - as the standard library does
    function = made["make"](**known)
    function.__qualname__ = f"{cls.__qualname__}.__init__"
    taken = {each.name: each.type for each in dataclasses.fields(cls) if each.init}
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


def _representation(names: list[str]) -> Any:
    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _refusals(cls: Any, names: frozenset[str]) -> dict[str, Any]:
    """What freezes the fields."""

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
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
