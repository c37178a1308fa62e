"""The command `ragdata`. Most command lines that check or report on a dataset are read without click."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ragdatakit.late_modules import put_off

if TYPE_CHECKING:
    from collections.abc import Callable

    from click import ClickException

_TWO_LINES = 160


def wants_colour() -> bool:
    """Whether to write ANSI colours to stdout: on a terminal, unless NO_COLOR or FORCE_COLOR says otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR") not in (None, "", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def main() -> None:
    """Run the command; errors about the run are one line on stderr and exit code 2."""
    from ragdatakit.cli.standard_output import guard_streams
    from ragdatakit.stopping import EndedBySignal, leave

    work = _work()
    guard_streams()
    ending = EndedBySignal()
    code: Any = 0
    try:
        with ending:
            with put_off("difflib"):
                code = work()
            sys.stdout.flush()
    except SystemExit as error:
        code = error.code  # of the shell's completion, or of a signal
    except BaseException as error:  # noqa: BLE001 - what is unknown is raised again
        if not ending.code:
            code = _failed(error)
    if ending.code:  # whatever became of the exception that the signal raised
        _tell_stopped()
        leave(ending.code, at_once=True)
    leave(code if isinstance(code, int) else 0)


def _work() -> Callable[[], Any]:
    """What the words of the command line ask for: done, it gives the exit code, or None for 0."""
    from ragdatakit.cli.without_click.plain_words import plain_words

    if (work := plain_words(sys.argv[1:])) is not None:
        return work
    late_click()
    from ragdatakit.cli.commands import group

    return lambda: group.main(standalone_mode=False, prog_name="ragdata")


def late_click() -> Any:
    """click, imported without what it hardly uses: for a run over little data it takes as long as all the rest."""
    with put_off("datetime", "gettext", "inspect", "threading", "uuid"):
        import click
    return click


def _failed(error: BaseException) -> int:
    """The exit code for what was raised, once it was said on stderr."""
    click = late_click()
    from ragdatakit.api.failures import failure_words
    from ragdatakit.stopping import is_interrupted

    if isinstance(error, click.exceptions.Exit):
        return int(error.exit_code)
    if isinstance(error, (click.Abort, KeyboardInterrupt)) or is_interrupted(error):
        _tell_stopped()
        return 130
    if isinstance(error, click.ClickException):
        _show(error)
    elif message := failure_words(error):
        click.echo(f"ragdata: {in_lines(printable(message))}", err=True)
    elif os.environ.get("RAGDATA_DEBUG") or not isinstance(error, Exception):
        raise error
    else:
        click.echo(f"ragdata: failed on its own: {printable(f'{type(error).__name__}: {error}')}", err=True)
        click.echo("ragdata: please report it; RAGDATA_DEBUG=1 shows where", err=True)
    return 2


def _tell_stopped() -> None:
    with suppress(OSError):  # a terminal that was closed
        sys.stderr.write("ragdata: stopped\n")
        sys.stderr.flush()


def _show(error: ClickException) -> None:
    """The error on one line, below the usage of the command; what was typed may hold anything."""
    click = late_click()
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return
    from ragdatakit.cli.commands import with_meant

    message = with_meant(error) if isinstance(error, click.NoSuchOption) else error.format_message()
    click.UsageError(printable(message), error.ctx if isinstance(error, click.UsageError) else None).show()


def in_lines(text: str) -> str:
    """A message for a terminal: where it is longer than two lines, each of the things that it says has its own."""
    is_long = len(text) > _TWO_LINES and sys.stderr.isatty()
    return text.replace("; ", ";\n  ") if is_long else text


def printable(text: str) -> str:
    """A message, not too long, with what does not print made visible."""
    from ragdatakit.visible_text import visible_text

    text = text if len(text) <= 1000 else text[:999] + "…"
    return visible_text(text)
