"""Formats and rules, for people and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.reports.terminal import painter
from ragdatakit.schemas import all_formats, get_format

if TYPE_CHECKING:
    from ragdatakit.schemas.declarations import Format, Rule

    Pair = tuple[Rule, Format | None]
    """A rule and its format; None: it is one of all formats."""


FIXED_BY = {"safe": "With --fix", "unsafe": "With --fix --unsafe-fixes", "display": "A fix is shown, never made"}
"""How fixes of each kind are called."""


def format_dict(fmt: Format) -> dict[str, Any]:
    """The JSON form of a format."""
    return {
        "name": fmt.name,
        "title": fmt.title,
        "description": fmt.description,
        "homepage": fmt.homepage,
        "profiles": list(fmt.profiles),
        "files": [{"kind": k.kind, "title": k.title, "container": k.container} for k in fmt.files],
        "rules": len(fmt.rules),
    }


def format_lines(formats: Sequence[Format], colour: bool) -> Iterator[str]:
    """The formats with their files."""
    paint = painter(colour)
    for number, fmt in enumerate(formats):
        if number:
            yield ""
        yield f"{paint('bold', fmt.name)}  {fmt.homepage}"
        yield f"  {fmt.description}"
        if fmt.profiles:
            yield f"  profiles: {', '.join(fmt.profiles)}"
        kinds = max(len(kind.kind) for kind in fmt.files)
        titles = max(len(kind.title) for kind in fmt.files)
        for kind in fmt.files:
            named = [pair for layout in fmt.layouts for pair in {**layout.patterns, **layout.loose}.items()]
            patterns = [p for p, k in named if k == kind.kind]
            shown = ", ".join(list(dict.fromkeys(patterns))[:2])
            yield f"  {kind.kind:<{max(kinds, 15)}} {kind.title:<{max(titles, 24)}} {shown}".rstrip()


def rule_dict(rule: Rule, fmt: Format | None, chosen: str | None) -> dict[str, Any]:
    """The JSON form of a rule, as bad as the format ``chosen`` takes it (None: as it is of itself)."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": _severity(rule, fmt, chosen),
        "severities": dict(rule.severities),
        "format": fmt.name if fmt else None,
        "summary": rule.summary,
        "upstream": rule.upstream if isinstance(rule.upstream, str) else dict(rule.upstream),
        "hint": rule.hint,
        "fix": dict(rule.fixes),
        "fixable": any(how != "display" for how in rule.fixes),
        "source": rule.source,
        "since": rule.since,
        "status": rule.status,
        "replaced_by": rule.replaced_by or None,
    }


def rule_lines(rules: Sequence[Pair], chosen: str | None) -> Iterator[str]:
    """A line for each rule, as bad as the format ``chosen`` takes it (None: as it is of itself)."""
    codes, width = max(len(rule.code) for rule, _ in rules), max(len(rule.name) for rule, _ in rules)
    for rule, fmt in rules:
        severity = _severity(rule, fmt, chosen)
        yield f"{rule.code:<{codes}}  {severity:<7}  {rule.name:<{width}}  {fix_mark(rule):3} {rule.summary}"


def fix_mark(rule: Rule) -> str:
    """How lists of rules mark one that `--fix` repairs, or that it repairs only with `--unsafe-fixes`."""
    return "[*]" if "safe" in rule.fixes else "[-]" if "unsafe" in rule.fixes else ""


def _severity(rule: Rule, fmt: Format | None, chosen: str | None) -> str:
    """What a rule is where no profile is chosen; a shared one as the chosen format takes it ("-": no fault there)."""
    if fmt is not None:
        return rule.severity_for(fmt.default_profiles)
    adopted = get_format(chosen).adopts.get(rule.name) if chosen is not None else None
    return rule.severity if adopted is None else adopted.severity or "-"


def explanation_lines(
    asked: str,
    rules: Sequence[Pair],
    thresholds: Callable[[str], list[tuple[str, float, str]]],
    origins: Mapping[str, str],
    colour: bool,
) -> Iterator[str]:
    """What is known of a rule, which several formats may have; a list where the rules that were ``asked`` for are
    several. ``thresholds`` gives name, default and meaning of those that a summary names; ``origins`` says by code
    whose the rules are that are not ours."""
    if len({rule.name for rule, _ in rules}) > 1:
        yield f"{len(rules)} rules begin with {asked}:\n"
        yield from rule_lines(rules, None)
        return
    for number, (rule, fmt) in enumerate(rules):
        if number:
            yield ""
        yield from _explained(rule, fmt, thresholds, origins.get(rule.code, ""), colour)


def _explained(
    rule: Rule, fmt: Format | None, thresholds: Callable[[str], list[tuple[str, float, str]]], origin: str, colour: bool
) -> Iterator[str]:
    comma = ";" if rule.severities else ","
    of = fmt.name if fmt else "any format"
    facts = f"({rule.severity_words()}{comma} {of}; {f'of {origin}' if origin else f'since {rule.since}'})"
    yield f"{painter(colour)('bold', f'{rule.code} {rule.name}')}  {facts}"
    if rule.status != "stable":
        replaced = f"; {rule.replaced_by} has taken its place" if rule.replaced_by else ""
        yield f"\n{rule.status.capitalize()}{replaced}."
    yield f"\n{_wrap(rule.summary)}\n"
    if origin and not rule.upstream:
        yield from ([_wrap(f"What to do: {rule.hint}.")] if rule.hint else [])
        return
    if fmt is None:
        yield from _of_any_format(rule)
        if numbers := thresholds(rule.summary):
            yield "\nThresholds (--quality-option NAME=VALUE, or [quality] in ragdata.toml):"
        for name, default, meaning in numbers:
            yield _wrap(f"{name} = {default:g}: {meaning}", "  ")
    elif isinstance(rule.upstream, str):
        yield _wrap(f"What {fmt.title} does: {rule.upstream}.")
    else:
        yield f"What {fmt.title} does:"
        for profile, text in rule.upstream.items():
            yield _wrap(f"{profile}: {text}", "  ")
    yield f"\n{_wrap(f'What to do: {rule.hint}.')}"
    for how, what in rule.fixes.items():
        yield f"\n{_wrap(f'{FIXED_BY[how]}: {what}.')}"
    for label, text in (("Bad", rule.bad), ("Good", rule.good)):
        if text:
            yield f"\n{label}:"
            yield textwrap.indent(text, "  ")
    if rule.source:
        yield f"\nSource: {rule.source}"


def _of_any_format(rule: Rule) -> Iterator[str]:
    yield _wrap(f"What happens: {rule.consequence()}.")
    for fmt in all_formats():
        if adopted := fmt.adopts.get(rule.name):
            upstream = adopted.upstream
            text = upstream if isinstance(upstream, str) else "; ".join(f"{p}: {t}" for p, t in upstream.items())
            yield _wrap(f"{fmt.name} ({adopted.severity or 'no fault'}): {text}", "  ")


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text.replace("..", "."), 100, initial_indent=indent, subsequent_indent=indent + "  " * bool(indent)
    )
