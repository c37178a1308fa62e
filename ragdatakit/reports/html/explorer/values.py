"""What the pages of the explorer show, and where they lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.retrieved import GoldPlace, Hit
from ragdatakit.schemas.search.gold_causes import CauseKind, GoldCause


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of pages; ``root`` is what they all begin with."""

    root: str

    def overview(self) -> str:
        """The datasets."""
        return f"{self.root}/"

    def table(self, dataset: int, table: str, **query: Any) -> str:
        """Records of a table; what is empty of the query is left out."""
        return self._to(f"{dataset}/{quote(table, safe='')}", query)

    def record(self, dataset: int, table: str, row: int, **query: Any) -> str:
        """One record."""
        return self._to(f"{dataset}/{quote(table, safe='')}/{row}", query)

    def report(self, dataset: int) -> str:
        """What is in the dataset, in numbers."""
        return self._to(f"{dataset}/report", {})

    def with_value(self, dataset: int, table: str, column: str, value: str) -> str:
        """The records with a value in a column, of a node the graph around it; empty where there is no such column."""
        if column not in TABLES[table].columns:
            return ""
        if (table, column) == ("nodes", "name"):
            return self.graph(dataset, value)
        return self.table(dataset, table, **{column: value})

    def graph(self, dataset: int, node: str = "") -> str:
        """The graph, from a node."""
        return self._to(f"{dataset}/graph", {"node": node})

    def ranks(self, dataset: int, mode: str = "", why: str = "", split: str = "") -> str:
        """The questions, those first whose passages are not found; of one cause or one split alone, where ``why`` or
        ``split`` names it."""
        return self._to(f"{dataset}/ranks", {"mode": mode, "split": split, "why": why})

    def findings(self, **query: Any) -> str:
        """The list of findings."""
        return self._to("findings", query)

    def finding(self, number: int) -> str:
        """One finding."""
        return f"{self.root}/findings/{number}"

    def _to(self, path: str, query: Mapping[str, Any]) -> str:
        words = urlencode({name: str(value) for name, value in query.items() if value not in ("", None, False, 0)})
        return f"{self.root}/{path}{'?' * bool(words)}{words}"


@dataclass(frozen=True, slots=True)
class TableState:
    """A table of a dataset: how many rows it has (None: not known yet), or why it cannot be read."""

    name: str
    rows: int | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class DatasetState:
    """A dataset that is explored; ``losses`` are sentences about what could not be read of it."""

    number: int
    name: str
    format: str
    path: str
    tables: Sequence[TableState]
    losses: Sequence[str] = ()

    @property
    def is_loaded(self) -> bool:
        """Whether all of it has been read."""
        return all(table.rows is not None or table.fault for table in self.tables)

    def has(self, table: str) -> bool:
        """Whether it has this table."""
        return any(each.name == table for each in self.tables)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records of a table are shown: those that have ``search`` in any of their texts, whose columns are
    ``equal`` to these values, and that a finding of ``rule`` is about; sorted by a column, from place ``first`` on."""

    search: str = ""
    equal: tuple[tuple[str, str], ...] = ()
    rule: str = ""
    sort: str = ""
    down: bool = False
    first: int = 0

    def query(self, **others: Any) -> dict[str, Any]:
        """The words of its address, with some of them replaced."""
        found = {"q": self.search, "rule": self.rule, "sort": self.sort, "down": int(self.down), "from": self.first}
        return {**dict(self.equal), **found, **others}


@dataclass(frozen=True, slots=True)
class RecordList:
    """Records of a table, each by its row number. ``total`` is None while the table is still read; ``columns`` are
    those that can be shown."""

    table: str
    wanted: Wanted
    columns: Sequence[str]
    rows: Sequence[tuple[int | None, Sequence[Any]]]
    total: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """A record that another one names: its table and row, None where there is no such record."""

    id: str
    label: str = ""
    table: str = ""
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """Records that name the one that is shown: ``total`` rows of ``table`` by their ``column``, the first of them with
    what else they name, and their other values."""

    table: str
    column: str
    value: str
    total: int
    rows: Sequence[tuple[int, Sequence[Target], Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Found:
    """What the retriever finds for a question. ``hits`` come with the passage, and whether it is gold; ``gold`` are the
    passages that should be found, with where they are."""

    mode: str
    hits: Sequence[tuple[Hit, bool, Target]]
    gold: Sequence[tuple[GoldPlace, Target]]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """One record of ``total``, with what it names and what names it; ``findings`` are about it, with their numbers."""

    table: str
    row: int
    total: int
    values: Mapping[str, Any]
    named: Mapping[str, Sequence[Target]]
    related: Sequence[Related]
    findings: Sequence[tuple[int, Finding]]


@dataclass(frozen=True, slots=True)
class Region:
    """Lines of a file: the number of the first one, the text, and where in it (characters) what is at fault lies."""

    first_line: int
    text: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class FixShown:
    """What a fix does, and the lines of the file before and after it."""

    words: str
    command: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class RankedQuestions:
    """The questions whose gold is found last, of ``judged`` that were searched for in the first ``depth`` results;
    ``missed`` miss all of it.

    ``causes`` counts the questions by what keeps any of their gold out of the first ``k``. Those of ``cause`` alone
    are shown, where it is chosen. ``single``: each question has one gold target. ``nameless`` further questions are
    judged and not in the dataset. ``patterns`` say what all of the gold or of the
    corpus may have in common that is wrong. ``splits`` are those of all judged questions; ``split`` is the one
    of those that are shown (empty: all are).
    """

    worst: Sequence[RankedQuestion]
    judged: int
    missed: int
    k: int
    depth: int
    causes: Mapping[CauseKind, int]
    cause: CauseKind | None = None
    single: bool = True
    nameless: int = 0
    patterns: Sequence[str] = ()
    splits: Sequence[str] = ()
    split: str = ""


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question, its gold with the rank (None: not found) and the cause of each, and its row (None where it is in no
    table)."""

    question: Target
    gold: Sequence[RankedGold]


@dataclass(frozen=True, slots=True)
class RankedGold:
    """A gold target of a question; no ``cause`` where it is among the first results."""

    id: str
    rank: int | None
    cause: GoldCause | None
