"""Which settings hold for a path, as lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragdatakit.reports.terminal import Painter, cut_to, one_line, padded, painter, width_of
from ragdatakit.schemas.settings.applied import Applied, AppliedSettings
from ragdatakit.visible_text import visible_text

_MOST = 60


def applied_lines(applied: AppliedSettings, colour: bool = False) -> Iterator[str]:
    """The files, then what holds for all, then for each dataset what its sections and the top level say."""
    paint = painter(colour)
    if not applied.files:
        yield f"No settings for {visible_text(applied.path)}: neither ragdata.toml nor [tool.ragdata] upwards from it"
        yield from _beside(applied)
        return
    nearest, *extended = (visible_text(file) for file in applied.files)
    yield f"Settings for {visible_text(applied.path)} from {nearest}"
    for file in extended:
        yield f"  which extends {file}"
    if applied.excluded:
        yield paint("warning", f"{visible_text(applied.path)} is excluded: nothing of it is read")
    yield ""
    yield from _settings(applied.settings, paint)
    for dataset in applied.datasets:
        yield ""
        yield f"{paint('bold', visible_text(dataset.path))} ({dataset.format})"
        yield from _settings(dataset.settings, paint) if dataset.settings else ["  the defaults"]
    yield from _tables(applied, paint)
    yield from _rules(applied, paint)
    yield from _plugins(applied, paint)
    if applied.unused:
        yield ""
        yield f"Without a dataset here: the sections at {', '.join(map(visible_text, applied.unused))}"
    yield from _beside(applied)


def _beside(applied: AppliedSettings) -> Iterator[str]:
    """The baseline that holds, and what lies further down and does not."""
    if applied.baseline:
        yield ""
        missing = "" if Path(applied.baseline).is_file() else " (not there yet)"
        yield f"Baseline: {visible_text(applied.baseline)}{missing}"
    if applied.not_used:
        yield ""
        yield "Not used here, but for paths at or below their folders: " + ", ".join(
            map(visible_text, applied.not_used)
        )


def _tables(applied: AppliedSettings, paint: Painter) -> Iterator[str]:
    for table in applied.tables:
        yield ""
        paths = ", ".join(map(one_line, table.paths))
        place = paint("dim", f"{visible_text(table.place)} [[table]]")
        yield f"{paint('bold', paths)} (table of {table.kind})  {place}"
        yield f"  files  {', '.join(map(one_line, table.files)) or 'none below this path'}"
        yield from _settings(table.settings, paint)


def _rules(applied: AppliedSettings, paint: Painter) -> Iterator[str]:
    if not applied.rules:
        return
    yield ""
    yield paint("bold", "Rules of the project")
    rows = [
        (f"{one.code} {one.name}", one.severity, one.by, one.format or "any format", visible_text(one.place))
        for one in applied.rules
    ]
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    for *cells, place in rows:
        yield f"  {'  '.join(map(padded, cells, widths))}  {paint('dim', place)}"


def _plugins(applied: AppliedSettings, paint: Painter) -> Iterator[str]:
    if applied.plugins or applied.plugins_forbidden:
        yield ""
        yield paint("bold", "Plug-ins")
    if applied.plugins_forbidden:
        yield "  none is loaded: they are forbidden (--no-plugins or RAGDATA_NO_PLUGINS)"
    for one in applied.plugins:
        brings = [("rules", one.rules), ("formats", one.formats), ("models", one.models)]
        words = "; ".join(f"{what} {', '.join(map(one_line, names))}" for what, names in brings if names)
        yield f"  {one_line(one.name)} {one_line(one.version)}  {words}  {paint('dim', visible_text(one.place))}"


def _settings(settings: Sequence[Applied], paint: Painter) -> Iterator[str]:
    names = [one_line(one.name) for one in settings]
    values = [cut_to(one_line(json.dumps(one.value, ensure_ascii=False)), _MOST) for one in settings]
    width, wide = max(map(width_of, names), default=0), max(map(width_of, values), default=0)
    for name, value, one in zip(names, values, settings, strict=True):
        section = f" {one.section}" if one.section else ""
        yield f"  {padded(name, width)}  {padded(value, wide)}  {paint('dim', visible_text(one.place) + section)}"
