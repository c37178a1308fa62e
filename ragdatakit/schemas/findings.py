"""Findings: what is wrong in the data, where exactly, and what to do. Values, never raised."""

from __future__ import annotations

from dataclasses import field, fields
from operator import attrgetter
from typing import Any, Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quick_values import quick
from ragdatakit.schemas.bounds import Fingerprint, Place, RuleCode, RuleName
from ragdatakit.schemas.fixes import Fix

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


def _row(line: int | None, record: int | None) -> str:
    return f"row {record + 1}" if line is None and record is not None else ""


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a finding speaks of, such as the first line that used an id; ``record`` is the 0-based number
    of the record there, where it is known."""

    path: str
    line: Place | None
    message: str
    record: int | None = None

    @property
    def row(self) -> str:
        """As of a finding."""
        return _row(self.line, self.record)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"path": self.path, "line": self.line, "message": self.message, "record": self.record}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The offending line, made safe to print.

    ``text`` is one line without control characters, ``start`` and ``length`` say which of its characters are at
    fault (0-based; ``length`` 0 where the whole line is).
    """

    text: str
    start: int = 0
    length: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        return quick_excerpt, (self.text, self.start, self.length)


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of the uncompressed file: from ``start`` (0-based) up to ``end``, which is not among them."""

    start: int
    end: int

    def __reduce__(self) -> tuple[Any, ...]:
        return quick_span, (self.start, self.end)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"start": self.start, "end": self.end}


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation of one rule at one place.

    ``line`` and ``column`` are 1-based, physical, and count characters; so do ``end_line`` and ``end_column``, which is
    the column behind the last character at fault. ``span`` is where these are in the uncompressed file. Where
    ``column`` is null, the record is meant as a whole. ``byte_offset`` and ``record`` are 0-based, the offset being
    that of the record in the uncompressed file; ``pointer`` is a JSON Pointer into the record.
    ``message`` is what is wrong; then, after a semicolon, the ``consequence``: what the framework does about it.

    ``key`` identifies the record whatever its line: its declared key (``qid=4``), or ``#`` and a digest of its bytes.
    ``fingerprint`` is the same for the same fault after records before it were added or removed: 16 hexadecimal digits
    of rule, path in the project, key, pointer without the numbers in lists, value, and how many such came before. A
    rule that is reported once per file stands for ``count`` faults, in ``records`` (at most --max-per-rule of them).
    ``baselined``: a baseline accepts it, so that it counts nowhere.
    In a Parquet file there are no lines: ``record`` and ``row_group`` (0-based) say where it is.
    ``byte_columns`` are ``column`` and ``end_column`` counted in bytes of UTF-8. ``fix`` is what would repair it, if
    that is known; ``fixable`` whether ``--fix`` or ``--unsafe-fixes`` does so.
    """

    code: RuleCode
    rule: RuleName
    severity: Severity
    message: str
    path: str
    line: Place | None = None
    column: Place | None = None
    byte_offset: int | None = None
    record: int | None = None
    pointer: str | None = None
    value: Any = None
    hint: str = ""
    fixable: bool = False
    fix: Fix | None = None
    related: tuple[Related, ...] = ()
    end_line: Place | None = None
    end_column: Place | None = None
    span: Span | None = None
    key: str | None = None
    fingerprint: Fingerprint = ""
    count: Place = 1
    records: tuple[int, ...] = ()
    row_group: int | None = None
    excerpt: Excerpt | None = field(default=None, compare=False)
    byte_columns: tuple[int, int] | None = field(default=None, compare=False)
    consequence: str = ""
    baselined: bool = False

    @property
    def fault(self) -> str:
        """The message without the consequence."""
        return self.message.removesuffix(f"; {self.consequence}") if self.consequence else self.message

    @property
    def row(self) -> str:
        """``row 3``, 1-based, in a table without lines; else nothing."""
        return _row(self.line, self.record)

    @property
    def before(self) -> str:
        """What forms that have a place for lines only write before the message: ``row 3:`` and a blank, or nothing."""
        return f"{row}: " if (row := self.row) else ""

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is pickled: in a fraction of the time that a dataclass takes."""
        return quick_finding, _values_of(self)

    def as_values(self) -> list[Any]:
        """What `with_values` makes the same finding of: texts and numbers, except for `fix` and `related`."""
        values = [*_values_of(self)]
        if (span := self.span) is not None:
            values[_SPAN] = span.start, span.end
        if (excerpt := self.excerpt) is not None:
            values[_EXCERPT] = excerpt.text, excerpt.start, excerpt.length
        return values

    @staticmethod
    def with_values(values: list[Any]) -> Finding:
        """The finding of these values, which are changed."""
        if (span := values[_SPAN]) is not None:
            values[_SPAN] = quick_span(*span)
        if (excerpt := values[_EXCERPT]) is not None:
            values[_EXCERPT] = quick_excerpt(*excerpt)
        return quick_finding(*values)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form (DESIGN: one entry of ``findings``)."""
        span, related = self.span, self.related
        return {
            "code": self.code,
            "rule": self.rule,
            "severity": self.severity,
            "message": self.message,
            "consequence": self.consequence,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "span": span.as_dict() if span is not None else None,
            "byte_offset": self.byte_offset,
            "record": self.record,
            "row_group": self.row_group,
            "key": self.key,
            "pointer": self.pointer,
            "value": self.value,
            "hint": self.hint,
            "fixable": self.fixable,
            "fix": self.fix.as_dict() if self.fix is not None else None,
            "fingerprint": self.fingerprint,
            "count": self.count,
            "records": [*self.records],
            "baselined": self.baselined,
            "related": [r.as_dict() for r in related] if related else [],
        }


_NAMES = [each.name for each in fields(Finding)]
_SPAN, _EXCERPT = _NAMES.index("span"), _NAMES.index("excerpt")
_values_of = attrgetter(*_NAMES)
quick_finding, quick_excerpt, quick_span = (
    quick(Finding, "quick_finding"),
    quick(Excerpt, "quick_excerpt"),
    quick(Span, "quick_span"),
)


@dataclass(slots=True)
class Problem:
    """A fault that a check saw, before it is placed in a file and worded.

    ``rule`` is the rule's name, ``facts`` fill its message template (``value`` and ``field`` are filled in by the
    engine where they are not given). In a record, ``pointer`` says which value is meant and ``position`` is the
    0-based character offset in the
    record, where known. In a text file, ``line`` is 1-based and ``position`` the 0-based character offset in that
    line; ``length`` is the number of characters at fault (0: not known). ``record`` is the 0-based number of a row of a
    table, which has no text of its own. ``nearly`` is what the value may mean. ``fix`` is what would repair it,
    ``hint`` what to do in place of what the rule says.
    """

    rule: str
    pointer: str | None = None
    value: Any = None
    facts: dict[str, Any] = field(default_factory=dict)
    position: int | None = None
    length: int = 0
    line: int | None = None
    record: int | None = None
    related: tuple[Related, ...] = ()
    nearly: str = ""
    fix: Fix | None = None
    hint: str = ""
