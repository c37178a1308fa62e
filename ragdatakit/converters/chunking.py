"""Documents cut into chunks: by tokens or characters at the best places, or by sentences, with overlap.

Libraries find the places; they are given a long text in windows, because the time they take grows faster than the
text. A piece is the text between two offsets, exactly as it stands there, without the blanks around it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ragdatakit.files.containers import json_text
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowSource
from ragdatakit.files.reading.noted_rows import Note, NotedRows
from ragdatakit.files.texts import plain_tokens
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import Chunk, Document
from ragdatakit.schemas.errors import MissingExtraError, RagdataError

if TYPE_CHECKING:
    from semantic_text_splitter import TextSplitter
    from tokenizers import Tokenizer

By = Literal["tokens", "sentences", "characters"]
USUAL_SIZES: dict[str, int] = {"tokens": 256, "sentences": 8, "characters": 1000}
_EXTRA = "split"
_WINDOW_PIECES = 16
"""Units of a window, in sizes of a piece: a token has several characters, so that a window holds a few pieces."""
_SENTENCE_WINDOW = 1 << 12
"""Characters (the library takes quadratic time over the sentences of one paragraph)."""

Span = tuple[int, int]
"""Where a piece begins and ends in its document, in characters."""


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """How to cut.

    ``size`` is the most tokens, sentences or characters of a piece (None: as in `USUAL_SIZES`; 0: do not cut);
    ``overlap`` how many of the text before it are repeated at the beginning of a piece. ``tokenizer`` is a Hugging
    Face ``tokenizer.json`` that counts the tokens; without it a token is a word, a punctuation mark, or a CJK
    character. ``language`` (a code such as ``de``) says which abbreviations do not end a sentence.
    """

    by: By = "tokens"
    size: int | None = None
    overlap: int = 0
    tokenizer: Path | str | None = None
    language: str = "en"

    @property
    def most(self) -> int:
        """The size, or the usual one."""
        return USUAL_SIZES[self.by] if self.size is None else self.size

    def check(self) -> None:
        """Raise `RagdataError` where the values make no sense."""
        if self.by not in USUAL_SIZES:
            raise RagdataError(f"chunks are cut by {', '.join(USUAL_SIZES)}, not by {self.by!r}")
        given: tuple[tuple[str, object], ...] = (("size", self.most), ("overlap", self.overlap))
        for name, value in given:
            if not isinstance(value, int) or isinstance(value, bool):
                raise RagdataError(f"a chunk {name} of {value!r} is not a number")
        if self.most < 1:
            raise RagdataError(f"a chunk size of {self.most} is too small; give 1 or more")
        if not 0 <= self.overlap < self.most:
            raise RagdataError(
                f"a chunk overlap of {self.overlap} does not go with a size of {self.most}; give 0 to {self.most - 1}"
            )
        if self.tokenizer is not None and self.by != "tokens":
            raise RagdataError(f"a tokenizer goes with chunks by tokens, not by {self.by}")


def chunk_tables(tables: CanonicalTables, options: ChunkOptions) -> CanonicalTables:
    """The same tables with ``chunks`` cut out of the documents.

    A chunk's id is its document's, ``#`` and its 0-based ordinal; ``start`` and ``end`` in its metadata are the offsets
    of its characters in the document, next to what the document's metadata has. Raises `RagdataError` where there are
    chunks already or no documents, `MissingExtraError` without the libraries.
    """
    if options.size == 0:
        return tables
    options.check()
    if tables.any("chunks"):
        raise RagdataError(f"{tables.name} has chunks already; documents are cut, not chunks")
    if not tables.any("documents"):
        raise RagdataError(f"{tables.name} has no documents that could be cut into chunks")
    split = splitter(options)
    documents = tables.sources["documents"]

    def chunks(notes: list[Note]) -> Iterator[Chunk]:
        ordinals: dict[str, int] = {}
        reason = f"cut out of documents by {options.by}, at most {options.most}, overlap {options.overlap}"
        for document in documents():
            ordinal = ordinals.get(document.doc_id, 0)
            for start, end in split(document.text):
                notes.append(("derived", "chunks", None, reason, None))
                yield _chunk(document, ordinal, start, end)
                ordinal += 1
            ordinals[document.doc_id] = ordinal

    sources: dict[str, RowSource] = {**tables.sources, "chunks": NotedRows(tables.losses, chunks)}
    cut = CanonicalTables(tables.name, tables.format, sources, tables.losses)
    cut.given = tables.given
    cut.covered["documents"] = frozenset(("doc_id", "text", "metadata"))
    return cut


def chunk_id_of(doc_id: str, ordinal: int) -> str:
    """The id of a chunk that is cut out of a document."""
    return f"{doc_id}#{ordinal}"


def _chunk(document: Document, ordinal: int, start: int, end: int) -> Chunk:
    chunk_id = chunk_id_of(document.doc_id, ordinal)
    given = document.metadata if document.metadata not in (None, "{}") else None
    names = ("start", "end")
    if given is None:
        metadata = f'{{"start":{start},"end":{end}}}'
    else:
        if ('"start":' in given or '"end":' in given) and {"start", "end"} & set(json_text.fields_of(given)):
            names = ("chunk_start", "chunk_end")
        metadata = f'{{"{names[0]}":{start},"{names[1]}":{end},{given[1:]}'
    return Chunk(chunk_id, document.text[start:end], document.doc_id, ordinal, metadata=metadata)


def splitter(options: ChunkOptions) -> Callable[[str], Iterator[Span]]:
    """What cuts one text into pieces, in order. Raises `MissingExtraError` without the libraries."""
    if options.by == "sentences":
        return _SentenceGroups(options)
    if options.tokenizer is not None:
        return _ModelTokens(options)
    return _PlainTokens(options) if options.by == "tokens" else _Characters(options)


class _Pieces(ABC):
    """Pieces of at most ``size`` units; the first units of each repeat the last ``overlap`` ones before it.

    The library cuts the text into pieces that leave room for what is repeated. (Its own overlap repeats whole
    paragraphs or sentences, and nothing where these are longer.)
    """

    def __init__(self, options: ChunkOptions) -> None:
        self._size, self._overlap = options.most, options.overlap

    @cached_property
    def _splitter(self) -> TextSplitter:
        return self._make(self._size - self._overlap)

    @abstractmethod
    def _make(self, capacity: int) -> TextSplitter:
        """What cuts a text into pieces of at most this many units."""

    @abstractmethod
    def _overlap_start(self, text: str, start: int, end: int) -> int:
        """Where a piece that begins at ``start`` begins with its overlap."""

    def __call__(self, text: str) -> Iterator[Span]:
        for start, end in self._cuts(text):
            yield (self._overlap_start(text, start, end) if start and self._overlap else start), end

    def _cuts(self, text: str) -> Iterator[Span]:
        """Pieces without overlap. Of each window all are taken but the last, with which the next window begins."""
        usual = max(_WINDOW_PIECES * self._size, 256)
        position, width = 0, usual
        while position < len(text):
            found = self._splitter.chunk_indices(text[position : position + width])
            last = position + width >= len(text)
            for at, piece in found if last else found[:-1]:
                yield from _trimmed(piece, position + at)  # again: the library leaves some blanks
            if last:
                return
            if not found:
                position += width
            elif len(found) == 1:
                width *= 2
            else:
                position, width = position + found[-1][0], usual


class _PlainTokens(_Pieces):
    """Counted without a model. What is no longer than a piece needs no library."""

    def __call__(self, text: str) -> Iterator[Span]:
        if len(text) <= self._size or plain_tokens.count(text) <= self._size:
            return iter(_trimmed(text, 0))
        return super().__call__(text)

    def _make(self, capacity: int) -> TextSplitter:
        return _text_splitter().from_callback(plain_tokens.count, capacity)

    def _overlap_start(self, text: str, start: int, end: int) -> int:
        length = 8 * self._overlap + 64
        while True:
            from_ = max(0, start - length)
            # What a window begins with may be the rest of a token; the beginning of the text is none.
            begins = plain_tokens.starts(text[from_:start])[1 if from_ else 0 :]
            if len(begins) >= self._overlap or not from_:
                return from_ + begins[-self._overlap :][0] if begins else start
            length *= 4


class _Characters(_Pieces):
    """Counted in characters; the overlap begins with a word, if one begins in it."""

    def _make(self, capacity: int) -> TextSplitter:
        return _text_splitter()(capacity)

    def _overlap_start(self, text: str, start: int, end: int) -> int:
        begin = max(0, start - self._overlap)
        kinds = plain_tokens.classes(text[max(0, begin - 1) : start])
        at = 0 if begin == 0 else 1
        if at and kinds[0] == plain_tokens.WORD:
            rest = kinds[1:].lstrip(b"a")
            at = len(kinds) - len(rest) if rest.strip() else 1
        while at < len(kinds) and kinds[at] == plain_tokens.BLANK:
            at += 1
        return begin + at - (0 if begin == 0 else 1)


class _ModelTokens(_Pieces):
    """Counted by a model's tokenizer."""

    def __init__(self, options: ChunkOptions) -> None:
        self._tokenizer = _read_tokenizer(Path(options.tokenizer or ""))
        super().__init__(options)

    def _make(self, capacity: int) -> TextSplitter:
        return _text_splitter().from_huggingface_tokenizer(self._tokenizer, capacity)

    def _overlap_start(self, text: str, start: int, end: int) -> int:
        for begin in self._begins_before(text, start):
            # Tokens may come apart differently where two pieces are joined, so that there is one too many.
            if len(self._tokenizer.encode(text[begin:end], add_special_tokens=False).ids) <= self._size:
                return begin
        return start

    def _begins_before(self, text: str, start: int) -> Iterator[int]:
        """Where the last ``overlap`` tokens before a place begin; not those within a character of several tokens."""
        length = 8 * self._overlap + 64
        while True:
            from_ = max(0, start - length)
            offsets = self._tokenizer.encode(text[from_:start], add_special_tokens=False).offsets
            if len(offsets) > self._overlap or not from_:
                break
            length *= 4
        number = max(0, len(offsets) - self._overlap)
        behind = offsets[number - 1][1] if number else 0
        for first, last in offsets[number:]:
            token = text[from_ + first : from_ + last]
            if first >= behind and token.strip():
                yield from_ + last - len(token.lstrip())
            behind = last


