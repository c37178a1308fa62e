"""ragdata: find out what a RAG framework would reject, drop or misread in your data, before it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Finding", "RagdataError", "Report", "UnknownNameError", "__version__", "connect", "validate"]

if TYPE_CHECKING:
    from ragdatakit.api import connect, validate
    from ragdatakit.schemas.errors import RagdataError, UnknownNameError
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.schemas.results import Report

_HOMES = {
    "connect": "ragdatakit.api",
    "validate": "ragdatakit.api",
    "Finding": "ragdatakit.schemas.findings",
    "Report": "ragdatakit.schemas.results",
    "RagdataError": "ragdatakit.schemas.errors",
    "UnknownNameError": "ragdatakit.schemas.errors",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
