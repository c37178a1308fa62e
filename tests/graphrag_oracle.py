"""What GraphRAG's own loaders make of damaged indexes: read the tables, build the contexts, keep what comes out.

``PYTHONPATH=. PATH/TO/python -m tests.graphrag_oracle``, with a Python that has ``graphrag`` 3.3.0 and this package,
writes ``graphrag_verdicts.json`` anew. No model is asked and no network used.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

from tests.graphrag_cases import cases

VERDICTS = Path(__file__).parent / "graphrag_verdicts.json"
LEVEL = 2
QUERY = "Who mapped Kettle Reef?"


def outcome(folder: Path, is_csv: bool) -> dict[str, Any]:
    """By step: the name of the exception that stops it, or what it gives."""
    return asyncio.run(_outcome(folder, is_csv))


async def _outcome(folder: Path, is_csv: bool) -> dict[str, Any]:
    up = importlib.import_module
    storage = up("graphrag_storage.file_storage").FileStorage(base_dir=str(folder))
    if is_csv:
        provider = up("graphrag_storage.tables.csv_table_provider").CSVTableProvider(storage)
    else:
        provider = up("graphrag_storage.tables.parquet_table_provider").ParquetTableProvider(storage)
    reader = up("graphrag.data_model.data_reader").DataReader(provider)
    read = up("graphrag.query.indexer_adapters")
    found: dict[str, Any] = {}
    try:
        e, r, c, p, t = [
            await getattr(reader, name)()
            for name in ("entities", "relationships", "communities", "community_reports", "text_units")
        ]
        claims = read.read_indexer_covariates(await reader.covariates()) if await provider.has("covariates") else []
        entities = read.read_indexer_entities(e, c, LEVEL)
        relationships = read.read_indexer_relationships(r)
        reports = read.read_indexer_reports(p, c, LEVEL)
        units = read.read_indexer_text_units(t)
        communities = read.read_indexer_communities(c, p)
    except Exception as error:  # noqa: BLE001 - whatever stops it is the verdict
        return {"load": type(error).__name__}
    found["load"] = [len(each) for each in (entities, relationships, reports, units, communities, claims)]
    found["local"] = _guarded(lambda: _local(entities, relationships, reports, units, claims))
    try:
        found["global"] = await _global(entities, reports, communities)
    except Exception as error:  # noqa: BLE001
        found["global"] = type(error).__name__
    found["dynamic"] = _guarded(lambda: _dynamic(reports, communities))
    return found


def _guarded(step: Any) -> Any:
    try:
        return step()
    except Exception as error:  # noqa: BLE001
        return type(error).__name__


class _Store:
    """All entities, in their order, as the nearest ones."""

    def __init__(self, entities: list[Any]) -> None:
        self._entities = entities

    def similarity_search_by_text(self, text: str, text_embedder: Any, k: int = 10) -> list[Any]:
        vectors = importlib.import_module("graphrag_vectors")
        return [
            vectors.VectorStoreSearchResult(document=vectors.VectorStoreDocument(id=e.id, vector=None), score=1.0)
            for e in self._entities[:k]
        ]


def _words() -> Any:
    tokenizer = importlib.import_module("graphrag_llm.tokenizer").Tokenizer

    class Words(tokenizer):  # type: ignore[misc, valid-type]
        def __init__(self, **_: Any) -> None: ...

        def encode(self, text: str) -> list[str]:
            return re.findall(r"\w+|\S", text)

        def decode(self, tokens: list[str]) -> str:
            return " ".join(tokens)

    return Words()


def _local(entities: Any, relationships: Any, reports: Any, units: Any, claims: Any) -> dict[str, int]:
    module = importlib.import_module("graphrag.query.structured_search.local_search.mixed_context")
    context = module.LocalSearchMixedContext(
        entities=entities,
        entity_text_embeddings=_Store(entities),
        text_embedder=None,
        text_units=units,
        community_reports=reports,
        relationships=relationships,
        covariates={"claims": claims} if claims else None,
        tokenizer=_words(),
    )
    built = context.build_context(
        query=QUERY,
        text_unit_prop=0.5,
        community_prop=0.15,
        include_entity_rank=True,
        include_relationship_weight=True,
        max_context_tokens=12_000,
    )
    return {name.lower(): len(table) for name, table in built.context_records.items()}


async def _global(entities: Any, reports: Any, communities: Any) -> list[str]:
    module = importlib.import_module("graphrag.query.structured_search.global_search.community_context")
    context = module.GlobalCommunityContext(
        community_reports=reports, communities=communities, entities=entities, tokenizer=_words()
    )
    built = await context.build_context(
        query=QUERY, use_community_summary=False, include_community_rank=True, max_context_tokens=12_000
    )
    return sorted(str(i) for table in built.context_records.values() for i in table["id"])


def _dynamic(reports: Any, communities: Any) -> list[str]:
    module = importlib.import_module("graphrag.query.context_builder.dynamic_community_selection")
    chosen = module.DynamicCommunitySelection(
        community_reports=reports, communities=communities, model=None, tokenizer=_words()
    )
    return sorted(chosen.starting_communities)


def main() -> None:
    """Write the verdicts."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, index) in enumerate(cases()):
            folder = Path(scratch) / str(number)
            index.write(folder)
            found[name] = outcome(folder, index.ending == ".csv")
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(told)}" for name, told in found.items())
    VERDICTS.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
