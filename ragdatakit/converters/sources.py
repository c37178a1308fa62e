"""Which datasets a conversion reads, with which settings, and which files belong to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.converters import get_converter
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.find import detect
from ragdatakit.files.detection.left_out import what_lies_there
from ragdatakit.files.detection.plain_sources import PASSED_OVER
from ragdatakit.files.paths.boundary import not_followed, real_path
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.files.paths.manifest import read_manifest
from ragdatakit.files.paths.own_files import MANIFEST, RENAMED_IDS, SIDECAR
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.record_reading import Progress
from ragdatakit.files.reading.refused_records import Refused
from ragdatakit.files.reading.tables_in_parts import TablesInParts
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import PackedError, RagdataError, UnknownNameError
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.options import ConvertOptions, Tell

if TYPE_CHECKING:
    from ragdatakit.files.configuration.settings_below import ReportedBelow
    from ragdatakit.retrieval.extraction.asking import Asker
    from ragdatakit.retrieval.extraction.text_vectors import ChosenEmbedder

RAW = "gfm-rag-raw"
"""GFM-RAG's datasets without the graph that was built from them: what lies in ``raw/``."""
Repairs = Callable[[Finding, Mapping[str, Any]], bool]
PLAIN = ("text", "table")
"""Sources that no format is declared for: they are found where they are asked for, or nothing else is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionSettings:
    """How to convert; the words of ``ragdata convert``.

    ``values`` are options of the two converters by name; ``chunking`` those of the text splitter (empty: texts are not
    split); ``usual_chunks`` are those of what is neither chunks nor a graph. ``source_format`` and ``name`` may be
    empty: detected, and the name of the source's folder. ``prepare`` makes something of the tables before they are
    written (a graph of the texts, hard negatives), ``asker`` asks a language model for what the writer makes;
    ``prepared`` are the words in which it was asked for, for the manifest. ``plugged`` are the formats
    of plug-ins that the configuration names, ``below`` reports settings that do not hold to ``tell``. ``origin`` is
    where the source was fetched from: its URL, and which state of it. ``in_parts`` has tables read by others, who write
    to a folder. ``shard_size`` is the most bytes of a file of records (0: each is one file).
    """

    target_format: str
    source_format: str = ""
    profile: str = ""
    name: str = ""
    seed: int = ConvertOptions.seed
    values: Mapping[str, str] = field(default_factory=dict)
    chunking: Mapping[str, Any] = field(default_factory=dict)
    usual_chunks: Mapping[str, Any] = field(default_factory=dict)
    prepare: Callable[[CanonicalTables], CanonicalTables] | None = None
    asker: Asker | None = None
    embedder: ChosenEmbedder | None = None
    prepared: Mapping[str, str] = field(default_factory=dict)
    sidecar: bool = False
    shard_size: int = 0
    memory_limit: int = ConvertOptions.memory_limit
    follow_links: bool = False
    config: Path | bool = False
    plugged: tuple[str, ...] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress | None = None
    tell: Tell | None = None
    below: ReportedBelow | None = None
    in_parts: (
        Callable[[Source, ConversionSettings, CanonicalTables, Path | None, Refused | None], TablesInParts] | None
    ) = None

    def as_dict(self) -> dict[str, Any]:
        """What has an influence on the output, for the manifest."""
        found: dict[str, Any] = {"name": self.name, "profile": self.profile, "seed": self.seed, **self.values}
        found |= self.prepared
        found["shard-size"] = self.shard_size or None
        found |= {f"chunk-{name}": str(value) for name, value in (self.chunking or self.usual_chunks).items()}
        return {name: value for name, value in sorted(found.items()) if value not in ("", None)}


@dataclass(frozen=True, slots=True)
class Source:
    """The datasets that are converted as one; the first gives the name. ``unread`` are files that are passed over."""

    parts: tuple[Dataset, ...]
    unread: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """The name of the format."""
        return self.parts[0].format.name

    @property
    def display(self) -> str:
        """What the user called it."""
        return self.parts[0].display

    @property
    def root(self) -> Path:
        """The folder of its first part."""
        return self.parts[0].root

    @property
    def unreadable(self) -> list[str]:
        """In words, what is not read of it: folders that may not be looked into, links that lead out."""
        return list(dict.fromkeys(reason for part in self.parts for reason in part.unread))

    def files(self) -> list[tuple[str, Path]]:
        """All files, by their path below the folder that holds them all."""
        paths = [f.path for part in self.parts for f in part.files if f.path.is_file()]
        if len(self.parts) == 1:
            return [(f.name, f.path) for f in self.parts[0].files if f.path.is_file()]
        top = Path(os.path.commonpath([p.parent for p in paths]))
        return [(p.relative_to(top).as_posix(), p) for p in paths]


def own_files(source: Source) -> set[Path]:
    """The files that a source consists of, with its configuration."""
    return {
        file.path
        for part in source.parts
        for file in (*part.files, *((part.config,) if part.config is not None else ()))
    }


def files_kept(source: Source) -> set[Path]:
    """The files that an earlier conversion has left next to a source, and that are read with it."""
    root = converted_root(source.parts[0])
    if root is None:
        return set()
    return {root / MANIFEST, root / RENAMED_IDS, *(root / SIDECAR).glob("*.ndjson.gz")}


def files_of(source: Source) -> set[Path]:
    """All files that belong to a source: its own, its configuration, and those of a plain one that it passes over."""
    found = own_files(source)
    for part in source.parts:
        if part.format.name in PLAIN:
            found |= {file.path for file in part.ignored}
            found |= {part.root / name for name in part.options.get(PASSED_OVER, {})}
    return found


def files_read(source: Source) -> list[tuple[str, Path]]:
    """All files that have a part in reading a source, by name: its own, its configuration, and what an earlier
    conversion kept next to it."""
    found = dict(source.files())
    for number, part in enumerate(source.parts):
        above = f"{number}:" if number else ""
        if part.config is not None and part.config.path.is_file():
            found.setdefault(f"{above}{part.config.name}", part.config.path)
        root = converted_root(part)
        if root is not None:
            for path in (root / MANIFEST, root / RENAMED_IDS, *sorted((root / SIDECAR).glob("*.ndjson.gz"))):
                if is_regular(path, part.boundary):
                    found.setdefault(f"{above}{path.relative_to(root).as_posix()}", path)
    return sorted(found.items())


def find_sources(path: Path, options: ConversionSettings, beside: Path | None = None) -> list[Source]:
    """What at ``path`` is to be converted; datasets below ``beside``, the target, are not.

    Raises `RagdataError` where there is none, and where it is not clear which is meant.
    """
    if options.source_format == RAW:
        return _raw_sources(path, options, beside)
    if options.source_format in PLAIN or (not options.source_format and "map" in options.values):
        from ragdatakit.converters.plain_folders import asked_dataset

        asked = asked_dataset(
            path, options.source_format or "table", options.values.get("map", ""), options.follow_links
        )
        return _plain_sources(path, [asked], beside)
    if options.source_format:
        get_converter(options.source_format)
    try:
        datasets = _detected(path, options)
    except (UnknownNameError, PackedError):
        raise
    except RagdataError as error:
        from ragdatakit.converters.plain_folders import plain_datasets

        plain = [] if options.source_format else plain_datasets(path, options.follow_links)
        if not plain:
            raise RagdataError(_nothing_there(path, error)) from None
        if options.target_format and len({d.format.name for d in plain}) > 1:
            reason = f"{path} holds folders of texts and folders of tables"
            raise RagdataError(f"{reason}; choose one with --from text or --from table") from None
        return _plain_sources(path, plain, beside)
    if beside is not None:
        datasets = [d for d in datasets if not (d.root == beside or d.root.resolve().is_relative_to(beside.resolve()))]
    for dataset in datasets:
        dataset.leave_out_links()
    if datasets and not any(d.files for d in datasets):
        raise RagdataError(not_followed(datasets[0].outside[0].display if datasets[0].outside else path))
    readable = [d for d in datasets if get_converter(d.format.name).read is not None]
    if not readable:
        raise RagdataError(f"no dataset below {path} that could be converted")
    if len({d.format.name for d in readable}) > 1:  # what was converted from the others is not meant, either
        readable = [d for d in readable if (converted_root(d) or path.resolve()) == path.resolve()] or readable
    formats = sorted({d.format.name for d in readable})
    if len(formats) > 1:
        raise RagdataError(f"{path} holds datasets of several formats ({', '.join(formats)}); choose one with --from")
    group = get_converter(formats[0]).group
    return _as_written([Source(tuple(p)) for p in (group(readable) if group is not None else ([d] for d in readable))])


def _detected(path: Path, options: ConversionSettings) -> list[Dataset]:
    below, name = options.below, options.source_format or None
    noting = below.noting() if below is not None else None
    try:
        return detect(path, name, options.follow_links, passed_over=noting, plugged=options.plugged).datasets
    finally:
        if below is not None:
            below.report()


def _nothing_there(path: Path, error: RagdataError) -> str:
    """That there is no dataset at a path, with what lies there instead."""
    reason = str(error).replace("); name", ", plain texts and tables); name")
    there = what_lies_there(path) if path.is_dir() else ""
    return f"{reason}; {there}" if there else reason


def _raw_sources(path: Path, options: ConversionSettings, beside: Path | None) -> list[Source]:
    """GFM-RAG's datasets that have raw documents, with no other files than the raw ones."""
    sources: list[Source] = []
    for source in find_sources(path, replace(options, source_format="gfm-rag"), beside):
        files = [f for part in source.parts for f in part.files]
        read = {Path(f.name).name for f in files if f.kind in _RAW_KINDS}
        built = ("questions", "legacy-questions")
        unread = (f.name for f in files if f.kind in built and Path(f.name).name not in read)
        sources.append(replace(source, unread=tuple(unread)))
        for part in source.parts:
            part.files = [f for f in part.files if f.kind in _RAW_KINDS]
    found = [s for s in sources if any(part.of_kind(kind) for part in s.parts for kind in _RAW_DOCUMENTS)]
    if not found:
        reason = f"no raw/documents.json below {path}, nor raw/dataset_corpus.json, as it was called earlier"
        raise RagdataError(f"{reason}: there is nothing to make a graph of")
    return found


