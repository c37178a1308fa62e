"""Why a question fails: where its relevant passages stand in the ranking, and which of its terms they have."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ragdatakit.schemas.retrieved import GoldPlace, Term

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold import GoldQuestion
    from ragdatakit.retrieval.retriever import Retriever

DEPTH = 1000


def gold_places(
    retriever: Retriever, question: GoldQuestion, unit: str, mode: str = "bm25", depth: int = DEPTH
) -> tuple[GoldPlace, ...]:
    """Each relevant target of a question, best rank first. ``unit`` is what is judged (`Gold.unit`)."""
    places = _places_of_nodes if unit == "node" else _places_of_passages
    found = places(retriever, question, unit, mode, depth)
    return tuple(sorted(found, key=lambda place: (place.rank is None, place.rank or 0)))


def _places_of_nodes(retriever: Retriever, question: GoldQuestion, unit: str, mode: str, depth: int) -> list[GoldPlace]:
    graph = retriever.graph
    if mode != "graph" or graph is None:
        fault = f"it is a node of the graph: mode {mode} finds passages only"
        return [GoldPlace(target, question.grades[target], None, depth, fault) for target in question.gold]
    ranks = {name: rank for rank, (name, _) in enumerate(graph.rank_nodes([question.query], depth)[0], 1)}
    return [GoldPlace(target, question.grades[target], ranks.get(target), depth) for target in question.gold]


def _places_of_passages(
    retriever: Retriever, question: GoldQuestion, unit: str, mode: str, depth: int
) -> list[GoldPlace]:
    passages = retriever.index.passages
    ranking = retriever.rank([question.query], mode, depth)[0]
    ranks: dict[str, tuple[int, int]] = {}
    of_documents = unit == "document" and passages.unit == "chunk"
    for rank, ordinal in enumerate(map(int, ranking.ordinals), 1):
        name = passages.document_id(ordinal) if of_documents else passages.id(ordinal)
        ranks.setdefault(name, (len(ranks) + 1 if of_documents else rank, ordinal))
    pieces = _pieces(retriever, question.gold) if of_documents else {}
    found = []
    for target in question.gold:
        best = pieces.get(target) if of_documents else passages.ordinal(target)
        reached: int | None = None
        if target in ranks:
            reached, best = ranks[target]
        place = GoldPlace(target, question.grades[target], reached, depth)
        found.append(_with_terms(retriever, question.text, place, best, of_documents))
    return found


def _pieces(retriever: Retriever, wanted: tuple[str, ...]) -> dict[str, int]:
    """The first chunk of each of these documents."""
    found: dict[str, int] = {}
    names = set(wanted)
    for ordinal, document in enumerate(retriever.index.passages.documents()):
        if document in names:
            found.setdefault(document, ordinal)
    return found


def _with_terms(
    retriever: Retriever, text: str, place: GoldPlace, ordinal: int | None, of_documents: bool
) -> GoldPlace:
    """The place with the terms that the target has; of a document, those of its best chunk."""
    if ordinal is None:
        return replace(place, fault="it has no chunks" if of_documents else "it is not in the corpus")
    passage = retriever.index.passages[ordinal]
    tokenizer = retriever.tokenizer
    has = set(tokenizer.tokens(passage.searched))
    shared: list[Term] = []
    missing: list[Term] = []
    seen: set[str] = set()
    for token, start, end in tokenizer.spans(text):
        if token not in seen:
            seen.add(token)
            term = Term(text[start:end], retriever.lexical.document_frequency(token))
            (shared if token in has else missing).append(term)
    fault = "it has no text" if not passage.searched.strip() else "it has no terms" if not has else ""
    return replace(place, title=passage.title, shared=tuple(shared), missing=tuple(missing), fault=fault)
