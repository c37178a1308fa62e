"""How two datasets differ, as a page: the counts, then the records table by table, files, numbers that moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragdatakit.reports.diff.text import (
    NOT_ALL,
    field_words,
    file_words,
    key_text,
    metric_words,
    metrics_shown,
    not_read,
    rest_words,
    tables_shown,
    tables_with_rows,
    value_text,
    verdict,
)
from ragdatakit.reports.html.frame import frame
from ragdatakit.reports.html.parts import Cell, badge, escape, name_html, plain, section, table
from ragdatakit.schemas.diffs import DatasetDiff, RecordShown, TableDiff, ValueChange
from ragdatakit.schemas.texts import shortened

_COUNTS = ("added", "removed", "changed")
_TONES = {"added": "good", "removed": "error", "changed": "warning"}
_TITLE, _MOST_LINKS, _MOST_OTHERS = 120, 8, 200

Part = tuple[str, str, str]
"""A section: what its id ends with, its title, its HTML."""


def diff_html(diff: DatasetDiff) -> bytes:
    """The page: one file that loads nothing; all data is escaped."""
    changed = [pair for pair in diff.pairs if pair.status == "changed"]
    found = list(_parts(diff, 2))
    contents = [("overview", "Overview"), *((f"d-{name}", shortened(title, 40)) for name, title, _ in found)]
    contents += [(f"d{n}", shortened(pair.place, 40)) for n, pair in enumerate(changed, 1)]
    body = section("overview", "Overview", _overview(diff))
    for n, pair in enumerate(changed, 1):
        inner = "".join(section(f"d{n}-{name}", title, html, level=3) for name, title, html in _parts(pair.diff, 3))
        counts = _counts(pair.diff) if tables_shown(pair.diff) else ""
        body += section(f"d{n}", shortened(pair.place, _TITLE), counts + _notes(pair.diff) + inner)
    body += "".join(section(f"d-{name}", title, html) for name, title, html in found)
    return frame(
        f"{shortened(diff.before.path, _TITLE)} → {shortened(diff.after.path, _TITLE)}",
        body,
        kind="diff",
        lead=_formats(diff),
        contents=contents if 1 < len(contents) <= _MOST_LINKS else (),
        styles=["diff.css"],
    )


def _formats(diff: DatasetDiff) -> str:
    before, after = diff.before.format, diff.after.format
    return f"{before} format" if before == after else f"{before} → {after} format"


def _overview(diff: DatasetDiff) -> str:
    has_verdict = diff.different or diff.unread or diff.pairs or diff.other_files
    words = verdict(diff).removeprefix(f"{NOT_ALL}: ") if has_verdict else ""
    mark = badge("different", "warning") if diff.different else badge("no record differs", "good")
    mark = badge(NOT_ALL.lower(), "error") if diff.unread else mark
    body = f'<p class="verdict">{mark} <span dir="auto">{escape(words)}</span></p>'
    if diff.pairs:
        rows = ([Cell(f"<bdi>{name_html(p.place)}</bdi>"), p.status, *_records(p.diff)] for p in diff.pairs)
        body += table("Datasets", ("dataset", "what", *_COUNTS), rows, classes="blocks")
    elif tables_shown(diff):
        body += _counts(diff)
    return body + _notes(diff)


def _counts(diff: DatasetDiff) -> str:
    rows = (
        [
            Cell(f'{escape(t.called)} <span class="small muted">{not_read(t)}</span>') if t.unread else t.called,
            *(Cell("–" if n is None else f"{n:,}", numeric=True) for n in (t.before, t.after)),
            *([Cell("–", numeric=True)] * len(_COUNTS) if t.unread else _records(t)),
        ]
        for t in tables_with_rows(diff)
    )
    return table("Rows by table", ("table", "before", "after", *_COUNTS), rows, classes="blocks")


def _records(counted: DatasetDiff | TableDiff) -> list[Cell]:
    counts = (getattr(counted, word) for word in _COUNTS)
    return [Cell(f'<span class="{"some" if n else "none"}">{n:,}</span>', numeric=True) for n in counts]


def _notes(diff: DatasetDiff) -> str:
    items = "".join(f'<li><span dir="auto">{escape(note)}</span></li>' for note in diff.notes)
    return f'<ul class="notes">{items}</ul>' if items else ""


def _parts(diff: DatasetDiff, level: int) -> Iterator[Part]:
    """The tables that differ, the files and the numbers; none of a folder of several datasets."""
    for n, one in enumerate(diff.differing, 1):
        yield f"table{n}", one.called, _table(one)
    files = [
        (Cell(f"<bdi>{name_html(f.path)}</bdi>"), f.status, file_words(f)) for f in diff.files if f.status != "same"
    ]
    if files:
        fields = field_words(diff)
        lead = f'<p class="small muted">{escape(fields)}</p>' if fields else ""
        yield (
            "files",
            "Files",
            table("Files that differ", ("file", "what", "size and records"), files, classes="blocks") + lead,
        )
    others = [
        (Cell(f"<bdi>{name_html(f.path)}</bdi>"), f.status, file_words(f))
        for f in diff.other_files
        if f.status != "same"
    ]
    if others:
        shown = table(
            "Files of no dataset that differ", ("file", "what", "size"), others[:_MOST_OTHERS], classes="blocks"
        )
        yield "others", "Other files", shown + _rest(len(others) - _MOST_OTHERS, "other files")
    metrics, rest = metrics_shown(diff)
    if metrics:
        rows = ((Cell(f'<span dir="auto">{escape(m.title)}</span>'), metric_words(m)) for m in metrics)
        shown = table("Numbers of the two reports", ("number", "before → after"), rows, hidden_caption=True)
        more = f'<p class="small muted">{rest_words(rest)}</p>' if rest else ""
        yield "numbers", "Numbers that moved", shown + more


def _table(one: TableDiff) -> str:
    out = ""
    if one.columns:
        columns = ", ".join(f"{escape(name)} {count:,}" for name, count in one.columns.items())
        out += f'<p class="small muted">Changed columns: {columns}</p>'
    for word, records in (("removed", one.removed_records), ("added", one.added_records)):
        out += "".join(_article(word, key_text(r.key), _values(r)) for r in records)
        out += _rest(getattr(one, word) - len(records), word)
    for change in one.changed_records:
        out += _article("changed", key_text(change.key), map(_change, change.changes))
    return out + _rest(one.changed - len(one.changed_records), "changed")


def _article(word: str, key: str, values: Iterable[str]) -> str:
    inner = "".join(values)
    shown = f'<dl class="record">{inner}</dl>' if inner else ""
    head = f'<p class="key">{badge(word, _TONES[word])} <code dir="auto">{escape(key)}</code></p>'
    return f'<article class="difference {word}">{head}{shown}</article>'


def _values(record: RecordShown) -> Iterator[str]:
    for name, value in record.row.items():
        yield f'<dt>{escape(name)}</dt><dd><span dir="auto">{escape(value_text(value))}</span></dd>'


def _change(change: ValueChange) -> str:
    place = f' <span class="small">at character {change.at:,}</span>' if change.at is not None else ""
    old, new = marked(value_text(change.before), value_text(change.after))
    return f'<dt>{escape(change.column)}{place}</dt><dd><del dir="auto">{old}</del><ins dir="auto">{new}</ins></dd>'


def marked(before: str, after: str) -> tuple[str, str]:
    """Both texts as HTML in which what only one of them has is marked, from the first difference to the last.

    Words of Latin letters are marked whole; texts that have nothing in common are not marked.
    """
    old, new = plain(before), plain(after)
    most = min(len(old), len(new))
    first = next((n for n in range(most) if old[n] != new[n]), most)
    last = next((n for n in range(most - first) if old[-1 - n] != new[-1 - n]), most - first)
    while first and any(_in_word(text, first) for text in (old, new)):
        first -= 1
    while last and any(_in_word(text, len(text) - last) for text in (old, new)):
        last -= 1
    if not old[:first].strip('"') and not old[len(old) - last :].strip('"'):
        return escape(old), escape(new)
    shown = []
    for text in (old, new):
        middle = text[first : len(text) - last]
        mark = f"<mark>{escape(middle)}</mark>" if middle else ""
        shown.append(f"{escape(text[:first])}{mark}{escape(text[len(text) - last :])}")
    return shown[0], shown[1]


def _in_word(text: str, place: int) -> bool:
    """Whether the two characters around a place are of one word."""
    around = text[max(place - 1, 0) : place + 1]
    return len(around) == 2 and around.isascii() and around.isalnum()


def _rest(number: int, word: str) -> str:
    return f'<p class="small muted">And {number:,} more {word}.</p>' if number > 0 else ""
