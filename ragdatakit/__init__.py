"""ragdata: find out what a RAG framework would reject, drop or misread in your data, before it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "ConversionResult",
    "Dataset",
    "Finding",
    "RagdataError",
    "Report",
    "SearchOptions",
    "UnknownNameError",
    "__version__",
    "connect",
    "convert",
    "diff",
    "evaluate",
    "gate",
    "index",
    "open_database",
    "open_retriever",
    "query",
    "read",
    "report",
    "retrieve",
    "training_samples",
    "validate",
    "verify",
]

if TYPE_CHECKING:
    from ragdatakit.api import connect, convert, read, training_samples, validate, verify
    from ragdatakit.diff_api import diff
    from ragdatakit.evaluation_api import evaluate
    from ragdatakit.gate_api import gate
    from ragdatakit.query_api import query
    from ragdatakit.report_api import open_database, report
    from ragdatakit.retrieval.options import SearchOptions
    from ragdatakit.schemas.conversions import ConversionResult
    from ragdatakit.schemas.errors import RagdataError, UnknownNameError
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.schemas.results import Report
    from ragdatakit.search_api import index, open_retriever, retrieve
    from ragdatakit.tables.canonical_frames import Dataset

_HOMES = {
    "connect": "ragdatakit.api",
    "convert": "ragdatakit.api",
    "diff": "ragdatakit.diff_api",
    "evaluate": "ragdatakit.evaluation_api",
    "gate": "ragdatakit.gate_api",
    "index": "ragdatakit.search_api",
    "open_database": "ragdatakit.report_api",
    "open_retriever": "ragdatakit.search_api",
    "query": "ragdatakit.query_api",
    "read": "ragdatakit.api",
    "report": "ragdatakit.report_api",
    "retrieve": "ragdatakit.search_api",
    "training_samples": "ragdatakit.api",
    "validate": "ragdatakit.api",
    "verify": "ragdatakit.api",
    "ConversionResult": "ragdatakit.schemas.conversions",
    "Dataset": "ragdatakit.tables.canonical_frames",
    "Finding": "ragdatakit.schemas.findings",
    "Report": "ragdatakit.schemas.results",
    "SearchOptions": "ragdatakit.retrieval.options",
    "RagdataError": "ragdatakit.schemas.errors",
    "UnknownNameError": "ragdatakit.schemas.errors",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
