"""Findings for people: the path of a file once, below it its findings with line and column, the offending line with a
caret, what it means; one summary at the end. Or shorter: without the lines of the data, or each finding in one line
that has the path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import groupby
from operator import attrgetter
from typing import Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.terminal import Painter, cut_head, cut_to, painter, width_of, wrapped
from ragdatakit.schemas.findings import Excerpt, Finding, Severity
from ragdatakit.schemas.results import DatasetSummary, Report
from ragdatakit.schemas.texts import listed_records, many, size
from ragdatakit.visible_text import visible_text


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOptions:
    """How to print: ``colour`` with ANSI codes; ``verbose`` adds files, info findings, and the consequence and the hint
    of every finding, not only of the first of its rule in a file.

    The ``form`` ``grouped`` has no lines of the data and no hints, ``concise`` also the path in each finding's line.
    ``rest`` says where the findings are shown that were left out; lines of the data are cut to ``width`` columns
    (0: they are not). ``unsafe_fixes``: what only unsafe fixes repair is marked as fixable, too. ``says_why_not``:
    where ``--fix`` would not repair something, it is said why.
    """

    colour: bool = False
    quiet: bool = False
    verbose: bool = False
    statistics: bool = False
    form: Literal["full", "grouped", "concise"] = "full"
    rest: str = "--max-per-rule 0 shows all"
    width: int = 0
    unsafe_fixes: bool = False
    says_why_not: bool = True

    def marks(self, finding: Finding) -> bool:
        """Whether ``--fix`` repairs a finding."""
        fix = finding.fix
        return fix is not None and finding.fixable and (fix.applicability == "safe" or self.unsafe_fixes)


@dataclass(slots=True)
class _Shown:
    """What is known of the findings once all have passed: how many there are of each code, what it is, the first
    error. ``fixable`` and ``withheld`` count places, of which a finding about records of a file has several."""

    number: Counter[str] = field(default_factory=Counter)
    facts: dict[str, tuple[Severity, str]] = field(default_factory=dict)
    error: str = ""
    fixable: Counter[str] = field(default_factory=Counter)
    withheld: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unlisted: Counter[str] = field(default_factory=Counter)

    def passing(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings as they are, counted."""
        facts, number, fixable = self.facts, self.number, self.fixable
        for finding in findings:
            code, fix = finding.code, finding.fix
            if code not in facts:
                facts[code] = finding.severity, finding.rule
                self.error = self.error or (code if finding.severity == "error" else "")
            number[code] += 1
            if finding.count > 1 and finding.records:
                self.unlisted[code] += finding.count - 1
            if fix is not None:
                places = finding.count if finding.records else 1
                if fix.withheld:
                    self.withheld[fix.applicability, code, fix.withheld] += places
                else:
                    fixable[fix.applicability] += places
            yield finding


def text_lines(report: Report, options: TextOptions, findings: Iterable[Finding] | None = None) -> Iterator[str]:
    """The whole screen with the findings of the report, or those that are given next to it: line by line, but all lines
    of a finding at once."""
    paint = painter(options.colour)
    shown = _Shown()
    passing = shown.passing(report.findings if findings is None else findings)
    if options.quiet:
        for _ in passing:
            pass
    else:
        if options.form == "concise":
            yield from (_concise(finding, options, paint) for finding in passing)
        else:
            yield from _by_file(passing, options, paint)
        yield from _capped(report, shown, paint, options.rest)
        yield from _unlisted(shown, paint)
        if report.datasets and (options.verbose or not shown.number):
            yield from _dataset_lines(report.datasets, paint)
        yield from _unrecognised(report, paint, options.verbose)
        yield from _budgets(report, paint)
    if options.statistics:
        yield from _statistics(report, shown, paint)
    yield from _summary(report, shown, paint, options)
    if not options.quiet:
        yield from _fixable(report, shown, options)


