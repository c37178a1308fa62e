"""What was found in a range, as a value that can be sent to who asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.element_scans import Element
from ragdatakit.files.containers.indents import NO_INDENT, Indent
from ragdatakit.files.containers.sources import FileFault
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.validators.csv_parts import CsvPart, CsvTable
from ragdatakit.validators.reading.blocks import CheckedBlock

if TYPE_CHECKING:
    from ragdatakit.validators.partitions.key_runs import KeylessRows, PackedKeys, Run
    from ragdatakit.validators.partitions.known_keys import Probed


@dataclass(frozen=True, slots=True)
class JudgedBlock:
    """What is in the records behind ``offset``. ``skipped`` is the length of one line too long to be held, in place of
    which nothing was checked. Of elements ``line`` and ``indent`` are how many lines of the range are before it, and
    what of the range is before it on its line."""

    offset: int
    checked: CheckedBlock
    skipped: int = 0
    line: int = 0
    indent: Indent = NO_INDENT


@dataclass(frozen=True, slots=True)
class Stretch:
    """Which part of an array or object was read: from where an element begins to where the next one does, or
    (``closed``) behind the last one. It has so many ``lines``, the last of which begins with ``indent``; ``mark`` is
    the first byte of the last element. ``sound``: there was nothing but elements, and what belongs
    around them. ``around`` and ``member`` are as `WrappedSource` has them."""

    begin: int
    end: int
    sound: bool
    closed: bool = False
    lines: int = 0
    indent: Indent = NO_INDENT
    mark: bytes = b""
    around: tuple[Element, ...] = ()
    member: str = ""


@dataclass(slots=True)
class JudgedRows:
    """What rows of CSV are: ``steps`` are, in the order in which they are known, what is wrong with the next ones, with
    their first line and offset, and the key columns of some, with the number of the first and decoded ones. ``table``
    is what they are as a whole; not all of them can be relied on where they are not ``sound``."""

    table: CsvTable
    steps: list[tuple[CsvPart, int, int] | tuple[int, Any, list[Any] | None]] = field(default_factory=list)
    sound: bool = True


@dataclass(slots=True)
class RangeSummary:
    """What a range is: its blocks; in place of the records are what is wrong with them and their key columns. ``more``
    counts problems of single records beyond those that may be shown, ``state`` is what the format's checks have kept.
    ``key`` are the numbers of the file and of the range. Of a file that was read from its beginning, or of row groups:
    whether it has a byte-order mark, its header, its ``bytes`` unpacked, where its row groups begin, and where the text
    ends that was made of rows. ``runs`` have its keys, where these are compared in partitions: each begins with a
    record, and says which records have none; ``probed`` is what looking up known keys gave. ``stretch`` says of
    elements which they are, ``sheet`` is what rows of CSV are."""

    key: tuple[int, int]

    blocks: list[JudgedBlock] = field(default_factory=list)
    more: Counter[str] = field(default_factory=Counter)
    faults: list[FileFault] = field(default_factory=list)
    state: Any = None
    bom: bool = False
    header: bytes | None = None
    bytes: int = 0
    row_groups: list[int] = field(default_factory=list)
    end: int = 0
    runs: list[tuple[int, Run | PackedKeys, KeylessRows]] | None = None
    probed: Probed | None = None
    stretch: Stretch | None = None
    given: dict[str, Any] = field(default_factory=dict)
    passed_on: dict[str, Any] = field(default_factory=dict)
    sheet: JudgedRows | None = None
