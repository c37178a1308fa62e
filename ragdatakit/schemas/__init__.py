"""What each format is, as data: files, fields, keys, references, rules. Imports nothing else of ours.

The list of formats is explicit; a new format is one line here. Modules are imported when first asked for, so that a
run pays for the formats it meets.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.errors import UnknownNameError

if TYPE_CHECKING:
    from ragdatakit.schemas.declarations import Format, Rule
    from ragdatakit.schemas.sage.types import Question, RAGData, RefiningResult, RerankingResult, RetrievalResult

_TYPES = ("Question", "RAGData", "RefiningResult", "RerankingResult", "RetrievalResult")
__all__ = [
    "FORMATS",
    "Question",
    "RAGData",
    "RefiningResult",
    "RerankingResult",
    "RetrievalResult",
    "all_formats",
    "all_rules",
    "find_rules",
    "get_format",
]

FORMATS: dict[str, tuple[str, str]] = {
    "light-splade": ("ragdatakit.schemas.light_splade.format", "LIGHT_SPLADE"),
    "arag": ("ragdatakit.schemas.arag.format", "ARAG"),
    "datamind": ("ragdatakit.schemas.datamind.format", "DATAMIND"),
    "gfm-rag": ("ragdatakit.schemas.gfm_rag.format", "GFM_RAG"),
    "hipporag": ("ragdatakit.schemas.hipporag.format", "HIPPORAG"),
    "beir": ("ragdatakit.schemas.beir.format", "BEIR"),
    "trec": ("ragdatakit.schemas.trec.format", "TREC"),
    "sage": ("ragdatakit.schemas.sage.format", "SAGE"),
    "ragchecker": ("ragdatakit.schemas.ragchecker.format", "RAGCHECKER"),
    "raptor": ("ragdatakit.schemas.raptor.format", "RAPTOR"),
    "contextual-retrieval": ("ragdatakit.schemas.contextual_retrieval.format", "CONTEXTUAL_RETRIEVAL"),
    "lightrag": ("ragdatakit.schemas.lightrag.format", "LIGHTRAG"),
    "graphrag": ("ragdatakit.schemas.graphrag.format", "GRAPHRAG"),
}


def __getattr__(name: str) -> Any:
    """The types of SAGE records, imported when somebody asks for one."""
    if name in _TYPES:
        return getattr(importlib.import_module("ragdatakit.schemas.sage.types"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_AS_TABLE = "tables of any columns are converted, reported and queried with --from table"
_NOT_OF_FRAMEWORKS = {
    **dict.fromkeys(("csv", "tsv", "parquet", "jsonl", "ndjson", "xlsx"), _AS_TABLE),
    **dict.fromkeys(("json", "html", "markdown", "md"), "the form of the output is --output-format"),
}
"""Names that are meant otherwise, and what to write."""


def meant_by(name: str) -> str:
    """What to write where that is no format; empty where nobody knows."""
    return _NOT_OF_FRAMEWORKS.get(name.lower(), "")


def get_format(name: str) -> Format:
    """The declaration of a format; raises `UnknownNameError`."""
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS, hint=meant_by(name))
    module, attribute = FORMATS[name]
    declared: Format = attrgetter(attribute)(importlib.import_module(module))
    return declared


def all_formats() -> tuple[Format, ...]:
    """Every format, in the order of the list."""
    return tuple(get_format(name) for name in FORMATS)


def all_rules(formats: Iterable[Format] | None = None) -> tuple[tuple[Rule, Format | None], ...]:
    """Every rule with its format (None: of all formats), ordered by code; only those of ``formats`` where given."""
    from ragdatakit.schemas.rules import EVALUATION, QUALITY, SHARED, TABLES

    found: list[tuple[Rule, Format | None]] = [(rule, None) for rule in (*SHARED, *EVALUATION, *QUALITY, *TABLES)]
    found += [(rule, fmt) for fmt in (all_formats() if formats is None else formats) for rule in fmt.rules]
    return tuple(sorted(found, key=lambda pair: (pair[1] is not None, pair[0].code)))


def rules_by_code(formats: Iterable[Format] | None = None) -> dict[str, Rule]:
    """The same rules by their codes."""
    return {rule.code: rule for rule, _ in all_rules(formats)}


def find_rules(
    name: str, own: Sequence[tuple[Rule, Format | None]] = (), formats: Sequence[Format] | None = None
) -> tuple[tuple[Rule, Format | None], ...]:
    """The rules of that code or name, else those whose code begins so (``SP2``, ``SP``), else those whose name does
    (``dangling``), in any case; several formats may share a name. ``own`` are further rules, ``formats`` those that are
    known (None: all). Raises `UnknownNameError`."""
    formats = all_formats() if formats is None else formats
    rules = (*all_rules(formats), *own)
    code, lower = name.upper(), name.lower()
    found = tuple(p for p in rules if p[0].code == code or p[0].name == lower)
    if not found and name:
        found = tuple(p for p in rules if p[0].code.startswith(code))
        found = found or tuple(p for p in rules if p[0].name.startswith(lower))
    if not found:
        words = (word for rule, _ in rules for word in (rule.code, rule.name))
        raise UnknownNameError("rule", name, [*(fmt.name for fmt in formats), *words])
    return found
