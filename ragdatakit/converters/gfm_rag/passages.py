"""Passages under the keys that GFM-RAG knows them by, and `raw/documents.json`."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import cached_property

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Chunk
from ragdatakit.schemas.errors import RagdataError

_TITLED_SOURCES = ("hipporag",)
_ADDITION = " (document)"


class Passages:
    """What is retrieved, by key. The framework calls keys titles, shows them to its models and has nothing else.

    ``key`` is ``id``, ``title`` (numbered where it is that of a passage before), or ``auto``: the title where all
    passages have one, none the same, and they come from a format that knows passages by their titles (HippoRAG,
    GFM-RAG itself); else the id, which is always unique.
    """

    def __init__(self, tables: CanonicalTables, key: str) -> None:
        self._tables = tables
        self._keys: dict[str, str] = {}  # by id, where they differ
        self._by_title = key != "id" and self._collect_titles(key)
        self._names: dict[str, str] | None = None
        self.written: set[str] = set()

    def _collect_titles(self, key: str) -> bool:
        if key == "auto" and self._tables.format not in _TITLED_SOURCES:
            return False
        titles: dict[str, int] = {}
        seen: set[str] = set()
        repeated: list[tuple[str, str]] = []
        for document in self._tables.peek_passages():
            title = document.title
            if document.doc_id in seen:
                continue
            seen.add(document.doc_id)
            if key == "auto" and (not title or title in titles):
                self._keys.clear()
                return False
            if not title:
                raise RagdataError(f"--option key=title: {document.doc_id!r} has no title")
            if title in titles:
                repeated.append((document.doc_id, title))
            elif title != document.doc_id:
                self._keys[document.doc_id] = title
            titles.setdefault(title, 1)
        self._number(repeated, titles)
        return bool(titles)

    def _number(self, repeated: list[tuple[str, str]], titles: dict[str, int]) -> None:
        """Number the titles of passages that come after one of the same title."""
        for doc_id, title in repeated:
            while (numbered := f"{title} ({titles[title] + 1})") in titles:
                titles[title] += 1
            titles[title] += 1
            titles[numbered] = 1
            self._keys[doc_id] = numbered

    def keep_apart(self, names: Container[str]) -> None:
        """Find other keys for passages that are called like these nodes by accident."""
        ids = dict.fromkeys(doc_id for doc_id, _ in self._listed)
        keys = set(map(self.key_of, ids))
        for doc_id in ids:
            key = self.key_of(doc_id)
            if key in names:
                while key in names or key in keys:
                    key += _ADDITION
                keys.add(key)
                self._keys[doc_id] = key

    @cached_property
    def _listed(self) -> list[tuple[str, str | None]]:
        """Ids and titles of all passages."""
        if self._tables.passages == "documents":
            return [(document.doc_id, document.title) for document in self._tables.peek_passages()]
        titles = {d.doc_id: d.title for d in self._tables.peek("documents") if d.title}
        return [(chunk_id, titles.get(doc_id)) for chunk_id, doc_id in self._chunks]

    @cached_property
    def _chunks(self) -> list[tuple[str, str | None]]:
        """Ids of all chunks, and of their documents."""
        blocks = self._tables.peek_columns("chunks")
        return [pair for columns in blocks for pair in zip(columns[0], columns[2], strict=True)]

    @property
    def has_other_keys(self) -> bool:
        """Whether a passage is not known by its id."""
        return bool(self._keys)

    def key_of(self, passage: str) -> str:
        """The key of a passage, by its id."""
        return self._keys.get(passage, passage)

    def title_of(self, key: str) -> str | None:
        """The title of a passage that has another key."""
        return self._shown.get(key)

    @property
    def _shown(self) -> dict[str, str]:
        if self._names is None:
            named = ((self.key_of(doc_id), title) for doc_id, title in self._listed)
            self._names = {key: title for key, title in named if title and title != key}
        return self._names

    def every_key(self) -> Iterator[str]:
        """The key of every passage, each once."""
        return iter(dict.fromkeys(self.key_of(doc_id) for doc_id, _ in self._listed))

    def texts(self) -> Iterator[tuple[str, str]]:
        """Key and text of every passage; of one key, the first."""
        seen = set()
        for ids, texts, *_ in self._tables.peek_columns(self._tables.passages):
            for key, text in zip(map(self.key_of, ids) if self._keys else ids, texts, strict=True):
                if key not in seen:
                    seen.add(key)
                    yield key, text

    def keys_by_name(self) -> dict[str, str]:
        """Keys by what edges may call their passages: the id, the key, the document of which it is the only chunk."""
        found: dict[str, str] = {}
        if self._tables.passages == "chunks":
            chunks: dict[str, str | None] = {}
            for chunk_id, document in self._chunks:
                if document is not None:
                    chunks[document] = None if document in chunks else chunk_id
            found |= {name: self.key_of(chunk) for name, chunk in chunks.items() if chunk is not None}
        for doc_id, _ in self._listed:
            found[doc_id] = self.key_of(doc_id)
        for key in list(found.values()):
            found.setdefault(key, key)
        return found

    def write(self, out: Output, name: Callable[[str], str], keeps_titles: bool) -> None:
        """Write them as one object; ``name`` gives the last word on a key, ``keeps_titles``: they are elsewhere."""
        tables = self._tables
        seen = set()
        with out.object("raw/documents.json") as file:
            for document in tables.take_passages("doc_id", "text", "title"):
                if document.doc_id in seen:
                    row = document if tables.passages == "documents" else Chunk(document.doc_id, document.text)
                    tables.drop(tables.passages, row, "a passage of this id comes before")
                    continue
                seen.add(document.doc_id)
                if document.title and document.title not in (document.doc_id, self.key_of(document.doc_id)):
                    self._account_title(document.doc_id, document.title, keeps_titles)
                self.written.add(self.key_of(document.doc_id))
                key = name(self.key_of(document.doc_id))
                if key != document.doc_id:
                    out.renamed("passage", key, document.doc_id)
                file.write_member(key, document.text)

    def _account_title(self, doc_id: str, title: str, kept: bool) -> None:
        add, table = self._tables.losses.add, self._tables.passages
        if self._by_title:
            why = "another passage or a node has this title: something is added to it"
            add("coerced", table, "title", why, f"{doc_id}: {title} became {self.key_of(doc_id)}")
        elif not kept:
            why = "documents are known by their ids; --option key=title takes the titles instead"
            add("lost", table, "title", why, f"{doc_id}: {title}")
