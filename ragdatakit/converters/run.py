"""Convert datasets: read each into canonical tables, write them as another format, account for every difference.

Validating what comes in and what goes out is the caller's part; see `ragdatakit.convert`. One module: finding, reading
and writing a source go by the same settings, and the manifest reports what each of them did.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.converters import Converter, Options, get_converter
from ragdatakit.converters.chunking import ChunkOptions, chunk_tables
from ragdatakit.converters.plain_folders import asked_dataset, plain_datasets
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.find import detect
from ragdatakit.files.detection.left_out import what_lies_there
from ragdatakit.files.detection.plain_sources import NUMBERED, PASSED_OVER, READ_TOGETHER
from ragdatakit.files.machine import machine_fault
from ragdatakit.files.paths.boundary import Boundary, not_followed, real_path, refuse_link_out
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.files.paths.manifest import Manifest, file_digest, read_manifest, source_digest
from ragdatakit.files.paths.own_files import MANIFEST, RENAMED_IDS, SIDECAR
from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowSource
from ragdatakit.files.reading.record_reading import Progress, RecordReader
from ragdatakit.files.reading.refused_records import Refused
from ragdatakit.outputs.renamed_ids import map_back, read_renamed
from ragdatakit.outputs.sidecars import put_back, restored_format, write_sidecar
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.conversions import Conversion, Losses, WrittenFile
from ragdatakit.schemas.errors import MachineError, NotMeantError, RagdataError, UnknownNameError
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.options import ConvertOptions
from ragdatakit.schemas.texts import as_text
from ragdatakit.version import __version__

if TYPE_CHECKING:
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
    of plug-ins that the configuration names. ``origin`` is where the source was fetched from: its URL, and which state
    of it.
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
    memory_limit: int = ConvertOptions.memory_limit
    follow_links: bool = False
    config: Path | bool = False
    plugged: tuple[str, ...] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress | None = None

    def as_dict(self) -> dict[str, Any]:
        """What has an influence on the output, for the manifest."""
        found: dict[str, Any] = {"name": self.name, "profile": self.profile, "seed": self.seed, **self.values}
        found |= self.prepared
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


def files_of(source: Source) -> set[Path]:
    """All files that belong to a source: its own, its configuration, and those of a plain one that it passes over."""
    found: set[Path] = set()
    for part in source.parts:
        found |= {file.path for file in (*part.files, *((part.config,) if part.config is not None else ()))}
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
        asked = asked_dataset(
            path, options.source_format or "table", options.values.get("map", ""), options.follow_links
        )
        return _plain_sources(path, [asked], beside)
    if options.source_format:
        get_converter(options.source_format)
    try:
        datasets = detect(path, options.source_format or None, options.follow_links, plugged=options.plugged).datasets
    except UnknownNameError:
        raise
    except RagdataError as error:
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


def _nothing_there(path: Path, error: RagdataError) -> str:
    """That there is no dataset at a path, with what lies there instead."""
    reason = str(error).replace("--format", "--from").replace("); name", ", plain texts and tables); name")
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
        for dataset in datasets:
            dataset.files = [f for f in dataset.files if not real_path(f.path).is_relative_to(beside.resolve())]
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


def name_of(source: Source) -> str:
    """What a dataset is called where the user gives no name: its folder, or the file's name where it is a lone file."""
    dataset = source.parts[0]
    if dataset.layout == "file" and dataset.files:
        name = dataset.files[0].path.name
        for ending in (".gz", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".txt"):
            name = name.removesuffix(ending)
        return as_text(name) or "dataset"
    root = real_path(dataset.root)
    while root.name in ("data", "raw", "processed", "stage1", "dataset", "profiles") and root.parent.name:
        root = root.parent
    return as_text(root.name) or "dataset"


def read_name(source: Source, options: ConversionSettings) -> str:
    """What a dataset is called when it is read: as it is asked for, else as the conversion that wrote it did, else by
    its folder or file."""
    return options.name or _recorded_name(converted_root(source.parts[0]), source.parts[0].boundary) or name_of(source)


def read_source(
    source: Source, options: ConversionSettings, losses: Losses, refused: Refused | None = None, *, partly: bool = False
) -> CanonicalTables:
    """A dataset as canonical tables, with the ids and values that an earlier conversion kept next to it.

    Raises `RagdataError` where one of its folders may not be looked into; ``partly``: that is one of the ``losses``,
    and the rest is read.
    """
    _refuse_lonely(source)
    if source.unreadable and not partly:
        raise RagdataError(source.unreadable[0])
    for reason in source.unreadable:
        losses.add("dropped", "files", None, reason, unread=True)
    return _read(source, options, losses, refused)


