"""Problems on their way to the report: all are counted, up to a limit per rule are kept and become findings.

A check makes a `Problem`, which is the same value until it becomes a `Finding`. Where its record is at hand, it gets a
`Place` at once; where no more than a row number or some values are known, it is `Pending` until the files were looked
through once more.

Longer than other modules, as what is counted, what is kept and what is shown of a finding go through one place, where
each finding costs time.
"""

from __future__ import annotations

from _string import formatter_parser  # type: ignore[import-not-found] # what `string.Formatter` has, without the rest
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from ragdatakit.files.containers.positions import Located, byte_positions
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quick_values import quick
from ragdatakit.schemas.declarations import Format, Rule, names_rule
from ragdatakit.schemas.errors import UnknownNameError
from ragdatakit.schemas.findings import (
    SEVERITIES,
    Excerpt,
    Finding,
    Problem,
    Related,
    Severity,
    Span,
    quick_finding,
    quick_span,
)
from ragdatakit.schemas.options import ValidateOptions
from ragdatakit.schemas.rules import SHARED
from ragdatakit.schemas.texts import code_points_apart
from ragdatakit.validators.excerpts import excerpt, line_and_column, line_excerpt, place_of, plain_value, show, visible
from ragdatakit.validators.identity import fingerprint

NO_RECORD = -1
"""The number of what lies in a file and is no record: a blank line, a header."""

Key = TypeVar("Key")


