"""The documents of a GFM-RAG dataset: titles and texts, members of one JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import orjson

from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_texts
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.files.containers.arrays import ObjectSource, Part
from ragdatakit.files.containers.element_scans import Element
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile
from ragdatakit.scanner.library import library
from ragdatakit.schemas.gfm_rag.records import BUILT_DOCUMENT


def titled_texts(files: list[DataFile], found: dict[str, int]) -> Iterator[list[PackedColumn]]:
    """Titles and texts of the documents; ``found`` gets the documents of each file. Raises `Unproved` where one has
    none, or a file is faulty."""
    for file in files:
        found[file.display] = 0
        members = ObjectSource(Source(file.path, file.path.name.lower().endswith(".gz"), boundary=file.boundary))
        for columns in _titled_by_scanner(members) if library() is not None else map(_titled_part, members.parts()):
            found[file.display] += columns[0].length
            yield columns
        if members.top not in ("object", "empty") or not members.whole or members.source.faults:
            raise Unproved


def _titled_by_scanner(members: ObjectSource) -> Iterator[list[PackedColumn]]:
    """Those of a file, where there is a scanner."""
    import numpy as np

    from ragdatakit.scanner.blocks import BlockScanner
    from ragdatakit.scanner.element_parts import Here, scanned_parts

    fields = [field.name for field in BUILT_DOCUMENT.fields]
    scan = partial(BlockScanner(BUILT_DOCUMENT, {}, kept=fields).scan_elements, members=True)
    none = np.empty(0, np.int64)
    with Here() as here:
        for part, scanned in scanned_parts(members, scan, here, 0, lambda: False):
            if scanned is None or scanned.notes:
                yield _titled_part(part)
            else:
                kept = (scanned.kept[name] for name in fields)
                yield [packed_texts(values.data, values.offsets, none) for values in kept]


def _titled_part(part: Part) -> list[PackedColumn]:
    pairs = list(part.values.items()) if part.proved else [_member(element) for element in part.elements()]
    if not all(type(text) is str for _, text in pairs):
        raise Unproved
    return [packed(Kind.TEXT, column) for column in (zip(*pairs, strict=True) if pairs else ((), ()))]


def _member(element: Element) -> tuple[str, Any]:
    if element.error:
        raise Unproved
    try:
        ((name, value),) = orjson.loads(b"{%b}" % element.raw).items()
    except ValueError:
        raise Unproved from None
    return name, value