def _read(
    source: Source, options: ConversionSettings, losses: Losses, refused: Refused | None = None
) -> CanonicalTables:
    converter = get_converter(source.format)
    if converter.read is None:
        raise RagdataError(f"{converter.name} cannot be read")
    root = converted_root(source.parts[0])
    name = read_name(source, options)
    reader = RecordReader(losses, refused, options.progress, options.memory_limit, source.parts[0].format.files)
    words = Options(name, "", converter.name, options.seed, converter.values(options.values, "read"))
    found: dict[str, list[RowSource]] = {}
    for file in source.unread:
        losses.add("dropped", "questions", None, "a whole file that is not read, and raw/ has none of its name", file)
    for part in source.parts:
        for table, rows in converter.read(part, reader, words).items():
            found.setdefault(table, []).append(rows)
    sources = {table: rows[0] if len(rows) == 1 else _chained(rows) for table, rows in found.items()}
    given_format = ""
    if root is not None:
        boundary = source.parts[0].boundary.with_root(root)
        _refuse_changed(root, boundary)
        sources = put_back(map_back(sources, read_renamed(root)), root, losses)
        given_format = restored_format(root)
    tables = CanonicalTables(name, given_format or converter.name, sources, losses, reader)
    tables.restored = bool(given_format)
    if options.chunking:
        if unknown := set(options.chunking) - {f.name for f in fields(ChunkOptions)}:
            raise UnknownNameError("chunking option", min(unknown), [f.name for f in fields(ChunkOptions)])
        tables = chunk_tables(tables, ChunkOptions(**options.chunking))
    elif options.usual_chunks and tables.any("documents") and not any(map(tables.any, _NOT_CUT)):
        tables = chunk_tables(tables, ChunkOptions(**options.usual_chunks))
    tables.numbered = next((numbering for part in source.parts if (numbering := part.options.get(NUMBERED, ""))), "")
    return options.prepare(tables) if options.prepare is not None else tables


_NOT_CUT = ("chunks", "nodes", "edges")
"""Tables that say of which texts they are: those are then left whole."""


def _chained(sources: list[RowSource]) -> RowSource:
    return lambda: chain.from_iterable(rows() for rows in sources)


def _recorded_name(folder: Path | None, boundary: Boundary) -> str:
    """What the dataset that a conversion wrote was called; empty where this is not known."""
    manifest = read_manifest(folder, boundary.with_root(folder)) if folder is not None else None
    name = manifest.target.get("name") if manifest is not None else None
    return name if isinstance(name, str) else ""


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


def _refuse_lonely(source: Source) -> None:
    """Raise where values were kept next to the dataset, but not the manifest that shows whose they are."""
    for name in (SIDECAR, RENAMED_IDS):
        if source.parts[0].layout != "file" and (source.root / name).exists() and not (source.root / MANIFEST).exists():
            raise RagdataError(f"{source.root} has {name}, but no {MANIFEST}: put it back, or remove both")


def _refuse_changed(root: Path, boundary: Boundary) -> None:
    """Raise where what was kept next to a dataset is not what was kept: values would go to the wrong records."""
    manifest = read_manifest(root, boundary)
    listed = {entry["path"] for entry in manifest.files} if manifest is not None else set()
    for path in (root / RENAMED_IDS, root / SIDECAR, *sorted((root / SIDECAR).glob("*.ndjson.gz"))):
        if os.path.lexists(path):
            refuse_link_out(boundary, path)
        if path.is_file() and path.relative_to(root).as_posix() not in listed:
            raise RagdataError(f"{path} is not of this conversion, as {MANIFEST} does not list it: remove it")
    for entry in manifest.files if manifest is not None else ():
        if entry["path"] == RENAMED_IDS or entry["path"].startswith(f"{SIDECAR}/"):
            path = root / entry["path"]
            if not path.is_file():
                raise RagdataError(f"{path} is missing: without it ids and values of the source cannot be put back")
            if path.stat().st_size != entry["bytes"] or file_digest(path) != entry["sha256"]:
                raise RagdataError(f"{path} was changed or is damaged; `ragdata verify {root}` compares all files")


def refuse_unknown_options(values: Mapping[str, str], formats: Iterable[str]) -> None:
    """Raise `UnknownNameError` for an option that none of the converters has."""
    known = [o.name for name in formats for o in get_converter(name).options]
    for name in values:
        if name not in known:
            raise UnknownNameError("option", name, known, where=f"of {' and '.join(formats)}")