def _by_file(findings: Iterable[Finding], options: TextOptions, paint: Painter) -> Iterator[str]:
    for path, of_file in groupby(findings, key=attrgetter("path")):
        yield paint("bold", visible_text(path))
        explained: set[tuple[str, str]] = set()
        advised: set[tuple[str, str]] = set()
        for finding in of_file:
            if options.form == "grouped":
                yield _first_line(finding, options, paint)
                continue
            words, advice = (finding.code, finding.consequence), (finding.code, finding.hint)
            explains, advises = (options.verbose or words not in explained), (options.verbose or advice not in advised)
            yield _finding_text(finding, options, paint, explains, advises)
            explained.add(words)
            if len(advised) > _MOST_ADVISED:  # each finding may have its own
                advised.clear()
            advised.add(advice)
        yield ""


def _concise(finding: Finding, options: TextOptions, paint: Painter) -> str:
    """What the problem matchers of editors take apart: there is always a line and a column."""
    place = f"{visible_text(finding.path)}:{finding.line or 1}:{finding.column or 1}"
    return f"{place} {_words(finding, options, paint, finding.before)}"


def _words(finding: Finding, options: TextOptions, paint: Painter, before: str = "") -> str:
    mark = f" {_MARK}" if options.marks(finding) else ""
    return f"{paint('bold', finding.code)} {paint(finding.severity, finding.severity)}{mark} {before}{finding.fault}"


def _first_line(finding: Finding, options: TextOptions, paint: Painter) -> str:
    place = ""
    if finding.line is not None:
        place = f"{finding.line}" + (f":{finding.column}" if finding.column is not None else "") + " "
    elif row := finding.row:
        place = f"{row} "
    return f"  {place}{_words(finding, options, paint)}"


def _finding_text(finding: Finding, options: TextOptions, paint: Painter, explains: bool, advises: bool) -> str:
    text = _first_line(finding, options, paint)
    excerpt, width = finding.excerpt, options.width
    if excerpt is not None and finding.line is not None and excerpt.text:
        if width:
            excerpt = _cut(excerpt, width - len(f"    {finding.line} | "))
        text = f"{text}\n{_excerpt_text(excerpt, finding.line, finding.severity, paint)}"
    return "\n".join((text, *_explaining(finding, paint, explains, advises, width)))


def _explaining(finding: Finding, paint: Painter, explains: bool, advises: bool, width: int) -> Iterator[str]:
    """What follows a finding's lines: what comes of it, where else it is, what to do."""
    if explains and finding.consequence:
        yield from _behind(paint("dim", "="), finding.consequence, width)
    for other in finding.related:
        where = visible_text(other.path) if other.path != finding.path else ""
        if other.line is None:
            at = ", ".join(filter(None, (where, other.row)))
        elif not where and other.line == finding.line and other.record is not None:  # an array on one line
            at = "this record" if other.record == finding.record else f"record {other.record + 1}"
        else:
            at = f"{where}:{other.line}" if where else f"line {other.line}"
        yield f"    {paint('dim', '=')} {other.message}: {at}"
    if advises and finding.hint:
        yield from _behind(paint("good", "→"), finding.hint, width)


def _behind(sign: str, text: str, width: int) -> Iterator[str]:
    """A text behind a sign, in lines of at most ``width`` columns (0: in one)."""
    first, *others = wrapped(text, width - 6) if width else [text]
    yield f"    {sign} {first}"
    yield from (f"      {line}" for line in others)


_MARK = "[*]"
"""What --fix repairs."""
_MOST_ADVISED = 10_000
_LEAST_ROOM = 20
_MOST_SELECTED = 3
_MOST_FORMATS = 4
_MOST_REASONS = 5


