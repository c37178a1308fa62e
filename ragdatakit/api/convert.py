"""The Python interface of `ragdata convert`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.api.arguments import reading
from ragdatakit.api.configuration import as_configured
from ragdatakit.api.in_parts.chosen_engine import chosen_engine
from ragdatakit.api.keywords import takes
from ragdatakit.api.remote import at_hand, refuse_url, renamed
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.files.paths.boundary import real_path
from ragdatakit.schemas import get_format
from ragdatakit.schemas.errors import NotMeantError, RagdataError
from ragdatakit.schemas.options import SHOWN_SEVERITY, ConvertOptions, PathLike, Progress

if TYPE_CHECKING:
    from ragdatakit.converters.format_pairs import Pair
    from ragdatakit.converters.sources import ConversionSettings, Source
    from ragdatakit.engines import Engine
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.files.reading.refused_records import Refused
    from ragdatakit.outputs.staging import StagedFolder
    from ragdatakit.retrieval.preparation import Preparation
    from ragdatakit.schemas.conversions import Conversion, ConversionResult
    from ragdatakit.schemas.results import Report
    from ragdatakit.validators.source_check import SourceCheck


@takes(ConvertOptions)
def convert(options: ConvertOptions, source: PathLike, target: PathLike | None = None) -> ConversionResult:
    """Write the datasets at ``source`` as datasets of the format ``to`` in the folder ``target`` (default: ``./<to>``).

    The source is validated first: errors stop the conversion (``refused``, nothing is written) unless ``keep_going``.
    The output is written next to the target, validated, and moved into place when it is whole; the target has to be
    empty or not there, unless ``overwrite``.

    Raises `RagdataError` where it cannot be done (a missing path, an unknown name, a target that is not empty), and
    `OSError` where it cannot be written.
    """

    from ragdatakit.schemas.conversions import ConversionResult

    place = target if target is not None else options.to
    refuse_url(place, "what is converted goes to a folder of this machine")
    with at_hand(options, [source], options.source_format, beside="data") as here:
        result = ConversionResult(str(place), dry_run=options.dry_run, sidecar=options.sidecar)
        origin: Mapping[str, Any] = {**here.origins[0]} if here.origins else {}
        _convert(here.options, Path(here.paths[0]), Path(place), result, origin)
        return renamed(result)


def _convert(
    options: ConvertOptions, where: Path, place: Path, result: ConversionResult, origin: Mapping[str, Any]
) -> None:
    """Convert what is at ``where``; ``result`` says what became of it. ``origin`` is where it was fetched from."""
    from ragdatakit.api.sources import only_dataset
    from ragdatakit.converters import get_converter
    from ragdatakit.converters.hipporag.data_sets import chosen_set
    from ragdatakit.converters.sources import PLAIN, RAW, find_sources, refuse_target_in_source, refuse_unknown_options
    from ragdatakit.outputs.staging import refuse_target

    started, since = time.perf_counter(), time.time_ns()
    wanted = replace(
        reading(options, options.name),
        target_format=options.to,
        profile=options.profile,
        seed=options.seed,
        sidecar=options.sidecar,
        shard_size=options.shard_size or 0,
        memory_limit=options.memory_limit,
        origin=origin,
    )
    wanted = wanted if options.dataset else as_configured(where, wanted)
    if not options.dry_run:
        refuse_target(place, options.overwrite)
        _refuse_nested(where, place)
    if options.dataset:
        chosen = only_dataset(where, wanted, options.dataset).source
        where, found = Path(chosen.display), [chosen]
    else:
        found = chosen_set(find_sources(where, wanted, place), wanted)
    if not options.dry_run:
        refuse_target_in_source(found, place)
    engine = chosen_engine(options)
    if engine is not None:
        wanted = _by_engine(found, wanted, options, engine)
    wanted = _in_container(wanted, options)
    _refuse_shards(options)
    refuse_unknown_options(wanted.values, (found[0].format, options.to))
    extractor, converter = options.extractor, get_converter(options.to)
    if options.source_format == RAW and not extractor and "edges" in converter.holds:
        extractor = "names"
    if not wanted.chunking and found[0].format in PLAIN:
        wanted = replace(wanted, usual_chunks=converter.cuts)
    unasked = converter.needs_graph and not extractor and not options.negatives
    extractor = "names" if unasked else extractor
    required = not unasked or _has_reports(options.to)
    prepared = _preparation(found[0].format, wanted, extractor, options.extraction or {}, options.negatives, required)
    if prepared is not None and (unasked or (prepared.asker is not None and _has_reports(options.to))):
        prepared = _where_no_graph(prepared)  # a graph that is there is kept; a model then writes its reports only
    if prepared is not None:
        wanted = replace(
            wanted, prepare=prepared.prepare, asker=prepared.asker, embedder=prepared.embedder, prepared=prepared.words
        )
    conversion = _ConversionRun(where, found, wanted, result, since, options, engine)
    if options.dry_run and prepared is not None:
        if prepared.embedder is not None:
            prepared.embedder.only_count = True
        if prepared.asker is not None:
            conversion.estimated = prepared
    with closing(engine) if engine is not None else nullcontext():
        conversion.run(options.keep_going)
    result.seconds = time.perf_counter() - started


def _by_engine(
    found: list[Source], wanted: ConversionSettings, options: ConvertOptions, engine: Engine
) -> ConversionSettings:
    """The settings with the engine that reads tables in parts. Raises `RagdataError` where that cannot be."""
    from ragdatakit.api.in_parts.converting import ConversionParts, refuse_other_conversions

    for source in found:
        refuse_other_conversions(source, options)
    return replace(wanted, in_parts=partial(ConversionParts, engine))


def _in_container(wanted: ConversionSettings, options: ConvertOptions) -> ConversionSettings:
    """The settings with the option that says in what the target is written."""
    from ragdatakit.converters import get_converter

    if not options.container:
        return wanted
    if all(option.name != "container" for option in get_converter(options.to).options):
        raise RagdataError(f"{options.to} is written in its own container only, not in {options.container}")
    return replace(wanted, values={**wanted.values, "container": options.container})


def _refuse_shards(options: ConvertOptions) -> None:
    """Raise where a format has one file of each kind."""
    if options.shard_size is None or options.container:
        return
    if not any(kind.shards for kind in get_format(options.to).files):
        from ragdatakit.converters import get_converter

        parquet = any(option.name == "container" for option in get_converter(options.to).options)
        but = "; with --container parquet it may be several" if parquet else ""
        raise RagdataError(f"--shard-size: loaders of {options.to} take one file of each kind{but}")


def pairs(source: str = "", target: str = "") -> tuple[list[Pair], list[str]]:
    """What converts to what, of all formats or of these; and the targets that hold a graph, which can be made of the
    texts of any source. Raises `UnknownNameError`."""
    from ragdatakit.converters.format_pairs import graph_targets, pair_of, sources, writable

    targets = [target] if target else writable()
    found = [pair_of(a, b) for a in ([source] if source else sources()) for b in targets]
    return found, [name for name in targets if name in graph_targets()]


def _where_no_graph(prepared: Preparation) -> Preparation:
    """The same for sources that have no graph; others stay as they are."""
    make = prepared.prepare
    assert make is not None
    return replace(prepared, prepare=lambda tables: tables if _has_graph(tables) else make(tables))


def _has_reports(target: str) -> bool:
    """Whether a format has reports on the communities of its graph."""
    from ragdatakit.converters import get_converter

    return "communities" in get_converter(target).holds


def _has_graph(tables: CanonicalTables) -> bool:
    return tables.any("edges") or tables.any("nodes") or not tables.any(tables.passages)


def _preparation(
    source_format: str,
    options: ConversionSettings,
    extractor: str,
    extraction: Mapping[str, object],
    negatives: str,
    required: bool,
) -> Preparation | None:
    """What is to be made of the tables before they are written; ``required``: a graph without an entity is an error."""
    if not (extractor or extraction or negatives):
        return None
    from ragdatakit.converters import get_converter
    from ragdatakit.retrieval.preparation import make_preparation

    target = get_converter(options.target_format)
    key = options.values.get("key", "auto")
    return make_preparation(
        extractor,
        extraction,
        negatives,
        target=options.target_format,
        holds=target.holds,
        described=target.described,
        mentions=target.needs_graph,
        vectors=target.vectors,
        required=required,
        by_title=key == "title" or (key == "auto" and source_format == "hipporag"),
        seed=options.seed,
        progress=options.progress,
    )


def _refuse_nested(source: Path, target: Path) -> None:
    """What is being read must not be replaced."""
    source, target = real_path(source), real_path(target)
    if target.exists() and source.is_relative_to(target):
        raise RagdataError(f"{target} holds the source; give another folder to write to")


class _ConversionRun:
    """One call of `convert`: the source is checked, written to a staged folder, looked at, and put in place if the
    source is still what it was; ``since`` is when it was begun to look at it, in ns."""

    def __init__(
        self,
        path: Path,
        found: list[Source],
        options: ConversionSettings,
        result: ConversionResult,
        since: int,
        given: ConvertOptions,
        engine: Engine | None,
    ) -> None:
        self._path, self._found, self._options, self._result = path, found, options, result
        self._since, self._engine = since, engine
        self._overwrite, self._strict = given.overwrite, given.strict
        self._by = {"jobs": given.jobs, "engine": given.engine, "engine_options": given.engine_options}
        self.estimated: Preparation | None = None

    def run(self, keep_going: bool) -> None:
        """Check and convert; ``result`` says what became of it."""
        from ragdatakit.converters.sources import files_kept, files_read, own_files
        from ragdatakit.outputs.file_states import WatchedFiles

        watched = {path for source in self._found for path in (*own_files(source), *files_kept(source))}
        watched |= {path for source in self._found for _, path in files_read(source)}
        with ExitStack() as stack:
            with WatchedFiles(sorted(watched), self._since):
                staged = self._checked(keep_going, stack)
            if staged is not None:
                staged.commit()
                self._result.written = True

    def _checked(self, keep_going: bool, stack: ExitStack) -> StagedFolder | None:
        """What was written, where it may be put in place; it stays until ``stack`` is closed."""
        from ragdatakit.converters import get_converter
        from ragdatakit.converters.sources import PLAIN, RAW, repairs_raw
        from ragdatakit.files.reading.refused_records import Refused
        from ragdatakit.validators.source_check import SourceCheck, check_source

        options, result, refused = self._options, self._result, Refused()
        converter = get_converter(self._found[0].format)
        if converter.name in PLAIN:
            return self._convert(refused, None, stack)
        values = converter.values(options.values, "read")
        repairs = repairs_raw(self._found) if options.source_format == RAW else converter.repairs
        wanted = (self._path, converter.name, repairs, values, options.memory_limit, options.follow_links)
        waits = any((options.prepare, options.asker, options.embedder))  # nothing is paid for data with errors
        if self._engine is None and not keep_going and not waits and self._is_worth_a_process():
            with SourceCheck(*wanted) as check:
                return self._convert(refused, check, stack)
        progress = _named(options.progress, "checking {}")
        result.source_report = check_source(*wanted, progress, refused if keep_going else None, self._engine)
        result.refused = not result.source_report.ok and not keep_going
        return None if result.refused else self._convert(refused, None, stack)

    def _is_worth_a_process(self) -> bool:
        from ragdatakit.engines.side_process import has_room
        from ragdatakit.validators.source_check import WORTH_A_PROCESS

        size = sum(path.stat().st_size for source in self._found for _, path in source.files())
        return size > WORTH_A_PROCESS and has_room()

    def _convert(self, refused: Refused, check: SourceCheck | None, stack: ExitStack) -> StagedFolder | None:
        from ragdatakit.outputs.staging import StagedFolder

        result = self._result
        if self.estimated is not None:
            self._estimate(refused, self.estimated)
            return None
        if result.dry_run:
            self._write(None, refused, check)
            return None
        staged = stack.enter_context(StagedFolder(Path(result.target), self._overwrite))
        self._write(staged.folder, refused, check)
        if result.refused or result.strict:
            return None
        report = _checked_output(staged.folder, self._options, self._by)
        _refuse_unchecked(staged.folder, result.conversions, report)
        result.warnings = report.counts["warning"]
        result.incomplete = self._incomplete(report)
        if report.counts["error"] > len(result.incomplete):
            result.invalid = report
            return None
        return staged

    def _incomplete(self, report: Report) -> tuple[str, ...]:
        """The errors of the output that a conversion of it would not mind: it is part of a dataset, as the source."""
        from ragdatakit.converters import get_converter

        converter = get_converter(self._options.target_format)
        if report.ok or converter.repairs is None:
            return ()
        values = converter.values(self._options.values, "read")
        return tuple(f.fault for f in report.findings if f.severity == "error" and converter.repairs(f, values))

    def _estimate(self, refused: Refused, prepared: Preparation) -> None:
        """Say what asking a model would take, instead of asking it. What is asked while a dataset is written is counted
        by writing it nowhere."""
        from ragdatakit.converters.run import convert_dataset
        from ragdatakit.converters.source_tables import read_source
        from ragdatakit.schemas.conversions import Losses

        assert prepared.asker is not None
        options = replace(self._options, prepare=None)
        prepared.asker.only_count = True
        for source in self._found:
            tables = read_source(source, options, Losses(), refused)
            if prepared.count is not None and not (_has_reports(options.target_format) and _has_graph(tables)):
                prepared.count(tables)
            else:
                prepared.asker.further = ""
                convert_dataset(source, None, options, refused)
            self._result.estimates.append(prepared.asker.estimate())

    def _write(self, top: Path | None, refused: Refused, check: SourceCheck | None) -> None:
        """Write all datasets below ``top`` (None: nowhere), while ``check`` may still look at the source."""
        result, options = self._result, self._options
        if check is None:
            result.conversions = _conversions(self._found, top, options, refused)
        else:
            try:
                watched = replace(options, progress=check.watched(options.progress))
                result.conversions = _conversions(self._found, top, watched, refused)
            except Exception as error:
                refuse_machine_fault(error)
                if check.report().ok:
                    raise  # else it comes of the errors
            result.source_report = check.report()
            result.refused = not result.source_report.ok
            if result.refused:
                result.conversions = []
        result.strict = not result.refused and self._strict and not result.lossless


def _named(progress: Progress | None, words: str) -> Progress | None:
    """Progress that says what is being done with a file."""
    if progress is None:
        return None
    show = progress
    return lambda path, done, total: show(words.format(path), done, total)


def _conversions(
    found: list[Source], top: Path | None, options: ConversionSettings, refused: Refused
) -> list[Conversion]:
    """Write each dataset to its folder below ``top`` (None: nowhere)."""
    from ragdatakit.converters.run import convert_dataset

    telling = replace(options, progress=_named(options.progress, "converting {}"))
    done: list[Conversion] = []
    not_meant: NotMeantError | None = None
    for source, name in zip(found, _folders_of(found), strict=True):
        folder = None
        if top is not None:
            folder = top / name
            folder.mkdir(parents=True, exist_ok=True)
        try:
            conversion = convert_dataset(source, folder, telling, refused)
        except NotMeantError as error:
            not_meant = not_meant or error
            if folder is not None and top is not None and folder != top:
                folder.rmdir()
            continue
        except RagdataError as error:
            if len(found) == 1:
                raise
            raise RagdataError(f"{source.display}: {error}") from None
        conversion.folder = name
        done.append(conversion)
    if not_meant is not None and not done:
        raise not_meant
    return done


def _checked_output(folder: Path, options: ConversionSettings, by: Mapping[str, Any]) -> Report:
    """The report on what was written; paths in it are relative to the target."""
    from ragdatakit.api.validate import validate

    try:
        report = validate(
            folder,
            format=options.target_format,
            profile=options.profile if options.profile in get_format(options.target_format).profiles else "",
            severity=SHOWN_SEVERITY,
            memory_limit=options.memory_limit,
            progress=_named(options.progress, "validating the output: {}"),
            **by,
        )
    except RagdataError as error:
        reason = str(error).replace(f"{folder}/", "").replace(str(folder), "the target")
        raise RagdataError(f"what was written is not recognised, a fault of ragdata: {reason}") from None
    prefix = f"{folder}/"
    report.findings = [replace(f, path=f.path.removeprefix(prefix)) for f in report.findings]
    return report


def _refuse_unchecked(top: Path, conversions: list[Conversion], report: Report) -> None:
    """Raise where a file of records was written that nobody would read: it was not checked, either."""
    from ragdatakit.files.paths.own_files import is_own

    checked = {Path(dataset.path, file.path) for dataset in report.datasets for file in dataset.files}
    for conversion in conversions:
        for file in conversion.files:
            path = Path(top, conversion.folder, file.name)
            if file.records is not None and not is_own(file.name) and path not in checked:
                raise RagdataError(f"what was written is not recognised, a fault of ragdata: {path.relative_to(top)}")


def _folders_of(found: list[Source]) -> list[str]:
    """Where each dataset goes below the target: one alone at its top, several by where they were."""
    if len(found) == 1:
        return [""]
    top = Path(os.path.commonpath([d.root for d in found]))
    names: list[str] = []
    for dataset in found:
        name = dataset.root.relative_to(top).as_posix()
        files = dataset.parts[0].files
        name = files[0].path.stem if name == "." and files else name
        while name in names:
            name += "-2"
        names.append(name)
    return names
