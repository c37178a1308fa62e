"""What repairs a fault: the function that its rule has, looked up by format and name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module

from ragdatakit.schemas.fixes import Applicability, Fix
from ragdatakit.validators.faults import Fault

Repair = Callable[[Fault], Fix | None]
"""Says what repairs a fault of one rule; its message is that of the rule."""

WithheldFix = tuple[str, str, Applicability, int | None]
"""Fixes that `--fix` does not make: path and code of their findings, how far they can be trusted, where they begin
(None: wherever)."""

MODULES: dict[str, str] = {
    "": "ragdatakit.fixes.repairs.shared",
    "light-splade": "ragdatakit.fixes.repairs.light_splade",
    "arag": "ragdatakit.fixes.repairs.arag",
    "beir": "ragdatakit.fixes.repairs.beir",
    "datamind": "ragdatakit.fixes.repairs.datamind",
    "gfm-rag": "ragdatakit.fixes.repairs.gfm_rag",
    "hipporag": "ragdatakit.fixes.repairs.hipporag",
    "sage": "ragdatakit.fixes.repairs.sage",
    "trec": "ragdatakit.fixes.repairs.trec",
}
"""By format (empty: any) the module whose ``REPAIRS`` has its repairs, by the names of rules."""


def fix_of(fault: Fault) -> Fix | None:
    """What repairs a fault, in the words of its rule; None where nothing is known to do it."""
    repair = repairs_of(fault.dataset.format.name).get(fault.rule.name)
    if repair is None or not fault.may_fix:
        return None
    fix = repair(fault)
    return None if fix is None else replace(fix, message=fault.rule.fixes[fix.applicability])


@cache
def repairs_of(format_name: str) -> Mapping[str, Repair]:
    """The repairs of a format and those of any format."""
    shared: dict[str, Repair] = dict(import_module(MODULES[""]).REPAIRS)
    if format_name in MODULES:
        shared |= import_module(MODULES[format_name]).REPAIRS
    return shared
