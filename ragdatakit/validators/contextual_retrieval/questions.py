"""What the evaluation makes of one question: its golden chunks, its golden documents, the corpus. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.contextual_retrieval.corpus import Corpus, code_of, content_code, is_index


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
    pairs = value.get("golden_chunk_uuids")
    golden: list[Golden] = []
    if isinstance(pairs, list):
        yield from _pair_problems(pairs, golden)
    documents = value.get("golden_documents")
    if not isinstance(documents, list) or not all(isinstance(document, dict) for document in documents):
        return
    found: dict[str, dict[int, Any]] = {}
    for number, document in enumerate(documents):
        yield from _document_problems(document, f"/golden_documents/{number}", golden, found, corpus)
    yield from _lookup_problems(golden, documents, found, corpus)
    usable = isinstance(pairs, list) and golden and len(golden) == len({str(pair) for pair in pairs})
    if usable and all(one.number in found.get(one.uuid, ()) for one in golden):
        yield from _agreement_problems(value, golden)


def _pair_problems(pairs: list[Any], golden: list[Golden]) -> Iterator[Problem]:
    """What is wrong with the pairs; those that name a chunk are put into ``golden``."""
    if not pairs:
        yield Problem("no-golden-chunk", "/golden_chunk_uuids", pairs)
    if pairs and not any(isinstance(pair, list | dict) for pair in pairs):  # one pair in place of a list of them
        yield Problem("unusable-golden-chunk", "/golden_chunk_uuids", pairs)
        return
    seen: set[tuple[str, int]] = set()
    for number, pair in enumerate(pairs):
        pointer = f"/golden_chunk_uuids/{number}"
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
            yield Problem("unusable-golden-chunk", pointer, pair)
            continue
        index = pair[1]
        if (meant := _meant(index)) is not None:
            yield Problem("golden-index-not-integer", f"{pointer}/1", index, {"expected": meant})
            index = meant
        if not is_index(index):
            yield Problem("unusable-golden-chunk", pointer, pair)
            continue
        if (pair[0], index) in seen:
            yield Problem("repeated-golden-chunk", pointer, pair)
            continue
        seen.add((pair[0], index))
        golden.append(Golden(pointer, pair[0], index))


def _meant(index: Any) -> int | None:
    """The index that Python takes a value for which is no integer."""
    loose = isinstance(index, bool) or (isinstance(index, float) and index.is_integer() and index >= 0)
    return int(index) if loose else None


def _document_problems(
    document: dict[str, Any],
    pointer: str,
    golden: list[Golden],
    found: dict[str, dict[int, Any]],
    corpus: Corpus | None,
) -> Iterator[Problem]:
    """What is wrong with one golden document; its chunks go into ``found``, unless an earlier one is looked into."""
    uuid, chunks = document.get("uuid"), document.get("chunks")
    name = pointer[1:].replace("/", "[") + "]"
    if "uuid" not in document or not isinstance(uuid, str):
        where = f"{pointer}/uuid" if "uuid" in document else pointer
        yield Problem("unusable-golden-document", where, uuid, {"field": f"{name}.uuid"})
    elif uuid in found:
        yield Problem("duplicate-golden-document", f"{pointer}/uuid", uuid)
        return
    if not isinstance(chunks, list):
        where = f"{pointer}/chunks" if "chunks" in document else pointer
        yield Problem("unusable-golden-document", where, chunks, {"field": f"{name}.chunks"})
        chunks = []
    by_index: dict[int, Any] = {}
    for number, chunk in enumerate(chunks):
        place, named = f"{pointer}/chunks/{number}", f"{name}.chunks[{number}]"
        wanted = {one.number for one in golden if one.uuid == uuid}
        yield from _chunk_problems(chunk, place, named, by_index, wanted)
    if isinstance(uuid, str):
        found[uuid] = by_index
        if corpus is not None:
            yield from _copy_problems(document, pointer, corpus.documents.get(code_of(uuid)))


def _chunk_problems(
    chunk: Any, pointer: str, name: str, by_index: dict[int, Any], golden: set[int]
) -> Iterator[Problem]:
    """What is wrong with one chunk; only the content of a golden one is read."""
    if not isinstance(chunk, dict):
        yield Problem("unusable-golden-document", pointer, chunk, {"field": name})
        return
    index, content = chunk.get("index"), chunk.get("content")
    if (meant := _meant(index)) is not None:
        yield Problem("golden-index-not-integer", f"{pointer}/index", index, {"expected": meant})
        index = meant
    if not is_index(index):
        where = f"{pointer}/index" if "index" in chunk else pointer
        yield Problem("unusable-golden-document", where, index, {"field": f"{name}.index"})
    elif index in by_index:
        yield Problem("duplicate-golden-index", f"{pointer}/index", index)
    else:
        by_index[index] = content
    if not isinstance(content, str) and index in golden:
        where = f"{pointer}/content" if "content" in chunk else pointer
        yield Problem("unusable-golden-document", where, content, {"field": f"{name}.content"})


def _copy_problems(document: dict[str, Any], pointer: str, known: tuple[int | None, int] | None) -> Iterator[Problem]:
    """A golden document that is not as the corpus has it."""
    if known is None:
        return
    content, meta = document.get("content"), document.get("meta")
    if isinstance(content, str) and known[0] is not None and code_of(content) != known[0]:
        yield Problem("golden-document-unlike-corpus", f"{pointer}/content", None, {"field": "the content"})
    number = meta.get("num_chunks") if isinstance(meta, dict) else None
    if number is not None and number != known[1]:
        facts = {"field": "num_chunks"}
        yield Problem("golden-document-unlike-corpus", f"{pointer}/meta/num_chunks", number, facts)


def _lookup_problems(
    golden: list[Golden], documents: list[Any], found: dict[str, dict[int, Any]], corpus: Corpus | None
) -> Iterator[Problem]:
    """Golden chunks that are not among the golden documents, not in the corpus, or not as they are there."""
    for one in golden:
        chunks = found.get(one.uuid)
        if chunks is None or one.number not in chunks:
            yield Problem("golden-chunk-not-embedded", one.pointer, None, {"value": one.words})
            continue
        if corpus is None:
            continue
        known = corpus.chunks.get(code_of(one.uuid, one.number))
        content = chunks[one.number]
        if known is None:
            yield Problem("golden-chunk-not-in-corpus", one.pointer, None, {"value": one.words})
        elif isinstance(content, str) and content_code(content) != known:
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
    elif set(uuids) != wanted:
        found = "golden_doc_uuids are not the documents of golden_chunk_uuids"
        yield Problem("golden-documents-unlike", "/golden_doc_uuids", None, {"found": found})
    there = {d["uuid"] for d in documents if isinstance(d.get("uuid"), str)}
    if there - wanted:
        found = "golden_documents has documents without a golden chunk"
        yield Problem("golden-documents-unlike", "/golden_documents", None, {"found": found})
    copies = value.get("golden_chunks")
    if copies is not None and _named(copies) != [(one.uuid, one.number) for one in golden]:
        yield Problem("golden-chunks-unlike", "/golden_chunks")


def _named(chunks: Any) -> list[tuple[Any, Any]] | None:
    if not isinstance(chunks, list) or not all(isinstance(c, dict) for c in chunks):
        return None
    return [(c.get("doc_uuid"), c.get("index")) for c in chunks]
