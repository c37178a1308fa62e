"""What a plug-in is made of: rules that are code, and formats. Plug-ins are installed distributions that a
configuration names; `files/configuration/plugins.py` finds and loads them.

The entry points: group ``ragdatakit.rules`` names a `RulePlugin` or a list of them, ``ragdatakit.formats`` a
`FormatPlugin`, ``ragdatakit.models`` a module with pandera models, which ``model`` of a ``[[rule]]`` may name.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.bounds import OWN_CODE, TABLE_NAME
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.findings import SEVERITIES, Severity

if TYPE_CHECKING:
    from ragdatakit.schemas.declarations import Format

API = 1
"""The version of this interface. A plug-in says for which one it was written."""
_NAME = late_pattern("[a-z0-9]+(?:-[a-z0-9]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong, as the check of a `RulePlugin` gives it.

    ``facts`` fill the message of the rule. Of a record, ``pointer`` is the JSON Pointer to what is wrong (empty: the
    record as a whole). Of a row of a table, ``value`` is what is wrong and ``key`` the id of the row: by these the
    record is looked up in the files.
    """

    value: Any = None
    key: str | None = None
    pointer: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePlugin:
    """A rule that is code: either ``check_record``, which is called for each record of the kind ``records`` (empty: of
    all kinds), or ``check_rows``, which gets the rows of a ``table`` of `ragdata query`, with all columns or those in
    ``columns``, in a stream. Both yield a `Fault` for each thing that is wrong.

    ``api`` is the version of this interface that it was written for. The words are those of a ``[[rule]]``: ``code`` of
    three letters or more and digits, ``name`` the bad state in small letters with hyphens, ``message`` a template that
    ``value``, ``key`` and the facts of a fault fill. ``format`` is whose datasets it is for (empty: all).
    """

    api: int
    code: str
    name: str
    summary: str
    message: str
    severity: Severity = "error"
    hint: str = ""
    format: str = ""
    records: str = ""
    check_record: Callable[[Any], Iterable[Fault]] | None = None
    table: str = ""
    columns: tuple[str, ...] = ()
    check_rows: Callable[[Iterator[Mapping[str, Any]]], Iterable[Fault]] | None = None

    def fault(self) -> str:
        """What is wrong with the words; empty where nothing is."""
        texts = (self.code, self.name, self.summary, self.message, self.hint, self.format, self.records, self.table)
        if not all(isinstance(text, str) for text in texts):
            return "its words are not all texts"
        if not re.fullmatch(OWN_CODE, self.code):
            return f"its code is {self.code!r}, expected three capital letters or more, and digits"
        if not _NAME.fullmatch(self.name):
            return f"its name is {self.name!r}, expected words in small letters with hyphens"
        if self.severity not in SEVERITIES:
            return f"its severity is {self.severity!r}, expected one of {', '.join(SEVERITIES)}"
        if not (self.summary.strip() and self.message.strip()):
            return "it has no summary or no message"
        if (self.check_record is None) == (self.check_rows is None):
            return "it has to have either check_record or check_rows"
        if not callable(self.check_record or self.check_rows):
            return "its check is not a function"
        if self.check_rows is not None and not re.fullmatch(TABLE_NAME, self.table):
            return f"its table is {self.table!r}, expected the name of one, such as documents or files.corpus"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatPlugin:
    """A format: its declaration, what it checks besides (a `FormatChecks`; None: nothing), and what reads and writes it
    (a `Converter`; None: it is only validated). ``api`` is as of `RulePlugin`."""

    api: int
    format: Format
    checks: type[Any] | None = None
    converter: Any = None


PLUGGED: dict[str, tuple[str, str]] = {}
"""The formats of plug-ins that were loaded in this process, each with the module and the name of its `FormatPlugin`."""


def plugged(name: str) -> FormatPlugin | None:
    """The plug-in of a format; None where it is one of ours, or none."""
    if name not in PLUGGED:
        return None
    module, attribute = PLUGGED[name]
    found: FormatPlugin = attrgetter(attribute)(imported(module))
    return found


def plug_in(name: str, module: str, attribute: str) -> None:
    """Make a format known."""
    from ragdatakit.schemas import FORMATS

    PLUGGED[name] = (module, attribute)
    FORMATS[name] = (module, f"{attribute}.format")


def names_with(named: Collection[str]) -> tuple[str, ...]:
    """The names of our own formats, and of those of plug-ins that are among ``named``: the others were loaded for other
    settings."""
    from ragdatakit.schemas import FORMATS

    return tuple(name for name in FORMATS if name not in PLUGGED or name in named)


def formats_with(named: Collection[str]) -> tuple[Format, ...]:
    """The same formats themselves."""
    from ragdatakit.schemas import get_format

    return tuple(map(get_format, names_with(named)))


def plug_in_as(formats: Mapping[str, tuple[str, str]]) -> None:
    """Make the formats known that are so in the process that started this one."""
    for name, (module, attribute) in formats.items():
        imported(module)
        plug_in(name, module, attribute)


def imported(module: str) -> Any:
    """A module, never that of a file in the current folder, which may be the repository that is checked."""
    with _without_current_folder():
        return importlib.import_module(module)


def import_path() -> list[str]:
    """Where modules are installed: without the current folder."""
    here = Path.cwd()
    return [place for place in sys.path if place and Path(place).absolute() != here]


@contextmanager
def _without_current_folder() -> Iterator[None]:
    before = list(sys.path)
    sys.path[:] = import_path()
    try:
        yield
    finally:
        sys.path[:] = before


class PluginError(RagdataError):
    """A plug-in cannot be found or loaded, failed, or gave what is no answer."""


def reason_of(error: BaseException) -> str:
    """What an error says, and where in the plug-in it was raised."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f" ({Path(code.co_filename).name}:{trace.tb_lineno})"
        trace = trace.tb_next
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{text and f': {text[:300]}'}{place}"
