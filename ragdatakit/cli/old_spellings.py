"""Options that had another name: the old one still works, is in no help, and says what it is called today."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Function = TypeVar("_Function", bound=Callable[..., Any])


def old_spelling(old: str, new: str, name: str, **attributes: Any) -> Callable[[_Function], _Function]:
    """The option ``old``, which sets the parameter ``name`` of the option ``new``."""

    def note(context: click.Context, option: click.Parameter, value: Any) -> Any:
        if value is not None and not context.resilient_parsing:
            context.params[name] = value
            click.echo(f"ragdata: {old} is deprecated: use {new}", err=True)

    return click.option(old, f"old_{name}", hidden=True, expose_value=False, callback=note, default=None, **attributes)
