"""A CSV file read as pandas reads it, and checked: cells, and keys as its type inference leaves them.

What a cell of a key column means is known only when pandas' chunk of rows around it has been seen: one cell of text
makes text of them all. So a part of the file waits, as key columns only, until its chunk has shown its kind, which is
with the first row nearly always.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ragdatakit.files.containers.csv_cells import (
    ColumnScan,
    CsvForm,
    Kind,
    cells_of_broken,
    coerced,
    key_of,
    split_record,
)
from ragdatakit.files.containers.csv_rows import LONGEST_OPEN, CsvBlock, CsvReader, RawRow, locate_rows
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.reading.cut_files import CUT_HERE, ends_file
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.collector import NO_RECORD
from ragdatakit.validators.csv_parts import CsvColumns, CsvPart, CsvTable, Scans
from ragdatakit.validators.python_keys import PythonBatch
from ragdatakit.validators.reading.blocks import few_of_each
from ragdatakit.validators.reading.file_runs import FileRun
from ragdatakit.validators.records import decoded_text

HEADER_SHOWN = 100
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class CsvRun(FileRun):
    """A CSV file."""

    def run(self) -> None:
        """Read and check the file."""
        if not self._open():
            self._without_header()
        elif not self._readable_header() or not self._check_header():
            self._finish(0)
            self.whole = self.to_end = False
        else:
            self._prepare()
            self._read()
            self._finish(self.info.rows)
            self._report_too_long()
            self.table_read = self.info

    def _open(self) -> bool:
        """Read the header, if there is one, and find the declared columns in it."""
        run = self.run_
        self.source.max_line_bytes = min(self.source.max_line_bytes, LONGEST_OPEN)
        self.reader = CsvReader(self.source)
        self._rules = rules = self.declared.record.rules
        # where pandas stops: what seems to be missing from the file may be in it
        self._ending = {"invalid-utf8", rules.get("unclosed-quote", ""), rules.get("long-row", "")}
        self._is_named = any(ref.to_kind == self.file.kind for ref in run.dataset.format.references)
        self._most = run.most_held
        there = self.reader.open()
        header = self.reader.header or []
        self.present = present = CsvColumns.of(self.declared.record, header)
        self.form = CsvForm(header, present.key, {f.name for f in present.fields if f.inferred})
        return there

    def _prepare(self) -> None:
        """What is gathered while the rows are read, and what is known of the columns before."""
        present = self.present
        header, names = self.reader.header or [], list(present.places)
        self.info = CsvTable(self.file.kind, header, present.key, self.base, chunk_rows=self.reader.chunk_rows)
        self.info.kinds = {name: [] for name in names}
        self.info.bare_kinds = {name: [] for name in names}
        self.info.inferred = present.inferred
        self._waiting: list[CsvPart] = []
        self._number = -1
        self._chunk = self._new_scans()
        self._accepted = {
            (name, kind): self.needs.accepts(name, kind)
            for name in present.inferred
            for kind in ("integer", "decimal", "boolean", "text")
        }

    def _report_too_long(self) -> None:
        """A row that never ends, at which reading stopped."""
        if self.reader.too_long:
            self.whole = self.to_end = False
            if self.fresh:
                problem = Problem("line-too-long", facts={"bytes": self.source.max_line_bytes})
                self.run_.emit_record(self.file, problem, Located(NO_RECORD, self.reader.too_long, 0, b""))

    def locate(self, records: Iterable[int]) -> Iterable[Located]:
        """Find records again, by the table of blocks."""
        if not self.table.records:
            return
        source = self.run_.source(self.file)
        for record, row in locate_rows(source, self.table, records, self.reader.widths, self.reader.quick):
            yield Located(record, row.line, row.offset, row.raw)

    def _finish(self, records: int) -> None:
        self.source.bom = False  # pandas drops a byte-order mark
        super()._finish(records)

    def _without_header(self) -> None:
        expected = ",".join(f.name for f in self.declared.record.fields if f.required)
        if self.fresh and (rule := self._rules.get("no-header")) and not self.source.faults:
            self.run_.emit(self.file, Problem(rule, facts={"expected": expected}))
        self._finish(0)
        self.whole = self.to_end = False

    def _readable_header(self) -> bool:
        """Whether the rows can be looked at as far as the bytes of the header say; one that is not text is reported."""
        row = self.reader.header_row
        assert row is not None
        _, problem = decoded_text(row.raw)
        if problem is None:
            return True
        self.whole = self.to_end = False
        if self.fresh:
            self.run_.emit_record(self.file, problem, _header_at(row))
        return bool(self.present.fields)

    def _check_header(self) -> bool:
        """Whether the rows can be looked at; all columns that are missing are reported at once."""
        row = self.reader.header_row
        assert row is not None
        missing = [
            f
            for f in self.declared.record.fields
            if f.required and f.name not in (*self.present.places, *self.present.replaced)
        ]
        for column in missing:
            is_key = column.inferred or (self.columns is not None and column.name in self.columns.names)
            self.to_end = self.to_end and not is_key
            self.whole = self.whole and self.to_end
        rule = self._rules.get("missing-column")
        if missing and self.fresh and rule:
            text = row.raw.decode("utf-8", "replace")
            most = HEADER_SHOWN if "\0" not in text else HEADER_SHOWN // 8
            names = [f.name for f in missing]
            listed = " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
            facts = {
                "column": listed,
                "header": text if len(text) <= most else f"{text[:most]}…",
                "note": self._header_note(text, names),
            }
            self.run_.emit_record(self.file, self._with_near(Problem(rule, facts=facts), names), _header_at(row))
        return not missing or bool(self.present.fields)

    def _with_near(self, problem: Problem, missing: list[str]) -> Problem:
        """The problem of columns that are missing, with what may be meant for the first of them."""
        if problem.facts["note"]:
            return problem
        from ragdatakit.validators.lacking import lacking  # which few datasets need

        read = {f.name for f in self.declared.record.fields}
        return lacking(problem, missing[0], [cell.strip() for cell in self.reader.header or ()], read)

    def _header_note(self, line: str, missing: list[str]) -> str:
        """What a header is where it has none of the columns: no text, of another separator, or no header at all."""
        if "\0" in line:
            return ", which is not a text: save the table as CSV in UTF-8"
        for separator, called in SEPARATORS.items():
            if set(missing) <= {name.strip(' "') for name in line.split(separator)}:
                return f": {called} separate the columns, and pandas splits at commas"
        names = {f.name for f in self.declared.record.fields}
        if names.isdisjoint(cell.strip().casefold() for cell in self.reader.header or ()):
            return ", which is the first row if the header was left out"
        return ""

    # reading

    def _read(self) -> None:
        for block, part in self._checked():
            self._report_shift(block)
            self._take_rows(part, block.first_line, block.offset)
            self._take(part)
            self.info.rows += part.rows
            self.run_.progress(self.file, self.source.progress)
        self._end_chunk()

    def _checked(self) -> Iterator[tuple[CsvBlock, CsvPart]]:
        return self._in_threads(self.reader.blocks(), self.check)

    def new_part(self, block: CsvBlock) -> CsvPart:
        """An empty part for a block."""
        return CsvPart(block.first_row, block.rows, block.chunk, self._new_scans())

    def _new_scans(self) -> Scans:
        return {name: ColumnScan(bare=ColumnScan()) for name in self.present.places}

    def check(self, block: CsvBlock) -> CsvPart:
        """All rows of a block: their faults and their values."""
        part = self.new_part(block)
        with self.checker.judging:
            part.values = self.examine_rows(block.raw_rows(), part, 0)
        texts = self.source.text_columns
        for name, scan in part.scans.items():
            if name in texts:
                scan.close(len(part.values), numbers=False)
            else:
                scan.add(v[name] for v in part.values if name in v)
        for name in self.present.inferred:
            if name not in texts:
                part.numbers[name] = sum(1 for v in part.values if name in v and ColumnScan.is_number(v[name]))
        return part

    def examine_rows(self, rows: list[RawRow], part: CsvPart, first: int) -> list[dict[str, str]]:
        """Decoded rows (the first is number ``first`` of the part), their faults kept in the part."""
        values = []
        for number, row in enumerate(rows, first):
            value, problems = self.examine(row)
            values.append(value)
            if problems:
                self.keep(part, number, row, problems)
        return values

    def keep(self, part: CsvPart, number: int, row: RawRow, problems: list[Problem]) -> None:
        """Keep a row's problems, so many of a rule as may be shown, and count the others."""
        if not self._ending.isdisjoint(problem.rule for problem in problems):
            self.whole = False
        if any(self._is_doubtful(row, problem) for problem in problems):
            part.doubtful.append(number)
        problems = few_of_each(problems, part.kept, part.excess, self._most)
        if problems:
            part.faulty.append((Located(part.first_row + number, row.line, row.offset, row.raw), problems))

    # one row

    def examine(self, row: RawRow) -> tuple[dict[str, str], list[Problem]]:
        """The cells of a row by column (those that can be relied on), and all its faults."""
        rules = self._rules
        text, problem = decoded_text(row.raw)
        if problem is not None:
            return self._relied_on(row), [problem]
        cells, _, _ = split_record(text)
        header = self.info.header
        value = {name: cells[place].text for name, place in self.present.places.items() if place < len(cells)}
        nuls = [name for name, cell in value.items() if "\0" in cell]
        for name in nuls:  # pandas 2 cuts the cell there
            value[name] = value[name].partition("\0")[0]
        if not row.closed:
            return self._relied_on(row), [Problem(rules["unclosed-quote"], position=0, length=1)]
        problems: list[Problem] = []
        if len(cells) > len(header):
            facts = {"fields": len(cells), "expected": len(header)}
            if len(cells) > self.reader.width:
                start = cells[self.reader.width].start
                problems.append(Problem(rules["long-row"], facts=facts, position=start, length=len(text) - start))
            if any(cell.text for cell in cells[len(header) :]):
                return value if self._is_named else {}, problems
        elif len(cells) <= self.present.last_needed:
            missing = ", ".join(f.name for f in self.present.required if f.name not in value)
            short: dict[str, Any] = {"fields": len(cells), "expected": len(header), "missing": missing}
            problems.append(Problem(rules["short-row"], facts=short))
            if rule := rules.get("cut-off"):
                cut = [f.name for f in self.present.required if f.inferred and f.name not in value]
                problems += [Problem(rule, "", "", {"field": name}) for name in cut]
        problems += [
            Problem(rules["nul"], f"/{name}", self.form.value(text).get(name), {"column": name}) for name in nuls
        ]
        problems += self._cell_problems(value)
        return value, problems

    def _relied_on(self, row: RawRow) -> dict[str, str]:
        """The cells that can be relied on of a row at which pandas stops: what refers to its key is still checked."""
        cells = cells_of_broken(row.raw, row.closed, guess=self._is_named)
        found = ((name, cells[place]) for name, place in self.present.places.items() if place < len(cells))
        return {name: cell for name, cell in found if cell is not None}

    def _is_doubtful(self, row: RawRow, problem: Problem) -> bool:
        """Whether the problem makes a guess of the key of the row, which others refer to."""
        if not self._is_named or problem.rule not in self._ending or not problem.length:
            return False
        if problem.rule != "invalid-utf8":
            return True
        place = self.present.places.get(self.info.key, 0)
        cells = cells_of_broken(row.raw, row.closed, guess=False)
        return place >= len(cells) or cells[place] is None

    def _cell_problems(self, value: dict[str, str]) -> list[Problem]:
        record = self.declared.record
        problems: list[Problem] = []
        for column in self.present.fields:
            cell = value.get(column.name)
            if cell is None:
                continue
            if not cell and column.non_empty and (rule := record.rule_for("empty", column.name)):
                problems.append(Problem(rule, f"/{column.name}", cell, {"column": column.name}))
        if self.checker.extra is not None:
            problems += self.checker.extra(value)
        return problems

    # what was read

    def _report_shift(self, block: CsvBlock) -> None:
        if block.first_row or self.reader.width <= len(self.info.header):
            return
        self.whole = self.to_end = False  # every cell is under another name
        row = block.raw_rows()[0]
        facts = {"fields": self.reader.width, "expected": len(self.info.header)}
        if self.fresh and (rule := self._rules.get("shifted")):
            located = Located(0, row.line, row.offset, row.raw)
            self.run_.emit_record(self.file, Problem(rule, facts=facts), located)

    def _take_rows(self, part: CsvPart, line: int, offset: int) -> None:
        """The next rows, which begin there: what is wrong with them."""
        self.table.add(part.first_row, line, offset)
        for located, problems in part.faulty:
            for problem in problems:
                if problem.rule == self._rules.get("unclosed-quote") and ends_file(self.file, located):
                    problem.hint = CUT_HERE
                    self.whole = self.to_end = False
        if part.doubtful:
            first_row = self.base + part.first_row
            self.sets.keyless.setdefault(self.file.kind, []).extend(first_row + number for number in part.doubtful)
        if not self.fresh:
            return
        for located, problems in part.faulty:
            for problem in problems:
                self.run_.emit_record(self.file, problem, located)
        for rule, number in part.excess.items():
            self.run_.collector.count(rule, self.file, number)

    def _take(self, part: CsvPart) -> None:
        """Keep a part waiting until the kinds of its chunk are known."""
        if part.chunk != self._number:
            self._end_chunk()
            self._number = part.chunk
        self.info.numbers.update(part.numbers)
        for name, scan in part.scans.items():
            self._chunk[name].follow(scan)
        self._waiting.append(part)
        if all(self._chunk[name].texts for name in self.present.inferred):
            self._release(dict.fromkeys(self.present.inferred, "text"))

    def _end_chunk(self) -> None:
        """All rows of a chunk have been seen."""
        if self._number < 0:
            return
        kinds = {name: scan.kind for name, scan in self._chunk.items()}
        self._release(kinds)
        for name, kind in kinds.items():
            scan = self._chunk[name]
            self.info.kinds[name].append(kind)
            self.info.bare_kinds[name].append(scan.bare.kind if scan.bare is not None and scan.bare.cells else kind)
            self.info.scans.setdefault(name, ColumnScan()).follow(scan)
        self._chunk = self._new_scans()

    def _release(self, kinds: dict[str, Kind]) -> None:
        for part in self._waiting:
            if part.batch is not None:
                self._take_batch(self.base + part.first_row, part.batch, part.values, part.found)
            elif (batch := self.batch(part, kinds)) is not None:
                self._take_cells(part.first_row, batch, part.values)
        self._waiting = []

    def _take_cells(self, first_row: int, batch: Any, values: list[Any] | None) -> None:
        """The key columns of the next rows."""
        batch.first_row = self.base + first_row
        self.run_.report(self.sets.probe(self.file.kind, batch))
        self._absorb(batch, values)

    def usable(self, name: str, kind: Kind) -> bool:
        """Whether cells of a column that turned into this kind can be found among what they refer to."""
        return self._accepted[name, kind]

    def batch(self, part: CsvPart, kinds: dict[str, Kind]) -> Any:
        """The key columns of a part, cells of inferred columns as the kinds of their chunk leave them."""
        if self.columns is None:
            return None
        columns: dict[str, list[Any]] = {name: [] for name in self.columns.names}
        for value in part.values:
            derived = self.key_cells(value, kinds)
            if any(n not in derived and n.startswith("@") for n in columns):
                derived |= self.run_.checks.derive(self.file.kind, {**value, **derived})
            for name, column in columns.items():
                column.append(derived.get(name) if name.startswith("@") else value.get(name))
        return PythonBatch(columns, 0)

    def key_cells(self, value: dict[str, str], kinds: dict[str, Kind]) -> dict[str, Any]:
        """The key columns of a row: ``@<column>``, ``@key``, and ``@spelled``, how the key is spelled after all."""
        found: dict[str, Any] = {"@spelled": None}
        for name in self.present.inferred:
            if name in value and self.usable(name, kinds[name]):
                found[f"@{name}"] = key_of(value[name], kinds[name])
        key = self.info.key
        if f"@{key}" in found:
            found["@key"], found["@spelled"] = found[f"@{key}"], coerced(value[key], kinds[key])
        return found


def _header_at(row: RawRow) -> Located:
    return Located(NO_RECORD, row.line, row.offset, row.raw)
