"""A store of vectors, read as a stream: its rows, its matrix, and what they say beside the other stores."""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.arrays import TOO_LONG, Part
from ragdatakit.files.containers.element_scans import Element
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import JSON, REFUSED
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.lightrag.names import entity_id, pair_of, relation_ids
from ragdatakit.files.lightrag.vectors import VectorRows, sound_base64
from ragdatakit.files.texts.codes import code_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.lacking import unusable
from ragdatakit.validators.lightrag.known import Known

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Placed = tuple[Problem, Located | Callable[[], Located] | None]
_NEEDED = {
    "chunk-vectors": ("__id__", "content"),
    "entity-vectors": ("__id__", "entity_name"),
    "relation-vectors": ("__id__", "src_id", "tgt_id"),
}
_READ = ("__id__", "content", "entity_name", "src_id", "tgt_id", "source_id", "file_path", "full_doc_id", "vector")
_SHOWN = {"chunk-vectors": ("__id__",), "entity-vectors": ("entity_name",), "relation-vectors": ("src_id", "tgt_id")}
"""By what a row is called in messages."""
_LONG = 10_000
"""Characters of a content that may have been cut to what the model takes."""
_BITS = 64
_FEWEST = 8 * _BITS
"""Numbers that the planes look at together; shorter vectors are repeated, each time with other signs."""
_LONGEST = 1 << 21
"""Bytes of a vector beyond which it is none."""
_AT_ONCE = 256
_APART = 20
"""Bits in which two sketches differ that are not of one vector: those of a rounded copy differ in few."""
_MEMBERS = {"embedding_dim": "an integer", "data": "a list", "matrix": "a text"}


