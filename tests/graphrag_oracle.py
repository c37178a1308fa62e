"""What GraphRAG's own loaders make of damaged indexes: read the tables, build the contexts, keep what comes out.

``PYTHONPATH=. PATH/TO/python -m tests.graphrag_oracle``, with a Python that has ``graphrag`` and pyarrow, writes
``graphrag_verdicts.json`` anew (3.3.0), or ``graphrag_verdicts_2.json`` (2.7.2). No model is asked and no network used.
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
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.graphrag_cases import cases

VERDICTS = {
    "3": Path(__file__).parent / "graphrag_verdicts.json",
    "2": Path(__file__).parent / "graphrag_verdicts_2.json",
}
TABLES = ("entities", "relationships", "communities", "community_reports", "text_units")
LEVEL = 2
QUERY = "Who mapped Kettle Reef?"


def outcome(folder: Path, is_csv: bool) -> dict[str, Any]:
    """By step: the name of the exception that stops it, or what it gives."""
    return asyncio.run(_outcome(folder, is_csv))


async def _outcome(folder: Path, is_csv: bool) -> dict[str, Any]:
    read = importlib.import_module("graphrag.query.indexer_adapters")
    found: dict[str, Any] = {}
    try:
        *tables, covariates = await (_tables_of_2(folder) if _release() == "2" else _tables(folder, is_csv))
        e, r, c, p, t = tables
        claims = read.read_indexer_covariates(covariates) if covariates is not None else []
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


def _release() -> str:
    return version("graphrag").split(".", 1)[0]


async def _tables(folder: Path, is_csv: bool) -> list[Any]:
    """The tables as 3.x reads them, the claims last: None without any."""
    up = importlib.import_module
    storage = up("graphrag_storage.file_storage").FileStorage(base_dir=str(folder))
    if is_csv:
        provider = up("graphrag_storage.tables.csv_table_provider").CSVTableProvider(storage)
    else:
        provider = up("graphrag_storage.tables.parquet_table_provider").ParquetTableProvider(storage)
    reader = up("graphrag.data_model.data_reader").DataReader(provider)
    found = [await getattr(reader, name)() for name in TABLES]
    return [*found, await reader.covariates() if await provider.has("covariates") else None]


async def _tables_of_2(folder: Path) -> list[Any]:
    """The same as 2.x reads them, which knows Parquet only."""
    up = importlib.import_module
    storage = up("graphrag.storage.file_pipeline_storage").FilePipelineStorage(base_dir=str(folder))
    stored = up("graphrag.utils.storage")
    found = [await stored.load_table_from_storage(name, storage) for name in TABLES]
    claims = "covariates"
    there = await stored.storage_has_table(claims, storage)
    return [*found, await stored.load_table_from_storage(claims, storage) if there else None]


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
        is_2 = _release() == "2"
        vectors = importlib.import_module("graphrag.vector_stores.base" if is_2 else "graphrag_vectors")
        made = partial(vectors.VectorStoreDocument, vector=None, **({"text": None} if is_2 else {}))
        return [vectors.VectorStoreSearchResult(document=made(id=e.id), score=1.0) for e in self._entities[:k]]


def _words() -> Any:
    place = "graphrag.tokenizer.tokenizer" if _release() == "2" else "graphrag_llm.tokenizer"
    tokenizer = importlib.import_module(place).Tokenizer

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
        for number, (name, index) in enumerate(cases(_release())):
            folder = Path(scratch) / str(number)
            index.write(folder)
            found[name] = outcome(folder, index.ending == ".csv")
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(each)}" for name, each in found.items())
    VERDICTS[_release()].write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
