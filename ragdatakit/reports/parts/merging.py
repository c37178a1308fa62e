"""The summary of a dataset out of the numbers of its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from ragdatakit.database.dataset_database import place_of_split
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.parts.counting import POSITIVES, KeyCounts
from ragdatakit.reports.parts.measuring import TableFacts
from ragdatakit.reports.summaries import FURTHER_TEXTS, TEXTS, loss_words, reading_notes
from ragdatakit.reports.summary.columns import IDS, UNCOUNTED, UNIQUE
from ragdatakit.reports.summary.numbers import of_counts
from ragdatakit.reports.summary.texts import scripts_of
from ragdatakit.reports.summary.training import PASSAGES, passage_note, question_note, uneven_note
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.summaries import ColumnSummary, Distribution, IdSummary, Note, Summary, TableSummary

NOT_MADE = (
    "with an engine: tables, ids, lengths, scripts and coverage; not made are values, numbers per question, languages, "
    "leakage between splits, graphs and examples"
)
_NAMING = {"qrels": "target_id", "triplets": "positive_id", "pair_scores": "doc_id"}
_WITH_SPLITS = ("questions", "qrels", "triplets")


@dataclass(slots=True)
class Merged:
    """All parts together: the tables in their usual order, what their codes show, and how many questions have only
    positives that are not there."""

    facts: Mapping[str, TableFacts]
    counts: KeyCounts
    lost: int

    def into(self, summary: Summary, losses: Losses) -> None:
        """Fill a summary."""
        held = {table: facts for table, facts in self.facts.items() if facts.rows}
        for table, (column, what) in TEXTS.items():
            if table in held and self._lengths(summary, held[table], column, what):
                scripts = scripts_of(held[table].scripts.get(column, ()), f"{table}.{column}", what)
                summary.frequencies += [scripts] if scripts is not None else []
        for table, column, what in FURTHER_TEXTS:
            if table in held:
                self._lengths(summary, held[table], column, what)
        summary.notes += [*self._coverage(held), *self._uneven(held)]
        summary.ids += [ids for table, column in IDS if table in held and (ids := self._ids(held[table], column))]
        summary.tables += [self._table(facts) for facts in self.facts.values()]
        summary.losses = loss_words(losses)
        summary.notes += [*reading_notes(losses), Note("engine.sections", NOT_MADE, 0)]

    @staticmethod
    def _lengths(summary: Summary, facts: TableFacts, column: str, what: str) -> bool:
        """Add the lengths of the texts of a column, of all and by split; whether there are any."""
        splits = sorted((split for split in facts.splits if split is not None), key=place_of_split)
        made = False
        for split in (None, *(splits if len(splits) > 1 else ())):
            place, title = f"{facts.table}.{column}", f"Length of {what}"
            for unit, counts in zip(("characters", "tokens"), facts.lengths.get((column, split), ()), strict=False):
                one = _distribution(counts, f"{place}.{unit}", title, unit, split)
                summary.distributions += [one] if one is not None else []
                made = made or one is not None
        return made

    def _coverage(self, held: Mapping[str, TableFacts]) -> Iterable[Note]:
        asked = held["questions"].ids.count if "questions" in held else 0
        if asked and any(table in held for table, _, _ in POSITIVES):
            has_passages = any(table in held for table, *_ in PASSAGES)
            yield question_note(asked, self.counts.named["questions"], self.lost, has_passages)
        naming = [table for table in _NAMING if table in held]
        for table, _, kind in PASSAGES:
            if table not in held or not naming:
                continue
            named, judged = self.counts.named[table], "qrels" in held and held["qrels"].judged[kind]
            if named or judged:
                yield passage_note(table, kind, held[table].rows, named, naming)

    @staticmethod
    def _uneven(held: Mapping[str, TableFacts]) -> Iterable[Note]:
        for table in _WITH_SPLITS:
            rows = [(split, number) for split, number in held[table].splits.items() if split] if table in held else []
            if len(rows) > 1:
                yield from uneven_note(table, sorted(rows, key=lambda pair: (-pair[1], pair[0])))

    def _ids(self, facts: TableFacts, column: str) -> IdSummary | None:
        ids, distinct = facts.ids, self.counts.distinct
        if not ids.count:
            return None
        gaps = None
        if ids.least is not None and ids.most is not None:
            gaps = ids.most - ids.least + 1 - distinct[facts.table, column, "integer"]
        number = distinct[facts.table, column, ""]
        return IdSummary(
            facts.table, column, ids.count, number, ids.integers, ids.least, ids.most, gaps, tuple(ids.examples)
        )

    def _table(self, facts: TableFacts) -> TableSummary:
        columns = []
        for name in TABLES[facts.table].columns:
            if name == "field_order":
                continue
            missing, distinct, repeated = facts.missing[name], None, None
            if name not in UNCOUNTED:
                distinct = self.counts.distinct[facts.table, name, ""]
                repeated = facts.rows - missing - distinct if name in UNIQUE.get(facts.table, ()) else None
            columns.append(ColumnSummary(name, missing, facts.empty[name], distinct, repeated))
        splits = dict(sorted(((s, n) for s, n in facts.splits.items() if n), key=lambda pair: place_of_split(pair[0])))
        return TableSummary(facts.table, facts.rows, splits, tuple(columns))


def _distribution(counts: Counter[int], name: str, title: str, unit: str, split: str | None) -> Distribution | None:
    values = sorted(counts)
    numbers = np.array(values, np.int64), np.array([counts[value] for value in values], np.int64)
    return of_counts(*numbers, name, title, unit, split)
