"""The Python interface of the reference retriever: index a dataset, search it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.api.arguments import reading, several_words
from ragdatakit.api.keywords import takes
from ragdatakit.api.remote import at_hand
from ragdatakit.api.sources import only_dataset
from ragdatakit.files.machine import refuse_little_space
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.options import DatasetOptions, IndexOptions, PathLike, RetrieveOptions, RetrieverOptions

if TYPE_CHECKING:
    from ragdatakit.converters.sources import Source
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.index.store import Index, IndexSource
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.retrieval.retriever import Retriever
    from ragdatakit.schemas.canonical import Qrel
    from ragdatakit.schemas.retrieved import IndexSummary, Query, Retrieval, StoredIndex

_LOOKED_AT = 1000


@takes(IndexOptions)
def index(options: IndexOptions, path: PathLike) -> IndexSummary:
    """Build what is missing of the index of the dataset at ``path``, and say what it holds and where it lies."""
    return opened(path, options, several_words(options.modes)).index.summary()


@takes(RetrieveOptions)
def retrieve(options: RetrieveOptions, path: PathLike, query: str | Query) -> Retrieval:
    """The passages of the dataset at ``path`` that answer ``query`` best, by one of the modes.

    `open_retriever` is the way to ask more than one question.
    """
    return _retriever(path, options).search(query, options.mode, options.k)


@takes(RetrieverOptions)
def open_retriever(options: RetrieverOptions, path: PathLike) -> Retriever:
    """A retriever over the dataset at ``path``; its index is built where it is not there or not of this state of it.

    An unchanged dataset is not read. Raises `RagdataError` as `read` does, and where there is nothing to search;
    `MissingExtraError` where the libraries of the extra ``retrieval`` are missing.
    """
    return _retriever(path, options)


def _retriever(path: PathLike, options: RetrieverOptions) -> Retriever:
    refuse_little_space("numbers")
    from ragdatakit.retrieval.retriever import Retriever

    return Retriever(opened_index(dataset_source(path, options), options), options.search)


def opened(path: PathLike, options: RetrieverOptions, modes: Iterable[str]) -> Retriever:
    """A retriever over the dataset, with all parts of its index that these modes need (none given: all that it can
    have)."""
    retriever = _retriever(path, options)
    for mode in tuple(modes) or retriever.modes():
        retriever.prepare(mode)
    return retriever


def opened_index(source: IndexSource, options: RetrieverOptions) -> Index:
    """The index of a dataset, built where it is missing."""
    from ragdatakit.retrieval.index.store import open_index

    return open_index(
        source,
        index_dir=Path(options.index_dir) if options.index_dir is not None else None,
        rebuild=options.rebuild,
        progress=options.progress,
        tell=options.tell,
    )


def stored_indexes(*, prune: bool = False) -> list[StoredIndex]:
    """The indexes in the user's cache; ``prune`` removes those that are not current, and gives these."""
    from ragdatakit.retrieval.index import cached_indexes as index_places

    return index_places.prune_indexes() if prune else index_places.stored_indexes()


def dataset_tables(path: PathLike, options: DatasetOptions) -> tuple[IndexSource, CanonicalTables]:
    """The dataset at ``path`` as a source of an index, and its canonical tables.

    Raises `RagdataError` as `read` does.
    """
    source = dataset_source(path, options)
    return source, source.tables()


def with_gold(
    tables: CanonicalTables,
    questions: Path | None,
    qrels: Path | None,
    how: DatasetOptions,
    *,
    unit: str = "",
    passages: Callable[[], Passages | None],
) -> CanonicalTables:
    """The tables with the questions and the judgements of these files, read as ``how`` says, in place of their own.

    Without ``unit`` the judgements are of chunks where most of their ids are those of chunks in ``passages``, else of
    documents. Judged questions that are nowhere given have no text. What is not read of the files is reported in the
    losses.
    """
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.schemas.canonical import Question

    sources = dict(tables.sources)

    def put(table: str, rows: Sequence[Any]) -> None:
        sources[table] = lambda: iter(rows)

    if questions is not None:
        asked, judged = _questions_in(questions, tables, how)
        put("questions", asked)
        _refuse_made_ids(tables, questions, judged)
        sources.pop("start_nodes", None)
        if judged:
            put("qrels", _of_unit(judged, unit, passages))
    if qrels is not None:
        judged = _qrels_in(qrels, tables, how)
        _refuse_made_ids(tables, qrels, judged)
        put("qrels", _of_unit(judged, unit, passages))
    found = CanonicalTables(tables.name, tables.format, sources, tables.losses)
    if not found.any("questions") and found.any("qrels"):
        ids = dict.fromkeys(q.question_id for q in found.peek("qrels"))
        put("questions", [Question(question_id, "") for question_id in ids])
        found = CanonicalTables(tables.name, tables.format, sources, tables.losses)
    return found


