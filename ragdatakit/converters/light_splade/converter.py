"""The converter of light-splade: training sets with integer ids, split into train and validation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ragdatakit.converters import Converter, Option, Options, container_option, written_by
from ragdatakit.converters.light_splade.reading import FILES, Reading, in_parts
from ragdatakit.converters.light_splade.samples import USUAL_RANDOM
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.noted_rows import NotedRows, NumberedRows, Numbers
from ragdatakit.files.reading.record_reading import RecordReader

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


def _read(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The row sources of the tables for which the dataset has files."""
    _note_by_products(dataset, records)
    reading = Reading(dataset, records)
    found: dict[str, RowSource] = {
        table: NotedRows(records.losses, getattr(reading, table))
        for table, (kind, _) in FILES.items()
        if dataset.of_kind(kind)
    }
    if "triplets" in found:
        found["triplets"] = NumberedRows(records.losses, reading.triplets, partial(_numbers, dataset, records, reading))
    return found


def _numbers(dataset: Dataset, records: RecordReader, reading: Reading, jobs: int) -> Iterator[Numbers] | None:
    """The triplets as `NumberedRows` has them; not where ids get other names, or there is no scanner."""
    from ragdatakit.converters.light_splade.id_blocks import id_blocks  # needs numpy
    from ragdatakit.scanner.library import library

    if library() is None or reading.renames:
        return None
    return (
        (file.split, block.numbers, block.odd)
        for file in dataset.of_kind("triplets")
        for block in id_blocks(records, file, [], jobs)
    )


def _note_by_products(dataset: Dataset, records: RecordReader) -> None:
    for kind in ("initial-scores", "training-pairs"):
        for file in dataset.of_kind(kind):
            records.losses.add("dropped", kind, None, "a by-product that no trainer reads", file.display)


CONVERTER = Converter(
    name="light-splade",
    read=_read,
    write=written_by("ragdatakit.converters.light_splade.writing"),
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