def convert_dataset(
    dataset: Source, folder: Path | None, options: ConversionSettings, refused: Refused | None = None
) -> Conversion:
    """Write one dataset to ``folder`` (None: nowhere, only count) with its manifest.

    Raises `RagdataError` where it cannot be done, `OSError` where the disk is full.
    """
    target = get_converter(options.target_format)
    if target.write is None:
        raise RagdataError(f"{target.name} is only read, not written")
    if options.profile and not target.profiles:
        raise RagdataError(f"--profile {options.profile}: {target.name} is written in one way only")
    if options.profile and options.profile not in target.profiles:
        raise UnknownNameError("profile", options.profile, target.profiles, where=f"of {target.name}")
    losses = Losses()
    digests = _Digests(dataset) if folder is not None else None
    tables = read_source(dataset, options, losses, refused)
    for name in (name for part in dataset.parts for name in part.options.get(READ_TOGETHER, ())):
        why = "a file that looks like parts of the other texts, which may then be there twice: name one file alone"
        losses.add("coerced", "documents", None, why, name)
    _tell_unread(dataset, losses)
    out = Output(folder, losses)
    values = target.values(options.values, "write")
    words = Options(tables.name, options.profile, tables.format, options.seed, values, options.asker, options.embedder)
    try:
        target.write(tables, out, words)
        tables.finish()
        if not out.files:
            raise RagdataError(f"nothing of {dataset.display} is such that {target.name} could hold it")
    except RecursionError:
        raise RagdataError(f"{dataset.display} has values that are nested too deeply") from None
    except (NotMeantError, UnknownNameError):
        raise
    except RagdataError as error:
        raise RagdataError(f"{error}{_dropped_words(losses)}") from None
    finally:
        out.close()
    result = Conversion(
        source=dataset.display,
        source_format=dataset.format,
        target_format=target.name,
        name=tables.name,
        files=sorted(out.files.values(), key=lambda f: f.name),
        counts=dict(sorted(tables.counts.items())),
        losses=losses,
        ids_file=RENAMED_IDS if RENAMED_IDS in out.files else None,
    )
    if folder is not None and digests is not None:
        # the manifest is there first: looking for datasets goes by it, and the sidecar is what they do not show
        _manifest(result, dataset, options, digests.wait()).write(folder)
        if options.sidecar and (kept := _sidecar(tables, folder, target)):
            result.sidecar = SIDECAR
            result.files = sorted([*result.files, *kept], key=lambda f: f.name)
            _manifest(result, dataset, options, digests.wait()).write(folder)
    return result


def _tell_unread(source: Source, losses: Losses) -> None:
    """Count the files that reading passes over."""
    for kind, why in get_converter(source.format).unread.items():
        for file in (file for part in source.parts for file in part.of_kind(kind)):
            losses.add("dropped", "files", None, why, file.name, unread=True)


def _dropped_words(losses: Losses) -> str:
    """What was left out, where too little was left to be written."""
    words = [f"{loss.count:,} of {loss.table}: {loss.reason}" for loss in losses if loss.kind == "dropped"]
    return f" ({'; '.join(words[:3])})" if words else ""


def _sidecar(tables: CanonicalTables, folder: Path, target: Converter) -> list[WrittenFile]:
    """Read what was written, and keep next to it what it does not say of the source."""
    words = ConversionSettings(target_format="", source_format=target.name, name=tables.name)
    written = Source(tuple(part for source in find_sources(folder, words) for part in source.parts))
    counts = write_sidecar(folder / SIDECAR, tables.format, tables.given, _read(written, words, Losses()).sources)
    return [_written(folder / SIDECAR, table, count) for table, count in counts.items()]


def _written(folder: Path, table: str, count: int) -> WrittenFile:
    path = folder / f"{table}.ndjson.gz"
    return WrittenFile(f"{SIDECAR}/{path.name}", count, path.stat().st_size, file_digest(path))


def _manifest(result: Conversion, dataset: Source, options: ConversionSettings, source: dict[str, Any]) -> Manifest:
    remote = {"remote": dict(options.origin)} if options.origin else {}
    return Manifest(
        ragdata=__version__,
        source={"format": dataset.format, "name": name_of(dataset), **source, **remote},
        target={"format": result.target_format, "profile": options.profile or None, "name": result.name},
        options=options.as_dict(),
        counts=result.counts,
        losses=[loss.as_dict() for loss in result.losses],
        files=[f.as_dict() for f in result.files],
    )


class _Digests:
    """The digest of the source, made in a thread while it is converted (hashing does not hold the interpreter)."""

    def __init__(self, source: Source) -> None:
        self._files, self._boundary = source.files(), source.parts[0].boundary
        self._found: dict[str, Any] = {}
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:  # no further thread can be started
            raise MachineError(machine_fault(error) or str(error)) from None

    def _run(self) -> None:
        try:
            self._found = source_digest(self._files, self._boundary)
        except Exception as error:  # noqa: BLE001 - raised where the digest is waited for
            self._error = error

    def wait(self) -> dict[str, Any]:
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found
