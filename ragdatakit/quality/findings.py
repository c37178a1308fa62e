"""What quality checks find, before its place in the files is known: counted at once, kept up to the limit."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import Question
from ragdatakit.schemas.declarations import Format
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.rules.quality import RULES
from ragdatakit.schemas.settings.thresholds import QualityOptions
from ragdatakit.validators.collector import Collector, Pending, RuleState

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_RULES = {rule.name: rule for rule in RULES}
_SAME_TEXT = ("duplicate-text", "repeated-text", "repeated-chunk-text")
"""Rules of formats that report texts that are the same to the letter."""


@dataclass(frozen=True, slots=True)
class RecordLookup:
    """By what a record is looked up in the files: values that it has, the one that is meant first; its split, if known.

    Without values it is a file of that split that is meant. ``row`` is the table and the number of its row there,
    ``text`` the one of the values that other records may have, too.
    """

    values: tuple[str, ...]
    split: str | None = None
    text: str = ""
    row: tuple[str, int] | None = None


class Repeats:
    """How many rows of a table before one have the same text, of all and of its split.

    Where a reader made up the ids, nothing else says which of several records is meant. Memory: 8 bytes a row, 16 for
    rows that have splits.
    """

    def __init__(self) -> None:
        self._texts, self._in_splits = array("q"), array("q")
        self._ranks: list[npt.NDArray[np.int64]] = []
        self._whole = False

    def noted(self, rows: Iterator[Any]) -> Iterator[Any]:
        """The same rows, of a table without splits; the first time that they are read to the end, their texts are
        noted."""
        texts = array("q")
        for row in rows:
            texts.append(hash(row.text))
            yield row
        if not self._whole:
            self._texts, self._whole = texts, True

    def noted_columns(self, blocks: Iterator[Any]) -> Iterator[Any]:
        """The same, of the columns of questions."""
        texts, in_splits = array("q"), array("q")
        for block in blocks:
            if not self._whole:
                texts.extend(map(hash, block.text))
                in_splits.extend(map(hash, zip(block.text, block.split, strict=True)))
            yield block
        if not self._whole:
            self._texts, self._in_splits, self._whole = texts, in_splits, True

    def take(self, codes: npt.NDArray[np.int64]) -> None:
        """The texts of all rows of a table without splits, as codes that are the same for those that are."""
        self._texts, self._whole = array("q", codes.tobytes()), True

    def before(self, row: int) -> tuple[int, int]:
        """How many rows before it have its text: of all, of those of its split."""
        if not self._ranks:
            self._ranks = [_ranks(codes) for codes in (self._texts, self._in_splits or self._texts)]
        of_all, of_split = (int(ranks[row]) if row < len(ranks) else 0 for ranks in self._ranks)
        return of_all, of_split


def _ranks(codes: array[int]) -> npt.NDArray[np.int64]:
    """How often a code occurs before each position."""
    import numpy as np

    given = np.array(codes, np.int64)
    order = np.argsort(given, kind="stable")
    ranked = given[order]
    ranks = np.empty(len(given), np.int64)
    ranks[order] = np.arange(len(given)) - np.searchsorted(ranked, ranked, "left")
    return ranks


class QualityCollector(Collector):
    """A collector that knows the quality rules, and none of a format."""

    def _make_state(self, name: str) -> RuleState:
        rule = _RULES[name]
        severity = self.selection.severities.get(name, rule.severity)
        return RuleState(rule, severity, rule.consequence(), self.selection.takes_rule(rule))


class QualityFindings:
    """All that was found in one dataset (its ``parts`` are several where they are read as one)."""

    def __init__(self, parts: Sequence[Dataset], collector: Collector) -> None:
        self.parts = parts
        self.collector = collector
        self.kept: list[Pending[RecordLookup]] = []
        self.failed: set[str] = set()
        self.repeats: dict[str, Repeats] = {}
        self._files = [file for part in parts for file in part.files]

    @property
    def format(self) -> Format:
        """The format of the dataset."""
        return self.parts[0].format

    def wants(self, *rules: str) -> bool:
        """Whether any of the rules is looked for."""
        return any(map(self.collector.wants, rules))

    def reports_same_text(self) -> bool:
        """Whether a rule of the format's own that is wanted reports texts that are the same to the letter."""
        takes = self.collector.selection.takes_rule
        return any(r.name in _SAME_TEXT and takes(r) for r in self.format.rules)

    def room(self, rule: str) -> bool:
        """Whether one more finding would be kept."""
        return self.collector.room(rule, self.file())

    def count(self, rule: str, split: str | None = None, number: int = 1) -> None:
        """Count findings that are not kept."""
        self.collector.count(rule, self.file(split), number)

    def keep(
        self,
        rule: str,
        record: RecordLookup,
        value: Any,
        facts: Mapping[str, Any],
        fragment: str = "",
        other: RecordLookup | None = None,
        note: str = "",
    ) -> None:
        """Count a problem of a record, and keep it where there is room; arguments are as for `Pending`."""
        keep = self.room(rule)
        self.count(rule, record.split)
        if keep:
            self.collector.reserve(rule, self.file())
            problem = Problem(rule, value=value, facts=dict(facts))
            self.kept.append(Pending(problem, record, other, note, fragment))

    def before(self, lookup: RecordLookup) -> tuple[int, int]:
        """How many records before the one that is looked up have its text: of all, of those of its split."""
        table, number = lookup.row or ("", 0)
        return self.repeats[table].before(number) if table in self.repeats else (0, 0)

    def file(self, split: str | None = None) -> DataFile:
        """A file of the split, the one of questions or judgements where there is one; any if none is of the split."""
        named = [f for f in self._files if split is not None and split in (f.split, f.path.stem)]
        questions = [f for f in named if any(word in f.kind for word in ("qrel", "question", "quer", "positive"))]
        found = questions or named or self._files
        return found[0] if found else self.whole()

    def named_in(self, words: str) -> DataFile:
        """The file that a sentence names, the only one, or the dataset."""
        named = [f for f in self._files if f.display in words or f.path.name in words]
        if named or len(self._files) == 1:
            return max(named or self._files, key=lambda file: len(file.display))
        return self.whole()

    def whole(self) -> DataFile:
        """The dataset, as a file that findings can name."""
        return DataFile(self.parts[0].root, self.parts[0].display, "", "")


