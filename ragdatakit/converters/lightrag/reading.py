"""Working directories, payloads and extractions of LightRAG as rows of the canonical tables.

Vectors and the cache of answers are not converted: they can be made again, and the cache holds prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from ragdatakit.converters import Options
from ragdatakit.files.containers.json_text import begins, dumps, fields_of, loads, object_text, string_of
from ragdatakit.files.containers.long_json import long_or_short
from ragdatakit.files.containers.sources import FileFault
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.lightrag.extraction import records as extracted
from ragdatakit.files.lightrag.graph_items import Fault, Item
from ragdatakit.files.lightrag.graphml import GraphReader
from ragdatakit.files.lightrag.names import NO_KEYWORDS, SEPARATOR, UNKNOWN_FILE, normalised, sources_of
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.noted_rows import Note, NotedRows
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Chunk, Community, Document, Edge, Node, Relation, Summary

_NUMBERS = {"weight": float, "created_at": int, "order": int}
_PIECE = 1 << 20
_OWN = ("_id", "create_time", "update_time")


def read(dataset: Dataset, records: RecordReader, options: Options) -> Mapping[str, RowSource]:
    """The tables of one dataset."""
    reader = _Reader(dataset, records)
    found: dict[str, RowSource] = {}
    if dataset.of_kind("documents"):
        found["documents"] = reader.documents
    if dataset.of_kind("chunks"):
        found["chunks"] = reader.chunks
    if dataset.of_kind("graph"):
        edges = NotedRows(records.losses, reader.edges)
        found |= {"nodes": reader.nodes, "relations": reader.relations, "edges": edges}
    if dataset.of_kind("reports"):
        found |= {"summaries": reader.summaries, "communities": reader.communities}
    if payloads := dataset.of_kind("payload"):
        found |= _PayloadReader(payloads, records).tables()
    if texts := dataset.of_kind("extraction"):
        found |= _ExtractionReader(texts, records).tables()
    return found


class _Reader:
    """The stores of one working directory."""

    def __init__(self, dataset: Dataset, records: RecordReader) -> None:
        self._dataset = dataset
        self._records = records
        self._chunk_lists: dict[str, list[str]] | None = None
        self._relation_names: dict[str, None] | None = None

    def _members(self, kind: str, needed: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
        """The records of stores; those that are not objects, or lack the ``needed`` text, are left out."""
        for file in self._dataset.of_kind(kind):
            for place, name, raw in self._records.numbered_members(file):
                fields = fields_of(raw) if begins(raw, b"{") else None
                if fields is None:
                    self._records.leave_out(file, place, "it is not an object", name)
                elif needed and not string_of(fields.get(needed)):
                    self._records.leave_out(file, place, f"it has no {needed}", name)
                else:
                    yield name, fields

    def documents(self) -> Iterator[Document]:
        """Whole documents; the name of the file is the title."""
        for name, fields in self._members("documents"):
            rest = {k: v for k, v in fields.items() if k not in ("content", "file_path", *_OWN)}
            path = string_of(fields.get("file_path"))
            title = path if path and path != UNKNOWN_FILE else None
            yield Document(name, string_of(fields.get("content")) or "", title, object_text(rest) if rest else None)

    def chunks(self) -> Iterator[Chunk]:
        """Pieces of documents; those without a text are left out."""
        documents = {name for name, _ in self._members("documents")}
        for name, fields in self._members("chunks", "content"):
            taken = ("content", "full_doc_id", "chunk_order_index", "tokens", "llm_cache_list", "status", *_OWN)
            rest = {k: v for k, v in fields.items() if k not in taken}
            document, place = string_of(fields.get("full_doc_id")), loads(fields.get("chunk_order_index", b"null"))
            if document not in documents and documents:
                document = None
            ordinal = place if type(place) is int and place >= 0 else None
            text = string_of(fields["content"]) or ""
            yield Chunk(name, text, document, ordinal, metadata=object_text(rest) if rest else None)

    def _items(self) -> Iterator[Item]:
        for file in self._dataset.of_kind("graph"):
            count, faults = 0, list[Fault]()
            with self._records.stream(file) as stream:
                reader = GraphReader(iter(lambda: stream.read(_PIECE), b""))
                for items, last in reader.batches():
                    count, faults = count + len(items), last
                    yield from items
            file.records = count
            if faults and not (reader.whole and reader.found):
                self._records.stop(file, FileFault(faults[-1].rule, faults[-1].facts), count)

    def _lists(self) -> dict[str, list[str]]:
        """All chunks of each entity and relation; the graph may have the first of them only. Each id is held once."""
        if self._chunk_lists is None:
            self._chunk_lists, ids = {}, dict[str, str]()
            for kind in ("entity-chunks", "relation-chunks"):
                for name, fields in self._members(kind):
                    chunks = loads(fields["chunk_ids"]) if "chunk_ids" in fields else None
                    if isinstance(chunks, list):
                        self._chunk_lists[name] = [ids.setdefault(c, c) for c in chunks if isinstance(c, str)]
        return self._chunk_lists

    def nodes(self) -> Iterator[Node]:
        """Entities, once each. What the relations are called is kept, for which the graph is then not read again."""
        seen: set[str] = set()
        names: dict[str, None] = {}
        for item in self._items():
            if item.ends:
                source, target = item.ends
                names[_relation_name(item.attributes.get("keywords"), source, target, [])] = None
            elif item.name not in seen:
                seen.add(item.name)
                kind = item.attributes.get("entity_type", "").strip().strip('"') or None  # old versions quote it
                passages = self._lists().get(item.name) or sources_of(item.attributes.get("source_id", ""))
                yield Node(item.name, kind, _attributes(item, ("entity_id", "entity_type"), passages))
        self._relation_names = names

    def edges(self, notes: list[Note]) -> Iterator[Edge]:
        """Relations of entities, called by their keywords."""
        for item in self._items():
            if item.ends:
                source, target = item.ends
                key = SEPARATOR.join(sorted(item.ends))
                passages = self._lists().get(key) or sources_of(item.attributes.get("source_id", ""))
                attributes = _attributes(item, ("keywords",), passages if len(passages) > 1 else [])
                name = _relation_name(item.attributes.get("keywords"), source, target, notes)
                yield Edge(source, name, target, attributes, None, passages[0] if passages else None)

    def relations(self) -> Iterator[Relation]:
        """The keywords of edges, each once."""
        names, self._relation_names = self._relation_names, None
        if names is None:
            names = {edge.relation: None for edge in self.edges([])}
        yield from map(Relation, names)

    def communities(self) -> Iterator[Community]:
        """The clusters that have reports, with their nodes."""
        parents = self._wholes()
        for name, fields in self._members("reports"):
            level, nodes = _level(fields), loads(fields.get("nodes", b"null"))
            members = tuple(n for n in nodes if isinstance(n, str)) if isinstance(nodes, list) else ()
            title = string_of(fields.get("title"))
            yield Community(name, level or 0, title, parents.get(name), members)

    def _wholes(self) -> dict[str, str]:
        """By community, the one that it is a part of."""
        found: dict[str, str] = {}
        for name, fields in self._members("reports"):
            parts = loads(fields.get("sub_communities", b"null"))
            found |= {part: name for part in parts if isinstance(part, str)} if isinstance(parts, list) else {}
        return found

    def summaries(self) -> Iterator[Summary]:
        """The reports of communities; those of the deepest ones are on level 1.

        They are made of the reports of their parts, else of chunks. Metadata has the community, the title and rank.
        """
        levels, with_text = dict[str, int | None](), set[str]()
        for name, fields in self._members("reports"):
            levels[name] = _level(fields)
            if string_of(fields.get("report_string")):
                with_text.add(name)
        deepest = max((level for level in levels.values() if level is not None), default=0)
        parts: dict[str, list[str]] = {}
        for part, whole in self._wholes().items():
            if part in with_text:
                parts.setdefault(whole, []).append(f"report-{part}")
        for name, fields in self._members("reports", "report_string"):
            level, chunks = levels[name], loads(fields.get("chunk_ids", b"[]"))
            listed = [c for c in chunks if isinstance(c, str)] if isinstance(chunks, list) else []
            text = string_of(fields["report_string"]) or ""
            above = 0 if level is None else deepest - level
            children = tuple(parts.get(name, ()) or listed)
            yield Summary(f"report-{name}", above + 1, text, children, dumps(_report(name, fields)))


def _level(fields: Mapping[str, bytes]) -> int | None:
    """The level of a community; None where it is not an integer that a table holds."""
    level = loads(fields.get("level", b"0"))
    return level if type(level) is int and abs(level) < 1 << 62 else None


def _report(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """What a report says of itself besides its text."""
    report = loads(fields.get("report_json", b"null"))
    title_and_rank = {"title": report.get("title"), "rank": report.get("rating")} if isinstance(report, dict) else {}
    return {key: value for key, value in {"community": name, **title_and_rank}.items() if value is not None}


def _relation_name(keywords: object, source: str, target: str, notes: list[Note]) -> str:
    """The keywords; relations of nano-graphrag have none."""
    if isinstance(keywords, str) and keywords.strip():
        return keywords
    notes.append(("derived", "edges", "relation", "the relation has no keywords", f"{source} → {target}"))
    return NO_KEYWORDS


def _attributes(item: Item, without: tuple[str, ...], passages: list[str]) -> str | None:
    found: dict[str, Any] = {}
    for name, text in item.attributes.items():
        if name in (*without, "source_id") or not text:
            continue
        found[name] = _number(name, text)
    if passages:
        found["passages"] = list(dict.fromkeys(passages))
    return dumps(found) if found else None


def _number(name: str, text: str) -> Any:
    try:
        return _NUMBERS[name](text) if name in _NUMBERS else text
    except ValueError:
        return text


class _PayloadReader:
    """Payloads of custom graphs. LightRAG reads each whole; here no more than its text is held, and names."""

    def __init__(self, files: list[DataFile], records: RecordReader) -> None:
        self._files = files
        self._records = records

    def tables(self) -> dict[str, RowSource]:
        """The tables of all of them."""
        edges = NotedRows(self._records.losses, self._edges)
        return {"chunks": self._chunks, "nodes": self._nodes, "relations": self._relations, "edges": edges}

    def _parts(self, name: str) -> Iterator[tuple[dict[str, Any], Callable[[str], None]]]:
        """The objects in a list of the payloads, each with what says why it is left out."""
        for file in self._files:
            for payload in self._records.objects(file, "json-single"):
                items = long_or_short(payload[name]) if name in payload else None
                del payload
                for place, item in enumerate(items) if isinstance(items, list) else ():
                    leave_out = partial(self._leave_out, file, name, place)
                    if isinstance(item, dict):
                        yield item, leave_out
                    else:
                        leave_out("it is not an object")

    def _leave_out(self, file: DataFile, part: str, place: int, why: str) -> None:
        where = f"{file.display}/{part}/{place}"
        self._records.tell_once("dropped", part, None, why, file, place, where=where)

    def _chunks(self) -> Iterator[Chunk]:
        seen: set[str] = set()
        for item, leave_out in self._parts("chunks"):
            text, alias = item.get("content"), item.get("source_id")
            if not isinstance(text, str) or not text.strip():
                leave_out("it has no content")
                continue
            if not isinstance(alias, str) or alias in seen:
                leave_out(f"its source_id is {'that of another chunk' if isinstance(alias, str) else 'not a text'}")
                continue
            seen.add(alias)
            rest = {k: v for k, v in item.items() if k not in ("content", "source_id", "chunk_order_index")}
            place = item.get("chunk_order_index")
            ordinal = place if type(place) is int and place >= 0 else None
            yield Chunk(alias, text, None, ordinal, metadata=dumps(rest) if rest else None)

    def _nodes(self) -> Iterator[Node]:
        last = {name: place for place, (name, *_) in enumerate(self._named())}
        for place, (name, item, leave_out) in enumerate(self._named()):
            if not name or last[name] != place:
                leave_out("a later entity has its name" if name else "it has no name")
            else:
                kind = item.get("entity_type")
                rest = _rest(item, ("entity_name", "entity_type", "source_id"), keep_alias=True)
                yield Node(name, kind if isinstance(kind, str) else None, rest)

    def _named(self) -> Iterator[tuple[str, dict[str, Any], Callable[[str], None]]]:
        """Entities under the names that they are stored by; of several with one name the last one counts."""
        for item, leave_out in self._parts("entities"):
            name = item.get("entity_name")
            yield (normalised(name) if isinstance(name, str) else ""), item, leave_out

    def _edges(self, notes: list[Note]) -> Iterator[Edge]:
        for item, leave_out in self._parts("relationships"):
            ends = [item.get("src_id"), item.get("tgt_id")]
            source, target = (normalised(end) if isinstance(end, str) else "" for end in ends)
            if not source or not target:
                leave_out("it has no two names")
            else:
                alias = item.get("source_id")
                rest = _rest(item, ("src_id", "tgt_id", "keywords", "source_id"))
                name = _relation_name(item.get("keywords"), source, target, notes)
                yield Edge(source, name, target, rest, None, alias if isinstance(alias, str) and alias else None)

    def _relations(self) -> Iterator[Relation]:
        return (Relation(name) for name in dict.fromkeys(edge.relation for edge in self._edges([])))


def _rest(item: dict[str, Any], without: tuple[str, ...], keep_alias: bool = False) -> str | None:
    found = {k: v for k, v in item.items() if k not in without}
    alias = item.get("source_id")
    if keep_alias and isinstance(alias, str) and alias:
        found["passages"] = [alias]
    return dumps(found) if found else None


class _ExtractionReader:
    """Texts of extractions: one chunk each, by the name of its file."""

    def __init__(self, files: list[DataFile], records: RecordReader) -> None:
        self._files = files
        self._records = records

    def tables(self) -> dict[str, RowSource]:
        """Nodes and edges."""
        edges = NotedRows(self._records.losses, self._edges)
        return {"nodes": self._nodes, "relations": self._relations, "edges": edges}

    def _found(self, kind: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        for file in self._files:
            chunk = PurePosixPath(file.name).name.removesuffix(".extraction.txt")
            records = [*extracted(self._records.text(file))]
            file.records = len(records)
            for record in records:
                if record.kind == kind and record.fields:
                    yield chunk, record.fields

    def _nodes(self) -> Iterator[Node]:
        described: dict[str, tuple[str, list[str], list[str]]] = {}
        for chunk, (name, kind, description) in self._found("entity"):
            _, descriptions, passages = described.setdefault(name, (kind, [], []))
            descriptions.append(description)
            passages.append(chunk)
        for name, (kind, descriptions, passages) in described.items():
            text = SEPARATOR.join(dict.fromkeys(descriptions))
            yield Node(name, kind, dumps({"description": text, "passages": list(dict.fromkeys(passages))}))

    def _edges(self, notes: list[Note]) -> Iterator[Edge]:
        for chunk, (source, target, keywords, description) in self._found("relation"):
            keywords = _relation_name(keywords, source, target, notes)
            yield Edge(source, keywords, target, dumps({"description": description}), None, chunk)

    def _relations(self) -> Iterator[Relation]:
        return (Relation(name) for name in dict.fromkeys(edge.relation for edge in self._edges([])))
