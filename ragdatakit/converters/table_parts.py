"""Tables of a dataset in parts: which rows a part of a file has, read by whoever is asked for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.converters import TableFiles, get_converter
from ragdatakit.converters.sources import ConversionSettings, Source, converted_root
from ragdatakit.files.containers.lines import line_ends
from ragdatakit.files.paths.own_files import RENAMED_IDS, SIDECAR
from ragdatakit.files.reading.file_sources import parts_of, source_of
from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    from ragdatakit.files.containers.sources import Block
    from ragdatakit.files.datasets import DataFile, Dataset, FilePart
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.files.reading.refused_records import Refused

PART_BYTES = 32 << 20
"""Of a file in one part, about; small files are one part together."""


@dataclass(frozen=True, slots=True)
class TablePart:
    """Rows of a table: those of parts of ``files``, one behind the other. ``group`` is the place of the group that the
    files belong to; ``along`` are read whole. ``refused`` are the records in it that are left out, ``given``
    are options that its dataset has."""

    table: str
    number: int
    group: int
    files: tuple[tuple[DataFile, FilePart | None], ...]
    along: tuple[DataFile, ...] = ()
    key: str = ""
    refused: Refused | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    def source(self, source: Source) -> Source:
        """What is to be read for it."""
        whole = _only(source)
        files = [*(replace(file, part=part) for file, part in self.files), *self.along]
        options = {**whole.options, **self.given}
        kept = replace(whole, files=files, options=options, ignored=[], outside=[], unreadable=[], _numbers={})
        return Source((kept,))


@dataclass(frozen=True, slots=True)
class Looked:
    """What a part shows before it is read: the lines and the rows of each of its files, and what else others have to
    know."""

    extents: tuple[tuple[int, int], ...]
    found: Any = None


def count_lines(dataset: Dataset, _: RecordReader) -> Looked:
    """The lines of the files of a part."""
    return Looked(tuple((sum(map(_lines, source_of(file).blocks())), 0) for file in dataset.files))


def _lines(block: Block) -> int:
    """The lines of a block; one that is too long is not in it, and the last one of a file may have no end."""
    return 1 if block.skipped else line_ends(block.data) + (not block.data.endswith((b"\n", b"\r")))


def behind_each_other(parts: Iterable[TablePart], looked: Iterable[Looked]) -> list[TablePart]:
    """The parts, which know what those before them in their files have."""
    above_lines, above_rows, found = Counter[str](), Counter[str](), list[TablePart]()
    for part, one in zip(parts, looked, strict=True):
        files: list[tuple[DataFile, FilePart | None]] = []
        for (file, of_file), (lines, rows) in zip(part.files, one.extents, strict=False):
            key = f"{part.table} {file.display}"
            if of_file is not None:
                of_file = replace(of_file, lines=above_lines[key], rows=above_rows[key])
            above_lines[key] += lines
            above_rows[key] += rows
            files.append((file, of_file))
        found.append(replace(part, files=tuple(files)))
    return found


def without_refused(parts: Iterable[TablePart], looked: Iterable[Looked], refused: Refused) -> list[TablePart]:
    """The parts, which know what is left out of them."""
    found = []
    for part, one in zip(parts, looked, strict=True):
        extents = zip(part.files, one.extents, strict=False)
        files = [(replace(file, part=of_file), lines) for (file, of_file), (lines, _) in extents]
        files += [(file, 0) for file in part.along]
        found.append(replace(part, refused=refused.of_parts(files)))
    return found


def _only(source: Source) -> Dataset:
    (dataset,) = source.parts
    return dataset


def tables_in_parts(source: Source, options: ConversionSettings) -> Mapping[str, TableFiles] | None:
    """The files that have the rows of the tables of a dataset; None where its rows depend on more than their record."""
    converter = get_converter(source.format)
    if converter.in_parts is None or len(source.parts) != 1 or source.unread or options.chunking:
        return None
    root = converted_root(source.parts[0])
    if root is not None and ((root / RENAMED_IDS).exists() or (root / SIDECAR).exists()):
        return None  # what was kept goes by the order of all rows
    return converter.in_parts(source.parts[0], converter.values(options.values, "read"))


def cut_tables(source: Source, tables: Mapping[str, TableFiles], target_bytes: int) -> list[TablePart]:
    """The parts of all tables, those of a table in the order of its rows. Raises `OSError` where a file cannot be
    opened."""
    kinds = {kind.kind: kind for kind in source.parts[0].format.files}
    found: list[TablePart] = []
    for table, files in tables.items():
        number, cut = 0, files.cut
        for group, members in enumerate(files.groups):
            small: list[tuple[DataFile, FilePart | None]] = []
            new = partial(TablePart, table, group=group, along=files.along, key=files.key, given=files.given)
            if files.together:
                found.append(new(number=number, files=tuple((file, None) for file in members)))
                number += 1
                continue
            held = 0
            for file in members:
                quoted = kinds[file.kind].quoted_columns
                for part in parts_of(file, target_bytes, quoted) if cut is None else cut(file, target_bytes):
                    size = file.path.stat().st_size if part is None else target_bytes
                    if small and held + size > target_bytes:
                        found.append(new(number=number, files=tuple(small)))
                        number, small, held = number + 1, [], 0
                    small.append((file, part))
                    held += size
            if small:
                found.append(new(number=number, files=tuple(small)))
                number += 1
    return found
