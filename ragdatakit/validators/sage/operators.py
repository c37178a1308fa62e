"""What today's SAGE operators would make of one record; and gold answers that were taken for documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.texts import quoted
from ragdatakit.validators.sage.stages import Stages

_READ = ("results", "retrieval_results", "refining_results", "context", "external_corpus", "sources")
_RERANKED = ("reranking_results", "reranking_docs", "reranking_time")
_LATER = ("refining_results", "results", "generated", "refine_time", "generate_time", "compressed_context")


def operator_problems(record: dict[str, Any], stages: Stages) -> Iterator[Problem]:
    """Records that an operator takes no text from, or stops at."""
    retrieved, results = record.get("retrieval_results"), record.get("results")
    if results == [] and isinstance(retrieved, list) and retrieved:
        yield Problem("empty-results-hide-retrieval", "/results", results, {"count": _number(retrieved)})
    if isinstance(results, list) and results and not any(key in record for key in _READ[1:]):
        yield Problem("reranked-results-only", "/results", results, {"count": _number(results)})
    docs = [f"{s.name}_docs" for s in stages.each() if s.docs]
    if docs and not any(key in record for key in _READ):
        yield Problem("docs-without-results", f"/{docs[0]}", None, {"present": ", ".join(docs)})
    if stages.refining.texts and stages.refining.results and stages.refining.texts == stages.retrieval.texts:
        yield Problem("refined-equals-retrieved", "/refining_results", None, {"count": len(stages.refining.texts)})
    if "prompt" in record and "generated" not in record:
        yield Problem("prompt-for-generator", "/prompt", record["prompt"])
    if retrieved == [] and record.get("context") and "refining_results" not in record:
        context = record["context"]
        shown = quoted(context if isinstance(context, str) else repr(context))
        yield Problem("unread-context", "/retrieval_results", retrieved, {"context": shown})
    yield from _before_reranker(record, retrieved)


def _number(values: list[Any]) -> str:
    return "one text" if len(values) == 1 else f"{len(values)} texts"


def _before_reranker(record: dict[str, Any], retrieved: Any) -> Iterator[Problem]:
    """Objects stop a reranker: for certain where the record shows one, perhaps where it ends with retrieval."""
    if not isinstance(retrieved, list):
        return
    i = next((i for i, element in enumerate(retrieved) if isinstance(element, dict)), None)
    if i is None:
        return
    if any(key in record for key in _RERANKED):
        yield Problem("objects-before-reranker", f"/retrieval_results/{i}", retrieved[i])
    elif not any(key in record for key in _LATER):
        yield Problem("objects-for-reranker", f"/retrieval_results/{i}", retrieved[i])


def gold_problems(record: dict[str, Any], stages: Stages) -> Iterator[Problem]:
    """Refined texts that are the references, where nothing was retrieved."""
    references = record.get("references")
    if not isinstance(references, list) or not references or stages.refining.texts != references:
        return
    if not stages.retrieval.texts and not stages.reranking.texts and not stages.other_source:
        yield Problem("references-as-context", f"/{stages.refining.key}", references)
