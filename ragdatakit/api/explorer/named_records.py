"""The records that a finding is about: those of the ids in its key, and the one that connects them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragdatakit.api.explorer.opened import OpenedDataset
from ragdatakit.api.explorer.references import IDS
from ragdatakit.reports.html.explorer.values import Target

_CONNECTING = {
    "qrels": ("question_id", "target_id"),
    "runs": ("question_id", "target_id"),
    "pair_scores": ("question_id", "doc_id"),
    "triplets": ("question_id", "positive_id", "negative_id"),
}
"""Tables whose records have no id of their own, with the columns that name others."""
_QUESTIONS, _PASSAGES = ("qid", "quer", "question", "topic"), ("doc", "corpus", "passage", "chunk")


def named_records(opened: OpenedDataset, ids: Sequence[tuple[str, str]], kind: str) -> Iterator[Target]:
    """The records, first the one that connects the others. ``kind`` is that of the file in which the
    finding is; where that is not known (empty), any table may connect them."""
    values = [value for _, value in ids]
    for table, columns in _CONNECTING.items():
        if len(columns) == len(values) and opened.count(table) and (table in kind or kind in table):
            where = " and ".join(f"{column} = ?" for column in columns)
            for (row,) in opened.rows(f"select min(rowid) from main.{table} where {where} having count(*) > 0", values):
                yield Target(", ".join(values), "", table, row)
    for name, value in ids:
        for table in _tables(name):
            if opened.count(table) and (found := opened.labels((table,), [value]).get(value)) is not None:
                yield found


def _tables(name: str) -> tuple[str, ...]:
    """The tables whose records a field with this name may mean."""
    if any(word in name.lower() for word in _QUESTIONS):
        return ("questions",)
    if any(word in name.lower() for word in _PASSAGES):
        return ("documents", "chunks")
    return tuple(IDS)
