"""Functions that take the fields of an options value as keywords: names, types and defaults are written once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from ragdatakit.schemas.options import Options
from ragdatakit.stopping import is_the_command

_Given = ParamSpec("_Given")
_Options_co = TypeVar("_Options_co", covariant=True)
_First_contra = TypeVar("_First_contra", contravariant=True)
_Second_contra = TypeVar("_Second_contra", contravariant=True)
_Result_co = TypeVar("_Result_co", covariant=True)


class OfPath(Protocol[_First_contra, _Given, _Result_co]):
    """A function of what is at ``path``."""

    def __call__(self, path: _First_contra, *given: _Given.args, **options: _Given.kwargs) -> _Result_co: ...


class FromTo(Protocol[_First_contra, _Second_contra, _Given, _Result_co]):
    """A function of what is at ``source``, for a ``target`` that may be left out."""

    def __call__(
        self, source: _First_contra, target: _Second_contra | None = None, *given: _Given.args, **options: _Given.kwargs
    ) -> _Result_co: ...


class _WithKeywords(Protocol[_Given, _Options_co]):
    @overload
    def __call__(
        self, function: Callable[[_Options_co, _First_contra, _Second_contra | None], _Result_co]
    ) -> FromTo[_First_contra, _Second_contra, _Given, _Result_co]: ...
    @overload
    def __call__(
        self, function: Callable[[_Options_co, _First_contra, _Second_contra], _Result_co]
    ) -> Callable[Concatenate[_First_contra, _Second_contra, _Given], _Result_co]: ...
    @overload
    def __call__(
        self, function: Callable[[_Options_co, _First_contra], _Result_co]
    ) -> OfPath[_First_contra, _Given, _Result_co]: ...


def takes(options: Callable[_Given, _Options_co]) -> _WithKeywords[_Given, _Options_co]:
    """Give a function the fields of this dataclass as keywords in place of its first parameter, which is one, and what
    the dataclass says of them to its help."""
    kind = cast("type[Options]", options)
    names = {field.name for field in fields(kind)}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_keywords(*given: Any, **words: Any) -> Any:
            make: Callable[..., Any] = options
            return function(make(**{name: words.pop(name) for name in [*words] if name in names}), *given, **words)

        if not is_the_command():  # where nobody reads it
            _describe(with_keywords, function, kind)
        return with_keywords

    return decorate


def _describe(with_keywords: Callable[..., Any], function: Callable[..., Any], options: type[Options]) -> None:
    """Have the help of a function say what the dataclass does."""
    from inspect import cleandoc, signature

    docs = [kind.__doc__ for kind in options.__mro__ if issubclass(kind, Options)]
    with_keywords.__doc__ = "\n\n".join(cleandoc(text) for text in (function.__doc__, *docs) if text)
    declared, keywords = signature(function), signature(options).parameters.values()
    own = [*declared.parameters.values()][1:]
    with_keywords.__signature__ = declared.replace(parameters=[*own, *keywords])  # type: ignore[attr-defined]
