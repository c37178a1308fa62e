"""Contexts beside chunks: how many chunks have one, how many say something of their own, how much they add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.schemas.summaries import ContextPair, ContextSummary, Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragdatakit.database.dataset_database import DatasetDatabase

_MOST, _LONGEST = 10, 700
_COUNTED = """
select count(*), count(nullif(trim(context), '')), count(distinct nullif(trim(context), '')),
  count(*) filter (contains(context, trim(text)) and trim(text) <> ''),
  coalesce(sum(length(context)), 0), coalesce(sum(length(text)) filter (trim(context) <> ''), 0)
from main.chunks
"""
_GIVEN = "from main.chunks where trim(context) <> ''"
_CHOSEN = (
    ("first", f"select min(rowid) {_GIVEN}"),
    ("longest", f"select rowid {_GIVEN} order by length(context) desc, rowid limit 1"),
    ("shortest", f"select rowid {_GIVEN} order by length(context), rowid limit 1"),
    (
        "contains its chunk",
        f"select rowid {_GIVEN} and contains(context, trim(text)) and trim(text) <> '' order by rowid limit 2",
    ),
    ("random", f"select rowid {_GIVEN} order by hash(chunk_id), rowid limit {_MOST}"),
)


def read_contexts(database: DatasetDatabase) -> ContextSummary | None:
    """The contexts of chunks; None where no chunk has one."""
    if not database.count("chunks"):
        return None
    facts = database.column_facts("chunks", "context")
    if facts is not None and facts.missing == database.count("chunks"):
        return None
    at = database.load("chunks")
    if not at.execute(f"select 1 {_GIVEN} limit 1").fetchall():
        return None  # before all texts are looked at
    chunks, given, distinct, repeating, added, own = at.execute(_COUNTED).fetchall()[0]
    chosen: dict[int, str] = {}
    for why, query in _CHOSEN:
        for (place,) in at.execute(query).fetchall():
            if len(chosen) < _MOST:
                chosen.setdefault(place, why)
    columns = f"rowid, chunk_id, doc_id, left(trim(context), {_LONGEST + 1}), left(text, {_LONGEST + 1})"
    query = f"select {columns} from main.chunks where rowid in (select unnest(?::bigint[]))"
    rows = {place: row for place, *row in at.execute(query, [list(chosen)]).fetchall()}
    pairs = (
        ContextPair(rows[place][0] or "", rows[place][1], _cut(rows[place][2]), _cut(rows[place][3] or ""), why)
        for place, why in chosen.items()
    )
    return ContextSummary(chunks, given, distinct, repeating, added / own if own else 0.0, tuple(pairs))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def context_notes(found: ContextSummary) -> Iterator[Note]:
    """What is reported of the contexts of chunks."""
    share = f"; they add {found.added:.0%} to the text of these" if found.added else ""
    every = found.given == found.chunks
    words = f"{'every chunk has' if every else f'{found.given:,} of {found.chunks:,} chunks have'} a context{share}"
    yield Note("contexts.chunks", words, found.given / found.chunks, "info" if every else "warning")
    if found.distinct < found.given:
        words = f"{found.given:,} contexts are {found.distinct:,} different texts: chunks of one document share theirs"
        yield Note("contexts.distinct", words, found.distinct)
    if found.repeating:
        words = f"{found.repeating:,} contexts contain their chunk, which is then indexed twice"
        yield Note("contexts.repeating", words, found.repeating, "warning")
