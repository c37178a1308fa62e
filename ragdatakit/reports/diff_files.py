"""How two datasets differ, as JSON, Markdown and a page of HTML that needs no network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

import orjson

from ragdatakit.reports.diff_text import (
    difference_words,
    field_words,
    file_words,
    key_text,
    metric_words,
    pairs_verdict,
    tables_shown,
    value_text,
)
from ragdatakit.reports.text import visible_path
from ragdatakit.schemas.diffs import DatasetDiff, RecordShown, Side, TableDiff

VERSION = 1
_PAIR_HEADS = ("dataset", "", "added", "removed", "changed")
_HEADS = ("table", "before", "after", "added", "removed", "changed")
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_[]|~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})


def diff_json(diff: DatasetDiff) -> bytes:
    """The JSON document, version 1."""
    return orjson.dumps(diff_dict(diff), option=orjson.OPT_INDENT_2) + b"\n"


def diff_dict(diff: DatasetDiff) -> dict[str, Any]:
    """The JSON form."""
    return {"version": VERSION, **_comparison(diff)}


def _comparison(diff: DatasetDiff) -> dict[str, Any]:
    told: dict[str, Any] = _finite(
        {
            "different": diff.different,
            "before": _side(diff.before),
            "after": _side(diff.after),
            "counts": {"added": diff.added, "removed": diff.removed, "changed": diff.changed},
            "tables": [_table(table) for table in diff.tables],
            "kinds": [_table(table) for table in diff.kinds],
            "files": [
                {
                    "path": file.path,
                    "kind": file.kind,
                    "status": file.status,
                    "bytes": {"before": file.before_bytes, "after": file.after_bytes},
                    "records": {"before": file.before_records, "after": file.after_records},
                    "added": file.added,
                    "removed": file.removed,
                    "changed": file.changed,
                }
                for file in diff.files
            ],
            "metrics": [
                {"name": m.name, "title": m.title, "before": m.before, "after": m.after, "moved": m.moved}
                for m in diff.metrics
            ],
            "notes": diff.notes,
            "seconds": diff.seconds,
        }
    )
    pairs = [{"place": _finite(p.place), "status": p.status, "diff": _comparison(p.diff)} for p in diff.pairs]
    return {**told, "datasets": pairs}


def _side(side: Side) -> dict[str, str]:
    return {"path": side.path, "name": side.name, "format": side.format}


def _table(table: TableDiff) -> dict[str, Any]:
    return {
        "schema": table.schema,
        "name": table.name,
        "key": list(table.key),
        "rows": {"before": table.before, "after": table.after},
        "added": table.added,
        "removed": table.removed,
        "changed": table.changed,
        "changed_columns": table.columns,
        "columns_used": [{"column": u.column, "before": u.before, "after": u.after} for u in table.used],
        "added_records": [_record(record) for record in table.added_records],
        "removed_records": [_record(record) for record in table.removed_records],
        "changed_records": [
            {
                "key": dict(record.key),
                "changes": [
                    {"column": c.column, "before": c.before, "after": c.after, "at": c.at} for c in record.changes
                ],
            }
            for record in table.changed_records
        ],
    }


def _record(record: RecordShown) -> dict[str, Any]:
    return {"key": dict(record.key), "values": dict(record.row)}


def _finite(value: Any) -> Any:
    """Numbers that JSON does not have as null, texts that UTF-8 cannot hold with U+FFFD."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, dict):
        return {_finite(name): _finite(member) for name, member in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def verdict(diff: DatasetDiff) -> str:
    """The result in one sentence."""
    if diff.pairs:
        return pairs_verdict(diff)
    if not diff.different:
        return "No record differs."
    return f"{difference_words(diff)}."


def _counts(diff: DatasetDiff) -> Iterator[tuple[str, ...]]:
    for table in tables_shown(diff):
        if table.different or table.before or table.after:
            rows = (f"{n:,}" if n is not None else "—" for n in (table.before, table.after))
            yield (table.called, *rows, f"{table.added:,}", f"{table.removed:,}", f"{table.changed:,}")


def _pair_cells(diff: DatasetDiff) -> Iterator[tuple[str, ...]]:
    for pair in diff.pairs:
        counts = (f"{getattr(pair.diff, word):,}" for word in ("added", "removed", "changed"))
        yield (pair.place, pair.status, *counts)


def diff_markdown(diff: DatasetDiff) -> bytes:
    """Markdown as GitHub has it, for a comment on a pull request."""
    return "".join(f"{line}\n" for line in _markdown_lines(diff)).encode("utf-8", "replace")


def _markdown_lines(diff: DatasetDiff) -> Iterator[str]:
    yield f"## {_md(diff.before.path)} → {_md(diff.after.path)}"
    yield ""
    yield f"**{_md(verdict(diff))}**"
    yield ""
    if diff.pairs:
        yield from _markdown_table(_PAIR_HEADS, _pair_cells(diff), right=range(2, 5))
    for pair in diff.pairs:
        if pair.status == "changed":
            yield f"## {_md(pair.place)}"
            yield ""
            yield from _markdown_body(pair.diff)
            yield ""
    yield from _markdown_body(diff)


def _markdown_body(diff: DatasetDiff) -> Iterator[str]:
    if diff.told:
        yield from _markdown_table(_HEADS, _counts(diff), right=range(1, 6))
    for table in diff.told:
        yield f"### {_md(table.called)}"
        yield ""
        for word, records in (("removed", table.removed_records), ("added", table.added_records)):
            for record in records:
                values = ", ".join(f"{_md(n)} {_md(value_text(v))}" for n, v in record.row.items())
                yield f"- {word} {_md(key_text(record.key))}{': ' if values else ''}{values}"
            yield from _markdown_rest(getattr(table, word) - len(records), word)
        for change in table.changed_records:
            yield f"- changed {_md(key_text(change.key))}"
            for value in change.changes:
                place = f" (at character {value.at:,})" if value.at is not None else ""
                old, new = _md(value_text(value.before)), _md(value_text(value.after))
                yield f"  - {_md(value.column)}{place}: {old} → {new}"
        yield from _markdown_rest(table.changed - len(table.changed_records), "changed")
        yield ""
    files = [(file.status, file.path, file_words(file)) for file in diff.files if file.status != "same"]
    if files:
        yield from _markdown_table(("file", "path", "what"), files)
        if told := field_words(diff):
            yield _md(told)
            yield ""
    if diff.metrics:
        yield from _markdown_table(("number", "before → after"), ((m.title, metric_words(m)) for m in diff.metrics))
    yield from (f"{_md(note)}  " for note in diff.notes)


def _markdown_rest(number: int, word: str) -> Iterator[str]:
    if number > 0:
        yield f"- … and {number:,} more {word}"


def _markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> Iterator[str]:
    marks = set(right)
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('---:' if i in marks else '---' for i in range(len(heads)))}|"
    for row in rows:
        yield f"| {' | '.join(_md(cell) for cell in row)} |"
    yield ""


