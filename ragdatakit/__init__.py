"""ragdata: find out what a RAG framework would reject, drop or misread in your data, before it does."""

from __future__ import annotations

from ragdatakit.version import __version__

__all__ = [
    "ConversionResult",
    "DatasetDatabase",
    "Fault",
    "Finding",
    "FixResult",
    "FormatPlugin",
    "RagdataError",
    "Report",
    "RulePlugin",
    "SearchOptions",
    "UnknownNameError",
    "__version__",
    "connect",
    "convert",
    "diff",
    "evaluate",
    "explain",
    "explore",
    "export",
    "fetch",
    "fix",
    "formats",
    "gate",
    "index",
    "init",
    "open_database",
    "open_retriever",
    "push",
    "query",
    "read",
    "report",
    "retrieve",
    "rules",
    "schema",
    "training_samples",
    "validate",
    "verify",
]

TYPE_CHECKING = (
    False  # as of `typing`, whose import takes the command as long as all that comes before a signal is seen to
)
if TYPE_CHECKING:
    from typing import Any

    from ragdatakit.api.convert import convert
    from ragdatakit.api.descriptions.export import export
    from ragdatakit.api.diff import diff
    from ragdatakit.api.evaluate import evaluate
    from ragdatakit.api.explorer.explore import explore
    from ragdatakit.api.fix import fix
    from ragdatakit.api.gate import gate
    from ragdatakit.api.hub import fetch, push
    from ragdatakit.api.query import query
    from ragdatakit.api.read import connect, read, training_samples, verify
    from ragdatakit.api.reference import explain, formats, init, rules, schema
    from ragdatakit.api.report import open_database, report
    from ragdatakit.api.search import index, open_retriever, retrieve
    from ragdatakit.api.validate import validate
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.schemas.conversions import ConversionResult
    from ragdatakit.schemas.errors import RagdataError, UnknownNameError
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.schemas.options import SearchOptions
    from ragdatakit.schemas.results import FixResult, Report
    from ragdatakit.schemas.settings.plugins import Fault, FormatPlugin, RulePlugin

_HOMES = {
    "connect": "ragdatakit.api.read",
    "convert": "ragdatakit.api.convert",
    "diff": "ragdatakit.api.diff",
    "evaluate": "ragdatakit.api.evaluate",
    "explain": "ragdatakit.api.reference",
    "explore": "ragdatakit.api.explorer.explore",
    "export": "ragdatakit.api.descriptions.export",
    "fetch": "ragdatakit.api.hub",
    "fix": "ragdatakit.api.fix",
    "formats": "ragdatakit.api.reference",
    "gate": "ragdatakit.api.gate",
    "index": "ragdatakit.api.search",
    "init": "ragdatakit.api.reference",
    "open_database": "ragdatakit.api.report",
    "open_retriever": "ragdatakit.api.search",
    "push": "ragdatakit.api.hub",
    "query": "ragdatakit.api.query",
    "read": "ragdatakit.api.read",
    "report": "ragdatakit.api.report",
    "retrieve": "ragdatakit.api.search",
    "rules": "ragdatakit.api.reference",
    "schema": "ragdatakit.api.reference",
    "training_samples": "ragdatakit.api.read",
    "validate": "ragdatakit.api.validate",
    "verify": "ragdatakit.api.read",
    "ConversionResult": "ragdatakit.schemas.conversions",
    "DatasetDatabase": "ragdatakit.database.dataset_database",
    "Finding": "ragdatakit.schemas.findings",
    "FixResult": "ragdatakit.schemas.results",
    "Report": "ragdatakit.schemas.results",
    "SearchOptions": "ragdatakit.schemas.options",
    "Fault": "ragdatakit.schemas.settings.plugins",
    "FormatPlugin": "ragdatakit.schemas.settings.plugins",
    "RulePlugin": "ragdatakit.schemas.settings.plugins",
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