def crashed(error: Exception) -> Problem:
    """That a check crashed, which hides no other; a fault of the machine is raised again."""
    refuse_machine_fault(error)
    return Problem("rule-crashed", facts={"reason": f"{type(error).__name__}: {error}"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding is: see `Finding` for the units."""

    line: int | None = None
    column: int | None = None
    byte_offset: int | None = None
    record: int | None = None
    excerpt: Excerpt | None = None
    end_line: int | None = None
    end_column: int | None = None
    span: Span | None = None
    byte_columns: tuple[int, int] | None = None
    key: str | None = None

    @classmethod
    def of(cls, problem: Problem) -> Place:
        """The line, column and record that a problem names itself."""
        column = problem.position + 1 if problem.position is not None else None
        return cls(line=problem.line, column=column, record=problem.record)

    @classmethod
    def within(
        cls, located: Located, text: str, start: int | None, length: int, key: str | None = None, sought: Any = None
    ) -> Place:
        """What is at ``start`` in the text of a record; without it, the record as a whole, of which the value that is
        ``sought`` is shown.

        Where it ends is left open if ``length`` is 0, or if there is not all of the record.
        """
        first, indent = start or 0, located.indent.characters
        raw, offset, line = located.raw, located.byte_offset, located.line
        is_one_line = "\n" not in text
        if is_one_line:
            mark = place_of(text, sought, 0, len(text)) if not first and text[:1] == "{" else None
            column, shown = first + 1 + indent, excerpt(text.rstrip("\r"), *(mark or (first, length)))
        else:
            line, column = line_and_column(text, first, line, indent)
            shown = line_excerpt(text, start, length, sought)
        record = located.record if located.record != NO_RECORD else None
        end = first + length if start is not None else len(text.rstrip("\r\n")) if located.whole else 0
        begins = column if start is not None else None
        if end <= first or end > len(text):
            return quick_place(line, begins, offset, record, shown, None, None, None, None, key)
        begin_byte, end_byte = (first, end) if len(raw) == len(text) else byte_positions(raw, text, (first, end))
        span = quick_span(offset + begin_byte, offset + end_byte)
        if is_one_line:
            size = located.indent.size + 1
            end_line, end_column, columns = line, end + 1 + indent, (begin_byte + size, end_byte + size)
        else:
            end_line, end_column = line_and_column(text, end, located.line, indent)
            columns = located.byte_column(begin_byte), located.byte_column(end_byte)
        return quick_place(line, begins, offset, record, shown, end_line, end_column, span, columns, key)


quick_place = quick(Place, "quick_place")


@dataclass(slots=True)
class Pending(Generic[Key]):
    """A problem that is counted and has its room in the report, but whose record has yet to be looked up.

    ``record`` is what it is looked up by, ``other`` the same of a record that it clashes with, of which ``note`` says
    what it is. ``fragment`` is the part of the value that is at fault, ``are_keys`` says of texts whether a reference
    to them would lead somewhere; each where it is known. It has no room where it is not ``shown``, but repaired.
    """

    problem: Problem
    record: Key
    other: Key | None = None
    note: str = ""
    fragment: str = ""
    are_keys: Callable[[Sequence[str]], list[bool]] | None = None
    shown: bool = True


class Plans(dict[tuple[str, tuple[str, ...], bool], Any]):
    """Each a `FormatPlan`, by the name of the format, profiles, and whether there is a repairer. They stay where they
    were made."""

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return Plans, ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which findings are wanted.

    ``select`` and ``ignore`` hold codes, prefixes of codes or rule names; an empty ``select`` is everything.
    ``severity`` is the least severe level that counts. ``max_per_rule`` 0 keeps all. ``each_record``: findings that
    stand for several records of a file are made of each. ``named_records`` is of how many records a rule that is
    reported once a file names the numbers (None: as many). ``severities`` has the levels of rules, by their names, that
    are not those of the format, ``ignored_in`` says what is ignored in one file besides. ``fixable`` (None: all) and
    ``unfixable`` name the rules whose findings may be repaired. ``enough`` says of a code and a file how many findings
    need be made there (0: all); the others are only counted, and `Collector.only_counted` says how many they are.
    ``counted``: none need be made, as nobody sees more than their numbers. ``plans`` are what was settled with it (see
    `plan_of`).
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Severity = "info"
    max_per_rule: int = ValidateOptions.max_per_rule
    each_record: bool = False
    named_records: int | None = None
    severities: Mapping[str, Severity] = field(default_factory=dict)
    ignored_in: Callable[[DataFile], tuple[str, ...]] | None = None
    fixable: tuple[str, ...] | None = None
    unfixable: tuple[str, ...] = ()
    enough: Callable[[str, str], int] | None = None
    counted: bool = False
    plans: Plans = field(default_factory=Plans, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise UnknownNameError("severity", str(self.severity), SEVERITIES)

    @property
    def most_records(self) -> int:
        """How many records such a rule names (0: all)."""
        return self.max_per_rule if self.named_records is None else self.named_records

    def is_once(self, rule: Rule) -> bool:
        """Whether a rule is reported once a file."""
        return rule.per_file and not (self.each_record and rule.numbered)

    def takes(self, code: str, name: str, severity: Severity) -> bool:
        """Whether findings of such a rule are wanted."""
        if SEVERITIES.index(severity) > SEVERITIES.index(self.severity):
            return False
        if self.select and not any(names_rule(s, code, name) for s in self.select):
            return False
        return not any(names_rule(s, code, name) for s in self.ignore)

    def takes_rule(self, rule: Rule) -> bool:
        """The same of a rule of no other severity than its own and that which is chosen for it."""
        return self.takes(rule.code, rule.name, self.severities.get(rule.name, rule.severity))

    def may_fix(self, rule: Rule) -> bool:
        """Whether findings of a rule may be repaired."""
        if self.fixable is not None and not any(names_rule(s, rule.code, rule.name) for s in self.fixable):
            return False
        return not any(names_rule(s, rule.code, rule.name) for s in self.unfixable)

    def leaves_out(self, rule: Rule, file: DataFile) -> bool:
        """Whether a rule is ignored in this file, though not in others."""
        return self.ignored_in is not None and any(
            names_rule(selector, rule.code, rule.name) for selector in self.ignored_in(file)
        )


class _Facts:
    """What fills a message, made as it is asked for."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def __getitem__(self, name: str) -> Any:
        return _said(self._problem, name)


def worded(message: str, problem: Problem) -> str:
    """The message with what the problem says; a fact that is missing shows as ``?`` instead of ending the run."""
    if (pieces := _pieces(message)) is None:
        return message.format_map(_Facts(problem))
    text = ""
    for before, name in pieces:
        text += f"{before}{_said(problem, name)}" if name else before
    return text


@cache
def _pieces(message: str) -> tuple[tuple[str, str | None], ...] | None:
    """The texts of a message, each with the name of the fact behind it; None where it says how a fact is written."""
    pieces = tuple(formatter_parser(message))
    if any(
        name is not None and (form or conversion or not name.isidentifier()) for _, name, form, conversion in pieces
    ):
        return None
    return tuple((before, name) for before, name, *_ in pieces)


def _said(problem: Problem, name: str) -> Any:
    facts = problem.facts
    if name in facts:
        fact = facts[name]  # fit to print; numbers stay numbers, for the format of the message
        if isinstance(fact, str):
            return visible(fact if len(fact) <= 120 else fact[:119] + "…")
        return fact if isinstance(fact, int | float) else show(fact)
    if name == "value":
        return show(problem.value)
    if name == "fault":
        from ragdatakit.validators.lacking import fault_of  # which few datasets need

        return fault_of(problem.value)
    return visible((problem.pointer or "").strip("/")) if name == "field" else "" if name == "beside" else "?"


@dataclass(slots=True)
class PerFile:
    """What a finding stands for that is reported once per file: how many faults, the numbers of some records."""

    count: int = 0
    records: array[int] = field(default_factory=lambda: array("q"))


@dataclass(frozen=True, slots=True)
class RuleState:
    """What a rule means for one dataset: its severity and consequence there. It is not ``wanted`` where its findings
    are not reported, and does not apply where the format, or the profile, has no such fault."""

    rule: Rule
    severity: Severity
    upstream: str
    wanted: bool
    applies: bool = True


@dataclass(slots=True, eq=False)
class RuleInFile:
    """One rule in one file: how many ``faults`` were counted there, and how many findings these are. They are
    ``reported`` where the rule is wanted and not ignored; ``unlimited`` says that each of them is kept. The ``names``
    of rule and file are in the fingerprints of all; they are filled in by the first."""

    file: DataFile
    state: RuleState
    reported: bool
    unlimited: bool
    names: str = ""
    faults: int = 0
    findings: int = 0


_ONE = PerFile(1)


class Collector:
    """The findings of one dataset.

    ``kept`` is the list, which stays empty where ``keep`` takes the findings instead; ``counts`` counts all wanted
    findings by severity, ``by_rule`` by code. ``on_finding`` is called for each finding that is kept, as soon as it is
    made. For a ``repairer`` the faults of all rules are looked for, also of those that are not wanted; ``faults`` are
    the numbers of what was looked for by rule and kind of file. ``states`` are what rules mean, as far as that is known
    of another dataset.
    """

    def __init__(
        self,
        fmt: Format,
        profiles: tuple[str, ...],
        selection: Selection,
        on_finding: Callable[[Finding], None] | None = None,
        carried: Counter[str] | None = None,
        keep: Callable[[Finding], object] | None = None,
        repairer: bool = False,
        states: dict[str, RuleState] | None = None,
    ) -> None:
        self.format = fmt
        self.profiles = profiles
        self.selection = selection
        self.kept: list[Finding] = []
        self._repairer = repairer
        self._keep = keep or self.kept.append
        self._on_finding = on_finding
        self._carried = carried if carried is not None else Counter()
        self._states = states if states is not None else {}
        self._per_file: dict[tuple[str, str], PerFile] = {}
        self._in_files: dict[tuple[str, DataFile], RuleInFile] = {}
        self._delayed: dict[tuple[str, str], tuple[Problem, DataFile, Place] | None] = {}
        self._root: Path | None = None
        self._names: dict[str, str] = {}
        self._enough: dict[tuple[str, str], int] = {}
        self._made = Counter[tuple[str, str]]()
        self.only_counted = Counter[tuple[str, str, str | None]]()

    def state(self, name: str) -> RuleState:
        """What a rule means for this dataset."""
        found = self._states.get(name)
        if found is None:
            found = self._states[name] = self._make_state(name)
        return found

    @cached_property
    def _own(self) -> dict[str, Rule]:
        return {rule.name: rule for rule in self.format.rules}

    def _make_state(self, name: str) -> RuleState:
        rule = self._own.get(name) or next(rule for rule in SHARED if rule.name == name)
        severity: Severity | None = rule.severity_for(self.profiles)
        adopted = self.format.adopts.get(name) if name not in self._own else None
        upstream = rule.consequence(self.profiles)
        applies = rule.applies(self.profiles)
        if adopted is not None:
            severity = adopted.severity
            as_adopted = Rule(
                code=rule.code, name=name, severity="info", summary="", message="", upstream=adopted.upstream, hint=""
            )
            upstream, applies = as_adopted.consequence(self.profiles), as_adopted.applies(self.profiles)
        if severity is not None:
            severity = self.selection.severities.get(name, severity)
        applies = applies and severity is not None
        if (once := self.selection.is_once(rule)) != rule.per_file:
            rule = replace(rule, per_file=once)
        wanted = severity is not None and applies and self.selection.takes(rule.code, rule.name, severity)
        return RuleState(rule, severity or "info", upstream, wanted, applies)

    def rule_in(self, name: str, file: DataFile) -> RuleInFile:
        """What a rule means for a file."""
        found = self._in_files.get((name, file))
        if found is None:
            found = self._in_files[name, file] = self._make_rule_in(name, file)
        return found

    def _make_rule_in(self, name: str, file: DataFile) -> RuleInFile:
        state, selection = self.state(name), self.selection
        rule = state.rule
        reported = state.wanted and not selection.leaves_out(rule, file)
        limited = selection.counted or rule.per_file or selection.enough is not None or selection.max_per_rule
        return RuleInFile(file, state, reported, reported and not limited)

    def _added(self, key: Callable[[RuleInFile], Key]) -> Counter[Key]:
        """The numbers of findings with the same key."""
        found = Counter[Key]()
        for its in self._in_files.values():
            if its.findings:
                found[key(its)] += its.findings
        return found

    @property
    def counts(self) -> Counter[Severity]:
        """How many findings there are, by their severity."""
        return self._added(lambda its: its.state.severity)

    @property
    def by_split(self) -> Counter[tuple[str | None, Severity]]:
        """The same by split and severity."""
        return self._added(lambda its: (its.file.split, its.state.severity))

    @property
    def by_rule(self) -> Counter[str]:
        """The same by code."""
        return self._added(lambda its: its.state.rule.code)

    @property
    def faults(self) -> Counter[tuple[str, str]]:
        """How many faults there are, also of rules that are not wanted, by rule and kind of file."""
        found = Counter[tuple[str, str]]()
        for (name, file), its in self._in_files.items():
            if its.faults:
                found[name, file.kind] += its.faults
        return found

    def states(self) -> Iterable[RuleState]:
        """Those of the rules that were asked about, here or where they are known from."""
        return self._states.values()

    def wants(self, name: str) -> bool:
        """Whether findings of this rule count at all."""
        return self.state(name).wanted

    def looks_for(self, name: str) -> bool:
        """Whether faults of this rule have to be found: a fix may be wrong because of what nobody wants to see."""
        state = self.state(name)
        return state.applies if self._repairer else state.wanted

    def is_unasked(self, name: str) -> bool:
        """Whether there may be faults of this rule that nobody asked for."""
        state = self.state(name)
        return state.applies and not state.wanted

    def may_fix(self, name: str, file: DataFile) -> bool:
        """Whether faults of this rule may be repaired in a file: no more than what is reported."""
        its = self.rule_in(name, file)
        return its.reported and self.selection.may_fix(its.state.rule)

    def room(self, name: str, file: DataFile) -> bool:
        """Whether one more finding of this rule would be kept (else it needs no place and no message)."""
        its = self.rule_in(name, file)
        if its.unlimited:
            return True
        if self.selection.counted or not its.reported:
            return False
        rule = its.state.rule
        if rule.per_file:
            return (name, file.display) not in self._delayed
        if self.selection.enough is not None:
            most = self._most(rule.code, file)
            if 0 < most <= self._made[name, file.display]:
                return False
        return not self.selection.max_per_rule or self._carried[rule.code] < self.selection.max_per_rule

    def _most(self, code: str, file: DataFile) -> int:
        """How many findings of a rule need be made in a file (0: all)."""
        bucket = code, file.display
        if bucket not in self._enough:
            assert self.selection.enough is not None
            self._enough[bucket] = self.selection.enough(*bucket)
        return self._enough[bucket]

    def takes_records(self, name: str, file: DataFile) -> bool:
        """Whether a rule is reported once per file, and further records of this one are named in its finding."""
        its = self.rule_in(name, file)
        if not (its.reported and its.state.rule.per_file and its.state.rule.numbered):
            return False
        those, most = self._per_file.get((name, file.display)), self.selection.most_records
        return those is None or not most or len(those.records) < most

    def count(self, name: str, file: DataFile, number: int = 1, records: Iterable[int] = ()) -> None:
        """Count findings that are not kept; ``records`` are the numbers of those records that are known."""
        its = self.rule_in(name, file)
        state = its.state
        if state.applies:
            its.faults += number
        if not its.reported or not number:
            return
        if state.rule.per_file:
            those = self._per_file.setdefault((name, file.display), PerFile())
            those.count += number
            most = self.selection.most_records
            room = most - len(those.records) if most else None
            if state.rule.numbered:
                those.records.extend(islice(records, room))
            if those.count > number:
                return
            number = 1
        elif self.selection.enough is not None:
            self.only_counted[name, file.display, file.split] += number
        its.findings += number

    def count_all(self, numbers: Mapping[str, int], file: DataFile) -> None:
        """Count findings that are not kept, so many of each rule."""
        for name, number in numbers.items():
            self.count(name, file, number)

    def add(self, file: DataFile, problem: Problem, place: Place) -> None:
        """Count a finding and keep it where there is room."""
        keep = self.room(problem.rule, file)
        self.count(problem.rule, file, records=() if place.record is None else (place.record,))
        if keep:
            self.keep(self.rule_in(problem.rule, file), problem, place)

    def keep(self, its: RuleInFile, problem: Problem, place: Place) -> None:
        """Keep a finding that was counted; `room` must have said yes."""
        if its.state.rule.per_file:
            self._delayed[problem.rule, its.file.display] = (problem, its.file, place)
        else:
            if not its.unlimited:
                self._reserve(its)
            self._make(its, problem, place)

    def reserve(self, name: str, file: DataFile) -> None:
        """Take the room for a finding that `complete` makes later."""
        its = self.rule_in(name, file)
        if its.state.rule.per_file:
            self._delayed.setdefault((name, file.display), None)
        else:
            self._reserve(its)

    def _reserve(self, its: RuleInFile) -> None:
        rule, file = its.state.rule, its.file
        self._carried[rule.code] += 1
        if self.selection.enough is not None:
            self._made[rule.name, file.display] += 1
            self.only_counted[rule.name, file.display, file.split] -= 1

    def complete(self, file: DataFile, problem: Problem, place: Place, related: tuple[Related, ...] = ()) -> None:
        """Make the finding of a problem that was counted and has its room reserved."""
        problem.related = related
        its = self.rule_in(problem.rule, file)
        if its.state.rule.per_file:
            self._delayed[problem.rule, file.display] = (problem, file, place)
        else:
            self._make(its, problem, place)

    def finish(self) -> None:
        """Make the findings that are reported once per file, now that all is counted."""
        for waiting in self._delayed.values():
            if waiting is not None:
                problem, file, place = waiting
                its = self.rule_in(problem.rule, file)
                self._carried[its.state.rule.code] += 1
                self._make(its, problem, place, self._per_file.get((problem.rule, file.display), _ONE))
        self._delayed = {}

    def _make(self, its: RuleInFile, problem: Problem, place: Place, those: PerFile = _ONE) -> None:
        file, state = its.file, its.state
        rule = state.rule
        value = plain_value(problem.value)
        message, hint = worded(rule.message, problem), problem.hint or rule.hint
        if problem.nearly:
            message += _meant(problem)
            hint = problem.hint or f"write {show(problem.nearly)}, or {rule.hint}"
        if those.count > 1 and rule.counted:
            message += f" (in {those.count:,} records of this file)"
        row_group = None
        if file.row_groups:
            place = Place(record=place.record, excerpt=place.excerpt, key=place.key)
            row_group = bisect_right(file.row_groups, place.record) - 1 if place.record is not None else None
        if not its.names:
            its.names = f"{rule.code}\0{self._in_project(file.display)}"
        consequence = rule.cases.get(problem.facts.get("case", ""), state.upstream) if rule.cases else state.upstream
        finding = quick_finding(
            rule.code,
            rule.name,
            state.severity,
            f"{message}; {consequence}" if consequence else message,
            file.display,
            place.line,
            place.column,
            place.byte_offset,
            place.record,
            problem.pointer,
            value,
            hint,
            problem.fix is not None and problem.fix.applicability != "display",
            problem.fix,
            problem.related,
            place.end_line,
            place.end_column,
            place.span,
            place.key,
            fingerprint(its.names, place.key, problem.pointer, value),
            those.count,
            (*those.records,),
            row_group,
            place.excerpt,
            place.byte_columns,
            consequence,
            False,  # a baseline is applied later
        )
        self._keep(finding)
        if self._on_finding is not None:
            self._on_finding(finding)

    def _in_project(self, path: str) -> str:
        """What a file is called in the project."""
        if path not in self._names:
            from ragdatakit.files.paths.project import path_within, project_root

            self._root = self._root or project_root()
            self._names[path] = path_within(self._root, path)
        return self._names[path]


def known_rules(selectors: Iterable[str], own: Sequence[tuple[str, str]] = ()) -> tuple[str, ...]:
    """Selectors (also several with commas between), if each names a rule; else raises `UnknownNameError`. ``own`` are
    codes and names of the project's own rules."""
    found = tuple(s.strip() for words in selectors for s in words.split(",") if s.strip())
    if found:
        from ragdatakit.files.configuration.reading import refuse_unknown_rule

        for selector in found:
            refuse_unknown_rule(selector, own=own)
    return found


def _meant(problem: Problem) -> str:
    """What a value may mean; of one that looks the same, where they differ."""
    apart = code_points_apart(problem.value, problem.nearly) if isinstance(problem.value, str) else None
    return f" (did you mean {show(problem.nearly)}{', with {1} instead of {0}'.format(*apart) if apart else ''}?)"
