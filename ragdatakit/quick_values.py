"""Frozen values made quickly, where there are millions: a dataclass takes up to six times as long to make one.

And `NamedTuple` as in `typing`, which compiles the type of each field when a class is made, as thirty are for a report:
here that is left to whoever asks for the types.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.late_dataclasses import BECOMES, dataclass

__all__ = ["NamedTuple", "quick"]

Value = TypeVar("Value")


def quick(kind: type[Value], name: str) -> Callable[..., Value]:
    """What makes a value of a frozen dataclass with slots, given all of its fields; ``name`` is what it is called in
    the module of the class, by which values are unpickled.

    A frozen dataclass sets each field by a call that goes round what freezes it. Here they are set before it is frozen.
    """
    names = dict.fromkeys(kind.__dict__["__slots__"], object)
    body = {"__module__": kind.__module__, "__annotations__": names, BECOMES: kind}
    return dataclass(slots=True)(type(name, (), body))


if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _Named(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            kinds = body.get("__annotations__", {})
            defaults = [body.pop(field) for field in [*kinds] if field in body]
            made = namedtuple(name, kinds, defaults=defaults, module=body.pop("__module__"))  # noqa: PYI024
            made.__new__.__annotations__ = kinds
            for key, value in body.items():
                setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Named):
        """The base that a class names."""