class _SentenceGroups:
    """Groups of ``size`` sentences, the first ``overlap`` of which are the last of the group before."""

    def __init__(self, options: ChunkOptions) -> None:
        self._size, self._step, self._language = options.most, options.most - options.overlap, options.language
        try:
            from sentencex import segment  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise MissingExtraError(_EXTRA, "sentencex") from None
        self._segment: Callable[[str, str], list[str]] = segment

    def __call__(self, text: str) -> Iterator[Span]:
        held: list[Span] = []
        fresh = False
        for sentence in self._sentences(text):
            held.append(sentence)
            fresh = True
            if len(held) == self._size:
                yield held[0][0], held[-1][1]
                held, fresh = held[self._step :], False
        if fresh:
            yield held[0][0], held[-1][1]

    def _sentences(self, text: str) -> Iterator[Span]:
        """Every sentence without the blanks around it. The last quarter of a window is left to the next one: quotation
        marks may be open there."""
        position, width = 0, _SENTENCE_WINDOW
        while position < len(text):
            last = position + width >= len(text)
            limit = width if last else width * 3 // 4
            at = 0
            for sentence in self._segment(self._language, text[position : position + width]):
                if at + len(sentence) > limit:
                    break
                yield from _trimmed(sentence, position + at)
                at += len(sentence)
            if last:
                return
            position, width = (position + at, _SENTENCE_WINDOW) if at else (position, width * 2)


def _trimmed(part: str, position: int) -> Iterator[Span]:
    """Where a part without the blanks around it is; nowhere, if it is all blanks."""
    bare = part.strip()
    if bare:
        start = position + len(part) - len(part.lstrip())
        yield start, start + len(bare)


def _text_splitter() -> type[TextSplitter]:
    try:
        from semantic_text_splitter import TextSplitter
    except ImportError:
        raise MissingExtraError(_EXTRA, "semantic-text-splitter") from None
    return TextSplitter


def _read_tokenizer(path: Path) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError(_EXTRA, "tokenizers") from None
    try:
        tokenizer = Tokenizer.from_str(path.read_text("utf-8"))
    except OSError as error:
        raise RagdataError(f"{path} cannot be read: {error.strerror}") from None
    except Exception as error:  # noqa: BLE001 - the library raises nothing more special
        refuse_machine_fault(error)
        raise RagdataError(f"{path} is not a tokenizer.json: {error}") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
