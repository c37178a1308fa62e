"""Whether the passages of a HippoRAG corpus come straight from the scanner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragdatakit.database.dataset_database import Unproved
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.paths.folders import size_of
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, RagdataError

if TYPE_CHECKING:
    from ragdatakit.converters.hipporag.corpus_columns import CodedPassages

_WORTH = 1 << 20
"""Bytes of a corpus below which reading its passages takes no longer."""


def are_arrays(files: Sequence[DataFile]) -> bool:
    """Whether there are files, all of them read as arrays of objects."""
    kinds = ("corpus", "questions")
    arrays = (file.kind in kinds and json_container(file.path, file.boundary) == "json-array" for file in files)
    return bool(files) and all(arrays)


def scanned_passages(records: RecordReader, corpora: Sequence[DataFile]) -> CodedPassages | None:
    """The passages of a large corpus by codes of their texts; None where they have to be read one by one. They are
    looked at once by a reader and those that are like it."""
    named = ("passages", *(str(file.path) for file in corpora))
    if named not in records.shared:
        records.shared[named] = _scanned(records, corpora)
    found: CodedPassages | None = records.shared[named]
    return found


def _scanned(records: RecordReader, corpora: Sequence[DataFile]) -> CodedPassages | None:
    if library() is None or not are_arrays(corpora) or sum(size_of(file.path) for file in corpora) < _WORTH:
        return None
    from ragdatakit.converters.hipporag.corpus_columns import CorpusColumns  # needs numpy

    try:
        columns = CorpusColumns(records, corpora, Losses(), ())
        for _ in columns.all_batches():
            pass
        return columns.passages()
    except MachineError:
        raise
    except (Unproved, RagdataError):
        return None
