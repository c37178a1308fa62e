"""The cells of a GFM-RAG table as the scanner gives them, with the JSON of attributes: columns, block by block.

Rows that it refuses are read one by one. Where the rows may stay in their file, what a report says of them is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.converters.gfm_rag.attributes import Note, json_of_cell, lift_edge
from ragdatakit.converters.gfm_rag.reading import DERIVED_BY, DOCUMENT
from ragdatakit.converters.kept_texts import TextBlock, TextColumn
from ragdatakit.database.apart_rows import BLANK, ApartRows, ColumnFacts, CountedObjects, TooVariedError
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.files.containers.csv_rows import CsvBlock, CsvReader, RawRow, locate_rows
from ragdatakit.files.containers.positions import BlockTable
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.threads import ahead
from ragdatakit.scanner.library import library
from ragdatakit.scanner.notes import REFUSED
from ragdatakit.scanner.sheets import KeptCells, ScannedRows, SheetColumn, SheetScanner, cut_records
from ragdatakit.scanner.texts import Joined
from ragdatakit.schemas.canonical import Edge

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes
    from ragdatakit.database.edge_numbers import EdgeNumbers
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.schemas.conversions import Losses

SCHEMAS = {
    "nodes": {"name": Kind.TEXT, "type": Kind.TEXT, "attributes": Kind.TEXT},
    "edges": {
        **dict.fromkeys(("source", "relation", "target", "attributes"), Kind.TEXT),
        "confidence": Kind.NUMBER,
        "provenance": Kind.TEXT,
    },
}
_LIFTED = {"confidence": b'"confidence"', "provenance": b'"source"'}
"""The columns of edges for what is in their JSON, and how that is called there."""
_ENDS = ("source", "target")
_NUMBERED = ("name", "source", "target", "relation")
_NAMES = ("name", "source", "target")
"""Columns most of whose cells are different ones."""
_DERIVED = f'"{DERIVED_BY}"'.encode()


class ScannedTable:
    """The rows of a file: the ``usual`` cells are wanted, given with what a row has there that lacks them. What changes
    is noted, and the numbers are where they are wanted. Rows that are ``apart`` are counted there."""

    def __init__(
        self,
        records: RecordReader,
        file: DataFile,
        usual: Mapping[str, str],
        notes: Losses,
        numbers: EdgeNumbers,
        apart: ApartRows | None,
    ) -> None:
        self._records, self._file, self._usual, self._numbers = records, file, usual, numbers
        self._notes, self._apart = notes, apart
        self._relations: list[str] = []
        self.schema = SCHEMAS[file.kind]

    def columns(self) -> Iterator[list[PackedColumn]]:
        """The columns of the schema, block by block; of rows that are apart no edges, and nodes only where there are
        documents among them. Raises `Unproved` where there is no scanner, or a whole file is faulty; and
        `TooVariedError` of rows that are apart."""
        source, numbers = self._records.source(self._file), self._numbers
        reader = CsvReader(source, cut_records)
        if library() is None or not reader.open() or reader.header is None:
            raise Unproved
        self._places = {name: reader.header.index(name) for name in self._usual if name in reader.header}
        scanner = self._scanner(len(reader.header))
        if numbers.wanted:
            (numbers.begin_nodes if self._file.kind == "nodes" else numbers.begin_edges)()
        blocks = self._begin(reader.widths)

        def scan(block: CsvBlock) -> ScannedRows | None:
            return scanner.scan(block.data) if block.cut is None else None

        for block, scanned in ahead(reader.blocks(), scan, source.size):
            blocks.add(block.first_row, block.first_line, block.offset)
            if scanned is not None:
                odd = {
                    number: self._cells(RawRow(block.offset + start, block.first_line + line, block.data[start:end]))
                    for why, number, line, start, end in scanned.notes
                    if why == REFUSED
                }
                yield from self._of_scan(scanned, odd)
            else:
                yield from self._of_rows([self._cells(row) for row in block.raw_rows()])
            if self._records.progress is not None:
                self._records.progress(self._file.display, source.progress, source.size)
        if source.faults or reader.too_long:
            raise Unproved
        if self._apart is not None:
            self._end(self._apart)

    def _begin(self, widths: tuple[int, ...]) -> BlockTable:
        """Where the blocks will be noted."""
        blocks = BlockTable()
        self._records.place_by_line(self._file)
        if self._apart is not None:
            self._apart.begin()
            self._apart.read = partial(self._rows_at, blocks, widths)
            self._apart.columns = {name: ColumnFacts() for name in (*_NAMES, "attributes") if name in self.schema}
            if self._file.kind == "nodes":
                self._apart.columns["attributes"].objects = CountedObjects()
        return blocks

    def _end(self, apart: ApartRows) -> None:
        if self._file.kind == "nodes":
            apart.count("type", {})
            apart.columns["name"].distinct = apart.rows - len(self._numbers.repeated)
        else:
            apart.count("relation", dict(zip(self._relations, self._numbers.per_relation.tolist(), strict=True)))
            for name in _LIFTED:
                apart.count(name, {})
        apart.end()

    def _rows_at(self, blocks: BlockTable, widths: tuple[int, ...], places: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Some rows as they were read."""
        records, ignored = self._records.unheard(), lambda why, example: None
        for _, row in locate_rows(records.source(self._file), blocks, places, widths, cut_records):
            cells = self._cells(row, records)
            values = {**cells, **self._values(cells, ignored)}
            yield {name: values[name] for name in self.schema}

    def _scanner(self, width: int) -> SheetScanner:
        keys = _NUMBERED if self._numbers.wanted else ()
        is_apart = self._apart is not None
        columns = (
            SheetColumn(
                name,
                place,
                key=name in keys or (is_apart and name == "type"),
                distinct=is_apart and name == "type",
                kept=not is_apart or name not in ("source", "target"),
                json=name == "attributes",
            )
            for name, place in self._places.items()
        )
        return SheetScanner(width, columns)

    def _cells(self, row: RawRow, records: RecordReader | None = None) -> dict[str, str]:
        return {**self._usual, **(records or self._records).row_at(self._file, self._places, row)}

    def _of_scan(self, scanned: ScannedRows, odd: Mapping[int, dict[str, str]]) -> Iterator[list[PackedColumn]]:
        if self._numbers.wanted:
            codes = {name: scanned.cells[name].codes for name in _NUMBERED if name in scanned.cells}
            for name, of_rows in codes.items() if odd else ():
                of_rows[list(odd)] = codes_of_texts([cells[name] for cells in odd.values()])
            for row in self._number(codes):
                of_scan = scanned.cells["relation"].kept
                self._relations.append(odd[row]["relation"] if row in odd else of_scan.text(row))
        rows, attributes = scanned.rows, _nothing(Kind.TEXT, scanned.rows)
        lifted: dict[str, dict[int, Any]] = {}
        if "attributes" in scanned.cells:
            texts = {row: cells["attributes"] for row, cells in odd.items()}
            kept, lifted = self._with_json(scanned.cells["attributes"].kept, texts)
            attributes = _column(kept)
        self._prove(attributes)
        if self._apart is not None:
            types = self._count_cells(self._apart, scanned, odd.values())
            self._count(self._apart, attributes, types, {name: of.values() for name, of in lifted.items()})
            if DOCUMENT not in types:
                return
        found = {name: _nothing(kind, rows) for name, kind in self.schema.items()} | {"attributes": attributes}
        for name in self._usual:
            if name not in scanned.cells:
                if name != "attributes":
                    found[name] = packed(Kind.TEXT, [self._usual[name]] * rows)
            elif name != "attributes":
                texts = {row: cells[name] for row, cells in odd.items()}
                found[name] = _column(_with_texts(scanned.cells[name].kept, texts))
        for column, values in lifted.items():
            if values:
                found[column] = packed(self.schema[column], [values.get(row) for row in range(rows)])
        yield list(found.values())

    def _of_rows(self, rows: list[dict[str, str]]) -> Iterator[list[PackedColumn]]:
        if self._numbers.wanted:
            names = [name for name in _NUMBERED if name in self._places]
            codes = {name: codes_of_texts([cells[name] for cells in rows]) for name in names}
            self._relations += [rows[row]["relation"] for row in self._number(codes)]
        found: dict[str, list[Any]] = {name: [cells.get(name) for cells in rows] for name in self.schema}
        made = [self._values(cells, self._note) for cells in rows]
        for name in ("attributes", *_LIFTED):
            if name in found:
                found[name] = [values[name] for values in made]
        columns = {name: packed(kind, found[name]) for name, kind in self.schema.items()}
        self._prove(columns["attributes"])
        if self._apart is not None:
            types = Counter(found.get("type", ()))
            for name in _NAMES:
                if name in found:
                    self._apart.columns[name].empty += sum(map(_is_empty, found[name]))
            self._count(self._apart, columns["attributes"], types, {name: found.get(name, ()) for name in _LIFTED})
            if DOCUMENT not in types:
                return
        yield list(columns.values())

    @staticmethod
    def _prove(attributes: PackedColumn) -> None:
        """Raise `Unproved` where nodes or edges may be such as the reader passes over."""
        data = attributes.buffers[2]
        if isinstance(data, bytes) and _DERIVED in data:
            raise Unproved

    def _count_cells(self, apart: ApartRows, scanned: ScannedRows, odd: Collection[dict[str, str]]) -> Counter[str]:
        """Count the empty cells of columns of names; how many nodes have each type."""
        for name in _NAMES:
            if name in scanned.cells:
                apart.columns[name].empty += scanned.cells[name].empty + sum(_is_empty(row[name]) for row in odd)
        types: Counter[str] = Counter(row["type"] for row in odd if "type" in row)
        if (cells := scanned.cells.get("type")) is not None:
            numbers = cells.numbers.view(np.int64)
            each = np.bincount(numbers[numbers >= 0], minlength=len(cells.texts))  # odd rows have none
            types.update(dict(zip(cells.texts, each.tolist(), strict=True)))
        elif "type" in self._usual:
            types = Counter({self._usual["type"]: scanned.rows})
        return types

    @staticmethod
    def _count(
        apart: ApartRows, attributes: PackedColumn, types: Mapping[str, int], lifted: Mapping[str, Iterable[Any]]
    ) -> None:
        """Count the rows of a block."""
        apart.rows += attributes.length
        apart.count("type", types)
        for name, each in lifted.items():
            apart.count(name, Counter(value for value in each if value is not None))
        apart.columns["attributes"].add_objects(attributes)

    def _number(self, codes: Mapping[str, Codes]) -> list[int]:
        """Note the nodes or edges; the rows of those that name a relation first."""
        if self._file.kind == "nodes":
            self._numbers.add_nodes(codes["name"])
            return []
        found: list[int] = self._numbers.add_edges(codes["source"], codes["target"], codes["relation"]).tolist()
        if self._apart is not None and not self._numbers.few:
            raise TooVariedError
        return found

    def _with_json(self, kept: KeptCells, odd: Mapping[int, str]) -> tuple[KeptCells, dict[str, dict[int, Any]]]:
        """The attributes with what Python makes of some, and what of edges goes into columns of its own."""
        late = {*kept.late.tolist(), *odd}
        rows = late | _rows_with(kept, _LIFTED.values()) if self._file.kind == "edges" else late
        lifted: dict[str, dict[int, Any]] = {name: {} for name in _LIFTED}
        texts: dict[int, str | None] = {}
        for row in sorted(rows):
            text: str | None = odd.get(row)
            if text is None:
                text = kept.text(row)
            if row in late:
                text = json_of_cell(text, self._note)
            texts[row], *values = self._lifted(text)
            for name, value in zip(_LIFTED, values, strict=True):
                if value is not None:
                    lifted[name][row] = value
        return _with_texts(kept, texts), lifted

    def _lifted(self, json: str | None) -> tuple[str | None, float | None, str | None]:
        return lift_edge(json) if self._file.kind == "edges" else (json, None, None)

    def _values(self, cells: Mapping[str, str], note: Note) -> dict[str, Any]:
        """The columns that are made of the attributes."""
        return dict(zip(("attributes", *_LIFTED), self._lifted(json_of_cell(cells["attributes"], note)), strict=True))

    def _note(self, why: str, example: object) -> None:
        self._notes.add("coerced", self._file.kind, "attributes", why, example)


