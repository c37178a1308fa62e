"""What a gate found, as text, JSON and a page of HTML that loads nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import orjson

from ragdatakit.reports.html.parts import Cell, badge, cards, escape, number, section, table
from ragdatakit.reports.summary.words import percent
from ragdatakit.reports.terminal import Painter, cut_to, one_line, painter, width_of, wrapped
from ragdatakit.schemas.gates import SEVERITIES, Check, GateResult, expectation_words, place_words, share_words
from ragdatakit.visible_text import visible_text

VERSION = 1
_SHOWN = 3
_LEAST_ROOM = 30
_STYLES = {"pass": ("good", "pass"), "fail": ("error", "FAIL"), "error": ("error", "ERROR")}


def gate_lines(
    result: GateResult, *, colour: bool = False, width: int = 100, quiet: bool = False, verbose: bool = False
) -> Iterator[str]:
    """The screen, line by line: what fails, with what was found; with ``verbose`` also what passes."""
    paint = painter(colour)
    if not quiet:
        for suite in result.suites:
            shown = [c for c in _of(result, suite.path) if verbose or not c.success]
            if shown:
                yield paint("bold", visible_text(suite.path))
            for check in shown:
                yield from _check_lines(check, paint, width)
            if shown:
                yield ""
        for note in result.notes:
            yield paint("warning", one_line(note))
    style = "good" if result.success else "error"
    yield paint(style, f"{_place(result)}: {verdict(result)}")


def _check_lines(check: Check, paint: Painter, width: int) -> Iterator[str]:
    style, word = _STYLES[status(check)]
    if word == "FAIL" and check.expectation.severity != "critical":
        style, word = "warning", check.expectation.severity
    place, found = one_line(place_words(check.expectation)), one_line(found_words(check))
    words = one_line(expectation_words(check.expectation))
    if check.success and found:
        words += f" · found {found}"
    room = width - 10 - width_of(place)
    yield f"  {paint(style, f'{word:8}')}{paint('bold', place)}  {cut_to(words, max(room - 2, _LEAST_ROOM))}"
    if not check.success:
        for line in wrapped(found, width - 17):
            yield f"{'':10}{paint('dim', 'found: ' if line == found[: len(line)] else '       ')}{line}"


def _place(result: GateResult) -> str:
    """What was looked at."""
    dataset = f", {one_line(result.dataset)}" if result.dataset else ""
    return f"{visible_text(result.path)}{dataset} ({result.format})"


def _of(result: GateResult, path: str) -> list[Check]:
    """The checks of one suite file."""
    places = {suite.path: sum(len(s.expectations) for s in result.suites[:n]) for n, suite in enumerate(result.suites)}
    suite = next(s for s in result.suites if s.path == path)
    return result.checks[places[path] : places[path] + len(suite.expectations)]


def status(check: Check) -> str:
    """``pass``, ``fail`` or ``error``."""
    return "pass" if check.success else "error" if check.error else "fail"


def verdict(result: GateResult) -> str:
    """The result in one sentence."""
    held = sum(check.success for check in result.checks)
    words = f"{held:,} of {len(result.checks):,} expectations hold"
    if result.failed:
        words += f", {len(result.failed):,} fail{'s' * (len(result.failed) == 1)}"
    if result.errors:
        words += f", {len(result.errors):,} could not be checked"
    if result.unread:
        words += ", but not all of the data could be read"
    return words


def found_words(check: Check) -> str:
    """What the data has instead."""
    if check.fault:
        return check.fault
    parts = []
    if check.observed is not None:
        of_rows = isinstance(check.observed, float) and share_words(check.expectation)
        parts.append(f"{100 * check.observed:.4g}%" if of_rows else _value(check.observed))
    examples = ", ".join(dict.fromkeys(_value(value) for value in check.examples[:_SHOWN] if value is not None))
    if check.unexpected and check.values:
        words = f"{check.unexpected:,} of {check.values:,} values ({percent(check.unexpected, check.values)})"
        parts.append(f"{words}, as {examples}" if examples else words)
    elif examples:
        parts.append(f"also {examples}")
    if check.missing:
        parts.append(f"not {', '.join(map(_value, check.missing[:_SHOWN]))}")
    return "; ".join(parts) or ("" if check.success else "no values")


def _value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.1f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return f"{{{', '.join(map(_value, value))}}}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(member)}" for name, member in value.items())
    text = str(value)
    return f'"{cut_to(text, 80)}"' if isinstance(value, str) else text


def gate_json(result: GateResult) -> bytes:
    """The JSON document, version 1."""
    document = {
        "version": VERSION,
        "success": result.success,
        "dataset": {"path": result.path, "name": result.dataset or result.name, "format": result.format},
        "library": {"name": "great_expectations", "version": result.library},
        "counts": {
            "expectations": len(result.checks),
            "passed": sum(check.success for check in result.checks),
            "failed": len(result.failed),
            "errors": len(result.errors),
            "failed_by_severity": {s: sum(c.expectation.severity == s for c in result.failed) for s in SEVERITIES},
        },
        "suites": [{"name": s.name, "path": s.path, "expectations": len(s.expectations)} for s in result.suites],
        "tables": [{"name": t.name, "rows": t.rows, "checked": t.checked, "sampled": t.sampled} for t in result.tables],
        "results": [_check(check) for check in result.checks],
        "notes": result.notes,
        "unread": result.unread,
        "seconds": result.seconds,
    }
    return orjson.dumps(_plain(document), option=orjson.OPT_INDENT_2) + b"\n"


def _check(check: Check) -> dict[str, Any]:
    expectation = check.expectation
    return {
        "suite": check.suite,
        "number": expectation.number,
        "table": expectation.table,
        "type": expectation.type,
        "kwargs": dict(expectation.kwargs),
        "severity": expectation.severity,
        "description": expectation.description or None,
        "status": status(check),
        "observed": check.observed,
        "values": check.values,
        "unexpected": check.unexpected,
        "examples": list(check.examples),
        "missing": list(check.missing),
        "fault": check.fault or None,
    }


def _plain(value: Any) -> Any:
    """Numbers that JSON does not have as null, texts that UTF-8 cannot hold with U+FFFD."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_plain(str(name)): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, int) else str(value)


