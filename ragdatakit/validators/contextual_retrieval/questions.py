"""What the evaluation makes of one question: its golden chunks, its golden documents, the corpus. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.declarations import ELSEWHERE
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.contextual_retrieval.corpus import Corpus, is_index
from ragdatakit.validators.lacking import unusable

_MOST_REMEMBERED = 100_000


class Golden(NamedTuple):
    """A golden chunk as it is named: where, the document's uuid, the index."""

    pointer: str
    uuid: str
    number: int

    @property
    def words(self) -> str:
        """As it is reported."""
        return f"[{self.uuid}, {self.number}]"


def question_problems(value: dict[str, Any], corpus: Corpus | None) -> Iterator[Problem]:
    """The faults of one question that the declaration does not name; ``corpus`` None: it is not known."""
    if "answer" not in value:
        yield Problem("question-without-answer", "")
    documents = value.get("golden_documents")
    found: dict[str, dict[int, Any]] | None = None
    contentless: list[tuple[str, int, Problem]] = []
    if isinstance(documents, list) and all(isinstance(document, dict) for document in documents):
        found = {}
        for number, document in enumerate(documents):
            yield from _document_problems(document, f"/golden_documents/{number}", found, contentless, corpus)
    pairs = value.get("golden_chunk_uuids")
    if not isinstance(pairs, list):
        return
    golden = _GoldenChunks(found)
    yield from golden.problems(pairs)
    if found is None:
        return
    yield from (problem for uuid, number, problem in contentless if (uuid, number) in golden.embedded)
    yield from _corpus_problems(golden.embedded.values(), value["golden_documents"], found, corpus)
    if golden.embedded and golden.all_embedded:
        yield from _agreement_problems(value, list(golden.embedded.values()))


class _GoldenChunks:
    """The pairs of a question, one after the other. Those that are among its golden documents are kept; of the others,
    which may be millions, only so many as a repeated one is likely to be seen of."""

    def __init__(self, found: dict[str, dict[int, Any]] | None) -> None:
        self._found = found
        self._missing: set[tuple[str, int]] = set()
        self.embedded: dict[tuple[str, int], Golden] = {}
        self.all_embedded = True

    def problems(self, pairs: list[Any]) -> Iterator[Problem]:
        """What is wrong with them."""
        if not pairs:
            yield Problem("no-golden-chunk", "/golden_chunk_uuids", pairs)
        elif not any(isinstance(pair, list | dict) for pair in pairs):  # one pair in place of a list of them
            yield Problem("unusable-golden-chunk", "/golden_chunk_uuids", pairs)
            return
        for number, pair in enumerate(pairs):
            yield from self._problems(pair, f"/golden_chunk_uuids/{number}")

    def _problems(self, pair: Any, pointer: str) -> Iterator[Problem]:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
            self.all_embedded = False
            yield Problem("unusable-golden-chunk", pointer, pair)
            return
        uuid, index = pair
        if (meant := _meant(index)) is not None:
            yield Problem("golden-index-not-integer", f"{pointer}/1", index, {"expected": meant})
            index = meant
        if not is_index(index):
            self.all_embedded = False
            yield Problem("unusable-golden-chunk", pointer, pair)
        elif (uuid, index) in self.embedded or (uuid, index) in self._missing:
            yield Problem("repeated-golden-chunk", pointer, pair)
        elif self._found is not None and index in self._found.get(uuid, ()):
            self.embedded[uuid, index] = Golden(pointer, uuid, index)
        else:
            self.all_embedded = False
            if len(self._missing) < _MOST_REMEMBERED:
                self._missing.add((uuid, index))
            if self._found is not None:
                words = Golden(pointer, uuid, index).words
                yield Problem("golden-chunk-not-embedded", pointer, None, {"value": words})


def _meant(index: Any) -> int | None:
    """The index that Python takes a value for which is not an integer."""
    loose = isinstance(index, bool) or (isinstance(index, float) and index.is_integer() and index >= 0)
    return int(index) if loose else None


_READ = ("uuid", "content", "chunks", "index", "doc_uuid")
"""The names in a golden document and its chunks."""


def _document_problems(
    document: dict[str, Any],
    pointer: str,
    found: dict[str, dict[int, Any]],
    contentless: list[tuple[str, int, Problem]],
    corpus: Corpus | None,
) -> Iterator[Problem]:
    """What is wrong with one golden document; its chunks go into ``found``, unless an earlier one is looked into, and
    what is wrong with their contents into ``contentless``, as only that of a golden one is read."""
    uuid, chunks = document.get("uuid"), document.get("chunks")
    name = pointer[1:].replace("/", "[") + "]"
    if "uuid" not in document or not isinstance(uuid, str):
        yield unusable("unusable-golden-document", pointer, document, "uuid", _READ, f"{name}.uuid")
    elif uuid in found:
        yield Problem("duplicate-golden-document", f"{pointer}/uuid", uuid)
        return
    if not isinstance(chunks, list):
        yield unusable("unusable-golden-document", pointer, document, "chunks", _READ, f"{name}.chunks")
        chunks = []
    by_index: dict[int, Any] = {}
    for number, chunk in enumerate(chunks):
        place, named = f"{pointer}/chunks/{number}", f"{name}.chunks[{number}]"
        yield from _chunk_problems(chunk, place, named, by_index, uuid, contentless)
    if isinstance(uuid, str):
        found[uuid] = by_index
        if corpus is not None:
            yield from _copy_problems(document, pointer, corpus, corpus.documents.get(corpus.code(uuid)))


