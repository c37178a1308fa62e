"""Passages under the keys that GFM-RAG knows them by, and `raw/documents.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.kept_rows import firsts_of
from ragdatakit.outputs.written_files import Output
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

    def keep_apart(self, names: set[str]) -> None:
        """Find other keys for passages that are called like these nodes by accident."""
        ids = dict.fromkeys(doc_id for doc_id, _ in self._listed)
        keys = {*self._keys_of([*ids])}
        if names.isdisjoint(keys):
            return
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
        titles = self._tables.titles_of_documents()
        return [(chunk, None if document is None else titles.get(document)) for chunk, document in self._chunks]

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

    def _keys_of(self, passages: Sequence[str]) -> Sequence[str]:
        return [*map(self.key_of, passages)] if self._keys else passages

    @cached_property
    def titles(self) -> dict[str, str]:
        """The titles of passages that have another key, by that; not to be asked for while keys may change."""
        named = ((self.key_of(doc_id), title) for doc_id, title in self._listed if title)
        return {key: title for key, title in named if title != key}

    def every_key(self) -> Iterator[str]:
        """The key of every passage, each once."""
        return iter(dict.fromkeys(self._keys_of([doc_id for doc_id, _ in self._listed])))

    def texts(self) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        """Keys and texts of all passages, many at a time; of one key, the first."""
        seen = set[str]()
        for ids, texts, *_ in self._tables.peek_columns(self._tables.passages):
            (keys, those), _ = firsts_of((self._keys_of(ids), texts), seen)
            if keys:
                yield keys, those

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

    def write(self, out: Output, names: Callable[[Sequence[str]], Sequence[str]], keeps_titles: bool) -> None:
        """Write them as one object; ``names`` gives the last word on keys, ``keeps_titles``: they are elsewhere."""
        seen = set[str]()
        with out.object("raw/documents.json") as file:
            for block in self._tables.take_passage_texts():
                (ids, texts, titles), repeated = firsts_of(block, seen)
                for doc_id in repeated:
                    self._tables.drop(self._tables.passages, (doc_id,), "a passage of this id comes before")
                if not ids:
                    continue
                keys = self._keys_of(ids)
                for doc_id, key, title in zip(ids, keys, titles, strict=True) if any(titles) else ():
                    if title and title not in (doc_id, key):
                        self._account_title(doc_id, title, keeps_titles)
                self.written.update(keys)
                called = names(keys)
                for name, doc_id in zip(called, ids, strict=True) if called != ids else ():
                    if name != doc_id:
                        out.renamed("passage", name, doc_id)
                file.write_texts(called, texts)

    def _account_title(self, doc_id: str, title: str, kept: bool) -> None:
        add, table = self._tables.losses.add, self._tables.passages
        if self._by_title:
            why = "another passage or a node has this title: something is added to it"
            add("coerced", table, "title", why, f"{doc_id}: {title} became {self.key_of(doc_id)}")
        elif not kept:
            why = "documents are known by their ids; --option key=title takes the titles instead"
            add("lost", table, "title", why, f"{doc_id}: {title}")
