"""A light-splade dataset read into canonical tables.

A query or document that is in both splits is given once. Where an id means something else in the validation split
(the loaders read the splits apart, so that is legal), it gets the name of the split before it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import groupby
from typing import Any

import msgspec

from ragdatakit.converters import TableFiles
from ragdatakit.files.containers import json_text
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.folders import size_of
from ragdatakit.files.reading.noted_rows import Note
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Document, PairScore, Qrel, Question, Triplet

ID = {"documents": "doc_id", "queries": "qid"}


class _Document(msgspec.Struct, gc=False):
    """A record of a master as it usually is, which is read at once; others are read field by field."""

    own: int = msgspec.field(name="doc_id")
    text: str


class _Query(msgspec.Struct, gc=False):
    """The same of the queries."""

    own: int = msgspec.field(name="qid")
    text: str


class _Triplet(msgspec.Struct, gc=False):
    """A triplet likewise."""

    qid: int
    pos_doc_id: int
    neg_doc_id: int


_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    "documents": msgspec.json.Decoder(_Document),
    "queries": msgspec.json.Decoder(_Query),
}
_TRIPLETS = msgspec.json.Decoder(_Triplet)
_TABLE = {"documents": "documents", "queries": "questions"}
FILES = {
    "documents": ("documents", "doc_id"),
    "questions": ("queries", "question_id"),
    "qrels": ("positives", ""),
    "triplets": ("triplets", ""),
    "pair_scores": ("scores", ""),
}
"""The kind of the files that have a table, and the column in which both splits may have the same ids."""
_SECOND = "validation"


class Reading:
    """The tables of a dataset, row by row."""

    def __init__(self, dataset: Dataset, records: RecordReader) -> None:
        self._dataset = dataset
        self._records = records

    @cached_property
    def _documents(self) -> _Overlap:
        return _Overlap(self._dataset, self._records, "documents")

    @cached_property
    def _queries(self) -> _Overlap:
        return _Overlap(self._dataset, self._records, "queries")

    @property
    def renames(self) -> bool:
        """Whether an id means something else in the other split, so that it gets another name."""
        return self._documents.renames or self._queries.renames

    def texts(self, file: DataFile, notes: list[Note]) -> Iterator[tuple[str, str]]:
        """The records of a master: id and text."""
        return _texts(self._records, file, notes)

    def documents(self, notes: list[Note]) -> Iterator[Document]:
        """The documents; of two masters the larger one first, as the other may be a part of it."""
        for doc_id, text, _ in self._master("documents", self._documents, notes):
            yield Document(doc_id, text)

    def questions(self, notes: list[Note]) -> Iterator[Question]:
        """The queries, with the (first) split that has them."""
        for question_id, text, split in self._master("queries", self._queries, notes):
            yield Question(question_id, text, split=split)

    def _master(self, kind: str, overlap: _Overlap, notes: list[Note]) -> Iterator[tuple[str, str, str | None]]:
        files = self._dataset.of_kind(kind)
        splits = list(dict.fromkeys(f.split for f in files))
        if kind == "documents":
            splits.sort(key=lambda split: -sum(size_of_text(f) for f in files if f.split == split))
        for place, split in enumerate(splits):
            for file in files:
                if file.split != split:
                    continue
                for own, text in _texts(self._records, file, notes):
                    if place and overlap.is_shared(own):
                        continue
                    name = overlap.name(own, split)
                    if name != own:
                        reason = f"the id means something else in train: {_SECOND}- is put before it"
                        notes.append(("renumbered", _TABLE[kind], ID[kind], reason, f"{own} became {name}"))
                    yield name, text, split

    def qrels(self, notes: list[Note]) -> Iterator[Qrel]:
        """The positive lists, as judgements of grade 1."""
        for file in self._dataset.of_kind("positives"):
            for fields in self._records.objects(file):
                found = positive_ids(fields)
                if found is None:
                    note_unread(notes, "qrels", fields)
                    continue
                question_id = self._queries.name(found[0], file.split)
                for doc_id in found[1]:
                    yield Qrel(question_id, self._documents.name(doc_id, file.split), split=file.split)

    def triplets(self, notes: list[Note]) -> Iterator[Triplet]:
        """The triplets, in file order."""
        for file in self._dataset.of_kind("triplets"):
            split = file.split
            query, document = self._queries.name, self._documents.name
            for fields in self._records.shaped(file, _TRIPLETS):
                ids = triplet_ids(fields)
                if ids is None:
                    note_unread(notes, "triplets", dict(fields) if isinstance(fields, dict) else {})
                    continue
                question_id, positive, negative = ids
                yield Triplet(query(question_id, split), document(positive, split), document(negative, split), split)

    def pair_scores(self, notes: list[Note]) -> Iterator[PairScore]:
        """The teacher's scores. One file serves both splits: a query says to which its documents belong."""
        for file in self._dataset.of_kind("scores"):
            for fields in self._records.objects(file):
                question_id = _id_text(fields.get("qid"))
                scores = fields.get("scores")
                if question_id is None or scores is None or bytes(scores)[:1] != b"{":
                    note_unread(notes, "pair_scores", fields)
                    continue
                split = self._queries.split_of(question_id)
                for key, raw in json_text.fields_of(scores).items():
                    score = json_text.loads(raw)
                    doc_id = _score_key(key)
                    if doc_id is None or not isinstance(score, int | float) or isinstance(score, bool):
                        notes.append(("dropped", "pair_scores", None, "no score of a document", f"{key}: {score}"))
                        continue
                    name = self._documents.name(doc_id, split)
                    yield PairScore(self._queries.name(question_id, split), name, score)


