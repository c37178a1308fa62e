"""The score of the fault injector as a page: per format and kind of damage, what was tried, found, and said in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.graphrag import TABLE_DRAFTS, TableInjection, table_injections
from tests.faults.grid import DRAFTS, Verdict, injections
from tests.faults.injections import Injection

PAGE = Path(__file__).parents[2] / "docs" / "fault-score.md"
DAMAGES = {
    "missing": "a field is missing",
    "null": "null for a value",
    "wrong type": "a value of another type",
    "near type": 'a value of nearly the type (`"12"`, `12.0`, `true`)',
    "not finite": "NaN, Infinity, 1e400",
    "huge integer": "an integer beyond 2^53 or 2^63",
    "out of range": "a number or word outside the allowed ones",
    "empty": "an empty or blank value",
    "unpaired surrogate": "half of a surrogate pair",
    "duplicate key": "a key twice in one object",
    "odd cell": "a cell of a table with an odd value",
    "bad row": "a row of a table with a cell too many or too few, or a quote that is not closed",
    "bad header": "a header without a column, or with another name for it",
    "extra key": "a field that is not declared",
    "not an object": "a record that is not an object",
    "not an array": "a file that is not an array",
    "bad JSON": "a record that is not JSON",
    "record gone": "a record is not there",
    "duplicate id": "an id twice",
    "dangling reference": "an id that leads nowhere",
    "wrong pair": "a pair that is not listed, or is and must not be",
    "contradiction": "one name with two values",
    "other spelling": "one name in two spellings",
    "in two splits": "one record in two splits",
    "cut file": "a file that is cut off",
    "invalid UTF-8": "bytes that are not UTF-8",
    "byte-order mark": "a byte-order mark",
    "CR LF": "odd line ends",
    "blank line": "a blank line",
    "damaged file": "other bytes in a file of tables",
    "wrong list": "a list of other things, or a text in place of one",
    "missing table": "a table is missing",
    "other order": "rows in another order",
    "wrong packing": "compression other than the name says, Git LFS pointers",
}

_HEAD = """# How many faults are found

Written by `python -m tests.faults`. On clean datasets of forty records a file, every field, key and reference that a
format declares is damaged in every way that applies, one at a time. What must be reported, and on which line, is
worked out from the declaration, with all that a reader of the whole dataset would see as a consequence; where the
declaration calls a damage harmless, nothing may be reported.

*Found* counts the faults that were reported with the right rule at the exact line, with every consequence, *silent*
the harmless ones of which nothing was said, *false alarms* everything else that was reported. Both engines were run,
the one for small datasets and the scanner with tiny blocks, and reported the same.

Indexes of GraphRAG are tables of twelve rows, in Parquet and in CSV. Every cell, column, table and file is damaged, and
what must be reported is worked out from the rows of all tables. Which of it GraphRAG's own loaders of 3.3 and 2.7 stop
at was recorded of 2,400 damaged indexes (`tests/test_graphrag_verdicts.py`).
"""


@dataclass(slots=True)
class Tally:
    """The counts of one row."""

    faults: int = 0
    found: int = 0
    harmless: int = 0
    silent: int = 0
    alarms: int = 0

    def add(self, other: Tally) -> None:
        """Take in another row."""
        self.faults += other.faults
        self.found += other.found
        self.harmless += other.harmless
        self.silent += other.silent
        self.alarms += other.alarms

    def row(self, title: str) -> str:
        """The row as Markdown."""
        words = (self.faults, self.found, self.harmless, self.silent, self.alarms)
        return f"| {title} | {' | '.join(f'{n:,}' for n in words)} |"


Score = dict[str, dict[str, Tally]]


def tally(verdicts: Iterable[Verdict]) -> Score:
    """The score by format and damage."""
    score: Score = {}
    for verdict in verdicts:
        injection = verdict.injection
        row = score.setdefault(injection.draft.format.title, {}).setdefault(injection.damage, Tally())
        row.alarms += len(verdict.unexpected)
        if injection.faults or injection.consequences():
            row.faults += 1
            row.found += not (verdict.missed or verdict.lost or verdict.unpointed)
        else:
            row.harmless += 1
            row.silent += not verdict.unexpected
    return score


def perfect(tried: Iterable[Injection | TableInjection]) -> Score:
    """The score if exactly what must be reported is."""
    return tally(Verdict(injection) for injection in tried)


def all_injections() -> Iterable[Injection | TableInjection]:
    """Every injection of the grid."""
    for draft in DRAFTS:
        yield from injections(draft)
    for tables in TABLE_DRAFTS:
        yield from table_injections(tables)


def page(score: Score) -> str:
    """The page."""
    parts = [_HEAD]
    total = Tally()
    for rows in score.values():
        for row in rows.values():
            total.add(row)
    table = ["| format | faults | found | harmless | silent | false alarms |", "|---|---:|---:|---:|---:|---:|"]
    for title, rows in score.items():
        whole = Tally()
        for row in rows.values():
            whole.add(row)
        table.append(whole.row(title))
    parts.append("\n".join([*table, total.row("**all**")]) + "\n")
    return "\n".join([*parts, *sections(score)])


def sections(score: Score) -> Iterator[str]:
    """What the page tells of each format."""
    for title, rows in score.items():
        table = [f"## {title}\n", "| damage | faults | found | harmless | silent | false alarms |"]
        table.append("|---|---:|---:|---:|---:|---:|")
        table += [rows[damage].row(words) for damage, words in DAMAGES.items() if damage in rows]
        yield "\n".join(table) + "\n"