def _md(text: str) -> str:
    return visible_path(text).translate(_MARKDOWN)


_STYLE = """
:root{color-scheme:light dark;--back:#fff;--text:#1c2128;--soft:#57606a;--line:#d0d7de;--card:#f6f8fa;
--added:#116329;--addedback:#dafbe1;--removed:#a40e26;--removedback:#ffebe9;--changed:#7d4e00;--changedback:#fff8c5}
@media(prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9198a1;--line:#3d444d;--card:#151b23;
--added:#56d364;--addedback:#12261e;--removed:#ff8078;--removedback:#2d1517;--changed:#e3b341;--changedback:#272115}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:70rem;padding:1.5rem 1rem 4rem;background:var(--back);color:var(--text);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;margin:0 0 .25rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{margin:.25rem 0}.soft{color:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;min-width:100%;font-size:.95rem}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code,.v{font-family:ui-monospace,monospace;font-size:.875rem;overflow-wrap:anywhere;white-space:pre-wrap}
article{border:1px solid var(--line);border-left-width:.35rem;border-radius:.4rem;background:var(--card);
padding:.5rem .75rem;margin:.5rem 0}
article.added{border-left-color:var(--added)}article.removed{border-left-color:var(--removed)}
article.changed{border-left-color:var(--changed)}
.word{font-weight:600;margin-right:.5rem}.added>.word,b.added{color:var(--added)}
.removed>.word,b.removed{color:var(--removed)}.changed>.word,b.changed{color:var(--changed)}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.15rem .75rem;margin:.35rem 0 0}
dt{color:var(--soft);overflow-wrap:anywhere}dd{margin:0;min-width:0}
del,ins{display:block;text-decoration:none;border-radius:.25rem;padding:.1rem .4rem;margin:.1rem 0}
del{background:var(--removedback)}ins{background:var(--addedback)}del::before{content:"− "}ins::before{content:"+ "}
@media(max-width:40rem){dl{grid-template-columns:1fr}dt{margin-top:.3rem}
table{font-size:.8rem}th,td{padding:.3rem .25rem}}
@media print{body{max-width:none}article{break-inside:avoid}}
"""