def gate_page(result: GateResult) -> bytes:
    """One self-contained page: what fails first, then every expectation by table."""
    from ragdatakit.reports.html.frame import frame

    held = sum(check.success for check in result.checks)
    share = percent(held, len(result.checks)) if result.checks else ""
    parts = [
        cards(
            [
                (number(len(result.checks)), "expectations", ""),
                (number(held), "hold", share),
                (number(len(result.failed)), "fail", ""),
                (number(len(result.errors)), "could not be checked", ""),
                (number(len(result.tables)), "tables", f"{sum(t.rows for t in result.tables):,} rows"),
            ]
        )
    ]
    contents = []
    if wrong := [check for check in result.checks if not check.success]:
        contents.append(("failing", "Failing"))
        parts.append(section("failing", "Failing", _page_table("Expectations that do not hold", wrong)))
    if result.notes:
        body = "".join(f'<li class="warning">{escape(note)}</li>' for note in result.notes)
        parts.append(section("notes", "Notes", f'<ul class="notes">{body}</ul>'))
        contents.append(("notes", "Notes"))
    rows = {t.name: t for t in result.tables}
    for place, name in enumerate(dict.fromkeys(check.expectation.table for check in result.checks)):
        about = [check for check in result.checks if check.expectation.table == name]
        counted = f"{rows[name].rows:,} rows" if name in rows else "not in this dataset"
        if name in rows and rows[name].sampled:
            counted += f", {rows[name].checked:,} of them checked"
        parts.append(section(f"table-{place}", name, _page_table(f"Expectations on {name}", about), lead=counted))
        contents.append((f"table-{place}", name))
    suites = table(
        "Suites", ("file", "name", "expectations"), [(s.path, s.name, len(s.expectations)) for s in result.suites]
    )
    parts.append(section("suites", "Suites", suites, lead=f"Great Expectations {result.library}"))
    contents.append(("suites", "Suites"))
    title = result.name or result.path
    dataset = f", {result.dataset}" if result.dataset else ""
    lead = f"{verdict(result)}. {result.path}{dataset} ({result.format})"
    return frame(title, "\n".join(parts), kind="gate", lead=lead, contents=contents)


def _page_table(caption: str, checks: list[Check]) -> str:
    tones = {"pass": "good", "fail": "error", "error": "error"}
    words = {"pass": "pass", "fail": "fail", "error": "not checked"}
    rows = []
    for check in checks:
        tone = tones[status(check)]
        if status(check) == "fail" and check.expectation.severity != "critical":
            tone = check.expectation.severity
        word = words[status(check)] if tone in ("good", "error") else f"fail ({check.expectation.severity})"
        described = check.expectation.description
        about = expectation_words(check.expectation)
        rows.append(
            (
                place_words(check.expectation),
                Cell(badge(word, tone)),
                f"{described} — {about}" if described else about,
                found_words(check),
            )
        )
    return table(caption, ("what", "result", "expected", "found"), rows, hidden_caption=True, classes="blocks")
