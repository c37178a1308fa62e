"""What tests of vectors share: passages on disk, and parts built and opened as an index does it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragdatakit.retrieval.index_parts import Part, Ranker, Ranking
from ragdatakit.retrieval.passages import Passage, Passages, write_passages
from ragdatakit.schemas.retrieved import Query
from tests.conversion_tools import tables_of

TEXTS = ["the ferry leaves at nine", "tickets and fares", "the ferry and its fares", "nothing of the kind", "harbour"]


def passages_of(folder: Path, texts: Iterable[str] = TEXTS, ids: Iterable[str] | None = None) -> Passages:
    """Passages with these texts; their ids are p0, p1 and so on."""
    texts = list(texts)
    folder.mkdir()
    names = [f"p{i}" for i in range(len(texts))] if ids is None else list(ids)
    write_passages(folder, [Passage(i, text) for i, text in zip(names, texts, strict=True)])
    return Passages(folder, "document")


def built(part: Part, folder: Path, passages: Passages) -> tuple[dict[str, Any], Ranker]:
    """The facts of a part, and the part opened."""
    folder.mkdir()
    facts = dict(part.build(folder, passages, tables_of, None))
    json.dumps([facts, dict(part.settings)])
    return facts, part.open(folder, passages)


def ranked(ranker: Ranker, *queries: str | Query, k: int = 10) -> list[Ranking]:
    """The rankings of these questions."""
    return ranker.rank([Query(q) if isinstance(q, str) else q for q in queries], k)


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    """A file of JSON lines; text stands as it is."""
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path
