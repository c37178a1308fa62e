"""Reads GFM-RAG's datasets (raw, with a graph, predictions, the older layout) and writes the layout of release 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ragdatakit.converters import Converter, Option, Options, container_option
from ragdatakit.converters.gfm_rag.graph import Graph
from ragdatakit.converters.gfm_rag.legacy import KINDS, LegacyReader
from ragdatakit.converters.gfm_rag.passages import Passages
from ragdatakit.converters.gfm_rag.questions import Questions
from ragdatakit.converters.gfm_rag.reading import CURRENT, LEGACY, GraphReader, QuestionReader, noted, split_of
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.find import detect
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.outputs.parquet_container import PARQUET, put_into_parquet
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Chunk, Edge, Node, Qrel, Question, Relation, Run, StartNode
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.gfm_rag.format import GFM_RAG

_GRAPH = ("nodes", "relations", "edges")


def _read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, Callable[[], Iterator[Any]]]:
    if any(dataset.of_kind(kind) for kind in KINDS) and not dataset.of_kind("nodes"):
        legacy = LegacyReader(dataset, records, options["delimiter"])
        asked = QuestionReader(dataset, records, LEGACY, ("legacy-raw-questions",), "legacy-questions")
        return noted(records, {**legacy.sources(), **asked.sources()})
    graph = GraphReader(dataset, records)
    asked = QuestionReader(dataset, records, CURRENT, ("raw-questions", "built-raw-questions"), "questions")
    return noted(records, {**graph.sources(), **asked.sources()})


def _write(tables: CanonicalTables, out: Output, options: Options) -> None:
    if options["graph"]:
        _add_graph(tables, Path(options["graph"]))
    tables.keep("chunks", "nodes", "edges")
    passages = Passages(tables, options["key"])
    graph = None
    if tables.any("edges"):
        graph = Graph(tables, passages, options.profile, options["mentions"], options["dedupe"])
        graph.survey()
    elif not tables.any(tables.passages):
        raise RagdataError(
            "GFM-RAG needs documents or a graph, and the dataset has neither documents, chunks nor edges"
        )
    else:
        for table, row in (("nodes", Node), ("relations", Relation)):
            for found in tables.take(table, *row._fields):
                tables.drop(table, found, "there is no edge, and the loaders want a graph with edges")
    # the nodes of documents have the titles: those that are added, and those of a graph that came from this format
    keeps_titles = graph is not None and (graph.adds_passages or tables.format == "gfm-rag")
    passages.write(out, graph.document_names if graph is not None else list, keeps_titles)
    if graph is not None:
        graph.write(out)
    if "questions" in tables:
        Questions(tables, passages, graph).write(out)
    if options["container"] == PARQUET:
        put_into_parquet(out, GFM_RAG, tables.losses)


def _add_graph(tables: CanonicalTables, path: Path) -> None:
    """Take the graph from a dataset that was built elsewhere."""
    if tables.any("edges"):
        raise RagdataError("--option graph: the dataset has a graph of its own")
    for dataset in detect(path, "gfm-rag").datasets:
        dataset.leave_out_links()
        if all(dataset.of_kind(kind) for kind in _GRAPH):
            rows = GraphReader(dataset, RecordReader(tables.losses)).sources()
            tables.sources |= noted(RecordReader(tables.losses), {table: rows[table] for table in _GRAPH})
            return
    raise RagdataError(f"--option graph: no folder with nodes.csv, relations.csv and edges.csv in {path}")


_GIVEN = {
    "nodes": Node._fields,
    "relations": Relation._fields,
    "edges": Edge._fields,
    "questions": Question._fields,
    "qrels": tuple(name for name in Qrel._fields if name != "grade"),  # every grade is 1
    "start_nodes": StartNode._fields,
}


def _repairs(finding: Finding, values: Mapping[str, Any]) -> bool:
    """Whether a finding is about the layout of release 1.0, which is written in today's."""
    if finding.rule == "double-comma-delimiter":
        return bool(values["delimiter"] == ",,")
    return finding.rule in ("legacy-layout", "no-usable-legacy-sample", "unknown-document-entity")


CONVERTER = Converter(
    name="gfm-rag",
    split_of=split_of,
    read=_read,
    write=_write,
    gives={
        "documents": ("doc_id", "text", "title"),
        **_GIVEN,
        "runs": tuple(name for name in Run._fields if name not in ("text", "seconds")),
    },
    holds={
        "documents": ("doc_id", "text", "title"),
        "chunks": tuple(name for name in Chunk._fields if name in ("chunk_id", "text")),
        **_GIVEN,
    },
    options=(
        Option(
            "delimiter",
            "read",
            "What separates the parts of a line of kg.txt, in the layout of release 1.0 (a fork uses two commas).",
            ",",
        ),
        Option(
            "key",
            "write",
            "What documents are called: by their ids, by their titles (numbered where several are alike), or auto: by "
            "their titles where they come from a format that does so, too.",
            "auto",
            ("auto", "id", "title"),
        ),
        Option(
            "graph",
            "write",
            "A folder with nodes.csv, relations.csv and edges.csv for a dataset that has no graph; questions are "
            "linked to it.",
        ),
        Option(
            "mentions",
            "write",
            "Which documents mention a node, where the graph does not say it: those that its edges come from "
            "(provenance), or those with its name in their text (text); auto tries the one, then the other.",
            "auto",
            ("auto", "provenance", "text"),
        ),
        Option("dedupe", "write", "Write equal edges once instead of keeping them as parallel edges.", False),
        container_option("csv"),
    ),
    profiles=("reasoner", "gfm-rag"),
    repairs=_repairs,
)
