"""The Python interface: what ``import ragdatakit`` offers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.schemas.errors import NotMeantError, RagdataError
from ragdatakit.schemas.findings import Finding, Severity
from ragdatakit.schemas.results import Report

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.converters.run import ConvertOptions, Source
    from ragdatakit.retrieval.preparation import Preparation
    from ragdatakit.schemas.conversions import Conversion, ConversionResult, ExtractionEstimate
    from ragdatakit.tables.canonical_frames import Dataset
    from ragdatakit.tables.canonical_tables import CanonicalTables
    from ragdatakit.tables.manifest import Difference
    from ragdatakit.tables.record_reading import Refused
    from ragdatakit.tables.training_samples import TrainingSamples
    from ragdatakit.validators.source_check import SourceCheck

PathLike = str | os.PathLike[str]
Progress = Callable[[str, int, int], None]

LEAST_MEMORY = 16 << 20
MOST_HOPS = 64
MOST_SEED = 2**63 - 1


def validate(
    path: PathLike | Iterable[PathLike],
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
    profile: str | Iterable[str] = (),
    select: str | Iterable[str] = (),
    ignore: str | Iterable[str] = (),
    severity: Severity = "info",
    max_per_rule: int = 20,
    memory_limit: int = 1 << 30,
    follow_links: bool = False,
    max_hops: int = 3,
    quality: bool | Mapping[str, object] = False,
    on_finding: Callable[[Finding], None] | None = None,
) -> Report:
    """Say what a framework would reject, drop or misread in the datasets at ``path`` (one path, or several).

    ``format`` and ``profile`` are those of ``ragdata formats``; ``select`` and ``ignore`` take codes, prefixes of
    codes and rule names. ``max_per_rule`` limits the findings that are kept (0: none are dropped), never the counts.
    ``severity`` is the least severe level that counts (the command line leaves out ``info`` unless told otherwise).
    ``memory_limit`` is in bytes, at least 16 MiB. ``max_hops``: in graphs, how many edges (1 to 64) the target nodes of
    a question may be away from its start nodes. ``quality``: also look for what loads and is worse all the same (rules
    QU…), with thresholds by name in place of True; selecting such rules asks for it, too. ``on_finding`` is called for
    each finding as it is found, before the report is put in order.

    Raises `RagdataError` if a path is missing or holds nothing recognised or a number is out of range, and
    `UnknownNameError` for unknown names.
    Faults of the data are never raised.
    """
    from ragdatakit.quality_api import checked_quality
    from ragdatakit.validators.collector import Selection, known_rules
    from ragdatakit.validators.dataset_run import RunOptions
    from ragdatakit.validators.run import validate_paths

    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths or any(not os.fspath(p) for p in paths):
        raise RagdataError("no path given" if not paths else "an empty path was given")
    _refuse_number("max_per_rule", max_per_rule, 0)
    _refuse_number("memory_limit", memory_limit, LEAST_MEMORY, unit="a number of bytes, such as 1 << 30")
    _refuse_number("max_hops", max_hops, 1, MOST_HOPS)
    profiles = (profile,) if isinstance(profile, str) else tuple(profile)
    selection = Selection(
        select=known_rules([select] if isinstance(select, str) else select),
        ignore=known_rules([ignore] if isinstance(ignore, str) else ignore),
        severity=severity,
        max_per_rule=max_per_rule,
    )
    options = RunOptions(
        memory_limit=memory_limit,
        follow_links=follow_links,
        max_hops=max_hops,
        on_finding=on_finding,
        quality=checked_quality(selection, quality),
    )
    return validate_paths([Path(p) for p in paths], format, tuple(p for p in profiles if p), selection, options)


def _refuse_number(name: str, value: object, least: int, most: int | None = None, unit: str = "an integer") -> None:
    """Raise where an argument is no integer from ``least`` to ``most``."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise RagdataError(f"{name} is {value!r}, expected {unit}")
    if value < least or (most is not None and value > most):
        span = f"at least {least:,}" if most is None else f"{least:,} to {most:,}"
        raise RagdataError(f"{name} is {value:,}, expected {span}")


def connect(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002 - the word of the command line
) -> duckdb.DuckDBPyConnection:
    """A DuckDB database in memory, with one view for each kind of file of the datasets at ``path``.

    A view has the fields of the records, and the columns ``split`` and ``file``; the view ``datasets`` tells the schema
    of each dataset (``main`` where there is only one). The views read the files anew with every query and coerce what
    is damaged: they are for looking; what is wrong, `validate` tells. Raises `RagdataError` as `validate` does.
    """
    from ragdatakit.tables.views import open_views

    return open_views(Path(path), format)


