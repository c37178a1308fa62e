"""Whether the queries and the corpus of a BEIR folder are in each other's files, by the ids at their beginnings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ragdatakit.files.containers.beginnings import HEAD_BYTES
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.detection.sniffing import beginning


def are_swapped(queries: DataFile, corpus: DataFile, judged: Iterable[str]) -> bool:
    """Whether judgements, as lines of cells below the header, name queries that are in the corpus and documents that
    are among the queries, and nothing where it should be."""
    pairs = [line.split("\t")[:2] for line in judged if line.count("\t") > 1]
    named_queries, named_documents = {query for query, _ in pairs}, {document for _, document in pairs}
    of_queries, of_corpus = set(_ids(queries)), set(_ids(corpus))
    crossed = named_queries & of_corpus and named_documents & of_queries
    return bool(crossed) and not (named_queries & of_queries or named_documents & of_corpus)


def lines_of(file: DataFile) -> list[str]:
    """The first whole lines of a file, as far as they are text."""
    data, is_cut = beginning(file.path, HEAD_BYTES, file.boundary)
    lines = data.decode("utf-8", "replace").split("\n")
    return lines[:-1] if is_cut else lines


def _ids(file: DataFile) -> Iterator[str]:
    for line in lines_of(file):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and isinstance(record.get("_id"), str):
            yield record["_id"]