def diff_html(diff: DatasetDiff) -> bytes:
    """One page without scripts, light and dark, for a phone and for paper; all data is escaped."""
    title = f"{diff.before.path} → {diff.after.path}"
    body = "".join(f"{line}\n" for line in _html_lines(diff))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_html(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
    return page.encode("utf-8", "replace")


def _html_lines(diff: DatasetDiff) -> Iterator[str]:
    yield f"<main><h1>{_html(diff.before.path)} → {_html(diff.after.path)}</h1>"
    yield f'<p class="soft">{_html(diff.before.format)} → {_html(diff.after.format)}</p>'
    yield f"<p><strong>{_html(verdict(diff))}</strong></p>"
    if diff.pairs:
        yield "<h2>Datasets</h2>"
        yield from _html_table(_PAIR_HEADS, _pair_cells(diff), right=range(2, 5))
    for pair in diff.pairs:
        if pair.status == "changed":
            yield f"<section><h2>{_html(pair.place)}</h2>"
            yield from _html_body(pair.diff)
            yield "</section>"
    yield from _html_body(diff)
    yield "</main>"


def _html_body(diff: DatasetDiff) -> Iterator[str]:
    if diff.told:
        yield "<h2>Tables</h2>"
        yield from _html_table(_HEADS, _counts(diff), right=range(1, 6))
    for table in diff.told:
        yield from _html_records(table)
    files = [(f.status, f.path, file_words(f)) for f in diff.files if f.status != "same"]
    if files:
        yield "<h2>Files</h2>"
        yield from _html_table(("file", "path", "what"), files)
        if told := field_words(diff):
            yield f'<p class="soft">{_html(told)}</p>'
    if diff.metrics:
        yield "<h2>Numbers that moved</h2>"
        yield from _html_table(("number", "before → after"), ((m.title, metric_words(m)) for m in diff.metrics))
    yield from (f'<p class="soft">{_html(note)}</p>' for note in diff.notes)


def _html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> Iterator[str]:
    kinds = [' class="n"' if i in set(right) else "" for i in range(len(heads))]
    yield '<div class="scroll" tabindex="0"><table><thead><tr>'
    yield "".join(f'<th scope="col"{kind}>{_html(head)}</th>' for head, kind in zip(heads, kinds, strict=True))
    yield "</tr></thead><tbody>"
    for row in rows:
        cells = "".join(f"<td{kind}>{_html(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))
        yield f"<tr>{cells}</tr>"
    yield "</tbody></table></div>"


def _html_records(table: TableDiff) -> Iterator[str]:
    yield f"<section><h2>{_html(table.called)}</h2>"
    if table.columns:
        told = ", ".join(f"{name} {count:,}" for name, count in table.columns.items())
        yield f'<p class="soft">changed columns: {_html(told)}</p>'
    for word, records in (("removed", table.removed_records), ("added", table.added_records)):
        for record in records:
            yield _html_head(word, key_text(record.key))
            values = "".join(
                f'<dt>{_html(name)}</dt><dd class="v">{_html(value_text(value))}</dd>'
                for name, value in record.row.items()
            )
            yield f"<dl>{values}</dl></article>" if values else "</article>"
        yield from _html_rest(getattr(table, word) - len(records), word)
    for change in table.changed_records:
        yield _html_head("changed", key_text(change.key))
        yield "<dl>"
        for value in change.changes:
            place = f' <span class="soft">at character {value.at:,}</span>' if value.at is not None else ""
            old, new = _html(value_text(value.before)), _html(value_text(value.after))
            yield f'<dt>{_html(value.column)}{place}</dt><dd class="v"><del>{old}</del><ins>{new}</ins></dd>'
        yield "</dl></article>"
    yield from _html_rest(table.changed - len(table.changed_records), "changed")
    yield "</section>"


def _html_head(word: str, key: str) -> str:
    return f'<article class="{word}"><span class="word">{word}</span><code>{_html(key)}</code>'


def _html_rest(number: int, word: str) -> Iterator[str]:
    if number > 0:
        yield f'<p class="soft">… and {number:,} more {word}</p>'


def _html(text: str) -> str:
    return escape(visible_path(text), quote=True)
