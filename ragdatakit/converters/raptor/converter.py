"""RAPTOR trees into canonical tables and out of them."""

from __future__ import annotations

from ragdatakit.converters import Converter, Option
from ragdatakit.converters.raptor.building import LEAF_TOKENS
from ragdatakit.converters.raptor.reading import read_trees
from ragdatakit.converters.raptor.writing import PASSAGE_COLUMNS, SUMMARY_COLUMNS, write_trees
from ragdatakit.files.raptor.hashing import USUAL

CONVERTER = Converter(
    name="raptor",
    read=read_trees,
    write=write_trees,
    gives={
        "chunks": PASSAGE_COLUMNS,
        "summaries": SUMMARY_COLUMNS,
        "nodes": ("name", "type"),
        "edges": ("source", "relation", "target"),
    },
    holds={
        "documents": ("doc_id", "text"),
        "chunks": PASSAGE_COLUMNS,
        "summaries": SUMMARY_COLUMNS,
    },
    vectors=True,
    options=(
        Option(
            "keep-vectors", "read", "keep the vectors of the nodes, as metadata of chunks and summaries", default=False
        ),
        Option("tree-graph", "read", "also read the tree as a graph: edges from summaries to children", default=False),
        Option("form", "write", "the JSON form, or the pickle that RAPTOR loads", "json", ("json", "pickle")),
        Option(
            "summaries",
            "write",
            "where there are none: make some of sentences of the texts, without a model, or write leaves only",
            "extractive",
            ("extractive", "none"),
        ),
        Option(
            "trees",
            "write",
            "the trees that are given (all texts are one where none are), one tree, or one for each document",
            "given",
            ("given", "one", "document"),
        ),
        Option("leaf-tokens", "write", "cut documents into leaves of at most this many tokens (0: not)", LEAF_TOKENS),
        Option(
            "vectors",
            "write",
            "the vectors that are given, vectors of hashed words for every node, or none",
            "given",
            ("given", "hashing", "none"),
        ),
        Option("embedding-key", "write", "what RAPTOR is to call the hashed vectors", "EMB"),
        Option("dimensions", "write", "how many numbers a hashed vector has", USUAL),
    ),
)  # fmt: skip