class _Overlap:
    """What the masters of one kind have in common: ids of both splits that mean the same, or something else.

    Ids and texts are compared by their hashes: 16 bytes for each record, and nothing where there is only one split.
    """

    def __init__(self, dataset: Dataset, records: RecordReader, kind: str) -> None:
        self._shared: set[int] = set()
        self._different: set[int] = set()
        self._second: set[int] = set()
        files = dataset.of_kind(kind)
        if len({f.split for f in files}) < 2:
            return
        held = {split: (array("q"), array("q")) for split in dict.fromkeys(f.split for f in files)}
        for split, grouped in groupby(files, key=lambda f: f.split):
            ids, texts = held[split]
            for file in grouped:
                for own, text in _texts(records, file, []):
                    ids.append(hash(own))
                    texts.append(hash(text))
        (first_ids, first_texts), (second_ids, second_texts) = held.values()
        self._compare(first_ids, first_texts, second_ids, second_texts)
        if kind == "queries":
            self._second = set(second_ids) - set(first_ids)

    def _compare(self, *columns: array[int]) -> None:
        import numpy as np

        first_ids, first_texts, second_ids, second_texts = (np.array(c, np.int64) for c in columns)
        common, first, second = np.intersect1d(first_ids, second_ids, return_indices=True)
        same = first_texts[first] == second_texts[second]
        self._shared = set(common[same].tolist())
        self._different = set(common[~same].tolist())

    @property
    def renames(self) -> bool:
        """Whether an id means something else in the second split."""
        return bool(self._different)

    def is_shared(self, own: str) -> bool:
        """Whether both splits have the same under this id."""
        return hash(own) in self._shared

    def name(self, own: str, split: str | None) -> str:
        """What an id of a split is called."""
        if split == _SECOND and self._different and hash(own) in self._different:
            return f"{_SECOND}-{own}"
        return own

    def split_of(self, own: str) -> str | None:
        """The second split for an id that only this one has."""
        return _SECOND if hash(own) in self._second else None


def in_parts(dataset: Dataset, _: Mapping[str, Any]) -> Mapping[str, TableFiles]:
    """The files of the tables; what both splits have is of the first."""
    found = {}
    for table, (kind, key) in FILES.items():
        files = dataset.of_kind(kind)
        groups = [tuple(files)]
        if key:
            groups = [tuple(f for f in files if f.split == split) for split in dict.fromkeys(f.split for f in files)]
        if kind == "documents":
            groups.sort(key=lambda group: -sum(map(size_of_text, group)))
        if files:
            found[table] = TableFiles(tuple(groups), key=key)
    return found


def size_of_text(file: DataFile) -> int:
    """Bytes of a file, of a packed one as many as its text may have."""
    return size_of(file.path) * (4 if file.path.name.endswith(".gz") else 1)


def _texts(records: RecordReader, file: DataFile, notes: list[Note]) -> Iterator[tuple[str, str]]:
    """The records of a master: id and text."""
    for fields in records.shaped(file, _DECODERS[file.kind]):
        if not isinstance(fields, dict):
            yield str(fields.own), fields.text
        elif (found := text_of(file, notes, fields)) is not None:
            yield found


def text_of(file: DataFile, notes: list[Note], fields: dict[str, Raw]) -> tuple[str, str] | None:
    """A record of a master: id and text; None where it is left out, which is noted."""
    own, text = _id_text(fields.get(ID[file.kind])), json_text.string_of(fields.get("text"))
    if own is not None and text is not None:
        return own, text
    note_unread(notes, _TABLE[file.kind], fields)
    return None


def note_unread(notes: list[Note], table: str, fields: dict[str, Raw]) -> None:
    """Note that a record is left out."""
    notes.append(("dropped", table, None, "a field is missing, or is not what it should be", json_text.dumps(fields)))


def _id_text(raw: Raw | None) -> str | None:
    """An id as text: an integer as it is written; None for what is no id."""
    if raw is None:
        return None
    data = bytes(raw)
    if data[:1] == b'"':
        return json_text.string_of(raw)
    text = data.decode()
    return "0" if text == "-0" else text if text[:1].isdigit() or text[:1] == "-" else None


def triplet_ids(fields: _Triplet | dict[str, Raw]) -> tuple[str, str, str] | None:
    """The ids of a triplet as texts; None where one is missing, or is no id."""
    if isinstance(fields, _Triplet):
        return str(fields.qid), str(fields.pos_doc_id), str(fields.neg_doc_id)
    question_id, positive, negative = (_id_text(fields.get(name)) for name in _Triplet.__struct_fields__)
    if question_id is None or positive is None or negative is None:
        return None
    return question_id, positive, negative


def positive_ids(fields: dict[str, Raw]) -> tuple[str, list[str]] | None:
    """A query's id and those of its documents, as texts; None where there are no such values."""
    question_id, listed = _id_text(fields.get("qid")), fields.get("positive_doc_ids")
    if question_id is None or listed is None or bytes(listed)[:1] != b"[":
        return None
    values: list[Any] = json_text.loads(listed)
    return question_id, [str(v) for v in values if isinstance(v, int | str) and not isinstance(v, bool)]


def _score_key(key: str) -> str | None:
    """The document a score key stands for: upstream takes what Python's int() takes."""
    try:
        return str(int(key))
    except ValueError:
        return None