_RAW_DOCUMENTS = ("documents", "built-documents", "legacy-documents")
_RAW_KINDS = (*_RAW_DOCUMENTS, "raw-questions", "built-raw-questions", "legacy-raw-questions")


def repairs_raw(sources: Iterable[Source]) -> Repairs:
    """For raw sources: findings about other files than theirs do not matter, nor does a missing answer, which the
    constructors of the framework want."""
    names = {path.name for source in sources for _, path in source.files()}
    of_format = get_converter("gfm-rag").repairs
    return lambda finding, values: (
        Path(finding.path).name not in names
        or "stage1" in Path(finding.path).parts[-3:-1]
        or finding.rule == "missing-raw-answer"
        or (of_format is not None and of_format(finding, values))
    )


def _as_written(sources: list[Source]) -> list[Source]:
    """The sources, what one conversion wrote as one of them: some formats put it into several datasets."""
    joined: dict[Path | int, Source] = {}
    for number, source in enumerate(sources):
        key = converted_root(source.parts[0]) or number
        joined[key] = Source((*joined[key].parts, *source.parts)) if key in joined else source
    return list(joined.values())


def _plain_sources(path: Path, datasets: list[Dataset], beside: Path | None) -> list[Source]:
    """Without what an earlier conversion wrote to the target, where that is below the path."""
    if beside is not None and (beside / MANIFEST).is_file():
        target = beside.resolve()
        for dataset in datasets:
            dataset.files = [f for f in dataset.files if not real_path(f.path).is_relative_to(target)]
            passed_over = dataset.options.get(PASSED_OVER, {})
            dataset.options[PASSED_OVER] = {
                name: why
                for name, why in passed_over.items()
                if not real_path(dataset.root / name).is_relative_to(target)
            }
        datasets = [dataset for dataset in datasets if dataset.files]
        if not datasets:
            raise RagdataError(f"{path} holds nothing but what was converted before")
    return [Source((dataset,)) for dataset in datasets]


