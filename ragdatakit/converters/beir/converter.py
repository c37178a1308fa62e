"""The converter of BEIR folders: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``.

Files with a prefix, as ``gen-queries.jsonl``, are another set of queries over the corpus: one of the sets is read.

A question is of the split in which it is judged, if that is one. Fields of a record that BEIR does not know become
members of the metadata; ``field_order`` names them, so that writing BEIR again gives them back their place. Records
without metadata are written with an empty object, as the published sets have it, unless the first record of a set has
none; those that are otherwise than the first one have a ``field_order``, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragdatakit.converters import Converter, Option, TableFiles, container_option, written_by
from ragdatakit.converters.beir.reading import files_read, form, read, split_of
from ragdatakit.files.datasets import Dataset
from ragdatakit.schemas.findings import Finding

_PASSAGES = ("doc_id", "title", "text", "metadata")
_QUESTIONS = ("question_id", "text", "split", "metadata")
_QRELS = ("question_id", "target_id", "grade", "target_kind", "split")


def _in_parts(dataset: Dataset, options: Mapping[str, Any]) -> Mapping[str, TableFiles] | None:
    """The files of the tables, where there is one set of queries."""
    if options["queries"] or options["prefix"] or any(file.split for file in dataset.files):
        return None
    corpus, queries, qrels = (tuple(files_read(dataset, kind)) for kind in ("corpus", "queries", "qrels"))
    found = {
        "documents": TableFiles((corpus,)),
        "questions": TableFiles((queries,), qrels),
        "qrels": TableFiles((qrels,)),
    }
    return {table: files for table, files in found.items() if files.groups[0]}


def _repairs(finding: Finding, _: Mapping[str, Any]) -> bool:
    """Whether a finding says no more than that a part is missing: what is there can be read."""
    return finding.rule == "missing-file"


CONVERTER = Converter(
    name="beir",
    read=read,
    write=written_by("ragdatakit.converters.beir.writing"),
    repairs=_repairs,
    form=form,
    in_parts=_in_parts,
    split_of=split_of,
    gives={"documents": _PASSAGES, "questions": _QUESTIONS, "qrels": _QRELS},
    holds={
        "documents": _PASSAGES,
        "chunks": ("chunk_id", "text", "metadata"),
        "questions": _QUESTIONS,
        "qrels": _QRELS,
    },
    options=(
        Option(
            "queries",
            "read",
            "name of the file of queries in the folder, where it is not queries.jsonl (the loader's query_file)",
        ),
        Option(
            "prefix",
            "read",
            "which set of queries is meant, where a folder holds several (gen of gen-queries.jsonl and gen-qrels); "
            "without it the one of queries.jsonl",
        ),
        container_option("jsonl"),
    ),
)