@dataclass(slots=True)
class TextKeys:
    """By ordinal, for all passages: a code of the text (0: it is blank), one of the id (as `Measuring` says).

    Texts that are nearly the same have one ``alike``.
    """

    keys: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    alike: npt.NDArray[np.int64]


@dataclass(slots=True)
class Checked:
    """What the checks of one dataset share: its tables, the thresholds, what was found.

    ``table`` is the one of the passages, ``noun`` what one of them is called, ``texts`` what `check_texts` made.
    ``jobs`` is in how many threads the library works.
    """

    tables: CanonicalTables
    options: QualityOptions
    findings: QualityFindings
    progress: Doing | None = None
    jobs: int = 1
    texts: TextKeys | None = None
    table: str = field(init=False)
    noun: str = field(init=False)

    def __post_init__(self) -> None:
        self.table = self.tables.passages
        self.noun = "chunk" if self.table == "chunks" else "document"

    def passages(self, doing: str) -> Iterator[Any]:
        """The passages in order; ``doing`` is what progress says of it."""
        if self.progress is not None:
            self.progress.doing = doing
        return self._repeats(self.table).noted(self.tables.peek(self.table))

    def note_passages(self, codes: npt.NDArray[np.int64]) -> None:
        """What the texts of all passages are, as codes: who reads the tables without `passages` says it."""
        self._repeats(self.table).take(codes)

    def questions(self) -> Iterator[Any]:
        """The questions in order, some at a time: a `Question` whose fields are their columns."""
        blocks = (Question._make(columns) for columns in self.tables.peek_columns("questions"))
        return self._repeats("questions").noted_columns(blocks)

    def numbered_questions(self, wanted: Collection[int] | None = None) -> Iterator[tuple[int, Question]]:
        """The questions of these numbers, with them; without ``wanted`` those that have an answer."""
        first = 0
        for block in self.questions() if wanted is None or wanted else ():
            for place, answer in enumerate(block.answer):
                if answer if wanted is None else first + place in wanted:
                    yield first + place, question_at(block, place)
            first += len(block.answer)

    def _repeats(self, table: str) -> Repeats:
        return self.findings.repeats.setdefault(table, Repeats())


class Doing:
    """Progress with a word for what is being done with a file."""

    def __init__(self, show: Progress) -> None:
        self.doing = "reading"
        self._show = show

    def __call__(self, path: str, done: int, total: int) -> None:
        """``done`` of ``total`` bytes of a file are read."""
        self._show(f"{self.doing}: {path.rpartition('/')[2]}", done, total)


def question_at(block: Any, place: int) -> Question:
    """A question of some of which the columns are there."""
    return Question._make(column[place] for column in block)


def question_lookup(row: Any, split: str | None, number: int, *before: str | None) -> RecordLookup:
    """How to look up a question: by its row, the split it is meant in, its number, and what else is said of it."""
    values = tuple(value for value in (*before, row.text, row.question_id) if value)
    return RecordLookup(values, split, row.text or "", ("questions", number))


def shown_id(name: str | None) -> str:
    """An id in a message."""
    return "without an id" if name is None else name if len(name) <= 60 else name[:59] + "…"
