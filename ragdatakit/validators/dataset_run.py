"""One dataset checked: files read once in order, key columns gathered, set checks, the format's own rules.

Longer than other modules, as all readers of files report through the one run, which knows places, keys and fixes.
"""

from __future__ import annotations

import os
import stat
from _thread import allocate_lock
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.engines import Engine
from ragdatakit.files.containers.parquet_rows import RECODED, is_parquet
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import JSON, RecordForm
from ragdatakit.files.containers.sources import ARRAY_PART_BYTES, BLOCK_BYTES, TEXT_BLOCK_BYTES, HeadedSource, Source
from ragdatakit.files.containers.strict_json import MOST_LOCATED, NOTHING
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.folders import size_of
from ragdatakit.schemas.declarations import File
from ragdatakit.schemas.errors import EngineError, MissingExtraError
from ragdatakit.schemas.findings import Finding, Problem, Severity
from ragdatakit.schemas.results import DatasetSummary, FileSummary
from ragdatakit.validators.checks import FormatChecks, not_compared
from ragdatakit.validators.collector import NO_RECORD, Collector, Place, Selection, crashed
from ragdatakit.validators.columns import KeyColumns
from ragdatakit.validators.identity import key_fields, record_key
from ragdatakit.validators.pending import PendingFindings, RowMap
from ragdatakit.validators.reading.choice import reader_of
from ragdatakit.validators.row_problems import RowProblems, in_row_order
from ragdatakit.validators.run_context import Group
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.validators.set_plan import plan_of
from ragdatakit.validators.sets import SetChecks

if TYPE_CHECKING:
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.partitions.key_store import KeyStore
    from ragdatakit.validators.reading.file_runs import FileRun

SMALL_DATASET = 3 << 20
"""Below this many bytes (a quarter of them in CSV) a dataset is checked in plain Python, without importing numpy,
Arrow or DuckDB."""

SHOWN_OF_LONG = 1 << 12