def convert(
    source: PathLike,
    target: PathLike | None = None,
    *,
    to: str,
    source_format: str = "",
    profile: str = "",
    name: str = "",
    seed: int = 13,
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    extractor: str = "",
    extraction: Mapping[str, object] | None = None,
    negatives: str = "",
    sidecar: bool = False,
    overwrite: bool = False,
    strict: bool = False,
    keep_going: bool = False,
    dry_run: bool = False,
    memory_limit: int = 1 << 30,
    progress: Progress | None = None,
) -> ConversionResult:
    """Write the datasets at ``source`` as datasets of the format ``to`` in the folder ``target`` (default: ``./<to>``).

    The source is validated first: errors stop the conversion (``refused``, nothing is written) unless ``keep_going``,
    which leaves out the records that have errors and counts them. The output is written beside the target, validated,
    and moved into place when it is whole; the target has to be empty or not there, unless ``overwrite``.

    ``source_format`` is found out where it is not given; ``text`` and ``table`` read plain texts and tables,
    ``gfm-rag-raw`` GFM-RAG's raw files, of which a graph is then made where ``to`` holds one.
    ``profile`` is a variant of the target format, ``options`` are those of the two converters (``ragdata convert
    --list --from A --to B``), ``chunking`` the text splitter's: ``by``, ``size``, ``overlap``, ``tokenizer``,
    ``language``. ``extractor`` makes a graph of the texts: ``names`` (no model) or ``openai`` (a language model), with
    ``extraction`` as its options (``linker``, ``model``, ``base_url`` and so on). ``negatives`` mines training triplets
    (``bm25:depth=100,per_query=4``). ``sidecar`` keeps what the target cannot hold in files beside the output.
    ``strict`` writes nothing if anything would be lost, ``dry_run`` nothing at all; both tell what would be, and no
    model is asked in a dry run. ``memory_limit`` is in bytes. ``progress`` is called with what is being done, the bytes
    that are read, and the bytes in all.

    Raises `RagdataError` where it cannot be done (a missing path, an unknown name, a target that is not empty), and
    `OSError` where it cannot be written.
    """
    import time

    from ragdatakit.converters import get_converter
    from ragdatakit.converters.run import (
        RAW,
        ConvertOptions,
        find_sources,
        refuse_target_in_source,
        refuse_unknown_options,
    )
    from ragdatakit.schemas.conversions import ConversionResult
    from ragdatakit.tables.staging import refuse_target

    started = time.perf_counter()
    _refuse_number("memory_limit", memory_limit, LEAST_MEMORY, unit="a number of bytes, such as 1 << 30")
    _refuse_number("seed", seed, -MOST_SEED, MOST_SEED)
    texts = {"to": to, "source_format": source_format, "profile": profile, "name": name}
    for word, value in (texts | {"extractor": extractor, "negatives": negatives}).items():
        if not isinstance(value, str):
            raise RagdataError(f"{word} is {value!r}, expected a text")
    wanted = ConvertOptions(
        target_format=to,
        source_format=source_format,
        profile=profile,
        name=name,
        seed=seed,
        values={key: _word(value) for key, value in (options or {}).items()},
        chunking=dict(chunking or {}),
        sidecar=sidecar,
        memory_limit=memory_limit,
        progress=progress,
    )
    where, place = Path(source), Path(target) if target is not None else Path(to)
    if not dry_run:
        refuse_target(place, overwrite)
        _refuse_nested(where, place)
    found = find_sources(where, wanted, place)
    if not dry_run:
        refuse_target_in_source(found, place)
    refuse_unknown_options(wanted.values, (found[0].format, to))
    if source_format == RAW and not extractor and "edges" in get_converter(to).holds:
        extractor = "names"
    prepared = _preparation(found[0].format, wanted, extractor, extraction or {}, negatives)
    if prepared is not None:
        wanted = replace(wanted, prepare=prepared.prepare, prepared=prepared.words)
    result = ConversionResult(str(place), dry_run=dry_run, sidecar=sidecar)
    conversion = _ConversionRun(where, found, wanted, result, overwrite=overwrite, strict=strict)
    if dry_run and prepared is not None and prepared.estimate is not None:
        conversion.estimate = prepared.estimate
    conversion.run(keep_going)
    result.seconds = time.perf_counter() - started
    return result