def refuse_target_in_source(sources: Iterable[Source], target: Path) -> None:
    """Raise `RagdataError` where the target holds files of the source: they would be replaced."""
    place = target.resolve()
    for source in sources:
        for name, file in source.files():
            if real_path(file).is_relative_to(place):
                raise RagdataError(f"{target} holds a file of the source ({name}); give another folder to write to")


def refuse_unknown_options(values: Mapping[str, str], formats: Iterable[str]) -> None:
    """Raise `UnknownNameError` for an option that none of the converters has."""
    known = [o.name for name in formats for o in get_converter(name).options]
    for name in values:
        if name not in known:
            raise UnknownNameError("option", name, known, where=f"of {' and '.join(formats)}")


_MOST_LEVELS = 6


def converted_root(dataset: Dataset) -> Path | None:
    """The folder of the conversion that wrote this dataset, if one did."""
    if dataset.layout == "file" or not dataset.files:
        return None
    root, first = real_path(dataset.root), dataset.files[0].path
    first = root / first.relative_to(dataset.root) if first.is_relative_to(dataset.root) else real_path(first)
    for folder in (root, *root.parents)[:_MOST_LEVELS]:
        boundary = dataset.boundary.with_root(folder)
        if is_regular(folder / MANIFEST, boundary) and first.is_relative_to(folder):
            manifest = read_manifest(folder, boundary)
            name = first.relative_to(folder).as_posix()
            return folder if manifest and any(f["path"] == name for f in manifest.files) else None
    return None