def _refuse_made_ids(tables: CanonicalTables, place: Path, judged: Sequence[Qrel]) -> None:
    """Raise where judgements name documents whose ids are made: they would meet the wrong ones, or none."""
    if judged and tables.numbered:
        raise RagdataError(f"{tables.numbered}, but {place} names them by id ({judged[0].target_id[:80]})")


def _of_unit(qrels: Sequence[Qrel], unit: str, passages: Callable[[], Passages | None]) -> list[Qrel]:
    if not unit:
        unit, searched = "document", passages()
        if searched is not None and searched.unit == "chunk":
            looked = qrels[:_LOOKED_AT]
            chunks = sum(searched.ordinal(q.target_id) is not None for q in looked)
            unit = "chunk" if 2 * chunks > len(looked) else "document"
    return [q._replace(target_kind=unit) for q in qrels]


def _questions_in(place: Path, tables: CanonicalTables, how: DatasetOptions) -> tuple[list[Any], list[Qrel]]:
    questions, qrels = _gold_in(place, ("questions", "qrels"), tables, how)
    if not questions:
        raise RagdataError(f"{place} has no questions")
    return questions, qrels


def _qrels_in(place: Path, tables: CanonicalTables, how: DatasetOptions) -> list[Qrel]:
    qrels = _gold_in(place, ("qrels",), tables, how)[1]
    if not qrels:
        raise RagdataError(f"{place} has no judgements")
    return qrels


def _gold_in(
    place: Path, names: tuple[str, ...], into: CanonicalTables, how: DatasetOptions
) -> tuple[list[Any], list[Qrel]]:
    """The questions and judgements of a file, or those of these tables."""
    from ragdatakit.retrieval.gold_and_metrics.gold_files import is_json, read_gold_file
    from ragdatakit.retrieval.index.notes import GOLD

    if place.is_file() and is_json(place):
        return read_gold_file(place)
    tables = dataset_tables(place, how)[1]
    questions, qrels = ([*tables.peek(name)] if name in names else [] for name in ("questions", "qrels"))
    for loss in tables.losses:
        if loss.kind == "dropped" and loss.table in (GOLD if "questions" in names else ("qrels",)):
            example = loss.examples[0] if loss.examples else None
            into.losses.add("dropped", loss.table, loss.column, loss.reason, example, loss.count)
    return questions, qrels


def dataset_source(path: PathLike, options: DatasetOptions) -> IndexSource:
    """The dataset at ``path`` as a source of an index, not read yet. Raises `RagdataError` as `read` does."""

    from ragdatakit.converters.source_names import name_of
    from ragdatakit.converters.sources import files_read
    from ragdatakit.retrieval.index.store import IndexSource

    with at_hand(options, [path], options.source_format, beside="data") as here:
        where = Path(here.paths[0])
        found = only_dataset(where, reading(here.options), options.dataset)
    source, wanted = found.source, found.wanted
    if source.unreadable:
        raise RagdataError(source.unreadable[0])
    _refuse_unknown_chunking(wanted.chunking)

    @cache
    def tables() -> CanonicalTables:
        from ragdatakit.converters.source_tables import read_source
        from ragdatakit.schemas.conversions import Losses

        return read_source(source, wanted, Losses())

    files = [*files_read(source), *_named_files(source, wanted)]
    return IndexSource(
        path=Path(source.display) if options.dataset else where,
        name=name_of(source),
        format=source.format,
        files=tuple(dict.fromkeys(files)),
        tables=tables,
        reading={"options": dict(wanted.values), "chunking": {n: str(v) for n, v in wanted.chunking.items()}},
        roots=_roots(where, source),
        guessed=source.format in ("table", "text") and not options.source_format and "map" not in wanted.values,
    )


def _refuse_unknown_chunking(chunking: Mapping[str, object]) -> None:
    if not chunking:
        return

    from ragdatakit.converters.chunking import ChunkOptions

    known = [f.name for f in fields(ChunkOptions)]
    for name in chunking:
        if name not in known:
            raise UnknownNameError("chunking option", name, known)


def _named_files(source: Source, wanted: Any) -> list[tuple[str, Path]]:
    """Files that the options name: they have a part in reading, too."""
    found = []
    for option, value in (*wanted.values.items(), *wanted.chunking.items()):
        for path in (source.root / str(value), Path(str(value))):
            if isinstance(value, str | Path) and _is_file(path):
                found.append((f"option:{option}", path))
                break
    return found


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a value that is no path
        return False


def _roots(path: Path, source: Source) -> tuple[Path, ...]:
    """The folders in which no index may lie; a lone file has its folder not to itself."""
    folders = [part.root for part in source.parts if part.layout != "file"]
    return tuple(dict.fromkeys([*folders, path] if path.is_dir() else folders))
