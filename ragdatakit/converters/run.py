"""Convert datasets: read each into canonical tables, write them as another format, account for every difference.

Validating what comes in and what goes out is the caller's part; see `ragdatakit.convert`.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragdatakit.converters import Converter, Options, get_converter
from ragdatakit.converters.source_names import name_of
from ragdatakit.converters.source_tables import FORM, read_source, tables_of
from ragdatakit.converters.sources import ConversionSettings, Source, find_sources
from ragdatakit.files.detection.plain_sources import READ_TOGETHER
from ragdatakit.files.machine import machine_fault
from ragdatakit.files.paths.digests import file_digest
from ragdatakit.files.paths.manifest import Manifest, source_digest
from ragdatakit.files.paths.own_files import RENAMED_IDS, SIDECAR
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.csv_tables import LineFault
from ragdatakit.files.reading.refused_records import Refused
from ragdatakit.outputs.parquet_container import PARQUET
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.conversions import Conversion, Losses, WrittenFile
from ragdatakit.schemas.errors import MachineError, NotMeantError, RagdataError, UnknownNameError
from ragdatakit.version import __version__


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
    values = target.values(options.values, "write")
    in_lines = options.shard_size > 0 and values.get("container") != PARQUET
    out = Output(folder, losses, shard_bytes=options.shard_size, line_shards=in_lines)
    if options.in_parts is not None:
        tables.in_parts = options.in_parts(dataset, replace(options, in_parts=None), tables, folder, refused)
    words = Options(tables.name, options.profile, tables.format, options.seed, values, options.asker, options.embedder)
    try:
        target.write(tables, out, words)
        tables.finish()
        if not out.files:
            raise RagdataError(f"nothing of {dataset.display} is such that {target.name} could hold it")
    except RecursionError:
        raise RagdataError(f"{dataset.display} has values that are nested too deeply") from None
    except (NotMeantError, UnknownNameError, LineFault):
        raise
    except RagdataError as error:
        raise RagdataError(f"{error}{_dropped_words(losses)}") from None
    finally:
        out.close()
        if tables.in_parts is not None:
            tables.in_parts.close()
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
        described = digests.wait() | ({FORM: tables.form} if options.sidecar and tables.form else {})
        _manifest(result, dataset, options, described).write(folder)
        if options.sidecar and (kept := _sidecar(tables, folder, target)):
            result.sidecar = SIDECAR
            result.files = sorted([*result.files, *kept], key=lambda f: f.name)
            _manifest(result, dataset, options, described).write(folder)
    return result


def _tell_unread(source: Source, losses: Losses) -> None:
    """Count the files that reading passes over."""
    for kind, why in get_converter(source.format).unread.items():
        for file in (file for part in source.parts for file in part.of_kind(kind)):
            losses.add("dropped", "files", None, why, file.name, unread=True)


def _dropped_words(losses: Losses) -> str:
    """What was left out, where too little was left to be written."""
    dropped = [loss for loss in losses if loss.kind == "dropped"]
    words = [loss.reason if loss.unread else f"{loss.count:,} of {loss.table}: {loss.reason}" for loss in dropped]
    return f" ({'; '.join(words[:3])})" if words else ""


def _sidecar(tables: CanonicalTables, folder: Path, target: Converter) -> list[WrittenFile]:
    """Read what was written, and keep next to it what it does not say of the source."""
    words = ConversionSettings(target_format="", source_format=target.name, name=tables.name)
    written = Source(tuple(part for source in find_sources(folder, words) for part in source.parts))
    from ragdatakit.outputs.sidecars import write_sidecar

    counts = write_sidecar(folder / SIDECAR, tables.format, tables.given, tables_of(written, words, Losses()).sources)
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
