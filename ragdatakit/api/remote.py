"""Paths that are URLs: what is there is fetched into the cache, and all that is said of it says the URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ragdatakit.files.paths.mirrors import any_mirrored, as_given
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import PathLike, SourceOptions, ValidateOptions
from ragdatakit.schemas.results import RemoteSource

if TYPE_CHECKING:
    from ragdatakit.remote.needed import Beside

_Options = TypeVar("_Options", bound=ValidateOptions | SourceOptions)
_Value = TypeVar("_Value")


@dataclass(slots=True)
class AtHand(Generic[_Options]):
    """``paths`` are all on this machine; ``origins`` say, of those that were fetched, from where and in which state.
    ``options`` are those given, whose callbacks get the URLs."""

    paths: list[PathLike]
    options: _Options
    origins: list[RemoteSource] = field(default_factory=list)


@contextmanager
def at_hand(
    options: _Options, paths: Iterable[PathLike], format_name: str | None = "", *, beside: Beside = "nothing"
) -> Iterator[AtHand[_Options]]:
    """What is at the paths, for a ``with`` block whose errors name the URLs, too. ``beside`` says
    what else is wanted of what lies in the folders of the datasets.

    Raises `RagdataError` where it cannot be fetched, `MissingExtraError` where a library is missing.
    """
    given = list(paths)
    here = AtHand(given, options)
    if not any("://" in os.fspath(path) or ":/" in os.fspath(path) for path in given):
        yield here
        return
    try:
        here.paths = [_fetched(path, here, format_name or "", beside) for path in given]
        if here.origins:
            here.options = _telling_urls(options)
        yield here
    except RagdataError as error:
        if here.origins:
            error.args = renamed(error.args)
        raise


def _fetched(path: PathLike, here: AtHand[Any], format_name: str, beside: Beside) -> PathLike:
    from ragdatakit.remote.urls import store_of, url_of

    url = url_of(path)
    if not url:
        return path
    from ragdatakit.outputs.user_cache import cache_folder
    from ragdatakit.remote.cache import Cache
    from ragdatakit.remote.fetched import fetched
    from ragdatakit.remote.needed import needed_files

    options = here.options
    folder = Path(options.cache_dir).absolute() if options.cache_dir is not None else cache_folder()
    needs = partial(needed_files, format_name=format_name, beside=beside)
    found = fetched(store_of(url), Cache(folder), needs, options.progress, options.tell)
    here.origins.append(found.origin)
    return found.path


def refuse_url(path: PathLike, reason: str) -> None:
    """Raise `RagdataError` where a place that is to be written to is a URL."""
    from ragdatakit.remote.stores import shown_url
    from ragdatakit.remote.urls import url_of

    if url := url_of(path):
        raise RagdataError(f"{shown_url(url)} is a URL: {reason}")


def renamed(value: _Value) -> _Value:
    """A result, with the URLs in place of the paths in the cache: dataclasses and lists are changed where they are."""
    found: _Value = _renamed(value, set()) if any_mirrored() else value
    return found


def _telling_urls(options: _Options) -> _Options:
    """The options, with callbacks that are called with URLs."""
    found: dict[str, Any] = {}
    for name in ("progress", "on_finding", "tell"):
        if (call := getattr(options, name, None)) is not None:
            found[name] = _with_urls(call)
    return replace(options, **found)


def _with_urls(call: Callable[..., None]) -> Callable[..., None]:
    def with_urls(first: Any, *rest: Any) -> None:
        call(renamed(first), *rest)

    return with_urls


def _renamed(value: Any, seen: set[int]) -> Any:
    if isinstance(value, str):
        return as_given(value)
    if isinstance(value, tuple) and type(value) is tuple:
        new = tuple(_renamed(each, seen) for each in value)
        return new if any(a is not b for a, b in zip(new, value, strict=True)) else value
    if id(value) in seen:
        return value
    if isinstance(value, list):
        seen.add(id(value))
        value[:] = [_renamed(each, seen) for each in value]
    elif isinstance(value, dict):
        seen.add(id(value))
        renamed = [(_renamed(key, seen), _renamed(each, seen)) for key, each in value.items()]
        value.clear()
        value.update(renamed)
    if is_dataclass(value) and not isinstance(value, type):
        seen.add(id(value))
        for one in fields(value):
            old = getattr(value, one.name)
            if (new := _renamed(old, seen)) is not old:
                object.__setattr__(value, one.name, new)
    elif isinstance(value, list) and hasattr(value, "__dict__"):
        for name, old in vars(value).items():
            setattr(value, name, _renamed(old, seen))
    return value


__all__ = ["AtHand", "at_hand", "refuse_url", "renamed"]
