"""The Python interface of reports: what is in a dataset, in numbers; and the dataset as a database."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import ExitStack, closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ragdatakit.api.arguments import given_paths, reading, several_words
from ragdatakit.api.configuration import configuration_of
from ragdatakit.api.in_parts.chosen_engine import chosen_engine
from ragdatakit.api.keywords import takes
from ragdatakit.api.remote import at_hand, renamed
from ragdatakit.api.sources import chosen_datasets, database_of, only_dataset
from ragdatakit.files.machine import machine_fault, refuse_little_space
from ragdatakit.files.paths.boundary import real_path
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import SHOWN_SEVERITY, DatabaseOptions, PathLike, Progress, ReportOptions

if TYPE_CHECKING:
    from ragdatakit.api.results import Summaries
    from ragdatakit.api.sources import FoundDataset
    from ragdatakit.converters.sources import ConversionSettings, Source
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.engines import Engine
    from ragdatakit.schemas.neighbourhoods import Neighbourhoods
    from ragdatakit.schemas.results import Report
    from ragdatakit.schemas.summaries import LeftOut, Note, NotRead, Summary


@takes(ReportOptions)
def report(options: ReportOptions, path: PathLike | Iterable[PathLike]) -> Summaries:
    """What is in the datasets at ``path`` (one path, or several), one `Summary` for each, in numbers.

    In ``left_out`` of the list are the folders at ``path`` whose data is of no known format, where others are of one;
    in ``not_read`` the files that no dataset reads; in ``findings`` the report of the validation, where it was asked
    for.

    Raises `RagdataError` where a path is missing or nothing is recognised there. Of several datasets one that cannot be
    read at all has a summary that says so. Data that is wrong gives a report all
    the same: what could not be read is in ``losses``.
    """

    with at_hand(options, given_paths(path), options.source_format) as here:
        summaries = _report([Path(each) for each in here.paths], here.options)
        summaries.sources = here.origins
        return renamed(summaries)


def _report(paths: list[Path], options: ReportOptions) -> Summaries:
    from ragdatakit.api.results import Summaries
    from ragdatakit.converters.sources import files_of
    from ragdatakit.database.database_file import DatabaseFile
    from ragdatakit.files.detection.left_out import files_not_read

    _refuse_whole(options)
    wanted, names = reading(options), several_words(options.dataset)
    engine = chosen_engine(options)
    found = chosen_datasets(paths, wanted, names)
    early = options.save is not None  # what may raise goes before a database is replaced
    findings = _findings(paths, found, options) if early else None
    guessed = not options.source_format and "map" not in wanted.values
    read = {file for each in found for file in files_of(each.source)}  # what plain ones pass over, the losses show
    whole = () if names else paths  # what lies next to those that were chosen was not asked for
    summaries = Summaries(
        left_out=_once(each for p in whole for each in _left_out(p, wanted)) if guessed else (),
        not_read=_once(each for p in whole for each in files_not_read(p, read)),
    )
    similar: list[str] = []
    with ExitStack() as stack:
        file = stack.enter_context(DatabaseFile(Path(options.save))) if options.save is not None else None
        stack.enter_context(closing(engine) if engine is not None else nullcontext())
        for each in found:
            started = time.perf_counter()
            with ExitStack() as opened:
                try:
                    if engine is not None and (one := _in_parts(each, engine, options)) is not None:
                        summaries.append(_named(one, each.name, started))
                        continue
                    database = opened.enter_context(database_of(each, options.memory_limit, own_sql=True))
                    summary = summary_of(each, database, options)
                    node = _node(database, options.node, summary, similar)
                    if options.neighbourhoods:
                        summary.neighbourhoods = _neighbourhoods(database, node, options.progress)
                    label_graph(each, summary)
                    summary.notes += [_one_machine_note()] if engine is not None else []
                except (RagdataError, OSError) as error:
                    if len(found) == 1 or not _is_of(each.source, error):
                        raise
                    summary = _unread(each.source, error)
                    if file is not None:
                        file.leave_out(each.name, summary.losses[0])
                else:
                    if file is not None:
                        file.add(database, each.name if len(found) > 1 else "main", each.source.display)
            summaries.append(_named(summary, each.name, started))
    if options.node and not any(summary.around for summary in summaries):
        advice = f"; there is {', '.join(dict.fromkeys(similar))}" if similar else ""
        raise RagdataError(f"no node is called {options.node!r}{advice}")
    summaries.findings = findings if early else _findings(paths, found, options)
    return summaries


def _refuse_whole(options: ReportOptions) -> None:
    """Raise where something was asked for that needs a dataset as a whole."""
    asked = "a database" if options.save is not None else "a node" if options.node else ""
    asked = asked or ("a page with a graph" if options.neighbourhoods else "")
    if options.engine is not None and asked:
        words = f"with --engine {options.engine} only the key numbers are made"
        raise RagdataError(f"{words}: {asked} needs the dataset in one database; leave --engine out")


def _one_machine_note() -> Note:
    """That the engine had nothing to do."""
    from ragdatakit.schemas.summaries import Note

    words = (
        "read where the command runs: workers measure datasets of beir, light-splade and trec, if ids mean one thing"
    )
    return Note("engine.sections", words, 0)


def _in_parts(found: FoundDataset, engine: Engine, options: ReportOptions) -> Summary | None:
    from ragdatakit.api.in_parts.reporting import report_in_parts

    return report_in_parts(found, engine, options.memory_limit, options.progress)


def _named(summary: Summary, name: str, started: float) -> Summary:
    summary.name, summary.seconds = name, time.perf_counter() - started
    return summary


def _findings(paths: list[Path], found: Iterable[FoundDataset], options: ReportOptions) -> Report | None:
    """What validation says of the paths, or of the datasets that were chosen; None where it was not asked for."""
    if options.findings is False:
        return None
    from ragdatakit.api.validate import validate

    try:
        return validate(
            list(dict.fromkeys(each.source.display for each in found)) if several_words(options.dataset) else paths,
            format=options.source_format or None,
            severity=SHOWN_SEVERITY,
            max_per_rule=options.max_per_rule,
            follow_links=options.follow_links,
            jobs=options.jobs,
            engine=options.engine,
            engine_options=options.engine_options,
            progress=options.progress,
        )
    except RagdataError:
        if options.findings:
            raise
        return None


@takes(DatabaseOptions)
def open_database(options: DatabaseOptions, path: PathLike) -> DatasetDatabase:
    """The dataset at ``path`` as a DuckDB database: canonical tables in schema ``main``, views of its files in
    ``files``.

    Tables are filled when they are asked for. Use it in a ``with`` block: the database lies in memory and in a scratch
    folder. Raises `RagdataError` where nothing is recognised, or several datasets are.
    """
    with at_hand(options, [path], options.source_format) as here:
        wanted = reading(here.options, options.name)
        return database_of(only_dataset(Path(here.paths[0]), wanted, options.dataset), options.memory_limit)


_Beside = TypeVar("_Beside", "LeftOut", "NotRead")


def _once(found: Iterable[_Beside]) -> list[_Beside]:
    """What lies next to datasets, each once, where several paths hold it."""
    places: dict[Path, _Beside] = {}
    for each in found:
        places.setdefault(real_path(Path(each.path)), each)
    return list(places.values())


def _is_of(source: Source, error: RagdataError | OSError) -> bool:
    """Whether an error is about the dataset: one of the system is, where it names a file of it."""
    if machine_fault(error):
        return False
    if isinstance(error, RagdataError):
        return True
    return error.filename is not None and Path(os.fsdecode(error.filename)) in {path for _, path in source.files()}


def _unread(source: Source, error: RagdataError | OSError) -> Summary:
    """Of a dataset among others that cannot be read at all: why."""
    from ragdatakit.database.file_counts import count_files
    from ragdatakit.schemas.summaries import Summary

    reason = str(error) if isinstance(error, RagdataError) else f"{os.fsdecode(error.filename)}: {error.strerror}"
    files, splits = count_files(source.parts)
    return Summary(source.display, source.root.name, source.format, files, splits, losses=[reason], unread=True)


def summary_of(found: FoundDataset, database: DatasetDatabase, options: ReportOptions) -> Summary:
    """What is in an opened dataset. Raises as `report` does."""
    refuse_little_space("columns")
    from ragdatakit.converters.hipporag.data_sets import own_parts
    from ragdatakit.database.file_counts import count_files
    from ragdatakit.reports.summaries import summarize

    summary = summarize(
        database,
        path=found.source.display,
        examples=options.examples,
        seed=options.seed,
        alone=options.save is None and not options.node and not options.neighbourhoods,
        progress=options.progress,
    )
    summary.files, summary.file_splits = count_files(own_parts(found.source, found.wanted), database, options.progress)
    summary.notes += _read_together(found, summary)
    return summary


def label_graph(found: FoundDataset, summary: Summary) -> None:
    """Give hubs, relations and neighbourhoods the labels that files next to a plain graph have for them."""

    from ragdatakit.files.detection.plain_sources import LABELS

    labels_of = next((part.options[LABELS] for part in found.source.parts if LABELS in part.options), None)
    if labels_of is None or summary.graph is None:
        return
    relations = [value for one in summary.frequencies if one.name == "edges.relation" for value, _ in one.values]
    around = summary.neighbourhoods
    walked = {*around.names, *around.relations} if around is not None else set()
    labels = labels_of({*relations, *(hub.name for hub in summary.graph.hubs), *walked})
    if around is not None:
        labelled = {name: label for name, label in labels.items() if name in walked}
        summary.neighbourhoods = replace(around, labels=labelled)
    hubs = tuple(replace(hub, label=labels.get(hub.name)) for hub in summary.graph.hubs)
    summary.graph = replace(summary.graph, hubs=hubs)
    summary.frequencies = [
        replace(one, labels={value: labels[value] for value, _ in one.values if value in labels})
        if one.name == "edges.relation"
        else one
        for one in summary.frequencies
    ]


def _read_together(found: FoundDataset, summary: Summary) -> list[Note]:
    """That texts and files of their parts are counted as documents together, with the records of each file."""
    from ragdatakit.files.detection.plain_sources import READ_TOGETHER
    from ragdatakit.schemas.summaries import Note

    notes = []
    for part in found.source.parts:
        if names := part.options.get(READ_TOGETHER, ()):
            records = sum(file.records or 0 for file in part.files if file.name in names)
            words = f"documents: {records:,} of them are of {', '.join(names)}"
            words += ", and look like parts of those of the other files; name a file to have it alone"
            notes.append(Note("documents.read_together", words, records, "warning"))
    return notes


def _node(database: DatasetDatabase, name: str, summary: Summary, similar: list[str]) -> str:
    """The node that was asked for, with its neighbours in the summary; names like it go to ``similar``."""
    if not name:
        return ""
    from ragdatakit.reports.neighbourhoods import find_node, read_node

    found, others = find_node(database, name)
    similar += others
    if found:
        summary.around = read_node(database, found)
    return found


def _neighbourhoods(database: DatasetDatabase, node: str, progress: Progress | None) -> Neighbourhoods | None:
    from ragdatakit.reports.neighbourhoods import read_neighbourhoods

    if progress is not None:
        progress("the graph's neighbourhoods", 0, 1)
    return read_neighbourhoods(database, node)


def _left_out(path: Path, wanted: ConversionSettings) -> list[LeftOut]:
    """The folders at a path that no dataset has."""
    from ragdatakit.files.detection.left_out import left_out_folders

    return left_out_folders(path, wanted.follow_links, configuration_of(path, wanted.config).formats)
