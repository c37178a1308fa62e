"""The converter of light-splade: training sets with integer ids, split into train and validation."""

from __future__ import annotations

from ragdatakit.converters import Converter, Option, container_option
from ragdatakit.converters.light_splade.reading import in_parts, read
from ragdatakit.converters.light_splade.samples import USUAL_RANDOM
from ragdatakit.converters.light_splade.writing import write

_OPTIONS = (
    Option(
        "validation-ratio",
        "write",
        "share of the questions that go to validation, where the source does not give both splits (0 and 1: one split)",
        0.1,
    ),
    Option(
        "test",
        "write",
        "a split named test: goes to validation as dev does, or is dropped",
        "validation",
        ("validation", "drop"),
    ),
    Option(
        "documents",
        "write",
        "who has which documents. pool: validation has all, as they are what is searched, train those that its lists, "
        "triplets and scores name; all: both have all; split: each has those that it names",
        "pool",
        ("pool", "all", "split"),
    ),
    Option("positive-grade", "write", "the least grade that makes a document a positive", 1),
    Option(
        "title",
        "write",
        "a document's title: is put before its text with a blank between, or is dropped",
        "join",
        ("join", "drop"),
    ),
    Option(
        "negatives",
        "write",
        "where the source has no triplets: at most this many known negatives of a question (judged 0, or retrieved and "
        "not relevant) make triplets",
        8,
    ),
    Option(
        "random-negatives",
        "write",
        "this many random documents make triplets for each question of which no negative is known; auto: "
        f"{USUAL_RANDOM} where the source knows no negatives at all, else none",
        "auto",
    ),
    container_option("ndjson"),
)

CONVERTER = Converter(
    name="light-splade",
    read=read,
    write=write,
    in_parts=in_parts,
    gives={
        "documents": ("doc_id", "text"),
        "questions": ("question_id", "text", "split"),
        "qrels": ("question_id", "target_id", "target_kind", "split"),  # every grade is 1
        "triplets": ("question_id", "positive_id", "negative_id", "split"),
        "pair_scores": ("question_id", "doc_id", "score"),
    },
    holds={
        "documents": ("doc_id", "text"),
        "chunks": ("chunk_id", "text"),
        "questions": ("question_id", "text", "split"),
        "qrels": ("question_id", "target_id", "target_kind", "split"),
        "triplets": ("question_id", "positive_id", "negative_id", "split"),
        "pair_scores": ("question_id", "doc_id", "score"),
    },
    options=_OPTIONS,
    profiles=("triplet", "distil"),
)