def _cut(shown: Excerpt, room: int) -> Excerpt:
    """The part of an excerpt around its marks that fits into so many columns (0: all of it)."""
    if not room or width_of(shown.text) <= room:
        return shown
    room = max(room, _LEAST_ROOM)
    end = shown.start + shown.length
    head = cut_head(shown.text[: shown.start], room // 3)
    marked = cut_to(shown.text[shown.start : end], room - width_of(head))
    tail = (
        cut_to(shown.text[end:], room - width_of(head) - width_of(marked))
        if room > width_of(head) + width_of(marked)
        else ""
    )
    return Excerpt(head + marked + tail, len(head), len(marked))


def _excerpt_text(shown: Excerpt, line: int, severity: Severity, paint: Painter) -> str:
    text, start, length = shown.text, shown.start, shown.length
    number = str(line)
    first = f"    {paint('dim', f'{number} |')} {text}"
    if not (length or start):
        return first
    if text.isascii():
        length = min(length, len(text) - start)
    else:
        length, start = width_of(text[start : start + length]), width_of(text[:start])
    marks = paint(severity, "^" * max(1, length))
    return f"{first}\n    {' ' * len(number)} {paint('dim', '|')} {' ' * start}{marks}"


def _capped(report: Report, shown: _Shown, paint: Painter, rest: str) -> Iterator[str]:
    more = [(c, n - shown.number[c]) for c, n in sorted(report.by_rule.items()) if n > shown.number[c]]
    for code, number in more:
        _, rule = shown.facts.get(code, ("", ""))
        yield paint("dim", f"… and {number:,} more of {code} {rule} ({rest})")
    if more:
        yield ""


def _unlisted(shown: _Shown, paint: Painter) -> Iterator[str]:
    """Of how many records no finding tells that stands for several."""
    for code, number in sorted(shown.unlisted.items()):
        yield paint(
            "dim", f"… and {many(number, 'more record')} with {code} {shown.facts[code][1]} (--each-record lists them)"
        )
    if shown.unlisted:
        yield ""


def _dataset_lines(datasets: Iterable[DatasetSummary], paint: Painter) -> Iterator[str]:
    datasets = list(datasets)
    width = max((len(file.kind) for dataset in datasets for file in dataset.files), default=0)
    for dataset in datasets:
        split = f", {dataset.split}" if dataset.split else ""
        yield f"{paint('bold', dataset.format)}{_profile(dataset)} {visible_text(dataset.path)}{split}"
        for file in dataset.files:
            records = f"{listed_records(file.records):>20}"
            yield f"  {file.kind:<{max(width, 12)}} {records} {size(file.bytes):>10}  {visible_text(file.path)}"
    yield ""


def _profile(dataset: DatasetSummary) -> str:
    return f" ({dataset.profile})" if dataset.profile else ""


def _formats(datasets: Iterable[DatasetSummary]) -> str:
    """What the datasets were checked as, which the list of them says where nothing is found."""
    names = list(dict.fromkeys(f"{dataset.format}{_profile(dataset)}" for dataset in datasets))
    return names[0] if len(names) == 1 else f"{', '.join(names[:_MOST_FORMATS])}{' …' * (len(names) > _MOST_FORMATS)}"


def _statistics(report: Report, shown: _Shown, paint: Painter) -> Iterator[str]:
    counted = sorted(report.by_rule.items(), key=lambda p: (-p[1], p[0]))
    facts = [shown.facts.get(code, ("", "")) for code, _ in counted]
    width = max((len(severity) for severity, _ in facts), default=0)
    for (code, number), (severity, rule) in zip(counted, facts, strict=True):
        blanks = " " * (width - len(severity))
        all_shown = shown.number[code] == number
        more = f" (in {number + shown.unlisted[code]:,} records)" if all_shown and shown.unlisted[code] else ""
        yield f"{number:>10,}  {code}  {paint(severity, severity) if severity else ''}{blanks} {rule}{more}"
    if report.by_rule:
        yield ""


def _unrecognised(report: Report, paint: Painter, verbose: bool) -> Iterator[str]:
    if not report.unrecognised:
        return
    number = len(report.unrecognised)
    names = [visible_text(p) for p in (report.unrecognised if verbose else report.unrecognised[:3])]
    more = "" if number <= len(names) else f" and {number - len(names):,} more (-v lists them)"
    yield paint("dim", f"not recognised, not checked: {', '.join(names)}{more}")


def _budgets(report: Report, paint: Painter) -> Iterator[str]:
    """The findings that may be there, of the rules of which there are some."""
    for budget in report.budgets:
        over = budget.found - budget.allowed
        if budget.found:
            words = f"{budget.rule}: {budget.found:,} of {budget.allowed:,} allowed"
            more = f", {over:,} too many" if over > 0 else ""
            path = f" ({visible_text(budget.path)})" if len(report.datasets) > 1 else ""
            yield paint("error" if over > 0 else "dim", f"{words}{more}{path}")


def _verdict(report: Report) -> str:
    """What there is to say where no error was found: valid is only what all rules were checked for."""
    if report.quality_only:
        return "Quality checked"
    if report.strict_files and report.unrecognised:
        return "Not all files checked"
    if not report.ok:
        return "Failed" if report.failing else "The baseline is out of date"
    if not report.selected:
        return "Valid"
    names = ", ".join(report.selected[:_MOST_SELECTED])
    more = len(report.selected) - _MOST_SELECTED
    return f"Only {names}{f' and {more:,} more' if more > 0 else ''} checked"


def _known(report: Report) -> str:
    """How many findings count nowhere, and what was not checked again."""
    baselined, older = sum(report.baselined.values()), sum(report.older.values())
    parts = [f"{baselined:,} baselined"] if baselined else []
    if older:
        parts.append(f"{older:,} not new since {visible_text(report.since)}")
    if report.unchanged:
        all_of_them = len({dataset.path for dataset in report.datasets}) == len(report.unchanged)
        what = "" if all_of_them else f"{many(len(report.unchanged), 'dataset')} "
        parts.append(f"{what}unchanged since {max(report.unchanged.values())}")
    return f" ({', '.join(parts)})" if parts else ""


def _summary(report: Report, shown: _Shown, paint: Painter, options: TextOptions) -> Iterator[str]:
    counts = report.counts
    if not report.datasets:
        passed = f": {many(len(report.unrecognised), 'file')} of no known format" if report.unrecognised else ""
        yield f"Nothing to check{passed}"
        return
    records = sum(f.records or 0 for d in report.datasets for f in d.files)
    files = sum(len(d.files) for d in report.datasets)
    counted = "" if report.quality_only else f", {many(records, 'record')}"
    formats = f"{_formats(report.datasets)}, " if options.quiet or (shown.number and not options.verbose) else ""
    what = f"{formats}{many(files, 'file')}{counted} in {report.seconds:.2f} s"
    parts = [paint(s, many(counts[s], s)) for s in ("error", "warning") if counts[s]]
    if counts["info"]:
        parts.append(f"{counts['info']:,} info")
    known = _known(report)
    if not counts["error"]:
        verdict = paint("good" if report.ok else "error", _verdict(report))
        comma = "," if report.selected and not report.quality_only else ""
        verdict += f"{comma} with {' and '.join(parts)}" if parts else ""
    else:
        verdict = "Found " + ", ".join(parts) + (", all allowed" if report.ok else "")
    verdict += known
    unchecked = len(report.unrecognised)
    left = paint("warning", f"; {many(unchecked, 'file')} not checked") if unchecked else ""
    yield f"{verdict}: {what}{left}"
    if counts["error"] and not options.quiet and shown.error:
        yield paint("dim", f"run `ragdata explain {shown.error}` for details; --statistics counts by rule")


def _fixable(report: Report, shown: _Shown, options: TextOptions) -> Iterator[str]:
    """How many places options would repair, where any would, and why not the others."""
    safe, unsafe = shown.fixable["safe"], shown.fixable["unsafe"]
    if options.unsafe_fixes:
        safe, unsafe = safe + unsafe, 0
    if safe or unsafe:
        parts = [f"{safe:,} fixable with `--fix`"] if safe else []
        if unsafe:
            parts.append(
                f"{unsafe:,} {'more with `--unsafe-fixes`' if safe else 'fixable with `--fix --unsafe-fixes`'}"
            )
        is_part = sum(shown.number.values()) < sum(report.by_rule.values())
        at_most = "up to " if report.unsure_fixes else ""
        yield f"{'Of those shown: ' if is_part else ''}{at_most}{', '.join(parts)}"
    if options.says_why_not:
        yield from _not_fixable(shown, options)


def _not_fixable(shown: _Shown, options: TextOptions) -> Iterator[str]:
    """Each reason for which fixes are withheld, once, with the rules of those findings."""
    wanted: dict[str, Counter[str]] = {}
    for (applicability, code, reason), number in shown.withheld.items():
        if options.unsafe_fixes or applicability == "safe":
            wanted.setdefault(reason, Counter())[f"{code} {shown.facts[code][1]}"] += number
    for reason, rules in list(wanted.items())[:_MOST_REASONS]:
        yield f"{rules.total():,} not fixable ({', '.join(rules)}): {visible_text(reason)}"
    if (more := len(wanted) - _MOST_REASONS) > 0:
        yield f"… and {many(more, 'more reason')} (--output-format json has all)"
