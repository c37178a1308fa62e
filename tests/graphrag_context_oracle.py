"""What GraphRAG itself puts into a context: run its builders, and keep what they give in ``graphrag_contexts.json``.

``PYTHONPATH=. python -m tests.graphrag_context_oracle FOLDER`` in an environment with graphrag 3.3.0 writes the file
anew, from the real data in FOLDER; with a name behind it only that of one folder. Tests read it. Nothing is asked of
a model or of the network: vectors are hashed words, tokens are words and signs, and vectors are compared exactly.
Builders are made anew for each question, as the command line makes them: they keep something of one question for the
next.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import re
import sys
from pathlib import Path
from typing import Any

CONTEXTS = Path(__file__).parent / "graphrag_contexts.json"
ROOT = Path(__file__).parent.parent
DIMENSION = 256
_TOKEN = re.compile(r"\w+|[^\w\s]")

DULCE = (
    "Who is Alex Mercer?",
    "What does Taylor Cruz want?",
    "What is Operation Dulce?",
    "Who leads the Paranormal Military Squad?",
    "What did Jordan Hayes find in the signal?",
    "Where is the base, and what lies below it?",
    "Which claims are made about the mission?",
    "How do Sam Rivera and Alex Mercer work together?",
    "first contact with an alien intelligence",
    "",
)
CAROL = (
    "Who is Ebenezer Scrooge?",
    "What did the Ghost of Christmas Past show?",
    "Who is Tiny Tim, and what becomes of him?",
    "What does Marley say of his chain?",
    "Who wrote the book, and who distributes it?",
    "What are the terms of the licence?",
    "Where do the Cratchits live?",
    "Who is Fezziwig?",
    "the poulterer's prize turkey",
    "",
)
COAST = ("Who built the Ostrel lighthouse?", "Mara Venn", "What is in part 0 of the coast?", "")
QUESTIONS = {
    "fixtures/graphrag/valid/parquet": COAST,
    "operation-dulce": DULCE,
    "carol-v2.0.0": CAROL,
    "carol-v2.7.2": CAROL,
    "carol-v3.1.2": CAROL,
}
"""By folder: our own, and those of the real data."""
LOCAL = ((12_000, 2, True), (12_000, 2, False), (4_000, 1, True), (1_500, 0, True), (300, 2, True))
"""Tokens, level of communities, whether claims are given."""
GLOBAL = ((12_000, 2), (12_000, 0), (3_000, 1), (600, 3), (100, 2))
"""Tokens of a batch, level of communities."""


def tokens(text: str) -> list[str]:
    """Words and signs."""
    return _TOKEN.findall(text)


def embedded(text: str) -> Any:
    """Words hashed into a vector of length 1."""
    import numpy as np

    found = np.zeros(DIMENSION)
    for word in re.findall(r"\w+", text.lower()):
        found[int(hashlib.md5(word.encode()).hexdigest(), 16) % DIMENSION] += 1
    if not found.any():
        found[0] = 1
    return found / np.linalg.norm(found)


def nearest(matrix: Any, question: str, k: int) -> list[int]:
    """The rows that are nearest to a question; of equal ones the first."""
    import numpy as np

    return list(map(int, np.argsort(-(matrix @ embedded(question)).round(9), kind="stable")[:k]))


def digest(text: str) -> str:
    """A short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Store:
    """A store of vectors that compares exactly."""

    def __init__(self, ids: list[str], matrix: Any) -> None:
        self._ids, self._matrix = ids, matrix

    def similarity_search_by_text(self, text: str, text_embedder: Any, k: int = 10, **_: Any) -> list[Any]:
        from graphrag_vectors import VectorStoreDocument, VectorStoreSearchResult

        text_embedder(text)
        return [
            VectorStoreSearchResult(document=VectorStoreDocument(id=self._ids[row], vector=None), score=1.0)
            for row in nearest(self._matrix, text, k)
        ]


class _Embedder:
    def embedding(self, **given: Any) -> Any:
        return type("Reply", (), {"first_embedding": embedded(given["input"][0]).tolist()})


def _words() -> Any:
    from graphrag_llm.tokenizer import Tokenizer

    class Words(Tokenizer):
        def __init__(self, **_: Any) -> None:
            pass

        def encode(self, text: str) -> list[Any]:
            return tokens(text)

        def decode(self, tokens: list[Any]) -> str:
            return " ".join(tokens)

    return Words()


