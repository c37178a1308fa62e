"""Rules that a declaration cannot say, and the run that checks a dataset.

The list of formats with checks of their own is explicit; a format without an entry needs none.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragdatakit.validators.checks import FormatChecks

CHECKS: dict[str, tuple[str, str]] = {
    "light-splade": ("ragdatakit.validators.light_splade.checks", "LightSpladeChecks"),
    "arag": ("ragdatakit.validators.arag.checks", "ARagChecks"),
    "datamind": ("ragdatakit.validators.datamind.checks", "DataMindChecks"),
    "gfm-rag": ("ragdatakit.validators.gfm_rag.checks", "GfmRagChecks"),
    "hipporag": ("ragdatakit.validators.hipporag.checks", "HippoRagChecks"),
    "beir": ("ragdatakit.validators.beir.checks", "BeirChecks"),
    "trec": ("ragdatakit.validators.trec.checks", "TrecChecks"),
    "sage": ("ragdatakit.validators.sage.checks", "SageChecks"),
    "ragchecker": ("ragdatakit.validators.ragchecker.checks", "RagCheckerChecks"),
    "raptor": ("ragdatakit.validators.raptor.checks", "RaptorChecks"),
    "contextual-retrieval": ("ragdatakit.validators.contextual_retrieval.checks", "ContextualRetrievalChecks"),
    "lightrag": ("ragdatakit.validators.lightrag.checks", "LightRagChecks"),
    "graphrag": ("ragdatakit.validators.graphrag.checks", "GraphRagChecks"),
}


def checks_of(format_name: str) -> type[FormatChecks]:
    """The class with the further checks of a format."""
    if format_name not in CHECKS:
        from ragdatakit.schemas.settings.plugins import plugged
        from ragdatakit.validators.checks import FormatChecks

        plugin = plugged(format_name)
        return FormatChecks if plugin is None or plugin.checks is None else plugin.checks
    module, name = CHECKS[format_name]
    found: type[FormatChecks] = getattr(importlib.import_module(module), name)
    return found
