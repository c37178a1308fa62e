"""What a format may add to its declaration: checks of one record, of one text file, of the dataset as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Problem

if TYPE_CHECKING:
    from pathlib import Path

    from ragdatakit.files.containers.positions import Located
    from ragdatakit.files.containers.sources import Source
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.scanner.blocks import ScannedBlock
    from ragdatakit.scanner.long_records import Items
    from ragdatakit.scanner.plan import Asked
    from ragdatakit.validators.coded_columns import ScannedCodes
    from ragdatakit.validators.csv_parts import CsvTable
    from ragdatakit.validators.row_problems import RowProblems

    Placed = tuple[DataFile, Problem]
    Streamed = tuple[Problem, Located | Callable[[], Located] | None]
    """A problem with the record it is in (None: the file as a whole). A function that gives the record, and may
    complete the problem, is called at once where the problem is shown."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What the checks want to see of the files of one kind.

    ``records``: `FormatChecks.record` may find something in them. ``columns``: key columns that `batch` reads besides
    those of the declared set checks; it is called for kinds that have any. ``texts``: of those of a CSV file, the ones
    whose cells it reads as text. ``values``: `batch` wants the decoded records, too; of lines that were scanned those
    that the predicates name are in the batch. ``looks_up``: the checks ask `SetChecks.lookup`, or `NumpyBatch.found`,
    while files are read, so that the keys of the whole dataset have to be in memory. ``may_be_empty``: a file without
    records is no fault.

    ``in_ranges``: files of lines, or of elements, may be judged range by range, each by an object of its own:
    `FormatChecks.record` and `derive` depend on nothing but the file, the record and the attributes of the checks that
    ``carried`` names, which go along, and keep nothing but what `state` says. ``passed_on``: of elements, the
    attributes with which the checks go from one range to the next, and what ranges behind the first are judged with:
    where it turns out to be something else they are judged again. ``by_file``: what is kept is kept by file, or nothing
    is, so that one object may see several files. ``accepts``: whether a CSV column that pandas turned
    into a type can match what it refers to at all; where it cannot, the cells take no part in the set checks: the
    column is at fault, not each cell. ``stream``: who reads a ``streamed`` file; it sets ``file.records``, and
    ``file.to_end`` to false where it does not reach the end.
    """

    records: bool = False
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    values: bool = False
    batches: bool = True
    looks_up: bool = False
    may_be_empty: bool = False
    in_ranges: bool = False
    carried: tuple[str, ...] = ()
    passed_on: Mapping[str, Any] = field(default_factory=dict)
    by_file: bool = False
    accepts: Callable[[str, str], bool] = lambda column, inferred: True
    stream: Callable[[DataFile, Source], Iterable[Streamed]] = lambda file, source: ()


@dataclass(frozen=True, slots=True)
class Scanning:
    """What the scanner does with the records of a big file, NDJSON, JSON or CSV.

    ``predicates``: which values `FormatChecks.record` may find something in; None: it must see all records. Else it
    sees those that a predicate names, and those that are not proved to be as declared. A predicate too wide costs time,
    one too narrow is a missed finding. Where `batch` wants the decoded records, too, it gets none of those that were
    scanned: what it needs of them are columns, and the ``noted`` records of the batch.

    ``as_text``: the derived columns that are one field as text (an integer by its digits), and that field. ``made_of``:
    the fields that ``derive`` makes the other derived columns of. It fills them in for a block: of the codes of those
    fields, as texts, and which of them are there; for CSV also of the columns and of the key columns that pandas
    infers. Records that are not proved to be as declared are given to `FormatChecks.derive`.

    ``known_codes`` gives what the codes of scanned key columns are looked up in: a record with others is shown to
    `record`. ``counted`` gets how many records of a block have what predicates count, except for those `record` saw.
    ``sees_next``: whether `record` must see the next records of an array or object, whatever the predicates say;
    ``takes``: whether what was scanned of a part of it, given with its bytes, is taken as it is. Else `record` and
    `batch` see all records of the part.
    ``items``: how the scanner looks at a file that is one record; None where `record` must see it whole.
    ``passed_over``: texts, or integers that are no key, of which `record` takes no notice where they are of another
    type, or null. So records in which nothing else is wrong need not all be decoded to be counted. ``in_part``: what
    `record` finds in a record, where no value is at fault but those of these members, nor those together with others:
    each of its rules is asked that looks at the value of one of them (not just whether it is there).
    """

    predicates: tuple[Asked, ...] | None = None
    as_text: Mapping[str, str] = field(default_factory=dict)
    made_of: tuple[str, ...] = ()
    derive: Callable[[Mapping[str, ScannedCodes], Any], None] = lambda given, batch: None
    known_codes: Callable[[], Mapping[str, Any]] = dict
    counted: Callable[[Mapping[Any, int]], None] = lambda counts: None
    sees_next: Callable[[], bool] = lambda: False
    takes: Callable[[ScannedBlock, bytes], bool] = lambda scanned, data: True
    items: Callable[[], Items] | None = None
    passed_over: tuple[str, ...] = ()
    in_part: Callable[[Any, frozenset[str]], Iterable[Problem]] | None = None


class FormatChecks:
    """The rules of a format that its declaration cannot say; one object per dataset and run.

    The base class adds nothing. The engine calls, in this order: ``start``; per file, in the declared order of kinds,
    ``start_file``, then ``record`` and ``batch`` for records, or ``text`` for text files, then ``finish_file``; at the
    end ``finish``. All of them yield what they find: problems with their file, or rows of files that were read.

    ``profiles`` are the chosen ones (a subset of the format's); a check need not filter by them: the engine drops
    findings of rules that apply to none of them.
    """

    age_seconds: float = math.inf
    """By how many seconds files may be older than others before a rule sees it."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        self.dataset = dataset
        self.profiles = profiles

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """What the checks want to see of the files of a kind (in a split)."""
        return Needs()

    @property
    def beside(self) -> Iterable[Path]:
        """Files and folders outside of the dataset's folder on which findings depend, there or not."""
        return ()

    def start(self) -> Iterable[Placed]:
        """Problems of the layout, before any file is read."""
        return ()

    def start_file(self, file: DataFile) -> None:
        """Before the first record of a file; files are read one after the other."""

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The problems of one decoded record that the declaration does not cover; called once a record, in any order.

        ``value`` is what the framework's JSON reader gives. It may be damaged (fields missing or of another type,
        reported already by the declared checks): look before using it, and do not report such damage again.
        """
        return ()

    def scanning(self, file: DataFile) -> Scanning:
        """What the scanner does with a file; asked only for big ones, after `start_file`."""
        return Scanning()

    def state(self, file: DataFile) -> Any:
        """What `record` has kept of a range of a file, as a value that can be sent elsewhere."""
        return None

    def merge(self, file: DataFile, states: Sequence[Any]) -> None:
        """Keep what `record` would have, had it seen all these ranges of a file here; called before `finish_file`."""

    def text(self, file: DataFile, data: bytes) -> Iterable[Problem]:
        """The problems of one text file (container ``text``), whole."""
        return ()

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        """Key columns made from a whole record: a name starting with ``@`` to a text, texts, integer, list or None.

        ``to_show``: the key goes into a finding. Otherwise it is only compared, so that a hash will do.
        """
        return {}

    def batch(
        self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any
    ) -> Iterable[RowProblems]:
        """Further set checks over consecutive records; ``values`` are the decoded records where they are needed."""
        return ()

    def finish_file(
        self, file: DataFile, records: int, table: CsvTable | None = None
    ) -> Iterable[Placed | RowProblems]:
        """After the last record of a file; ``table`` is what a CSV file is as a whole, if its header could be read."""
        return ()

    def finish(self) -> Iterable[Placed | RowProblems]:
        """After the last file."""
        return ()


def not_compared(files: Iterable[DataFile]) -> Iterable[Placed]:
    """What is said of files that were not read to their end: references to their records were not looked up."""
    return ((file, Problem("unchecked-references")) for file in files if not file.to_end)