async def _tables(folder: Path) -> dict[str, Any]:
    from graphrag.data_model.data_reader import DataReader
    from graphrag_storage.file_storage import FileStorage
    from graphrag_storage.tables.parquet_table_provider import ParquetTableProvider

    reader = DataReader(ParquetTableProvider(FileStorage(base_dir=str(folder))))
    names = ["entities", "relationships", "communities", "community_reports", "text_units"]
    names += ["covariates"] if (folder / "covariates.parquet").exists() else []
    found = {name: await getattr(reader, name)() for name in names}
    units = found["text_units"]
    if "document_ids" in units:  # as upstream's own migration of 2.x does it
        units["document_id"] = [ids[0] for ids in units["document_ids"]]
    return found


async def recorded(folder: Path, questions: tuple[str, ...]) -> dict[str, Any]:
    """What the builders give for a folder of tables."""
    import numpy as np
    from graphrag.query.indexer_adapters import (
        read_indexer_communities,
        read_indexer_covariates,
        read_indexer_entities,
        read_indexer_relationships,
        read_indexer_reports,
        read_indexer_text_units,
    )
    from graphrag.query.structured_search.global_search.community_context import GlobalCommunityContext
    from graphrag.query.structured_search.local_search.mixed_context import LocalSearchMixedContext

    rows = (await _tables(folder))["entities"]
    shown = [f"{title}:{description}" for title, description in zip(rows.title, rows.description, strict=True)]
    store = _Store(list(rows.id), np.stack([embedded(text) for text in shown]))
    local = []
    for number, (budget, level, claims) in enumerate(LOCAL):
        for question in questions if number < 3 else questions[:4]:
            read = await _tables(folder)
            covariates = read_indexer_covariates(read["covariates"]) if claims and "covariates" in read else None
            builder = LocalSearchMixedContext(
                entities=read_indexer_entities(read["entities"], read["communities"], level),
                entity_text_embeddings=store,
                text_embedder=_Embedder(),
                text_units=read_indexer_text_units(read["text_units"]),
                community_reports=read_indexer_reports(read["community_reports"], read["communities"], level),
                relationships=read_indexer_relationships(read["relationships"]),
                covariates={"claims": covariates} if covariates is not None else {},
                tokenizer=_words(),
            )
            found = builder.build_context(
                query=question,
                text_unit_prop=0.5,
                community_prop=0.15,
                top_k_mapped_entities=10,
                top_k_relationships=10,
                include_entity_rank=True,
                include_relationship_weight=True,
                max_context_tokens=budget,
            )
            records = {name: list(found.context_records[name]["id"]) if "id" in found.context_records[name] else []
                       for name in found.context_records}  # fmt: skip
            local.append(
                {
                    "question": question,
                    "settings": [budget, level, claims],
                    **{name: [int(i) for i in ids] for name, ids in records.items()},
                    "text": digest(found.context_chunks),
                }
            )
    whole = []
    for budget, level in GLOBAL:
        read = await _tables(folder)
        builder = GlobalCommunityContext(
            community_reports=read_indexer_reports(read["community_reports"], read["communities"], level),
            communities=read_indexer_communities(read["communities"], read["community_reports"]),
            entities=read_indexer_entities(read["entities"], read["communities"], level),
            tokenizer=_words(),
        )
        found = await builder.build_context(
            query="any question",
            use_community_summary=False,
            include_community_rank=True,
            community_weight_name="occurrence weight",
            max_context_tokens=budget,
        )
        order = [int(i) for i in found.context_records["reports"]["id"]] if found.context_records else []
        whole.append(
            {"settings": [budget, level], "reports": order, "batches": [digest(t) for t in found.context_chunks]}
        )
    return {"local": local, "global": whole}


def folder_of(name: str, data: Path) -> Path:
    """Where a folder is; ``data`` has the real ones."""
    return ROOT / name if name.startswith("fixtures/") else data / name


async def main(data: Path, among: str = "") -> dict[str, Any]:
    """All folders; or those called so, with the others as they were recorded."""
    found: dict[str, Any] = json.loads(CONTEXTS.read_text(encoding="utf-8")) if among else {}
    for name, questions in QUESTIONS.items():
        if name.startswith(among):
            found[name] = await recorded(folder_of(name, data), questions)
    return found


if __name__ == "__main__":
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    logging.disable(logging.CRITICAL)
    found = asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:3]))
    CONTEXTS.write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
