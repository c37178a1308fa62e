"""What a conversion returns: files written, records counted, the account of losses (what the target cannot hold)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field, replace
from itertools import zip_longest
from typing import Any, ClassVar, Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.notebooks.tabular import Tabular
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.texts import encodable, shortened

LossKind = Literal["lost", "dropped", "coerced", "renumbered", "derived"]
LOSS_KINDS: tuple[LossKind, ...] = ("dropped", "lost", "coerced", "renumbered", "derived")
"""``dropped``: whole records; ``lost``: values the target has no place for; ``coerced``: values written in another form
from which the original cannot be known; ``renumbered``: ids (the mapping is kept in a file); ``derived``: values that
were made, not given. Only the first three are losses."""

MOST_EXAMPLES = 3
_EXAMPLE_CHARACTERS = 120
_OF_FILES = ("a file ", "a side file ", "a whole file ", "the file ", "the whole file ")
"""Reasons that are those of a file, not of a record."""


@dataclass(slots=True)
class Loss:
    """One way in which the output differs from the source: in how many values or records, with up to three examples.

    ``places`` are those of up to three of the records in the source, as ``corpus.jsonl:61``, where they are known.

    ``column`` is None where whole records are meant. ``unread``: a file, or the rest of it, could not be read, and
    nobody knows how many records that are. ``by_option``: an option would have kept them, so that nothing is wrong.
    """

    kind: LossKind
    table: str
    column: str | None
    reason: str
    count: int = 0
    examples: list[str] = field(default_factory=list)
    unread: bool = False
    places: list[str] = field(default_factory=list)
    by_option: bool = False

    @property
    def is_of_files(self) -> bool:
        """Whether files are counted, not records or values."""
        return self.column is None and self.reason.startswith(_OF_FILES)

    def words_of_places(self) -> str:
        """The places in brackets, behind a blank; empty where none is known."""
        if not self.places:
            return ""
        more = self.count - len(self.places)
        return f" ({', '.join(self.places)}{f' and {more:,} more' if more > 0 else ''})"

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "kind": self.kind,
            "table": self.table,
            "column": self.column,
            "reason": self.reason,
            "count": self.count,
            "examples": self.examples,
            "places": self.places,
        }


class Losses:
    """All losses of one conversion, counted by kind, table, column and reason."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str | None, str], Loss] = {}

    def add(
        self,
        kind: LossKind,
        table: str,
        column: str | None,
        reason: str,
        example: object = None,
        count: int = 1,
        unread: bool = False,
        place: str = "",
        by_option: bool = False,
    ) -> None:
        """Count a value (or ``count`` of them); the first examples, cut to a readable length, and places are kept."""
        loss = self._found.get((kind, table, column, reason))
        if loss is None:
            loss = self._found[kind, table, column, reason] = Loss(kind, table, column, reason)
            loss.unread, loss.by_option = unread, by_option
        loss.count += count
        if example is not None and len(loss.examples) < MOST_EXAMPLES:
            loss.examples.append(shortened(encodable(str(example)), _EXAMPLE_CHARACTERS))
        if place and len(loss.places) < MOST_EXAMPLES:
            loss.places.append(place)

    def take(self, others: Losses) -> None:
        """Count what others have counted."""
        for loss in others._found.values():
            named = loss.kind, loss.table, loss.column, loss.reason
            for example, place in zip_longest(loss.examples, loss.places, fillvalue=None):
                self.add(*named, example, 0, loss.unread, place or "", loss.by_option)
            self.add(*named, count=loss.count, unread=loss.unread, by_option=loss.by_option)

    def in_other_words(self, reason_of: Callable[[str], str]) -> Losses:
        """The same, those together for which the same reason is given then."""
        others = Losses()
        for loss in self:
            one = Losses()
            one._found[loss.kind, loss.table, loss.column, loss.reason] = replace(loss, reason=reason_of(loss.reason))
            others.take(one)
        return others

    def without(self, tables: Collection[str]) -> Losses:
        """Those of other tables than these."""
        others = Losses()
        others._found = {key: loss for key, loss in self._found.items() if loss.table not in tables}
        return others

    def __iter__(self) -> Any:
        """By kind, table and column: not as they were met, which depends on who reads in how many parts."""
        return iter(sorted(self._found.values(), key=_order))

    def __len__(self) -> int:
        return len(self._found)

    @property
    def unread(self) -> list[str]:
        """Sentences about the files and tables that could not be read whole."""
        return [f"{loss.table}: {loss.reason}" for loss in self if loss.unread]

    @property
    def any_lost(self) -> bool:
        """Whether anything is lost: renumbered ids and derived values are not."""
        return any(loss.kind in ("dropped", "lost", "coerced") for loss in self._found.values())


