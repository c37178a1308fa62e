"""What is in a dataset: a `Summary` of its canonical tables, by SQL and by arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.database.conditions import Condition
from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.files.reading.threads import Aside
from ragdatakit.late_patterns import late_pattern
from ragdatakit.reports.summary.columns import IDS, id_summary, table_summary
from ragdatakit.reports.summary.contexts import context_notes, read_contexts
from ragdatakit.reports.summary.examples import examples as example_rows
from ragdatakit.reports.summary.graph import graph_summary, read_edges
from ragdatakit.reports.summary.ids import IdNumbers
from ragdatakit.reports.summary.languages import Sampled, languages, languages_note
from ragdatakit.reports.summary.leakage import leakage
from ragdatakit.reports.summary.metadata import metadata_frequencies
from ragdatakit.reports.summary.numbers import (
    frequencies,
    of_counted,
    of_counted_numbers,
    of_counts,
    of_numbers,
    of_query,
)
from ragdatakit.reports.summary.stages import stage_distributions, stages_of
from ragdatakit.reports.summary.texts import Column, distributions, facts_wanted, measure, sample_note, scripts
from ragdatakit.reports.summary.training import (
    coverage,
    per_question,
    read_triplets,
    splits_of,
    triplets_per_question,
    uneven,
)
from ragdatakit.schemas.conversions import Loss, Losses
from ragdatakit.schemas.summaries import Distribution, Note, Summary

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.database.dataset_database import DatasetDatabase

Progress = Callable[[str, int, int], None]

TEXTS = {
    "documents": ("text", "documents"),
    "chunks": ("text", "chunks"),
    "questions": ("text", "questions"),
    "summaries": ("text", "summaries"),
    "answers": ("text", "answers of systems"),
    "runs": ("text", "results"),
}
FURTHER_TEXTS = (
    ("questions", "answer", "gold answers"),
    ("chunks", "context", "contexts of chunks"),
    ("answers", "prompt", "prompts"),
)
"""Texts that are next to those of a table: of their lengths only."""
_FREQUENCIES = (
    ("chunks", "modality", "chunks.modality", "Modality of chunks"),
    ("nodes", "type", "nodes.type", "Types of nodes"),
    ("edges", "relation", "edges.relation", "Relations"),
    ("qrels", "grade", "qrels.grade", "Grades"),
    ("qrels", "target_kind", "qrels.target_kind", "What is judged"),
    ("qrels", "node_type", "qrels.node_type", "Types of judged nodes"),
    ("start_nodes", "node_type", "start_nodes.node_type", "Types of start nodes"),
    ("summaries", "level", "summaries.level", "Heights of summaries"),
    ("runs", "stage", "runs.stage", "Results by stage"),
    ("assets", "kind", "assets.kind", "Kinds of files"),
)
_COUNTS = (
    (
        "chunks",
        "select count(*) from main.chunks where doc_id is not null group by doc_id",
        "chunks.per_document",
        "Chunks per document",
        "chunks",
    ),
    (
        "questions",
        "select nullif(len(aliases) + (answer is not null)::integer, 0) from main.questions",
        "questions.answers",
        "Right answers per question",
        "answers",
    ),
    ("summaries", "select len(children) from main.summaries", "summaries.children", "Children of a summary", "texts"),
    ("pair_scores", "select score from main.pair_scores", "pair_scores.score", "Scores of the teacher", "score"),
    ("edges", "select confidence from main.edges", "edges.confidence", "Confidence of edges", "confidence"),
    (
        "start_nodes",
        "select count(*) from main.start_nodes group by question_id",
        "start_nodes.per_question",
        "Start nodes per question",
        "nodes",
    ),
)
_LOSS_WORDS = {"dropped": "left out", "lost": "not kept", "coerced": "taken in another form"}
_READING_WORDS = {"renumbered": "renamed on reading", "derived": "added on reading"}
"""What reading adds to the data and takes nothing from it: a note, no loss."""
_MOST_COLUMNS = 10
"""So many columns of a table that are lost for one reason are named; the others are counted."""
_BYTE = late_pattern(r"byte 0x[0-9a-f]{2} is not UTF-8")


def summarize(
    database: DatasetDatabase,
    *,
    path: str = "",
    examples: int = 3,
    seed: int = 13,
    alone: bool = False,
    progress: Progress | None = None,
) -> Summary:
    """The numbers of a dataset. ``path`` is what its user called it; ``examples`` rows are chosen by ``seed``.
    ``alone``: the database is for them alone, so that it need not have all texts.

    Everything is exact but what a note whose name begins with ``sampled.`` says. The same data gives the same summary.
    Files are the caller's part.
    """
    database.wants_facts = facts_wanted(
        apart=alone and "summaries" not in database.tables,  # which show texts of others
        shown=alone,
    )
    return _Summing(database, Summary(path, database.name, database.format), examples, seed, progress).run()


class _Summing:
    def __init__(
        self, database: DatasetDatabase, summary: Summary, examples: int, seed: int, progress: Progress | None
    ) -> None:
        self._database, self._summary, self._progress = database, summary, progress
        self._examples, self._seed = examples, seed
        database.read(*database.tables)  # at once: some are read together
        database.choose_threads()
        self._tables = [t for t in database.tables if database.count(t)]
        self._texts: dict[str, Column] = {}
        self._counted: dict[str, dict[str, int]] = {}
        self._degrees: list[Distribution] = []
        self._guessed: list[Sampled] = []

    def run(self) -> Summary:
        """Fill the summary; ids are counted in a thread meanwhile."""
        for table in self._database.tables:
            self._database.splits(table)
        with IdNumbers(self._database) as self._ids, Aside(self._count_ids) as self._counting:
            self._run()
        self._summary.notes += [languages_note(self._guessed)] if self._guessed else []
        self._summary.losses = loss_words(self._database.losses)
        self._summary.notes += reading_notes(self._database.losses)
        return self._summary

    def _count_ids(self) -> tuple[list[Distribution], list[Note]]:
        found = per_question(self._database, self._ids)
        if "triplets" in self._tables:
            triplets = read_triplets(self._ids)
            self._counted["triplets"] = triplets.distinct()
            found += triplets_per_question(self._database, self._ids, triplets)
        return found, coverage(self._database, self._ids)

    def _run(self) -> None:
        steps = (
            self._graph,
            self._measure_texts,
            self._shapes,
            self._per_question,
            self._hierarchy,
            self._contexts,
            self._claims,
            self._count_values,
            self._tables_and_ids,
            self._show_examples,
        )
        for number, step in enumerate(steps):
            if self._progress is not None:
                self._progress(f"summing up {self._summary.path or self._summary.name}", number, len(steps))
            step()

    def _graph(self) -> None:
        if "edges" not in self._tables:
            return
        edges = read_edges(self._database)
        degrees, self._counted["edges"] = edges.degrees()
        self._summary.graph, self._degrees, notes = graph_summary(self._database, edges, degrees)
        self._summary.notes += notes

    def _measure_texts(self) -> None:
        for table, (name, what) in TEXTS.items():
            if table not in self._tables:
                continue
            column = self._texts[table] = measure(self._database, table, name, self._progress)
            if not (column.characters >= 0).any():
                continue
            self._summary.distributions += distributions(column, what)
            for part, chosen in self._parts(table):
                self._summary.distributions += distributions(column, what, part, chosen)
            self._words(column, what)
            self._tell_sample(column, what)
        for table, name, what in FURTHER_TEXTS:
            if table in self._tables and self._has_values(table, name):
                column = measure(self._database, table, name, self._progress)
                self._summary.distributions += distributions(column, what)
                self._tell_sample(column, what)

    def _tell_sample(self, column: Column, what: str) -> None:
        note = sample_note(column, what)
        if note is not None:
            self._summary.notes.append(note)

    def _has_values(self, table: str, column: str) -> bool:
        facts = self._database.column_facts(table, column)
        if facts is not None:
            return facts.missing < self._database.count(table)
        query = f'select 1 from main."{table}" where "{column}" is not null limit 1'
        return bool(self._database.load(table).execute(query).fetchall())

    def _words(self, column: Column, what: str) -> None:
        """In which scripts and languages texts are."""
        if column.table == "runs" and "documents" in self._tables:
            return  # the same texts
        found = scripts(column, what)
        guessed, sampled = languages(self._database, column, what)
        self._summary.frequencies += [one for one in (found, guessed) if one is not None]
        self._guessed += [sampled] if sampled is not None else []

    def _parts(self, table: str) -> list[tuple[str, npt.NDArray[np.bool_]]]:
        """The rows of each split or stage, where there are several."""
        by, names = ("split", splits_of(self._database, table)) if table == "questions" else ("stage", [])
        if table == "runs":
            names = stages_of(self._database)
        found = []
        for name in names:
            chosen = self._database.chosen(table, Condition(by, "=", name))
            if chosen is None:
                query = f'select coalesce({by} = {sql_text(name)}, false) as chosen from main."{table}"'
                chosen = self._database.load(table).execute(query).fetchnumpy()["chosen"].astype(bool)
            found.append((name, chosen))
        return found

    def _shapes(self) -> None:
        self._summary.distributions += self._degrees
        for table, query, name, title, unit in _COUNTS:
            if table in self._tables:
                apart = self._database.column_facts(table, name.partition(".")[2])
                if apart is not None and apart.numbers is not None:
                    one = of_counts(*apart.numbers, name, title, unit)
                elif apart is not None and apart.counts is not None:
                    one = of_counted_numbers(apart.counts, name, title, unit)
                elif (known := self._known_numbers(name)) is not None:
                    one = of_numbers(known, name, title, unit)
                else:
                    one = of_query(self._database.load(table), query, name, title, unit)
                if one is not None:
                    self._summary.distributions.append(one)

    def _known_numbers(self, name: str) -> Any:
        """The numbers of a distribution, as far as they are known without SQL."""
        if name == "chunks.per_document":
            return self._database.rows_per_value("chunks", "doc_id")
        if name != "questions.answers":
            return None
        answers, aliases = (self._database.sizes("questions", column) for column in ("answer", "aliases"))
        if answers is None or aliases is None:
            return None
        given = np.where(aliases >= 0, aliases + (answers >= 0), 0)
        return given[given > 0]

    def _per_question(self) -> None:
        counted, notes = self._counting.result()  # before others ask for numbers of ids: one thread at a time may
        self._summary.distributions += stage_distributions(self._database, self._ids)
        self._summary.distributions += counted
        self._summary.notes += notes
        self._summary.notes += leakage(self._database, self._ids)
        self._summary.notes += uneven(self._database)

    def _hierarchy(self) -> None:
        if {"communities", "summaries"} & {*self._tables}:
            from ragdatakit.reports.summary.hierarchy import read_hierarchy

            self._summary.hierarchy = read_hierarchy(self._database)

    def _contexts(self) -> None:
        self._summary.contexts = read_contexts(self._database)
        if self._summary.contexts is not None:
            self._summary.notes += context_notes(self._summary.contexts)

    def _claims(self) -> None:
        if "answers" not in self._tables:
            return
        from ragdatakit.reports.summary.claims import claim_distributions, claim_scores

        self._summary.claims = claim_scores(self._database)
        if self._summary.claims is not None:
            self._summary.distributions += claim_distributions(self._summary.claims)

    def _count_values(self) -> None:
        for table, column, name, title in _FREQUENCIES:
            if table in self._tables:
                apart = self._database.column_facts(table, column)
                if apart is not None and apart.counts is not None:
                    one = of_counted(apart.counts, name, title)
                else:
                    one = frequencies(self._database.load(table), f"select {column} from main.{table}", name, title)
                if one is not None:
                    self._summary.frequencies.append(one)
        found, notes = metadata_frequencies(self._database)
        self._summary.frequencies += found
        self._summary.notes += notes

    def _tables_and_ids(self) -> None:
        for table, column in IDS:
            if table in self._tables:
                found = id_summary(self._database, table, column, self._ids)
                if found is not None:
                    self._summary.ids.append(found)
                    self._counted.setdefault(table, {})[column] = found.distinct
        for table in self._database.tables:
            known = self._counted.get(table, {})
            self._summary.tables.append(table_summary(self._database, table, known))

    def _show_examples(self) -> None:
        for table in self._tables:
            if table == "traces" and len(self._tables) > 1:
                continue  # questions, runs and answers hold the same
            self._summary.examples += example_rows(
                self._database, table, self._texts.get(table), self._examples, self._seed
            )


def loss_words(losses: Losses) -> list[str]:
    """Sentences about what could not be read as it is."""
    shown = losses.in_other_words(lambda reason: _BYTE.sub("it is not UTF-8", reason))
    unread: dict[str, list[str]] = {}  # places by what several tables may have in common
    for loss in shown:
        if loss.unread:
            unread.setdefault(loss.reason, []).append(_place(loss))
    words = []
    columns: Counter[tuple[str, str, str]] = Counter()  # of a table, lost for one reason
    for loss in shown:
        if loss.unread and (places := unread.pop(loss.reason, None)):
            words.append(f"{', '.join(places)}: {loss.reason}")
        elif not loss.unread and loss.kind in _LOSS_WORDS and not loss.by_option:
            alike = loss.table, loss.kind, loss.reason
            columns[alike] += loss.column is not None
            if columns[alike] <= _MOST_COLUMNS:
                words.append(loss_text(loss))
    for (table, kind, reason), count in columns.items():
        if count > _MOST_COLUMNS:
            words.append(f"{table}: values of {count - _MOST_COLUMNS:,} more columns {_LOSS_WORDS[kind]}: {reason}")
    return words


def reading_notes(losses: Losses) -> list[Note]:
    """Notes on values that reading made, as ids of records without one, on ids that it renamed, and on what an option
    would have kept."""
    return [
        Note(f"reading.{_place(loss)}", loss_text(loss), loss.count)
        for loss in losses
        if loss.kind in _READING_WORDS or loss.by_option
    ]


def _place(loss: Loss) -> str:
    return f"{loss.table}.{loss.column}" if loss.column else loss.table


def loss_text(loss: Loss) -> str:
    """What became of records or values on reading, in a sentence."""
    if loss.unread:
        return f"{_place(loss)}: {loss.reason}"
    became = (_LOSS_WORDS | _READING_WORDS)[loss.kind]
    values = "value" if loss.column else "file" if loss.is_of_files else "record"
    many = f"{loss.count:,} {values}{'s' if loss.count != 1 else ''}"
    more = f" and {loss.count - len(loss.examples):,} more" if loss.count > len(loss.examples) else ""
    which = f" ({', '.join(loss.examples)}{more})" if loss.is_of_files and loss.examples else ""
    return f"{_place(loss)}: {many} {became}: {loss.reason}{which or loss.words_of_places()}"