class DatasetRun:
    """Checks one dataset; `run` does it all. ``big`` says what is known already of its size."""

    def __init__(
        self,
        dataset: Dataset,
        checks: FormatChecks,
        profiles: tuple[str, ...],
        selection: Selection,
        options: RunOptions,
        carried: Counter[str],
        keep: Callable[[Finding], object] | None = None,
        big: bool | None = None,
    ) -> None:
        self.dataset = dataset
        self.checks = checks
        self.options = options
        repairs = options.repairer is not None
        self.plan = plan_of(dataset.format, profiles, selection, repairs)
        self.collector = Collector(
            dataset.format, profiles, selection, options.on_finding, carried, keep, repairs, self.plan.states
        )
        self.rows = RowMap()
        self._fixer = options.repairer or options.fixer
        self._may_repair: dict[str, bool] = {}  # by rule, which is asked of each of its findings
        self.pending = PendingFindings(self.collector, self.rows, self.all_are_wanted)
        self._runs: dict[DataFile, FileRun] = {}
        self._containers: dict[DataFile, str] = {}
        self.big = big if big is not None else is_big(dataset)
        if self.big:
            from ragdatakit.files.allocation import keep_freed_memory

            keep_freed_memory()
        self._columns: dict[str, KeyColumns] = {}
        self._last_key: tuple[Located | None, str] = (None, "")
        self._key_parts: dict[str, tuple[tuple[str, ...], Callable[[Any], dict[str, Any]]]] = {}
        self.lock = allocate_lock()
        self.ahead: dict[DataFile, Any] = {}
        self._cut: set[DataFile] = set()
        self._store: KeyStore | None = None
        self._done = 0
        self._plain: set[DataFile] = set()
        self._led_to: dict[str, str] = {}

    def run(self) -> None:
        """Check everything; results are in ``collector`` and in the files. What was found survives a crash."""
        try:
            self._check()
        finally:
            self.pending.complete(self._locate, self.form, self._derived_value, self._key, self.find_fix)
            self.collector.finish()
            if self._store is not None:
                self._store.remove()

    def _check(self) -> None:
        for file in self.dataset.outside:
            self.emit(file, Problem("link-leaves-dataset"))
        self._note_parquet()
        self.report(self.checks.start())
        groups = list(self._groups())
        seen: set[DataFile] = set()
        for number, group in enumerate(groups):
            self._run_group(group, seen)
            for earlier in groups[:number]:
                self.report(group.sets.compare(earlier.sets))
        if self._store is not None:
            from ragdatakit.validators.partitions.settling import settle

            settle(self, self._store, groups)
        self.report(self.checks.finish())

    def _note_parquet(self) -> None:
        """Say once that files are in Parquet, for formats whose own loaders do not read it."""
        if "parquet-not-loaded" not in self.dataset.format.adopts:
            return
        files = [f for f in self.dataset.files if is_parquet(f.path) and self.kind(f).container in RECODED]
        if files:
            more = f" (nor the {len(files) - 1:,} other files in it)" if len(files) > 1 else ""
            self.emit(files[0], Problem("parquet-not-loaded", facts={"more": more}))

    def _groups(self) -> Iterator[Group]:
        splits = self.splits
        order = {f.kind: i for i, f in enumerate(self.dataset.format.files)}
        for split in splits:
            files = sorted(
                (f for f in self.dataset.files if f.split in (split, None)), key=lambda f: (order[f.kind], f.name)
            )
            yield Group(split, files, self._new_sets(split, {f.kind for f in files}, len(splits) > 1))

    @cached_property
    def splits(self) -> tuple[str | None, ...]:
        """The splits, or that there are none."""
        return tuple(dict.fromkeys(f.split for f in self.dataset.files if f.split is not None)) or (None,)

    def _looks_up(self, split: str | None) -> bool:
        """Whether the format's own checks ask where references lead."""
        return any(self.checks.needs(kind, split).looks_up for kind in self._kinds())

    def _new_sets(self, split: str | None, kinds: set[str], several: bool) -> SetChecks:
        fmt, wants = self.dataset.format, self.collector.looks_for
        asks = not all(wants(reference.rule) for reference in fmt.references) and self._looks_up(split)
        plan = self.plan.sets(split, kinds, wants, several, asks)
        if not self.big:
            return SetChecks(plan, split, kinds)
        if self.options.engine is not None and not self._looks_up(split):
            from ragdatakit.validators.partitions.partitioned_sets import PartitionedSets

            return PartitionedSets(plan, split, kinds, self._keys(self.options.engine))
        from ragdatakit.arrays.keys import NumpyConsistency, NumpyIndex
        from ragdatakit.arrays.pairs import PairIndex

        def are_integers(kind: str, fields: tuple[str, ...]) -> bool:
            columns = self.columns(kind)
            types = {**columns.types, **columns.item_types}
            return all(types.get(field) == "integer" for field in fields)

        def new_index(kind: str, fields: tuple[str, ...], lookups: bool) -> NumpyIndex:
            return NumpyIndex(lookups, len(fields) == 1 and are_integers(kind, fields), self.options.jobs)

        def new_pairs(kind: str, fields: tuple[str, ...]) -> PairIndex | None:
            return PairIndex() if are_integers(kind, fields) else None

        return SetChecks(plan, split, kinds, new_index, NumpyConsistency, new_pairs)

    def _kinds(self) -> set[str]:
        return {file.kind for file in self.dataset.files}

    def _keys(self, engine: Engine) -> KeyStore:
        if self._store is None:
            from ragdatakit.validators.partitions.key_store import KeyStore

            self._store = KeyStore(engine, self._total, self.options.memory_limit)
        return self._store

    def _run_group(self, group: Group, seen: set[DataFile]) -> None:
        for kind in dict.fromkeys(f.kind for f in group.files):
            files = [f for f in group.files if f.kind == kind]
            new = [f for f in files if f not in seen]
            for file in files:
                seen.add(file)
                self._try_file(group, file, file in new)
                if not file.to_end:
                    group.sets.unreliable.add(kind)
                elif not file.readable:
                    group.sets.partial.add(kind)
            found = group.sets.freeze(kind)
            if new:  # a file that splits share was reported with the first of them
                group.fresh.add(kind)
                self._take_repeats(kind, found)
            if self._check_empty(files, kind, group) or self._is_stub(files, kind) or _is_nameless(files, kind, group):
                group.sets.unreliable.add(kind)
        self.report(group.sets.finish())
        if self._store is None:
            self.report_unchecked(group)

    def report_unchecked(self, group: Group) -> None:
        """Files that were not read to their end, so that references to their records were not looked up."""
        self.report(not_compared(file for file in group.files if file.kind in group.sets.unchecked))

    def _take_repeats(self, kind: str, found: list[RowProblems]) -> None:
        """What freezing a kind found; where a file has nothing but the records of another, that is one finding."""
        serious = [h for h in found if h.is_repeat and self.collector.state(h.rule).severity == "error"]
        copies = self.rows.copies(serious)
        self.report_copies(copies)
        self.report(self.rows.outside(one, copies) if copies else one for one in found)

    def report_copies(self, copies: Mapping[DataFile, DataFile]) -> None:
        """Files that have nothing but the records of another."""
        for file, other in copies.items():
            self.emit(file, Problem("repeated-file", facts={"records": file.records or 0, "other": other.name}))

    def _is_stub(self, files: list[DataFile], kind: str) -> bool:
        """Whether a table, an object or a file of elements has no record: reported once, not at each reference."""
        container = self.dataset.format.file(kind).container
        return container in ("csv", "json-object", "tagged") and not any(f.records for f in files)

    def _check_empty(self, files: list[DataFile], kind: str, group: Group) -> bool:
        """Report files without a record where there must be one; whether that is an error, which stands for those at
        each record that refers to them."""
        declared = self.dataset.format.file(kind)
        if not declared.records or any(f.records or not f.readable for f in files):
            return False
        rule = declared.record.rules.get("no-records", "")
        if not rule or self.checks.needs(kind, group.split).may_be_empty:
            return False
        problem = Problem(rule, facts={"reason": NOTHING})
        if rule == declared.record.rules.get("syntax"):
            from ragdatakit.files.detection.sniffing import json_container  # which few datasets need

            if json_container(files[0].path, files[0].boundary) == "json-array":  # which is JSON, and not nothing
                problem = Problem(declared.record.rules["not-object"], value=[])
        self.emit(files[0], problem)
        return self.collector.wants(rule) and self.collector.state(rule).severity == "error"

    def _try_file(self, group: Group, file: DataFile, fresh: bool) -> None:
        """Read a file; a crash in it is reported and does not stop the others."""
        try:
            file.readable, file.to_end = self._run_file(group, file, fresh)
        except (MissingExtraError, EngineError):
            raise
        except Exception as error:  # noqa: BLE001 - what is wrong with the other files must be reported, too
            self.emit(file, crashed(error))
            file.readable = file.to_end = False

    def _run_file(self, group: Group, file: DataFile, fresh: bool) -> tuple[bool, bool]:
        """Whether the file could be read whole, and whether it was read to its end."""
        place = str(file.path)
        if is_plain := _is_plain(place):
            self._plain.add(file)
        elif _leads_nowhere(file.path):
            self.emit(file, Problem("unreadable-file", facts={"reason": "it is a link that leads nowhere"}))
            return False, False
        boundary = file.boundary
        if not (boundary.holds_plain(place, self._led_to) if is_plain else boundary.holds(place)):
            self.emit(file, Problem("link-leaves-dataset"))
            return False, False
        declared = self.kind(file)
        if declared.container in ("opaque", "table"):
            file.bytes = size_of(file.path)
            return True, True
        if declared.container == "text":
            from ragdatakit.validators.reading.whole_texts import check_text

            whole = check_text(self, file) if fresh else file.readable
            return whole, whole
        if declared.container == "streamed":
            return self._run_streamed(file) if fresh else (file.readable, file.to_end)
        self.checks.start_file(file)
        run = self._runs[file] = self._new_run(group, file, fresh)
        run.run()
        is_whole = file not in self._cut
        file.readable, file.to_end = run.whole and is_whole, run.to_end and is_whole
        if fresh:
            self.report(self.checks.finish_file(file, file.records or 0, run.table_read))
        self._note_done(file)
        return file.readable, file.to_end

    def _new_run(self, group: Group, file: DataFile, fresh: bool) -> FileRun:
        in_ranges = self.options.engine is not None and self.checks.needs(file.kind, file.split).in_ranges
        return reader_of(self.container(file), self.big, in_ranges)(self, group.sets, file, fresh)

    def _run_streamed(self, file: DataFile) -> tuple[bool, bool]:
        """The same of a file that the format's own checks read."""
        source = self.source(file)
        more = Counter[str]()
        for problem, located in self.checks.needs(file.kind, file.split).stream(file, source):
            if problem.rule in more or not self.needs_place(problem.rule, file):
                more[problem.rule] += 1
            elif located is None:
                self.emit(file, problem)
            else:
                self.emit_record(file, problem, located() if callable(located) else located)
        self.collector.count_all(more, file)
        file.bytes = source.bytes_read
        if source.bom:
            self.emit_record(file, Problem("byte-order-mark", position=0), Located(0, 1, 0, b""))
        for fault in source.faults:
            self.emit(file, Problem(fault.rule, facts=fault.facts, hint=fault.hint))
        is_whole = file.to_end and file not in self._cut
        file.readable = file.to_end = is_whole and all(f.rule == "mislabelled-compression" for f in source.faults)
        self.report(self.checks.finish_file(file, file.records or 0))
        self._note_done(file)
        return file.readable, file.to_end

    def kind(self, file: DataFile) -> File:
        """The declaration of a file's kind."""
        return self.plan.kind(file.kind).declared

    def container(self, file: DataFile) -> str:
        """The container of a file: the declared one, or for ``json`` what the content shows.

        That is ``ndjson``, ``json-array``, or ``json-single`` where the whole file is one record.
        """
        if file not in self._containers:
            declared: str = self.kind(file).container
            if declared == "json":
                from ragdatakit.files.detection.sniffing import json_container

                declared = json_container(file.path, file.boundary)
            self._containers[file] = declared
        return self._containers[file]

    def form(self, file: DataFile) -> RecordForm:
        """What the text of one record of a file is."""
        run = self._runs.get(file)
        return JSON if run is None else run.form

    def _locate(self, file: DataFile, records: Iterable[int]) -> Iterable[Located]:
        """Records of a file (0-based numbers), found by reading it once more."""
        return self._runs[file].locate(records) if file in self._runs else ()

    def columns(self, kind: str) -> KeyColumns:
        """The key columns of a kind."""
        if kind not in self._columns:
            more, several = self.checks.needs(kind).columns, len(self.splits) > 1
            found = self.plan.columns(kind, more, self.collector.looks_for, several)
            self._columns[kind] = found.deriving(self.checks.derive)
        return self._columns[kind]

    def source(self, file: DataFile) -> Source:
        """The file, to be read from its beginning."""
        limit = max(self.options.memory_limit // 4, 1 << 16)
        most = max(self.options.memory_limit // (64 * max(self.options.jobs, 2)), 1 << 16)
        kind, container = self.plan.kind(file.kind), self.container(file)
        declared = kind.declared
        size = TEXT_BLOCK_BYTES if kind.has_texts and self.big else BLOCK_BYTES
        if container in ("json-array", "json-object", "json-single", "json-wrapped"):
            size = ARRAY_PART_BYTES
        made = HeadedSource if declared.columns.header else Source
        is_packed = str(file.path).endswith(".gz")
        found = made(file.path, is_packed, min(size, most), max_line_bytes=limit, boundary=file.boundary)
        found.lines = declared.container == "ndjson"
        found.quoted = declared.quoted_columns
        found.row_form = kind.row_form(container)
        found.plain = file in self._plain
        file.row_groups = found.row_groups
        return found

    @cached_property
    def _total(self) -> int:
        """Bytes of all files."""
        return sum(size_of(f.path) for f in self.dataset.files)

    def progress(self, file: DataFile, done: int) -> None:
        """Report how far we are."""
        if self.options.progress is not None:
            self.options.progress(file.display, self._done + done, self._total)

    def _note_done(self, file: DataFile) -> None:
        if self.options.progress is not None:
            self._done += size_of(file.path)

    def guarded(
        self, file: DataFile, check: Callable[[], Iterable[Problem]], more: Counter[str] | None = None
    ) -> list[Problem]:
        """The problems a check finds; if it crashes, that is a problem of its own and hides no other.

        With ``more`` those of a rule beyond what may be shown are counted there, and not held: a record may have
        millions.
        """
        found: list[Problem] = []
        of_rule: dict[str, int] = {}
        most = self.collector.selection.max_per_rule if more is not None else 0
        try:
            for problem in check():
                if most and not self.all_are_wanted(problem.rule):
                    of_rule[problem.rule] = of_rule.get(problem.rule, 0) + 1
                if not most or of_rule.get(problem.rule, 0) <= most:
                    found.append(problem)
        except Exception as error:  # noqa: BLE001 - a crash of one rule must not hide the others
            found.append(crashed(error))
        for rule, number in of_rule.items():
            if more is not None and number > most:
                more[rule] += number - most
        return found

    @property
    def most_held(self) -> int:
        """How many problems of a rule are held of a part of a file (0: all, below 0: none)."""
        if self.options.repairer is not None:
            return 0
        selection = self.collector.selection
        return -1 if selection.counted else selection.max_per_rule

    def all_are_wanted(self, rule: str) -> bool:
        """Whether each problem of a rule has to be seen, also those that are not shown."""
        repairer, collector = self.options.repairer, self.collector
        return repairer is not None and collector.looks_for(rule) and repairer.wants(rule, collector.wants(rule))

    def needs_place(self, rule: str, file: DataFile) -> bool:
        """Whether it has to be known where one more problem of a rule is."""
        return self.collector.room(rule, file) or self.all_are_wanted(rule)

    def find_fix(
        self,
        file: DataFile,
        problem: Problem,
        located: Located | None = None,
        other: Located | None = None,
        other_file: DataFile | None = None,
    ) -> None:
        """Note what repairs a problem."""
        if self._fixer is None or not file.kind:
            return
        name = problem.rule
        if name not in self._may_repair:
            has_fix = bool(self.collector.state(name).rule.fix)
            self._may_repair[name] = has_fix or self._fixer.wants(name, reported=True)
        if not (self._may_repair[name] or problem.nearly):
            return
        if is_parquet(file.path):  # whose lines are nowhere to be edited
            return
        container, form = self.container(file), self.form(file)
        rule, may_fix = self.collector.state(name).rule, self.collector.may_fix(name, file)
        declared = self.kind(file)
        there = self.container(other_file) if other_file is not None else ""
        places = located, other, other_file, may_fix, there
        from ragdatakit.validators.faults import Fault

        fault = Fault(rule, problem, self.dataset, file, declared, container, form, *places)
        problem.fix = self._fixer.fix(fault)

    def emit(self, file: DataFile, problem: Problem) -> None:
        """A problem of a file as a whole, or at a line or row that the problem names."""
        if not self.needs_place(problem.rule, file):
            self.collector.count(problem.rule, file)
            return
        self.find_fix(file, problem)
        self.collector.add(file, problem, Place.of(problem))

    def report(self, found: Iterable[Placed | RowProblems]) -> None:
        """All that a check found: problems with their file, or at rows. Texts of which some are not UTF-8 are not said
        to differ."""
        if not found:  # as most checks
            return
        agreements = {same.rule for same in self.dataset.format.agreements}
        for one in in_row_order(found, self.collector.selection.max_per_rule):
            if isinstance(one, RowProblems):
                if one.rule not in agreements or not self.collector.faults["invalid-utf8", one.kind]:
                    self.pending.take(one)
            else:
                self.emit(*one)

    def emit_record(self, file: DataFile, problem: Problem, located: Located, record: Any = None) -> None:
        """A problem of one record, or of another piece of a file. ``record`` is what it decodes to, if that is at
        hand."""
        run = self._runs.get(file)
        if run is not None and run.source.faults and _ends_damaged(run.source, problem, located):
            return
        collector = self.collector
        its = collector.rule_in(problem.rule, file)
        has_room = its.unlimited or collector.room(problem.rule, file)
        if self._fixer is not None and (has_room or self.all_are_wanted(problem.rule)):
            self.find_fix(file, problem, located)
        if its.unlimited:
            its.faults += 1
            its.findings += 1
        else:
            collector.count(problem.rule, file, records=() if located.record == NO_RECORD else (located.record,))
        if not has_room:
            return
        start, length, begun = problem.position, problem.length, located
        if len(located.raw) > MOST_LOCATED:
            longest = MOST_LOCATED if start is not None or problem.pointer else SHOWN_OF_LONG
            begun = replace(located, raw=located.raw[:longest])
        text = begun.raw.decode("utf-8", "replace")
        if start is None and problem.pointer:
            span = self.form(file).span(text, problem.pointer)
            start, length = span if span is not None else (None, 0)
        sought = problem.facts.get("near", problem.value)
        place = Place.within(begun, text, start, length, self._key(file, located, record), sought)
        if problem.facts.get("reason", NOTHING) != NOTHING or problem.value == "":
            from ragdatakit.validators.reading.endings import word_end  # which few datasets need

            if word_end(file, self.kind(file), problem, located, problem.rule in self._syntax_rules):
                self._cut.add(file)
        collector.keep(its, problem, place)

    @cached_property
    def _syntax_rules(self) -> set[str]:
        """What records are found against that are not JSON."""
        kinds = (kind for kind in self.dataset.format.files if "json" in kind.container)
        return {record.rules["syntax"] for kind in kinds for record in kind.records if "syntax" in record.rules}

    def _key(self, file: DataFile, located: Located, record: Any = None) -> str | None:
        """What identifies a record; None of what is no record."""
        if located.record == NO_RECORD or not located.raw:
            return None
        if self._last_key[0] is not located:  # one record may have many faults
            if file.kind not in self._key_parts:
                derived = partial(self.checks.derive, file.kind, to_show=True)
                self._key_parts[file.kind] = key_fields(self.dataset.format, file.kind), derived
            fields, derive = self._key_parts[file.kind]
            self._last_key = located, record_key(fields, located, record, self.form(file), derive)
        return self._last_key[1]

    def _derived_value(self, file: DataFile, field_name: str, record: Any) -> Any:
        return self.checks.derive(file.kind, record, to_show=True).get(field_name) if record is not None else None


def summaries(dataset: Dataset, by_split: Mapping[tuple[str | None, Severity], int]) -> list[DatasetSummary]:
    """One entry of a dataset that was checked, or one per split; so many findings there are by split and severity."""
    splits = list(dict.fromkeys(f.split for f in dataset.files)) or [None]
    if None in splits and len(splits) > 1:
        splits.remove(None)
    result = []
    for split in splits:
        files = [f for f in dataset.files if f.split == split or (f.split is None and split == splits[0])]
        chosen = [split, None] if split == splits[0] and split is not None else [split]
        result.append(
            DatasetSummary(
                dataset.display,
                dataset.format.name,
                dataset.profile,
                split,
                tuple(FileSummary(_below(dataset, f), f.kind, f.records, f.bytes) for f in files),
                sum(by_split.get((s, "error"), 0) for s in chosen),
                sum(by_split.get((s, "warning"), 0) for s in chosen),
            )
        )
    return result


def _below(dataset: Dataset, file: DataFile) -> str:
    return file.name if dataset.layout not in ("file", "config") else file.display


def _ends_damaged(source: Source, problem: Problem, located: Located) -> bool:
    """Whether a record is not whole as packed data that is damaged ends in it, which is reported."""
    end = located.byte_offset + len(located.raw)
    return bool(problem.facts.get("reason")) and source.is_broken and end >= source.bytes_read


def _is_nameless(files: list[DataFile], kind: str, group: Group) -> bool:
    """Whether no record has a key that can be relied on: reported at each, not at each that refers to one, too."""
    keyless, _ = group.sets.keyless_rows(kind)
    return keyless > 0 and keyless == sum(f.records or 0 for f in files)


def _is_plain(path: str) -> bool:
    """Whether a path is that of a regular file, and no link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _leads_nowhere(path: Path) -> bool:
    """Whether a path is a link to what is not there."""
    try:
        path.stat()
    except FileNotFoundError:
        return os.path.lexists(path)
    except OSError:
        return False
    return False


def is_big(dataset: Dataset) -> bool:
    """Whether it is more than what is checked in plain Python."""
    return sum(map(_estimated_bytes, dataset.files)) > SMALL_DATASET


def _estimated_bytes(file: DataFile) -> int:
    """How much a file is to read: a packed one has more in it, and to cut cells in Python takes long."""
    return size_of(file.path) * (4 if str(file.path).endswith((".gz", ".csv")) else 1)
