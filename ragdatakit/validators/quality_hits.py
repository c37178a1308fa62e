"""What quality checks find, before it is known where it stands: counted at once, kept up to the limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.declarations import Format
from ragdatakit.schemas.quality_options import QualityOptions
from ragdatakit.schemas.quality_rules import RULES
from ragdatakit.tables.canonical_tables import CanonicalTables
from ragdatakit.tables.datasets import DataFile, Dataset
from ragdatakit.tables.record_reading import Progress
from ragdatakit.validators.collector import Collector, RuleState

if TYPE_CHECKING:
    from ragdatakit.validators.quality_texts import TextKeys

_RULES = {rule.name: rule for rule in RULES}
_SAME_TEXT = ("duplicate-text", "repeated-text", "repeated-chunk-text")
"""Rules of formats that tell of texts that are the same to the letter."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A record to look for in the files: values that it has, the one that is meant first; and its split, if known.

    Without values it is a file of that split that is meant.
    """

    values: tuple[str, ...]
    split: str | None = None


@dataclass(slots=True)
class Hit:
    """A finding that is kept: ``fragment`` is what is at fault in its first value, ``other`` a second record."""

    rule: str
    place: Sought
    value: Any = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    fragment: str = ""
    other: Sought | None = None
    note: str = ""


class QualityCollector(Collector):
    """A collector that knows the quality rules, and none of a format."""

    def _make_state(self, name: str) -> RuleState:
        rule = _RULES[name]
        wanted = self.selection.takes(rule.code, rule.name, rule.severity)
        return RuleState(rule, rule.severity, rule.consequence(), wanted)


class Hits:
    """All that was found in one dataset (its ``parts`` are several where they are read as one)."""

    def __init__(self, parts: Sequence[Dataset], collector: Collector) -> None:
        self.parts = parts
        self.collector = collector
        self.kept: list[Hit] = []
        self.failed: set[str] = set()
        self._files = [file for part in parts for file in part.files]

    @property
    def format(self) -> Format:
        """The format of the dataset."""
        return self.parts[0].format

    def wants(self, *rules: str) -> bool:
        """Whether any of the rules is looked for."""
        return any(map(self.collector.wants, rules))

    def tells_same_text(self) -> bool:
        """Whether a rule of the format's own that is wanted tells of texts that are the same to the letter."""
        takes = self.collector.selection.takes
        return any(r.name in _SAME_TEXT and takes(r.code, r.name, r.severity) for r in self.format.rules)

    def room(self, rule: str) -> bool:
        """Whether one more finding would be kept."""
        return self.collector.room(rule, self.file())

    def count(self, rule: str, split: str | None = None, number: int = 1) -> None:
        """Count findings that are not kept."""
        self.collector.count(rule, self.file(split), number)

    def keep(self, hit: Hit) -> None:
        """Count a finding, and keep it where there is room."""
        keep = self.room(hit.rule)
        self.count(hit.rule, hit.place.split)
        if keep:
            self.collector.reserve(hit.rule, self.file())
            self.kept.append(hit)

    def file(self, split: str | None = None) -> DataFile:
        """A file of the split, the one of questions or judgements where there is one; any if none is of the split."""
        named = [f for f in self._files if split is not None and split in (f.split, f.path.stem)]
        questions = [f for f in named if any(word in f.kind for word in ("qrel", "question", "quer", "positive"))]
        found = questions or named or self._files
        return found[0] if found else DataFile(self.parts[0].root, self.parts[0].display, "", "")


@dataclass(slots=True)
class Checked:
    """What the checks of one dataset share: its tables, the thresholds, what was found.

    ``table`` is the one of the passages, ``noun`` what one of them is called, ``texts`` what `check_texts` made.
    """

    tables: CanonicalTables
    options: QualityOptions
    hits: Hits
    progress: Doing | None = None
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
        return self.tables.peek(self.table)


class Doing:
    """Progress with a word for what is being done with a file."""

    def __init__(self, show: Progress) -> None:
        self.doing = "reading"
        self._show = show

    def __call__(self, path: str, done: int, total: int) -> None:
        """``done`` of ``total`` bytes of a file are read."""
        self._show(f"{self.doing}: {path.rpartition('/')[2]}", done, total)


def is_train(split: str | None) -> bool:
    """Whether a split is trained on, by its name."""
    return split is not None and split.lower().startswith("train")


def shown_id(name: str | None) -> str:
    """An id in a message."""
    return "without an id" if name is None else name if len(name) <= 60 else name[:59] + "…"
