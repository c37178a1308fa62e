"""ragdata's own retriever, asked as the peers are: ``ragdata_queries.py SET rank|search FOLDER LIMIT``.

``rank`` gives the ids of the best ten, as the peers do, ``search`` their texts, too, with snippets. Run it with the
interpreter of the environment that ragdata is installed in.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from lexical_engines import K, ask

from ragdatakit.api.search import open_retriever
from ragdatakit.schemas.retrieved import Query


def opened(root: Path, what: str, folder: Path) -> Callable[[str], list[str]]:
    """What answers a query with ids."""
    retriever = open_retriever(root, index_dir=folder)
    passages = retriever.index.passages

    def rank(text: str) -> list[str]:
        (ranking,) = retriever.rank([Query(text)], "bm25", K)
        return [passages.id(ordinal) for ordinal in ranking.ordinals.tolist()]

    def search(text: str) -> list[str]:
        return [hit.passage_id for hit in retriever.search(text, "bm25", K).hits]

    return rank if what == "rank" else search


def main() -> None:
    """Ask."""
    root, what, folder, limit = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    print(json.dumps(ask(root, limit, lambda: opened(root, what, folder))))


if __name__ == "__main__":
    main()
