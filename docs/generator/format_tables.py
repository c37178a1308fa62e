"""The tables that list all formats and rules."""

from __future__ import annotations

import re

from docs.generator.markdown import code, plain, table
from ragdatakit.schemas import all_formats, all_rules
from ragdatakit.schemas.rules.evaluation import RULES as OF_EVALUATION
from ragdatakit.schemas.rules.quality import RULES as OF_QUALITY
from ragdatakit.schemas.rules.shared import RULES as SHARED


def formats_table(formats: str, rules: str) -> str:
    """Every format with its profiles and rules, for a page whose ways to the formats and rules these are."""
    rows = [
        [
            f"[{fmt.title}]({formats}{fmt.name}.md)",
            code(fmt.name),
            ", ".join(fmt.profiles) or "–",
            f"[{len(fmt.rules)}]({rules}{fmt.name}.md)",
            plain(re.split(r"[:;.] ", fmt.description)[0].rstrip(".")),
        ]
        for fmt in all_formats()
    ]
    shared = (
        f"{len(SHARED)} [rules]({rules}shared.md) are shared by all formats, {len(OF_EVALUATION)} are "
        f"[those of `ragdata eval`]({rules}evaluation.md), {len(OF_QUALITY)} [those of quality]"
        f"({rules}quality.md); [all {len(all_rules())}]({rules}index.md)."
    )
    return f"{table(('format', 'name', 'profiles', 'rules', 'what it is'), rows)}\n\n{shared}"