def ends_in(header: list[str]) -> Callable[[bytes], TextBlock | None] | None:
    """What makes of whole rows of edges a block of the names of their ends; None of rows that are to be read. None
    where there are no such columns."""
    if not all(name in header for name in _ENDS):
        return None
    scanner = SheetScanner(len(header), [SheetColumn(name, header.index(name), kept=True) for name in _ENDS])

    def ends_of(data: bytes) -> TextBlock | None:
        if DERIVED_BY.encode() in data:
            return None
        scanned = scanner.scan(data)
        kept = {name: cells.kept for name, cells in scanned.cells.items()}
        columns = {name: TextColumn(Joined(cells.data, cells.offsets)) for name, cells in kept.items()}
        return TextBlock(Edge, columns) if not scanned.notes else None

    return ends_of


def _is_empty(text: str) -> bool:
    return not text.strip(BLANK)


def _column(kept: KeptCells) -> PackedColumn:
    return PackedColumn(Kind.TEXT, len(kept.offsets) - 1, (kept.valid, kept.offsets, kept.data))


def _nothing(kind: Kind, rows: int) -> PackedColumn:
    valid = np.zeros(rows // 8 + 1, np.uint8)
    if kind is Kind.TEXT:
        return PackedColumn(kind, rows, (valid, np.zeros(rows + 1, np.int32), b""))
    return PackedColumn(kind, rows, (valid, np.zeros(rows, np.float64)))


def _rows_with(kept: KeptCells, words: Iterable[bytes]) -> set[int]:
    places = []
    for word in words:
        at = kept.data.find(word)
        while at >= 0:
            places.append(at)
            at = kept.data.find(word, at + 1)
    rows: npt.NDArray[np.int64] = np.searchsorted(kept.offsets, places, side="right") - 1
    return set(rows.tolist())


def _with_texts(kept: KeptCells, texts: Mapping[int, str | None]) -> KeptCells:
    """The same with these texts of some rows, which are in order."""
    if not texts:
        return kept
    sizes, valid, parts, at = np.diff(kept.offsets), kept.valid.copy(), [], 0
    for row, text in texts.items():
        data = b"" if text is None else text.encode()
        parts += [kept.data[at : kept.offsets[row]], data]
        at, sizes[row] = int(kept.offsets[row + 1]), len(data)
        bit = 1 << row % 8
        valid[row // 8] = valid[row // 8] & (255 - bit) | (bit if text is not None else 0)
    offsets = np.zeros_like(kept.offsets)
    np.cumsum(sizes, out=offsets[1:])
    return KeptCells(b"".join((*parts, kept.data[at:])), offsets, valid, kept.late)