def _order(loss: Loss) -> tuple[Any, ...]:
    """Tables and columns in the order of the declared ones, others behind them."""
    table = TABLES.get(loss.table)
    columns = table.columns if table is not None else ()
    place = columns.index(loss.column) if loss.column in columns else len(columns) * (loss.column is not None)
    tables = [*TABLES].index(loss.table) if table is not None else len(TABLES)
    return [*LOSS_KINDS].index(loss.kind), tables, loss.table, place, loss.column or "", loss.reason


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of the output: its path below the target folder with ``/``, records (None: it has none), bytes, digest."""

    name: str
    records: int | None
    bytes: int
    sha256: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"path": self.name, "records": self.records, "bytes": self.bytes, "sha256": self.sha256}


@dataclass(slots=True)
class Conversion:
    """What became of one dataset.

    ``source`` is what the user called it, ``counts`` the rows of each canonical table that were read, ``folder`` where
    it is below the target (empty: at its top). ``ids_file`` and ``sidecar`` name what is kept next to the output.
    """

    source: str
    source_format: str
    target_format: str
    name: str
    files: list[WrittenFile]
    counts: dict[str, int]
    losses: Losses
    ids_file: str | None = None
    sidecar: str | None = None
    folder: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "source": self.source,
            "from": self.source_format,
            "to": self.target_format,
            "name": self.name,
            "folder": self.folder,
            "counts": self.counts,
            "files": [f.as_dict() for f in self.files],
            "losses": [loss.as_dict() for loss in self.losses],
            "ids_file": self.ids_file,
            "sidecar": self.sidecar,
        }


@dataclass(frozen=True, slots=True)
class ExtractionEstimate:
    """What it would take to have a language model read the passages of a dataset (or chunks, or clusters of texts:
    ``what``).

    ``cached`` replies are there already; ``prompt_tokens`` and ``completion_tokens`` are those of the others, counted
    without the model's tokenizer. ``cost`` is None where no price was given; it is without that of the vectors of
    ``embedded`` texts, which ``embedder`` makes, and of what is asked ``further`` and cannot be counted before.
    """

    server: str
    model: str
    passages: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None
    what: str = "passages"
    embedded: int = 0
    embedder: str = ""
    further: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "server": self.server,
            "model": self.model,
            "passages": self.passages,
            "cached": self.cached,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost": self.cost,
            "what": self.what,
            "embedded": self.embedded,
            "embedder": self.embedder,
            "further": self.further,
        }


@dataclass(slots=True, repr=False)
class ConversionResult(Tabular):
    """The result of `ragdatakit.convert`.

    ``written`` says whether the target was put in place, ``sidecar`` whether what is lost was to be kept next to it.
    ``refused``: the errors of the source, which ``source_report`` has, stopped the conversion. ``invalid`` is the
    report on the output where it would not be valid (a fault of ragdata, or too little memory to check it),
    ``warnings`` how many warnings a valid output has, ``incomplete`` what the framework's loader would miss in one that
    is part of a dataset. ``strict`` is set where something would be lost and nothing was to be. ``estimates``, one for
    each dataset, are all there is of a dry run for which a model would have to be asked.
    """

    target: str
    conversions: list[Conversion] = field(default_factory=list)
    written: bool = False
    dry_run: bool = False
    sidecar: bool = False
    strict: bool = False
    source_report: Report | None = None
    refused: bool = False
    invalid: Report | None = None
    warnings: int = 0
    incomplete: tuple[str, ...] = ()
    seconds: float = 0.0
    estimates: list[ExtractionEstimate] = field(default_factory=list)
    _COLUMNS: ClassVar[Mapping[str, type]] = {
        **dict.fromkeys(("source", "kind", "table", "column"), str),
        "count": int,
        "reason": str,
    }

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """The accounts of losses."""
        for done in self.conversions:
            for loss in done.losses:
                yield done.source, loss.kind, loss.table, loss.column, loss.count, loss.reason

    def __repr__(self) -> str:
        """One line: what was converted to what, whether it was written, and whether anything is lost."""
        named = [f"{done.source!r} ({done.source_format} → {done.target_format})" for done in self.conversions]
        more = f" and {len(named) - 3:,} more" if len(named) > 3 else ""
        state = "written" if self.written else "refused" if self.refused else "not written"
        lost = "nothing lost" if self.lossless else "with losses"
        return f"<ConversionResult {self.target!r} of {', '.join(named[:3]) or 'nothing'}{more}: {state}, {lost}>"

    @property
    def ok(self) -> bool:
        """Whether all that was asked for was done."""
        return not self.refused and not self.strict and self.invalid is None

    @property
    def lossless(self) -> bool:
        """Whether nothing was dropped, lost or coerced."""
        return not any(c.losses.any_lost for c in self.conversions)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form, version 1."""
        return {
            "version": 1,
            "target": self.target,
            "written": self.written,
            "dry_run": self.dry_run,
            "warnings": self.warnings,
            "incomplete": [*self.incomplete],
            "lossless": self.lossless,
            "conversions": [c.as_dict() for c in self.conversions],
        } | ({"estimates": [e.as_dict() for e in self.estimates]} if self.estimates else {})