def _preparation(
    source_format: str, options: ConvertOptions, extractor: str, extraction: Mapping[str, object], negatives: str
) -> Preparation | None:
    """What is to be made of the tables before they are written."""
    if not (extractor or extraction or negatives):
        return None
    from ragdatakit.converters import get_converter
    from ragdatakit.retrieval.preparation import make_preparation

    key = options.values.get("key", "auto")
    return make_preparation(
        extractor,
        extraction,
        negatives,
        target=options.target_format,
        holds=get_converter(options.target_format).holds,
        by_title=key == "title" or (key == "auto" and source_format == "hipporag"),
        seed=options.seed,
        progress=options.progress,
    )


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refuse_nested(source: Path, target: Path) -> None:
    """What is being read must not be replaced."""
    source, target = source.resolve(), target.resolve()
    if target.exists() and source.is_relative_to(target):
        raise RagdataError(f"{target} holds the source; give another folder to write to")


class _ConversionRun:
    """One call of `convert`: the source is checked, written to a staged folder, looked at, put in place."""

    def __init__(
        self,
        path: Path,
        found: list[Source],
        options: ConvertOptions,
        result: ConversionResult,
        *,
        overwrite: bool,
        strict: bool,
    ) -> None:
        self._path, self._found, self._options, self._result = path, found, options, result
        self._overwrite, self._strict = overwrite, strict
        self.estimate: Callable[[CanonicalTables], ExtractionEstimate] | None = None

    def run(self, keep_going: bool) -> None:
        """Check and convert; ``result`` tells what became of it."""
        from ragdatakit.converters import get_converter
        from ragdatakit.converters.run import PLAIN, RAW, mends_raw
        from ragdatakit.tables.record_reading import Refused
        from ragdatakit.validators.source_check import SourceCheck, check_source

        options, result, refused = self._options, self._result, Refused()
        converter = get_converter(self._found[0].format)
        if converter.name in PLAIN:
            self._convert(refused, None)
            return
        values = converter.values(options.values, "read")
        mends = mends_raw(self._found) if options.source_format == RAW else converter.mends
        wanted = (self._path, converter.name, mends, values, options.memory_limit)
        if not keep_going and options.prepare is None and self._is_worth_a_process():
            with SourceCheck(*wanted) as check:
                self._convert(refused, check)
            return
        told = _told(options.progress, "checking {}")
        result.source_report = check_source(*wanted, told, refused if keep_going else None)
        result.refused = not result.source_report.ok and not keep_going
        if not result.refused:
            self._convert(refused, None)

    def _is_worth_a_process(self) -> bool:
        from ragdatakit.validators.side_process import has_room
        from ragdatakit.validators.source_check import WORTH_A_PROCESS

        size = sum(path.stat().st_size for source in self._found for _, path in source.files())
        return size > WORTH_A_PROCESS and has_room()

    def _convert(self, refused: Refused, check: SourceCheck | None) -> None:
        from ragdatakit.tables.staging import StagedFolder

        result = self._result
        if self.estimate is not None:
            self._estimate(refused)
            return
        if result.dry_run:
            self._write(None, refused, check)
            return
        with StagedFolder(Path(result.target), self._overwrite) as staged:
            self._write(staged.folder, refused, check)
            if result.refused or result.strict:
                return
            report = _checked_output(staged.folder, self._options)
            _refuse_unchecked(staged.folder, result.conversions, report)
            result.warnings = report.counts["warning"]
            if not report.ok:
                result.invalid = report
                return
            staged.commit()
            result.written = True

    def _estimate(self, refused: Refused) -> None:
        """Say what asking a model would take, instead of asking it."""
        from ragdatakit.converters.run import read_source
        from ragdatakit.schemas.conversions import Losses

        assert self.estimate is not None
        options = replace(self._options, prepare=None)
        for source in self._found:
            self._result.estimates.append(self.estimate(read_source(source, options, Losses(), refused)))

    def _write(self, top: Path | None, refused: Refused, check: SourceCheck | None) -> None:
        """Write all datasets below ``top`` (None: nowhere), while ``check`` may still look at the source."""
        result, options = self._result, self._options
        if check is None:
            result.conversions = _conversions(self._found, top, options, refused)
        else:
            try:
                watched = replace(options, progress=check.watched(options.progress))
                result.conversions = _conversions(self._found, top, watched, refused)
            except Exception:
                if check.report().ok:
                    raise  # else it comes of the errors
            result.source_report = check.report()
            result.refused = not result.source_report.ok
            if result.refused:
                result.conversions = []
        result.strict = not result.refused and self._strict and not result.lossless