class VectorCheck:
    """Judges one store. Rows come before the matrix; of their own vectors a sketch is kept, to be compared with it."""

    def __init__(self, kind: str, known: Known, nano: bool) -> None:
        self._kind = kind
        self._needed = _NEEDED[kind] if not nano else tuple(n for n in _NEEDED[kind] if n != "content")
        self._known = known
        self._judged = {
            "chunk-vectors": self._chunk,
            "entity-vectors": self._entity,
            "relation-vectors": self._relation,
        }[kind]
        self._seen: dict[Any, None] = {}
        self._sketches: list[int | None] = []
        self._names: list[tuple[str, ...]] = []
        self._odd: list[tuple[int, str, str]] = []
        self._signs: Any = None
        self._rows, self._unread_end = 0, -1
        self._width = 0
        self._waiting: list[tuple[int, bytes]] = []

    def problems(self, file: DataFile, source: Source) -> Iterator[Placed]:
        """The faults of a file, in its order."""
        rows = VectorRows(source, self._vectors)
        for part in rows.parts():
            values: list[Any] = list(part.values) if part.proved else []
            for place, element in enumerate(values or part.elements()):
                if isinstance(element, Element):
                    yield from self._element(element, source)
                else:
                    for problem in self._row(element):
                        yield problem, partial(_placed_in, part, place)
        file.records = self._rows
        file.to_end = rows.whole and "data" in rows.found and self._unread_end < 0
        if rows.error:
            if not source.faults and rows.error_offset > self._unread_end:  # else the last row is not whole
                reason = Problem("vectors-not-json", facts={"reason": rows.error}, position=0, length=1)
                yield reason, Located(0, rows.error_line, rows.error_offset, b"")
        elif rows.top not in ("object", "array", "empty"):
            yield Problem("vectors-not-json", facts={"reason": "the top level is not an object"}), None
        else:
            yield from self._whole(file, rows)

    def _element(self, element: Element, source: Source) -> Iterator[Placed]:
        place = _placed(element)
        if element.error == TOO_LONG:
            yield Problem("line-too-long", facts={"bytes": source.max_line_bytes}), place
        elif element.error:
            if element.error != "the array is not closed":
                yield Problem("vectors-not-json", facts={"reason": element.error}, position=0, length=1), place
        else:
            value = JSON.plain(element.raw)
            if value is REFUSED:
                decoded = JSON.decode(element.raw.decode("utf-8", "replace"))
                if decoded.error:
                    yield Problem("vectors-not-json", facts={"reason": decoded.error}, position=decoded.position), place
                    self._unread_end = element.byte_offset + len(element.raw)
                    self._skip()
                    return
                value = decoded.value
            for problem in self._row(value):
                yield problem, place

    def _skip(self) -> None:
        self._rows += 1
        self._sketches.append(None)
        self._names.append(("?",))

    def _row(self, row: Any) -> Iterator[Problem]:
        if not isinstance(row, dict):
            yield Problem("incomplete-row", "", row, {"field": "the row"})
            self._skip()
            return
        missing = [name for name in self._needed if not isinstance(row.get(name), str) or not row[name]]
        for name in missing:
            yield unusable("incomplete-row", "", row, name, _READ)
        if isinstance(row.get("file_path"), list | dict):
            yield Problem("path-not-text", "/file_path", row["file_path"])
        if missing:
            self._names.append(tuple(str(row.get(name))[:200] for name in _SHOWN[self._kind]))
        else:
            yield from self._judged(row)
            self._names.append(tuple(self._known.one(row[name]) for name in _SHOWN[self._kind]))
        self._rows += 1
        self._keep(row.get("vector"))

    def _is_repeated(self, key: Any) -> bool:
        """Whether a key has been seen, which it is now."""
        if key in self._seen:
            return True
        self._seen[key] = None
        return False

    def _chunk(self, row: dict[str, Any]) -> Iterator[Problem]:
        chunk = row["__id__"]
        if self._is_repeated(self._known.one(chunk)):
            yield Problem("repeated-vector", "/__id__", chunk)
        chunks = self._known.chunks
        if chunks is not None and chunk not in chunks:
            yield Problem("vector-without-chunk", "/__id__", chunk)
        elif chunks is not None and "content" in row and _code(row["content"]) != chunks[chunk] != 0:
            yield Problem("other-content", "/content", row["content"], {"value": f'"{chunk}"'})

    def _entity(self, row: dict[str, Any]) -> Iterator[Problem]:
        name = row["entity_name"]
        if self._is_repeated(self._known.one(name)):
            yield Problem("repeated-vector", "/entity_name", name)
        if row["__id__"] != entity_id(name):
            yield Problem("wrong-vector-id", "/__id__", row["__id__"], {"expected": entity_id(name)})
        nodes = self._known.nodes
        if nodes is None:
            return
        if name not in nodes:
            yield Problem("vector-without-node", "/entity_name", name)
            return
        content = row.get("content")
        if isinstance(content, str) and len(content) < _LONG and content.startswith(name):
            text = content[len(name) :].removeprefix("\n")
            if code_of(text) != nodes[name].texts:
                yield Problem("stale-content", "/content", name)
        elif "content" in row and (not isinstance(content, str) or len(content) < _LONG):
            yield Problem("stale-content", "/content", name)

    def _relation(self, row: dict[str, Any]) -> Iterator[Problem]:
        source, target = row["src_id"], row["tgt_id"]
        pair = pair_of(source, target)
        shown = f"{source} – {target}"
        if self._is_repeated(tuple(map(self._known.one, pair))):
            yield Problem("repeated-vector", "/src_id", shown)
        if row["__id__"] not in relation_ids(source, target):
            expected = next(relation_ids(source, target))
            yield Problem("wrong-vector-id", "/__id__", row["__id__"], {"expected": expected})
        edges = self._known.edges
        if edges is None:
            return
        if pair not in edges:
            yield Problem("vector-without-edge", "/src_id", shown)
        elif "content" in row and not _is_fresh(row["content"], source, target, edges[pair].texts):
            yield Problem("stale-content", "/content", shown)

    def _keep(self, vector: Any) -> None:
        """Note the vector of a row; None where it has none that can be read."""
        found = _unpacked(vector) if isinstance(vector, str) else None
        if found and len(found) == (self._width or len(found)):
            self._width = len(found)
            self._waiting.append((len(self._sketches), found))
        self._sketches.append(None)
        if len(self._waiting) == _AT_ONCE:
            self._sketch()

    def _sketch(self) -> None:
        """Of the vectors that were noted, the sides of random planes on which they lie."""
        import numpy as np

        if self._waiting:
            numbers = np.frombuffer(b"".join(vector for _, vector in self._waiting), dtype="<f2")
            vectors = numbers.reshape(len(self._waiting), -1).astype(np.float32)
            finite: Any = np.isfinite(vectors).all(axis=1)
            sides = self._sides(np.where(finite[:, None], vectors, 0))
            for (place, _), side, known in zip(self._waiting, sides.tolist(), finite.tolist(), strict=True):
                self._sketches[place] = side if known else None
            self._waiting = []

    def _sides(self, vectors: Any) -> npt.NDArray[np.uint64]:
        """A bit for each plane. A plane looks at every 64th number only (of short vectors at all): so it takes one
        pass over them, and no product of matrices, for which numpy would start threads that wait busily."""
        import numpy as np

        width = vectors.shape[1]
        times = -(-_FEWEST // width)
        each = -(-width * times // _BITS)
        if self._signs is None or self._signs.size != each * _BITS:
            self._signs = np.random.default_rng(7).choice(np.array([-1, 1], np.float32), (each, _BITS))
        wide = np.zeros((len(vectors), each * _BITS), np.float32)
        for start in range(0, width * times, width):
            wide[:, start : start + width] = vectors
        with np.errstate(all="ignore"):
            sums = (wide.reshape(-1, each, _BITS) * self._signs).sum(axis=1)
        sides: npt.NDArray[np.uint64] = np.packbits(sums > 0, axis=1).view(np.uint64)[:, 0]
        return sides

    def _vectors(self, first: int, vectors: npt.NDArray[np.float32]) -> None:
        """Rows of the matrix as they come."""
        import numpy as np

        self._sketch()
        finite: Any = np.isfinite(vectors).all(axis=1).tolist()
        zero: Any = (~vectors.any(axis=1)).tolist()
        odd = [place for place in range(len(vectors)) if zero[place] or not finite[place]]
        for place in odd:
            self._odd.append((first + place, self._named(first + place), "zero" if zero[place] else "not finite"))
        own = [s for s in self._sketches[first : first + len(vectors)] if s is not None]
        if not own or 2 * vectors.shape[1] != self._width:
            return
        sides = self._sides(np.where(np.array(finite)[:, None], vectors, 0))
        for place, side in enumerate(sides.tolist()):
            row = first + place
            sketch = self._sketches[row] if row < len(self._sketches) else None
            if sketch is None or not finite[place] or zero[place]:
                continue
            if (sketch ^ side).bit_count() > _APART:
                self._odd.append((row, self._named(row), ""))

    def _named(self, row: int) -> str:
        return " – ".join(self._names[row])[:200] if row < len(self._names) else f"row {row}"

    def _whole(self, file: DataFile, rows: VectorRows) -> Iterator[Placed]:
        """What is reported of the store as a whole."""
        if not rows.found:
            lacking = {"member": "each of embedding_dim, data and matrix", "expected": "of its type"}
            yield Problem("incomplete-vectors", facts=lacking), None
        for name, words in _MEMBERS.items() if rows.found else ():
            if name not in rows.found:
                yield Problem("incomplete-vectors", f"/{name}", facts={"member": name, "expected": words}), None
        if rows.broken_base64:
            yield Problem("matrix-not-base64", "/matrix"), None
        dimension = rows.dimension
        if rows.found != _MEMBERS.keys() or dimension is None:
            return
        self._known.dimensions[file] = dimension
        expected = 4 * dimension * self._rows
        if not rows.broken_base64 and rows.matrix_bytes != expected:
            facts = {"found": rows.matrix_bytes, "rows": self._rows, "dimension": dimension, "expected": expected}
            yield Problem("matrix-of-another-size", "/matrix", facts=facts), None
            return
        for row, name, reason in self._odd:
            pointer = f"/data/{row}"
            if reason:
                yield Problem("useless-vector", pointer, name, {"reason": reason}), None
            else:
                yield Problem("vector-of-another-row", pointer, row), None

    def missing(self) -> Iterator[tuple[str, Problem]]:
        """What has no vector, with the kind of the file that names it; asked when the store was read to its end."""
        known = self._known
        if self._kind == "chunk-vectors":
            for chunk in known.chunks or ():
                if chunk not in self._seen:
                    yield "chunks", Problem("chunk-without-vector", None, chunk)
        elif self._kind == "entity-vectors":
            for name, described in (known.nodes or {}).items():
                if name not in self._seen:
                    pointer = f"/nodes/{described.number}"
                    yield "graph", Problem("node-without-vector", pointer, name, line=described.line or None)
        else:
            for pair, described in (known.edges or {}).items():
                if pair not in self._seen:
                    pointer, shown = f"/edges/{described.number}", " – ".join(pair)
                    yield "graph", Problem("edge-without-vector", pointer, shown, line=described.line or None)


def _unpacked(vector: str) -> bytes | None:
    """The bytes of a packed vector, two for each number; None where it is none. A bomb is not unpacked whole."""
    unpacking = zlib.decompressobj()
    try:
        packed = sound_base64(vector)
        found = unpacking.decompress(binascii.a2b_base64(vector) if packed is None else packed, _LONGEST)
    except (ValueError, zlib.error):
        return None
    return found if unpacking.eof and len(found) % 2 == 0 else None


def _code(content: Any) -> int | None:
    return code_of(content) if isinstance(content, str) else None


def _is_fresh(content: Any, source: str, target: str, texts: int) -> bool:
    """Whether the content of a relation is made of the keywords and the description in the graph, as any version
    makes it."""
    if not isinstance(content, str):
        return False
    if len(content) >= _LONG:
        return True
    for first, second in ((source, target), (target, source)):
        before, found, rest = content.partition(f"\t{first}\n{second}\n")  # since 1.2
        if found and code_of(before, rest) == texts:
            return True
        if content.startswith(f"{first}\t{second}\n"):  # 1.3 and 1.4
            keywords, _, description = content[len(first) + len(second) + 2 :].partition("\n")
            if code_of(keywords, description) == texts:
                return True
        before, found, rest = content.partition(first + second)  # 0.x
        if found and code_of(before, rest) == texts:
            return True
    return False


def _placed_in(part: Part, place: int) -> Located:
    return _placed(part.elements()[place])


def _placed(element: Element) -> Located:
    return Located.element(element)
