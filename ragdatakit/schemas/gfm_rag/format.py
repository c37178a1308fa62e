"""The GFM-RAG format: documents, the graph built from them, questions over it; and the layout before release 2."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from ragdatakit.schemas.declarations import (
    Adopted,
    Container,
    Coverage,
    File,
    Format,
    Key,
    Layout,
    Record,
    Reference,
    Variants,
    late_rules,
)
from ragdatakit.schemas.gfm_rag.records import (
    BUILT_DOCUMENT,
    BUILT_RAW_QUESTION,
    DOCUMENT,
    EDGE,
    LEGACY_DOCUMENT,
    LEGACY_ENTITIES,
    LEGACY_QUESTION,
    LEGACY_RAW_QUESTION,
    NODE,
    PREDICTION,
    QUESTION,
    RAW_QUESTION,
    RELATION,
)


def _records(
    container: Container,
    suffix: str,
    kind: str,
    title: str,
    record: Record,
    description: str,
    keys: tuple[str, ...],
    *without: str,
) -> File:
    suffixes = (suffix,) if "legacy" in kind or kind == "predictions" else (suffix, ".parquet")
    return File(
        kind=kind,
        title=title,
        container=container,
        description=description,
        records=(record,),
        suffixes=suffixes,
        keys=keys,
        without=without,
    )


_table = partial(_records, "csv", ".csv")
_questions = partial(_records, "json-array", ".json")


def _object(kind: str, title: str, record: Record, description: str, known: bool = True) -> File:
    return File(
        kind=kind,
        title=title,
        container="json-object",
        description=description,
        records=(record,),
        suffixes=(".json",) if "legacy" in kind else (".json", ".parquet"),
        keys=tuple(f.name for f in record.fields) if known else (),
    )


FILES = (
    _object(
        "documents",
        "Documents",
        DOCUMENT,
        "One JSON object of titles and texts, from which stage1 is still to be built.",
    ),
    _object(
        "built-documents",
        "Documents, built",
        BUILT_DOCUMENT,
        "The same file next to a complete stage1: the loaders open and parse it, and use nothing of it.",
        known=False,
    ),
    _questions(
        "raw-questions",
        "Raw questions",
        RAW_QUESTION,
        "One JSON list of questions, from which those of stage1 are still to be made.",
        ("question", "supporting_documents"),
        "start_nodes",
        "predictions",
        "question_entities",
    ),
    _questions(
        "built-raw-questions",
        "Raw questions, built",
        BUILT_RAW_QUESTION,
        "The same file next to one of that name in stage1: nothing reads it.",
        (),
    ),
    _table(
        "nodes",
        "Nodes",
        NODE,
        "The nodes of the graph, as pandas reads them: columns of numbers become numbers.",
        ("name", "type", "attributes"),
    ),
    _table("relations", "Relations", RELATION, "The kinds of edges.", ("name", "attributes"), "type"),
    _table("edges", "Edges", EDGE, "The edges of the graph.", ("source", "relation", "target")),
    _questions(
        "questions",
        "Questions",
        QUESTION,
        "One JSON list of processed questions. train.json and test.json are loaded together.",
        ("question", "start_nodes", "target_nodes"),
        "predictions",
    ),
    _object(
        "legacy-documents",
        "Documents (1.0)",
        LEGACY_DOCUMENT,
        "Before release 2: one JSON object of titles and texts.",
        known=False,
    ),
    File(
        "legacy-triples: text",
        title="Triples (1.0)",
        description="Before release 2: `head,relation,tail` on each line, without quotes.",
        suffixes=(".txt",),
    ),
    _object(
        "legacy-entities",
        "Entities of documents (1.0)",
        LEGACY_ENTITIES,
        "Before release 2: one JSON object of titles and lists of entities.",
    ),
    _questions(
        "legacy-raw-questions",
        "Raw questions (1.0)",
        LEGACY_RAW_QUESTION,
        "Before release 2: one JSON list of questions.",
        ("question", "supporting_facts"),
        "question_entities",
        "supporting_documents",
    ),
    _questions(
        "legacy-questions",
        "Questions (1.0)",
        LEGACY_QUESTION,
        "Before release 2: one JSON list of processed questions.",
        ("question", "question_entities", "supporting_entities"),
    ),
    _questions(
        "predictions",
        "Predictions",
        PREDICTION,
        "What a retrieval wrote: processed questions with the nodes that were found.",
        ("question", "predictions"),
    ),
    File(
        "prediction-lines: opaque",
        title="Answers",
        description="What answering wrote; only its presence is noted.",
        suffixes=(".jsonl",),
    ),
    File("cache: opaque", description="What the loaders made of stage1: only presence and age are looked at."),
)

_SPLITS = ("train.json", "test.json")


def _in_parquet(files: dict[str, str]) -> dict[str, str]:
    """The same files in Parquet, in shards or not."""
    stems = {name.split(".", 1)[0]: kind for name, kind in files.items()}
    return {f"{stem}{ending}": kind for stem, kind in stems.items() for ending in (".parquet", "-*.parquet")}


def _names(kind: str) -> tuple[str, ...]:
    return (f"{kind}.csv", f"{kind}.parquet", f"{kind}-*.parquet")


_TABLES = {"nodes.csv": "nodes", "relations.csv": "relations", "edges.csv": "edges"}
_STAGE1 = {**_TABLES, **_in_parquet(_TABLES)}
_LEGACY_STAGE1 = {
    "kg.txt": "legacy-triples",
    "document2entities.json": "legacy-entities",
    **dict.fromkeys(_SPLITS, "legacy-questions"),
}
_RAW_DOCUMENTS = {"documents.json": "documents"}
_RAW_QUESTIONS = dict.fromkeys(_SPLITS, "raw-questions")
_RAW = {**_RAW_DOCUMENTS, **_RAW_QUESTIONS}
_RAW |= _in_parquet(_RAW)
_QUESTIONS = dict.fromkeys(_SPLITS, "questions")
_QUESTIONS |= _in_parquet(_QUESTIONS)


def _below(folder: str, *parts: dict[str, str]) -> dict[str, str]:
    return {folder + name: kind for part in parts for name, kind in part.items()}


_LEGACY_RAW = {"dataset_corpus.json": "legacy-documents", **dict.fromkeys(_SPLITS, "legacy-raw-questions")}
_STAGE1_ALL = {**_STAGE1, **_QUESTIONS}
_CACHE = {"*/*": "cache"}
_OUTPUTS = {"predictions_*.json": "predictions", "prediction.jsonl": "prediction-lines"}
_WHOLE = tuple(map(_names, ("nodes", "relations", "edges")))

LAYOUTS = (
    Layout(
        name="dataset",
        description="A folder with `processed/stage1/`, in which the graph has been built",
        files={
            **_below("raw/", _RAW),
            **_below("processed/stage1/", _STAGE1_ALL),
            **_below("processed/stage2/", _CACHE),
            **_OUTPUTS,
        },
        signature=(tuple(_below("processed/stage1/", _STAGE1)),),
    ),
    Layout(
        name="legacy",
        description="The layout up to release 1.0.0, recognised by its names",
        files={**_below("raw/", _LEGACY_RAW), **_below("processed/stage1/", _LEGACY_STAGE1), **_OUTPUTS},
        signature=(("raw/dataset_corpus.json", "processed/stage1/document2entities.json"),),
    ),
    *(
        Layout(
            name="raw",
            description="A folder with `raw/documents.json` and questions, of which the graph is still to be built",
            files={**_below("raw/", _RAW), **_below("processed/stage1/", _QUESTIONS)},
            signature=(tuple(_below("raw/", known)),),
            sniff=lost,
        )
        for known, lost in (({**_RAW_DOCUMENTS, **_in_parquet(_RAW_DOCUMENTS)}, False), (_RAW_QUESTIONS, True))
    ),
    Layout(
        name="processed",
        description="The folder `processed/` of a dataset",
        files={**_below("stage1/", _STAGE1_ALL), **_below("stage2/", _CACHE)},
        signature=(tuple(_below("stage1/", _STAGE1)),),
    ),
    Layout(
        name="stage1",
        description="The folder `processed/stage1/` of a dataset, or any with the three tables",
        files=_STAGE1_ALL,
        signature=_WHOLE,
    ),
    Layout(
        name="part of stage1",
        description="A folder with one or two of the three tables",
        files=_STAGE1_ALL,
        signature=(tuple(_STAGE1),),
        sniff=True,
    ),
    Layout(
        name="raw documents",
        description="The folder `raw/` of a dataset",
        files=_RAW,
        signature=(("documents.json",),),
        sniff=True,
    ),
    Layout(
        name="legacy stage1",
        description="The folder `processed/stage1/` of a dataset of release 1.0.0",
        files=_LEGACY_STAGE1,
        signature=(("kg.txt",), ("document2entities.json",)),
    ),
    Layout(
        name="legacy processed",
        description="The folder `processed/` of a dataset of release 1.0.0",
        files=_below("stage1/", _LEGACY_STAGE1),
        signature=(("stage1/kg.txt",), ("stage1/document2entities.json",)),
    ),
    Layout(
        name="legacy raw",
        description="The folder `raw/` of a dataset of release 1.0.0",
        files=_LEGACY_RAW,
        signature=(("dataset_corpus.json",),),
    ),
    Layout(
        name="questions",
        description="A folder with processed questions and without a graph",
        files=dict.fromkeys(_SPLITS, "questions"),
        signature=(_SPLITS,),
        sniff=True,
    ),
    Layout(
        name="predictions",
        description="A folder into which a retrieval wrote",
        files=_OUTPUTS,
        signature=(("predictions_*.json",),),
        sniff=True,
    ),
)


_BOATS = ("osprey", "lena", "heron", "plover", "tern", "curlew", "avocet", "gannet", "petrel", "skua")


def _example() -> dict[str, str]:
    """A harbour: ten boats, each with its log, for prediction takes the best ten nodes of each type."""
    pairs = list(pairwise(_BOATS))
    logs = {
        b: f"The {b} left Port Hale" + (f", and the {n} followed her." if n else ".")
        for b, n in [*pairs, (_BOATS[-1], "")]
    }
    documents = ",\n ".join(f'"Log of the {b}": "{text}"' for b, text in logs.items())
    nodes = [f'Log of the {b},document,"{{""content"": ""{text}""}}"' for b, text in logs.items()]
    edges = [f"{b},was_followed_by,{n},{{}}" for b, n in pairs]
    edges += [f"{b},is_mentioned_in,Log of the {before},{{}}" for before, b in pairs]
    edges += [f"{b},is_mentioned_in,Log of the {b},{{}}" for b in _BOATS]
    return {
        "raw/documents.json": f"{{{documents}}}\n",
        "processed/stage1/nodes.csv": "\n".join(
            ["name,type,attributes", *nodes, *(f"{b},entity,{{}}" for b in _BOATS), ""]
        ),
        "processed/stage1/relations.csv": "name,attributes\nwas_followed_by,{}\nis_mentioned_in,{}\n",
        "processed/stage1/edges.csv": "\n".join(["source,relation,target,attributes", *edges, ""]),
        "processed/stage1/test.json": '[{"id": "h1", "question": "Which boat followed the Osprey?", "answer": "Lena",\n'
        '  "answer_aliases": [], "supporting_documents": ["Log of the osprey"],\n'
        '  "start_nodes": {"entity": ["osprey"]},\n'
        '  "target_nodes": {"document": ["Log of the osprey"], "entity": ["lena"]}}]\n',
    }


GFM_RAG = Format(
    name="gfm-rag",
    title="GFM-RAG",
    letters="GF",
    description=(
        "Documents, the graph of entities and documents that was built from them, and questions with the nodes that "
        "are to be found: the data of GFM-RAG and G-reasoner."
    ),
    homepage="https://github.com/RManLuo/gfm-rag",
    files=FILES,
    rules=late_rules(
        "ragdatakit.schemas.gfm_rag",
        "table_rules:TABLE_RULES",
        "graph_rules:GRAPH_RULES",
        "question_rules:QUESTION_RULES",
        "raw_rules:RAW_RULES",
        "legacy_rules:LEGACY_RULES",
        "raw_rules:OUTPUT_RULES",
        "graph_rules:HEALTH_RULES",
        by_code=True,
    ),
    layouts=LAYOUTS,
    profiles=("reasoner", "gfm-rag"),
    profile_words={
        "reasoner": "The graph loader (GraphIndexDataset) of G-reasoner: all nodes and edges, with their attributes.",
        "gfm-rag": (
            "The entity loader (GraphIndexDatasetV1) of GFM-RAG: it keeps only the edges between nodes of type "
            "`entity`, and maps entities to the documents that mention them."
        ),
    },
    keys=(
        Key(kind="documents", fields=("title",), rule="repeated-title"),
        Key(kind="built-documents", fields=("title",), rule="repeated-built-title"),
        Key(kind="nodes", fields=("@key",), rule="duplicate-node"),
        Key(kind="relations", fields=("@key",), rule="duplicate-relation"),
        Key(kind="raw-questions", fields=("@id",), rule="duplicate-question-id"),
        Key(kind="questions", fields=("@id",), rule="duplicate-question-id"),
        Key(kind="legacy-documents", fields=("title",), rule="repeated-legacy-title"),
        Key(kind="legacy-entities", fields=("title",), rule="repeated-legacy-title"),
    ),
    references=(
        Reference(
            kind="raw-questions",
            field="supporting_documents",
            to_kind="documents",
            to_field="title",
            rule="unknown-supporting-document",
        ),
        Reference(
            kind="raw-questions",
            field="supporting_documents",
            to_kind="built-documents",
            to_field="title",
            rule="unknown-supporting-document",
        ),
        Reference(
            kind="nodes", field="@title", to_kind="built-documents", to_field="title", rule="document-node-without-text"
        ),
        Reference(kind="edges", field="@source", to_kind="nodes", to_field="@key", rule="dangling-endpoint"),
        Reference(kind="edges", field="@target", to_kind="nodes", to_field="@key", rule="dangling-endpoint"),
        Reference(kind="edges", field="@relation", to_kind="relations", to_field="@key", rule="dangling-relation"),
        Reference(
            kind="questions",
            field="supporting_documents",
            to_kind="nodes",
            to_field="@document",
            rule="supporting-document-not-node",
        ),
        Reference(
            kind="legacy-entities",
            field="title",
            to_kind="legacy-documents",
            to_field="title",
            rule="document-not-in-corpus",
        ),
    ),
    coverages=(
        Coverage(kind="built-documents", field="title", by=(("nodes", "@title"),), rule="raw-document-without-node"),
        Coverage(kind="nodes", field="@key", by=(("edges", "@source"), ("edges", "@target")), rule="isolated-node"),
        Coverage(kind="relations", field="@key", by=(("edges", "@relation"),), rule="relation-without-edges"),
        Coverage(
            kind="legacy-documents", field="title", by=(("legacy-entities", "title"),), rule="document-without-entities"
        ),
    ),
    variants=(Variants(kind="nodes", fields=("@key",), rule="name-variant"),),
    adopts={
        "parquet-not-loaded": Adopted("warning", "the loaders open tables in CSV and documents and questions in JSON"),
        "byte-order-mark": Adopted("error", "json.load stops with JSONDecodeError"),
        "invalid-utf8": Adopted("error", "pandas and json.load stop with UnicodeDecodeError"),
        "mislabelled-compression": Adopted("error", "the loaders open plain text only"),
        "lfs-pointer": Adopted(
            "error", "the loaders take the pointer for data: ValueError or KeyError at tables, JSONDecodeError at JSON"
        ),
        "duplicate-key": Adopted("error", "the last value wins, the others are lost"),
        "non-finite-number": Adopted("info", "Python's json reads it"),
        "lone-surrogate": Adopted("error", "it loads; the tokenizer of the embedding model refuses the text"),
    },
    replaces=True,
    example=_example(),
)
