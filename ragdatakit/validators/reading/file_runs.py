"""One file read and checked: NDJSON in blocks (in threads, where that pays), JSON arrays and objects in parts.

A long module, because all containers share one way from a block to what is reported, counted and compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.beginnings import BOM
from ragdatakit.files.containers.indents import Indent
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.positions import BlockTable, Located, locate_elements, locate_lines, quick_located
from ragdatakit.files.containers.record_forms import RecordForm
from ragdatakit.files.containers.sources import LONG_BLOCK, Block, HeadedSource, Source
from ragdatakit.files.datasets import DataFile
from ragdatakit.scanner.notes import REFUSED
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.collector import NO_RECORD, crashed
from ragdatakit.validators.columns import KeyColumns
from ragdatakit.validators.identity import LONG_RECORD
from ragdatakit.validators.reading.blocks import BlockChecker, CheckedBlock, LineEnds, ScannedChecker, Segment
from ragdatakit.validators.records import decoded_text, wrapper_problems
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.sets import SetChecks

if TYPE_CHECKING:
    from ragdatakit.files.containers.arrays import ArraySource, Part
    from ragdatakit.files.containers.element_scans import Element
    from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock
    from ragdatakit.scanner.known_blocks import KnownBlocks
    from ragdatakit.scanner.predicates import Predicate
    from ragdatakit.validators.checks import Scanning
    from ragdatakit.validators.csv_parts import CsvTable
    from ragdatakit.validators.run_context import RunContext

_Cut = TypeVar("_Cut")
_Made = TypeVar("_Made")
BATCH_BYTES, BATCH_ROWS = 4 << 20, 4096
"""Of elements whose keys are taken together: each batch has a cost of its own."""
_WAITING = 4
"""Blocks whose keys may wait while those before them are taken in, which takes long where a table grows."""
_HARMLESS = {"byte-order-mark", "mislabelled-compression"}
_END_NAMES = {"lf": "LF", "crlf": "CR LF"}


class FileRun:
    """What all containers share: key columns go to the set checks, problems to the collector.

    ``form`` is what the text of one record is; ``whole`` whether all of the file could be read, ``to_end`` whether it
    was read to its end, so that no more than single records are not known. ``table_read`` is what a CSV
    file is as a whole, once it was read. ``more`` counts problems of single records beyond those that may be shown.
    """

    form: RecordForm
    seen_mistyped = 0
    """How many records of a block are seen in which only the type of a value is wrong (0: all, below 0: none)."""
    table_read: CsvTable | None = None

    def __init__(self, run: RunContext, sets: SetChecks, file: DataFile, fresh: bool) -> None:
        self.run_ = run
        self.sets = sets
        self.file = file
        self.fresh = fresh
        self.whole = self.to_end = True
        kind, checks = run.plan.kind(file.kind), run.checks
        self.declared = kind.declared
        self.needs = checks.needs(file.kind, file.split)
        extra = partial(self._found_by, checks.record, file) if self.needs.records else None
        self.more, self._full = Counter[str](), set[str]()
        self.checker = kind.checker.taking(extra, self._few)
        self.form = self.checker.form
        columns = run.columns(file.kind)
        self.columns: KeyColumns | None = columns if columns.names else None
        self.base = run.rows.begin(file)
        self.table = BlockTable()
        self.source = run.source(file)

    def run(self) -> None:
        """Read and check the file."""
        raise NotImplementedError

    def locate(self, records: Iterable[int]) -> Iterable[Located]:
        """Find records (0-based numbers) again by reading the file once more."""
        raise NotImplementedError

    @cached_property
    def scanning(self) -> Scanning:
        """What the scanner does with the file: asked only where there may be one."""
        return self.run_.checks.scanning(self.file)

    def _found_by(self, judge: Callable[..., Iterable[Problem]], *given: Any) -> Iterable[Problem]:
        """What the checks of the format say of a record."""
        with self.run_.lock:  # checks keep counts of their own
            try:
                found = iter(judge(*given))
                first = next(found, None)  # of most records there is none
            except Exception as error:  # noqa: BLE001 - as in `guarded`
                return (crashed(error),)
            return () if first is None else self.run_.guarded(self.file, lambda: chain((first,), found), self.more)

    def _few(self, problems: Iterable[Problem]) -> list[Problem]:
        """Of the problems of one field, those that may be shown."""
        with self.run_.lock:
            return self.run_.guarded(self.file, lambda: problems, self.more)

    def _scanner(self) -> BlockScanner | None:
        """Who proves records of this file clean; None where Python must see all of them."""
        scanning = self.scanning
        asked = scanning.predicates if self.needs.records or self.needs.values else ()
        if asked is None:
            return None
        from ragdatakit.scanner.blocks import BlockScanner, can_scan
        from ragdatakit.scanner.predicates import Spelled

        columns = self.run_.columns(self.file.kind)
        keys = columns.fields(scanning.as_text, scanning.made_of)
        asked = (*asked, *map(Spelled, columns.spelled), *self._mistyped())
        if keys is None or not can_scan(self.declared.records, asked):
            return None
        in_part = scanning.in_part if self.needs.records else None
        if in_part is not None:
            self.checker.in_part = partial(self._found_by, in_part)
        cells = self.declared.columns if self.declared.container == "columns" else None
        known, tags = scanning.known_codes(), self.declared.tags
        return BlockScanner(
            self.declared.record, keys, asked, cells=cells, known=known, tags=tags, by_member=in_part is not None
        )

    def _mistyped(self) -> Iterator[Predicate]:
        if not self.seen_mistyped:
            return
        from ragdatakit.scanner.predicates import Mistyped

        for name in self.scanning.passed_over:
            rules = [self.declared.record.rule_for(damage, name) for damage in ("type", "null")]
            if all(rules):
                yield Mistyped(name, rules[0], rules[1], max(self.seen_mistyped, 0))

    def _in_threads(
        self,
        blocks: Iterable[_Cut],
        work: Callable[[_Cut], _Made],
        is_alone: Callable[[_Cut], bool] = lambda _: False,
        kept: Callable[[_Cut], _Cut] = lambda block: block,
        waiting: int = 1,
    ) -> Iterator[tuple[_Cut, _Made]]:
        """Blocks with what ``work`` makes of them, in order: of big datasets in threads (see `InThreads`), unless the
        checks compare a record with those before it."""
        jobs = self.run_.options.jobs
        if not self.run_.big or jobs < 2 or (self.needs.records and not self.needs.in_ranges):
            return ((block, work(block)) for block in blocks)
        from ragdatakit.files.reading.threads import InThreads

        return InThreads(blocks, work, jobs, is_alone, kept, waiting).results()

    def _take_batch(self, first_row: int, batch: Any, values: list[Any] | None, found: list[RowProblems]) -> None:
        for one in found:
            one.rows = [int(row) + first_row for row in one.rows]
        self.run_.report(found)
        batch.first_row = first_row
        self._absorb(batch, values)

    def _finish(self, records: int) -> None:
        self.run_.rows.end(self.file, records)
        self.file.records = records
        self.file.bytes = self.source.unpacked_bytes
        faults = [f.rule for f in self.source.faults]
        self.to_end = self.to_end and all(rule in _HARMLESS for rule in faults)
        self.whole = self.whole and self.to_end
        if not self.fresh:
            return
        self.run_.collector.count_all(self.more, self.file)
        if self.source.bom:
            self.run_.emit_record(self.file, Problem("byte-order-mark", position=0), Located(0, 1, 0, b""))
        for fault in self.source.faults:
            self.run_.emit(self.file, Problem(fault.rule, facts=fault.facts, hint=fault.hint))

    def _take_values(self, values: list[Any], first_record: int) -> None:
        if self.columns is None:
            return
        batch: Any
        if self.run_.big:
            from ragdatakit.validators.coded_columns import coded_values

            batch = coded_values(self.columns, values)
            batch.first_row = self.base + first_record
        else:
            batch = self.columns.of_values(values, self.base + first_record)
        self.run_.report(self.sets.probe(self.file.kind, batch))
        self._absorb(batch, values)

    def _take_scan(self, scanned: ScannedBlock, first_record: int, noted: list[tuple[int, int, Any]]) -> None:
        """Keys of records that were scanned; of those that were noted and kept: why, their rows, decoded values."""
        if self.columns is None:
            return
        batch = self._coded_part(scanned, noted)
        found = self.sets.probe(self.file.kind, batch)
        self._take_batch(self.base + first_record, batch, None, found)

    def _examined(
        self, data: bytes, scanned: ScannedBlock, indent: Indent, noted: list[tuple[int, int, Any]]
    ) -> Iterator[tuple[list[Problem], int, int, int, bytes, Indent]]:
        """Elements of a part in which the record checks find something: the problems, row, line, offset, bytes, and
        what is before them on their line. To ``noted`` go those that are kept: why they were noted, their rows and
        decoded values."""
        behind = 0
        for why, row, line, start, end in scanned.notes:
            raw = data[start:end]
            value, problems = self.checker.examine(raw, row in scanned.alike or None, scanned.alike.get(row))
            if why == REFUSED or self.needs.values:
                noted.append((why, row, value))
            if problems:
                indent = indent.behind(data, behind, start)
                behind = start
                yield problems, row, line, start, raw, indent

    def _coded_part(self, scanned: ScannedBlock, noted: list[tuple[int, int, Any]]) -> Any:
        from ragdatakit.validators.coded_columns import coded_scan

        assert self.columns is not None
        values = [value for why, _, value in noted if why == REFUSED]
        batch = coded_scan(self.columns, scanned, values, self.scanning.derive)
        if self.needs.values:
            batch.noted = [(row, value) for _, row, value in noted]
        return batch

    def _absorb(self, batch: Any, values: list[Any] | None) -> None:
        self.sets.absorb(self.file.kind, batch)
        self._look_at(batch, values)

    def _look_at(self, batch: Any, values: list[Any] | None) -> None:
        self.run_.report(self.run_.checks.batch(self.file.kind, self.sets.split, values, batch, self.sets))


class LinesRun(FileRun):
    """A file of lines, each of which is a record: NDJSON, or cells."""

    _unread = 0

    def run(self) -> None:
        """Read and check the file."""
        self._records = 0
        self._lines = int(self.declared.columns.header)
        self._ends = LineEnds()
        checker = self._block_checker()
        is_plain = self.run_.big and self.source.is_plain()
        for block, checked in self._checked(checker):
            if block.skipped:
                self._skip(block)
            else:
                record, line = self._records, self._lines + 1
                self._take(block, checked)
                for row, below, at in checked.marks if is_plain else ():
                    self.table.add(record + row, line + below, block.offset + at)
            self.run_.progress(self.file, self.source.progress)
        self._end_lines()

    def _end_lines(self) -> None:
        if 0 < self._records == self._unread:
            self.sets.partial.add(self.file.kind)
        self._finish(self._records)
        if self.fresh:
            self._report_header()
            self._report_ends()

    def locate(self, records: Iterable[int]) -> Iterable[Located]:
        """Find records again by reading the file once more."""
        source = replace(self.run_.source(self.file), known=self.source.known, reads_known=True)
        return locate_lines(source, self.table, records) if self.table.records else ()

    def _block_checker(self) -> BlockChecker:
        most = self.run_.most_held
        if not self.run_.big:
            return BlockChecker(self.checker, most)
        self.seen_mistyped = most
        scanner = self._scanner()
        if scanner is None:
            return BlockChecker(self.checker, most)
        known, keeps = self._known_blocks(), self.needs.values
        return ScannedChecker(self.checker, scanner, most, self.scanning.counted, known, keeps)

    def _known_blocks(self) -> KnownBlocks | None:
        """Those of the check before this one, which are not read again; None where there is to be no other check."""
        repairer, scanning = self.run_.options.repairer, self.scanning
        if repairer is None or type(self.source) is not Source or self.source.quoted or self.source.is_packed():
            return None
        if scanning.known_codes() or is_parquet(self.file.path):
            return None
        known = repairer.known_blocks(self.file)
        spelled = tuple(self.columns.spelled) if self.columns is not None else ()
        known.ask((scanning.predicates, scanning.made_of, spelled))
        self.source.known = known.spans()
        return known

    def _checked(self, checker: BlockChecker) -> Iterator[tuple[Block, CheckedBlock]]:
        blocks, work = self.source.blocks(), partial(self._work, checker)
        kept = lambda block: Block(b"", block.offset, block.skipped)  # noqa: E731 - what `_take` asks of it
        return self._in_threads(blocks, work, lambda block: len(block.data) > LONG_BLOCK, kept, _WAITING)

    def _work(self, checker: BlockChecker, block: Block) -> CheckedBlock:
        """In a worker: check the block, take its key columns, probe references."""
        batches: list[tuple[int, Any, list[Any] | None, list[RowProblems]]] = []
        first = 0

        def take(segment: Segment) -> None:
            nonlocal first
            if self.columns is None:
                return
            if self.run_.big:
                batch = self._coded(segment)
                found = self.sets.probe(self.file.kind, batch)
                self.sets.prepare(self.file.kind, batch)
                if self.needs.values:
                    batch.noted = segment.noted
                values = segment.values if self.needs.values and segment.scanned is None else None
                batches.append((first, batch, values, found))
            else:
                batches.append((first, None, segment.values, []))
            first += segment.length

        checked = checker.check(block, take, at_once=len(block.data) <= LONG_BLOCK)
        checked.batches = batches
        return checked

    def _coded(self, segment: Segment) -> Any:
        assert self.columns is not None
        from ragdatakit.validators.coded_columns import coded_scan, coded_values

        if segment.scanned is None:
            return coded_values(self.columns, segment.values)
        return coded_scan(self.columns, segment.scanned, segment.values, self.scanning.derive)

    def _take(self, block: Block, checked: CheckedBlock) -> None:
        self.table.add(self._records, self._lines + 1, block.offset)
        if self.fresh:
            for within, problems, value in checked.faulty:
                record = within.record if within.record == NO_RECORD else self._records + within.record
                line, offset = self._lines + 1 + within.line, block.offset + within.byte_offset
                located = quick_located(record, line, offset, within.raw, within.indent, False)
                at_hand = value if len(within.raw) <= LONG_RECORD else None
                for problem in problems:
                    self.run_.emit_record(self.file, problem, located, at_hand)
            self.run_.collector.count_all(checked.excess, self.file)
        unread = self._unread_in(checked)
        self._unread += unread
        if unread and self.declared.container == "columns":
            self.sets.partial.add(self.file.kind)  # lines of cells that cannot be cut: most often all of them
        self._take_keys(checked)
        self._ends.add(checked.ends, self._lines, block.offset)
        self._records += checked.records
        self._lines += checked.lines

    def _unread_in(self, checked: CheckedBlock) -> int:
        """How many records of a block could not be read, so that it is not known what they name."""
        syntax = self.declared.record.rules.get("syntax", "")
        return checked.excess[syntax] + sum([syntax in [p.rule for p in some] for _, some, _ in checked.faulty])

    def _take_keys(self, checked: CheckedBlock) -> None:
        if self.run_.big:
            for first, batch, values, found in checked.batches:
                self._take_batch(self.base + self._records + first, batch, values, found)
        elif checked.batches:
            self._take_values([v for _, _, values, _ in checked.batches for v in values], self._records)

    def _skip(self, block: Block) -> None:
        self.table.add(self._records, self._lines + 1, block.offset)
        if self.fresh:
            problem = Problem("line-too-long", facts={"bytes": self.source.max_line_bytes}, line=self._lines + 1)
            self.run_.emit_record(self.file, problem, Located(NO_RECORD, self._lines + 1, block.offset, b""))
        self._lines += 1
        self.whole = self.to_end = False

    def _report_header(self) -> None:
        """A first line that cannot be read, or that is, or has behind the header, a record, which the loader skips
        anyway."""
        rules = self.declared.record.rules
        rule = rules.get("no-header", "")
        whole, _ = self._header()
        header = whole.removeprefix(BOM)
        if not header:
            return
        from ragdatakit.schemas.line_cells import LineError, LineReader, cut
        from ragdatakit.validators.excerpts import show

        text, problem = decoded_text(header)
        try:
            cut(text, self.declared.columns)
        except LineError as error:
            problem = problem or Problem(rules["syntax"], facts=error.facts, position=error.position, length=1)
        if problem is None and rule:
            reader = LineReader(self.declared)
            if reader.looks_like_record(text):
                problem = Problem(rule, value=text, facts={"fault": "the first line is a judgement, not a header"})
            elif behind := reader.behind_header(text):
                facts = {"fault": "a judgement runs on behind the header, on its line"}
                hint = "put a line break between them"
                problem = Problem(rule, None, behind, facts, text.rindex(behind), len(behind), hint=hint)
            elif (odd := rules.get("odd-header")) and (names := reader.other_names(text)):
                problem = Problem(odd, facts={"names": show(", ".join(names))})
        if problem is not None:
            self.run_.emit_record(self.file, problem, Located(NO_RECORD, 1, len(whole) - len(header), header))

    def _header(self) -> tuple[bytes, bytes]:
        """The first line, where it is not a record, and its end."""
        line = (self.source.header if isinstance(self.source, HeadedSource) else None) or b""
        header = line.rstrip(b"\r\n")
        return header, line[len(header) :]

    def _report_ends(self) -> None:
        ends, (_, end) = self._ends, self._header()
        if end:
            ends = LineEnds()
            ends.count(end, 0, 0)
            ends.add(self._ends, 0, 0)
        if ends.cr[0]:
            self._report_end("lone-carriage-return", ends.cr, {})
        both = {name: getattr(ends, name) for name in _END_NAMES if getattr(ends, name)[0]}
        if len(both) == 2:
            expected, found = sorted(both, key=lambda n: both[n][1])
            facts = {"expected": _END_NAMES[expected], "found": _END_NAMES[found]}
            self._report_end("mixed-line-endings", both[found], facts)

    def _report_end(self, rule: str, end: tuple[int, int, int], facts: dict[str, Any]) -> None:
        count, line, offset = end
        self.run_.emit_record(self.file, Problem(rule, facts=facts), Located(NO_RECORD, line + 1, offset, b""))
        self.run_.collector.count(rule, self.file, count - 1)


class ElementsRun(FileRun):
    """A file that is one JSON array, one JSON object whose members or whose array are the records, or one record."""

    def _elements(self) -> ArraySource:
        """The file, to be read from its beginning."""
        from ragdatakit.files.containers.arrays import element_source

        return element_source(self.run_.container(self.file), self.source, self.declared)

    def run(self) -> None:
        """Read and check the file."""
        elements = self._elements()
        self._end(elements, self._read(elements))

    def _end(self, elements: ArraySource, records: int) -> None:
        """After the last of so many records."""
        self.whole = self.to_end = elements.whole
        if self.declared.wrapper:
            self._take_wrapper(elements)
        if elements.top in ("other", "nothing"):
            self.whole = self.to_end = False
            if self.fresh and not self.source.faults:
                self._report_top(elements, self.declared.record.rules)
        self._finish(records)

    def _read(self, elements: ArraySource) -> int:
        """Check all elements; how many there are."""
        records, waiting_bytes = elements.first_record, 0
        waiting: list[Any] = []
        for part in elements.parts():
            self.table.add(part.first_record, part.first_line, part.byte_offset)
            waiting += self._values(part)
            waiting_bytes += part.size
            if waiting_bytes >= BATCH_BYTES or len(waiting) >= BATCH_ROWS:
                self._take_values(waiting, records)
                records += len(waiting)
                waiting, waiting_bytes = [], 0
            self.run_.progress(self.file, self.source.progress)
        if waiting:
            self._take_values(waiting, records)
        return records + len(waiting)

    def _take_wrapper(self, elements: ArraySource) -> None:
        """What is around the array of the records: kept for the format's own checks, and checked as JSON."""
        from ragdatakit.files.containers.arrays import WrappedSource

        assert isinstance(elements, WrappedSource)
        self.file.around, self.file.wrapper = tuple(elements.around), elements.member
        repeated = self.declared.record.rules.get("repeated-wrapper", "")
        for element in elements.around:
            name, problems = wrapper_problems(element.raw)
            if repeated and name == elements.member:
                problems.append(Problem(repeated, value=name, facts={"key": name}, position=0, length=len(name) + 2))
            self._emit(problems, replace(element, record=NO_RECORD))

    def locate(self, records: Iterable[int]) -> Iterable[Located]:
        """Find records again by reading the file once more."""
        if not self.table.records:
            return ()
        self.source = self.run_.source(self.file)
        return locate_elements(self._parts_again(), records)

    def _parts_again(self) -> Iterable[Part]:
        """The parts of the file, in each of which the elements can be found."""
        return (part for part, _ in self._parts(self._elements()))

    def _parts(self, elements: ArraySource) -> Iterator[tuple[Part, ScannedBlock | None]]:
        """All elements in order: parts as they were scanned, or (None) as Python has cut them."""
        return ((part, None) for part in elements.parts())

    def _values(self, part: Part) -> list[Any]:
        """The part's decoded elements; their problems are reported."""
        syntax_rule = self.declared.record.rules.get("syntax", "")
        if part.proved:
            plain = self.checker.form.records(part.values)
            if not self.checker.all_plain_texts(plain):
                for place, value in enumerate(plain):
                    if problems := self.checker.problems(value):
                        self._emit(problems, part, place)
            return plain
        from ragdatakit.files.containers.arrays import TOO_LONG

        values: list[Any] = []
        for element in part.elements():
            if element.error == TOO_LONG:
                self._emit([Problem("line-too-long", facts={"bytes": self.source.max_line_bytes})], element)
            elif element.error and syntax_rule:
                self._emit([Problem(syntax_rule, facts={"reason": element.error}, position=0, length=1)], element)
            if element.error:
                continue
            value, problems = self.checker.examine(element.raw)
            values.append(value)
            self._emit(problems, element)
        return values

    def _emit(self, problems: list[Problem], found: Element | Part, place: int = 0) -> None:
        """Problems of an element, or of that at ``place`` in a part, which is looked for where one is to be shown."""
        if not (problems and self.fresh):
            return
        from ragdatakit.files.containers.element_scans import Element

        collector, located = self.run_.collector, None
        for problem in problems:
            if problem.rule in self._full or not self.run_.needs_place(problem.rule, self.file):
                if problem.rule not in self._full and collector.takes_records(problem.rule, self.file):
                    record = found.record if isinstance(found, Element) else found.first_record + place
                    collector.count(problem.rule, self.file, records=(record,))
                    continue
                self._full.add(problem.rule)
                self.more[problem.rule] += 1
                continue
            if located is None:
                located = Located.element(found if isinstance(found, Element) else found.elements()[place])
            self.run_.emit_record(self.file, problem, located)

    def _report_top(self, elements: ArraySource, rules: Any) -> None:
        """The file is one JSON value of another kind, several of them, or no JSON at all."""
        from ragdatakit.files.containers.arrays import MOST_OF_ANOTHER
        from ragdatakit.files.containers.element_scans import Element

        text = elements.head.decode("utf-8", "replace")
        first_line = text.split("\n", 1)[0]
        whole = strict_json.decode(text)
        if whole.error and len(elements.head) >= MOST_OF_ANOTHER and strict_json.decode(first_line).error:
            rule, facts = rules.get("top-level", ""), {}
        elif whole.error:
            rule, facts = rules.get("syntax", ""), {"reason": whole.error, "case": "" if text.strip() else "empty"}
            if "\n" in text.strip() and isinstance(strict_json.decode(first_line).value, dict | list):
                rule = rules.get("top-level-lines", rule)
        else:
            rule, facts = rules.get("top-level", ""), {}
        if self.declared.wrapper and isinstance(whole.value, dict):
            found = [whole.value[name] for name in self.declared.wrapper if name in whole.value]
            rule = rules.get("unwrapped" if not found else "wrapped-null" if found[0] is None else "top-level", rule)
        if not whole.error and isinstance(whole.value, str):
            rule = rules.get("top-level-string", rule)
        if rule:
            shown = whole.value if not whole.error else first_line[:60]
            first_line = first_line[:4096]
            raw = first_line.encode("utf-8", "replace")
            from ragdatakit.validators.lacking import fault_of  # which few datasets need

            several = "several values, one after the other" if rule == rules.get("top-level-lines") else "another value"
            facts["there"] = several if whole.error else fault_of(whole.value)
            self._emit([Problem(rule, value=shown, facts=facts)], Element(0, 1, 3 if self.source.bom else 0, raw))