def _told(progress: Progress | None, words: str) -> Progress | None:
    """Progress that says what is being done with a file."""
    if progress is None:
        return None
    show = progress
    return lambda path, done, total: show(words.format(path), done, total)


def _conversions(found: list[Source], top: Path | None, options: ConvertOptions, refused: Refused) -> list[Conversion]:
    """Write each dataset to its folder below ``top`` (None: nowhere)."""
    from ragdatakit.converters.run import convert_dataset

    telling = replace(options, progress=_told(options.progress, "converting {}"))
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


def _checked_output(folder: Path, options: ConvertOptions) -> Report:
    """The report on what was written; paths in it are relative to the target."""
    try:
        report = validate(
            folder,
            format=options.target_format,
            profile=_checked_profile(options),
            severity="warning",
            memory_limit=options.memory_limit,
        )
    except RagdataError as error:
        reason = str(error).replace(f"{folder}/", "").replace(str(folder), "the target")
        raise RagdataError(f"what was written is not recognised, a fault of ragdata: {reason}") from None
    prefix = f"{folder}/"
    report.findings = [replace(f, path=f.path.removeprefix(prefix)) for f in report.findings]
    return report


def _refuse_unchecked(top: Path, conversions: list[Conversion], report: Report) -> None:
    """Raise where a file of records was written that nobody would read: it was not checked, either."""
    from ragdatakit.tables.own_files import is_own

    checked = {Path(dataset.path, file.path) for dataset in report.datasets for file in dataset.files}
    for conversion in conversions:
        for file in conversion.files:
            path = Path(top, conversion.folder, file.name)
            if file.records is not None and not is_own(file.name) and path not in checked:
                raise RagdataError(f"what was written is not recognised, a fault of ragdata: {path.relative_to(top)}")


def _checked_profile(options: ConvertOptions) -> str:
    """The profile to validate the output for: the one that was written, where the format declares it."""
    from ragdatakit.schemas import get_format

    return options.profile if options.profile in get_format(options.target_format).profiles else ""


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


def read(
    path: PathLike,
    *,
    source_format: str = "",
    name: str = "",
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
) -> Dataset:
    """The dataset at ``path`` as canonical tables (documents, chunks, questions, qrels, edges and so on).

    Tables come as DuckDB relations, Arrow tables, pandas frames or an iterator of rows. The data is taken as it is:
    what is wrong with it `validate` tells; what could not be read is in ``losses``. Raises `RagdataError` where
    nothing is recognised, or several datasets are.
    """
    from ragdatakit.converters.run import ConvertOptions, find_sources, read_source, refuse_unknown_options
    from ragdatakit.schemas.conversions import Losses
    from ragdatakit.tables.canonical_frames import Dataset

    wanted = ConvertOptions(
        target_format="",
        source_format=source_format,
        name=name,
        values={key: _word(value) for key, value in (options or {}).items()},
        chunking=dict(chunking or {}),
    )
    found = find_sources(Path(path), wanted)
    if len(found) > 1:
        places = ", ".join(d.display for d in found[:5])
        raise RagdataError(f"{path} holds {len(found)} datasets ({places}{', …' if len(found) > 5 else ''}); give one")
    refuse_unknown_options(wanted.values, (found[0].format,))
    return Dataset(read_source(found[0], wanted, Losses()))


def verify(path: PathLike, *, source: PathLike | None = None, progress: Progress | None = None) -> list[Difference]:
    """How the files below ``path`` differ from the manifests that ragdata wrote there; empty where nothing does.

    With ``source`` the digest of what they were converted from is compared, too. Raises `RagdataError` where there is
    no manifest.
    """
    from ragdatakit.converters.verification import verify_folder

    return verify_folder(Path(path), Path(source) if source is not None else None, progress)


def training_samples(path: PathLike, split: str = "train") -> TrainingSamples:
    """The training samples of a light-splade dataset: ``(query_text, positive_text, negative_text)``, by triplet.

    They come in the order of the file, or seeded and random by ``shuffled(seed)``; the masters stay on the disk. Use it
    in a ``with`` block. Raises `RagdataError` where the dataset or its split is missing, and for dangling ids.
    """
    from ragdatakit.tables.training_samples import TrainingSamples

    return TrainingSamples(path, split)
