"""What GraphRAG itself loads of tables that ragdata wrote: run it, and keep it in ``graphrag_written.json``.

``python -m tests.graphrag_written_oracle PYTHON3 PYTHON2`` writes the file anew; the two are interpreters with graphrag
3.3.0 and 2.7.2. Tests compare what is written with what was loaded then; with an interpreter in the environment
variable ``RAGDATA_GRAPHRAG_PYTHON`` they also let GraphRAG load it again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

WRITTEN = Path(__file__).parent / "graphrag_written.json"
ROOT = Path(__file__).parent.parent
SOURCES = {
    "documents": ("text", "plain/texts"),
    "triples": ("datamind", "datamind/valid/profile"),
    "graph": ("gfm-rag", "gfm-rag/valid/minimal"),
    "openie": ("hipporag", "hipporag/valid/2wiki"),
    "payload": ("lightrag", "lightrag/valid/payload"),
    "directory": ("lightrag", "lightrag/valid/ingested"),
}
"""What is written: a format, and a fixture of it."""
RELEASES = ("3", "2")


def rows_digest(folder: Path) -> str:
    """A digest of all rows of all tables."""
    import pyarrow.parquet as pq

    found = {path.name: pq.read_table(path).to_pylist() for path in sorted(folder.glob("*.parquet"))}
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:16]


def loaded_by(python: str, folder: Path, release: str) -> Any:
    """What GraphRAG loads, in a process of its own."""
    found = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONPATH": str(ROOT)}
    words = [python, "-m", "tests.graphrag_written_oracle", "--load", str(folder), release]
    done = subprocess.run(words, env=found, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def _load(folder: Path, release: str) -> dict[str, Any]:
    """The numbers of entities, relationships, reports, text units and communities; a context, and batches."""
    import pandas as pd
    from graphrag.query.indexer_adapters import (
        read_indexer_communities,
        read_indexer_entities,
        read_indexer_relationships,
        read_indexer_reports,
        read_indexer_text_units,
    )

    names = ("entities", "relationships", "communities", "community_reports", "text_units")
    if release == "3":
        from tests.graphrag_context_oracle import _tables

        read = asyncio.run(_tables(folder))
    else:
        read = {name: pd.read_parquet(folder / f"{name}.parquet") for name in names}
    entities = read_indexer_entities(read["entities"], read["communities"], 2)
    relationships = read_indexer_relationships(read["relationships"])
    reports = read_indexer_reports(read["community_reports"], read["communities"], 2)
    units = read_indexer_text_units(read["text_units"])
    communities = read_indexer_communities(read["communities"], read["community_reports"])
    found: dict[str, Any] = {"counts": [len(each) for each in (entities, relationships, reports, units, communities)]}
    if release == "3":
        found |= _contexts(entities, relationships, reports, units, communities)
    return found


def _contexts(entities: Any, relationships: Any, reports: Any, units: Any, communities: Any) -> dict[str, Any]:
    """What the builders give for the entity with most relationships."""
    import numpy as np
    from graphrag.query.structured_search.global_search.community_context import GlobalCommunityContext
    from graphrag.query.structured_search.local_search.mixed_context import LocalSearchMixedContext

    from tests.graphrag_context_oracle import _Embedder, _Store, _words, digest, embedded

    matrix = np.stack([embedded(f"{e.title}:{e.description}") for e in entities])
    local = LocalSearchMixedContext(
        entities=entities,
        entity_text_embeddings=_Store([e.id for e in entities], matrix),
        text_embedder=_Embedder(),
        text_units=units,
        community_reports=reports,
        relationships=relationships,
        tokenizer=_words(),
    ).build_context(query=max(entities, key=lambda e: e.rank).title, text_unit_prop=0.5, community_prop=0.15)
    whole = GlobalCommunityContext(
        community_reports=reports, communities=communities, entities=entities, tokenizer=_words()
    ).build_context(query="any", use_community_summary=False, include_community_rank=True, max_context_tokens=12_000)
    kept = {name: len(rows) for name, rows in local.context_records.items()}
    return {"context": kept, "text": digest(local.context_chunks), "batches": len(asyncio.run(whole).context_chunks)}


def record(pythons: dict[str, str]) -> dict[str, Any]:
    """All sources, written and loaded."""
    import ragdatakit

    found: dict[str, Any] = {}
    for name, (source_format, fixture) in SOURCES.items():
        for release in RELEASES:
            with tempfile.TemporaryDirectory() as place:
                there = Path(place) / "index"
                source = ROOT / "fixtures" / fixture
                options = {"release": release}
                ragdatakit.convert(source, there, to="graphrag", source_format=source_format, options=options)
                found[f"{name} {release}"] = {"rows": rows_digest(there), **loaded_by(pythons[release], there, release)}
    return found


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    if sys.argv[1] == "--load":
        print(json.dumps(_load(Path(sys.argv[2]), sys.argv[3])))
    else:
        recorded = record(dict(zip(RELEASES, sys.argv[1:3], strict=True)))
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(told)}" for name, told in recorded.items())
        WRITTEN.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
