"""DataMind into canonical tables and out of them: a repository with one profile, its question set and its skills."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ragdatakit.converters import Converter, Option, Options
from ragdatakit.converters.datamind import bench, chunks, files, graph, refused, skills
from ragdatakit.converters.datamind.chunk_writing import CHUNK_COLUMNS, DOCUMENT_COLUMNS, ChunkWriting
from ragdatakit.converters.datamind.repository import group
from ragdatakit.files.reading.kept_rows import ColumnSource, ColumnsTogether
from ragdatakit.outputs.written_files import safe_part
from ragdatakit.schemas.canonical import Asset, Chunk, Edge, Node
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowSource
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.outputs.written_files import Output

_WRITABLE = ("chunks", "documents", "edges", "questions")


def _read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """What one folder gives: a profile its corpus and graph, ``data/`` questions and skills, a repository skills."""
    sources: dict[str, RowSource] = {}
    _read_corpus(dataset, records, sources)
    triplets = _by_name(dataset, "triplets")
    if triplets:
        both = ColumnsTogether((Node, Edge), lambda wanted: graph.node_and_edge_columns(triplets, records, wanted))
        sources["nodes"], sources["edges"] = both.sources
    sets = _by_name(dataset, "bench", "plain-bench")
    if sets:
        sources["questions"] = lambda: bench.question_rows(sets, records)
    results = dataset.of_kind("results")
    if results:
        sources["answers"] = lambda: bench.result_rows(results, records)
    if next(_assets(dataset, records), None) is not None:
        sources["assets"] = lambda: _assets(dataset, records)
    return sources


def _by_name(dataset: Dataset, *kinds: str) -> list[DataFile]:
    return sorted((f for kind in kinds for f in dataset.of_kind(kind)), key=lambda f: f.name)


def _read_corpus(dataset: Dataset, records: RecordReader, sources: dict[str, RowSource]) -> None:
    found = _by_name(dataset, "chunks")
    raw = [f for f in files.raw_files(dataset) if files.is_text(f)] if dataset.layout == "profile" else []
    as_documents = len(found) == 1 and chunks.is_of_documents(found[0], records)
    if found and not as_documents:
        sources["chunks"] = ColumnSource(Chunk, lambda: chunks.chunk_blocks(found, records))
    if raw or as_documents:

        def documents() -> Iterator[object]:
            if as_documents:
                yield from chunks.document_rows(found, records)
            yield from files.document_rows(raw, records)

        sources["documents"] = documents


def _assets(dataset: Dataset, records: RecordReader) -> Iterator[Asset]:
    yield from refused.sql_rows(dataset, records)
    if dataset.layout == "profile":
        yield from files.image_rows(dataset)
        yield from refused.file_rows(dataset, records)
        yield from files.database_rows(dataset)
    yield from skills.skill_rows(dataset, records)


def _write(tables: CanonicalTables, out: Output, options: Options) -> None:
    """A repository: ``data/profiles/NAME``, ``data/bench``, skills for both loaders, a database in ``storage/NAME``."""
    user_tables, skill_folder = options["tables"], options["skills"]
    enough = user_tables or skill_folder or any(tables.any(t) for t in _WRITABLE)
    if not (enough or any(map(files.stands_alone, tables.peek("assets")))):
        raise RagdataError(f"{tables.name} has no chunks, documents, edges, questions, SQL or skills for DataMind")
    name = safe_part(options.name)
    if name in files.LOADED_FOLDERS:  # data/profiles would look like a profile that has this folder
        name += "-profile"
    profile = f"data/profiles/{name}"
    _write_database(tables, out, profile, name, user_tables)
    writing = files.FileWriting(tables, out, profile)
    images, found_skills = writing.assets(refused.refusal)
    _write_corpus(tables, out, options, name, images, writing)
    graph.write_triples(tables, out, f"{profile}/triplets/{name}.jsonl")
    bench.write_questions(
        tables,
        out,
        f"data/bench/{name}.jsonl",
        answer=options["answer"],
        extras=not options["drop-extra"],
        assign_ids=options["assign-ids"],
    )
    if skill_folder:
        found_skills += skills.skills_of_folder(Path(skill_folder))
    # Skills alone are a repository only if there are some for both loaders.
    skills.write_skills(tables, out, found_skills, as_given=options.source_format == "datamind" and bool(out.files))


def _write_corpus(
    tables: CanonicalTables,
    out: Output,
    options: Options,
    name: str,
    images: dict[str, str],
    writing: files.FileWriting,
) -> None:
    has_chunks = tables.any("chunks")
    mode = options["documents"] or ("files" if options.source_format == "text" and not has_chunks else "chunks")
    chunk_writing = ChunkWriting(
        tables, out, name, images, options["metadata"] == "full", options.source_format == "arag"
    )
    path = f"data/profiles/{name}/chunks/{name}.jsonl"
    if has_chunks:
        chunk_writing.write("chunks", path)
    elif mode != "files" and tables.any("documents"):
        chunk_writing.write("documents", path)
    if mode != "chunks":
        writing.documents()


def _write_database(tables: CanonicalTables, out: Output, profile: str, name: str, path: str | None) -> None:
    """The tables that the user names, behind the SQL files that the dataset has."""
    if not path:
        return
    from ragdatakit.converters.datamind.sql import write_tables

    names = [PurePosixPath(a.path).name for a in tables.peek("assets") if a.kind == "sql"]
    taken = [int(found.group()) for n in names if (found := re.match(r"\d{1,4}", n))]
    write_tables(Path(path), out, profile, name, tables.losses, max(taken, default=0) + 1)


CONVERTER = Converter(
    name="datamind",
    read=_read,
    write=_write,
    group=group,
    gives={
        "documents": DOCUMENT_COLUMNS,
        "chunks": CHUNK_COLUMNS,
        "nodes": graph.NODE_COLUMNS,
        "edges": graph.EDGE_COLUMNS,
        "questions": bench.QUESTION_COLUMNS,
        "answers": bench.ANSWER_COLUMNS,
        "assets": files.ASSET_COLUMNS,
    },
    holds={
        "documents": DOCUMENT_COLUMNS,
        "chunks": CHUNK_COLUMNS,
        "nodes": graph.NODE_COLUMNS,
        "relations": ("name",),
        "edges": graph.EDGE_COLUMNS,
        "questions": bench.QUESTION_COLUMNS,
        "assets": files.ASSET_COLUMNS,
    },
    options=(
        Option(
            "documents",
            "write",
            "write documents as chunks, as raw files in a folder for each category, or both "
            "(files where plain texts are converted, else chunks)",
            choices=("chunks", "files", "both"),
        ),
        Option(
            "metadata",
            "write",
            "full: ids and metadata of the source next to each chunk, which v1 embeds with the text; none: none of it",
            default="full",
            choices=("full", "none"),
        ),
        Option(
            "answer",
            "write",
            "what becomes the reference_answer of a question with several answers",
            default="first",
            choices=("first", "join"),
        ),
        Option("drop-extra", "write", "questions with nothing but question, reference_answer and question_id", False),
        Option("assign-ids", "write", "number the questions that have no id", False),
        Option("skills", "write", "a folder of skills to add: NAME.md, or NAME/SKILL.md"),
        Option("tables", "write", "a database to add: a folder of .csv, .parquet or .jsonl files, or an SQLite file"),
    ),
)
