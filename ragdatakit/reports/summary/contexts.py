"""Contexts beside chunks: how many chunks have one, how many say something of their own, how much they add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.schemas.summaries import Note

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase

_COUNTED = """
select count(*), count(nullif(trim(context), '')), count(distinct nullif(trim(context), '')),
  count(*) filter (contains(context, trim(text)) and trim(text) <> ''),
  coalesce(sum(length(context)), 0), coalesce(sum(length(text)) filter (trim(context) <> ''), 0)
from main.chunks
"""


def context_notes(database: DatasetDatabase) -> list[Note]:
    """What is reported of the contexts of chunks; nothing where no chunk has one."""
    if not database.count("chunks"):
        return []
    chunks, given, distinct, repeating, added, own = database.load("chunks").execute(_COUNTED).fetchall()[0]
    if not given:
        return []
    share = f"; they add {added / own:.0%} to the text of these" if own else ""
    words = f"{'every chunk has' if given == chunks else f'{given:,} of {chunks:,} chunks have'} a context{share}"
    notes = [Note("contexts.chunks", words, given / chunks, "info" if given == chunks else "warning")]
    if distinct < given:
        words = f"{given:,} contexts are {distinct:,} different texts: chunks of one document share theirs"
        notes.append(Note("contexts.distinct", words, distinct))
    if repeating:
        words = f"{repeating:,} contexts contain their chunk, which is then indexed twice"
        notes.append(Note("contexts.repeating", words, repeating, "warning"))
    return notes
