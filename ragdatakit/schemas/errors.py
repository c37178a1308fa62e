"""Errors about a run (a path, an option, a format), never about the data: those are findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class RagdataError(Exception):
    """The run failed; the message says why in one line, for people."""

    def __reduce__(self) -> Any:
        """As it is: the arguments of `__init__`, which makes the message, are not kept."""
        return _again, (type(self), self.args, self.__dict__)


class MachineError(RagdataError):
    """The machine ran out of memory, threads, file handles or room on the disk: never a finding, as it is not about
    the data, and never one dataset left out of several."""


class skip_unreadable:  # noqa: N801 - a context manager, as `contextlib.suppress`
    """Leaves its block where data cannot be read; where the machine ran out of something, the error is raised."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> bool:
        return isinstance(error, RagdataError) and not isinstance(error, MachineError)


_MOST_NEAR = 3
_LEAST_BEGUN = 4
"""Letters that say more as the beginning of a name than as one that is misspelt."""


class UnrecognisedError(RagdataError):
    """A file is of no format that is known: nothing is wrong with it, it is something else."""


class PackedError(UnrecognisedError):
    """A file is of a format whose loaders do not open it as it is packed, so that it is no table either."""


class NotMeantError(RagdataError):
    """The options name something that this dataset does not have; another one at the same path may be meant."""


class UnknownNameError(RagdataError):
    """A format, rule, profile or file kind that does not exist.

    ``suggestions`` holds the nearest existing names, best first. ``where`` ends the naming of it, as ``of DATASET``;
    ``hint`` says what to write instead of what exists, ``place`` the file and line that names it.
    """

    def __init__(
        self, what: str, name: str, known: Iterable[str], where: str = "", hint: str = "", place: str = ""
    ) -> None:
        import difflib

        known = list(known)
        lowered = {k.lower(): k for k in known}
        begun = [each for each in lowered if name and each.startswith(name.lower())][:_MOST_NEAR]
        near = begun if len(name) >= _LEAST_BEGUN else []
        near = near or difflib.get_close_matches(name.lower(), list(lowered), n=_MOST_NEAR) or begun
        near = near or [each for each in lowered if name.lower() in each.split("-")][:_MOST_NEAR]
        self.suggestions = [lowered[n] for n in near]
        text = f"{place and f'{place}: '}unknown {what} {name!r}{where and f' {where}'}"
        if hint:
            text += f"; {hint}"
        elif self.suggestions:
            text += f", did you mean {' or '.join(self.suggestions)}?"
        elif len(known) <= 20:
            text += f"; known: {', '.join(known)}" if known else "; there are none"
        super().__init__(text)


class QueryError(RagdataError):
    """What is wrong with a query. ``excerpt`` is the line of it, ``start`` and ``length`` say where in that line, in
    characters; ``line`` is its number from 1, None where no place is known."""

    def __init__(
        self, message: str, line: int | None = None, excerpt: str = "", start: int = 0, length: int = 0
    ) -> None:
        super().__init__(message)
        self.line, self.excerpt, self.start, self.length = line, excerpt, start, length


class EngineError(RagdataError):
    """A part of the data could not be checked where it was to be, so that there is no report."""


class MissingExtraError(RagdataError, ImportError):
    """Libraries that an extra brings are not installed; the message has the command that installs them."""

    def __init__(self, extra: str, libraries: str) -> None:
        super().__init__(f"this needs {libraries}: pip install 'ragdatakit[{extra}]'")


def _again(kind: type[RagdataError], words: tuple[Any, ...], attributes: dict[str, Any]) -> RagdataError:
    error = kind.__new__(kind, *words)
    error.args = words
    error.__dict__.update(attributes)
    return error