def _chunk_problems(
    chunk: Any,
    pointer: str,
    name: str,
    by_index: dict[int, Any],
    uuid: Any,
    contentless: list[tuple[str, int, Problem]],
) -> Iterator[Problem]:
    """What is wrong with one chunk."""
    if not isinstance(chunk, dict):
        yield Problem("unusable-golden-document", pointer, chunk, {"field": name})
        return
    index, content = chunk.get("index"), chunk.get("content")
    if (meant := _meant(index)) is not None:
        yield Problem("golden-index-not-integer", f"{pointer}/index", index, {"expected": meant})
        index = meant
    if not is_index(index):
        yield unusable("unusable-golden-document", pointer, chunk, "index", _READ, f"{name}.index")
    elif index in by_index:
        yield Problem("duplicate-golden-index", f"{pointer}/index", index)
    else:
        by_index[index] = content
    if not isinstance(content, str) and isinstance(uuid, str) and is_index(index):
        lost = unusable(
            "unusable-golden-document", pointer, chunk, "content", _READ, f"{name}.content", ELSEWHERE["text"]
        )
        contentless.append((uuid, index, lost))


def _copy_problems(
    document: dict[str, Any], pointer: str, corpus: Corpus, known: tuple[int | None, int] | None
) -> Iterator[Problem]:
    """A golden document that is not as the corpus has it."""
    if known is None:
        return
    content, meta = document.get("content"), document.get("meta")
    if isinstance(content, str) and known[0] is not None and corpus.code(content) != known[0]:
        yield Problem("golden-document-unlike-corpus", f"{pointer}/content", None, {"field": "the content"})
    number = meta.get("num_chunks") if isinstance(meta, dict) else None
    if number is not None and number != known[1]:
        facts = {"field": "num_chunks"}
        yield Problem("golden-document-unlike-corpus", f"{pointer}/meta/num_chunks", number, facts)


def _corpus_problems(
    golden: Iterable[Golden], documents: list[Any], found: dict[str, dict[int, Any]], corpus: Corpus | None
) -> Iterator[Problem]:
    """Golden chunks that are not in the corpus, or not as they are there."""
    if corpus is None:
        return
    for one in golden:
        known = corpus.chunks.get(corpus.place(one.uuid, one.number))
        content = found[one.uuid][one.number]
        if known is None:
            yield Problem("golden-chunk-not-in-corpus", one.pointer, None, {"value": one.words})
        elif isinstance(content, str) and corpus.content_code(content) != known:
            where = _content_pointer(documents, one)
            yield Problem("golden-chunk-unlike-corpus", where, None, {"value": one.words})


def _content_pointer(documents: list[Any], golden: Golden) -> str:
    """Where the content of a golden chunk is."""
    for number, document in enumerate(documents):
        if document.get("uuid") == golden.uuid:
            for place, chunk in enumerate(document["chunks"]):
                if isinstance(chunk, dict) and chunk.get("index") == golden.number:
                    return f"/golden_documents/{number}/chunks/{place}/content"
    return golden.pointer


def _agreement_problems(value: dict[str, Any], golden: list[Golden]) -> Iterator[Problem]:
    """Further fields that say the same once more, and do not."""
    wanted = {one.uuid for one in golden}
    uuids, documents = value.get("golden_doc_uuids"), value["golden_documents"]
    if not isinstance(uuids, list) or not all(isinstance(u, str) for u in uuids):
        found = "golden_doc_uuids is missing or no list of uuids"
        yield Problem("golden-documents-unlike", "/golden_doc_uuids" if "golden_doc_uuids" in value else "", None,
                      {"found": found})  # fmt: skip
    elif any(u not in wanted for u in uuids) or not wanted <= {u for u in uuids if u in wanted}:
        found = "golden_doc_uuids are not the documents of golden_chunk_uuids"
        yield Problem("golden-documents-unlike", "/golden_doc_uuids", None, {"found": found})
    there = {d["uuid"] for d in documents if isinstance(d.get("uuid"), str)}
    if there - wanted:
        found = "golden_documents has documents without a golden chunk"
        yield Problem("golden-documents-unlike", "/golden_documents", None, {"found": found})
    copies = value.get("golden_chunks")
    if copies is not None and not _are_named(copies, golden):
        yield Problem("golden-chunks-unlike", "/golden_chunks")


def _are_named(chunks: Any, golden: list[Golden]) -> bool:
    if not isinstance(chunks, list) or len(chunks) != len(golden):
        return False
    pairs = zip(chunks, golden, strict=True)
    return all(isinstance(c, dict) and (c.get("doc_uuid"), c.get("index")) == g[1:] for c, g in pairs)
