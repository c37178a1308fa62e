"""How to index and search: the words of ``ragdata index``, ``retrieve`` and ``eval``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What decides about an index and about how it is searched.

    ``analyzer`` is ``default`` (any script) or ``ja`` (Japanese words, extra ``ja``); ``stemmer`` a Snowball language
    or ``none``. ``embedder`` is ``sentence-transformers:MODEL`` or ``openai:MODEL`` (with ``base_url`` and the name of
    the environment variable that has the key); ``vectors`` and ``query_vectors`` are files of given vectors, dense or
    sparse. ``vector_store`` is ``numpy`` or ``lancedb``. ``graph`` is ``given`` (nodes and edges of the dataset),
    ``names`` (a graph of the names in the texts) or ``auto`` (the one that is given, else names). ``damping`` is the
    probability to walk on in personalised PageRank. ``fuse`` has the modes that ``hybrid`` fuses with their weights
    (empty: bm25 with each of dense, sparse and graph that there is).
    """

    analyzer: Literal["default", "ja"] = "default"
    stemmer: str = "english"
    embedder: str = ""
    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    vector_store: Literal["numpy", "lancedb"] = "numpy"
    vectors: Path | None = None
    query_vectors: Path | None = None
    graph: Literal["auto", "given", "names"] = "auto"
    damping: float = 0.5
    fuse: Mapping[str, float] = field(default_factory=dict)
    rrf_k: int = 60
